package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/trace"
)

// post stands in for the call of a provider.
func post(_ context.Context, messages []llm.Message, _ *float64, _ *int) (string, error) {
	return "SELECT count(*) FROM singer", nil
}

// An adapter of a provider is ten lines.
func Example() {
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		text, err := post(ctx, req.Messages, req.Temperature, req.MaxTokens)
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err() // whatever the provider says
		}
		if err != nil {
			return llm.Response{}, &llm.Error{Class: llm.ClassOverloaded, Err: err}
		}
		return llm.Response{Text: text}, nil
	})
	resp, err := model.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}},
	})
	fmt.Println(resp.Text, err)
	// Output: SELECT count(*) FROM singer <nil>
}

// What a call costs where the provider does not say.
func ExampleEstimate() {
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "How many singers are there?"}}}
	u := llm.Estimate(req, "SELECT count(*) FROM singer")
	fmt.Println(u.Calls, u.PromptTokens, u.CompletionTokens, u.Known)
	// Output: 1 7 7 false
}

// Traces, recordings and votes tell models apart by their names.
func ExampleNamed() {
	model := llm.Named("small", &llmtest.Script{})
	fmt.Println(llm.NameOf(llm.Chain(model, llm.Retry{}.Middleware())))
	// Output: small
}

// A model is one method. This one has no provider behind it.
func ExampleFunc() {
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err()
		}
		return llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd}, nil
	})
	resp, err := model.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "Give me one."}},
		Purpose:  "generate",
	})
	fmt.Println(resp.Text, err)
	// Output: SELECT 1 <nil>
}

// All middlewares, in the order in which they belong.
func ExampleChain() {
	model := llm.Named("m", &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 1, Replies: llmtest.Errors(&llm.Error{Class: llm.ClassOverloaded, Status: 503})},
		{Replies: llmtest.Texts("SELECT 1")},
	}})
	root := trace.Tracer{}.New("question")
	account := llm.Budget{Calls: 20}.Start()
	var recorded strings.Builder
	model = llm.Chain(model,
		replay.NewRecorder(&recorded).Record,
		account.Middleware(),
		llm.Retry{Base: time.Millisecond}.Middleware(),
		llm.Limit{Concurrency: 8, PerMinute: 300}.Middleware(),
		llm.Timeout(time.Minute),
		llm.Trace(),
	)

	ctx := trace.NewContext(context.Background(), root)
	for range 2 {
		if _, err := model.Complete(ctx,
			llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Give me one."}}}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("recorded:", strings.Count(recorded.String(), "\n"), "replies")
	fmt.Println("calls:", account.Usage().Calls)
	fmt.Println("spans:", len(root.Children()), "(one of them is an attempt that failed)")
	// Output:
	// recorded: 2 replies
	// calls: 3
	// spans: 3 (one of them is an attempt that failed)
}

// A budget belongs to a question: each question has its own account.
func ExampleBudget() {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 1"), Repeat: true}}}
	budget := llm.Budget{Calls: 2}

	for _, question := range []string{"How many singers?", "How many songs?"} {
		account := budget.Start()
		m := llm.Chain(model, account.Middleware())
		for sample := range 3 {
			_, err := m.Complete(context.Background(), llm.Request{
				Messages: []llm.Message{{Role: llm.User, Text: question}},
				Sample:   sample,
			})
			if errors.Is(err, llm.ErrBudget) {
				fmt.Printf("%s sample %d: %v\n", question, sample, err)
			}
		}
	}
	// Output:
	// How many singers? sample 2: llm: budget spent: calls: 2 of 2, 1 needed
	// How many songs? sample 2: llm: budget spent: calls: 2 of 2, 1 needed
}

// Prices turn tokens into money.
func ExampleBudget_money() {
	model := llm.Named("small", &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{
		{Text: "SELECT 1", Usage: llm.Usage{Calls: 1, PromptTokens: 1200, CompletionTokens: 40, Known: true}},
	}}}})
	account := llm.Budget{
		Money:  0.05,
		Prices: map[string]llm.Price{"small": {Prompt: 0.15, Completion: 0.60}}, // a million tokens
	}.Start()
	if _, err := llm.Chain(model, account.Middleware()).Complete(context.Background(), llm.Request{}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.6f\n", account.Usage().Money)
	// Output: 0.000204
}

// A provider that says how long to wait is given that time.
func ExampleRetry() {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Times: 1, Replies: llmtest.Errors(&llm.Error{Class: llm.ClassRateLimit, RetryAfter: 2 * time.Millisecond})},
		{Replies: llmtest.Texts("SELECT 1")},
	}}
	model := llm.Chain(script, llm.Retry{Attempts: 3, Base: time.Millisecond}.Middleware())
	resp, err := model.Complete(context.Background(), llm.Request{})
	fmt.Println(resp.Text, err, "in", resp.Usage.Calls, "attempts")
	// Output: SELECT 1 <nil> in 2 attempts
}

// One limit for all models of a provider.
func ExampleLimit() {
	provider := llm.Limit{Concurrency: 4, PerMinute: 500}.Middleware()
	small := provider(llm.Named("small", &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 1")}}}))
	large := provider(llm.Named("large", &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 2")}}}))
	for _, model := range []llm.Model{small, large} {
		resp, err := model.Complete(context.Background(), llm.Request{})
		fmt.Println(llm.NameOf(model), resp.Text, err)
	}
	// Output:
	// small SELECT 1 <nil>
	// large SELECT 2 <nil>
}

// The time-out of an attempt is not the deadline of the caller.
func ExampleTimeout() {
	slow := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{{Text: "SELECT 1", Delay: time.Hour}}}}}
	_, err := llm.Chain(slow, llm.Timeout(time.Millisecond)).Complete(context.Background(), llm.Request{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// llm: timeout: no reply within 1ms
	// false
}

// Every attempt leaves a span.
func ExampleTrace() {
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT 1", "SELECT 2")}}}
	model := llm.Chain(llm.Named("m", script), llm.Trace())
	root := trace.Tracer{}.New("ask")
	ctx := trace.NewContext(context.Background(), root)
	for sample := range 2 {
		if _, err := model.Complete(ctx, llm.Request{Purpose: "generate", Sample: sample}); err != nil {
			fmt.Println(err)
		}
	}
	for _, span := range root.Children() {
		sample, _ := span.Attr("sample")
		reply, _ := span.Attr("reply")
		fmt.Println(span.Name(), sample, reply)
	}
	// Output:
	// model call 0 reply not shown (8 bytes)
	// model call 1 reply not shown (8 bytes)
}

// What a caller asks of an error is its class.
func ExampleClassOf() {
	err := fmt.Errorf("sample 3: %w", &llm.Error{
		Class:      llm.ClassRateLimit,
		Status:     429,
		RetryAfter: 2 * time.Second,
		Message:    "too many requests for key=abc123",
	})
	fmt.Println(err)
	fmt.Println(llm.ClassOf(err))
	// Output:
	// sample 3: llm: rate limit (status 429): too many requests for key=***
	// rate-limit
}

// A middleware of one's own: a function that wraps a model and keeps its name.
func ExampleWrap() {
	politely := func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			// A copy: the request belongs to the caller.
			req.Messages = append([]llm.Message{{Role: llm.System, Text: "Please."}}, req.Messages...)
			return next.Complete(ctx, req)
		})
	}
	script := &llmtest.Script{Rules: []llmtest.Rule{{Contains: "Please.", Replies: llmtest.Texts("SELECT 1")}}}
	model := llm.Chain(llm.Named("m", script), politely)
	resp, err := model.Complete(context.Background(), llm.Request{})
	fmt.Println(llm.NameOf(model), resp.Text, err)
	// Output: m SELECT 1 <nil>
}
