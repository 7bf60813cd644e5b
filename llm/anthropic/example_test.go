package anthropic_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/anthropic"
)

// With ANTHROPIC_API_KEY set, anthropic.Model("claude-sonnet-4-5") is all.
func ExampleModel() {
	server := httptest.NewServer(answer(200, "", message("SELECT count(*) FROM singer", "end_turn", "")))
	defer server.Close()

	model := anthropic.Client{BaseURL: server.URL, Key: "key"}.Model("claude-sonnet-4-5")
	reply, err := model.Complete(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}}})
	fmt.Println(reply.Text, reply.Usage.PromptTokens, reply.Usage.CompletionTokens, err)
	// Output: SELECT count(*) FROM singer 11 7 <nil>
}
