package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// shown remembers what the prompts of one question do not show of its schema, to
// say it once: a statement cannot use what its model did not see.
type shown struct {
	mu   sync.Mutex
	by   map[int]schema.Rendering // without text; the one of a draw that lost most
	told bool
}

// watched returns e with a memory of what its prompts show; e itself where it has
// one.
func (e *Env) watched() *Env {
	if e.shown != nil {
		return e
	}
	own := *e
	own.shown = &shown{by: map[int]schema.Rendering{}}
	return &own
}

// schemaSection writes s for the prompt of a draw, within the budget.
func (e *Env) schemaSection(form schema.Form, s *schema.Schema, draw int) string {
	r := schema.Renderer{
		Form: form, MaxTokens: e.schemaBudget(),
		Quote: e.Quote, WithoutValues: e.SkipValues,
	}.Render(s)
	e.rendered(draw, r)
	return "### Schema\n" + strings.TrimRight(r.Text, "\n") + "\n\n"
}

// rendered notes what the prompt of a draw does not show.
func (e *Env) rendered(draw int, r schema.Rendering) {
	if e.shown == nil {
		return
	}
	r.Text = ""
	e.shown.mu.Lock()
	defer e.shown.mu.Unlock()
	if old, ok := e.shown.by[draw]; !ok || lostMore(r, old) > 0 {
		e.shown.by[draw] = r
	}
}

// forget drops the prompts of draws from index counted on. An early stop made them
// unnecessary, and whether they were written depends on timing.
func (e *Env) forget(counted int) {
	e.shown.mu.Lock()
	defer e.shown.mu.Unlock()
	for draw := range e.shown.by {
		if draw >= counted {
			delete(e.shown.by, draw)
		}
	}
}

// tell adds a note, and a warning where names or descriptions are missing, once a
// question.
func (e *Env) tell(ctx context.Context, out *Outcome) {
	e.shown.mu.Lock()
	defer e.shown.mu.Unlock()
	if e.shown.told || len(e.shown.by) == 0 || ctx.Err() != nil {
		return
	}
	// In the order of draws: the first of those that lost most.
	draws := make([]int, 0, len(e.shown.by))
	for draw := range e.shown.by {
		draws = append(draws, draw)
	}
	slices.Sort(draws)
	most := e.shown.by[draws[0]]
	for _, draw := range draws[1:] {
		if r := e.shown.by[draw]; lostMore(r, most) > 0 {
			most = r
		}
	}
	text := lost(most)
	if text == "" {
		return
	}
	e.shown.told = true
	out.Notes = append(out.Notes, text)
	if !onlyExamples(most) {
		trace.From(ctx).Warn("schema-shortened", text)
	}
}

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
	const most = 40
	if schemaName != "" {
		name = schemaName + "." + name
	}
	name = oneLine(name)
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most]) + "…"
	}
	return name
}
