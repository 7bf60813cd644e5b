package host

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// PromptCuts collects what the prompts of one question leave out of its schema, to tell it once: a statement cannot use
// what its model did not see. The engine makes one for each question and calls Report; Env.Render calls Add and a
// Pipeline Truncate. A Prompter that writes the schema by itself calls Add.
//
// The zero Omissions is ready for use, a nil one collects nothing. Safe for concurrent use.
type PromptCuts struct {
	mu sync.Mutex
	by map[int]schema.Rendering // by sample, without text: the one that lost most
}

// Add notes what the prompt of a sample does not show.
func (s *PromptCuts) Add(sample int, r schema.Rendering) {
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

// Truncate drops the prompts of the samples from index counted on. An early stop made them unnecessary, and whether
// they were written depends on timing.
func (s *PromptCuts) Truncate(counted int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.by, func(sample int, _ schema.Rendering) bool { return sample >= counted })
}

// Report adds a note if a prompt did not show all of the schema, and a warning to the trace if names or
// descriptions were missing. It reports nothing after ctx has ended.
func (s *PromptCuts) Report(ctx context.Context, notes *[]string) {
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
	*notes = append(*notes, text)
	if !onlyValues(most) {
		trace.FromContext(ctx).Warn("schema-shortened", text)
	}
}

// lostMore compares what two renderings of a schema do not show.
func lostMore(a, b schema.Rendering) int {
	return cmp.Or(
		cmp.Compare(MissingColumns(a), MissingColumns(b)),
		cmp.Compare(len(a.LeftOut), len(b.LeftOut)),
		cmp.Compare(len(a.Reduced), len(b.Reduced)))
}

// MissingColumns counts the columns that a rendering does not show of the tables that it shortened.
func MissingColumns(r schema.Rendering) int {
	n := 0
	for _, x := range r.Reduced {
		n += x.Columns
	}
	return n
}

// onlyValues reports whether stored values are all that was taken away.
func onlyValues(r schema.Rendering) bool {
	return !slices.ContainsFunc(r.LeftOut, func(l schema.Omitted) bool { return !l.Broken() }) && !r.OverBudget &&
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
			names[i] = words.Short(prompttext.OneLine(x.Table.String()), 40)
		}
		what := "fewer descriptions"
		switch n := MissingColumns(r); {
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
func counted(left []schema.Omitted) string {
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
