package result_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
)

func TestParseNumber(t *testing.T) {
	for _, tt := range []struct {
		text string
		want any // nil: an error
		why  string
	}{
		{"1", int64(1), "a whole number"},
		{"1.00", int64(1), "zeros behind the point"},
		{"-0", int64(0), "there is one zero"},
		{"+07.50", result.Decimal("7.5"), "zeros at both ends"},
		{".5", result.Decimal("0.5"), "no digit before the point"},
		{"5.", int64(5), "no digit behind the point"},
		{"9223372036854775807", int64(math.MaxInt64), "the largest int64"},
		{"9223372036854775808", result.Decimal("9223372036854775808"), "one more"},
		{"-9223372036854775808.000", int64(math.MinInt64), "the smallest int64"},
		{"12345678901234567890123456789012345678.5", result.Decimal("12345678901234567890123456789012345678.5"),
			"38 digits and one"},
		{"1e3", int64(1000), "an exponent"},
		{"1.25E-3", result.Decimal("0.00125"), "a negative exponent"},
		{"-1.5e+1", int64(-15), "an exponent that moves the point to the end"},
		{"NaN", math.NaN(), "PostgreSQL has it"},
		{"-Infinity", math.Inf(-1), "this too"},
		{"", nil, "nothing"}, {".", nil, "a point"}, {"1,5", nil, "a comma"}, {"0x10", nil, "no decimal"},
		{"1e99999", nil, "an exponent that would take memory"}, {strings.Repeat("9", 1<<18+1), nil, "too long"},
	} {
		got, err := result.Type{}.ParseNumber(tt.text)
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v, %v", tt.why, got, err)
		}
		if f, ok := tt.want.(float64); ok && math.IsNaN(f) {
			if g, ok := got.(float64); !ok || !math.IsNaN(g) {
				t.Errorf("%s: %v", tt.why, got)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

// TestParseDecimal: the digits of a decimal stay, whether or not its text has to be changed.
func TestParseDecimal(t *testing.T) {
	for _, tt := range []struct {
		text string
		want result.Decimal // "": an error
	}{
		{"0", "0"}, {"7", "7"}, {"10", "10"}, {"1.10", "1.10"}, {"0.0", "0.0"}, {"100.00", "100.00"}, {"-0", "-0"},
		{"-0.00", "-0.00"}, {"-1.5", "-1.5"},
		{"9223372036854775808", "9223372036854775808"}, {"+1.50", "1.50"}, {"007.0", "7.0"}, {"-00.5", "-0.5"}, {".5", "0.5"},
		{"-.50", "-0.50"}, {"5.", "5"},
		{"00", "0"}, {"1.2.3", ""}, {"1,5", ""}, {"-", ""}, {"--1", ""}, {"", ""}, {"1 ", ""}, {"١", ""},
		{strings.Repeat("9", 1<<18+1), ""},
	} {
		got, err := result.Type{Kind: result.KindDecimal}.ParseNumber(tt.text)
		if tt.want == "" && err == nil || tt.want != "" && got != tt.want {
			t.Errorf("%.20q: %v, %v, not %q", tt.text, got, err, tt.want)
		}
	}
}

// TestDecimalEqual: a Decimal is compared by value, exactly and rounded.
func TestDecimalEqual(t *testing.T) {
	one := func(v any) *result.Table { return &result.Table{Columns: []string{"x"}, Rows: [][]any{{v}}} }
	exact, rounded := result.Equality{}, result.Equality{Digits: 9}
	for _, tt := range []struct {
		a, b           any
		exact, rounded bool
		why            string
	}{
		{result.Decimal("0.1"), 0.1, true, true, "the shortest text of the float"},
		{result.Decimal("0.1000000000000000055511151231257827"), 0.1, false, true,
			"what the float is, to more digits than it tells"},
		{result.Decimal("100000000000000000000"), 1e20, true, true, "a whole number beyond int64"},
		{result.Decimal("100000000000000000001"), 1e20, false, false, "its neighbour: whole numbers are keys"},
		{result.Decimal("0.3333333333333333333333"), 1.0 / 3, false, true, "a third with more digits"},
		{result.Decimal("1.00000000001"), int64(1), false, true, "nearly whole"},
		{result.Decimal("12.5"), result.Decimal("12.5"), true, true, "itself"},
		{result.Decimal("12.5"), "12.5", false, false, "a text is no number"},
	} {
		if got := exact.Equal(one(tt.a), one(tt.b)); got != tt.exact {
			t.Errorf("%s: exactly equal: %v", tt.why, got)
		}
		if got := rounded.Equal(one(tt.a), one(tt.b)); got != tt.rounded {
			t.Errorf("%s: equal to 9 digits: %v", tt.why, got)
		}
	}
	var text, csv strings.Builder
	table := one(result.Decimal("-7.25"))
	if err := table.WriteTable(&text); err != nil || !strings.Contains(text.String(), "\n−7.25\n") {
		t.Errorf("%v: %s", err, text.String())
	}
	if err := table.WriteCSV(&csv); err != nil || csv.String() != "x\n-7.25\n" {
		t.Errorf("%v: %s", err, csv.String())
	}
	if got := table.Preview(0, 0); !strings.HasSuffix(got, "[-7.25]") {
		t.Error(got)
	}
}

// FuzzParseNumber: what is read has one form, which reads as itself.
func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"1", "-0.10", "1e3", ".5", "99999999999999999999.50", "1e-30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := result.Type{}.ParseNumber(s)
		d, ok := v.(result.Decimal)
		if err != nil || !ok {
			return
		}
		if again, err := (result.Type{}).ParseNumber(string(d)); err != nil || again != v {
			t.Errorf("%q is %q and then %v, %v", s, d, again, err)
		}
	})
}

func ExampleType_ParseNumber() {
	for _, text := range []string{"3.00", "0.10", "98765432109876543210"} {
		v, err := result.Type{}.ParseNumber(text)
		fmt.Printf("%T %v %v\n", v, v, err)
	}
	// Output:
	// int64 3 <nil>
	// result.Decimal 0.1 <nil>
	// result.Decimal 98765432109876543210 <nil>
}

// TestDecimalJSON: a Decimal is a number where a float64 has its digits, as on an engine without decimals, else a text.
func TestDecimalJSON(t *testing.T) {
	for _, tt := range []struct {
		decimal result.Decimal
		want    string
		why     string
	}{
		{"24302.47", "24302.47", "money"},
		{"-0.1", "-0.1", "a float64 tells it by these digits"},
		{"100000000000000000000", "100000000000000000000", "whole, beyond int64"},
		{"100000000000000000001", `"100000000000000000001"`, "its neighbour has no float64"},
		{"0.1000000000000000055511151231257827", `"0.1000000000000000055511151231257827"`,
			"more digits than a float64 tells"},
	} {
		table := &result.Table{Columns: []string{"x"}, Rows: [][]any{{tt.decimal}}}
		text, err := json.Marshal(table)
		if want := `{"columns":["x"],"rows":[[` + tt.want + `]]}`; err != nil || string(text) != want {
			t.Errorf("%s: %s, %v, want %s", tt.why, text, err, want)
		}
		var back result.Table
		if err := json.Unmarshal(text, &back); err != nil {
			t.Error(err)
		}
		if number := tt.want[0] != '"'; number != (result.Equality{}).Equal(table, &back) {
			t.Errorf("%s: read back as %v", tt.why, back.Rows)
		}
	}
}
