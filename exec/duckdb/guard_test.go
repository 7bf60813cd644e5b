package duckdb_test

import (
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
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
		db := newDB(t, dbtest.Fixture+"CREATE MACRO "+test.macro+secret, exec.Config{})
		table, err := db.Query(t.Context(), test.text)
		if reasonOf(err) != "function" {
			t.Errorf("%s: %v, %v, want a refusal", test.why, table, err)
		}
		if err := answer(t, db, "SELECT a FROM t ORDER BY a"); err != nil {
			t.Errorf("%s: %v", test.why, err)
		}
	}
	// What none of these rules knows DuckDB's plan tells, as long as DuckDB reads the table and not its statistics.
	pool := openFile(t, dbtest.Fixture+"CREATE MACRO list_aggr(x, y) AS (SELECT string_agg(password) FROM users);", small)
	db := testutil.Value(exec.New(pool, exectest.Change(duckdb.Dialect{}, exectest.Changes{
		Read: func(*exec.Statement, func() (*guard.Names, error)) (*guard.Names, error) { return nil, nil },
	}), exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}))(t)
	if _, err := db.Query(t.Context(), "SELECT list_sum(range(3))"); reasonOf(err) != "guard" {
		t.Errorf("without a tree: %v", err)
	}
	// The guard's own queries name the functions of DuckDB itself, and what Open calls unnamed makes it fail.
	db = newDB(t, dbtest.Fixture+"CREATE MACRO duckdb_tables() AS TABLE SELECT 1; CREATE MACRO json_serialize_sql(x) AS "+
		"'x';", exec.Config{})
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

// TestGenerated: a column that is generated of a secret or a denied one may not be read either, also by a macro of the
// database, which sees its arguments and nothing else of the row.
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
			"SELECT id, plain FROM k": "", `SELECT "shown as" FROM k`: "column", "SELECT twice FROM k": "column",
			"SELECT by_macro FROM k": "column",
		} {
			if _, err := db.Query(t.Context(), text); reasonOf(err) != reason {
				t.Errorf("%s: %v, want %q", text, err, reason)
			}
		}
	}
}

// TestProfile: columns of every type, whose long values are cut.
func TestProfile(t *testing.T) {
	db := newDB(t,
		`CREATE TABLE p(id INTEGER, l VARCHAR[], i INTEGER[], a INTEGER[2], s STRUCT(f VARCHAR), m MAP(VARCHAR, INTEGER), u UNION(n INTEGER, w VARCHAR),
	j JSON, b BLOB, big VARCHAR[], e ENUM('x', 'y'), t VARCHAR);
INSERT INTO p SELECT i, ['a', 'b'], [i], [i, 1], {'f': 'x'},
	MAP {'k': i}, i::INTEGER, '{"k": 1}', 'ab'::BLOB, [repeat('x', 2000)], 'x', repeat('y', 2000) FROM range(6) r(i);`, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	s = testutil.Value(db.Profile(t.Context(), s, exec.ProfileOptions{}))(t)
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
	if l, _ := s.Tables[0].Column("l"); l.Profile == nil || len(l.Profile.Top) != 1 ||
		l.Profile.Top[0].Value != `["a","b"]` {
		t.Errorf("%+v", l.Profile)
	}
	table, err := db.Sample(t.Context(), schema.Table{Schema: "main", Name: "p", Columns: s.Tables[0].Columns},
		exec.SampleOptions{Rows: 1, Cut: 5})
	if err != nil || table.Rows[0][1] != `["a",` || table.Rows[0][11] != "yyyyy" {
		t.Errorf("%v, %v", table, err)
	}
}

// TestOnce counts what one examination of a new statement sends: its tree, its plan, its columns and its rows, each
// once.
func TestOnce(t *testing.T) {
	file := makeFile(t, dbtest.Fixture)
	connector := testutil.Value(duckdb.NewConnector(file, small))(t)
	faults := &exectest.Faults{Connector: connector}
	pool := sql.OpenDB(faults)
	defer pool.Close()
	db := dbtest.NewDB(t, pool, duckdb.Dialect{}, exec.Config{Unwrap: exectest.Unwrap, Policy: denied})
	testutil.Value(db.Schema(t.Context()))(t)
	const text = "SELECT name FROM users WHERE id = 2"
	events := map[string]int{}
	faults.Fail(func(event string) error {
		events[strings.SplitN(event, "\n", 2)[0]]++
		return nil
	})
	testutil.Value(db.Examine(t.Context(), text))(t)
	delete(events, "next")
	delete(events, "reset")
	want := map[string]int{"rows closed": 6, "statement closed": 6}
	const around = `SELECT c0 AS "name" FROM (` + text
	for _, sent := range []string{
		"BEGIN TRANSACTION READ ONLY", "SELECT system.main.json_serialize_sql(?::VARCHAR)::VARCHAR",
		"EXPLAIN (FORMAT JSON) " + text, "DESCRIBE " + text, around, "ROLLBACK",
	} {
		want["prepare "+sent], want["run "+sent] = 1, 1
		if sent != around {
			want["query "+sent] = 1 // which the driver leaves to a prepared statement
		}
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestDriver: a handle of Open is recognised by its driver.
func TestDriver(t *testing.T) {
	pool := openFile(t, dbtest.Fixture, small)
	const path = "github.com/texttosql/texttosql/exec/duckdb"
	if got := reflect.TypeOf(pool.Driver()).PkgPath(); got != path {
		t.Errorf("the driver is of %s", got)
	}
	foreign := testutil.Value(sql.Open("duckdb", ""))(t)
	defer foreign.Close()
	l := duckdb.Dialect{}.Language()
	if !l.Recognises(pool.Driver()) || !l.Recognises(foreign.Driver()) {
		t.Error("a driver is not recognised")
	}
	if _, err := pool.Driver().Open("x"); err == nil {
		t.Error("the driver opens what Open has to")
	}
}

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		testutil.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		testutil.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

func TestOpenFolder(t *testing.T) {
	folder := write(t, map[string]string{
		"people.csv": "id,name,born\n1,ann,2001-02-03\n2,bob,\n", "odd [1] * name.tsv": "a\tb\n1\tx\n",
		"orders.json": `[{"id": 1, "lines": [{"n": 2}]}]`,
		"log.ndjson":  "{\"at\": 1}\n{\"at\": 2}\n",
		"notes.txt":   "no table", ".hidden.csv": "a\n1\n", "it's.csv": "x\n1\n",
	})
	made := makeFile(t, "COPY (SELECT range AS n FROM range(5)) TO '"+folder+"/numbers.parquet'")
	_ = made
	pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
	defer pool.Close()
	db := onPool(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	var got []string
	for _, table := range s.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name+" "+c.Type)
		}
	}
	slices.Sort(got)
	want := []string{
		"it's.x BIGINT", "log.at BIGINT", "numbers.n BIGINT", "odd [1] * name.a BIGINT", "odd [1] * name.b VARCHAR",
		"orders.id BIGINT",
		"orders.lines STRUCT(n BIGINT)[]",
		"people.born DATE", "people.id BIGINT", "people.name VARCHAR",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	table := testutil.Value(db.Query(t.Context(), `SELECT p.name, p.born, o.lines, (SELECT sum(n) FROM numbers), w.b
		FROM people p LEFT JOIN orders o USING (id), "odd [1] * name" w ORDER BY p.id`))(t)
	if diff := cmp.Diff([][]any{{"ann", "2001-02-03", `[{"n":2}]`, int64(10), "x"}, {"bob", nil, nil, int64(10), "x"}},
		table.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	before, err := filepath.Glob(filepath.Join(os.TempDir(), "texttosql-duckdb-*"))
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	testutil.OK(t, pool.Close())
	after, err := filepath.Glob(filepath.Join(os.TempDir(), "texttosql-duckdb-*"))
	if err != nil || len(after) >= len(before) {
		t.Errorf("left behind: %v, %v", after, err)
	}
}

// TestFolders: what stands in folders of a folder is read too, or named.
func TestFolders(t *testing.T) {
	folder := write(t, map[string]string{
		"top.csv": "a\n1\n", "sales/year=2023/a.csv": "id,v\n1,10\n", "sales/year=2024/a.CSV.csv": "id,v\n2,20\n",
		"sales/year=2024/b.csv": "id,v\n3,30\n",
		"q/may.csv":             "x\n1\n", "q/deep/june.tsv": "y\tz\n1\t2\n", "q_may.csv": "first\n1\n",
		"parts/part-0001.csv": "p\n1\n",
		"parts/part-0002.csv": "p\n2\n",
		".git/x.csv":          "h\n1\n", "book.xlsx": "PK", "README.md": "text", "it's [1]/k=1/x.csv": "n\n1\n",
		"bad/x.parquet": "nothing",
	})
	zipped := testutil.Value(os.Create(filepath.Join(folder, "events.jsonl.gz")))(t)
	w := gzip.NewWriter(zipped)
	testutil.Value(w.Write([]byte("{\"n\": 1}\n{\"n\": 2}\n")))(t)
	testutil.OK(t, w.Close())
	testutil.OK(t, zipped.Close())
	pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
	defer pool.Close()
	db := onPool(t, pool, exec.Config{})
	var got []string
	for _, table := range testutil.Value(db.Schema(t.Context()))(t).Tables {
		var names []string
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
		got = append(got, table.Name+": "+strings.Join(names, ","))
	}
	slices.Sort(got)
	want := []string{"events: n", "it's [1]: n,k", "parts: p", "q_deep_june: y,z", "q_may: x", "sales: id,v,year",
		"top: a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	for _, test := range []struct{ why, sql, want string }{
		{"a partition is a column", "SELECT year, sum(v) FROM sales GROUP BY ALL ORDER BY 1", "[[2023 10] [2024 50]]"},
		{"parts are one table", "SELECT sum(p) FROM parts", "[[3]]"},
		{"a compressed file", "SELECT sum(n) FROM events", "[[3]]"},
	} {
		if table, err := db.Query(t.Context(), test.sql); err != nil || fmt.Sprint(table.Rows) != test.want {
			t.Errorf("%s: %v, %v", test.why, table, err)
		}
	}
	told := ""
	for _, warning := range db.Warnings() {
		told += warning.Message + "\n"
	}
	for _, file := range []string{"book.xlsx", "q_may.csv", "bad/x.parquet"} {
		if !strings.Contains(told, "the file "+file+" is left out") {
			t.Errorf("%s is not named in:\n%s", file, told)
		}
	}
	if strings.Contains(told, "README") || strings.Contains(told, ".git") {
		t.Errorf("what holds no rows is named:\n%s", told)
	}
}

// TestOddCSV: files as programs write them.
func TestOddCSV(t *testing.T) {
	wide := "\xff\xfe"
	for _, c := range "a,b\n1,ä\n" {
		wide += string([]byte{byte(c), byte(c >> 8)})
	}
	folder := write(t, map[string]string{
		"excel.csv": "sep=;\na;b\n1;2\n", "wide.csv": wide, "short.csv": "a,b,c\n1,2,3\n4,5\n",
		"points.csv": "a;b\n1;x,y\n2;z\n", "one.csv": "a\n1\n2\n",
		"titled.csv": "a report\nx,y\n1,2\n", "quoted.csv": "a,b\n1,\"x,\ny\"\n",
		"padded.csv": "a,b,c\n1,\"x,\ny\",3\n4,\"z\"\n",
		"key.csv":    "id,note\n1,x\n2\n3,y\n", "german.csv": "sep=;\na;b\n1;\"x;y\"\n2\n",
		"swapped.csv": "\xfe\xff\x00a\x00,\x00b",
		"prose.csv":   "Dear all, hello\nand good bye\n",
		"titles.csv":  "Artikel, Nr.;Preis\nSchraube;1,50\nMutter;2\n",
	})
	pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
	defer pool.Close()
	db := onPool(t, pool, exec.Config{})
	for _, test := range []struct{ why, table, want string }{
		{"the line of Excel", "excel", "[a b] [[1 2]]"},
		{"UTF-16", "wide", "[a b] [[1 ä]]"},
		{"a line without its last field", "short", "[a b c] [[1 2 3] [4 5 <nil>]]"},
		{"a comma in a field", "points", "[a b] [[1 x,y] [2 z]]"},
		{"one column", "one", "[a] [[1] [2]]"},
		{"a title", "titled", "[x y] [[1 2]]"},
		{"a comma and a line break in quotes", "quoted", "[a b] [[1 x,\ny]]"},
		{"a short line, and commas in quotes", "padded", "[a b c] [[1 x,\ny 3] [4 z <nil>]]"},
		{"a line of its key alone", "key", "[id note] [[1 x] [2 <nil>] [3 y]]"},
		{"the line of Excel, and a short one", "german", "[a b] [[1 x;y] [2 <nil>]]"},
		{"commas in the names and the numbers", "titles", "[Artikel, Nr. Preis] [[Schraube 1,50] [Mutter 2]]"},
		{"prose", "prose", "[Dear all, hello] [[and good bye]]"},
	} {
		table, err := db.Query(t.Context(), "SELECT * FROM "+test.table)
		if err != nil {
			t.Errorf("%s: %v %v", test.why, err, db.Warnings())
		} else if got := fmt.Sprint(table.Columns, table.Rows); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
	if why := fmt.Sprint(db.Warnings()); !strings.Contains(why, "swapped.csv is left out, since DuckDB cannot read it: ") {
		t.Errorf("the larger byte first: %s", why)
	}
}

// TestOpenErrors: one line each, which says what to do.
func TestOpenErrors(t *testing.T) {
	folder := write(t, map[string]string{"a.csv": "x\n1\n", "A.json": "[]"})
	broken := write(t, map[string]string{"a.parquet": "nothing"})
	file := makeFile(t, "CREATE TABLE t(a INT)")
	text := filepath.Join(write(t,
		map[string]string{"x.db": "this is no database at all, and it is long enough to be looked at"}), "x.db")
	for _, test := range []struct {
		why, want string
		open      func() error
	}{
		{"no path", "needs the path of a file", func() error { _, err := duckdb.Open("", duckdb.Options{}); return err }},
		{"in memory", "in memory", func() error { _, err := duckdb.Open(":memory:", duckdb.Options{}); return err }},
		{"no file", "there is no such file", func() error {
			_, err := duckdb.Open("/nowhere/x.db", duckdb.Options{})
			return err
		}},
		{"a folder", "is a folder", func() error { _, err := duckdb.Open(folder, duckdb.Options{}); return err }},
		{"no database", "is no DuckDB file", func() error { _, err := duckdb.Open(text, duckdb.Options{}); return err }},
		{"a negative limit", "is negative", func() error {
			_, err := duckdb.Open(file, duckdb.Options{Threads: -1})
			return err
		}},
		{"a file that is not there", "no such file", func() error {
			_, err := duckdb.Open(file, duckdb.Options{Files: []string{"/nowhere"}})
			return err
		}},
		{"two files of one name", "would both be the table", func() error {
			_, err := duckdb.OpenFolder(t.Context(), folder, duckdb.Options{})
			return err
		}},
		{"a folder without files", "no Parquet, CSV or JSON file", func() error {
			_, err := duckdb.OpenFolder(t.Context(), t.TempDir(), duckdb.Options{})
			return err
		}},
		{"a broken file", "a.parquet", func() error {
			_, err := duckdb.OpenFolder(t.Context(), broken, duckdb.Options{})
			return err
		}},
		{"no folder", "no such file", func() error {
			_, err := duckdb.OpenFolder(t.Context(), "/nowhere", duckdb.Options{})
			return err
		}},
		{"twice with other settings", "other settings", func() error {
			first, err := duckdb.Open(file, duckdb.Options{})
			if err != nil {
				return err
			}
			defer first.Close()
			_, err = duckdb.Open(file, duckdb.Options{Threads: 3})
			return err
		}},
		{"twice with the same", "", func() error {
			first, err := duckdb.Open(file, duckdb.Options{})
			if err != nil {
				return err
			}
			defer first.Close()
			second, err := duckdb.Open(file, duckdb.Options{})
			if err == nil {
				second.Close()
			}
			return err
		}},
	} {
		err := test.open()
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q in one line", test.why, err, test.want)
		}
	}
}

func TestInspect(t *testing.T) {
	db := newDB(t, `CREATE SCHEMA s2; CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
CREATE TABLE a(id INTEGER PRIMARY KEY, "odd name" VARCHAR DEFAULT 'x', m mood, d DECIMAL(10,2) NOT NULL,
	twice INTEGER GENERATED ALWAYS AS (id * 2), u VARCHAR UNIQUE);
CREATE TABLE b(a_id INTEGER REFERENCES a(id), l STRUCT(f INTEGER)[], n INTEGER);
CREATE UNIQUE INDEX b_n ON b(n); CREATE INDEX b_l ON b(a_id);
CREATE TABLE s2.c(x INTEGER);
CREATE VIEW v AS SELECT id, d FROM a;
COMMENT ON TABLE a IS 'the a'; COMMENT ON COLUMN a.d IS 'in euros'; COMMENT ON VIEW v IS 'the v';`, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	want := []schema.Table{
		{
			Schema: "main", Name: "a", Kind: "table", Description: "the a", PrimaryKey: []string{"id"},
			Unique: [][]string{{"u"}},
			Columns: []schema.Column{
				{Name: "id", Type: "INTEGER", NotNull: true}, {Name: "odd name", Type: "VARCHAR", Default: "'x'"},
				{Name: "m", Type: "ENUM", Values: "'sad', 'it''s ok'"},
				{Name: "d", Type: "DECIMAL(10,2)", NotNull: true, Description: "in euros"},
				{Name: "twice", Type: "INTEGER", Generated: true, Default: "CAST((id * 2) AS INTEGER)"},
				{Name: "u", Type: "VARCHAR"},
			},
		},
		{
			Schema: "main", Name: "b", Kind: "table",
			ForeignKeys: []schema.ForeignKey{{Columns: []string{"a_id"}, RefTable: "a", RefColumns: []string{"id"}}},
			Unique:      [][]string{{"n"}},
			Columns: []schema.Column{{Name: "a_id", Type: "INTEGER"}, {Name: "l", Type: "STRUCT(f INTEGER)[]"},
				{Name: "n", Type: "INTEGER"}},
		},
		{Schema: "main", Name: "v", Kind: "view", Description: "the v", Columns: []schema.Column{
			{Name: "id", Type: "INTEGER"}, {Name: "d", Type: "DECIMAL(10,2)"},
		}},
		{Schema: "s2", Name: "c", Kind: "table", Columns: []schema.Column{{Name: "x", Type: "INTEGER"}}},
	}
	if diff := cmp.Diff(want, s.Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if s.Default != "main" || s.Version == "" || s.Dialect != "duckdb" {
		t.Errorf("default %q, version %q, dialect %q", s.Default, s.Version, s.Dialect)
	}
}

// TestErrors: each fault has its type, and none a hint that names what else there is.
func TestErrors(t *testing.T) {
	db := newDB(t, dbtest.Fixture, exec.Config{})
	for text, want := range map[string]string{
		"SELECT FROM WHERE":                     "syntax ",
		"SELECT nosuch FROM t":                  "schema nosuch",
		"SELECT t.nosuch FROM t":                "schema nosuch",
		"SELECT x.a FROM t":                     "schema x",
		"SELECT a FROM nosuch":                  "schema nosuch",
		"SELECT id FROM users, users AS v":      "schema id",
		"SELECT a FROM t GROUP BY b":            "compile ",
		"SELECT sum(sum(a)) FROM t":             "compile ",
		"SELECT sum(b) FROM t":                  "compile ",
		"SELECT b::INTEGER FROM t":              "run ",
		"SELECT 9223372036854775807 + a FROM t": "run ",
		"SELECT (SELECT a FROM t)":              "run ",
		"SELECT regexp_matches(b, '(') FROM t":  "run ",
		"SELECT strptime(b, '%Y') FROM t":       "run ",
		"SELECT '{x'::JSON":                     "run ",
		"SELECT date_trunc('nosuch', now())":    "run ",
		"SELECT b COLLATE nosuch FROM t":        "schema nosuch",
		"SELECT a::nosuch FROM t":               "schema nosuch",
		"SELECT sqrt(-a) FROM t":                "run ",
		"SELECT a FROM t UNION SELECT 1, 2":     "compile ",
		"SELECT a FROM t WHERE sum(a) > 1":      "compile ",
		"SELECT a FROM t ORDER BY 7":            "compile ",
		"SELECT a FROM t LIMIT 'x'":             "run ",
		"SELECT row_number() FROM t":            "schema row_number",
	} {
		_, err := db.Query(t.Context(), text)
		var invalid *exec.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v, want an InvalidError", text, err)
			continue
		}
		if got := fmt.Sprint(invalid.Fault, " ", invalid.Name); got != want {
			t.Errorf("%s: %q, want %q: %v", text, got, want, err)
		}
		if strings.ContainsAny(invalid.Message, "\n") || strings.Contains(invalid.Message, "Candidate") ||
			strings.Contains(invalid.Message, "beta") {
			t.Errorf("%s: the message tells more: %q", text, invalid.Message)
		}
	}
}

// TestPlans: the operators as DuckDB has them, with its estimate, and a signature without numbers.
func TestPlans(t *testing.T) {
	db := newDB(t, dbtest.Fixture+"CREATE TABLE big AS SELECT range AS id, range % 10 AS k FROM range(10000);",
		exec.Config{})
	explain := func(text string) exec.Plan {
		p := testutil.Value(db.Explain(t.Context(), text))(t, text)
		return p
	}
	p := explain("SELECT k, count(*) FROM big WHERE id > 5 GROUP BY k")
	if !strings.Contains(p.Rows[len(p.Rows)-1].Detail, "Table: test.main.big") || p.Rows[1].Parent != p.Rows[0].ID ||
		p.EngineRows <= 0 || p.EngineCost != 0 {
		t.Errorf("%+v", p)
	}
	same := explain("SELECT k, count(*) FROM big WHERE id > 6 GROUP BY k")
	if p.Signature() != same.Signature() || p.Signature() == explain("SELECT id FROM big").Signature() {
		t.Errorf("signatures %q, %q", p.Signature(), same.Signature())
	}
	dialecttest.Scans(t, db, []dialecttest.Scan{
		{SQL: "SELECT k FROM big b WHERE id > 5", Want: "big"},
		{SQL: "SELECT b.k FROM Big b JOIN t ON t.a = b.id UNION ALL SELECT id FROM big", Want: "big t"},
		{SQL: "SELECT 1"},
	})
}

// values are what a result holds for an expression of each type.
var values = []exectest.Value{
	{SQL: "NULL", Want: nil}, {SQL: "true", Want: true}, {SQL: "1::TINYINT", Want: int64(1)},
	{SQL: "-2::SMALLINT", Want: int64(-2)},
	{SQL: "255::UTINYINT", Want: int64(255)}, {SQL: "65535::USMALLINT", Want: int64(65535)},
	{SQL: "4294967295::UINTEGER", Want: int64(4294967295)},
	{SQL: "18446744073709551615::UBIGINT", Want: result.Decimal("18446744073709551615")},
	{SQL: "170141183460469231731687303715884105727::HUGEINT",
		Want: result.Decimal("170141183460469231731687303715884105727")},
	{SQL: "(SELECT sum(x) FROM (VALUES (1), (2)) v(x))", Want: int64(3)},
	{SQL: "(SELECT avg(x) FROM (VALUES (1), (2)) v(x))", Want: 1.5},
	{SQL: "1.50::DECIMAL(10,2)", Want: result.Decimal("1.50")},
	{SQL: "100::DECIMAL(10,2)", Want: result.Decimal("100.00")},
	{SQL: "-0.001::DECIMAL(38,20)", Want: result.Decimal("-0.00100000000000000000")},
	{SQL: "0.1::FLOAT", Want: 0.1}, {SQL: "0.1::DOUBLE", Want: 0.1}, {SQL: "'inf'::DOUBLE", Want: math.Inf(1)},
	{SQL: "7 / 2", Want: 3.5},
	{SQL: "7 // 2", Want: int64(3)},
	{SQL: "'x '", Want: "x "}, {SQL: "''", Want: ""}, {SQL: "'北京'", Want: "北京"}, {SQL: "'a'::ENUM('a', 'b')", Want: "a"},
	{SQL: "'101'::BIT", Want: "101"},
	{SQL: `'\x00\xff'::BLOB`, Want: []byte{0, 255}}, {SQL: "UUID '123E4567-e89b-12d3-a456-426655440000'",
		Want: "123e4567-e89b-12d3-a456-426655440000"},
	{SQL: "DATE '2024-02-29'", Want: "2024-02-29"}, {SQL: "'0044-03-15 (BC)'::DATE", Want: "0044-03-15 (BC)"},
	{SQL: "'infinity'::DATE", Want: "infinity"},
	{SQL: "'-infinity'::DATE", Want: "-infinity"}, {SQL: "'infinity'::TIMESTAMP", Want: "infinity"},
	{SQL: "'-infinity'::TIMESTAMPTZ", Want: "-infinity"},
	{SQL: "TIMESTAMP '2024-02-29 10:00:00'", Want: "2024-02-29 10:00:00"}, {SQL: "TIMESTAMP '2024-02-29 10:00:00.120'",
		Want: "2024-02-29 10:00:00.12"},
	{SQL: "TIMESTAMPTZ '2024-02-29 10:00:00+02'", Want: "2024-02-29 08:00:00Z"},
	{SQL: "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", Want: "2024-01-01 00:00:00.123456789"},
	{SQL: "'2024-01-01'::TIMESTAMP_S", Want: "2024-01-01 00:00:00"}, {SQL: "TIME '10:00:00.5'", Want: "10:00:00.5"},
	{SQL: "'10:00:00+02'::TIMETZ", Want: "10:00:00+02:00"},
	{SQL: "INTERVAL '1 year 2 months 3 days 04:05:06.7'", Want: "1 year 2 months 3 days 04:05:06.7"},
	{SQL: "INTERVAL '-1 day'", Want: "-1 day"},
	{SQL: "INTERVAL '0 day'", Want: "00:00:00"},
	{SQL: "INTERVAL '-90 minutes'", Want: "-01:30:00"}, {SQL: "[1, NULL, 3]", Want: "[1,null,3]"}, {SQL: "[]", Want: "[]"},
	{SQL: "[1, 2]::INTEGER[2]", Want: "[1,2]"},
	{SQL: "[[1], [2]]", Want: "[[1],[2]]"}, {SQL: "[DATE '2024-01-01']", Want: `["2024-01-01"]`},
	{SQL: "[TIMESTAMP '2024-01-01']", Want: `["2024-01-01 00:00:00"]`},
	{SQL: "{'b': 1.50, 'a': DATE '2024-01-01', 'c d': [true]}", Want: `{"a":"2024-01-01","b":1.50,"c d":[true]}`},
	{SQL: "{'x': {'y': 'z\"<'}}", Want: `{"x":{"y":"z\"<"}}`},
	{SQL: "MAP {'k': [1], 'a': NULL}", Want: `{"a":null,"k":[1]}`}, {SQL: "MAP {DATE '2024-01-01': TIME '10:00'}",
		Want: `{"2024-01-01":"10:00:00"}`},
	{SQL: "union_value(n := 2)", Want: `{"n":2}`},
	{SQL: "[170141183460469231731687303715884105727::HUGEINT]", Want: "[170141183460469231731687303715884105727]"},
	{SQL: `['\xff'::BLOB]`, Want: `["ff"]`}, {SQL: `'{"b": 1,  "a": [2.5, null]}'::JSON`,
		Want: `{"b": 1,  "a": [2.5, null]}`}, {SQL: `'"x"'::JSON`, Want: `"x"`},
	{SQL: "'1'::JSON", Want: "1"}, {SQL: "'9007199254740993'::JSON", Want: "9007199254740993"},
	{SQL: "'null'::JSON", Want: "null"},
	{SQL: "to_json(12345678901234567890::UBIGINT)", Want: "12345678901234567890"},
	{SQL: `{'j': '{"a": 9007199254740993}'::JSON, 'json': [TIME '24:00:00'], 'TIME': 1}`,
		Want: `{"TIME":1,"j":{"a":9007199254740993},"json":["24:00:00"]}`},
	{SQL: `['[12345678901234567890, 1e400]'::JSON]`, Want: `[[12345678901234567890,1e400]]`},
	{SQL: `MAP {'a': '0.10'::JSON}`, Want: `{"a":0.10}`},
	{SQL: "TIME '24:00:00'", Want: "24:00:00"}, {SQL: "[TIME '24:00:00']", Want: `["24:00:00"]`},
	{SQL: "TIME_NS '10:00:00.123456789'", Want: "10:00:00.123456789"},
	{SQL: "'nan'::DOUBLE IS NULL", Want: false}, {SQL: "['nan'::DOUBLE]", Want: `["NaN"]`},
	{SQL: "[UUID '123e4567-e89b-12d3-a456-426655440000']", Want: `["123e4567-e89b-12d3-a456-426655440000"]`},
}

// TestUnguarded: each handle that is not fit says what to do.
func TestUnguarded(t *testing.T) {
	file := makeFile(t, dbtest.Fixture)
	ctx := t.Context()
	for _, test := range []struct {
		why, want string
		dsn, then string // dsn "": a handle of Open
	}{
		{"a handle that writes", "opened by the driver itself", file, ""},
		{"one that only reads, and reads files too", "opened by the driver itself", file + "?access_mode=READ_ONLY", ""},
		{"a database in memory", "opened by the driver itself", ":memory:", ""},
		{"a temporary view", "temporary tables, views or macros", "", "CREATE TEMP VIEW names AS SELECT password FROM users"},
		{"a temporary table", "temporary tables, views or macros", "", "CREATE TEMP TABLE t(a INT)"},
		{"a macro", "temporary tables, views or macros", "", "CREATE TEMP MACRO lower(x) AS 1"},
		{"an open transaction", "a transaction is open", "", "BEGIN"},
	} {
		open := func() (*sql.DB, error) { return duckdb.Open(file, small) }
		if test.dsn != "" {
			open = func() (*sql.DB, error) { return sql.Open("duckdb", test.dsn) }
		}
		pool := testutil.Value(open())(t)
		pool.SetMaxOpenConns(1)
		if test.then != "" {
			testutil.Value(pool.ExecContext(ctx, test.then))(t)
		}
		db := dbtest.NewDB(t, pool, duckdb.Dialect{}, exec.Config{})
		_, err := db.Query(ctx, "SELECT a FROM t")
		var unguarded *exec.UnguardedError
		if !errors.As(err, &unguarded) || !strings.Contains(err.Error(), test.want) || unguarded.Remedy == "" {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
		pool.Close()
	}
}

// TestBrokenFiles: a file that DuckDB cannot read is left out with a word, and the others are read.
func TestBrokenFiles(t *testing.T) {
	for _, test := range []struct{ why, name, content, told string }{
		{"a CSV in Latin-1", "bad.csv", "id,name\n1,\xe9\xe8\xf1\n2,x\n", "bad.csv is left out"},
		{"half a Parquet", "bad.parquet", "PAR1\x00\x01", "bad.parquet is left out"},
		{"an empty Parquet", "bad.parquet", "", "bad.parquet is left out"},
		{"JSON that ends early", "bad.json", `[{"a": 1`, "bad.json is left out"},
		{"text that is no JSON", "bad.ndjson", "{a: }\n", "bad.ndjson is left out"},
	} {
		folder := write(t, map[string]string{"good.csv": "id,name\n1,Ann\n2,Bob\n", test.name: test.content})
		pool := testutil.Value(duckdb.OpenFolder(t.Context(), folder, duckdb.Options{}))(t)
		db := onPool(t, pool, exec.Config{})
		table, err := db.Query(t.Context(), "SELECT count(*) FROM good")
		if err != nil || fmt.Sprint(table.Rows) != "[[2]]" {
			t.Errorf("%s: %v, %v", test.why, table, err)
		}
		if got := fmt.Sprint(db.Warnings()); !strings.Contains(got, test.told) {
			t.Errorf("%s: the warnings are %s", test.why, got)
		}
		if _, err := db.Query(t.Context(), "SELECT * FROM bad"); err == nil || !strings.Contains(err.Error(), test.told) {
			t.Errorf("%s: %v", test.why, err)
		}
		pool.Close()
	}
}
