package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// ProfileOptions says how closely [DB.Profile] looks. The zero value of each
// field is its default; a negative number is an error.
type ProfileOptions struct {
	// Tables are the tables to look at, as "table" or "schema.table"; ASCII case
	// does not matter. nil: all base tables and virtual tables. A view is looked
	// at only when it is named here: no limit on rows keeps a view from reading
	// all of the tables under it, only the time-out does.
	Tables []string

	Rows  int   // rows read of a table at most: 10,000
	Count int64 // rows counted at most: 100,000; of a longer table only that it is longer is known

	Top          int // most frequent values kept of a column: 10
	Examples     int // example values kept of a column: 5
	ExampleRunes int // length of the longest example: 64, the most that a prompt shows

	// Seed chooses which rows of a long table are read and which values become
	// examples. The same seed on the same data gives the same profile.
	Seed uint64

	TableTimeout time.Duration // for each statement: that of a candidate (see Limits)
	Timeout      time.Duration // for everything: 30 s
}

// SampleOptions says which rows [Dialect.SampleRows] reads.
type SampleOptions struct {
	Columns []string // the columns to read, as the table writes them; none: only count

	Rows   int    // rows at most, from 1
	Count  int64  // rows counted at most; 0: no count
	Spread bool   // from all over a long table, not only its first rows
	Seed   uint64 // where Spread begins in each part
	Cut    int    // texts and blobs are cut to this many characters or bytes; 0: as stored
}

// RowSample is some rows of a table.
type RowSample struct {
	Rows         [][]any // one value for each of SampleOptions.Columns, in their order
	Count        int64   // rows of the table, or at least that many; 0 where they were not counted
	CountAtLeast bool    // the table has more rows than Count
	Complete     bool    // Rows are all rows of the table
}

// Runner runs one statement of ours under guard and limits, and returns its
// rows, at most the given number, as the engine stores them. Where it had to
// stop at a limit on bytes, the rows so far come back with TooLarge set.
type Runner func(ctx context.Context, sql string, rows int) (*result.Table, error)

const (
	// longValue is the length, in characters or bytes, at which a profile cuts
	// values: prompts show 64 characters, and a table of documents should not
	// be read whole to count them.
	longValue = 256
	// profileColumns is the number of columns read by one statement, well under
	// the guard's limit on columns.
	profileColumns = 200
	// profileBytes bounds the memory of one table's sample.
	profileBytes = 32 << 20
)

// Profile looks at the values of s and returns a copy of s with a profile at
// each column and a row count at each table.
//
// The look is bounded: a table of up to Rows rows is read whole; of a longer one
// the dialect reads that many rows from all over it, and no more, so a profile
// costs the same on a long and on a very long table. All of it runs under guard
// and policy. Columns that are denied or Sensitive are not read and get no
// profile.
//
// In a profile, values are compared as SQLite compares them without a collation:
// NULL apart, numbers before texts before blobs, 1 equal to 1.0. Of values with
// 256 or more characters (or bytes) only the start is read: those that agree in
// it count as one, and none of them becomes Min, Max, a Top value or an example.
// Top lists values that occur twice or more, or all values if there are no more
// than Top of them. Examples are short values: all of them in engine order if
// they are few, else the most frequent ones first, then values that look
// different from those.
//
// Where a table cannot be profiled, or Timeout has passed, its columns keep the
// profile that s has, and an error that names it comes back together with the
// rest: the schema is usable whenever it is not nil. When ctx ends the error
// matches ctx.Err().
//
// It runs 2 statements a table, on SQLite 22 for a table longer than Rows, on as
// many connections as Limits allows. Stored values end up in the copy; whoever
// renders it into a prompt sends them to a model.
//
// Safe for concurrent use.
func (db *DB) Profile(ctx context.Context, s *schema.Schema, o ProfileOptions) (*schema.Schema, error) {
	o, err := o.filled(db.limits)
	if err != nil {
		return nil, err
	}
	readable, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Tables = slices.Clone(s.Tables)
	chosen, errs := o.choose(out.Tables)

	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var (
		wg    sync.WaitGroup
		next  = make(chan int)
		fails = make([]error, len(out.Tables))
	)
	for range min(db.limits.Connections, len(chosen)) {
		wg.Go(func() {
			for i := range next {
				fails[i] = db.profileTable(limited, &out.Tables[i], readable, o)
			}
		})
	}
	for _, i := range chosen {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return &out, fmt.Errorf("exec: profiling: %w", err)
	}
	for i, err := range fails {
		if err != nil {
			errs = append(errs, fmt.Errorf("exec: profiling %s: %w", out.Tables[i].Name, err))
		}
	}
	return &out, errors.Join(errs...)
}

// profileTable fills in t, which belongs to a copy of the schema.
func (db *DB) profileTable(ctx context.Context, t *schema.Table, readable *schema.Schema, o ProfileOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	source, parts, err := readableColumns(*t, readable)
	if err != nil {
		return err
	}
	t.Columns = slices.Clone(t.Columns)
	run := db.runner(Bounds{Bytes: profileBytes, Timeout: o.TableTimeout})
	look := func(columns []int) error {
		sample, err := db.dialect.SampleRows(ctx, run, source, SampleOptions{
			Columns: columnNames(*t, columns), Rows: o.Rows, Count: o.Count, Spread: true, Seed: o.Seed, Cut: longValue,
		})
		if err != nil {
			return err
		}
		t.Rows, t.RowsAtLeast = &sample.Count, sample.CountAtLeast
		for i, c := range columns {
			t.Columns[c].Profile = summarize(sample, i, o)
		}
		return nil
	}
	var errs []error
	for _, columns := range parts {
		err := look(columns)
		if !isCellLimit(err) {
			errs = append(errs, err)
			continue
		}
		// One value over the limit on cells fails the statement that reads it:
		// find out which columns are well.
		for _, c := range columns {
			if err := look([]int{c}); err != nil {
				errs = append(errs, fmt.Errorf("column %s: %w", t.Columns[c].Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// isCellLimit reports whether err is about a single value that is too large.
func isCellLimit(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit) && limit.Limit == "cell"
}

// Sample returns the first rows of a table or view, at most rows of them, with
// the columns that the policy allows and that are not Sensitive, in the order of
// the table. Values are as stored, blobs and long texts too, up to the limits of
// an answer; a column with a value over the limit on cells is left out. Where
// the table has more rows, Truncated is set.
//
// The order is that of the engine when it reads the table itself: in SQLite by
// rowid or primary key. A view may have to read all of the tables under it.
//
// A table that the policy hides or that is not there is an error, and so is a
// number of rows below 1. Safe for concurrent use.
func (db *DB) Sample(ctx context.Context, table schema.Table, rows int) (*result.Table, error) {
	return db.sample(ctx, table, rows, SampleOptions{})
}

// SampleSpread is Sample with rows from all over a long table, by seed: the same
// seed on the same data gives the same rows. It never reads a table whole; where
// the engine cannot jump into a table, and where ids have large gaps, the rows
// are fewer or the first ones (see [Dialect.SampleRows]).
func (db *DB) SampleSpread(ctx context.Context, table schema.Table, rows int, seed uint64) (*result.Table, error) {
	return db.sample(ctx, table, rows, SampleOptions{Spread: true, Seed: seed})
}

func (db *DB) sample(ctx context.Context, table schema.Table, rows int, o SampleOptions) (*result.Table, error) {
	if rows < 1 {
		return nil, fmt.Errorf("exec: sampling %s: %d rows asked for", table.Name, rows)
	}
	readable, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	source, parts, err := readableColumns(table, readable)
	if err != nil {
		return nil, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	read := func(columns []string) (*result.Table, error) {
		t := &result.Table{Columns: columns, Rows: [][]any{}}
		if len(columns) == 0 {
			return t, nil
		}
		o.Columns, o.Rows = columns, rows
		run := func(ctx context.Context, sql string, n int) (*result.Table, error) {
			part, err := db.runner(db.limits.Answer)(ctx, sql, n)
			if err == nil {
				t.Truncated, t.TooLarge = part.Truncated, part.TooLarge
			}
			return part, err
		}
		sample, err := db.dialect.SampleRows(ctx, run, source, o)
		t.Rows = sample.Rows
		return t, err
	}
	columns := columnNames(table, slices.Concat(parts...))
	out, err := read(columns)
	if isCellLimit(err) {
		columns = slices.DeleteFunc(columns, func(name string) bool {
			_, err := read([]string{name})
			return isCellLimit(err)
		})
		out, err = read(columns)
	}
	if err != nil {
		return nil, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	return out, nil
}

// runner makes a Runner with the given bounds, rows apart.
func (db *DB) runner(b Bounds) Runner {
	return func(ctx context.Context, sql string, rows int) (*result.Table, error) {
		b := b
		b.Rows = rows
		return db.run(ctx, sql, b)
	}
}

// readableColumns returns t as readable has it, and the places of t's columns
// that may be read and shown, in parts that one statement can read. The caller's
// t may name more than the policy allows, so it counts only as far as readable
// has the same.
func readableColumns(t schema.Table, readable *schema.Schema) (source schema.Table, parts [][]int, err error) {
	found, ok := readable.Lookup(t.Schema, t.Name)
	if !ok || found.Schema != t.Schema || found.Name != t.Name {
		return source, nil, errors.New("no such table, or it may not be read")
	}
	names := make(map[string]bool, len(found.Columns))
	for _, c := range found.Columns {
		names[c.Name] = !c.Sensitive
	}
	var at []int
	for i, c := range t.Columns {
		if names[c.Name] && !c.Sensitive {
			at = append(at, i)
		}
	}
	if len(at) == 0 { // the rows can still be counted
		return *found, [][]int{nil}, nil
	}
	return *found, slices.Collect(slices.Chunk(at, profileColumns)), nil
}

func columnNames(t schema.Table, at []int) []string {
	names := make([]string, len(at))
	for i, c := range at {
		names[i] = t.Columns[c].Name
	}
	return names
}

// filled returns o with every default written out.
func (o ProfileOptions) filled(l Limits) (ProfileOptions, error) {
	if o.Rows < 0 || o.Count < 0 || o.Top < 0 || o.Examples < 0 || o.ExampleRunes < 0 || o.TableTimeout < 0 || o.Timeout < 0 {
		return o, errors.New("exec: ProfileOptions: a number is negative")
	}
	o.Rows = cmp.Or(o.Rows, 10_000)
	o.Count = cmp.Or(o.Count, 100_000)
	o.Top = cmp.Or(o.Top, 10)
	o.Examples = cmp.Or(o.Examples, 5)
	o.ExampleRunes = min(cmp.Or(o.ExampleRunes, 64), longValue-1)
	o.TableTimeout = cmp.Or(o.TableTimeout, l.Candidate.Timeout)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	// A table that fits the sample is counted whole.
	o.Count = max(o.Count, int64(o.Rows))
	return o, nil
}

// choose returns the places of the tables to look at, and an error for each name
// that is no table.
func (o ProfileOptions) choose(tables []schema.Table) (at []int, errs []error) {
	if o.Tables == nil {
		for i, t := range tables {
			if t.Kind != schema.View {
				at = append(at, i)
			}
		}
		return at, nil
	}
	for _, name := range o.Tables {
		found := false
		for i, t := range tables {
			if schema.EqualFold(name, t.Name) || schema.EqualFold(name, t.Schema+"."+t.Name) {
				at, found = append(at, i), true
			}
		}
		if !found {
			errs = append(errs, fmt.Errorf("exec: profiling %s: the schema has no such table", name))
		}
	}
	slices.Sort(at)
	return slices.Compact(at), errs
}
