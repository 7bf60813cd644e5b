package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

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
// BIRD come from many editors. A byte order mark is dropped, and bytes that are
// not UTF-8 are read as Windows-1252. Lines may be too short or too long, and quotes may be misplaced.
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
	file := words.ReadCSV(raw)
	column := "originalcolumnname"
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return errors.New("empty file")
	case file.Has(column):
	case file.Has("columnname"):
		column = "columnname" // some copies keep the readable name only
	default:
		return errors.New("no header original_column_name")
	}
	table := strings.TrimSuffix(name, path.Ext(name))
	for _, row := range file.Rows {
		text := schema.Description{Title: row.Get("columnname"), Text: row.Get("columndescription"),
			Values: row.Get("valuedescription")}
		if of := row.Get(column); of != "" && text != (schema.Description{}) {
			d[table+"."+of] = text
		}
	}
	return nil
}
