package bigquery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// SampleRows reads rows of a table by tabledata.list, which costs no money: the first ones, or with Spread from 20
// places of a table that has more than Rows, each at random in its part. Of a view, and of an external table, it reads
// the first rows by a query, which costs as much as reading all of it.
func (d Dialect) SampleRows(
	ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions,
) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, quote, func(kind, column string) string {
		if !strings.HasPrefix(kind, "STRING") && !strings.HasPrefix(kind, "BYTES") {
			return column
		}
		return fmt.Sprintf("LEFT(%s, %d)", column, o.Cut)
	})
	if t.Kind == schema.BaseTable {
		s.Numbered = true
		s.Hint = func(start, rows int64) string {
			l := listing{Count: rows == 0, Start: int(start), Rows: int(rows)}
			if !l.Count {
				l.Columns, l.Cut = o.Columns, o.Cut
			}
			text, _ := json.Marshal(l) // nothing in it has no JSON
			return listingMark + string(text) + listingEnd
		}
	}
	return guard.SampleRows(ctx, run, s, o)
}
