package egtts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const planSQL = `
CREATE TABLE customers(CustomerID INTEGER PRIMARY KEY, Segment TEXT, Currency TEXT);
CREATE INDEX idx_seg ON customers(Segment);
CREATE TABLE yearmonth(CustomerID INTEGER, Date TEXT, Consumption REAL, PRIMARY KEY(Date,CustomerID));
CREATE TABLE transactions_1k(TransactionID INTEGER PRIMARY KEY, CustomerID INTEGER, Price REAL);
CREATE INDEX idx_tx ON transactions_1k(CustomerID);
CREATE TABLE "order details"("order id" INTEGER, qty INTEGER);
CREATE VIEW v AS SELECT * FROM customers;`

// TestPublishedSignature has the worked cases of the plans of galah92/egtts: rows as text,
// and as the engine gives them where a statement of today's engine has them.
func TestPublishedSignature(t *testing.T) {
	env := strategytest.EnvOf(t, planSQL, nil)
	for _, tt := range []struct {
		name      string
		rows      string // separated by " ; "
		signature string
		cost      float64
		sql       string // "" where no statement of the current engine gives these rows
	}{
		{"01", "SCAN customers", "SCAN:customers", 100, "SELECT * FROM customers"},
		{"01 view", "SCAN customers", "SCAN:customers", 100, "SELECT * FROM v"},
		{"02", "SCAN T1", "SCAN:T1", 100, "SELECT * FROM customers AS T1"},
		{"03", "SEARCH customers USING INTEGER PRIMARY KEY (rowid=?)",
			"SEARCH:customers:PRIMARY_KEY", 0, "SELECT * FROM customers WHERE CustomerID=1"},
		{"04", "SEARCH customers USING INDEX idx_seg (Segment=?)",
			"SEARCH:customers:USING_INDEX", 0, "SELECT * FROM customers WHERE Segment='SME'"},
		{"05", "SEARCH customers USING COVERING INDEX idx_seg (Segment=?)",
			"SEARCH:customers:COVERING_INDEX", 0, "SELECT Segment FROM customers WHERE Segment='LAM'"},
		{"06", "SCAN customers USING COVERING INDEX idx_seg", "SCAN:customers:USING_INDEX", 100,
			"SELECT Segment FROM customers"},
		{"07", "SEARCH customers", "SEARCH:customers", 0, "SELECT MAX(CustomerID) FROM customers"},
		{"08", "SCAN customers USING INDEX idx_seg ; USE TEMP B-TREE FOR count(DISTINCT)",
			"SCAN:customers:USING_INDEX|TEMP_BTREE:DISTINCT", 50,
			"SELECT Segment, COUNT(DISTINCT Currency) FROM customers GROUP BY Segment"},
		{"09", "SCAN customers ; USE TEMP B-TREE FOR GROUP BY",
			"SCAN:customers|TEMP_BTREE:GROUP_BY", 150, "SELECT Currency, COUNT(*) FROM customers GROUP BY Currency"},
		{"10", "SCAN customers USING INDEX idx_seg ; USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
			"SCAN:customers:USING_INDEX|TEMP_BTREE:ORDER_BY", 50,
			"SELECT Segment, Currency FROM customers ORDER BY Segment, Currency"},
		{"11", "SCAN T2 ; SEARCH T1 USING INTEGER PRIMARY KEY (rowid=?) ; USE TEMP B-TREE FOR GROUP BY ; " +
			"USE TEMP B-TREE FOR ORDER BY",
			"SCAN:T2|SEARCH:T1:PRIMARY_KEY|TEMP_BTREE:GROUP_BY|TEMP_BTREE:ORDER_BY", 150,
			"SELECT T2.CustomerID FROM customers AS T1 JOIN yearmonth AS T2 ON T1.CustomerID=T2.CustomerID " +
				"GROUP BY T2.CustomerID ORDER BY SUM(T2.Consumption) DESC LIMIT 1"},
		{"12", "SCAN customers ; SEARCH t USING INDEX idx_tx (CustomerID=?) LEFT-JOIN",
			"SCAN:customers|SEARCH:t:USING_INDEX", 0, "SELECT * FROM customers LEFT JOIN transactions_1k AS t " +
				"ON t.CustomerID=customers.CustomerID"},
		{"13", "SCAN t ; SEARCH customers USING INTEGER PRIMARY KEY (rowid=?)",
			"SCAN:t|SEARCH:customers:PRIMARY_KEY", 100,
			"SELECT * FROM customers JOIN transactions_1k AS t ON t.CustomerID=customers.CustomerID"},
		{"14", "SCAN customers ; SCAN yearmonth", "SCAN:customers|SCAN:yearmonth", 100,
			"SELECT * FROM customers JOIN yearmonth"},
		{"15", "SCAN a ; BLOOM FILTER ON b (Consumption=?) ; SEARCH b USING AUTOMATIC COVERING INDEX (Consumption=?)",
			"SCAN:a|BLOOM_FILTER_ON_b_(Consumption=?)|SEARCH:b", 100,
			"SELECT * FROM transactions_1k AS a JOIN yearmonth AS b ON a.Price=b.Consumption"},
		{"16", "SEARCH customers USING INTEGER PRIMARY KEY (rowid=?) ; LIST SUBQUERY 1 ; SEARCH yearmonth USING COVERING " +
			"INDEX sqlite_autoindex_yearmonth_1 (Date=?)",
			"SEARCH:customers:PRIMARY_KEY|LIST_SUBQUERY|SEARCH:yearmonth:COVERING_INDEX", 0,
			"SELECT * FROM customers WHERE CustomerID IN (SELECT CustomerID FROM yearmonth WHERE Date='201201')"},
		{"17", "SCAN customers ; BLOOM FILTER ON y (CustomerID=?) ; SEARCH y EXISTS USING AUTOMATIC PARTIAL COVERING INDEX " +
			"(CustomerID=?)",
			"SCAN:customers|BLOOM_FILTER_ON_y_(CustomerID=?)|SEARCH:y", 100,
			"SELECT * FROM customers WHERE EXISTS (SELECT 1 FROM yearmonth AS y WHERE y.CustomerID=customers.CustomerID)"},
		{"18", "SCAN customers ; CORRELATED SCALAR SUBQUERY 1 ; SCAN y USING COVERING INDEX sqlite_autoindex_yearmonth_1",
			"SCAN:customers|CORRELATED_SUBQUERY|SCAN:y:USING_INDEX", 100, ""},
		{"19", "SCAN customers USING COVERING INDEX idx_seg ; SCALAR SUBQUERY 1 ; SEARCH transactions_1k",
			"SCAN:customers:USING_INDEX|SCALAR_SUBQUERY|SEARCH:transactions_1k", 100,
			"SELECT (SELECT MAX(Price) FROM transactions_1k) FROM customers"},
		{"20", "SCAN c USING COVERING INDEX idx_seg ; CORRELATED SCALAR SUBQUERY 1 ; " +
			"SEARCH t USING INDEX idx_tx (CustomerID=?)",
			"SCAN:c:USING_INDEX|CORRELATED_SUBQUERY|SEARCH:t:USING_INDEX", 0,
			"SELECT (SELECT MAX(Price) FROM transactions_1k AS t WHERE t.CustomerID=c.CustomerID) FROM customers AS c"},
		{"21", "MERGE (UNION) ; LEFT ; SCAN customers ; USE TEMP B-TREE FOR ORDER BY ; RIGHT ; " +
			"SCAN customers USING COVERING INDEX idx_seg",
			"MERGE_(UNION)|LEFT|SCAN:customers|TEMP_BTREE:ORDER_BY|RIGHT|SCAN:customers:USING_INDEX", 150,
			"SELECT Currency FROM customers UNION SELECT Segment FROM customers"},
		{"22", "COMPOUND QUERY ; LEFT-MOST SUBQUERY ; SCAN customers ; UNION USING TEMP B-TREE ; " +
			"SCAN customers USING COVERING INDEX idx_seg",
			"COMPOUND|LEFT-MOST_SUBQUERY|SCAN:customers|UNION_USING_TEMP_B-TREE|SCAN:customers:USING_INDEX", 100, ""},
		{"23", "COMPOUND QUERY ; LEFT-MOST SUBQUERY ; SCAN customers ; UNION ALL ; SCAN customers USING COVERING INDEX " +
			"idx_seg",
			"COMPOUND|LEFT-MOST_SUBQUERY|SCAN:customers|UNION_ALL|SCAN:customers:USING_INDEX", 100,
			"SELECT Currency FROM customers UNION ALL SELECT Segment FROM customers"},
		{"24", "COMPOUND SUBQUERIES 1 AND 2 USING TEMP B-TREE (UNION)", "COMPOUND:UNION", 0, ""},
		{"25", "CO-ROUTINE (subquery-1) ; SCAN customers ; USE TEMP B-TREE FOR GROUP BY ; SCAN (subquery-1)",
			"CO_ROUTINE|SCAN:customers|TEMP_BTREE:GROUP_BY|SCAN_(subquery-)", 150,
			"SELECT * FROM (SELECT Currency, COUNT(*) AS n FROM customers GROUP BY Currency) WHERE n>1"},
		{"26", "MATERIALIZE x ; SCAN customers ; SCAN b ; SEARCH a USING AUTOMATIC COVERING INDEX (n=?)",
			"MATERIALIZE|SCAN:customers|SCAN:b|SEARCH:a", 100, ""},
		{"27", "CO-ROUTINE n ; SETUP ; SCAN CONSTANT ROW ; RECURSIVE STEP ; SCAN n ; SCAN n",
			"CO_ROUTINE|SETUP|SCAN:CONSTANT|RECURSIVE_STEP|SCAN:n|SCAN:n", 100,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5) SELECT * FROM n"},
		{"28", "MULTI-INDEX OR ; INDEX 1 ; SEARCH customers USING INDEX idx_seg (Segment=?) ; INDEX 2 ; " +
			"SEARCH customers USING INTEGER PRIMARY KEY (rowid=?)",
			"MULTI-INDEX_OR|INDEX|SEARCH:customers:USING_INDEX|INDEX|SEARCH:customers:PRIMARY_KEY", 0,
			"SELECT * FROM customers WHERE Segment='a' OR CustomerID=3"},
		{"29", "SCAN order details", "SCAN:order", 100, `SELECT * FROM "order details" WHERE qty>1`},
		{"30", "SCAN CONSTANT ROW", "SCAN:CONSTANT", 100, "SELECT 1"},
		{"31", "SCAN 2-ROW VALUES CLAUSE", "SCAN:2", 100, "VALUES (1),(2)"},
		{"31 old", "SCAN 2 CONSTANT ROWS", "SCAN:2", 100, ""},
		{"32", "SCAN TABLE customers AS T1", "SCAN:TABLE", 100, ""},
		{"33", "SCAN o'brien", "SCAN:o", 0, ""},
		{"34", "BLOOM FILTER ON a_very_long_table_name (first_column=? AND second_column=?)",
			"BLOOM_FILTER_ON_a_very_long_table_name_(first_colu", 0, ""},
		{"35", "", "", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plans := []exec.Plan{{Rows: textRows(tt.rows)}}
			if tt.sql != "" {
				p := testutil.Value(env.DB.Explain(t.Context(), tt.sql))(t)
				plans = append(plans, p)
			}
			for _, p := range plans {
				if signature, cost := egtts.PublishedSignature(p); signature != tt.signature || cost != tt.cost {
					t.Errorf("got %q and %v, want %q and %v", signature, cost, tt.signature, tt.cost)
				}
			}
		})
	}
}

func textRows(s string) []exec.PlanRow {
	var rows []exec.PlanRow
	for i, d := range strings.Split(s, " ; ") {
		if d != "" {
			rows = append(rows, exec.PlanRow{ID: i + 1, Detail: d})
		}
	}
	return rows
}

// TestPublishedSignatureIsQuick: signing a plan is linear in its rows.
func TestPublishedSignatureIsQuick(t *testing.T) {
	rows := textRows(strings.Repeat("SEARCH t USING INDEX idx (a=?) ; ", 50_000))
	start := time.Now()
	egtts.PublishedSignature(exec.Plan{Rows: rows})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("a plan of 50,000 rows took %v", took)
	}
}

// FuzzPublishedSignature: a signature is no longer than what it is made of, and no cost
// is negative.
func FuzzPublishedSignature(f *testing.F) {
	f.Add("SCAN customers ; USE TEMP B-TREE FOR GROUP BY")
	f.Add("SCAN \xfe ; SCAN TABLE  ;  LEFT-JOIN ; SEARCH")
	f.Fuzz(func(t *testing.T, text string) {
		rows := textRows(text)
		signature, cost := egtts.PublishedSignature(exec.Plan{Rows: rows})
		if n := len([]rune(signature)); cost < 0 || n > (50+20)*len(rows)+len(text) {
			t.Errorf("%d characters for %d rows, cost %v", n, len(rows), cost)
		}
	})
}
