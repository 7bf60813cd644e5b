package strategy

import "github.com/texttosql/texttosql/vote"

// PhaseReport is what became of one phase of a strategy that decides step by
// step. The four metrics of the MAKER document are sums over them: how often the
// scope was valid, the consensus strength (Share) of the filter, the number of
// different answers in the projection, and how often the fallback ran.
type PhaseReport struct {
	Phase   string `json:"phase"`             // "scope", "filter", "projection"
	Attempt int    `json:"attempt,omitempty"` // how often the strategy had gone back before
	Valid   bool   `json:"valid"`             // the phase has an outcome to build on

	Draws            int            `json:"draws"`              // that count
	Flagged          int            `json:"flagged"`            // of them without a vote, failed ones included
	UniqueSignatures int            `json:"unique_signatures"`  // different answers among the votes
	Clusters         []vote.Cluster `json:"clusters,omitempty"` // most votes first; Key is the answer in words, Members are draws

	Winner   string  `json:"winner,omitempty"`   // the answer in words, as SQL where it is some
	Share    float64 `json:"share"`              // of the winner among the votes, in 0..1
	Stop     string  `json:"stop,omitempty"`     // why no more was drawn: "decided", "all drawn", "all failed", "budget", "skipped"
	Fallback string  `json:"fallback,omitempty"` // why the phase led nowhere: a Fallback… word
	Flags    []Flag  `json:"flags,omitempty"`    // by draw
}

// Flag is a reply that does not vote, and why. Flagged replies are neither
// repaired nor drawn anew: malformed replies err more often and alike
// (arXiv 2511.09030).
type Flag struct {
	Draw   int    `json:"draw"`   // which reply
	Reason string `json:"reason"` // a stable word: FlagFormat, FlagUnknown, …; in "projection" what Admission says
}

// Why a strategy gave up a phase or had to fall back.
const (
	FallbackScopeInvalid  = "scope_invalid"  // no set of tables that can be joined had votes
	FallbackScopeUnjoined = "scope_unjoined" // most replies named tables that nothing joins
	FallbackQuorum        = "quorum"         // too few replies voted
	FallbackConflict      = "conflict"       // the statements needed other tables, after the last way back
	FallbackBudget        = "budget"         // too few calls were left
)
