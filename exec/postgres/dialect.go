package postgres

import (
	"database/sql/driver"
	"reflect"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is PostgreSQL for exec.New and texttosql.WithDialect. The zero Dialect works with github.com/jackc/pgx/v5/stdlib
// and github.com/lib/pq.
//
// Safe for concurrent use.
type Dialect struct {
	// KeepRole leaves a superuser's role as it is. Otherwise the guard gives it up for pg_read_all_data while it holds
	// a connection.
	KeepRole bool
}

var _ exec.Dialect = Dialect{}

// Name returns "postgres".
func (Dialect) Name() string { return "postgres" }

// Title returns "PostgreSQL".
func (Dialect) Title() string { return "PostgreSQL" }

// Text returns PostgreSQL's lexing rules.
func (Dialect) Text() sqltext.Dialect { return sqltext.PostgreSQL() }

// Quote returns name in double quotes.
func (Dialect) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Placeholder returns "$1" for 1.
func (Dialect) Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Recognises reports whether d is pgx or lib/pq, by the import path of its type.
func (Dialect) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && (strings.HasPrefix(t.PkgPath(), "github.com/jackc/pgx/") || t.PkgPath() == "github.com/lib/pq")
}
