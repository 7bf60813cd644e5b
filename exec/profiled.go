package exec

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/trace"
)

// profiled is a table with its profile, or without where there is a gap.
type profiled struct {
	table *schema.Table
	gap   error
}

// Profiles are of rows: each scope has its own.
var (
	profiles = &snapshot.Derived[schema.TableName, profiled]{
		Size: func(_ schema.TableName, p profiled) int { return 400 + 1000*len(p.table.Columns) },
	}
	// wholeProfiles are the schemas of snapshots with the profiles of all tables.
	wholeProfiles = &snapshot.Derived[struct{}, *schema.Schema]{Size: func(_ struct{}, s *schema.Schema) int { return sizeOf(s) }}
	// profiling is held by the caller that takes profiles of a snapshot.
	profiling = &snapshot.Derived[struct{}, *semaphore.Weighted]{}
)

// Profiled returns s, the schema of a snapshot or a part of it, with profiles; see [DB.Profile]. Those of a table are taken once
// for the snapshot, with all columns that of.Schema has, and are in the trace of no question. One caller takes them while the
// others wait, no longer than their contexts. If the context of the first one ends, the next one starts anew. With a nil
// snapshot they are taken at each call.
//
// What cannot be profiled is a warning of the span in ctx, and is not tried again, because every question would run into the
// same time-out. The exception is a lock that somebody else held.
func (db *DB) Profiled(ctx context.Context, of *snapshot.Snapshot, s *schema.Schema) (*schema.Schema, error) {
	of = db.mine(of)
	turn, err := profiling.Of(ctx, of, struct{}{}, func(context.Context) (*semaphore.Weighted, error) { return semaphore.NewWeighted(1), nil })
	if err == nil {
		err = turn.Acquire(ctx, 1)
	}
	if err != nil {
		return nil, err
	}
	defer turn.Release(1)
	known, missing := map[schema.TableName]profiled{}, *s
	missing.Tables = nil
	for i := range s.Tables {
		t := &s.Tables[i]
		if p, ok := profiles.Known(of, t.TableName()); ok {
			known[t.TableName()] = p
			continue
		}
		if of != nil && of.Schema != nil {
			if all, ok := of.Schema.Lookup(t.Schema, t.Name); ok { // with the columns that other questions need
				t = all
			}
		}
		missing.Tables = append(missing.Tables, *t)
	}
	keep := true
	if len(missing.Tables) > 0 {
		if keep, err = db.profileMissing(ctx, of, &missing, known); err != nil {
			return nil, err
		}
	}
	out, gaps := withProfiles(s, known)
	if len(gaps) > 0 {
		trace.From(ctx).Warn("profile-incomplete", "not all of the database could be profiled: "+trace.Public(errors.Join(gaps...)))
	}
	if of == nil || s != of.Schema {
		return out, nil
	}
	whole, ok := wholeProfiles.Known(of, struct{}{})
	if !ok && keep {
		wholeProfiles.Keep(of, struct{}{}, out)
	}
	return cmp.Or(whole, out), nil
}

// profileMissing adds the profiles of tables to those that are known. keep reports whether they are kept.
func (db *DB) profileMissing(ctx context.Context, of *snapshot.Snapshot, missing *schema.Schema, known map[schema.TableName]profiled) (keep bool, err error) {
	out, gaps := db.Profile(trace.Into(ctx, nil), missing, ProfileOptions{})
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if out == nil {
		return false, gaps
	}
	db.warnSensitive(concealed(missing, out))
	keep = !errors.Is(gaps, ErrBusy)
	for i := range out.Tables {
		p := profiled{table: &out.Tables[i]}
		if incomplete(p.table) {
			p.gap = gaps
		}
		if known[p.table.TableName()] = p; keep {
			profiles.Keep(of, p.table.TableName(), p)
		}
	}
	return keep, nil
}

// withProfiles returns s with profiles that are known, and what says why some are not, each once.
func withProfiles(s *schema.Schema, known map[schema.TableName]profiled) (out *schema.Schema, gaps []error) {
	copied := *s
	copied.Tables = slices.Clone(s.Tables)
	for i := range copied.Tables {
		t := &copied.Tables[i]
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
	return &copied, gaps
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
