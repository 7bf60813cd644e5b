package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/sampling"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

const maxKept = 1024 // characters of one text of a sample

// sampled identifies a sample.
type sampled struct {
	table  schema.TableName
	rows   int
	spread bool
	seed   uint64
}

// samples caches rows of tables. Later writes to a table do not show until the schema changes.
var samples = &snapshot.Derived[sampled, *schema.Sample]{Size: func(_ sampled, s *schema.Sample) (bytes int) {
	for _, row := range s.Rows {
		for _, v := range row {
			bytes += valueBytes + bytesOf(v)
		}
	}
	return bytes
}}

// Samples returns rows of each table of s, a schema of db, from [DB.Sample] with Rows, Spread and Seed of o. Views are
// not read, because that may read every row of the tables under them. Texts are cut to their first 1,024 characters,
// which is more than any prompt shows. "(not shown)" replaces an e-mail address or a phone number, unless Policy.Reveal
// names the column.
//
// A table is read once for the snapshot, with all columns in of.Schema, even if s has only a part of them. Other scopes
// never see its rows. With a nil snapshot each call reads it again.
//
// A table that cannot be read has no sample, and an event "sample-failed" of the span in ctx names it. The failure is
// not cached, so the next call tries again. The only error is ctx.Err(). Each table that is not cached costs one
// statement, within Limits.Candidate.Timeout.
func (db *DB) Samples(ctx context.Context, of *snapshot.Snapshot, s *schema.Schema,
	o SampleOptions) (list []schema.Sample, err error) {
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.Kind == "view" {
			continue
		}
		sample, err := samples.Of(ctx, db.mine(of), sampled{t.TableName(), o.Rows, o.Spread, o.Seed},
			func(ctx context.Context) (*schema.Sample, error) {
				return db.sample(ctx, whole(of, t), SampleOptions{Rows: o.Rows, Spread: o.Spread, Seed: o.Seed})
			})
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err != nil {
			trace.FromContext(ctx).Event("sample-failed", trace.Attr{Key: "error", Value: err})
			continue
		}
		list = append(list, *sample)
	}
	return list, nil
}

// mine returns a snapshot for db alone: data that is read with the rights of db is not shared.
func (db *DB) mine(of *snapshot.Snapshot) *snapshot.Snapshot {
	if of == nil {
		return nil
	}
	return of.As(db.id, db.scopeID)
}

// whole is t as the snapshot has it: a table that a linker cut down is read whole, for the questions that see all of
// it.
func whole(of *snapshot.Snapshot, t *schema.Table) schema.Table {
	if of != nil && of.Schema != nil {
		if all, ok := of.Schema.Lookup(t.Schema, t.Name); ok {
			return *all
		}
	}
	return *t
}

// sample reads the rows of one table as prompts show them. Which prompt is the first to need it depends on timing, so
// the read is in the trace of none.
func (db *DB) sample(ctx context.Context, t schema.Table, o SampleOptions) (*schema.Sample, error) {
	ctx, cancel := context.WithTimeout(trace.NewContext(ctx, nil), db.limits.Candidate.Timeout)
	defer cancel()
	l, err := db.lookAt(ctx, t, o, (*result.Table).Plain) // as prompts show values
	if err != nil {
		return nil, err
	}
	l.hideContacts()
	found := l.shown()
	sampling.Truncate(found.Rows, maxKept) // a prompt shows 64 characters, so a text is still seen to be longer
	return &schema.Sample{Table: t.TableName(), Columns: found.Columns, Rows: found.Rows}, nil
}

// Sample returns at most o.Rows rows of a table or view. They are the first ones in the order in which the engine reads
// the table itself, in SQLite by rowid or primary key. With o.Spread they come from all parts of a long table, and the
// same o on the same data returns the same rows; see [Sampler.SampleRows]. Sample never reads a whole table, but a view
// may have to read all of the tables under it.
//
// The columns are in the order of the table. Sample leaves out columns that the policy denies, that are Sensitive, or
// whose values look like secrets (see Policy.Reveal). Values are as stored unless o.Cut is set, up to the limits of an
// answer. A column with a value over the limit on cells is left out. Truncated means that the table has more rows.
//
// Sample returns an error for a table that the policy hides or that does not exist, and for a number of rows below 1.
// It is safe for concurrent use.
func (db *DB) Sample(ctx context.Context, table schema.Table, o SampleOptions) (*result.Table, error) {
	l, err := db.lookAt(ctx, table, o, func(t *result.Table) *result.Table { return t })
	if err != nil {
		return nil, err
	}
	return l.shown(), nil
}

// lookAt reads o.Rows rows of a table. form makes the values of what is read.
func (db *DB) lookAt(
	ctx context.Context, table schema.Table, o SampleOptions, form func(*result.Table) *result.Table,
) (l looked, err error) {
	if o.Rows < 1 {
		return l, fmt.Errorf("exec: sampling %s: %d rows asked for", table.Name, o.Rows)
	}
	readable, err := db.Schema(ctx)
	if err != nil {
		return l, err
	}
	source, columns, err := readableColumns(&table, readable)
	if err != nil {
		return l, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	l, err = with(&Runner{db: db, bounds: db.limits.Answer, own: true}, func(s *Runner) (looked, error) {
		o.Columns = columns
		return s.look(ctx, source, readable, o, form)
	})
	if err != nil {
		return l, fmt.Errorf("exec: sampling %s: %w", table.Name, err)
	}
	return l, nil
}

// looked is the result of reading rows of a table.
type looked struct {
	RowSample
	table    result.Table // its Columns describe Rows
	revealed []bool       // by column: Policy.Reveal names it
	secret   []bool       // by column: its values look like secrets
	faults   []error      // about columns that were not read, since a value of theirs is over the limit on cells
}

// look reads rows of a table, of the columns of o. form makes the values of what is read.
func (s *Runner) look(
	ctx context.Context, source schema.Table, readable *schema.Schema, o SampleOptions,
	form func(*result.Table) *result.Table,
) (l looked, err error) {
	cut := o.Cut
	if cut > 0 {
		o.Cut = max(cut, longValue) // or a secret is not seen to be one
	}
	read := func(columns []string) (err error) {
		l.table, o.Columns = result.Table{Columns: columns}, columns
		l.RowSample, err = sampleRows(ctx, s.db.dialect, func(ctx context.Context, sql string, n int) (*result.Table, error) {
			part, err := s.sampled(ctx, sql, n)
			if err != nil {
				return part, err
			}
			part = form(part)
			l.table.Truncated, l.table.TooLarge, l.table.Types = part.Truncated, part.TooLarge, part.Types
			return part, nil
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
		revealed := s.db.policy.Reveals(readable.SchemaOf(&source), source.Name, name)
		l.revealed, l.secret = append(l.revealed, revealed), append(l.secret, !revealed && secretValues(l.Rows, i))
	}
	sampling.Truncate(l.Rows, cut)
	return l, err
}

// hiddenContact replaces an e-mail address or a phone number in a prompt.
const hiddenContact = "(not shown)"

// hideContacts replaces e-mail addresses and phone numbers in columns that Policy.Reveal does not name.
func (l looked) hideContacts() {
	for _, row := range l.Rows {
		for i, v := range row {
			if text, ok := v.(string); ok && !l.revealed[i] && snapshot.IsContact(text) {
				row[i] = hiddenContact
			}
		}
	}
}

// shown is a sample without the columns that look like secrets.
func (l looked) shown() *result.Table {
	out := l.table
	typed := len(l.table.Types) == len(l.table.Columns) // a count of rows has one type
	out.Columns, out.Types, out.Rows = []string{}, nil, make([][]any, len(l.Rows))
	for i, name := range l.table.Columns {
		if l.secret[i] {
			continue
		}
		out.Columns = append(out.Columns, name)
		if typed {
			out.Types = append(out.Types, l.table.Types[i])
		}
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
func sampleRows(
	ctx context.Context, d Dialect, run func(ctx context.Context, sql string, rows int) (*result.Table, error),
	t schema.Table, o SampleOptions,
) (RowSample, error) {
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
