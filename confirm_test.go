package texttosql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// TestConfirm: what a person confirmed is shown with the next question, also by
// another engine on the same store.
func TestConfirm(t *testing.T) {
	var prompts []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		var all string
		for _, m := range req.Messages {
			all += m.Text + "\n"
		}
		prompts = append(prompts, all)
		return llm.Response{Text: "SELECT count(*) FROM customers", StopReason: llm.StopEnd}, nil
	})
	var store memory.Confirmed
	e := engine(t, model, texttosql.WithStrategy(petsql.Strategy{}), texttosql.WithConfirmed(&store))
	other := engine(t, model, texttosql.WithStrategy(petsql.Strategy{}), texttosql.WithConfirmed(&store))
	if err := e.Confirm(t.Context(), "How many orders are there?", "SELECT count(*) FROM orders;"); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*texttosql.Engine{e, other} {
		prompts = nil
		if _, err := e.Ask(t.Context(), "How many customers are there?"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(prompts[0], "### How many orders are there?\nSELECT count(*) FROM orders\n") {
			t.Errorf("not shown in\n%s", prompts[0])
		}
	}
	for _, bad := range []struct{ question, sql string }{
		{"", "SELECT 1"}, {"x", "DELETE FROM customers"}, {"x", "SELECT nothing FROM customers"}, {"x", ""},
	} {
		if err := e.Confirm(t.Context(), bad.question, bad.sql); err == nil {
			t.Errorf("%q with %q is no error", bad.question, bad.sql)
		}
	}
}
