package sqltext_test

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// dialects are those a fuzz target runs over.
func dialects() []sqltext.Dialect {
	return []sqltext.Dialect{sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL(), sqltext.DuckDB(), sqltext.BigQuery(),
		sqltext.Trino()}
}

// seed gives a fuzz target the replies of the golden table and texts aimed at
// the differences between lexers.
func seed(f *testing.F) {
	replies := testutil.Value(os.ReadFile("../internal/replies/testdata/replies.jsonl"))(f)
	for line := range bytes.Lines(replies) {
		var c struct{ Reply string }
		testutil.OK(f, json.Unmarshal(line, &c))
		f.Add(c.Reply)
	}
	for _, s := range []string{
		"SELECT 1; DROP TABLE t", "SELECT 1 /* /* */ ; DROP TABLE t --*/", `SELECT '\'; DROP TABLE t --'`,
		"SELECT 1--1\n;SELECT 2", "SELECT 1 -- a\r;SELECT 2",
		"SELECT [a;b], `c;d`, \"e;f\", x'00', X'0", "SELECT E'a'\n'\\'';SELECT 2", "SELECT $a$ ; $a$;SELECT 2",
		"SELECT U&'\\0027';SELECT 2",
		"SELECT r'\\';SELECT 2'",
		"SELECT '''a;''';SELECT 2", "SELECT :a(;) , $b::c(;), #d, @e", "SELECT 1;\ufeff", "\ufeff\ufeffSELECT 1",
		"SELECT 1\x0b;SELECT 2", "SELECT 1 /*",
		"SELECT 1 /",
		"SELECT 1.e5,.5e-3,0x1g,1_0", "WITH a(b) AS (SELECT 1) DELETE FROM t",
		"SELECT CASE a WHEN 1 THEN CASE b WHEN 2 THEN 3 END END FROM t AS x(y)",
		"SELECT max(a, (SELECT 1)) FILTER (WHERE b) OVER (ORDER BY c) FROM f(a, (SELECT 1 FROM t)) AS x NATURAL JOIN (y " +
			"JOIN z USING (q))",
	} {
		f.Add(s)
	}
}

// Nothing is lost between tokens, whatever the text.
func FuzzTokens(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range dialects() {
			pos := 0
			for tok := range d.Tokens(text) {
				if tok.Pos != pos || tok.Text == "" || !strings.HasPrefix(text[pos:], tok.Text) {
					t.Fatalf("token %+v at %d of %q", tok, pos, text)
				}
				pos += len(tok.Text)
				d.Value(tok)
			}
			if pos != len(text) {
				t.Fatalf("tokens end at %d of %q", pos, text)
			}
		}
	})
}

// What Check returns is part of the text, is accepted again unchanged, and is
// one statement to Split. SQLite must take it for one, too: what it compiles
// first is all there is, and it finds no parameter in it.
func FuzzCheck(f *testing.F) {
	seed(f)
	conn := testutil.Value((&sqlite3.SQLiteDriver{}).Open(":memory:"))(f)
	f.Cleanup(func() { conn.Close() })
	for _, ddl := range []string{"CREATE TABLE t(a, b, c, d, e, x, y)", "CREATE TABLE u(a, b)"} {
		testutil.Value(conn.(driver.ExecerContext).ExecContext(f.Context(), ddl, nil))(f)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, d := range dialects() {
			statement, err := d.Check(text)
			stmt := statement.SQL()
			if err != nil {
				var refused *sqltext.RefusedError
				if !errors.As(err, &refused) || refused.Reason == "" || refused.Detail == "" || statement != nil {
					t.Fatalf("%q: %q, %v", text, stmt, err)
				}
				continue
			}
			if checked, parsed := slices.Collect(statement.Tokens()),
				slices.Collect(d.Parse(stmt).Tokens()); !slices.Equal(checked, parsed) {
				t.Fatalf("%q has the tokens %v when checked, %v alone", stmt, checked, parsed)
			}
			if !strings.Contains(text, stmt) || !utf8.ValidString(stmt) {
				t.Fatalf("%q became %q", text, stmt)
			}
			if again, err := d.Check(stmt); err != nil || again.SQL() != stmt {
				t.Fatalf("%q checked again is %q, %v", stmt, again.SQL(), err)
			}
			if parts := d.Split(stmt); len(parts) != 1 || parts[0] != stmt {
				t.Fatalf("%q splits into %q", stmt, parts)
			}
			if i == 0 {
				preparesAsOne(t, conn, stmt)
			}
		}
	})
}

// Texts glued from what lexers treat differently reach more of SQLite than
// random bytes do.
func TestCheckAgainstSQLite(t *testing.T) {
	pieces := []string{
		"SELECT", "1", " ", "\n", ";", ",", "'", "''", "'a'", "\"", "\"b\"", "`", "[", "]", "--", "-", "/*", "*/", "/", "*",
		"\\", "#", "$", "@", ":", "?", "(", ")",
		"x'00'", "x", "E'", "\r", "\v", "\f", "\ufeff", "\u00a0", "；", "\u037e", "AS", "UNION", "WITH", "DROP TABLE t",
		"VALUES(1)", "1e", ".", "0x", "_",
		"|", "<", "!", "=",
	}
	conn := testutil.Value((&sqlite3.SQLiteDriver{}).Open(":memory:"))(t)
	defer conn.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	d := sqltext.SQLite()
	compiled := 0
	for range 50_000 {
		text := "SELECT 1"
		for range rnd.IntN(8) {
			text += pieces[rnd.IntN(len(pieces))]
		}
		stmt, err := d.Check(text)
		if err != nil {
			continue
		}
		if preparesAsOne(t, conn, stmt.SQL()) {
			compiled++
		}
	}
	t.Logf("%d texts compile", compiled)
	if compiled < 5_000 {
		t.Error("too few to say much")
	}
}

// preparesAsOne fails if SQLite compiles only a part of stmt, or finds
// parameters in it. What it does not compile is no business of the text check.
func preparesAsOne(t *testing.T, conn driver.Conn, stmt string) (compiled bool) {
	prepared, err := conn.Prepare(stmt)
	if err != nil {
		return false
	}
	defer prepared.Close()
	if n := prepared.NumInput(); n != 0 {
		t.Fatalf("SQLite finds %d parameters in %q", n, stmt)
	}
	// The driver keeps what SQLite left uncompiled in a field of its own.
	rest := reflect.ValueOf(prepared).Elem().FieldByName("t")
	if rest.Kind() != reflect.String {
		t.Fatal("go-sqlite3 no longer keeps the rest of a text in SQLiteStmt.t: find another way to see it")
	}
	if rest.String() != "" {
		t.Fatalf("SQLite takes %q for more than one statement, the rest is %q", stmt, rest.String())
	}
	return true
}

// Every reading of a statement gives some answer for any text, and the normal
// form is one.
func FuzzReadings(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range dialects() {
			norm := d.Parse(text).Normalize()
			if _, err := d.Check(text); err == nil {
				if again := d.Parse(norm).Normalize(); again != norm {
					t.Fatalf("%q becomes %q, then %q", text, norm, again)
				}
			}
			d.Parse(text).Template()
			if x := d.Parse(text).Expand(nil); x.Added < 0 || x.Stores < 0 || x.Sorts < 0 {
				t.Fatalf("%q: %+v", text, x)
			}
			d.Parse(text).Tables()
			d.Parse(text).Columns()
			d.Parse(text).Comparisons()
			d.Parse(text).Hardness()
			for _, l := range d.Parse(text).Literals() {
				if !strings.HasPrefix(text[l.Pos:], l.Text[:1]) {
					t.Fatalf("literal %+v of %q", l, text)
				}
			}
			o := d.Parse(text).Outline()
			if sorts := d.Parse(text).Sorts(); sorts != (len(o.OrderBy) > 0) {
				t.Fatalf("%q sorts: %v, by its outline %q", text, sorts, o.OrderBy)
			}
		}
	})
}
