// Package llmtest helps to test code around language models: a model that answers from a script, simulated latency, and
// a conformance suite for implementations of llm.Model. It does not measure how good answers are.
//
//	model := &llmtest.Script{Rules: []llmtest.Rule{
//		{Purpose: "generate", Contains: "How many singers", Replies: llmtest.Texts(
//			"SELECT count(*) FROM singer", // sample 0
//			"SELECT count(*) FROM singers", // sample 1
//		)},
//		{Purpose: "judge", Replies: llmtest.Texts("A"), Repeat: true},
//	}}
//
// If no rule answers a request, the call fails with an error that names the request. A Script never uses the reply of
// another rule instead.
package llmtest
