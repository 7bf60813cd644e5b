// Package llmtest has what tests of code around language models need: a model
// that answers from a script, simulated latency, and a suite that any
// implementation of llm.Model can be held against.
//
// It is not for measuring how good answers are: a script says what it was told.
//
//	model := &llmtest.Script{Rules: []llmtest.Rule{
//		{Purpose: "generate", Contains: "How many singers", Replies: llmtest.Texts(
//			"SELECT count(*) FROM singer", // draw 0
//			"SELECT count(*) FROM singers", // draw 1
//		)},
//		{Purpose: "judge", Replies: llmtest.Texts("A"), Repeat: true},
//	}}
//
// A request that no rule answers is an error that names it, never a silent
// repeat of some other reply.
package llmtest
