package models_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func singers(t *testing.T) *models.Recorded {
	t.Helper()
	return testutil.Value(models.NewRecorded("pool/one", []models.Question{
		{ID: "1", Text: "How many singers are there?", Replies: []models.Reply{
			{Text: "  SELECT count(*) FROM singer;\n", Model: "gpt"},
			{Text: "SELECT 7", Usage: llm.Usage{Calls: 1, PromptTokens: 300, CompletionTokens: 4, Known: true}},
			{Text: ""},
		}},
		{ID: "2", Text: "How many singers are there? Count them per country.", Replies: []models.Reply{{Text: "SELECT 2"}}},
		{ID: "3", Text: "Show all", Replies: []models.Reply{{Text: "SELECT 3"}}},
	}))(t)
}

func ask(sample int, texts ...string) llm.Request {
	req := llm.Request{Purpose: "generate", Sample: sample, Messages: []llm.Message{{Role: llm.System, Text: "Show all"}}}
	for i, text := range texts {
		role := llm.User
		if i%2 == 1 {
			role = llm.Assistant
		}
		req.Messages = append(req.Messages, llm.Message{Role: role, Text: text})
	}
	return req
}

func TestRecorded(t *testing.T) {
	tests := []struct {
		name string
		req  llm.Request
		want string
		why  string
	}{
		{"plain", ask(0, "Question: How many singers are there?"), "  SELECT count(*) FROM singer;\n",
			"the stored text is not cleaned"},
		{"folded", ask(1, "### Question\nhow many  SINGERS\n are there?\n"), "SELECT 7", "case and white space do not count"},
		{"longest", ask(0, "how many singers are there? Count them per country."), "SELECT 2",
			"one question contains another"},
		{"last_message", ask(0, "How many singers are there? Count them per country.", "SELECT 1", "Show all"), "SELECT 3",
			"solved examples come first"},
		{"earlier_message", ask(0, "Show all", "SELECT 1", "Try again."), "SELECT 3",
			"the question may stand in an earlier turn"},
		{
			"schema", ask(0, "### Schema\nCREATE TABLE t (a text); -- How many singers are there? Count them per "+
				"country.\n\n### Question\nShow all\n"),
			"SELECT 3", "the schema holds the text of a longer question",
		},
		{"label", ask(0, "-- How many singers are there?\n\nQuestion: Show all\nHint: all are many"), "SELECT 3",
			"a label stands before the question"},
		{"heading", ask(0, "# How many singers are there?\n### Question: show  ALL\r\n### SQL:"), "SELECT 3",
			"so does a label that is a heading"},
		{"last_line", ask(0, "How many singers are there?\nSELECT 1\n\nShow all"), "SELECT 3",
			"solved examples come first, in one message as well"},
		{"hidden_characters", ask(0, "How many sing\u200bers are there?"), "  SELECT count(*) FROM singer;\n",
			"prompts are cleaned of them"},
	}
	m := singers(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := m.Complete(t.Context(), test.req)
			if err != nil || resp.Text != test.want {
				t.Errorf("%s: got %q, %v, want %q", test.why, resp.Text, err, test.want)
			}
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	repair, judge := ask(0, "Show all"), ask(0, "Show all")
	repair.Purpose, judge.Purpose = "repair", "judge"
	tests := []struct {
		name, want string
		req        llm.Request
	}{
		{"repair", `pool pool/one: no stored sample answers a call for "repair"`, repair},
		{"judge", `pool pool/one: no stored sample answers a call for "judge"`, judge},
		{"unknown", `pool pool/one: no known question stands in the request "Which stadium?"`,
			ask(0, "Which stadium?\nNow.")},
		{"part_of_a_word", "no known question", ask(0, "Show allergies")},
		{"system_only", "no known question", ask(0)},
		{"too_many_samples", "pool pool/one has 1 samples of question 3", ask(1, "Show all")},
		{"negative", "has 1 samples", ask(-1, "Show all")},
	}
	m := singers(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, err := m.Complete(t.Context(), test.req)
			if err == nil || !strings.Contains(err.Error(), test.want) || resp.Text != "" {
				t.Fatalf("got %q, %v, want %q", resp.Text, err, test.want)
			}
			if !errors.Is(err, models.ErrNotRecorded) || llm.ClassOf(err) != llm.ClassPermanent {
				t.Errorf("class %v of %v", llm.ClassOf(err), err)
			}
		})
	}
	_, err := m.Complete(t.Context(), ask(2, "How many singers are there?"))
	if err == nil || errors.Is(err, models.ErrNotRecorded) ||
		!strings.Contains(err.Error(), "sample 2 of question 1 is empty") {
		t.Errorf("an empty reply gave %v", err)
	}
}

func TestRecordedUsage(t *testing.T) {
	m := singers(t)
	first := testutil.Value(m.Complete(t.Context(), ask(0, "How many singers are there?")))(t)
	second := testutil.Value(m.Complete(t.Context(), ask(1, "How many singers are there?")))(t)
	want := []llm.Usage{
		{Calls: 1, PromptTokens: 9, CompletionTokens: 8}, // 35 and 32 characters
		{Calls: 1, PromptTokens: 300, CompletionTokens: 4, Known: true},
	}
	golden.Equal(t, want, []llm.Usage{first.Usage, second.Usage})
	if first.Model != "gpt" {
		t.Errorf("model %q", first.Model)
	}
}

func TestInTurn(t *testing.T) {
	var replies []models.Reply
	for i := range 3 {
		replies = append(replies, models.Reply{Text: fmt.Sprint("SELECT ", i)})
	}
	m := testutil.Value(models.NewRecorded("p", []models.Question{{ID: "1", Text: "Show all", Replies: replies}}))(t)
	second := m.InTurn(2)
	for i, sample := range []int{1, 3, 5} { // the odd samples are the second model's
		resp, err := second.Complete(t.Context(), ask(sample, "Show all"))
		if want := fmt.Sprint("SELECT ", i); err != nil || resp.Text != want {
			t.Errorf("sample %d: %q, %v, want %q", sample, resp.Text, err, want)
		}
	}
	if _, err := second.Complete(t.Context(), ask(7, "Show all")); !errors.Is(err, models.ErrNotRecorded) {
		t.Errorf("sample 7: %v", err)
	}
}

func TestNewRecordedErrors(t *testing.T) {
	_, err := models.NewRecorded("p", []models.Question{{ID: "1", Text: "Show all"}, {ID: "2", Text: " show  ALL"}})
	if err == nil || !strings.Contains(err.Error(), "questions 1 and 2 have the same text") {
		t.Errorf("equal questions: %v", err)
	}
	if _, err := models.NewRecorded("p", []models.Question{{ID: "9", Text: " \u200b"}}); err == nil ||
		!strings.Contains(err.Error(), "question 9 has no text") {
		t.Errorf("no text: %v", err)
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := models.NewRecorded("p",
			[]models.Question{{ID: "1", Text: "Show all",
				Replies: []models.Reply{{Text: "SELECT 1", Latency: 5 * time.Second}}}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := m.Complete(t.Context(), ask(0, "Show all")); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Complete(ctx, ask(0, "Show all")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestFromPool(t *testing.T) {
	p := &pools.Pool{
		Name: "p",
		Questions: []eval.Question{
			{ID: "1", DB: "a", Text: "Show all"}, {ID: "2", DB: "b", Text: "show ALL"}, {ID: "3", DB: "b", Text: "Show  all"},
			{ID: "4", DB: "b", Text: "Count them"},
		},
		Answers: [][]eval.Answer{
			{{SQL: "SELECT 1", Run: "r"}}, {{SQL: "SELECT 2", Run: "r", Model: "m"}}, {{SQL: "SELECT 3"}},
			{{SQL: "SELECT 4", Usage: llm.Usage{Calls: 2, PromptTokens: 7, CompletionTokens: 3, Known: true}}},
		},
	}
	if _, err := models.FromPool(p, ""); err == nil || !strings.Contains(err.Error(), "questions 1 and 2") {
		t.Errorf("the same question about two databases: %v", err)
	}
	m := testutil.Value(models.FromPool(p, "b"))(t)
	first, err := m.Complete(t.Context(), ask(0, "Show all"))
	if err != nil || first.Text != "SELECT 2" || first.Model != "m" {
		t.Errorf("got %+v, %v, want the answer to question 2", first, err)
	}
	counted, err := m.Complete(t.Context(), ask(0, "Count them"))
	if err != nil || counted.Usage.Calls != 2 || !counted.Usage.Known {
		t.Errorf("got %+v, %v, want the recorded usage", counted, err)
	}
}

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, func(t *testing.T, b string) llm.Model {
		reply := models.Reply{Text: "SELECT count(*) FROM singer"}
		text := "How many singers are there?"
		switch b {
		case "empties":
			reply.Text = ""
		case "hangs":
			reply.Latency = time.Hour
		case "fails":
			text = "Which stadium is it?"
		case "busy", "down":
			return nil
		}
		m := testutil.Value(models.NewRecorded("p",
			[]models.Question{{ID: "1", Text: text, Replies: slices.Repeat([]models.Reply{reply}, 20)}}))(t)
		return m
	})
}

func ExampleRecorded() {
	m, err := models.NewRecorded("spider_dev/all", []models.Question{{
		ID: "6", Text: "How many singers are there?",
		Replies: []models.Reply{{Text: "SELECT count(*) FROM singer"}},
	}})
	if err != nil {
		panic(err)
	}
	for sample := range 2 {
		reply, err := m.Complete(context.Background(), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Text: "### Question\nHow many singers are there?"}},
			Purpose:  "generate", Sample: sample,
		})
		fmt.Println(reply.Text, err)
	}
	// Output:
	// SELECT count(*) FROM singer <nil>
	//  llm: permanent: pool spider_dev/all has 1 samples of question 6
}
