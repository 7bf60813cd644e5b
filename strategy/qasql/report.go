package qasql

import (
	"fmt"
	"math"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/strategy"
)

// Report is Strategy's report on an answer, in Outcome.Report. Outcome.Steps has the attempts of each candidate.
type Report struct {
	Linking linker.MapReduceResult `json:"study"` // components of the question, scores of the tables
	// Contexts has the contexts in the order of Strategy.Contexts. Each has its ID ("Q1" and so on), Name,
	// Skipped (why it has no statement: "no_sme", "no_profile", "duplicate_of:NAME"), Focused and the
	// estimated Tokens of its prompt.
	Contexts []contextReport `json:"contexts"`

	Asked      int `json:"asked"`       // number of samples; the last resort has the next index
	Clusters   int `json:"clusters"`    // answers; for JudgeFirst, accepted texts
	JudgeCalls int `json:"judge_calls"` // model verdicts; 0: no call, or not a strategy.Rubric
	// of strategy.Rubric, the last for JudgeFirst; options as in the vote, largest first
	Verdict    *strategy.Verdict `json:"verdict,omitempty"`
	LastResort bool              `json:"last_resort,omitempty"` // all statements failed; a simple one is the answer
}

// contextReport is one view of the schema.
type contextReport struct {
	ID      string `json:"id"`                // "Q1" and so on, by the place in Strategy.Contexts
	Name    string `json:"name"`              // name of the Context
	Skipped string `json:"skipped,omitempty"` // "no_sme", "no_profile" or "duplicate_of:NAME": no statement was asked for
	Focused bool   `json:"focused,omitempty"` // the whole schema was too long: the linked part was shown
	Tokens  int    `json:"tokens,omitempty"`  // tokens of the prompt, estimated
}

// Method is "qasql".
func (Report) Method() string { return "qasql" }

// Candidate names a sample by its context: "Q2 sme_metadata"; its second sample is "Q2.2 sme_metadata".
func (r Report) Candidate(sample int) string {
	var asked []contextReport
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
