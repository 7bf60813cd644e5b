package texttosql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

// TestHistoryLinks: of a schema that no prompt has room for, solved questions say which table a word means.
func TestHistoryLinks(t *testing.T) {
	var script strings.Builder
	for _, area := range strings.Fields("sales stock rental finance payroll tax asset budget") {
		for _, thing := range strings.Fields("report history detail summary region status account") {
			fmt.Fprintf(&script, "CREATE TABLE %s_%s (id INTEGER", area, thing)
			for i := range 40 {
				fmt.Fprintf(&script, ", some_measure_%s_%d REAL", thing, i)
			}
			script.WriteString(");\n")
		}
	}
	db := open(t, script.String())
	for _, tt := range []struct {
		why   string
		pairs []memory.Pair
		want  bool
	}{
		{"no word leads to the table", nil, false},
		{"a solved question does", []memory.Pair{{Question: "What is our churn?", SQL: "SELECT count(*) FROM asset_status"}}, true},
		{"a past statement with a title does", []memory.Pair{{Question: "churn 2024", SQL: "SELECT count(*) FROM asset_status", Past: true}}, true},
		{"so does one whose literals say it", []memory.Pair{{SQL: "SELECT count(*) FROM asset_status WHERE id = 'churn'", Past: true}}, true},
		{"of another scope none does", []memory.Pair{{Question: "churn", SQL: "SELECT count(*) FROM asset_status", Past: true, Scope: "t1"}}, false},
	} {
		shown := false
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			for _, m := range req.Messages {
				shown = shown || strings.Contains(m.Text, "asset_status")
			}
			return llm.Response{Text: "```sql\nSELECT 1\n```"}, nil
		})
		engine, err := texttosql.New(db, model, texttosql.WithStrategy(strategy.Direct{}), texttosql.WithExemplars(tt.pairs...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Ask(t.Context(), "churn of the payroll history"); err != nil {
			t.Logf("%s: %v", tt.why, err)
		}
		if shown != tt.want {
			t.Errorf("%s: asset_status in a prompt: %v, want %v", tt.why, shown, tt.want)
		}
	}
}
