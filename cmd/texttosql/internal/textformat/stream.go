package textformat

import (
	"errors"
	"io"

	"github.com/texttosql/texttosql/result"
)

// streamRows is how many rows are written at a time.
const streamRows = 256

// Stream writes rows in the form in which encode writes a table, some hundred at a time, and closes them. between
// stands between two rows, and end behind the last. Before the error of the rows those that came are written.
func Stream(w io.Writer, rows *result.Stream, between, end string, encode func(*result.Table) ([]byte, error)) error {
	defer rows.Close()
	part := &result.Table{Columns: rows.Columns, Types: rows.Types}
	head, err := encode(part)
	if err != nil {
		return err
	}
	before := len(head) - len(end)
	if _, err := w.Write(head[:before]); err != nil {
		return err
	}
	gap := ""
	write := func() error {
		if len(part.Rows) == 0 {
			return nil
		}
		text, err := encode(part)
		if err != nil {
			return err
		}
		part.Rows = part.Rows[:0]
		if _, err := io.WriteString(w, gap); err != nil {
			return err
		}
		gap = between
		_, err = w.Write(text[before : len(text)-len(end)])
		return err
	}
	for row, err := range rows.Rows() {
		if err != nil {
			return errors.Join(write(), err)
		}
		if part.Rows = append(part.Rows, row); len(part.Rows) < streamRows {
			continue
		}
		if err := write(); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	_, err = io.WriteString(w, end)
	return err
}
