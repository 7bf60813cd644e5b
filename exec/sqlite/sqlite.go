package sqlite

import (
	"fmt"

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

var (
	_ exec.Dialect = Dialect{}
	_ exec.Sampler = Dialect{}
)

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

// language is how SQLite is named and written. It takes a name in double quotes for a string where no such name exists; a
// column with its table in front is safe from it.
var language = exec.Language{
	Name: "sqlite", Title: "SQLite", Text: sqltext.SQLite(), Backticks: true,
	Drivers: []string{"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/ncruces/go-sqlite3"},
}

// Language returns SQLite's name and rules.
func (Dialect) Language() exec.Language { return language }

// quote writes a name.
func quote(name string) string { return language.Quote(name) }

// mainSchema is the database that a connection was opened with.
const mainSchema = "main"

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	if c.CellBytes < 0 {
		return nil, fmt.Errorf("sqlite: GuardConfig.CellBytes is negative")
	}
	g := &guarded{dialect: d, config: c, seen: map[any]sight{}, installs: map[uintptr]int{}}
	return g.open, nil
}
