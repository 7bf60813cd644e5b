package maker

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestMAKERDatabaseFails: a database that goes away or gets locked while a phase
// is sampled ends the question with its error, and with the phase. No fallback asks
// a model about a database that cannot be read.
func TestMAKERDatabaseFails(t *testing.T) {
	gone := func(t *testing.T, path string) { testutil.OK(t, os.Remove(path)) }
	busy := func(t *testing.T, path string) {
		other, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { other.Close() })
		if _, err := other.Exec("BEGIN EXCLUSIVE"); err != nil {
			t.Error(err)
		}
	}
	tests := []struct {
		name    string
		fail    func(t *testing.T, path string)
		purpose string // of the sample during which it fails
		phase   string
		is      error  // nil: any
		text    string // "" for any
	}{
		{"gone in phase 1", gone, "maker.scope", "scope", nil, "the file of the database is gone"},
		{"gone in phase 2", gone, "maker.filter", "filter", nil, "the file of the database is gone"},
		{"gone in phase 3", gone, "maker.projection", "projection", nil, "the file of the database is gone"},
		{"busy in phase 1", busy, "maker.scope", "scope", exec.ErrBusy, ""},
		{"busy in phase 2", busy, "maker.filter", "filter", exec.ErrBusy, ""},
		{"busy in phase 3", busy, "maker.projection", "projection", exec.ErrBusy, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shop.sqlite")
			pool := testutil.Value(sql.Open("sqlite3", "file:"+path+"?_busy_timeout=1"))(t)
			t.Cleanup(func() { pool.Close() })
			testutil.Value(pool.Exec(makerSQL))(t)
			script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
			var once sync.Once
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == tt.purpose {
					once.Do(func() { tt.fail(t, path) })
				}
				return script.Complete(ctx, req)
			})
			out, err := Strategy{}.Generate(t.Context(), makerEnvOf(t, pool, model), usaTask)
			if err == nil || !strings.Contains(err.Error(), "maker: "+tt.phase) || !strings.Contains(err.Error(), tt.text) ||
				tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "USA") {
				t.Errorf("the error repeats a statement: %v", err)
			}
			if out == nil || len(reportOf(out).Phases) == 0 ||
				reportOf(out).Phases[len(reportOf(out).Phases)-1].Phase != tt.phase {
				t.Errorf("the last report is not of the phase: %+v", out)
			}
			if n := len(script.RequestsFor("generate")); n > 0 {
				t.Errorf("%d calls of the fallback", n)
			}
		})
	}
}
