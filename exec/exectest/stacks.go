package exectest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// stack is a stack of views s1, s2, … over a table s0 of some columns, and a statement over the last one.
type stack struct {
	why             string
	layers, columns int
	column          string // of each view, # is its number: "COALESCE(c#, 0)"
	from            string // the rows of each view, % is the view before
	sql             string
}

// stacks are those of ordinary models, by layers and columns. Each engine compiles each of them in less than a second.
var stacks = []stack{
	{"COALESCE", 4, 250, "COALESCE(c#, 0)", "%", "SELECT c0 FROM s4"},
	{"COALESCE, all columns", 4, 250, "COALESCE(c#, 0)", "%", "SELECT * FROM s4"},
	{"CASE", 4, 250, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT c0 FROM s4"},
	{"CASE, all columns", 4, 250, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT * FROM s4"},
	{"ten layers", 10, 30, "COALESCE(c#, 0)", "%", "SELECT * FROM s10"},
	{"ten layers of arithmetic", 10, 30, "c# + 1", "%", "SELECT * FROM s10 WHERE c1 > 0"},
	{"sums", 6, 100, "c# * 2 + 1", "%", "SELECT sum(c0), sum(c99) FROM s6"},
	{"six layers of CASE", 6, 30, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT c0, c29 FROM s6"},
	{"a UNION ALL a layer", 6, 100, "c#", "% UNION ALL SELECT * FROM s0", "SELECT c0, c99 FROM s6"},
	{"a join a layer", 5, 60, "c#", "(SELECT p.*, q.k AS q FROM % AS p LEFT JOIN other AS q ON q.k = p.c0) AS j", "SELECT c0, c59 FROM s5"},
	{"windows", 4, 50, "SUM(c#) OVER (ORDER BY c0)", "%", "SELECT c0, c49 FROM s4"},
	{"groups", 5, 60, "MAX(c#)", "% GROUP BY c0", "SELECT c1 FROM s5"},
	{"filters", 8, 100, "c#", "% WHERE c0 IS NOT NULL", "SELECT c0, c99 FROM s8"},
}

// list writes a text for each column.
func (s stack) list(of string) string {
	items := make([]string, s.columns)
	for i := range items {
		items[i] = strings.ReplaceAll(of, "#", fmt.Sprint(i))
	}
	return strings.Join(items, ", ")
}

// script makes the tables and views.
func (s stack) script() string {
	script := "CREATE TABLE other(k INT);\nCREATE TABLE s0(" + s.list("c# INT") + ");\nINSERT INTO s0(c0) VALUES (1);\n"
	for i := range s.layers {
		from := strings.ReplaceAll(s.from, "%", fmt.Sprint("s", i))
		script += fmt.Sprintf("CREATE VIEW s%d AS SELECT %s FROM %s;\n", i+1, s.list(s.column+" AS c#"), from)
	}
	return script
}

// Stacks reads stacks of ordinary views through the guard.
func Stacks(t *testing.T, e Engine) {
	t.Helper()
	for _, s := range stacks {
		pool := sql.OpenDB(e.Open(t, s.script()).User)
		db := NewDB(t, pool, e.Dialect, exec.Config{})
		if _, err := db.Query(t.Context(), s.sql); err != nil {
			t.Errorf("%s, %d layers of %d columns: %v", s.why, s.layers, s.columns, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkCompile tells what the engine itself takes to compile stacks of ordinary views, and growing statements, by a name: the
// least time, the most memory, and whether the guard refuses it. compile compiles a statement on a new connection, runs
// nothing of it, and returns the memory that it took.
func BenchmarkCompile(b *testing.B, e Engine, growing map[string]string, compile func(ctx context.Context, conn *sql.Conn, text string) (bytes int64, err error)) {
	measure := func(name, script, text string) {
		b.Run(name, func(b *testing.B) {
			pool := sql.OpenDB(e.Open(b, script).User)
			defer pool.Close()
			db := NewDB(b, pool, e.Dialect, exec.Config{})
			_, err := db.Query(b.Context(), text)
			verdict := 0.0
			if exec.IsRejection(err) {
				verdict = 1
			}
			pool.SetMaxIdleConns(0)
			least, most := time.Hour, int64(0)
			for b.Loop() {
				conn, err := pool.Conn(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				bytes, err := compile(b.Context(), conn, text)
				if err != nil {
					b.Skip(err)
				}
				least, most = min(least, time.Since(start)), max(most, bytes)
				conn.Close()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(least.Microseconds())/1000, "ms")
			b.ReportMetric(float64(most)/1e6, "MB")
			b.ReportMetric(verdict, "refused")
		})
	}
	for _, s := range stacks {
		measure(fmt.Sprintf("%s, %dx%d", s.why, s.layers, s.columns), s.script(), s.sql)
	}
	for name, text := range growing {
		measure(name, "CREATE TABLE s0(c0 INT);\n", text)
	}
}
