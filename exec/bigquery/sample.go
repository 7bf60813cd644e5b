package bigquery

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// spreadParts is the number of places of a long table that a spread sample comes from.
const spreadParts = 20

// SampleRows reads rows of a table by tabledata.list, which costs no money: the first ones, or with Spread from 20
// places of a table that has more than Rows, each at random in its part. Of a view, and of an external table, it reads
// the first rows by a query, which costs as much as reading all of it.
func (d Dialect) SampleRows(
	ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions,
) (exec.RowSample, error) {
	columns := make([]string, len(o.Columns))
	for i, name := range o.Columns {
		columns[i] = "t." + quote(name)
		c, ok := t.Column(name)
		if ok && o.Cut > 0 && (strings.HasPrefix(c.Type, "STRING") || strings.HasPrefix(c.Type, "BYTES")) {
			columns[i] = fmt.Sprintf("LEFT(%s, %d)", columns[i], o.Cut)
		}
	}
	from, list := t.TableName().Quoted(d.Language())+" AS t", strings.Join(columns, ", ")
	if t.Kind != schema.BaseTable {
		return guard.SampleRows(ctx, run, guard.Sampled{From: from, Counted: from, List: list}, o)
	}
	ask := func(l listing, columns, rest string, rows int) ([][]any, error) {
		text, _ := json.Marshal(l) // nothing in it has no JSON
		answer, err := run(ctx, listingMark+string(text)+" */ "+columns+" FROM "+from+rest, rows)
		if err != nil {
			return nil, err
		}
		return answer.Rows, nil
	}
	out := exec.RowSample{Rows: [][]any{}}
	total := int64(0)
	if o.Count > 0 || o.Spread && o.Rows > 0 {
		rows, err := ask(listing{Count: true}, "count(*) AS n", "", 1)
		if err != nil {
			return exec.RowSample{}, err
		}
		ok := len(rows) == 1 && len(rows[0]) == 1
		if ok {
			total, ok = rows[0][0].(int64)
		}
		if !ok {
			return exec.RowSample{}, fmt.Errorf("bigquery: counting the rows of %s: no number came back", t.Name)
		}
	}
	if o.Count > 0 {
		out.Count, out.CountAtLeast = min(total, o.Count), total > o.Count
	}
	if len(o.Columns) == 0 {
		return out, nil
	}
	l := listing{Columns: o.Columns, Cut: o.Cut}
	places := [][2]int64{{0, int64(o.Rows)}}
	if o.Spread && total > int64(o.Rows) {
		places = spread(total, o)
	}
	for _, p := range places {
		l.Start, l.Rows = int(p[0]), int(p[1])
		if len(places) == 1 {
			l.Rows++ // one more tells whether these are all
		}
		rest := fmt.Sprintf(" LIMIT %d", l.Rows)
		if l.Start > 0 {
			rest += fmt.Sprintf(" OFFSET %d", l.Start)
		}
		rows, err := ask(l, list, rest, int(p[1]))
		if err != nil {
			return exec.RowSample{}, err
		}
		out.Rows = append(out.Rows, rows...)
		out.Complete = len(places) == 1 && o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(rows))
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
