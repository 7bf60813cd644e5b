package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// step is one operator of the physical plan.
type step struct {
	Name     string         `json:"name"`
	Children []step         `json:"children"`
	Info     map[string]any `json:"extra_info"`
}

// texts is what a step says of itself under a name: one text or several.
func (s step) texts(name string) []string {
	if text := str(s.Info[name]); text != "" {
		return []string{text}
	}
	return texts(s.Info[name])
}

// plan is the engine's plan of a statement, which is asked for once. The engine runs nothing for it but what is constant.
func (h *held) plan(ctx context.Context, s *exec.Statement) ([]step, error) {
	if steps, ok := s.Names.Own.([]step); ok {
		return steps, nil
	}
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	var kind, raw string
	err := h.each(ctx, "EXPLAIN (FORMAT JSON) "+s.SQL(), func(scan func(...any) error) error { return scan(&kind, &raw) }, s.Args...)
	if err != nil {
		return nil, err
	}
	var steps []step
	if err := json.Unmarshal([]byte(raw), &steps); err != nil {
		return nil, guard.Refuse(exec.ReasonGuard, "the engine's plan cannot be read")
	}
	s.Names.Own = steps
	return steps, nil
}

// Explain implements exec.Conn: each row is an operator with all that DuckDB says of it. DuckDB tells no cost; EngineRows
// is its estimate for the outermost operator that has one.
func (h *held) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	steps, err := h.plan(ctx, s)
	if err != nil {
		return exec.Plan{}, err
	}
	p := exec.Plan{Rows: []exec.PlanRow{}}
	addRows(&p, steps, 0)
	return p, nil
}

// addRows adds operators that stand beside each other, and those below them.
func addRows(p *exec.Plan, steps []step, parent int) {
	for _, s := range steps {
		detail := strings.TrimSpace(s.Name)
		for _, name := range slices.Sorted(maps.Keys(s.Info)) {
			if text := s.texts(name); len(text) > 0 {
				detail += fmt.Sprintf(" | %s: %s", name, strings.Join(text, ", "))
			}
		}
		if n, err := strconv.ParseFloat(str(s.Info["Estimated Cardinality"]), 64); err == nil && p.EngineRows == 0 {
			p.EngineRows = n
		}
		p.Rows = append(p.Rows, exec.PlanRow{ID: len(p.Rows) + 1, Parent: parent, Detail: strings.ReplaceAll(detail, "\n", " ")})
		addRows(p, s.Children, len(p.Rows))
	}
}

// scans notes what a plan reads, and refuses one that reads a column which may not be: the engine's own word, beside that
// of the tree.
func (f *facts) scans(steps []step, seen *guard.Seen) error {
	for _, s := range steps {
		if r := f.scanned(s); r != nil {
			seen.Relations = append(seen.Relations, r)
			for _, read := range append(s.texts("Projections"), s.texts("Filters")...) {
				first, _, _ := strings.Cut(read, ".")
				if r.Denies(read) || r.Denies(first) || slices.ContainsFunc(namesIn(read), r.Denies) {
					return guard.Refuse(exec.ReasonColumn, "the engine would read a column of %s that may not be read", r.Name)
				}
			}
		}
		if err := f.scans(s.Children, seen); err != nil {
			return err
		}
	}
	return nil
}

// scanned is the table that an operator reads; nil: none.
func (f *facts) scanned(s step) *guard.Relation {
	for _, table := range s.texts("Table") {
		for _, r := range f.relations {
			if !r.View && schema.EqualFold(table, f.database+"."+r.Schema+"."+r.Name) {
				return r
			}
		}
	}
	return nil
}

// namesIn are the words of a text that may be names.
func namesIn(text string) (names []string) {
	for t := range language.Text.Parse(text).Tokens() {
		if t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
			names = append(names, language.Text.Value(t))
		}
	}
	return names
}
