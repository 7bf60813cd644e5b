package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/trace"
)

// TestWornConnection holds one connection so often that it is due.
func TestWornConnection(t *testing.T) {
	for _, test := range []struct {
		why   string
		dsn   func(t *testing.T) string
		drops bool
	}{
		{"on disk", func(t *testing.T) string { return filepath.Join(t.TempDir(), "test.db") }, true},
		{"in memory", func(*testing.T) string { return ":memory:" }, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			pool, err := sql.Open("sqlite3", test.dsn(t))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			pool.SetMaxOpenConns(1)
			first := connectionOf(t, pool)
			open, err := sqlite.Dialect{}.Guard(exec.GuardConfig{})
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			held := 0
			for ; held < 10_050 && connectionOf(t, pool) == first; held++ {
				conn, err := pool.Conn(ctx)
				if err != nil {
					t.Fatal(err)
				}
				h, err := open(ctx, conn, 1e9)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.Close(false); err != nil {
					t.Fatal(err)
				}
				conn.Close()
			}
			if dropped := held < 10_050; dropped != test.drops {
				t.Errorf("dropped after %d: %v, want %v", held, dropped, test.drops)
			}
		})
	}
}

// hooked is a connector that sets every new connection up.
type hooked struct {
	dsn  string
	hook func(*sqlite3.SQLiteConn) error
}

func (h hooked) Connect(context.Context) (driver.Conn, error) { return h.Driver().Open(h.dsn) }
func (h hooked) Driver() driver.Driver                        { return &sqlite3.SQLiteDriver{ConnectHook: h.hook} }

// TestOwnFunctions is about functions of the application, one of which takes the
// place of a built-in one.
func TestOwnFunctions(t *testing.T) {
	_, file := open(t, fixture)
	called := 0
	own := func(s string) string { called++; return s }
	pool := sql.OpenDB(hooked{file, func(c *sqlite3.SQLiteConn) error {
		return errors.Join(c.RegisterFunc("audit", own, true), c.RegisterFunc("upper", own, true))
	}})
	defer pool.Close()
	ctx := context.Background()
	careful := newDB(t, pool, exec.Config{})
	for _, text := range []string{"SELECT audit(b) FROM t", "SELECT upper(b) FROM t"} {
		var refused *exec.RefusedError
		if _, err := careful.Query(ctx, text); !errors.As(err, &refused) || refused.Reason != exec.ReasonFunction {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := careful.Query(ctx, "SELECT lower(b) FROM t"); err != nil {
		t.Error(err)
	}
	if called != 0 {
		t.Errorf("called %d times", called)
	}
	trusting := newDB(t, pool, exec.Config{Policy: exec.Policy{AllowFunctions: []string{"Audit", "upper"}}})
	if _, err := trusting.Query(ctx, "SELECT audit(upper(b)) FROM t WHERE b IS NOT NULL"); err != nil || called != 8 {
		t.Errorf("called %d times, %v", called, err)
	}
}

// TestVirtualTables uses them on connections that did not make them, and after
// somebody else changed the schema.
func TestVirtualTables(t *testing.T) {
	other, file := open(t, exectest.PolicyScript+secrets)
	pool, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db := newDB(t, pool, exec.Config{})
	ctx := context.Background()
	look := func() {
		t.Helper()
		for _, text := range []string{
			"SELECT body FROM docs WHERE docs MATCH 'hidden'",
			"SELECT id FROM boxes WHERE x1 = 1",
			"SELECT count(*) FROM doc_terms WHERE col = '*'",
		} {
			table, err := db.Query(ctx, text)
			if err != nil || len(table.Rows) != 1 {
				t.Errorf("%s: %v, %v", text, table, err)
			}
		}
	}
	look()
	if _, err := other.Exec("CREATE TABLE another(x)"); err != nil {
		t.Fatal(err)
	}
	look()
	for _, text := range []string{"INSERT INTO docs(docs) VALUES ('optimize')", "SELECT optimize(docs) FROM docs", "SELECT rtreecheck('boxes')"} {
		if _, err := db.Query(ctx, text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAttached reads a database that the application attached.
func TestAttached(t *testing.T) {
	_, file := open(t, exectest.PolicyScript+secrets)
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec("ATTACH ? AS \"the other\"", file); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{
		DenyColumns: []string{`"the other".users.password`}, DenyTables: []string{"main.t"}, Reveal: []string{"*"},
	}})
	for text, allowed := range map[string]bool{
		`SELECT name FROM "the other".users`:             true,
		`SELECT password FROM "the other".users`:         false,
		`SELECT password FROM users`:                     true, // that of main
		`SELECT a FROM t`:                                false,
		`SELECT a FROM "the other".t`:                    true,
		`SELECT total FROM orders`:                       true, // main has none
		`SELECT count(*) FROM "the other".sqlite_master`: false,
		`SELECT count(*) FROM "the other".users JOIN "the other".keyring k USING (id)`: false, // no such column
	} {
		if _, err := db.Query(ctx, text); (err == nil) != allowed {
			t.Errorf("%s: %v", text, err)
		}
	}
	db = newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{`"the other".users.password`}, DenyTables: []string{`"the other".t`, "main.users"}}})
	for text, want := range map[string]string{
		"SELECT a FROM t":                                 "", // that of main
		"SELECT count(*) FROM main.t":                     "",
		`SELECT a FROM "the other".t`:                     "exec: refused (table): the other.t is no table that may be read",
		"SELECT count(*) FROM t":                          "exec: refused (table): the other.t may not be read, and t could be that one: name its schema",
		"SELECT id FROM users":                            "exec: refused (table): users is no table that may be read",
		"SELECT count(*) FROM users":                      "exec: refused (table): users is no table that may be read",
		`SELECT password FROM "the other".users`:          "exec: refused (column): the other.users.password may not be read",
		`SELECT count(*) FROM "the other".sqlite_master`:  "exec: refused (table): the other.sqlite_master is no table that may be read",
		`SELECT count(*) FROM "the other".keyring, users`: "exec: refused (table): users is no table that may be read",
	} {
		if _, err := db.Query(ctx, text); (err != nil || want != "") && fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	a, err := db.Analyze(ctx, `SELECT name FROM "the other".users`)
	want := []exec.TableRead{{Schema: "the other", Table: "users", Columns: []string{"name"}}}
	if err != nil || !cmp.Equal(want, a.Tables) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestStatementCache runs a text that the application has in the cache of the
// connection, compiled without a guard.
func TestStatementCache(t *testing.T) {
	_, file := open(t, fixture)
	pool, err := sql.Open("sqlite3", "file:"+file+"?_stmt_cache_size=10")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	const text = "SELECT password FROM users"
	use := func() {
		t.Helper()
		var s string
		for range 3 {
			if err := pool.QueryRow(text).Scan(&s); err != nil {
				t.Fatal(err)
			}
		}
	}
	use()
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	if table, err := db.Query(context.Background(), text); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("%v, %v", table, err)
	}
	use()
}

// TestTempStore warns of sorts in memory.
func TestTempStore(t *testing.T) {
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{"password"}}})
	codes := func() (codes []string) {
		ctx, span := trace.Start(trace.Into(context.Background(), trace.New("test")), "schema")
		if _, err := db.Schema(ctx); err != nil {
			t.Fatal(err)
		}
		for _, w := range span.Warnings() {
			codes = append(codes, w.Code)
		}
		return codes
	}
	if got := codes(); got != nil {
		t.Errorf("warnings %v", got)
	}
	if _, err := pool.Exec("PRAGMA temp_store = MEMORY"); err != nil {
		t.Fatal(err)
	}
	db = newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}) // it is looked at with the catalog
	if got := codes(); !cmp.Equal(got, []string{"temp-store-memory"}) {
		t.Errorf("warnings %v", got)
	}
	if _, err := db.Query(context.Background(), "SELECT a FROM t ORDER BY b"); err != nil {
		t.Error(err)
	}
}
