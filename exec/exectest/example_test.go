package exectest_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// A test of a dialect, in a file of its package. Other engines make a database or a schema on a server in Open, and
// remove it with t.Cleanup.
func ExampleConformance() {
	// func TestConformance(t *testing.T) {
	test := func(t *testing.T) {
		exectest.Conformance(t, exectest.Engine{
			Dialect: sqlite.Dialect{},
			Open: func(t testing.TB, script string) exectest.Database {
				file := filepath.Join(t.TempDir(), "test.db")
				pool, err := sql.Open("sqlite3", file)
				if err == nil {
					_, err = pool.Exec(script)
				}
				if err != nil {
					t.Fatal(err)
				}
				pool.Close()
				return exectest.Database{User: exectest.ConnectorOf(t, "sqlite3", file)}
			},
			State: func(ctx context.Context, conn *sql.Conn) (state string, err error) {
				err = conn.QueryRowContext(ctx, "PRAGMA query_only").Scan(&state)
				return state, err
			},
			Endless:  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
			Payloads: []exectest.Payload{{Name: "files", SQL: "ATTACH 'x.db' AS x", Expect: "refuse"}},
			Values:   []exectest.Value{{SQL: "x'00ff'", Want: []byte{0, 255}}},
		})
	}
	_ = test
}

// A test of somebody else's program, whose tool runs statements. It logs "hostile statements executed: 0 of 60".
func ExampleCheckTool() {
	var callTool func(ctx context.Context, text string) error // a call of MCP, or a request of HTTP
	var dump func(ctx context.Context) (string, error)

	// func TestTool(t *testing.T) {
	test := func(t *testing.T) {
		// your tool's error, also of a rejected call
		run := func(ctx context.Context, text string) error { return callTool(ctx, text) }
		// all rows, as one text
		contents := func(ctx context.Context) (string, error) { return dump(ctx) }
		exectest.CheckTool(t, "sqlite", run, contents)
	}
	_ = test
}

// A connection that breaks while rows are read.
func ExampleFaults() {
	connector, err := (&sqliteDriver{}).OpenConnector("file:faults?mode=memory&cache=shared")
	if err != nil {
		fmt.Println(err)
		return
	}
	faults := &exectest.Faults{Connector: connector}
	pool := sql.OpenDB(faults)
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Unwrap: exectest.Unwrap})
	if err != nil {
		fmt.Println(err)
		return
	}
	faults.Fail(func(event string) error {
		if event == "run SELECT 1" {
			return errors.New("disk I/O error")
		}
		return nil
	})
	_, err = db.Query(context.Background(), "SELECT 1")
	fmt.Println(err, exec.IsRejection(err))
	faults.Fail(nil)
	table, err := db.Query(context.Background(), "SELECT 1")
	fmt.Println(table.Rows, err)
	// Output:
	// sqlite: reading the database: disk I/O error false
	// [[1]] <nil>
}

// sqliteDriver opens connectors of go-sqlite3, which has none.
type sqliteDriver struct{}

func (sqliteDriver) OpenConnector(name string) (driver.Connector, error) { return connector(name), nil }

type connector string

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(string(c)) }

func (connector) Driver() driver.Driver {
	pool, err := sql.Open("sqlite3", "")
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	return pool.Driver()
}
