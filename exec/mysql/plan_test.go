package mysql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/sqltext"
)

const planScript = `
CREATE TABLE customers(id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, city VARCHAR(40), KEY(city));
CREATE TABLE orders(id INT PRIMARY KEY AUTO_INCREMENT, customer INT NOT NULL, total DECIMAL(10,2), day DATE,
	FOREIGN KEY(customer) REFERENCES customers(id), KEY(day));
CREATE TABLE items(order_id INT, line INT, sku VARCHAR(10), n INT, PRIMARY KEY(order_id, line));
INSERT INTO customers(name, city) SELECT CONCAT('c', seq), CONCAT('t', seq % 20) FROM seq_1_to_500;
INSERT INTO orders(customer, total, day) SELECT 1 + seq % 500, seq / 3, DATE '2024-01-01' + INTERVAL seq % 300 DAY FROM seq_1_to_3000;
INSERT INTO items SELECT seq DIV 3 + 1, seq % 3, CONCAT('s', seq % 50), seq % 7 FROM seq_1_to_6000;
CREATE VIEW v AS SELECT c.city, SUM(o.total) AS s FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.city;
CREATE VIEW vm AS SELECT c.id, c.name FROM customers c WHERE c.city = 't1';
ANALYZE TABLE customers, orders, items;`

// TestPlans holds the signatures of the statements of testdata/plans.sql to a golden file, which is the same for
// MariaDB 10.11 and 11.4.
func TestPlans(t *testing.T) {
	pool, _ := open(t, planScript, "")
	var version string
	if err := pool.QueryRow("SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(file(t, "plans.sql")) {
		p, err := mysql.Dialect{}.Explain(t.Context(), pool, sqltext.MySQL().Parse(strings.TrimSpace(line)))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		fmt.Fprintf(&b, "%s  %s\n", line, p.Signature())
		reads := strings.Contains(p.Signature(), "scan")
		if costs := !strings.HasPrefix(version, "10."); reads && (p.EngineCost > 0) != costs {
			t.Errorf("%s: cost %v on %s", line, p.EngineCost, version)
		}
		if len(p.Rows) == 0 || p.Rows[0].Parent != 0 || !strings.HasPrefix(p.Rows[0].Detail, "query_block") {
			t.Errorf("%s: rows %+v", line, p.Rows)
		}
		for i, row := range p.Rows {
			if row.ID != i+1 || row.Parent >= row.ID || strings.Contains(row.Detail, "'t3'") {
				t.Errorf("%s: row %+v", line, row)
			}
		}
	}
	golden.Check(t, "plans.golden", b.String())
}

// TestPlanText: plans that no server at hand makes, and none at all.
func TestPlanText(t *testing.T) {
	s := sqltext.MySQL().Parse("SELECT * FROM t AS a LEFT JOIN t AS b ON b.x = a.x")
	for _, c := range []struct{ text, want, why string }{
		{`{"query_block": {"select_id": 1, "table": {"table_name": "a", "access_type": "ALL"}, "table": {"table_name": "b", "access_type": "ALL"}}}`,
			"scan:t:full,scan:t:full", "before 10.9 a key is there twice"},
		{`{"query_block": {"nested_loop": [{"table": {"table_name": "b", "access_type": "ref", "key": "k"}},
			{"table": {"table_name": "a", "access_type": "ALL"}}]}}`, "scan:t:full,search:t:index", "an inner join comes by name and access"},
		{`{"query_block": {"nested_loop": [{"table": {"table_name": "b", "access_type": "ALL"}},
			{"table": {"table_name": "a", "access_type": "hash_ALL", "key": "#hash#$hj", "attached_condition": "trigcond(x)"}}]}}`,
			"scan:t:full,scan:t:full:left", "the optional side stays where it is"},
		{`{"query_block": {"read_sorted_file": {"filesort": {"sort_key": "x", "table": {"table_name": "zzz", "access_type": "range", "key": "PRIMARY"}}}}}`,
			"search:zzz:pk,btree:order", "a name that the text does not have"},
		{`{"query_block": {"duplicates_removal": [{"table": {"table_name": "a", "access_type": "ALL", "first_match": "b"}}]}}`,
			"scan:t:full:exists,btree:distinct", ""},
		{`{"query_block": {"subqueries": []}}`, "", "nothing"},
		{`[]`, "", "no object"},
	} {
		p, err := mysql.ReadPlan(s, []byte(c.text))
		if got := p.Signature(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q (%s)", c.text, got, err, c.want, c.why)
		}
	}
	for _, text := range []string{"", "{", `{"query_block": {`, strings.Repeat(`{"a":`, 300)} {
		if p, err := mysql.ReadPlan(s, []byte(text)); err == nil {
			t.Errorf("%.20q: %+v", text, p)
		}
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add(`{"query_block": {"select_id": 1, "cost": 0.1, "nested_loop": [{"table": {"table_name": "<derived2>", "materialized": {"query_block": {}}}}]}}`)
	f.Add(`{"query_block": {"subqueries": [{"expression_cache": {"state": "x", "query_block": {"table": {"access_type": "index_subquery"}}}}]}}`)
	s := sqltext.MySQL().Parse("SELECT 1 FROM t")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := mysql.ReadPlan(s, []byte(text))
		if err == nil {
			_ = p.Signature()
		}
	})
}

// TestExplainErrors: the server compiles what it explains.
func TestExplainErrors(t *testing.T) {
	pool, _ := open(t, planScript, "")
	_, err := mysql.Dialect{}.Explain(t.Context(), pool, sqltext.MySQL().Parse("SELECT nmae FROM customers"))
	if want := (&exec.InvalidError{Fault: exec.FaultSchema, Name: "nmae"}); !invalidAs(err, want) {
		t.Errorf("%v, want %+v", err, want)
	}
}
