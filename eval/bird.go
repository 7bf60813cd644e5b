package eval

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// maxCSV bounds one description file; those of BIRD are below 100 kB.
const maxCSV = 8 << 20

// ReadBIRD reads the folder database_description of a BIRD database: one CSV file
// for each table, named after it, with one line for each column.
//
// A line gives original_column_name (the column), column_name (its Title),
// column_description (Text) and value_description (Values). Columns of the file
// may come in any order and case, with blanks for underscores. Other columns are
// ignored, and so are files that are no .csv or start with a dot. The files of
// BIRD come from many editors: a byte order mark is dropped, bytes that are not
// UTF-8 are read as Windows-1252, lines may be too short or too long, and quotes
// may stand where they should not.
//
// The error joins one error for each file that could not be used, and names the
// file. The descriptions of all other files are returned with it.
func ReadBIRD(fsys fs.FS) (schema.Descriptions, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("eval: reading descriptions: %w", err)
	}
	d := make(schema.Descriptions)
	var errs []error
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !schema.EqualFold(path.Ext(name), ".csv") {
			continue
		}
		if err := readBIRD(fsys, name, d); err != nil {
			errs = append(errs, fmt.Errorf("eval: reading descriptions: %s: %w", name, err))
		}
	}
	return d, errors.Join(errs...)
}

// readBIRD adds to d what one file says about a table.
func readBIRD(fsys fs.FS, name string, d schema.Descriptions) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCSV+1))
	if err != nil {
		return err
	}
	if len(raw) > maxCSV {
		return fmt.Errorf("larger than %d bytes", maxCSV)
	}
	r := csv.NewReader(strings.NewReader(decodeText(raw)))
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	head, err := r.Read()
	if err == io.EOF {
		return errors.New("empty file")
	}
	if err != nil {
		return err
	}
	at := make(map[string]int, len(head))
	for i, h := range head {
		if key := words.Squeeze(strings.TrimSpace(h)); key != "" {
			if _, taken := at[key]; !taken {
				at[key] = i
			}
		}
	}
	column := "originalcolumnname"
	if _, ok := at[column]; !ok {
		column = "columnname" // some copies keep the readable name only
	}
	if _, ok := at[column]; !ok {
		return errors.New("no header original_column_name")
	}
	table := strings.TrimSuffix(name, path.Ext(name))
	for {
		line, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		field := func(key string) string {
			if i, ok := at[key]; ok && i < len(line) {
				return strings.TrimSpace(line[i])
			}
			return ""
		}
		text := schema.Description{Title: field("columnname"), Text: field("columndescription"), Values: field("valuedescription")}
		if of := field(column); of != "" && text != (schema.Description{}) {
			d[table+"."+of] = text
		}
	}
}

// decodeText makes UTF-8 of bytes that mostly are. What is not valid UTF-8 is taken
// for Windows-1252 byte by byte, because files mix both. NUL bytes and a byte order
// mark are dropped.
func decodeText(raw []byte) string {
	// Windows-1252 is Latin-1 but for 0x80 to 0x9F.
	high := []rune("€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ")
	var b strings.Builder
	b.Grow(len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			if r = rune(raw[0]); 0x80 <= r && r <= 0x9F {
				r = high[r-0x80]
			}
		}
		raw = raw[n:]
		if r != 0 && r != '\uFEFF' {
			b.WriteRune(r)
		}
	}
	return b.String()
}
