package bigquery

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// rows are the rows of a job, or of a listing.
type rows struct {
	it     *bigquery.RowIterator
	schema bigquery.Schema                             // of the columns
	first  []bigquery.Value                            // read ahead; nil: nothing is
	pick   func(row []bigquery.Value) []bigquery.Value // the columns out of a whole row; nil: it has no others
	left   int                                         // rows that are wanted; negative: all
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	names := make([]string, len(r.schema))
	for i, f := range r.schema {
		names[i] = f.Name
	}
	return names
}

// ColumnTypeDatabaseTypeName returns the type as GoogleSQL writes it: "NUMERIC(10, 2)", "ARRAY<STRING>".
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return typeName(r.schema[i]) }

// Close implements driver.Rows. The job is over, and what is not read is never sent.
func (r *rows) Close() error { return nil }

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	row := r.first
	if r.first = nil; row == nil {
		err := r.it.Next(&row)
		if errors.Is(err, iterator.Done) {
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
	if r.pick != nil {
		row = r.pick(row)
	}
	for i, v := range row {
		var err error
		if dest[i], err = plain(v, r.schema[i]); err != nil {
			return err
		}
	}
	return nil
}

// listing is what tabledata.list is asked for, which is free.
type listing struct {
	Count       bool     `json:",omitempty"` // how many rows there are, and nothing else
	Columns     []listed `json:",omitempty"`
	Start, Rows int
	table       ref
}

// listed is a column of a listing.
type listed struct {
	Path []string
	Cut  int `json:",omitempty"` // characters, or bytes of BYTES; 0: whole
}

// listingMark begins a statement that a listing answers too. It opens nothing: such a statement passes the guard like
// any other, and has the same rows.
const listingMark = "SELECT /* tabledata.list "

// listingOf returns the listing for a statement of a sample; nil: a job has to answer it.
func listingOf(s *exec.Statement, reads []guard.Read) *listing {
	text, ok := strings.CutPrefix(s.SQL(), listingMark)
	text, _, _ = strings.Cut(text, " */")
	l := &listing{}
	if !ok || !s.Ours || len(reads) != 1 || json.Unmarshal([]byte(text), l) != nil {
		return nil
	}
	t, ok := reads[0].Relation.Own.(*table)
	if !ok || t.kind != bigquery.RegularTable || slices.ContainsFunc(l.Columns, func(c listed) bool {
		return !slices.Contains(reads[0].Columns, strings.Join(c.Path, "."))
	}) {
		return nil
	}
	l.table = t.ref
	return l
}

func (c *connector) list(ctx context.Context, l *listing) (driver.Rows, error) {
	it := c.client.DatasetInProject(l.table.project, l.table.dataset.name).Table(l.table.name).Read(ctx)
	it.StartIndex = uint64(l.Start)
	it.PageInfo().MaxSize = min(max(l.Rows, 1), mostPage)
	r := &rows{it: it, left: l.Rows}
	if err := it.Next(&r.first); err != nil && !errors.Is(err, iterator.Done) {
		return nil, err
	}
	if l.Count {
		n := &bigquery.FieldSchema{Name: "n", Type: bigquery.IntegerFieldType}
		return &rows{schema: bigquery.Schema{n}, first: []bigquery.Value{int64(it.TotalRows)}, left: 1}, nil
	}
	for _, c := range l.Columns {
		f := fieldAt(it.Schema, c.Path)
		if f == nil {
			return nil, &bigquery.Error{Reason: "invalidQuery", Message: "Unrecognized name: " + strings.Join(c.Path, ".")}
		}
		r.schema = append(r.schema, f)
	}
	r.pick = func(row []bigquery.Value) []bigquery.Value { return l.pick(row, it.Schema) }
	return r, nil
}

// fieldAt finds a field by its path, none of which but the last is repeated.
func fieldAt(s bigquery.Schema, path []string) (f *bigquery.FieldSchema) {
	for i, name := range path {
		if f = nil; i > 0 && len(s) == 0 {
			return nil
		}
		for _, field := range s {
			if strings.EqualFold(field.Name, name) {
				f = field
			}
		}
		if f == nil || f.Repeated && i < len(path)-1 {
			return nil
		}
		s = f.Schema
	}
	return f
}

// pick returns the columns of l out of a whole row.
func (l *listing) pick(row []bigquery.Value, all bigquery.Schema) []bigquery.Value {
	out := make([]bigquery.Value, len(l.Columns))
	for i, c := range l.Columns {
		var v bigquery.Value = row
		s := all
		for _, name := range c.Path {
			record, _ := v.([]bigquery.Value)
			v = nil
			for k, f := range s {
				if k < len(record) && strings.EqualFold(f.Name, name) {
					v, s = record[k], f.Schema
					break
				}
			}
		}
		if c.Cut > 0 {
			switch text := v.(type) {
			case string:
				v = text[:cutAt(text, c.Cut)]
			case []byte:
				v = text[:min(len(text), c.Cut)]
			}
		}
		out[i] = v
	}
	return out
}

// cutAt returns where n characters of text end, in bytes.
func cutAt(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}
