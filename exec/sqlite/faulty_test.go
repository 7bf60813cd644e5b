package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// faulty is a connector whose calls fail where a test wants them to, those of SQLite's hooks too.
type faulty struct{ exectest.Faults }

// faultyPool is a pool of one connection over the fixture, in a "file" of its own or in ":memory:", where every
// connection is another database.
func faultyPool(t *testing.T, place string) (*faulty, *sql.DB) {
	t.Helper()
	if place == "file" {
		place = filepath.Join(t.TempDir(), "test.db")
	}
	connector := &faulty{exectest.Faults{Connector: exectest.ConnectorOf(t, "sqlite3", place)}}
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(fixture); err != nil {
		t.Fatal(err)
	}
	return connector, pool
}

// fails has ask asked before each call: with the text of a statement that runs, with "prepare", or with the name of
// another call.
func (f *faulty) fails(ask func(event string) error) {
	if ask == nil {
		f.Fail(nil)
		return
	}
	f.Fail(func(event string) error {
		verb, text, _ := strings.Cut(event, " ")
		switch verb {
		case "query", "exec":
			event = text
		case "prepare":
			event = verb
		}
		return ask(event)
	})
}

// config is c for a DB on the pool of f.
func (f *faulty) config(c exec.Config) exec.Config {
	c.Unwrap = func(dc any) any { return faultyHooks{exectest.Unwrap(dc).(sqlite.Hooks), f} }
	return c
}

type faultyHooks struct {
	sqlite.Hooks
	faults *faulty
}

func (h faultyHooks) RegisterAuthorizer(callback func(int, string, string, string) int) {
	name := "authorizer off"
	if callback != nil {
		name = "authorizer on"
	}
	if err := h.faults.Event(name); err != nil {
		panic(err) // a method without an error has no other way
	}
	h.Hooks.RegisterAuthorizer(callback)
}

func (h faultyHooks) SetLimit(id, value int) int {
	if err := h.faults.Event(fmt.Sprintf("limit %d %d", id, value)); err != nil {
		panic(err)
	}
	return h.Hooks.SetLimit(id, value)
}

// catch returns a panic as an error.
func catch(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
