package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// sampleParts is the number of places of a long table that a spread sample comes from.
const sampleParts = 20

// runner is what runs the statements of SampleRows.
type runner = func(ctx context.Context, sql string, rows int) (*result.Table, error)

// SampleRows reads the first rows of t in the order of its rowid or primary key.
//
// With Spread, a table longer than Rows is read in 20 places, evenly between its smallest and its largest rowid, a
// twentieth of Rows in each. The first place is the start of the table. Fewer than 20 Rows are read in as many places,
// each at random in its part. Gaps in the rowids make the sample smaller. If it is less than half of Rows, or there is
// no rowid (WITHOUT ROWID, virtual tables, views), the first rows are taken.
func (d Dialect) SampleRows(ctx context.Context, run runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	var (
		out  = exec.RowSample{Rows: [][]any{}}
		from = d.source(t)
		list = d.selectList(o)
	)
	if o.Count > 0 {
		n, err := count(ctx, run, from, o.Count)
		if err != nil {
			return exec.RowSample{}, err
		}
		out.Count, out.CountAtLeast = min(n, o.Count), n > o.Count
	}
	if len(o.Columns) == 0 {
		return out, nil
	}
	read := func(where string, n int) error {
		rows, err := run(ctx, "SELECT "+list+" FROM "+from+where, n)
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, rows.Rows...)
		return nil
	}
	if o.Spread && (o.Count == 0 || out.CountAtLeast || out.Count > int64(o.Rows)) {
		if rowid, low, high, ok := rowidRange(ctx, run, t, from); ok {
			for _, p := range spread(low, high, o) {
				if err := read(p.where(rowid), p.rows); err != nil {
					return exec.RowSample{}, err
				}
			}
			if len(out.Rows) >= o.Rows/2 {
				return out, nil
			}
			out.Rows = out.Rows[:0]
		}
	}
	if err := read(fmt.Sprintf(" LIMIT %d", o.Rows+1), o.Rows); err != nil {
		return exec.RowSample{}, err
	}
	out.Complete = o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(out.Rows))
	return out, nil
}

// source writes a table for FROM. Without NOT INDEXED, SQLite may read a covering index instead of the table, and give
// the rows in its order.
func (d Dialect) source(t schema.Table) string {
	from := d.Quote(cmp.Or(t.Schema, mainSchema)) + "." + d.Quote(t.Name) + " AS t"
	if t.Kind == schema.BaseTable {
		from += " NOT INDEXED"
	}
	return from
}

// selectList writes the columns to read, cut to a length.
func (d Dialect) selectList(o exec.SampleOptions) string {
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		// With a table in front it cannot be taken for a string.
		columns[i] = "t." + d.Quote(name)
		if o.Cut > 0 {
			columns[i] = fmt.Sprintf("CASE WHEN length(%[1]s) < %[2]d THEN %[1]s ELSE substr(%[1]s, 1, %[2]d) END", columns[i], o.Cut)
		}
	}
	return strings.Join(columns, ", ")
}

// count counts the rows of a table up to limit, and returns limit+1 if there are more.
func count(ctx context.Context, run runner, from string, limit int64) (int64, error) {
	// An index is the shortest way to count, so here it may be used.
	from = strings.TrimSuffix(from, " NOT INDEXED")
	rows, err := run(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d)", from, limit+1), 1)
	if err != nil {
		return 0, err
	}
	if len(rows.Rows) == 1 {
		if n, ok := rows.Rows[0][0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("sqlite: counting the rows of %s: no number came back", from)
}

// rowidRange returns the name by which the rowid of t can be read, and its smallest and largest value. ok is false
// where there is none.
func rowidRange(ctx context.Context, run runner, t schema.Table, from string) (name string, low, high int64, ok bool) {
	names := slices.DeleteFunc([]string{"rowid", "_rowid_", "oid"}, func(name string) bool { // those that a column hides
		return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, name) })
	})
	if t.Kind != schema.BaseTable || len(names) == 0 {
		return "", 0, 0, false
	}
	name = names[0]
	// The name is not quoted: in a WITHOUT ROWID table a quoted one would be a string. Two queries, because min and max
	// in one would read every row.
	rows, err := run(ctx, fmt.Sprintf("SELECT (SELECT min(%[1]s) FROM %[2]s), (SELECT max(%[1]s) FROM %[2]s)", name, from), 1)
	if err != nil || len(rows.Rows) != 1 {
		return "", 0, 0, false
	}
	low, lowOK := rows.Rows[0][0].(int64)
	high, highOK := rows.Rows[0][1].(int64)
	return name, low, high, lowOK && highOK
}

// part is a range of rowids, both ends included, and the rows to read from it.
type part struct {
	low, high int64
	rows      int
}

func (p part) where(rowid string) string {
	return fmt.Sprintf(" WHERE %[1]s BETWEEN %[2]d AND %[3]d ORDER BY %[1]s LIMIT %[4]d", rowid, p.low, p.high, p.rows)
}

// spread divides the rowids from low to high into parts. Each begins at a random place, so that data written in a rhythm
// is not met at the same beat each time. Only the first of many begins at low, the smallest value of most keys.
func spread(low, high int64, o exec.SampleOptions) []part {
	var (
		random = rand.New(rand.NewPCG(o.Seed, 0))
		// The distance of two int64 fits an uint64.
		span  = uint64(high) - uint64(low)
		n     = uint64(min(sampleParts, o.Rows))
		width = span/n + 1
		parts = make([]part, 0, n)
	)
	if n < sampleParts && width > 1 && (span+1)%n > 0 {
		width-- // the last part takes the rest, so that four rowids are three parts
	}
	for i := range n {
		offset := i * width
		if offset > span || offset/width != i {
			break
		}
		last := min(offset+width-1, span)
		if last < offset || i == n-1 {
			last = span
		}
		rows := o.Rows / int(n)
		if i < uint64(o.Rows)%n {
			rows++
		}
		start := offset
		if room := last - offset + 1; (i > 0 || n < sampleParts) && room > uint64(rows) {
			start += random.Uint64N(room - uint64(rows) + 1)
		}
		parts = append(parts, part{low: low + int64(start), high: low + int64(last), rows: rows})
	}
	return parts
}
