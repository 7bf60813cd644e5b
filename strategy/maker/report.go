package maker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/vote"
)

// Report is what Strategy tells about an answer, in Outcome.Report. The four metrics of the document on M15 are sums
// over it: how often the scope was valid, the share of the filter, the number of different answers in the projection,
// and how often the fallback ran.
type Report struct {
	Phases []Phase `json:"phases"` // the phases in the order in which they ran
	// Fallback says why another strategy had to answer, in a word of Phase.Fallback; "" where none had to.
	Fallback string `json:"fallback,omitempty"`
}

// Method is "maker".
func (Report) Method() string { return "maker" }

// Phase is what became of one phase.
type Phase struct {
	Phase string `json:"phase"` // "scope", "filter", "projection"
	Valid bool   `json:"valid"` // the phase has an outcome to build on

	Samples          int            `json:"samples"`            // samples that count
	Flagged          int            `json:"flagged"`            // samples without a vote, failed ones included
	UniqueSignatures int            `json:"unique_signatures"`  // different answers among the votes
	Clusters         []vote.Cluster `json:"clusters,omitempty"` // most votes first; Key is the answer in words, Members are samples

	Winner string  `json:"winner,omitempty"` // the answer in words, as SQL where it is some
	Share  float64 `json:"share"`            // the winner's share of the votes, in 0..1
	Stop   string  `json:"stop,omitempty"`   // why no more was sampled: "decided", "all sampled", "all failed", "budget", "skipped"

	// Fallback says why the phase led nowhere: "scope_invalid" (no set of tables that can be joined had votes),
	// "scope_unjoined" (most replies named tables that nothing joins), "quorum" (too few replies voted), "budget" (too
	// few calls were left).
	Fallback string `json:"fallback,omitempty"`
	Flags    []Flag `json:"flags,omitempty"` // the flags by sample
}

// Flag is a reply that does not vote, and why. It is neither repaired nor asked for again: malformed replies err more
// often, and alike (arXiv 2511.09030).
type Flag struct {
	Sample int `json:"sample"` // index of the sample
	// Reason is "format" (not what was asked for), "unknown-name" (a table or column that does not exist),
	// "outside-scope" (one outside of the agreed tables), "correction" (it goes against one of the user), "too-long" (more
	// tokens than an answer of its kind needs), "truncated" (cut at the token limit), "refusal" (the model declined, or its
	// provider held the reply back), "not-utf8" or "failed"; in "projection" what the examiner says.
	Reason string `json:"reason"`
}

// The words of Phase.Fallback.
const (
	whyInvalid  = "scope_invalid"
	whyUnjoined = "scope_unjoined"
	whyQuorum   = "quorum"
	whyBudget   = "budget"
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
