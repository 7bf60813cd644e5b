// Package agent has methods in which a model looks at what its statements do before it answers: [ReAct], a loop of tools
// in text, and [Staged], a ladder of four agents that differ in one mechanism each.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(agent.ReAct{}))
//
// The source is MacKenzieOBrian/NLtoSQL; what is known of its mechanisms is in docs/lab/agent.md.
//
// The staged agent differs from its description in these. GROUP BY is taken out where one number is asked for, and not of
// a list: measured, it changed no answer there and doubted right ones (docs/lab/rejected.md). Letter-spaced keywords
// (S E L E C T) are refused. The case of names stays: engines fold it, and mending a text may change a literal.
package agent
