// Package trace records what was done for one answer, and why.
//
// It is not a client of a tracing system and sends nothing anywhere: a trace is
// a tree of spans in memory, read by methods, as JSON ([Span.JSON]), as one
// HTML page ([Page]), or live by a function ([Tracer.Observe]).
//
//	root := trace.New("ask")
//	ctx := trace.Into(context.Background(), root)
//
//	ctx, span := trace.Start(ctx, "generate", trace.Attr{Key: "draw", Value: 0})
//	span.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
//	span.Set("sql", trace.SQL("SELECT 1"))
//	span.End()
//
//	root.End()
//	fmt.Println(root.Usage().Calls) // 1
//
// # Rules
//
//   - Code that works on an answer takes its span from the context with [Start].
//     Without one there, every call is a no-op on a nil span.
//   - A span belongs to the goroutine that started it. Any goroutine may call
//     any method at any time, but the order of attributes and events is the
//     order of the calls: one owner a span is what makes it repeatable.
//   - Parallel children are started by [StartAt] with their slot.
//   - Work that was cancelled while in flight is marked by [Span.Cancelled]: it
//     still counts in [Span.Usage], and is left out of [Span.Comparable].
//   - Names, keys and warning codes are written in code. Text of a database, a
//     model or a person is a value, never a key.
//
// # Private values
//
// A value of type [SQL], [Prompt], [Reply] or [Rows] is private. SQL is held by
// the tree, which is the caller's memory, and written to JSON and pages only
// when asked for; the others are not even held unless asked for ([Tracer.Keep]).
// What is left out shows as [Withheld]: its kind, its length and, for SQL and
// prompts, a hash. Keys, passwords and whole provider bodies have no place in a
// trace; [Span.Fail] scrubs what looks like one from error texts.
package trace
