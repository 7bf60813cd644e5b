package exec_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

func stream(ctx context.Context, t testing.TB, db *exec.DB, sql string) (*result.Stream, error) {
	r := testutil.Value(db.Runner(exec.Bounds{}))(t)
	return result.NewStream(ctx, func(ctx context.Context, to *result.RowWriter) error {
		return errors.Join(r.Stream(ctx, sql, to), r.Close())
	})
}

const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i, " +
	"'row ' || i AS name FROM n"

// TestStream: any number of rows comes, in memory that does not grow with them, whatever the limits of an answer are.
func TestStream(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)",
		exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Rows: 1, Bytes: 100}, Connections: 1}})
	s := testutil.Value(stream(t.Context(), t, db, many))(t)
	var before, within runtime.MemStats
	n := int64(0)
	for row, err := range s.Rows() {
		testutil.OK(t, err)
		if n++; row[0] != n {
			t.Fatalf("row %d is %v", n, row)
		}
		switch n {
		case 1000:
			runtime.GC()
			runtime.ReadMemStats(&before)
		case 299_000:
			runtime.GC()
			runtime.ReadMemStats(&within)
		}
	}
	if n != 300_000 || len(s.Columns) != 2 || len(s.Types) != 2 {
		t.Errorf("%d rows of %v %v", n, s.Columns, s.Types)
	}
	if grown := int64(within.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the memory grew by %d bytes", grown)
	}
}

// wide is a statement of n rows of ten columns.
func wide(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT i, i * 2, i / 7.0, 'customer ' || i, date('2024-01-01', '+' || (i %% 365) || ' days'), i %% 2, NULL, 'Oslo', i * 1000003, hex(i) FROM n`, n)
}

// peak reads a stream, and returns its rows and the most memory that was live while it was read.
func peak(tb testing.TB, db *exec.DB, rows int) (n int, most uint64) {
	s := testutil.Value(stream(tb.Context(), tb, db, wide(rows)))(tb)
	var at runtime.MemStats
	for _, err := range s.Rows() {
		testutil.OK(tb, err)
		if n++; n%(rows/20) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&at)
			most = max(most, at.HeapAlloc)
		}
	}
	return n, most
}

// TestStreamPeak: ten times the rows take the same memory.
func TestStreamPeak(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)", exec.Config{})
	peak(t, db, 1000) // what is made once
	few, small := peak(t, db, 10_000)
	many, large := peak(t, db, 100_000)
	if few != 10_000 || many != 100_000 || large > small+2<<20 {
		t.Errorf("%d rows at %d KiB, %d rows at %d KiB", few, small>>10, many, large>>10)
	}
}

// BenchmarkStream reads 100,000 rows of ten columns.
func BenchmarkStream(b *testing.B) {
	_, db := open(b, "CREATE TABLE t(a)", exec.Config{})
	const rows = 100_000
	b.ReportAllocs()
	for b.Loop() {
		s, n := testutil.Value(stream(b.Context(), b, db, wide(rows)))(b), 0
		for _, err := range s.Rows() {
			testutil.OK(b, err)
			n++
		}
		if n != rows {
			b.Fatal(n, "rows")
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// TestStreamEnds: the connection is free again, whoever ends the stream, and no goroutine is left.
func TestStreamEnds(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)",
		exec.Config{Limits: exec.Limits{Connections: 1, Stream: exec.Bounds{Timeout: 300 * time.Millisecond,
			CellBytes: 100}}})
	testutil.Value(db.Query(t.Context(), "SELECT 1"))(t)
	before := runtime.NumGoroutine()
	cancelled, cancel := context.WithCancel(t.Context())
	var limit *exec.LimitError
	for _, test := range []struct {
		name string
		ctx  context.Context
		sql  string
		each func(n int) bool
		is   func(error) bool
	}{
		{"a loop that ends", t.Context(), many, func(n int) bool { return n < 10 }, func(err error) bool {
			return err == nil
		}},
		{"a context that ends", cancelled, many, func(n int) bool {
			if n == 10 {
				cancel()
			}
			return true
		}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"a slow reader", t.Context(), many, func(int) bool { time.Sleep(time.Millisecond); return true },
			func(err error) bool { return errors.As(err, &limit) && limit.Limit == "time" }},
		{"a reader that stops for a while", t.Context(), many, func(n int) bool {
			if n == 1 {
				time.Sleep(time.Second)
			}
			return true
		}, func(err error) bool { return errors.As(err, &limit) && limit.Limit == "time" && !limit.Running }},
		{"a long value", t.Context(), "SELECT 1 UNION ALL SELECT printf('%200c', 'x')", func(int) bool { return true },
			func(err error) bool { return errors.As(err, &limit) && limit.Limit == "cell" }},
		{"no row", t.Context(), "SELECT a FROM t", func(int) bool { return true }, func(err error) bool {
			return err == nil
		}},
		{"a fault behind rows", t.Context(), "SELECT 1 UNION ALL SELECT abs(-9223372036854775808)", func(int) bool {
			return true
		}, exec.IsRejection},
	} {
		s, err := stream(test.ctx, t, db, test.sql)
		if err == nil {
			n := 0
			for _, rerr := range s.Rows() {
				if err = rerr; err != nil {
					break
				}
				if n++; !test.each(n) {
					break
				}
			}
		}
		if !test.is(err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, err := db.Query(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("behind %s: %v", test.name, err)
		}
	}
	for _, sql := range []string{"DELETE FROM t", "SELECT b FROM t", "SELEC"} {
		if _, err := stream(t.Context(), t, db, sql); !exec.IsRejection(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	s := testutil.Value(stream(t.Context(), t, db, many))(t)
	s.Close()
	s.Close()
	for range 50 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
