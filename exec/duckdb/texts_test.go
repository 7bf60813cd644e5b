package duckdb_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// texts are expressions of the types of "Data Types" of DuckDB's documentation. Of what holds other values the text is
// another one.
var texts = []string{
	"9223372036854775807::BIGINT", "'101'::BIT", "'ab'::BLOB", "true", "false",
	"DATE '2024-02-29'", "DATE 'infinity'", "DATE '-infinity'", "'0044-03-15 (BC)'::DATE",
	"1.10::DECIMAL(10,2)", "100::DECIMAL(12,2)", "0::DECIMAL(5,2)", "-0.001::DECIMAL(38,20)",
	"12345678901234567890123456789012345678::DECIMAL(38,0)", "1.5::DECIMAL(18,3)",
	"0.1::DOUBLE", "'inf'::DOUBLE", "'nan'::DOUBLE", "1.5::FLOAT", "170141183460469231731687303715884105727::HUGEINT",
	"-1::HUGEINT", "2147483647::INTEGER",
	"INTERVAL '1 year 2 months 3 days 04:05:06.7'", "INTERVAL '-1 day'", "INTERVAL '0 day'", "INTERVAL '-90 minutes'",
	"INTERVAL 100 HOUR",
	`'{"id": 9007199254740993, "big": 12345678901234567890}'::JSON`, "'9007199254740993'::JSON", "'1.10'::JSON",
	"'null'::JSON", "to_json(9007199254740993)",
	"to_json({'a': 12345678901234567890::UBIGINT})", "json_extract('{\"a\": 1.10}', '$.a')",
	"json_object('k', 9007199254740993)", "NULL::JSON",
	"(-32768)::SMALLINT", "TIME '24:00:00'", "TIME '00:00:00'", "TIME '10:00:00.5'", "TIME '23:59:59.999999'",
	"TIME_NS '10:00:00.123456789'",
	"TIMESTAMP '2024-02-29 10:00:00'", "TIMESTAMP '2024-02-29 10:00:00.120'", "TIMESTAMP 'infinity'",
	"'0044-03-15 (BC) 10:00:00'::TIMESTAMP", "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS",
	"'2024-01-01'::TIMESTAMP_S", "'2024-01-01 00:00:00.5'::TIMESTAMP_MS", "TIMESTAMPTZ '2024-03-10 02:30:00+00'",
	"TIMESTAMPTZ '2024-07-01 12:00:00.5+05:30'",
	"'-infinity'::TIMESTAMPTZ", "date_trunc('month', TIMESTAMPTZ '2024-01-01 02:00:00+00')",
	"(-128)::TINYINT", "18446744073709551615::UBIGINT", "340282366920938463463374607431768211455::UHUGEINT",
	"4294967295::UINTEGER", "65535::USMALLINT", "255::UTINYINT", "UUID '123e4567-e89b-12d3-a456-426655440000'",
	"'x '::VARCHAR", "''", "'ü€😀'", "'a'::ENUM('a', 'b')", "NULL",
	"7 / 2", "7 // 2", "1.10 + 2.20", "(SELECT sum(x) FROM (VALUES (1.10), (2.20)) v(x))",
	"(SELECT avg(x) FROM (VALUES (1), (2)) v(x))", "1.1 * 1.1",
}

// TestTexts: each value reads as DuckDB writes it, in zones with and without summer time.
func TestTexts(t *testing.T) {
	for _, zone := range []string{"UTC", "America/New_York", "Asia/Kolkata"} {
		t.Run(zone, func(t *testing.T) {
			t.Setenv("TZ", zone)
			pool := testutil.Value(duckdb.Open(makeFile(t, "CREATE TABLE t(a INTEGER)"), small))(t)
			defer pool.Close()
			db := testutil.Value(exec.New(pool, duckdb.Dialect{}, exec.Config{}))(t)
			dialecttest.SameTexts(t, db, func(e string) string { return "CAST(" + e + " AS VARCHAR)" }, texts)
		})
	}
}

// TestKinds: the page about engines shows the values as a result has them.
func TestKinds(t *testing.T) {
	t.Setenv("TZ", "UTC")
	pool := testutil.Value(duckdb.Open(makeFile(t, "CREATE TABLE t(a INTEGER)"), small))(t)
	defer pool.Close()
	dialecttest.Kinds(t, testutil.Value(exec.New(pool, duckdb.Dialect{}, exec.Config{}))(t), "../../docs/lab/engines.md",
		"DuckDB")
}

// TestExactRows: rows keep their order, number and names where the statement has another one around it.
func TestExactRows(t *testing.T) {
	pool := testutil.Value(duckdb.Open(makeFile(t,
		"CREATE TABLE t AS SELECT i, ('{\"n\": ' || i || '}')::JSON AS j FROM range(200000) r(i)"), small))(t)
	defer pool.Close()
	db := testutil.Value(exec.New(pool, duckdb.Dialect{}, exec.Config{}))(t)
	for _, sql := range []string{
		"SELECT j AS a, i AS a FROM t ORDER BY hash(i) -- end", "FROM (SELECT j, i FROM t) ORDER BY hash(i)",
		"WITH w AS (SELECT * FROM t) SELECT j, i FROM w ORDER BY hash(i)",
	} {
		got := testutil.Value(db.QueryWithin(t.Context(), sql, exec.Bounds{Rows: 500}))(t, sql)
		want := testutil.Value(db.QueryWithin(t.Context(), "SELECT '{\"n\": ' || i || '}', i FROM t ORDER BY hash(i)",
			exec.Bounds{Rows: 500}))(t)
		for n := range want.Rows {
			if got.Rows[n][0] != want.Rows[n][0] || got.Rows[n][1] != want.Rows[n][1] {
				t.Fatalf("%s: row %d is %v, want %v", sql, n, got.Rows[n], want.Rows[n])
			}
		}
		if strings.HasPrefix(sql, "SELECT j AS a") && (got.Columns[0] != "a" || got.Columns[1] != "a") {
			t.Errorf("%s: %q", sql, got.Columns)
		}
	}
}
