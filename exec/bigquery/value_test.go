package bigquery_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/result"
)

// TestValues has a value of each type as the API writes it, and what a result holds.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		field, cell string
		want        any
	}{
		{`"type": "INTEGER"`, `"9223372036854775807"`, int64(math.MaxInt64)},
		{`"type": "INTEGER"`, `null`, nil},
		{`"type": "FLOAT"`, `"0.1"`, 0.1},
		{`"type": "FLOAT"`, `"-Infinity"`, math.Inf(-1)},
		{`"type": "BOOLEAN"`, `"true"`, int64(1)},
		{`"type": "STRING"`, `"北京"`, "北京"},
		{`"type": "STRING"`, `""`, ""},
		{`"type": "BYTES"`, `"AP8="`, []byte{0, 255}},
		{`"type": "NUMERIC"`, `"12.500000000"`, result.Decimal("12.5")},
		{`"type": "NUMERIC"`, `"3"`, int64(3)},
		{`"type": "NUMERIC"`, `"99999999999999999999999999999.999999999"`, result.Decimal("99999999999999999999999999999.999999999")},
		{`"type": "BIGNUMERIC"`, `"0.00000000000000000000000000000000000001"`, result.Decimal("0.00000000000000000000000000000000000001")},
		{`"type": "BIGNUMERIC"`, `"578960446186580977117854925043439539266"`, result.Decimal("578960446186580977117854925043439539266")},
		{`"type": "DATE"`, `"2024-02-29"`, "2024-02-29"},
		{`"type": "DATE"`, `"0001-01-01"`, "0001-01-01"},
		{`"type": "TIME"`, `"12:30:00.500000"`, "12:30:00.5"},
		{`"type": "DATETIME"`, `"2024-02-29T12:30:00"`, "2024-02-29 12:30:00"},
		{`"type": "TIMESTAMP"`, `"1709209800123456"`, "2024-02-29 12:30:00.123456Z"},
		{`"type": "TIMESTAMP"`, `"-62135596800000000"`, "0001-01-01 00:00:00Z"},
		{`"type": "INTERVAL"`, `"1-2 3 4:5:6.5"`, "1-2 3 4:5:6.5"},
		{`"type": "GEOGRAPHY"`, `"POINT(1 2)"`, "POINT(1 2)"},
		{`"type": "JSON"`, `"{\"b\":1,\"a\":[null]}"`, `{"b":1,"a":[null]}`},
		{`"type": "RANGE", "rangeElementType": {"type": "DATE"}`, `"[2024-01-01, UNBOUNDED)"`, "[2024-01-01, UNBOUNDED)"},
		{`"type": "RANGE", "rangeElementType": {"type": "TIMESTAMP"}`, `"[UNBOUNDED, 1709209800000000)"`, "[UNBOUNDED, 2024-02-29 12:30:00Z)"},
		{`"type": "INTEGER", "mode": "REPEATED"`, `[{"v": "1"}, {"v": "2"}]`, "[1,2]"},
		{`"type": "STRING", "mode": "REPEATED"`, `[]`, "[]"},
		{`"type": "STRING", "mode": "REPEATED"`, `[{"v": "<a&b>\"\n"}]`, `["<a&b>\"\n"]`},
		{`"type": "RECORD", "fields": [{"name": "z", "type": "NUMERIC"}, {"name": "a", "type": "BYTES"}, {"name": "j", "type": "JSON"}, {"name": "d", "type": "DATE"},
 {"name": "f", "type": "FLOAT"}, {"name": "t", "type": "BOOLEAN"}, {"name": "n", "type": "STRING"}]`,
			`{"f": [{"v": "1.50"}, {"v": "AP8="}, {"v": "{\"x\": 1}"}, {"v": "2024-02-29"}, {"v": "NaN"}, {"v": "false"}, {"v": null}]}`,
			`{"z":1.5,"a":"AP8=","j":{"x":1},"d":"2024-02-29","f":"NaN","t":false,"n":null}`},
		{`"type": "RECORD", "mode": "REPEATED", "fields": [{"name": "k", "type": "STRING"}, {"name": "v", "type": "INTEGER", "mode": "REPEATED"}]`,
			`[{"v": {"f": [{"v": "a"}, {"v": [{"v": "1"}]}]}}, {"v": {"f": [{"v": "b"}, {"v": []}]}}]`, `[{"k":"a","v":[1]},{"k":"b","v":[]}]`},
	} {
		f := hostileFake(t)
		f.always = &answer{`{"fields": [{"name": "x", ` + test.field + `}]}`, []string{`{"f": [{"v": ` + test.cell + `}]}`}}
		table, err := database(t, f, bq.Config{}, exec.Config{}).Query(t.Context(), "SELECT a FROM t")
		if err != nil || len(table.Rows) != 1 {
			t.Errorf("%s %s: %v, %v", test.field, test.cell, table, err)
			continue
		}
		if diff := cmp.Diff(test.want, table.Rows[0][0]); diff != "" {
			t.Errorf("%s %s: %s", test.field, test.cell, diff)
		}
	}
}
