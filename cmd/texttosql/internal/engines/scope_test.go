package engines_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// onSQLite is a small shop.
func onSQLite(t *testing.T) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "shop.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec("CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE orders(id INTEGER " +
		"PRIMARY KEY, customer_id INTEGER)"))(t)
	return pool
}

// always answers each request with text.
func always(text string) *llmtest.Script {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(text), Repeat: true}}}
}

// TestScopesNeedRules: a scope about which nothing says what it may read is refused, as is a question without one where
// there are rules, by each call that takes one.
func TestScopesNeedRules(t *testing.T) {
	pool := onSQLite(t)
	shared := exec.Policy{Shared: []string{"customers", "orders"}}
	settings := exec.Policy{Settings: []string{"app.tenant"}}
	plain := exec.Scope{Key: "acme"}
	tenant := exec.Scope{Key: "acme", Settings: map[string]string{"app.tenant": "7"}}
	alice := exec.Scope{Key: "alice", Settings: map[string]string{"user": "alice"}}
	for _, tt := range []struct {
		why     string
		dialect exec.Dialect
		policy  exec.Policy
		scope   *exec.Scope
		want    error
	}{
		{"nothing at all", sqlite.Dialect{}, exec.Policy{}, nil, nil},
		{"a scope, and nothing", sqlite.Dialect{}, exec.Policy{}, &plain, exec.ErrNoRules},
		{"a scope, and a policy about other things", sqlite.Dialect{}, exec.Policy{DenyTables: []string{"orders"},
			Fence: "always"}, &plain, exec.ErrNoRules},
		{"rules alone", sqlite.Dialect{}, exec.Policy{Rows: map[string]string{"customers": "1"}}, nil, exec.ErrNoScope},
		{"a scope and rules", sqlite.Dialect{}, exec.Policy{Rows: map[string]string{"customers": "1"}}, &plain, nil},
		{"shared tables alone", sqlite.Dialect{}, shared, nil, exec.ErrNoScope},
		{"a scope and shared tables", sqlite.Dialect{}, shared, &plain, nil},
		{"settings that nothing requires", postgres.Dialect{}, exec.Policy{}, &tenant, exec.ErrNoRules},
		{"required settings alone", postgres.Dialect{}, settings, nil, exec.ErrNoScope},
		{"a scope without the settings", postgres.Dialect{}, settings, &plain, exec.ErrNoScope},
		{"a scope whose setting is empty", postgres.Dialect{}, settings,
			&exec.Scope{Key: "acme", Settings: map[string]string{"app.tenant": ""}}, exec.ErrNoScope},
		{"a scope with the settings", postgres.Dialect{}, settings, &tenant, nil},
		{"a scope without a key", postgres.Dialect{}, settings, &exec.Scope{Settings: tenant.Settings}, exec.ErrNoScope},
		{"nobody as a user", trino.Dialect{AsUser: true}, exec.Policy{}, nil, exec.ErrNoScope},
		{"a scope as a user", trino.Dialect{AsUser: true}, exec.Policy{}, &alice, nil},
		{"a scope as a user, who is also required", trino.Dialect{AsUser: true}, exec.Policy{Settings: []string{"user"}},
			&alice, nil},
		{"a scope on a server that asks as one user", trino.Dialect{}, exec.Policy{}, &plain, exec.ErrNoRules},
	} {
		e := testutil.Value(texttosql.New(pool, always("SELECT 1"), texttosql.WithDialect(tt.dialect),
			texttosql.WithPolicy(tt.policy)))(t)
		var opts []texttosql.AskOption
		if tt.scope != nil {
			opts = append(opts, texttosql.WithScope(*tt.scope))
		}
		_, asked := e.Ask(t.Context(), "Which customers live in the USA?", opts...) // which only SQLite can answer here
		_, queried := e.Query(t.Context(), "SELECT 1", opts...)
		_, made := e.For(opts...)
		for call, err := range map[string]error{"For": made, "Ask": asked, "Query": queried} {
			none := !errors.Is(err, exec.ErrNoScope) && !errors.Is(err, exec.ErrNoRules)
			if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && !none {
				t.Errorf("%s: %s: %v, want %v", tt.why, call, err, tt.want)
			}
		}
	}
	for why, d := range map[string]exec.Dialect{"SQLite": sqlite.Dialect{}, "Trino asked as one user": trino.Dialect{}} {
		if _, err := texttosql.New(pool, always(""), texttosql.WithDialect(d), texttosql.WithPolicy(settings)); err == nil {
			t.Errorf("%s is said to require settings, which it does not take", why)
		}
	}
	said := failure.Of(exec.ErrNoRules)
	if said.Class != failure.Config || !strings.Contains(said.Message, "Rows, Shared") ||
		!strings.Contains(said.Message, "Settings") {
		t.Errorf("the message does not name the missing half: %+v", said)
	}
}
