package trace_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/trace"
)

func Example() {
	root := trace.New("ask")
	ctx := trace.Into(context.Background(), root)

	_, span := trace.Start(ctx, "generate", trace.Attr{Key: "draw", Value: 0})
	span.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
	span.Set("sql", trace.SQL("SELECT 1"))
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
	// 					"draw": 0,
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
