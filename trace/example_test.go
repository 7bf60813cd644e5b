package trace_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/texttosql/texttosql/trace"
)

func Example() {
	root := trace.Tracer{}.New("ask")
	ctx := trace.NewContext(context.Background(), root)

	_, span := trace.Start(ctx, "generate", trace.Attr{Key: "sample", Value: 0})
	span.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
	span.Set("sql", trace.PrivateSQL.Secret("SELECT 1"))
	span.End()

	root.End()
	doc, err := root.Comparable()
	fmt.Printf("%s%v\n", doc, err)
	// Output:
	// {
	// 	"version": 1,
	// 	"total": {
	// 		"calls": 1,
	// 		"prompt_tokens": 512,
	// 		"completion_tokens": 48,
	// 		"known": true
	// 	},
	// 	"root": {
	// 		"name": "ask",
	// 		"children": [
	// 			{
	// 				"name": "generate",
	// 				"attrs": {
	// 					"sample": 0,
	// 					"sql": {
	// 						"private": "sql",
	// 						"text": "SELECT 1"
	// 					}
	// 				},
	// 				"usage": {
	// 					"calls": 1,
	// 					"prompt_tokens": 512,
	// 					"completion_tokens": 48,
	// 					"known": true
	// 				}
	// 			}
	// 		]
	// 	}
	// }
	// <nil>
}

// Parallel samples keep their order whatever the timing; the vote comes after them.
func ExampleSpan_StartAt() {
	root := trace.Tracer{}.New("ask")
	ctx := trace.NewContext(context.Background(), root)

	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			_, sample := trace.FromContext(ctx).StartAt(ctx, i, fmt.Sprint("sample ", i))
			defer sample.End()
		})
	}
	wg.Wait()
	_, vote := trace.Start(ctx, "vote")
	vote.End()

	for s := range root.All() {
		fmt.Println(s.Name())
	}
	// Output:
	// ask
	// sample 0
	// sample 1
	// sample 2
	// vote
}

// Progress as it happens, from the spans themselves.
func ExampleTracer_observe() {
	t := trace.Tracer{Observe: func(n trace.Notice) {
		if n.Kind == "ended" {
			fmt.Println("done:", n.Span.Name(), n.Span.Failure())
		}
	}}
	root := t.New("ask")
	_, s := trace.Start(trace.NewContext(context.Background(), root), "check")
	s.Fail(errors.New("no such column: nme"))
	s.End()
	root.End()
	// Output:
	// done: check no such column: nme
	// done: ask
}

// Sensitivity values leave a trace only when they are asked for.
func ExampleTracer_keep() {
	for _, keep := range []trace.Sensitivity{0, trace.PrivateSQL | trace.PrivateReplies} {
		root := trace.Tracer{Keep: keep, Now: func() time.Time { return time.Unix(0, 0) }}.New("ask")
		root.Set("reply", reply("```sql\nSELECT 1\n```"))
		root.Set("sql", trace.PrivateSQL.Secret("SELECT 1"))
		for _, a := range root.Attrs() {
			fmt.Printf("%s: %q\n", a.Key, a.Value)
		}
	}
	// Output:
	// reply: "reply not shown (19 bytes)"
	// sql: "SELECT 1"
	// reply: "```sql\nSELECT 1\n```"
	// sql: "SELECT 1"
}

// What was given up still costs, and is no part of a comparison.
func ExampleSpan_Cancelled() {
	root := trace.Tracer{}.New("ask")
	ctx := trace.NewContext(context.Background(), root)
	_, a := trace.FromContext(ctx).StartAt(ctx, 0, "sample")
	a.AddUsage(trace.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 20, Known: true})
	_, b := trace.FromContext(ctx).StartAt(ctx, 1, "sample")
	b.AddUsage(trace.Usage{Calls: 1, PromptTokens: 100, Partial: true})
	b.Cancelled()

	u := root.Usage()
	fmt.Println(len(root.Children()), len(root.CancelledChildren()))
	fmt.Println(u.Calls, u.PromptTokens, u.Known, u.Partial)
	// Output:
	// 1 1
	// 2 200 false true
}

func ExampleNotice_Log() {
	l := slog.New(slog.NewTextHandler(os.Stdout,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	root := trace.Tracer{Observe: func(n trace.Notice) { n.Log(context.Background(), l, 0) }}.New("ask")
	root.Warn("schema-linked", "2 of 11 tables were chosen")
	root.End() // logged at debug level
	// Output:
	// level=WARN msg=warning span=ask code=schema-linked message="2 of 11 tables were chosen"
}

func ExampleRedactCredentials() {
	fmt.Println(trace.RedactCredentials("dial postgres://shop:hunter2@db/shop?sslkey=abc: refused"))
	// Output: dial postgres://shop:***@db/shop?sslkey=*** refused
}

func ExampleUsage_Add() {
	a := trace.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 20, Known: true}
	b := trace.Usage{Calls: 1, PromptTokens: 80} // the provider reported no tokens
	fmt.Printf("%+v\n", a.Add(b))
	// Output: {Calls:2 PromptTokens:180 CompletionTokens:20 CachedTokens:0 CacheWriteTokens:0 ReasoningTokens:0 Money:0 Known:false Partial:false}
}
