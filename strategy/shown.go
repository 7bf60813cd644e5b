package strategy

import (
	"context"
	"maps"
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
	draws := slices.Sorted(maps.Keys(e.shown.by))
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
