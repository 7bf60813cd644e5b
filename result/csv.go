package result

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteCSV writes t as comma-separated values (RFC 4180, lines end in "\n"): a line of column names, then a line for
// each row.
//
// NULL is an empty field, and the empty text is "" with its quotes, as in PostgreSQL; so a row of one NULL is an empty
// line. Numbers are written so that they read back the same (1.0 keeps its point), blobs as X'0a1b', text unchanged
// with its invalid bytes. The output does not say that t was truncated, and a field that a spreadsheet would run as a
// formula stays one.
//
// The error is that of w. A nil table writes nothing.
func (t *Table) WriteCSV(w io.Writer) error {
	if t == nil {
		return nil
	}
	b := bufio.NewWriter(w)
	for i, name := range t.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		writeCSVText(b, name)
	}
	b.WriteByte('\n')
	var scratch []byte
	for _, row := range t.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			switch v := v.(type) {
			case nil:
			case string:
				writeCSVText(b, v)
			case int64:
				scratch = strconv.AppendInt(scratch[:0], v, 10)
				b.Write(scratch)
			case float64:
				b.WriteString(formatFloat(v))
			case []byte:
				b.WriteString("X'")
				scratch = hex.AppendEncode(scratch[:0], v)
				b.Write(scratch)
				b.WriteByte('\'')
			default:
				writeCSVText(b, fmt.Sprint(v))
			}
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// writeCSVText writes s, in quotes if a reader needs them or s is empty.
func writeCSVText(b *bufio.Writer, s string) {
	if s != "" && !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(s, `"`, `""`))
	b.WriteByte('"')
}
