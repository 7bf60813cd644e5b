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
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	trinodriver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
)

var server = servers.Lazy{Start: servers.Trino}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// dsn is the data source name of a user in a schema of the catalog memory. Without attempts a server that is gone would
// be asked for two minutes.
func dsn(t testing.TB, user, schema string) string {
	return fmt.Sprintf("http://%s@127.0.0.1:%d?catalog=memory&schema=%s&request_retry_max_attempts=2", user,
		server.Get(t).Port, schema)
}

// pool is a pool of a user.
func pool(t testing.TB, user, schema string) *sql.DB {
	t.Helper()
	return poolOf(t, dsn(t, user, schema))
}

// poolOf is a pool of a data source name.
func poolOf(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	p := testutil.Value(sql.Open("trino", dsn))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

var schemas int

// portable makes SQL of the suite Trino's, which knows no keys, no NATURAL JOIN and no type TEXT.
var portable = strings.NewReplacer(" PRIMARY KEY", "", " TEXT", " VARCHAR", "keyring NATURAL JOIN users",
	"keyring JOIN users USING (password)")

// open makes a schema of the catalog memory that script filled, as the user admin, and returns its name. The script is
// in statements that end in a semicolon and a line break.
func open(t testing.TB, script string) (schema string) {
	t.Helper()
	schemas++
	schema = fmt.Sprintf("s%d", schemas)
	p := pool(t, "admin", schema)
	run := func(text string) {
		if _, err := p.ExecContext(context.WithoutCancel(t.Context()), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	run("CREATE SCHEMA " + schema)
	t.Cleanup(func() {
		p := testutil.Value(sql.Open("trino", dsn(t, "admin", schema)))(t)
		defer p.Close()
		_, _ = p.Exec("DROP SCHEMA " + schema + " CASCADE")
	})
	for _, text := range strings.Split(script, ";\n") {
		if text = strings.TrimSuffix(strings.TrimSpace(text), ";"); text != "" {
			run(portable.Replace(text))
		}
	}
	return schema
}

// rules replaces the access rules of the server by text, and waits until they hold. They go with the test.
func rules(t testing.TB, text string) {
	t.Helper()
	s := server.Get(t)
	write := func(text string) {
		file := filepath.Join(s.Dir, "rules.json")
		testutil.OK(t, os.WriteFile(file+".new", []byte(text), 0o644))
		testutil.OK(t, os.Rename(file+".new", file))
		time.Sleep(150 * time.Millisecond) // the server reads it at the first question after 100 ms
	}
	write(text)
	t.Cleanup(func() { write("{}") })
}

// readerRules let everybody select, but for the column password of tables called users, and strict not name either;
// admin may do all.
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

// engine is Trino for the suite, as one user. A schema is made once for the whole test, until its owner changes
// something: a table takes Trino longer than most of what is tried on it.
func engine(whole *testing.T, user string) exectest.Engine {
	made := map[string]string{}
	return exectest.Engine{
		Dialect:     trino.Dialect{},
		State:       func(_ context.Context, conn *sql.Conn) (string, error) { return headers(conn) },
		Endless:     dbtest.Endless,
		VersionSeen: 6 * time.Second, // the guard believes a version five times as long as it took
		Deadline:    4 * time.Second,
		Open: func(t testing.TB, script string) exectest.Database {
			schema := made[script]
			if schema == "" {
				schema = open(whole, script)
				made[script] = schema
			}
			owner := pool(t, "admin", schema)
			sums := testutil.Value(dbtest.Texts(t.Context(), owner,
				"SELECT 'SELECT ''' || table_name || ''', count(*), to_hex(checksum(ROW(' ||"+
					" array_join(array_agg(column_name ORDER BY ordinal_position), ', ') || '))) FROM ' || table_name "+
					"FROM information_schema.columns"+
					" JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = '"+schema+
					"' AND table_type = 'BASE TABLE'"+
					" GROUP BY table_name ORDER BY 1"))(t)
			return exectest.Database{
				User:     exectest.ConnectorOf(t, "trino", dsn(t, user, schema)),
				Owner:    rewriting{exectest.ConnectorOf(t, "trino", dsn(t, "admin", schema)), func() { delete(made, script) }},
				Contents: func(ctx context.Context) (string, error) { return contents(ctx, owner, schema, sums) },
			}
		},
		Skip: map[string]string{
			"odd_names": "the connector memory has names in small letters",
			"inspect":   "Trino knows no keys, nor NOT NULL in the catalog memory: TestInspect",
			"policy": "a policy of columns needs the server's access rules, which differ from case to case: " +
				"exec/trino's tests of its policy",
		},
	}
}

// headers are what the driver keeps between statements: catalog, schema, user, properties of the session, prepared
// statements, a transaction. The server keeps nothing.
func headers(conn *sql.Conn) (out string, err error) {
	err = conn.Raw(func(c any) error {
		v := reflect.ValueOf(exectest.Unwrap(c)).Elem().FieldByName("httpHeaders")
		out = strings.ReplaceAll(fmt.Sprint(v), "] ", "]\n")
		return nil
	})
	return out, err
}

// contents are the relations of the schema, the rows of its first tables, and the schemas, by one statement.
func contents(ctx context.Context, owner *sql.DB, schema string, sums []string) (string, error) {
	query := "SELECT table_name, 0, table_type FROM information_schema.tables WHERE table_schema = '" + schema +
		"' UNION ALL SELECT schema_name, 0, '' FROM information_schema.schemata"
	for _, sum := range sums {
		query += " UNION ALL " + sum
	}
	rows, err := dbtest.Texts(ctx, owner, query+" ORDER BY 1, 2, 3")
	return strings.Join(rows, "\n") + "\n", err
}

// rewriting makes statements that the connector memory does not know, ALTER and DELETE among them, ones that it does.
type rewriting struct {
	driver.Connector
	used func()
}

func (r rewriting) Connect(ctx context.Context) (driver.Conn, error) {
	r.used()
	c, err := r.Connector.Connect(ctx)
	return rewritingConn{c}, err
}

type rewritingConn struct{ driver.Conn }

// rewritten are the statements of the suite's owner.
var rewritten = map[string][]string{
	"ALTER TABLE x ADD COLUMN c INTEGER": {"DROP TABLE x", "CREATE TABLE x(a INTEGER, b INTEGER, c INTEGER)"},
	"ALTER TABLE x RENAME COLUMN b TO d": {"DROP TABLE x", "CREATE TABLE x(a INTEGER, d INTEGER, c INTEGER)"},
	"UPDATE t SET a = a":                 {"INSERT INTO t SELECT * FROM t WHERE a = 1"},
	"DELETE FROM t WHERE a = 0": {"CREATE TABLE t2 AS SELECT * FROM t WHERE a <> 0", "DROP TABLE t",
		"ALTER TABLE t2 RENAME TO t"},
	"CREATE VIEW v AS SELECT a FROM x": nil,
}

func (c rewritingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	prepare := c.Conn.(driver.ConnPrepareContext).PrepareContext
	list := rewritten[text]
	for len(list) > 1 {
		s, err := prepare(ctx, list[0])
		if err != nil {
			return nil, err
		}
		if _, err := s.(driver.StmtExecContext).ExecContext(ctx, nil); err != nil {
			return nil, err
		}
		list = list[1:]
	}
	if len(list) == 1 {
		text = list[0]
	}
	return prepare(ctx, text)
}

// TestConformance runs the suite as a user whom access rules bind, and what depends on that as another. TestHostile is
// of a user who may do all, too.
func TestConformance(t *testing.T) {
	rules(t, readerRules)
	for _, run := range []struct {
		user  string
		parts []string // nil: all
	}{
		{"reader", nil},
		{"strict", []string{"policy_names"}},
	} {
		t.Run(run.user, func(t *testing.T) {
			e := engine(t, run.user)
			for _, part := range []string{"names", "payloads", "values", "limits", "cancel", "state", "faults", "stuck_driver",
				"policy_names", "denied_is_absent",
				"version", "plans", "samples", "busy", "once", "session", "parallel"} {
				if run.parts != nil && !slices.Contains(run.parts, part) {
					e.Skip[part] = "as reader"
				}
			}
			if run.parts == nil {
				e.Skip["policy_names"] = "as strict, whom the server denies what the policies there deny"
			}
			exectest.Conformance(t, e)
		})
	}
}
