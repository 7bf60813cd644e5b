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
`,
	Hidden: "DELETE FROM invisible WHERE tenant_id <> 1;\n",
	Rows:   map[string]string{"invisible": "tenant_id = :tenant"},
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

// BenchmarkRows: 1.3 times the filter by hand at the median is the bar.
func BenchmarkRows(b *testing.B) { attack.BenchmarkRows(b, engine("", "reader")) }
