package duckdb_test

import (
	"math"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/result"
)

// values are what a result holds for an expression of each type.
var values = []exectest.Value{
	{SQL: "NULL", Want: nil}, {SQL: "true", Want: int64(1)}, {SQL: "1::TINYINT", Want: int64(1)}, {SQL: "-2::SMALLINT", Want: int64(-2)},
	{SQL: "255::UTINYINT", Want: int64(255)}, {SQL: "65535::USMALLINT", Want: int64(65535)}, {SQL: "4294967295::UINTEGER", Want: int64(4294967295)},
	{SQL: "18446744073709551615::UBIGINT", Want: result.Decimal("18446744073709551615")},
	{SQL: "170141183460469231731687303715884105727::HUGEINT", Want: result.Decimal("170141183460469231731687303715884105727")},
	{SQL: "(SELECT sum(x) FROM (VALUES (1), (2)) v(x))", Want: int64(3)}, {SQL: "(SELECT avg(x) FROM (VALUES (1), (2)) v(x))", Want: 1.5},
	{SQL: "1.50::DECIMAL(10,2)", Want: result.Decimal("1.5")}, {SQL: "100::DECIMAL(10,2)", Want: int64(100)},
	{SQL: "-0.001::DECIMAL(38,20)", Want: result.Decimal("-0.001")},
	{SQL: "0.1::FLOAT", Want: 0.1}, {SQL: "0.1::DOUBLE", Want: 0.1}, {SQL: "'inf'::DOUBLE", Want: math.Inf(1)}, {SQL: "7 / 2", Want: 3.5},
	{SQL: "7 // 2", Want: int64(3)},
	{SQL: "'x '", Want: "x "}, {SQL: "''", Want: ""}, {SQL: "'北京'", Want: "北京"}, {SQL: "'a'::ENUM('a', 'b')", Want: "a"}, {SQL: "'101'::BIT", Want: "101"},
	{SQL: `'\x00\xff'::BLOB`, Want: []byte{0, 255}}, {SQL: "UUID '123E4567-e89b-12d3-a456-426655440000'", Want: "123e4567-e89b-12d3-a456-426655440000"},
	{SQL: "DATE '2024-02-29'", Want: "2024-02-29"}, {SQL: "'0044-03-15 (BC)'::DATE", Want: "0044-03-15 (BC)"}, {SQL: "'infinity'::DATE", Want: "infinity"},
	{SQL: "'-infinity'::DATE", Want: "-infinity"}, {SQL: "'infinity'::TIMESTAMP", Want: "infinity"}, {SQL: "'-infinity'::TIMESTAMPTZ", Want: "-infinity"},
	{SQL: "TIMESTAMP '2024-02-29 10:00:00'", Want: "2024-02-29 10:00:00"}, {SQL: "TIMESTAMP '2024-02-29 10:00:00.120'", Want: "2024-02-29 10:00:00.12"},
	{SQL: "TIMESTAMPTZ '2024-02-29 10:00:00+02'", Want: "2024-02-29 08:00:00Z"},
	{SQL: "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", Want: "2024-01-01 00:00:00.123456789"},
	{SQL: "'2024-01-01'::TIMESTAMP_S", Want: "2024-01-01 00:00:00"}, {SQL: "TIME '10:00:00.5'", Want: "10:00:00.5"},
	{SQL: "'10:00:00+02'::TIMETZ", Want: "10:00:00+02:00"},
	{SQL: "INTERVAL '1 year 2 months 3 days 04:05:06.7'", Want: "1 year 2 months 3 days 04:05:06.7"}, {SQL: "INTERVAL '-1 day'", Want: "-1 day"},
	{SQL: "INTERVAL '0 day'", Want: "00:00:00"},
	{SQL: "INTERVAL '-90 minutes'", Want: "-01:30:00"}, {SQL: "[1, NULL, 3]", Want: "[1,null,3]"}, {SQL: "[]", Want: "[]"},
	{SQL: "[1, 2]::INTEGER[2]", Want: "[1,2]"},
	{SQL: "[[1], [2]]", Want: "[[1],[2]]"}, {SQL: "[DATE '2024-01-01']", Want: `["2024-01-01"]`},
	{SQL: "[TIMESTAMP '2024-01-01']", Want: `["2024-01-01 00:00:00"]`},
	{SQL: "{'b': 1.50, 'a': DATE '2024-01-01', 'c d': [true]}", Want: `{"a":"2024-01-01","b":1.5,"c d":[true]}`},
	{SQL: "{'x': {'y': 'z\"<'}}", Want: `{"x":{"y":"z\"<"}}`},
	{SQL: "MAP {'k': [1], 'a': NULL}", Want: `{"a":null,"k":[1]}`}, {SQL: "MAP {DATE '2024-01-01': TIME '10:00'}", Want: `{"2024-01-01":"10:00:00"}`},
	{SQL: "union_value(n := 2)", Want: `{"n":2}`},
	{SQL: "[170141183460469231731687303715884105727::HUGEINT]", Want: "[170141183460469231731687303715884105727]"},
	{SQL: `['\xff'::BLOB]`, Want: `["ff"]`}, {SQL: `'{"b": 1,  "a": [2.5, null]}'::JSON`, Want: `{"a":[2.5,null],"b":1}`}, {SQL: `'"x"'::JSON`, Want: `"x"`},
	{SQL: "'1'::JSON", Want: "1"},
	{SQL: "'nan'::DOUBLE IS NULL", Want: int64(0)}, {SQL: "['nan'::DOUBLE]", Want: `["NaN"]`},
	{SQL: "[UUID '123e4567-e89b-12d3-a456-426655440000']", Want: `["123e4567-e89b-12d3-a456-426655440000"]`},
}
