package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// rowTraps is a table with generated columns of both kinds.
const rowTraps = `CREATE TABLE made(id INTEGER, tenant_id INTEGER, memo TEXT, twice INTEGER AS (id * 2) STORED, shout TEXT AS (upper(memo)) VIRTUAL);
INSERT INTO made VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-m');
`

// TestRows runs the hostile statements of all engines under rules about rows, fenced after an error and always.
func TestRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		n := dialecttest.Rows(t, engine(), dbtest.RowsOf{Fence: fence, Script: rowTraps + "ANALYZE;\n",
			Hidden: "DELETE FROM made WHERE tenant_id <> 1;\n",
			Rows:   map[string]string{"made": "tenant_id = :tenant"}}, attack.Rows()...)
		if t.Logf("%d of %d statements are answered", n, len(attack.Rows())); n < 150 {
			t.Errorf("only %d", n)
		}
	}
}

// TestRowsFailing: whether a statement fails does not tell whether an index finds a hidden row.
func TestRowsFailing(t *testing.T) {
	attack.Twins(t, engine(), "CREATE TABLE t(owner INTEGER, memo TEXT);\nCREATE INDEX i ON t(memo);\n"+
		"INSERT INTO t VALUES (1, 'mine'), (2, 'hidden');\nCREATE VIEW v AS SELECT memo FROM t;\n", "owner = :v",
		"SELECT 1 FROM t WHERE json_extract('{}', memo) = 1 AND memo BETWEEN '%s' AND '%s~'",
		"SELECT 1 FROM v WHERE \"abs\"(-9223372036854775808) AND memo = '%s'",
		"SELECT 1 FROM t WHERE '{}' ->> ('[' || memo) AND memo = '%s'",
		"SELECT 1 FROM t WHERE 'x' LIKE memo ESCAPE 'ab' || memo AND memo BETWEEN '%s' AND '%s~'")
}

// BenchmarkRows: 1.3 times the filter by hand at the median is the bar.
func BenchmarkRows(b *testing.B) { attack.BenchmarkRows(b, engine()) }

// TestOneInspection: a narrower policy asks the engine for no schema of its own.
func TestOneInspection(t *testing.T) {
	if n := dialecttest.Inspections(t, engine(), "IN ('table', 'shadow')"); n != 1 {
		t.Errorf("the columns were read %d times", n)
	}
}

// TestRowPlans: neither costs nor the choice of an index tell of hidden rows.
func TestRowPlans(t *testing.T) { dialecttest.RowPlans(t, engine(), "ANALYZE;\n") }

// TestStreamed: a stream under rules about rows gives what the whole result has, and is refused where that is.
func TestStreamed(t *testing.T) {
	if n := dialecttest.Streamed(t, engine(), attack.Rows()...); n < 120 {
		t.Errorf("only %d statements are answered", n)
	}
}
