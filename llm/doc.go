// Package llm is the port to language models: an interface with one method, and middlewares for retries, limits and
// traces. It is not a client of a provider: llm/openai, llm/anthropic and the module llm/gemini are, and
// llm/langchain adapts the providers of langchaingo. Your own adapter is a function of ten lines:
//
//	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
//		text, err := post(ctx, req.Messages, req.Temperature, req.MaxTokens)
//		if ctx.Err() != nil {
//			return llm.Response{}, ctx.Err() // whatever the provider says
//		}
//		if err != nil {
//			return llm.Response{}, &llm.Error{Class: llm.ClassOverloaded, Err: err}
//		}
//		return llm.Response{Text: text}, nil
//	})
//
// # Middlewares
//
// A [Middleware] wraps a Model in another one, and [Chain] wraps it in several. They are written outermost first, in
// this order:
//
//	model = llm.Chain(model,
//		recorder.Record,          // llm/replay: records what the caller sees
//		account.Middleware(),     // Budget: one account a question
//		llm.Retry{}.Middleware(), // every attempt waits its turn again
//		llm.Limit{Concurrency: 8, PerMinute: 300}.Middleware(),
//		llm.Timeout(time.Minute), // of one attempt, waiting not included
//		llm.Trace(),              // one span an attempt
//	)
//
// The state of a middleware, such as the places of a limit, belongs to the Middleware value. Models that are wrapped by
// one value share it. A cache of replies, a second request for a slow one and a circuit breaker are policies of
// failsafe-go: examples/resilience makes a Middleware of them.
//
// # Rules
//
//   - The error of a context that ended keeps its identity through every layer: errors.Is(err, context.Canceled) holds
//     if, and only if, the caller cancelled.
//   - A failed call ends with an [*Error], which has a [Class]; see [ClassOf]. [Trace], the innermost middleware,
//     turns every other error into one.
//   - Tokens that a provider does not report are estimated ([Estimate]), and then Usage.Known is false.
//   - Error texts hold at most 200 bytes of a provider's words, without credentials.
//
// Package llm/replay records and replays calls. Package llm/llmtest has a scripted model and a conformance suite.
package llm
