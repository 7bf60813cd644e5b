package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestRowsGroup: GROUP BY the primary key beside other columns, which the server knows of no splice.
func TestRowsGroup(t *testing.T) {
	statements := []string{
		"SELECT o.id, o.memo, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY o.id",
		"SELECT o.*, count(*) FROM orders o GROUP BY o.id",
		"SELECT *, count(*) OVER () FROM orders GROUP BY id",
		"SELECT id, memo FROM orders GROUP BY 1",
		"SELECT memo, id AS k FROM orders GROUP BY k",
		"SELECT c.name, sum(o.total) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id " +
			"ORDER BY c.name",
		"SELECT c.name, c.note, o.memo FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, o.id",
		"SELECT c.name, (SELECT count(*) FROM orders WHERE memo > c.note) FROM customers c GROUP BY c.id",
		"SELECT name FROM customers GROUP BY id HAVING max(note) > '0' ORDER BY region",
		"SELECT x.name FROM (SELECT c.name, max(o.total) AS m FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"GROUP BY c.id) AS x",
		`SELECT "C".name FROM customers AS "C" GROUP BY "C".id`,
		"SELECT o.memo, c.id FROM orders o, customers c GROUP BY c.id, o.id, c.region",
		"SELECT o.tenant_id, count(*) FROM orders o GROUP BY o.tenant_id",
		"SELECT name FROM order_names GROUP BY name",
		"SELECT region, count(DISTINCT name) FROM customers GROUP BY region, id",
		"SELECT c.name FROM orders c1 JOIN customers c ON c.id = c1.id GROUP BY c.id",
	}
	if n := dialecttest.Rows(t, engine("", "reader"), dbtest.RowsOf{}, statements...); n != len(statements) {
		t.Errorf("%d of %d statements are answered", n, len(statements))
	}
}
