package duckdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/sampling"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// SampleRows reads the first rows of t as they are stored.
//
// With Spread, a table longer than Rows is read in 20 places, evenly between its first and its last row, a twentieth of
// Rows in each, by the numbers that DuckDB gives its rows: it skips the blocks between. USING SAMPLE would read the
// whole table. A view has no such numbers: its first rows are read, in an order of its own where it has one.
func (d Dialect) SampleRows(ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	name := d.Quote(t.Name)
	if t.Schema != "" {
		name = d.Quote(t.Schema) + "." + name
	}
	s := sampling.Table{From: name + " AS t", Counted: name + " AS t"}
	if _, own := t.Column("rowid"); t.Kind == schema.BaseTable && !own {
		s.Key = "t.rowid"
	}
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + d.Quote(name)
		if c, ok := t.Column(name); ok && o.Cut > 0 && strings.HasPrefix(c.Type, "VARCHAR") {
			columns[i] = fmt.Sprintf("left(%s, %d)", columns[i], o.Cut)
		}
	}
	s.List = strings.Join(columns, ", ")
	return sampling.Rows(ctx, run, s, o)
}
