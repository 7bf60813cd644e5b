package maker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

// Report is Strategy's report on an answer, in Outcome.Report. From reports the four metrics of the document on M15
// can be computed. They are how often the scope was valid, the share of the filter, the number of different answers
// in the projection, and how often the fallback ran.
type Report struct {
	Phases []Phase `json:"phases"` // the phases in the order in which they ran
	// Fallback is the reason why the fallback had to answer, as in Phase.Fallback; "" if the phases answered.
	Fallback string `json:"fallback,omitempty"`
}

// Method returns "maker".
func (Report) Method() string { return "maker" }

// Phase is the result of one phase.
type Phase struct {
	Phase string `json:"phase"` // "scope", "filter", "projection"
	Valid bool   `json:"valid"` // the next phase can use the result

	Samples          int `json:"samples"`           // samples that count
	Flagged          int `json:"flagged"`           // samples without a vote, including failed ones
	UniqueSignatures int `json:"unique_signatures"` // different answers among the votes
	// most votes first; Key is the answer as text, Members are samples
	Clusters []vote.Cluster `json:"clusters,omitempty"`

	Winner string  `json:"winner,omitempty"` // the answer as text, or as SQL
	Share  float64 `json:"share"`            // the winner's share of the votes, in 0..1
	// why sampling ended: "decided", "all sampled", "all failed", "budget", "skipped"
	Stop string `json:"stop,omitempty"`

	// Fallback is the reason why the phase has no result: "scope_invalid" (no set of tables that can be joined had
	// votes), "quorum" (too few replies voted), "budget" (too few calls were left).
	Fallback string `json:"fallback,omitempty"`
	// Flags has the replies without a vote, by sample. Each has its Sample and a Reason, such as "unknown-name".
	Flags []flag `json:"flags,omitempty"`
}

// flag is a reply that does not vote, and why. It is neither repaired nor asked for again: malformed replies err more
// often, and alike (arXiv 2511.09030).
type flag struct {
	Sample int `json:"sample"` // index of the sample
	// Reason is "format" (not what was asked for), "unknown-name" (a table or column that does not exist, or
	// is not among the agreed tables), "too-long" (more tokens than an answer of its kind needs), "truncated" (cut at the
	// token limit), "refusal" (the model declined, or its provider held the reply back), "not-utf8" or "failed"; in
	// "projection" what the examiner says.
	Reason string `json:"reason"`
}

// The words of Phase.Fallback.
const (
	whyInvalid = "scope_invalid"
	whyQuorum  = "quorum"
	whyBudget  = "budget"
)

// story says in one line what became of the phases.
func (r Report) story() string {
	var parts []string
	for _, p := range r.Phases {
		part := fmt.Sprintf("%s: %d samples, %d flagged", p.Phase, p.Samples, p.Flagged)
		if p.Fallback != "" {
			part += ", " + p.Fallback
		}
		parts = append(parts, part)
	}
	return cmp.Or(strings.Join(parts, "; "), "no phase")
}
