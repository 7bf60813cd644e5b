package exec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/schema"
)

func TestCompareValues(t *testing.T) {
	// In order; equal neighbours share a line.
	order := [][]any{
		{math.Inf(-1)},
		{int64(math.MinInt64), float64(math.MinInt64)},
		{-1.5},
		{int64(-1), -1.0},
		{int64(0), 0.0},
		{0.5},
		{int64(1), 1.0},
		{int64(1 << 53)},
		{int64(1<<53 + 1)}, // no float64 is this number
		{int64(math.MaxInt64)},
		{float64(math.MaxInt64)}, // 1 more
		{math.Inf(1)},
		{""},
		{"A"},
		{"a"},
		{"é"},
		{[]byte{}},
		{[]byte("A")},
		{[]byte{255}},
	}
	for i, left := range order {
		for j, right := range order {
			for _, a := range left {
				for _, b := range right {
					got := compareValues(a, b)
					if want := i - j; (got < 0) != (want < 0) || (got > 0) != (want > 0) {
						t.Errorf("compareValues(%T %v, %T %v) = %d, want the sign of %d", a, a, b, b, got, want)
					}
					if (valueKey(a) == valueKey(b)) != (i == j) {
						t.Errorf("valueKey(%T %v) and valueKey(%T %v) disagree with the order", a, a, b, b)
					}
				}
			}
		}
	}
}

func sampleOf(values ...any) RowSample {
	s := RowSample{}
	for _, v := range values {
		s.Rows = append(s.Rows, []any{v})
	}
	return s
}

func TestSummarize(t *testing.T) {
	o := ProfileOptions{Top: 3, Examples: 3}
	long := strings.Repeat("ä", longValue)
	for _, c := range []struct {
		name   string
		values []any
		want   schema.Profile
		why    string
	}{
		{"nothing", nil, schema.Profile{}, "an empty table"},
		{"all null", []any{nil, nil}, schema.Profile{Sampled: 2, Nulls: 2}, ""},
		{"few", []any{"b", "a", "b"}, schema.Profile{Sampled: 3, Distinct: 2, Min: "a", Max: "b",
			Top: []schema.Value{{Value: "b", Count: 2}, {Value: "a", Count: 1}}, Examples: []any{"a", "b"}},
			"all of them are told"},
		{"unique", []any{int64(4), int64(2), int64(3), int64(1)}, schema.Profile{Sampled: 4, Distinct: 4, Min: int64(1),
			Max:      int64(4),
			Examples: []any{int64(1), int64(2), int64(3)}}, "no value is more frequent than another"},
		{"ties", []any{"d", "c", "b", "a", "a", "b", "c", "d"}, schema.Profile{Sampled: 8, Distinct: 4, Min: "a", Max: "d",
			Top: []schema.Value{{Value: "a", Count: 2}, {Value: "b", Count: 2}, {Value: "c", Count: 2}}},
			"engine order breaks ties"},
		{"long", []any{long, "m"}, schema.Profile{Sampled: 2, Distinct: 2, Min: "m",
			Top: []schema.Value{{Value: "m", Count: 1}}, Examples: []any{"m"}}, "a value that was cut is not shown as a value"},
		{
			"unfit", []any{" ", "a\nb", "\xff", strings.Repeat("1", 65)}, schema.Profile{Sampled: 4, Distinct: 4, Min: " ",
				Max: "\xff"},
			"blank, control characters, bad UTF-8, too long: no examples",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := summarize(sampleOf(c.values...), 0, o)
			if c.name == "ties" || c.name == "unique" { // which ones is the seed's choice: see TestExamples
				if len(got.Examples) != o.Examples {
					t.Errorf("examples %v", got.Examples)
				}
				got.Examples, c.want.Examples = nil, nil
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestExamples(t *testing.T) {
	var values []any
	for i := range 1000 {
		values = append(values, string(rune('A'+i%26))+string(rune('a'+i/26%26))+"name"+strings.Repeat("x", i/676))
	}
	// Two odd ones among a thousand alike, and one that is frequent.
	values = append(values, "2020-01-01", "a@b.org", "Zürich", "Zürich", "Zürich")
	o := ProfileOptions{Top: 5, Examples: 5, contacts: true}
	for seed := range uint64(20) {
		o.Seed = seed
		got := summarize(sampleOf(values...), 0, o).Examples
		if got[0] != "Zürich" {
			t.Errorf("seed %d: the frequent value is not first: %v", seed, got)
		}
		for _, odd := range []any{"2020-01-01", "a@b.org"} {
			if !slices.Contains(got, odd) {
				t.Errorf("seed %d: %v looks different and is not among %v", seed, odd, got)
			}
		}
	}
}

// TestContactsStayOut: addresses and numbers are shown only where the policy reveals them, and are found by their
// words.
func TestContactsStayOut(t *testing.T) {
	for _, tt := range []struct {
		why      string
		contacts bool
		want     []any
	}{
		{"as a rule", false, []any{"Ada"}},
		{"of a revealed column", true, []any{"+49 30 1234567", "Ada", "ada@x.com"}},
	} {
		o := ProfileOptions{Top: 5, Examples: 5, contacts: tt.contacts, column: "mail", texts: map[string][]string{}}
		p := summarize(sampleOf("ada@x.com", "+49 30 1234567", "Ada"), 0, o)
		if !slices.Equal(p.Examples, tt.want) || len(p.Top) != len(tt.want) || p.Distinct != 3 {
			t.Errorf("%s: %v %v", tt.why, p.Examples, p.Top)
		}
		if texts := o.texts["mail"]; len(texts) != 3 {
			t.Errorf("%s: found are %v", tt.why, texts)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	var values []any
	for i := range 10_000 {
		values = append(values, strings.Repeat("x", i%5)+string(rune('a'+i%1000)))
	}
	s := sampleOf(values...)
	o := ProfileOptions{Top: 10, Examples: 5}
	for b.Loop() {
		summarize(s, 0, o)
	}
}
