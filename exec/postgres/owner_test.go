package postgres_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// ownerSchema is what the owner of a schema may build that shows values under another name, or calls his functions
// though no statement names them. Each of these functions fails.
const ownerSchema = `
CREATE TABLE users(id integer, name text, password text,
  shown text GENERATED ALWAYS AS (password || '!') STORED,
  fine text GENERATED ALWAYS AS (upper(name)) STORED);
INSERT INTO users VALUES (1, 'ann', 's3cret-1');
CREATE DOMAIN holder AS users;
CREATE TYPE span AS RANGE (subtype = users);
CREATE TYPE cred AS (login text, password text);
CREATE TYPE deep AS (c cred[], n integer);
CREATE TABLE w(n integer, u users, us users[], h holder, s span, c cred, d deep);
INSERT INTO w(n, u) SELECT 7, users FROM users;
CREATE VIEW v_w AS SELECT n, u AS x FROM w;

CREATE SCHEMA ops;
CREATE FUNCTION ops.fails() RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM pg_advisory_lock(4811); RAISE EXCEPTION 'it ran'; END $$;
CREATE TYPE pair AS (x integer, y integer);
CREATE FUNCTION ops.pair_cmp(pair, pair) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ops.fails()';
CREATE FUNCTION ops.pair_is(pair, pair) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT ops.fails() = 1';
CREATE OPERATOR ops.< (LEFTARG = pair, RIGHTARG = pair, FUNCTION = ops.pair_is);
CREATE OPERATOR ops.<= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = ops.pair_is);
CREATE OPERATOR ops.= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = ops.pair_is);
CREATE OPERATOR ops.>= (LEFTARG = pair, RIGHTARG = pair, FUNCTION = ops.pair_is);
CREATE OPERATOR ops.> (LEFTARG = pair, RIGHTARG = pair, FUNCTION = ops.pair_is);
CREATE OPERATOR CLASS ops.pair_ops DEFAULT FOR TYPE pair USING btree AS OPERATOR 1 ops.<, OPERATOR 2 ops.<=, OPERATOR 3 ops.=,
	OPERATOR 4 ops.>=, OPERATOR 5 ops.>, FUNCTION 1 ops.pair_cmp(pair, pair);
CREATE FUNCTION ops.int_cmp(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ops.fails()';
CREATE OPERATOR CLASS ops.int_ops FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 ops.int_cmp(integer, integer);
CREATE FUNCTION ops.point_hash(point) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ops.fails()';
CREATE OPERATOR CLASS ops.point_ops DEFAULT FOR TYPE point USING hash AS OPERATOR 1 ~=, FUNCTION 1 ops.point_hash(point);
CREATE TYPE years AS RANGE (subtype = integer, subtype_opclass = ops.int_ops);
CREATE TABLE indexed(i integer, j integer, k integer);
CREATE INDEX ON indexed (i ops.int_ops);
CREATE INDEX ON indexed ((j + 1) ops.int_ops) WHERE k > 0;
CREATE TABLE plain(i integer, j integer);
CREATE INDEX ON plain (i ops.int_ops);
CREATE VIEW v_plain AS SELECT i AS x, j FROM plain;
CREATE TABLE parent(i integer, j integer); CREATE TABLE kid() INHERITS (parent); CREATE INDEX ON kid (i ops.int_ops);
CREATE TABLE pieces(i integer, j integer) PARTITION BY RANGE (i ops.int_ops);
CREATE TABLE typed(id integer, p pair, ps pair[], r years, at point, m int4range);
CREATE FUNCTION ops.to_small(uuid) RETURNS smallint LANGUAGE sql IMMUTABLE AS 'SELECT ops.fails()::smallint';
CREATE CAST (uuid AS smallint) WITH FUNCTION ops.to_small(uuid) AS IMPLICIT;
CREATE TABLE casts(id integer, q uuid);

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE coin AS (amount integer);
CREATE DOMAIN small AS integer;
CREATE FUNCTION step(mood, mood) RETURNS mood LANGUAGE sql AS 'SELECT $1';
CREATE AGGREGATE sum(mood) (SFUNC = step, STYPE = mood);
CREATE FUNCTION upper(mood) RETURNS text LANGUAGE sql AS 'SELECT ''''';
CREATE FUNCTION round(small) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION abs(coin) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION mood_is(mood, mood) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION coin_is(coin, coin) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION mixed_is(integer, mood) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_is);
CREATE OPERATOR = (LEFTARG = coin, RIGHTARG = coin, FUNCTION = coin_is);
CREATE OPERATOR + (LEFTARG = coin, RIGHTARG = coin, FUNCTION = coin_is);
CREATE OPERATOR === (LEFTARG = mood, RIGHTARG = mood, FUNCTION = mood_is);
CREATE OPERATOR <> (LEFTARG = integer, RIGHTARG = mood, FUNCTION = mixed_is);
CREATE FUNCTION lent() RETURNS mood LANGUAGE sql AS 'SELECT ''ok''::mood';
CREATE TABLE moody(id integer, m mood);
CREATE TABLE moods(id integer, ms mood[]);
`

// TestOwner: what the owner of a schema built, asked by him and by a reader.
func TestOwner(t *testing.T) {
	password := exec.Policy{DenyColumns: []string{"users.password"}}
	everywhere := exec.Policy{DenyColumns: []string{"password"}}
	allowed := exec.Policy{AllowFunctions: []string{"pair_cmp", "pair_is", "INT_CMP", "point_hash", "to_small"}}
	database := engine("", "postgres").Open(t, ownerSchema)
	for _, user := range []string{"postgres", "reader"} {
		connector := database.Owner
		if user == "reader" {
			connector = readerOf(t, database)
		}
		pool := sql.OpenDB(connector)
		t.Cleanup(func() { pool.Close() })
		for _, tt := range []struct {
			why    string
			policy exec.Policy
			sql    string // "; " between statements
			want   string // the reason; "": it is answered
		}{
			{"a column that is generated of the denied one", password, "SELECT shown FROM users; SELECT * FROM users", "column"},
			{"a column that is generated of another one", password, "SELECT fine FROM users", ""},
			{"a column of the row of a table", password,
				"SELECT (w.u).password FROM w; SELECT u FROM w; SELECT * FROM w; SELECT w::text FROM w; " +
					"SELECT row_to_json(w) FROM w; SELECT (u).name FROM w; SELECT w.u::text FROM w; SELECT to_jsonb(x.u) " +
					"FROM w AS x; " +
					"SELECT 1 FROM w ORDER BY u; SELECT x FROM v_w; SELECT n FROM v_w", "column"},
			{"an array, a domain, a range of it", password,
				"SELECT us FROM w; SELECT (us[1]).password FROM w; SELECT h FROM w; SELECT (h).password FROM w; " +
					"SELECT s FROM w; SELECT lower(s) FROM w", "column"},
			{"the others", password, "SELECT n FROM w; SELECT count(*) FROM w; SELECT c FROM w", ""},
			{"a composite type has the column", everywhere,
				"SELECT c FROM w; SELECT (c).login FROM w; SELECT d FROM w; SELECT ((d).c[1]).password FROM w", "column"},
			{"a composite type is no table", exec.Policy{}, "SELECT * FROM cred; SELECT * FROM pair", "table"},
			{"nothing is denied", exec.Policy{}, "SELECT (w.u).password, c, us FROM w; SELECT x FROM v_w; SELECT shown " +
				"FROM users", ""},

			{"the default class of a type", exec.Policy{},
				"SELECT p FROM typed; SELECT DISTINCT p FROM typed; SELECT 1 FROM typed GROUP BY p; " +
					"SELECT 1 FROM typed ORDER BY p; SELECT p FROM typed UNION SELECT p FROM typed; SELECT rank() OVER (PARTITION " +
					"BY " +
					"p) FROM typed; " +
					"SELECT id FROM typed WHERE p = p; SELECT ps FROM typed; SELECT DISTINCT ps FROM typed; SELECT max(p) " +
					"FROM typed; SELECT * FROM typed; " +
					"SELECT typed FROM typed; SELECT 1 FROM typed x JOIN typed y USING (p); SELECT DISTINCT x.q FROM (SELECT p AS q " +
					"FROM typed) AS x; " +
					"SELECT id FROM typed WHERE p IN (SELECT p FROM typed)", "function"},
			{"a class for a type of the engine", exec.Policy{},
				"SELECT at FROM typed; SELECT DISTINCT at::text FROM typed; SELECT DISTINCT '(1,2)'::point; " +
					"SELECT DISTINCT point '(1,2)'", "function"},
			{"a range over such a class", exec.Policy{},
				"SELECT r FROM typed; SELECT id FROM typed WHERE r @> 5; SELECT id FROM typed WHERE r = '[1,5)'", "function"},
			{"an index with such a class", exec.Policy{},
				"SELECT i FROM plain WHERE i = 5; SELECT i FROM plain ORDER BY i; SELECT DISTINCT i FROM plain; " +
					"SELECT j FROM plain WHERE i > 3; SELECT * FROM plain; SELECT x FROM v_plain; SELECT j FROM v_plain WHERE x = 5",
				"function"},
			{"an index on an expression", exec.Policy{}, "SELECT j FROM indexed WHERE j + 1 = 5; SELECT k FROM indexed",
				"function"},
			{"the index of a child, the key of partitions", exec.Policy{},
				"SELECT i FROM parent WHERE i = 5; SELECT i FROM kid; SELECT j FROM pieces WHERE i = 5", "function"},
			{"the other columns", exec.Policy{},
				"SELECT id, m FROM typed ORDER BY m; SELECT count(*) FROM plain; SELECT j FROM plain; SELECT j FROM pieces; " +
					"SELECT DISTINCT j FROM parent ORDER BY j; SELECT count(*) FROM typed; SELECT '[1,2)'::int4range", ""},
			{"the policy allows the functions", allowed,
				"SELECT j FROM plain; SELECT i FROM plain; SELECT x FROM v_plain; SELECT p, r, at FROM typed; SELECT q FROM casts",
				""},
			{"an implicit cast by a function", exec.Policy{},
				"SELECT abs(q) FROM casts; SELECT q FROM casts; SELECT 1 + '00000000-0000-0000-0000-000000000000'::uuid",
				"function"},

			{"a function of that name for a type that is not in the statement", exec.Policy{},
				"SELECT sum(id), upper(max(name)) FROM users; SELECT sum(n) OVER () FROM w; " +
					"SELECT upper('x')", ""},
			{"an operator of that symbol", exec.Policy{},
				"SELECT name FROM users WHERE id = 1; SELECT name FROM users WHERE id IN (1, 2); SELECT 'a' = 'b'; " +
					"SELECT ROW(1, 2) = ROW(1, 2); SELECT x.r = x.r FROM (SELECT ROW(1) AS r) AS x; SELECT 1 FROM users a " +
					"JOIN users b USING (id)", ""},
			{"a table has the type", exec.Policy{},
				"SELECT sum(m) FROM moody; SELECT sum(id) FROM moody; SELECT id FROM moody WHERE m = m; SELECT id FROM moody " +
					"WHERE id = 1; " +
					"SELECT id FROM moods WHERE ms[1] = ms[2]; SELECT 1 FROM users, moods WHERE users.id = 1; SELECT upper(m) " +
					"FROM moody", "function"},
			{"the statement makes a value of the type", exec.Policy{},
				"SELECT 'ok'::mood = 'sad'::mood; SELECT sum(mood 'ok'); SELECT sum(x.m) FROM json_to_record('{}') AS x(m mood); " +
					"SELECT sum(mood('ok')); SELECT upper(('ok'::text).mood)", "function"},
			{"a function that the policy allows may give one", exec.Policy{AllowFunctions: []string{"lent"}},
				"SELECT sum(lent()); SELECT lent() = lent()", "function"},
			{"no operator of the engine has the symbol", exec.Policy{}, "SELECT 'a' === 'b'", "function"},
			{"a number may be an argument", exec.Policy{}, "SELECT round(1); SELECT 1 <> 2", "function"},
			{"a row may be an argument", exec.Policy{}, "SELECT abs(ROW(1)); SELECT ROW(1) + ROW(2); SELECT abs(-1)",
				"function"},
		} {
			db := newDB(t, pool, exec.Config{Policy: tt.policy})
			for text := range strings.SplitSeq(tt.sql, "; ") {
				got, err := db.Query(t.Context(), text)
				if kindOf(err) != tt.want {
					t.Errorf("%s, %s: %s: %q (%v), want %q; %v", user, tt.why, text, kindOf(err), err, tt.want, got)
				}
			}
		}
		c := readCatalog(t, pool, exec.Policy{})
		var codes []string
		for _, w := range c.Warnings {
			if w.Code == "user-operator-class" {
				codes = append(codes, w.Message)
			}
		}
		all := strings.Join(codes, "\n")
		if len(codes) < 4 || !strings.Contains(all, "pair_ops") || !strings.Contains(all, "int_ops") ||
			!strings.Contains(all, "point_ops") {
			t.Errorf("%s: warnings %q", user, codes)
		}
		s := testutil.Value(newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{}}}).Schema(t.Context()))(t)
		secret := []string{"users.password", "users.shown", "v_w.n", "v_w.x", "w.c", "w.d", "w.h", "w.s", "w.u", "w.us"}
		for _, name := range dbtest.Columns(s) {
			if slices.Contains(secret, name) {
				t.Errorf("%s: the schema shows %s", user, name)
			}
		}
	}
}

// readerOf is a connector to the database as the user who may only select.
func readerOf(t testing.TB, d exectest.Database) driver.Connector {
	t.Helper()
	pool := sql.OpenDB(d.Owner)
	defer pool.Close()
	var port, name string
	testutil.OK(t, pool.QueryRow("SELECT current_setting('port'), current_database()").Scan(&port, &name))
	return exectest.ConnectorOf(t, "pgx", "postgres://reader@127.0.0.1:"+port+"/"+name+"?sslmode=disable")
}

// TestOnce: in an examination the server parses the text of a statement once. exectest counts the calls of the dialect.
func TestOnce(t *testing.T) {
	_, dsn := open(t, fixture)
	c := testutil.Value(pgx.ParseConfig(dsn))(t)
	const text = "SELECT a, b FROM t WHERE a = 7"
	var sent atomic.Int64
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return counted{conn, "P\x00\x00\x00" + string(rune(len(text)+8)) + "\x00" + text + "\x00", &sent}, err
	}
	pool := stdlib.OpenDB(*c)
	defer pool.Close()
	db := newDB(t, pool, exec.Config{})
	for range 2 {
		sent.Store(0)
		got, err := db.Examine(t.Context(), text)
		if err != nil || got.Plan == nil || len(got.Table.Rows) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if sent.Load() != 1 {
			t.Errorf("the server parsed it %d times", sent.Load())
		}
	}
}

// counted counts the writes that hold a message.
type counted struct {
	net.Conn
	message string
	n       *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.n.Add(int64(bytes.Count(b, []byte(c.message))))
	return c.Conn.Write(b)
}

// TestAgain: in one use a statement may be explained and run several times, also after it failed.
func TestAgain(t *testing.T) {
	_, dsn := open(t, fixture)
	db := newDB(t, openWay(t, "exec", dsn), exec.Config{})
	again := exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		for range 2 {
			_, perr := s.Explain(ctx, c.SQL)
			table, err := s.Query(ctx, c.SQL)
			if fails := strings.Contains(c.SQL, "/"); (err != nil) != fails || fails &&
				!errors.As(err, new(*exec.InvalidError)) || !fails && len(table.Rows) == 0 {
				t.Errorf("%s: %v, %v, %v", c.SQL, table, err, perr)
			}
		}
		return nil
	})
	for _, text := range []string{"SELECT a FROM t", "SELECT 1 / (a - 50) FROM t", "SELECT 1 / 0 FROM t",
		"SELECT b FROM t"} {
		if _, err := db.Examine(t.Context(), text, again); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDrivers: any other driver than pgx is refused.
func TestDrivers(t *testing.T) {
	_, dsn := open(t, fixture)
	for why, c := range map[string]exec.Config{
		"a library that wraps pgx":            {},
		"an Unwrap that returns another type": {Unwrap: func(any) any { return struct{}{} }},
		"an Unwrap that returns nothing":      {Unwrap: func(any) any { return nil }},
	} {
		db := dbtest.NewDB(t, openWay(t, "wrapped", dsn), postgres.Dialect{}, c)
		var unguarded *exec.UnguardedError
		if err := db.Ready(t.Context()); !errors.As(err, &unguarded) ||
			!strings.Contains(unguarded.Remedy, "github.com/jackc/pgx/v5/stdlib") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestSearchPath: temporary tables may stand last, where the guard puts them, and not first.
func TestSearchPath(t *testing.T) {
	_, dsn := open(t, fixture)
	for path, guarded := range map[string]bool{"public,pg_temp": true, "public": true, "pg_temp,public": false,
		"pg_temp": false, `"pg_temp",public`: false} {
		pool := testutil.Value(sql.Open("pgx", dsn+"&search_path="+path))(t)
		_, err := newDB(t, pool, exec.Config{}).Query(t.Context(), "SELECT count(*) FROM t")
		var unguarded *exec.UnguardedError
		if guarded && err != nil || !guarded &&
			(!errors.As(err, &unguarded) || !strings.Contains(unguarded.Reason, "pg_temp")) {
			t.Errorf("%s: %v", path, err)
		}
		pool.Close()
	}
}

// TestWritten: while others write, nobody can tell whether the schema changed, and a refused name is refused as ever.
func TestWritten(t *testing.T) {
	pool, dsn := open(t, fixture)
	db := newDB(t, openWay(t, "exec", dsn), exec.Config{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		for ctx.Err() == nil {
			if _, err := pool.Exec("UPDATE t SET a = a"); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 5 {
		for text, want := range map[string]string{"SELECT nope FROM t": "schema", "SELECT a FROM nope": "schema",
			"SELECT pg_sleep(0)": "function"} {
			if _, err := db.Query(t.Context(), text); kindOf(err) != want {
				t.Errorf("%s: %q (%v), want %q", text, kindOf(err), err, want)
			}
		}
	}
	stop()
	testutil.OK(t, <-done)
}
