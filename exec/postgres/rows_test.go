package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
)

// rowTraps are tables, and functions of a user, for the statements against rules about rows.
var rowTraps = exectest.RowsOf{
	Script: `CREATE TABLE parent_orders(id INTEGER, tenant_id INTEGER, memo TEXT);
CREATE TABLE kid_orders() INHERITS (parent_orders);
INSERT INTO kid_orders VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-k');
CREATE MATERIALIZED VIEW matview AS SELECT memo FROM orders;
CREATE FUNCTION nth_memo(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT memo FROM orders WHERE id = $1';
CREATE FUNCTION memos() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT memo FROM orders';
CREATE FUNCTION first_memo(orders) RETURNS text LANGUAGE sql STABLE AS 'SELECT max(memo) FROM orders';
ANALYZE;
`,
	Hidden: "DELETE FROM parent_orders WHERE tenant_id <> 1;\nREFRESH MATERIALIZED VIEW matview;\n",
	Rows:   map[string]string{"kid_orders": "tenant_id = :tenant"},
}

// TestRows runs the hostile statements under rules about rows, fenced after an error and always.
func TestRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		of := rowTraps
		of.Fence = fence
		statements := attack.Rows()
		if n := exectest.Rows(t, engine("", "reader"), of, statements...); n < 150 {
			t.Errorf("only %d of %d statements are answered", n, len(statements))
		} else {
			t.Logf("%d of %d statements are answered", n, len(statements))
		}
	}
}
