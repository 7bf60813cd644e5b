package strategy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/trace"
)

// Render writes s for the prompt of a sample by r, with Quote and WithoutValues of e, and notes in Shown what the text
// leaves out. Texts are kept in Snapshot, so the rendering must not be changed. The error is ctx.Err().
func (e *Env) Render(ctx context.Context, sample int, r schema.Renderer, s *schema.Schema) (schema.Rendering, error) {
	r.Names, r.WithoutValues = e, r.WithoutValues || e.WithoutValues
	out, err := e.kept(ctx, written, r, s)
	if err == nil {
		e.Host.Omissions.Add(sample, out)
	}
	return out, err
}

// SchemaTokens estimates the tokens that s takes in a prompt without values, to be compared with Budget. The error is
// ctx.Err().
func (e *Env) SchemaTokens(ctx context.Context, s *schema.Schema) (int, error) {
	r, err := e.kept(ctx, measured, schema.Renderer{Names: e, WithoutValues: true}, s)
	return r.Tokens, err
}

// written are texts of schemas without sample rows, and measured what is known of the length of those without their texts.
// They may hold values, so each scope has its own.
var (
	written = &snapshot.Derived[textOf, schema.Rendering]{
		Size: func(of textOf, r schema.Rendering) int { return len(r.Text) + sizeOf(of.schema) },
	}
	measured = &snapshot.Derived[textOf, schema.Rendering]{Size: func(of textOf, _ schema.Rendering) int { return sizeOf(of.schema) }}
)

// textOf is what a text depends on. A schema is not changed once it was handed out, so its address stands for it.
type textOf struct {
	schema                                *schema.Schema
	form                                  schema.Form
	maxChars, maxTokens, beside, examples int
	text                                  schema.Text
	withoutValues                         bool
}

// sizeOf estimates what a part of a schema takes that a text keeps in memory.
func sizeOf(s *schema.Schema) int { return 300 * len(s.Tables) }

// kept is r.Render, asked for once for a schema and a form. The environments of one snapshot quote names in the same way.
func (e *Env) kept(ctx context.Context, in *snapshot.Derived[textOf, schema.Rendering], r schema.Renderer, s *schema.Schema) (schema.Rendering, error) {
	of := textOf{s, r.Form, r.MaxChars, r.MaxTokens, r.Beside, r.Examples, r.Text, r.WithoutValues}
	return in.Of(ctx, e.Snapshot, of, func(ctx context.Context) (schema.Rendering, error) {
		out, err := r.Render(ctx, s)
		if in == measured {
			out.Text = ""
		}
		return out, err
	})
}

// SchemaSection writes s by r for the prompt of a sample, under a heading and within Budget. The error is ctx.Err().
func (e *Env) SchemaSection(ctx context.Context, r schema.Renderer, s *schema.Schema, sample int) (string, error) {
	if s == nil {
		return "", &ConfigError{Field: "strategy: PromptInput.Schema", Problem: "it is nil; give it Env.Schema, or a part of it"}
	}
	r.MaxTokens = e.Budget()
	written, err := e.Render(ctx, sample, r, s)
	return "### Schema\n" + zoneLine(s) + strings.TrimRight(written.Text, "\n") + "\n\n", err
}

// zoneLine tells in which zone the session is, if that is not UTC.
func zoneLine(s *schema.Schema) string {
	if s == nil || s.Zone == "" {
		return ""
	}
	if s.Dialect == "mysql" {
		return fmt.Sprintf("Values of type TIMESTAMP, NOW() and CURRENT_DATE are in %s: so they are shown, and so they are cut into days.\n", s.Zone)
	}
	return fmt.Sprintf("Times with a time zone are in %s: so they are shown, and so they are cut into days and compared with dates.\n", s.Zone)
}

// Omissions collects what the prompts of one question leave out of its schema, to tell it once: a statement cannot use what
// its model did not see. The engine makes one for each question and calls Report; Env.Render calls Add and a Pipeline
// Truncate. A Prompter that writes the schema by itself calls Add.
//
// The zero Omissions is ready for use, a nil one collects nothing. Safe for concurrent use.
type Omissions struct {
	mu sync.Mutex
	by map[int]schema.Rendering // by sample, without text: the one that lost most
}

// Add notes what the prompt of a sample does not show.
func (s *Omissions) Add(sample int, r schema.Rendering) {
	if s == nil {
		return
	}
	r.Text = ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[int]schema.Rendering{}
	}
	if old, ok := s.by[sample]; !ok || lostMore(r, old) > 0 {
		s.by[sample] = r
	}
}

// Truncate drops the prompts of the samples from index counted on. An early stop made them unnecessary, and whether they
// were written depends on timing.
func (s *Omissions) Truncate(counted int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.by, func(sample int, _ schema.Rendering) bool { return sample >= counted })
}

// Report adds one note to out if a prompt did not show all of the schema, and a warning to the trace if names or
// descriptions were missing. Nothing is told once ctx has ended.
func (s *Omissions) Report(ctx context.Context, out *Outcome) {
	if s == nil || ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// In the order of samples: the first of those that lost most.
	var most schema.Rendering
	for i, sample := range slices.Sorted(maps.Keys(s.by)) {
		if r := s.by[sample]; i == 0 || lostMore(r, most) > 0 {
			most = r
		}
	}
	text := lost(most)
	if text == "" {
		return
	}
	out.Notes = append(out.Notes, text)
	if !onlyValues(most) {
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

// onlyValues reports whether stored values are all that was taken away.
func onlyValues(r schema.Rendering) bool {
	return !slices.ContainsFunc(r.LeftOut, func(l schema.LeftOut) bool { return !l.Broken() }) && !r.OverBudget &&
		!slices.ContainsFunc(r.Reduced, func(x schema.Reduction) bool { return !x.OnlyValues })
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
			names[i] = words.Short(OneLine(x.Table.String()), 40)
		}
		what := "fewer descriptions"
		switch n := missingColumns(r); {
		case n > 0:
			what = fmt.Sprintf("%d columns not shown", n)
		case onlyValues(r):
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
