package result

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteCSV writes t as comma-separated values (RFC 4180, lines end in "\n"): a line of column names, then a line for
// each row.
//
// Values are written as [Type.Shown] returns them: a decimal has its digits, and a bool is true or false. NULL is an
// empty field, and the empty text is "" with its quotes, as in PostgreSQL. So a row of one NULL is an empty line. A
// number reads back as the same number (1.0 keeps its point); a blob is X'0a1b'. Text is unchanged, including invalid
// bytes. The output does not show that t was truncated. A field that a spreadsheet would run as a formula is not
// changed.
//
// WriteCSV returns the error of w. A nil table writes nothing.
func (t *Table) WriteCSV(w io.Writer) error {
	if t == nil {
		return nil
	}
	b := bufio.NewWriter(w)
	line := func(fields int, write func(i int)) {
		for i := range fields {
			if i > 0 {
				b.WriteByte(',')
			}
			write(i)
		}
		b.WriteByte('\n')
	}
	line(len(t.Columns), func(i int) { writeCSVText(b, t.Columns[i]) })
	for _, row := range t.Rows {
		line(len(row), func(i int) {
			switch v := t.typeOf(i).Shown(row[i]).(type) {
			case nil:
			case int64:
				b.Write(strconv.AppendInt(b.AvailableBuffer(), v, 10))
			case string:
				writeCSVText(b, v)
			case Decimal:
				writeCSVText(b, string(v))
			case float64:
				b.WriteString(formatFloat(v))
			case []byte:
				fmt.Fprintf(b, "X'%x'", v)
			default:
				writeCSVText(b, fmt.Sprint(v))
			}
		})
	}
	return b.Flush()
}

// writeCSVText writes s, in quotes if a reader needs them or s is empty.
func writeCSVText(b *bufio.Writer, s string) {
	if s != "" && !special(s) && s[0] != ' ' && s[len(s)-1] != ' ' {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(s, `"`, `""`))
	b.WriteByte('"')
}

// special reports whether s has a character that means something in CSV. It is strings.ContainsAny in half of the time.
func special(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ',', '"', '\r', '\n':
			return true
		}
	}
	return false
}
