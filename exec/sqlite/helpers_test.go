package sqlite_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const fixture = dbtest.Fixture

// open makes a database file of script in a directory of its own and returns a
// pool on it.
func open(t testing.TB, script string) (pool *sql.DB, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "test.db")
	pool = testutil.Value(sql.Open("sqlite3", file))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	return pool, file
}

func newDB(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	return dbtest.ReadyDB(t, pool, sqlite.Dialect{}, c)
}

// snapshot is the name and hash of every file below dir.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	testutil.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	}))
	return files
}

// guarded puts the guard on a connection until the test ends.
func guarded(t testing.TB, conn *sql.Conn, c exec.GuardConfig, timeout time.Duration) exec.GuardedConn {
	t.Helper()
	open := testutil.Value(sqlite.Dialect{}.Guard(c))(t)
	held := testutil.Value(open(t.Context(), conn, timeout))(t)
	t.Cleanup(func() { held.Close(false) })
	return held
}

// admitted sends a statement past the walls of a connection.
func admitted(t testing.TB, held exec.GuardedConn, text string) *exec.Statement {
	t.Helper()
	c, err := held.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testutil.OK(t, c.Apply(exec.Policy{}))
	s := &exec.Statement{Statement: sqlite.Dialect{}.Language().Text.Parse(text), Catalog: c}
	if s.Names, err = held.Read(t.Context(), s); err == nil {
		s.Seen, err = held.Confirm(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// catalogOf is what a connection of a pool sees.
func catalogOf(t testing.TB, pool *sql.DB) *exec.Catalog {
	t.Helper()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	open := testutil.Value(sqlite.Dialect{}.Guard(exec.GuardConfig{}))(t)
	held := testutil.Value(open(t.Context(), conn, time.Minute))(t)
	defer held.Close(false)
	c := testutil.Value(held.Catalog(t.Context()))(t)
	return c
}

// settings are what the guard changes on a connection.
type settings struct {
	limits      [10]int
	queryOnly   int
	busyTimeout int
	cacheSize   int
	authorizer  bool // one denies writing
}

// settingsOf reads the settings of one connection of the pool.
func settingsOf(t testing.TB, pool *sql.DB) settings {
	t.Helper()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	s := testutil.Value(settingsOn(t.Context(), conn))(t)
	return s
}

func settingsOn(ctx context.Context, conn *sql.Conn) (s settings, err error) {
	err = conn.Raw(func(dc any) error {
		hooks := exectest.Unwrap(dc).(sqlite.Hooks)
		for id := range s.limits {
			s.limits[id] = hooks.SetLimit(id, -1) // negative: leave it as it is
		}
		return nil
	})
	for pragma, value := range map[string]*int{"query_only": &s.queryOnly, "cache_size": &s.cacheSize,
		"busy_timeout": &s.busyTimeout} {
		if err == nil {
			err = conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(value)
		}
	}
	_, denied := conn.ExecContext(ctx, "EXPLAIN CREATE TABLE authorized(a)")
	s.authorizer = denied != nil
	return s, err
}

// engine is SQLite for the conformance suite, with its own statements, policies and values.
func engine() exectest.Engine {
	return exectest.Engine{
		Dialect: sqlite.Dialect{},
		Open: func(t testing.TB, script string) exectest.Database {
			_, file := open(t, script)
			return exectest.Database{
				User: exectest.ConnectorOf(t, "sqlite3", file),
				Contents: func(context.Context) (string, error) {
					return fmt.Sprint(snapshot(t, filepath.Dir(file))), nil
				},
			}
		},
		State: func(ctx context.Context, conn *sql.Conn) (string, error) {
			s, err := settingsOn(ctx, conn)
			return fmt.Sprintf("%+v", s), err
		},
		Endless:      endless,
		Lock:         "BEGIN EXCLUSIVE",
		InProcess:    true,
		Fault:        errors.New("disk I/O error: injected"),
		Policies:     policies(),
		PolicyScript: secrets,
	}
}

const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

func TestConformance(t *testing.T) { exectest.Conformance(t, engine()) }

func BenchmarkEngine(b *testing.B) { dialecttest.Benchmark(b, engine()) }

// TestPayloads runs every hostile and every harmless statement of the data set.
func TestPayloads(t *testing.T) {
	e := engine()
	e.Payloads = attack.Payloads(t, "sqlite")
	e.CheckPayloads(t)
}
