package setup

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/schema"
)

// looked counts what a store is asked and given.
type looked struct {
	*profiles
	found, kept int
}

func (l *looked) Profile(key string) (schema.Table, bool) {
	t, ok := l.profiles.Profile(key)
	if ok {
		l.found++
	}
	return t, ok
}

func (l *looked) Keep(key string, t schema.Table) { l.kept++; l.profiles.Keep(key, t) }

// TestProfiles: a second program finds what the first one saw, value by value, and looks itself under another policy, in a scope, and
// once the database has changed. What looks like a secret is in no file.
func TestProfiles(t *testing.T) {
	place, folder := filepath.Join(t.TempDir(), "shop.db"), filepath.Join(t.TempDir(), "profiles")
	pool := need.Value(sql.Open("sqlite3", place))(t)
	defer pool.Close()
	need.Value(pool.Exec(`
		CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT, price REAL, made DATE, code BLOB, owner TEXT, api_key TEXT, big INTEGER);
		INSERT INTO items VALUES (1, 'Żółć', 1.5, '2024-02-29', x'0102', 'a', 'sk-live-0123456789abcdef', 9007199254740993),
			(2, NULL, 2, NULL, NULL, 'b', 'x', -1)`))(t)
	look := func(policy exec.Policy, scope *exec.Scope) (*schema.Schema, *looked) {
		t.Helper()
		store := &looked{profiles: openProfiles(folder, "sqlite", place)}
		db := need.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: policy, Profiles: store}))(t)
		if scope != nil {
			db = need.Value(db.For(scope, nil))(t)
		}
		known := need.Value(db.Schema(t.Context()))(t)
		out := need.Value(db.Profiled(t.Context(), nil, known))(t)
		store.Close()
		return out, store
	}
	first, store := look(exec.Policy{}, nil)
	if store.found != 0 || store.kept != 1 {
		t.Fatalf("the first program found %d and kept %d", store.found, store.kept)
	}
	raw := need.Value(os.ReadFile(store.path))(t)
	if info := need.Value(os.Stat(store.path))(t); info.Mode().Perm() != 0o600 || strings.Contains(string(raw), "sk-live") {
		t.Errorf("mode %v, or a secret is kept", info.Mode())
	}
	again, store := look(exec.Policy{}, nil)
	if diff := cmp.Diff(first, again); diff != "" || store.found != 1 || store.kept != 0 {
		t.Errorf("the second program found %d and kept %d (-first +again):\n%s", store.found, store.kept, diff)
	}
	if _, store = look(exec.Policy{DenyColumns: []string{"items.name"}}, nil); store.found != 0 {
		t.Error("another policy reads what this one saw")
	}
	rules := exec.Policy{Rows: map[string]string{"items": "owner = :owner"}}
	if _, store = look(rules, &exec.Scope{Key: "a", Params: map[string]any{"owner": "a"}}); store.found+store.kept != 0 {
		t.Error("rows of a scope are kept")
	}
	need.Value(pool.Exec("UPDATE items SET price = 3 WHERE id = 2"))(t)
	if _, store = look(exec.Policy{}, nil); store.found != 0 || store.kept != 1 {
		t.Errorf("of a changed database it found %d and kept %d", store.found, store.kept)
	}
	need.OK(t, os.WriteFile(store.path, raw[:len(raw)/2], 0o600))
	if _, store = look(exec.Policy{}, nil); store.found != 0 || store.kept != 1 {
		t.Errorf("of a broken file it found %d and kept %d", store.found, store.kept)
	}
	for _, place := range []string{"postgres://host/db", t.TempDir(), ":memory:"} {
		if openProfiles(folder, "sqlite", place) != nil {
			t.Errorf("%s is a file", place)
		}
	}
}
