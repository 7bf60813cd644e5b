package sqltext_test

import (
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

func TestNormalize(t *testing.T) {
	lite, pg, my := sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL()
	tests := []struct {
		name, why string
		d         sqltext.Dialect
		sql, want string
	}{
		{"case and blanks", "of words alone", lite, "SELECT  Name ,\n COUNT ( * )  FROM T WHERE a='X  Y';;",
			"select name, count(*) from t where a = 'X  Y'"},
		{"comments", "dropped", lite, "SELECT a -- x\n/* y */ FROM t", "select a from t"},
		{"operators", "one spelling", lite, "SELECT a!=1, b==2, c<>3 FROM t", "select a <> 1, b = 2, c <> 3 from t"},
		{
			"quotes", "off where they are not needed", lite, "SELECT t.\"Name\", `b`, [c d], [order] FROM \"T\" AS \"t\"",
			"select t.name, b, `c d`, `order` from t as t",
		},
		{
			"maybe a string", "as written: no column may be called so", lite,
			`SELECT "Name", strftime("%M", d), CASE a WHEN 1 THEN "Yes" END FROM t ORDER BY "Name"`,
			`select "Name", strftime("%M", d), case a when 1 then "Yes" end from t order by "Name"`,
		},
		{"letters outside of ASCII", "SQLite does not fold them", lite, "SELECT É, Straße FROM T", "select É, straße from t"},
		{"string in double quotes", "its case counts", lite, `SELECT a FROM t WHERE b = "EUR" AND "C" IS NULL`,
			`select a from t where b = "EUR" and "C" is null`},
		{"qualified", "cannot be a string", lite, `SELECT x FROM t WHERE t."A" = 1`, "select x from t where t.a = 1"},
		{"case counts", "in quoted names of PostgreSQL", pg, `SELECT "Name", "name" FROM T`, `select "Name", name from t`},
		{"backticks", "stay where they are needed in MySQL", my, "SELECT `a b`, \"A\" FROM `T`",
			"select `a b`, \"A\" from t"},
		{"two statements", "the semicolon between stays", lite, "SELECT 1; SELECT 2;", "select 1 ; select 2"},
		{"no running together", "tokens stay apart", lite, "SELECT - -1, a .b, 1 .5, x '00'",
			"select - - 1, a.b, 1 .5, x '00'"},
		{"keyword and bracket", "IN and AS are no functions", lite, "WITH x AS(SELECT 1) SELECT a IN(1,2) FROM x",
			"with x as (select 1) select a in (1, 2) from x"},
		{"names of other scripts", "as written", lite, "SELECT \"城市\", \"É\" FROM t", "select \"城市\", \"É\" from t"},
		{"empty", "nothing", lite, " ; -- a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.d.Parse(tt.sql).Normalize()
			if got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.why, got, tt.want)
			}
			if again := tt.d.Parse(got).Normalize(); again != got {
				t.Errorf("normalising again gives %s", again)
			}
		})
	}
}

func TestTemplate(t *testing.T) {
	lite := sqltext.SQLite()
	tests := []struct{ name, why, a, b string }{
		{
			"literals", "strings, numbers with their sign, blobs", "SELECT a FROM t WHERE b = 'x' AND c = -1 AND d = x'00'",
			"select a from t where b='yy' and c=25 and d=x'ff'",
		},
		{"aliases of tables", "by first use", "SELECT x.a FROM t AS x JOIN u AS y ON x.i = y.i",
			"SELECT T1.a FROM t AS T1 JOIN u AS T2 ON T1.i = T2.i"},
		{
			"aliases of columns", "where defined and where used", "SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n",
			"SELECT a, count(*) AS total FROM t GROUP BY a ORDER BY total",
		},
		{"aliases", "given or not", "SELECT p.city, count(*) AS n FROM people AS p GROUP BY p.city",
			"SELECT city, count(*) FROM people GROUP BY people.city"},
		{"the name of a schema", "given or not", "SELECT a FROM main.t", "SELECT a FROM t"},
		{"a column called like an alias", "is none", "SELECT 1 FROM t AS name WHERE name = 'x'",
			"SELECT 1 FROM t WHERE name = 'y'"},
		{"all columns of a table", "under its alias", "SELECT x.* FROM t AS x", "SELECT T1.* FROM t T1"},
		{"names of CTEs", "and of their columns", "WITH x(a) AS (SELECT 1) SELECT a FROM x",
			"WITH cte(q) AS (SELECT 2) SELECT q FROM cte"},
		{"alias like its column", "is not seen in its own list", "SELECT name AS name FROM t", "SELECT name AS n FROM t"},
		{"double quotes", "a string beside a comparison", "SELECT a FROM t WHERE b = \"x\"", "SELECT a FROM t WHERE b = 'y'"},
		{"comments and semicolons", "dropped", "SELECT a FROM t -- x\n;", "SELECT a /* y */ FROM t"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if a, b := lite.Parse(tt.a).Template(), lite.Parse(tt.b).Template(); a != b {
				t.Errorf("%s:\n%s\n%s", tt.why, a, b)
			}
		})
	}
	apart := []struct{ name, why, a, b string }{
		{"columns", "other columns", "SELECT a FROM t", "SELECT b FROM t"},
		{"order", "another direction", "SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC"},
		{"NULL", "is no literal", "SELECT a FROM t WHERE b IS NULL", "SELECT a FROM t WHERE b IS 1"},
		{"subtraction", "is no sign", "SELECT a - 1 FROM t", "SELECT a, 1 FROM t"},
		{"tables", "under the same alias", "SELECT x.a FROM t AS x", "SELECT x.a FROM u AS x"},
	}
	for _, tt := range apart {
		t.Run("not "+tt.name, func(t *testing.T) {
			if a, b := lite.Parse(tt.a).Template(), lite.Parse(tt.b).Template(); a == b {
				t.Errorf("%s: both are %s", tt.why, a)
			}
		})
	}
}
