package duckdb_test

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// TestMacros: a macro of the database may stand in the place of a function that DuckDB calls by itself, and then runs
// without being named.
func TestMacros(t *testing.T) {
	const secret = " AS (SELECT max(password) FROM users);"
	for _, test := range []struct{ why, macro, text string }{
		{"what a macro of DuckDB calls", "list_aggr(x, y)", "SELECT list_sum([1, 2])"},
		{"a macro of DuckDB over one", "list_concat(x, y)", "SELECT array_push_back(l, 1) FROM (SELECT range(3) AS l)"},
		{"the time", "current_date()", "SELECT current_date"},
		{"the time by another name", "get_current_timestamp()", "SELECT current_timestamp"},
		{"an operator", `"+"(x, y)`, "SELECT a + 1 FROM t"},
		{"a part of a list", "array_extract(x, y)", "SELECT l[1] FROM (SELECT range(3) AS l)"},
		{"a row", `"row"(x, y)`, "SELECT (a, 1) FROM t"},
		{"a pattern", `"~~"(x, y)`, "SELECT b LIKE 'a%' FROM t"},
		{"a count", "count_star()", "SELECT count(*) FROM t"},
		{"rows", "range(x)", "SELECT range(3)"},
	} {
		db := newDB(t, exectest.Fixture+"CREATE MACRO "+test.macro+secret, exec.Config{})
		table, err := db.Query(t.Context(), test.text)
		if reasonOf(err) != "function" {
			t.Errorf("%s: %v, %v, want a refusal", test.why, table, err)
		}
		if err := answer(t, db, "SELECT a FROM t ORDER BY a"); err != nil {
			t.Errorf("%s: %v", test.why, err)
		}
	}
	// What none of these rules knows DuckDB's plan tells, as long as DuckDB reads the table and not its statistics.
	pool := openFile(t, exectest.Fixture+"CREATE MACRO list_aggr(x, y) AS (SELECT string_agg(password) FROM users);", small)
	db, err := exec.New(pool, exectest.Change(duckdb.Dialect{}, exectest.Changes{
		Read: func(*exec.Statement, func() (*guard.Names, error)) (*guard.Names, error) { return nil, nil },
	}), exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Query(t.Context(), "SELECT list_sum(range(3))"); reasonOf(err) != "guard" {
		t.Errorf("without a tree: %v", err)
	}
	// The guard's own queries name the functions of DuckDB itself, and what Open calls unnamed makes it fail.
	db = newDB(t, exectest.Fixture+"CREATE MACRO duckdb_tables() AS TABLE SELECT 1; CREATE MACRO json_serialize_sql(x) AS 'x';", exec.Config{})
	if err := answer(t, db, "SELECT a FROM t"); err != nil {
		t.Error(err)
	}
	if pool, err := duckdb.Open(makeFile(t, "CREATE MACRO list_value(x)"+" AS 1"), small); err == nil {
		pool.Close()
		t.Error("a macro in the place of a list was opened")
	}
}

func answer(t *testing.T, db *exec.DB, text string) error {
	_, err := db.Query(t.Context(), text)
	return err
}

// TestGenerated: a column that is generated of a secret or a denied one may not be read either, also by a macro of the database,
// which sees its arguments and nothing else of the row.
func TestGenerated(t *testing.T) {
	const script = `CREATE MACRO mine(x) AS (x || '!');
CREATE TABLE k(id INTEGER, secret_key TEXT, "shown as" AS (secret_key || '!'), twice AS ("shown as" || id), by_macro AS (mine(secret_key)), plain AS (id + 1));
INSERT INTO k(id, secret_key) VALUES (1, 'abc');`
	for _, policy := range []exec.Policy{{}, {DenyColumns: []string{"secret_key"}, Reveal: []string{"*"}}} {
		db := newDB(t, script, exec.Config{Policy: policy})
		s, err := db.Schema(t.Context())
		if err != nil || len(s.Tables[0].Columns) != 2 {
			t.Errorf("%+v: the schema has %+v, %v", policy, s, err)
		}
		for text, reason := range map[string]string{
			"SELECT id, plain FROM k": "", `SELECT "shown as" FROM k`: "column", "SELECT twice FROM k": "column", "SELECT by_macro FROM k": "column",
		} {
			if _, err := db.Query(t.Context(), text); reasonOf(err) != reason {
				t.Errorf("%s: %v, want %q", text, err, reason)
			}
		}
	}
}

// TestProfile: columns of every type, whose long values are cut.
func TestProfile(t *testing.T) {
	db := newDB(t, `CREATE TABLE p(id INTEGER, l VARCHAR[], i INTEGER[], a INTEGER[2], s STRUCT(f VARCHAR), m MAP(VARCHAR, INTEGER), u UNION(n INTEGER, w VARCHAR),
	j JSON, b BLOB, big VARCHAR[], e ENUM('x', 'y'), t VARCHAR);
INSERT INTO p SELECT i, ['a', 'b'], [i], [i, 1], {'f': 'x'},
	MAP {'k': i}, i::INTEGER, '{"k": 1}', 'ab'::BLOB, [repeat('x', 2000)], 'x', repeat('y', 2000) FROM range(6) r(i);`, exec.Config{})
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err = db.Profile(t.Context(), s, exec.ProfileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Tables[0].Columns {
		if c.Profile == nil || c.Profile.Sampled != 6 {
			t.Errorf("%s %s: %+v", c.Name, c.Type, c.Profile)
			continue
		}
		for _, v := range c.Profile.Examples {
			if text, ok := v.(string); ok && len(text) > 64 {
				t.Errorf("%s: an example of %d bytes", c.Name, len(text))
			}
		}
	}
	if l, _ := s.Tables[0].Column("l"); l.Profile == nil || len(l.Profile.Top) != 1 || l.Profile.Top[0].Value != `["a","b"]` {
		t.Errorf("%+v", l.Profile)
	}
	table, err := db.Sample(t.Context(), schema.Table{Schema: "main", Name: "p", Columns: s.Tables[0].Columns}, exec.SampleOptions{Rows: 1, Cut: 5})
	if err != nil || table.Rows[0][1] != `["a",` || table.Rows[0][11] != "yyyyy" {
		t.Errorf("%v, %v", table, err)
	}
}

// TestOnce counts what one examination of a new statement sends: its tree, its plan and its rows, each once.
func TestOnce(t *testing.T) {
	file := makeFile(t, exectest.Fixture)
	connector, err := duckdb.NewConnector(file, small)
	if err != nil {
		t.Fatal(err)
	}
	faults := &exectest.Faults{Connector: connector}
	pool := sql.OpenDB(faults)
	defer pool.Close()
	db, err := exec.New(pool, duckdb.Dialect{}, exec.Config{Unwrap: exectest.Unwrap, Policy: denied})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Schema(t.Context()); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT name FROM users WHERE id = 2"
	events := map[string]int{}
	faults.Fail(func(event string) error {
		events[strings.SplitN(event, "\n", 2)[0]]++
		return nil
	})
	if _, err := db.Examine(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	delete(events, "next")
	delete(events, "reset")
	want := map[string]int{"rows closed": 5, "statement closed": 5}
	for _, sent := range []string{
		"BEGIN TRANSACTION READ ONLY", "SELECT system.main.json_serialize_sql(?::VARCHAR)::VARCHAR", "EXPLAIN (FORMAT JSON) " + text, text, "ROLLBACK",
	} {
		want["prepare "+sent], want["run "+sent] = 1, 1
		if sent != text {
			want["query "+sent] = 1 // which the driver leaves to a prepared statement
		}
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestDriver: a handle of Open is recognised by its driver.
func TestDriver(t *testing.T) {
	pool := openFile(t, exectest.Fixture, small)
	const path = "github.com/texttosql/texttosql/exec/duckdb"
	if got := reflect.TypeOf(pool.Driver()).PkgPath(); got != path {
		t.Errorf("the driver is of %s", got)
	}
	foreign, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	l := duckdb.Dialect{}.Language()
	if !l.Recognises(pool.Driver()) || !l.Recognises(foreign.Driver()) {
		t.Error("a driver is not recognised")
	}
	if _, err := pool.Driver().Open("x"); err == nil {
		t.Error("the driver opens what Open has to")
	}
}
