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

// WriteTable writes t as an aligned text table for people, in a terminal or a log. It has a header, a rule, a line for
// each row, and the number of rows:
//
//	name | orders
//	-----+-------
//	Ann  |     12
//	Bo   |   NULL
//	(2 rows)
//
// Values are written as [Type.Shown] returns them. Numbers are aligned right. In a column of numbers, [Table.Texts]
// writes them with one scale and separators. A cell is cut to 60 columns. NULL is NULL; the text NULL, and a text that
// begins or ends with a blank or stands in double quotes, is written in double quotes. A blob is shown by its size.
// Characters that would move the cursor or hide text (control characters, direction marks, invalid bytes) are shown as
// escapes such as \n and \u202e. Columns are aligned by the width of characters in a terminal: East Asian wide
// characters and emoji take two columns, combining marks take no column.
//
// WriteTable returns the error of w. A nil table is an empty one.
func (t *Table) WriteTable(w io.Writer) error { return t.writeText(w, maxCell, 0) }

// WriteTableWithin is WriteTable for a terminal of width columns. It cuts texts in the widest columns until a line
// fits. It cuts column names in the middle, as long as they stay different. It does not cut numbers, or texts under 8
// columns, so a table of many columns may be wider. 0 means no limit.
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

// distinct returns the widths that columns need, at least as many as least has, to keep different headers different.
func distinct(header []cellText, least []int) []int {
	widest := 0
	for _, h := range header {
		widest = max(widest, h.width)
	}
	for n := narrowest; n < widest; n++ {
		same := map[string][]int{} // columns by their header of n columns
		for i, h := range header {
			text := cutMiddle(h.text, n).text
			same[text] = append(same[text], i)
		}
		for _, columns := range same {
			for _, i := range columns {
				if header[i].text != header[columns[0]].text {
					least[i], least[columns[0]] = max(least[i], n+1), max(least[columns[0]], n+1)
				}
			}
		}
	}
	return least
}

// writeText is WriteTable with cells of at most limit columns; limit < 0: any width. A line has at most width columns,
// if it can; 0: any.
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
	header, texts := make([]cellText, columns), make([]Texts, columns)
	for i := range columns {
		if i < len(t.Columns) {
			header[i] = cutMiddle(visible(t.Columns[i], limit), limit)
			texts[i] = t.Texts(i)
		}
		widths[i] = header[i].width
	}
	cells := make([]cellText, 0, len(t.Rows)*columns)
	for _, row := range t.Rows {
		for i := range columns {
			var c cellText
			if i < len(row) {
				c = t.typeOf(i).cell(row[i], limit)
				if c.right && texts[i].Numeric {
					c = number(texts[i].Text(row[i]))
				}
			}
			widths[i] = max(widths[i], c.width)
			if c.right {
				numbers[i] = max(numbers[i], c.width)
			}
			cells = append(cells, c)
		}
	}
	if width > 0 && columns > 0 {
		fit(widths, distinct(header, numbers), width)
		for i := range header {
			header[i] = cutMiddle(header[i].text, widths[i])
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
