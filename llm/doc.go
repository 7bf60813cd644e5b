// Package llm is the port to language models: one method, and middlewares for
// what every caller needs around it.
//
// It is not a client of any provider. An adapter is a function of ten lines, or
// package llm/langchain for the providers of langchaingo:
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
// A [Middleware] wraps a Model in another one, and [Chain] wraps it in several.
// They are written outermost first, and belong in this order:
//
//	model = llm.Chain(model,
//		llm.Record(recorder.Record),                    // sees what the caller sees
//		llm.Cache{}.Middleware(),                       // a hit costs nothing below
//		account.Middleware(),                           // Budget: one account a question
//		llm.Retry{}.Middleware(),                       // every attempt waits its turn again
//		llm.Limit{Concurrency: 8, PerMinute: 300}.Middleware(),
//		llm.Timeout(time.Minute),                       // of one attempt, waiting not included
//		llm.Trace(),                                    // one span an attempt
//	)
//
// The state of a middleware (the entries of a cache, the places of a limit)
// belongs to the Middleware value: models wrapped by one value share it.
//
// # Rules
//
//   - The error of a context that ended keeps its identity through every layer:
//     errors.Is(err, context.Canceled) holds when, and only when, the caller
//     cancelled.
//   - Failed calls are an [*Error] with a [Class]; ask [ClassOf]. [Trace], which
//     stands next to the adapter, makes one of whatever a model returns.
//   - Usage is never invented in silence: where a provider reports no tokens,
//     [Measure] estimates them, and Usage.Known is false.
//   - Error texts hold at most 200 bytes of what a provider said, scrubbed of
//     credentials ([Scrub]).
//
// Package llm/replay records and replays calls, llm/llmtest has a scripted
// model and a conformance suite.
package llm
