package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// QueryContext implements exec.Held.
//
// The statement is prepared on its own: go-sqlite3 would run every statement of
// a text given to Query, and takes the first step of a cached statement before
// its number of columns is known.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := h.run(ctx, text, args)
	if err != nil {
		return nil, err
	}
	names, declared, err := resultColumns(rows)
	if err == nil && converted(declared) {
		if rows, err = h.run(ctx, asStored(text, names), args); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = h.fit(text, len(names))
	}
	if err != nil {
		h.close()
		return nil, classify(err, true, nil)
	}
	return rows, nil
}

// run compiles text and starts it. Nothing is stepped yet.
func (h *held) run(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	if err := h.compile(ctx, text); err != nil {
		return nil, err
	}
	rows, err := h.statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, classify(err, true, h.gate.refused)
	}
	h.rows = rows
	return rows, nil
}

// compile prepares text as the statement of h.
func (h *held) compile(ctx context.Context, text string) error {
	if err := h.close(); err != nil {
		return classify(err, false, nil)
	}
	if refused := h.gate.vet(text); refused != nil {
		return refused
	}
	h.gate.begin()
	stmt, err := h.conn.PrepareContext(ctx, text)
	if err != nil {
		return classify(err, true, h.gate.refused)
	}
	h.statement = stmt
	return nil
}

// Analyze implements exec.Held.
func (h *held) Analyze(ctx context.Context, text string) (exec.Analysis, error) {
	if err := h.compile(ctx, text); err != nil {
		return exec.Analysis{}, err
	}
	return h.gate.analysis(), nil
}

// Classify implements exec.Held.
func (h *held) Classify(err error) error { return classify(err, false, h.gate.refused) }

// close ends the statement that ran last.
func (h *held) close() error {
	var errs []error
	if h.rows != nil {
		errs = append(errs, h.rows.Close())
	}
	if h.statement != nil {
		errs = append(errs, h.statement.Close())
	}
	h.rows, h.statement = nil, nil
	return errors.Join(errs...)
}

func resultColumns(rows *sql.Rows) (names, declared []string, err error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range types {
		names = append(names, t.Name())
		declared = append(declared, t.DatabaseTypeName())
	}
	return names, declared, nil
}

// converted reports whether drivers turn the values of a column of one of the
// declared types into something else than what is stored: go-sqlite3 makes the
// zero time of a text that is no date, and true of every positive integer.
func converted(declared []string) bool {
	for _, d := range declared {
		switch strings.ToUpper(d) {
		case "DATE", "DATETIME", "TIMESTAMP", "TIME", "BOOLEAN", "BOOL":
			return true
		}
	}
	return false
}

// asStored wraps a statement so that its columns are expressions, which have no
// declared type for a driver to act on.
//
// The rows keep their order: SQLite drops the ORDER BY of a subquery only where
// the outer query has an order of its own or joins something (select.c,
// tag-select-0230, in 3.53.4), and what it flattens takes the order along. That
// is no promise of its documentation, so TestStoredOrder holds it against real
// statements.
func asStored(text string, names []string) string {
	quote := Dialect{}.Quote
	var b strings.Builder
	b.WriteString("WITH stored(")
	for i := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "c%d", i)
	}
	b.WriteString(") AS (")
	b.WriteString(text)
	b.WriteString("\n) SELECT ") // the text may end in a comment
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "+c%d AS %s", i, quote(name))
	}
	b.WriteString(" FROM stored")
	return b.String()
}

// heavyValues is how many values of the greatest length a statement may have at
// hand at once: with the driver's copy of a row that makes some 50 MB.
const heavyValues = 24

// fit lowers the limit on the length of a value for a statement that could hold
// many at once. Every result column, call, argument and || has a register of its
// own, so that one row of printf('%.*c', 999999, 'x') 490 times over took 480 MB.
// Ordinary statements have few enough to be left alone.
func (h *held) fit(text string, resultColumns int) error {
	most := max(minLength, h.guard.config.CellBytes)
	values := resultColumns + len(h.gate.functions) + arguments(text)
	length := most
	if values > heavyValues {
		length = most * heavyValues / values
	}
	if length == h.length {
		return nil
	}
	err := h.conn.Raw(func(any) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("sqlite: setting a limit: the driver panicked: %v", r)
			}
		}()
		h.hooks.SetLimit(limitLength, length) // undo has the value from before the guard
		return nil
	})
	h.length = length
	return err
}

// arguments counts the arguments of calls beyond the first, and the || of a text.
func arguments(text string) int {
	n := 0
	var calls []bool // by open bracket: of a call
	var last string
	for _, t := range sqltext.SQLite().Tokens(text) {
		switch t.Kind {
		case sqltext.Space, sqltext.Comment:
			continue
		case sqltext.Word, sqltext.QuotedName:
			last = fold(t.Text)
			continue
		case sqltext.Operator:
			switch t.Text {
			case "(":
				calls = append(calls, last != "" && !beforeList(last))
			case ")":
				calls = calls[:max(0, len(calls)-1)]
			case ",":
				if len(calls) > 0 && calls[len(calls)-1] {
					n++
				}
			case "||":
				n++
			}
		}
		last = ""
	}
	return n
}

// beforeList reports whether a keyword's bracket holds a list, not arguments.
func beforeList(word string) bool {
	switch word {
	case "in", "values", "as", "over", "using", "exists", "select", "from", "join", "where", "and", "or", "not", "on", "by", "having":
		return true
	}
	return false
}
