package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// SampleCache keeps rows of tables, so that a table is read once for a state of the schema and not once a prompt. What
// was written to a table since does not show until the schema changes or a new cache is used. Of texts it keeps the
// first 1,024 bytes, which is more than any prompt shows.
//
// The zero SampleCache is empty and ready for use; a nil one keeps nothing. Safe for concurrent use: callers that need
// a table at the same time share one read.
type SampleCache struct {
	mu   sync.Mutex
	of   *schema.Schema // the snapshot that kept belongs to
	kept map[sampleKey]*sampleEntry
}

const (
	maxKept     = 1024   // bytes of one text
	mostSamples = 10_000 // tables, each once for a scope
)

type sampleKey struct {
	scope  string // Scope.Key: rows of one scope are not shown to another
	table  schema.TableName
	rows   int
	spread bool
	seed   uint64
}

// sampleEntry is the rows of one table. turn is held by the caller that reads; the others wait no longer than their own
// contexts.
type sampleEntry struct {
	turn   *semaphore.Weighted
	sample *schema.Sample
}

// Samples returns rows of each table of s, which is whole or a part of it, by [DB.Sample] with Rows, Spread and Seed of
// o. Views are not read, since that may mean to read every row of the tables under them.
//
// A table that cannot be read has no sample, and an event "sample-failed" of the span in ctx names it; nothing of it is
// kept, so the next call tries again. The error is ctx.Err() and nothing else. It costs one statement a table that is
// not in the cache, within Limits.Candidate.Timeout.
func (c *SampleCache) Samples(ctx context.Context, db *DB, whole, s *schema.Schema, o SampleOptions) (samples []schema.Sample, err error) {
	for _, t := range s.Tables {
		if t.Kind == schema.View {
			continue
		}
		sample, err := c.sample(ctx, db, whole, t, SampleOptions{Rows: o.Rows, Spread: o.Spread, Seed: o.Seed})
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err != nil {
			trace.From(ctx).Event("sample-failed", trace.Attr{Key: "error", Value: err})
			continue
		}
		samples = append(samples, *sample)
	}
	return samples, nil
}

// sample returns the rows of one table. Which prompt is the first to need it depends on timing, so the read is in the
// trace of none.
func (c *SampleCache) sample(ctx context.Context, db *DB, whole *schema.Schema, t schema.Table, o SampleOptions) (*schema.Sample, error) {
	e := &sampleEntry{turn: semaphore.NewWeighted(1)}
	if c != nil {
		e = c.entry(whole, sampleKey{db.scopeKey(), t.TableName(), o.Rows, o.Spread, o.Seed})
	}
	if err := e.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer e.turn.Release(1)
	if e.sample == nil {
		// A table that a linker cut down is read whole, for the questions that see all of it.
		if all, ok := whole.Lookup(t.Schema, t.Name); ok && c != nil {
			t = *all
		}
		ctx, cancel := context.WithTimeout(trace.Into(ctx, nil), db.limits.Candidate.Timeout)
		defer cancel()
		found, err := db.Sample(ctx, t, o)
		if err != nil {
			return nil, err
		}
		for _, row := range found.Rows {
			for i, v := range row {
				// A prompt shows 64 characters, so the text is still seen to be longer.
				if text, ok := v.(string); ok && len(text) > maxKept {
					row[i] = strings.Clone(words.Cut(text, maxKept))
				}
			}
		}
		e.sample = &schema.Sample{Table: t.TableName(), Columns: found.Columns, Rows: found.Rows}
	}
	return e.sample, nil
}

func (c *SampleCache) entry(whole *schema.Schema, key sampleKey) *sampleEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != whole || len(c.kept) >= mostSamples {
		c.of, c.kept = whole, map[sampleKey]*sampleEntry{}
	}
	e := c.kept[key]
	if e == nil {
		e = &sampleEntry{turn: semaphore.NewWeighted(1)}
		c.kept[key] = e
	}
	return e
}

// Sample returns at most o.Rows rows of a table or view: the first ones in the order in which the engine reads the
// table itself, in SQLite by rowid or primary key. With o.Spread they come from all over a long table, and the same o
// on the same data gives the same rows; see [Sampler.SampleRows]. A table is never read whole for it, but a view may
// have to read all of the tables under it.
//
// Columns are those that the policy allows, that are not Sensitive, and whose values do not look like secrets (see
// Policy.Reveal), in the order of the table. Values are as stored unless o.Cut is set, up to the limits of an answer; a
// column with a value over the limit on cells is left out. Truncated says that the table has more rows.
//
// A table that the policy hides or that does not exist is an error, and so is a number of rows below 1. Safe for
// concurrent use.
func (db *DB) Sample(ctx context.Context, table schema.Table, o SampleOptions) (*result.Table, error) {
	if o.Rows < 1 {
		return nil, fmt.Errorf("exec: sampling %s: %d rows asked for", table.Name, o.Rows)
	}
	readable, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	source, columns, err := readableColumns(&table, readable)
	if err != nil {
		return nil, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	out, err := with(&Runner{db: db, bounds: db.limits.Answer, own: true}, func(s *Runner) (*result.Table, error) {
		return s.sample(ctx, source, columns, o)
	})
	if err != nil {
		return nil, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	return out, nil
}

func (s *Runner) sample(ctx context.Context, source schema.Table, columns []string, o SampleOptions) (*result.Table, error) {
	read := func(columns []string) (*result.Table, error) {
		t := &result.Table{Columns: columns, Rows: [][]any{}}
		if len(columns) == 0 {
			return t, nil
		}
		o.Columns = columns
		sample, err := sampleRows(ctx, s.db.dialect, func(ctx context.Context, sql string, n int) (*result.Table, error) {
			part, err := s.sampled(ctx, sql, n)
			if err == nil {
				t.Truncated, t.TooLarge = part.Truncated, part.TooLarge
			}
			return part, err
		}, source, o)
		t.Rows = sample.Rows
		return t, err
	}
	out, err := read(columns)
	if isCellLimit(err) {
		out, err = read(slices.DeleteFunc(columns, func(name string) bool {
			_, err := read([]string{name})
			return isCellLimit(err)
		}))
	}
	if err == nil {
		s.db.dropSecrets(source, out)
	}
	return out, err
}

// readableColumns returns t as readable has it, and the names of those columns of t that may be read and shown. The
// caller's t may have more columns than the policy allows; readable has only those.
func readableColumns(t *schema.Table, readable *schema.Schema) (source schema.Table, names []string, err error) {
	found, ok := readable.Lookup(t.Schema, t.Name)
	if !ok || found.Schema != t.Schema || found.Name != t.Name {
		return source, nil, errors.New("no such table, or it may not be read")
	}
	for _, c := range t.Columns {
		if own, ok := found.Column(c.Name); ok && own.Name == c.Name && !own.Sensitive && !c.Sensitive {
			names = append(names, c.Name)
		}
	}
	return *found, names, nil
}

// sampleRows reads a sample in the way of d, or by a primary key of one column.
func sampleRows(ctx context.Context, d Dialect, run guard.Runner, t schema.Table, o SampleOptions) (RowSample, error) {
	if s, ok := d.(Sampler); ok {
		return s.SampleRows(ctx, run, t, o)
	}
	l := d.Language()
	sampled := guard.NewSampled(t.TableName().Quoted(l), t, o, l.Quote, nil)
	if len(t.PrimaryKey) == 1 {
		sampled.Key = "t." + l.Quote(t.PrimaryKey[0])
	}
	return guard.SampleRows(ctx, run, sampled, o)
}
