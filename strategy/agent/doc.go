// Package agent has methods in which a model sees the results of its statements before it answers. [ReAct] is a loop
// of tools in text. [Staged] is a series of four agents that differ in one mechanism each.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(agent.ReAct{}))
//
// The source is MacKenzieOBrian/NLtoSQL; docs/lab/agent.md describes measurements of its mechanisms.
//
// The staged agent differs from its description in three points:
//   - GROUP BY is removed if the question wants one number, but not if it wants a list. Measured, the removal for
//     lists changed no answer and doubted right ones (docs/lab/rejected.md).
//   - Letter-spaced keywords (S E L E C T) are refused.
//   - The case of names stays: engines fold it, and changing a text may change a literal.
package agent
