package result

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// maxCell is the width of a cell in terminal columns. A longer one ends in "…".
const maxCell = 60

// WriteTable writes t as an aligned text table for people, in a terminal or a log: a header, a rule, a line for each row,
// and the number of rows:
//
//	name | orders
//	-----+-------
//	Ann  |     12
//	Bo   |   NULL
//	(2 rows)
//
// Values are those of [Type.Shown]. Numbers are aligned right, floats have 15 digits. A cell is cut to 60 columns. NULL is NULL; the text NULL and a text that begins or ends with a
// blank or a quote stand in double quotes. Floats have a point (1.0). A blob is shown by its size. Characters that would move
// the cursor or hide text (control characters, direction marks, invalid bytes) are shown as escapes such as \n and \u202e.
// Columns are aligned by the width of characters in a terminal: East Asian wide characters and emoji take two columns,
// combining marks none.
//
// The error is that of w. A nil table is an empty one.
func (t *Table) WriteTable(w io.Writer) error { return t.writeText(w, maxCell, 0) }

// WriteTableWithin is WriteTable for a terminal of width columns: the texts of the widest columns are cut until a line fits.
// Numbers are not cut, and neither are texts below 8 columns, so a table of many columns may be wider. 0 is no limit.
func (t *Table) WriteTableWithin(w io.Writer, width int) error { return t.writeText(w, maxCell, width) }

// narrowest is how far a column is cut to fit a terminal.
const narrowest = 8

// fit cuts widths until a line has at most width columns. No column gets narrower than least.
func fit(widths, least []int, width int) {
	line := -3
	for _, n := range widths {
		line += n + 3
	}
	for ; line > width; line-- {
		widest := -1
		for i, n := range widths {
			if n > max(least[i], narrowest) && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// writeText is WriteTable with cells of at most limit columns; limit < 0: any width. A line has at most width columns, if it
// can; 0: any.
func (t *Table) writeText(w io.Writer, limit, width int) error {
	if t == nil {
		t = &Table{}
	}
	// In a table made by hand, rows may be longer or shorter than the header.
	columns := len(t.Columns)
	for _, row := range t.Rows {
		columns = max(columns, len(row))
	}
	widths, numbers := make([]int, columns), make([]int, columns)
	header := make([]cellText, columns)
	for i := range columns {
		if i < len(t.Columns) {
			header[i] = cutCell(visible(t.Columns[i], limit), limit)
		}
		widths[i] = header[i].width
	}
	cells := make([]cellText, 0, len(t.Rows)*columns)
	for _, row := range t.Rows {
		for i := range columns {
			var c cellText
			if i < len(row) {
				c = showCell(t.typeOf(i).Shown(row[i]), limit)
			}
			widths[i] = max(widths[i], c.width)
			if c.right {
				numbers[i] = max(numbers[i], c.width)
			}
			cells = append(cells, c)
		}
	}
	if width > 0 && columns > 0 {
		fit(widths, numbers, width)
		for i := range header {
			header[i] = cutCell(header[i].text, widths[i])
		}
		for i, c := range cells {
			if n := widths[i%columns]; c.width > n {
				cells[i] = cutCell(c.text, n)
			}
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
		for i := range t.Rows {
			writeLine(b, cells[i*columns:(i+1)*columns], widths)
		}
	}
	n := len(t.Rows)
	switch rows := words.Plural("row", n); {
	case t.Truncated:
		fmt.Fprintf(b, "(first %d %s; there are more)\n", n, rows)
	case n == 0:
		b.WriteString("(no rows)\n")
	default:
		fmt.Fprintf(b, "(%d %s)\n", n, rows)
	}
	return b.Flush()
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
