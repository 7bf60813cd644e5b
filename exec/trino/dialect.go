package trino

import (
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is Trino for exec.New and texttosql.WithDialect. The zero Dialect reads the catalog that the DSN names, with all
// of its schemas, through github.com/trinodb/trino-go-client.
//
// Safe for concurrent use.
type Dialect struct {
	// Catalogs are further catalogs whose tables may be read: those of one question may be in several. In them the
	// schema of a table is called "catalog.schema", also in a [exec.Policy].
	Catalogs []string
}

var _ exec.Dialect = Dialect{}

// Name returns "trino".
func (Dialect) Name() string { return "trino" }

// Title returns "Trino".
func (Dialect) Title() string { return "Trino" }

// Text returns Trino's lexing rules.
func (Dialect) Text() sqltext.Dialect { return sqltext.Trino() }

// Quote returns name in double quotes. Trino does not tell names apart by their case, in quotes neither.
func (Dialect) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// QuoteSchema returns the schema of a table in quotes. What stands before its first dot is a catalog.
func (d Dialect) QuoteSchema(name string) string {
	if catalog, schema, ok := strings.Cut(name, "."); ok {
		return d.Quote(catalog) + "." + d.Quote(schema)
	}
	return d.Quote(name)
}

// Placeholder returns "?".
func (Dialect) Placeholder(int) string { return "?" }

// Recognises reports whether d is trinodb/trino-go-client, by the import path of its type.
func (Dialect) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.PkgPath() == "github.com/trinodb/trino-go-client/trino"
}
