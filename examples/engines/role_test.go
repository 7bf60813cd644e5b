package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// blocks returns the SQL of a page of docs, one text a code block.
func blocks(t *testing.T, name string) (found []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(page), "```sql\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		found = append(found, block)
	}
	return found
}

// TestRoles: the SQL that the pages of PostgreSQL and MariaDB print makes a role on the real servers that may
// read and cannot write even without a guard, and the guard has no warning about it, but one about a superuser.
func TestRoles(t *testing.T) {
	printed := append(blocks(t, "databases/postgres.md"), blocks(t, "databases/mariadb.md")...)
	if len(printed) != 2 {
		t.Fatalf("the pages have %q", printed)
	}
	for i, name := range []string{"postgres", "mysql"} {
		t.Run(name, func(t *testing.T) {
			root, dsn := made(t, name)
			database := dsn[strings.LastIndex(dsn, "/")+1 : strings.Index(dsn, "?")]
			if _, err := root.Exec(strings.ReplaceAll(printed[i], "shop.", database+".")); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				for _, text := range map[string][]string{"postgres": {"DROP OWNED BY texttosql", "DROP ROLE texttosql"},
					"mysql": {"DROP USER texttosql@'%'"}}[name] {
					if _, err := root.Exec(text); err != nil {
						t.Error(err)
					}
				}
			})
			role := strings.NewReplacer("postgres@", "texttosql:choose%20one@", "root@", "texttosql:choose one@",
				"?multiStatements=true", "").Replace(dsn)
			pool, dialect, err := open(t.Context(), role)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			for _, refused := range []string{"INSERT INTO t VALUES (9, 'x')", "CREATE TABLE mine(a INTEGER)", "DROP TABLE t",
				"UPDATE users SET name = 'x'"} {
				if name == "postgres" { // anybody may take that setting back
					refused = "SET transaction_read_only = off; " + refused
				}
				if _, err := pool.ExecContext(t.Context(), refused); err == nil || strings.Contains(err.Error(), "read-only") {
					t.Errorf("%s: %v", refused, err)
				}
			}
			if warned := warnings(t, pool, dialect); len(warned) > 0 {
				t.Errorf("as the role: %q", warned)
			}
			if warned := warnings(t, root, dialect); len(warned) != 1 || warned[0] != "privileged-user" {
				t.Errorf("as a superuser, in three questions: %q", warned)
			}
		})
	}
}

// warnings asks three questions and returns the codes of all warnings but those about columns.
func warnings(t *testing.T, pool *sql.DB, dialect exec.Dialect) (codes []string) {
	t.Helper()
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT a FROM t", StopReason: llm.StopEnd}, nil
	})
	engine, err := texttosql.New(pool, model, texttosql.WithDialect(dialect), texttosql.WithoutValues())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		answer, err := engine.Ask(t.Context(), "Which a are there?")
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Rows.Rows) != 5 {
			t.Errorf("%d rows", len(answer.Rows.Rows))
		}
		for _, w := range answer.Warnings {
			t.Errorf("the answer has a warning: %v", w)
		}
	}
	for range 2 {
		ctx, root := trace.Tracer{}.Start(t.Context(), "start")
		if err := engine.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		codes = nil
		for _, w := range root.Warnings() {
			if w.Code != "sensitive-columns" {
				codes = append(codes, w.Code)
			}
		}
	}
	if _, err := engine.Check(t.Context(), "DELETE FROM t"); !errors.Is(err, exec.ErrNotReadOnly) {
		t.Errorf("a write: %v", err)
	}
	return codes
}
