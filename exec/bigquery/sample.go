package bigquery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// listingMark begins a statement that tabledata.list may answer. It opens nothing: such a statement passes the
// guard like any other, and has the same rows.
const listingMark = "SELECT /* tabledata.list */ "

// spreadParts is the number of places of a long table that a spread sample comes from.
const spreadParts = 20

// SampleRows reads rows of a table by tabledata.list, which costs no money: the first ones, or with Spread from 20 places
// of a table that has more than Rows, each at random in its part. Of a view, and of an external table, it reads the first
// rows by a query, which costs as much as reading all of it.
func (d Dialect) SampleRows(ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	from := " FROM " + t.TableName().Quoted(d) + " AS t"
	out := exec.RowSample{Rows: [][]any{}}
	total := int64(0)
	if spread := o.Spread && t.Kind == schema.BaseTable && o.Rows > 0; o.Count > 0 || spread {
		text := listingMark + "count(*) AS n" + from
		if t.Kind != schema.BaseTable {
			text = fmt.Sprintf("SELECT count(*) AS n FROM (SELECT 1%s LIMIT %d)", from, o.Count+1)
		}
		counted, err := run(ctx, text, 1)
		if err != nil {
			return exec.RowSample{}, err
		}
		n, ok := int64(0), false
		if len(counted.Rows) == 1 && len(counted.Rows[0]) == 1 {
			n, ok = counted.Rows[0][0].(int64)
		}
		if !ok {
			return exec.RowSample{}, fmt.Errorf("bigquery: counting the rows of %s: no number came back", t.Name)
		}
		total = n
		if o.Count > 0 {
			out.Count, out.CountAtLeast = min(n, o.Count), n > o.Count
		}
	}
	if len(o.Columns) == 0 {
		return out, nil
	}
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + d.Quote(name)
		if c, ok := t.Column(name); ok && o.Cut > 0 && (strings.HasPrefix(c.Type, "STRING") || strings.HasPrefix(c.Type, "BYTES")) {
			columns[i] = fmt.Sprintf("LEFT(%s, %d)", columns[i], o.Cut)
		}
	}
	mark := listingMark
	if t.Kind != schema.BaseTable {
		mark = "SELECT "
	}
	places := [][2]int64{{0, int64(o.Rows)}}
	if o.Spread && total > int64(o.Rows) {
		places = spread(total, o)
	}
	for _, p := range places {
		limit := p[1]
		if len(places) == 1 {
			limit++ // one more tells whether these are all
		}
		text := fmt.Sprintf("%s%s%s LIMIT %d", mark, strings.Join(columns, ", "), from, limit)
		if p[0] > 0 {
			text += fmt.Sprintf(" OFFSET %d", p[0])
		}
		rows, err := run(ctx, text, int(p[1]))
		if err != nil {
			return exec.RowSample{}, err
		}
		out.Rows = append(out.Rows, rows.Rows...)
		out.Complete = len(places) == 1 && o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(rows.Rows))
	}
	return out, nil
}

// spread returns where to read and how many rows, in order.
func spread(total int64, o exec.SampleOptions) (places [][2]int64) {
	random := rand.New(rand.NewPCG(o.Seed, 0))
	n := min(spreadParts, int64(o.Rows))
	for i := range n {
		low, high := total*i/n, total*(i+1)/n
		rows := min(int64(o.Rows)*(i+1)/n-int64(o.Rows)*i/n, high-low)
		if i > 0 && high-low > rows {
			low += random.Int64N(high - low - rows + 1)
		}
		places = append(places, [2]int64{low, rows})
	}
	return slices.DeleteFunc(places, func(p [2]int64) bool { return p[1] == 0 })
}
