package exec_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/trace"
)

// other is SQLite with what other engines have: prices in plans, values with types, warnings of a statement.
func other(seen *[]exec.Bounds) exec.Dialect {
	return exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Explain: func(s *exec.Statement, explain func() (exec.Plan, error)) (exec.Plan, error) {
			p, err := explain()
			p.EngineCost, p.EngineRows = float64(len(s.SQL())), 7
			return p, err
		},
		Run: func(_ context.Context, _ *exec.Statement, b exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
			*seen = append(*seen, b)
			rows, err := run()
			if err != nil {
				return nil, err
			}
			rows.Convert = func(_ int, c *sql.ColumnType) func(any) (any, error) {
				if c.Name() != "price" {
					return nil
				}
				return func(v any) (any, error) {
					text, ok := v.(string)
					if !ok {
						return v, nil
					}
					return result.Type{}.ParseNumber(text)
				}
			}
			rows.Warnings = func(context.Context) ([]string, error) { return []string{"a text was read as a number"}, nil }
			return rows, nil
		},
	})
}

// TestOtherEngines: what engines may have that SQLite has not reaches the answer.
func TestOtherEngines(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(name, price); INSERT INTO t VALUES ('a', '0.10'), ('b', '12.00'), ('c', NULL), "+
		"('d', 'free')", exec.Config{})
	var seen []exec.Bounds
	db := dbtest.NewDB(t, pool, other(&seen), exec.Config{Limits: exec.Limits{EngineCost: 60}})
	root := trace.Tracer{}.New("question")
	ctx := trace.NewContext(t.Context(), root)
	got := testutil.Value(db.QueryWithin(ctx, "SELECT name, price FROM t WHERE name < 'd'", exec.Bounds{Rows: 9}))(t)
	want := [][]any{{"a", result.Decimal("0.1")}, {"b", int64(12)}, {"c", nil}}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Errorf("converted: %s", diff)
	}
	if len(seen) != 1 || seen[0].Rows != 9 {
		t.Errorf("the held connection was told %v", seen)
	}
	if w := root.Warnings(); len(w) != 1 || w[0].Code != "engine-warning" ||
		!strings.Contains(w[0].Message, "read as a number") {
		t.Errorf("warnings %v", w)
	}
	if _, err := db.Query(ctx, "SELECT price FROM t"); err == nil ||
		!strings.Contains(err.Error(), "is no decimal number") {
		t.Errorf("a value that cannot be converted: %v", err)
	}
	plan, err := db.Explain(ctx, "SELECT 1 FROM t")
	if err != nil || plan.EngineCost != 15 || plan.EngineRows != 7 {
		t.Errorf("%+v, %v", plan, err)
	}
	dear := "SELECT count(*) FROM t AS one, t AS two, t AS three, t AS four, t AS five"
	before := len(seen)
	for what, ask := range map[string]func() error{
		"a query":        func() error { _, err := db.Query(ctx, dear); return err },
		"an examination": func() error { _, err := db.Examine(ctx, dear, exec.PlanChecks()...); return err },
	} {
		var limit *exec.LimitError
		if err := ask(); !errors.As(err, &limit) || limit.Limit != "engine-cost" || !exec.IsRejection(err) {
			t.Errorf("%s over the price: %v", what, err)
		}
	}
	if len(seen) != before {
		t.Error("a statement over the price ran")
	}
	if s, err := db.Schema(ctx); err != nil || s.Default != "main" || s.SchemaOf(&s.Tables[0]) != "main" {
		t.Errorf("%v, %v", s, err)
	}
	for _, cost := range []float64{-1, nan()} {
		if _, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Limits: exec.Limits{EngineCost: cost}}); err == nil {
			t.Errorf("a limit of %v is taken", cost)
		}
	}
}

func nan() float64 { var zero float64; return zero / zero }

// TestProfiledAgain: a table that the others left no time for is profiled the next time, and one that takes longer than
// all may is not.
func TestProfiledAgain(t *testing.T) {
	many := ""
	for i := range 8 {
		many += fmt.Sprintf("CREATE TABLE t%d(a); INSERT INTO t%[1]d VALUES (1);", i)
	}
	wide := "CREATE TABLE t(c0"
	for i := range 1999 {
		wide += fmt.Sprintf(", c%d", i+1)
	}
	for _, tt := range []struct {
		why, script string
		again       bool
	}{
		{"many tables", many, true},
		{"one table of many statements", wide + "); INSERT INTO t(c0) VALUES (1)", false},
	} {
		synctest.Test(t, func(t *testing.T) { // minutes pass at once
			pool, _ := open(t, tt.script, exec.Config{})
			slow := exectest.Change(sqlite.Dialect{}, exectest.Changes{Run: func(ctx context.Context, _ *exec.Statement,
				_ exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(2900 * time.Millisecond):
					return run()
				}
			}})
			db := dbtest.NewDB(t, pool, slow, exec.Config{Limits: exec.Limits{Connections: 1}})
			snap := testutil.Value(db.Snapshot(t.Context()))(t)
			for i, gap := range []bool{true, !tt.again} {
				root, start := trace.Tracer{}.New("question"), time.Now()
				testutil.Value(db.Profiled(trace.NewContext(t.Context(), root), snap, snap.Schema))(t)
				if w := root.Warnings(); (len(w) > 0) != gap || (time.Since(start) > time.Second) != (i == 0 || tt.again) {
					t.Errorf("%s: time %d took %v: %v", tt.why, i+1, time.Since(start), w)
				}
			}
		})
	}
}

// TestProbePlaceholder: a look-up is written with the parameters of the engine.
func TestProbePlaceholder(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a); INSERT INTO t VALUES ('x')", exec.Config{})
	db := testutil.Value(exec.New(pool, exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Language: func(l *exec.Language) { l.Parameter = func(n int) string { return fmt.Sprintf("?%d", n) } },
	}), exec.Config{}))(t)
	for value, want := range map[string]bool{"x": true, "y": false} {
		if found, err := db.Probe(t.Context(), "", "t", "a", value); err != nil || found != want {
			t.Errorf("%s: %v, %v", value, found, err)
		}
	}
}

// finishing is SQLite whose connections say after each use whether they are fit for another one.
func finishing(calls *[]string, fit func() (bool, error)) exec.Dialect {
	note := func(call ...any) { *calls = append(*calls, strings.TrimSpace(fmt.Sprintln(call...))) }
	return exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Open: func(_ context.Context, _ *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error) {
			note("open")
			o, err := open()
			o.EndUse = func(context.Context) (bool, error) { note("finish"); return fit() }
			return o, err
		},
		Run: func(_ context.Context, _ *exec.Statement, _ exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
			rows, err := run()
			if err == nil {
				rows.Stop = func(tooLarge bool) bool { note("stop", tooLarge); return tooLarge }
			}
			return rows, err
		},
		Close: func(drop bool, close func(bool) error) error { note("close", drop); return close(drop) },
	})
}

// TestEndUse: each use of a connection is finished; one that is not fit afterwards is dropped, and its session goes on.
func TestEndUse(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a); INSERT INTO t VALUES ('x'), ('yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'), "+
		"('z')", exec.Config{})
	left := errors.New("it left a lock")
	for _, tt := range []struct {
		why   string
		sql   string
		fit   bool
		err   error // of EndUse
		rows  int
		calls []string // of this statement and one like it
	}{
		{"fit", "SELECT a FROM t WHERE a < 'y'", true, nil, 1, []string{"open", "finish", "finish", "close false"}},
		{"not fit, and nothing wrong", "SELECT a FROM t WHERE a < 'y'", false, nil, 1,
			[]string{"open", "finish", "close true", "open", "finish", "close true"}},
		{"it left something", "SELECT a FROM t WHERE a < 'y'", false, left, 0,
			[]string{"open", "finish", "close true", "open", "finish", "close true"}},
		{"over the limit on bytes", "SELECT a FROM t", true, nil, 1,
			[]string{"open", "stop true", "close true", "open", "stop true", "close true"}},
		{"over the limit on rows", "SELECT 1 FROM t", true, nil, 2,
			[]string{"open", "stop false", "finish", "stop false", "finish", "close false"}},
	} {
		var calls []string
		db := dbtest.NewDB(t, pool, finishing(&calls, func() (bool, error) { return tt.fit, tt.err }), exec.Config{})
		s := testutil.Value(db.Runner(exec.Bounds{Bytes: 40, Rows: 2}))(t)
		for range 2 {
			if got, err := s.Query(t.Context(), tt.sql); !errors.Is(err, tt.err) || err == nil && len(got.Rows) != tt.rows {
				t.Errorf("%s: %v, %v", tt.why, got, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(tt.calls, calls); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}
