package result

import (
	"fmt"
	"math"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
)

// TestShown: a value as its type shows it, and every other value as it is.
func TestShown(t *testing.T) {
	money, double := Type{Kind: KindDecimal, Scale: 2}, Type{Kind: KindFloat, Name: "double precision"}
	for _, tt := range []struct {
		reason string
		t      Type
		v      any
		want   any
	}{
		{"a whole number", money, int64(5), Decimal("5.00")},
		{"one digit", money, 5.5, Decimal("5.50")},
		{"enough digits", money, Decimal("5.25"), Decimal("5.25")},
		{"more digits stay", money, Decimal("5.125"), Decimal("5.125")},
		{"a negative number", money, int64(-5), Decimal("-5.00")},
		{"a number in another form", money, 1e300, 1e300},
		{"no number", money, "five", "five"},
		{"NULL", money, nil, nil},
		{"no scale", Type{Kind: KindDecimal}, int64(5), int64(5)},
		{"true", Type{Kind: KindBool}, int64(1), true},
		{"false", Type{Kind: KindBool}, int64(0), false},
		{"two is no truth", Type{Kind: KindBool}, int64(2), int64(2)},
		{"a whole float of PostgreSQL", double, 2024.0, int64(2024)},
		{"a part", double, 2024.5, 2024.5},
		{"a large one", double, 1e15, 1e15},
		{"below it", double, 999999999999999.0, int64(999999999999999)},
		{"zero", double, 0.0, int64(0)},
		{"minus zero", double, math.Copysign(0, -1), math.Copysign(0, -1)},
		{"a whole float of DuckDB", Type{Kind: KindFloat, Name: "DOUBLE"}, 2024.0, 2024.0},
		{"a float without a kind", Type{Name: "double"}, 2024.0, 2024.0},
	} {
		golden.Equal(t, fmt.Sprintf("%T %v", tt.want, tt.want), fmt.Sprintf("%T %v", tt.t.Shown(tt.v), tt.t.Shown(tt.v)),
			tt.reason)
	}
}

// TestEmpty: a table without a row, and one of NULLs alone.
func TestEmpty(t *testing.T) {
	for _, tt := range []struct {
		reason      string
		t           *Table
		empty, null bool
	}{
		{"no table", nil, true, false}, {"no row", &Table{}, true, false}, {"NULL", &Table{Rows: [][]any{{nil}, {nil}}},
			false, true},
		{"NULL beside a value", &Table{Rows: [][]any{{nil, nil}, {nil, int64(0)}}}, false, false},
		{"rows without a column", &Table{Rows: [][]any{{}}}, false, true},
	} {
		if tt.t.Empty() != tt.empty || tt.t.AllNull() != tt.null {
			t.Errorf("%s: empty %t, all NULL %t", tt.reason, tt.t.Empty(), tt.t.AllNull())
		}
	}
}

// TestTruthValues: a truth value equals the number by which an engine without truth values writes it.
func TestTruthValues(t *testing.T) {
	one := func(v any) *Table { return &Table{Columns: []string{"a"}, Rows: [][]any{{v}}} }
	for _, tt := range []struct {
		a, b any
		want bool
	}{{true, int64(1), true}, {false, int64(0), true}, {true, false, false}, {false, int64(1), false},
		{true, int64(0), false}, {false, nil, false}} {
		if got := (Equality{}).Equal(one(tt.a), one(tt.b)); got != tt.want {
			t.Errorf("%v and %v: equal %t", tt.a, tt.b, got)
		}
		a, _ := Equality{}.Fingerprint(one(tt.a))
		if b, _ := (Equality{}).Fingerprint(one(tt.b)); (a == b) != tt.want {
			t.Errorf("%v and %v: one fingerprint %t", tt.a, tt.b, a == b)
		}
	}
}

// TestTextsOfCoordinates: a place on earth keeps its digits, and a figure has those that mean something.
func TestTextsOfCoordinates(t *testing.T) {
	for _, tt := range []struct {
		reason, column string
		values         []any
		want           string
	}{
		{"a latitude", "latitude", []any{52.520008, int64(52)}, "52.520008"},
		{"a longitude of decimals", "store_lon", []any{Decimal("-122.419416")}, "−122.419416"},
		{"a centimeter is enough", "lat", []any{52.0 + 1.0/3}, "52.3333333"},
		{"few digits", "Lng", []any{-122.5}, "−122.50"},
		{"whole degrees", "lat", []any{int64(52)}, "52"},
		{"an average", "average", []any{Decimal("301.5929592959295930")}, "301.59"},
		{"a word that begins so", "latency", []any{52.520008}, "52.52"},
	} {
		table := &Table{Columns: []string{tt.column}}
		for _, v := range tt.values {
			table.Rows = append(table.Rows, []any{v})
		}
		golden.Equal(t, tt.want, table.Texts(0).Text(tt.values[0]), tt.reason)
	}
}
