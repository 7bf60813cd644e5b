package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/engines"
)

// duckDB asks about a DuckDB file, or about the Parquet, CSV and JSON files of a folder.
var duckDB = engines.Engine{
	Name: "duckdb", Title: "DuckDB", Form: "FILE of DuckDB, or FOLDER of Parquet, CSV and JSON files",
	Open: func(dsn string) (pool *sql.DB, place, password string, err error) {
		info, err := os.Stat(dsn)
		switch {
		case err != nil:
		case info.IsDir():
			pool, err = duckdb.OpenFolder(context.Background(), dsn, duckdb.Options{})
		default:
			pool, err = duckdb.Open(dsn, duckdb.Options{})
		}
		return pool, dsn, "", err
	},
	Dialect: func(context.Context, *sql.DB) (exec.Dialect, error) { return duckdb.Dialect{}, nil },
	Reason:  func(err error) string { return cli.PathlessError(err).Error() }, // a path is no secret, and stands before it
}

// makeFolder is what an analyst has: a folder with a Parquet or CSV file for each table. DuckDB itself writes it.
func makeFolder(ctx context.Context, d data) (folder string, remove func() error, err error) {
	if folder, err = os.MkdirTemp("", "texttosql-demo-"); err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(folder) }
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("filling the folder: %w", err), remove())
		}
	}()
	pool, err := sql.Open("duckdb", "")
	if err != nil {
		return "", nil, err
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, d.script); err != nil {
		return "", nil, err
	}
	for table, file := range map[string]string{
		"customers": "customers.csv", "products": "products.csv", "orders": "orders.parquet", "order_items": "order_items.parquet",
	} {
		path := strings.ReplaceAll(filepath.Join(folder, file), "'", "''")
		if _, err := pool.ExecContext(ctx, fmt.Sprintf("COPY %s TO '%s'", table, path)); err != nil {
			return "", nil, err
		}
	}
	return folder, remove, nil
}
