package trino_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// TestOnce: one examination of one new statement sends it once for the server's word on its tables, once for its plan,
// and once to run.
func TestOnce(t *testing.T) {
	s := newServer()
	db := s.open(t, exec.Config{})
	testutil.OK(t, db.Ready(t.Context()))
	s.forget()
	c, err := db.Examine(t.Context(), "SELECT name FROM users WHERE id = 7")
	if err != nil || c.Table == nil || c.Plan == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	want := []string{"EXPLAIN (TYPE IO, FORMAT JSON) ", "EXPLAIN (TYPE LOGICAL, FORMAT JSON) ", ""}
	for i := range want {
		want[i] += c.SQL
	}
	if diff := cmp.Diff(want, s.sent); diff != "" {
		t.Errorf("it sent %s", diff)
	}
}

// TestHeaders: each statement but the question for the session says all that its names mean, and what the DSN set
// stays.
func TestHeaders(t *testing.T) {
	s := newServer()
	s.headers["X-Trino-Transaction-Id"] = "20261123_1" // of a caller
	db := s.open(t, exec.Config{})
	for range 2 {
		testutil.Value(db.QueryWithin(t.Context(), "SELECT name FROM users", exec.Bounds{Timeout: 9 * time.Second}))(t)
	}
	if n := s.count("^SELECT current_user"); n != 1 {
		t.Errorf("the session was asked for %d times", n)
	}
	want := map[string]string{
		"X-Trino-User": "ann", "X-Trino-Catalog": "memory", "X-Trino-Schema": "shop", "X-Trino-Transaction-Id": "NONE",
		"X-Trino-Path":    "system.builtin",
		"X-Trino-Session": "a=1,hive.b=x%2Cy,query_max_run_time=",
	}
	for i, headers := range s.headed[1:] {
		headers["X-Trino-Session"] = strings.TrimRight(headers["X-Trino-Session"], "0123456789ms")
		if diff := cmp.Diff(want, headers); diff != "" {
			t.Errorf("%s: %s", s.sent[i+1], diff)
		}
	}
}

// TestUnguarded: what cannot be guarded says what to do.
func TestUnguarded(t *testing.T) {
	for _, test := range []struct {
		why    string
		change func(s *server)
		policy exec.Policy
		remedy string
	}{
		{"no schema", func(s *server) { delete(s.headers, "X-Trino-Schema") }, exec.Policy{}, "name both in the DSN"},
		{"a schema of the server's own", func(s *server) { s.headers["X-Trino-Schema"] = "information_schema" },
			exec.Policy{}, "name others"},
		{"a client that does not tell", func(s *server) { s.silent = true }, exec.Policy{}, "net/http.Transport"},
		{"the server shows the denied column", func(s *server) {
			s.denied = nil
		}, exec.Policy{DenyColumns: []string{"users.password"}}, "trino.AccessRules"},
	} {
		s := newServer()
		test.change(s)
		db := s.open(t, exec.Config{Policy: test.policy})
		var unguarded *exec.UnguardedError
		if err := db.Ready(t.Context()); !errors.As(err, &unguarded) || !strings.Contains(unguarded.Remedy, test.remedy) {
			t.Errorf("%s: %v", test.why, err)
		}
		if _, err := db.Query(t.Context(), "SELECT id FROM orders"); !errors.As(err, new(*exec.UnguardedError)) {
			t.Errorf("%s: a statement: %v", test.why, err)
		}
	}
}

// TestVersionIsBelieved: the checksum is asked for once a second at most, but at once where a name is unknown.
func TestVersionIsBelieved(t *testing.T) {
	s := newServer()
	db := s.open(t, exec.Config{})
	query := func(text string) error { _, err := db.Query(t.Context(), text); return err }
	testutil.OK(t, query("SELECT id FROM orders"))
	s.forget()
	if err := query("SELECT name FROM users"); err != nil || s.count("checksum") != 0 {
		t.Errorf("a known table: %d checksums, %v", s.count("checksum"), err)
	}
	var invalid *exec.InvalidError
	if err := query("SELECT a FROM late"); !errors.As(err, &invalid) || invalid.Name != "late" ||
		s.count("checksum") != 1 {
		t.Errorf("an unknown table: %d checksums, %v", s.count("checksum"), err)
	}
	s.tables["late"] = []string{"a"}
	s.version++
	if err := query("SELECT a FROM late"); err != nil {
		t.Errorf("once it is there: %v", err)
	}
}

const (
	runs = ""
)

// TestViews: a view reads with the rights of its owner, so what it reads has to be known.
func TestViews(t *testing.T) {
	column := exec.Policy{DenyColumns: []string{"users.password"}}
	tables := exec.Policy{DenyTables: []string{"orders"}}
	for _, test := range []struct {
		why    string
		change func(s *server)
		policy exec.Policy
		sql    string
		want   string
	}{
		{"over allowed columns", nil, column, "SELECT name FROM names", runs},
		{"over a denied column", nil, column, "SELECT id FROM logins", "table"},
		{"over such a view", nil, column, "SELECT p FROM again", "table"},
		{"whose definition the user may not see", func(s *server) { s.opaque = map[string]bool{"names": true} }, column,
			"SELECT name FROM names", "table"},
		{"the same where tables are denied", func(s *server) { s.opaque = map[string]bool{"names": true} }, tables,
			"SELECT name FROM names", runs},
		{"that is read with names of its own", func(s *server) {
			s.reads = map[string]string{`SELECT * FROM "memory"."shop"."names"`: "orders"}
		},
			column, "SELECT name FROM names", "table"},
		{"that reads a denied table by other names", func(s *server) {
			s.reads = map[string]string{`SELECT * FROM "memory"."shop"."names"`: "orders", "SELECT name FROM names": "orders"}
		}, tables, "SELECT name FROM names", "table"},
		{"over a table that the user may not see", func(s *server) {
			s.opaque = map[string]bool{"names": true}
			s.reads = map[string]string{`SELECT * FROM "memory"."shop"."names"`: "vault", "SELECT name FROM names": "vault"}
		}, tables, "SELECT name FROM names", runs},
		{"no view, but the server reads something else", func(s *server) {
			s.reads = map[string]string{"SELECT id FROM users": "users vault"}
		},
			tables, "SELECT id FROM users", "table"},
		{"the same, a table that is denied", func(s *server) {
			s.reads = map[string]string{"SELECT id FROM users": "users orders"}
		},
			tables, "SELECT id FROM users", "table"},
		{"the same, a table that is known", func(s *server) {
			s.reads = map[string]string{"SELECT id FROM users": "users names"}
		},
			tables, "SELECT id FROM users", "guard"},
		{"the same without a policy", func(s *server) { s.reads = map[string]string{"SELECT id FROM users": "users vault"} },
			exec.Policy{}, "SELECT id FROM users", runs},
		{"a table of the server, by whatever name", func(s *server) {
			s.reads = map[string]string{"SELECT id FROM users": "users$history"}
		},
			exec.Policy{}, "SELECT id FROM users", "table"},
		{"a column called like a view that may not be read", nil, column,
			"SELECT max(logins) FROM (SELECT id logins FROM orders)", "table"},
	} {
		s := newServer()
		if test.change != nil {
			test.change(s)
		}
		db := s.open(t, exec.Config{Policy: test.policy})
		_, err := db.Query(t.Context(), test.sql)
		got, refused := runs, new(exec.RefusedError)
		if errors.As(err, &refused) {
			got = refused.Reason
		}
		if text := fmt.Sprint(err); strings.Contains(text, "vault") || strings.Contains(text, "orders") {
			t.Errorf("%s: the error names a table that the statement does not: %v", test.why, err)
		}
		if got != test.want || (err == nil) != (test.want == runs) {
			t.Errorf("%s: %s: %v, want %q", test.why, test.sql, err, test.want)
		}
	}
}

// TestViewIsLookedAtOnce: within a minute.
func TestViewIsLookedAtOnce(t *testing.T) {
	s := newServer()
	db := s.open(t, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	for _, text := range []string{"SELECT name FROM names", "SELECT id FROM names"} {
		testutil.Value(db.Query(t.Context(), text))(t)
	}
	for pattern, want := range map[string]int{
		`^EXPLAIN \(TYPE IO, FORMAT JSON\) SELECT \* FROM "memory"\."shop"\."names"`: 1,
		"JSON. SELECT id, name FROM users":                                           1, `SELECT "password"`: 1,
		"information_schema.views": 1, "information_schema": 2,
	} {
		if n := s.count(pattern); n != want {
			t.Errorf("%s was sent %d times, want %d", pattern, n, want)
		}
	}
}

// TestPolicyNames: an entry that the catalog does not have may be hidden from this user, if the server says so.
func TestPolicyNames(t *testing.T) {
	for _, test := range []struct {
		why     string
		hide    string // a column, or all of a table
		policy  exec.Policy
		unknown string
		sql     string
		want    string
	}{
		{"a hidden column", "users.password", exec.Policy{DenyColumns: []string{"users.password"}}, "",
			"SELECT password FROM users", "column"},
		{"the others of its table", "users.password", exec.Policy{DenyColumns: []string{"users.password"}}, "",
			"SELECT name FROM users", runs},
		{"a hidden column of any table", "users.password", exec.Policy{DenyColumns: []string{"password"}}, "",
			"SELECT password FROM users", "column"},
		{"a hidden table", "users", exec.Policy{DenyTables: []string{"shop.users"}}, "", "SELECT name FROM users", "table"},
		{"a hidden table that is allowed", "users", exec.Policy{AllowTables: []string{"shop.users", "orders"}}, "",
			"SELECT id FROM orders", runs},
		{"no column", "", exec.Policy{DenyColumns: []string{"users.pasword"}}, `DenyColumns: "users.pasword"`, "", ""},
		{"no column of any table", "", exec.Policy{DenyColumns: []string{"pasword"}}, `DenyColumns: "pasword"`, "", ""},
		{"no table", "", exec.Policy{AllowTables: []string{"orders", "user"}}, `AllowTables: "user"`, "", ""},
	} {
		s := newServer()
		if name, column, ok := strings.Cut(test.hide, "."); ok {
			s.tables[name] = slices.DeleteFunc(s.tables[name], func(c string) bool { return c == column })
		} else if name != "" {
			delete(s.tables, name)
			s.denied[name] = true
		}
		db := s.open(t, exec.Config{Policy: test.policy})
		err := db.Ready(t.Context())
		if test.unknown != "" {
			if unknown := new(exec.PolicyError); !errors.As(err, &unknown) || fmt.Sprint(unknown.Unknown) != "["+test.unknown+
				"]" {
				t.Errorf("%s: %v", test.why, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
		}
		_, err = db.Query(t.Context(), test.sql)
		refused := new(exec.RefusedError)
		if errors.As(err, &refused); refused.Reason != test.want || test.want == runs && err != nil {
			t.Errorf("%s: %s: %v", test.why, test.sql, err)
		}
	}
}

// TestSecrets: a column that is called as secrets are may not be read, nor may a view that shows it. The server need
// not have rules about them.
func TestSecrets(t *testing.T) {
	db := newServer().open(t, exec.Config{})
	for text, refused := range map[string]bool{
		"SELECT password FROM users": true, "SELECT * FROM users": true, "SELECT id FROM logins": true,
		"SELECT p FROM again": true, "SELECT name FROM users": false,
	} {
		if _, err := db.Analyze(t.Context(), text); errors.As(err, new(*exec.RefusedError)) != refused || !refused &&
			err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	found, err := newServer().open(t, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}}).Schema(
		t.Context())
	if _, shown := found.Lookup("", "logins"); err != nil || shown {
		t.Errorf("a view over a denied column is in the schema: %v, %v", shown, err)
	}
}

// TestPlan: a plan has no conditions, its cost, and the tables that some connectors only number.
func TestPlan(t *testing.T) {
	p := testutil.Value(newServer().open(t, exec.Config{}).Explain(t.Context(), "SELECT name FROM users"))(t)
	want := "reads shop.users\nOutput\nScanFilter table=memory:0"
	if p.Signature() != want || p.EngineCost != 60.5 || p.EngineRows != 7 || p.Cost() != 60.5 {
		t.Errorf("%q, cost %v, %v rows", p.Signature(), p.EngineCost, p.EngineRows)
	}
	if diff := cmp.Diff([]schema.TableName{{Name: "users"}}, p.Scans()); diff != "" {
		t.Errorf("scans: %s", diff)
	}
}

// TestPlanOfScope: a plan by the statistics of all users shows the tables alone.
func TestPlanOfScope(t *testing.T) {
	pool := sql.OpenDB(newServer())
	defer pool.Close()
	db := dbtest.NewDB(t, pool, trino.Dialect{AsUser: true}, exec.Config{})
	for _, tt := range []struct{ why, sql, want string }{
		{"a table", "SELECT name FROM users", "reads users"},
		{"none", "SELECT 1", ""},
	} {
		view := testutil.Value(db.For(&exec.Scope{Key: "a", Settings: map[string]string{"user": "ann"}}, nil))(t)
		p, err := view.Explain(t.Context(), tt.sql)
		if err != nil || p.Signature() != tt.want || p.EngineCost != 0 || p.EngineRows != 0 || p.Scans() != nil {
			t.Errorf("%s: %+v, %v", tt.why, p, err)
		}
	}
}

// TestAnalysis: every column of a name in the text counts, with what lies under views.
func TestAnalysis(t *testing.T) {
	db := newServer().open(t, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	for text, want := range map[string]string{
		"SELECT u.name FROM users u":                                   "users[name]",
		"SELECT count(*) FROM users":                                   "users[]",
		"SELECT * FROM orders":                                         "orders[id user_id]",
		"SELECT o.* FROM orders o, users u":                            "orders[id user_id] users[]",
		"SELECT x FROM users AS u(x, y, z)":                            "users[id name password]",
		"SELECT id AS name FROM users":                                 "users[id]",
		"SELECT name FROM names":                                       "names[name] users[id name]",
		"WITH c AS (SELECT id FROM users) SELECT lower(c.id) FROM c":   "users[id]",
		"SELECT (SELECT max(o.id) FROM orders o) FROM users u":         "orders[id] users[]",
		"SELECT name FROM memory.shop.users WHERE users.password = ''": "users[name password]",
	} {
		a, err := db.Analyze(context.Background(), text)
		var got []string
		for _, table := range a.Tables {
			got = append(got, table.Table+fmt.Sprint(table.Columns))
		}
		if strings.Join(got, " ") != want || err != nil || !a.Inexact {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestRefs(t *testing.T) {
	text := "SELECT a.b.c, (r).f, u.*, count(*), x * y, * FROM t AS d"
	want := []guard.Ref{
		{Path: []string{"select"}}, {Path: []string{"a", "b", "c"}}, {Path: []string{"r"}}, {Path: []string{"f"}},
		{Path: []string{"u"}, Star: true},
		{Path: []string{"count"}}, {Path: []string{"x"}}, {Path: []string{"y"}}, {Star: true},
		{Path: []string{"from"}}, {Path: []string{"t"}}, {Path: []string{"as"}},
	}
	if diff := cmp.Diff(want, trino.Refs(text)); diff != "" {
		t.Error(diff)
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		why     string
		before  []string
		timeout time.Duration
		want    string
	}{
		{"nothing was set", nil, 30 * time.Second, "query_max_run_time=30000ms"},
		{"EXPLAIN counts, so no less than 5 s", nil, time.Second, "query_max_run_time=5000ms"},
		{"other properties stay, those of catalogs too", []string{"a=1", "hive.b=x%2Cy"}, 9 * time.Second,
			"a=1,hive.b=x%2Cy,query_max_run_time=9000ms"},
		{"several in one header", []string{"a=1,b=2"}, 9 * time.Second, "a=1,b=2,query_max_run_time=9000ms"},
		{"a lower limit stays", []string{"query_max_run_time=1.50s", "a=1"}, 9 * time.Second,
			"a=1,query_max_run_time=1500ms"},
		{"a higher one does not", []string{"query_max_run_time=100.00d"}, 9 * time.Second, "query_max_run_time=9000ms"},
		{"a limit in minutes", []string{"query_max_run_time=1m"}, time.Hour, "query_max_run_time=60000ms"},
		{"a limit that is none", []string{"query_max_run_time=soon"}, 9 * time.Second, "query_max_run_time=9000ms"},
		{"a limit below zero", []string{"query_max_run_time=-1s"}, 9 * time.Second, "query_max_run_time=9000ms"},
	} {
		if got := strings.Join(trino.Limits(test.before, test.timeout), ","); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

func TestUnshifted(t *testing.T) {
	for before, want := range map[string]string{
		"line 1:46: Table 'a' does not exist": "line 1:15: Table 'a' does not exist", "line 2:46: x": "line 2:46: x",
		"no line 1:46": "no line 1:46", "line 1:3: x": "line 1:1: x",
	} {
		var moved *exec.InvalidError
		if !errors.As(trino.Unshifted(&exec.InvalidError{Message: before}), &moved) || moved.Message != want {
			t.Errorf("%s: %v", before, moved)
		}
	}
}

func TestBound(t *testing.T) {
	s := sqltext.Trino().Parse("SELECT '?' FROM t WHERE a = ? AND b = ? AND c = ? AND d = ? AND e = ?")
	want := "SELECT '?' FROM t WHERE a = 'it''s' AND b = -1 AND c = 1.5E+00 AND d = X'00FF' AND e = NULL"
	if got := trino.Bound(s, []any{"it's", int64(-1), 1.5, []byte{0, 255}, nil}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func ExampleAccessRules() {
	s := &schema.Schema{Default: "shop", Tables: []schema.Table{
		{Schema: "shop", Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "name"}, {Name: "password"}}},
		{Schema: "tpch.tiny", Name: "nation", Columns: []schema.Column{{Name: "name"}}},
	}}
	rules, err := trino.AccessRules(exec.Policy{DenyColumns: []string{"customers.password"}}, "reader", "hive", s)
	if err != nil {
		log.Fatal(err)
	}
	var file struct {
		Catalogs []struct{ User, Catalog, Allow string }
		Tables   []struct {
			Catalog, Schema, Table string
			Privileges             []string
			Columns                []struct {
				Name  string
				Allow bool
			}
		}
	}
	if err := json.Unmarshal(rules, &file); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", file.Catalogs[0])
	for _, t := range file.Tables {
		fmt.Printf("%+v\n", t)
	}
	// Output:
	// {User:reader Catalog:hive|system|tpch Allow:read-only}
	// {Catalog:hive Schema:shop Table:customers Privileges:[SELECT] Columns:[{Name:password Allow:false}]}
	// {Catalog:tpch Schema:tiny Table:nation Privileges:[SELECT] Columns:[]}
	// {Catalog:system Schema:metadata Table:table_comments Privileges:[SELECT] Columns:[]}
	// {Catalog: Schema: Table: Privileges:[] Columns:[]}
}

func ExampleDialect() {
	d := trino.Dialect{Catalogs: []string{"postgresql"}}
	l := d.Language()
	fmt.Println(l.Title, l.QuoteSchema("postgresql.shop")+"."+l.Quote("Orders"))
	// Output: Trino "postgresql"."shop"."Orders"
}

// TestFlatRate: statements for the sake of a warning run only where the dialect says that they cost nothing.
func TestFlatRate(t *testing.T) {
	if !(trino.Dialect{}).Language().BillsScans || (trino.Dialect{FlatRate: true}).Language().BillsScans {
		t.Error("what FlatRate says is not what the language says")
	}
}

// TestNoUserNoModel: where each user is asked for by name, a question without one asks neither the server nor the
// model, also where the schema is given.
func TestNoUserNoModel(t *testing.T) {
	s := newServer()
	pool := sql.OpenDB(s)
	defer pool.Close()
	asked := 0
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		asked++
		return llm.Response{Text: "SELECT id FROM orders"}, nil
	})
	given := &schema.Schema{Tables: []schema.Table{{Name: "orders",
		Columns: []schema.Column{{Name: "id", Type: "bigint"}}}}}
	e := testutil.Value(texttosql.New(pool, model, texttosql.WithDialect(trino.Dialect{AsUser: true}),
		texttosql.WithSchema(given)))(t)
	if _, err := e.Ask(t.Context(), "How many orders?"); !errors.Is(err, exec.ErrNoScope) || asked > 0 || len(s.sent) > 0 {
		t.Errorf("%v; the model was asked %d times, the server %q", err, asked, s.sent)
	}
}
