package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestStar: a star runs without what looks like a secret, and names it; what the policy denies it does not name.
func TestStar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := testutil.Value(sql.Open("sqlite3", path))(t)
	testutil.Value(db.Exec("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password_hash TEXT, salary INT); " +
		"INSERT INTO users VALUES (1, 'Ann', 'x', 7)"))(t)
	testutil.OK(t, db.Close())
	for _, tt := range []struct{ why, policy, out, told string }{
		{"a secret", `{}`, "id,name,salary\n1,Ann,7\n", "users.password_hash is left out"},
		{"a denied column beside it", `{"DenyColumns": ["users.salary"]}`, "id,name\n1,Ann\n",
			"users.password_hash is left out"},
		{"a denied secret", `{"DenyColumns": ["users.password_hash"]}`, "id,name,salary\n1,Ann,7\n",
			"columns that may not be read are left out"},
	} {
		for _, all := range [][]string{nil, {"--all"}} {
			args := append([]string{"sql", "--db", path, "--policy", file(t, "policy.json", tt.policy), "--csv"}, all...)
			code, out, told := try(t, nil, "", append(args, "SELECT * FROM users")...)
			if code != exitAnswer || out != tt.out || !strings.Contains(told, tt.told) || strings.Contains(told, "salary") {
				t.Errorf("%s: code %d %q %q", tt.why, code, out, told)
			}
		}
	}
}
