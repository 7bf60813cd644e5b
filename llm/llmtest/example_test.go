package llmtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func Example() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Contains: "How many singers", Replies: llmtest.Texts(
			"SELECT count(*) FROM singer",  // sample 0
			"SELECT count(*) FROM singers", // sample 1
		)},
		{Purpose: "judge", Replies: llmtest.Texts("A"), Repeat: true},
	}}
	resp, err := model.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
		Purpose:  "generate",
	})
	fmt.Println(resp.Text, err)
	// Output: SELECT count(*) FROM singer <nil>
}

// A model by purpose, text and sample.
func ExampleScript() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Contains: "How many singers", Replies: llmtest.Texts(
			"SELECT count(*) FROM singer",  // sample 0
			"SELECT count(*) FROM singers", // sample 1
		)},
		{Purpose: "judge", Replies: llmtest.Texts("A"), Repeat: true},
	}}
	for sample := range 3 {
		resp, err := model.Complete(context.Background(), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
			Purpose:  "generate",
			Sample:   sample,
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(resp.Text)
	}
	fmt.Println(len(model.Requests()), "requests")
	// Output:
	// SELECT count(*) FROM singer
	// SELECT count(*) FROM singers
	// llm: permanent: llmtest: no scripted reply to "generate", sample 2: rules [0] match, but have no reply left for this sample: "How many singers are there?"
	// 3 requests
}

// A call that fails once and then succeeds.
func ExampleRule_times() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 1, Replies: llmtest.Errors(&llm.Error{Class: llm.ClassRateLimit, Status: 429})},
		{Replies: llmtest.Texts("SELECT 1")},
	}}
	for range 2 {
		resp, err := model.Complete(context.Background(), llm.Request{})
		fmt.Printf("%q %v\n", resp.Text, err)
	}
	// Output:
	// "" llm: rate limit (status 429)
	// "SELECT 1" <nil>
}

// A slow model: the second sample takes longer than the caller waits.
func ExampleLatency() {
	model := llm.Chain(
		&llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 1"), Repeat: true}}},
		llmtest.Latency{BySample: []time.Duration{0, time.Hour}}.Middleware(),
	)
	resp, err := model.Complete(context.Background(), llm.Request{Sample: 0})
	fmt.Printf("%q %v\n", resp.Text, err)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	resp, err = model.Complete(ctx, llm.Request{Sample: 1})
	fmt.Printf("%q %v\n", resp.Text, err)
	// Output:
	// "SELECT 1" <nil>
	// "" context deadline exceeded
}

// How a model of one's own is held against the contract.
func ExampleConformance() {
	newModel := func(t *testing.T, b string) llm.Model {
		if b != "answers" {
			return nil // this model has no provider that could fail
		}
		return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if ctx.Err() != nil {
				return llm.Response{}, ctx.Err()
			}
			return llm.Response{Text: "SELECT 1"}, nil
		})
	}
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		llmtest.Conformance(t, newModel)
	}
	// Output:
}
