//go:build !no_duckdb

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestDuckDB asks about a file of DuckDB.
func TestDuckDB(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.duckdb")
	db := testutil.Value(sql.Open("duckdb", path))(t)
	testutil.Value(db.Exec("CREATE TABLE orders(id INTEGER, status VARCHAR); INSERT INTO orders VALUES (1, 'open'), (2, " +
		"'shipped')"))(t)
	testutil.OK(t, db.Close())
	env := with(asking(t, always("SELECT count(*) AS n FROM orders WHERE status = 'open'")), "TEXTTOSQL_DSN",
		"duckdb:"+path)
	if code, out, told := try(t, env, "", "ask", "-s", "direct", "--csv",
		"How many orders are open?"); code != exitAnswer || out != "n\n1\n" {
		t.Errorf("code %d, %q, %s", code, out, told)
	}
	folder := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "orders.csv"), []byte("id,status\n1,open\n2,open\n3,shipped\n"),
		0o600))
	env["TEXTTOSQL_DSN"] = "duckdb:" + folder
	if code, out, told := try(t, env, "", "ask", "-s", "direct", "--csv",
		"How many orders are open?"); code != exitAnswer || out != "n\n2\n" {
		t.Errorf("a folder: code %d, %q, %s", code, out, told)
	}
	code, _, told := try(t, env, "", "check", "SELECT * FROM read_csv('/etc/passwd')")
	if code != exitRefused || strings.Count(told, "\n") != 1 {
		t.Errorf("a file: code %d, %s", code, told)
	}
}
