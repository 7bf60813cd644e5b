// Package trace records the steps of one answer, with their reasons. It sends no data: a trace is a tree of spans in
// memory. Read it with methods, as JSON ([Span.JSON]), as an HTML page ([Span.WritePage]), or live with a function
// ([Tracer.Observe]).
//
//	root := trace.Tracer{}.New("ask")
//	ctx := trace.NewContext(context.Background(), root)
//
//	ctx, span := trace.Start(ctx, "generate", trace.Attr{Key: "sample", Value: 0})
//	span.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
//	span.Set("sql", trace.PrivateSQL.Secret("SELECT 1"))
//	span.End()
//
//	root.End()
//	fmt.Println(root.Usage().Calls) // 1
//
// # Rules
//
//   - Code that works on an answer adds spans to the span in its context with [Start]. Without a span in the context,
//     Start returns a nil span, and every method of a nil span does nothing.
//   - Any goroutine may call any method at any time. Attributes and events keep the order of the calls, so let one
//     goroutine own a span if the trace is to be the same in every run.
//   - Start parallel children with [Span.StartAt] and their slot.
//   - Mark work that was cancelled in flight with [Span.Cancelled]. Such work still counts in [Span.Usage], but
//     [Span.Comparable] leaves it out.
//   - Names, keys and warning codes are constants in the code. Text from a database, a model or a person is a value,
//     never a key.
//
// # Private values
//
// A [Secret] is a private value. The tree is in the caller's memory and stores SQL; JSON and pages show SQL only on
// request. The tree stores prompts, replies and rows only if [Tracer.Keep] has their kinds. In place of a value that
// is left out, the trace shows its kind, its length and, for SQL and prompts, a hash. Do not put keys, passwords or
// whole provider responses into a trace. [Span.Fail] removes text that looks like a credential from errors.
//
// # The JSON form
//
// A document is an object with "version" (1), "started" (when the trace started, RFC 3339), "total" (the usage of all
// spans) and "root". A span is an object with "name", "at_ns" (since the trace started), "took_ns" or "open": true. If
// there are any, it also has "failure", "attrs" (an object in the order of setting), "warnings", "events", "usage" (its
// own), and the lists of spans "children" and "cancelled". Readers skip members that they do not know. A change that an
// old reader would misread raises the version.
package trace
