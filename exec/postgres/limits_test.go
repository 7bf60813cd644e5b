package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// blind has the statement read, and forgets what was found.
func blind(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
	_, _ = read()
	return &guard.Names{}, nil
}

// deaf does not ask the server.
func deaf(*exec.Statement, func() (guard.EngineReport, error)) (guard.EngineReport, error) {
	return guard.EngineReport{}, nil
}

func withoutTree(t testing.TB, pool *sql.DB) *exec.DB {
	return changedDB(t, pool, exectest.Changes{Read: blind})
}

func withoutLocks(t testing.TB, pool *sql.DB) *exec.DB {
	return changedDB(t, pool, exectest.Changes{Confirm: deaf})
}

func changedDB(t testing.TB, pool *sql.DB, c exectest.Changes) *exec.DB {
	t.Helper()
	return dbtest.NewDB(t, pool, exectest.Change(postgres.Dialect{}, c), exec.Config{Unwrap: unwrap})
}

// TestWalls: what passes the tree is caught afterwards, and the connection is closed; what the tree refuses needs no
// other wall.
func TestWalls(t *testing.T) {
	root, dsn := open(t, fixture+`; CREATE FUNCTION locking(integer) RETURNS boolean LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_advisory_lock(4799); RETURN true; END';
		CREATE DOMAIN evil AS integer CHECK (locking(VALUE)); CREATE TABLE trapped(l evil[]); INSERT INTO trapped VALUES (NULL)`)
	const way = "cache_statement"
	for _, text := range []string{
		"SELECT l = '{5}' FROM trapped", // runs while the server parses

		"SELECT lo_create(0)", "SELECT pg_advisory_lock(1)", "SELECT pg_current_xact_id()",
		"SELECT (42::bigint).pg_advisory_lock", "SELECT pg_advisory_lock_shared(1), 1 / (a - 1) FROM generate_series(1, 1) a",
	} {
		pool := openWay(t, way, dsn)
		pool.SetMaxOpenConns(1)
		tree, locks := withoutTree(t, pool), withoutLocks(t, pool)
		pid := func() (pid int) {
			testutil.OK(t, pool.QueryRow("SELECT pg_backend_pid()").Scan(&pid))
			return pid
		}
		before := pid()
		if _, err := locks.Query(t.Context(), text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %s without the locks: %v", way, text, err)
		}
		if pid() != before {
			t.Errorf("%s: %s: the connection was closed though nothing ran", way, text)
		}
		_, err := tree.Query(t.Context(), text)
		var refused *exec.RefusedError
		if strings.Contains(text, "1 / (") { // its own error comes first
			if err == nil {
				t.Errorf("%s: %s is answered", way, text)
			}
		} else if errors.As(err, &refused) && refused.Reason == "not-read-only" && text == "SELECT lo_create(0)" {
			continue // the server refuses it in a transaction that only reads, from version 16 on
		} else if !errors.As(err, &refused) || refused.Reason != "guard" || !errors.Is(err, exec.ErrNotReadOnly) {
			t.Errorf("%s: %s without the tree: %v", way, text, err)
		}
		if pid() == before {
			t.Errorf("%s: %s without the tree: the connection was kept", way, text)
		}
		left := -1
		for range 250 { // the server ends what belongs to a closed connection a moment later
			testutil.OK(t, root.QueryRow(`SELECT (SELECT count(*) FROM pg_largeobject_metadata) +
				(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')`).Scan(&left))
			if left == 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if left != 0 {
			t.Errorf("%s: %s leaves %d", way, text, left)
		}
	}
}

// TestNewColumns: a column that comes is denied at once, though the server has not counted the change yet.
func TestNewColumns(t *testing.T) {
	root, dsn := open(t, "CREATE TABLE u(id INTEGER, password TEXT); CREATE TABLE w(id INTEGER, word TEXT); "+
		"CREATE VIEW v AS SELECT id, id AS x FROM u")
	db := newDB(t, openWay(t, "exec", dsn), exec.Config{Policy: exec.Policy{DenyColumns: []string{"password"}}})
	for _, text := range []string{"SELECT * FROM w", "SELECT word FROM w", "SELECT x FROM v", "SELECT 1"} {
		if _, err := db.Query(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, change := range []string{
		"ALTER TABLE w RENAME word TO password", "CREATE OR REPLACE VIEW v AS SELECT id, length(password) AS x FROM u",
	} {
		testutil.Value(root.Exec(change))(t)
	}
	for _, text := range []string{"SELECT * FROM w", "SELECT x FROM v"} {
		if got, err := db.Query(t.Context(), text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// TestRole: a superuser's role is given up, unless tables have row security, which would hide rows from the other role.
func TestRole(t *testing.T) {
	root, dsn := open(t, fixture)
	who := func(d postgres.Dialect) string {
		db := dbtest.NewDB(t, openWay(t, "exec", dsn), exectest.Change(d, exectest.Changes{Read: blind, Confirm: deaf}),
			exec.Config{})
		got := testutil.Value(db.Query(t.Context(), "SELECT current_user, count(*) FROM secured"))(t)
		return fmt.Sprint(got.Rows[0])
	}
	if got := []string{who(postgres.Dialect{}), who(postgres.Dialect{KeepRole: true})}; !cmp.Equal(got,
		[]string{"[pg_read_all_data 2]", "[postgres 2]"}) {
		t.Error(got)
	}
	testutil.Value(root.Exec("ALTER TABLE secured ENABLE ROW LEVEL SECURITY; CREATE POLICY p " +
		"ON secured USING (who = current_user)"))(t)
	if got := who(postgres.Dialect{}); got != "[postgres 2]" {
		t.Errorf("with row security: %s", got)
	}
	// An ordinary role sees its rows.
	testutil.Value(
		root.Exec(`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ann') THEN CREATE ROLE ann LOGIN; END IF; END $$;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO ann`))(t)
	db := newDB(t, openWay(t, "exec", strings.Replace(dsn, "postgres@", "ann@", 1)), exec.Config{})
	if got, err := db.Query(t.Context(), "SELECT a FROM secured"); err != nil ||
		!cmp.Equal(got.Rows, [][]any{{int64(1)}}) {
		t.Errorf("ann sees %v, %v", got, err)
	}
}

// TestLimits: what a statement may cost is bounded by the server, by the driver or by the reader of rows.
func TestLimits(t *testing.T) {
	root, dsn := open(t, fixture+`; CREATE TABLE huge(v TEXT); ALTER TABLE huge ALTER v SET STORAGE EXTERNAL;
		INSERT INTO huge VALUES (repeat('x', 32 << 20))`)
	const way = "cache_statement"
	pool := openWay(t, way, dsn)
	db := newDB(t, pool, exec.Config{})
	kind := func(err error) string {
		var limit *exec.LimitError
		if errors.As(err, &limit) {
			return limit.Limit
		}
		return fmt.Sprint(err)
	}
	start := time.Now()
	got, err := db.QueryWithin(t.Context(), forever[:7]+"a.x FROM generate_series(1, 100000) a(x), generate_series(1, "+
		"100000) b", exec.Bounds{Rows: 5})
	if err != nil || len(got.Rows) != 5 || !got.Truncated || time.Since(start) > 10*time.Second {
		t.Errorf("%s: the first of ten billion rows: %v, %v, %v", way, got, err, time.Since(start))
	}
	if _, err := db.QueryWithin(t.Context(), forever, exec.Bounds{Timeout: 200 * time.Millisecond}); kind(err) != "time" {
		t.Errorf("%s: forever: %v", way, err)
	}
	got, err = db.QueryWithin(t.Context(), "SELECT v FROM big", exec.Bounds{Bytes: 1 << 20})
	if err != nil || len(got.Rows) != 2 || !got.TooLarge {
		t.Errorf("%s: 20 MB under a limit of 1 MiB: %v", way, err)
	}
	growth := dbtest.MemoryGrowth()
	_, err = db.Query(t.Context(), "SELECT v FROM huge")
	if grown := growth(); kind(err) != "cell" || grown > 16<<20 {
		t.Errorf("%s: a value of 32 MiB took %d bytes: %v", way, grown, err)
	}
	if got, err := db.Query(t.Context(), "SELECT count(*) FROM t"); err != nil || got.Rows[0][0] != int64(100) {
		t.Errorf("%s: afterwards: %v, %v", way, got, err)
	}
	var long string
	if err := pool.QueryRow("SELECT repeat('x', 12000000)").Scan(&long); err != nil || len(long) != 12e6 {
		t.Errorf("%s: the caller's own long value: %v", way, err)
	}
	_, err = db.QueryWithin(t.Context(), "SELECT x FROM generate_series(1, 30000000) x ORDER BY x DESC",
		exec.Bounds{Timeout: time.Minute})
	if kind(err) != "memory" {
		t.Errorf("%s: a sort of more than temp_file_limit: %v", way, err)
	}
	// A limit of the role that is lower than ours holds.
	testutil.Value(root.Exec("ALTER ROLE postgres SET statement_timeout = '150ms'"))(t)
	start = time.Now()
	_, err = newDB(t, openWay(t, way, dsn), exec.Config{}).Query(t.Context(), forever)
	if kind(err) != "time" || time.Since(start) > 20*time.Second {
		t.Errorf("%s: the server's own time-out: %v after %v", way, err, time.Since(start))
	}
	testutil.Value(root.Exec("ALTER ROLE postgres RESET statement_timeout"))(t)
}

// TestSettings: limits of the caller that are lower than those of the guard hold, and his search path is the guard's.
func TestSettings(t *testing.T) {
	pool, _ := open(t, "")
	pool.SetMaxOpenConns(1)
	path := []string{"public", "Two Words", `a"b\c`, "a,b", "{}", "NULL", "ü"}
	quoted := make([]string, len(path))
	for i, name := range path {
		quoted[i] = postgres.Dialect{}.Language().Quote(name)
		testutil.Value(pool.Exec("CREATE SCHEMA IF NOT EXISTS " + quoted[i]))(t)
	}
	testutil.Value(pool.Exec("SET search_path = " + strings.Join(quoted, ", ")))(t)
	db := changedDB(t, pool, exectest.Changes{Read: blind, Confirm: deaf})
	ask := func(expression string) string {
		t.Helper()
		got := testutil.Value(db.QueryWithin(t.Context(), "SELECT "+expression, exec.Bounds{Timeout: 10 * time.Second}))(t)
		return fmt.Sprint(got.Rows[0][0])
	}
	if diff := cmp.Diff(strings.Join(path, "|"), ask("array_to_string((current_schemas(false))[2:], '|')")); diff != "" {
		t.Error(diff)
	}
	for setting, want := range map[string][2]string{
		"0": {"9s", "8s"}, "250us": {"9s", "8s"}, "150ms": {"150ms", "150ms"}, "2s": {"2s", "2s"}, "8500ms": {"8500ms", "8s"},
		"7min": {"9s", "8s"}, "3h": {"9s", "8s"}, "1d": {"9s", "8s"},
	} {
		testutil.Value(pool.Exec("SET statement_timeout = '" + setting + "'; SET lock_timeout = '" + setting + "'"))(t)
		if got := [2]string{ask("current_setting('statement_timeout')"),
			ask("current_setting('lock_timeout')")}; got != want {
			t.Errorf("%s: %v, want %v", setting, got, want)
		}
	}
}

const planScript = `CREATE TABLE customers(id integer PRIMARY KEY, name text, country text);
	CREATE TABLE orders(id integer PRIMARY KEY, customer integer REFERENCES customers, total numeric, day date);
	CREATE INDEX ON orders(customer); CREATE UNIQUE INDEX ON customers(name);
	CREATE SCHEMA app; CREATE TABLE app."Tags"(customer integer, tag text);
	INSERT INTO customers SELECT i, 'n' || i, 'c' || i % 20 FROM generate_series(1, 2000) i;
	INSERT INTO orders SELECT i, 1 + i * 7 % 2000, i % 90, date '2024-01-01' + i % 300 FROM generate_series(1, 20000) i;
	INSERT INTO app."Tags" SELECT i, 't' || i % 5 FROM generate_series(1, 2000) i`

// TestPlans: the plan of the server, its cost, and a signature that is the same for the same text of a plan.
func TestPlans(t *testing.T) {
	pool, _ := open(t, planScript+"; ANALYZE")
	db := newDB(t, pool, exec.Config{})
	explain := func(text string) exec.Plan {
		t.Helper()
		p := testutil.Value(db.Explain(t.Context(), text))(t, text)
		if len(p.Rows) == 0 || len(p.Nodes) != 0 || p.EngineCost <= 0 && text != "SELECT 1" || p.EngineRows <= 0 ||
			p.Cost() != p.EngineCost {
			t.Errorf("%s: %+v", text, p)
		}
		return p
	}
	for _, tt := range []struct {
		why, one, other string
		same            bool
	}{
		{"other numbers", "SELECT name FROM customers WHERE id = 7", "SELECT name FROM customers WHERE id = 1234", true},
		{"another list", "SELECT name FROM customers", "SELECT country FROM customers", true},
		{"an index", "SELECT name FROM customers WHERE id = 7", "SELECT name FROM customers WHERE country = 'x'", false},
		{"a sort", "SELECT name FROM customers", "SELECT name FROM customers ORDER BY country", false},
		{"another table", "SELECT 1 FROM customers", `SELECT 1 FROM app."Tags"`, false},
	} {
		if one, other := explain(tt.one).Signature(), explain(tt.other).Signature(); (one == other) != tt.same {
			t.Errorf("%s:\n%s\n%s", tt.why, one, other)
		}
	}
	if p := explain("SELECT name FROM customers c WHERE id = 7"); !strings.HasPrefix(p.Rows[0].Detail,
		"Index Scan using customers_pkey on customers c  (cost=") {
		t.Errorf("%+v", p.Rows)
	}
	if one, all := explain("SELECT * FROM orders WHERE id = 7"),
		explain("SELECT * FROM orders"); all.EngineCost <= one.EngineCost || all.EngineRows != 20000 {
		t.Errorf("%+v, %+v", one, all)
	}
	explain("SELECT 1")
	dialecttest.Scans(t, db, []dialecttest.Scan{
		{SQL: "SELECT name FROM customers c WHERE id = 7"},
		{SQL: "SELECT name FROM customers WHERE country = E'x\n  ->  Seq Scan on orders  (cost='", Want: "customers"},
		{SQL: `SELECT o.id FROM app."Tags" x JOIN orders o ON o.id + 0 = x.customer + 0`, Want: "orders app.Tags"},
		{SQL: "SELECT 1"},
	})
	denies := newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{"customers.country"}}})
	const both = "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer WHERE c.name < 'n2'"
	told, whole := testutil.Value(denies.Explain(t.Context(), both))(t), explain(both)
	if got := fmt.Sprint(told.Rows); got != "[{1 0 reads customers [customers]} {2 0 reads orders [orders]}]" ||
		told.EngineCost != whole.EngineCost || told.EngineRows != whole.EngineRows || !told.Reduced || whole.Reduced {
		t.Errorf("a column is denied: %+v, nothing is: %+v", told, whole)
	}
	if _, err := db.Explain(t.Context(), "SELECT nmae FROM customers"); !errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("a plan of an unknown name: %v", err)
	}
}

// FuzzPlan: whatever the text, no panic.
func FuzzPlan(f *testing.F) {
	f.Add("Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)\n  Filter: (a = 7)")
	f.Fuzz(func(t *testing.T, text string) {
		p := postgres.PlanOf(text)
		p.Signature()
	})
}

// TestLocks: a lock of somebody else is reported as a lock, also where a statement has less time than its connection.
func TestLocks(t *testing.T) {
	pool, dsn := open(t, "CREATE TABLE t(a int)")
	db := newDB(t, pool, exec.Config{Limits: exec.Limits{
		Candidate: exec.Bounds{Timeout: 500 * time.Millisecond}, Answer: exec.Bounds{Timeout: time.Minute},
	}})
	testutil.Value(db.Schema(t.Context()))(t)
	other := testutil.Value(sql.Open("pgx", dsn))(t)
	defer other.Close()
	tx := testutil.Value(other.Begin())(t)
	testutil.Value(tx.Exec("LOCK TABLE t IN ACCESS EXCLUSIVE MODE"))(t)
	start := time.Now()
	for why, run := range map[string]func(ctx context.Context) error{
		"a candidate": func(ctx context.Context) error { _, err := db.Examine(ctx, "SELECT a FROM t"); return err },
		"an analysis": func(ctx context.Context) error { _, err := db.Analyze(ctx, "SELECT a FROM t"); return err },
		"a bounded statement": func(ctx context.Context) error {
			_, err := db.QueryWithin(ctx, "SELECT a FROM t", exec.Bounds{Timeout: 300 * time.Millisecond})
			return err
		},
	} {
		root := trace.Tracer{}.New("question")
		if err := run(trace.NewContext(t.Context(), root)); !errors.Is(err, exec.ErrBusy) || exec.IsRejection(err) {
			t.Errorf("%s: %v", why, err)
		}
		if w := root.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", why, w)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("they took %v", took)
	}
	testutil.OK(t, tx.Rollback())
	testutil.Value(db.Query(t.Context(), "SELECT a FROM t"))(t)
}
