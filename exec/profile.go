package exec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// ProfileOptions configures [DB.Profile]. A negative number is an error.
type ProfileOptions struct {
	// Tables are the tables to profile, as "table" or "schema.table" in any ASCII case. nil: all base tables and
	// virtual tables. Views are profiled only if they are named here: reading a few rows of a view may read all of the
	// tables under it, until the time-out.
	Tables []string

	Rows     int    // most rows read of a table; 0 means 10,000
	Count    int64  // most rows counted of a table; 0 means 100,000
	Top      int    // most frequent values stored for a column; 0 means 10
	Examples int    // example values stored for a column; 0 means 5
	Seed     uint64 // selects the rows read from a long table, and the examples

	TableTimeout time.Duration // the limit for each statement; 0 means the timeout of Limits.Candidate
	Timeout      time.Duration // the limit for the whole profile; 0 means 30 s

	texts    map[string][]string // receives the texts by column; nil: they are not needed
	column   string              // the column that is summarized
	contacts bool                // it may show e-mail addresses and phone numbers
}

const (
	longValue      = 256      // a profile cuts values at this many characters or bytes; prompts show 64
	profileColumns = 200      // columns that one statement reads; well under the guard's limit on columns
	profileBytes   = 32 << 20 // memory of one table's sample
	profileTimeout = 30 * time.Second
)

// Profile returns a copy of s with a profile of each column and the number of rows of each table. The same options on
// the same data return the same profile.
//
// A table of up to Rows rows is read completely. From a longer table the dialect reads that many rows, spread over
// the table. So a profile of a long table costs no more. It costs 2 statements for each table, or 22 on SQLite for a
// table longer than Rows. They run on as many connections as Limits allows, under guard and policy. Denied and
// Sensitive columns are not read and get no profile.
//
//   - Values are compared as SQLite compares them without a collation.
//   - Values with 256 or more characters (or bytes) are cut to their start and compared by it. They never become Min,
//     Max, Top or an example.
//   - E-mail addresses and phone numbers are in Top and Examples only for columns that Policy.Reveal names.
//   - Top lists values that occur at least twice, or all values if there are at most Top.
//   - Examples are numbers and texts of at most 64 characters. If there are at most Examples, all are listed in engine
//     order. Otherwise half of them are frequent values, and the rest are values that look different.
//
// If a table cannot be profiled, or Timeout has passed, its columns keep the profile in s, and the error names the
// table. The schema is usable unless it is nil. When ctx ends, the error matches ctx.Err().
//
// The copy holds stored values, and no other part of the rows read. Rendering it into a prompt sends these values to a
// model. Profile is safe for concurrent use.
func (db *DB) Profile(ctx context.Context, s *schema.Schema, o ProfileOptions) (*schema.Schema, error) {
	if min(int64(o.Rows), o.Count, int64(o.Top), int64(o.Examples), int64(o.TableTimeout), int64(o.Timeout)) < 0 {
		return nil, errors.New("exec: ProfileOptions: a number is negative")
	}
	readable, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Tables = slices.Clone(s.Tables)
	limited, cancel := context.WithTimeout(ctx, cmp.Or(o.Timeout, profileTimeout))
	defer cancel()
	fails, unknown := make([]error, len(out.Tables)), make([]error, len(o.Tables))
	for j, name := range o.Tables {
		unknown[j] = fmt.Errorf("exec: profiling %s: the schema has no such table", name)
	}
	var tables errgroup.Group
	tables.SetLimit(db.limits.Connections)
	for i := range out.Tables {
		t := &out.Tables[i]
		chosen := o.Tables == nil && t.Kind != "view"
		for j, name := range o.Tables {
			if schema.EqualFold(name, t.Name) || schema.EqualFold(name, t.Schema+"."+t.Name) {
				chosen, unknown[j] = true, nil
			}
		}
		if chosen {
			tables.Go(func() error {
				fails[i] = db.profile(limited, t, readable, o)
				return nil // every table has its own error
			})
		}
	}
	_ = tables.Wait()
	if err := ctx.Err(); err != nil {
		return &out, fmt.Errorf("exec: profiling: %w", err)
	}
	return &out, errors.Join(append(unknown, fails...)...)
}

// profile fills in t, which belongs to a copy of the schema. Its error names t.
func (db *DB) profile(ctx context.Context, t *schema.Table, readable *schema.Schema, o ProfileOptions) error {
	o.Rows = cmp.Or(o.Rows, 10_000)
	o.Count = max(cmp.Or(o.Count, 100_000), int64(o.Rows)) // a table that fits the sample is counted whole
	o.Top = cmp.Or(o.Top, 10)
	o.Examples = cmp.Or(o.Examples, 5)
	bounds, err := db.bounds(Bounds{Bytes: profileBytes, Timeout: cmp.Or(o.TableTimeout, db.limits.Candidate.Timeout)})
	if err = cmp.Or(err, ctx.Err()); err == nil {
		_, err = with(&Runner{db: db, bounds: bounds, own: true}, func(s *Runner) (struct{}, error) {
			return struct{}{}, s.profile(ctx, t, readable, o)
		})
	}
	if invalid, ok := errors.AsType[*InvalidError](err); ok && invalid.Fault == "run" {
		// The statement is ours, and its values are masked: the error has the reason: a foreign server is down.
		return fmt.Errorf("exec: profiling %s: %s", t.Name, invalid.Message)
	}
	if err != nil {
		return fmt.Errorf("exec: profiling %s: %w", t.Name, err)
	}
	return nil
}

func (s *Runner) profile(ctx context.Context, t *schema.Table, readable *schema.Schema, o ProfileOptions) error {
	source, names, err := readableColumns(t, readable)
	if err != nil {
		return err
	}
	t.Columns = slices.Clone(t.Columns)
	parts := slices.Collect(slices.Chunk(names, profileColumns))
	if len(names) == 0 {
		parts = [][]string{nil} // the rows can still be counted
	}
	var errs []error
	for _, columns := range parts {
		l, err := s.look(ctx, source, readable, SampleOptions{
			Columns: columns, Rows: o.Rows, Count: o.Count, Spread: true, Seed: o.Seed, Cut: longValue,
		}, (*result.Table).Plain)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows := l.Count // a pointer into the sample would keep all of it in memory
		t.Rows, t.RowsAtLeast, errs = &rows, l.CountAtLeast, append(errs, l.faults...)
		for i, name := range l.table.Columns {
			c, _ := t.Column(name)
			if c.Profile, c.Sensitive = nil, l.secret[i]; !c.Sensitive {
				o.column, o.contacts = name, l.revealed[i]
				c.Profile = summarize(l.RowSample, i, o)
			}
		}
	}
	return errors.Join(errs...)
}

// summarize makes the profile of one column of a sample.
func summarize(sample RowSample, column int, o ProfileOptions) *schema.Profile {
	p := &schema.Profile{Sampled: int64(len(sample.Rows)), Complete: sample.Complete}
	counts := make(map[any]*schema.Value)
	var values []*schema.Value
	for _, row := range sample.Rows {
		v := row[column]
		if v == nil {
			p.Nulls++
			continue
		}
		key := valueKey(v)
		if counts[key] == nil {
			counts[key] = &schema.Value{Value: v}
			values = append(values, counts[key])
		}
		counts[key].Count++
	}
	p.Distinct = int64(len(values))
	if len(values) == 0 {
		return p
	}
	slices.SortFunc(values, func(a, b *schema.Value) int { return compareValues(a.Value, b.Value) })
	if v := values[0].Value; !isLong(v) {
		p.Min = owned(v)
	}
	if v := values[len(values)-1].Value; !isLong(v) {
		p.Max = owned(v)
	}
	values = slices.DeleteFunc(values, func(v *schema.Value) bool { return isLong(v.Value) })
	o.keepTexts(values)
	values = slices.DeleteFunc(values, func(v *schema.Value) bool {
		text, ok := v.Value.(string)
		return ok && !o.contacts && snapshot.IsContact(text)
	})
	p.Top = topValues(values, o.Top)
	p.Examples = examples(values, p.Top, o)
	for i := range p.Top {
		p.Top[i].Value = owned(p.Top[i].Value)
	}
	for i := range p.Examples {
		p.Examples[i] = owned(p.Examples[i])
	}
	return p
}

// keepTexts keeps the texts among values that a prompt can show, the most frequent ones first.
func (o *ProfileOptions) keepTexts(values []*schema.Value) {
	if o.texts == nil {
		return
	}
	short := slices.DeleteFunc(slices.Clone(values), func(v *schema.Value) bool {
		_, ok := v.Value.(string)
		return !ok || !isExample(v.Value)
	})
	slices.SortStableFunc(short, func(a, b *schema.Value) int { return cmp.Compare(b.Count, a.Count) })
	for _, v := range short[:min(len(short), snapshot.MostTexts)] {
		o.texts[o.column] = append(o.texts[o.column], strings.Clone(v.Value.(string)))
	}
}

// owned returns v without memory of the row it was read from.
func owned(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return bytes.Clone(v)
	}
	return v
}

// blobKey is the key of a blob; the text with the same bytes has another one.
type blobKey string

// valueKey returns equal keys for equal values: an integral float has the key of the integer.
func valueKey(v any) any {
	switch v := v.(type) {
	case []byte:
		return blobKey(v)
	case float64:
		if v == math.Trunc(v) && v >= -(1<<63) && v < 1<<63 {
			return int64(v)
		}
	}
	return v
}

// compareValues orders as SQLite does: numbers, then texts by bytes, then blobs.
func compareValues(a, b any) int {
	if d := valueRank(a) - valueRank(b); d != 0 {
		return d
	}
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case []byte:
		other, _ := b.([]byte)
		return bytes.Compare(a, other)
	}
	nearA, restA := splitNumber(a)
	nearB, restB := splitNumber(b)
	return cmp.Or(cmp.Compare(nearA, nearB), cmp.Compare(restA, restB))
}

// splitNumber returns the float next to v and what it lacks: a large integer has low digits that no float has.
func splitNumber(v any) (near float64, rest int64) {
	switch v := v.(type) {
	case float64:
		return v, 0
	case int64:
		if near = float64(v); near < 1<<63 {
			return near, v - int64(near)
		}
		return near, v - math.MaxInt64 - 1
	case result.Decimal:
		near, _ = strconv.ParseFloat(string(v), 64) // what is too large is an infinity
		return near, 0
	}
	return 0, 0
}

func valueRank(v any) int {
	switch v.(type) {
	case int64, float64, result.Decimal:
		return 1
	case string:
		return 2
	}
	return 3
}

// isLong reports whether only the start of a value was read.
func isLong(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) >= longValue && utf8.RuneCountInString(v) >= longValue
	case []byte:
		return len(v) >= longValue
	}
	return false
}

// topValues returns the n most frequent of values, which are in engine order. Of many values those that occur once are
// left out.
func topValues(values []*schema.Value, n int) []schema.Value {
	all := len(values) <= n
	var top []schema.Value
	for _, v := range values {
		if all || v.Count > 1 {
			top = append(top, *v)
		}
	}
	slices.SortStableFunc(top, func(a, b schema.Value) int { return cmp.Compare(b.Count, a.Count) })
	return slices.Clip(top[:min(n, len(top))])
}

// examples chooses values that show what a column holds: frequent ones for half of the places, then values that look
// different from those chosen before. values are in engine order.
func examples(values []*schema.Value, top []schema.Value, o ProfileOptions) []any {
	var short, out []any
	for _, v := range values {
		if isExample(v.Value) {
			short = append(short, v.Value)
		}
	}
	if len(short) <= o.Examples {
		return short
	}
	chosen, shapes := make(map[any]bool), make(map[string]bool)
	add := func(v any, most int) {
		if key := valueKey(v); len(out) < most && !chosen[key] {
			out, chosen[key], shapes[shape(v)] = append(out, v), true, true
		}
	}
	for _, v := range top {
		if v.Count > 1 && isExample(v.Value) {
			add(v.Value, (o.Examples+1)/2)
		}
	}
	// Hashes with the seed put the others into an order that does not depend on which value is smaller, and that is the
	// same each time.
	slices.SortStableFunc(short, func(a, b any) int { return cmp.Compare(seededHash(o.Seed, a), seededHash(o.Seed, b)) })
	for _, v := range short {
		if len(out) < o.Examples && !shapes[shape(v)] {
			add(v, o.Examples)
		}
	}
	for _, v := range short {
		add(v, o.Examples)
	}
	return out
}

// isExample reports whether a prompt can show a value: a number or a short text that is not blank.
func isExample(v any) bool {
	const maxRunes = 64 // a prompt shows no longer ones
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != "" && utf8.ValidString(v) && utf8.RuneCountInString(v) <= maxRunes &&
			strings.IndexFunc(v, unicode.IsControl) < 0
	case []byte:
		return false
	}
	return true
}

// shape returns what a value looks like. In a text each run of letters is an a and each run of digits a 9. Numbers have
// the shape of their type and sign.
func shape(v any) string {
	switch v := v.(type) {
	case int64:
		return fmt.Sprint("int", v < 0)
	case float64:
		return fmt.Sprint("float", v < 0)
	case result.Decimal:
		return fmt.Sprint("float", v[0] == '-')
	case string:
		last := rune(-1)
		return strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r):
				r = 'a'
			case unicode.IsDigit(r):
				r = '9'
			}
			if r == last {
				return -1
			}
			last = r
			return r
		}, v)
	}
	return ""
}

func seededHash(seed uint64, v any) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	switch v := v.(type) {
	case int64:
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	case float64:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	case string:
		b = append(b, v...)
	case result.Decimal:
		b = append(b, v...)
	}
	h := fnv.New64a()
	h.Write(b)
	// FNV leaves neighbours close to each other in the high bits, which decide the order. The finaliser of splitmix64
	// spreads them.
	n := h.Sum64()
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
