package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// SampleRows implements [exec.Sampler] by [guard.SampleRows]. The key is the rowid, which WITHOUT ROWID tables, virtual
// tables and views have not, nor a table whose columns hide its names.
func (Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	// With a table in front no name can be taken for a string.
	s := guard.NewSampled(quoted(cmp.Or(t.Schema, mainSchema))+"."+quoted(t.Name), t, o, quoted, func(_, column string) string {
		return fmt.Sprintf("CASE WHEN length(%[1]s) < %[2]d THEN %[1]s ELSE substr(%[1]s, 1, %[2]d) END", column, o.Cut)
	})
	if t.Kind == schema.BaseTable {
		// SQLite may else read a covering index instead of the table, and give the rows in its order.
		s.From += " NOT INDEXED"
		// A key is not quoted: in a WITHOUT ROWID table a quoted one would be a string.
		for _, key := range []string{"oid", "_rowid_", "rowid"} {
			if !slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, key) }) {
				s.Key = key
			}
		}
	}
	return guard.SampleRows(ctx, run, s, o)
}
