package duckdb_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// survivors may answer, fail or be refused, but neither take long nor much memory.
var survivors = []string{
	"SELECT count(*) FROM range(100000000000)", "SELECT * FROM range(100000000000)",
	"SELECT repeat('x', 10000) FROM range(100000000)",
	"SELECT repeat('x', 10000), i FROM range(1000000) r(i) ORDER BY i DESC",
	"SELECT i, repeat('x', 10000) || i AS s FROM range(1000000) r(i) ORDER BY s",
	"SELECT string_agg(repeat('x', 10000), '') FROM range(1000000)",
	"SELECT list(i) FROM range(100000000) r(i)",
	"SELECT len(list(repeat('x', 10000))) FROM range(1000000)",
	"SELECT json_group_array(repeat('x', 10000)) FROM range(100000)",
	"SELECT count(*) FROM (SELECT DISTINCT repeat('x', 1000) || i FROM range(10000000) r(i))",
	"SELECT i, count(*) FROM range(100000000) r(i) GROUP BY i", "SELECT histogram(i) FROM range(100000000) r(i)",
	"SELECT max(len(range(i, i + 100000000))) FROM range(100) r(i)",
	"SELECT sum(len(range(x))) FROM (SELECT 100000000 AS x)",
	"WITH RECURSIVE c(s, n) AS (SELECT 'x', 0 UNION ALL SELECT s || s, n + 1 FROM c WHERE n < 60) SELECT max(length(s)) " +
		"FROM c",
	"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
	"WITH RECURSIVE c(x) AS (SELECT [1] UNION ALL SELECT x || x FROM c) SELECT max(len(x)) FROM c",
	"SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range = 7",
	"SELECT a.range, sum(b.range) OVER (ORDER BY b.range) FROM range(10000) a, range(10000) b",
	"SELECT quantile_cont(i, 0.5) OVER (ORDER BY i ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) " +
		"FROM range(1000000) r(i)",
	"SELECT * FROM (SELECT unnest(range(100000)) AS a), (SELECT unnest(range(100000)) AS b) ORDER BY a * b DESC",
	"SELECT count(*) FROM range(100000) a JOIN range(100000) b ON a.range < b.range",
	"SELECT factorial(30), power(10, 300)",
	"SELECT levenshtein(repeat('ab', 5000), repeat('ba', 5000)) FROM range(100000)",
	"SELECT regexp_matches(repeat('a', 10000), '(a*)*b') FROM range(100000)",
	"SELECT md5(repeat('x', 10000)) FROM range(10000000) ORDER BY 1",
	"SELECT " + strings.Repeat("(SELECT ", 60) + "1" + strings.Repeat(")", 60), "SELECT a FROM t WHERE a IN (" +
		strings.Repeat("1, ", 9000) + "1)",
	"SELECT " + strings.Repeat("a + ", 200) + "a FROM t",
	"SELECT * FROM t" + attack.Joined(40),
	"SELECT count(*) FROM t" + attack.Joined(12) + " WHERE " + strings.TrimSuffix(strings.Repeat("t.a = x1.a AND ", 12),
		"AND "),
	"SELECT a FROM t GROUP BY CUBE (a, b, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11)",
	attack.Doubled("SELECT a.c FROM %[1]s AS a, %[1]s AS b", "AS MATERIALIZED", 12),
	attack.Doubled("SELECT c FROM %[1]s UNION ALL SELECT c FROM %[1]s", "AS", 12),
	"SELECT a FROM t WHERE b LIKE '" + strings.Repeat("%a", 4000) + "'",
	"SELECT list_sort(list(i)) FROM range(10000000) r(i)",
	"SELECT to_json(list(i)) FROM range(10000000) r(i)",
	"SELECT list_distinct(flatten(list([i, i]))) FROM range(10000000) r(i)",
	"SELECT i FROM range(1000000000) r(i) LIMIT 1 OFFSET 900000000",
	"SELECT random() AS r FROM range(1000000000) ORDER BY r LIMIT 3",
}

// TestSurvivors runs what is made to end a process.
func TestSurvivors(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	e := engine()
	for _, text := range survivors {
		e.Payloads = append(e.Payloads, exectest.Payload{Name: "survivor", SQL: text, Expect: "survive"})
	}
	e.CheckPayloads(t)
}

// TestMemory: what DuckDB keeps outside of its own limit ends by what the process grows.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" || race.Enabled {
		t.Skip("the system does not tell the memory of a process, or the race detector takes some of its own")
	}
	db := onPool(t, openFile(t, dbtest.Fixture, small), exec.Config{})
	for text, want := range map[string]string{
		"SELECT histogram(i) FROM range(100000000) r(i)":           "memory",
		"SELECT quantile_cont(i, 0.5) FROM range(1000000000) r(i)": "memory",
		"SELECT mode(i % 5) FROM range(1000000) r(i)":              "",
	} {
		_, err := db.Query(t.Context(), text)
		var limit *exec.LimitError
		if errors.As(err, &limit); want != "" && (limit == nil || limit.Limit != want) || want == "" && err != nil {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestLate: the driver returns half a second after the end of a context. A statement ends with the deadline of its
// context here, and nobody waits for the driver where somebody cancels.
func TestLate(t *testing.T) {
	pool := openFile(t, dbtest.Fixture, small)
	db := onPool(t, pool, exec.Config{})
	for _, text := range []string{dbtest.Endless,
		"SELECT i FROM range(100000000000) r(i) WHERE i < 0 OR i = 99999999999"} {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		start := time.Now()
		_, err := db.Query(ctx, text)
		took := time.Since(start)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Second {
			t.Errorf("%s: %v after %v, want the end of the context", text, err, took)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		if _, err = db.Query(ctx, text); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the end by its caller", text, err)
		}
	}
	// A limit on time is the statement's own.
	db = onPool(t, pool, exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 2 * time.Second}}})
	_, err := db.Query(t.Context(), dbtest.Endless)
	var limit *exec.LimitError
	if !errors.As(err, &limit) || limit.Limit != "time" || limit.Running {
		t.Errorf("%v, want the limit on time", err)
	}
}

// TestCut: of a long answer no more is made than is read, and an error behind the first rows is one.
func TestCut(t *testing.T) {
	db := newDB(t, dbtest.Fixture,
		exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Rows: 10, CellBytes: 1 << 20, Timeout: 20 * time.Second}}})
	table, err := db.Query(t.Context(), "SELECT i FROM range(100000000000) r(i)")
	if err != nil || len(table.Rows) != 10 || !table.Truncated {
		t.Errorf("a long answer: %v, %v", table, err)
	}
	db = newDB(t, dbtest.Fixture,
		exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Rows: 1_000_000, Bytes: 1 << 30, Timeout: 20 * time.Second}}})
	_, err = db.Query(t.Context(), "SELECT CASE WHEN i = 90000 THEN 'x' ELSE '1' END::INTEGER FROM range(100000) r(i)")
	var invalid *exec.InvalidError
	if !errors.As(err, &invalid) || invalid.Fault != "run" {
		t.Errorf("an error behind 90,000 rows: %v, want a fault of the run", err)
	}
}

// TestSession: many statements on one connection, some of which fail.
func TestSession(t *testing.T) {
	db := newDB(t, dbtest.Fixture, exec.Config{})
	s := testutil.Value(db.Runner(exec.Bounds{}))(t)
	defer s.Close()
	for range 20 {
		for text, ok := range map[string]bool{
			"SELECT a FROM t": true, "SELECT nosuch FROM t": false, "DROP TABLE t": false, "SELECT b::INTEGER FROM t": false,
			"SELECT max(a) FROM t": true,
		} {
			if _, err := s.Query(t.Context(), text); (err == nil) != ok {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
}

// TestStopped: a statement that is cancelled, or that has little time left, stops, and nobody is warned that it runs
// on.
func TestStopped(t *testing.T) {
	db := newDB(t, "CREATE TABLE t AS SELECT range AS a FROM range(100000)", exec.Config{})
	const long = "SELECT count(*) FROM t x JOIN t y ON x.a % 7 < y.a % 11"
	root := trace.Tracer{}.New("question")
	for _, within := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(trace.NewContext(t.Context(), root), time.Hour)
		time.AfterFunc(within, cancel)
		if _, err := db.Query(ctx, long); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		ctx, cancel = context.WithTimeout(trace.NewContext(t.Context(), root), within)
		if _, err := db.Query(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without time: %v", err)
		}
		cancel()
	}
	testutil.Value(db.Query(trace.NewContext(t.Context(), root), "SELECT 1"))(t)
	if w := root.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
}
