// Package agent has methods in which a model looks at what its statements do before it answers: [ReAct], a loop of tools
// in text, and [Staged], a ladder of four agents that differ in one mechanism each.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(agent.ReAct{}))
//
// The source is MacKenzieOBrian/NLtoSQL; what is known of its mechanisms is in docs/lab/agent.md.
package agent
