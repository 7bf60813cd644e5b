package bigquery

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"
)

// rows are the rows of a job, or of a listing.
type rows struct {
	it      *bigquery.RowIterator
	schema  bigquery.Schema // of the columns
	listing *listing
	given   int
	first   []bigquery.Value // read ahead; nil: nothing is
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
	if r.listing != nil && r.given == r.listing.rows {
		return io.EOF
	}
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
	r.given++
	if r.listing != nil {
		row = r.listing.pick(row, r.it.Schema)
	}
	for i, v := range row {
		var err error
		if dest[i], err = plain(v, r.schema[i]); err != nil {
			return err
		}
	}
	return nil
}

// listing is a statement that tabledata.list answers, which is free: SELECT columns FROM table LIMIT rows OFFSET start,
// or count(*) of a table.
type listing struct {
	table       ref
	count       bool
	columns     []listed
	start, rows int
}

// listed is a column of a listing.
type listed struct {
	path []string
	cut  int // characters, or bytes of BYTES; 0: whole
}

func (c *connector) list(ctx context.Context, l *listing) (driver.Rows, error) {
	it := c.client.DatasetInProject(l.table.project, l.table.dataset.name).Table(l.table.name).Read(ctx)
	it.StartIndex = uint64(l.start)
	it.PageInfo().MaxSize = min(max(l.rows, 1), mostPage)
	r := &rows{it: it, listing: l}
	if err := it.Next(&r.first); err != nil && !errors.Is(err, iterator.Done) {
		return nil, err
	}
	if l.count {
		return &counted{rows: int64(it.TotalRows)}, nil
	}
	for _, c := range l.columns {
		f := fieldAt(it.Schema, c.path)
		if f == nil {
			return nil, &bigquery.Error{Reason: "invalidQuery", Message: "Unrecognized name: " + strings.Join(c.path, ".")}
		}
		r.schema = append(r.schema, f)
	}
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
	out := make([]bigquery.Value, len(l.columns))
	for i, c := range l.columns {
		var v bigquery.Value = row
		s := all
		for _, name := range c.path {
			record, _ := v.([]bigquery.Value)
			v = nil
			for k, f := range s {
				if k < len(record) && strings.EqualFold(f.Name, name) {
					v, s = record[k], f.Schema
					break
				}
			}
		}
		if c.cut > 0 {
			switch text := v.(type) {
			case string:
				v = text[:cutAt(text, c.cut)]
			case []byte:
				v = text[:min(len(text), c.cut)]
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

// counted is one number.
type counted struct {
	rows int64
	done bool
}

func (c *counted) Columns() []string                     { return []string{"n"} }
func (c *counted) ColumnTypeDatabaseTypeName(int) string { return "INT64" }
func (c *counted) Close() error                          { return nil }

// Next implements driver.Rows.
func (c *counted) Next(dest []driver.Value) error {
	if c.done {
		return io.EOF
	}
	dest[0], c.done = c.rows, true
	return nil
}
