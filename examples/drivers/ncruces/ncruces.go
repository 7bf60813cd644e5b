// Package ncruces guards databases that github.com/ncruces/go-sqlite3 opens, which needs no C compiler. Copy it.
//
//	pool, err := sql.Open("sqlite3", "file:shop.db?mode=ro")
//	engine, err := texttosql.New(pool, model, texttosql.WithDialect(ncruces.Dialect()))
package ncruces

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/texttosql/texttosql/exec/sqlite"
)

// Dialect is the SQLite dialect for pools of github.com/ncruces/go-sqlite3/driver.
func Dialect() sqlite.Dialect {
	return sqlite.Dialect{Hooks: func(conn any) sqlite.Hooks {
		if c, ok := conn.(driver.Conn); ok {
			return hooks{c.Raw()}
		}
		return nil
	}}
}

type hooks struct{ conn *sqlite3.Conn }

func (c hooks) RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int) {
	if callback == nil {
		c.must(c.conn.SetAuthorizer(nil))
		return
	}
	c.must(c.conn.SetAuthorizer(func(op sqlite3.AuthorizerActionCode, arg1, arg2, database,
		_ string) sqlite3.AuthorizerReturnCode {
		return sqlite3.AuthorizerReturnCode(callback(int(op), arg1, arg2, database))
	}))
}

// must panics: the guard recovers and refuses the statement.
func (hooks) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (c hooks) SetLimit(id, value int) int { return c.conn.Limit(sqlite3.LimitCategory(id), value) }
