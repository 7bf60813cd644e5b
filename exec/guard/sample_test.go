package guard_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sampling"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// stored is a table of an engine: its keys from low to high, and how many rows it has.
type stored struct {
	low, high any
	rows      int
	asked     []string
	fails     int // the statement that fails, counted from 1
}

var errStored = errors.New("connection lost")

// run answers a count, the ends of the keys, and rows.
func (s *stored) run(_ context.Context, sql string, rows int) (*result.Table, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s (%d)", sql, rows))
	switch {
	case len(s.asked) == s.fails:
		return nil, errStored
	case strings.Contains(sql, "(SELECT min("):
		return &result.Table{Rows: [][]any{{s.low, s.high}}}, nil
	case strings.Contains(sql, "SELECT 1 FROM"):
		limit := 0
		fmt.Sscanf(sql[strings.LastIndex(sql, "LIMIT"):], "LIMIT %d)", &limit)
		return &result.Table{Rows: [][]any{{int64(min(limit, s.rows))}}}, nil
	}
	found := &result.Table{Rows: [][]any{}}
	for i := range min(rows, s.rows) {
		found.Rows = append(found.Rows, []any{int64(i), "a long text"})
	}
	return found, nil
}

// TestSampleRows records the statements of each kind of sample, and what comes of them.
func TestSampleRows(t *testing.T) {
	keyed := guard.Sampled{From: "t AS t", Counted: "t AS t", List: "t.a, t.b", Key: "t.id", Order: " ORDER BY t.id"}
	plain, numbered, hinted, own := keyed, keyed, keyed, keyed
	plain.Key, numbered.Numbered, numbered.Key = "", true, ""
	hinted.Count, hinted.Hint = "approx", func(start, rows int64) string {
		return fmt.Sprintf("/* %d %d */ ", start, rows)
	}
	own.Spread = func(_ context.Context, known sampling.Rows) ([][]any, error) {
		rows := make([][]any, known.Count)
		for i := range rows {
			rows[i] = []any{"a long text", []byte("a long blob")}
		}
		return rows, nil
	}
	failing := own
	failing.Spread = func(context.Context, sampling.Rows) ([][]any, error) { return nil, errStored }
	columns := []string{"a", "b"}
	var b strings.Builder
	for _, tt := range []struct {
		reason string
		t      guard.Sampled
		s      stored
		o      sampling.Options
	}{
		{"the first rows", keyed, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 3}},
		{"all rows", keyed, stored{rows: 3}, sampling.Options{Columns: columns, Rows: 3, Count: 10}},
		{"fewer rows than the count", keyed, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 3, Count: 10}},
		{"as many rows as are counted", keyed, stored{rows: 10}, sampling.Options{Columns: columns, Rows: 10, Count: 10}},
		{"more rows than are counted", keyed, stored{rows: 11}, sampling.Options{Columns: columns, Rows: 10, Count: 10}},
		{"only a count", keyed, stored{rows: 11}, sampling.Options{Rows: 10, Count: 20}},
		{"no count and no column", keyed, stored{rows: 11}, sampling.Options{Rows: 10}},
		{"spread over keys", keyed, stored{low: int64(1), high: int64(1000), rows: 1000},
			sampling.Options{Columns: columns, Rows: 40, Spread: true}},
		{"spread, one row a part", keyed, stored{low: int64(-50), high: int64(50), rows: 101},
			sampling.Options{Columns: columns, Rows: 5, Spread: true, Seed: 7}},
		{"spread, another seed", keyed, stored{low: int64(-50), high: int64(50), rows: 101},
			sampling.Options{Columns: columns, Rows: 5, Spread: true, Seed: 8}},
		{"spread over all keys there are", keyed, stored{low: int64(math.MinInt64), high: int64(math.MaxInt64), rows: 9},
			sampling.Options{Columns: columns,
				Rows: 3, Spread: true}},
		{"spread over four keys in three parts", keyed, stored{low: int64(1), high: int64(4), rows: 4},
			sampling.Options{Columns: columns, Rows: 3, Spread: true}},
		{"spread over fewer keys than parts", keyed, stored{low: int64(1), high: int64(3), rows: 3},
			sampling.Options{Columns: columns, Rows: 25, Spread: true}},
		{"spread over one key", keyed, stored{low: int64(1), high: int64(1), rows: 1},
			sampling.Options{Columns: columns, Rows: 2, Spread: true}},
		{"a count says that it is no long table", keyed, stored{low: int64(1), high: int64(9), rows: 9},
			sampling.Options{Columns: columns, Rows: 9, Count: 20,
				Spread: true}},
		{"one row more is one", keyed, stored{low: int64(1), high: int64(10), rows: 10},
			sampling.Options{Columns: columns, Rows: 9, Count: 20, Spread: true}},
		{"keys that are texts", keyed, stored{low: "a", high: int64(2), rows: 9}, sampling.Options{Columns: columns, Rows: 3,
			Spread: true}},
		{"an empty table has no keys", keyed, stored{}, sampling.Options{Columns: columns, Rows: 3, Spread: true}},
		{"no key", plain, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 3, Spread: true}},
		{"numbered rows", numbered, stored{rows: 100}, sampling.Options{Columns: columns, Rows: 4, Count: 1000,
			Spread: true}},
		{"as many numbered rows as are wanted", numbered, stored{rows: 4}, sampling.Options{Columns: columns, Rows: 4,
			Count: 1000, Spread: true}},
		{"an engine's own words", hinted, stored{low: int64(1), high: int64(9), rows: 9},
			sampling.Options{Columns: columns, Rows: 2, Count: 5, Spread: true}},
		{"an engine's own way", own, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 8, Count: 20, Spread: true,
			Cut: 6}},
		{"its own way finds half", own, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 8, Count: 4, Spread: true}},
		{"its own way finds less than half", own, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 8, Count: 3,
			Spread: true, Cut: 4}},
		{"its own way fails", failing, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 8, Count: 20, Spread: true}},
		{"cut texts", keyed, stored{rows: 9}, sampling.Options{Columns: columns, Rows: 1, Cut: 3}},
	} {
		got, err := guard.SampleRows(t.Context(), tt.s.run, tt.t, tt.o)
		fmt.Fprintf(&b, "== %s\n", tt.reason)
		for _, sql := range tt.s.asked {
			fmt.Fprintf(&b, "   %s\n", sql)
		}
		shown := got.Rows[:min(2, len(got.Rows))]
		fmt.Fprintf(&b, "   -> %d rows, %v, count %d, at least %t, complete %t, %v\n", len(got.Rows), shown, got.Count,
			got.CountAtLeast, got.Complete, err)

		for fails := 1; fails <= len(tt.s.asked); fails++ {
			s := stored{low: tt.s.low, high: tt.s.high, rows: tt.s.rows, fails: fails}
			got, err := guard.SampleRows(t.Context(), s.run, tt.t, tt.o)
			keys := strings.Contains(s.asked[fails-1], "(SELECT min(") // whose failure means that the table has no key
			if keys != (err == nil) || err != nil && (!errors.Is(err, errStored) || got.Rows != nil || len(s.asked) != fails) {
				t.Errorf("%s: statement %d fails: %v, %v after %d", tt.reason, fails, got, err, len(s.asked))
			}
		}
	}
	golden.Check(t, "samples.golden", b.String())
}

// TestNewSampled: columns are cut where the engine can and the options say so.
func TestNewSampled(t *testing.T) {
	quote := func(name string) string { return "[" + name + "]" }
	cut := func(kind, column string) string { return "left(" + column + ":" + kind + ")" }
	table := schema.Table{Name: "t", Columns: []schema.Column{{Name: "a", Type: "TEXT"}}}
	for _, tt := range []struct {
		reason string
		cut    func(kind, column string) string
		most   int
		want   string
	}{
		{"cut", cut, 5, "left(t.[a]:TEXT), t.[b]"}, {"as stored", cut, 0, "t.[a], t.[b]"},
		{"an engine that cuts nothing", nil, 5, "t.[a], t.[b]"},
	} {
		got := guard.NewSampled("main.t", table, sampling.Options{Columns: []string{"a", "b"}, Cut: tt.most}, quote, tt.cut)
		if got.List != tt.want || got.From != "main.t AS t" || got.Counted != "main.t AS t" {
			t.Errorf("%s: %+v", tt.reason, got)
		}
	}
}
