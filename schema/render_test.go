package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
)

func TestRendererGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    schema.Renderer
		why  string
	}{
		{"ddl", schema.Renderer{}, "the zero Renderer shows all"},
		{"ddl_1200", schema.Renderer{MaxChars: 1200}, "examples and notes go first"},
		{"ddl_600", schema.Renderer{MaxChars: 600}, "columns go last, and the text says so"},
		{"code", schema.Renderer{Form: schema.Code}, "a line a table"},
		{"code_tokens", schema.Renderer{Form: schema.Code, MaxTokens: 110}, "no table is dropped"},
		{"mschema", schema.Renderer{Form: schema.MSchema}, "tuples, then foreign keys"},
		{"mschema_bare", schema.Renderer{Form: schema.MSchema, WithoutValues: true, WithoutDescriptions: true}, "nothing but structure"},
		{"mschema_900", schema.Renderer{Form: schema.MSchema, MaxChars: 900}, "examples, then notes"},
		{"mysql", schema.Renderer{Form: schema.Code, Quote: func(n string) string { return "`" + n + "`" }}, "quotes of another dialect"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.r.Render(shop())
			text := got.Text
			for _, r := range got.Reduced {
				text += fmt.Sprintf("reduced: %+v\n", r)
			}
			golden.Check(t, tc.name+".golden", text)
			if got.Tokens != schema.EstimateTokens(got.Text) {
				t.Errorf("Tokens = %d, want %d", got.Tokens, schema.EstimateTokens(got.Text))
			}
			if len(got.LeftOut) > 0 {
				t.Errorf("LeftOut = %v", got.LeftOut)
			}
		})
	}
}

// TestRendererBudget tries every budget: the text keeps to it or says that it
// cannot, names every table, and reports each table that shows less.
func TestRendererBudget(t *testing.T) {
	for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
		t.Run(form.String(), func(t *testing.T) {
			full := schema.Renderer{Form: form}.Render(shop())
			length := utf8.RuneCountInString(full.Text)
			last := 0
			for budget := 1; budget <= length+1; budget++ {
				got := schema.Renderer{Form: form, MaxChars: budget}.Render(shop())
				n := utf8.RuneCountInString(got.Text)
				if (n > budget) != got.OverBudget {
					t.Fatalf("budget %d: %d characters, OverBudget %t", budget, n, got.OverBudget)
				}
				if (got.Text != full.Text) != (len(got.Reduced) > 0) {
					t.Fatalf("budget %d: %d reductions reported", budget, len(got.Reduced))
				}
				for _, table := range shop().Tables {
					if !strings.Contains(got.Text, schema.QuoteName(table.Name)) {
						t.Fatalf("budget %d: table %s is gone", budget, table.Name)
					}
				}
				if !got.OverBudget {
					last = max(last, n)
				}
			}
			if last != length {
				t.Errorf("longest text within a budget: %d, want the whole of %d", last, length)
			}
			tokens := schema.Renderer{Form: form, MaxTokens: full.Tokens - 1}.Render(shop())
			if tokens.Tokens >= full.Tokens || tokens.OverBudget {
				t.Errorf("MaxTokens %d: %d tokens", full.Tokens-1, tokens.Tokens)
			}
		})
	}
}

// TestRendererWideTable holds three-phase-agent's demand: a table of 400 columns
// fits 4000 tokens with its keys, and the text says what is missing.
func TestRendererWideTable(t *testing.T) {
	s := generated(3, 400)
	for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
		got := schema.Renderer{Form: form, MaxTokens: 4000}.Render(s)
		if got.Tokens > 4000 || got.OverBudget {
			t.Errorf("%v: %d tokens", form, got.Tokens)
		}
		if got.Tokens < 3900 {
			t.Errorf("%v: %d tokens, so more columns could be shown", form, got.Tokens)
		}
		if !strings.Contains(got.Text, " more") {
			t.Errorf("%v: no word on missing columns", form)
		}
		for _, r := range got.Reduced {
			if r.Step != schema.FewerColumns || r.Columns == 0 {
				t.Errorf("%v: %+v", form, r)
			}
		}
		if !strings.Contains(got.Text, "parent_id") {
			t.Errorf("%v: the foreign key is gone", form)
		}
	}
}

func TestRendererReduced(t *testing.T) {
	s := &schema.Schema{Tables: []schema.Table{
		{Name: "a", Columns: []schema.Column{{Name: "x", Type: "TEXT", Profile: profile("one", "two")}}},
		{Name: "b", Columns: []schema.Column{{Name: "x", Type: "TEXT", Profile: profile("a longer one", "a longer two")}}},
		{Name: "c", Columns: []schema.Column{{Name: "x", Type: "TEXT"}}},
	}}
	full := schema.Renderer{}.Render(s)
	got := schema.Renderer{MaxChars: utf8.RuneCountInString(full.Text) - 1}.Render(s)
	want := []schema.Reduction{{Table: "b", Step: schema.FewerExamples}}
	if diff := cmp.Diff(want, got.Reduced); diff != "" {
		t.Errorf("the table that saves most goes first, and no other (-want +got):\n%s", diff)
	}
}

func TestRendererEmpty(t *testing.T) {
	for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
		for _, s := range []*schema.Schema{nil, {}} {
			if got := (schema.Renderer{Form: form, MaxChars: 1}).Render(s); got.Text != "" || got.OverBudget || got.Reduced != nil {
				t.Errorf("%v of an empty schema: %+v", form, got)
			}
		}
	}
	bare := &schema.Schema{Tables: []schema.Table{{Name: "t"}}}
	for form, want := range map[schema.Form]string{schema.DDL: "CREATE TABLE t;\n", schema.Code: "t\n", schema.MSchema: "【Schema】\n# Table: t\n[\n]\n"} {
		if got := (schema.Renderer{Form: form}).Render(bare).Text; got != want {
			t.Errorf("%v of a table without columns: %q, want %q", form, got, want)
		}
	}
}

func TestRendererExamples(t *testing.T) {
	many := make([]any, 40)
	for i := range many {
		many[i] = int64(i)
	}
	one := func(p *schema.Profile) *schema.Schema {
		return &schema.Schema{Tables: []schema.Table{{Name: "t", Columns: []schema.Column{{Name: "c", Profile: p}}}}}
	}
	for _, tc := range []struct {
		why  string
		r    schema.Renderer
		p    *schema.Profile
		want string
	}{
		{"three by default", schema.Renderer{}, profile(many...), "0, 1, 2"},
		{"as many as asked for", schema.Renderer{Examples: 5}, profile(many...), "0, 1, 2, 3, 4"},
		{"at most fifteen", schema.Renderer{Examples: 99}, profile(many...), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14"},
		{"negative: none", schema.Renderer{Examples: -1}, profile(many...), ""},
		{"switched off", schema.Renderer{WithoutValues: true, Examples: 5}, profile(many...), ""},
		{"what cannot be shown gives way to the next", schema.Renderer{Examples: 2}, profile("a\nb", []byte("x"), "c", nil, "d"), `"c", "d"`},
		{"a lower limit on length", schema.Renderer{ValueRunes: 3}, profile("abcd", "abc"), `"abc"`},
		{"no higher limit on length", schema.Renderer{ValueRunes: 1000}, profile(strings.Repeat("a", 65)), ""},
		{"each once", schema.Renderer{}, profile("a", "a", "b"), `"a", "b"`},
		{"frequent values where there are no examples", schema.Renderer{}, &schema.Profile{Top: []schema.Value{{Value: "x", Count: 9}, {Value: "y", Count: 1}}}, `"x", "y"`},
		{"no profile", schema.Renderer{}, nil, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			want := "CREATE TABLE t (\n  c\n);\n"
			if tc.want != "" {
				want = "CREATE TABLE t (\n  c -- e.g. " + tc.want + "\n);\n"
			}
			if diff := cmp.Diff(want, tc.r.Render(one(tc.p)).Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// generated is a schema of n tables with that many columns each; every table but
// the first refers to the one before.
func generated(n, columns int) *schema.Schema {
	s := &schema.Schema{Dialect: "sqlite"}
	for i := range n {
		t := schema.Table{
			Name: fmt.Sprintf("table_%04d", i), Kind: schema.BaseTable, Description: fmt.Sprintf("the table number %d", i),
			Columns:    []schema.Column{{Name: "id", Type: "INTEGER"}},
			PrimaryKey: []string{"id"},
		}
		for j := 2; j < columns; j++ {
			t.Columns = append(t.Columns, schema.Column{
				Name: fmt.Sprintf("column_%03d", j), Type: "TEXT", Description: "what the column means",
				Profile: profile("first", "second", "third"),
			})
		}
		t.Columns = append(t.Columns, schema.Column{Name: "parent_id", Type: "INTEGER"})
		if i > 0 {
			t.ForeignKeys = []schema.ForeignKey{{Columns: []string{"parent_id"}, RefTable: s.Tables[i-1].Name, RefColumns: []string{"id"}}}
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

func BenchmarkRenderer(b *testing.B) {
	s := generated(1000, 20)
	for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
		for _, budget := range []int{0, 100_000} {
			b.Run(fmt.Sprintf("%v/tables=1000/tokens=%d", form, budget), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					schema.Renderer{Form: form, MaxTokens: budget}.Render(s)
				}
			})
		}
	}
}
