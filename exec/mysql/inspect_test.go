package mysql_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

func inspect(t testing.TB, pool *sql.DB) *schema.Schema {
	t.Helper()
	c, err := held(t, pool).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Schema
}

// one returns a connection of its own: temporary tables and settings belong to it.
func one(t testing.TB, pool *sql.DB) *sql.Conn {
	t.Helper()
	c, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func exec1(t testing.TB, on interface {
	Exec(string, ...any) (sql.Result, error)
}, statement string) {
	t.Helper()
	if _, err := on.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestInspectRich holds all that a schema may have to a golden file: TEXTTOSQL_SERVERS=1 go test ./exec/mysql -run InspectRich -update
func TestInspectRich(t *testing.T) {
	pool, _ := open(t, file(t, "rich.sql"), "")
	pool.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TEMPORARY TABLE passing(x INT)", "CREATE TEMPORARY TABLE two(b TEXT, other INT)"} {
		exec1(t, pool, statement)
	}
	c, err := held(t, pool).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.Warnings); strings.Count(got, "broken-view") != 1 || !strings.Contains(got, "the view broken is left out") {
		t.Error("warnings:", got)
	}
	c.Schema.Default = "" // a number
	got, err := json.MarshalIndent(c.Schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "rich.golden.json", append(got, '\n'))
}

// TestVersion: each change of the schema changes the version, and writing rows does not.
func TestVersion(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT, b INT); CREATE VIEW v AS SELECT a FROM t; CREATE FUNCTION f() RETURNS INT RETURN 1", "")
	conn := held(t, pool)
	version := func() string {
		v, err := conn.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c, err := conn.Catalog(t.Context()); err != nil || c.Version != v {
			t.Fatalf("the catalog has the version %q, want %q: %v", c.Version, v, err)
		}
		return v
	}
	last := version()
	for _, c := range []struct {
		statement string
		changes   bool
		why       string
	}{
		{"INSERT INTO t VALUES (1, 2)", false, "rows are no schema"},
		{"ANALYZE TABLE t", false, "nor are statistics"},
		{"CREATE OR REPLACE VIEW v AS SELECT b AS a FROM t", true, "a view has no time"},
		{"CREATE TABLE u(x INT)", true, ""},
		{"ALTER TABLE u COMMENT = 'of things'", true, "a description"},
		{"CREATE FUNCTION g() RETURNS INT RETURN 1", true, "a name that was free may be taken"},
		{"DROP FUNCTION g", true, ""},
		{"DROP VIEW v", true, ""},
		{"RENAME TABLE u TO w", true, ""},
		{"CREATE TEMPORARY TABLE passing(x INT)", false, "belongs to one connection"},
		{"DO SLEEP(1.1)", false, "times have whole seconds"},
		{"ALTER TABLE t RENAME COLUMN b TO c", true, "instant: only the time tells"},
		{"DO SLEEP(1.1)", false, ""},
		{"ALTER TABLE t MODIFY a INT COMMENT 'first'", true, "a comment"},
	} {
		exec1(t, pool, c.statement)
		if now := version(); (now != last) != c.changes {
			t.Errorf("%s: the version changes: %t, want %t (%s)", c.statement, now != last, c.changes, c.why)
		} else {
			last = now
		}
	}
}

// TestEmptyDatabase: a database without tables has a schema, whose default is its name.
func TestEmptyDatabase(t *testing.T) {
	pool, dsn := open(t, "", "")
	if s := inspect(t, pool); len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "mysql" || s.Default != databaseOf(dsn) {
		t.Errorf("an empty database: %+v", s)
	}
}

// TestGrants: which users are told to be too powerful.
func TestGrants(t *testing.T) {
	for _, c := range []struct{ grant, want, why string }{
		{"GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*E'", "", "nothing"},
		{"GRANT SELECT, SHOW VIEW ON `d`.* TO `r`@`%`", "", "the role that we recommend"},
		{"GRANT SELECT (`a`, `b`) ON `d`.`t` TO `r`@`%`", "", "columns"},
		{"GRANT SELECT (a), UPDATE (b) ON `d`.`t` TO `r`@`%`", "UPDATE ON `d`.`t`", "one column may be written"},
		{"GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", "ALL PRIVILEGES ON *.*", ""},
		{"GRANT `analyst` TO `r`@`%`", "", "a role: its own line tells"},
		{"GRANT EXECUTE ON FUNCTION `d`.`f` TO `r`@`%`", "EXECUTE ON `d`.`f`", "a function may write"},
		{"GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION", "PROXY ON ''@'%'", ""},
		{"", "", ""},
	} {
		if got := mysql.BeyondReading(c.grant); got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.grant, got, c.want, c.why)
		}
	}
	pool, _ := open(t, "", "")
	warnings := func(pool *sql.DB) []trace.Warning {
		c, err := held(t, pool).Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c.Warnings
	}
	found := warnings(pool)
	if len(found) != 1 || found[0].Code != "privileged-user" || !strings.Contains(found[0].Message, "(ALL PRIVILEGES ON *.*)") {
		t.Errorf("root: %v", found)
	}
	exec1(t, pool, "CREATE USER IF NOT EXISTS plain@'127.0.0.1' IDENTIFIED BY 'p'")
	var name string
	if err := pool.QueryRow("SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	exec1(t, pool, "GRANT SELECT, SHOW VIEW ON "+name+".* TO plain@'127.0.0.1'")
	plain, err := sql.Open("mysql", fmt.Sprintf("plain:p@tcp(127.0.0.1:%d)/%s", server.Get(t).Port, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	if found := warnings(plain); len(found) != 0 {
		t.Errorf("a role that reads: %v", found)
	}
}

// BenchmarkInspect reads a database of 1,000 tables with 20 columns each, keys and comments, and 50 views.
func BenchmarkInspect(b *testing.B) {
	var script strings.Builder
	script.WriteString("SET foreign_key_checks = 0;")
	for i := range 1000 {
		fmt.Fprintf(&script, "CREATE TABLE t%d(id INT PRIMARY KEY, ref INT, FOREIGN KEY (ref) REFERENCES t%d(id), u INT UNIQUE", i, i/2)
		for j := 3; j < 20; j++ {
			fmt.Fprintf(&script, ", c%d VARCHAR(40) COMMENT 'column %d'", j, j)
		}
		fmt.Fprintf(&script, ") COMMENT 'table %d';", i)
	}
	for i := range 50 {
		fmt.Fprintf(&script, "CREATE VIEW v%d AS SELECT id, c3 FROM t%d;", i, i)
	}
	pool, _ := open(b, script.String(), "")
	b.Run("schema", func(b *testing.B) { // that a new DB reads, with the facts for its guard
		for b.Loop() {
			if s, err := guarded(b, pool, exec.Policy{}).Schema(b.Context()); err != nil || len(s.Tables) != 1050 {
				b.Fatal(s, err)
			}
		}
	})
	b.Run("version", func(b *testing.B) {
		conn := held(b, pool)
		for b.Loop() {
			if _, err := conn.Version(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
