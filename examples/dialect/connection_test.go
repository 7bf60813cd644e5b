package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// fixture makes the tables of these tests.
const fixture = `CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');
`

// single returns a pool of one connection to a database with the fixture, and a DB on it.
func single(t *testing.T, dsn string, d exec.Dialect, c exec.Config) (*sql.DB, *exec.DB) {
	t.Helper()
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(fixture); err != nil {
		t.Fatal(err)
	}
	db, err := exec.New(pool, d, c)
	if err != nil {
		t.Fatal(err)
	}
	return pool, db
}

// TestWalls: where one wall is away, the others hold.
func TestWalls(t *testing.T) {
	blind := exectest.Change(Dialect{}, exectest.Changes{
		Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
			_, _ = read()
			return &guard.Names{}, nil
		},
	})
	_, db := single(t, ":memory:", blind, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	for _, text := range []string{
		"SELECT password FROM users", "SELECT count(*) FROM users", "SELECT sql FROM sqlite_master",
		"SELECT load_extension('x')",
		"SELECT json_group_array(a) FROM t", "SELECT 1 WHERE 's3cret-1' IN (SELECT password FROM users)",
	} {
		var refused *exec.RefusedError
		if table, err := db.Query(t.Context(), text); !errors.As(err, &refused) {
			t.Errorf("without names, %s: %v, %v", text, table, err)
		}
	}

	// Past all of them, the settings of the connection refuse to write.
	pool, _ := single(t, ":memory:", Dialect{}, exec.Config{})
	open, err := Dialect{}.Guard(exec.GuardConfig{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	o, err := open(t.Context(), conn, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"DELETE FROM t", "CREATE TABLE x(a)", "ATTACH ':memory:' AS x"} {
		s := &exec.Statement{Statement: sqltext.Dialect{}.Parse(text), Names: &guard.Names{Own: 1_000_000}}
		rows, err := o.Run(t.Context(), s, exec.Bounds{})
		if err == nil {
			err = errors.Join(rows.Close(), errors.New("it ran"))
		}
		if typed := (Dialect{}).Classify(err); !exec.IsRejection(typed) {
			t.Errorf("%s: %v", text, typed)
		}
	}
	if err := o.Close(false); err != nil {
		t.Error(err)
	}
	if _, err := conn.ExecContext(t.Context(), "INSERT INTO t VALUES (6, 'written')"); err != nil {
		t.Errorf("the caller cannot write any more: %v", err)
	}
}

// TestUnguarded: a connection that cannot be guarded is refused, and stays as it is.
func TestUnguarded(t *testing.T) {
	for _, tt := range []struct{ dsn, before, after string }{
		{"", "BEGIN; INSERT INTO t VALUES (6, 'begun')", "COMMIT"},
		{"", "CREATE TEMP TABLE t(a)", "DROP TABLE temp.t"},
		{"", "ATTACH ':memory:' AS other", "DETACH other"},
		{"?_texttotime=1", "SELECT 1", "SELECT 1"},
	} {
		pool, db := single(t, filepath.Join(t.TempDir(), "test.db")+tt.dsn, Dialect{}, exec.Config{})
		if _, err := pool.Exec(tt.before); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); !errors.As(err, new(*exec.UnguardedError)) {
			t.Errorf("%s%s: %v", tt.dsn, tt.before, err)
		}
		if _, err := pool.Exec(tt.after); err != nil {
			t.Errorf("%s: the connection is another one: %v", tt.after, err)
		}
	}
}

// TestMemory: a database in memory outlives a statement that was stopped.
func TestMemory(t *testing.T) {
	pool, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for range 2 {
		var limit *exec.LimitError
		if _, err := db.QueryWithin(t.Context(), engine().Endless,
			exec.Bounds{Timeout: 500 * time.Millisecond}); !errors.As(err, &limit) {
			t.Errorf("an endless statement: %v", err)
		}
		if table, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || len(table.Rows) != 5 {
			t.Errorf("the next one: %v, %v", table, err)
		}
	}
	if _, err := pool.Exec("DELETE FROM t"); err != nil {
		t.Error(err)
	}
}

// TestStored: values are those that are stored, in the order and under the names of the statement, whatever the driver
// makes of the types of columns.
func TestStored(t *testing.T) {
	pool, db := single(t, ":memory:", Dialect{}, exec.Config{})
	if _, err := pool.Exec(`CREATE TABLE d(a DATE, b DATETIME, c TIMESTAMP, e BOOLEAN, "f ""g" date);
		INSERT INTO d VALUES ('2001-02-03', 1, '2001-02-03T04:05:06Z', 7, 'never'), ('1999', x'01', NULL, 'yes', 0.5)`); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT a, a, b, c, e FROM d -- all": "[a a b c e] [[2001-02-03 2001-02-03 1 2001-02-03T04:05:06Z 7] " +
			"[1999 1999 [1] <nil> yes]]",
		"SELECT * FROM d ORDER BY a":                     `[a b c e f "g] [[1999 [1] <nil> yes 0.5] [2001-02-03 1 2001-02-03T04:05:06Z 7 never]]`,
		"SELECT a FROM d ORDER BY b DESC LIMIT 1":        "[a] [[1999]]",
		"SELECT a FROM d UNION SELECT 0 ORDER BY 1 DESC": "[a] [[2001-02-03] [1999] [0]]",
		"WITH x AS (SELECT a FROM d) SELECT a FROM x":    "[a] [[2001-02-03] [1999]]",
	} {
		table, err := db.Query(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprint(table.Columns, table.Rows); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestFunctions: what the application registers may not be called, also under the name of a function of SQLite.
func TestFunctions(t *testing.T) {
	called := 0
	for _, name := range []string{"dialect_own", "soundex"} {
		sqlite.MustRegisterDeterministicScalarFunction(name, 1, func(*sqlite.FunctionContext, []driver.Value) (driver.Value,
			error) {
			called++
			return int64(1), nil
		})
	}
	_, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for _, text := range []string{"SELECT dialect_own('x')", "SELECT soundex('x')",
		"SELECT a FROM t WHERE a = SOUNDEX('x')"} {
		var refused *exec.RefusedError
		if _, err := db.Query(t.Context(), text); !errors.As(err, &refused) || refused.Reason != "function" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if called > 0 {
		t.Error("a function was called")
	}
	_, db = single(t, ":memory:", Dialect{}, exec.Config{Policy: exec.Policy{AllowFunctions: []string{"Dialect_Own"}}})
	if _, err := db.Query(t.Context(), "SELECT dialect_own('x')"); err != nil || called == 0 {
		t.Errorf("allowed: %v", err)
	}
}

// TestErrors: errors say what is at fault, and repeat no stored value.
func TestErrors(t *testing.T) {
	_, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for text, want := range map[string]string{
		"SELECT x FROM t": "invalid statement (schema): no such column: x",
		"SELECT a FROM gone": "invalid statement (schema): no such table: " +
			"gone",
		"SELECT a FROM t WHERE":        "invalid statement (syntax): incomplete input",
		"SELECT a FROM t t1, t WHERE ": "invalid statement (syntax): incomplete input",
		"SELECT sum(count(a)) FROM t": "invalid statement (compile): " +
			"misuse of aggregate function count()",
		"SELECT abs(-9223372036854775808)":    "invalid statement (run): integer overflow",
		"SELECT json_extract('{}', b) FROM t": "invalid statement (run): bad JSON path: ",
		"SELECT " + strings.Repeat("1+", 300) + "1": "refused (too-complex): " +
			"Expression tree is too large (maximum depth 200)",
		"SELECT printf('%.*c', 9000000, 'x')": "over the limit on cell",
		"SELECT " + strings.Repeat("1,", 600) + "1": "refused (too-complex): " +
			"too many columns in result set",
		"SELECT a FROM t WHERE a IN (" + strings.Repeat("1,", 15000) + "1)": "",
	} {
		_, err := db.Query(t.Context(), text)
		if got := fmt.Sprint(err); want == "" && err != nil && !exec.IsRejection(err) ||
			!strings.HasPrefix(got, "exec: "+want) && want != "" {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// secrets is what the policies of this dialect's own need beside the tables of the suite.
const secrets = `
ALTER TABLE users ADD COLUMN shout TEXT AS (upper("password")) VIRTUAL;
ALTER TABLE users ADD COLUMN twice TEXT GENERATED ALWAYS AS (shout || '!') VIRTUAL;
CREATE INDEX users_password ON users(password);
CREATE TABLE pins(password TEXT);
CREATE VIRTUAL TABLE docs USING fts5(title, body);
CREATE VIEW named(number, title) AS SELECT rowid, name FROM users;
CREATE VIEW broken AS SELECT nix FROM nowhere;
CREATE VIEW counted AS SELECT json_group_array(a) AS all_a FROM t;
CREATE VIEW hidden AS SELECT (SELECT u.password FROM (users) AS u) AS p;
`

// policies are statements under a policy that only SQLite knows.
func policies() (all []exectest.PolicyCase) {
	add := func(p exec.Policy, want string, statements ...string) {
		for _, text := range statements {
			all = append(all, exectest.PolicyCase{Why: "SQLite's own", Policy: p, SQL: text, Want: want})
		}
	}
	column, none := exec.Policy{DenyColumns: []string{"users.password"}}, exec.Policy{}
	add(column, "", // what a policy leaves alone
		"WITH users(password) AS (VALUES (1)) SELECT password FROM users", "SELECT rowid, oid, users._rowid_ FROM users",
		"SELECT id FROM users NOT INDEXED", "SELECT value FROM users, json_each(json_array(users.name)) AS j",
		"SELECT CAST(id AS VARCHAR(10)), 'password' FROM users", "SELECT number FROM named", "SELECT 's3cret-1' IN pins",
		"SELECT users.name FROM users JOIN orders AS o ON o.user_id = users.id GROUP BY 1 HAVING count(*) > 0",
		"SELECT o.* FROM (orders) AS o", "WITH c AS (SELECT id FROM users) SELECT c.* FROM c")
	add(column, "column", // the column by other names
		`SELECT "PassWord" FROM main.USERS`, "SELECT users.'password' FROM users", "SELECT [password] FROM 'users'",
		"SELECT 'users'.'password' FROM users", "SELECT 1 LIMIT (SELECT length(password) FROM users)",
		"SELECT (1, 'a', 'b', 'c', 'd') IN users", "SELECT count(*) FROM keyring JOIN users USING ('password')",
		"SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])",
		"SELECT id FROM users INDEXED BY users_password",
		"SELECT shout FROM users", "SELECT twice FROM users")
	add(column, "column", // a star whose table a text reader may mistake
		"SELECT minus.* FROM users minus, (SELECT 1 FROM t AS minus)", "SELECT u.* FROM (users) AS u, (SELECT 1 FROM t AS u)",
		"SELECT u.* FROM ((users)) u, (SELECT 1 FROM t AS u)", "SELECT u.* FROM (users JOIN t) AS u, (SELECT 1 FROM t AS u)",
		"SELECT 'u'.* FROM users 'u', (SELECT 1 FROM t AS u)",
		"SELECT window.* FROM users window, (SELECT 1 FROM t AS window)",
		"SELECT for.* FROM users AS for, (SELECT 1 FROM t AS for)",
		"SELECT m.* FROM users m, main.users AS a, (WITH users AS (SELECT 1) SELECT 1 FROM users), (SELECT 1 FROM t AS m)",
		"SELECT ALL * FROM users", "SELECT DISTINCT * FROM users", "SELECT 1, * FROM users",
		"SELECT (SELECT u.password FROM (SELECT 1 AS password) AS u) FROM users AS u")
	add(exec.Policy{DenyColumns: []string{"users.id"}}, "column", // the row's number is the key
		"SELECT rowid FROM users", `SELECT "OID" FROM users`, "SELECT name FROM users ORDER BY users._rowid_")
	add(exec.Policy{DenyColumns: []string{"users.id"}}, "any", "SELECT title FROM named")
	add(column, "any", "SELECT p FROM hidden")
	add(exec.Policy{DenyTables: []string{"users"}}, "table",
		"SELECT rowid FROM users", "SELECT EXISTS (SELECT 1 FROM main.users)",
		"SELECT count(*) FROM t, orders NATURAL JOIN users",
		"SELECT 1 FROM 'users'", "SELECT 1 IN users", "SELECT number FROM named")
	add(none, "table", // what belongs to SQLite, or to a module
		"SELECT sql FROM sqlite_master", "SELECT name FROM temp.sqlite_master", "SELECT title FROM docs",
		"SELECT count(*) FROM docs WHERE docs = 'a'", "SELECT c0 FROM docs_content", "SELECT 1 IN pragma_compile_options",
		"SELECT 1 FROM pragma_compile_options", "SELECT 1 FROM json_each('[]') WHERE 1 IN pragma_compile_options",
		"WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL JOIN sqlite_master", "SELECT * FROM broken")
	add(none, "function",
		"SELECT json_group_array(a) FROM t", `SELECT "load_extension"('x')`, "SELECT [load_extension]('x')",
		"SELECT all_a FROM counted",
		"SELECT 1 FROM 'pragma_table_info'('users')", "SELECT b MATCH 'a' FROM t",
		"WITH load_extension(x) AS (SELECT 1) SELECT load_extension('x') FROM load_extension")
	add(exec.Policy{AllowFunctions: []string{"JSON_Group_Array"}}, "", "SELECT Json_group_array(a) FROM t",
		"SELECT all_a FROM counted")
	// What this dialect refuses in excess, having no parser.
	add(column, "column",
		// a star without a table is every table's
		"WITH c AS (SELECT id FROM users) SELECT * FROM c",
		// a name is every table's
		"SELECT k.password FROM keyring AS k JOIN users AS u ON u.name = k.note",
		// an alias without AS is a name
		"SELECT name password FROM users", "WITH c(password) AS (SELECT name FROM users) SELECT 1 FROM c",
	)
	return all
}

// TestSchema: keys, unique columns and generated ones are read, also where SQLite leaves names out, and what cannot be
// opened costs nothing else.
func TestSchema(t *testing.T) {
	pool, db := single(t, filepath.Join(t.TempDir(), "test.db"), Dialect{}, exec.Config{})
	_, err := pool.Exec(
		`CREATE TABLE Parent(b INT DEFAULT (1 + 1), a INT NOT NULL, c AS (a || b), PRIMARY KEY (a, b)) WITHOUT ROWID;
		CREATE TABLE child(x, y, z REFERENCES gone(z), FOREIGN KEY (x, y) REFERENCES parent, UNIQUE (y, x));
		CREATE UNIQUE INDEX one ON child(z); CREATE UNIQUE INDEX expressed ON child(z, x + 1);
		CREATE UNIQUE INDEX partial ON child(x) WHERE y > 1;
		CREATE VIEW broken AS SELECT nix FROM nowhere; CREATE VIEW fine(n) AS SELECT x FROM child;
		CREATE VIRTUAL TABLE docs USING fts5(title); DROP TABLE t; DROP TABLE users`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, table := range s.Tables {
		table.Definition = ""
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		got[table.Name] = string(text)
	}
	want := map[string]string{
		"Parent": `{"name":"Parent","kind":"table","columns":[{"name":"b","type":"INT","not_null":true,"default":"1 + 1"},` +
			`{"name":"a","type":"INT","not_null":true},{"name":"c","generated":true}],"primary_key":["a","b"]}`,
		"child": `{"name":"child","kind":"table","columns":[{"name":"x"},{"name":"y"},{"name":"z"}],` +
			`"foreign_keys":[{"columns":["x","y"],"ref_table":"Parent","ref_columns":["a","b"]}],"unique":[["y","x"],["z"]]}`,
		"fine": `{"name":"fine","kind":"view","columns":[{"name":"n","type":"BLOB"}]}`,
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is\n%s, want\n%s", name, got[name], text)
		}
		delete(got, name)
	}
	if len(got) > 0 || s.Default != "main" || s.Tables[0].Kind != "table" {
		t.Errorf("%v more, default %q", got, s.Default)
	}
}
