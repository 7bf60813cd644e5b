package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/sqltext"
)

// FuzzCheck: the tree never panics, and what it accepts is one SELECT that
// writes nothing and calls nothing that acts.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"SELECT 1", "SELECT * FROM t", "SELECT u.id FROM users u JOIN t ON u.id = t.a", "WITH c AS (SELECT 1) SELECT * FROM c", "VALUES (1), (2)",
		"SELECT password FROM users", "SELECT pg_sleep(1)", "SELECT (1).pg_sleep", "SELECT 'a'::regclass", "SELECT 1; SELECT 2", "SELECT 1 INTO x",
		"SELECT count(*) OVER (PARTITION BY a ORDER BY b) FROM t", "SELECT x.id FROM jsonb_to_recordset('[]') AS x(id int)", "TABLE t",
		"SELECT a FROM t UNION SELECT id FROM users ORDER BY 1", "SELECT format('%s', 1), repeat('a', 3)", "SELECT a FROM t TABLESAMPLE system (1)",
		"SELECT * FROM (t CROSS JOIN users) AS j(a, b)", "SELECT json_object('a': 1)", "SELECT ARRAY[1][1], (ROW(1)).f1, $1", "DELETE FROM t",
	} {
		f.Add(s)
	}
	c := postgres.MadeCatalog()
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := sqltext.PostgreSQL().Check(s); err != nil {
			return
		}
		_, err := c.Check(s)
		if err != nil {
			if kind := kindOf(err); kind == string(exec.ReasonGuard) || kind == "other" {
				t.Fatal(err)
			}
			return
		}
		text, err := parser.ParseToJSON(s)
		if err != nil || strings.Count(text, `"stmt":`) != 1 || !strings.Contains(text, `"stmts":[{"stmt":{"SelectStmt":`) {
			t.Fatalf("accepted: %v %s", err, text)
		}
		for _, never := range []string{
			`"InsertStmt":`, `"UpdateStmt":`, `"DeleteStmt":`, `"MergeStmt":`, `"intoClause":`, `"lockingClause":`, `"XmlExpr":`, `"ParamRef":`,
			`"funcname":[{"String":{"sval":"pg_sleep"`,
		} {
			if strings.Contains(text, never) {
				t.Fatalf("accepted %s: %s", never, s)
			}
		}
	})
}

// BenchmarkCheck: "least" is the fastest one, for what else runs on the machine does not count in it.
func BenchmarkCheck(b *testing.B) {
	c := postgres.MadeCatalog()
	const s = "SELECT u.name, count(*) FROM users AS u JOIN t AS o ON u.id = o.a WHERE o.a > 100 AND u.name IN ('a', 'b') GROUP BY u.name ORDER BY 2 DESC LIMIT 10"
	least := time.Hour
	for b.Loop() {
		start := time.Now()
		if _, err := c.Check(s); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Microseconds()), "least-µs")
}
