package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
)

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

func BenchmarkEngine(b *testing.B) { exectest.Benchmark(b, engine()) }
