package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// FuzzGuard throws text at a database: whatever becomes of it, nothing is
// written, no denied value comes back, and the connection is as it was.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, b FROM t ORDER BY 1 LIMIT 2",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 9) SELECT count(*) FROM c",
		"SELECT id FROM users JOIN t AS x USING (password)",
		"SELECT count(*) FROM users NATURAL JOIN (SELECT 's3cret-1' AS password)",
		"SELECT name, \"nmae\" FROM users WHERE id IN (1, 2) -- x",
		"SELECT 1; DROP TABLE t",
		"SELECT 1 /* ; */ ; DELETE FROM t",
		"INSERT INTO t VALUES (9, 'x') RETURNING *",
		"WITH x AS (SELECT 1) DELETE FROM t",
		"VACUUM INTO 'copy.db'",
		"ATTACH 'evil.db' AS e",
		"PRAGMA query_only = 0",
		"SELECT * FROM pragma_table_info('users')",
		"SELECT [a;b], `c` FROM t, json_each('[1]')",
		"VALUES (1), (x'00'), (NULL)",
		"SELECT load_extension('x'), writefile('x', 'y')",
		"SELECT group_concat(b, ';') OVER (ORDER BY a) FROM t GROUP BY b HAVING count(*) > 0",
		"EXPLAIN SELECT 1",
		"SELECT ((1), '\\'), \"a\"\"b\" FROM t WHERE b LIKE '%;%' ESCAPE '\\'",
	} {
		f.Add(seed)
	}
	pool, file := open(f, fixture)
	dir := filepath.Dir(file)
	want := testutil.Value(os.ReadFile(file))(f)
	db := newDB(f, pool, exec.Config{
		Policy: exec.Policy{DenyColumns: []string{"users.password"}},
		Limits: exec.Limits{Answer: exec.Bounds{Timeout: 200 * time.Millisecond}},
	})
	before := settingsOf(f, pool)
	f.Fuzz(func(t *testing.T, text string) {
		table, err := db.Query(context.Background(), text)
		if err == nil && len(table.Columns) == 0 {
			t.Errorf("no columns and no error: %q", text)
		}
		if err == nil {
			for _, row := range table.Rows {
				for _, value := range row {
					if s, ok := value.(string); ok && bytes.Contains([]byte(s), []byte("s3cret-2")) &&
						!bytes.Contains([]byte(text), []byte("cret")) {
						t.Errorf("a denied value came back: %q", text)
					}
				}
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("files %v, %v after %q", entries, err, text)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the database changed, %v, after %q", err, text)
		}
		if after := settingsOf(t, pool); after != before {
			t.Errorf("settings %+v, before %+v, after %q", after, before, text)
		}
	})
}

// keywords are those of https://sqlite.org/lang_keywords.html, and the words that
// SQLite takes for values or columns.
const keywords = `ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE
CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT
DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST
FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD
INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR
ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME
REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED
UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT TRUE FALSE ROWID OID`

// TestNormalFormsOfKeywords: statements with equal normal forms are one statement to
// SQLite, where a column or a table has the name of a keyword, too.
func TestNormalFormsOfKeywords(t *testing.T) {
	forms := []string{
		"SELECT %s FROM t", "SELECT a FROM %s", "SELECT x.%s FROM t x", "SELECT a AS %s FROM t",
		"SELECT a FROM t WHERE %s = 1",
		"SELECT a FROM t AS %s", "SELECT a FROM t GROUP BY %s", "SELECT count(%s) FROM t", "SELECT a FROM t ORDER BY %s DESC",
		"SELECT %s (a) FROM t",
	}
	for _, word := range strings.Fields(keywords) {
		pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "k.sqlite")))(t)
		script := fmt.Sprintf(
			`CREATE TABLE t (a, "%s"); INSERT INTO t VALUES (3, 1), (4, 2); CREATE TABLE "%[1]s" (a); INSERT INTO "%[1]s" VALUES (7)`, word)
		testutil.Value(pool.Exec(script))(t)
		run := func(text string) string {
			rows, err := pool.Query(text)
			if err != nil {
				return "error"
			}
			defer rows.Close()
			var out strings.Builder
			for rows.Next() {
				var v any
				if err := rows.Scan(&v); err != nil {
					return "error"
				}
				fmt.Fprintln(&out, v)
			}
			if rows.Err() != nil {
				return "error"
			}
			return out.String()
		}
		for _, form := range forms {
			known := map[string][2]string{} // by normal form: a text and its result
			for _, spelled := range []string{word, "`" + word + "`", "[" + word + "]", `"` + word + `"`} {
				text := fmt.Sprintf(form, spelled)
				normal, got := sqltext.SQLite().Parse(text).Normalize(), run(text)
				if first, ok := known[normal]; ok && first[1] != got {
					t.Errorf("%q and %q have one normal form, %q, and differ: %q and %q", first[0], text, normal, first[1], got)
				}
				known[normal] = [2]string{text, got}
			}
		}
		pool.Close()
	}
}
