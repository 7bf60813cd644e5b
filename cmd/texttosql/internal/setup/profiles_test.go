package setup

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/damage"
	"github.com/texttosql/texttosql/internal/testutil"
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

// TestProfiles: a second program finds what the first one saw, value by value, and looks itself under another policy,
// in a scope, and once the database has changed. What looks like a secret is in no file.
func TestProfiles(t *testing.T) {
	place, folder := filepath.Join(t.TempDir(), "shop.db"), filepath.Join(t.TempDir(), "profiles")
	pool := testutil.Value(sql.Open("sqlite3", place))(t)
	defer pool.Close()
	testutil.Value(pool.Exec(`
		CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT, price REAL, made DATE, code BLOB, owner TEXT, api_key TEXT, big INTEGER);
		INSERT INTO items VALUES (1, 'Żółć', 1.5, '2024-02-29', x'0102', 'a', 'sk-live-0123456789abcdef', 9007199254740993),
			(2, NULL, 2, NULL, NULL, 'b', 'x', -1)`))(t)
	look := func(policy exec.Policy, scope *exec.Scope) (*schema.Schema, *looked) {
		t.Helper()
		store := &looked{profiles: openProfiles(folder, "sqlite", place)}
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: policy, Profiles: store}))(t)
		if scope != nil {
			db = testutil.Value(db.For(scope, nil))(t)
		}
		known := testutil.Value(db.Schema(t.Context()))(t)
		out := testutil.Value(db.Profiled(t.Context(), nil, known))(t)
		store.Close()
		return out, store
	}
	first, store := look(exec.Policy{}, nil)
	if store.found != 0 || store.kept != 1 {
		t.Fatalf("the first program found %d and kept %d", store.found, store.kept)
	}
	raw := testutil.Value(os.ReadFile(store.path))(t)
	if info := testutil.Value(os.Stat(store.path))(t); info.Mode().Perm() != 0o600 ||
		strings.Contains(string(raw), "sk-live") {
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
	testutil.Value(pool.Exec("UPDATE items SET price = 3 WHERE id = 2"))(t)
	if _, store = look(exec.Policy{}, nil); store.found != 0 || store.kept != 1 {
		t.Errorf("of a changed database it found %d and kept %d", store.found, store.kept)
	}
	for why, broken := range map[string]string{"cut": string(raw[:len(raw)/2]), "empty": "",
		"of an earlier version": "\x10\xff\x81\x03"} {
		testutil.OK(t, os.WriteFile(store.path, []byte(broken), 0o600))
		if _, store = look(exec.Policy{}, nil); store.found != 0 || store.kept != 1 ||
			!strings.Contains(store.note, store.path) {
			t.Errorf("of a file that is %s it found %d and kept %d, with the note %q", why, store.found, store.kept, store.note)
		}
		if _, store = look(exec.Policy{}, nil); store.found != 1 || store.note != "" {
			t.Errorf("of a file that was %s, written anew, it found %d, with the note %q", why, store.found, store.note)
		}
	}
	for _, place := range []string{"postgres://host/db", t.TempDir(), ":memory:"} {
		if openProfiles(folder, "sqlite", place) != nil {
			t.Errorf("%s is a file", place)
		}
	}
}

// TestProfilesDamaged: no profile of a changed file is used, and a warning names the file.
func TestProfilesDamaged(t *testing.T) {
	place, folder := filepath.Join(t.TempDir(), "shop.db"), filepath.Join(t.TempDir(), "profiles")
	testutil.OK(t, os.WriteFile(place, []byte("no database, whose profiles are read nowhere"), 0o600))
	p := openProfiles(folder, "sqlite", place)
	for _, name := range []string{"alpha", "omega"} {
		profile := &schema.Profile{Examples: []any{name, int64(7), 1.5, []byte{1}}}
		p.Keep(name, schema.Table{Name: name, Columns: []schema.Column{{Name: "c", Profile: profile}}})
	}
	p.Close()
	damage.Store{Path: p.path, Grows: true, Read: func() (items, notes []string, err error) {
		p := openProfiles(folder, "sqlite", place)
		for _, key := range slices.Sorted(maps.Keys(p.tables)) {
			items = append(items, key+string(testutil.Value(json.Marshal(p.tables[key]))(t)))
		}
		if p.note != "" {
			notes = []string{p.note}
		}
		return items, notes, nil
	}}.Check(t)
}

// TestStateOf: a database that was changed in place, to the same size and the same time, has another state.
func TestStateOf(t *testing.T) {
	for _, tt := range []struct {
		why     string
		pragma  string
		closing bool // the last connection takes the log along
	}{
		{"with a rollback journal: the change counter", "PRAGMA journal_mode = delete", false},
		{"with a log: what it holds", "PRAGMA journal_mode = wal", false},
		{"with a log that went into the file: its last change", "PRAGMA journal_mode = wal", true},
	} {
		place := filepath.Join(t.TempDir(), "shop.db")
		pool := testutil.Value(sql.Open("sqlite3", place))(t)
		pool.SetMaxOpenConns(1)
		run := func(text string) { t.Helper(); testutil.Value(pool.Exec(text))(t) }
		run(tt.pragma)
		run("CREATE TABLE pad(x BLOB); INSERT INTO pad VALUES (zeroblob(100000))") // items stand behind the head
		run("CREATE TABLE items(name TEXT); INSERT INTO items VALUES ('alpha')")
		run("PRAGMA wal_checkpoint(RESTART)")
		run("UPDATE items SET name = 'gamma'") // the next one writes over it in the log
		run("PRAGMA wal_checkpoint(RESTART)")
		if tt.closing {
			testutil.OK(t, pool.Close())
			pool = testutil.Value(sql.Open("sqlite3", place))(t)
		}
		before := stateOf(place)
		if before == "" || stateOf(place) != before {
			t.Fatalf("%s: %q is not its state", tt.why, before)
		}
		infos := map[string]os.FileInfo{}
		for _, name := range []string{place, place + "-wal"} {
			if info, err := os.Stat(name); err == nil {
				infos[name] = info
			}
		}
		run("UPDATE items SET name = 'omega'")
		if tt.closing {
			testutil.OK(t, pool.Close())
		}
		for name, was := range infos {
			testutil.OK(t, os.Chtimes(name, was.ModTime(), was.ModTime()))
			if now := testutil.Value(os.Stat(name))(t); now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
				t.Fatalf("%s: the test does not keep size and time of %s", tt.why, name)
			}
		}
		if stateOf(place) == before {
			t.Errorf("%s: the same state", tt.why)
		}
		pool.Close()
	}
	long := filepath.Join(t.TempDir(), "long.db")
	testutil.OK(t, errors.Join(os.WriteFile(long, []byte("x"), 0o600), os.WriteFile(long+"-wal", nil, 0o600)))
	before := stateOf(long)
	testutil.OK(t, os.Remove(long+"-wal"))
	if after := stateOf(long); before != after || before == "" {
		t.Errorf("a log that holds nothing: %q, %q without it", before, after)
	}
	testutil.OK(t, errors.Join(os.WriteFile(long+"-wal", nil, 0o600), os.Truncate(long+"-wal", logBytes+1)))
	if state := stateOf(long); state != "" {
		t.Errorf("a log that is too long to be read has the state %q", state)
	}
}
