// Package trace records what was done for one answer, and why. It sends nothing anywhere: a trace is a tree of spans in
// memory. Read it by methods, as JSON ([Span.JSON]), as one HTML page ([Page]), or live by a function ([Tracer.Observe]).
//
//	root := trace.New("ask")
//	ctx := trace.Into(context.Background(), root)
//
//	ctx, span := trace.Start(ctx, "generate", trace.Attr{Key: "sample", Value: 0})
//	span.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
//	span.Set("sql", trace.SQL("SELECT 1"))
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
//   - Start parallel children with [StartAt] and their slot.
//   - Mark work that was cancelled in flight with [Span.Cancelled]. It still counts in [Span.Usage], and is left out of
//     [Span.Comparable].
//   - Names, keys and warning codes are written in code. Text of a database, a model or a person is a value, never a key.
//
// # Private values
//
// A [Secret] is a private value. The tree, which is the caller's memory, holds SQL; JSON and pages show it only when
// asked to. Prompts, replies and rows are not even held unless [Tracer.Keep] asks for them. A value that is left out shows
// its kind, its length and, for SQL and prompts, a hash. Keys, passwords and whole provider bodies do not belong into a
// trace; [Span.Fail] removes what looks like one from error texts.
//
// # The JSON form
//
// A document is an object with "version" (1), "started" (when the trace started, RFC 3339), "total" (the usage of all
// spans) and "root". A span is an object with "name", "at_ns" (since the trace started), "took_ns" or "open": true. If
// there are any, it also has "failure", "attrs" (an object in the order of setting), "warnings", "events", "usage" (its
// own), and the lists of spans "children" and "cancelled". Readers skip members that they do not know. A change that an old
// reader would misread raises the version.
package trace
