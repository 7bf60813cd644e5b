package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/sqltext"
)

// TestErrors: what the driver says of statements that fail.
func TestErrors(t *testing.T) {
	const script = `CREATE TABLE users(id integer, name text, password text); INSERT INTO users VALUES (1, 's3cret', 'x');
		CREATE TABLE "First Table"(id integer); CREATE MATERIALIZED VIEW m AS SELECT 1 AS a WITH NO DATA; CREATE TYPE mood AS ENUM ('sad');
		CREATE FUNCTION boom() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'value s3cret'; END $$`
	invalid := func(fault exec.Fault, name, message string) error {
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
		{"SELECT nmae FROM users", invalid("schema", "nmae", "column nmae does not exist"), "a name; the hint may name a denied column"},
		{"SELECT u.nmae FROM users u", invalid("schema", "u.nmae", "column u.nmae does not exist"), "written without quotes"},
		{`SELECT u."na me" FROM users u`, invalid("schema", "u.na me", "column u.na me does not exist"), "with a blank"},
		{`SELECT "x.y" FROM users`, invalid("schema", "x.y", "column x.y does not exist"), "a dot in the name"},
		{"SELECT id FROM users a, users b", invalid("schema", "id", "column reference id is ambiguous"), "two tables have it"},
		{"SELECT 1 FROM users a JOIN users b USING (nmae)", invalid("schema", "nmae", "column nmae specified in USING clause does not exist in left table"),
			"USING"},
		{"SELECT 1 FROM userz", invalid("schema", "userz", "relation userz does not exist"), "a table"},
		{"SELECT 1 FROM app.users", invalid("schema", "app.users", "relation app.users does not exist"), "a schema"},
		{"SELECT 1 FROM first_table", invalid("schema", "first_table", "relation first_table does not exist"), "a table that needs quotes"},
		{"SELECT x.id FROM users", invalid("schema", "x", "missing FROM-clause entry for table x"), "no such alias"},
		{"SELECT users.id FROM users u", invalid("schema", "users",
			"invalid reference to FROM-clause entry for table users (Perhaps you meant to reference the table alias u.)"), "an alias hides the name"},
		{"SELECT strftime('%Y', name) FROM users", invalid("schema", "strftime", "function strftime(unknown, text) does not exist"+fmt.Sprintf(cast, "function")),
			"a function of another engine"},
		{"SELECT CAST(1 AS foo)", invalid("schema", "foo", "type foo does not exist"), "a type"},
		{"SELECT app.f(1)", invalid("schema", "app", "schema app does not exist"), "the schema of a function"},
		{"SELECT 1 FROM users WHERE id = name", invalid("compile", "", "operator does not exist: integer = text"+fmt.Sprintf(cast, "operator")), "types"},
		{"SELECT name, count(*) FROM users", invalid("compile", "", "column users.name must appear in the GROUP BY clause or be used in an aggregate function"),
			"grouping"},
		{"SELECT 1 FROM users WHERE count(*) > 1", invalid("compile", "", "aggregate functions are not allowed in WHERE"), "an aggregate"},
		{"SELECT 1 UNION SELECT 1, 2", invalid("syntax", "", "each UNION query must have the same number of columns"), "PostgreSQL calls it one of syntax"},
		{"SELECT id FROM users ORDER BY 3", invalid("compile", "", "ORDER BY position 3 is not in select list"), "a position"},
		{"SELECT a.b.c.d FROM users", invalid("compile", "", "cross-database references are not implemented: a.b.c.d"), "not in PostgreSQL"},
		{"SELECT 1/(id-1) FROM users", invalid("run", "", "division by zero"), "no value in it"},
		{"SELECT name::int FROM users", invalid("run", "", `invalid input syntax for type integer: "…"`), "a stored value"},
		{"SELECT name::mood FROM users", invalid("run", "", `invalid input value for enum mood: "…"`), "an enum"},
		{"SELECT (SELECT id FROM users UNION ALL SELECT 2)", invalid("run", "", "more than one row returned by a subquery used as an expression"), "a subquery"},
		{"SELECT to_date(name, 'YYYY') FROM users", invalid("run", "", `invalid value "…"`), "two values"},
		{"SELECT boom()", invalid("run", "", "a function of the database raised an exception"), "the words of a function may hold values"},
		{"SELECT * FROM m", invalid("run", "", "materialized view m has not been populated (Use the REFRESH MATERIALIZED VIEW command.)"), "without data"},
		{"INSERT INTO users VALUES (2)", &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly,
			Detail: "cannot execute INSERT in a read-only transaction", Writes: true},
			"a write"},
		{"SELECT * FROM pg_authid", &exec.RefusedError{Reason: exec.ReasonTable, Detail: "permission denied for table pg_authid"}, "no right"},
		{"SELECT pg_read_file('x')", &exec.RefusedError{Reason: exec.ReasonFunction, Detail: "permission denied for function pg_read_file"}, "no right"},
		{"SELECT pg_sleep(10)", &exec.LimitError{Limit: "time"}, "the server's time-out"},
		{"SELECT " + strings.Repeat("1,", 1700) + "1", &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: "target lists can have at most 1664 entries"},
			"too many columns"},
		{"SELECT repeat('x', 2000000000)", &exec.LimitError{Limit: "memory"}, "a value over a gigabyte"},
	}
	pool, _ := open(t, script)
	pool.SetMaxOpenConns(1)
	for _, setting := range []string{"CREATE ROLE errors_pgx", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO errors_pgx",
		"SET statement_timeout = '5s'", "SET default_transaction_read_only = on", "SET ROLE errors_pgx"} {
		if _, err := pool.Exec(setting); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range tests {
		if tt.sql == "SELECT pg_sleep(10)" {
			if _, err := pool.Exec("SET statement_timeout = '50ms'"); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := pool.Query(tt.sql)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		if got := postgres.Classify(err); !cmp.Equal(got, tt.want) {
			t.Errorf("%s (%s)\n%v\n%s", tt.sql[:min(len(tt.sql), 80)], tt.reason, err, cmp.Diff(tt.want, got))
		}
		if tt.sql == "SELECT pg_sleep(10)" {
			if _, err := pool.Exec("SET statement_timeout = '20s'"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// stateError is one of a server that cannot be had here.
type stateError struct{ State, Message, Hint string }

func (e *stateError) Error() string    { return e.Message }
func (e *stateError) SQLState() string { return e.State }

// TestErrorStates: states that are hard to bring about, and servers of other languages.
func TestErrorStates(t *testing.T) {
	name := func(want string) func(error) bool {
		return func(err error) bool {
			var invalid *exec.InvalidError
			return errors.As(err, &invalid) && invalid.Fault == exec.FaultSchema && invalid.Name == want
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
		{context.Canceled, func(err error) bool { return errors.Is(err, context.Canceled) && plain(err) }, "the caller's end"},
		{errors.New("read tcp: connection reset"), plain, "the net"},
		{&stateError{"42703", "Spalte »nmae« existiert nicht", ""}, name("nmae"), "German"},
		{&stateError{"42P01", "la relation « userz » n'existe pas", ""}, name("userz"), "French"},
		{&stateError{"42703", "столбец \"nmae\" не существует", ""}, name("nmae"), "Russian"},
		{&stateError{"55P03", "canceling statement due to lock timeout", ""}, busy, "a lock"},
		{&stateError{"40P01", "deadlock detected", ""}, busy, "a deadlock"},
		{&stateError{"40001", "canceling statement due to conflict with recovery", ""}, busy, "a standby"},
		{&stateError{"53300", "sorry, too many clients already", ""}, busy, "no connection free"},
		{&stateError{"53400", "temporary file size exceeds temp_file_limit (262144kB)", ""}, memory, "sorts on disk"},
		{&stateError{"53100", "could not write to file: No space left on device", ""}, memory, "a full disk"},
		{&stateError{"XX000", "invalid memory alloc request size 1500000004", ""}, memory, "a value over a gigabyte, piece by piece"},
		{&stateError{"54000", "string buffer exceeds maximum allowed length (1073741823 bytes)", ""}, memory, "the same in PostgreSQL 18"},
		{&stateError{"57P01", "terminating connection due to administrator command", ""}, plain, "a restart"},
		{&stateError{"57P03", "the database system is starting up", ""}, plain, "a start"},
		{&stateError{"28P01", "password authentication failed for user \"x\"", ""}, plain, "a wrong password"},
		{&stateError{"3D000", "database \"x\" does not exist", ""}, plain, "no such database"},
		{&stateError{"25P02", "current transaction is aborted", ""}, plain, "a fault of the guard"},
		{&stateError{"XX000", "cache lookup failed for relation 1", ""}, plain, "a fault of the server"},
		{&stateError{"", "", ""}, plain, "no state"},
		{fmt.Errorf("wrapped: %w", &stateError{"53200", "out of memory", ""}), memory, "in another error"},
		{&exec.LimitError{Limit: "memory"}, memory, "typed already"},
	} {
		if got := postgres.Classify(tt.err); !tt.is(got) {
			t.Errorf("%v (%s): %v", tt.err, tt.reason, got)
		}
	}
}
