package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestRowsOfPrompts: samples, profiles and look-ups of values see the rows of the scope.
func TestRowsOfPrompts(t *testing.T) {
	ruled, _ := shops(t, shopRules)
	s := testutil.Value(ruled.Schema(t.Context()))(t)
	var names []string
	for _, table := range s.Tables {
		names = append(names, table.Name)
	}
	want := []string{"orders", "customers", "countries", "keyless", "odd name", "ids", "big", "renamed", "deeper", "plain",
		"counted"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the schema of prompts (-want +got)\n%s", diff)
	}
	for _, table := range s.Tables {
		for _, spread := range []bool{false, true} {
			rows, err := ruled.Sample(t.Context(), table, exec.SampleOptions{Rows: 10, Spread: spread})
			if err != nil || len(rows.Rows) == 0 || strings.Contains(fmt.Sprint(rows.Rows), "CANARY") {
				t.Errorf("a sample of %s: %v, %v", table.Name, rows, err)
			}
		}
	}
	profiled := testutil.Value(ruled.Profile(t.Context(), s, exec.ProfileOptions{}))(t)
	found := false
	for _, table := range profiled.Tables {
		for _, c := range table.Columns {
			if c.Profile == nil {
				continue
			}
			found = true
			if text := fmt.Sprintf("%+v %v", *c.Profile, c.Profile.Examples); strings.Contains(text, "CANARY") {
				t.Errorf("the profile of %s.%s: %s", table.Name, c.Name, text)
			}
		}
	}
	if !found {
		t.Error("nothing was profiled")
	}
	for _, c := range []struct {
		table, column string
		value         any
		want          bool
	}{
		{"orders", "note", "CANARY-5", false}, {"orders", "note", "note 4", true}, {"big", "note", "CANARY-5", false},
		{"big", "note", "note 6", true},
		{"ids", "tenant", int64(2), false}, {"ids", "tenant", int64(1), true}, {"countries", "name", "Chile", true},
	} {
		if got, err := ruled.Probe(t.Context(), "", c.table, c.column, c.value); got != c.want || err != nil {
			t.Errorf("%s.%s = %v: %v, %v", c.table, c.column, c.value, got, err)
		}
	}
}

// TestRowsReady: a rule that the database cannot apply is an error of Ready, before any question.
func TestRowsReady(t *testing.T) {
	for _, c := range []struct{ why, table, rule, want string }{
		{"a misspelt column", "orders", "tenat = 1", "no column tenat"},
		{"a misspelt column in double quotes, which SQLite takes for a string", "orders", `"tenat" <> 'x'`,
			"no column tenat"},
		{"a function that is not there", "orders", "mine(tenant)", "mine"},
		{"a function that may not be called", "orders", "load_extension(note)", "load_extension"},
		{"an aggregate", "orders", "sum(tenant) = 1", "aggregate"},
		{"no expression", "orders", "tenant tenant", "syntax"},
		{"a view", "big", "tenant = 1", "a view"},
		{"a table that is not there", "orderz", "tenant = 1", "orderz"},
		{"a virtual table", "words", "a = 1", "virtual table"},
	} {
		pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "ready.db")))(t)
		defer pool.Close()
		_, err := pool.Exec("CREATE TABLE orders (tenant, note); CREATE VIEW big AS SELECT * FROM orders; " +
			"CREATE VIRTUAL TABLE words USING rtree(a, b, c)")
		if err != nil {
			t.Fatal(err)
		}
		db, err := exec.New(pool, sqlite.Dialect{},
			exec.Config{Policy: exec.Policy{Rows: map[string]string{c.table: c.rule}}})
		if err == nil {
			err = db.Ready(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s: %v, want %q", c.why, c.rule, err, c.want)
		}
	}
}

// TestRowsBesideDeniedColumns: a rule may read a column that a statement may not.
func TestRowsBesideDeniedColumns(t *testing.T) {
	policy := shopRules
	policy.DenyColumns = []string{"orders.tenant", "customers.doc"}
	ruled, copied := shops(t, policy)
	for _, c := range []struct{ why, sql, refused string }{
		{"other columns", "SELECT id, note FROM orders ORDER BY 1", ""},
		{"only rows", "SELECT count(*) FROM orders", ""},
		{"a join", "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id ORDER BY 1", ""},
		{"USING", "SELECT o.note, name FROM orders o JOIN customers USING (id) ORDER BY 1", ""},
		{"the column", "SELECT tenant FROM orders", "tenant: no such column, or you may not read it"},
		{"the column, in a condition", "SELECT id FROM orders WHERE tenant = 1",
			"tenant: no such column, or you may not read it"},
		{"a star", "SELECT * FROM orders", "name the columns"},
		{"a star of a splice that lacks it", "SELECT o.* FROM orders o", "name the columns"},
		{"NATURAL", "SELECT id FROM orders NATURAL JOIN ids", "may not be read"},
		{"a view over it", "SELECT id FROM big", "big"},
		{"a column around with its name", "SELECT (SELECT max(tenant) FROM orders) FROM keyless",
			"tenant: no such column, or you may not read it"},
	} {
		got, err := ruled.Query(t.Context(), c.sql)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %s\n%v, want a refusal with %q", c.why, c.sql, err, c.refused)
			}
			continue
		}
		want, werr := copied.Query(t.Context(), c.sql)
		if diff := cmp.Diff(want, got); err != nil || werr != nil || diff != "" {
			t.Errorf("%s: %s: %v, %v (-copy +ruled)\n%s", c.why, c.sql, err, werr, diff)
		}
	}
}

// TestRowsOfAttachedTables: a table of another database is another table.
func TestRowsOfAttachedTables(t *testing.T) {
	dir := t.TempDir()
	other := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, "other.db")))(t)
	defer other.Close()
	_, err := other.Exec(
		`CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'other 1'), (2, 'CANARY'); CREATE TABLE u (a); INSERT INTO u VALUES (1), (2);
		CREATE VIEW v AS SELECT * FROM t JOIN u USING (a)`)
	if err != nil {
		t.Fatal(err)
	}
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, "main.db")))(t)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	testutil.Value(
		pool.Exec(`CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'main 1'), (2, 'main 2'); CREATE TABLE u (a); INSERT INTO u VALUES (7);
		ATTACH '` + filepath.Join(dir, "other.db") + `' AS other`))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{
		Rows: map[string]string{"other.t": "a = :a"}, Shared: []string{"main.t", "u"},
	}}))(t)
	db = testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"a": 1}}, nil))(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT b FROM t ORDER BY 1", "[[main 1] [main 2]]"},
		{"SELECT b FROM main.t ORDER BY 1", "[[main 1] [main 2]]"},
		{"SELECT b FROM other.t", "[[other 1]]"},
		{"SELECT t.b FROM other.t", "[[other 1]]"},
		{"SELECT other.t.b FROM other.t", "[[other 1]]"},
		{"SELECT main.t.b, o.b FROM t JOIN other.t o USING (a)", "[[main 1 other 1]]"},
		{"SELECT other.t.b FROM t JOIN other.t USING (a)",
			"exec: refused (rows): other.t and another t: give one of them an alias"},
		{"SELECT b FROM other.v", "[[other 1]]"},
		{"WITH u AS (SELECT 7 AS a) SELECT count(*) FROM v", "[[1]]"},
	} {
		got, err := db.Query(t.Context(), c.sql)
		if text := fmt.Sprint(err); err == nil && fmt.Sprint(got.Rows) != c.want || err != nil && text != c.want {
			t.Errorf("%s: %v, %v, want %s", c.sql, got, err, c.want)
		}
	}
}

func limited(err error) bool { return errors.As(err, new(*exec.LimitError)) }
