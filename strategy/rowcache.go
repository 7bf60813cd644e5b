package strategy

import (
	"context"
	"fmt"
	"sync"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// RowCache keeps the rows that prompts show of each table, so that a table is
// read once for a state of the schema and not once a prompt. What was written to
// a table since does not show until the schema changes or a new cache is used.
//
// The zero RowCache is empty and ready for use; a nil one keeps nothing. Safe for
// concurrent use: callers that need a table at the same time share one read.
type RowCache struct {
	mu   sync.Mutex
	of   *schema.Schema // the snapshot that read belongs to
	read map[rowsKey]*rowsEntry
}

type rowsKey struct {
	schema, table string
	rows          int
	spread        bool
	seed          uint64
}

// rowsEntry is the rows of one table. turn is held by the caller that reads;
// the others wait no longer than their own context.
type rowsEntry struct {
	turn   chan struct{}
	sample *schema.Sample
}

// Samples returns the first rows, at most so many, of each table of s, which is
// env.Schema or a part of it. Views are not read, since that may mean to read
// every row of the tables under them. Nothing is read where Env.SkipValues is
// set.
//
// A table that cannot be read has no sample, and failed names it; nothing of it
// is kept, so the next call tries again. The error is ctx.Err() and nothing
// else. It costs one statement a table that is not in the cache.
func (c *RowCache) Samples(ctx context.Context, env *Env, s *schema.Schema, rows int) (samples []schema.Sample, failed []error, err error) {
	return c.samples(ctx, env, s, rowsKey{rows: rows})
}

// Spread is Samples with rows from all over each table, by seed; see
// exec.DB.SampleSpread.
func (c *RowCache) Spread(ctx context.Context, env *Env, s *schema.Schema, rows int, seed uint64) (samples []schema.Sample, failed []error, err error) {
	return c.samples(ctx, env, s, rowsKey{rows: rows, spread: true, seed: seed})
}

func (c *RowCache) samples(ctx context.Context, env *Env, s *schema.Schema, key rowsKey) (samples []schema.Sample, failed []error, err error) {
	if env.SkipValues || key.rows < 1 {
		return nil, nil, nil
	}
	for _, t := range s.Tables {
		if t.Kind == schema.View {
			continue
		}
		key.schema, key.table = t.Schema, t.Name
		sample, err := c.sample(ctx, env, t, key)
		if cerr := ctx.Err(); cerr != nil {
			return nil, nil, cerr
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		samples = append(samples, *sample)
	}
	return samples, failed, nil
}

// sample returns the rows of one table.
func (c *RowCache) sample(ctx context.Context, env *Env, t schema.Table, key rowsKey) (*schema.Sample, error) {
	if c == nil {
		return readRows(ctx, env, t, key)
	}
	e := c.entry(env, key)
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.sample == nil {
		// A table that a linker cut down is read whole, for the questions that
		// see all of it.
		if whole, ok := env.Schema.Lookup(t.Schema, t.Name); ok {
			t = *whole
		}
		sample, err := readRows(ctx, env, t, key)
		if err != nil {
			return nil, err
		}
		e.sample = sample
	}
	return e.sample, nil
}

func (c *RowCache) entry(env *Env, key rowsKey) *rowsEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != env.Schema {
		c.of, c.read = env.Schema, map[rowsKey]*rowsEntry{}
	}
	e := c.read[key]
	if e == nil {
		e = &rowsEntry{turn: make(chan struct{}, 1)}
		c.read[key] = e
	}
	return e
}

// readRows reads a table. Which prompt is the first to need it depends on
// timing, so it is in the trace of none.
func readRows(ctx context.Context, env *Env, t schema.Table, key rowsKey) (*schema.Sample, error) {
	ctx, cancel := context.WithTimeout(trace.Into(ctx, nil), env.DB.Limits().Candidate.Timeout)
	defer cancel()
	read := func() (*result.Table, error) { return env.DB.Sample(ctx, t, key.rows) }
	if key.spread {
		read = func() (*result.Table, error) { return env.DB.SampleSpread(ctx, t, key.rows, key.seed) }
	}
	found, err := read()
	if err != nil {
		return nil, fmt.Errorf("strategy: no sample rows: %w", err)
	}
	return &schema.Sample{Schema: t.Schema, Table: t.Name, Columns: found.Columns, Rows: found.Rows}, nil
}
