package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/trace"
)

const maxKept = 1024 // characters of one text of a sample

// sampled says what a sample is of.
type sampled struct {
	table  schema.TableName
	rows   int
	spread bool
	seed   uint64
}

// samples are rows of tables. What was written to a table since does not show until the schema changes.
var samples = &snapshot.Derived[sampled, *schema.Sample]{Size: func(_ sampled, s *schema.Sample) (bytes int) {
	for _, row := range s.Rows {
		for _, v := range row {
			bytes += valueBytes + bytesOf(v)
		}
	}
	return bytes
}}

// Samples returns rows of each table of s, a schema of db, by [DB.Sample] with Rows, Spread and Seed of o. Views are not
// read, since that may mean to read every row of the tables under them. Of texts it keeps the first 1,024 characters, which
// is more than any prompt shows.
//
// A table is read once for the snapshot of, and with all columns that of.Schema has, whatever part of them s has; its rows are
// shown to no other scope. With a nil one it is read at each call.
//
// A table that cannot be read has no sample, and an event "sample-failed" of the span in ctx names it; nothing of it is
// kept, so the next call tries again. The error is ctx.Err() and nothing else. It costs one statement a table that is
// not kept, within Limits.Candidate.Timeout.
func (db *DB) Samples(ctx context.Context, of *snapshot.Snapshot, s *schema.Schema, o SampleOptions) (list []schema.Sample, err error) {
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.Kind == schema.View {
			continue
		}
		sample, err := samples.Of(ctx, db.mine(of), sampled{t.TableName(), o.Rows, o.Spread, o.Seed}, func(ctx context.Context) (*schema.Sample, error) {
			return db.sample(ctx, whole(of, t), SampleOptions{Rows: o.Rows, Spread: o.Spread, Seed: o.Seed})
		})
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err != nil {
			trace.From(ctx).Event("sample-failed", trace.Attr{Key: "error", Value: err})
			continue
		}
		list = append(list, *sample)
	}
	return list, nil
}

// mine is a snapshot as db has it: what is read by the rights of db is kept for nobody else.
func (db *DB) mine(of *snapshot.Snapshot) *snapshot.Snapshot {
	if of == nil {
		return nil
	}
	return of.As(db.id, db.scopeID)
}

// whole is t as the snapshot has it: a table that a linker cut down is read whole, for the questions that see all of it.
func whole(of *snapshot.Snapshot, t *schema.Table) schema.Table {
	if of != nil && of.Schema != nil {
		if all, ok := of.Schema.Lookup(t.Schema, t.Name); ok {
			return *all
		}
	}
	return *t
}

// sample reads the rows of one table as prompts show them. Which prompt is the first to need it depends on timing, so the read
// is in the trace of none.
func (db *DB) sample(ctx context.Context, t schema.Table, o SampleOptions) (*schema.Sample, error) {
	ctx, cancel := context.WithTimeout(trace.Into(ctx, nil), db.limits.Candidate.Timeout)
	defer cancel()
	found, err := db.Sample(ctx, t, o)
	if err != nil {
		return nil, err
	}
	guard.Cut(found.Rows, maxKept) // a prompt shows 64 characters, so a text is still seen to be longer
	return &schema.Sample{Table: t.TableName(), Columns: found.Columns, Rows: found.Rows}, nil
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
	l, err := with(&Runner{db: db, bounds: db.limits.Answer, own: true}, func(s *Runner) (looked, error) {
		o.Columns = columns
		return s.look(ctx, source, readable, o)
	})
	if err != nil {
		return nil, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	return l.shown(), nil
}

// looked is what a look at the rows of a table saw.
type looked struct {
	RowSample
	table  result.Table // its Columns are those of Rows
	secret []bool       // by column: its values look like secrets
	faults []error      // about columns that were not read, since a value of theirs is over the limit on cells
}

// look reads rows of a table, of the columns of o, for prompts and profiles.
func (s *Runner) look(ctx context.Context, source schema.Table, readable *schema.Schema, o SampleOptions) (l looked, err error) {
	cut := o.Cut
	if cut > 0 {
		o.Cut = max(cut, longValue) // or a secret is not seen to be one
	}
	read := func(columns []string) (err error) {
		l.table, o.Columns = result.Table{Columns: columns}, columns
		l.RowSample, err = sampleRows(ctx, s.db.dialect, func(ctx context.Context, sql string, n int) (*result.Table, error) {
			part, err := s.sampled(ctx, sql, n)
			if err == nil {
				l.table.Truncated, l.table.TooLarge = part.Truncated, part.TooLarge
			}
			return part, err
		}, source, o)
		return err
	}
	columns := o.Columns
	if err = read(columns); isCellLimit(err) {
		columns = slices.DeleteFunc(columns, func(name string) bool {
			err := read([]string{name})
			if isCellLimit(err) {
				l.faults = append(l.faults, fmt.Errorf("column %s: %w", name, err))
			}
			return isCellLimit(err)
		})
		err = read(columns)
	}
	for i, name := range columns {
		l.secret = append(l.secret, secretValues(l.Rows, i) && !s.db.policy.Reveals(readable.SchemaOf(&source), source.Name, name))
	}
	guard.Cut(l.Rows, cut)
	return l, err
}

// shown is a sample without the columns that look like secrets.
func (l looked) shown() *result.Table {
	out := l.table
	out.Columns, out.Rows = []string{}, make([][]any, len(l.Rows))
	for i, name := range l.table.Columns {
		if l.secret[i] {
			continue
		}
		out.Columns = append(out.Columns, name)
		for j, row := range l.Rows {
			out.Rows[j] = append(out.Rows[j], row[i])
		}
	}
	return &out
}

// isCellLimit reports whether err is about a single value that is too large.
func isCellLimit(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit) && limit.Limit == "cell"
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
