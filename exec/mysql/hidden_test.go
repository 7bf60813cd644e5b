package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestHidden: what a scope is told of hostile statements does not depend on hidden rows, whoever the user is.
func TestHidden(t *testing.T) {
	statements := attack.Hidden("mysql")
	v := dialecttest.Verdicts{
		Columns: "n BIGINT, x DOUBLE, s VARCHAR(200), j VARCHAR(300), d DATE, g BIGINT GENERATED ALWAYS AS (n % 10) " +
			"VIRTUAL, " +
			"h BIGINT GENERATED ALWAYS AS (exp(n)) VIRTUAL",
		Rows: []string{
			"-9223372036854775808, -1e308, '', '{', '0001-01-01'", "9223372036854775807, 1e308, 'abc', '[1', '9999-12-31'",
			"0, 0.0, '%', '(', '2024-02-29'",
			"-1, 0.5, '7x', '[a', '2024-12-31'", "NULL, NULL, NULL, '[[[1]]]', NULL",
			"1, 1.0, repeat('a', 200), repeat('(', 300), '2000-01-01'",
		},
		Expanded: "n * n",
		After: "CREATE INDEX of_bad ON parcels(bad, n, s, d);\n" + attack.HiddenViews("n * n") +
			"CREATE TABLE letters(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, n BIGINT, s VARCHAR(200), " +
			"mood ENUM('sad', 'ok'), yr YEAR,\n" +
			"col VARCHAR(20) CHARACTER SET latin1, h BIGINT GENERATED ALWAYS AS (n % 7) VIRTUAL,\n" +
			"ts TIMESTAMP NULL, dt DATETIME(6), big BIGINT UNSIGNED, money DECIMAL(65, 30), doc JSON, flags SET('a', 'b'), " +
			"`größe` BIGINT, x DOUBLE);\n" +
			"INSERT INTO letters(id, team, bad, n, s, mood, yr, col, ts, dt, big, money, doc, flags, `größe`, x)\n" +
			"SELECT id, team, bad, n, s, 'sad', 2024, left(s, 9), '2024-01-01', d, id, id, '{}', 'a,b', n, x " +
			"FROM parcels;\nANALYZE TABLE parcels, letters, sizes;\n",
		Rules: map[string]string{"letters": attack.HiddenRule},
	}
	for _, user := range []string{"reader", "root"} {
		answered, differ := dialecttest.Hidden(t, engine("", user), v, statements...)
		t.Logf("%s: %d of %d statements are answered, and %d tell of a hidden row without the fence", user, answered,
			len(statements), differ)
		if differ < 8 {
			t.Error("the test cannot fail")
		}
	}
}
