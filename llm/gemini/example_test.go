package gemini_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"google.golang.org/genai"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/gemini"
)

// With GEMINI_API_KEY set, gemini.Model("gemini-2.5-flash") is all.
func ExampleClient() {
	server := httptest.NewServer(answer(200, "", candidate("SELECT count(*) FROM singer", "STOP", "")))
	defer server.Close()

	client := gemini.Client{Config: genai.ClientConfig{APIKey: "key", HTTPOptions: genai.HTTPOptions{BaseURL: server.URL}}}
	model := client.Model("gemini-2.5-flash")
	reply, err := model.Complete(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}}})
	fmt.Println(reply.Text, reply.Usage.PromptTokens, reply.Usage.CompletionTokens, err)
	// Output: SELECT count(*) FROM singer 11 7 <nil>
}
