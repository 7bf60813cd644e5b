package main

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/llm"
)

// TestRun: words and meaning pick another question, and the prompt shows the one of the meaning.
func TestRun(t *testing.T) {
	var out, prompts strings.Builder
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		for _, m := range req.Messages {
			prompts.WriteString(m.Text)
		}
		return llm.Response{Text: "SELECT sum(total) FROM orders"}, nil
	})
	if err := run(t.Context(), &out, concepts{}, model); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(strings.SplitN(text, "\n", 2)[0], "turnover") ||
		!strings.Contains(text, "meaning: What is the turnover") {
		t.Error(text)
	}
	if !strings.Contains(prompts.String(), "What is the turnover of 2024?") {
		t.Error(prompts.String())
	}
}
