package schema

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// ErrNoDictionary says that a folder has no file that describes a table.
var ErrNoDictionary = errors.New("schema: the folder has no CSV file with a column \"name\"")

// maxDictionaryFile bounds a file of a dictionary, in bytes: 100,000 columns with a paragraph each.
const maxDictionaryFile = 64 << 20

// ReadDictionary reads a declared schema from a folder (os.DirFS): for a database whose names differ from it, or that
// cannot be inspected. It is what texttosql.WithSchema takes.
//
// Each CSV file is a table of the name of the file. Each of its rows is a column; the first line names, in any order:
//
//	name                                      required
//	type, description
//	business name, attribute business name    Column.Title
//	primary, primary key, key                 Y: the column is of the primary key
//	mandatory                                 Y: Column.NotNull
//	PII                                       Y: Column.Sensitive
//
// A file _tables.csv has the columns table and description. Case, blanks and underscores in the first line do not
// matter; Y may be "yes", "true", "x" or "1" (for a key also "PK" or "primary"), N may be "no", "false", "0" or
// nothing. A PII that is none of these counts as Y. Other columns, folders and files are passed over.
//
// Tables are in the order of their file names. What was mended, guessed or passed over is in notes, one line each. The
// errors are those of fsys with the name of the file, a file of more than 64 MiB, and ErrNoDictionary.
func ReadDictionary(fsys fs.FS) (s *Schema, notes []string, err error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("schema: reading a dictionary: %w", err)
	}
	s = &Schema{}
	var about words.CSV
	for _, e := range entries {
		name, isCSV := strings.CutSuffix(Fold(e.Name()), ".csv")
		if !isCSV || name == "" || e.IsDir() {
			continue
		}
		file, err := readDictionaryFile(fsys, e.Name())
		if err != nil {
			return nil, nil, fmt.Errorf("schema: reading a dictionary: %w", err)
		}
		note := func(text string) { notes = append(notes, e.Name()+": "+text) }
		for _, text := range file.Notes {
			note(text)
		}
		if name == "_tables" {
			about = file
			continue
		}
		t := Table{Name: strings.TrimSuffix(e.Name(), path.Ext(e.Name())), Kind: BaseTable}
		t.declare(file, note)
		switch _, twice := s.Lookup("", t.Name); {
		case len(t.Columns) == 0:
			note(`it names no column (in a column "name") and is passed over`)
		case twice:
			note("another file has this table, and this one is passed over")
		default:
			s.Tables = append(s.Tables, t)
		}
	}
	if len(s.Tables) == 0 {
		return nil, notes, ErrNoDictionary
	}
	for _, row := range about.Rows {
		if t, ok := s.Lookup("", row.Get("table")); ok {
			t.Description = row.Get("description")
		} else {
			notes = append(notes, fmt.Sprintf("_tables.csv: line %d: no file has the table %q", row.Line, row.Get("table")))
		}
	}
	return s, notes, nil
}

func readDictionaryFile(fsys fs.FS, name string) (words.CSV, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return words.CSV{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxDictionaryFile+1))
	if err == nil && len(raw) > maxDictionaryFile {
		err = fmt.Errorf("it is larger than %d bytes", maxDictionaryFile)
	}
	if err != nil {
		return words.CSV{}, fmt.Errorf("%s: %w", name, err)
	}
	return words.ReadCSV(raw), nil
}

// declare adds the columns that file has.
func (t *Table) declare(file words.CSV, note func(string)) {
	for _, row := range file.Rows {
		first := func(columns ...string) (text string) {
			for _, c := range columns {
				if text = row.Get(c); text != "" {
					break
				}
			}
			return text
		}
		says := func(text string, yes ...string) (is, known bool) {
			text = strings.ToLower(text)
			is = slices.Contains(append(yes, "y", "yes", "true", "x", "1"), text)
			known = is || slices.Contains([]string{"", "n", "no", "false", "0"}, text)
			if !known {
				note(fmt.Sprintf("line %d: %q is neither Y nor N", row.Line, text))
			}
			return is, known
		}
		c := Column{
			Name: row.Get("name"), Type: row.Get("type"), Description: row.Get("description"), Title: first("businessname", "attributebusinessname"),
		}
		if c.Name == "" {
			note(fmt.Sprintf("line %d names no column", row.Line))
			continue
		}
		if _, twice := t.Column(c.Name); twice {
			note(fmt.Sprintf("line %d: the column %q is there already, and the first line counts", row.Line, c.Name))
			continue
		}
		c.NotNull, _ = says(row.Get("mandatory"))
		pii, known := says(row.Get("pii"))
		c.Sensitive = pii || !known
		if key, _ := says(first("primary", "primarykey", "key"), "pk", "pri", "primary"); key {
			t.PrimaryKey = append(t.PrimaryKey, c.Name)
		}
		t.Columns = append(t.Columns, c)
	}
}
