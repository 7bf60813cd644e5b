package result

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// rows makes a table of as many columns as the first row has.
func rows(r ...[]any) *Table {
	t := &Table{Rows: r}
	if len(r) > 0 {
		t.Columns = make([]string, len(r[0]))
	}
	return t
}

func row(v ...any) []any { return v }

func TestEqual(t *testing.T) {
	const two53 = int64(1) << 53
	one := rows(row(int64(1)))
	tests := []struct {
		name string
		why  string
		e    Equality
		a, b *Table
		want bool
	}{
		{"empty", "two empty results of one column are the same answer", Equality{}, &Table{Columns: []string{"a"}},
			&Table{Columns: []string{"b"}}, true},
		{"empty, other columns", "the column count is part of the answer even without rows", Equality{},
			&Table{Columns: []string{"a"}}, &Table{Columns: []string{"a", "b"}}, false},
		{"names", "an alias is no difference", Equality{}, &Table{Columns: []string{"a"}, Rows: one.Rows},
			&Table{Columns: []string{"b"}, Rows: one.Rows}, true},
		{"nil", "no result equals nothing", Equality{}, nil, nil, false},
		{"truncated", "missing rows are unknown, even for the table itself", Equality{},
			&Table{Columns: one.Columns, Rows: one.Rows, Truncated: true}, one, false},
		{"int and float", "SUM and COUNT differ in type, not in meaning", Equality{}, one, rows(row(1.0)), true},
		{"minus zero", "-0 is 0", Equality{}, rows(row(math.Copysign(0, -1))), rows(row(int64(0))), true},
		{"beyond 2^53", "no int is turned into a float on the way", Equality{}, rows(row(two53 + 1)),
			rows(row(float64(two53))), false},
		{"at 2^53", "the same number", Equality{}, rows(row(two53)), rows(row(float64(two53))), true},
		{"max int64", "2^63 is a float and no int64", Equality{}, rows(row(int64(math.MaxInt64))),
			rows(row(float64(1 << 63))), false},
		{"min int64", "-2^63 is both", Equality{}, rows(row(int64(math.MinInt64))), rows(row(float64(-1 << 63))), true},
		{"NaN", "a row equals itself", Equality{}, rows(row(math.NaN())), rows(row(math.Float64frombits(0x7ff8000000000123))),
			true},
		{"infinities", "opposite infinities differ", Equality{}, rows(row(math.Inf(1))), rows(row(math.Inf(-1))), false},
		{"NULL and ''", "an unknown is no empty text", Equality{}, rows(row(nil)), rows(row("")), false},
		{"NULL and 0", "nor a zero", Equality{}, rows(row(nil)), rows(row(int64(0))), false},
		{"text and number", "SQLite keeps '1' and 1 apart", Equality{}, rows(row("1")), rows(row(int64(1))), false},
		{"text and blob", "and 'a' and x'61'", Equality{}, rows(row("a")), rows(row([]byte("a"))), false},
		{"case", "text is bytes", Equality{}, rows(row("A")), rows(row("a")), false},
		{"blanks", "no trimming", Equality{}, rows(row("a ")), rows(row("a")), false},
		{"bytes", "invalid UTF-8 is text like any other", Equality{}, rows(row("\xff")), rows(row("\xfe")), false},
		{"row order", "SQL promises none", Equality{}, rows(row("a"), row("b")), rows(row("b"), row("a")), true},
		{"row order, ordered", "somebody asked for it", Equality{Ordered: true}, rows(row("a"), row("b")),
			rows(row("b"), row("a")), false},
		{"same order", "equal rows in the same order", Equality{Ordered: true}, rows(row("a"), row(1.0)),
			rows(row("a"), row(int64(1))), true},
		{"copies", "a missing DISTINCT is another answer", Equality{}, rows(row("a"), row("a")), rows(row("a")), false},
		{"other copies", "which row is doubled matters", Equality{}, rows(row("a"), row("a"), row("b")),
			rows(row("a"), row("b"), row("b")), false},
		{"copies, set", "BIRD does not count", Equality{Set: true}, rows(row("a"), row("a")), rows(row("a")), true},
		{"column order", "columns are not permuted", Equality{}, rows(row("a", "b")), rows(row("b", "a")), false},
		{"cell borders", "cells do not run into one another", Equality{}, rows(row("a", "bc")), rows(row("ab", "c")), false},
		{"row borders", "nor do rows", Equality{Ordered: true}, rows(row("a"), row("b", "c")), rows(row("a", "b"), row("c")),
			false},
		{"exact floats", "scoring is exact", Equality{}, rows(row(0.30000000000000004)), rows(row(0.3)), false},
		{"digits", "the same average in another order", Equality{Digits: 9}, rows(row(0.30000000000000004)), rows(row(0.3)),
			true},
		{"digits, whole", "a sum that should be whole", Equality{Digits: 9}, rows(row(30.000000000000004)),
			rows(row(int64(30))), true},
		{"digits, large", "no digit of the whole part is lost", Equality{Digits: 3}, rows(row(12345.678)),
			rows(row(int64(12346))), true},
		{"digits, keys", "whole numbers are never rounded", Equality{Digits: 3}, rows(row(int64(123456))),
			rows(row(int64(123457))), false},
		{"digits, whole floats", "not as floats either", Equality{Digits: 3}, rows(row(123456.0)), rows(row(123457.0)),
			false},
		{"digits, huge", "beyond int64 there are no keys to keep apart", Equality{Digits: 3}, rows(row(1.0001e30)),
			rows(row(1.0002e30)), true},
		{"digits, 17", "as many as a float has: exact", Equality{Digits: 17}, rows(row(0.30000000000000004)), rows(row(0.3)),
			false},
		{"digits, negative", "exact", Equality{Digits: -1}, rows(row(0.30000000000000004)), rows(row(0.3)), false},
		{"digits, top of the range", "rounding must not leave the range", Equality{Digits: 2}, rows(row(math.MaxFloat64)),
			rows(row(math.Inf(1))), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.Equal(tt.a, tt.b); got != tt.want {
				t.Errorf("Equal(a, b) = %v, want %v: %s", got, tt.want, tt.why)
			}
			if got := tt.e.Equal(tt.b, tt.a); got != tt.want {
				t.Errorf("Equal(b, a) = %v, want %v: equality is symmetric", got, tt.want)
			}
			fa, oka := tt.e.Fingerprint(tt.a)
			fb, okb := tt.e.Fingerprint(tt.b)
			if got := oka && okb && fa == fb; got != tt.want {
				t.Errorf("fingerprints %q (%v) and %q (%v), want equal: %v: %s", fa, oka, fb, okb, tt.want, tt.why)
			}
		})
	}
}

func TestFingerprintIsStable(t *testing.T) {
	// Fingerprints are stored in journals. If this test fails because the
	// encoding changed, change version too.
	table := rows(row(int64(1), 2.5, "text", []byte{0, 1}, nil), row(int64(-1), -2.5, "", []byte{}, nil))
	for _, tt := range []struct {
		e    Equality
		want string
	}{
		{Equality{}, "d36a0cfaa7a9a88dbc1d14429b919bac"},
		{Equality{Set: true}, "f07d9bc231dbefc698a60680f0ee0c0a"},
		{Equality{Ordered: true}, "005073d507e224b6c76dbd79a1fd576b"},
		{Equality{Digits: 9}, "9e1793b17e7d19c63cdaab27415f293c"},
	} {
		if got, ok := tt.e.Fingerprint(table); !ok || got != tt.want {
			t.Errorf("%+v: fingerprint %q, %v, want %q", tt.e, got, ok, tt.want)
		}
	}
}

func TestFingerprintsOfDifferentEqualities(t *testing.T) {
	seen := make(map[string]Equality)
	for _, table := range []*Table{rows(row("a")), rows(row("a"), row("b")), {}} {
		clear(seen)
		for _, e := range []Equality{{}, {Set: true}, {Ordered: true}, {Digits: 9}} {
			fp, _ := e.Fingerprint(table)
			if other, ok := seen[fp]; ok {
				t.Errorf("%+v and %+v give %d rows the same fingerprint", e, other, len(table.Rows))
			}
			seen[fp] = e
		}
	}
}

// oracle decides equality from its definition, with exact arithmetic and no
// hash. It does not know Digits.
func oracle(e Equality, a, b *Table) bool {
	if len(a.Columns) != len(b.Columns) {
		return false
	}
	switch {
	case e.Ordered:
		return slices.EqualFunc(a.Rows, b.Rows, equalRows)
	case e.Set:
		return subset(a.Rows, b.Rows) && subset(b.Rows, a.Rows)
	}
	rest := slices.Clone(b.Rows)
	for _, r := range a.Rows {
		i := slices.IndexFunc(rest, func(x []any) bool { return equalRows(x, r) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return len(rest) == 0
}

func subset(a, b [][]any) bool {
	for _, r := range a {
		if !slices.ContainsFunc(b, func(x []any) bool { return equalRows(x, r) }) {
			return false
		}
	}
	return true
}

func equalRows(a, b []any) bool { return slices.EqualFunc(a, b, equalCells) }

func equalCells(a, b any) bool {
	ra, fa := exact(a)
	rb, fb := exact(b)
	if fa != "" || fb != "" {
		return fa == fb
	}
	if ra != nil && rb != nil {
		return ra.Cmp(rb) == 0
	}
	return ra == nil && rb == nil && fmt.Sprintf("%T%q", a, a) == fmt.Sprintf("%T%q", b, b)
}

// exact returns a number as a fraction, or the name of one that has none.
func exact(v any) (*big.Rat, string) {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), ""
	case float64:
		if math.IsNaN(v) {
			return nil, "NaN"
		}
		if math.IsInf(v, 0) {
			return nil, fmt.Sprint(v)
		}
		return new(big.Rat).SetFloat64(v), ""
	}
	return nil, ""
}

// randomTable makes a small table of values that are likely to be equal, or
// almost, to those of another one.
func randomTable(r *rand.Rand) *Table {
	values := []any{
		nil, "", "a", "b", "1", []byte("a"), []byte{}, int64(0), int64(1), int64(-1), 0.0, 1.0, -1.0, 0.5,
		int64(1) << 53, int64(1)<<53 + 1, float64(1 << 53), int64(math.MaxInt64), float64(1 << 63), int64(math.MinInt64),
		float64(-1 << 63), math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64,
	}
	columns := 1 + r.IntN(2)
	t := &Table{Columns: make([]string, columns)}
	for range r.IntN(4) {
		row := make([]any, columns)
		for i := range row {
			// Few values, so that equal tables are common.
			row[i] = values[r.IntN(len(values))]
			if r.IntN(2) == 0 {
				row[i] = values[7+r.IntN(5)]
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func TestEqualAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	equal := 0
	for range 50_000 {
		a, b := randomTable(r), randomTable(r)
		if r.IntN(2) == 0 { // the same rows in another order, some doubled
			b = &Table{Columns: a.Columns, Rows: slices.Clone(a.Rows)}
			r.Shuffle(len(b.Rows), func(i, j int) { b.Rows[i], b.Rows[j] = b.Rows[j], b.Rows[i] })
			if len(b.Rows) > 0 && r.IntN(3) == 0 {
				b.Rows = append(b.Rows, b.Rows[0])
			}
		}
		for _, e := range []Equality{{}, {Set: true}, {Ordered: true}} {
			want := oracle(e, a, b)
			if want {
				equal++
			}
			if got := e.Equal(a, b); got != want {
				t.Fatalf("%+v: Equal(%v, %v) = %v, want %v", e, a.Rows, b.Rows, got, want)
			}
			fa, _ := e.Fingerprint(a)
			fb, _ := e.Fingerprint(b)
			if (fa == fb) != want {
				t.Fatalf("%+v: fingerprints of %v and %v are equal: %v, want %v", e, a.Rows, b.Rows, fa == fb, want)
			}
		}
	}
	if equal < 2_500 {
		t.Errorf("only %d equal pairs: the test says little", equal)
	}
}

func TestRoundDigits(t *testing.T) {
	tests := []struct {
		f      float64
		digits int
		want   float64
	}{
		{0.123456789012, 9, 0.123456789},
		{1.23456789012, 9, 1.23456789},
		{999999999.6, 9, 1e9},
		{1234567890.6, 9, 1234567891},
		{0.00012345, 2, 0.00012},
		{-2.5000000001, 3, -2.5},
		{9.96, 2, 10},
		{math.Inf(1), 3, math.Inf(1)},
		{math.MaxFloat64, 1, math.MaxFloat64},
	}
	for _, tt := range tests {
		if got := roundDigits(tt.f, tt.digits); got != tt.want {
			t.Errorf("roundDigits(%v, %d) = %v, want %v", tt.f, tt.digits, got, tt.want)
		}
	}
}
