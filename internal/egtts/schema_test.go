package egtts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
)

// TestPublishedSchemaGolden: tables by name, rows behind each, hostile values on their
// line, no view and no sensitive column.
func TestPublishedSchemaGolden(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	for name, limit := range map[string]int{"published_schema.golden": 8000, "published_schema_none.golden": 1} {
		r := testutil.Value(AugmentedPrompt{MaxChars: limit, Published: true}.render(t.Context(), env, schematest.Shop(),
			schematest.Samples()))(t)
		text := r.Text
		for _, x := range r.Reduced {
			text += fmt.Sprintf("reduced: {Schema:%s Table:%s Step:%s Columns:%d}\n", x.Table.Schema, x.Table.Name, x.Step,
				x.Columns)
		}
		golden.Check(t, name, text+fmt.Sprintf("over budget: %t\n", r.OverBudget))
	}
}

// TestPublishedSchemaTooLong: over 8,000 characters no table keeps its rows, and
// whoever asks learns it.
func TestPublishedSchemaTooLong(t *testing.T) {
	var script strings.Builder
	for i := range 60 {
		fmt.Fprintf(&script, "CREATE TABLE t%02d (a TEXT); INSERT INTO t%02d VALUES (printf('%%.60c', 'x')), ('y');", i, i)
	}
	env := strategytest.EnvOf(t, script.String(), nil)
	env.Host.Omissions = &host.PromptCuts{}
	text, err := PublishedSchema(t.Context(), env, env.Schema, 0)
	if err != nil || strings.Contains(text, "Example") || strings.Count(text, "CREATE TABLE") != 60 {
		t.Errorf("%v\n%s", err, text)
	}
	var out strategy.Outcome
	env.Host.Omissions.Report(t.Context(), &out.Notes)
	if len(out.Notes) != 1 ||
		!strings.Contains(out.Notes[0], "60 tables shortened to fit, fewer stored values: t00, t01, t02 and 57 more") {
		t.Errorf("%q", out.Notes)
	}
}
