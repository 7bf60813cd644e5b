package knowledge_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/sqltext"
)

// store is a database of a test, and the model of it.
const store = `
CREATE TABLE "Order Details"("Line" INTEGER, "Order" INTEGER, price REAL, quantity INTEGER);
CREATE TABLE orders(id INTEGER, customer INTEGER, total REAL, at TEXT, state TEXT, deleted INTEGER);
CREATE TABLE customers(id INTEGER, name TEXT, country TEXT, secret TEXT);
CREATE TABLE passports(customer INTEGER, number TEXT);
INSERT INTO customers VALUES (1,'Ann','NO','x'),(2,'Bo','SE','y'),(3,'Cy',NULL,'z');
INSERT INTO passports VALUES (1,'p1');
INSERT INTO orders VALUES (1,1,10,'2024-01-31','paid',0),(2,1,20,'2024-02-01','open',0),(3,2,30,'2024-12-30','paid',0),
	(4,NULL,40,'2025-01-05','paid',0),(5,2,99,'2025-01-05','paid',1);
INSERT INTO "Order Details" VALUES (1,1,2.5,2),(2,1,5,1),(3,3,10,3),(4,2,0,0);`

func storeModel() knowledge.Model {
	return knowledge.Model{
		Tables: []knowledge.Table{
			{Name: "lines", Source: "Order Details", Keys: [][]string{{"Line"}}},
			{Name: "orders", Keys: [][]string{{"id"}}, Where: "deleted = 0",
				Columns: []knowledge.Column{{Name: "is_paid", Expr: "state = 'paid'"}}},
			{Name: "customers", Source: "SELECT id, name, country FROM customers", Keys: [][]string{{"id"}},
				Columns: []knowledge.Column{
					{Name: "known", Expr: "1"}, {Name: "label", Expr: "customers.name || ' of ' || country"},
				}},
			{Name: "passports", Keys: [][]string{{"customer"}}, Columns: []knowledge.Column{{Name: "has", Expr: "1"}}},
		},
		Relationships: []knowledge.Relationship{
			{From: "lines", To: "orders", On: [][2]string{{"Order", "id"}}},
			{From: "orders", To: "customers", On: [][2]string{{"customer", "id"}}},
			{From: "passports", To: "customers", On: [][2]string{{"customer", "id"}}},
		},
		Metrics: []knowledge.Metric{
			{Name: "total", Expr: "SUM(orders.total)"},
			{Name: "orders", Expr: "COUNT(orders.*)"},
			{Name: "paid", Expr: "COUNT(orders.*)", Where: "orders.is_paid"},
			{Name: "paid share", Expr: "{paid} / {orders}"},
			{Name: "sold", Expr: `SUM(lines.price * lines."quantity")`},
			{Name: "per piece", Expr: "SUM(lines.price / lines.quantity)"},
			{Name: "gap", Expr: "COALESCE({total}, 0) - {sold}"},
			{Name: "travellers", Expr: "SUM(passports.has)"},
			{Name: "home total", Expr: "SUM(orders.total)", GroupBy: []string{"customers.country"}},
			{Name: "loop", Expr: "{loop} + 1"},
			{Name: "old", Expr: "", Unsupported: "a cumulative metric"},
			{Name: "bare", Expr: "SUM(total)"},
			{Name: "open", Expr: "orders.total"},
			{Name: "stars", Expr: "COUNT(*)"},
			{Name: "nested", Expr: "SUM(MAX(orders.total))"},
			{Name: "window", Expr: "SUM(orders.total) OVER (ORDER BY 1)"},
			{Name: "query", Expr: "(SELECT 1)"},
			{Name: "twice the gap", Expr: "2 * {gap}"},
			{Name: "countries", Expr: "COUNT(DISTINCT customers.country)"},
			{Name: "capped", Expr: "SUM(MIN(orders.total, 25))"},
			{Name: "dearest", Expr: "MAX(orders.total)"},
		},
	}
}

func storeDB(t testing.TB, policy exec.Policy) *exec.DB {
	t.Helper()
	p := testutil.Value(sql.Open("sqlite3", "file:"+t.TempDir()+"/store.db"))(t)
	t.Cleanup(func() { p.Close() })
	testutil.Value(p.Exec(store))(t)
	policy.Reveal = []string{"*"}
	return testutil.Value(exec.New(p, sqlite.Dialect{}, exec.Config{Policy: policy}))(t)
}

func TestCompile(t *testing.T) {
	type request = knowledge.Request
	db := storeDB(t, exec.Policy{DenyColumns: []string{"customers.secret"}})
	for _, test := range []struct {
		why     string
		request request
		want    string // rows as JSON
	}{
		{"a condition of the table holds for every read", request{Metrics: []string{"total"}}, `[[100.0]]`},
		{"a fact without a dimension stays, a dimension without facts does not appear",
			request{Metrics: []string{"total"}, GroupBy: []string{"customers.name"}, OrderBy: []string{"-total",
				"customers.name"}}, `[[null,40.0],["Ann",30.0],["Bo",30.0]]`},
		{"a computed column of a joined table is NULL without a partner",
			request{Metrics: []string{"orders"}, GroupBy: []string{"customers.known"}},
			`[[null,1],[1,3]]`},
		{"one to one, against the direction", request{Metrics: []string{"total"}, GroupBy: []string{"passports.has"}},
			`[[null,70.0],[1,30.0]]`},
		{"the condition of a metric leaves its groups", request{Metrics: []string{"paid", "orders"},
			GroupBy: []string{"orders.state"}},
			`[["open",0,1],["paid",3,3]]`},
		{"a ratio of counts is a fraction", request{Metrics: []string{"paid share"}}, `[[0.75]]`},
		{"a division by 0 is NULL, in an aggregate too", request{Metrics: []string{"per piece"}}, `[[9.583333333333334]]`},
		{"two tables, put together by groups; NULL is one", request{Metrics: []string{"gap", "sold", "total"},
			GroupBy: []string{"customers.country"}},
			`[[null,null,null,40.0],["NO",20.0,10.0,30.0],["SE",0.0,30.0,30.0]]`},
		{"two tables without groups", request{Metrics: []string{"total", "sold", "travellers"}}, `[[100.0,40.0,1]]`},
		{"a condition on a finer table counts a row once",
			request{Metrics: []string{"total"}, Where: []string{"lines.price > 2"}}, `[[40.0]]`},
		{"one condition speaks of one row",
			request{Metrics: []string{"orders"}, Where: []string{"lines.price = 5 AND lines.quantity = 2"}}, `[[0]]`},
		{"two conditions may be met by two rows", request{Metrics: []string{"orders"},
			Where: []string{"lines.price = 5", "lines.quantity = 2"}}, `[[1]]`},
		{"a grain", request{Metrics: []string{"orders"}, GroupBy: []string{"orders.at@year"}}, `[["2024",3],["2025",1]]`},
		{"a quarter", request{Metrics: []string{"orders"}, GroupBy: []string{"orders.at@quarter"},
			Where: []string{"orders.total < 25"}}, `[["2024-Q1",2]]`},
		{"a week begins on Monday", request{Metrics: []string{"orders"}, GroupBy: []string{"orders.at@week"}},
			`[["2024-01-29",2],["2024-12-30",2]]`},
		{"names in any case, what is doubled once", request{Metrics: []string{"TOTAL", "TOTAL"},
			GroupBy: []string{"Customers.name", "Customers.name"}, Limit: 1},
			`[[null,40.0]]`},
		{"a text with a quote", request{Metrics: []string{"orders"}, Where: []string{"customers.name = 'O''Hara; --'"}},
			`[[0]]`},
		{"functions, IN, BETWEEN, CASE, CAST", request{Metrics: []string{"orders"}, Where: []string{
			"lower(customers.name) IN ('ann', 'bo')", "orders.total BETWEEN 5 AND 25",
			"CASE WHEN orders.total > 15 THEN 1 ELSE 0 END = 1",
			"CAST(orders.total AS integer) = 20"}}, `[[1]]`},
		{"a label over two columns", request{Metrics: []string{"orders"}, GroupBy: []string{"customers.label"},
			Limit: 2, OrderBy: []string{"-customers.label"}},
			`[["Bo of SE",1],["Ann of NO",2]]`},
		{"a metric in a metric keeps its brackets", request{Metrics: []string{"twice the gap"}}, `[[120.0]]`},
		{"distinct values, and NULL is none", request{Metrics: []string{"countries"}}, `[[2]]`},
		{"distinct values of another table's groups: one country may be of several",
			request{Metrics: []string{"countries"}, GroupBy: []string{"orders.state"},
				OrderBy: []string{"-countries", "orders.state"}}, `[["paid",2],["open",1]]`},
		{"MIN of two values adds nothing up", request{Metrics: []string{"capped", "dearest"}}, `[[80.0,40.0]]`},
		{"ascending, by the alias of a group", request{Metrics: []string{"dearest"}, GroupBy: []string{"orders.state"},
			OrderBy: []string{"orders_state"}},
			`[["open",20.0],["paid",40.0]]`},
		{"in the order of the first of two groups",
			request{Metrics: []string{"orders"}, GroupBy: []string{"orders.state", "orders.total"},
				OrderBy: []string{"-orders.state", "orders.total"}},
			`[["paid",10.0,1],["paid",30.0,1],["paid",40.0,1],["open",20.0,1]]`},
		{"two tables, a condition on one of them, in order", request{Metrics: []string{"sold", "total"},
			GroupBy: []string{"orders.state"},
			Where:   []string{"orders.total < 35"}, OrderBy: []string{"-orders.state"}},
			`[["paid",40.0,40.0],["open",0.0,20.0]]`},
		{"a month, a day and an hour",
			request{Metrics: []string{"orders"}, GroupBy: []string{"orders.at@month", "orders.at@day", "orders.at@hour"},
				Where: []string{"orders.id = 1"}}, `[["2024-01","2024-01-31","2024-01-31 00:00",1]]`},
	} {
		text, err := storeModel().Compile(test.request, "sqlite")
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		rows, err := db.Query(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v\n%s", test.why, err, text)
			continue
		}
		data := testutil.Value(rows.MarshalJSON())(t)
		if got := string(data); !strings.Contains(got, `"rows":`+test.want) {
			t.Errorf("%s:\n%s\n%s\nwant %s", test.why, text, got, test.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	type request = knowledge.Request
	one := func(metric string) request { return request{Metrics: []string{metric}} }
	where := func(condition string) request { return request{Metrics: []string{"total"}, Where: []string{condition}} }
	by := func(column string) request { return request{Metrics: []string{"total"}, GroupBy: []string{column}} }
	for _, test := range []struct {
		why, reason, text string
		request           request
	}{
		{"nothing is asked", "invalid", "needs a metric", request{}},
		{"a metric that nobody knows", "unknown", "metric profit", one("profit")},
		{"a metric that is text", "unsupported", "a cumulative metric", one("old")},
		{"a metric of itself", "invalid", "made of itself", one("loop")},
		{"a column without its table", "invalid", "total is not written table.column", one("bare")},
		{"a column outside of an aggregate", "invalid", "outside of an aggregate", one("open")},
		{"rows of no table", "invalid", "names no table", one("stars")},
		{"an aggregate in another", "invalid", "an aggregate in an aggregate", one("nested")},
		{"a window", "invalid", "OVER in an expression", one("window")},
		{"a query", "invalid", "SELECT in an expression", one("query")},
		{"a finer table", "fan-out", "lines", by("lines.price")},
		{"a table that nothing reaches", "fan-out", "orders", request{Metrics: []string{"travellers"},
			GroupBy: []string{"orders.state"}}},
		{"a column alone", "invalid", "not written table.column", by("country")},
		{"a table that nobody knows", "unknown", "table or relationship shops", by("shops.name")},
		{"a column that the metric does not allow", "unsupported", "not among its group_by",
			request{Metrics: []string{"home total"}, GroupBy: []string{"orders.state"}}},
		{"an order of what is not asked", "unknown", "order_by sold",
			request{Metrics: []string{"total"}, OrderBy: []string{"-sold"}}},
		{"a limit below 0", "invalid", "negative", request{Metrics: []string{"total"}, Limit: -1}},
		{"a second statement", "invalid", "one condition", where("orders.id = 1; DELETE FROM orders")},
		{"a query in a condition", "invalid", "SELECT in an expression", where("orders.id IN (SELECT id FROM secrets)")},
		{"a query behind CAST", "invalid", "SELECT in an expression", where("CAST(orders.id AS SELECT) = 1")},
		{"EXISTS", "invalid", "EXISTS in an expression", where("EXISTS (orders.id)")},
		{"brackets that close the CASE", "invalid", "without its other half", where("orders.id = 1) OR (1 = 1")},
		{"a bracket that stays open", "invalid", "without its other half", where("(orders.id = 1")},
		{"END for a bracket", "invalid", "without its other half", where("CASE WHEN (orders.id = 1 END)")},
		{"a comment", "invalid", "comment in an expression", where("orders.id = 1 -- and")},
		{"an open text", "invalid", "unterminated in an expression", where("orders.id = '1")},
		{"a parameter", "invalid", "placeholder in an expression", where("orders.id = ?")},
		{"a column without table", "invalid", "state is not written table.column", where("state = 'paid'")},
		{"a text that is no text", "invalid", "paid is not written table.column", where(`orders.state = "paid"`)},
		{"an aggregate in a condition", "invalid", "SUM adds rows up", where("SUM(orders.total) > 1")},
		{"a metric in a condition", "invalid", "compares no column", where("{total} > 1")},
		{"rows in a condition", "invalid", "compares no column", where("orders.* = 1")},
		{"a name of three parts", "invalid", "is written table.column", where("main.orders.id = 1")},
		{"nothing in a condition", "invalid", "an empty expression", where(" ")},
		{"an unknown table in a condition", "unknown", "table or relationship secrets", where("secrets.x = 1")},
	} {
		sql, err := storeModel().Compile(test.request, "sqlite")
		var why *knowledge.RequestError
		if !errors.As(err, &why) || why.Reason != test.reason || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v %s; want %s, %s", test.why, err, sql, test.reason, test.text)
		}
	}
	if _, err := storeModel().Compile(one("total"), "oracle"); err == nil || !strings.Contains(err.Error(), "oracle") {
		t.Error(err)
	}
}

// TestDialects: names are quoted as each engine does, whatever stands in them, and every statement passes its text
// check.
func TestDialects(t *testing.T) {
	m := knowledge.Model{
		Tables: []knowledge.Table{
			{Name: "a", Source: "lake.we`ird\"t", Keys: [][]string{{"k"}}},
			{Name: "b", Where: "x = 'it''s'", Columns: []knowledge.Column{{Name: "y", Expr: "lower(z)"}}},
		},
		Relationships: []knowledge.Relationship{{From: "b", To: "a", On: [][2]string{{"a k", "k"}}}},
		Metrics:       []knowledge.Metric{{Name: "n", Expr: "COUNT(b.*)"}, {Name: "m", Expr: "MAX(a.v)"}},
	}
	text := map[string]sqltext.Dialect{"sqlite": sqltext.SQLite(), "postgres": sqltext.PostgreSQL(),
		"mysql":  sqltext.MySQL(),
		"duckdb": sqltext.DuckDB(), "trino": sqltext.Trino()}
	var out strings.Builder
	for _, dialect := range []string{"sqlite", "postgres", "mysql", "duckdb", "trino"} {
		for _, grain := range []string{"year", "quarter", "month", "week", "day", "hour"} {
			sql, err := m.Compile(knowledge.Request{Metrics: []string{"n"}, GroupBy: []string{"b.y@" + grain, "a.s"}, Limit: 2},
				dialect)
			if err != nil {
				t.Fatal(err)
			}
			testutil.Value(text[dialect].Check(sql))(t, sql)
			out.WriteString(dialect + " " + grain + ": " + sql + "\n")
		}
	}
	golden.Check(t, "dialects.golden", out.String())
}

// FuzzCompile: whatever a request says, nothing panics, and what comes out passes the text check and holds no name that
// the model does not have as a table.
func FuzzCompile(f *testing.F) {
	f.Add("total", "customers.country", "orders.id = 1", "-total")
	f.Add("gap", "orders.at@week", "CASE WHEN lines.price > 1 THEN 1 END = 1", "orders.at@week")
	f.Add("per piece", "lines.Line", "lines.price / (2 - lines.quantity) > 1 AND customers.name LIKE '%a'", "x")
	m := storeModel()
	f.Fuzz(func(t *testing.T, metric, group, condition, order string) {
		r := knowledge.Request{Metrics: []string{metric}, GroupBy: []string{group}, Where: []string{condition},
			OrderBy: []string{order}}
		sql, err := m.Compile(r, "sqlite")
		if err != nil {
			return
		}
		statement := testutil.Value(sqltext.SQLite().Check(sql))(t, sql)
		for _, table := range statement.Tables() {
			if table.Base() && table.Name != "orders" && table.Name != "customers" && table.Name != "passports" &&
				table.Name != "Order Details" {
				t.Errorf("%+v reads %q: %s", r, table.Name, sql)
			}
		}
	})
}

// FuzzRename: an expression that is written again is the same expression.
func FuzzRename(f *testing.F) {
	f.Add("SUM(a.b / -c) * CASE WHEN x IS NULL THEN 1 END + {m n}")
	f.Add("COUNT(*) / COUNT(DISTINCT t.*)")
	f.Add("EXTRACT(YEAR FROM d) + x::int AND DATE '2024-01-01' < INTERVAL '1' DAY")
	f.Fuzz(func(t *testing.T, expr string) {
		once, err := knowledge.Qualified("t", expr)
		if err != nil {
			return
		}
		if twice, err := knowledge.Qualified("t", once); err != nil || twice != once {
			t.Errorf("%q: %q, then %q, %v", expr, once, twice, err)
		}
	})
}
