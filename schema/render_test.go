package schema_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/schematest"
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
		{"mschema_bare", schema.Renderer{Form: schema.MSchema, WithoutValues: true, WithoutExpertText: true,
			WithoutModelText: true}, "nothing but structure"},
		{"mschema_900", schema.Renderer{Form: schema.MSchema, MaxChars: 900}, "examples, then notes"},
		{"mysql", schema.Renderer{Form: schema.Code, Names: backticks{}}, "quotes of another dialect"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := render(t, tc.r, schematest.Shop())
			golden.Check(t, tc.name+".golden", got.Text+reductions(got))
			if got.Tokens != prompttext.EstimateTokens(got.Text) {
				t.Errorf("Tokens = %d, want %d", got.Tokens, prompttext.EstimateTokens(got.Text))
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
			full := render(t, schema.Renderer{Form: form}, schematest.Shop())
			length := utf8.RuneCountInString(full.Text)
			last := 0
			for budget := 1; budget <= length+1; budget++ {
				got := render(t, schema.Renderer{Form: form, MaxChars: budget}, schematest.Shop())
				n := utf8.RuneCountInString(got.Text)
				if (n > budget) != got.OverBudget {
					t.Fatalf("budget %d: %d characters, OverBudget %t", budget, n, got.OverBudget)
				}
				if (got.Text != full.Text) != (len(got.Reduced) > 0) {
					t.Fatalf("budget %d: %d reductions reported", budget, len(got.Reduced))
				}
				for _, table := range schematest.Shop().Tables {
					if !strings.Contains(got.Text, prompttext.QuoteName(table.Name)) {
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
			tokens := render(t, schema.Renderer{Form: form, MaxTokens: full.Tokens - 1}, schematest.Shop())
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
		got := render(t, schema.Renderer{Form: form, MaxTokens: 4000}, s)
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
			if r.Step != "fewer_columns" || r.Columns == 0 {
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
		{Name: "a", Columns: []schema.Column{{Name: "x", Type: "TEXT", Profile: schematest.Profile("one", "two")}}},
		{Name: "b", Columns: []schema.Column{{Name: "x", Type: "TEXT", Profile: schematest.Profile("a longer one",
			"a longer two")}}},
		{Name: "c", Columns: []schema.Column{{Name: "x", Type: "TEXT"}}},
	}}
	full := render(t, schema.Renderer{}, s)
	got := render(t, schema.Renderer{MaxChars: utf8.RuneCountInString(full.Text) - 1}, s)
	want := []schema.Reduction{{Table: schema.TableName{Name: "b"}, Step: "fewer_examples", OnlyValues: true}}
	golden.Equal(t, want, got.Reduced, "the table that saves most goes first, and no other")
}

func TestRendererEmpty(t *testing.T) {
	for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
		for _, s := range []*schema.Schema{nil, {}} {
			if got := render(t, schema.Renderer{Form: form, MaxChars: 1}, s); got.Text != "" || got.OverBudget ||
				got.Reduced != nil {
				t.Errorf("%v of an empty schema: %+v", form, got)
			}
		}
	}
	bare := &schema.Schema{Tables: []schema.Table{{Name: "t"}}}
	for form, want := range map[schema.Form]string{schema.DDL: "CREATE TABLE t;\n", schema.Code: "t\n",
		schema.MSchema: "【Schema】\n# Table: t\n[\n]\n"} {
		if got := render(t, schema.Renderer{Form: form}, bare).Text; got != want {
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
		{"three by default", schema.Renderer{}, schematest.Profile(many...), "0, 1, 2"},
		{"as many as asked for", schema.Renderer{Examples: 5}, schematest.Profile(many...), "0, 1, 2, 3, 4"},
		{"at most fifteen", schema.Renderer{Examples: 99}, schematest.Profile(many...),
			"0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14"},
		{"negative: none", schema.Renderer{Examples: -1}, schematest.Profile(many...), ""},
		{"switched off", schema.Renderer{WithoutValues: true, Examples: 5}, schematest.Profile(many...), ""},
		{"what cannot be shown gives way to the next", schema.Renderer{Examples: 2},
			schematest.Profile("a\nb", []byte("x"), "c", nil, "d"), `"c", "d"`},
		{"too long for a prompt", schema.Renderer{}, schematest.Profile(strings.Repeat("a", 65), strings.Repeat("b", 64)),
			`"` + strings.Repeat("b", 64) + `"`},
		{"each once", schema.Renderer{}, schematest.Profile("a", "a", "b"), `"a", "b"`},
		{
			"frequent values where there are no examples", schema.Renderer{},
			&schema.Profile{Top: []schema.Value{{Value: "x", Count: 9}, {Value: "y", Count: 1}}}, `"x", "y"`,
		},
		{"no profile", schema.Renderer{}, nil, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			want := "CREATE TABLE t (\n  c\n);\n"
			if tc.want != "" {
				want = "CREATE TABLE t (\n  c -- e.g. " + tc.want + "\n);\n"
			}
			golden.Equal(t, want, render(t, tc.r, one(tc.p)).Text)
		})
	}
}

// generated is a schema of n tables with that many columns each; every table but
// the first refers to the one before.
func generated(n, columns int) *schema.Schema {
	s := &schema.Schema{Dialect: "sqlite"}
	for i := range n {
		t := schema.Table{
			Name: fmt.Sprintf("table_%04d", i), Kind: "table", Description: fmt.Sprintf("the table number %d", i),
			Columns:    []schema.Column{{Name: "id", Type: "INTEGER"}},
			PrimaryKey: []string{"id"},
		}
		for j := 2; j < columns; j++ {
			t.Columns = append(t.Columns, schema.Column{
				Name: fmt.Sprintf("column_%03d", j), Type: "TEXT", Description: "what the column means",
				Profile: schematest.Profile("first", "second", "third"),
			})
		}
		t.Columns = append(t.Columns, schema.Column{Name: "parent_id", Type: "INTEGER"})
		if i > 0 {
			t.ForeignKeys = []schema.ForeignKey{{Columns: []string{"parent_id"}, RefTable: s.Tables[i-1].Name,
				RefColumns: []string{"id"}}}
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// TestRendererWidths: how many columns fit is computed from what each of them takes.
// For every budget the computed length is that of the text, and a larger budget never
// shows fewer columns.
func TestRendererWidths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		s := &schema.Schema{}
		for i := range 1 + random.IntN(4) {
			table := schema.Table{Name: fmt.Sprint("t", i)}
			for j := range random.IntN(14) {
				name := strings.Repeat([]string{"a", "é", "x "}[random.IntN(3)], 1+random.IntN(12))
				table.Columns = append(table.Columns, schema.Column{
					Name: fmt.Sprint(name, j), Type: []string{"", "TEXT"}[random.IntN(2)], NotNull: random.IntN(2) == 0,
				})
			}
			if n := len(table.Columns); n > 0 && random.IntN(2) == 0 {
				table.PrimaryKey = []string{table.Columns[random.IntN(n)].Name}
			}
			s.Tables = append(s.Tables, table)
		}
		for _, form := range []schema.Form{schema.DDL, schema.Code, schema.MSchema} {
			last := math.MaxInt
			for tokens := 1; tokens <= render(t, schema.Renderer{Form: form}, s).Tokens; tokens++ {
				got := render(t, schema.Renderer{Form: form, MaxTokens: tokens}, s)
				if (got.Tokens > tokens) != got.OverBudget {
					t.Fatalf("%v: %d tokens in a budget of %d, OverBudget %t\n%s", form, got.Tokens, tokens, got.OverBudget, got.Text)
				}
				missing := 0
				for _, r := range got.Reduced {
					missing += r.Columns
				}
				if missing > last {
					t.Fatalf("%v: %d columns missing with %d tokens, %d with one less\n%s", form, missing, tokens, last, got.Text)
				}
				last = missing
			}
		}
	}
}

// TestRendererText: what persons wrote and what a model wrote are told apart.
func TestRendererText(t *testing.T) {
	described, unknown := (&schema.Schema{Tables: []schema.Table{{Name: "hero", Kind: "table", Columns: []schema.Column{
		{Name: "both"}, {Name: "expert"}, {Name: "model"}, {Name: "neither"},
	}}}}).Describe(schema.Descriptions{
		"hero":        {Text: "one hero a row"},
		"hero.both":   {Text: "a person's word", Values: "1 good", Described: "a guess"},
		"hero.expert": {Title: "Title alone"},
		"hero.model":  {Described: " a model's ``` word "},
	})
	if len(unknown) > 0 {
		t.Fatal(unknown)
	}
	for _, tc := range []struct {
		r         schema.Renderer
		want, why string
	}{
		{schema.Renderer{}, "hero(both, expert, model, neither) -- one hero a row; both: a person's word, 1 good; expert: " +
			"Title alone; model: a model's ''' word\n",
			"a person's word wins, a model's fills the gaps, cleaned"},
		{schema.Renderer{WithoutExpertText: true, WithoutModelText: true}, "hero(both, expert, model, neither)\n",
			"names alone"},
		{schema.Renderer{WithoutModelText: true},
			"hero(both, expert, model, neither) -- one hero a row; both: a person's word, 1 good; expert: Title alone\n",
			"no word of a model"},
		{schema.Renderer{WithoutExpertText: true},
			"hero(both, expert, model, neither) -- both: a guess; model: a model's ''' word\n",
			"no word of a person, tables and values included"},
	} {
		tc.r.Form = schema.Code
		got := render(t, tc.r, described)
		golden.Equal(t, tc.want, got.Text, tc.why)
	}
}
