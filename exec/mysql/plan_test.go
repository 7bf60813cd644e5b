package mysql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
)

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
	if err := pool.QueryRow("SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	db := guarded(t, pool, exec.Policy{})
	signatures := map[string]bool{}
	for _, sql := range []string{
		"SELECT c.name, o.total FROM customers AS c JOIN orders o ON o.customer = c.id WHERE c.city = 't3' ORDER BY o.total",
		"SELECT city, COUNT(*) FROM customers GROUP BY city ORDER BY COUNT(*) DESC",
		"SELECT id FROM customers WHERE id IN (SELECT customer FROM orders WHERE total > 10)",
		"SELECT id FROM customers UNION SELECT customer FROM orders",
		"WITH x AS (SELECT customer, SUM(total) s FROM orders GROUP BY customer) SELECT * FROM x a JOIN x b ON a.customer = b.customer",
		"SELECT * FROM v WHERE city = 't3'",
		"SELECT o.id FROM orders o JOIN customers c ON o.day = c.name WHERE c.id = 5 AND c.city = 't5'",
		"SELECT `a\nb`.id FROM orders `a\nb` JOIN customers c ON `a\nb`.day = c.name WHERE c.id = 7 AND c.city = 't7'",
		"VALUES (1), (2)",
	} {
		p, err := db.Explain(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
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
	_, err := db.Explain(t.Context(), "SELECT nmae FROM customers")
	if want := (&exec.InvalidError{Fault: exec.FaultSchema, Name: "nmae"}); !invalidAs(err, want) {
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
		{"{\n  \"query_block\": {\n    \"select_id\": 1,\n    \"cost\": 0.5,\n    \"table\": {\n      \"cost\": 0.25\n    }\n  }\n}", 0.5,
			[]string{"{", `  "query_block": {`, `    "select_id": 1,`, `    "cost": 0.5,`, `    "table": {`, `      "cost": 0.25`, "    }", "  }", "}"},
			"a table's cost is a part of the block's"},
		{"\"select_id\": 1,\n\"cost\": 0.5,\n\"select_id\": 2,\n\"operation\": \"UNION\",\n\"cost\": 1e2\n", 100.5,
			[]string{`"select_id": 1,`, `"cost": 0.5,`, `"select_id": 2,`, `"operation": "UNION",`, `"cost": 1e2`}, "a union"},
		{"\"cost_info\": {\n\"query_cost\": \"1.25\"\n}", 1.25, []string{`"cost_info": {`, `"query_cost": "1.25"`, "}"}, "MySQL"},
		{"\"select_id\": 1,\n\"cost\": 7,\n\"attached_condition\": \"`a\n\"select_id\": 1,\n\"cost\": -9,\n` = 's3cret'\"", 7,
			[]string{`"select_id": 1,`, `"cost": 7,`, `"select_id": 1,`, `"cost": -9,`}, "a name of three lines"},
		{"\"sort_key\": \"`t`.`a` = 5\",\n\"index_condition\": \"a = 5\"\n", 0, nil, "what may hold stored values"},
	} {
		p := mysql.ReadPlan(c.text)
		var rows []string
		for _, row := range p.Rows {
			rows = append(rows, row.Detail)
		}
		if diff := cmp.Diff(c.rows, rows); diff != "" || p.EngineCost != c.cost {
			t.Errorf("%s: cost %v, want %v; %s", c.why, p.EngineCost, c.cost, diff)
		}
	}
}
