//go:build !no_duckdb

package engines

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/engines"
)

// DuckDB returns the engine for "duckdb:FILE". It opens the file, since its errors say what is wrong and have no secret.
func DuckDB(dsn string) (engines.Engine, string, error) {
	path := strings.TrimPrefix(dsn, "duckdb:")
	pool, err := duckdb.Open(path, duckdb.Options{})
	if err != nil {
		return engines.Engine{}, "", fmt.Errorf("%w: %w", ErrForm, err)
	}
	return engines.Engine{
		Name: "duckdb", Title: "DuckDB", Form: "duckdb:FILE",
		Open:    func(string) (*sql.DB, string, string, error) { return pool, path, "", nil },
		Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return duckdb.Dialect{}, nil },
	}, path, nil
}
