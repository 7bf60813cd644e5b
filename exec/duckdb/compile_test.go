package duckdb_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const (
	coalesce = "COALESCE(c#, 0)"
	cases    = "CASE WHEN c# IS NULL THEN 0 ELSE c# END"
)

// stack makes views over each other, whose columns are all an expression of the column below.
func stack(layers, columns int, expression string) string {
	script := "CREATE TABLE s0(" + named("c# INT", ", ", columns) + "); INSERT INTO s0(c0) VALUES (1);"
	for i := range layers {
		script += fmt.Sprintf("CREATE VIEW s%d AS SELECT %s FROM s%d;", i+1, named(expression+" AS c#", ", ", columns), i)
	}
	return script
}

// named writes a text for each of n columns, with the number of the column in the place of #.
func named(text, between string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
	}
	return strings.Join(items, between)
}

// compiled are statements whose compilation is measured, and whether the guard refuses them.
var compiled = []struct {
	why, script, sql string
	refused          bool
}{
	{"4 layers of 250 COALESCE", stack(4, 250, coalesce), "SELECT * FROM s4", false},
	{"4 layers of 250 CASE", stack(4, 250, cases), "SELECT * FROM s4", false},
	{"10 layers of 30 COALESCE", stack(10, 30, coalesce), "SELECT * FROM s10", false},
	{"4 layers of 250 CASE, behind WHERE", stack(4, 250, cases), "SELECT c0 FROM s4 WHERE c1 > 3 ORDER BY c2", false},
	{"10 layers of 30 COALESCE, behind WHERE", stack(10, 30, coalesce), "SELECT c0 FROM s10 WHERE c1 > 3 ORDER BY c2",
		false},
	{"10 layers of 30 CASE, one behind WHERE", stack(10, 30, cases), "SELECT c0 FROM s10 WHERE c1 > 3", false},
	{"10 layers of 30 CASE", stack(10, 30, cases), "SELECT * FROM s10", false},
	{"10 layers of 30 CASE, groups", stack(10, 30, cases), "SELECT c0, sum(c1) FROM s10 GROUP BY c0 ORDER BY 2", false},
	// DuckDB writes each column out that a WHERE names.
	{"10 layers of 30 CASE, behind WHERE", stack(10, 30, cases), "SELECT c0 FROM s10 WHERE " +
		named("c# > 1", " AND ", 30), true},
	{"14 layers of 2 CASE, behind WHERE", stack(14, 2, cases), "SELECT c0 FROM s14 WHERE c1 > 3", true},
	{"an IN of 9,000", stack(1, 2, coalesce), "SELECT c0 FROM s1 WHERE c0 IN (" + strings.Repeat("1, ", 9000) + "1)",
		false},
	{"a sum of 200", stack(1, 2, coalesce), "SELECT " + strings.Repeat("c0 + ", 200) + "c0 FROM s0", false},
	{"a sum of 900", stack(1, 2, coalesce), "SELECT " + strings.Repeat("c0 + ", 900) + "c0 FROM s0", true},
	{"a join of 40", "CREATE TABLE t(a INT)", "SELECT count(*) FROM t" + attack.Joined(40), false},
	{"a join of 60", "CREATE TABLE t(a INT)", "SELECT count(*) FROM t" + attack.Joined(60), true},
	{"12 subqueries in each other", stack(1, 2, coalesce), "SELECT " + strings.Repeat("(SELECT ", 12) + "1" +
		strings.Repeat(")", 12), false},
	{"18 subqueries in each other", stack(1, 2, coalesce), "SELECT " + strings.Repeat("(SELECT ", 18) + "1" +
		strings.Repeat(")", 18), true},
	{"WITH that doubles 10 times", stack(1, 2, coalesce), attack.Doubled("SELECT a.c FROM %[1]s AS a, %[1]s AS b", "AS",
		10), true},
}

// TestStacks: stacks of ordinary views are read, with the memory that a handle has by default.
func TestStacks(t *testing.T) {
	e := engine()
	e.Open = func(t testing.TB, script string) exectest.Database {
		return exectest.Database{User: testutil.Value(duckdb.NewConnector(makeFile(t, script), duckdb.Options{}))(t)}
	}
	dialecttest.Stacks(t, e)
}

// TestCompile: what takes DuckDB long to compile is refused, and what is like it and does not is read.
func TestCompile(t *testing.T) {
	for _, c := range compiled {
		db := newDB(t, c.script, exec.Config{})
		_, err := db.Query(t.Context(), c.sql)
		var refused *exec.RefusedError
		if errors.As(err, &refused) != c.refused || err != nil && !c.refused || c.refused && refused.Reason != "too-complex" {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// BenchmarkCompile measures what DuckDB's own compilation takes, without the guard: the time, and the memory of the
// process beside what it had, in MiB.
func BenchmarkCompile(b *testing.B) {
	for _, c := range compiled {
		b.Run(c.why, func(b *testing.B) {
			pool := testutil.Value(duckdb.Open(makeFile(b, c.script), duckdb.Options{}))(b)
			defer pool.Close()
			conn := testutil.Value(pool.Conn(b.Context()))(b)
			defer conn.Close()
			most := 0.0
			for b.Loop() {
				most = max(most, grown(b, conn, c.sql))
			}
			b.ReportMetric(most, "MiB")
		})
	}
}

// grown compiles a statement and returns by how many MiB the process grew meanwhile.
func grown(b *testing.B, conn *sql.Conn, text string) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	runtime.GC()
	before := peak(true)
	testutil.Value(dbtest.Texts(ctx, conn, "EXPLAIN "+text))(b)
	return float64(peak(false)-before) / 1024
}

// peak is the most memory that the process had, in kB, since reset was true the last time; 0 where the system does not
// tell.
func peak(reset bool) (kB int) {
	if reset {
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	}
	raw, _ := os.ReadFile("/proc/self/status")
	if _, text, ok := bytes.Cut(raw, []byte("VmHWM:")); ok {
		kB, _ = strconv.Atoi(string(bytes.Fields(text)[0]))
	}
	return kB
}
