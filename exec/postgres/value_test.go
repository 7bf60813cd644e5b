package postgres_test

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/result"
)

// values are an expression of each type and the cell that stands for it.
var values = []struct {
	sql    string
	want   any
	reason string
}{
	{"1::smallint", int64(1), "an integer"},
	{"(-9223372036854775808)::bigint", int64(math.MinInt64), "the smallest one"},
	{"NULL::int", nil, "no value"},
	{"NULL::numeric", nil, "no value of a type that is converted"},
	{"1.00::numeric", int64(1), "a whole number, whatever its scale"},
	{"0.10::numeric", result.Decimal("0.1"), "a decimal fraction"},
	{"12345678901234567890123456789012345678::numeric(38)", result.Decimal("12345678901234567890123456789012345678"), "more digits than an int64"},
	{"sum(x) FROM (VALUES (1::bigint), (2)) v(x)", int64(3), "the sum of bigint is numeric"},
	{"avg(x) FROM (VALUES (1), (2)) v(x)", result.Decimal("1.5"), "1.5000000000000000"},
	{"'NaN'::numeric", math.NaN(), "no number"},
	{"'-Infinity'::numeric", math.Inf(-1), "since PostgreSQL 14"},
	{"0.1::real", 0.1, "pgx gives 0.10000000149011612"},
	{"3.4028235e38::real", 3.4028235e38, "the largest real"},
	{"'NaN'::real", math.NaN(), "no number"},
	{"0.1::double precision", 0.1, "a float"},
	{"'-0'::double precision", math.Copysign(0, -1), "a zero with a sign"},
	{"'Infinity'::double precision", math.Inf(1), "an infinity"},
	{"true", int64(1), "a boolean"},
	{"false", int64(0), "a boolean"},
	{"NULL::boolean", nil, "an unknown boolean"},
	{"date '2024-02-29'", "2024-02-29", "a date has no time"},
	{"date '0044-03-15 BC'", "0044-03-15 BC", "a year before 1"},
	{"date '0001-12-31 BC'", "0001-12-31 BC", "the year that Go calls 0"},
	{"date '12024-01-02'", "12024-01-02", "a year of five digits"},
	{"date 'infinity'", "infinity", "later than all"},
	{"date '-infinity'", "-infinity", "earlier than all"},
	{"timestamp '2024-02-29 12:34:56'", "2024-02-29 12:34:56", "no zone"},
	{"timestamp '2024-02-29 12:34:56.120000'", "2024-02-29 12:34:56.12", "microseconds without zeros behind them"},
	{"timestamp '0044-03-15 01:02:03.5 BC'", "0044-03-15 01:02:03.5 BC", "a year before 1"},
	{"timestamp 'infinity'", "infinity", "later than all"},
	{"timestamptz '2024-02-29 12:34:56+02'", "2024-02-29 10:34:56Z", "in UTC"},
	{"timestamptz '0044-03-15 12:00:00+00 BC'", "0044-03-15 12:00:00Z BC", "a year before 1"},
	{"timestamptz '-infinity'", "-infinity", "earlier than all"},
	{"time '12:34:56.5'", "12:34:56.5", "a time of day"},
	{"time '12:34:56'", "12:34:56", "without a fraction"},
	{"time '24:00:00'", "24:00:00", "the end of the day"},
	{"timetz '12:34:56+02'", "12:34:56+02", "with its own zone"},
	{"timetz '12:34:56-03:30'", "12:34:56-03:30", "a zone with minutes"},
	{"timetz '12:34:56.25+01:02:03'", "12:34:56.25+01:02:03", "a zone with seconds"},
	{"timetz '24:00:00-05'", "24:00:00-05", "the end of the day in a zone"},
	{"interval '1 year 2 months 3 days 04:05:06.7'", "1 year 2 mons 3 days 04:05:06.7", "the engine's text"},
	{"interval '-1 day'", "-1 days", "a negative one"},
	{"'it''s'::text", "it's", "a text"},
	{"''::varchar", "", "an empty text is not NULL"},
	{"'北京'::varchar(4)", "北京", "UTF-8"},
	{"'ab'::char(5)", "ab", "padding is no part of the value"},
	{"'x'::\"char\"", "x", "a byte as text"},
	{"'tab'::name", "tab", "a name"},
	{`'{"b": 1, "a":2}'::json`, `{"b": 1, "a":2}`, "json as written"},
	{`'{"b": 1, "a":2}'::jsonb`, `{"a": 2, "b": 1}`, "jsonb as the engine orders it"},
	{"'null'::json", "null", "a JSON null is a text"},
	{`'\x00ff27'::bytea`, []byte{0, 255, '\''}, "a blob"},
	{`''::bytea`, []byte{}, "an empty blob"},
	{"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "lower case"},
	{"'sad'::mood", "sad", "an enum"},
	{"ARRAY['sad','ok']::mood[]", "{sad,ok}", "an array of a type that no driver knows"},
	{"ARRAY[1,NULL,3]", "{1,NULL,3}", "the engine's text"},
	{"ARRAY[ARRAY['a','b c'],ARRAY['\"',NULL]]", `{{a,"b c"},{"\"",NULL}}`, "of texts, in two dimensions"},
	{"ARRAY[1.50,2]::numeric[]", "{1.50,2}", "numbers in a text are as written"},
	{"7::dom", int64(7), "a domain is its base type"},
	{"'a'::label", "a", "a domain over an enum, as the enum"},
	{"ROW(1,'a b')", `(1,"a b")`, "a row"},
	{"'12.50'::money", "$12.50", "text with a currency"},
	{"'[1,5)'::int4range", "[1,5)", "a range"},
	{"'10.0.0.0/8'::cidr", "10.0.0.0/8", "a network"},
	{"'10.1.2.3'::inet", "10.1.2.3", "an address without its mask"},
	{"'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03", "a hardware address"},
	{"B'0101'", "0101", "bits"},
	{"B'0101'::varbit", "0101", "bits"},
	{"'(1.5,2)'::point", "(1.5,2)", "geometry"},
	{"'<a>1</a>'::xml", "<a>1</a>", "XML"},
	{"'a fat cat'::tsvector", "'a' 'cat' 'fat'", "a text search document"},
	{"12::oid", int64(12), "an object identifier"},
	{"'pg_class'::regclass", "pg_class", "the name of an object"},
	{"'12'::xid", int64(12), "a transaction"},
	{"pg_typeof(1)", "integer", "the name of a type"},
	{"'unknown'", "unknown", "a literal without a type"},
}

// TestValues: the same values come in all ways to ask.
func TestValues(t *testing.T) {
	const script = `CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN dom AS integer CHECK (VALUE > 0);
		CREATE TYPE tag AS ENUM ('a', 'b'); CREATE DOMAIN label AS tag`
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			_, dsn := open(t, script)
			pool, err := sql.Open("pgx", dsn+"&timezone=Asia/Tokyo&default_query_exec_mode="+mode)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			for _, v := range values {
				got, err := one(pool, v.sql)
				equal := cmp.Equal(got, v.want, cmpopts.EquateNaNs()) && fmt.Sprint(got) == fmt.Sprint(v.want) // -0 equals 0
				if err != nil || !equal {
					t.Errorf("%s (%s) is %T %v, want %T %v (%v)", v.sql, v.reason, got, got, v.want, v.want, err)
				}
			}
		})
	}
}

// one reads one value as package exec does.
func one(pool *sql.DB, expression string) (any, error) {
	rows, err := pool.Query("SELECT " + expression)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil || !rows.Next() {
		return nil, fmt.Errorf("no row: %v, %v", err, rows.Err())
	}
	c := cell{convert: postgres.Converter(types[0])}
	if err := rows.Scan(&c); err != nil {
		return nil, err
	}
	return c.value, rows.Err()
}

type cell struct {
	convert func(any) (any, error)
	value   any
}

func (c *cell) Scan(v any) (err error) {
	if c.convert != nil {
		v, err = c.convert(v)
	}
	switch x := v.(type) {
	case []byte:
		v = append([]byte{}, x...)
	case bool, time.Time:
		return fmt.Errorf("the converter left a %T", v)
	}
	c.value = v
	return err
}

// TestConvertersKeepNothing: what a driver gives may be overwritten by the next row.
func TestConvertersKeepNothing(t *testing.T) {
	buffer := []byte("12.5")
	got, err := postgres.OnText(result.ParseNumber)(buffer)
	copy(buffer, slices.Repeat([]byte("x"), 4))
	if err != nil || got != result.Decimal("12.5") {
		t.Errorf("%v, %v", got, err)
	}
}
