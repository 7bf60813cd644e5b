package llm_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

type scored struct {
	Table   string   `json:"table"`
	Score   float64  `json:"score"`
	Columns []string `json:"columns"`
}

func inRange(s scored) error {
	if s.Score < 0 || s.Score > 1 {
		return fmt.Errorf("score is %v, not in 0..1", s.Score)
	}
	return nil
}

func TestAsk(t *testing.T) {
	good := `{"table": "orders", "score": 0.5, "columns": ["id"]}`
	want := scored{"orders", 0.5, []string{"id"}}
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		replies []string
		stop    string
		want    scored
		calls   int
		told    string // what the model is told in the second call
		err     string
		why     string
	}{
		{replies: []string{good}, want: want, calls: 1, why: "the object alone"},
		{replies: []string{"Here:\n```json\n" + good + "\n```\nDone {it}."}, want: want, calls: 1, why: "a fence and prose"},
		{replies: []string{`{"table": "orders", "score": 0.5, "columns": ["id",],}`}, want: want, calls: 1,
			why: "commas before brackets"},
		{replies: []string{`{"score": 7} ` + good}, want: want, calls: 1, why: "the first object that fits, not the first"},
		{replies: []string{"orders", good}, want: want, calls: 2, told: "the reply holds no JSON object",
			why: "prose, then right"},
		{replies: []string{`{"score": 7}`, good}, want: want, calls: 2, told: "score is 7, not in 0..1",
			why: "check says what is wrong"},
		{replies: []string{`{"score": "high"}`, good}, want: want, calls: 2,
			told: "score is a string where a number was asked for", why: "a wrong type"},
		{replies: []string{`{"columns": 3}`, good}, want: want, calls: 2,
			told: "columns is a number where a list was asked for", why: "a number for a list"},
		{replies: []string{`{"table": "ord`, good}, stop: llm.StopLength, want: want, calls: 2, told: "was cut before",
			why: "no room for the end"},
		{replies: []string{`{"tables": [` + good + `, {"table": "cust`, good}, want: want, calls: 2, told: "was cut",
			why: "what is whole in a cut object is not it"},
		{replies: []string{"Let me think.", good}, stop: llm.StopLength, want: want, calls: 2, told: "was cut before",
			why: "no room for the beginning"},
		{replies: []string{big, good}, want: want, calls: 2, told: "no JSON object", why: "a megabyte of prose"},
		{replies: []string{strings.Repeat("{", 1<<20), strings.Repeat("{", 9)}, calls: 2,
			err: "link: the reply holds no JSON object", why: "braces only, twice"},
		{replies: []string{`<think>Maybe {"table": "a", "score": 1}?</think> ` + good}, want: want, calls: 1,
			why: "a draft in the reasoning"},
		{replies: []string{`<think>Maybe ` + good, good}, want: want, calls: 2, told: "was cut before",
			why: "reasoning without an end"},
		{replies: []string{"", good}, want: want, calls: 2, told: "the reply holds no JSON object", why: "an empty reply"},
		{replies: []string{`{"columns": null, "table": null}`}, calls: 1,
			why: "null is the zero value, as package json has it"},
		{replies: []string{`{"score": [0.5]}`, `{"score": {}}`}, calls: 2,
			told: "score is a list where a number was asked for",
			err:  "link: score is a JSON object where a number was asked for", why: "wrong types, twice"},
		{replies: []string{"</s><|im_start|>a\n[INST] ```\x1b {\"score\": 7}", good}, want: want, calls: 2, told: "is 7",
			why: "marks of turns"},
		{replies: []string{`{"score": 1` + strings.Repeat("0", 1<<19) + "}", good}, want: want, calls: 2,
			told: "is a number 1000", why: "no end"},
		{replies: []string{"null", "[]"}, calls: 2, err: "no JSON object", why: "JSON that is no object"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var sent []llm.Request
			model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				sent = append(sent, req)
				return llm.Response{Text: tt.replies[len(sent)-1], StopReason: tt.stop}, nil
			})
			req := llm.Request{Purpose: "link", Messages: []llm.Message{{Role: llm.User, Text: "Score orders."}}}
			got, err := llm.Ask(t.Context(), model, req, inRange)
			var failed *llm.ReplyError
			if tt.err == "" && err != nil || tt.err != "" &&
				(!errors.As(err, &failed) || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(sent) != tt.calls {
				t.Errorf("%d calls, want %d (-want +got):\n%s", len(sent), tt.calls, diff)
			}
			if tt.told != "" {
				last := sent[1].Messages
				if said := last[len(last)-2].Text; len(last[len(last)-1].Text) > 500 ||
					regexp.MustCompile("<[|/]|\\[INST|```|\x1b").MatchString(said) {
					t.Errorf("told %.1000q after %q", last[len(last)-1].Text, said)
				}
				if len(last) != 3 || last[1].Role != llm.Assistant || last[1].Text == "" || len(last[1].Text) > 2100 ||
					!strings.Contains(last[2].Text, tt.told) {
					t.Errorf("told %.200q, want %q in the last of three messages", last[len(last)-1].Text, tt.told)
				}
			}
		})
	}
}

// TestAskFails: the error of a call is the error of Ask, in the first and in the second one.
func TestAskFails(t *testing.T) {
	for failing := range 2 {
		calls := 0
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			if calls++; calls > failing {
				return llm.Response{}, llm.ErrBudget
			}
			return llm.Response{Text: "no"}, nil
		})
		_, err := llm.Ask[scored](t.Context(), model, llm.Request{}, nil)
		if !errors.Is(err, llm.ErrBudget) || calls != failing+1 {
			t.Errorf("call %d fails: %v after %d calls", failing+1, err, calls)
		}
	}
}

func ExampleAsk() {
	model := &llmtest.Script{
		Rules: []llmtest.Rule{{Replies: llmtest.Texts("Sure!\n```json\n{\"table\": \"orders\", \"score\": 0.9}\n```")}}}
	verdict, err := llm.Ask[struct {
		Table string  `json:"table"`
		Score float64 `json:"score"`
	}](context.Background(), model, llm.Request{
		Purpose:  "link",
		Messages: []llm.Message{{Role: llm.User, Text: "How many orders are open? Score the table orders as JSON."}},
	}, nil)
	fmt.Println(verdict.Table, verdict.Score, err)
	// Output: orders 0.9 <nil>
}

func FuzzAsk(f *testing.F) {
	for _, reply := range []string{`{"table": "t", "score": 0.5, "columns": ["a",],}`, "<think>{}</think>{\"score\": 7}",
		"{{{[", `{"table": "`, "null"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		calls := 0
		got, err := llm.Ask(t.Context(), llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			calls++
			return llm.Response{Text: reply}, nil
		}), llm.Request{}, inRange)
		var failed *llm.ReplyError
		switch {
		case err == nil && calls == 1 && inRange(got) == nil:
		case errors.As(err, &failed) && calls == 2 && failed.Problem != "" && cmp.Equal(got, scored{}):
		default:
			t.Errorf("%q: %+v, %v after %d calls", reply, got, err, calls)
		}
	})
}

// TestAskSendsTheShape: the schema of what is asked for, unless the request has one.
func TestAskSendsTheShape(t *testing.T) {
	type within struct {
		Name  *string `json:"name,omitempty"`
		Count uint8
		Any   any `json:"any" schema:"integer"`
		Gone  any `json:"-"`
		Old   int `json:"old" schema:"-"`
		own   int
	}
	type recursive struct{ More []recursive }
	send := func(ask func(llm.Model, llm.Request)) string {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("{}"), Repeat: true}}}
		ask(script, llm.Request{})
		return string(script.Requests()[0].Schema)
	}
	for _, tt := range []struct{ why, got, want string }{
		{"fields in their order, all required", send(func(m llm.Model, r llm.Request) {
			llm.Ask[within](t.Context(), m, r, nil)
		}),
			`{"type":"object","properties":{"name":{"type":"string"},"Count":{"type":"integer"},"any":{"type":"integer"}},` +
				`"required":["name","Count","any"],"additionalProperties":false}`},
		{"what is given", send(func(m llm.Model, r llm.Request) {
			r.Schema = []byte(`{"type":"object"}`)
			llm.Ask[within](t.Context(), m, r, nil)
		}), `{"type":"object"}`},
		{"a map has any keys", send(func(m llm.Model, r llm.Request) { llm.Ask[map[string]any](t.Context(), m, r, nil) }),
			""},
		{"a type within itself has no end", send(func(m llm.Model, r llm.Request) {
			llm.Ask[recursive](t.Context(), m, r, nil)
		}), ""},
		{"a list is no object", send(func(m llm.Model, r llm.Request) { llm.Ask[[]within](t.Context(), m, r, nil) }), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, tt.got, tt.want)
		}
	}
	_ = within{own: 1}
}
