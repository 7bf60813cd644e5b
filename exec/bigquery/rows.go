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
	Count       bool     // how many rows there are, and nothing else
	Columns     []string // the columns as a schema has them: "address.city"
	Cut         int      // texts and bytes are cut to so many characters or bytes; 0: whole
	Start, Rows int
	table       ref
}

// listingMark stands behind the SELECT of a statement that a listing answers too, and listingEnd behind the listing. They
// open nothing: such a statement passes the guard like any other, and has the same rows.
const (
	listingMark = "/* tabledata.list "
	listingEnd  = " */ "
)

// listingOf returns the listing for a statement of a sample; nil: a job has to answer it.
func listingOf(s *exec.Statement, reads []guard.Read) *listing {
	text, ok := strings.CutPrefix(s.SQL(), "SELECT "+listingMark)
	text, _, _ = strings.Cut(text, listingEnd)
	l := &listing{}
	if !ok || !s.Ours || len(reads) != 1 || json.Unmarshal([]byte(text), l) != nil {
		return nil
	}
	t, ok := reads[0].Relation.Own.(*table)
	if !ok || t.kind != bigquery.RegularTable || slices.ContainsFunc(l.Columns, func(name string) bool {
		return !slices.Contains(reads[0].Columns, name)
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
	all := columnsOf(it.Schema, nil, false)
	at := make([]int, len(l.Columns))
	for i, name := range l.Columns {
		at[i] = slices.IndexFunc(all, func(c column) bool { return c.name == name })
		if at[i] < 0 {
			return nil, &bigquery.Error{Reason: "invalidQuery", Message: "Unrecognized name: " + name}
		}
		r.schema = append(r.schema, all[at[i]].field)
	}
	r.pick = func(row []bigquery.Value) (out []bigquery.Value) {
		row = flat(row, it.Schema)
		for i, k := range at {
			v := row[k]
			text, isText := v.(string)
			bytes, isBytes := v.([]byte)
			switch chars := []rune(text); {
			case l.Cut > 0 && isText && r.schema[i].Type == bigquery.StringFieldType:
				v = string(chars[:min(len(chars), l.Cut)])
			case l.Cut > 0 && isBytes:
				v = bytes[:min(len(bytes), l.Cut)]
			}
			out = append(out, v)
		}
		return out
	}
	return r, nil
}

// flat writes out the values of records, as columnsOf does their fields.
func flat(row []bigquery.Value, s bigquery.Schema) (out []bigquery.Value) {
	for i, f := range s {
		if f.Type != bigquery.RecordFieldType || f.Repeated {
			out = append(out, row[i])
			continue
		}
		record, ok := row[i].([]bigquery.Value)
		if !ok {
			record = make([]bigquery.Value, len(f.Schema))
		}
		out = append(out, flat(record, f.Schema)...)
	}
	return out
}
