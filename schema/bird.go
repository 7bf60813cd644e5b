package schema

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// maxCSV bounds one description file; those of BIRD are below 100 kB.
const maxCSV = 8 << 20

// ReadBIRD reads the folder database_description of a BIRD database: one CSV
// file a table, named after it, one line a column.
//
// It takes from each line original_column_name (the column), column_name (its
// Title), column_description (Text) and value_description (Values). Columns of
// the file may come in any order and case, with blanks for underscores; others
// are ignored, and so are files that are no .csv or start with a dot. The files
// of BIRD come from many editors, so a byte order mark is dropped, bytes that
// are not UTF-8 are read as Windows-1252, lines may be short or long, and
// quotes may stand where they should not.
//
// The error joins one error a file that could not be used and names it; the
// descriptions of all other files are returned with it.
func ReadBIRD(fsys fs.FS) (Descriptions, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("schema: reading descriptions: %w", err)
	}
	d := make(Descriptions)
	var errs []error
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !EqualFold(path.Ext(name), ".csv") {
			continue
		}
		if err := readBIRDFile(fsys, name, d); err != nil {
			errs = append(errs, fmt.Errorf("schema: reading descriptions: %s: %w", name, err))
		}
	}
	return d, errors.Join(errs...)
}

func readBIRDFile(fsys fs.FS, name string, d Descriptions) error {
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
	return parseBIRD(strings.TrimSuffix(name, path.Ext(name)), raw, d)
}

// parseBIRD adds to d what one file says about a table.
func parseBIRD(table string, raw []byte, d Descriptions) error {
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
		if key := headerKey(h); key != "" {
			if _, taken := at[key]; !taken {
				at[key] = i
			}
		}
	}
	column, ok := at["originalcolumnname"]
	if !ok {
		// Some copies keep the readable name only.
		if column, ok = at["columnname"]; !ok {
			return errors.New("no header original_column_name")
		}
	}
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		field := func(key string) string {
			i, ok := at[key]
			if !ok || i >= len(rec) {
				return ""
			}
			return strings.TrimSpace(rec[i])
		}
		if column >= len(rec) || strings.TrimSpace(rec[column]) == "" {
			continue
		}
		text := Description{
			Title:  field("columnname"),
			Text:   field("columndescription"),
			Values: field("valuedescription"),
		}
		if text != (Description{}) {
			d[table+"."+strings.TrimSpace(rec[column])] = text
		}
	}
}

// headerKey reduces a header to its ASCII letters in lower case.
func headerKey(h string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r
		case 'A' <= r && r <= 'Z':
			return r + ('a' - 'A')
		}
		return -1
	}, h)
}

// decodeText makes UTF-8 of bytes that mostly are: what is not valid UTF-8 is
// taken for Windows-1252, byte by byte, because files mix both. NUL bytes and a
// byte order mark are dropped.
func decodeText(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			r = windows1252(raw[i])
		}
		i += n
		if r != 0 && r != '\uFEFF' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// windows1252 is Latin-1 but for 0x80 to 0x9F, where Latin-1 has control
// characters that nobody means; 0 where Windows-1252 has nothing.
func windows1252(c byte) rune {
	if c < 0x80 || c > 0x9F {
		return rune(c)
	}
	high := [32]rune{
		'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
		0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
	}
	return high[c-0x80]
}
