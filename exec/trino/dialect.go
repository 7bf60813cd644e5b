package trino

import (
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

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

var language = exec.Language{
	Name: "trino", Title: "Trino", Text: sqltext.Trino(), QuoteSchemaName: quoteSchema,
	Drivers: []string{"github.com/trinodb/trino-go-client/trino"},
}

// Language returns Trino's name and its lexing rules. Trino does not tell names apart by their case, in quotes neither.
// What stands before the first dot in the schema of a table is a catalog.
func (Dialect) Language() exec.Language { return language }

// quote writes a name in double quotes.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteSchema(name string) string {
	if catalog, schema, ok := strings.Cut(name, "."); ok {
		return quote(catalog) + "." + quote(schema)
	}
	return quote(name)
}

// literal writes a string.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	g := &pool{dialect: d, config: c}
	return g.open, nil
}

// Classify gives an error of a statement its type.
func (Dialect) Classify(err error) error { return classify(err) }

// catalogs returns the catalog of the connection, and then the others that the dialect reads, each once.
func (d Dialect) catalogs(own string) []string {
	out := []string{own}
	for _, name := range d.Catalogs {
		if !strings.EqualFold(name, own) {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}
