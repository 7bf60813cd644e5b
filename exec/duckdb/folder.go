package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/schema"
)

// readers are the functions that read files, by the end of a file's name.
var readers = []struct{ suffix, function string }{
	{".parquet", "read_parquet"}, {".csv", "read_csv"}, {".tsv", "read_csv"}, {".csv.gz", "read_csv"}, {".tsv.gz", "read_csv"},
	{".json", "read_json"}, {".jsonl", "read_ndjson"}, {".ndjson", "read_ndjson"},
}

// OpenFolder opens the Parquet, CSV and JSON files of a folder as the tables of a database: each is a view, called like
// its file without the ending, in a database of its own among the temporary files, which Close of the handle removes.
// Folders in the folder, hidden files and files of other kinds are left out.
//
// The files are not copied: each statement reads them. DuckDB guesses the types of CSV and JSON columns when the view
// is made; where it guesses wrong, make a database with views of your own and use [Open] with Options.Files. o is as
// there; its Files are read beside the folder, by no view.
func OpenFolder(ctx context.Context, folder string, o Options) (_ *sql.DB, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("duckdb: opening a folder: %w", err)
	}
	names := map[string]string{} // of a view, the file
	var views []string
	for _, entry := range entries {
		file := entry.Name()
		i := slices.IndexFunc(readers, func(r struct{ suffix, function string }) bool {
			return strings.HasSuffix(strings.ToLower(file), r.suffix)
		})
		if i < 0 || entry.IsDir() || strings.HasPrefix(file, ".") {
			continue
		}
		name := file[:len(file)-len(readers[i].suffix)]
		if other := names[schema.Fold(name)]; other != "" {
			return nil, fmt.Errorf("duckdb: opening %s: %s and %s would both be the table %s", folder, other, file, name)
		}
		names[schema.Fold(name)] = file
		views = append(views, fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM %s(%s)", language.Quote(name), readers[i].function, literal(pattern(filepath.Join(folder, file)))))
	}
	if len(views) == 0 {
		return nil, fmt.Errorf("duckdb: opening %s: it has no Parquet, CSV or JSON file", folder)
	}
	place, err := os.MkdirTemp("", "texttosql-duckdb-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(place))
		}
	}()
	path := filepath.Join(place, "files.duckdb")
	if err := write(ctx, path, views); err != nil {
		return nil, fmt.Errorf("duckdb: opening %s: %s", folder, firstLine(err))
	}
	o.Files = append(slices.Clone(o.Files), folder)
	c, err := newConnector(path, o)
	if err != nil {
		return nil, err
	}
	c.cleanup = func() error { return os.RemoveAll(place) }
	return sql.OpenDB(c), nil
}

// write makes a database by statements of ours.
func write(ctx context.Context, path string, statements []string) error {
	c, err := duckdb.NewConnector(path, nil)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(c)
	defer pool.Close()
	for _, s := range statements {
		if _, err := pool.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// pattern writes the path of one file for functions that take patterns.
func pattern(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
