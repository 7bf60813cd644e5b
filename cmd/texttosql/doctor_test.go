package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestDoctor: what keeps questions from being answered is bad and ends with 1; what may be meant so is told.
func TestDoctor(t *testing.T) {
	db := shopFile(t)
	model := asking(t, always("ok"))
	empty := file(t, "empty.db", "")
	for _, tt := range []struct {
		why  string
		env  map[string]string
		args []string
		code int
		want []string
	}{
		{"no model", nil, []string{"-d", db}, exitAnswer, []string{"ok   database  SQLite 3.", "ok   schema    4 tables",
			"ok   rights", "see  model"}},
		{"all", model, []string{"-d", db}, exitAnswer, []string{"ok   model     openai:fake, and what it needs is set"}},
		{"a model that answers", model, []string{"-d", db, "--call"}, exitAnswer,
			[]string{"ok   model     openai:fake answers"}},
		{"a server that is not there", with(model, "OPENAI_BASE_URL", "http://127.0.0.1:9"), []string{"-d", db, "--call"},
			exitError,
			[]string{"bad  model     openai:fake: cannot reach"}},
		{"no key", with(model, "OPENAI_API_KEY", ""), []string{"-d", db}, exitError,
			[]string{"bad  model", "OPENAI_API_KEY is not set"}},
		{"no database", model, nil, exitError, []string{"bad  database  no database is named"}},
		{"no file", model, []string{"-d", "/nowhere.db"}, exitError, []string{"bad  database", "no such file"}},
		{"no table", model, []string{"-d", empty}, exitError, []string{"bad  schema"}},
		{"a policy with a slip", model, []string{"-d", db, "--policy", file(t, "p.json", `{"DenyTabels": []}`)}, exitError,
			[]string{"bad  database  --policy", "DenyTabels"}},
		{"a server", model, []string{"-d", "postgres://u:" + secret + "@127.0.0.1:9/x"}, exitError,
			[]string{"bad  database", "no server"}},
	} {
		code, out, told := try(t, tt.env, "", append([]string{"doctor"}, tt.args...)...)
		if code != tt.code || (told != "") != (code == exitError) || code == exitError &&
			told != "texttosql: 1 check failed\n" {
			t.Errorf("%s: code %d, %q\n%s", tt.why, code, told, out)
		}
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", tt.why, want, out)
			}
		}
	}
}

// TestDoctorOfServers: a role that may do more than read is told, and one that may not is fine.
func TestDoctorOfServers(t *testing.T) {
	owner := postgresOf(t, "examined", "CREATE TABLE t (id INT); CREATE ROLE looks LOGIN; CREATE ROLE writes LOGIN; "+
		"GRANT SELECT ON t TO looks; GRANT SELECT, UPDATE ON t TO writes")
	port := mariaDBShop(t)
	pool := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/shop?multiStatements=true", port)))(t)
	defer pool.Close()
	testutil.Value(pool.Exec("CREATE TABLE t (id INT); CREATE USER looks; CREATE USER writes; " +
		"GRANT SELECT ON shop.* TO looks; GRANT SELECT, UPDATE ON shop.* TO writes"))(t)
	defer pool.Exec("DROP USER looks; DROP USER writes")
	mariaDB := func(user string) string { return fmt.Sprintf("mysql://%s@127.0.0.1:%d/shop", user, port) }
	for _, tt := range []struct{ dsn, want string }{
		{owner, "see  rights    the database user postgres is a superuser"},
		{strings.Replace(owner, "//postgres:", "//writes:", 1), "see  rights    the role may change 1 of"},
		{strings.Replace(owner, "//postgres:", "//looks:", 1), "ok   rights"},
		{mariaDB("root"), "see  rights"},
		{mariaDB("writes"), "see  rights    the database user may do more than read (UPDATE"},
		{mariaDB("looks"), "ok   rights"},
	} {
		code, out, told := try(t, nil, "", "doctor", "-d", tt.dsn)
		if code != exitAnswer || !strings.Contains(out, tt.want) || !strings.Contains(out, "schema    1 table") {
			t.Errorf("code %d, no %q in\n%s%s", code, tt.want, out, told)
		}
	}
}
