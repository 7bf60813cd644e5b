package duckdb

import (
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is DuckDB for exec.New and texttosql.WithDialect, on a handle of [Open] or [OpenFolder]. Any other handle is
// refused, with exec.ErrUnguarded.
//
// Safe for concurrent use.
type Dialect struct{}

var _ exec.Dialect = Dialect{}

// Name returns "duckdb".
func (Dialect) Name() string { return "duckdb" }

// Title returns "DuckDB".
func (Dialect) Title() string { return "DuckDB" }

// Text returns DuckDB's lexing rules.
func (Dialect) Text() sqltext.Dialect { return sqltext.DuckDB() }

// Quote returns name in double quotes.
func (Dialect) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Placeholder returns "?".
func (Dialect) Placeholder(int) string { return "?" }

// Recognises reports whether d is github.com/duckdb/duckdb-go, by the import path of its type.
func (Dialect) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && strings.HasPrefix(t.PkgPath(), "github.com/duckdb/duckdb-go/")
}
