package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// texts are expressions of the types of "Data Types" of PostgreSQL's documentation, in its order.
var texts = []string{
	"1::smallint", "(-32768)::smallint", "2147483647::integer", "9223372036854775807::bigint", "1.10::numeric(10,2)",
	"100::numeric(12,2)", "0.00::numeric(5,2)",
	"-0.5::numeric", "123456789012345678901234567890.5::decimal(40,10)", "'NaN'::numeric", "1e-20::numeric",
	"(SELECT sum(x) FROM (VALUES (1.10), (2.20)) v(x))",
	"1.5::real", "0.1::real", "0.1::double precision", "'-Infinity'::float8",
	"12.50::money", "'padded'::char(10)", "'text'::varchar(20)", "''::text", "'ü€😀'::text",
	"'\\x00ff'::bytea", "'2024-02-29 13:14:15.123456'::timestamp", "'2024-02-29 13:14:15'::timestamp(0)",
	"'4713-01-01 BC'::timestamp", "'infinity'::timestamp",
	"'2024-03-10 02:30:00+00'::timestamptz", "'2024-07-01 12:00:00.5+05:30'::timestamptz",
	"'1883-11-18 12:00:00+00'::timestamptz", "'-infinity'::timestamptz",
	"date_trunc('month', '2024-01-01 02:00:00+00'::timestamptz)", "'2024-02-29'::date", "'0044-03-15 BC'::date",
	"'24:00:00'::time", "'10:00:00.5'::time(3)",
	"'10:00:00+02'::timetz", "'1 year 2 mons -3 days 04:05:06.7'::interval", "'-1 day'::interval", "true", "false",
	"NULL::boolean",
	"'(1.5,2)'::point", "'{1,2,3}'::line", "'((0,0),(1,1))'::box", "'<(0,0),2>'::circle",
	"'10.1.2.3/8'::inet", "'10.0.0.0/8'::cidr", "'08:00:2b:01:02:03'::macaddr",
	"B'0101'", "B'1'::bit(1)", "B'01'::bit varying(5)", "'a fat cat'::tsvector", "'fat & cat'::tsquery",
	"'123e4567-e89b-12d3-a456-426655440000'::uuid",
	`'{"b": 9007199254740993,  "a": 1.10}'::json`, `'{"b": 12345678901234567890, "a": 1.10}'::jsonb`, "'null'::jsonb",
	"'$.a'::jsonpath",
	"ARRAY[1.10,2]::numeric[]", "ARRAY['2024-01-01 02:00:00+00'::timestamptz]", "ARRAY[true,NULL]", "ROW(1.10,true,'x y')",
	"'[1,5)'::int4range",
	"'[2024-01-01 00:00:00+00,)'::tstzrange", "CURRENT_DATE - DATE '2024-01-01' > 0", "'ok'::name",
	"extract(epoch FROM '2024-01-01'::date)", "7 / 2", "7 / 2.0", "(SELECT avg(x) FROM (VALUES (1), (2)) v(x))",
}

// TestTexts: each value reads as the server writes it, in zones with and without summer time and in each way to ask.
func TestTexts(t *testing.T) {
	_, dsn := open(t, "")
	for _, options := range []string{"", "&timezone=America/New_York",
		"&timezone=Asia/Tokyo&default_query_exec_mode=simple_protocol"} {
		pool := testutil.Value(sql.Open("pgx", dsn+options))(t)
		db := testutil.Value(exec.New(pool, postgres.Dialect{}, exec.Config{}))(t)
		dialecttest.SameTexts(t, db, func(e string) string { return "(" + e + ")::text" }, texts)
		pool.Close()
	}
}

// TestKinds: the page about engines shows the values as a result has them.
func TestKinds(t *testing.T) {
	_, dsn := open(t, "")
	pool := testutil.Value(sql.Open("pgx", dsn+"&timezone=UTC"))(t)
	defer pool.Close()
	dialecttest.Kinds(t, testutil.Value(exec.New(pool, postgres.Dialect{}, exec.Config{}))(t), "../../docs/lab/engines.md",
		"PostgreSQL")
}
