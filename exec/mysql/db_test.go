package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/trace"
)

func guarded(t testing.TB, pool *sql.DB, p exec.Policy) *exec.DB {
	t.Helper()
	db, err := exec.New(pool, mysql.Dialect{}, exec.Config{Policy: revealed(p)})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestBrokenViews: a view that the server cannot open is told of once a schema, by name only where the policy has it.
func TestBrokenViews(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT); CREATE TABLE gone(x INT); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone", "")
	for _, c := range []struct {
		policy exec.Policy
		told   int
	}{{exec.Policy{}, 1}, {exec.Policy{DenyTables: []string{"broken"}}, 0}} {
		span := trace.New("test")
		s, err := guarded(t, pool, c.policy).Schema(trace.Into(t.Context(), span))
		if err != nil || len(s.Tables) != 1 || s.Tables[0].Name != "t" {
			t.Fatalf("%+v: %+v, %v", c.policy, s, err)
		}
		if got := fmt.Sprint(span.Warnings()); strings.Count(got, "broken") != 2*c.told { // the code, and the name
			t.Errorf("%+v: %s", c.policy, got)
		}
	}
	if _, err := guarded(t, pool, exec.Policy{}).Query(t.Context(), "SELECT * FROM broken"); !exec.IsRejection(err) {
		t.Error(err)
	}
}

// TestDroppedInBetween: a table that goes between the plan and the run is a fault of the statement, told as such, and the
// schema that is read next does not have it.
func TestDroppedInBetween(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT); CREATE TABLE u(b INT); INSERT INTO u VALUES (1)", "")
	db := guarded(t, pool, exec.Policy{})
	session, err := db.Runner(exec.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	p, err := session.Explain(t.Context(), "SELECT b FROM u")
	if err != nil || !strings.Contains(p.Signature(), `"table_name": "u"`) {
		t.Fatalf("%q, %v", p.Signature(), err)
	}
	if _, err := db.Schema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	exec1(t, pool, "DROP TABLE u")
	if _, err := session.Query(t.Context(), "SELECT b FROM u"); !exec.IsRejection(err) {
		t.Errorf("the table is gone: %v", err)
	}
	s, err := db.Schema(t.Context())
	if err != nil || len(s.Tables) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStringsForNames: what the check of names in double quotes says, as a finding and as a refusal.
func TestStringsForNames(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(name TEXT, secret TEXT); INSERT INTO t VALUES ('a', 'b')", "")
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"t.secret"}})
	for _, c := range []struct {
		sql  string
		want bool
		why  string
	}{
		{`SELECT "name" FROM t`, true, "the word name in each row"},
		{`SELECT name FROM t WHERE "name" = 'a'`, true, "compares two constants"},
		{`SELECT name FROM t WHERE name = "name"`, false, "a string beside a comparison"},
		{`SELECT name, "secret" FROM t`, false, "nothing tells that there is such a column"},
		{"SELECT `name` FROM t", false, "a name"},
	} {
		checked, err := db.Examine(t.Context(), c.sql, exec.ReadOnly{}, exec.UnknownNames{})
		if err != nil || (len(checked.Findings) > 0) != c.want || c.want && !strings.Contains(checked.Findings[0].Detail, "column `name`") {
			t.Errorf("%s: %+v, %v (%s)", c.sql, checked.Findings, err, c.why)
		}
		_, err = db.Examine(t.Context(), c.sql, exec.ReadOnly{}, exec.UnknownNames{Reject: true})
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) != c.want || c.want && invalid.Fault != exec.FaultSchema {
			t.Errorf("%s: %v (%s)", c.sql, err, c.why)
		}
	}
}

// TestWarningsOfStatements: the person who asked is told what the server made of texts that are no numbers.
func TestWarningsOfStatements(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('x1')", "")
	span := trace.New("test")
	got, err := guarded(t, pool, exec.Policy{}).Query(trace.Into(t.Context(), span), "SELECT a + 1 FROM t")
	if err != nil || fmt.Sprint(got.Rows) != "[[1]]" {
		t.Fatalf("%v, %v", got, err)
	}
	if got := fmt.Sprint(span.Warnings()); !strings.Contains(got, "Truncated incorrect DOUBLE value") {
		t.Error(got)
	}
}

// TestRowsOfValues: MariaDB writes VALUES without ROW, wherever a query may stand, and they read what stands in them.
func TestRowsOfValues(t *testing.T) {
	pool, _ := open(t, people, "")
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"users.password"}})
	for _, c := range []struct{ sql, want string }{
		{"VALUES (1, 'a'), (2, 'b')", "[[1 a] [2 b]]"},
		{"SELECT a FROM t WHERE a = ANY (VALUES (2), (3))", "[[2]]"},
		{"SELECT * FROM (VALUES (1), (2)) AS x, (VALUES (3)) AS y", "[[1 3] [2 3]]"},
		{"WITH c(n) AS (VALUES (1), (2)) SELECT n FROM c EXCEPT VALUES (2)", "[[1]]"},
		{"VALUES (1), ((SELECT COUNT(*) FROM users))", "[[1] [2]]"},
		{"VALUES (1), ((SELECT MAX(password) FROM users))", "refused column writes=false"},
		{"SELECT 1 UNION (VALUES (1), ((SELECT 1 FROM mysql.user)))", "refused table writes=false"},
		{"VALUES(GET_LOCK('x', 0))", "refused function writes=false"},
	} {
		got, err := db.Query(t.Context(), c.sql)
		said := kind(err)
		if err == nil {
			said = fmt.Sprint(got.Rows)
		}
		if said != c.want {
			t.Errorf("%s: %s, %v, want %s", c.sql, said, err, c.want)
		}
	}
}

// revealed is p, which reads the columns password and secret of the tests as any other, unless it says what to reveal.
func revealed(p exec.Policy) exec.Policy {
	if p.Reveal == nil {
		p.Reveal = []string{"*"}
	}
	return p
}
