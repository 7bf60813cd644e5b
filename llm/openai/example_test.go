package openai_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
)

// The whole engine: OPENAI_API_KEY is in the environment.
func Example() {
	var db *sql.DB // opened for reading
	engine, _ := texttosql.New(db, openai.Model("gpt-5-mini"))
	answer, err := engine.Ask(context.Background(), "Which customers in the USA never ordered?")
	fmt.Println(answer.SQL, err)
}

// With OPENAI_API_KEY set, openai.Model("gpt-5-mini") is all.
func ExampleModel() {
	server := httptest.NewServer(answer(200, "", completion("SELECT count(*) FROM singer", "stop", "")))
	defer server.Close()

	model := openai.Client{BaseURL: server.URL + "/v1", Key: "key"}.Model("gpt-5-mini")
	reply, err := model.Complete(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}}})
	fmt.Println(reply.Text, reply.Usage.PromptTokens, reply.Usage.CompletionTokens, err)
	// Output: SELECT count(*) FROM singer 11 7 <nil>
}

// memory.Similar{Embedder: …} then finds exemplars by their meaning.
func ExampleEmbedder() {
	server := httptest.NewServer(answer(200, "", `{"data":[{"index":0,"embedding":[0.5,-0.5]}]}`))
	defer server.Close()

	embedder := openai.Client{BaseURL: server.URL + "/v1", Key: "key"}.Embedder("text-embedding-3-small")
	fmt.Println(embedder.EmbedQuery(context.Background(), "How many singers are there?"))
	// Output: [0.5 -0.5] <nil>
}
