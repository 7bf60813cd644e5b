package mysql

import (
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is MariaDB and MySQL for exec.New and texttosql.WithDialect. The zero Dialect works with
// github.com/go-sql-driver/mysql.
//
// Safe for concurrent use.
type Dialect struct{}

var _ exec.Dialect = Dialect{}

// Name returns "mysql".
func (Dialect) Name() string { return "mysql" }

// Title returns "MySQL".
func (Dialect) Title() string { return "MySQL" }

// Text returns MySQL's lexing rules.
func (Dialect) Text() sqltext.Dialect { return sqltext.MySQL() }

// Quote returns name in backticks.
func (Dialect) Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Placeholder returns "?".
func (Dialect) Placeholder(int) string { return "?" }

// Recognises reports whether d is go-sql-driver/mysql, by the import path of its type.
func (Dialect) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.PkgPath() == "github.com/go-sql-driver/mysql"
}
