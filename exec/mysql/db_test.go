package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	driverpkg "github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

func guarded(t testing.TB, pool *sql.DB, p exec.Policy) *exec.DB {
	t.Helper()
	return dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{Policy: revealed(p)})
}

// TestBrokenViews: a view that the server cannot open is told of once a schema, by name only where the policy has it.
func TestBrokenViews(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT); CREATE TABLE gone(x INT); CREATE VIEW broken AS SELECT x FROM gone; "+
		"DROP TABLE gone", "")
	for _, c := range []struct {
		policy exec.Policy
		told   int
	}{{exec.Policy{}, 1}, {exec.Policy{DenyTables: []string{"broken"}}, 0}} {
		db := guarded(t, pool, c.policy)
		s, err := db.Schema(t.Context())
		if err != nil || len(s.Tables) != 1 || s.Tables[0].Name != "t" {
			t.Fatalf("%+v: %+v, %v", c.policy, s, err)
		}
		if got := fmt.Sprint(db.Warnings()); strings.Count(got, "broken") != 2*c.told { // the code, and the name
			t.Errorf("%+v: %s", c.policy, got)
		}
	}
	if _, err := guarded(t, pool, exec.Policy{}).Query(t.Context(), "SELECT * FROM broken"); !exec.IsRejection(err) {
		t.Error(err)
	}
}

// TestDroppedInBetween: a table that goes between the plan and the run is a fault of the statement, told as such, and
// the schema that is read next does not have it.
func TestDroppedInBetween(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT); CREATE TABLE u(b INT); INSERT INTO u VALUES (1)", "")
	db := guarded(t, pool, exec.Policy{})
	runner := testutil.Value(db.Runner(exec.Bounds{}))(t)
	defer runner.Close()
	p, err := runner.Explain(t.Context(), "SELECT b FROM u")
	if err != nil || !strings.Contains(p.Signature(), `"table_name": "u"`) {
		t.Fatalf("%q, %v", p.Signature(), err)
	}
	testutil.Value(db.Schema(t.Context()))(t)
	testutil.OK(t, runner.Close())
	exec1(t, pool, "DROP TABLE u")
	if _, err := runner.Query(t.Context(), "SELECT b FROM u"); !exec.IsRejection(err) {
		t.Errorf("the table is gone: %v", err)
	}
	s, err := db.Schema(t.Context())
	if err != nil || len(s.Tables) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStringsForNames: what the check of names in double quotes says, as a finding and as a refusal.
func TestStringsForNames(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(name TEXT, secret TEXT); INSERT INTO t VALUES ('a', 'b')", "")
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"t.secret"}})
	names := exec.PlanChecks()[1]
	for _, c := range []struct {
		sql  string
		want bool
		why  string
	}{
		{`SELECT "name" FROM t`, true, "the word name in each row"},
		{`SELECT name FROM t WHERE "name" = 'a'`, true, "compares two constants"},
		{`SELECT name FROM t WHERE name = "name"`, false, "a string beside a comparison"},
		{`SELECT name, "secret" FROM t`, false, "nothing tells that there is such a column"},
		{"SELECT `name` FROM t", false, "a name"},
	} {
		checked, err := db.Examine(t.Context(), c.sql, exec.ReadOnly{}, names)
		if err != nil || (len(checked.Findings) > 0) != c.want || c.want && !strings.Contains(checked.Findings[0].Detail,
			"column `name`") {
			t.Errorf("%s: %+v, %v (%s)", c.sql, checked.Findings, err, c.why)
		}
		_, err = db.Examine(t.Context(), c.sql, exec.ReadOnly{}, names.(interface{ Strict() exec.Check }).Strict())
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) != c.want || c.want && invalid.Fault != "schema" {
			t.Errorf("%s: %v (%s)", c.sql, err, c.why)
		}
	}
}

// TestWarningsOfStatements: the person who asked is told what the server made of texts that are no numbers.
func TestWarningsOfStatements(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('x1')", "")
	span := trace.Tracer{}.New("test")
	got, err := guarded(t, pool, exec.Policy{}).Query(trace.NewContext(t.Context(), span), "SELECT a + 1 FROM t")
	if err != nil || fmt.Sprint(got.Rows) != "[[1]]" {
		t.Fatalf("%v, %v", got, err)
	}
	if got := fmt.Sprint(span.Warnings()); !strings.Contains(got, "Truncated incorrect DOUBLE value") {
		t.Error(got)
	}
}

// TestRowsOfValues: MariaDB writes VALUES without ROW, wherever a query may stand, and they read what stands in them.
func TestRowsOfValues(t *testing.T) {
	pool, _ := open(t, people, "")
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"users.password"}})
	for _, c := range []struct{ sql, want string }{
		{"VALUES (1, 'a'), (2, 'b')", "[[1 a] [2 b]]"},
		{"SELECT a FROM t WHERE a = ANY (VALUES (2), (3))", "[[2]]"},
		{"SELECT * FROM (VALUES (1), (2)) AS x, (VALUES (3)) AS y", "[[1 3] [2 3]]"},
		{"WITH c(n) AS (VALUES (1), (2)) SELECT n FROM c EXCEPT VALUES (2)", "[[1]]"},
		{"VALUES (1), ((SELECT COUNT(*) FROM users))", "[[1] [2]]"},
		{"VALUES (1), ((SELECT MAX(password) FROM users))", "refused column writes=false"},
		{"SELECT 1 UNION (VALUES (1), ((SELECT 1 FROM mysql.user)))", "refused table writes=false"},
		{"VALUES(GET_LOCK('x', 0))", "refused function writes=false"},
	} {
		got, err := db.Query(t.Context(), c.sql)
		said := kind(err)
		if err == nil {
			said = fmt.Sprint(got.Rows)
		}
		if said != c.want {
			t.Errorf("%s: %s, %v, want %s", c.sql, said, err, c.want)
		}
	}
}

// revealed is p, which reads the columns password and secret of the tests as any other, unless it says what to reveal.
func revealed(p exec.Policy) exec.Policy {
	if p.Reveal == nil {
		p.Reveal = []string{"*"}
	}
	return p
}

// TestOnce: an examination parses a statement once, and the server prepares it once. It was three times each.
func TestOnce(t *testing.T) {
	_, dsn := open(t, people, "")
	connector, err := driverpkg.MySQLDriver{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	faults := &exectest.Faults{Connector: connector}
	pool := sql.OpenDB(faults)
	t.Cleanup(func() { pool.Close() })
	var parsed int
	counted := exectest.Change(mysql.Dialect{}, exectest.Changes{
		Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
			parsed++
			return read()
		},
	})
	for _, c := range []struct {
		policy exec.Policy
		sql    string
		parsed int
		events []string // that have the statement, or are about it
		why    string
	}{
		{exec.Policy{}, "SELECT name FROM users", 1,
			[]string{"prepare S", "prepare EXPLAIN FORMAT=JSON S", "run EXPLAIN FORMAT=JSON S", "run S",
				"query SHOW WARNINGS LIMIT 5"}, ""},
		{exec.Policy{DenyColumns: []string{"users.password"}}, "SELECT name FROM users", 1,
			[]string{"exec SET @@session.optimizer_trace = 'enabled=on'", "prepare S",
				"exec SET @@session.optimizer_trace = 'enabled=off'",
				"prepare EXPLAIN FORMAT=JSON S", "run EXPLAIN FORMAT=JSON S", "run S", "query SHOW WARNINGS LIMIT 5"}, "the trace"},
		{exec.Policy{}, `SELECT "name" FROM users`, 2,
			[]string{"prepare S", "prepare SELECT `name` FROM users", "prepare EXPLAIN FORMAT=JSON S",
				"run EXPLAIN FORMAT=JSON S", "prepare S", "run S",
				"query SHOW WARNINGS LIMIT 5"}, "another one is prepared between, to see whether it is meant"},
	} {
		db := dbtest.NewDB(t, pool, counted, exec.Config{Policy: c.policy})
		if _, err := db.Query(t.Context(), "SELECT 1"); err != nil { // reads the catalog
			t.Fatal(err)
		}
		var events []string
		parsed = 0
		faults.Fail(func(event string) error {
			switch {
			case strings.Contains(event, "FROM users"), strings.HasPrefix(event, "exec SET @@session.optimizer_trace = "),
				strings.Contains(event, "WARNINGS"):
				events = append(events, strings.Replace(event, c.sql, "S", 1))
			}
			return nil
		})
		_, err = db.Examine(t.Context(), c.sql)
		faults.Fail(nil)
		if diff := cmp.Diff(c.events, events); err != nil || parsed != c.parsed || diff != "" {
			t.Errorf("%s (%s): parsed %d times, want %d; %v\n%s", c.sql, c.why, parsed, c.parsed, err, diff)
		}
	}
}

const planScript = `
CREATE TABLE customers(id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, city VARCHAR(40), KEY(city));
CREATE TABLE orders(id INT PRIMARY KEY AUTO_INCREMENT, customer INT NOT NULL, total DECIMAL(10,2), day DATE,
	FOREIGN KEY(customer) REFERENCES customers(id), KEY(day));
INSERT INTO customers(name, city) SELECT CONCAT('c', seq), CONCAT('t', seq % 20) FROM seq_1_to_500;
INSERT INTO orders(customer, total, day) SELECT 1 + seq % 500, seq / 3, DATE '2024-01-01' + INTERVAL seq % 300 DAY FROM seq_1_to_3000;
CREATE VIEW v AS SELECT c.city, SUM(o.total) AS s FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.city;
ANALYZE TABLE customers, orders;`

// TestPlans: the plan is the server's own, without conditions; it has the cost that the server tells, from MariaDB 11.0
// on; and its signature does not depend on numbers.
func TestPlans(t *testing.T) {
	pool, _ := open(t, planScript, "")
	var version string
	testutil.OK(t, pool.QueryRow("SELECT VERSION()").Scan(&version))
	db := guarded(t, pool, exec.Policy{})
	signatures := map[string]bool{}
	for _, sql := range []string{
		"SELECT c.name, o.total FROM customers AS c JOIN orders o ON o.customer = c.id WHERE c.city = 't3' ORDER BY o.total",
		"SELECT city, COUNT(*) FROM customers GROUP BY city ORDER BY COUNT(*) DESC",
		"SELECT id FROM customers WHERE id IN (SELECT customer FROM orders WHERE total > 10)",
		"SELECT id FROM customers UNION SELECT customer FROM orders",
		"WITH x AS (SELECT customer, SUM(total) s FROM orders GROUP BY customer) SELECT * FROM x a JOIN x b " +
			"ON a.customer = b.customer",
		"SELECT * FROM v WHERE city = 't3'",
		"SELECT o.id FROM orders o JOIN customers c ON o.day = c.name WHERE c.id = 5 AND c.city = 't5'",
		"SELECT `a\nb`.id FROM orders `a\nb` JOIN customers c ON `a\nb`.day = c.name WHERE c.id = 7 AND c.city = 't7'",
		"VALUES (1), (2)",
	} {
		p := testutil.Value(db.Explain(t.Context(), sql))(t, sql)
		if signatures[p.Signature()] {
			t.Errorf("%s has the signature of another plan", sql)
		}
		signatures[p.Signature()] = true
		if told := !strings.HasPrefix(version, "10."); strings.Contains(sql, "FROM") && (p.EngineCost > 0) != told {
			t.Errorf("%s: cost %v on %s", sql, p.EngineCost, version)
		}
		if len(p.Rows) < 3 || len(p.Nodes) > 0 || !strings.Contains(p.Rows[1].Detail, "query_block") {
			t.Errorf("%s: %+v", sql, p)
		}
		for _, row := range p.Rows {
			if strings.Contains(row.Detail, "'") || strings.Contains(row.Detail, "c5") || strings.Contains(row.Detail, "c7") {
				t.Errorf("%s: a stored value is in %+v", sql, row)
			}
		}
	}
	var last string
	for _, sql := range []string{"SELECT * FROM orders WHERE id < 500", "SELECT * FROM orders WHERE id < 501"} {
		p, err := db.Explain(t.Context(), sql)
		if got := p.Signature(); err != nil || last != "" && last != got {
			t.Errorf("%s: %q, %v, want %q", sql, got, err, last)
		} else {
			last = got
		}
	}
	dialecttest.Scans(t, db, []dialecttest.Scan{
		{SQL: "SELECT c.id FROM customers c WHERE c.id = 7"},
		{SQL: "SELECT x.id FROM customers x WHERE x.name LIKE '%a'", Want: "customers"},
		{SQL: "SELECT id FROM (SELECT a.id FROM orders a UNION ALL SELECT b.id FROM customers b) a",
			Want: "customers orders"},
		{SQL: "SELECT 1"},
	})
	denies := guarded(t, pool, exec.Policy{DenyColumns: []string{"customers.name"}})
	told := testutil.Value(denies.Explain(t.Context(), "SELECT id FROM customers WHERE city = 't3' AND id > 7"))(t)
	if len(told.Rows) != 1 || told.Rows[0].Detail != "reads customers" {
		t.Errorf("a column is denied: %+v", told)
	}
	_, err := db.Explain(t.Context(), "SELECT nmae FROM customers")
	if want := (&exec.InvalidError{Fault: "schema", Name: "nmae"}); !invalidAs(err, want) {
		t.Errorf("%v, want %+v", err, want)
	}
}

// TestReadPlan: costs of query blocks add up, and the text of a statement takes nothing away from them.
func TestReadPlan(t *testing.T) {
	for _, c := range []struct {
		text string
		cost float64
		rows []string
		why  string
	}{
		{"", 0, nil, "nothing"},
		{"{\n  \"query_block\": {\n    \"select_id\": 1,\n    \"cost\": 0.5,\n    \"table\": {\n      \"cost\": " +
			"0.25\n    }\n  }\n}", 0.5,
			[]string{"{", `  "query_block": {`, `    "select_id": 1,`, `    "cost": 0.5,`, `    "table": {`,
				`      "cost": 0.25`, "    }", "  }", "}"},
			"a table's cost is a part of the block's"},
		{"\"select_id\": 1,\n\"cost\": 0.5,\n\"select_id\": 2,\n\"operation\": \"UNION\",\n\"cost\": 1e2\n", 100.5,
			[]string{`"select_id": 1,`, `"cost": 0.5,`, `"select_id": 2,`, `"operation": "UNION",`, `"cost": 1e2`}, "a union"},
		{"\"cost_info\": {\n\"query_cost\": \"1.25\"\n}", 1.25, []string{`"cost_info": {`, `"query_cost": "1.25"`, "}"},
			"MySQL"},
		{"\"select_id\": 1,\n\"cost\": 7,\n\"attached_condition\": \"`a\n\"select_id\": 1,\n\"cost\": -9,\n` = 's3cret'\"", 7,
			[]string{`"select_id": 1,`, `"cost": 7,`, `"select_id": 1,`, `"cost": -9,`}, "a name of three lines"},
		{"\"sort_key\": \"`t`.`a` = 5\",\n\"index_condition\": \"a = 5\"\n", 0, nil, "what may hold stored values"},
	} {
		p := mysql.ReadPlan(c.text, nil)
		var rows []string
		for _, row := range p.Rows {
			rows = append(rows, row.Detail)
		}
		if diff := cmp.Diff(c.rows, rows); diff != "" || p.EngineCost != c.cost {
			t.Errorf("%s: cost %v, want %v; %s", c.why, p.EngineCost, c.cost, diff)
		}
	}
}
