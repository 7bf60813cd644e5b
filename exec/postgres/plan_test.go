package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

const planScript = `CREATE TABLE customers(id integer PRIMARY KEY, name text, country text);
	CREATE TABLE orders(id integer PRIMARY KEY, customer integer REFERENCES customers, total numeric, day date);
	CREATE INDEX ON orders(customer); CREATE UNIQUE INDEX ON customers(name);
	CREATE SCHEMA app; CREATE TABLE app."Tags"(customer integer, tag text);
	INSERT INTO customers SELECT i, 'n' || i, 'c' || i % 20 FROM generate_series(1, 2000) i;
	INSERT INTO orders SELECT i, 1 + i * 7 % 2000, i % 90, date '2024-01-01' + i % 300 FROM generate_series(1, 20000) i;
	INSERT INTO app."Tags" SELECT i, 't' || i % 5 FROM generate_series(1, 2000) i`

// TestPlans: the plan of the server, its cost, and a signature that is the same for the same text of a plan.
func TestPlans(t *testing.T) {
	pool, _ := open(t, planScript+"; ANALYZE")
	db := newDB(t, pool, exec.Config{})
	explain := func(text string) exec.Plan {
		t.Helper()
		p, err := db.Explain(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(p.Rows) == 0 || len(p.Nodes) != 0 || p.EngineCost <= 0 && text != "SELECT 1" || p.EngineRows <= 0 || p.Cost() != p.EngineCost {
			t.Errorf("%s: %+v", text, p)
		}
		return p
	}
	for _, tt := range []struct {
		why, one, other string
		same            bool
	}{
		{"other numbers", "SELECT name FROM customers WHERE id = 7", "SELECT name FROM customers WHERE id = 1234", true},
		{"another list", "SELECT name FROM customers", "SELECT country FROM customers", true},
		{"an index", "SELECT name FROM customers WHERE id = 7", "SELECT name FROM customers WHERE country = 'x'", false},
		{"a sort", "SELECT name FROM customers", "SELECT name FROM customers ORDER BY country", false},
		{"another table", "SELECT 1 FROM customers", `SELECT 1 FROM app."Tags"`, false},
	} {
		if one, other := explain(tt.one).Signature(), explain(tt.other).Signature(); (one == other) != tt.same {
			t.Errorf("%s:\n%s\n%s", tt.why, one, other)
		}
	}
	if p := explain("SELECT name FROM customers c WHERE id = 7"); !strings.HasPrefix(p.Rows[0].Detail, "Index Scan using customers_pkey on customers c  (cost=") {
		t.Errorf("%+v", p.Rows)
	}
	if one, all := explain("SELECT * FROM orders WHERE id = 7"), explain("SELECT * FROM orders"); all.EngineCost <= one.EngineCost || all.EngineRows != 20000 {
		t.Errorf("%+v, %+v", one, all)
	}
	explain("SELECT 1")
	if _, err := db.Explain(t.Context(), "SELECT nmae FROM customers"); !errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("a plan of an unknown name: %v", err)
	}
}

// FuzzPlan: whatever the text, no panic.
func FuzzPlan(f *testing.F) {
	f.Add("Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)\n  Filter: (a = 7)")
	f.Fuzz(func(t *testing.T, text string) {
		p := postgres.PlanOf(text)
		p.Signature()
	})
}
