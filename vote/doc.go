// Package vote counts candidates: which of several generated statements wins, how
// sure its answer is, and when more samples cannot change the winner.
//
// The package calls no model and runs no SQL. Candidates carry what package exec
// found out about them, and the findings of the rules of package doubt.
// strategy.Election samples the samples. Package eval fits a [Calibration].
//
//	ballot, err := vote.Majority{Key: vote.ByResult}.Count(candidates)
//	winner, err := ballot.Winner()
//	fmt.Println(winner.SQL, ballot.Confidence, ballot.Explain())
//
// The parts:
//
//   - a [Key] says which candidates are equal: [ByResult], [ByPlan], [ByText];
//   - [Majority] counts, with weights of models and with doubts;
//   - a [Stop] ends an election early: [Decided], [AheadBy], [Posterior];
//   - a [State] is the state of a vote that goes on.
package vote
