package langchain_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

// provider stands in for a real one.
func provider(status int, header, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", header)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
}

func Example() {
	server := provider(200, "",
		`{"choices":[{"message":{"content":"SELECT count(*) FROM singer"},"finish_reason":"stop"}]}`)
	defer server.Close()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a database in memory belongs to its connection
	if _, err := db.Exec("CREATE TABLE singer (id INTEGER); INSERT INTO singer VALUES (1), (2)"); err != nil {
		log.Fatal(err)
	}

	client, err := openai.New(
		openai.WithBaseURL(server.URL), // leave both out for OpenAI itself
		openai.WithToken("key"),
		openai.WithModel("gpt-4o-mini"),
		openai.WithHTTPClient(langchain.HTTPClient(nil)),
	)
	if err != nil {
		log.Fatal(err)
	}
	engine, err := texttosql.New(db, langchain.Model(client))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := engine.Ask(context.Background(), "How many singers are there?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.SQL, answer.Rows.Rows)
	// Output: SELECT count(*) FROM singer [[2]]
}

func ExampleModel() {
	server := provider(200, "", `{"choices":[{"message":{"content":"SELECT count(*) FROM singer"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":52,"completion_tokens":8}}`)
	defer server.Close()

	client, err := openai.New(
		openai.WithBaseURL(server.URL), // leave it out for OpenAI itself
		openai.WithToken("key"),
		openai.WithModel("gpt-4o-mini"),
		openai.WithHTTPClient(langchain.HTTPClient(nil)),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := langchain.Model(client)
	reply, err := model.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
	})
	fmt.Println(reply.Text, reply.Usage.PromptTokens, reply.Usage.CompletionTokens, err)
	// Output: SELECT count(*) FROM singer 52 8 <nil>
}

// Models on one's own machine: an older server, no sampling, short replies.
func ExampleConfig_Model() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Temperature float64 `json:"temperature"`
			MaxTokens   int     `json:"max_tokens"`
		}
		json.NewDecoder(r.Body).Decode(&sent)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"temperature %g, at most %d tokens"}}]}`, sent.Temperature,
			sent.MaxTokens)
	}))
	defer server.Close()

	client, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("none"), openai.WithModel("local"))
	if err != nil {
		fmt.Println(err)
		return
	}
	model := langchain.Config{
		Temperature: new(float64), // 0
		MaxTokens:   1024,
		Options:     []llms.CallOption{openai.WithLegacyMaxTokensField()},
	}.Model(client)
	reply, err := model.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
	})
	fmt.Println(reply.Text, err)
	// Output: temperature 0, at most 1024 tokens <nil>
}

// What a provider says about waiting reaches the caller, and llm.Retry.
func ExampleHTTPClient() {
	server := provider(429, "20", `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`)
	defer server.Close()

	for _, client := range []*http.Client{http.DefaultClient, langchain.HTTPClient(nil)} {
		client, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("key"), openai.WithHTTPClient(client))
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = langchain.Model(client).Complete(context.Background(), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
		})
		var failed *llm.Error
		if errors.As(err, &failed) {
			fmt.Println(failed, "- wait", failed.RetryAfter)
		}
	}
	// Output:
	// llm: rate limit (status 429): Rate limit reached - wait 0s
	// llm: rate limit (status 429): Rate limit reached - wait 20s
}
