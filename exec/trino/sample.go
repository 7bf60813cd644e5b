package trino

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/sampling"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// prefix is how many rows of a table a sample is chosen from.
const prefix = 100_000

// SampleRows reads rows of t among the first 100,000 that the engine gives: those that come first in the order of
// o.Columns, or, with Spread, in the order of a hash of the row and the seed. So of a table with fewer rows the sample is
// always the same. Which rows of a longer one come first depends on the nodes that read it, so the sample may change;
// Trino knows no keys and no repeatable TABLESAMPLE, and all else would read the whole table.
//
// With o.Count it takes two statements, else one.
func (d Dialect) SampleRows(ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table, o exec.SampleOptions) (exec.RowSample, error) {
	name := d.Quote(t.Name)
	if t.Schema != "" {
		name = d.QuoteSchema(t.Schema) + "." + name
	}
	var list, inner, hash, order []string
	for _, column := range o.Columns {
		quoted := d.Quote(column)
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
	s := sampling.Table{Counted: name, List: strings.Join(list, ", "), From: fmt.Sprintf("(SELECT %s FROM %s LIMIT %d) AS t", strings.Join(inner, ", "), name, prefix)}
	if o.Spread && len(hash) > 0 {
		order = append([]string{fmt.Sprintf("xxhash64(to_utf8(concat_ws('|', '%d', %s)))", o.Seed, strings.Join(hash, ", "))}, order...)
	}
	if len(order) > 0 {
		s.Order = " ORDER BY " + strings.Join(order, ", ")
	}
	return sampling.Rows(ctx, run, s, o)
}

// unordered are the types whose values may have no order, or no text.
var unordered = []string{"array", "map", "row", "json", "hyperloglog", "p4hyperloglog", "tdigest", "qdigest", "setdigest", "geometry", "sphericalgeography", "unknown",
	"interval year to month", "interval day to second", "function", "color"}
