package servertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	trinodriver "github.com/trinodb/trino-go-client/trino"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// ruled puts the server under the rules of trino.AccessRules for a user, and lets the others do all.
func ruled(t *testing.T, p exec.Policy, user, place string) {
	t.Helper()
	raw := testutil.Value(trino.AccessRules(p, user, "memory", schemaOf(t, place)))(t)
	var file map[string][]any
	testutil.OK(t, json.Unmarshal(raw, &file))
	type m = map[string]any
	for section, rest := range map[string]m{
		"catalogs": {"allow": "all"}, "schemas": {"owner": true},
		"tables": {"privileges": []string{"SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP",
			"GRANT_SELECT"}},
		"functions":                 {"privileges": []string{"EXECUTE", "GRANT_EXECUTE", "OWNERSHIP"}},
		"procedures":                {"privileges": []string{"EXECUTE"}},
		"system_session_properties": {"allow": true}, "catalog_session_properties": {"allow": true},
		"queries":            {"allow": []string{"execute", "kill", "view"}},
		"system_information": {"allow": []string{"read", "write"}},
	} {
		rest["user"] = ".*"
		file[section] = append(file[section], rest)
	}
	raw = testutil.Value(json.Marshal(file))(t)
	rules(t, string(raw))
}

// schemaOf is the schema of memory.place and tpch.tiny as admin sees it.
func schemaOf(t *testing.T, place string) *schema.Schema {
	t.Helper()
	s, err := guarded(t, "admin", place, trino.Dialect{Catalogs: []string{"tpch"}},
		exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}).Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	here := func(t *schema.Table) bool { return s.SchemaOf(t) == place || t.Schema == "tpch.tiny" }
	return s.Project(here, nil)
}

// hostile are the statements of the guard's own tests.
func hostile(t *testing.T) (out []string) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(raw)) {
		text = strings.TrimSuffix(text, "\n")
		if strings.HasPrefix(text, `"`) {
			text = testutil.Value(strconv.Unquote(text))(t)
		}
		if !strings.HasPrefix(text, "# ") {
			out = append(out, text)
		}
	}
	return out
}

// TestHostile: nothing hostile runs as a user who may do all, nor as one under rules, and nothing is changed.
func TestHostile(t *testing.T) {
	place := open(t, dbtest.Fixture)
	ruled(t, exec.Policy{AllowTables: []string{place + ".t", place + ".users", "tpch.tiny.nation"}}, "reader", place)
	owner := pool(t, "admin", place)
	look := func() string {
		text := ""
		for _, query := range []string{"SELECT * FROM t ORDER BY a", "SELECT * FROM users ORDER BY id", "SHOW TABLES",
			"SHOW SCHEMAS",
			"SHOW FUNCTIONS FROM memory." + place, "SHOW CATALOGS", "SHOW ROLES"} {
			rows := testutil.Value(dbtest.Texts(t.Context(), owner, query))(t)
			text += fmt.Sprintln(rows)
		}
		return text
	}
	before := look()
	// As if a function and tables of these names were there.
	testutil.Value(owner.Exec("CREATE FUNCTION memory." + place + ".spy(x bigint) RETURNS bigint RETURN x"))(t)
	texts := hostile(t)
	var users sync.WaitGroup
	for _, user := range []string{"admin", "reader"} {
		var sent texted
		db := counted(t, user, place, "", &sent, exec.Config{Limits: patient})
		testutil.OK(t, db.Ready(t.Context()))
		users.Go(func() { refuses(t, user, db, &sent, texts) })
	}
	users.Wait()
	testutil.Value(owner.Exec("DROP FUNCTION memory." + place + ".spy(bigint)"))(t)
	if after := look(); after != before {
		t.Errorf("the database changed: %s", after)
	}
}

// refuses has a user ask all that is hostile, of which nothing may be sent.
func refuses(t *testing.T, user string, db *exec.DB, sent *texted, texts []string) {
	for _, text := range texts {
		sent.all()
		if table, err := db.Query(t.Context(), text); !exec.IsRejection(err) {
			t.Errorf("%s: %s: %v, %v", user, text, table, err)
		}
		for _, said := range sent.all() { // the guard's own question for the version may be among them
			if !strings.HasPrefix(said, "SELECT to_hex(checksum(") && !strings.HasPrefix(said, "SELECT current_user") {
				t.Errorf("%s: %s: %s was sent", user, text, said)
			}
		}
	}
}

// texted are the texts of the statements sent.
type texted struct {
	mu    sync.Mutex
	texts []string
}

// all returns those sent since the last call.
func (s *texted) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := s.texts
	s.texts = nil
	return texts
}

// patient are limits of a busy machine.
var patient = exec.Limits{Candidate: exec.Bounds{Timeout: time.Minute}, Answer: exec.Bounds{Timeout: time.Minute}}

// counted is a DB whose statements are written down as they are sent.
func counted(t *testing.T, user, place, more string, sent *texted, c exec.Config) *exec.DB {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "_") + user
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			sent.mu.Lock()
			sent.texts = append(sent.texts, string(text))
			sent.mu.Unlock()
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	testutil.OK(t, trinodriver.RegisterCustomClient(name, client))
	t.Cleanup(func() { trinodriver.DeregisterCustomClient(name) })
	p := poolOf(t, dsn(t, user, place)+"&custom_client="+name+more)
	return dbtest.NewDB(t, p, trino.Dialect{Catalogs: []string{"tpch"}}, c)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCost: what a statement costs beside itself, in statements sent. The question for the version, whose answer is
// believed for a second at least, does not count.
func TestCost(t *testing.T) {
	place := open(t, dbtest.PolicyScript)
	tables := []string{place + ".t", place + ".users", place + ".names", "tpch.tiny.nation"}
	ruled(t, exec.Policy{DenyColumns: []string{"users.password"}, AllowTables: tables}, "reader", place)
	for _, test := range []struct {
		user   string
		policy exec.Policy
		ready  int
		first  int // a statement over a view that the guard never saw
	}{
		// The session, the relations, two lists of system.metadata, whether views can be read, and whether the user may
		// write.
		{"admin", exec.Policy{}, 6, 2},
		// That, and twice whether the column is denied; then the view's tables, and those of its definition.
		{"reader", exec.Policy{DenyColumns: []string{"users.password"}}, 8, 4},
	} {
		t.Run(test.user, func(t *testing.T) {
			var sent texted
			db := counted(t, test.user, place, "", &sent, exec.Config{Policy: test.policy, Limits: patient})
			expect := func(what string, err error, want int) {
				texts := slices.DeleteFunc(sent.all(), func(text string) bool {
					return strings.HasPrefix(text, "SELECT to_hex(checksum(")
				})
				if err != nil || len(texts) != want {
					t.Errorf("%s: %d statements, want %d, %v:\n%s", what, len(texts), want, err, strings.Join(texts, "\n"))
				}
			}
			query := func(text string) error { _, err := db.Query(t.Context(), text); return err }
			expect("Ready", db.Ready(t.Context()), test.ready)
			expect("the first statement", query("SELECT name FROM names"), test.first)
			expect("the second one", query("SELECT id FROM names"), 2)
			_, err := db.Examine(t.Context(), "SELECT count(*) AS n FROM names", exec.ReadOnly{}, exec.ExplainCheck{},
				exec.RunCheck{})
			expect("an examination: its tables, its plan, and itself", err, 3)
		})
	}
}

// TestSession: what the DSN sets stays, the time that it gives a statement too where that is less, and nothing is left.
func TestSession(t *testing.T) {
	place := open(t, dbtest.Fixture)
	recursive := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT count(*) FROM n"
	var sent texted
	for depth, works := range map[string]bool{"2": false, "9": true} {
		db := counted(t, "u"+depth, place, "&session_properties=max_recursion_depth:"+depth, &sent,
			exec.Config{Limits: patient})
		if _, err := db.Query(t.Context(), recursive); (err == nil) != works {
			t.Errorf("max_recursion_depth of %s: %v", depth, err)
		}
	}
	// SHOW SESSION does not show this one.
	table, err := counted(t, "far", place, "&session_properties=time_zone_id:Pacific%2FChatham", &sent,
		exec.Config{Limits: patient}).
		Query(t.Context(), "SELECT current_timezone()")
	if err != nil || fmt.Sprint(table.Rows) != "[[Pacific/Chatham]]" {
		t.Errorf("the time zone of the DSN: %v, %v", table, err)
	}
	db := counted(t, "hasty", place, "&session_properties=query_max_run_time:3s", &sent, exec.Config{})
	_, err = db.QueryWithin(t.Context(), dbtest.Endless, exec.Bounds{Timeout: time.Minute})
	if limit := new(exec.LimitError); !errors.As(err, &limit) || limit.Limit != "time" {
		t.Errorf("the DSN gives a statement three seconds: %v", err)
	}
}

// TestUnguarded: what cannot be guarded says what to do.
func TestUnguarded(t *testing.T) {
	place := open(t, dbtest.Fixture)
	for _, test := range []struct {
		why, dsn string
		policy   exec.Policy
		remedy   string
	}{
		{"the server shows the denied column", dsn(t, "admin", place),
			exec.Policy{DenyColumns: []string{place + ".users.password"}}, "trino.AccessRules"},
		{"no schema", strings.Replace(dsn(t, "admin", place), "schema=", "x=", 1), exec.Policy{}, "name both in the DSN"},
		{"the server's own catalog", strings.Replace(dsn(t, "admin", "runtime"), "catalog=memory", "catalog=system", 1),
			exec.Policy{}, "name others"},
	} {
		db := dbtest.NewDB(t, poolOf(t, test.dsn), trino.Dialect{}, exec.Config{Policy: test.policy})
		err := db.Ready(t.Context())
		if unguarded := new(exec.UnguardedError); !errors.As(err, &unguarded) ||
			!strings.Contains(unguarded.Remedy, test.remedy) {
			t.Errorf("%s: %v", test.why, err)
		}
		if table, err := db.Query(t.Context(), "SELECT a FROM t"); !errors.As(err, new(*exec.UnguardedError)) {
			t.Errorf("%s: a statement ran: %v, %v", test.why, table, err)
		}
	}
}

// TestAccessRules: the rules hold without the guard.
func TestAccessRules(t *testing.T) {
	place := open(t, dbtest.PolicyScript)
	ruled(t, exec.Policy{DenyColumns: []string{"users.password"}, DenyTables: []string{"keyring"}}, "reader", place)
	p := pool(t, "reader", place)
	statements := map[bool][]string{
		true: {
			"SELECT name FROM users", "SELECT count(*) FROM users", "SELECT a FROM t", "SELECT name FROM tpch.tiny.nation",
			"SELECT table_name FROM information_schema.tables", "SET SESSION query_max_run_time = '5s'",
		},
		false: {
			"SELECT password FROM users", "SELECT * FROM users", "SELECT note FROM keyring", "SELECT p FROM logins",
			"SELECT name FROM names",
			"INSERT INTO t VALUES (9, 'x')", "CREATE TABLE x (a integer)", "CREATE TABLE x AS SELECT 1 a", "DROP TABLE t",
			"CREATE SCHEMA memory.x",
			"CREATE VIEW x AS SELECT 1 a", "CREATE FUNCTION memory." + place + ".f(x bigint) RETURNS bigint RETURN x",
			"SELECT * FROM system.runtime.queries",
			"SELECT * FROM system.runtime.nodes", "CALL system.runtime.kill_query('20260101_000000_00000_aaaaa')",
			"SET SESSION query_max_cpu_time = '1h'",
			"EXECUTE IMMEDIATE 'DROP TABLE t'", "SELECT count(*) FROM tpch.sf1.nation", "GRANT INSERT ON t TO USER x",
			"ALTER TABLE t RENAME TO x",
			"COMMENT ON TABLE t IS 'x'",
		},
	}
	for works, list := range statements {
		for _, text := range list {
			if _, err := dbtest.Texts(context.WithoutCancel(t.Context()), p, text); (err == nil) != works {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestPrivileged: a user who may write is told of.
func TestPrivileged(t *testing.T) {
	place := open(t, dbtest.Fixture)
	ruled(t, exec.Policy{}, "reader", place)
	for user, want := range map[string]bool{"admin": true, "reader": false} {
		span := trace.Tracer{}.New("test")
		testutil.OK(t, guarded(t, user, place, trino.Dialect{}, exec.Config{}).Ready(trace.NewContext(t.Context(), span)))
		if got := strings.Contains(fmt.Sprint(span.Warnings()), "privileged-user"); got != want {
			t.Errorf("%s: %v", user, span.Warnings())
		}
	}
	names, err := dbtest.Texts(t.Context(), pool(t, "admin", place), "SHOW TABLES")
	if err != nil || slices.Contains(names, "texttosql_writes") {
		t.Errorf("the tables are %v, %v", names, err)
	}
}

// TestSecrets: views over a column that is called as secrets are left out whole, as is the column.
func TestSecrets(t *testing.T) {
	s := testutil.Value(guarded(t, "admin", open(t, dbtest.PolicyScript), trino.Dialect{},
		exec.Config{}).Schema(t.Context()))(t)
	s = s.Project(func(t *schema.Table) bool {
		return s.SchemaOf(t) == s.Default
	}, func(*schema.Table, *schema.Column) bool { return true })
	want := "[keyring.note names.id names.name orders.id orders.total orders.user_id t.a t.b users.id users.name]"
	if got := dbtest.Columns(s); fmt.Sprint(got) != want {
		t.Errorf("shown are %v, want %s", got, want)
	}
}

// TestPolicy: policies about tables hold for a user who may do all, those about columns for one under the rules that
// trino.AccessRules makes, to which the views are added that would give the column away.
func TestPolicy(t *testing.T) {
	place := open(t, dbtest.PolicyScript+"CREATE VIEW hidden AS SELECT * FROM (SELECT a FROM t) "+
		"WHERE false;\nCREATE SCHEMA memory.other;\n"+
		"CREATE TABLE memory.other.users(id INTEGER, name VARCHAR);\n")
	t.Cleanup(func() { _, _ = pool(t, "admin", place).Exec("DROP TABLE memory.other.users") })
	views := []string{"names", "logins", "matched", "matched_again", "natural_keys", "hidden"}
	tables := []string{place + ".t", place + ".users", place + ".keyring", place + ".orders", "tpch.tiny.nation"}
	for _, v := range views {
		tables = append(tables, place+"."+v)
	}
	ruled(t, exec.Policy{DenyColumns: []string{place + ".users.password"}, AllowTables: tables}, "reader", place)
	all := []string{"*"}
	column := exec.Policy{DenyColumns: []string{place + ".users.password"}, Reveal: all}
	bare := exec.Policy{DenyColumns: []string{"users.password"}, Reveal: all}
	denied := exec.Policy{DenyTables: []string{place + ".users"}}
	only := exec.Policy{AllowTables: []string{place + ".t", place + ".orders"}}
	view := exec.Policy{DenyTables: []string{place + ".names"}}
	const (
		runs = ""
		any  = "any"
	)
	dbs := map[string]*exec.DB{}
	var cases sync.WaitGroup
	free := make(chan bool, 4) // so many at the same time
	for _, test := range []struct {
		why    string
		policy exec.Policy
		sql    string
		want   string
	}{
		{"an allowed column", column, "SELECT name FROM users", runs},
		{"by a name that any schema has", bare, "SELECT name FROM users", runs},
		{"counting reads no column", column, "SELECT count(*) FROM users", runs},
		{"a join that names its columns", column, "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id", runs},
		{"USING over an allowed column", column, "SELECT name FROM users JOIN orders USING (id)", runs},
		{"a view over allowed columns", column, "SELECT name FROM names", runs},
		{"the column of that name in another table", column, "SELECT password FROM keyring", runs},
		{"an alias that looks denied", column, "SELECT name AS password FROM users", runs},
		{"a CTE of new columns", column, "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c JOIN c AS d " +
			"ON d.x = c.x", runs},
		{"a star of another table", column, "SELECT o.*, u.name FROM orders AS o JOIN users AS u ON u.id = o.user_id", runs},
		{"another catalog", column, "SELECT u.name, n.name FROM users u JOIN tpch.tiny.nation n ON n.nationkey = u.id", runs},
		{"a view of no rows", column, "SELECT * FROM hidden", runs},
		{"by name", column, "SELECT password FROM users", "column"},
		{"by star", column, "SELECT * FROM users", "column"},
		{"by the star of a table", column, "SELECT u.* FROM users AS u", "column"},
		{"by another case", column, `SELECT "PassWord" FROM users`, "column"},
		{"in a condition", column, "SELECT 1 FROM users WHERE password > 'a'", "column"},
		{"in a window", column, "SELECT rank() OVER (ORDER BY password) FROM users", "column"},
		{"in an order", column, "SELECT name FROM users ORDER BY password", "column"},
		{"in a group", column, "SELECT count(*) FROM users GROUP BY password", "column"},
		{"in a subquery", column, "SELECT a FROM t WHERE b IN (SELECT password FROM users)", "column"},
		{"in a CTE", column, "WITH c AS (SELECT id, password AS x FROM users) SELECT x FROM c", "column"},
		{"by a star in a CTE", column, "WITH c AS (SELECT * FROM users) SELECT name FROM c", "column"},
		{"compared by USING", column, "SELECT count(*) FROM keyring JOIN users USING (password)", "column"},
		{"by a CTE that guesses", column, "WITH g(password) AS (SELECT 's3cret-1') SELECT count(*) FROM g " +
			"JOIN users USING (password)", "column"},
		{"below LIMIT 0", column, "SELECT password FROM users LIMIT 0", "column"},
		{"the rows whole", column, "SELECT users FROM users", any},
		{"in a lambda", column, "SELECT transform(ARRAY[1], x -> u.password) FROM users u", "column"},
		{"a view that renames it", column, "SELECT p FROM logins", "table"},
		{"another column of that view", column, "SELECT id FROM logins", "table"},
		{"that view beside its table", column, "SELECT l.p FROM users u, logins l", "table"},
		{"that view in quotes and another case", column, `SELECT p FROM memory."` + place + `"."LogIns"`, "table"},
		{"that view below a comma", column, "SELECT p FROM t, logins", "table"},
		{"that view in brackets", column, "SELECT p FROM (logins CROSS JOIN t)", "table"},
		{"in a view by USING", column, "SELECT id FROM matched", "table"},
		{"in a view of that view", column, "SELECT count(*) FROM matched_again", "table"},

		{"by name", denied, "SELECT name FROM users", "table"},
		{"by its rows", denied, "SELECT count(*) FROM users", "table"},
		{"its columns", denied, "SELECT * FROM users LIMIT 0", "table"},
		{"the schema in front", denied, `SELECT 1 FROM memory."` + place + `".users WHERE false`, "table"},
		{"by existence", denied, "SELECT EXISTS (SELECT 1 FROM users)", "table"},
		{"behind a comma", denied, "SELECT count(*) FROM t, users", "table"},
		{"by a view", denied, "SELECT id FROM names", "table"},
		{"by a view of a view", denied, "SELECT id FROM matched_again", "table"},
		{"a CTE of its name out of scope", denied, "SELECT count(*) FROM (WITH users AS (SELECT 1 a) SELECT * FROM users), " +
			"users", "table"},
		{"before the CTE of its name", denied, "WITH a AS (SELECT name FROM users), users AS (SELECT 1 b) SELECT * FROM a",
			"table"},
		{"another schema's table of the name", denied, "SELECT count(*) FROM memory.other.users", runs},
		{"not on the list", only, "SELECT name FROM users", "table"},
		{"a view not on the list", only, "SELECT id FROM names", "table"},
		{"a table of the list", only, "SELECT count(*) FROM orders, t", runs},
		{"a recursive CTE", only, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) " +
			"SELECT count(*) FROM n", runs},
		{"a CTE that is called as a view", only, "WITH x AS (SELECT a AS names FROM t) SELECT names FROM x", runs},
		{"a view that is denied itself", view, "SELECT count(*) FROM names", "table"},
		{"the table below that view", view, "SELECT count(*) FROM users", runs},
	} {
		user := "admin"
		if len(test.policy.DenyColumns) > 0 {
			user = "reader"
		}
		key := user + fmt.Sprint(test.policy)
		if dbs[key] == nil {
			dbs[key] = guarded(t, user, place, trino.Dialect{Catalogs: []string{"tpch"}},
				exec.Config{Policy: test.policy, Limits: exec.Limits{Answer: exec.Bounds{Timeout: time.Minute},
					Candidate: exec.Bounds{Timeout: time.Minute}}})
		}
		db := dbs[key]
		free <- true
		cases.Go(func() {
			defer func() { <-free }()
			for _, err := range ways(t.Context(), db, test.sql) {
				r := new(exec.RefusedError)
				switch is := errors.As(err, &r); {
				case test.want == runs && err != nil, test.want == any && !exec.IsRejection(err), test.want != runs &&
					test.want != any && (!is || r.Reason != test.want):
					t.Errorf("%s: %s: %v, want %q", test.why, test.sql, err, test.want)
				}
			}
		})
	}
	cases.Wait()
	db := dbs["reader"+fmt.Sprint(column)]
	if found, err := db.Probe(t.Context(), "", "users", "password", "s3cret-1"); err == nil {
		t.Errorf("Probe of a denied column: %v", found)
	}
	found, err := db.Probe(t.Context(), "", "users", "name", "ann")
	// a loaded machine takes longer than a Probe may
	for try := 0; try < 20 && errors.As(err, new(*exec.LimitError)); try++ {
		found, err = db.Probe(t.Context(), "", "users", "name", "ann")
	}
	if err != nil || !found {
		t.Errorf("Probe of an allowed column: %v, %v", found, err)
	}
}

// ways are what becomes of a statement on each way to the server.
func ways(ctx context.Context, db *exec.DB, text string) []error {
	_, asked := db.Query(ctx, text)
	_, looked := db.Analyze(ctx, text)
	_, planned := db.Explain(ctx, text)
	return []error{asked, looked, planned}
}
