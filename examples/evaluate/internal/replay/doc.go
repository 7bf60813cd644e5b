// Package replay lets recorded answers vote again.
//
// A [Pool] is the answers of several draws or models to the same questions, each
// made into a candidate exactly as a live question makes it: extracted, guarded,
// planned, run, doubted. A [Voter] elects one of them, and [Measure] says how
// often it was right, what it cost and how far its confidence can be trusted.
//
// Whether an answer is right is known here and nowhere below: a voter is given
// candidates, which hold no verdict, and one that is fitted to verdicts is
// fitted on other questions than those it votes on.
package replay
