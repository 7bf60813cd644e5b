package sqltext_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/sqltext"
)

func ExampleDialect_Check() {
	stmt, err := sqltext.SQLite().Check("SELECT name FROM singer; -- all of them")
	fmt.Printf("%q %v\n", stmt.SQL(), err)

	_, err = sqltext.SQLite().Check("WITH x AS (SELECT 1) DELETE FROM singer")
	fmt.Println(err)
	// Output:
	// "SELECT name FROM singer" <nil>
	// sqltext: refused: not-read-only: WITH leads to DELETE
}

// Where a comment ends decides whether the second statement is live.
func ExampleDialect_Check_dialects() {
	text := "SELECT 1 /* /* */ ; DROP TABLE t -- */"
	_, err := sqltext.SQLite().Check(text)
	fmt.Println(err)
	_, err = sqltext.PostgreSQL().Check(text)
	fmt.Println(err)
	// Output:
	// sqltext: refused: several-statements: one statement only: remove what follows the first semicolon
	// <nil>
}

func ExampleDialect_Tokens() {
	for t := range sqltext.MySQL().Tokens("SELECT `a b` # x") {
		if t.Kind != sqltext.Space {
			fmt.Printf("%d %v %s\n", t.Pos, t.Kind, t.Text)
		}
	}
	// Output:
	// 0 word SELECT
	// 7 quoted name `a b`
	// 13 comment # x
}

func ExampleDialect_Split() {
	fmt.Printf("%q\n", sqltext.SQLite().Split("SELECT ';'; -- first\nSELECT 2;"))
	// Output: ["SELECT ';'" "SELECT 2"]
}

func ExampleStatement_Normalize() {
	fmt.Println(sqltext.SQLite().Parse("SELECT  Name FROM \"Singer\"\nWHERE Country != 'France'; -- c").Normalize())
	// Output: select name from singer where country <> 'France'
}

func ExampleStatement_Template() {
	d := sqltext.SQLite()
	a := d.Parse("SELECT s.name FROM singer AS s WHERE s.age > 30").Template()
	b := d.Parse("select T1.Name from Singer T1 where T1.age > 25;").Template()
	c := d.Parse("SELECT T1.name FROM singer AS T1 WHERE T1.age > 25").Template()
	fmt.Println(a)
	fmt.Println(a == b, a == c)
	// Output:
	// select name from singer where age > ?
	// true true
}

func ExampleStatement_Tables() {
	for _, t := range sqltext.SQLite().Parse(
		"WITH x AS (SELECT 1 FROM main.album) SELECT s.name FROM singer AS s, x").Tables() {
		fmt.Printf("%q %q %q base: %v\n", t.Schema, t.Name, t.Alias, t.Base())
	}
	// Output:
	// "main" "album" "" base: true
	// "" "singer" "s" base: true
	// "" "x" "" base: false
}

func ExampleStatement_Columns() {
	for _, c := range sqltext.SQLite().Parse("SELECT s.name FROM singer AS s JOIN album a ON s.id = a.singer " +
		"WHERE year > 2000").Columns() {
		fmt.Printf("%q of %q\n", c.Column, c.Table)
	}
	// Output:
	// "name" of "singer"
	// "id" of "singer"
	// "singer" of "album"
	// "year" of ""
}

func ExampleStatement_Literals() {
	for _, l := range sqltext.SQLite().Parse(
		"SELECT name FROM singer WHERE country = 'Côte d''Ivoire' AND age > -1").Literals() {
		fmt.Println(l.Kind, l.Value)
	}
	// Output:
	// string Côte d'Ivoire
	// number -1
}

func ExampleStatement_Comparisons() {
	sql := "SELECT 1 FROM singer AS s JOIN album a ON s.id = a.singer WHERE s.country IN ('France', 'Spain') " +
		"AND 2000 <= a.year"
	for _, c := range sqltext.SQLite().Parse(sql).Comparisons() {
		fmt.Print(c.Table, ".", c.Column, " ", c.Op)
		for _, l := range c.Literals {
			fmt.Print(" ", l.Value)
		}
		fmt.Println()
	}
	// Output:
	// singer.country IN France Spain
	// album.year >= 2000
}

func ExampleStatement_Outline() {
	o := sqltext.SQLite().Parse("SELECT country, count(*) FROM singer GROUP BY country ORDER BY 2 DESC LIMIT 1").Outline()
	fmt.Println(len(o.Items), o.Items[0].Column, o.Aggregates, o.GroupBy, o.OrderBy, o.Limit)
	// Output: 2 country [COUNT] [country] [2 DESC] true
}

func ExampleStatement_Expand() {
	sql := "WITH c0 AS (SELECT 1 AS a)"
	for i := range 20 {
		sql += fmt.Sprintf(", c%d AS (SELECT x.a FROM c%d x, c%d y)", i+1, i, i)
	}
	x := sqltext.SQLite().Parse(sql + " SELECT a FROM c20").Expand(nil)
	fmt.Println(len(sql), "bytes become over", x.Added/1_000_000, "million tokens")
	// Output: 777 bytes become over 14 million tokens
}

func ExampleStatement_Hardness() {
	d := sqltext.SQLite()
	fmt.Println(d.Parse("SELECT name FROM singer").Hardness())
	fmt.Println(d.Parse("SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)").Hardness())
	// Output:
	// easy
	// hard
}

// How alike two statements are built, whatever they name.
func ExampleStatement_Alike() {
	d := sqltext.SQLite()
	draft := d.Parse("SELECT name FROM singer WHERE age > 30")
	fmt.Printf("%.2f\n", draft.Alike(d.Parse("SELECT title FROM album WHERE year > 1999")))
	// Output: 1.00
}

// Whether a quoted word is a name or a string, and what a comment is, depends on
// the engine.
func ExampleDialect() {
	ansi := sqltext.MySQL() // an engine in another mode is another value
	ansi.DoubleQuotedStrings = false
	for _, engine := range []struct {
		name  string
		rules sqltext.Dialect
	}{
		{"SQLite", sqltext.SQLite()}, {"PostgreSQL", sqltext.PostgreSQL()}, {"DuckDB", sqltext.DuckDB()},
		{"MySQL", sqltext.MySQL()}, {"MySQL with ANSI_QUOTES", ansi}, {"BigQuery", sqltext.BigQuery()},
	} {
		tokens := slices.Collect(engine.rules.Tokens(`SELECT "a" FROM t # x`))
		fmt.Printf("%s: %v, %v\n", engine.name, tokens[2].Kind, tokens[8].Kind)
	}
	// Output:
	// SQLite: quoted name, operator
	// PostgreSQL: quoted name, operator
	// DuckDB: quoted name, operator
	// MySQL: string, comment
	// MySQL with ANSI_QUOTES: quoted name, comment
	// BigQuery: string, comment
}

// The rule is a stable word to count and to decide by; Writes tells an attempt to
// write from a slip.
func ExampleRefusedError() {
	for _, text := range []string{"SELECT name FROM singer WHERE id = ?", "SELECT 1; DELETE FROM singer"} {
		_, err := sqltext.SQLite().Check(text)
		var refused *sqltext.RefusedError
		if errors.As(err, &refused) {
			fmt.Println(refused.Reason, "writes:", refused.Writes)
		}
	}
	// Output:
	// placeholder writes: false
	// several-statements writes: true
}

// Each SELECT of a statement with its clauses, subqueries too.
func ExampleStatement_Selects() {
	s := sqltext.SQLite().Parse("SELECT name FROM singer WHERE id IN (SELECT singer FROM song) ORDER BY age DESC LIMIT 3")
	for _, one := range s.Selects() {
		fmt.Printf("%v %s, order %q, %q\n", one.Nested, one.From, one.OrderBy, one.Limit)
	}
	// Output:
	// false singer, order ["age DESC"], "LIMIT 3"
	// true song, order [], ""
}
