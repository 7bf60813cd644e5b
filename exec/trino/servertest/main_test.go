// Package servertest tests exec/trino on a real server of two nodes, in a module of its own since it needs a driver.
//
//	cd exec/trino/servertest && go test -v .
//
// The server is that of internal/servers.Trino: Java 17 and Maven, and 134 MB at the first start.
package servertest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	trinodriver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/servers"
)

var server = servers.Lazy{Start: servers.Trino}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// dsn is the data source name of a user in a schema of the catalog memory. Without attempts a server that is gone would
// be asked for two minutes.
func dsn(t testing.TB, user, schema string) string {
	return fmt.Sprintf("http://%s@127.0.0.1:%d?catalog=memory&schema=%s&request_retry_max_attempts=2", user, server.Get(t).Port, schema)
}

// pool is a pool of a user.
func pool(t testing.TB, user, schema string) *sql.DB {
	t.Helper()
	return poolOf(t, dsn(t, user, schema))
}

// poolOf is a pool of a data source name.
func poolOf(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	p, err := sql.Open("trino", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

var schemas int

// portable makes SQL of the suite Trino's, which knows no keys, no NATURAL JOIN and no type TEXT.
var portable = strings.NewReplacer(" PRIMARY KEY", "", " TEXT", " VARCHAR", "keyring NATURAL JOIN users", "keyring JOIN users USING (password)")

// open makes a schema of the catalog memory that script filled, as the user admin, and returns its name. The script is in
// statements that end in a semicolon and a line break.
func open(t testing.TB, script string) (schema string) {
	t.Helper()
	schemas++
	schema = fmt.Sprintf("s%d", schemas)
	p := pool(t, "admin", schema)
	run := func(text string) {
		if _, err := p.ExecContext(context.WithoutCancel(t.Context()), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	run("CREATE SCHEMA " + schema)
	t.Cleanup(func() {
		p, err := sql.Open("trino", dsn(t, "admin", schema))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		_, _ = p.Exec("DROP SCHEMA " + schema + " CASCADE")
	})
	for _, text := range strings.Split(script, ";\n") {
		if text = strings.TrimSuffix(strings.TrimSpace(text), ";"); text != "" {
			run(portable.Replace(text))
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return schema
}

// rules replaces the access rules of the server by text, and waits until they hold. They go with the test.
func rules(t testing.TB, text string) {
	t.Helper()
	s := server.Get(t)
	write := func(text string) {
		file := filepath.Join(s.Dir, "rules.json")
		if err := os.WriteFile(file+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond) // the server reads it at the first question after 100 ms
	}
	write(text)
	t.Cleanup(func() { write("{}") })
}

// readerRules let everybody select, but for the column password of tables called users, and strict not name either; admin
// may do all.
const readerRules = `{
	"catalogs": [{"user": "admin", "allow": "all"}, {"catalog": "(memory|tpch)", "allow": "read-only"}],
	"schemas": [{"user": "admin", "owner": true}, {"owner": false}],
	"tables": [
		{"user": "admin", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT"]},
		{"user": "strict", "table": "users", "privileges": ["SELECT"], "columns": [{"name": "password", "allow": false}, {"name": "name", "allow": false}]},
		{"table": "users", "privileges": ["SELECT"], "columns": [{"name": "password", "allow": false}]},
		{"privileges": ["SELECT"]}]
}`

// guarded is a DB of a user in a schema.
func guarded(t testing.TB, user, schema string, d trino.Dialect, c exec.Config) *exec.DB {
	t.Helper()
	if c.Limits == (exec.Limits{}) {
		c.Limits = patient
	}
	db, err := exec.New(pool(t, user, schema), d, c)
	if err == nil {
		err = db.Ready(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

var _ driver.Conn = (*trinodriver.Conn)(nil)
