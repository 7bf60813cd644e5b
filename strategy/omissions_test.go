package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/trace"
)

// cuts are the notes and the warnings about what a prompt does not show.
func cuts(t *testing.T, s strategy.Strategy, env *strategy.Env, reply string) (notes []string,
	warnings []trace.Warning) {
	t.Helper()
	ask := asking(env, &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(reply), Repeat: true}}})
	root := trace.Tracer{}.New("test")
	ask.Host.Omissions = &host.PromptCuts{}
	ctx := trace.NewContext(t.Context(), root)
	out, err := s.Generate(ctx, ask, strategy.Task{Question: "Anything?"})
	if out == nil {
		t.Fatalf("%T: %v", s, err)
	}
	ask.Host.Omissions.Report(ctx, &out.Notes)
	root.End()
	for _, n := range out.Notes {
		if strings.HasPrefix(n, "the prompt does not show all of the schema") {
			notes = append(notes, n)
		}
	}
	for _, w := range root.Warnings() {
		if w.Code == "schema-shortened" {
			warnings = append(warnings, w)
		}
	}
	return notes, warnings
}

func presets() []strategy.Strategy {
	return []strategy.Strategy{
		strategy.Direct{}, strategy.SelfConsistency{}, strategy.Consensus{}, planvote.Plain{}, planvote.Plain{}.Published(),
		planvote.Augmented{}, planvote.Feedback{}, maker.Strategy{}, petsql.Strategy{},
	}
}

// TestNamesLeftOutAreTold: a column that no prompt may name cannot be asked for,
// and whoever asks learns why, once.
func TestNamesLeftOutAreTold(t *testing.T) {
	tab, bad := "tab"+strings.Repeat("x", 300), "bad"+strings.Repeat("x", 300) // longer than a prompt shows
	env := envOf(t, "CREATE TABLE items (id INTEGER PRIMARY KEY, flag TEXT, "+tab+" TEXT); CREATE TABLE "+bad+" (x); "+
		"INSERT INTO items VALUES (1, 'a', 'b');", nil)
	for _, s := range presets() {
		notes, warnings := cuts(t, s, env, "SELECT id FROM items WHERE id > 5")
		if len(notes) != 1 || len(warnings) != 1 || warnings[0].Message != notes[0] {
			t.Errorf("%T: notes %q, warnings %q", s, notes, warnings)
			continue
		}
		for _, want := range []string{"1 column, 1 table left out", `table "badxxx`, `column "items"."tabxxx`} {
			if !strings.Contains(notes[0], want) || strings.ContainsAny(notes[0], "\n\t") {
				t.Errorf("%T: %q has no %q", s, notes[0], want)
			}
		}
	}
	clean := envOf(t, "CREATE TABLE items (id INTEGER PRIMARY KEY, flag TEXT);", nil)
	for _, s := range presets() {
		if notes, warnings := cuts(t, s, clean, "SELECT id FROM items"); len(notes)+len(warnings) > 0 {
			t.Errorf("%T: notes %q, warnings %q", s, notes, warnings)
		}
	}
}

// TestShortenedSchemaIsTold: the same for columns that the budget has no room for,
// with the same words whatever samples an early stop made unnecessary.
func TestShortenedSchemaIsTold(t *testing.T) {
	var script strings.Builder
	for i := range 12 {
		fmt.Fprintf(&script, "CREATE TABLE item_%d_%s (id INTEGER PRIMARY KEY", i, strings.Repeat("x", 50))
		for j := range 10 {
			fmt.Fprintf(&script, ", flag_%d_%d TEXT", i, j)
		}
		script.WriteString(");\n")
	}
	env := envOf(t, script.String(), nil)
	env.SchemaBudget = 500
	reply := "SELECT id FROM item_1_" + strings.Repeat("x", 50)
	for _, s := range []strategy.Strategy{strategy.Direct{}, strategy.SelfConsistency{}, strategy.Consensus{},
		planvote.Plain{}} {
		notes, warnings := cuts(t, s, env, reply)
		if len(notes) != 1 || len(warnings) != 1 {
			t.Fatalf("%T: notes %q, warnings %q", s, notes, warnings)
		}
		if !strings.Contains(notes[0], "12 tables shortened to fit") ||
			!strings.Contains(notes[0], " columns not shown: item_0_xxx") ||
			!strings.Contains(notes[0], "xxx…, item_1_") || !strings.HasSuffix(notes[0], " and 9 more") || len(notes[0]) > 400 {
			t.Errorf("%T: %d bytes: %s", s, len(notes[0]), notes[0])
		}
		for range 3 {
			again, _ := cuts(t, s, env, reply)
			if diff := cmp.Diff(notes, again); diff != "" {
				t.Errorf("%T: equal replies, other words:\n%s", s, diff)
			}
		}
	}

	// The worst of the forms that were shown counts, not the first.
	forms := strategy.Pipeline{
		Prompter: strategy.RotatePrompts{strategy.Prompt{Form: schema.Code}, strategy.Prompt{Form: schema.MSchema}},
		Sampler:  strategy.Sampler{Samples: 2},
	}
	both, _ := cuts(t, forms, env, reply)
	forms.Sampler.Samples = 1
	one, _ := cuts(t, forms, env, reply)
	if slices.Equal(one, both) {
		t.Errorf("the longer form changes nothing: %q", both)
	}
}

// TestFewerValuesAreANote: what is shortened first is no reason for a warning.
func TestFewerValuesAreANote(t *testing.T) {
	env := shopEnv(t, nil)
	s := strategy.Pipeline{Prompter: egtts.AugmentedPrompt{MaxChars: 300}, Sampler: strategy.Sampler{Samples: 2}}
	notes, warnings := cuts(t, s, env, usa)
	if len(notes) != 1 || !strings.Contains(notes[0], "fewer stored values") || len(warnings) > 0 {
		t.Errorf("notes %q, warnings %q", notes, warnings)
	}
}

// TestWideTables: tables of more columns than a prompt has room for show those that the question names, their keys and
// the first ones, whoever writes the prompt.
func TestWideTables(t *testing.T) {
	script := ""
	for _, name := range []string{"sales", "shops", "staff"} {
		script += "CREATE TABLE " + name + " (nr INTEGER"
		for i := range 1400 {
			script += fmt.Sprintf(", measure_of_kind_%d REAL", i)
		}
		script += ", spring_revenue_" + name + " REAL, id INTEGER PRIMARY KEY);\n"
	}
	env := envOf(t, script, nil)
	for _, s := range presets() {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT sum(spring_revenue_sales) FROM sales"),
			Repeat: true}}}
		out, err := s.Generate(t.Context(), asking(env, model),
			strategy.Task{Question: "What was the spring revenue of sales?"})
		if out == nil {
			t.Fatalf("%T: %v", s, err)
		}
		for i, call := range model.Requests() {
			text := strategytest.Written(call.Messages)
			if len(text) > 96_000 || !strings.Contains(text, "spring_revenue_sales") ||
				!strings.Contains(text, "measure_of_kind_9") {
				t.Errorf("%T: prompt %d has %d bytes:\n%.300s", s, i, len(text), text)
			}
		}
	}
}
