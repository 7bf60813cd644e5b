package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const people = `CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES (1,'x'),(2,'y');
CREATE TABLE users(id INTEGER, name VARCHAR(50), password VARCHAR(50), token VARCHAR(50),
 hash VARCHAR(100) AS (CONCAT(password, 'x')), twice VARCHAR(200) AS (CONCAT(hash, hash)),
 PRIMARY KEY (id), KEY by_password (password));
INSERT INTO users(id, name, password, token) VALUES (1,'ann','s3cret-1','t1'),(2,'bob','s3cret-2','t2');
CREATE TABLE logins(id INTEGER, user_id INTEGER, password VARCHAR(50)) ENGINE=MyISAM;
CREATE TABLE all_logins(id INTEGER, user_id INTEGER, password VARCHAR(50)) ENGINE=MERGE UNION=(logins);
CREATE VIEW v_users AS SELECT id, password AS pw FROM users;
CREATE VIEW v_order AS SELECT id FROM users ORDER BY password;
CREATE VIEW v_ok AS SELECT id, name FROM users;
CREATE VIEW v_over AS SELECT * FROM v_ok;
CREATE VIEW v_hash AS SELECT twice FROM users;
CREATE VIEW v_under AS SELECT pw FROM v_users;
CREATE VIEW v_count AS SELECT COUNT(*) AS n FROM users`

// TestPolicy: what is denied is read in no way, and what is not denied is read, beside what exectest asks of every
// engine.
func TestPolicy(t *testing.T) {
	pool, _ := open(t, people, "")
	columns := exec.Policy{DenyColumns: []string{"users.password", "token"}}
	tables := exec.Policy{DenyTables: []string{"users"}}
	for _, tt := range []struct {
		policy exec.Policy
		sql    string
		reason string // "" is answered
		why    string
	}{
		{columns, "WITH users AS (SELECT id, name FROM users) SELECT name FROM users", "", "a name that hides the table"},
		{columns, "SELECT x.password FROM (SELECT 1 AS password) x", "", "another column of that name"},
		{columns, "SELECT * FROM v_ok", "", "a view without it"},
		{columns, "SELECT * FROM v_over", "", "a view over a view without it"},
		{columns, "SELECT * FROM v_count", "", "counts rows"},
		{columns, "SELECT name FROM users FORCE INDEX (PRIMARY)", "", "no order of a denied column"},
		{columns, "SELECT password FROM users", "column", ""},
		{columns, "SELECT PASSWORD FROM users", "column", "in capitals"},
		{columns, "SELECT to\u212Aen FROM users", "column", "with the Kelvin sign, which the server takes for k"},
		{columns, "SELECT `password` FROM `users`", "column", "in quotes"},
		{columns, "SELECT users . password FROM users", "column", "apart"},
		{columns, "SELECT hash FROM users", "column", "made of it"},
		{columns, "SELECT twice FROM users", "column", "made of what is made of it"},
		{columns, "SELECT * FROM users", "column", ""},
		{columns, "SELECT u.* FROM t, users u", "column", ""},
		{columns, "SELECT 1 FROM users ORDER BY password", "column", "its order"},
		{columns, "SELECT 1 FROM users GROUP BY name HAVING MAX(password) > 'a'", "column", "its comparison"},
		{columns, "SELECT a.id FROM users a JOIN users b USING (password)", "column", "its comparison"},
		{columns, "SELECT a.id FROM users a NATURAL JOIN t", "column", "may compare it"},
		{columns, "SELECT id FROM t JOIN users ON a = id AND (SELECT password FROM users LIMIT 1) > 'a'", "column",
			"further down"},
		{columns, "WITH c(p) AS (SELECT token FROM users) SELECT p FROM c", "column", "by another name"},
		{columns, "SELECT name FROM users USE INDEX (by_password)", "column", "its order"},
		{columns, "SELECT id FROM v_users", "table", "whole"},
		{columns, "SELECT * FROM v_order", "table", "a view in its order"},
		{columns, "SELECT * FROM v_hash", "table", "a view over what is made of it"},
		{columns, "SELECT 1 FROM v_under", "table", "a view over a view over it"},
		{columns, "SELECT COUNT(*) FROM all_logins", "table", "a table made of tables"},
		{tables, "SELECT 1 FROM v_over", "table", "a view over a view over it"},
		{tables, "WITH users AS (SELECT 1 AS x) SELECT x FROM users", "", "a name of the statement's own"},
		{tables, "WITH users AS (SELECT * FROM users) SELECT 1 FROM users", "table", "but not inside"},
		{tables, "WITH RECURSIVE users AS (SELECT 1 AS x UNION SELECT x FROM users) SELECT x FROM users", "table",
			"refused, as it may be the table"},
		{tables, "SELECT (WITH users AS (SELECT 1 AS x) SELECT x FROM users) FROM users", "table",
			"the name ends with its subquery"},
		{tables, "WITH a AS (SELECT 1 FROM users), users AS (SELECT 1) SELECT 1 FROM a", "table",
			"the name begins behind its text"},
	} {
		db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{Policy: revealed(tt.policy)})
		_, err := db.Query(t.Context(), tt.sql)
		_, aerr := db.Analyze(t.Context(), tt.sql)
		for _, err := range []error{err, aerr} {
			var refused *exec.RefusedError
			errors.As(err, &refused)
			if (err == nil) != (tt.reason == "") || err != nil && (refused == nil || refused.Reason != tt.reason) {
				t.Errorf("%s (%s): %v", tt.sql, tt.why, err)
			}
		}
		if tt.reason != "column" || strings.Contains(tt.sql, "NATURAL") || strings.Contains(tt.sql, "INDEX") {
			continue // NATURAL compares no denied column here, and the order of rows is in no trace
		}
		// The trace of the server alone refuses denied columns too.
		lax := dbtest.NewDB(t, pool, withoutNames(), exec.Config{Policy: revealed(tt.policy)})
		if _, err = lax.Query(t.Context(), tt.sql); !exec.IsRejection(err) {
			t.Errorf("by its trace: %s: %v", tt.sql, err)
		}
	}
}

// withoutNames is the dialect without what the names of a statement say about the policy. Only the server's trace is
// left.
func withoutNames() exec.Dialect {
	found := map[string]*guard.Names{}
	return exectest.Change(mysql.Dialect{}, exectest.Changes{
		Read: func(s *exec.Statement, read func() (*guard.Names, error)) (names *guard.Names, err error) {
			names, err = read()
			found[s.SQL()] = names
			return &guard.Names{}, err
		},
		Confirm: func(s *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error) {
			s.Names = found[s.SQL()]
			return confirm()
		},
	})
}

// TestNewColumn: a column that is there since a moment ago is denied at once, and a table is seen at once.
func TestNewColumn(t *testing.T) {
	pool, _ := open(t, people, "")
	db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"password"}}})
	s := testutil.Value(db.Runner(exec.Bounds{}))(t)
	defer s.Close()
	testutil.Value(s.Query(t.Context(), "SELECT * FROM t"))(t)
	for _, change := range []string{"ALTER TABLE t ADD password TEXT", "CREATE TABLE late(x INTEGER, password TEXT)",
		"CREATE OR REPLACE VIEW v_ok AS SELECT id, password AS name FROM users"} {
		testutil.Value(pool.Exec(change))(t)
	}
	for _, sql := range []string{"SELECT * FROM t", "SELECT password FROM t", "SELECT * FROM late", "SELECT * FROM v_ok",
		"SELECT name FROM v_over"} {
		if _, err := s.Query(t.Context(), sql); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got, err := s.Query(t.Context(), "SELECT x FROM late"); err != nil {
		t.Errorf("a new table: %v, %v", got, err)
	}
}

// TestAnalysis: what a statement reads, never less.
func TestAnalysis(t *testing.T) {
	pool, _ := open(t, people, "")
	db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{Policy: revealed(exec.Policy{})})
	for _, tt := range []struct{ sql, want string }{
		{"SELECT 1", " |"},
		{"SELECT UPPER(name) FROM users", "users(name) | upper"},
		{"SELECT COUNT(*) FROM users", "users() | count"},
		{"SELECT pw FROM v_users", "users(id,password) v_users(pw) |"},
		{"SELECT * FROM v_over", "users(id,name) v_ok(id,name) v_over(id,name) |"},
		{"SELECT a, RANK() OVER (ORDER BY b) FROM t", "t(a,b) | rank"},
		{"WITH t AS (SELECT id FROM users) SELECT id FROM t", "users(id) |"},
		{"SELECT INSERT('a',1,1,'b'), CHAR(65), DATE '2020-01-01', CAST(1 AS CHAR)", " | cast char date insert"},
	} {
		a, err := db.Analyze(t.Context(), tt.sql)
		if err != nil {
			t.Errorf("%s: %v", tt.sql, err)
			continue
		}
		var tables []string
		for _, read := range a.Tables {
			tables = append(tables, read.Table+"("+strings.Join(read.Columns, ",")+")")
		}
		got := strings.TrimRight(strings.Join(tables, " ")+" | "+strings.Join(a.Functions, " "), " ")
		if diff := cmp.Diff(tt.want, got); diff != "" || !a.Inexact {
			t.Errorf("%s: %s", tt.sql, diff)
		}
	}
}

// TestShowView: a view whose text the user may not see is refused, with the statement that mends it.
func TestShowView(t *testing.T) {
	pool, dsn := open(t, people+"; CREATE USER IF NOT EXISTS blind@'127.0.0.1' IDENTIFIED BY 'r'", "")
	testutil.Value(pool.Exec("GRANT SELECT ON " + databaseOf(dsn) + ".* TO blind@'127.0.0.1'"))(t)
	blind := testutil.Value(sql.Open("mysql", strings.Replace(dsn, "root@", "blind:r@", 1)))(t)
	defer blind.Close()
	db := dbtest.NewDB(t, blind, mysql.Dialect{}, exec.Config{Policy: revealed(exec.Policy{})})
	_, err := db.Query(t.Context(), "SELECT * FROM v_ok")
	var refused *exec.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Detail, "GRANT SHOW VIEW ON `"+databaseOf(dsn)+"`.*") {
		t.Error(err)
	}
	if _, err := db.Query(t.Context(), "SELECT * FROM users"); err != nil {
		t.Error(err)
	}
}

// databaseOf is the database of a DSN.
func databaseOf(dsn string) string {
	_, after, _ := strings.Cut(dsn, "/")
	name, _, _ := strings.Cut(after, "?")
	return name
}

// TestWithoutTree: what the other walls hold when the tree is off. The server itself refuses all that changes data or
// its schema; files, locks and other databases are open, so the tree is needed.
func TestWithoutTree(t *testing.T) {
	pool, _ := open(t, strings.ReplaceAll(fixture, "OUTFILE", ""), "multiStatements=true")
	db := testutil.Value(exec.New(pool, exectest.Change(mysql.Dialect{}, exectest.Changes{
		Read: func(*exec.Statement, func() (*guard.Names, error)) (*guard.Names, error) { return &guard.Names{}, nil },
	}), exec.Config{}))(t)
	for _, tt := range []struct {
		sql string
		ran bool
	}{
		{"SELECT f_write()", false},
		{"SELECT p_write()", false},
		{"SELECT NEXT VALUE FOR s", false},
		{"SELECT SETVAL(s, 100)", false},
		{"SELECT a FROM t FOR UPDATE", false},
		{"SELECT a FROM t LOCK IN SHARE MODE", true},
		{"SELECT GET_LOCK('mine', 0)", true},
		{"SELECT LOAD_FILE('/etc/hostname')", true},
		{"SELECT user FROM mysql.user", true},
		{"SELECT spy(1)", true},
		{"SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT password FROM users LIMIT 1)))", false},
	} {
		if _, err := db.Query(t.Context(), tt.sql); (err == nil) != tt.ran {
			t.Errorf("%s: %v", tt.sql, err)
		}
	}
	var rows, next int
	if err := pool.QueryRow("SELECT (SELECT COUNT(*) FROM t), NEXT VALUE FOR s").Scan(&rows, &next); err != nil ||
		rows != 5 || next != 1 {
		t.Errorf("%d rows, sequence at %d, %v", rows, next, err)
	}
	ran := 0
	for _, p := range hostile() {
		if p.Expect != "refuse" || strings.Contains(p.SQL, "OUTFILE") || strings.Contains(p.SQL, "DUMPFILE") ||
			strings.Contains(p.SQL, "SLEEP") ||
			strings.Contains(p.SQL, "BENCHMARK") || strings.Contains(p.SQL, "WAIT") {
			continue // they write files or wait
		}
		if _, err := db.Query(t.Context(), p.SQL); err == nil {
			ran++
		}
	}
	t.Log(fmt.Sprint(ran, " statements ran that the tree refuses"))
	if err := pool.QueryRow("SELECT COUNT(*) FROM t").Scan(&rows); err != nil || rows != 5 || ran == 0 {
		t.Errorf("%d rows, %v; %d ran", rows, err, ran)
	}
}

// TestReaderOfViews: to a user who is not the definer of a view the server does not show what a statement over it
// reads. Where it names views alone, their definitions tell.
func TestReaderOfViews(t *testing.T) {
	owner, dsn := open(t,
		people+`; CREATE VIEW names AS SELECT id, name FROM users; CREATE VIEW upper_names AS SELECT UPPER(name) AS n FROM names;
		CREATE VIEW words AS SELECT id, password AS word FROM users; CREATE SQL SECURITY INVOKER VIEW own AS SELECT id, name FROM users;
		CREATE VIEW shown AS SELECT id AS a, name AS password FROM users`, "multiStatements=true")
	_, database, _ := strings.Cut(strings.TrimSuffix(dsn, "?multiStatements=true"), "/")
	exec1(t, owner, "CREATE OR REPLACE USER viewer@'127.0.0.1'; GRANT SELECT, SHOW VIEW ON "+database+
		".* TO viewer@'127.0.0.1'")
	pool := testutil.Value(sql.Open("mysql", strings.Replace(dsn, "root@", "viewer@", 1)))(t)
	defer pool.Close()
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"password"}})
	refused := func(text string) {
		t.Helper()
		if got, err := db.Query(t.Context(), text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"SELECT name FROM names", "SELECT * FROM names", "SELECT n FROM upper_names JOIN names ON n = name",
		"SELECT * FROM names AS x NATURAL JOIN names AS y",
		"WITH c AS (SELECT n FROM upper_names) SELECT count(*) FROM c", "SELECT own.name FROM own JOIN t ON t.a = own.id",
	} {
		if got, err := db.Query(t.Context(), text); err != nil || len(got.Rows) == 0 {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	refused("SELECT word FROM words")
	refused("SELECT names.name FROM names JOIN users ON users.id = names.id") // what of users nobody tells
	refused("SELECT a FROM shown")                                            // its other column has a name that is denied
	exec1(t, owner, "CREATE OR REPLACE VIEW names AS SELECT id, password AS name FROM users")
	refused("SELECT name FROM names")
	refused("SELECT n FROM upper_names")
}

// TestSecrets: a generated column that shows a secret one is left out like it, and so is a view over either.
func TestSecrets(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE people(id INT, name TEXT, password TEXT, shown TEXT AS (CONCAT(password, '!')) VIRTUAL,
		again TEXT AS (UPPER(shown)) STORED, hello TEXT AS (CONCAT('hello ', name)));
		CREATE VIEW front AS SELECT id, again AS a FROM people; CREATE VIEW names AS SELECT hello FROM people`, "")
	s := testutil.Value(guarded(t, pool, exec.Policy{Reveal: []string{}}).Schema(t.Context()))(t)
	if diff := cmp.Diff([]string{"names.hello", "people.hello", "people.id", "people.name"},
		dbtest.Columns(s)); diff != "" {
		t.Error(diff)
	}
}

// TestCatalogInASession: the limit on the rows of a statement is none on those of the catalog that is read behind it.
func TestCatalogInASession(t *testing.T) {
	pool, _ := open(t, people, "")
	db := guarded(t, pool, exec.Policy{})
	s := testutil.Value(db.Runner(exec.Bounds{Rows: 1}))(t)
	defer s.Close()
	if got, err := s.Query(t.Context(), "SELECT a FROM t"); err != nil || !got.Truncated {
		t.Fatal(got, err)
	}
	exec1(t, pool, "CREATE TABLE zzz(a INT, b INT, c INT, PRIMARY KEY (a, b, c))")
	for _, sql := range []string{"SELECT c FROM zzz", "SELECT id FROM v_over", "SELECT user_id FROM logins"} {
		if _, err := s.Query(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	s.Close()
	exec1(t, pool, "DROP TABLE zzz")
	time.Sleep(1100 * time.Millisecond) // the catalog is trusted for a second
	// The next connection begins with the limit of the last one.
	if got, err := db.Schema(t.Context()); err != nil || len(got.Tables) != 11 {
		t.Errorf("%d tables, %v", len(got.Tables), err)
	}
}
