package eval_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// shop is a folder with one small database.
func shop(t testing.TB) func(string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, dir, "shop",
		"CREATE TABLE t (a INTEGER, b TEXT, d DATE)",
		"INSERT INTO t VALUES (1, 'x', '2024-01-01'), (2, 'y', 'soon'), (3, 'y', NULL)")
	return in(dir)
}

func TestStoreExecute(t *testing.T) {
	store := openStore(t, eval.StoreConfig{Find: shop(t), Open: openReadOnly,
		Bounds: exec.Bounds{Rows: 2_000, Timeout: time.Second}})
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
	for _, test := range []struct {
		why, sql string
		want     eval.Execution
		err      string // how Err starts
	}{
		{"rows", "SELECT a, b FROM t", eval.Execution{Status: "ok", Rows: 3, Columns: 2}, ""},
		{"no rows", "SELECT a FROM t WHERE a > 9", eval.Execution{Status: "ok", Columns: 1}, ""},
		{"nothing but NULL", "SELECT max(a), NULL FROM t WHERE a > 9", eval.Execution{Status: "ok", Rows: 1, Columns: 2}, ""},
		{"no such column", "SELECT c FROM t", eval.Execution{Status: "error"},
			"exec: invalid statement (schema): no such column: c"},
		{"a write", "DELETE FROM t", eval.Execution{Status: "refused"}, "exec: refused (not-read-only)"},
		{"two statements", "SELECT 1; SELECT 2", eval.Execution{Status: "refused"}, "exec: refused"},
		{"no statement", "", eval.Execution{Status: "refused"}, "exec: refused"},
		{"prose", "I cannot answer that.", eval.Execution{Status: "refused"}, "exec: refused"},
		{"too many rows", endless + "SELECT i FROM n", eval.Execution{Status: "too_large", Rows: 2_000, Columns: 1},
			"more than 2000 rows"},
		{"too long", endless + "SELECT count(*) FROM n", eval.Execution{Status: "timeout"}, "exec: over the limit on time"},
	} {
		t.Run(test.why, func(t *testing.T) {
			got := testutil.Value(store.Execute(t.Context(), "shop", test.sql))(t)
			if !strings.HasPrefix(got.Err, test.err) || (got.Err == "") != got.OK() {
				t.Errorf("Err is %q, want %q", got.Err, test.err)
			}
			got.Err = ""
			golden.Equal(t, test.want, got)
			table, err := store.Table(t.Context(), "shop", test.sql)
			if err != nil || (table != nil) != got.OK() {
				t.Errorf("Table: %v, %v", table, err)
			}
			if _, ok, err := store.Fingerprint(t.Context(), "shop", test.sql, result.Equality{}); ok != got.OK() || err != nil {
				t.Errorf("Fingerprint: %v, %v", ok, err)
			}
		})
	}
}

func TestStoreShares(t *testing.T) {
	store := newStore(t, shop(t))
	for _, sql := range []string{
		"SELECT a FROM t", "select  A\nfrom `t`;", "SELECT a FROM t -- all of them", "SELECT /* the */ a FROM t;;",
		"SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'X'", // the case of a literal counts
		"SELECT a FROM t; SELECT a FROM t", "SELECT a FROM t; drop table t", // refused, each by itself
	} {
		testutil.Value(store.Execute(t.Context(), "shop", sql))(t)
	}
	want := eval.StoreStats{Asked: 8, Executed: 5, Statements: 5}
	golden.Equal(t, want, store.Stats())
}

// TestStoreQuotes: a "x" that names no column is a string to SQLite, so its case
// and its quotes tell statements apart.
func TestStoreQuotes(t *testing.T) {
	store := newStore(t, shop(t))
	for _, test := range []struct{ why, a, b string }{
		{"case of a value", `SELECT CASE WHEN a > 1 THEN "Yes" ELSE "No" END FROM t`,
			`SELECT CASE WHEN a > 1 THEN "yes" ELSE "no" END FROM t`},
		{"case of an argument", `SELECT strftime("%m", '2024-05-06 07:08:09')`,
			`SELECT strftime("%M", '2024-05-06 07:08:09')`},
		{"a string and a name", `SELECT "nix" FROM t`, `SELECT nix FROM t`},
	} {
		scorer := eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}}}
		v, err := scorer.Score(t.Context(), eval.Question{DB: "shop", Gold: test.a}, test.b)
		if err != nil || v.Fault != "" || v.Scores[0] != 0 {
			t.Errorf("%s: %s is right for %s (%v, %v)", test.why, test.b, test.a, v, err)
		}
	}
	// A name in quotes is one statement with itself, whatever is around it.
	before := store.Stats().Executed
	for _, sql := range []string{`SELECT "b" FROM t`, `select "b"  from T;`} {
		testutil.Value(store.Execute(t.Context(), "shop", sql))(t)
	}
	if got := store.Stats().Executed - before; got != 1 {
		t.Errorf("%d statements ran, want 1", got)
	}
}

// TestStoreAsksAgain: a database that is locked when it is first asked is asked
// again, one that is broken is not.
func TestStoreAsksAgain(t *testing.T) {
	for _, test := range []struct {
		why    string
		fault  error
		opened int
	}{
		{"locked by somebody else", exec.ErrBusy, 2},
		{"broken", errors.New("no database"), 1},
	} {
		opened := 0
		store := openStore(t, eval.StoreConfig{Find: shop(t), Open: func(path string) (*sql.DB, error) {
			if opened++; opened == 1 {
				return nil, test.fault
			}
			return openReadOnly(path)
		}})
		if _, err := store.Execute(t.Context(), "shop", "SELECT a FROM t"); !errors.Is(err, test.fault) {
			t.Errorf("%s: %v", test.why, err)
		}
		_, err := store.Execute(t.Context(), "shop", "SELECT a FROM t")
		if opened != test.opened || (err == nil) != (opened == 2) {
			t.Errorf("%s: opened %d times, want %d; %v", test.why, opened, test.opened, err)
		}
	}
}

// TestStoreConcurrent: however many ask, one runs it.
func TestStoreConcurrent(t *testing.T) {
	store := newStore(t, shop(t))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for _, sql := range []string{"SELECT a FROM t", "SELECT b FROM t", "SELECT nix FROM t"} {
				if _, err := store.Execute(context.Background(), "shop", sql); err != nil {
					t.Error(err)
				}
				if _, _, err := store.Fingerprint(context.Background(), "shop", sql, result.Equality{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := store.Stats(); got.Executed != 3 || got.Again != 0 {
		t.Errorf("%+v", got)
	}
}

// TestStoreForgetsTables: rows are kept within a bound and asked for again beyond
// it; fingerprints stay.
func TestStoreForgetsTables(t *testing.T) {
	store := openStore(t, eval.StoreConfig{Find: shop(t), Open: openReadOnly, TableBytes: 2_000})
	many := func(n string) string {
		return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " + n + ") SELECT i FROM n"
	}
	for _, sql := range []string{many("10"), many("11"), many("12"), many("1000")} {
		for range 2 {
			if _, _, err := store.Fingerprint(t.Context(), "shop", sql, result.Equality{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := store.Stats(); got.Executed != 4 || got.Again != 0 {
		t.Errorf("after fingerprints: %+v", got)
	}
	for _, test := range []struct {
		why, sql string
		again    int
	}{
		{"kept", many("12"), 0},
		{"pushed out by later ones", many("10"), 1},
		{"larger than the bound", many("1000"), 2},
		{"and again", many("1000"), 3},
	} {
		table, err := store.Table(t.Context(), "shop", test.sql)
		if err != nil || table == nil || store.Stats().Again != test.again {
			t.Errorf("%s: %v, again %d, want %d", test.why, err, store.Stats().Again, test.again)
		}
	}
}

func TestStoreFaults(t *testing.T) {
	dir := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(dir, "broken.sqlite"), []byte(strings.Repeat("no database ", 100)), 0o600))
	find := in(dir)
	store := newStore(t, find)
	_, err := store.Execute(t.Context(), "gone", "SELECT 1")
	if want := `eval: database "gone" is not in ` + dir; !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("a missing database: %v, want %s", err, want)
	}
	_, err = store.Execute(t.Context(), "broken", "SELECT 1")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "broken.sqlite")) {
		t.Errorf("a broken database: %v", err)
	}
	_, err = eval.NewStore(eval.StoreConfig{}).Execute(t.Context(), "shop", "SELECT 1")
	if want := "eval: database shop: StoreConfig needs Find and Open"; err == nil || err.Error() != want {
		t.Errorf("no Find: %v", err)
	}

	// A context that ended is nobody's verdict: the next one asks again.
	store = newStore(t, shop(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Execute(ended, "shop", "SELECT a FROM t"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if x, err := store.Execute(t.Context(), "shop", "SELECT a FROM t"); err != nil || !x.OK() {
		t.Errorf("after a cancelled one: %+v, %v", x, err)
	}
}

// TestStoreUse: a database that is at hand needs neither Find nor Open.
func TestStoreUse(t *testing.T) {
	path := testutil.Value(shop(t)("shop"))(t)
	pool := testutil.Value(sql.Open("sqlite3", path))(t)
	defer pool.Close()
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
	store := eval.NewStore(eval.StoreConfig{})
	store.Use("mine", db)
	if x, err := store.Execute(t.Context(), "mine", "SELECT a FROM t"); err != nil || x.Rows != 3 {
		t.Errorf("%+v, %v", x, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := pool.Ping(); err != nil {
		t.Errorf("Close closed the caller's pool: %v", err)
	}
}

func TestStoreTime(t *testing.T) {
	store := newStore(t, shop(t))
	times, err := store.Time(t.Context(), "shop", 4, "SELECT d FROM t", "SELECT a FROM t")
	if err != nil || len(times) != 2 || len(times[0]) != 4 || len(times[1]) != 4 {
		t.Errorf("%v, %v", times, err)
	}
	if times, err := store.Time(t.Context(), "shop", 4, "SELECT a FROM t", "SELECT nix FROM t"); err != nil ||
		times != nil {
		t.Errorf("a statement without a result: %v, %v", times, err)
	}
	var wg sync.WaitGroup
	for range 4 { // nobody waits for ever
		wg.Go(func() {
			if _, err := store.Time(context.Background(), "shop", 2, "SELECT a FROM t"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestOpeningAnotherWaitsFor: the end of the context of whoever opens a database says
// nothing to the others who wait for it.
func TestOpeningAnotherWaitsFor(t *testing.T) {
	find := numbers(t)
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan struct{})
		var opened atomic.Int32
		s := openStore(t, eval.StoreConfig{Find: find, Open: func(path string) (*sql.DB, error) {
			if opened.Add(1) == 1 {
				<-waiting
			}
			return openReadOnly(path)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var first, second error
		var all sync.WaitGroup
		all.Go(func() { _, first = s.Execute(ctx, "n", "SELECT 1") })
		synctest.Wait()
		all.Go(func() { _, second = s.Execute(t.Context(), "n", "SELECT 1") })
		synctest.Wait()
		cancel()
		close(waiting)
		all.Wait()
		if !errors.Is(first, context.Canceled) || second != nil {
			t.Errorf("who opened it: %v; who waited: %v", first, second)
		}
	})
}
