package postgres_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const grammarSchema = `CREATE TABLE t(a int PRIMARY KEY, b text, c numeric, d timestamp, z timestamptz, j jsonb, arr int[], r int4range, f bool);
CREATE TABLE u(a int, b text);
CREATE TABLE part(k int, v text) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE "Odd name"(a int);
CREATE VIEW v AS SELECT a, b FROM t;
CREATE VIEW vv AS SELECT v.a, u.b FROM v JOIN u USING (a);
CREATE TYPE mood AS ENUM ('sad', 'ok')`

// TestParser holds our parser and our reading of its trees against the server: for each statement that the server
// prepares, the tables that the tree names are those of which the server then holds a lock.
//
// testdata/grammar.txt has statements in the shape of the examples of the PostgreSQL manual, by its chapters:
// expressions, each of which runs as the list of a SELECT and deep inside of another query, and queries, each of which
// runs as it stands and as a table of another one.
func TestParser(t *testing.T) {
	pool, _ := open(t, grammarSchema)
	db := newDB(t, pool, exec.Config{})
	compared, unknown := 0, 0
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	try := func(chapter, text string) {
		want, err := locked(t, conn, text)
		if err != nil { // of a later version
			unknown++
			t.Logf("%s: %s: %v", chapter, text, err)
			return
		}
		compared++
		found, err := db.Analyze(t.Context(), text)
		var got []string
		for _, r := range found.Tables {
			got = append(got, r.Table)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %s reads %v, the server %v: %v", chapter, text, got, want, err)
		}
	}
	dialecttest.Grammar(t, "testdata/grammar.txt", func(chapter, text string, whole bool) {
		if whole {
			try(chapter, text)
			try(chapter, "SELECT count(*) FROM ("+text+") q")
			return
		}
		try(chapter, "SELECT "+text+" FROM t")
		try(chapter, "WITH w AS (SELECT * FROM t) SELECT x FROM (SELECT "+text+
			" AS x FROM w AS t) s WHERE EXISTS (SELECT FROM \"Odd name\" o WHERE o.a = 1)")
	})
	t.Logf("%d statements are read as the server reads them; %d are not of this server's version", compared, unknown)
	if compared < 400 {
		t.Errorf("%d statements were compared", compared)
	}
}

// locked prepares a statement in a transaction of its own, and returns the tables and views of which the server then
// holds a lock.
func locked(t testing.TB, conn *sql.Conn, text string) (names []string, err error) {
	t.Helper()
	tx := testutil.Value(conn.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}))(t)
	defer tx.Rollback()
	statement, err := tx.PrepareContext(t.Context(), text)
	if err != nil {
		return nil, err
	}
	defer statement.Close()
	rows := testutil.Value(tx.QueryContext(t.Context(),
		`SELECT c.relname FROM pg_lock_status() l JOIN pg_class c ON c.oid = l.relation
WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') ORDER BY 1`))(t)
	defer rows.Close()
	for rows.Next() {
		var name string
		testutil.OK(t, rows.Scan(&name))
		names = append(names, name)
	}
	slices.Sort(names)
	return names, rows.Err()
}

// TestUnparsed: a statement that the server reads and our parser does not is refused as such, so that nobody repairs
// it. What neither reads is the statement's fault. Nothing of either runs. Words that became keywords in version 17 are
// our parser's alone before it.
func TestUnparsed(t *testing.T) {
	pool, _ := open(t, grammarSchema+"; CREATE TABLE made(a int)")
	var version int
	testutil.OK(t, pool.QueryRow("SELECT current_setting('server_version_num')::int").Scan(&version))
	if version >= 170_000 {
		t.Skipf("version %d knows the same words as our parser", version)
	}
	db := newDB(t, pool, exec.Config{})
	const ours, theirs = "the guard's parser does not know this form, though the server does", "syntax error at"
	dialecttest.Gives(t, db, [][3]string{
		{"a function of the owner", "SELECT json_exists(j) FROM t", ours},
		{"one behind which a clause follows", "SELECT merge_action(a) FROM t ORDER BY 1", ours},
		{"the server resolves no name", "SELECT json_query(a) FROM nosuch", ours},
		{"a function that waits is not called", "SELECT json_value(a), pg_sleep(60) FROM t", ours},
		{"a clause without its end", "SELECT a FROM t WHERE", theirs},
		{"both", "SELECT json_exists(j) FROM t WHERE WHERE", theirs},
		{"a bracket", "SELECT (a FROM t", theirs},
		{"a second statement", "SELECT json_exists(j) FROM t; DELETE FROM made", "one statement only"},
		{"it writes", "SELECT json_exists(j) INTO made2 FROM t", "refused"},
		{"it prepares", "SELECT json_exists(j) FROM t) AS x (SELECT 1", theirs},
	})
	testutil.Value(db.Query(t.Context(), "SELECT a FROM t"))(t)
	if _, err := db.Query(t.Context(), "SELECT json_exists(j) FROM t"); !exec.IsRejection(err) ||
		errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("its class: %v", err)
	}
}
