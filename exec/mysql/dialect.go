package mysql

import (
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is MariaDB and MySQL for exec.New and texttosql.WithDialect. The zero Dialect works with
// github.com/go-sql-driver/mysql and a server whose sql_mode has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES.
//
// Safe for concurrent use.
type Dialect struct {
	// MariaDB makes the title "MariaDB", for prompts and people. The guard does not need it: it asks the server.
	MariaDB bool
	// ANSIQuotes says that the sql_mode of the connections has ANSI_QUOTES, or ANSI: "x" is a name and no string. A
	// connection on which it is otherwise is refused, with exec.ErrUnguarded.
	ANSIQuotes bool
	// NoBackslashEscapes says the same of NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash.
	NoBackslashEscapes bool
}

var _ exec.Dialect = Dialect{}

// Name returns "mysql".
func (Dialect) Name() string { return "mysql" }

// Title returns "MySQL", or "MariaDB".
func (d Dialect) Title() string {
	if d.MariaDB {
		return "MariaDB"
	}
	return "MySQL"
}

// Text returns MySQL's lexing rules, as the fields say.
func (d Dialect) Text() sqltext.Dialect {
	text := sqltext.MySQL()
	text.DoubleQuotedStrings = !d.ANSIQuotes
	text.Backslash = !d.NoBackslashEscapes
	return text
}

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
