//go:build !no_duckdb

package engines

import (
	"context"
	"database/sql"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/engines"
)

// DuckDB returns the engine for "duckdb:FILE".
func DuckDB(dsn string) (engines.Engine, string, error) {
	return engines.Engine{
		Name: "duckdb", Title: "DuckDB", Form: "duckdb:FILE",
		Open: func(path string) (*sql.DB, string, string, error) {
			pool, err := duckdb.Open(path, duckdb.Options{})
			return pool, path, "", err
		},
		Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return duckdb.Dialect{}, nil },
	}, strings.TrimPrefix(dsn, "duckdb:"), nil
}
