package servertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// TestInspect: tables, views, comments and types of two catalogs, and what is left out.
func TestInspect(t *testing.T) {
	name := open(t,
		`CREATE TABLE parent(id INTEGER COMMENT 'its number', code VARCHAR(20), at TIMESTAMP(3) WITH TIME ZONE, tags ARRAY(ROW(x INTEGER)));
COMMENT ON TABLE parent IS 'all parents';
CREATE VIEW codes AS SELECT code FROM parent;
`)
	db := guarded(t, "admin", name, trino.Dialect{Catalogs: []string{"tpch"}}, exec.Config{Policy: exec.Policy{
		AllowTables: []string{name + ".parent", name + ".codes", "tpch.tiny.nation"},
	}})
	s := testutil.Value(db.Schema(t.Context()))(t)
	want := []schema.Table{
		{Schema: name, Name: "codes", Kind: "view", Columns: []schema.Column{{Name: "code", Type: "varchar(20)"}}},
		{Schema: name, Name: "parent", Kind: "table", Description: "all parents", Columns: []schema.Column{
			{Name: "id", Type: "integer", Description: "its number"}, {Name: "code", Type: "varchar(20)"},
			{Name: "at", Type: "timestamp(3) with time zone"},
			{Name: "tags", Type: "array(row(x integer))"},
		}},
		{Schema: "tpch.tiny", Name: "nation", Kind: "table", Columns: []schema.Column{
			{Name: "nationkey", Type: "bigint", NotNull: true}, {Name: "name", Type: "varchar(25)", NotNull: true},
			{Name: "regionkey", Type: "bigint", NotNull: true}, {Name: "comment", Type: "varchar(152)", NotNull: true},
		}},
	}
	if diff := cmp.Diff(want, s.Tables); diff != "" || s.Default != name || s.Dialect != "trino" {
		t.Errorf("default %q, dialect %q\n%s", s.Default, s.Dialect, diff)
	}
	if s.Version == "" {
		t.Error("no version")
	}
	all := testutil.Value(guarded(t, "admin", name, trino.Dialect{}, exec.Config{}).Schema(t.Context()))(t)
	for _, table := range all.Tables {
		if table.Schema == "information_schema" || strings.Contains(table.Schema, "tpch") {
			t.Errorf("the schema has %s.%s", table.Schema, table.Name)
		}
	}
}

// TestInspectMany tells how long 200 tables of 20 columns take.
func TestInspectMany(t *testing.T) {
	var script strings.Builder
	for i := range 200 {
		fmt.Fprintf(&script, "CREATE TABLE t%d(id BIGINT", i)
		for j := range 19 {
			fmt.Fprintf(&script, ", c%d VARCHAR", j)
		}
		script.WriteString(");\n")
	}
	name := open(t, script.String())
	least := map[string]time.Duration{"Version": time.Hour, "Catalog": time.Hour}
	for range 3 {
		c := opened(t, "admin", name)
		start := time.Now()
		before, err := c.Version(t.Context())
		if err != nil || before == "" {
			t.Fatalf("version %q, %v", before, err)
		}
		least["Version"] = min(least["Version"], time.Since(start))
		start = time.Now()
		found := testutil.Value(c.Catalog(t.Context()))(t)
		least["Catalog"] = min(least["Catalog"], time.Since(start))
		n := 0
		for i := range found.Schema.Tables {
			if table := &found.Schema.Tables[i]; table.Schema == name {
				n += len(table.Columns)
			}
		}
		if n != 4000 || len(found.Relations) != len(found.Schema.Tables) || found.Version != before {
			t.Fatalf("%d columns, %d relations of %d tables, version %q", n, len(found.Relations), len(found.Schema.Tables),
				found.Version)
		}
	}
	t.Logf("200 tables with 20 columns: %v", least)
}

// opened is a connection of a user under a guard of its own.
func opened(t testing.TB, user, schema string) exec.Conn {
	t.Helper()
	c := testutil.Value(pool(t, user, schema).Conn(t.Context()))(t)
	open := testutil.Value(trino.Dialect{}.Guard(exec.GuardConfig{}))(t)
	o := testutil.Value(open(t.Context(), c, time.Minute))(t)
	t.Cleanup(func() { o.Close(false); c.Close() })
	return o.Conn
}

// TestPlans holds plans to a golden file. The tables of memory have no names in the server's plans.
func TestPlans(t *testing.T) {
	name := open(t, `CREATE TABLE customers(id INTEGER, name VARCHAR, city VARCHAR);
CREATE TABLE orders(id INTEGER, customer INTEGER, total DECIMAL(10,2));
CREATE VIEW big AS SELECT customer FROM orders WHERE total > 100;
INSERT INTO customers VALUES (1, 'ann', 'Bern'), (2, 'bob', 'Rome');
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 200), (3, 2, 7);
`)
	d := trino.Dialect{Catalogs: []string{"tpch"}}
	db := guarded(t, "admin", name, d, exec.Config{})
	var out strings.Builder
	for _, text := range []string{
		"SELECT name FROM customers",
		"SELECT name FROM customers WHERE city = 'Bern' ORDER BY name LIMIT 3",
		"SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer = c.id",
		"SELECT c.name, o.total FROM orders o JOIN customers c ON o.customer = c.id",
		"SELECT c.name, o.total FROM customers c LEFT JOIN orders o ON o.customer = c.id",
		"SELECT city, count(*) FROM customers GROUP BY city",
		"SELECT DISTINCT city FROM customers",
		"SELECT name FROM customers UNION ALL SELECT name FROM tpch.tiny.nation",
		"SELECT name FROM customers UNION SELECT name FROM tpch.tiny.nation",
		"SELECT name FROM customers WHERE id NOT IN (SELECT customer FROM orders)",
		"SELECT name, (SELECT max(total) FROM orders) FROM customers",
		"SELECT name, rank() OVER (ORDER BY name) FROM customers",
		"SELECT count(*) FROM big",
		"SELECT n.name FROM tpch.tiny.nation n JOIN tpch.tiny.region r ON r.regionkey = n.regionkey",
		"SELECT 1",
	} {
		p, err := db.Explain(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		fmt.Fprintf(&out, "%s\n", text)
		for line := range strings.Lines(p.Signature() + "\n") {
			out.WriteString("  " + strings.ReplaceAll(line, name, "SCHEMA"))
		}
		if strings.Contains(fmt.Sprint(p.Rows), "Bern") {
			t.Errorf("%s: the plan holds a value", text)
		}
		if strings.Contains(text, "tiny") && (p.EngineCost <= 0 || p.EngineRows < 0) {
			t.Errorf("%s: cost %v, rows %v", text, p.EngineCost, p.EngineRows)
		}
	}
	golden.Check(t, "plans.golden", out.String())
}

// values are expressions of every type, most of them nested too.
var values = []string{
	"1", "BIGINT '9223372036854775807'", "TINYINT '-1'", "1.50", "DECIMAL '12345678901234567890123456789012345678'", "1e0",
	"REAL '0.1'", "nan()", "infinity()",
	"-0e0", "TRUE", "1 = 2", "NULL", "'x '", "CAST('ab' AS CHAR(5))", "X'00ff'", "DATE '2024-02-29'", "TIME '01:02:03.5'",
	"TIME '01:02:03 +02:00'",
	"TIMESTAMP '2024-02-29 13:14:15'", "TIMESTAMP '2024-02-29 13:14:15.120000'",
	"TIMESTAMP '2024-07-01 10:00:00 Europe/Berlin'",
	"TIMESTAMP '2024-07-01 10:00:00 -05:30'", "TIMESTAMP '1969-12-31 23:59:59.000000001'", "INTERVAL '2' DAY",
	"INTERVAL '3' MONTH",
	`JSON '{"b": 1, "a": [2]}'`, "UUID '123E4567-e89b-12d3-a456-426655440000'", "IPADDRESS '::1'", "ARRAY[1, NULL, 3]",
	"ARRAY['<a>', '\"']", "ARRAY[1.50, 2.00]",
	"ARRAY[DATE '2024-01-02']", "ARRAY[TIMESTAMP '2024-01-02 03:04:05.500']",
	"ARRAY[TIMESTAMP '2024-07-01 10:00:00 Europe/Berlin']", "ARRAY[X'00ff']",
	"ARRAY[ARRAY[1e0, nan()]]", "MAP(ARRAY['b', 'a'], ARRAY[1, NULL])", "MAP(ARRAY[2, 1], ARRAY[DATE '2024-01-02', NULL])",
	`CAST(ROW(1, 'x', DATE '2024-01-02') AS ROW(b INTEGER, "A b" VARCHAR, c DATE))`, "ROW(1, ARRAY[ROW(2.50)])",
	"CAST(NULL AS ROW(x INTEGER))",
	"sum(x)", "avg(x)", "sum(d)", "count(*)", "max(d) / 3", "array_agg(x ORDER BY x)", "approx_distinct(x)",
}

// TestValues holds the cells to a golden file. They are the same with another time zone of the session.
func TestValues(t *testing.T) {
	name := open(t, "CREATE TABLE v(x INTEGER, d DECIMAL(10,2));\nINSERT INTO v VALUES (1, 1.50), (2, 2.25);\n")
	first := ""
	for _, zone := range []string{"", "&timezone=Asia%2FTokyo"} {
		db := guardedBy(t, dsn(t, "admin", name)+zone, exec.Config{})
		var out strings.Builder
		for _, value := range values {
			text := "SELECT " + value
			if strings.ContainsAny(value, "xd") && strings.Contains(value, "(x") || strings.Contains(value, "(d)") ||
				value == "count(*)" {
				text += " FROM v"
			}
			table, err := db.Query(t.Context(), text)
			if err != nil {
				fmt.Fprintf(&out, "%-60s %v\n", value, err)
				continue
			}
			fmt.Fprintf(&out, "%-60s %T %#v\n", value, table.Rows[0][0], table.Rows[0][0])
		}
		if first == "" {
			first = out.String()
			golden.Check(t, "values.golden", first)
		} else if diff := cmp.Diff(first, out.String()); diff != "" {
			t.Errorf("%s gives other cells:\n%s", zone, diff)
		}
	}
}

// TestKinds: the page about engines shows the values as a result has them.
func TestKinds(t *testing.T) {
	dialecttest.Kinds(t, guarded(t, "admin", open(t, "CREATE TABLE v(x INTEGER);\n"), trino.Dialect{}, exec.Config{}),
		"../../../docs/lab/engines.md", "Trino")
}

// TestErrors: what the server says of wrong statements.
func TestErrors(t *testing.T) {
	name := open(t, "CREATE TABLE pupils(id INTEGER, name VARCHAR);\nINSERT INTO pupils VALUES (1, 's3cret');\n")
	db := guarded(t, "admin", name, trino.Dialect{}, exec.Config{})
	for _, c := range []struct {
		sql    string
		fault  string
		name   string
		reason string
	}{
		{"SELECT nmae FROM pupils", "schema", "nmae", ""},
		{"SELECT name FROM pupil", "schema", "pupil", ""},
		{"SELECT p.nmae FROM pupils p", "schema", "p.nmae", ""},
		{"SELECT id FROM pupils a JOIN pupils b ON a.id = b.id", "schema", "id", ""},
		{"SELECT id FROM pupils WHERE", "syntax", "", ""},
		{"SELECT id FROM pupils WHERE id = name", "compile", "", ""},
		{"SELECT id, count(*) FROM pupils", "compile", "", ""},
		{"SELECT id / 0 FROM pupils", "run", "", ""},
		{"SELECT CAST(name AS INTEGER) FROM pupils", "run", "", ""},
		{"SELECT CAST(name AS DATE) FROM pupils", "run", "", ""},
	} {
		_, err := db.Query(t.Context(), c.sql)
		invalid, ok := asInvalid(err)
		if !ok || invalid.Fault != c.fault || invalid.Name != c.name || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %+v, %v, want a fault of %s in %q", c.sql, invalid, err, c.fault, c.name)
		}
	}
}

// TestComplete: a table with fewer rows than are wanted is known whole; a sample is cut and counted.
func TestComplete(t *testing.T) {
	name := open(t, `CREATE TABLE few(id INTEGER, w VARCHAR, m MAP(VARCHAR, INTEGER));
INSERT INTO few VALUES (2, 'second', NULL), (1, 'first', MAP(ARRAY['a'], ARRAY[1]));
CREATE TABLE none(id INTEGER);
`)
	db := guarded(t, "admin", name, trino.Dialect{}, exec.Config{})
	s := testutil.Value(db.Schema(context.Background()))(t)
	for table, want := range map[string]exec.RowSample{
		"few":  {Rows: [][]any{{int64(1), "fir", `{"a`}, {int64(2), "sec", nil}}, Count: 2, Complete: true},
		"none": {Rows: [][]any{}, Complete: true},
	} {
		found, ok := s.Lookup(name, table)
		if !ok {
			t.Fatalf("no table %s", table)
		}
		var columns []string
		for _, c := range found.Columns {
			columns = append(columns, c.Name)
		}
		run := func(ctx context.Context, text string, rows int) (*result.Table, error) {
			return db.QueryWithin(ctx, text, exec.Bounds{Rows: rows})
		}
		got, err := trino.Dialect{}.SampleRows(t.Context(), run, *found, exec.SampleOptions{Columns: columns, Rows: 5, Cut: 3,
			Count: 10, Spread: table == "none"})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", table, err, diff)
		}
	}
}

func asInvalid(err error) (*exec.InvalidError, bool) {
	var invalid *exec.InvalidError
	return invalid, errors.As(err, &invalid)
}

// guardedBy is a DB on a data source name.
func guardedBy(t testing.TB, dsn string, c exec.Config) *exec.DB {
	t.Helper()
	p := testutil.Value(sql.Open("trino", dsn))(t)
	t.Cleanup(func() { p.Close() })
	return dbtest.NewDB(t, p, trino.Dialect{}, c)
}

// TestTwoCatalogs: one question whose statement joins a table of memory with one of tpch.
func TestTwoCatalogs(t *testing.T) {
	name := open(t, "CREATE TABLE offices(city VARCHAR, country VARCHAR);\n"+
		"INSERT INTO offices VALUES ('Lyon', 'FRANCE'), ('Lima', 'PERU'), ('Nice', 'FRANCE');\n")
	model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true,
		Replies: llmtest.Texts("```sql\nSELECT r.name, count(*) FROM offices AS o" +
			" JOIN tpch.tiny.nation AS n ON n.name = o.country JOIN tpch.tiny.region AS r ON r.regionkey = n.regionkey " +
			"GROUP BY r.name ORDER BY r.name\n```")}}}
	e, err := texttosql.New(pool(t, "reader", name), model,
		texttosql.WithDialect(trino.Dialect{Catalogs: []string{"tpch"}}),
		texttosql.WithPolicy(exec.Policy{AllowTables: []string{"offices", "tpch.tiny.nation", "tpch.tiny.region"}}),
		// of a busy machine
		texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: time.Minute},
			Answer: exec.Bounds{Timeout: time.Minute}}),
		texttosql.WithStrategy(strategy.SelfConsistency{Samples: 1}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Ask(t.Context(), "How many offices are in each region of the world?")
	if err != nil || res.Rows == nil || fmt.Sprint(res.Rows.Rows) != "[[AMERICA 1] [EUROPE 2]]" {
		t.Fatalf("%+v, %v", res, err)
	}
	var said strings.Builder
	for _, req := range model.Requests() {
		said.WriteString(strategytest.Written(req.Messages))
	}
	for _, word := range []string{"Trino", "offices", `"tpch"."tiny".nation`} {
		if !strings.Contains(said.String(), word) {
			t.Errorf("no prompt has %s:\n%s", word, said.String())
		}
	}
	if strings.Contains(said.String(), "orders") || strings.Contains(said.String(), "SQLite") {
		t.Errorf("a prompt has what is not allowed, or another engine:\n%s", said.String())
	}
}

// long is a statement that takes many minutes on both nodes, and no memory.
const long = "SELECT count(*) FROM tpch.sf100.lineitem AS a CROSS JOIN tpch.tiny.nation AS b " +
	"WHERE a.comment < b.comment"

// running counts the statements with a mark that the server works on.
func running(t testing.TB, mark string) (n int) {
	t.Helper()
	p := pool(t, "admin", "default")
	defer p.Close()
	testutil.OK(t, p.QueryRowContext(context.WithoutCancel(t.Context()),
		"SELECT count(*) FROM system.runtime.queries WHERE query LIKE '%"+mark+
			"%' AND query NOT LIKE '%system.runtime%' AND state NOT IN ('FINISHED', 'FAILED')").Scan(&n))
	return n
}

// eventually waits until ok, for what a busy machine is slow at.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// TestEnds: a statement that is over its time, or cancelled, is not worked on any more.
func TestEnds(t *testing.T) {
	d := guarded(t, "admin", "default", trino.Dialect{Catalogs: []string{"tpch"}}, exec.Config{})
	_, err := d.QueryWithin(t.Context(), long+" AND 'deadline' <> ''", exec.Bounds{Timeout: 4 * time.Second})
	var limit *exec.LimitError
	if !errors.As(err, &limit) || limit.Limit != "time" {
		t.Errorf("over its time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := d.QueryWithin(ctx, long+" AND 'cancel' <> ''", exec.Bounds{Timeout: time.Minute})
		ended <- err
	}()
	eventually(t, "the statement runs", func() bool { return running(t, "''cancel''") > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
		t.Errorf("cancelled: %v", err)
	}
	for _, mark := range []string{"''deadline''", "''cancel''"} {
		eventually(t, "the server ended "+mark, func() bool { return running(t, mark) == 0 })
	}
	if _, err := d.Query(t.Context(), "SELECT count(*) FROM tpch.tiny.nation"); err != nil {
		t.Errorf("a later statement: %v", err)
	}
}

// TestNodeEnds: a worker goes in the middle of a statement. That is nobody's fault but the cluster's, and later
// statements work on the other node.
func TestNodeEnds(t *testing.T) {
	d := dbtest.NewDB(t, pool(t, "admin", "default"), trino.Dialect{Catalogs: []string{"tpch"}}, exec.Config{})
	testutil.Value(d.Query(t.Context(), "SELECT count(*) FROM tpch.tiny.nation"))(t)
	ended := make(chan error, 1)
	start := time.Now()
	go func() {
		_, err := d.QueryWithin(t.Context(), long+" AND 'node' <> ''", exec.Bounds{Timeout: 3 * time.Minute})
		ended <- err
	}()
	eventually(t, "the statement runs", func() bool { return running(t, "''node''") > 0 })
	time.Sleep(time.Second) // on both nodes
	testutil.OK(t, server.Get(t).EndWorker())
	defer func() {
		if err := server.Get(t).AddWorker(); err != nil {
			t.Error(err)
		}
	}()
	gone := time.Now()
	err := <-ended
	t.Logf("the worker ended after %v, and %v later: %v", gone.Sub(start), time.Since(gone), err)
	if err == nil || exec.IsRejection(err) || !strings.Contains(err.Error(), "the cluster failed") {
		t.Errorf("the worker is gone: %v", err)
	}
	// The coordinator takes some seconds to miss the node.
	eventually(t, "a later statement works", func() bool {
		_, err := d.QueryWithin(t.Context(), "SELECT count(*) FROM tpch.tiny.nation", exec.Bounds{Timeout: time.Minute})
		if exec.IsRejection(err) {
			t.Errorf("a later statement: %v", err)
		}
		return err == nil
	})
}

// TestNoServer: what is said without a server, of a user it does not let in, and of places that are not there. No error
// has the DSN.
func TestNoServer(t *testing.T) {
	l := testutil.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	nobody := l.Addr().String()
	l.Close()
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Invalid credentials", http.StatusUnauthorized)
	}))
	defer strict.Close()
	for _, c := range []struct{ why, dsn, want string }{
		{"nobody listens", "http://s3cret-user@" + nobody + "?catalog=memory&schema=default&request_retry_max_attempts=2",
			"connection refused"},
		{"wrong credentials", "http://s3cret-user@" + strict.Listener.Addr().String() + "?catalog=memory&schema=default",
			"Invalid credentials"},
		{"no such catalog", strings.Replace(dsn(t, "s3cret-user", "default"), "catalog=memory", "catalog=nix", 1), "nix"},
		{"no catalog", strings.Replace(dsn(t, "s3cret-user", "default"), "catalog=memory&", "", 1), "name both in the DSN"},
		{"no schema", strings.Replace(dsn(t, "s3cret-user", "default"), "&schema=default", "", 1), "name both in the DSN"},
	} {
		p := testutil.Value(sql.Open("trino", c.dsn))(t)
		defer p.Close()
		db := dbtest.NewDB(t, p, trino.Dialect{}, exec.Config{})
		_, schemaErr := db.Schema(t.Context())
		_, queryErr := db.Query(t.Context(), "SELECT 1 FROM t")
		model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true, Replies: llmtest.Texts("SELECT 1 FROM t")}}}
		e, err := texttosql.New(p, llm.Model(model), texttosql.WithDialect(trino.Dialect{}),
			texttosql.WithStrategy(strategy.SelfConsistency{Samples: 1}))
		askErr := err
		if err == nil {
			_, askErr = e.Ask(t.Context(), "How many?")
		}
		for what, err := range map[string]error{"Schema": schemaErr, "Query": queryErr, "Ask": askErr} {
			switch text := fmt.Sprint(err); {
			case err == nil:
				t.Errorf("%s: %s: no error", c.why, what)
			case !strings.Contains(text, c.want):
				t.Errorf("%s: %s: %q, want %q", c.why, what, text, c.want)
			case strings.Contains(text, "s3cret") || strings.Contains(text, "request_retry_max_attempts=2&") ||
				strings.Contains(text, c.dsn):
				t.Errorf("%s: %s: the error has the DSN: %s", c.why, what, text)
			}
		}
	}
}

// TestBrokenViews: views that the server cannot read are left out with a word, and the rest is read.
func TestBrokenViews(t *testing.T) {
	place := open(t, `CREATE TABLE t(a INTEGER);
CREATE TABLE gone(a INTEGER);
CREATE TABLE other(a INTEGER);
CREATE VIEW fine AS SELECT a FROM t;
CREATE VIEW lost AS SELECT a FROM gone;
CREATE VIEW above AS SELECT a FROM lost;
CREATE VIEW stale AS SELECT a FROM other;
DROP TABLE gone;
DROP TABLE other;
CREATE TABLE other(b VARCHAR)`)
	d := guarded(t, "admin", place, trino.Dialect{}, exec.Config{})
	var names []string
	for _, table := range testutil.Value(d.Schema(t.Context()))(t).Tables {
		names = append(names, table.Name)
	}
	if diff := cmp.Diff([]string{"fine", "other", "t"}, names); diff != "" {
		t.Error(diff)
	}
	why := fmt.Sprint(d.Warnings())
	for _, name := range []string{"lost", "above", "stale"} {
		if !strings.Contains(why, "the view "+name+" is left out of the schema, since the server cannot read it") {
			t.Errorf("no warning of %s: %s", name, why)
		}
	}
	if _, err := d.Query(t.Context(), "SELECT count(*) FROM fine"); err != nil {
		t.Errorf("the rest: %v", err)
	}
	if _, err := d.Query(t.Context(), "SELECT count(*) FROM lost"); !exec.IsRejection(err) {
		t.Errorf("a broken view: %v", err)
	}
}
