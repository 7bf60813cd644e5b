package exec_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// bare is a driver without the hooks that a guard needs, and its connections.
type bare struct{}

func (b bare) Connect(context.Context) (driver.Conn, error) { return b, nil }
func (b bare) Driver() driver.Driver                        { return b }
func (b bare) Open(string) (driver.Conn, error)             { return b, nil }
func (bare) Prepare(string) (driver.Stmt, error)            { return nil, errors.ErrUnsupported }
func (bare) Begin() (driver.Tx, error)                      { return nil, errors.ErrUnsupported }
func (bare) Close() error                                   { return nil }

// Nothing runs on a connection that cannot be guarded; the error says what to do.
func ExampleUnguardedError() {
	pool := sql.OpenDB(bare{})
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = db.Query(context.Background(), "SELECT 1")
	var unguarded *exec.UnguardedError
	if errors.As(err, &unguarded) {
		fmt.Println(unguarded.Reason)
		fmt.Println(strings.ReplaceAll(unguarded.Remedy, ", or", ",\nor"))
	}
	// Output:
	// the driver connection exec_test.bare has not the methods RegisterAuthorizer and SetLimit
	// open the database with github.com/mattn/go-sqlite3,
	// or where a library wraps that driver give the way to it with texttosql.WithDriverHook or exec.Config.Unwrap,
	// or set the field Hooks of sqlite.Dialect to adapt another one
}
