package exectest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// recorder counts the errors of a test and lets it pass.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// TestToolWithoutGuard: SQLite itself executes the hostile statements, so their rejection is the work of a guard, and
// docs/guard.md has the counts. Each statement runs on a database of its own.
func TestToolWithoutGuard(t *testing.T) {
	var last *sql.DB
	open := func() *sql.DB {
		if last != nil {
			last.Close()
		}
		last = testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
		last.SetMaxOpenConns(1)
		testutil.Value(last.Exec(dbtest.Fixture))(t)
		return last
	}
	run := func(ctx context.Context, text string) error {
		db := open()
		ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		err := drain(db.QueryContext(ctx, text))
		if ctx.Err() != nil {
			return nil // it ran until it was stopped
		}
		return err
	}
	r := &recorder{TB: t}
	executed, all := CheckTool(r, "sqlite", run, func(context.Context) (string, error) { return "", nil })
	if len(r.errors) != executed {
		t.Errorf("%d errors, executed %d of %d", len(r.errors), executed, all)
	}

	page := string(testutil.Value(os.ReadFile("../../docs/guard.md"))(t))
	for _, want := range []string{
		fmt.Sprintf("SQLite without a guard: hostile statements executed: %d of %d.", executed, all),
		fmt.Sprintf("%d statements for SQLite, %d for PostgreSQL and %d for MariaDB",
			all, len(hostile("any", "postgres")), len(hostile("any", "mysql"))),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/guard.md has no %q", want)
		}
	}
}

// drain reads all rows of all results.
func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// TestCheckToolFinds: each program breaks one rule.
func TestCheckToolFinds(t *testing.T) {
	reads := 0
	rejects := func(context.Context, string) error { return io.EOF }
	same := func(context.Context) (string, error) { return "", nil }
	changes := func(context.Context) (string, error) { reads++; return fmt.Sprint(reads), nil }
	accepts := map[string]bool{}
	for _, p := range harmless() {
		accepts[p.SQL] = true
	}
	exact := func(_ context.Context, text string) error {
		if accepts[text] {
			return nil
		}
		return io.EOF
	}
	waits := func(ctx context.Context, text string) error {
		if !accepts[text] {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	all := len(hostile("any", "sqlite"))

	for _, tt := range []struct {
		why              string
		run              func(context.Context, string) error
		contents         func(context.Context) (string, error)
		executed, errors int
	}{
		{"it rejects what is hostile, and nothing else", exact, same, 0, 0},
		{"it rejects everything", rejects, same, 0, len(accepts)},
		{"it executes everything", func(context.Context, string) error { return nil }, same, all, all},
		{"it rejects a statement after it wrote", exact, changes, all, all},
		{"it does not stop a statement", waits, same, all, all},
	} {
		synctest.Test(t, func(t *testing.T) { // minutes pass at once
			r := &recorder{TB: t}
			executed, n := CheckTool(r, "sqlite", tt.run, tt.contents)
			if executed != tt.executed || n != all || len(r.errors) != tt.errors {
				t.Errorf("%s: executed %d of %d, %d errors", tt.why, executed, n, len(r.errors))
			}
		})
	}
}
