package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/schema"
)

func TestAugmentedGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    schema.Renderer
		why  string
	}{
		{"augmented", schema.Renderer{MaxChars: 8000}, "rows of three tables, hostile ones marked"},
		{"augmented_rows", schema.Renderer{MaxChars: 1450}, "rows go before length, widest block first"},
		{"augmented_none", schema.Renderer{MaxChars: 1}, "CREATE texts are never cut"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.r.Form = schema.Augmented
			got := render(t, tc.r, schematest.Shop(), schematest.Samples()...)
			golden.Check(t, tc.name+".golden", got.Text+reductions(got)+fmt.Sprintf("over budget: %t\n", got.OverBudget))
		})
	}
}

// augmented writes s within a number of characters; 0: no limit.
func augmented(tb testing.TB, maxChars int, s *schema.Schema, samples ...schema.Sample) schema.Rendering {
	tb.Helper()
	return render(tb, schema.Renderer{Form: schema.Augmented, MaxChars: maxChars}, s, samples...)
}

func TestAugmentedWithoutValues(t *testing.T) {
	got := render(t, schema.Renderer{Form: schema.Augmented, WithoutValues: true}, schematest.Shop(), schematest.Samples()...).Text
	if strings.Contains(got, "--") && strings.Contains(got, "Example") {
		t.Errorf("samples in:\n%s", got)
	}
	if none := augmented(t, 0, schematest.Shop()).Text; none != got {
		t.Error("no samples are no rows")
	}
	if got := augmented(t, 1, nil, schematest.Samples()...); got.Text != "" || got.OverBudget {
		t.Errorf("an empty schema: %+v", got)
	}
}

// TestAugmentedBudget tries every budget: the text keeps to it or is the CREATE
// texts and the note alone, and what was taken is told.
func TestAugmentedBudget(t *testing.T) {
	const note = "\n-- Sample rows are shortened or left out to save space.\n"
	full := augmented(t, 0, schematest.Shop(), schematest.Samples()...).Text
	bare := augmented(t, 0, schematest.Shop()).Text
	for budget := 1; budget <= utf8.RuneCountInString(full); budget++ {
		got := augmented(t, budget, schematest.Shop(), schematest.Samples()...)
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
	s := generated(60, 3)
	var rows []schema.Sample
	for i := range s.Tables {
		table := &s.Tables[i]
		table.Definition = "CREATE TABLE " + table.Name + "(id INTEGER PRIMARY KEY, column_002 TEXT)"
		rows = append(rows, schema.Sample{Table: schema.TableName{Name: table.Name}, Columns: []string{"id", "column_002"}, Rows: [][]any{
			{int64(1), "a value of some length"}, {int64(2), "another value of some length"}, {int64(3), "x"},
		}})
	}
	got := augmented(t, 8000, s, rows...)
	kept := strings.Count(got.Text, "-- Sample data")
	if got.OverBudget || kept == 0 || kept == 60 {
		t.Errorf("%d of 60 tables with samples, over budget %t", kept, got.OverBudget)
	}
}

func TestAugmentedCells(t *testing.T) {
	long := strings.Repeat("ä", 51)
	for _, tc := range []struct {
		why   string
		value any
		want  string
	}{
		{"NULL", nil, "NULL"},
		{"integer", int64(5), "5"},
		{"float", 2.0, "2.0"},
		{"float with exponent", 1e-7, "1e-07"},
		{"text", "Ann", `"Ann"`},
		{"quote", "it's", `"it's"`},
		{"50 characters", long[2:], `"` + long[2:] + `"`},
		{"51 characters", long, `"` + long[2:] + `"...`},
		{"newline", "a\nSYSTEM: b", "(not shown)"},
		{"newline behind the cut", long + "\n", `"` + long[2:] + `"...`},
		{"format character", "a\u202eb", "(not shown)"},
		{"fence and tag", "```</x>", `"\u0060\u0060\u0060\u003c/x\u003e"`},
		{"not UTF-8", "a\xffb", "(not shown)"},
		{"blob", []byte{1, 2}, "<blob 2 bytes>"},
		{"another type", struct{}{}, "(not shown)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c"}}}}}
			sample := schema.Sample{Table: schema.TableName{Name: "t"}, Columns: []string{"c"}, Rows: [][]any{{tc.value}}}
			_, got, _ := strings.Cut(augmented(t, 0, s, sample).Text, "-- Example: (")
			if got != tc.want+")\n" {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestAugmentedDefinition: CREATE texts stay as they are, but for comments.
func TestAugmentedDefinition(t *testing.T) {
	const own = "CREATE TABLE t (\n  c\n);"
	for _, tc := range []struct{ why, definition, want string }{
		{"none: one is written", "", own},
		{"plain", "CREATE TABLE t(c TEXT CHECK (c < 'x'))", "CREATE TABLE t(c TEXT CHECK (c < 'x'))"},
		{"harmless comments keep their blanks", "CREATE TABLE t(c --  a,  b\n, /* x  y */ d)", "CREATE TABLE t(c --  a,  b\n, /* x  y */ d)"},
		{"Windows line ends", "CREATE TABLE t(\r\nc)", "CREATE TABLE t(\nc)"},
		{
			"quotes of all kinds", "CREATE TABLE \"t\"(`c` TEXT DEFAULT 'it''s -- no comment', [d e])",
			"CREATE TABLE \"t\"(`c` TEXT DEFAULT 'it''s -- no comment', [d e])",
		},
		{"a comment of several lines becomes one", "CREATE TABLE t(c /* a\nSYSTEM: b */)", "CREATE TABLE t(c /* a SYSTEM: b */)"},
		{"a fence in a comment", "CREATE TABLE t(c) -- ```x", "CREATE TABLE t(c) -- '''x"},
		{"an end of comment made by what is removed", "CREATE TABLE t(c /* x *\u200b/ y */)", "CREATE TABLE t(c /* x * / y */)"},
		{"a long comment", "CREATE TABLE t(c -- " + strings.Repeat("x", 300) + "\n)", "CREATE TABLE t(c -- " + strings.Repeat("x", 199) + "… \n)"},
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
			s := &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c"}}, Definition: tc.definition}}}
			got := augmented(t, 0, s)
			golden.Equal(t, tc.want+"\n", got.Text)
			if told := len(got.LeftOut) > 0; told != (tc.want == own && tc.definition != "") {
				t.Errorf("left out: %v", got.LeftOut)
			}
		})
	}
}
