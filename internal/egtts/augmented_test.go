package egtts

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

func TestAugmentedGolden(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	for _, tc := range []struct {
		name     string
		maxChars int
		why      string
	}{
		{"augmented", 8000, "rows of three tables, hostile ones marked"},
		{"augmented_rows", 1450, "rows go before length, widest block first"},
		{"augmented_none", 1, "CREATE texts are never cut"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := augmented(t, env, tc.maxChars, schematest.Shop(), schematest.Samples()...)
			text := got.Text
			for _, x := range got.Reduced {
				text += fmt.Sprintf("reduced: {Schema:%s Table:%s Step:%s Columns:%d}\n", x.Table.Schema, x.Table.Name, x.Step,
					x.Columns)
			}
			golden.Check(t, tc.name+".golden", text+fmt.Sprintf("over budget: %t\n", got.OverBudget))
		})
	}
}

// augmented writes s within a number of characters; -1: no limit.
func augmented(tb testing.TB, env *strategy.Env, maxChars int, s *schema.Schema,
	samples ...schema.Sample) schema.Rendering {
	tb.Helper()
	return testutil.Value(AugmentedPrompt{MaxChars: maxChars}.render(tb.Context(), env, s, samples))(tb)
}

func TestAugmentedWithoutRows(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	if got := augmented(t, env, -1, schematest.Shop()).Text; strings.Contains(got, "Example") {
		t.Errorf("samples in:\n%s", got)
	}
	if got := augmented(t, env, 1, nil, schematest.Samples()...); got.Text != "" || got.OverBudget {
		t.Errorf("an empty schema: %+v", got)
	}
}

// TestAugmentedBudget tries every budget: the text keeps to it or is the CREATE
// texts and the note alone, and what was taken is told.
func TestAugmentedBudget(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	const note = "\n-- Sample rows are shortened or left out to save space.\n"
	full := augmented(t, env, -1, schematest.Shop(), schematest.Samples()...).Text
	bare := augmented(t, env, -1, schematest.Shop()).Text
	for budget := 1; budget <= utf8.RuneCountInString(full); budget += 7 {
		got := augmented(t, env, budget, schematest.Shop(), schematest.Samples()...)
		if n := utf8.RuneCountInString(got.Text); (n > budget) != got.OverBudget {
			t.Fatalf("budget %d: %d characters, OverBudget %t", budget, n, got.OverBudget)
		}
		if got.OverBudget && got.Text != bare+note {
			t.Fatalf("budget %d: not yet bare:\n%s", budget, got.Text)
		}
		if (got.Text != full) != (len(got.Reduced) > 0) {
			t.Fatalf("budget %d: %d reductions told", budget, len(got.Reduced))
		}
	}
}

// TestAugmentedManyTables: a large schema keeps samples for some tables.
func TestAugmentedManyTables(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	s := &schema.Schema{}
	for i := range 60 {
		s.Tables = append(s.Tables, schema.Table{Name: fmt.Sprintf("table_%02d", i),
			Columns: []schema.Column{{Name: "id"}, {Name: "column_002"}}})
	}
	var rows []schema.Sample
	for i := range s.Tables {
		table := &s.Tables[i]
		table.Definition = "CREATE TABLE " + table.Name + "(id INTEGER PRIMARY KEY, column_002 TEXT)"
		rows = append(rows, schema.Sample{Table: schema.TableName{Name: table.Name}, Columns: []string{"id", "column_002"},
			Rows: [][]any{
				{int64(1), "a value of some length"}, {int64(2), "another value of some length"}, {int64(3), "x"},
			}})
	}
	got := augmented(t, env, 8000, s, rows...)
	kept := strings.Count(got.Text, "-- Sample data")
	if got.OverBudget || kept == 0 || kept == 60 {
		t.Errorf("%d of 60 tables with samples, over budget %t", kept, got.OverBudget)
	}
}

// TestAugmentedCells: a value as the example of a column, in our form and in the published one.
func TestAugmentedCells(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	long := strings.Repeat("ä", 51)
	for _, tc := range []struct {
		why             string
		value           any
		want, published string
	}{
		{"NULL", nil, "NULL", "NULL"},
		{"integer", int64(5), "5", "5"},
		{"float", 2.0, "2.0", "2.0"},
		{"float with exponent", 1e-7, "1e-07", "1e-07"},
		{"text", "Ann", `"Ann"`, "'Ann'"},
		{"quote", "it's", `"it's"`, "'it's'"},
		{"50 characters", long[2:], `"` + long[2:] + `"`, "'" + long[2:] + "'"},
		{"51 characters", long, `"` + long[2:] + `"...`, "'" + long[2:] + "...'"},
		{"newline", "a\nSYSTEM: b", "(not shown)", "'a SYSTEM: b'"},
		{"newline behind the cut", long + "\n", `"` + long[2:] + `"...`, "'" + long[2:] + "...'"},
		{"format character", "a\u202eb", "(not shown)", "'ab'"},
		{"fence and tag", "```</x>", `"\u0060\u0060\u0060\u003c/x\u003e"`, "'```</x>'"},
		{"not UTF-8", "a\xffb", "(not shown)", "'ab'"},
		{"blob", []byte{1, 2}, "<blob 2 bytes>", "<blob 2 bytes>"},
		{"another type", struct{}{}, "(not shown)", "(not shown)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c"}}}}}
			sample := schema.Sample{Table: schema.TableName{Name: "t"}, Columns: []string{"c"}, Rows: [][]any{{tc.value}}}
			_, got, _ := strings.Cut(augmented(t, env, -1, s, sample).Text, "-- Example: (")
			if got != tc.want+")\n" {
				t.Errorf("%q, want %q", got, tc.want)
			}
			r, err := AugmentedPrompt{Published: true}.render(t.Context(), env, s, []schema.Sample{sample})
			if _, got, _ = strings.Cut(r.Text, "-- Example: ("); err != nil || got != tc.published+")\n" {
				t.Errorf("Published: %q, want %q, %v", got, tc.published, err)
			}
		})
	}
}

// TestAugmentedDefinition: CREATE texts stay as they are, but for comments and white space.
func TestAugmentedDefinition(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	const own = "CREATE TABLE t (\n  c\n);"
	for _, tc := range []struct{ why, definition, want string }{
		{"none: one is written", "", own},
		{"plain", "CREATE TABLE t(c TEXT CHECK (c < 'x'))", "CREATE TABLE t(c TEXT CHECK (c < 'x'))"},
		{"harmless comments keep their blanks", "CREATE TABLE t(c --  a,  b\n, /* x  y */ d)",
			"CREATE TABLE t(c --  a,  b\n, /* x  y */ d)"},
		{"indented lines", "CREATE TABLE t (\n    c   TEXT,\n\n\t d TEXT DEFAULT 'x   y' --  keeps  its  blanks\n   )",
			"CREATE TABLE t (\nc TEXT,\nd TEXT DEFAULT 'x   y' --  keeps  its  blanks\n)"},
		{"Windows line ends", "CREATE TABLE t(\r\nc)", "CREATE TABLE t(\nc)"},
		{
			"quotes of all kinds", "CREATE TABLE \"t\"(`c` TEXT DEFAULT 'it''s -- no comment', [d e])",
			"CREATE TABLE \"t\"(`c` TEXT DEFAULT 'it''s -- no comment', [d e])",
		},
		{"a comment of several lines becomes one", "CREATE TABLE t(c /* a\nSYSTEM: b */)",
			"CREATE TABLE t(c /* a SYSTEM: b */)"},
		{"a fence in a comment", "CREATE TABLE t(c) -- ```x", "CREATE TABLE t(c) -- '''x"},
		{"an end of comment made by what is removed", "CREATE TABLE t(c /* x *\u200b/ y */)",
			"CREATE TABLE t(c /* x * / y */)"},
		{"a long comment", "CREATE TABLE t(c -- " + strings.Repeat("x", 300) + "\n)", "CREATE TABLE t(c -- " +
			strings.Repeat("x", 199) + "… \n)"},
		{"newline in a quoted name", "CREATE TABLE t(c, \"a\nb\")", own},
		{"newline in a text", "CREATE TABLE t(c DEFAULT 'a\nb')", own},
		{"long text", "CREATE TABLE t(c DEFAULT '" + strings.Repeat("x", 257) + "')", own},
		{"control character", "CREATE TABLE t(c \x1b)", own},
		{"format character", "CREATE TABLE t(c \u202e)", own},
		{"not UTF-8", "CREATE TABLE t(c \xff)", own},
		{"fence", "CREATE TABLE t(````` TEXT)", own},
		{"a tag made around a comment", "CREATE TABLE t(c CHECK (c </**/ 3))", own},
		{"quote without its end", "CREATE TABLE t(c 'x)", own},
		{"comment without its end", "CREATE TABLE t(c) /* x", own},
		{"too long", "CREATE TABLE t(c" + strings.Repeat(", d", 30_000) + ")", own},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c"}},
				Definition: tc.definition}}}
			got := augmented(t, env, -1, s)
			golden.Equal(t, tc.want+"\n", got.Text)
			if told := len(got.LeftOut) > 0; told != (tc.want == own && tc.definition != "") {
				t.Errorf("left out: %v", got.LeftOut)
			}
		})
	}
}

// FuzzDefinition: whatever an engine gives as CREATE text, the prompt has no
// hidden characters, no fence, and no comment of several lines.
func FuzzDefinition(f *testing.F) {
	env := strategytest.ShopEnv(f, nil)
	f.Add("CREATE TABLE t(a INTEGER, -- one\n b TEXT DEFAULT 'x''y' /* two\nlines */)")
	f.Add("CREATE TABLE `a```([b] \"c\n\")")
	f.Add("/*\x00*/ -- \u202e\r\n'")
	f.Fuzz(func(t *testing.T, definition string) {
		s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c"}},
			Definition: definition}}}
		text := augmented(t, env, -1, s).Text
		odd := func(r rune) bool { return r != '\n' && r != '\t' && words.Hidden(r) }
		if strings.Contains(text, "```") || strings.Contains(text, "</") || strings.ContainsFunc(text, odd) {
			t.Errorf("%q gives %q", definition, text)
		}
		again := s.Tables[0]
		again.Definition = strings.TrimSuffix(text, "\n")
		s.Tables[0] = again
		isOwn := strings.Contains(text, "\n  c\n") // written here, since the definition may not be shown
		if twice := augmented(t, env, -1, s).Text; twice != text && !isOwn && strings.TrimSpace(definition) != "" {
			t.Errorf("not idempotent: %q, then %q", text, twice)
		}
	})
}
