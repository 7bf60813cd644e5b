package exec

import (
	"database/sql/driver"
	"reflect"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// Language is how an engine is named and how its SQL is written. Name, Title and Text are required.
type Language struct {
	Name  string          // the engine's short lower-case name: "sqlite"
	Title string          // its name for people and prompts: "SQLite"
	Text  sqltext.Dialect // how its SQL is cut into tokens

	// QuoteName writes a name so that the engine takes it for a name, whatever stands in it; nil: in double quotes, which
	// are doubled inside. QuoteSchemaName writes the name of a schema, which may have a catalog in front; nil: QuoteName.
	QuoteName, QuoteSchemaName func(name string) string
	// Parameter writes parameter n of a statement, 1 is the first; nil: "?".
	Parameter func(n int) string
	// Backticks says that `x` is always a name, where "x" may be taken for a string: by SQLite if no column is called so,
	// by MySQL wherever Text has DoubleQuotedStrings.
	Backticks bool
	// Drivers are the import paths of the types of known drivers, or of the packages above them. They decide only which
	// dialect an error message names.
	Drivers []string
}

// Quote writes a name so that the engine takes it for a name.
func (l Language) Quote(name string) string {
	if l.QuoteName != nil {
		return l.QuoteName(name)
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteSchema writes the name of a schema as Quote does, with its catalog if it has one.
func (l Language) QuoteSchema(name string) string {
	if l.QuoteSchemaName != nil {
		return l.QuoteSchemaName(name)
	}
	return l.Quote(name)
}

// Placeholder writes parameter n of a statement, 1 is the first.
func (l Language) Placeholder(n int) string {
	if l.Parameter != nil {
		return l.Parameter(n)
	}
	return "?"
}

// Recognises reports whether d is a known driver of the engine, by the import path of its type.
func (l Language) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && slices.ContainsFunc(l.Drivers, func(path string) bool {
		return t.PkgPath() == path || strings.HasPrefix(t.PkgPath(), path+"/")
	})
}
