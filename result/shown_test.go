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

// TestTextsOfNames: numbers that name something have no separators; amounts have them, and one scale.
func TestTextsOfNames(t *testing.T) {
	type values = []any
	for _, tt := range []struct {
		reason, column string
		values         values
		want           []string
	}{
		{"a rate has one scale", "hourly_rate", values{45.0, 42.5, 1200.75}, []string{"45.00", "42.50", "1,200.75"}},
		{"hours have one scale", "weekly_hours", values{int64(40), 37.5}, []string{"40.00", "37.50"}},
		{"years have no separators", "year", values{int64(2023), 2024.0}, []string{"2023", "2024"}},
		{"an average of years has none either", "avg_year", values{2023.0, 2023.5}, []string{"2023.00", "2023.50"}},
		{"an average of years as a decimal", "birth_year", values{Decimal("1976.6667")}, []string{"1976.67"}},
		{"a share of a year is a figure", "year_share", values{0.5, 0.25}, []string{"0.50", "0.25"}},
		{"months of a year", "month", values{int64(1), int64(12)}, []string{"1", "12"}},
		{"a month with its year", "year_month", values{int64(202401), int64(202312)}, []string{"202401", "202312"}},
		{"a day with its year", "day", values{int64(20240131)}, []string{"20240131"}},
		{"views of a month are an amount", "monthly_views", values{int64(123456)}, []string{"123,456"}},
		{"days are an amount", "days_online", values{int64(1200)}, []string{"1,200"}},
		{"a salary per month is an amount", "salary_per_month", values{int64(5200)}, []string{"5,200"}},
		{"the revenue of a quarter is an amount", "quarter_revenue", values{int64(412000)}, []string{"412,000"}},
		{"years of a participle", "founded", values{int64(1949), nil, int64(2004)}, []string{"1949", "", "2004"}},
		{"a count of a participle", "built", values{int64(1949), int64(12)}, []string{"1,949", "12"}},
		{"a season", "season", values{int64(2022)}, []string{"2022"}},
		{"a serial", "serial", values{int64(70001)}, []string{"70001"}},
		{"a balance of an account", "account_balance", values{int64(70001)}, []string{"70,001"}},
		{"a key", "OrderID", values{int64(70001)}, []string{"70001"}},
		{"zero has no sign", "balance", values{math.Copysign(0, -1), -7.25}, []string{"0.00", "−7.25"}},
	} {
		table := &Table{Columns: []string{tt.column}}
		for _, v := range tt.values {
			table.Rows = append(table.Rows, []any{v})
		}
		for i, v := range tt.values {
			if got := table.Texts(0).Text(v); v != nil && got != tt.want[i] {
				t.Errorf("%s: %s %v is %q, want %q", tt.reason, tt.column, v, got, tt.want[i])
			}
		}
	}
}
