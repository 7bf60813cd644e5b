package qasql

import (
	"fmt"
	"math"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/strategy"
)

// Report is what Strategy tells about an answer, in Outcome.Report. The attempts of each candidate are in Outcome.Steps.
type Report struct {
	Linking  linker.MapReduceResult `json:"study"`    // components of the question, scores of the tables
	Contexts []ContextReport        `json:"contexts"` // the contexts in the order of Strategy.Contexts

	Asked      int               `json:"asked"`                 // samples asked for; that of the last resort has the next index
	Clusters   int               `json:"clusters"`              // different answers; of JudgeFirst, texts that were not rejected
	JudgeCalls int               `json:"judge_calls"`           // verdicts of a model; 0: the judge was not asked, or is no strategy.Rubric
	Verdict    *strategy.Verdict `json:"verdict,omitempty"`     // strategy.Rubric's verdict, JudgeFirst's last one; its options are the vote's, largest first
	LastResort bool              `json:"last_resort,omitempty"` // the answer is a simple statement in place of those that failed
}

// ContextReport is one view of the schema.
type ContextReport struct {
	ID      string `json:"id"`                // "Q1" and so on, by the place in Strategy.Contexts
	Name    string `json:"name"`              // name of the Context
	Skipped string `json:"skipped,omitempty"` // "no_sme", "no_profile" or "duplicate_of:NAME": no statement was asked for
	Focused bool   `json:"focused,omitempty"` // the whole schema was too long: the linked part was shown
	Tokens  int    `json:"tokens,omitempty"`  // tokens of the prompt, estimated
}

// Method is "qasql".
func (Report) Method() string { return "qasql" }

// Candidate names a sample by its context: "Q2 sme_metadata", its second draw "Q2.2 sme_metadata".
func (r Report) Candidate(sample int) string {
	var asked []ContextReport
	for _, c := range r.Contexts {
		if c.Skipped == "" {
			asked = append(asked, c)
		}
	}
	if sample < 0 || sample >= r.Asked || len(asked) == 0 {
		return "last resort"
	}
	c, draw := asked[sample%len(asked)], sample/len(asked)+1
	if draw > 1 {
		return fmt.Sprintf("%s.%d %s", c.ID, draw, c.Name)
	}
	return c.ID + " " + c.Name
}

// told completes the outcome.
func (r *run) told(out *strategy.Outcome) *strategy.Outcome {
	out.Links, out.Notes = r.report.Linking.Links, append(r.notes, out.Notes...)
	for i := range out.Steps {
		out.Steps[i].Name = r.report.Candidate(out.Steps[i].Sample)
	}
	r.report.Clusters = len(out.Ballot.Clusters)
	if out.SQL != "" {
		out.Confidence = r.confidence(out)
	}
	out.Report = r.report
	return out
}

// confidence is the share of the candidates, failed ones included, and of the judge's calls that are for the winner,
// times e^(−doubt/2) as in vote.Ballot. A sole survivor of five has 0.2.
func (r *run) confidence(out *strategy.Outcome) float64 {
	winner, all := out.Ballot.Clusters[0], r.report.Asked+r.report.JudgeCalls
	if r.report.LastResort {
		all++
	}
	return float64(len(winner.Members)+r.votes[winner.SQL]) / float64(all) * math.Exp(-winner.Doubt/2)
}
