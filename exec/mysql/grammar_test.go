package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const grammarSchema = "CREATE TABLE t(a INT PRIMARY KEY, b TEXT, c DECIMAL(10, 2), d DATETIME, j JSON, f BOOL, " +
	"FULLTEXT (b)); CREATE TABLE u(a INT, b TEXT);" +
	"CREATE TABLE part(k INT, v INT) PARTITION BY RANGE (k) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 " +
	"VALUES LESS THAN MAXVALUE);" +
	"CREATE TABLE `odd name`(a INT) WITH SYSTEM VERSIONING; CREATE SQL SECURITY INVOKER VIEW v AS SELECT a, b FROM t;" +
	"CREATE SQL SECURITY INVOKER VIEW vv AS SELECT v.a, u.b FROM v JOIN u USING (a)"

// unreadHere is the grammar of MariaDB that our parser does not have, by what a statement with it holds. It is refused
// as such.
var unreadHere = []string{"MEDIAN(", "WITHIN GROUP", "LIMIT 2) FROM", "SYSTEM_TIME", "WITH TIES", "ROWS EXAMINED"}

// TestParser holds our parser and our reading of its trees against the server: for each statement that the server
// prepares, the tables that the tree names are those without which a user may not prepare it.
//
// testdata/grammar.txt has statements in the shape of the examples of MariaDB's documentation, by its chapters:
// expressions, each of which runs as the list of a SELECT and deep inside of another query, and queries, each of which
// runs as it stands and as a table of another one.
func TestParser(t *testing.T) {
	pool, dsn := open(t, grammarSchema, "multiStatements=true")
	db := guarded(t, pool, exec.Policy{})
	tables := []string{"odd name", "part", "t", "u", "v", "vv"}
	without := map[string]*sql.DB{} // a user who may read all but one
	for _, lacks := range tables {
		user := "no_" + lacks[:1] + fmt.Sprint(len(lacks))
		testutil.Value(pool.Exec("CREATE OR REPLACE USER " + user + "@'127.0.0.1'"))(t)
		testutil.Value(pool.Exec("GRANT CREATE TEMPORARY TABLES ON " + database(t, pool) + ".* TO " + user +
			"@'127.0.0.1'"))(t)
		for _, has := range tables {
			if has != lacks {
				testutil.Value(pool.Exec("GRANT SELECT ON `" + has + "` TO " + user + "@'127.0.0.1'"))(t)
			}
		}
		without[lacks] = testutil.Value(sql.Open("mysql", strings.Replace(dsn, "root@", user+"@", 1)))(t)
		t.Cleanup(func() { without[lacks].Close() })
	}
	compared, unread, unknown := 0, 0, 0
	try := func(chapter, text string) {
		if err := prepared(t, pool, text); err != nil {
			unknown++
			t.Logf("%s: %s: %v", chapter, text, err)
			return
		}
		found, err := db.Analyze(t.Context(), text)
		if slices.ContainsFunc(unreadHere, func(part string) bool { return strings.Contains(text, part) }) {
			var refused *exec.RefusedError
			if unread++; !errors.As(err, &refused) || !strings.Contains(refused.Detail, "guard's parser") {
				t.Errorf("%s: %s: %v, want that our parser cannot read it", chapter, text, err)
			}
			return
		}
		var got, want []string
		for _, r := range found.Tables {
			got = append(got, r.Table)
		}
		for _, lacks := range tables {
			if perr := prepared(t, without[lacks], text); perr != nil {
				want = append(want, lacks)
			}
		}
		slices.Sort(got)
		if compared++; err != nil || !slices.Equal(got, want) {
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
			" AS x FROM t) s WHERE EXISTS (SELECT 1 FROM `odd name` o WHERE o.a = 1)")
	})
	t.Logf("%d statements are read as the server reads them; our parser lacks %d, the server %d", compared, unread,
		unknown)
	if compared < 400 {
		t.Errorf("%d statements were compared", compared)
	}
}

// database is that of a pool.
func database(t testing.TB, pool *sql.DB) (name string) {
	testutil.OK(t, pool.QueryRow("SELECT DATABASE()").Scan(&name))
	return name
}

// prepared is the server's error of a statement that it prepares.
func prepared(t testing.TB, pool *sql.DB, text string) error {
	t.Helper()
	statement, err := pool.PrepareContext(t.Context(), text)
	if err == nil {
		return statement.Close()
	}
	if !errors.As(err, new(*driver.MySQLError)) {
		t.Fatalf("%s: %v", text, err)
	}
	return err
}
