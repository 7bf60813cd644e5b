package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/testutil"
)

// store has a trap of every kind.
const store = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), status TEXT, amount REAL,
	 cents INTEGER, at TEXT, epoch INTEGER, german TEXT);
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), price REAL, score TEXT, cost TEXT, year TEXT);
CREATE TABLE settings (one INTEGER);
INSERT INTO settings VALUES (7);
INSERT INTO customers VALUES (1,'Ada','France'),(2,'Bo','France'),(3,'Cy','Spain'),(4,'Di','Italy');
INSERT INTO orders VALUES (1,1,'paid',10,1000,'2024-04-01 00:00:00',1711929600,'01.04.2024'),(2,1,'open',20,2000,'2024-04-30 15:00:00',1714489200,'30.04.2024'),
	(3,2,'paid',20,2000,'2024-05-01 01:00:00',1714525200,'01.05.2024'),(4,NULL,'open',5,501,'2024-05-02 00:00:00',1714608000,'02.05.2024');
INSERT INTO items VALUES (1,1,10,'9','$9.50','2001'),(2,1,20,'100','$100.00','1999'),(3,2,30,'25','$25.00','2024');`

func TestOdd(t *testing.T) {
	_, db := open(t, store, exec.Config{})
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT sum(status = 'paid') / count(*) FROM orders", "division", "counts"},
		{"SELECT cents / 1000 FROM orders", "division", "a column"},
		{"SELECT a.n / b.n FROM (SELECT count(*) AS n FROM orders WHERE status = 'paid') a, (SELECT count(*) AS n " +
			"FROM orders) b", "division", "derived tables"},
		{"WITH p AS (SELECT count(*) AS n FROM orders) " +
			"SELECT 100 * (SELECT count(*) FROM orders WHERE id < 3) / (n - 1) FROM p WHERE n / 3 > 0", "division",
			"a percentage"},
		{"SELECT round(count(id) / 3, 2) FROM orders", "division", "rounded afterwards"},
		{"SELECT 1.0 * sum(status = 'paid') / count(*) FROM orders", "", "a real"},
		{"SELECT CAST(sum(status = 'paid') AS REAL) / count(*) FROM orders", "", "made real"},
		{"SELECT sum(amount) / count(*) FROM orders", "", "a real column"},
		{"SELECT sum(cents) / 1 FROM orders", "", "no rest"},
		{"SELECT CAST(cents / 1000 AS INTEGER) FROM orders", "", "cut on purpose"},
		{"SELECT 'Q' || ((CAST(strftime('%m', at) AS INTEGER) + 2) / 3) FROM orders", "", "a quarter"},
		{"SELECT cents / 300 * 300 FROM orders", "", "a decade, of three hundreds"},
		{"SELECT (cents / 300) * 300 FROM orders", "", "the same in brackets"},

		{"SELECT count(*) FROM orders, customers WHERE customers.country = 'France'", "unjoined", "a comma"},
		{"SELECT count(*) FROM orders o CROSS JOIN customers c WHERE c.country = 'France'", "unjoined", "CROSS JOIN"},
		{"SELECT count(*) FROM orders o JOIN customers c ON c.country = 'France'", "unjoined", "ON names one side"},
		{"SELECT count(*) FROM orders o JOIN customers c ON 1 = 1", "unjoined", "ON names none"},
		{"SELECT count(*) FROM orders o JOIN customers c ON c.id = c.id", "unjoined", "ON names one side twice"},
		{"SELECT (SELECT count(*) FROM orders, items WHERE price > 1) AS n", "unjoined", "inside"},
		{"SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id, items i WHERE i.price > 1", "unjoined",
			"the third"},
		{"SELECT count(*) FROM orders, settings", "", "a table of one row"},
		{"SELECT count(*) FROM orders o, customers c WHERE c.id = 1 AND o.amount > 5", "", "one customer"},
		{"SELECT amount FROM orders, (SELECT max(amount) AS most FROM orders) x", "", "one figure"},
		{"SELECT count(*) FROM orders o, customers c WHERE o.customer_id = c.id", "", "joined by WHERE"},
		{"SELECT count(*) FROM orders o JOIN customers c ON c.id = customer_id", "", "a column without its table"},
		{"SELECT count(*) FROM orders o, items i, customers c WHERE i.order_id = o.id AND c.id = o.customer_id", "",
			"a chain"},
		{"SELECT count(*) FROM customers c, orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id " +
			"AND o.customer_id = c.id)", "", "joined inside"},

		{"SELECT id FROM orders WHERE status = 'paid' OR status = 'open' AND amount > 15", "or-and", "OR first"},
		{"SELECT id FROM orders WHERE amount > 15 AND status = 'open' OR status = 'paid'", "or-and", "AND first"},
		{"SELECT status FROM orders GROUP BY status HAVING count(*) > 1 OR sum(amount) > 1 AND min(id) > 1", "or-and",
			"HAVING"},
		{"SELECT id FROM orders WHERE (status = 'paid' OR status = 'open') AND amount > 15", "", "brackets"},
		{"SELECT id FROM orders WHERE status = 'paid' AND amount > 5 OR status = 'open' AND amount > 15", "", "meant"},
		{"SELECT id FROM orders WHERE status = 'paid' OR status = 'open' AND amount > 1", "", "brackets change nothing"},

		{"SELECT customer_id, sum(amount) FROM orders", "bare-column", "no group"},
		{"SELECT country, name, count(*) FROM customers GROUP BY country", "bare-column", "beside a group"},
		{"SELECT name, country, count(*) FROM customers GROUP BY id", "", "depends on the key"},
		{"SELECT id, max(amount) FROM orders", "", "SQLite defines it"},
		{"SELECT c.name, sum(o.amount) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id", "",
			"depends on the key, joined"},

		{"SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)", "null-in-list", "a NULL"},
		{"SELECT count(*) FROM customers WHERE NOT id IN (SELECT customer_id FROM orders)", "null-in-list", "NOT in front"},
		{"SELECT count(*) FROM customers WHERE NOT (id IN (SELECT customer_id FROM orders))", "null-in-list",
			"NOT and a bracket"},
		{"SELECT count(*) FROM customers WHERE (id, name) NOT IN (SELECT customer_id, status FROM orders)", "null-in-list",
			"a tuple"},
		{"SELECT sum(CASE WHEN id NOT IN (SELECT customer_id FROM orders) THEN 1 ELSE 0 END) FROM customers", "null-in-list",
			"in a CASE"},
		{"SELECT count(*) FROM customers WHERE id NOT IN (1, NULL)", "null-in-list", "written"},
		{"SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)", "",
			"no NULL"},
		{"SELECT count(*) FROM customers WHERE id IN (SELECT customer_id FROM orders)", "", "IN"},
		{"SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)", "",
			"NOT EXISTS"},

		{"SELECT count(*) FROM orders WHERE at = '2024-04-30'", "date", "a day"},
		{"SELECT count(*) FROM orders WHERE at BETWEEN '2024-04-01' AND '2024-04-30'", "date", "the last day"},
		{"SELECT count(*) FROM orders WHERE at <= '2024-04-30'", "date", "up to a day"},
		{"SELECT count(*) FROM orders WHERE german >= '2024-04-01'", "date", "another form"},
		{"SELECT count(*) FROM orders WHERE german LIKE '2024-04%'", "date", "a pattern of another form"},
		{"SELECT count(*) FROM orders WHERE epoch > '2024-04-01'", "date", "seconds"},
		{"SELECT count(*) FROM orders WHERE strftime('%Y', german) = '2024'", "date", "a function that reads nothing"},
		{"SELECT count(*) FROM orders WHERE date(epoch) = '2024-04-30'", "date", "a function of seconds"},
		{"SELECT count(*) FROM orders WHERE date(epoch, 'unixepoch') = '2024-04-30'", "", "told to read seconds"},
		{"SELECT count(*) FROM orders WHERE at >= '2024-04-30' AND at < '2024-05-01'", "", "half open"},
		{"SELECT count(*) FROM orders WHERE at LIKE '2024-04%'", "", "a pattern"},
		{"SELECT count(*) FROM orders WHERE strftime('%Y', at) = '2024'", "", "a function that reads it"},
		{"SELECT count(*) FROM items WHERE year = '2001'", "", "a year"},

		{"SELECT 68000000 AS population FROM customers WHERE country = 'France' LIMIT 1", "constant", "a figure"},
		{"SELECT 'No weather data available' FROM customers LIMIT 1", "constant", "an apology"},
		{"SELECT 'unknown' FROM customers", "constant", "a word"},
		{"SELECT CASE WHEN country = 'France' THEN 68000000 ELSE 47000000 END FROM customers", "constant", "figures by case"},
		{"SELECT CASE WHEN country = 'ɐɐɐɐɐɐɐɐɐɐɐɐ' THEN 68000000 ELSE 47000000 END FROM customers", "constant",
			"letters that are longer in capitals"},
		{"SELECT answer FROM (SELECT 68000000 AS answer FROM customers LIMIT 1)", "constant", "inside"},
		{"SELECT max(68000000) FROM customers", "constant", "aggregated"},
		{"SELECT name, 'customer' FROM customers", "", "beside a column"},
		{"SELECT CASE WHEN amount > 10 THEN 'large' ELSE 'small' END FROM orders", "", "classes"},
		{"SELECT CASE WHEN count(*) > 3 THEN 'yes' ELSE 'no' END FROM orders", "", "yes or no"},
		{"SELECT 1 FROM orders WHERE amount > 10 LIMIT 1", "", "whether there is one"},
		{"SELECT sum(1) FROM orders", "", "a count"},
		{"SELECT count(*) FROM orders", "", "another count"},
		{"SELECT EXISTS (SELECT 1 FROM orders)", "", "existence"},
	} {
		checked, err := db.Examine(t.Context(), tt.sql)
		if err != nil {
			t.Errorf("%s: %s: %v", tt.why, tt.sql, err)
			continue
		}
		var got []string
		for _, f := range checked.Findings {
			if rule, ok := strings.CutPrefix(f.Rule, checks.Odd); ok {
				got = append(got, rule)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s: %s", tt.why, tt.sql, diff)
		}
	}
}

func TestCaution(t *testing.T) {
	_, db := open(t, store, exec.Config{})
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT id FROM orders ORDER BY amount DESC LIMIT 1", "ties", "two of 20"},
		{"SELECT o.id, o.at FROM orders AS o WHERE o.id > 0 ORDER BY o.amount DESC LIMIT 1", "ties",
			"an order by what is not shown"},
		{"SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n LIMIT 1", "ties", "an alias"},
		{"SELECT status, count(*) FROM orders GROUP BY status ORDER BY 2 LIMIT 1", "ties", "a place"},
		{"SELECT status FROM orders GROUP BY status ORDER BY count(*) DESC LIMIT 1", "ties", "an aggregate"},
		{"SELECT id FROM orders ORDER BY amount DESC LIMIT 1 OFFSET 1", "ties", "the second"},
		{"SELECT name FROM customers WHERE id = (SELECT customer_id FROM orders ORDER BY amount DESC LIMIT 1)", "ties",
			"inside"},
		{"SELECT id FROM orders ORDER BY amount DESC LIMIT 2", "", "both"},
		{"SELECT id FROM orders ORDER BY amount LIMIT 1", "", "one least"},
		{"SELECT amount FROM orders ORDER BY amount DESC LIMIT 1", "", "equal rows"},
		{"SELECT id FROM orders ORDER BY amount DESC, id LIMIT 1", "", "told apart"},

		{"SELECT name FROM customers LIMIT 2", "limit", "two of four"},
		{"SELECT count(*) FROM (SELECT id FROM orders LIMIT 3)", "limit", "inside"},
		{"SELECT name FROM customers LIMIT 4", "", "not met"},

		{"SELECT sum(o.amount) FROM orders o JOIN items i ON i.order_id = o.id", "double-counting", "a sum of the one side"},
		{"SELECT count(o.id) FROM orders o, items i WHERE i.order_id = o.id", "double-counting", "a count of its key"},
		{"SELECT c.country, sum(o.amount) FROM customers c " +
			"JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.id GROUP BY c.country", "double-counting",
			"two joins"},
		{"SELECT sum(i.price) FROM orders o JOIN items i ON i.order_id = o.id", "", "of the many side"},
		{"SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.id HAVING sum(o.status <> 'open') = 0", "",
			"a condition, as a CASE is"},
		{"SELECT count(DISTINCT o.id) FROM orders o JOIN items i ON i.order_id = o.id", "", "DISTINCT"},
		{"SELECT avg(o.amount) FROM orders o JOIN items i ON i.order_id = o.id", "", "an average is often meant"},
		{"SELECT sum(o.amount) FROM orders o JOIN items i ON i.order_id = o.id WHERE i.id > 1", "", "each once"},

		{"SELECT c.name, count(*) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name", "outer-count",
			"all rows"},
		{"SELECT c.name, count(c.id) FROM customers c " +
			"LEFT OUTER JOIN orders o ON o.customer_id = c.id GROUP BY c.name", "double-counting outer-count", "the left side"},
		{"SELECT c.name, sum(1) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name", "outer-count",
			"a sum of ones"},
		{"SELECT o.status, count(*) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id GROUP BY o.status", "",
			"one partner at most"},
		{"SELECT c.name, count(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name", "",
			"the other side"},
		{"SELECT country, count(*) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL " +
			"GROUP BY country", "", "asked for"},

		{"SELECT id FROM items ORDER BY score DESC", "text-number", "an order"},
		{"SELECT id FROM items WHERE score > 30", "text-number", "a comparison"},
		{"SELECT max(score) FROM items", "text-number", "the greatest"},
		{"SELECT sum(cost) FROM items", "text-number", "a currency"},
		{"SELECT cost * 2 FROM items", "text-number", "arithmetic"},
		{"SELECT sum(CAST(cost AS REAL)) FROM items", "text-number", "a cast of a currency"},
		{"SELECT max(CAST(score AS INTEGER)) FROM items", "", "a cast"},
		{"SELECT sum(score) FROM items", "", "texts that are read as numbers"},
		{"SELECT id FROM items ORDER BY year", "", "numbers of one length"},
		{"SELECT name FROM customers ORDER BY name", "", "texts"},
	} {
		checked, err := db.Examine(t.Context(), tt.sql, exec.ReadOnly{},
			exec.ResultWarnings{Unlimited: !strings.Contains(tt.sql, "ORDER")})
		if err != nil {
			t.Errorf("%s: %s: %v", tt.why, tt.sql, err)
			continue
		}
		var got []string
		for _, f := range checked.Findings {
			got = append(got, f.Rule)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s: %s", tt.why, tt.sql, diff)
		}
	}
}

// TestOddWithoutALook: a query that does not end in time shows nothing, so a busy server adds no finding.
func TestOddWithoutALook(t *testing.T) {
	pool, _ := open(t, store, exec.Config{})
	for _, tt := range []struct {
		why, fails string // the beginning of the queries that reach their limit
		want       int
	}{
		{"each query ends", "none", 1},
		{"no query ends", "SELECT 1 FROM", 0},
		{"that about one of the tables does not end", `SELECT 1 FROM "items"`, 0},
	} {
		dialect := exectest.Change(sqlite.Dialect{}, exectest.Changes{
			Run: func(_ context.Context, s *exec.Statement, _ exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
				if strings.HasPrefix(s.SQL(), tt.fails) {
					return nil, &exec.LimitError{Limit: "time", Max: "1s"}
				}
				return run()
			}})
		db := testutil.Value(exec.New(pool, dialect, exec.Config{}))(t)
		checked := testutil.Value(db.Examine(t.Context(), "SELECT count(*) FROM orders, items", exec.DefaultChecks()...))(t)
		if len(checked.Findings) != tt.want || checked.Table == nil {
			t.Errorf("%s: %v", tt.why, checked.Findings)
		}
	}
}

// billed is SQLite as if each statement were billed by what it reads.
type billed struct{ sqlite.Dialect }

func (d billed) Language() exec.Language {
	l := d.Dialect.Language()
	l.BillsScans = true
	return l
}

// TestBilledStatements: where statements have a price, none runs for the sake of a warning.
func TestBilledStatements(t *testing.T) {
	pool, _ := open(t, store, exec.Config{})
	db := testutil.Value(exec.New(pool, billed{}, exec.Config{}))(t)
	for _, sql := range []string{
		"SELECT cents / 1000 FROM orders",                    // division
		"SELECT id FROM orders ORDER BY amount DESC LIMIT 1", // a tie
		"SELECT count(*) FROM orders, items",                 // unjoined
	} {
		checked := testutil.Value(db.Examine(t.Context(), sql, append(exec.DefaultChecks(), exec.ResultWarnings{})...))(t)
		if len(checked.Findings) > 0 || checked.Table == nil {
			t.Errorf("%s: %v", sql, checked.Findings)
		}
	}
}

// A share of whole numbers is 0 to SQLite, and every sample of a model writes it so.
func ExampleSuspiciousResultCheck() {
	db := openShop(exec.Config{})
	checked, err := db.Examine(context.Background(), "SELECT count(*) / 7 AS share FROM orders", exec.ReadOnly{},
		exec.RunCheck{}, exec.SuspiciousResultCheck{})
	fmt.Println(checked.Findings, err)
	// Output: [{odd-division the division of two whole numbers drops the rest 0 false}] <nil>
}

// One of two customers with equally many orders is shown, and a person should know.
func ExampleResultWarnings() {
	db := openShop(exec.Config{})
	checked, err := db.Examine(context.Background(),
		"SELECT country FROM customers GROUP BY country ORDER BY count(*) > 0 LIMIT 1", exec.ReadOnly{},
		exec.ResultWarnings{})
	for _, f := range checked.Findings {
		fmt.Println(f.Rule, "-", f.Detail)
	}
	fmt.Println(err)
	// Output:
	// ties - the row behind the last one shown is equal in the order: which of them is shown is chance
	// <nil>
}
