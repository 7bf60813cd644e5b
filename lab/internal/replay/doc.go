// Package replay lets recorded answers vote again.
//
// A [Pool] holds the answers of several samples or models to the same questions. Each answer becomes a candidate
// exactly as in a live question: extracted, guarded, planned, run, doubted. A [Voter] elects one of them. [Measure]
// says how often it was right, what it cost and how far its confidence can be trusted.
//
// Only this package knows whether an answer is right. A voter gets candidates without a verdict, and a voter that is
// fitted to verdicts is fitted on other questions than those that it votes on.
package replay
