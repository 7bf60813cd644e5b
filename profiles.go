package texttosql

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// profiles are those of the tables of one state of the schema that were asked for. Whoever holds Engine.profiling reads
// and writes it.
type profiles struct {
	kept  map[schema.TableName]profiled
	whole *schema.Schema // with the profiles of all tables; nil until a question needs it
}

func newProfiles() *profiles { return &profiles{kept: map[schema.TableName]profiled{}} }

// profiled is a table with its profile, or without where there is a gap.
type profiled struct {
	table *schema.Table
	gap   error
}

// profile returns s, the schema of the snapshot or a part of it, with profiles. Those of a table are taken once for each
// state of the schema, when it is first asked for, and are in the trace of no question. One question takes them while the
// others wait, no longer than their contexts. If the context of the first one ends, the next one starts anew.
//
// What cannot be profiled is not tried again, because every question would run into the same time-out. The exception is
// a lock that somebody else held.
func (e *Engine) profile(ctx context.Context, snap snapshot, s *schema.Schema) (*schema.Schema, error) {
	if err := e.profiling.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer e.profiling.Release(1)
	p := snap.profiles
	missing := *s
	missing.Tables = nil
	for i := range s.Tables {
		t := &s.Tables[i]
		if _, known := p.kept[t.TableName()]; known {
			continue
		}
		if all, ok := snap.schema.Lookup(t.Schema, t.Name); ok { // with the columns that other questions need
			t = all
		}
		missing.Tables = append(missing.Tables, *t)
	}
	known := p.kept // and what is not kept
	if len(missing.Tables) > 0 {
		out, gaps := e.db.Profile(trace.Into(ctx, nil), &missing, exec.ProfileOptions{})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if out == nil {
			return nil, gaps
		}
		e.db.WarnSensitive(concealed(&missing, out))
		if errors.Is(gaps, exec.ErrBusy) {
			known = maps.Clone(known)
		}
		for i := range out.Tables {
			t := profiled{table: &out.Tables[i]}
			if incomplete(t.table) {
				t.gap = gaps
			}
			known[t.table.TableName()] = t
		}
	}
	out := *s
	out.Tables = slices.Clone(s.Tables)
	var gaps []error
	for i := range out.Tables {
		t := &out.Tables[i]
		from := known[t.TableName()]
		if from.gap != nil && !slices.Contains(gaps, from.gap) {
			gaps = append(gaps, from.gap)
		}
		t.Rows, t.RowsAtLeast, t.Columns = from.table.Rows, from.table.RowsAtLeast, slices.Clone(t.Columns)
		for j := range t.Columns {
			if c, ok := from.table.Column(t.Columns[j].Name); ok {
				t.Columns[j].Profile, t.Columns[j].Sensitive = c.Profile, c.Sensitive
			}
		}
	}
	if len(gaps) > 0 {
		trace.From(ctx).Warn("profile-incomplete", "not all of the database could be profiled: "+llm.Scrub(errors.Join(gaps...).Error()))
	}
	if s != snap.schema {
		return &out, nil
	}
	if p.whole == nil && len(p.kept) == len(known) {
		p.whole = &out
	}
	return cmp.Or(p.whole, &out), nil
}

// incomplete reports whether some of a table may not have been profiled.
func incomplete(t *schema.Table) bool {
	return t.Kind != schema.View && (t.Rows == nil || slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Profile == nil && !c.Sensitive }))
}

// concealed returns the columns that a profile found to hold secrets.
func concealed(before, after *schema.Schema) []string {
	var found []string
	for i, t := range after.Tables {
		for j, c := range t.Columns {
			if c.Sensitive && !before.Tables[i].Columns[j].Sensitive {
				found = append(found, t.Name+"."+c.Name)
			}
		}
	}
	return found
}
