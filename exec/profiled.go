package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
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
	wholeProfiles = &snapshot.Derived[struct{}, *schema.Schema]{Size: func(_ struct{}, s *schema.Schema) int {
		return sizeOf(s)
	}}
)

// profileIncomplete is the code of a warning: a table could not be profiled.
const profileIncomplete = "profile-incomplete"

// Profiled returns s, the schema of a snapshot or a part of it, with profiles; see [DB.Profile]. Each table is profiled
// once for the snapshot, with all columns in of.Schema. The trace of a question does not include this work. One caller
// profiles while the others wait, no longer than their contexts. If the first caller's context ends, the next caller
// starts anew. With a nil snapshot each call profiles again.
//
// If a table cannot be profiled, Profiled adds a warning to the span in ctx. It does not retry, because every question
// would reach the same time-out. It retries only if another client held a lock, if the database was not available, or
// if the other tables took most of the time that all of them have.
func (db *DB) Profiled(ctx context.Context, of *snapshot.Snapshot, s *schema.Schema) (*schema.Schema, error) {
	of = db.mine(of)
	out := *s
	out.Tables = slices.Clone(s.Tables)
	untraced := trace.NewContext(ctx, nil)
	limited, cancel := context.WithTimeout(untraced, profileTimeout)
	defer cancel()
	var (
		readable = sync.OnceValues(func() (*schema.Schema, error) { return db.Schema(untraced) })
		gaps     = make([]error, len(out.Tables))
		tables   errgroup.Group
	)
	tables.SetLimit(db.limits.Connections)
	for i := range out.Tables {
		t := &out.Tables[i]
		if t.Kind == "view" {
			continue
		}
		tables.Go(func() error {
			p, err := profiles.Of(untraced, of, t.TableName(), func(context.Context) (profiled, error) {
				texts := map[string][]string{}
				p, err := db.profiledOnce(limited, whole(of, t), readable, texts)
				if err == nil {
					of.KeepTexts(p.table, texts)
				}
				return p, cmp.Or(ctx.Err(), err)
			})
			if p.table == nil {
				return err
			}
			gaps[i] = p.gap
			p.show(t)
			return nil
		})
	}
	if err := tables.Wait(); err != nil || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	gap := errors.Join(gaps...)
	if gap != nil {
		trace.FromContext(ctx).Warn(profileIncomplete, "not all of the database could be profiled: "+redact.Error(gap))
	}
	if of == nil || s != of.Schema || passing(gap) {
		return &out, nil
	}
	return wholeProfiles.Of(ctx, of, struct{}{}, func(context.Context) (*schema.Schema, error) { return &out, nil })
}

// profiled returns t with its profile, and its texts by column. After an error the caller stores nothing.
func (db *DB) profiled(ctx context.Context, t schema.Table, readable *schema.Schema,
	texts map[string][]string) (profiled, error) {
	before, start := t.Columns, time.Now()
	gap := db.profile(ctx, &t, readable, ProfileOptions{texts: texts})
	if errors.Is(gap, context.DeadlineExceeded) && time.Since(start) > profileTimeout/2 { // again it would take as long
		gap = fmt.Errorf("exec: profiling %s: %w", t.Name, &LimitError{Limit: "time", Max: profileTimeout.String()})
	}
	db.warnSensitive(secretsFound(t.Name, before, t.Columns))
	p := profiled{&t, gap}
	if passing(gap) {
		return p, gap
	}
	if gap != nil {
		db.Warn(trace.Warning{Code: profileIncomplete, Message: redact.Error(gap)})
	}
	return p, nil
}

// passing reports whether what failed may not fail the next time: the time for all tables had passed, a lock was held,
// or the database was away. The limit of one statement is a LimitError, and fails it again.
func passing(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrBusy) || errors.Is(err, ErrUnavailable)
}

// show gives a table, which may have some of the columns, its profile.
func (p profiled) show(t *schema.Table) {
	t.Rows, t.RowsAtLeast, t.Columns = p.table.Rows, p.table.RowsAtLeast, slices.Clone(t.Columns)
	for i := range t.Columns {
		if c, ok := p.table.Column(t.Columns[i].Name); ok {
			t.Columns[i].Profile, t.Columns[i].Sensitive = c.Profile, c.Sensitive
		}
	}
}
