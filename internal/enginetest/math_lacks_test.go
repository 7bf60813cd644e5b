package enginetest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

// TestLacksMathematics: where the driver was built without mathematical functions, the prompts of a question that may
// ask for them say so, and so does the error.
func TestLacksMathematics(t *testing.T) {
	if row := open(t, shop).QueryRow("SELECT sqrt(4)"); row.Scan(new(float64)) == nil {
		t.Skip("this build has them")
	}
	for question, told := range map[string]bool{"What is the standard deviation of the amounts?": true,
		"How many customers are there?": false} {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true,
			Replies: llmtest.Texts("SELECT sqrt(count(*)) FROM customers")}}}
		e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(strategy.Direct{}),
			texttosql.WithClock(time.Now)))(t)
		_, err := e.Ask(t.Context(), question)
		if err == nil || !strings.Contains(err.Error(), "this build of SQLite lacks") {
			t.Errorf("%s: %v", question, err)
		}
		prompt := model.Requests()[0].Messages
		if got := strings.Contains(prompt[len(prompt)-1].Text, "not in this build: no sqrt"); got != told {
			t.Errorf("%s: told: %v, want %v", question, got, told)
		}
	}
}
