package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
)

// rowTraps are tables for the statements against rules about rows.
var rowTraps = exectest.RowsOf{
	Script: `CREATE TABLE invisible(id INTEGER, tenant_id INTEGER, hidden VARCHAR(40) INVISIBLE);
INSERT INTO invisible(id, tenant_id, hidden) VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-i');
CREATE TABLE docs(id INTEGER PRIMARY KEY, tenant_id INTEGER, body TEXT, FULLTEXT(body));
INSERT INTO docs VALUES (1, 1, 'apple pear'), (2, 1, 'cherry'), (3, 2, 'apple Zebu-Q7-d');
`,
	Hidden: "DELETE FROM invisible WHERE tenant_id <> 1;\nDELETE FROM docs WHERE tenant_id <> 1;\n",
	Rows:   map[string]string{"invisible": "tenant_id = :tenant", "docs": "tenant_id = :tenant"},
}

// TestRows runs the hostile statements under rules about rows, fenced after an error or a warning and always.
func TestRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		of := rowTraps
		of.Fence = fence
		statements := attack.Rows()
		if n := exectest.Rows(t, engine("", "reader"), of, statements...); n < 120 {
			t.Errorf("only %d of %d statements are answered", n, len(statements))
		} else {
			t.Logf("%d of %d statements are answered", n, len(statements))
		}
	}
}

// TestSubqueryInHaving: MariaDB gives a subquery in HAVING the value of another group where it names a column of a query in
// FROM that was merged, as a splice is.
func TestSubqueryInHaving(t *testing.T) {
	const condition = " GROUP BY a.customer_id HAVING count(*) = (SELECT count(*) FROM orders AS b WHERE b.customer_id = a.customer_id)"
	of := exectest.RowsOf{Script: "CREATE VIEW counted AS SELECT a.customer_id FROM orders AS a" + condition + ";\n" +
		"CREATE ALGORITHM = TEMPTABLE VIEW bought AS SELECT customer_id AS by_whom FROM orders;\n"}
	statements := []string{
		"SELECT a.customer_id FROM orders AS a" + condition,
		"SELECT customer_id FROM counted",
		"SELECT a.by_whom FROM bought AS a GROUP BY a.by_whom HAVING count(*) = (SELECT count(*) FROM bought AS b WHERE b.by_whom = a.by_whom)",
		"SELECT a.customer_id FROM orders AS a GROUP BY a.customer_id HAVING EXISTS (SELECT 1 FROM orders AS b WHERE b.customer_id = a.customer_id AND total = 10)",
		"SELECT a.customer_id FROM orders AS a GROUP BY a.customer_id HAVING max(a.id) IN (SELECT b.id FROM orders AS b WHERE b.customer_id >= a.customer_id)",
		"SELECT a.customer_id c FROM orders AS a HAVING c > (SELECT min(b.customer_id) FROM orders AS b WHERE b.total > a.total)",
	}
	if n := exectest.Rows(t, engine("", "reader"), of, statements...); n != len(statements) {
		t.Errorf("%d of %d statements are answered", n, len(statements))
	}
}

// BenchmarkRows: 1.3 times the filter by hand at the median is the bar.
func BenchmarkRows(b *testing.B) { attack.BenchmarkRows(b, engine("", "reader")) }
