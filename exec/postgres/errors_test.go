package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestErrors: what the driver says of statements that fail.
func TestErrors(t *testing.T) {
	const script = `CREATE TABLE users(id integer, name text, password text); INSERT INTO users VALUES (1, 's3cret', 'x');
		CREATE TABLE "First Table"(id integer); CREATE MATERIALIZED VIEW m AS SELECT 1 AS a WITH NO DATA; CREATE TYPE mood AS ENUM ('sad');
		CREATE FUNCTION boom() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'value s3cret'; END $$`
	invalid := func(fault string, name, message string) error {
		return &exec.InvalidError{Fault: fault, Message: message, Name: name}
	}
	cast := " (No %s matches the given name and argument types. You might need to add explicit type casts.)"
	tests := []struct {
		sql    string
		want   error
		reason string
	}{
		{"SELEC 1", invalid("syntax", "", "syntax error at or near SELEC"), "the grammar"},
		{"SELECT 1 FROM", invalid("syntax", "", "syntax error at end of input"), "an end too early"},
		{"SELECT nmae FROM users", invalid("schema", "nmae", "column nmae does not exist"),
			"a name; the hint may name a denied column"},
		{"SELECT u.nmae FROM users u", invalid("schema", "u.nmae", "column u.nmae does not exist"), "written without quotes"},
		{`SELECT u."na me" FROM users u`, invalid("schema", "u.na me", "column u.na me does not exist"), "with a blank"},
		{`SELECT "x.y" FROM users`, invalid("schema", "x.y", "column x.y does not exist"), "a dot in the name"},
		{"SELECT id FROM users a, users b", invalid("schema", "id", "column reference id is ambiguous"),
			"two tables have it"},
		{"SELECT 1 FROM users a JOIN users b USING (nmae)",
			invalid("schema", "nmae", "column nmae specified in USING clause does not exist in left table"),
			"USING"},
		{"SELECT 1 FROM userz", invalid("schema", "userz", "relation userz does not exist"), "a table"},
		{"SELECT 1 FROM app.users", invalid("schema", "app.users", "relation app.users does not exist"), "a schema"},
		{"SELECT 1 FROM first_table", invalid("schema", "first_table", "relation first_table does not exist"),
			"a table that needs quotes"},
		{"SELECT x.id FROM users", invalid("schema", "x", "missing FROM-clause entry for table x"), "no such alias"},
		{"SELECT users.id FROM users u", invalid("schema", "users",
			"invalid reference to FROM-clause entry for table users (Perhaps you meant to reference the table alias u.)"),
			"an alias hides the name"},
		{"SELECT strftime('%Y', name) FROM users",
			invalid("schema", "strftime", "function strftime(unknown, text) does not exist"+fmt.Sprintf(cast, "function")),
			"a function of another engine"},
		{"SELECT CAST(1 AS foo)", invalid("schema", "foo", "type foo does not exist"), "a type"},
		{"SELECT app.f(1)", invalid("schema", "app", "schema app does not exist"), "the schema of a function"},
		{"SELECT 1 FROM users WHERE id = name", invalid("compile", "", "operator does not exist: integer = text"+
			fmt.Sprintf(cast, "operator")), "types"},
		{"SELECT name, count(*) FROM users",
			invalid("compile", "", "column users.name must appear in the GROUP BY clause or be used in an aggregate function"),
			"grouping"},
		{"SELECT 1 FROM users WHERE count(*) > 1", invalid("compile", "", "aggregate functions are not allowed in WHERE"),
			"an aggregate"},
		{"SELECT 1 UNION SELECT 1, 2", invalid("syntax", "", "each UNION query must have the same number of columns"),
			"PostgreSQL calls it one of syntax"},
		{"SELECT id FROM users ORDER BY 3", invalid("compile", "", "ORDER BY position 3 is not in select list"),
			"a position"},
		{"SELECT a.b.c.d FROM users", invalid("compile", "", "cross-database references are not implemented: a.b.c.d"),
			"not in PostgreSQL"},
		{"SELECT 1/(id-1) FROM users", invalid("run", "", "division by zero"), "no value in it"},
		{"SELECT name::int FROM users", invalid("run", "", `invalid input syntax for type integer: "…"`), "a stored value"},
		{"SELECT name::mood FROM users", invalid("run", "", `invalid input value for enum mood: "…"`), "an enum"},
		{"SELECT (SELECT id FROM users UNION ALL SELECT 2)",
			invalid("run", "", "more than one row returned by a subquery used as an expression"), "a subquery"},
		{"SELECT to_date(name, 'YYYY') FROM users", invalid("run", "", `invalid value "…"`), "two values"},
		{"SELECT boom()", invalid("run", "", "a function of the database raised an exception"),
			"the words of a function may hold values"},
		{"SELECT * FROM m",
			invalid("run", "", "materialized view m has not been populated (Use the REFRESH MATERIALIZED VIEW command.)"),
			"without data"},
		{"INSERT INTO users VALUES (2)", &exec.RefusedError{Reason: "not-read-only",
			Detail: "cannot execute INSERT in a read-only transaction", Writes: true},
			"a write"},
		{"SELECT * FROM pg_authid", &exec.RefusedError{Reason: "table", Detail: "permission denied for table pg_authid"},
			"no right"},
		{"SELECT pg_read_file('x')",
			&exec.RefusedError{Reason: "function", Detail: "permission denied for function pg_read_file"}, "no right"},
		{"SELECT pg_sleep(10)", &exec.LimitError{Limit: "time"}, "the server's time-out"},
		{"SELECT " + strings.Repeat("1,", 1700) + "1", &exec.RefusedError{Reason: "too-complex",
			Detail: "target lists can have at most 1664 entries"},
			"too many columns"},
		{"SELECT repeat('x', 2000000000)", &exec.LimitError{Limit: "memory"}, "a value over a gigabyte"},
	}
	pool, _ := open(t, script)
	pool.SetMaxOpenConns(1)
	for _, setting := range []string{"CREATE ROLE errors_pgx", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO errors_pgx",
		"SET statement_timeout = '5s'", "SET default_transaction_read_only = on", "SET ROLE errors_pgx"} {
		testutil.Value(pool.Exec(setting))(t)
	}
	for _, tt := range tests {
		if tt.sql == "SELECT pg_sleep(10)" {
			testutil.Value(pool.Exec("SET statement_timeout = '50ms'"))(t)
		}
		rows, err := pool.Query(tt.sql)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		if got := (postgres.Dialect{}).Classify(err); !cmp.Equal(got, tt.want) {
			t.Errorf("%s (%s)\n%v\n%s", tt.sql[:min(len(tt.sql), 80)], tt.reason, err, cmp.Diff(tt.want, got))
		}
		if tt.sql == "SELECT pg_sleep(10)" {
			testutil.Value(pool.Exec("SET statement_timeout = '20s'"))(t)
		}
	}
}

// stateError is one of a server that cannot be had here.
func stateError(state, message, hint string) error {
	return &pgconn.PgError{Code: state, Message: message, Hint: hint}
}

// TestErrorStates: states that are hard to bring about, and servers of other languages.
func TestErrorStates(t *testing.T) {
	name := func(want string) func(error) bool {
		return func(err error) bool {
			var invalid *exec.InvalidError
			return errors.As(err, &invalid) && invalid.Fault == "schema" && invalid.Name == want
		}
	}
	busy := func(err error) bool { return errors.Is(err, exec.ErrBusy) }
	plain := func(err error) bool { return err != nil && !exec.IsRejection(err) && !busy(err) }
	memory := func(err error) bool {
		var limit *exec.LimitError
		return errors.As(err, &limit) && limit.Limit == "memory"
	}
	for _, tt := range []struct {
		err    error
		is     func(error) bool
		reason string
	}{
		{nil, func(err error) bool { return err == nil }, "no error"},
		{context.Canceled, func(err error) bool { return errors.Is(err, context.Canceled) && plain(err) },
			"the caller's end"},
		{errors.New("read tcp: connection reset"), plain, "the net"},
		{stateError("42703", "Spalte »nmae« existiert nicht", ""), name("nmae"), "German"},
		{stateError("42P01", "la relation « userz » n'existe pas", ""), name("userz"), "French"},
		{stateError("42703", "столбец \"nmae\" не существует", ""), name("nmae"), "Russian"},
		{stateError("55P03", "canceling statement due to lock timeout", ""), busy, "a lock"},
		{stateError("40P01", "deadlock detected", ""), busy, "a deadlock"},
		{stateError("40001", "canceling statement due to conflict with recovery", ""), busy, "a standby"},
		{stateError("53300", "sorry, too many clients already", ""), busy, "no connection free"},
		{stateError("53400", "temporary file size exceeds temp_file_limit (262144kB)", ""), memory, "sorts on disk"},
		{stateError("53100", "could not write to file: No space left on device", ""), memory, "a full disk"},
		{stateError("XX000", "invalid memory alloc request size 1500000004", ""), memory,
			"a value over a gigabyte, piece by piece"},
		{stateError("54000", "string buffer exceeds maximum allowed length (1073741823 bytes)", ""), memory,
			"the same in PostgreSQL 18"},
		{stateError("57P01", "terminating connection due to administrator command", ""), plain, "a restart"},
		{stateError("57P03", "the database system is starting up", ""), plain, "a start"},
		{stateError("28P01", "password authentication failed for user \"x\"", ""), plain, "a wrong password"},
		{stateError("3D000", "database \"x\" does not exist", ""), plain, "no such database"},
		{stateError("25P02", "current transaction is aborted", ""), plain, "a fault of the guard"},
		{stateError("XX000", "cache lookup failed for relation 1", ""), plain, "a fault of the server"},
		{stateError("", "", ""), plain, "no state"},
		{fmt.Errorf("wrapped: %w", stateError("53200", "out of memory", "")), memory, "in another error"},
		{&exec.LimitError{Limit: "memory"}, memory, "typed already"},
	} {
		if got := (postgres.Dialect{}).Classify(tt.err); !tt.is(got) {
			t.Errorf("%v (%s): %v", tt.err, tt.reason, got)
		}
	}
}

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
	{"1.00::numeric", result.Decimal("1.00"), "a whole number, whatever its scale"},
	{"0.10::numeric", result.Decimal("0.10"), "a decimal fraction"},
	{"12345678901234567890123456789012345678::numeric(38)", result.Decimal("12345678901234567890123456789012345678"),
		"more digits than an int64"},
	{"sum(x) FROM (VALUES (1::bigint), (2)) v(x)", result.Decimal("3"), "the sum of bigint is numeric"},
	{"avg(x) FROM (VALUES (1), (2)) v(x)", result.Decimal("1.5000000000000000"), "1.5000000000000000"},
	{"'NaN'::numeric", math.NaN(), "no number"},
	{"'-Infinity'::numeric", math.Inf(-1), "since PostgreSQL 14"},
	{"0.1::real", 0.1, "pgx gives 0.10000000149011612"},
	{"3.4028235e38::real", 3.4028235e38, "the largest real"},
	{"'NaN'::real", math.NaN(), "no number"},
	{"0.1::double precision", 0.1, "a float"},
	{"'-0'::double precision", math.Copysign(0, -1), "a zero with a sign"},
	{"'Infinity'::double precision", math.Inf(1), "an infinity"},
	{"true", true, "a boolean"},
	{"false", false, "a boolean"},
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
			pool := testutil.Value(sql.Open("pgx", dsn+"&timezone=Asia/Tokyo&default_query_exec_mode="+mode))(t)
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
	case time.Time:
		return fmt.Errorf("the converter left a %T", v)
	}
	c.value = v
	return err
}

// TestConvertersKeepNothing: what a driver gives may be overwritten by the next row.
func TestConvertersKeepNothing(t *testing.T) {
	buffer := []byte("12.5")
	got, err := postgres.OnText(result.Type{}.ParseNumber)(buffer)
	copy(buffer, slices.Repeat([]byte("x"), 4))
	if err != nil || got != result.Decimal("12.5") {
		t.Errorf("%v, %v", got, err)
	}
}
