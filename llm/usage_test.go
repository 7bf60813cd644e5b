package llm_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

func TestEstimate(t *testing.T) {
	tests := []struct {
		why           string
		prompt, reply string
		want          llm.Usage
	}{
		{"nothing", "", "", llm.Usage{Calls: 1}},
		{"rounded up", "12345", "1", llm.Usage{Calls: 1, PromptTokens: 2, CompletionTokens: 1}},
		{"characters, not bytes", "éééé", "日本語の", llm.Usage{Calls: 1, PromptTokens: 1, CompletionTokens: 1}},
		{"long", strings.Repeat("x", 4000), strings.Repeat("x", 400),
			llm.Usage{Calls: 1, PromptTokens: 1000, CompletionTokens: 100}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			golden.Equal(t, tt.want, llm.Estimate(ask(tt.prompt), tt.reply))
		})
	}
	two := llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "123"}, {Role: llm.User, Text: "45"}}}
	if got := llm.Estimate(two, "").PromptTokens; got != 2 {
		t.Errorf("two messages of 5 characters are %d tokens, want 2", got)
	}
}

// TestMeasure: Trace fills the gaps of a usage that a model reports.
func TestMeasure(t *testing.T) {
	tests := []struct {
		why       string
		has, want llm.Usage
	}{
		{"the provider said nothing", llm.Usage{}, estimated},
		{"it said all", llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 8, Known: true},
			llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 8,
				Known: true}},
		{"the adapter forgot to count the call", llm.Usage{PromptTokens: 9, Known: true}, nine},
		{"an estimate of the adapter stays", llm.Usage{Calls: 1, PromptTokens: 5}, llm.Usage{Calls: 1, PromptTokens: 5}},
		{"several attempts", llm.Usage{Calls: 3, Partial: true}, llm.Usage{Calls: 3, PromptTokens: 2, CompletionTokens: 1,
			Partial: true}},
		{"less than nothing", llm.Usage{Calls: 1, PromptTokens: -100, CompletionTokens: 3, Known: true}, estimated},
		{"more than there is", llm.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: math.MaxInt, Known: true}, estimated},
		{"calls that were never made", llm.Usage{Calls: -1, PromptTokens: 9, Known: true}, estimated},
		{"money given back", llm.Usage{Calls: 1, PromptTokens: 9, Money: -1, Known: true}, nine},
		{"money that is no number", llm.Usage{Calls: 1, PromptTokens: 9, Money: math.NaN(), Known: true}, nine},
		{"money without end", llm.Usage{Calls: 1, PromptTokens: 9, Money: math.Inf(1), Known: true}, nine},
		{"known to be nothing, as a hit of a cache", llm.Usage{Known: true}, llm.Usage{Known: true}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: "1234", Usage: tt.has}, nil
			})
			ctx := trace.NewContext(t.Context(), trace.Tracer{}.New("question"))
			got, err := llm.Chain(model, llm.Trace()).Complete(ctx, ask("12345"))
			if diff := cmp.Diff(tt.want, got.Usage); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Usages of a call of 5 characters that was answered by 4, and of one with 9 tokens in its prompt.
var (
	estimated = llm.Usage{Calls: 1, PromptTokens: 2, CompletionTokens: 1}
	nine      = llm.Usage{Calls: 1, PromptTokens: 9, Known: true}
)
