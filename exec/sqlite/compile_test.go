package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// TestCompilingEnds: SQLite compiles without a look at the context.
func TestCompilingEnds(t *testing.T) {
	pool, _ := open(t, fixture)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	held := guarded(t, conn, exec.GuardConfig{}, 0)
	s := admitted(t, held, "SELECT a FROM t")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.Confirm(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("compiled for a context that has ended: %v", err)
	}
}

// TestCompiledOnce: one examination compiles a new statement once, and once more for its plan.
func TestCompiledOnce(t *testing.T) {
	for _, test := range []struct {
		why, sql string
		want     []string // "prepare" and "run" of the statement
	}{
		{"a statement", "SELECT a FROM t WHERE a > 1", []string{
			"prepare STATEMENT", "prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "run STATEMENT"}},
		{"a declared type that drivers convert", "SELECT day FROM d", []string{
			"prepare STATEMENT", "prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "run STATEMENT",
			"prepare WITH stored", "run WITH stored",
		}},
		{"a name that may be a string", `SELECT a, "nosuch" FROM t`, []string{
			"prepare STATEMENT", "prepare SELECT a, `nosuch` FROM t", "prepare SELECT a, `nosuch` FROM t",
			"prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "prepare STATEMENT", "run STATEMENT",
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			connector, pool := faultyPool(t, "file")
			if _, err := pool.Exec("CREATE TABLE d(day DATE); INSERT INTO d VALUES ('2020-01-01')"); err != nil {
				t.Fatal(err)
			}
			db, err := exec.New(pool, sqlite.Dialect{}, connector.config(exec.Config{}))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			connector.Fail(func(event string) error {
				if verb, text, _ := strings.Cut(event, " "); verb == "prepare" || verb == "run" {
					text = strings.ReplaceAll(text, test.sql, "STATEMENT")
					if strings.HasPrefix(text, "WITH stored_") {
						text = "WITH stored"
					}
					got = append(got, verb+" "+text)
				}
				return nil
			})
			_, err = db.Examine(t.Context(), test.sql)
			connector.Fail(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
