package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// shop is a database of two tenants; what tenant 2 has is a canary.
const shop = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant INTEGER, customer INTEGER, total REAL, note TEXT, rowno INTEGER);
CREATE TABLE customers (id INTEGER PRIMARY KEY, tenant INTEGER, region TEXT, name TEXT COLLATE NOCASE, doc TEXT);
CREATE TABLE countries (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
CREATE TABLE keyless (a TEXT PRIMARY KEY, tenant INTEGER, b INTEGER) WITHOUT ROWID;
CREATE TABLE "odd name" (id INTEGER PRIMARY KEY, tenant INTEGER, "the ""value""" TEXT);
CREATE TABLE ids (tenant INTEGER);
INSERT INTO ids VALUES (1), (2), (7);
CREATE TABLE plans (id INTEGER PRIMARY KEY AUTOINCREMENT, x);
CREATE INDEX orders_total ON orders (total);
CREATE INDEX orders_customer ON orders (customer);
CREATE UNIQUE INDEX customers_name ON customers (name);
INSERT INTO countries VALUES (1, 'Norway', 'a'), (2, 'Chile', 'b'), (7, 'Spain', 'c');
INSERT INTO customers SELECT value, 1 + value % 2, CASE value % 3 WHEN 0 THEN 'EU' ELSE 'US' END,
	CASE WHEN value % 2 THEN 'CANARY-' || value ELSE 'name ' || value END,
	CASE WHEN value % 2 THEN 'CANARY ' || value ELSE '{"v": ' || value || '}' END FROM generate;
INSERT INTO orders SELECT value, 1 + value % 2, 1 + value % 11, CASE WHEN value % 2 THEN 9e9 ELSE value END,
	CASE WHEN value % 2 THEN 'CANARY-' || value WHEN value % 10 THEN 'note ' || value END, value % 4 FROM generate;
INSERT INTO keyless SELECT 'k' || value, 1 + value % 2, value FROM generate;
INSERT INTO "odd name" SELECT value, 1 + value % 2, CASE WHEN value % 2 THEN 'CANARY' ELSE 'v' || value END FROM generate;
INSERT INTO plans (x) VALUES (1);
CREATE VIEW big AS SELECT * FROM orders WHERE total > 4;
CREATE VIEW renamed(who, n) AS SELECT c.name, (SELECT count(*) FROM orders) FROM customers AS c JOIN "countries" ON c.id = countries.id;
CREATE VIEW deeper AS SELECT n, (SELECT max(total) FROM big) AS m FROM renamed;
CREATE VIEW plain AS SELECT name FROM countries;
CREATE VIEW stringly AS SELECT id FROM orders WHERE note <> "done";
CREATE VIEW counted AS WITH orders AS (SELECT 1 AS one) SELECT count(*) AS n FROM orders;
ANALYZE;
`

var shopRules = exec.Policy{
	Rows: map[string]string{
		"orders": "tenant = :tenant", "customers": `tenant = :tenant AND ("region" = :region OR customers.region = 'US')`,
		"ids": "tenant = :tenant", "keyless": "tenant IN (:tenant)", `"odd name"`: "tenant = :tenant",
	},
	Shared: []string{"countries"},
}

// blind is SQLite with a first look that finds nothing in statements.
type blind struct{ sqlite.Dialect }

func (b blind) Guard(c exec.GuardConfig) (exec.Open, error) {
	open, err := b.Dialect.Guard(c)
	return func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
		o, err := open(ctx, conn, timeout)
		if err == nil {
			o.Conn = blindConn{o.Conn.(exec.RowFilterConn)}
		}
		return o, err
	}, err
}

type blindConn struct{ exec.RowFilterConn }

func (c blindConn) Spots(ctx context.Context, s *exec.Statement) ([]guard.TablePosition, error) {
	if s.Ours {
		return c.RowFilterConn.Spots(ctx, s)
	}
	return nil, nil
}

// TestSecondLook: what the first look misses is refused, also where SQLite does not tell the authorizer of a table.
func TestSecondLook(t *testing.T) {
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "blind.db")))(t)
	defer pool.Close()
	_, err := pool.Exec(
		`CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'mine'), (2, 'CANARY'); CREATE TABLE u (a, b); INSERT INTO u VALUES (2, 'CANARY');
		CREATE VIEW v AS SELECT * FROM t`)
	if err != nil {
		t.Fatal(err)
	}
	db := testutil.Value(exec.New(pool, blind{},
		exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": "a = :a"}, Shared: []string{"u"}}}))(t)
	db = testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"a": 1}}, nil))(t)
	for _, text := range []string{
		"SELECT b FROM t", "SELECT count(*) FROM t", "SELECT count(*) FROM main.t", "SELECT * FROM v", "SELECT 1 FROM main.v",
		"SELECT x.b FROM t AS x",
		"SELECT count(*) FROM u NATURAL JOIN t", "SELECT count(*) FROM u JOIN t USING (a, b)",
		"SELECT u.a FROM u JOIN main.t USING (a)",
		"SELECT u.a FROM u NATURAL JOIN main . t",
		"SELECT u.a FROM u NATURAL JOIN v", "SELECT u.a FROM u JOIN [main].'t' USING (a)", "SELECT (2, 'CANARY') IN t",
		"SELECT (2, 'CANARY') IN main.t",
		"WITH x AS (SELECT * FROM t) SELECT * FROM x", "SELECT 1 WHERE EXISTS (SELECT 1 FROM t WHERE a = 2)",
		"WITH t AS (SELECT * FROM main.t) SELECT * FROM t",
		"SELECT u.a FROM u LEFT JOIN t USING (a)", "SELECT u.a FROM u LEFT JOIN t ON 1",
	} {
		if got, err := db.Query(t.Context(), text); err == nil || !isRefusal(err) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := db.Query(t.Context(), "WITH t(a) AS (SELECT 7) SELECT t.a FROM u JOIN t"); err != nil ||
		fmt.Sprint(got.Rows) != "[[7]]" {
		t.Errorf("a common table expression alone: %v, %v", got, err)
	}
}

// shops returns the database with its rules, and a copy that has only the rows of tenant 1.
func shops(t testing.TB, policy exec.Policy) (ruled, copied *exec.DB) {
	t.Helper()
	ruled, copied, _ = allShops(t, policy)
	return ruled, copied
}

// allShops returns a copy too that reads rows in another order, without an index.
func allShops(t testing.TB, policy exec.Policy) (ruled, copied, turned *exec.DB) {
	t.Helper()
	open := func(name, more string, p exec.Policy) *exec.DB {
		pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), name)))(t)
		t.Cleanup(func() { pool.Close() })
		pool.SetMaxOpenConns(1) // a setting stays
		script := strings.ReplaceAll(shop, "FROM generate",
			"FROM (WITH RECURSIVE n(value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM n WHERE value < 41) SELECT value "+
				"FROM n)")
		testutil.Value(pool.Exec(script + more))(t)
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: p}))(t)
		return db
	}
	whole := open("whole.db", "", policy)
	ruled = testutil.Value(whole.For(&exec.Scope{Key: "one", Params: map[string]any{"tenant": 1, "region": "EU"}}, nil))(t)
	filter := "DELETE FROM orders WHERE tenant <> 1; DELETE FROM customers WHERE tenant <> 1 OR region NOT IN ('EU', " +
		"'US');" +
		"DELETE FROM ids WHERE tenant <> 1; DELETE FROM keyless WHERE tenant <> 1; DELETE FROM \"odd name\" " +
		"WHERE tenant <> 1;"
	denied := exec.Policy{DenyTables: []string{"plans"}}
	turn := "DROP INDEX orders_total; DROP INDEX orders_customer; DROP INDEX customers_name; " +
		"PRAGMA reverse_unordered_selects = 1"
	return ruled, open("copy.db", filter, denied), open("turned.db", filter+turn, denied)
}

// TestRowsAsInACopy: a statement gives with the rules what it gives on a copy without the other rows, or is refused.
func TestRowsAsInACopy(t *testing.T) {
	ruled, copied := shops(t, shopRules)
	for _, c := range []struct{ why, sql, refused string }{
		{"a table", "SELECT * FROM orders ORDER BY id", ""},
		{"an alias", "SELECT o.id, O.note FROM orders o ORDER BY 1", ""},
		{"an alias with AS", "SELECT o.* FROM orders AS o ORDER BY id", ""},
		{"an alias in quotes", `SELECT "the o".id FROM orders AS "the o" ORDER BY 1`, ""},
		{"quoted names", `SELECT "orders"."id" FROM "orders" ORDER BY 1`, ""},
		{"names in brackets", "SELECT [orders].[id] FROM [orders] ORDER BY 1", ""},
		{"a table in single quotes", "SELECT id FROM 'orders' ORDER BY 1", ""},
		{"other letters", "SELECT ORDERS.ID FROM Orders ORDER BY 1", ""},
		{"a name that must be quoted", `SELECT id, "the ""value""" FROM "odd name" ORDER BY 1`, ""},
		{"a comment in the reference", "SELECT id FROM /* FROM customers */ orders -- x\n ORDER BY 1", ""},
		{"the schema", "SELECT id FROM main.orders ORDER BY 1", ""},
		{"the schema before a column", "SELECT main.orders.id FROM main.orders ORDER BY main.orders.id", ""},
		{"the schema before a column, of one of two",
			"SELECT (SELECT main.orders.id FROM countries AS orders) FROM main.orders", "alias"},
		{"a table without rowid", "SELECT * FROM keyless ORDER BY a", ""},
		{"count", "SELECT count(*) FROM orders", ""},
		{"aggregates", "SELECT sum(total), max(note), min(id), avg(total) FROM orders", ""},
		{"min and max by an index", "SELECT max(total) FROM orders", ""},
		{"a comma join", "SELECT o.id, c.name FROM orders o, customers c WHERE o.customer = c.id ORDER BY 1", ""},
		{"an inner join", "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id ORDER BY 1", ""},
		{"a left join", "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.id ORDER BY 1", ""},
		{"a left join of a shared table", "SELECT n.id, o.id FROM countries n LEFT JOIN orders o ON o.customer = n.id " +
			"ORDER BY 1, 2", ""},
		{"an antijoin", "SELECT n.id FROM countries n LEFT JOIN orders o ON o.id = n.id WHERE o.id IS NULL ORDER BY 1", ""},
		{"a right join", "SELECT o.id, n.id FROM orders o RIGHT JOIN countries n ON o.id = n.id ORDER BY 1, 2", ""},
		{"a full join", "SELECT o.id, c.id FROM orders o FULL JOIN customers c ON o.customer = c.id ORDER BY 1, 2", ""},
		{"a cross join", "SELECT count(*) FROM orders CROSS JOIN customers", ""},
		{"a self join", "SELECT a.id, b.id FROM orders a JOIN orders b ON a.id = b.id + 2 ORDER BY 1", ""},
		{"joins in brackets", "SELECT count(*) FROM (orders o JOIN customers c ON o.customer = c.id)", ""},
		{"NATURAL", "SELECT * FROM orders NATURAL JOIN customers ORDER BY 1", ""},
		{"NATURAL, and the shared table says what is common", "SELECT count(*) FROM countries NATURAL JOIN customers", ""},
		{"NATURAL LEFT", "SELECT * FROM countries NATURAL LEFT JOIN orders ORDER BY 1", ""},
		{"USING", "SELECT id, orders.tenant, name FROM orders JOIN customers USING (id) ORDER BY 1", ""},
		{"USING, twice", "SELECT * FROM orders JOIN customers USING (id, tenant) JOIN countries USING (id) ORDER BY 1", ""},
		{"FULL JOIN USING", "SELECT id FROM orders FULL JOIN countries USING (id) ORDER BY 1", ""},
		{"a subquery", "SELECT * FROM (SELECT id FROM orders) ORDER BY 1", ""},
		{"a scalar subquery names the column", "SELECT (SELECT count(*) FROM orders)", ""},
		{"a column named by a text that lost its schema", "SELECT max(main.orders.id + 1) FROM orders", ""},
		{"one that lost a hint", "SELECT (SELECT count(*) FROM orders AS o NOT INDEXED WHERE id > 3)", ""},
		{"one after the other", "SELECT (SELECT max(id) FROM orders) + (SELECT max(id) FROM orders o), (SELECT max(id) " +
			"FROM orders o)", ""},
		{"one in the other", "SELECT (SELECT max(id) FROM (SELECT (SELECT min(id) FROM orders) AS id FROM orders))", ""},
		{"one inside of a star", "SELECT * FROM (SELECT (SELECT max(id) FROM orders) FROM countries)", ""},
		{"a correlated subquery", "SELECT c.id, (SELECT count(*) FROM orders WHERE customer = c.id) FROM customers c " +
			"ORDER BY 1", ""},
		{"a correlated subquery on its own table",
			"SELECT id FROM orders o WHERE total >= (SELECT avg(total) FROM orders WHERE tenant = o.tenant) ORDER BY 1", ""},
		{"the rule's column is one of the row around",
			"SELECT n.id, (SELECT count(*) FROM orders WHERE id > n.id) FROM countries n ORDER BY 1", ""},
		{"EXISTS", "SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) ORDER BY 1", ""},
		{"NOT EXISTS", "SELECT id FROM countries n WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = n.id) ORDER BY 1",
			""},
		{"IN a query", "SELECT id FROM customers WHERE id IN (SELECT customer FROM orders) ORDER BY 1", ""},
		{"NOT IN", "SELECT id FROM countries WHERE id NOT IN (SELECT id FROM orders) ORDER BY 1", ""},
		{"IN t", "SELECT id FROM countries WHERE (id, 1) IN orders", "columns"},
		{"IN t of one column", "SELECT id FROM countries WHERE id IN ids", "no rule can stand"},
		{"IN t of one column, with its schema", "SELECT id FROM countries WHERE id IN main.ids", "no rule can stand"},
		{"IN t that is a shadow of the table", "WITH ids AS (SELECT 7) SELECT id FROM countries WHERE id IN ids", ""},
		{"IN a view", "SELECT count(*) FROM countries WHERE id IN main.counted", "no rule can stand"},
		{"IN a CTE", "WITH k AS (SELECT id FROM orders) SELECT id FROM countries WHERE id IN k", ""},
		{"UNION", "SELECT id FROM orders UNION SELECT id FROM customers ORDER BY 1", ""},
		{"UNION ALL of stars", "SELECT * FROM orders UNION ALL SELECT * FROM orders ORDER BY 1", ""},
		{"EXCEPT", "SELECT id FROM countries EXCEPT SELECT id FROM orders ORDER BY 1", ""},
		{"INTERSECT", "SELECT id FROM orders INTERSECT SELECT id FROM customers ORDER BY 1", ""},
		{"a window", "SELECT id, row_number() OVER (ORDER BY total), sum(total) OVER () FROM orders ORDER BY 1", ""},
		{"a named window", "SELECT id, rank() OVER w FROM orders WINDOW w AS (ORDER BY note) ORDER BY 1", ""},
		{"GROUP BY and HAVING", "SELECT customer, count(*) FROM orders GROUP BY customer HAVING count(*) > 1 ORDER BY 1", ""},
		{"a bare column beside max", "SELECT note, max(total) FROM orders", ""},
		{"a collation", "SELECT id FROM customers WHERE name = 'NAME 2'", ""},
		{"a collation through DISTINCT", "SELECT count(DISTINCT name) FROM customers", ""},
		{"an affinity", "SELECT id FROM orders WHERE id = '4' AND total < '9'", ""},
		{"an affinity behind a left join", "SELECT n.id FROM countries n LEFT JOIN orders o ON o.rowno = n.note || '' " +
			"WHERE o.total = '4' ORDER BY 1", ""},
		{"JSON of the rows", "SELECT sum(json_extract(doc, '$.v')) FROM customers", ""},
		{"JSON of the rows, behind an index", "SELECT json_extract(doc, '$.v') FROM customers WHERE id = 4", ""},
		{"a table function of the rows", "SELECT c.id, j.value FROM customers c, json_each(c.doc) j ORDER BY 1", ""},
		{"a CTE", "WITH x AS (SELECT * FROM orders) SELECT id FROM x ORDER BY 1", ""},
		{"a CTE named like the table it reads", "WITH orders AS (SELECT * FROM main.orders WHERE total < 20) " +
			"SELECT count(*) FROM orders", ""},
		{"a CTE named like a table, without it", "WITH orders(id) AS (SELECT 7) SELECT id FROM orders", ""},
		{"a CTE named like a table, read before it",
			"WITH a AS (SELECT count(*) AS n FROM orders), orders AS (SELECT 1) SELECT n FROM a",
			"common table expression"},
		{"a CTE named like a table, out of scope", "SELECT (WITH orders AS (SELECT 1 AS id) SELECT id FROM orders), " +
			"count(*) FROM orders",
			"common table expression"},
		{"the same with its schema", "SELECT (WITH orders AS (SELECT 1 AS id) SELECT id FROM orders), count(*) " +
			"FROM main.orders", ""},
		{"a recursive CTE named like a table",
			"WITH RECURSIVE orders(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM orders WHERE id < 5) SELECT * FROM orders", ""},
		{"a recursive CTE over a table",
			"WITH RECURSIVE w(id) AS (SELECT min(id) FROM orders UNION ALL SELECT o.id FROM orders o JOIN w " +
				"ON o.id = w.id + 2) SELECT * FROM w", ""},
		{"a CTE that captures a name of the splice", "WITH main AS (SELECT 1 AS tenant) SELECT count(*) FROM orders, main",
			""},
		{"a CTE that captures a table of a view", "WITH countries AS (SELECT 1 AS id) SELECT * FROM renamed ORDER BY 1", ""},
		{"VALUES", "VALUES ((SELECT count(*) FROM orders))", ""},
		{"a view", "SELECT id FROM big ORDER BY 1", ""},
		{"a view with names of its own", "SELECT who, n FROM renamed ORDER BY 1", ""},
		{"a view, all of it", "SELECT * FROM renamed AS r ORDER BY 1", ""},
		{"a view over views", "SELECT * FROM deeper ORDER BY 1", ""},
		{"a view of shared tables", "SELECT * FROM plain ORDER BY 1", ""},
		{"a view with a string in double quotes", "SELECT n.id, (SELECT count(*) FROM stringly) FROM countries n",
			"cannot be read"},
		{"a view whose own CTE has the name of a table", "SELECT n FROM counted", ""},
		{"a view with its schema", "SELECT count(*) FROM main.big, big AS b", ""},
		{"rowid", "SELECT rowid FROM orders", "rowid"},
		{"rowid, with an alias", "SELECT o._rowid_ FROM orders o", "_rowid_"},
		{"rowid of a subquery that would be that around it", "SELECT (SELECT oid FROM orders LIMIT 1) FROM countries", "oid"},
		{"rowid of a shared table", "SELECT rowid FROM countries ORDER BY 1", ""},
		{"rowid of a shared table beside one with a rule", "SELECT n.rowid FROM countries n JOIN orders o ON o.id = n.id",
			""},
		{"rowid in double quotes", `SELECT "rowid" FROM orders`, "rowid"},
		{"INDEXED BY", "SELECT id FROM orders INDEXED BY orders_total WHERE total > 4 ORDER BY 1", ""},
		{"INDEXED BY, with an alias", "SELECT o.id FROM orders AS o INDEXED BY orders_total WHERE o.total > 4 ORDER BY 1",
			""},
		{"NOT INDEXED", "SELECT id FROM orders NOT INDEXED WHERE total > 4 ORDER BY 1", ""},
		{"a table of neither list", "SELECT * FROM plans", "no such table, or you may not read it"},
		{"one that is not there", "SELECT * FROM absent", "no such table, or you may not read it"},
		{"sqlite_sequence", "SELECT * FROM sqlite_sequence", "no such table, or you may not read it"},
		{"sqlite_stat1", "SELECT * FROM sqlite_stat1", "no such table, or you may not read it"},
		{"sqlite_schema", "SELECT sql FROM sqlite_schema", "no such table, or you may not read it"},
		{"dbstat", "SELECT * FROM dbstat", "no such table, or you may not read it"},
		{"a PRAGMA as a table", "SELECT * FROM pragma_table_info('orders')", "no table"},
		{"a parameter", "SELECT * FROM orders WHERE id = :tenant", "placeholder"},
		{"a column named like an alias of the rule", "SELECT tenant AS t, count(*) FROM orders GROUP BY t", ""},
		{"LIMIT and OFFSET", "SELECT id FROM orders ORDER BY total DESC, id LIMIT 3 OFFSET 2", ""},
		{"no table", "SELECT 1 + 1", ""},
		{"a typed column, which drivers convert", "SELECT id, CAST(total AS INTEGER) AS t FROM orders ORDER BY 1", ""},
		{"dates, in their order", "SELECT date('2024-01-01', id % 7 || ' days') AS day, * FROM orders " +
			"ORDER BY day DESC, id", ""},
		{"dates, of two names alike", "SELECT o.id, date(o.id), c.id, date(c.id) AS \"a \"\"b\" FROM orders o " +
			"JOIN customers c ON o.customer = c.id ORDER BY o.id % 3, 1 LIMIT 5 OFFSET 1 -- end", ""},
		{"dates, without an order", "SELECT date(id) FROM orders WHERE total > 4", ""},
		{"dates of several parts", "SELECT date(id) FROM orders UNION SELECT date(rowno) FROM orders ORDER BY 1 DESC", ""},
		{"dates in brackets, and no order",
			"SELECT id FROM (SELECT id, date(id) AS d FROM orders ORDER BY d DESC, id LIMIT 9)", ""},
		{"dates as values", "VALUES (date(7)), ((SELECT date(max(id)) FROM orders))", ""},
		{"a row value", "SELECT id FROM orders WHERE (customer, rowno) = (SELECT max(customer), 0 FROM orders) ORDER BY 1",
			""},
		{"a table in ORDER BY", "SELECT id FROM countries n ORDER BY (SELECT count(*) FROM orders WHERE customer < n.id), id",
			""},
		{"a table in LIMIT", "SELECT id FROM countries ORDER BY 1 LIMIT (SELECT count(*) FROM orders WHERE id < 6)", ""},
		{"a table in a join condition", "SELECT n.id FROM countries n JOIN customers c ON c.id = (SELECT max(id) " +
			"FROM orders WHERE id < 10) ORDER BY 1", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := ruled.Query(t.Context(), c.sql)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !exec.IsRejection(err) {
					t.Fatalf("%s\n%v, want a refusal with %q", c.sql, err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", c.sql, err)
			}
			want := testutil.Value(copied.Query(t.Context(), c.sql))(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-copy +ruled)\n%s", c.sql, diff)
			}
			if _, err := ruled.Explain(t.Context(), c.sql); err != nil {
				t.Errorf("the plan of %s: %v", c.sql, err)
			}
		})
	}
}

// TestHostileRows: no statement tells a value of a row that the rules hide, in rows, names, errors or plans.
func TestHostileRows(t *testing.T) {
	fenced := shopRules
	fenced.Fence = "always"
	for name, policy := range map[string]exec.Policy{"fence after an error": shopRules, "fence always": fenced} {
		t.Run(name, func(t *testing.T) { hostileRows(t, policy) })
	}
}

func hostileRows(t *testing.T, policy exec.Policy) {
	ruled, copied := shops(t, policy)
	texts := []string{}
	// An expression that fails on hidden rows, wherever an engine may evaluate it before the rule.
	for _, bad := range []string{
		"json_extract(doc, '$.v')", "json(doc)", "json_array_length(doc)", "doc ->> '$.v'", "json_type(doc, '$')",
		"json_valid(doc) OR json(doc)",
		"CASE WHEN doc LIKE 'CANARY%' THEN json(doc) ELSE 1 END",
		"CASE WHEN name LIKE 'CANARY%' THEN abs(-9223372036854775808) ELSE 1 END",
		"CASE WHEN doc LIKE 'CANARY%' THEN json_extract('{}', doc) ELSE 1 END",
	} {
		for _, shape := range []string{
			"SELECT %s FROM customers", "SELECT id FROM customers WHERE %s > 5", "SELECT id FROM customers ORDER BY %s",
			"SELECT count(*) FROM customers GROUP BY %s",
			"SELECT DISTINCT %s FROM customers", "SELECT max(%s) FROM customers",
			"SELECT id FROM customers WHERE id = 5 AND %s > 1",
			"SELECT n.id FROM countries n JOIN customers ON %s = n.id",
			"SELECT n.id FROM countries n LEFT JOIN customers ON %s = n.id AND n.id = customers.id",
			"SELECT id FROM countries WHERE EXISTS (SELECT 1 FROM customers WHERE %s = countries.id)",
			"SELECT id FROM customers c WHERE id IN (SELECT id FROM customers WHERE %s IS NOT NULL)",
			"SELECT sum(%s) OVER (ORDER BY id) FROM customers", "SELECT id, %s AS k FROM customers GROUP BY id HAVING k > 1",
			"WITH x AS (SELECT *, %s AS k FROM customers) SELECT k FROM x WHERE k > 3",
			"SELECT (SELECT %s FROM customers WHERE id = n.id) FROM countries n",
			"SELECT id FROM customers WHERE name = 'CANARY-5' AND %s",
			"SELECT a.id FROM customers a JOIN (SELECT *, %s AS k FROM customers) b ON a.id = b.k",
		} {
			texts = append(texts, strings.ReplaceAll(shape, "%s", bad))
		}
	}
	texts = append(texts,
		"SELECT note FROM orders UNION SELECT sql FROM sqlite_master", "SELECT * FROM sqlite_stat1",
		"SELECT * FROM sqlite_stat4",
		"SELECT * FROM sqlite_sequence",
		"SELECT * FROM main.sqlite_schema", "SELECT * FROM temp.orders", "SELECT * FROM pragma_index_list('orders')",
		"SELECT * FROM dbstat('main', 1)",
		"SELECT * FROM sqlite_dbpage", "SELECT * FROM bytecode('SELECT 1')", "SELECT * FROM orders WHERE tenant = 2",
		"SELECT * FROM orders WHERE 1=1 OR tenant = 2",
		"SELECT * FROM orders) AS x WHERE 1 OR (1", "SELECT * FROM orders AS \"x) -- \"",
		"SELECT * FROM orders AS \"orders\"\" WHERE 1) --\"",
		"SELECT * FROM orders AS [x] CROSS JOIN main.orders AS y",
		"SELECT * FROM orders WHERE note IN (SELECT note FROM main.orders WHERE tenant = 2)",
		"SELECT max(note) FROM orders INDEXED BY orders_customer WHERE customer > 0", "SELECT group_concat(note) FROM orders",
		"SELECT group_concat(name) FROM customers NATURAL JOIN ids",
		"SELECT min(name) FROM customers", "SELECT * FROM customers WHERE name = 'CANARY-5'", "SELECT rowid, * FROM orders",
		"SELECT main.orders.note FROM orders",
		"SELECT note FROM orders o WHERE EXISTS (SELECT 1 FROM ids WHERE tenant = 2)",
		"SELECT id FROM countries WHERE id IN ids", "SELECT 2 IN ids",
		"SELECT 2 IN main.ids",
		"SELECT 2 IN \"ids\"", "SELECT 2 IN [main].[ids]", "SELECT 2 IN (ids)", "SELECT (2) IN /**/ ids",
		"SELECT 2 NOT IN ids",
		"SELECT CASE WHEN 2 IN ids THEN 'CANARY' END",
		"SELECT count(*) FROM ids a JOIN ids b USING (tenant) WHERE 2 IN ids",
		"SELECT note FROM countries NATURAL JOIN orders",
		"SELECT * FROM countries JOIN orders USING (note)",
		"WITH ids AS (SELECT * FROM main.ids) SELECT 2 IN ids",
		"WITH main AS (SELECT 2 AS tenant) SELECT note FROM orders, main WHERE main.tenant = 2",
		"WITH orders AS (SELECT * FROM orders) SELECT * FROM orders", "WITH a AS (SELECT 2 IN ids) SELECT * FROM a",
		"SELECT * FROM (SELECT * FROM (SELECT * FROM orders))",
		"WITH RECURSIVE customers(name) AS (SELECT name FROM main.customers UNION SELECT name FROM customers) SELECT * "+
			"FROM customers",
		"SELECT * FROM stringly", "SELECT * FROM renamed", "SELECT * FROM deeper", "SELECT note FROM big",
		"SELECT count(*) FROM big WHERE note LIKE 'CANARY%'",
		"SELECT (SELECT group_concat(note) FROM orders o WHERE o.id > n.id) FROM countries n",
		"SELECT json_group_array(note) FROM orders",
		"SELECT quote(note) FROM orders",
		"SELECT * FROM orders WHERE note GLOB 'CANARY*'", "SELECT * FROM json_each((SELECT doc FROM customers WHERE id = 5))",
		"SELECT * FROM json_each((SELECT doc FROM customers WHERE id = 4))",
		"SELECT (SELECT doc FROM customers WHERE id = 5) IS NULL",
		"SELECT last_value(note) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM orders",
		"VALUES ((SELECT note FROM orders WHERE id = 5))",
		"SELECT note FROM orders ORDER BY (SELECT json(doc) FROM customers)",
		"SELECT note FROM orders LIMIT (SELECT json(doc) FROM customers)",
		"SELECT * FROM 'orders' WHERE 'tenant' = 2", "SELECT * FROM \"main\".\"orders\"", "SELECT * FROM main . orders",
		"SELECT * FROM `orders`",
		"SELECT * FROM [main].orders AS o",
		"SELECT likely(json(doc)) FROM customers", "SELECT id FROM customers WHERE likelihood(json(doc) > 1, 0.9)",
		"SELECT id FROM customers WHERE +tenant = 2",
		"SELECT a FROM keyless WHERE tenant = 2", "SELECT a FROM keyless WHERE b = 5 AND json(a)",
		"SELECT \"the \"\"value\"\"\" FROM \"odd name\"",
		"SELECT id FROM orders UNION ALL SELECT tenant FROM ids WHERE json('x')",
		"SELECT count(*) FROM orders, orders AS o2, main.orders o3",
	)
	for _, text := range texts {
		for i, run := range []func() (any, error){
			func() (any, error) { return ruled.Query(t.Context(), text) },
			func() (any, error) { return ruled.Explain(t.Context(), text) },
			func() (any, error) { return ruled.Examine(t.Context(), text) },
		} {
			got, err := run()
			if err != nil && strings.Contains(err.Error(), "ANARY") || strings.Contains(cmp.Diff(nil, got), "ANARY-") &&
				!strings.Contains(text, "ANARY-") {
				t.Errorf("%s\ntells what is hidden: %v, %v", text, got, err)
			}
			if i > 0 || err != nil && isRefusal(err) {
				continue
			}
			want, werr := copied.Query(t.Context(), text)
			if (err == nil) != (werr == nil) {
				t.Errorf("%s\n%v, with a copy %v", text, err, werr)
			} else if diff := cmp.Diff(want, got, unordered); err == nil && diff != "" && !strings.Contains(text, "LIMIT") {
				t.Errorf("%s (-copy +ruled)\n%s", text, diff)
			}
		}
	}
}

// unordered compares rows in any order.
var unordered = cmp.Transformer("unordered", func(rows [][]any) string {
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = fmt.Sprintf("%#v", row)
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
})

func isRefusal(err error) bool { return errors.As(err, new(*exec.RefusedError)) }

// TestClock: the clock of a statement with rules in it stands, or it would tell how long hidden rows took. The rows
// have the order, the number and the names that the statement gives them.
func TestClock(t *testing.T) {
	const late = "strftime('%Y %f', 'now', (id * 0) || ' seconds')" // which SQLite computes for each row
	pool, _ := open(t, `CREATE TABLE t(id INTEGER PRIMARY KEY, team TEXT, day TEXT); CREATE TABLE s(id INTEGER);
WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
INSERT INTO t SELECT i, 'blue', '' FROM n;
INSERT INTO t VALUES (1, 'red', '2024-01-05'), (2, 'red', '2024-02-05'), (3, 'red', '2024-01-07'),
	(400001, 'red', 'now');
INSERT INTO s VALUES (1); CREATE VIEW v AS SELECT id FROM t; CREATE VIEW at AS SELECT id, `+late+` AS now FROM t`)
	open := func(rule string) *exec.DB {
		db := newDB(t, pool, exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": rule}, Shared: []string{"s"}}})
		return testutil.Value(db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": "red"}}, nil))(t)
	}
	db := open("team = :team")
	for _, c := range []struct{ why, sql string }{
		{"a list", "SELECT id, " + late + " FROM v"},
		{"a limit", "SELECT id, " + late + " FROM v LIMIT 4"},
		{"an order", "SELECT id, " + late + " FROM t ORDER BY id"},
		{"a compound", "SELECT id, " + late + " FROM t WHERE id < 3 UNION ALL SELECT id, " + late + " FROM t WHERE id > 2"},
		{"a common table expression", "WITH c AS (SELECT id FROM v) SELECT id, " + late + " FROM c"},
		{"a view", "SELECT * FROM at"},
		{"a subquery", "SELECT id, (SELECT julianday('now', (v.id * 0) || ' seconds')) FROM v"},
		{"a join", "SELECT v.id, " + strings.ReplaceAll(late, "id", "v.id") + " FROM s CROSS JOIN v"},
		{"constants that are computed when they are met", "SELECT id, CASE id WHEN 1 THEN strftime('%f') " +
			"WHEN 2 THEN strftime('%f', 'now', '0 days') WHEN 3 THEN strftime('%f', 'NOW') " +
			"ELSE strftime('%f', 'now') END FROM v"},
		{"a text that is made", "SELECT id, julianday(lower('N' || 'OW'), (id * 0) || ' days') FROM v"},
		{"a text that is stored", "SELECT v.id, unixepoch(t.day, (v.id * 0) || ' days', 'subsec') FROM v CROSS JOIN t " +
			"WHERE t.id = 400001"},
		{"a difference", "SELECT id, timediff('now', '2000-01-01 00:00:0' || (id * 0)) FROM v"},
		{"a condition", "SELECT id, 1 FROM v WHERE " + late + " = strftime('%Y %f', 'now')"},
	} {
		sql := "SELECT * FROM (" + c.sql + ") UNION ALL SELECT 0, 0 WHERE 0" // into which no order is written
		table := testutil.Value(db.Query(t.Context(), sql))(t, c.why)
		stream := testutil.Value(result.NewStream(t.Context(), func(ctx context.Context, to *result.RowWriter) error {
			r := testutil.Value(db.Runner(exec.Bounds{}))(t)
			return errors.Join(r.Stream(ctx, sql, to), r.Close())
		}))(t, c.why)
		streamed := [][]any{}
		for row, err := range stream.Rows() {
			testutil.OK(t, err)
			streamed = append(streamed, row)
		}
		for _, rows := range [][][]any{table.Rows, streamed} {
			if len(rows) != 4 || slices.ContainsFunc(rows, func(row []any) bool { return row[1] != rows[0][1] }) {
				t.Errorf("%s: %v", c.why, rows)
			}
		}
	}
	for _, c := range []struct{ why, sql, want string }{
		{"an honest condition", "SELECT id FROM t WHERE day > date('now', '-30 days') ORDER BY id", "[id] [[400001]] false"},
		{"months", "SELECT strftime('%m', day) AS m, count(*) FROM t WHERE id < 4 GROUP BY m ORDER BY m DESC",
			"[m count(*)] [[02 1] [01 2]] false"},
		{"one name twice, and a comment", "SELECT date(day) AS id, id FROM t ORDER BY t.id DESC LIMIT 2 OFFSET 1 -- end",
			"[id id] [[2024-01-07 3] [2024-02-05 2]] false"},
		{"more rows than are asked for", "SELECT id FROM t WHERE date(day) < '3' OR id > 9 ORDER BY day",
			"[id] [[1] [3] [2]] true"},
		{"no row", "SELECT date(day) FROM t WHERE id = 7", "[date(day)] [] false"},
	} {
		table := testutil.Value(db.QueryWithin(t.Context(), c.sql, exec.Bounds{Rows: 3}))(t, c.why)
		if got := fmt.Sprint(table.Columns, table.Rows, table.Truncated); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
	table := testutil.Value(open("team = :team AND "+late+" = strftime('%Y %f', 'now')").Query(t.Context(),
		"SELECT id FROM t"))(t)
	if len(table.Rows) != 4 {
		t.Errorf("a rule that reads the clock: %v", table.Rows)
	}
}

// TestSortCache: a statement that sorts has the large cache, with rules about rows too. A sort holds one row of each
// run in memory, and a larger cache makes fewer runs.
func TestSortCache(t *testing.T) {
	rules := exec.Policy{Rows: map[string]string{"t": "a > :least"}}
	always := exec.Policy{Rows: rules.Rows, Fence: "always"}
	for _, tt := range []struct {
		why, sql string
		policy   exec.Policy
		want     []string
	}{
		{"a sort", "SELECT a FROM t ORDER BY b", exec.Policy{Shared: []string{"t"}}, []string{"PRAGMA cache_size = -16000"}},
		{"a sort with rules", "SELECT a FROM t ORDER BY b", rules, []string{"PRAGMA cache_size = -16000"}},
		{"a sort behind a fence", "SELECT a FROM t ORDER BY b", always, []string{"PRAGMA cache_size = -8000"}}, // which sorts
		{"two share it", "SELECT b, count(*) FROM t GROUP BY b ORDER BY 2", rules, []string{"PRAGMA cache_size = -8000"}},
		{"an order that is written with the rules", "SELECT a FROM t", rules, []string{"PRAGMA cache_size = -16000"}},
		{"no sort", "SELECT a FROM t", exec.Policy{Shared: []string{"t"}}, nil},
	} {
		connector, pool := faultyPool(t, "file")
		db := newDB(t, pool, connector.config(exec.Config{Policy: tt.policy}))
		scoped := testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"least": 0}}, nil))(t)
		var got []string
		connector.fails(func(event string) error {
			if strings.HasPrefix(event, "PRAGMA cache_size = -") && !strings.HasSuffix(event, " -2000") { // back at the end
				got = append(got, event)
			}
			return nil
		})
		testutil.Value(scoped.Query(t.Context(), tt.sql))(t)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.why, diff)
		}
	}
}
