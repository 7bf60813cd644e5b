package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestHidden: what a scope is told of hostile statements does not depend on hidden rows.
func TestHidden(t *testing.T) {
	statements := attack.Hidden("sqlite")
	answered, differ := dialecttest.Hidden(t, engine(), dialecttest.Verdicts{
		Columns: "n INTEGER, x REAL, s TEXT, j TEXT",
		Rows: []string{
			"-9223372036854775808, -1e308, '', '{'", "9223372036854775807, 1e308, 'abc', '[1'", "0, 0.0, '%\\', '(' ",
			"-1, 0.5, '7x', 'x'",
			"NULL, NULL, NULL, '[[[1]]]'", "1, 1.0, hex(zeroblob(30000)), hex(zeroblob(200000))",
		},
		Expanded: "abs(n)",
		After: "CREATE INDEX of_bad ON parcels(bad, n, s);\n" + attack.HiddenViews("abs(n)") +
			"CREATE TABLE letters(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, n INTEGER, s TEXT);\n" +
			"INSERT INTO letters SELECT id, team, bad, n, s FROM parcels;\n" +
			"ALTER TABLE parcels ADD COLUMN g INTEGER AS (abs(n));\nALTER TABLE letters ADD COLUMN g INTEGER AS " +
			"(abs(n));\nANALYZE;\n",
		Rules: map[string]string{"letters": attack.HiddenRule},
	}, statements...)
	if t.Logf("%d of %d statements are answered, and %d tell of a hidden row without the fence", answered, len(statements),
		differ); differ < 8 {
		t.Error("the test cannot fail")
	}
}
