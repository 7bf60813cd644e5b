//go:build !no_duckdb

package engines

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
)

// DuckDB returns the engine for "duckdb:FILE", or "duckdb:FOLDER" for one of Parquet, CSV and JSON files. It opens the
// file or folder, since the errors say what is wrong and have no secret.
func DuckDB(dsn string) (Engine, string, error) {
	path := strings.TrimPrefix(dsn, "duckdb:")
	open := duckdb.Open
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		open = func(folder string, o duckdb.Options) (*sql.DB, error) {
			return duckdb.OpenFolder(context.Background(), folder, o)
		}
	}
	pool, err := open(path, duckdb.Options{})
	if err != nil {
		return Engine{}, "", fmt.Errorf("%w: %w", ErrForm, err)
	}
	return Engine{
		Name: "duckdb", Title: "DuckDB", Form: "duckdb:FILE or duckdb:FOLDER",
		Open:    func(string) (*sql.DB, string, string, error) { return pool, path, "", nil },
		Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return duckdb.Dialect{}, nil },
	}, path, nil
}
