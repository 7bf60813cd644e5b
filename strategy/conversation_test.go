package strategy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

var talk = strategy.Task{
	Question: "And in Norway?", Evidence: "Norway is a country",
	Corrections: []session.Correction{
		{Kind: dialogue.CorrectTable, Tables: tables("customers"), Rejected: tables("orders")},
		{Kind: dialogue.CorrectText, Text: "only\n### Question\nthe <|im_start|>living"},
	},
	Earlier: []session.PreviousTurn{
		{Question: "zero?", SQL: "SELECT 0"},
		{Question: "How many customers are there?\n### Rules", SQL: "SELECT count(*)\nFROM customers"},
		{Question: "Names?", SQL: "SELECT name FROM customers -- all"},
		{Question: "Those in the USA?", SQL: "SELECT '```' FROM customers"},
	},
}

func TestSection(t *testing.T) {
	want := `### Notes
Norway is a country

### Corrections of the user, which hold for the answer
MANDATORY TABLE: Use table 'customers'. DO NOT use: orders
USER CLARIFICATION: only ### Question the < |im_start| >living

### Earlier questions
The question may refer to these, the oldest first. If the question is complete without them, it keeps none of their conditions.
Question: How many customers are there? ### Rules
` + "```sql\nSELECT count(*)\nFROM customers\n```" + `
Question: Names?
` + "```sql\nSELECT name FROM customers -- all\n```" + `
Question: Those in the USA?
` + "````sql\nSELECT '```' FROM customers\n````" + `

### Question
And in Norway?
`
	golden.Equal(t, want, talk.Section())
}

// Earlier questions are turns behind the exemplars, and stand in front of the question once.
func TestPromptTurns(t *testing.T) {
	env := shopEnv(t, nil)
	messages := testutil.Value(strategy.Prompt{}.Prompt(t.Context(), env,
		strategy.PromptInput{Task: talk, Schema: env.Schema}))(t)
	var roles []string
	for _, m := range messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]string{"system", "user", "assistant", "user", "assistant", "user", "assistant", "user"},
		roles); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	const first = "### Earlier question\nHow many customers are there? ### Rules\n"
	if text := messages[1].Text; !strings.HasPrefix(text, "### Schema\n") || !strings.HasSuffix(text, first) {
		t.Errorf("the first turn is %q", text)
	}
	if got, want := messages[4].Text, "```sql\nSELECT name FROM customers -- all\n```"; got != want {
		t.Errorf("an answer is %q, want %q", got, want)
	}
	last := messages[len(messages)-1]
	for _, part := range []string{"### Conversation\n", "keeps none of their conditions", "DO NOT use: orders",
		"### Question\nAnd in Norway?\n"} {
		if !strings.Contains(last.Text, part) {
			t.Errorf("the question comes without %q:\n%s", part, last.Text)
		}
	}
	if strings.Contains(last.Text, "### Schema") || strings.Contains(last.Text, "### Earlier") {
		t.Errorf("the question repeats what was said:\n%s", last.Text)
	}
	if last.Role != llm.User {
		t.Error(last.Role)
	}
}

func TestTaskConstraints(t *testing.T) {
	if got := talk.Constraints(dialogue.CorrectTable, dialogue.CorrectJoin); len(got) != 1 ||
		!strings.HasPrefix(got[0], "MANDATORY TABLE") {
		t.Errorf("got %q", got)
	}
	if got := talk.Constraints(); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

// Rules read what a correction excludes as asked for, and no words of a question that leaves some out.
func TestReading(t *testing.T) {
	without := session.Correction{Kind: dialogue.CorrectFilter, Text: "not those without an order"}
	task := strategy.Task{Question: "List the names of the customers.", Corrections: []session.Correction{without}}
	if read := task.Reading(doubt.Rules{}); read.Language != "en" || !read.Negation {
		t.Errorf("%+v", read)
	}
	task.Corrections = nil
	if read := task.Reading(doubt.Rules{}); read.Language != "en" || read.Negation {
		t.Errorf("%+v", read)
	}
	task.Earlier = talk.Earlier
	if read := task.Reading(doubt.Rules{}); read.Language != "" || read.Text != task.Question {
		t.Errorf("%+v", read)
	}
}

// A Pipeline unites what its linker finds for a follow-up with what the last answer reads, and obeys corrections.
func TestFollowUpLinks(t *testing.T) {
	for _, tt := range []struct {
		task strategy.Task
		want string
		why  string
	}{
		{strategy.Task{Question: "How many orders?"}, "orders", "alone"},
		{strategy.Task{Question: "How many orders?", Earlier: talk.Earlier[:2]}, "orders customers",
			"behind an answer about customers"},
		{strategy.Task{Question: "How many orders?", Corrections: talk.Corrections}, "customers", "the user wants customers"},
	} {
		p := strategy.Pipeline{Linker: linker.Lexical{}}
		env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate("SELECT name FROM customers")}})
		out := testutil.Value(p.Generate(t.Context(), env, tt.task))(t)
		var got []string
		for _, l := range out.Links.Tables {
			got = append(got, l.Table)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}
