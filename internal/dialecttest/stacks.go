package dialecttest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// stack is a stack of views over a table of some columns, and a statement over the last one.
type stack struct {
	why             string
	layers, columns int
	column          string // of each view but the key c0, # is its number: "COALESCE(c#, 0)"
	from            string // the rows of each view, % is the view before and @ the table
	sql             string // % is the last view
	rows            int    // that it gives
}

// stacks are those of ordinary models, by layers and columns. Each engine compiles each of them in less than a second.
var stacks = []stack{
	{"COALESCE", 4, 250, "COALESCE(c#, 0)", "%", "SELECT c1 FROM %", 1},
	{"COALESCE, all columns", 4, 250, "COALESCE(c#, 0)", "%", "SELECT * FROM %", 1},
	{"CASE", 4, 250, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT c1 FROM %", 1},
	{"CASE, all columns", 4, 250, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT * FROM %", 1},
	{"ten layers", 10, 30, "COALESCE(c#, 0)", "%", "SELECT * FROM %", 1},
	{"ten layers of arithmetic", 10, 30, "c# + 1", "%", "SELECT * FROM % WHERE c1 > 0", 0},
	{"ten layers of CASE", 10, 30, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT c1, c29 FROM %", 1},
	{"ten layers of CASE, all columns", 10, 30, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT * FROM %", 1},
	{"ten layers of CASE, a filter", 10, 30, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%",
		"SELECT c0 FROM % WHERE c1 > 3", 0},
	{"sums", 6, 100, "c# * 2 + 1", "%", "SELECT sum(c1), sum(c99) FROM %", 1},
	{"six layers of CASE", 6, 30, "CASE WHEN c# IS NULL THEN 0 ELSE c# END", "%", "SELECT c1, c29 FROM %", 1},
	{"a UNION ALL a layer", 6, 100, "c#", "% UNION ALL SELECT * FROM @", "SELECT c1, c99 FROM %", 7},
	{"a join a layer", 5, 60, "c#", "(SELECT p.*, q.k AS q FROM % AS p LEFT JOIN other AS q ON q.k = p.c0) AS j",
		"SELECT c1, c59 FROM %", 1},
	{"windows", 4, 50, "SUM(c#) OVER (ORDER BY c0)", "%", "SELECT c1, c49 FROM %", 1},
	{"groups", 5, 60, "MAX(c#)", "% GROUP BY c0", "SELECT c1 FROM %", 1},
	{"eight layers of COALESCE", 8, 250, "COALESCE(c#, 0)", "%", "SELECT * FROM %", 1},
	{"filters", 8, 100, "c#", "% WHERE c0 IS NOT NULL", "SELECT c1, c99 FROM %", 1},
}

// list writes a text for each column.
func (s stack) list(of string) string {
	items := make([]string, s.columns)
	for i := range items {
		items[i] = strings.ReplaceAll(of, "#", fmt.Sprint(i))
	}
	return strings.Join(items, ", ")
}

// script makes the table and the views, whose names begin with a word.
func (s stack) script(word string) (script, statement string) {
	table := word + "0"
	script = "CREATE TABLE " + table + "(" + s.list("c# INT") + ");\nINSERT INTO " + table + "(c0) VALUES (1);\n"
	last := table
	for i := range s.layers {
		columns := strings.Replace(s.list(s.column+" AS c#"), strings.ReplaceAll(s.column, "#", "0"), "c0", 1)
		from := strings.NewReplacer("%", last, "@", table).Replace(s.from)
		last = fmt.Sprint(word, i+1)
		script += fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM %s;\n", last, columns, from)
	}
	return script, strings.ReplaceAll(s.sql, "%", last)
}

const other = "CREATE TABLE other(k INT);\n"

// Stacks reads stacks of ordinary views through the guard, without and, where the dialect takes rules about rows, with
// one about the rows of their tables.
func Stacks(t *testing.T, e exectest.Engine) {
	t.Helper()
	script, statements := other, make([]string, len(stacks))
	ruled := exec.Policy{Rows: map[string]string{}, Shared: []string{"other"}}
	for i, s := range stacks {
		word := fmt.Sprintf("stack%d_", i)
		made, statement := s.script(word)
		script, statements[i] = script+made, statement
		ruled.Rows[word+"0"] = "c0 = :key"
	}
	newDB := e.Make(t, script)
	// a loaded machine guards 102 views with a rule in 30 s
	limits := exec.Limits{Answer: exec.Bounds{Timeout: 5 * time.Minute}}
	plain, err := dbtest.Ready(newDB(exec.Config{Limits: limits}))
	if err != nil {
		t.Fatal(err)
	}
	dbs := map[string]*exec.DB{"without a rule": plain}
	if _, ok := e.Dialect.(exec.RowFilterDialect); ok {
		db, err := dbtest.Ready(newDB(exec.Config{Policy: ruled, Limits: limits}))
		if err == nil {
			db, err = db.For(&exec.Scope{Key: "one", Params: map[string]any{"key": 1}}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		dbs["with one"] = db
	}
	for i, s := range stacks {
		for why, db := range dbs {
			if err := dbtest.Answers(t.Context(), db, statements[i], s.rows); err != nil {
				t.Errorf("%s, %d layers of %d columns, %s: %v", s.why, s.layers, s.columns, why, err)
			}
		}
	}
}

// BenchmarkCompile tells what the engine itself takes to compile stacks of ordinary views, and growing statements, by a
// name: the least time, the most memory, and whether the guard refuses it. compile compiles a statement on a new
// connection, runs nothing of it, and returns the memory that it took.
func BenchmarkCompile(
	b *testing.B, e exectest.Engine, growing map[string]string, compile func(ctx context.Context, conn *sql.Conn,
		text string) (bytes int64, err error),
) {
	measure := func(name, script, text string) {
		b.Run(name, func(b *testing.B) {
			pool := sql.OpenDB(e.Open(b, script).User)
			defer pool.Close()
			db := dbtest.NewDB(b, pool, e.Dialect, exec.Config{})
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
		script, statement := s.script("s")
		measure(fmt.Sprintf("%s, %dx%d", s.why, s.layers, s.columns), other+script, statement)
	}
	for _, name := range slices.Sorted(maps.Keys(growing)) {
		measure(name, "CREATE TABLE s0(c0 INT);\n", growing[name])
	}
}
