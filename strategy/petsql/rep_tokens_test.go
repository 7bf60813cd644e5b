package petsql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// TestREpTokens tells how long prompts are with and without linking, and what each
// part of the prompt takes.
func TestREpTokens(t *testing.T) {
	for _, tables := range []int{20, 200} {
		var script strings.Builder
		for i := range tables {
			fmt.Fprintf(&script, "CREATE TABLE thing%d (id INTEGER PRIMARY KEY, name TEXT, amount REAL, "+
				"before_id INTEGER REFERENCES thing%d(id));\n", i, max(i-1, 0))
			fmt.Fprintf(&script, "INSERT INTO thing%d VALUES (1, 'one', 1.5, 1), (2, 'two', 2.5, 1), (3, 'three', 3.5, 2);\n", i)
		}
		env := strategytest.EnvOf(t, script.String(), nil)
		task := strategy.Task{Question: "What is the amount of the first?"}
		length := func(r petsql.REp, s *schema.Schema) int {
			messages := testutil.Value(r.Prompt(t.Context(), env, strategy.PromptInput{Task: task, Schema: s}))(t)
			n := 0
			for _, m := range messages {
				n += prompttext.EstimateTokens(m.Text)
			}
			return n
		}
		links := testutil.Value(linker.PreSQL{}.Read(t.Context(), linker.Input{Question: task.Question, Schema: env.Schema,
			DB: env.DB}, "SELECT a.amount FROM thing3 a JOIN thing5 b ON a.id = b.before_id"))(t)
		small, _ := env.Schema.Restrict(links)
		full, linked := length(petsql.REp{}, env.Schema), length(petsql.REp{}, small)
		t.Logf("%d tables: %d tokens, linked to %d tables %d tokens, %.0f %% saved", tables, full, len(small.Tables), linked,
			100*(1-float64(linked)/float64(full)))
		if linked*4 > full {
			t.Errorf("%d tables: %d of %d tokens are left", tables, linked, full)
		}
		last := 0
		for _, step := range []struct {
			name    string
			without petsql.Parts
		}{
			{"ODp", petsql.Parts{Rule: true, Values: true, ForeignKeys: true}},
			{"+OR", petsql.Parts{Values: true, ForeignKeys: true}},
			{"+CV", petsql.Parts{ForeignKeys: true}},
			{"+FK = REp", petsql.Parts{}},
		} {
			n := length(petsql.REp{Without: step.without}.Published(), env.Schema)
			t.Logf("  %-10s %d", step.name, n)
			if n <= last {
				t.Errorf("%s adds nothing", step.name)
			}
			last = n
		}
	}
}
