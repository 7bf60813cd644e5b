package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec/exectest"
)

func engine() exectest.Engine {
	return exectest.Engine{
		Dialect: Dialect{},
		Open: func(t testing.TB, script string) exectest.Database {
			folder := t.TempDir()
			file := filepath.Join(folder, "test.db")
			pool, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			if _, err := pool.Exec(script); err != nil {
				t.Fatal(err)
			}
			return exectest.Database{
				User: exectest.ConnectorOf(t, "sqlite", file),
				Contents: func(context.Context) (contents string, err error) {
					files, err := os.ReadDir(folder)
					for _, f := range files {
						data, err := os.ReadFile(filepath.Join(folder, f.Name()))
						if err != nil {
							return "", err
						}
						contents += fmt.Sprintf("%s %x\n", f.Name(), data)
					}
					return contents, err
				},
			}
		},
		State: func(ctx context.Context, conn *sql.Conn) (state string, err error) {
			for _, pragma := range []string{"query_only", "busy_timeout", "cache_size"} {
				var value int
				if err := conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&value); err != nil {
					return "", err
				}
				state += fmt.Sprintln(pragma, value)
			}
			_, same, err := limits(ctx, conn, exectest.Unwrap)
			if err != nil {
				return "", err
			}
			for id := range 12 {
				value, err := sqlite.Limit(same, id, -1)
				if err != nil {
					return "", err
				}
				state += fmt.Sprintln("limit", id, value)
			}
			_, began := conn.ExecContext(ctx, "BEGIN; ROLLBACK")
			return state + fmt.Sprint("transaction ", began), nil
		},
		Endless:   "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
		Lock:      "BEGIN EXCLUSIVE",
		InProcess: true,
		Fault:     errors.New("disk I/O error: injected"),
		Values: []exectest.Value{
			{SQL: "x'00ff'", Want: []byte{0, 255}}, {SQL: "0.5", Want: 0.5},
			{SQL: "CAST('2001-02-03' AS DATE)", Want: int64(2001)},
			{SQL: "d FROM (SELECT date('2001-02-03') AS d)", Want: "2001-02-03"},
		},
		Policies:     policies(),
		PolicyScript: secrets,
	}
}

func TestConformance(t *testing.T) { exectest.Conformance(t, engine()) }

func Example() {
	main()
	// Output:
	// SELECT name, since FROM customer ORDER BY since DESC
	//   [[Bob 2021-11-30] [Ada 2019-05-01]]
	// SELECT surname FROM customer
	//   exec: refused (column): surname: no such column, or you may not read it
	// SELECT * FROM customer
	//   exec: refused (column): * would read columns of customer that may not be read: name the columns that you need
	// SELECT load_extension('x.so')
	//   exec: refused (function): load_extension is not on the list of functions that may be called
	// DELETE FROM customer
	//   exec: refused (not-read-only): the statement starts with DELETE
}
