package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

func TestExplain(t *testing.T) {
	pool, file := open(t, fixture)
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	session, err := db.Runner(exec.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for name, explain := range map[string]explainer{"one statement": db.Explain, "session": session.Explain} {
		t.Run(name, func(t *testing.T) { testExplain(t, explain, file) })
	}
}

type explainer func(ctx context.Context, sql string) (exec.Plan, error)

func testExplain(t *testing.T, explain explainer, file string) {
	p, err := explain(t.Context(), "SELECT u.name FROM users AS u JOIN t ON t.a = u.id; -- done")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Signature(), "scan:users:full,search:t:auto"; got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
	if len(p.Rows) == 0 {
		t.Error("no rows")
	}

	before := snapshot(t, filepath.Dir(file))
	var (
		refused *exec.RefusedError
		invalid *exec.InvalidError
	)
	for _, c := range []struct {
		sql    string
		target any
		writes bool
		why    string
	}{
		{"SELECT 1; DROP TABLE t", &refused, true, "the driver would run the second statement"},
		{"DROP TABLE t", &refused, true, ""},
		{"INSERT INTO t VALUES (9, 'x')", &refused, true, ""},
		{"UPDATE t SET a = 0", &refused, true, ""},
		{"WITH x AS (SELECT 1) DELETE FROM t", &refused, true, "starts like a query"},
		{"PRAGMA user_version = 1", &refused, true, ""},
		{"ATTACH 'x.db' AS x", &refused, true, ""},
		{"EXPLAIN SELECT 1", &refused, false, "the authorizer never sees the word"},
		{"", &refused, false, ""},
		{"I cannot answer that.", &refused, false, "prose"},
		{"SELECT password FROM users", &refused, false, "planning must not get past the policy"},
		{"SELECT nosuch FROM t", &invalid, false, ""},
		{"SELECT FROM t", &invalid, false, ""},
	} {
		p, err := explain(t.Context(), c.sql)
		if err == nil || !errors.As(err, c.target) {
			t.Errorf("%s: error %v, want a %T: %s", c.sql, err, c.target, c.why)
		}
		if c.writes && !errors.Is(err, exec.ErrNotReadOnly) {
			t.Errorf("%s: error %v does not match ErrNotReadOnly", c.sql, err)
		}
		if len(p.Rows) != 0 {
			t.Errorf("%s: a plan came with the error", c.sql)
		}
	}
	unchanged(t, filepath.Dir(file), before)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := explain(ended, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkExplain is one statement, and one of many on the same connection.
func BenchmarkExplain(b *testing.B) {
	pool, _ := open(b, fixture)
	db := newDB(b, pool, exec.Config{})
	session, err := db.Runner(exec.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	for name, explain := range map[string]explainer{"one": db.Explain, "session": session.Explain} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := explain(b.Context(), "SELECT u.name FROM users AS u JOIN t ON t.a = u.id"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
