package qasql_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// TestCalls: no question takes more calls than the documentation of Strategy says, and the worst ones take as many.
func TestCalls(t *testing.T) {
	const tables, contexts, verdicts = 2, 5, 2
	tests := []struct {
		samples   int
		never     bool // no statement of a context runs
		unread    bool // each first reply that should be JSON is none
		judgeless bool
		want      int
		why       string
	}{
		{want: 1 + tables + 3*contexts + verdicts, why: "each statement runs at the third attempt, and the answers differ"},
		{judgeless: true, want: 1 + tables + 3*contexts, why: "without a judge"},
		{never: true, want: 1 + tables + 3*contexts + 1, why: "nothing ever runs: the last resort, and nothing to judge"},
		{unread: true, want: 2*(1+tables+verdicts) + 3*contexts, why: "one call more for each reply that is no JSON"},
		{samples: 3, want: 1 + tables + 3*3*contexts + verdicts, why: "three samples a context"},
	}
	for _, tt := range tests {
		var mu sync.Mutex
		calls, repairs := 0, map[int]int{}
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			reply := map[string]string{"decompose": `{"entity": "customers"}`, "score": `{"score": 0.9}`,
				"judge": `{"selected_option": "A"}`}[req.Purpose]
			switch req.Purpose {
			case "generate":
				reply = broken
			case "repair":
				repairs[req.Sample]++
				reply = fmt.Sprintf("SELECT nobody%d_%d FROM customers", req.Sample, repairs[req.Sample])
				if repairs[req.Sample] == 2 && !tt.never {
					reply = []string{usa, everyone}[req.Sample%2]
				}
			default:
				if tt.unread && len(req.Messages) == 2 {
					reply = "Let me think."
				}
			}
			return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
		})
		task := strategytest.USATask
		task.Samples = tt.samples
		out, err := qasql.Strategy{WithoutJudge: tt.judgeless}.Generate(t.Context(), described(t, model), task)
		if calls != tt.want || (err != nil) != tt.never || out == nil {
			t.Errorf("%s: %d calls, want %d: %v", tt.why, calls, tt.want, err)
		}
	}
}
