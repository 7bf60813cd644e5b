package postgres_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestHidden: what a scope is told of hostile statements does not depend on hidden rows, whoever the user is.
func TestHidden(t *testing.T) {
	statements := attack.Hidden("postgres")
	v := dialecttest.Verdicts{
		Columns: `n BIGINT, i INTEGER, f NUMERIC, x DOUBLE PRECISION, s TEXT, j TEXT, d DATE, c TEXT COLLATE "POSIX", e VARCHAR(5)`,
		Rows: []string{
			"-9223372036854775808, -2147483648, -1e400, -1e308, '', '{', '-infinity', 'a', 'a'",
			"9223372036854775807, 2147483647, 1e400, 1e308, 'abc', '[1', '5874897-12-31', 'b', 'b'",
			"0, 0, 0, 0, '%\\', '(', '2024-02-29', 'c', NULL",
			"-1, -1, -1, 'nan', '7x', '[[1],[2,3]]', '4713-01-01 BC', 'd', 'e'",
			"NULL, NULL, NULL, NULL, NULL, '[a', NULL, NULL, NULL",
			"1, 1, 1, 1, repeat('a', 2000), repeat('(', 2000), '2000-01-01', repeat('x', 200), 'x'",
		},
		Expanded: "n * n",
		After: "CREATE INDEX of_bad ON parcels(bad);\n" + attack.HiddenViews("n * n") +
			"CREATE TABLE letters AS SELECT * FROM parcels;\nALTER TABLE letters ADD PRIMARY KEY (id);\n" +
			"CREATE TYPE feeling AS ENUM ('sad', 'ok', 'happy');\nCREATE DOMAIN tiny AS smallint CHECK (VALUE < 100);\nCREATE " +
			"TYPE two AS (a integer, b json);\n" +
			"CREATE TABLE docs AS SELECT id, team, bad, s, CASE WHEN n > 0 THEN '{\"a\": \"x\"}'::json END AS doc, ROW(i, " +
			"'{}'::json)::two AS pair,\n" +
			"'sad'::feeling AS mood, 5::tiny AS small, ARRAY[s, 'a'] AS tags, int8range(0, 9) AS span FROM parcels;\n" +
			"CREATE INDEX docs_bad ON docs(bad);\nALTER TABLE docs ADD PRIMARY KEY (id);\n" +
			"CREATE TABLE kids(id INTEGER, team INTEGER, bad INTEGER, n BIGINT) PARTITION BY RANGE (id);\n" +
			"CREATE TABLE kids_1 PARTITION OF kids FOR VALUES FROM (0) TO (5000);\n" +
			"CREATE TABLE kids_2 PARTITION OF kids DEFAULT;\nINSERT INTO kids SELECT id, team, bad, n " +
			"FROM parcels;\nCREATE INDEX kids_bad ON kids(bad);\nANALYZE;\n",
		Rules: map[string]string{"letters": attack.HiddenRule, "docs": attack.HiddenRule, "kids": "team = :team"},
	}
	for _, user := range []string{"reader", "postgres"} {
		answered, differ := dialecttest.Hidden(t, engine("", user), v, statements...)
		t.Logf("%s: %d of %d statements are answered, and %d tell of a hidden row without the fence", user, answered,
			len(statements), differ)
		if differ < 8 {
			t.Error("the test cannot fail")
		}
	}
}

// TestHiddenLimit: how much of a list is computed before a LIMIT ends it does not depend on how many rows are hidden.
func TestHiddenLimit(t *testing.T) {
	const script = `CREATE TABLE t(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, n INTEGER, s TEXT);
INSERT INTO t SELECT 100000 + g, 1, g, CASE WHEN g = 907 THEN 0 ELSE 1 END, CASE WHEN g % 100 = 7 THEN 'x' ELSE 'y' || g END
FROM generate_series(0, 9999) g WHERE g % 100 <> 7 OR g < 1000;
`
	var told []string
	for _, hidden := range []string{"", "INSERT INTO t SELECT g, 2, g % 5000, 1, 'x' FROM generate_series(0, " +
		"90000) g;\n"} {
		pool, _ := open(t, script+hidden+"CREATE INDEX by_bad ON t(bad); CREATE INDEX by_s ON t(s); ANALYZE")
		db := newDB(t, pool, exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": "team = :team"}}})
		view, err := db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": 1}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		table, err := view.Query(t.Context(), "SELECT id, 1 / n FROM t WHERE s = 'x' ORDER BY bad LIMIT 1")
		told = append(told, fmt.Sprint(table, err))
	}
	if told[0] != told[1] {
		t.Errorf("%s\nand with hidden rows %s", told[0], told[1])
	}
}
