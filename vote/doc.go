// Package vote counts candidates: which of several generated statements wins, how
// sure one can be, and when drawing more of them cannot change it.
//
// It does no I/O: it calls no model and runs no SQL. Candidates carry what
// package exec found out about them. Drawing them is the work of
// strategy.Election; fitting a calibration that of package eval. Nothing here
// takes a right answer but the functions …FromLabels, which make weights of
// questions set aside for it, and Weights.Feedback, which takes a person's verdict
// after the vote.
//
//	ballot, err := vote.Majority{Key: vote.ByResult, Penalty: 1}.Count(candidates)
//	winner, err := ballot.Winner()
//	fmt.Println(winner.SQL, ballot.Confidence, ballot.Explain())
//
// What may be combined:
//
//   - a [Key] says which candidates are equal: [ByResult], [ByPlan], [ByText],
//     [BySet];
//   - [Majority] counts, with weights ([Weights], [Panel], [ByPosition]), with
//     doubts, and softly ([RowOverlap]);
//   - [Doubts] finds what does not fit between a question, a statement and its
//     result;
//   - a [Stop] ends an election early: [Decided], [AheadBy], [Posterior]; a
//     [Wave] says how many draws to send at once; a [Counter] counts as they come.
package vote
