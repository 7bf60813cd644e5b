package trace_test

import (
	"math"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/trace"
)

func TestUsageAdd(t *testing.T) {
	tests := []struct {
		why        string
		a, b, want trace.Usage
	}{
		{"what is not known makes the sum unknown", trace.Usage{Calls: 1, PromptTokens: 2, Known: true},
			trace.Usage{Calls: 1, PromptTokens: 3},
			trace.Usage{Calls: 2, PromptTokens: 5}},
		{"parts of tokens are added as the wholes are",
			trace.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 5, CachedTokens: 4, CacheWriteTokens: 2, ReasoningTokens: 3,
				Known: true},
			trace.Usage{Calls: 1, PromptTokens: 9, CompletionTokens: 5, CachedTokens: 3, CacheWriteTokens: 1, ReasoningTokens: 2,
				Known: true},
			trace.Usage{Calls: 2, PromptTokens: 18, CompletionTokens: 10, CachedTokens: 7, CacheWriteTokens: 3,
				ReasoningTokens: 5, Known: true}},
		{"no call makes nothing unknown", trace.Usage{Calls: 1, Known: true}, trace.Usage{},
			trace.Usage{Calls: 1, Known: true}},
		{"a sum beyond all numbers stays the largest", trace.Usage{Calls: 1, PromptTokens: math.MaxInt - 1},
			trace.Usage{Calls: 1, PromptTokens: 9},
			trace.Usage{Calls: 2, PromptTokens: math.MaxInt}},
		{"a price that is no number is left out", trace.Usage{Calls: 1, Money: 2, Known: true},
			trace.Usage{Calls: 1, Money: math.NaN(), Known: true},
			trace.Usage{Calls: 2, Money: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			golden.Equal(t, tt.want, tt.a.Add(tt.b))
		})
	}
}
