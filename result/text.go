package result

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// TextTable writes tables for people, in a terminal or a log. The zero TextTable is ready for use. Safe for concurrent
// use.
type TextTable struct {
	MaxCell int // width of a cell in terminal columns; a longer one ends in "…"; 0 means 60; negative: no limit
	MaxRows int // rows to write; 0 means all; the last line says how many there are
}

// WriteTable writes t as an aligned text table: TextTable{}.Write.
func (t *Table) WriteTable(w io.Writer) error { return TextTable{}.Write(w, t) }

// Write writes t as an aligned text table: a header, a rule, a line for each row, and the number of rows:
//
//	name | orders
//	-----+-------
//	Ann  |     12
//	Bo   |   NULL
//	(2 rows)
//
// Numbers are aligned right. NULL is NULL; the text NULL and a text that begins or ends with a blank or a quote stand in
// double quotes. Floats have a point (1.0). A blob is shown by its size. Characters that would move the cursor or hide text
// (control characters, direction marks, invalid bytes) are shown as escapes such as \n and \u202e. Columns are aligned by
// the width of characters in a terminal: East Asian wide characters and emoji take two columns, combining marks none.
//
// The error is that of w. A nil table is an empty one.
func (x TextTable) Write(w io.Writer, t *Table) error {
	if t == nil {
		t = &Table{}
	}
	rows := t.Rows
	if x.MaxRows > 0 && len(rows) > x.MaxRows {
		rows = rows[:x.MaxRows]
	}
	limit := x.MaxCell
	if limit == 0 {
		limit = 60
	}

	// In a table made by hand, rows may be longer or shorter than the header.
	columns := len(t.Columns)
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	widths := make([]int, columns)
	header := make([]cellText, columns)
	for i := range columns {
		if i < len(t.Columns) {
			header[i] = cutCell(visible(t.Columns[i], limit), limit)
		}
		widths[i] = header[i].width
	}
	cells := make([]cellText, 0, len(rows)*columns)
	for _, row := range rows {
		for i := range columns {
			var c cellText
			if i < len(row) {
				c = showCell(row[i], limit)
			}
			widths[i] = max(widths[i], c.width)
			cells = append(cells, c)
		}
	}

	b := bufio.NewWriter(w)
	if columns > 0 {
		writeLine(b, header, widths)
		for i, n := range widths {
			if i > 0 {
				b.WriteString("-+-")
			}
			b.WriteString(strings.Repeat("-", n))
		}
		b.WriteByte('\n')
		for i := range rows {
			writeLine(b, cells[i*columns:(i+1)*columns], widths)
		}
	}
	b.WriteString(footer(len(rows), len(t.Rows), t.Truncated))
	return b.Flush()
}

// footer says how many rows there are.
func footer(shown, held int, truncated bool) string {
	rows := words.Plural("row", held)
	switch {
	case truncated && shown < held:
		return fmt.Sprintf("(%d of the first %d %s; there are more)\n", shown, held, rows)
	case truncated:
		return fmt.Sprintf("(first %d %s; there are more)\n", held, rows)
	case shown < held:
		return fmt.Sprintf("(%d of %d %s)\n", shown, held, rows)
	case held == 0:
		return "(no rows)\n"
	}
	return fmt.Sprintf("(%d %s)\n", held, rows)
}

// writeLine writes cells padded to widths, without blanks at the end.
func writeLine(b *bufio.Writer, cells []cellText, widths []int) {
	for i, c := range cells {
		last := i == len(cells)-1
		switch {
		case i > 0 && last && c.width == 0 && !c.right:
			b.WriteString(" |")
		case i > 0:
			b.WriteString(" | ")
		}
		pad := widths[i] - c.width
		if c.right {
			b.WriteString(strings.Repeat(" ", pad))
		}
		b.WriteString(c.text)
		if !c.right && !last {
			b.WriteString(strings.Repeat(" ", pad))
		}
	}
	b.WriteByte('\n')
}
