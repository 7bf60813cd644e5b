package duckdb_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// small are the options of tests: survivors may not take more than 64 MiB.
var small = duckdb.Options{MemoryBytes: 32 << 20, Threads: 2}

// makeFile makes a database of a script.
func makeFile(t testing.TB, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	pool := testutil.Value(sql.Open("duckdb", file))(t)
	defer pool.Close()
	testutil.Value(pool.Exec(script))(t)
	return file
}

// openFile opens the database of a script for reading.
func openFile(t testing.TB, script string, o duckdb.Options) *sql.DB {
	t.Helper()
	return openPath(t, makeFile(t, script), o)
}

func openPath(t testing.TB, file string, o duckdb.Options) *sql.DB {
	t.Helper()
	pool := testutil.Value(duckdb.Open(file, o))(t)
	t.Cleanup(func() { pool.Close() })
	return pool
}

// newDB returns a DB on the database of a script.
func newDB(t testing.TB, script string, c exec.Config) *exec.DB {
	t.Helper()
	return onPool(t, openFile(t, script, small), c)
}

func onPool(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	return dbtest.ReadyDB(t, pool, duckdb.Dialect{}, c)
}

// contents is what a statement must not change: the file, and what stands beside it and where files would be written.
func contents(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%x\n", sha256.Sum256(data))
	for _, pattern := range []string{filepath.Join(filepath.Dir(file), "*"), "/tmp/x*", "/tmp/evil*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			out += "file " + name + "\n"
		}
	}
	return out, nil
}

// stateOf is what a connection keeps: settings, variables, prepared statements, and relations in memory.
func stateOf(ctx context.Context, conn *sql.Conn) (state string, err error) {
	state, err = dbtest.Lines(ctx, conn,
		"SELECT name || ' = ' || value FROM duckdb_settings() ORDER BY 1",
		"SELECT 'variable ' || name FROM duckdb_variables() ORDER BY 1",
		"SELECT 'prepared ' || name FROM duckdb_prepared_statements() ORDER BY 1",
		"SELECT 'table ' || table_name FROM duckdb_tables() ORDER BY 1",
		"SELECT 'view ' || view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1",
		"SELECT 'database ' || database_name FROM duckdb_databases() ORDER BY 1",
		"SELECT 'schema ' || current_schema()",
	)
	if err != nil {
		return "", err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return "", fmt.Errorf("a transaction is open: %w", err)
	}
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	return state, err
}

// engine is DuckDB for the suite.
func engine() exectest.Engine {
	return exectest.Engine{
		Dialect: duckdb.Dialect{}, State: stateOf, Endless: dbtest.Endless, InProcess: true, Values: values,
		Skip: map[string]string{
			"session": "it writes beside an open session, which nobody can: TestSession is about the rest",
			"version": "a DuckDB file that is open for reading does not change: no process can open it for writing",
		},
		Open: func(t testing.TB, script string) exectest.Database {
			file := makeFile(t, script)
			connector := testutil.Value(duckdb.NewConnector(file, small))(t)
			return exectest.Database{User: connector, Contents: func(context.Context) (string, error) { return contents(file) }}
		},
	}
}

func TestConformance(t *testing.T) { exectest.Conformance(t, engine()) }

func BenchmarkEngine(b *testing.B) { dialecttest.Benchmark(b, engine()) }
