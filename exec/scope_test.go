package exec_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestReadRules: what is no rule is an error of New or ReadPolicy.
func TestReadRules(t *testing.T) {
	for _, c := range []struct{ why, rule, want string }{
		{"a subquery may read anything", "id IN (SELECT id FROM u)", "subquery"},
		{"a table value constructor is a query", "id IN (VALUES (1))", "subquery"},
		{"one expression", "a = 1; DROP TABLE t", "single expression"},
		{"one expression, not a list", "a = 1, b = 2", "single expression"},
		{"another clause", "a = 1 ORDER BY 1", "single expression"},
		{"a set operation", "a = 1 UNION SELECT 2", "single expression"},
		{"a bracket of the splice closed", "a = 1) OR (1", "closes a bracket"},
		{"an open bracket", "(a = 1", "bracket is open"},
		{"a comment may hide what follows", "a = 1 -- x", "comment"},
		{"a quote that does not end", "a = 'x", "quote"},
		{"nothing", " ", "empty"},
		{"a parameter without a name", "a = ?", "write :name"},
		{"a parameter of another form", "a = @x", "write :name"},
		{"a column of another table", "u.a = 1", "no column of the table"},
	} {
		_, err := exec.New(newPool(t), sqlite.Dialect{},
			exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": c.rule}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q: %v, want %q", c.why, c.rule, err, c.want)
		}
	}
	p, err := exec.ReadPolicy(strings.NewReader(`{"Rows": {"t": "a = :x"}, "Shared": ["u"], "Fence": "always"}`))
	want := exec.Policy{Rows: map[string]string{"t": "a = :x"}, Shared: []string{"u"}, Fence: "always"}
	if diff := cmp.Diff(want, p); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, text := range []string{`{"Rows": {}}`, `{"Rows": null}`, `{"Rows": ["t"]}`, `{"Rows": {"t": "a", "t": "b"}}`,
		`{"Rows": {"t": 1}}`,
		`{"Shared": []}`, `{"Fence": "never"}`} {
		if _, err := exec.ReadPolicy(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read as a policy", text)
		}
	}
}

// TestForFailsClosed: with rules and without all of a scope nothing runs.
func TestForFailsClosed(t *testing.T) {
	pool := newPool(t)
	testutil.Value(pool.Exec("CREATE TABLE t (a, b); CREATE TABLE u (a)"))(t)
	rules := exec.Policy{Rows: map[string]string{"t": "a = :x"}, Shared: []string{"u"}}
	db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: rules}))(t)
	for _, c := range []struct {
		why   string
		scope *exec.Scope
	}{
		{"no scope", nil},
		{"no key", &exec.Scope{Params: map[string]any{"x": 1}}},
		{"no parameter", &exec.Scope{Key: "k"}},
		{"a value that no engine binds", &exec.Scope{Key: "k", Params: map[string]any{"x": []int{1}}}},
		{"settings, which SQLite has not", &exec.Scope{Key: "k", Params: map[string]any{"x": 1},
			Settings: map[string]string{"a": "b"}}},
	} {
		if _, err := db.For(c.scope, nil); !errors.Is(err, exec.ErrNoScope) {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	for range 20 { // the error is the same each time
		scope := &exec.Scope{Key: "k", Params: map[string]any{"x": []int{1}, "a": []int{1}, "z": 1}}
		if _, err := db.For(scope, nil); err == nil || !strings.Contains(err.Error(), "the parameter a ") {
			t.Errorf("two values that no engine binds: %v", err)
		}
	}
	if _, err := db.Query(t.Context(), "SELECT 1"); !errors.Is(err, exec.ErrNoScope) {
		t.Errorf("a statement without a scope: %v", err)
	}
	view := testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"x": 1}}, nil))(t)
	if _, err := view.For(&exec.Scope{Key: "other", Params: map[string]any{"x": 2}}, nil); err == nil {
		t.Error("a scope is exchanged for another one")
	}
	for why, p := range map[string]exec.Policy{
		"a table with a rule that was denied":     {Rows: map[string]string{"secrets": "1"}},
		"a table that is shared by the wrong one": {Shared: []string{"t"}},
		"a function of nobody":                    {AllowFunctions: []string{"f"}},
		"a rule that ends the one before":         {Rows: map[string]string{"t": "1) OR (1"}},
	} {
		if _, err := view.For(nil, &p); err == nil {
			t.Errorf("%s is no error", why)
		}
	}
	narrow := testutil.Value(view.For(nil,
		&exec.Policy{DenyTables: []string{"u"}, Rows: map[string]string{"t": "b > 1"}}))(t)
	want := exec.Policy{DenyTables: []string{"u"}, Rows: map[string]string{"t": "a = :x\n;\nb > 1"},
		Shared: []string{"u"}}
	if diff := cmp.Diff(want, narrow.Policy()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestForKeeps: a view is that of what For was given, whatever becomes of that and however alike another is.
func TestForKeeps(t *testing.T) {
	pool := newPool(t)
	testutil.Value(pool.Exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (x'31', 'mine'), (x'32', 'theirs')"))(t)
	db := testutil.Value(exec.New(pool, sqlite.Dialect{},
		exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": "a = :x"}}}))(t)
	key := []byte("1")
	view := testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"x": key}}, nil))(t)
	key[0] = '2'
	if table := testutil.Value(view.Query(t.Context(), "SELECT b FROM t"))(t); len(table.Rows) != 1 ||
		table.Rows[0][0] != "mine" {
		t.Errorf("behind a buffer that is used again: %v", table.Rows)
	}
	for _, rule := range []string{"b <> '\xff'", "b <> '\xfe'"} { // no UTF-8, which JSON writes alike
		rows := testutil.Value(view.For(nil, &exec.Policy{Rows: map[string]string{"t": rule}}))(t).Policy().Rows
		if !strings.Contains(rows["t"], rule) {
			t.Errorf("narrowed by %q: %q", rule, rows)
		}
	}
}

func newPool(t *testing.T) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	return pool
}
