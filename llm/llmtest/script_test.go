package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func request(purpose, text string, sample int) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "Instructions."}, {Role: llm.User, Text: text}},
		Purpose:  purpose,
		Sample:   sample,
	}
}

func TestScriptRules(t *testing.T) {
	rules := []llmtest.Rule{
		{Purpose: "generate", Contains: "singers", Replies: llmtest.Texts("a0", "a1")},
		{Purpose: "generate", Match: func(r llm.Request) bool { return r.MaxTokens != nil && *r.MaxTokens > 100 },
			Replies: llmtest.Texts("long")},
		{Purpose: "judge", Replies: llmtest.Texts("j0", "j1"), Repeat: true},
		{Contains: "Instructions.\x00", Replies: llmtest.Texts("never")},
		{Contains: "songs", Replies: llmtest.Texts("any purpose")},
		{Contains: "songs", Replies: llmtest.Texts("unreachable for sample 0", "second rule")},
		{Contains: "nothing", Repeat: true},
	}
	long := request("generate", "albums", 0)
	long.MaxTokens = new(101)
	tests := []struct {
		why  string
		req  llm.Request
		want string // "" for none
		left []int  // the rules that it names
	}{
		{"by purpose and text, sample 0", request("generate", "How many singers?", 0), "a0", nil},
		{"sample 1", request("generate", "How many singers?", 1), "a1", nil},
		{"sample 2: no silent repeat", request("generate", "How many singers?", 2), "", []int{0}},
		{"another purpose", request("repair", "How many singers?", 0), "", nil},
		{"by a function", long, "long", nil},
		{"the last reply repeated", request("judge", "x", 7), "j1", nil},
		{"of any purpose", request("link", "songs", 0), "any purpose", nil},
		{"a later rule has the sample", request("link", "songs", 1), "second rule", nil},
		{"a negative sample has no reply", request("generate", "singers", -1), "", []int{0}},
		{"a rule without replies", request("x", "nothing", 0), "", []int{6}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			s := &llmtest.Script{Rules: rules}
			resp, err := s.Complete(t.Context(), tt.req)
			if tt.want != "" {
				if err != nil || resp.Text != tt.want || resp.StopReason != llm.StopEnd {
					t.Errorf("got %+v, %v, want %q", resp, err, tt.want)
				}
				return
			}
			why := "no rule matches it"
			if len(tt.left) > 0 {
				why = fmt.Sprintf("rules %v match, but have no reply left", tt.left)
			}
			if llm.ClassOf(err) != llm.ClassPermanent || !strings.Contains(err.Error(), why) {
				t.Fatalf("error = %v, want a permanent one: %s", err, why)
			}
		})
	}
}

func TestNoReplyNamesTheRequest(t *testing.T) {
	var zero llmtest.Script
	_, err := zero.Complete(t.Context(), request("generate", "\nHow many singers?\nDDL", 3))
	for _, part := range []string{`"generate"`, "sample 3", `"How many singers?"`, "no rule matches"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %s", err, part)
		}
	}
	if _, err := zero.Complete(t.Context(), llm.Request{}); err == nil {
		t.Error("an empty request is answered")
	}
}

func TestScriptTimes(t *testing.T) {
	s := &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 2, Repeat: true, Replies: llmtest.Errors(io.ErrUnexpectedEOF)},
		{Repeat: true, Replies: llmtest.Texts("x")},
	}}
	for sample := range 2 { // each sample fails twice, also when they take turns
		for attempt := range 4 {
			resp, err := s.Complete(t.Context(), request("generate", "q", sample))
			if attempt < 2 && err != io.ErrUnexpectedEOF || attempt >= 2 && resp.Text != "x" {
				t.Errorf("sample %d, attempt %d: %+v, %v", sample, attempt, resp, err)
			}
		}
	}
}

func TestScriptReply(t *testing.T) {
	usage := llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 8, Known: true}
	s := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{
		{Text: "SELECT", Stop: llm.StopLength, Model: "m-1", Usage: usage},
		{Text: "SELECT 1"},
		{},
	}}}}
	resp, err := s.Complete(t.Context(), request("", "12345678", 0))
	want := llm.Response{Text: "SELECT", StopReason: llm.StopLength, Model: "m-1", Usage: usage}
	if diff := cmp.Diff(want, resp); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	resp, _ = s.Complete(t.Context(), request("", "12345678", 1))
	if resp.Usage.Known || resp.Usage.Calls != 1 || resp.Usage.CompletionTokens != 2 {
		t.Errorf("usage = %+v, want an estimate", resp.Usage)
	}
	if _, err = s.Complete(t.Context(), request("", "q", 2)); err == nil {
		t.Error("an empty reply without an error")
	}
}

func TestScriptRequests(t *testing.T) {
	s := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Repeat: true, Replies: llmtest.Texts("x")}}}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { s.Complete(t.Context(), request("generate", "q", 19-i)) })
	}
	wg.Wait()
	req := request("judge", "q", 0)
	s.Complete(t.Context(), req) // not answered, and seen
	req.Messages[0].Text = "changed afterwards"
	if n := len(s.Requests()); n != 21 {
		t.Fatalf("%d requests, want 21", n)
	}
	for i, r := range s.RequestsFor("generate") {
		if r.Sample != i {
			t.Errorf("request %d is of sample %d", i, r.Sample)
		}
	}
	if got := s.RequestsFor("judge")[0].Messages[0].Text; got != "Instructions." {
		t.Errorf("the script's copy changed to %q", got)
	}
}

func TestLatency(t *testing.T) {
	latency := llmtest.Latency{Fixed: 5 * time.Second, BySample: []time.Duration{time.Second, 0}}
	tests := []struct {
		sample int
		want   time.Duration
	}{{0, time.Second}, {1, 0}, {2, 5 * time.Second}, {-1, 5 * time.Second}}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			m := llm.Chain(llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: "x"}, nil
			}), latency.Middleware())
			start := time.Now()
			testutil.Value(m.Complete(t.Context(), request("", "q", tt.sample)))(t)
			if d := time.Since(start); d != tt.want {
				t.Errorf("sample %d took %v, want %v", tt.sample, d, tt.want)
			}
		})
	}
}

func TestDelayEndsWithContext(t *testing.T) {
	slow := llmtest.Reply{Text: "x", Delay: time.Hour}
	models := map[string]llm.Model{
		"reply": &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{slow}}}},
		"latency": llm.Chain(&llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("x")}}},
			llmtest.Latency{Fixed: time.Hour}.Middleware()),
	}
	for name, m := range models {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			if _, err := m.Complete(ctx, request("", "q", 0)); err != context.DeadlineExceeded ||
				time.Since(start) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
		})
	}
}
