package sqltext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/sqltext"
)

// spell writes tokens as "kind text" without blanks, one a line.
func spell(tokens []sqltext.Token) string {
	var lines []string
	for _, t := range tokens {
		if t.Kind != sqltext.Space {
			lines = append(lines, t.Kind.String()+" "+t.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTokens(t *testing.T) {
	lite, pg, my, duck, big := sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL(), sqltext.DuckDB(),
		sqltext.BigQuery()
	tests := []struct {
		name, why string
		d         sqltext.Dialect
		sql       string
		want      []string
	}{
		{"names", "dollar and digits inside, any byte over 0x7F", lite, "a$1 _b 城市 x\u00a0y",
			[]string{"word a$1", "word _b", "word 城市", "word x\u00a0y"}},
		{
			"numbers", "every form", lite, "1 1.5 .5 1e5 1E-5 0xFF 1_000",
			[]string{"number 1", "number 1.5", "number .5", "number 1e5", "number 1E-5", "number 0xFF", "number 1_000"},
		},
		{"number with letters", "one token, so that it cannot hide another", my, "2020_sales 1abc",
			[]string{"word 2020_sales", "word 1abc"}},
		{"quoted names", "all four quotes of SQLite", lite, "\"a\"\"b\" `c``d` [e;f]",
			[]string{"quoted name \"a\"\"b\"", "quoted name `c``d`", "quoted name [e;f]"}},
		{"no backslash", "the string ends before the semicolon", lite, `'\'; x`,
			[]string{`string '\'`, "operator ;", "word x"}},
		{"backslash", "the quote is escaped", my, `'\'; x'`, []string{`string '\'; x'`}},
		{"backslash off", "NO_BACKSLASH_ESCAPES", sqltext.Dialect{PlainBrackets: true}, `'\'; x`,
			[]string{`string '\'`, "operator ;", "word x"}},
		{"double quotes", "a string in MySQL", my, `"a;\"b"`, []string{`string "a;\"b"`}},
		{"blob", "hexadecimal digits", lite, "x'00ff' X'zz'", []string{"blob x'00ff'", "blob X'zz'"}},
		{"line comment", "ends with the line", lite, "1 -- a ; b\n2", []string{"number 1", "comment -- a ; b", "number 2"}},
		{"line comment, carriage return", "no end of a line in SQLite", lite, "1 -- a\r;2",
			[]string{"number 1", "comment -- a\r;2"}},
		{"line comment, carriage return, PostgreSQL", "an end of a line there", pg, "1 -- a\r;2",
			[]string{"number 1", "comment -- a", "operator ;", "number 2"}},
		{"dashes", "a comment in SQLite", lite, "1--1", []string{"number 1", "comment --1"}},
		{"dashes, MySQL", "two minus signs without a blank", my, "1--1 -- 2", []string{"number 1", "operator -", "operator -",
			"number 1", "comment -- 2"}},
		{"hash", "a comment in MySQL", my, "1 # ;\n2", []string{"number 1", "comment # ;", "number 2"}},
		{"hash, SQLite", "a variable to its lexer", lite, "#x", []string{"placeholder #x"}},
		{"block comment", "does not nest in SQLite", lite, "/* /* */ ; */", []string{"comment /* /* */", "operator ;",
			"operator *", "operator /"}},
		{"nested comment", "nests in PostgreSQL", pg, "/* /* */ ; */ 1", []string{"comment /* /* */ ; */", "number 1"}},
		{"comment without end", "runs to the end", lite, "1 /* a", []string{"number 1", "unterminated /* a"}},
		{"slash star slash", "is not closed", lite, "/*/ 1", []string{"unterminated /*/ 1"}},
		{"string without end", "runs to the end", lite, "'a ; b", []string{"unterminated 'a ; b"}},
		{"escape string", "PostgreSQL's E", pg, `E'\'; x' 'y\'`, []string{`string E'\'; x'`, `string 'y\'`}},
		{"continued escape string", "the second part escapes, too", pg, "E'a'\n -- c\n '\\''; x",
			[]string{"string E'a'\n -- c\n '\\''", "operator ;", "word x"}},
		{"strings side by side", "no line end, no continuation", pg, `E'a' '\'; x`,
			[]string{"string E'a'", `string '\'`, "operator ;", "word x"}},
		{"dollar quotes", "with and without a tag", pg, "$$a;$$ $x$ $$ ; $x$",
			[]string{"string $$a;$$", "string $x$ $$ ; $x$"}},
		{"dollar in a name", "starts no quote", pg, "a$$b ; $$", []string{"word a$$b", "operator ;", "unterminated $$"}},
		{"dollar number", "a placeholder", pg, "$1 $$x$$", []string{"placeholder $1", "string $$x$$"}},
		{"unicode", "U& strings and names", pg, `U&'a''b' u&"c"`, []string{`string U&'a''b'`, `quoted name u&"c"`}},
		{"array", "brackets are punctuation", duck, "[1][1]", []string{"operator [", "number 1", "operator ]", "operator [",
			"number 1", "operator ]"}},
		{"raw string", "a backslash keeps the quote", big, `r'\'; x' 1`, []string{`string r'\'; x'`, "number 1"}},
		{"raw bytes", "two prefixes", big, `rb"a" BR'b' bx`, []string{`string rb"a"`, "string BR'b'", "word bx"}},
		{"triple quotes", "hold single ones", big, `'''it's; ''' """a""b"""`,
			[]string{"string '''it's; '''", `string """a""b"""`}},
		{"empty strings", "are not triple", big, `'' ""`, []string{"string ''", `string ""`}},
		{"placeholders", "SQLite's forms", lite, "? ?1 :a @b $c", []string{"placeholder ?", "placeholder ?1",
			"placeholder :a", "placeholder @b", "placeholder $c"}},
		{
			"no placeholders", "PostgreSQL's operators", pg, "a::text b ?| c @> d[1:2]",
			[]string{
				"word a", "operator ::", "word text", "word b", "operator ?|", "word c", "operator @>", "word d", "operator [",
				"number 1", "operator :",
				"number 2", "operator ]",
			},
		},
		{"variables", "carry state in MySQL", my, "@x @@y @`z`", []string{"placeholder @x", "placeholder @@y",
			"placeholder @", "quoted name `z`"}},
		{
			"operators", "the longest first", lite, "a->>b<>c||d!=e<=f",
			[]string{"word a", "operator ->>", "word b", "operator <>", "word c", "operator ||", "word d", "operator !=",
				"word e", "operator <=", "word f"},
		},
		{"Trino", "names and strings without a backslash, comments that do not nest", sqltext.Trino(),
			`"A""b" 'c\' U&'\00e9' d[1] /* /* */ ? -- e` + "\r; f",
			[]string{`quoted name "A""b"`, `string 'c\'`, `string U&'\00e9'`, "word d", "operator [", "number 1", "operator ]",
				"comment /* /* */", "placeholder ?",
				"comment -- e", "operator ;", "word f"},
		},
		{"full-width semicolon", "a name character, not a semicolon", lite, "1； 2\u037e",
			[]string{"word 1；", "word 2\u037e"}},
		{"other characters", "stand alone", lite, "\\ \x00 {", []string{"operator \\", "operator \x00", "operator {"}},
		{"empty", "no tokens", lite, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tokens := slices.Collect(tt.d.Tokens(tt.sql))
			golden.Equal(t, strings.Join(tt.want, "\n"), spell(tokens), tt.why)
			var joined strings.Builder
			for _, tok := range tokens {
				if tok.Pos != joined.Len() {
					t.Errorf("token %q is at %d, says %d", tok.Text, joined.Len(), tok.Pos)
				}
				joined.WriteString(tok.Text)
			}
			if joined.String() != tt.sql {
				t.Errorf("joined: %q, want %q", joined.String(), tt.sql)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name, why, sql string
		want           []string
	}{
		{"one", "no semicolon", " SELECT 1 ", []string{"SELECT 1"}},
		{"two", "a comment between", "SELECT 1; -- a\n SELECT ';' ; ", []string{"SELECT 1", "SELECT ';'"}},
		{"comments", "inner ones stay, outer ones go", "/* a */ SELECT /* b */ 1 -- c\n;", []string{"SELECT /* b */ 1"}},
		{"nothing", "no statement", ";; -- a\n;", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden.Equal(t, tt.want, sqltext.SQLite().Split(tt.sql), tt.why)
		})
	}
}

func TestValue(t *testing.T) {
	lite, pg, my, big := sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL(), sqltext.BigQuery()
	tests := []struct {
		name, why string
		d         sqltext.Dialect
		sql, want string
	}{
		{"string", "a doubled quote", lite, `'it''s'`, "it's"},
		{"backslash", "means itself in SQLite", lite, `'a\n'`, `a\n`},
		{"escapes", "of MySQL", my, `'a\n\'b\\\%\z'`, "a\n'b\\\\%z"},
		{"double-quoted", "a string in MySQL", my, `"a""b"`, `a"b`},
		{"escape string", "with code points", pg, `E'\x41\u00e9\'\q'`, "Aé'q"},
		{"continued", "its parts joined", pg, "E'a\\'' -- c\n 'b'", "a'b"},
		{"dollar", "as it stands", pg, `$x$a'\n$x$`, `a'\n`},
		{"unicode", "its escapes stay", pg, `U&'\0061'`, `\0061`},
		{"raw", "no escapes", big, `r'\d'`, `\d`},
		{"triple", "three quotes off", big, `"""a"b"""`, `a"b`},
		{"empty", "not triple", big, `''`, ""},
		{"double-quoted name", "a doubled quote", lite, `"a""b"`, `a"b`},
		{"bracket name", "nothing is doubled", lite, `[a"b]`, `a"b`},
		{"backtick name", "a doubled quote", lite, "`a``b`", "a`b"},
		{"unicode name", "its prefix off", pg, `U&"a"`, "a"},
		{"word", "as it is", lite, "abc", "abc"},
		{"short escape", "as it is", pg, `E'\x'`, "x"},
		{"no code point", "as it is", pg, `E'\U00110000'`, "U00110000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tokens := slices.Collect(tt.d.Tokens(tt.sql))
			if len(tokens) != 1 {
				t.Fatalf("%d tokens", len(tokens))
			}
			if got := tt.d.Value(tokens[0]); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
			}
		})
	}
}

func TestSplitList(t *testing.T) {
	for _, test := range []struct {
		why, list string
		want      []string
	}{
		{"one part", "integer", []string{"integer"}},
		{"brackets", "decimal(3,1), map(varchar, row(a integer, b date))",
			[]string{"decimal(3,1)", "map(varchar, row(a integer, b date))"}},
		{"quotes", `"a, (b" integer, c date`, []string{`"a, (b" integer`, "c date"}},
	} {
		if diff := cmp.Diff(test.want, sqltext.Trino().SplitList(test.list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
}
