package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
)

func TestReadPrices(t *testing.T) {
	for _, tt := range []struct {
		why, list string
		want      map[string]llm.Price
		err       string
	}{
		{"all members", `[{"model":"a","input":1,"cached":0.1,"cache_write":1.25,"output":4,"date":"2026-11-20"}]`,
			map[string]llm.Price{"a": {Prompt: 1, Cached: 0.1, CacheWrite: 1.25, Completion: 4}}, ""},
		{"what is free, and every other model", `[{"model":"","input":0,"output":0,"date":"2026-11-20"}]`,
			map[string]llm.Price{"": {}}, ""},
		{"the youngest counts, wherever it stands",
			`[{"model":"a","input":2,"output":2,"date":"2026-11-20"},{"model":"a","input":1,"output":1,"date":"2025-01-01"}]`,
			map[string]llm.Price{"a": {Prompt: 2, Completion: 2}}, ""},
		{"nothing", `[]`, map[string]llm.Price{}, ""},
		{"no list", `{"model":"a"}`, nil, "reading the price list"},
		{"something behind it", `[] []`, nil, "behind it"},
		{"a member that nobody knows", `[{"modell":"a"}]`, nil, "modell"},
		{"no output", `[{"model":"a","input":1,"date":"2026-11-20"}]`, nil,
			"entry 0 of the price list needs model, input and output"},
		{"no date", `[{"model":"a","input":1,"output":1}]`, nil, `entry 0 of the price list, "a": the date`},
		{"a negative price", `[{"model":"a","input":1,"cached":-1,"output":1,"date":"2026-11-20"}]`, nil, "negative"},
	} {
		got, err := llm.ReadPrices(strings.NewReader(tt.list))
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.err == "") || err != nil &&
			!strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.why, err, diff)
		}
	}
}

func TestPriceOf(t *testing.T) {
	u := llm.Usage{PromptTokens: 1_000_000, CachedTokens: 600_000, CacheWriteTokens: 300_000, CompletionTokens: 500_000,
		ReasoningTokens: 400_000}
	for _, tt := range []struct {
		why   string
		price llm.Price
		want  float64
	}{
		{"each part at its own price; reasoning is part of what comes back", llm.Price{Prompt: 10, Cached: 1, CacheWrite: 20,
			Completion: 2}, 1 + 0.6 + 6 + 1},
		{"without prices of a cache all of the prompt has one", llm.Price{Prompt: 10, Completion: 2}, 11},
	} {
		if got := tt.price.Of(u); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

func ExampleReadPrices() {
	prices, err :=
		llm.ReadPrices(
			strings.NewReader(`[{"model": "small", "input": 0.25, "cached": 0.025, "output": 2, "date": "2026-11-20"}]`))
	fmt.Printf("%.4f %v\n", prices["small"].Of(llm.Usage{PromptTokens: 4000, CachedTokens: 3000, CompletionTokens: 500}),
		err)
	// Output: 0.0013 <nil>
}
