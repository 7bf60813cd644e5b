// Package doubt finds mismatches between a question, a statement generated for it, and the result of the statement.
// Examples are more columns than the question names, several rows for "the oldest", and a filter that the question
// does not mention.
//
// A broken rule is a reason for doubt and does not reject the statement. It is a finding of the candidate, and
// [vote.Majority] with a Penalty reduces the votes for it. The package calls no model and runs no statement.
//
//	rules := doubt.Rules{}
//	candidate.Findings = rules.Find(question, "", candidate, rows)
//	majority := vote.Majority{Penalty: 1, MaxDoubt: rules.Spread()}
//
// The method is ours. A count of simple doubts with equal weights keeps its gain on other benchmarks. Fitted weights
// of many features did not.
package doubt
