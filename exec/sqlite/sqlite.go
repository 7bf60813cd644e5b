package sqlite

import (
	"context"
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is SQLite for exec.New. The zero Dialect works with every driver whose connections have the two methods of
// [Hooks], as those of github.com/mattn/go-sqlite3 do.
//
// Safe for concurrent use.
type Dialect struct {
	// Hooks returns the hooks of a driver connection that has them under other names or types: a few lines that adapt
	// the driver. It is called with what exec.Config.Unwrap returned. nil, and a nil result, mean that the connection
	// itself has to be a Hooks.
	Hooks func(driverConn any) Hooks

	// Authorizer is the application's own authorizer, for an application that registers one on its connections. SQLite
	// holds one a connection and cannot say which, so the guard asks this one too while it holds the connection and
	// registers it again afterwards. nil: afterwards there is none.
	Authorizer func(op int, arg1, arg2, database string) int
}

// Hooks is what the guard needs of a driver connection. Both methods are called from inside sql.Conn.Raw, one at a
// time.
type Hooks interface {
	// RegisterAuthorizer sets the callback that sqlite3_set_authorizer takes; nil removes it. The arguments are the
	// action code, its two arguments and the name of the database, "" for NULL. The result is SQLite's: 0 allows, 1
	// denies.
	RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int)
	// SetLimit calls sqlite3_limit and returns the old value.
	SetLimit(id, value int) (old int)
}

// Name returns "sqlite".
func (Dialect) Name() string { return "sqlite" }

// Title returns "SQLite".
func (Dialect) Title() string { return "SQLite" }

// Text returns SQLite's lexing rules.
func (Dialect) Text() sqltext.Dialect { return sqltext.SQLite() }

// mainSchema is the database that a connection was opened with.
const mainSchema = "main"

// DefaultSchema returns "main".
func (Dialect) DefaultSchema(context.Context, exec.Queryer) (string, error) { return mainSchema, nil }

// Placeholder returns "?".
func (Dialect) Placeholder(int) string { return "?" }

// Quote returns name in double quotes. SQLite takes that for a string where no such name exists; a column with its
// table in front is safe from it.
func (Dialect) Quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Recognises reports whether d is one of the drivers known to be SQLite's, by the import path of its type. The drivers
// need not be linked for that.
func (Dialect) Recognises(d driver.Driver) bool {
	t := reflect.TypeOf(d)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return false
	}
	for _, path := range []string{"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/ncruces/go-sqlite3"} {
		if t.PkgPath() == path || strings.HasPrefix(t.PkgPath(), path+"/") {
			return true
		}
	}
	return false
}
