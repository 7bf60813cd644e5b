package sqlite_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestVerdicts: no verdict, message, row or warning tells whether a key finds a hidden row, whatever fails on its
// values.
func TestVerdicts(t *testing.T) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	functions, err := dbtest.Texts(t.Context(), pool,
		"SELECT DISTINCT name FROM pragma_function_list WHERE name NOT LIKE '%>%' ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	functions = slices.DeleteFunc(functions, func(name string) bool {
		return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != ""
	})
	columns := []string{"n", "s", "x", "j"}
	expressions := slices.Concat(dialecttest.Calls(functions, columns),
		dialecttest.Operations([]string{"+", "-", "*", "/", "%", "||", "<<", "&", "->", "->>", "LIKE", "GLOB", "=", "<",
			"IS"}, columns), []string{
			"-n", "~n", "CAST(s AS INTEGER)", "CAST(j AS BLOB)", "s LIKE j ESCAPE s", "s COLLATE NOCASE = j",
			"(n, s) = (1, 'a')", "CASE n WHEN 0 THEN abs(n) END",
			"(SELECT json(j))", "n IN (SELECT abs(n) FROM sizes)", "EXISTS (SELECT abs(n))", "s LIKE '" +
				strings.Repeat("%a", 60) + "'", "j IN (json(j), 'x')",
			"n BETWEEN abs(n) AND 5", "s ISNULL", "count(*) FILTER (WHERE abs(n) > 0)", "sum(n)", "n = 1 OR json(j) = 'x'",
			"date('now') < json(j)",
		})
	v := dialecttest.Verdicts{
		Columns: "n INTEGER, x REAL, s TEXT, j TEXT",
		Rows: []string{
			"-9223372036854775808, -1e308, '', '{'", "9223372036854775807, 1e308, 'abc', '[1'", "0, 0.0, '%\\', '(' ",
			"-1, 0.5, '7x', 'x'",
			"NULL, NULL, NULL, '[[[1]]]'", "1, 1.0, hex(zeroblob(30000)), hex(zeroblob(200000))",
		},
		Expressions: expressions,
		Same:        dialecttest.Left(),
		After:       "CREATE INDEX of_bad ON parcels(bad, n, x, s, j);\nANALYZE;\n",
	}
	dialecttest.CheckVerdicts(t, engine(), v)
	constants := []string{"0", "-1", "9223372036854775807", "1e308", "''", "'abc'", "'%a%'", `'\'`, "TRUE", "x'00'",
		"DATE '2024-01-01'"}
	if n := dialecttest.Listed(t, engine(), v, dialecttest.Conditions(columns, constants)...); n < 500 {
		t.Errorf("only %d conditions run without a fence", n)
	} else {
		t.Logf("%d conditions run without a fence", n)
	}
}
