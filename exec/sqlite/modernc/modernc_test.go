package modernc_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/exec/sqlite/modernc"
)

// A database without a C compiler, under guard.
func ExampleConnector() {
	dir, err := os.MkdirTemp("", "modernc-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pool := sql.OpenDB(modernc.Connector{DSN: "file:" + filepath.Join(dir, "shop.db")})
	defer pool.Close()
	if _, err := pool.Exec(
		"CREATE TABLE customers(id INTEGER, name TEXT); INSERT INTO customers VALUES (1, 'Ann')"); err != nil {
		log.Fatal(err)
	}

	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"customers.id"}}})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(context.Background(), "SELECT name FROM customers")
	fmt.Println(rows.Rows, err)
	_, err = db.Query(context.Background(), "SELECT id FROM customers")
	fmt.Println(err)
	// Output:
	// [[Ann]] <nil>
	// exec: refused (column): id: no such column, or you may not read it
}

// TestGuard: the guard decides and bounds as it does on any driver, and the connection is given back as it was.
func TestGuard(t *testing.T) {
	pool := sql.OpenDB(modernc.Connector{DSN: "file:" + filepath.Join(t.TempDir(), "test.db")})
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for text, reason := range map[string]string{
		"SELECT sum(a) FROM t":                             "",
		"SELECT a FROM t; DROP TABLE t":                    "several-statements",
		"SELECT load_extension('x')":                       "function",
		"SELECT sql FROM sqlite_schema":                    "table",
		"WITH x AS (SELECT 1) DELETE FROM t":               "not-read-only",
		"SELECT * FROM pragma_database_list":               "table",
		"SELECT a FROM t WHERE a = (SELECT max(a) FROM t)": "",
	} {
		_, err := db.Query(t.Context(), text)
		var refused *exec.RefusedError
		switch {
		case reason == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case reason != "" && (!errors.As(err, &refused)):
			t.Errorf("%s: %v, want a refusal (%s)", text, err, reason)
		case reason != "" && refused.Reason != reason:
			t.Errorf("%s: %v, want %s", text, err, reason)
		}
	}
	if _, err := pool.Exec("INSERT INTO t VALUES (3); CREATE TABLE u(a)"); err != nil {
		t.Errorf("the pool after the guard: %v", err)
	}
}
