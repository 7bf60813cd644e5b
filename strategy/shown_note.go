package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// lostMore compares what two renderings of a schema do not show.
func lostMore(a, b schema.Rendering) int {
	return cmp.Or(
		cmp.Compare(missingColumns(a), missingColumns(b)),
		cmp.Compare(len(a.LeftOut), len(b.LeftOut)),
		cmp.Compare(len(a.Reduced), len(b.Reduced)))
}

func missingColumns(r schema.Rendering) int {
	n := 0
	for _, x := range r.Reduced {
		n += x.Columns
	}
	return n
}

// onlyExamples reports whether stored values are all that was taken away.
func onlyExamples(r schema.Rendering) bool {
	return len(r.LeftOut) == 0 && !r.OverBudget && !slices.ContainsFunc(r.Reduced, func(x schema.Reduction) bool {
		switch x.Step {
		case schema.FewerExamples, schema.NoExamples, schema.FewerRows, schema.ShortValues, schema.NoRows:
			return false
		}
		return true
	})
}

// lost says in one line what a rendering does not show; "" where it shows all.
func lost(r schema.Rendering) string {
	var parts []string
	if len(r.LeftOut) > 0 {
		items := make([]string, len(r.LeftOut))
		for i, l := range r.LeftOut {
			items[i] = l.String()
		}
		parts = append(parts, fmt.Sprintf("%s left out: %s", counted(r.LeftOut), first(items)))
	}
	if len(r.Reduced) > 0 {
		tables := slices.Clone(r.Reduced)
		slices.SortStableFunc(tables, func(a, b schema.Reduction) int { return cmp.Compare(b.Columns, a.Columns) })
		names := make([]string, len(tables))
		for i, x := range tables {
			names[i] = shortName(x.Schema, x.Table)
		}
		what := "fewer descriptions"
		switch n := missingColumns(r); {
		case n > 0:
			what = fmt.Sprintf("%d columns not shown", n)
		case onlyExamples(r):
			what = "fewer stored values"
		}
		parts = append(parts, fmt.Sprintf("%d tables shortened to fit, %s: %s", len(tables), what, first(names)))
	}
	if r.OverBudget {
		parts = append(parts, "it is over its budget all the same")
	}
	if len(parts) == 0 {
		return ""
	}
	return "the prompt does not show all of the schema: " + strings.Join(parts, "; ")
}

// counted is "1 table, 2 columns".
func counted(left []schema.LeftOut) string {
	var items []string
	count := map[string]int{}
	for _, l := range left {
		if count[l.Item]++; count[l.Item] == 1 {
			items = append(items, l.Item)
		}
	}
	for i, item := range items {
		n := count[item]
		if n > 1 {
			item += "s"
		}
		items[i] = fmt.Sprint(n, " ", item)
	}
	return strings.Join(items, ", ")
}

// first lists the first three of items.
func first(items []string) string {
	const most = 3
	if n := len(items) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), n)
	}
	return strings.Join(items, ", ")
}

// shortName is a name as a note shows it.
func shortName(schemaName, name string) string {
	if schemaName != "" {
		name = schemaName + "." + name
	}
	return cut(oneLine(name), 40)
}
