package trino

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
)

// fields is what the driver makes of a row.
type fields []any // name, value, name, value

func (f fields) Len() int          { return len(f) / 2 }
func (f fields) Name(i int) string { return f[2*i].(string) }
func (f fields) Value(i int) any   { return f[2*i+1] }

func TestConversion(t *testing.T) {
	for _, c := range []struct {
		kind string
		in   any
		want any
		why  string
	}{
		{"DECIMAL", "1.50", result.Decimal("1.5"), "no zeros at the end"},
		{"DECIMAL", "2.00", int64(2), "whole"},
		{"DECIMAL", "12345678901234567890123456789012345678", result.Decimal("12345678901234567890123456789012345678"), "38 digits"},
		{"CHAR", "ab   ", "ab", "padded by the server"},
		{"DATE", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "2024-02-29", ""},
		{"TIMESTAMP", time.Date(2024, 2, 29, 13, 14, 15, 120e6, time.FixedZone("", 3600)), "2024-02-29 13:14:15.12", "the zone is the driver's"},
		{"TIMESTAMP WITH TIME ZONE", time.Date(2024, 2, 29, 1, 0, 0, 0, time.FixedZone("", 2*3600)), "2024-02-28 23:00:00Z", "in UTC"},
		{"TIME WITH TIME ZONE", time.Date(0, 1, 1, 1, 2, 3, 0, time.FixedZone("", 3600)), "00:02:03Z", "in UTC"},
		{"TIME", time.Date(0, 1, 1, 1, 2, 3, 1000, time.UTC), "01:02:03.000001", ""},
		{"DATE", nil, nil, ""},
		{"ARRAY(INTEGER)", []any{json.Number("1"), nil}, "[1,null]", ""},
		{"ARRAY(INTEGER)", nil, nil, "no array"},
		{"ARRAY(VARCHAR)", []any{`<a"b>`}, `["<a\"b>"]`, "text as it is"},
		{"ARRAY(DECIMAL(38,2))", []any{"1.50", "12345678901234567890123456789012345.5"}, "[1.5,12345678901234567890123456789012345.5]", "exact"},
		{"ARRAY(DOUBLE)", []any{json.Number("1.0E10"), "NaN", json.Number("0.5")}, `[1e+10,"NaN",0.5]`, ""},
		{"ARRAY(DATE)", []any{"2024-01-02"}, `["2024-01-02"]`, ""},
		{"ARRAY(TIMESTAMP(3))", []any{"2024-01-02 10:00:00.500"}, `["2024-01-02 10:00:00.5"]`, "as outside of an array"},
		{"ARRAY(TIMESTAMP(3) WITH TIME ZONE)", []any{"2024-07-02 10:00:00.000 Europe/Berlin", "2024-01-02 10:00:00.000 +02:00"},
			`["2024-07-02 08:00:00Z","2024-01-02 08:00:00Z"]`, "as outside of an array"},
		{"ARRAY(TIMESTAMP(12))", []any{"2024-01-02 10:00:00.123456789012"}, `["2024-01-02 10:00:00.123456789"]`, "cut to nanoseconds, as the driver does"},
		{"MAP(VARCHAR, INTEGER)", map[string]any{"b": json.Number("1"), "a": nil}, `{"a":null,"b":1}`, "sorted"},
		{`ROW(B DATE, "A (x" ARRAY(DECIMAL(3,1)), TIMESTAMP(0) WITH TIME ZONE)`,
			fields{"b", time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), "a (x", []any{"1.0"}, "field2", time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)},
			`{"b":"2024-01-02","a (x":[1],"field2":"2024-01-02 03:04:05Z"}`, "in the order of the fields"},
		{"ARRAY(VARBINARY)", []any{"AP8="}, `["AP8="]`, "base64"},
		{"ROW(X VARBINARY)", fields{"x", []byte{0, 255}}, `{"x":"AP8="}`, "base64 too"},
		{"ARRAY(ROW(X TIME(3)))", []any{fields{"x", time.Date(0, 1, 1, 1, 2, 3, 0, time.UTC)}}, `[{"x":"01:02:03"}]`, ""},
	} {
		got, err := conversion(c.kind)(c.in)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s (%s): %v\n%s", c.kind, c.why, err, diff)
		}
	}
	for _, kind := range []string{"VARCHAR", "BIGINT", "DOUBLE", "VARBINARY", "JSON", "UUID", "BOOLEAN", "HYPERLOGLOG"} {
		if conversion(kind) != nil {
			t.Errorf("%s is changed", kind)
		}
	}
}

// FuzzReadKind: no text of a server ends the program.
func FuzzReadKind(f *testing.F) {
	f.Add(`ROW(B DATE, "A (x" ARRAY(DECIMAL(3,1)), TIMESTAMP(0) WITH TIME ZONE)`)
	f.Add("ARRAY(((((MAP(")
	f.Fuzz(func(t *testing.T, text string) { readKind(text, 0) })
}
