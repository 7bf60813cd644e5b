package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// SampleRows reads the first rows of t in the order of its rowid or primary key.
//
// With Spread, a table longer than Rows is read in 20 places, evenly between its smallest and its largest rowid, a
// twentieth of Rows in each. The first place is the start of the table. Fewer than 20 Rows are read in as many places,
// each at random in its part. Gaps in the rowids make the sample smaller. If it is less than half of Rows, or there is
// no rowid (WITHOUT ROWID, virtual tables, views), the first rows are taken.
func (Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	from := source(t)
	return guard.SampleRows(ctx, run, guard.Sampled{
		From: from, Counted: strings.TrimSuffix(from, " NOT INDEXED"), // an index is the shortest way to count
		List: selectList(o), Key: rowid(t),
	}, o)
}

// source writes a table for FROM. Without NOT INDEXED, SQLite may read a covering index instead of the table, and give
// the rows in its order.
func source(t schema.Table) string {
	from := quoted(cmp.Or(t.Schema, mainSchema)) + "." + quoted(t.Name) + " AS t"
	if t.Kind == schema.BaseTable {
		from += " NOT INDEXED"
	}
	return from
}

// selectList writes the columns to read, cut to a length.
func selectList(o exec.SampleOptions) string {
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		// With a table in front it cannot be taken for a string.
		columns[i] = "t." + quoted(name)
		if o.Cut > 0 {
			columns[i] = fmt.Sprintf("CASE WHEN length(%[1]s) < %[2]d THEN %[1]s ELSE substr(%[1]s, 1, %[2]d) END", columns[i], o.Cut)
		}
	}
	return strings.Join(columns, ", ")
}

// rowid returns a name by which the rowid of t can be read; "" where a column hides each, or t has none. It is not
// quoted: in a WITHOUT ROWID table a quoted one would be a string.
func rowid(t schema.Table) string {
	names := slices.DeleteFunc([]string{"rowid", "_rowid_", "oid"}, func(name string) bool {
		return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, name) })
	})
	if t.Kind != schema.BaseTable || len(names) == 0 {
		return ""
	}
	return names[0]
}
