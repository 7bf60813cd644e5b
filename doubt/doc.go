// Package doubt finds what does not fit between a question, a statement that was
// generated for it, and the result of the statement: more columns than the question
// names, several rows for "the oldest", a filter that nobody asked for.
//
// Each such rule is a reason to doubt the statement and no veto. Its finding goes
// onto the candidate, and [vote.Majority] with a Penalty lets it cost votes. The
// package calls no model and runs no statement.
//
//	rules := doubt.Rules{}
//	candidate.Findings = rules.Find(question, "", candidate, rows)
//	majority := vote.Majority{Penalty: 1, MaxDoubt: rules.Spread()}
//
// The method is ours: a count of simple doubts, each worth the same, keeps its gain
// from one benchmark to the next, where fitted weights of many features did not.
package doubt
