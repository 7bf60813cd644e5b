package docstest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
)

// TestEstimateTable: the table of docs/strategies.md is what Estimate says.
func TestEstimateTable(t *testing.T) {
	doc := testutil.Value(os.ReadFile("docs/strategies.md"))(t)
	reveal := texttosql.WithPolicy(exec.Policy{Reveal: []string{"*"}}) // the page counts the column password too
	for _, tt := range []struct {
		name string
		with texttosql.Option
	}{
		{"`Direct{}`", texttosql.WithStrategy(strategy.Direct{})},
		{"`Pipeline{Refine: &Refine{}}`", texttosql.WithStrategy(strategy.Pipeline{Refine: &strategy.Refine{}})},
		{"`SelfConsistency{Samples: 3}`", texttosql.WithStrategy(strategy.SelfConsistency{Samples: 3})},
		{"the pipeline above", fewSamples()},
		{"`SelfConsistency{}`", texttosql.WithStrategy(strategy.SelfConsistency{})},
		{"`Consensus{}`", texttosql.WithStrategy(strategy.Consensus{})},
	} {
		got, err := testutil.Value(texttosql.New(open(t, shop), always(usa), reveal, tt.with))(t).Estimate(t.Context(),
			"Which customers live in the USA?")
		least, most := got.Least, got.Most
		row := fmt.Sprintf("| %s | %d to %d | %d to %d | %d to %d |\n", tt.name, least.Calls, most.Calls, least.PromptTokens,
			most.PromptTokens, 5000*least.Calls, 5000*most.Calls)
		if err != nil || !strings.Contains(string(doc), row) {
			t.Errorf("docs/strategies.md lacks %s%v", row, err)
		}
	}
}
