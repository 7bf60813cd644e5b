package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestSQLSession: statements from a pipe end with semicolons, and the first error ends the session with its status.
func TestSQLSession(t *testing.T) {
	db := filepath.Join(t.TempDir(), "shop.db")
	pool := testutil.Value(sql.Open("sqlite3", db))(t)
	defer pool.Close()
	testutil.Value(
		pool.Exec(`CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bo;b')`))(t)
	for _, tt := range []struct {
		why, typed string
		code       int
		out, told  string // parts of the output and of the error
	}{
		{"two statements", "SELECT 1 AS a;\nSELECT 2 AS b;\n", exitAnswer, "a\n1\nb\n2\n", ""},
		{"two on a line", "SELECT 1 AS a; SELECT 2 AS b;", exitAnswer, "a\n1\nb\n2\n", ""},
		{"lines of one", "SELECT name\nFROM customers\n\nWHERE id = 1;", exitAnswer, "name\nAnn\n", ""},
		{"a semicolon in a text", "SELECT id FROM customers WHERE name = 'Bo;b';", exitAnswer, "id\n2\n", ""},
		{"a text of two lines", "SELECT 'a;\nb' AS x;", exitAnswer, "x\n\"a;\nb\"\n", ""},
		{"the end of the input for the last semicolon", "SELECT 1 AS a", exitAnswer, "a\n1\n", ""},
		{"comments and blanks", "-- a; b\n\n;;\n", exitAnswer, "", ""},
		{"a command behind a comment", "-- a\n\\q\nSELECT 1 AS a;", exitAnswer, "", ""},
		{"no command in a comment", "/* a\n\\q\n*/ SELECT 1 AS a;", exitAnswer, "a\n1\n", ""},
		{"nothing", "", exitAnswer, "", ""},
		{"tables", "\\d\n", exitAnswer, `"customers"`, ""},
		{"a table", "\\d customers\n", exitAnswer, `CREATE TABLE "customers"`, ""},
		{"an unknown table", "\\d custommers\nSELECT 1;", exitUsage, "", "customers"},
		{"a statement without an end", "SELECT 1" + strings.Repeat("\n  + 1", 200_000), exitUsage, "",
			"a statement has more than"},
		{"the end", "\\q\nSELECT 1 AS a;", exitAnswer, "", ""},
		{"an unknown command", "\\x\n", exitUsage, "", `\?`},
		{"a writing statement ends it", "SELECT 1 AS a;\nDELETE FROM customers;\nSELECT 2 AS b;", exitRefused, "a\n1\n",
			"only reads"},
	} {
		code, out, told := try(t, nil, tt.typed, "sql", "-d", db, "--csv")
		if code != tt.code || !strings.Contains(out, tt.out) || tt.out == "" && out != "" ||
			!strings.Contains(strings.ToLower(told), tt.told) {
			t.Errorf("%s: %d %q %q", tt.why, code, out, told)
		}
		if strings.Contains(out, "b\n2") != strings.Contains(tt.out, "b\n2") {
			t.Errorf("%s: a statement after the end ran: %q", tt.why, out)
		}
	}
	if code, out, told := try(t, nil, "SELECT 1 AS a;", "sql", "-d", db, "--csv", ""); code == exitAnswer || out != "" {
		t.Errorf("an empty statement: %d %q %q", code, out, told)
	}
	limits := file(t, "limits", `{"Answer": {"Rows": 1}}`)
	code, out, _ := try(t, nil, "SELECT name FROM customers;\nSELECT 2 AS b;", "sql", "-d", db, "--csv", "--limits",
		limits)
	if code != exitCut || !strings.HasSuffix(out, "b\n2\n") {
		t.Errorf("rows that a limit cuts: %d %q", code, out)
	}
}
