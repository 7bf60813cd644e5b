package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
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
	want, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
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
					if s, ok := value.(string); ok && bytes.Contains([]byte(s), []byte("s3cret-2")) && !bytes.Contains([]byte(text), []byte("cret")) {
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
