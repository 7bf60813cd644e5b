package postgres_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/sqltext"
)

const planScript = `CREATE TABLE customers(id integer PRIMARY KEY, name text, country text);
	CREATE TABLE orders(id integer PRIMARY KEY, customer integer REFERENCES customers, total numeric, day date);
	CREATE INDEX ON orders(customer); CREATE UNIQUE INDEX ON customers(name);
	CREATE SCHEMA app; CREATE TABLE app."Tags"(customer integer, tag text);
	CREATE VIEW rich AS SELECT customer, sum(total) AS sum FROM orders GROUP BY customer;
	CREATE TABLE parts(k integer, v text) PARTITION BY LIST (k);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
	INSERT INTO customers SELECT i, 'n' || i, 'c' || i % 20 FROM generate_series(1, 2000) i;
	INSERT INTO orders SELECT i, 1 + i * 7 % 2000, i % 90, date '2024-01-01' + i % 300 FROM generate_series(1, 20000) i;
	INSERT INTO app."Tags" SELECT i, 't' || i % 5 FROM generate_series(1, 2000) i`

// planned are statements whose plans are known. Those of one line mean the same and have one signature.
var planned = [][]string{
	{"SELECT 1"},
	{"VALUES (1), (2)"},
	{"SELECT * FROM customers"},
	{`SELECT * FROM app."Tags"`},
	{"SELECT * FROM customers WHERE id = 7"},
	{"SELECT name FROM customers WHERE name = 'n7'"},
	{"SELECT * FROM orders WHERE customer = 7", "SELECT * FROM orders o WHERE 7 = o.customer"},
	{"SELECT * FROM customers ORDER BY country", "SELECT * FROM customers ORDER BY country DESC LIMIT 5"},
	{"SELECT count(*) FROM orders"},
	{"SELECT country, count(*) FROM customers GROUP BY country", "SELECT country, count(*) FROM customers GROUP BY 1 HAVING count(*) > 3"},
	{"SELECT country, count(*) FROM customers GROUP BY country ORDER BY country", "SELECT country, count(*) FROM customers GROUP BY country ORDER BY 2"},
	{"SELECT DISTINCT country FROM customers", "SELECT country FROM customers GROUP BY country"},
	{"SELECT name, total FROM orders JOIN customers ON customers.id = customer", "SELECT c.name, o.total FROM customers c, orders o WHERE o.customer = c.id",
		"SELECT name, total FROM orders o INNER JOIN customers c ON o.customer = c.id WHERE country = 'c7'"},
	{"SELECT name, total FROM customers c LEFT JOIN orders o ON c.id = o.customer",
		"SELECT name, total FROM orders o RIGHT JOIN customers c ON c.id = o.customer"},
	{"SELECT name FROM customers c FULL JOIN orders o ON c.id = o.customer"},
	{"SELECT name, tag FROM customers c JOIN orders o ON c.id = o.customer JOIN app.\"Tags\" t ON t.customer = c.id",
		"SELECT name, tag FROM app.\"Tags\" t, orders o, customers c WHERE t.customer = c.id AND c.id = o.customer"},
	{"SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
		"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders)"},
	{"SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)"},
	{"SELECT name FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE customer IS NOT NULL)"},
	{"SELECT name FROM customers WHERE id = (SELECT max(customer) FROM orders WHERE total > 3)"},
	{"SELECT name, (SELECT sum(total) FROM orders o WHERE o.customer = c.id) FROM customers c"},
	{"SELECT name FROM customers UNION SELECT tag FROM app.\"Tags\""},
	{"SELECT name FROM customers UNION ALL SELECT tag FROM app.\"Tags\" UNION ALL SELECT country FROM customers"},
	{"SELECT name FROM customers INTERSECT SELECT tag FROM app.\"Tags\"", "SELECT tag FROM app.\"Tags\" INTERSECT SELECT name FROM customers"},
	{"SELECT name FROM customers EXCEPT SELECT tag FROM app.\"Tags\" ORDER BY 1"},
	{"WITH big AS (SELECT customer, sum(total) AS s FROM orders GROUP BY customer) SELECT name, s FROM customers JOIN big ON id = customer",
		"SELECT name, r.sum FROM customers JOIN rich r ON id = customer"},
	{"WITH big AS MATERIALIZED (SELECT * FROM orders) SELECT * FROM big a JOIN big b ON a.id = b.customer"},
	{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r"},
	{"SELECT name, rank() OVER (ORDER BY country) FROM customers"},
	{"SELECT country, grouping(country) FROM customers GROUP BY ROLLUP (country)"},
	{"SELECT * FROM generate_series(1, 3) g"},
	{"SELECT * FROM parts", "SELECT k FROM parts"},
	{"SELECT * FROM parts WHERE k = 1"},
	{"SELECT name FROM customers WHERE name = 'orders.x' AND id > 0"},
	{"SELECT avg(s) FROM (SELECT sum(total) AS s FROM orders GROUP BY customer) q"},
}

func signature(t *testing.T, pool *sql.DB, text string) exec.Plan {
	t.Helper()
	p, err := postgres.Dialect{}.Explain(t.Context(), pool, sqltext.PostgreSQL().Parse(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestPlans holds signatures to a golden file: before and after ANALYZE, through both drivers.
func TestPlans(t *testing.T) {
	for _, driver := range []string{"pgx", "postgres"} {
		pool, _ := open(t, driver, planScript)
		var before, after strings.Builder
		for _, b := range []*strings.Builder{&before, &after} {
			for _, same := range planned {
				for i, text := range same {
					p := signature(t, pool, text)
					if i > 0 {
						if first := signature(t, pool, same[0]); first.Signature() != p.Signature() {
							t.Errorf("analyzed: %t\n%s\n  %s\n%s\n  %s", b == &after, same[0], first.Signature(), text, p.Signature())
						}
					} else {
						fmt.Fprintf(b, "%s\n  %v %s\n", text, p.Cost(), p.Signature())
					}
					if len(p.Rows) == 0 || p.EngineCost < 0 || p.EngineRows <= 0 {
						t.Errorf("%s: %+v", text, p)
					}
				}
			}
			if _, err := pool.Exec("ANALYZE"); err != nil {
				t.Fatal(err)
			}
		}
		golden.Check(t, "plans.golden.txt", []byte(before.String()))
		golden.Check(t, "plans.golden.txt", []byte(after.String()))
	}
}

// TestPlanRows: the engine's own steps, and its costs.
func TestPlanRows(t *testing.T) {
	pool, _ := open(t, "pgx", planScript+"; ANALYZE")
	p := signature(t, pool, "SELECT name FROM customers c WHERE id = 7")
	if len(p.Rows) != 1 || p.Rows[0] != (exec.PlanRow{ID: 1, Detail: "Index Scan using customers_pkey on public.customers c"}) {
		t.Errorf("%+v", p.Rows)
	}
	if all := signature(t, pool, "SELECT * FROM orders"); all.EngineCost <= p.EngineCost || all.EngineRows != 20000 {
		t.Errorf("%v %v", all.EngineCost, all.EngineRows)
	}
	if _, err := (postgres.Dialect{}).Explain(t.Context(), pool, sqltext.PostgreSQL().Parse("SELECT nmae FROM customers")); err == nil {
		t.Error("a plan of an unknown name")
	}
}

// FuzzReadPlan: whatever the text, no panic.
func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(`[{"Plan":{"Node Type":"Hash Join","Join Type":"Left","Plans":[{"Node Type":"Seq Scan","Relation Name":"t"},{"Node Type":"Hash"}]}}]`))
	f.Add([]byte(`[{"Plan":{"Node Type":"Bitmap Heap Scan","Plans":[{"Node Type":"BitmapOr"}]}}]`))
	f.Add([]byte(`[{"Plan":{"Node Type":"SetOp","Command":"Intersect","Plans":[{"Node Type":"Append"}]}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, err := postgres.ReadPlan(raw, true); err == nil {
			p.Signature()
		}
	})
}
