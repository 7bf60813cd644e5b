package words

import (
	"encoding/csv"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CSV is a file of comma-separated values whose first line names its columns.
type CSV struct {
	Rows  []Row
	Notes []string // what was mended or guessed, one line each

	at map[string]int
}

// Row is one row of a CSV.
type Row struct {
	Line   int // of the file, from 1
	fields []string
	at     map[string]int
}

// ReadCSV reads what editors and spreadsheets make of CSV. A byte order mark is dropped, bytes that are not UTF-8 are
// read as Windows-1252, rows may be too short or too long, and quotes may stand where they should not. The names of
// columns may have any case, blanks and underscores; of two with one name the first counts.
func ReadCSV(raw []byte) CSV {
	text, notes := DecodeText(raw)
	c := CSV{Notes: notes, at: map[string]int{}}
	if strings.Contains(text, "\r\n") {
		c.Notes = append(c.Notes, "its lines end in CR LF")
	}
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	columns := 0
	for {
		fields, err := r.Read()
		if err != nil { // the end: no quote and no number of fields is an error here
			return c
		}
		line, _ := r.FieldPos(0)
		if columns == 0 {
			columns = len(fields)
			for i, name := range fields {
				if key := Squeeze(strings.TrimSpace(name)); key != "" {
					if _, taken := c.at[key]; !taken {
						c.at[key] = i
					}
				}
			}
			continue
		}
		if len(fields) != columns {
			c.Notes = append(c.Notes, fmt.Sprintf("line %d has %d fields and not %d", line, len(fields), columns))
		}
		c.Rows = append(c.Rows, Row{line, fields, c.at})
	}
}

// Has reports whether the first line names a column; column is written without blanks and underscores, in lower case.
func (c CSV) Has(column string) bool {
	_, ok := c.at[column]
	return ok
}

// Get returns the field of a column, trimmed; "" if the row has none. column is written as for Has.
func (r Row) Get(column string) string {
	if i, ok := r.at[column]; ok && i < len(r.fields) {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// DecodeText makes UTF-8 of bytes that mostly are. What is not valid UTF-8 is taken for Windows-1252 byte by byte,
// because files mix both. NUL bytes and byte order marks are dropped. The notes say what was done.
func DecodeText(raw []byte) (text string, notes []string) {
	// Windows-1252 is Latin-1 but for 0x80 to 0x9F.
	high := []rune("€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ")
	if strings.HasPrefix(string(raw[:min(3, len(raw))]), "\uFEFF") {
		notes = append(notes, "a byte order mark was dropped")
	}
	guessed := 0
	var b strings.Builder
	b.Grow(len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			guessed++
			if r = rune(raw[0]); 0x80 <= r && r <= 0x9F {
				r = high[r-0x80]
			}
		}
		raw = raw[n:]
		if r != 0 && r != '\uFEFF' {
			b.WriteRune(r)
		}
	}
	if guessed > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes are not UTF-8 and were read as Windows-1252", guessed))
	}
	return b.String(), notes
}
