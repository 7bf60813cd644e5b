package texttosql

import (
	"errors"
	"strings"
	"testing"
)

// TestForeign: what is told of drivers by their import path, of those too whose dialect is a module of its own.
func TestForeign(t *testing.T) {
	for _, tt := range []struct{ path, want, why string }{
		{"github.com/jackc/pgx/v5/stdlib", "PostgreSQL, whose dialect was not given; import github.com/", "version 5"},
		{"github.com/jackc/pgx/v4/stdlib", "exec/postgres", "and others"},
		{"github.com/lib/pq", "exec/postgres", "whose guard then says that it needs pgx"},
		{"github.com/go-sql-driver/mysql", "MySQL and MariaDB, whose dialect was not given; import github.com/", "one driver for both"},
		{"github.com/duckdb/duckdb-go/v2", "import github.com/texttosql/texttosql/exec/duckdb and give New", "the present name"},
		{"github.com/texttosql/texttosql/exec/bigquery", "import github.com/texttosql/texttosql/exec/bigquery and give New", "a pool of bigquery.Open"},
		{"github.com/marcboeker/go-duckdb", "DuckDB", "the name before"},
		{"github.com/trinodb/trino-go-client/trino", "exec/trino and give New texttosql.WithDialect(trino.Dialect{})", "a cluster"},
		{"github.com/viant/bigquery", "BigQuery", "a service"},
		{"example.com/mysql", "is not known; a wrapped driver", "not that one"},
		{"", "the driver x.T is not known; a wrapped driver needs the second argument of texttosql.WithDialect", "a type without a package"},
	} {
		if err := foreignType(tt.path, "x.T"); !errors.Is(err, ErrUnguarded) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q: %s", tt.path, err, tt.want, tt.why)
		}
	}
}
