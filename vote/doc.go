// Package vote counts candidates. It decides which of several generated statements wins, computes the confidence of
// its answer, and detects when more samples cannot change the winner.
//
// The package calls no model and runs no SQL. Candidates have the facts from package exec and the findings from
// package doubt. strategy.Election makes the samples.
//
//	ballot, err := vote.Majority{Key: vote.ByResult}.Count(candidates)
//	winner, err := ballot.Winner()
//	fmt.Println(winner.SQL, ballot.Confidence, ballot.Explain())
//
// The parts:
//
//   - Majority.Key defines which candidates are equal: [ByResult], [ByPlan], [ByText];
//   - [Majority] counts, with weights and doubts;
//   - a [Stop] ends an election early: [Decided], [AheadBy], [Posterior];
//   - a [State] is the state of an unfinished vote.
package vote
