package exec_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestRunner: a runner answers as single statements do, whatever came before.
func TestRunner(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a, d DATE); INSERT INTO t VALUES (1, '2024-01-01'), (2, 'soon')", exec.Config{})
	bounds := exec.Bounds{Rows: 5, Timeout: 500 * time.Millisecond}
	runner := testutil.Value(db.Runner(bounds))(t)
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for i, sql := range []string{
		"SELECT a, d FROM t", "SELECT nix FROM t", "DELETE FROM t", "SELECT 1; SELECT 2", "",
		"SELECT a FROM t ORDER BY a DESC",
		count10 + "SELECT i FROM n", endless, "SELECT a FROM t", "PRAGMA query_only = 0",
		"SELECT abs(-9223372036854775807 - 1)", "SELECT d FROM t",
		"SELECT printf('%.*c', 600000, 'x') || printf('%.*c', 600000, 'y')", "SELECT a FROM t",
	} {
		want, wantErr := db.QueryWithin(t.Context(), sql, bounds)
		got, err := runner.Query(t.Context(), sql)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: %s (-single +runner)\n%s", i, sql, diff)
		}
		for _, e := range []error{err, wantErr} {
			if limit, ok := e.(*exec.LimitError); ok {
				limit.Running = false // a busy machine may stop a statement late
			}
		}
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%d: %s: error %v, want %v", i, sql, err, wantErr)
		}
	}
	if err := runner.Close(); err != nil {
		t.Error(err)
	}
	if err := runner.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := db.Runner(exec.Bounds{Rows: -1}); err == nil {
		t.Error("a runner with a negative bound")
	}
}

// TestRunnerConnection: a runner holds one connection, and gives it back as it
// was.
func TestRunnerConnection(t *testing.T) {
	pool, db := open(t, "CREATE TABLE t(a)", exec.Config{Limits: exec.Limits{Connections: 1}})
	pool.SetMaxOpenConns(1)
	runner := testutil.Value(db.Runner(exec.Bounds{}))(t)
	if pool.Stats().InUse != 0 {
		t.Error("a runner holds a connection before its first statement")
	}
	for range 3 {
		testutil.Value(runner.Query(t.Context(), "SELECT a FROM t"))(t)
	}
	if n := pool.Stats().InUse; n != 1 {
		t.Errorf("%d connections in use, want 1", n)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.Query(short, "SELECT a FROM t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second statement: %v", err)
	}
	testutil.OK(t, runner.Close())
	if _, err := pool.Exec("INSERT INTO t VALUES (1)"); err != nil {
		t.Errorf("the connection is still guarded: %v", err)
	}

	// A caller that ends takes the connection along and no slot.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := runner.Query(ended, "SELECT a FROM t"); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ended: %v", err)
		}
	}
	if got, err := runner.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 1 {
		t.Errorf("after a cancelled statement: %v, %v", got, err)
	}
	testutil.OK(t, runner.Close())
	if n := pool.Stats().InUse; n != 0 {
		t.Errorf("%d connections in use after Close", n)
	}
}

func TestSessionTime(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a, d DATE); INSERT INTO t VALUES (1, '2024-01-01')", exec.Config{})
	runner := testutil.Value(db.Runner(exec.Bounds{Rows: 5, Timeout: 500 * time.Millisecond}))(t)
	defer runner.Close()
	for _, sql := range []string{"SELECT d FROM t", count10 + "SELECT i FROM n"} {
		if took, err := runner.Time(t.Context(), sql); err != nil || took <= 0 {
			t.Errorf("%s: %v, %v", sql, took, err)
		}
	}
	var invalid *exec.InvalidError
	if took, err := runner.Time(t.Context(), "SELECT nix FROM t"); !errors.As(err, &invalid) || took != 0 {
		t.Errorf("a statement that does not compile: %v, %v", took, err)
	}
	if _, err := runner.Time(t.Context(), "DELETE FROM t"); !errors.Is(err, exec.ErrNotReadOnly) {
		t.Errorf("a write: %v", err)
	}
	var limit *exec.LimitError
	if _, err := runner.Time(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "+
		"SELECT count(*) FROM n"); !errors.As(err, &limit) {
		t.Errorf("an endless statement: %v", err)
	}
	if got, err := runner.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 1 {
		t.Errorf("after it: %v, %v", got, err)
	}
}

// TestDriverPanics: a panic of the driver is an error of the call, also in a goroutine in which nobody recovers. It
// blames no statement, and the next call has another connection.
func TestDriverPanics(t *testing.T) {
	faults := &exectest.Faults{Connector: exectest.ConnectorOf(t, "sqlite3", filepath.Join(t.TempDir(), "test.db"))}
	pool := sql.OpenDB(faults)
	defer pool.Close()
	pool.SetMaxIdleConns(-1) // each call opens its connection
	testutil.Value(pool.Exec("CREATE TABLE t(a); INSERT INTO t VALUES (1)"))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Unwrap: exectest.Unwrap,
		Limits: exec.Limits{Connections: 1}}))(t)
	streamed := func() error {
		s, err := stream(t.Context(), t, db, "SELECT a FROM t")
		if err == nil {
			for _, rerr := range s.Rows() {
				err = rerr
			}
		}
		return err
	}
	for _, tt := range []struct {
		name   string
		at     string // the call of the driver
		call   func() error
		silent bool // the call has no error: it tells of a gap
	}{
		{"a query, while its connection is opened", "connect", func() error {
			return dbtest.Answers(t.Context(), db, "SELECT a FROM t", 1)
		}, false},
		{"a query, while it runs", "SELECT a FROM t", func() error {
			return dbtest.Answers(t.Context(), db, "SELECT a FROM t", 1)
		}, false},
		{"a stream, while its connection is opened", "connect", streamed, false},
		{"a stream, while it runs", "SELECT a FROM t", streamed, false},
		{"a profile", `FROM "main"."t"`, func() error {
			_, err := db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t), exec.ProfileOptions{})
			return err
		}, false},
		{"the profiles of a snapshot", `FROM "main"."t"`, func() error {
			s := testutil.Value(db.Snapshot(t.Context()))(t)
			_, err := db.Profiled(t.Context(), s, s.Schema)
			return err
		}, true},
	} {
		panicked := false
		faults.Fail(func(event string) error {
			if !panicked && !strings.HasPrefix(event, "run ") && strings.Contains(event, tt.at) {
				panicked = true // once, and not where database/sql would not return
				panic("injected")
			}
			return nil
		})
		err := tt.call()
		faults.Fail(nil)
		if !panicked || (err == nil) != tt.silent || err != nil && !strings.Contains(err.Error(), "the driver panicked") ||
			exec.IsRejection(err) || errors.Is(err, exec.ErrUnavailable) {
			t.Errorf("%s: panicked %v, %v", tt.name, panicked, err)
		}
		if err := dbtest.Answers(t.Context(), db, "SELECT a FROM t", 1); err != nil {
			t.Errorf("behind %s: %v", tt.name, err)
		}
	}
}
