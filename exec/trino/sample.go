package trino

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// prefix is how many rows of a table a sample is chosen from.
const prefix = 100_000

// SampleRows reads rows of t among the first 100,000 that the engine gives: those that come first in the order of
// o.Columns, or, with Spread, in the order of a hash of the row and the seed. So of a table with fewer rows the sample is
// always the same. Which rows of a longer one come first depends on the nodes that read it, so the sample may change;
// Trino knows no keys and no repeatable TABLESAMPLE, and all else would read the whole table.
//
// It takes one statement, which counts the rows too.
func (Dialect) SampleRows(ctx context.Context, run guard.Runner, t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	name := quote(t.Name)
	if t.Schema != "" {
		name = quoteSchema(t.Schema) + "." + name
	}
	var list, inner, hash, order []string
	for _, column := range o.Columns {
		quoted := quote(column)
		inner = append(inner, quoted)
		quoted = "t." + quoted
		kind := ""
		if c, ok := t.Column(column); ok {
			kind, _, _ = strings.Cut(c.Type, "(")
		}
		shown := quoted
		if o.Cut > 0 && (kind == "varchar" || kind == "char" || kind == "varbinary") {
			shown = fmt.Sprintf("substr(%s, 1, %d)", quoted, o.Cut)
		}
		list = append(list, shown)
		if slices.Contains(unordered, kind) {
			continue
		}
		order = append(order, quoted)
		if kind != "varbinary" {
			hash = append(hash, "CAST("+quoted+" AS varchar)")
		}
	}
	from := fmt.Sprintf("(SELECT %s FROM %s LIMIT %d) AS t", strings.Join(inner, ", "), name, prefix)
	if o.Spread && len(hash) > 0 {
		order = append([]string{fmt.Sprintf("xxhash64(to_utf8(concat_ws('|', '%d', %s)))", o.Seed, strings.Join(hash, ", "))}, order...)
	}
	if len(list) == 0 {
		from, list = "(VALUES 1) AS t", []string{"1"}
	}
	if o.Count > 0 { // in the same statement, since each costs as much as a small table
		list = append(list, fmt.Sprintf("(SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d))", name, o.Count+1))
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + from
	if len(order) > 0 {
		text += " ORDER BY " + strings.Join(order, ", ")
	}
	rows, err := run(ctx, fmt.Sprintf("%s LIMIT %d", text, o.Rows+1), max(o.Rows, 1))
	if err != nil {
		return exec.RowSample{}, err
	}
	out := exec.RowSample{Rows: [][]any{}}
	for _, row := range rows.Rows { // without rows there is nothing to count
		if n, ok := row[len(row)-1].(int64); o.Count > 0 && ok {
			out.Count, out.CountAtLeast = min(n, o.Count), n > o.Count
		}
		if len(o.Columns) > 0 && len(out.Rows) < o.Rows {
			out.Rows = append(out.Rows, row[:len(o.Columns):len(o.Columns)])
		}
	}
	out.Complete = o.Count > 0 && !out.CountAtLeast && out.Count == int64(len(out.Rows))
	return out, nil
}

// unordered are the types whose values may have no order, or no text.
var unordered = []string{"array", "map", "row", "json", "hyperloglog", "p4hyperloglog", "tdigest", "qdigest", "setdigest", "geometry", "sphericalgeography", "unknown",
	"interval year to month", "interval day to second", "function", "color"}
