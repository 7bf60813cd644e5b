package strategy

import (
	"context"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// Judge chooses between the answers of a vote that is too close. Rubric implements it. The vote decides if the judge
// returns an error, or a Verdict whose Choice is negative or out of range. The calls of a failed judge are reported
// too.
type Judge interface {
	Choose(ctx context.Context, env *Env, in JudgeInput) (Verdict, error)
}

// JudgeInput is the input of a Judge.
type JudgeInput struct {
	Task    Task           // the question
	Schema  *schema.Schema // the schema as the samples were shown it
	Options []JudgeOption  // one per answer, at least two, the leader first
	Samples int            // number of samples in the vote; 0: unknown
}

// JudgeOption is one of the answers.
type JudgeOption struct {
	vote.Candidate     // the best of those that agree
	Votes          int // samples that agree
}

// JudgeOptions returns the answers of a vote, the leader first: the clusters of the Ballot, each with the candidate
// that represents it. Candidates without a vote are in no option.
func (o *Outcome) JudgeOptions() (options []JudgeOption) {
	for _, c := range o.Ballot.Clusters {
		options = append(options, JudgeOption{o.Candidates[c.Best], len(c.Members)})
	}
	return options
}

// Verdict is the decision of a Judge.
type Verdict struct {
	Choice int   `json:"choice"` // index of the option; negative: no choice, and the vote stands
	Votes  []int `json:"votes"`  // calls that chose each option; nil: unknown
	// Calls has the calls of a Rubric, in the order in which they were made. Each has the index of the First option
	// shown, its Choice (-1: no vote), Confidence, Reason, Evaluations, and the Problem of a call without a vote.
	// nil: unknown.
	Calls []verdictCall `json:"calls"`

	// Report has further results of the judge. A Pipeline makes it the Report of the Outcome. nil: none.
	Report Report `json:"-"`
}

// verdictCall is what one call said.
type verdictCall struct {
	First       int      `json:"first"`                 // index of the option that stood first
	Choice      int      `json:"choice"`                // index of the option; -1: no vote
	Confidence  float64  `json:"confidence,omitempty"`  // the model's own, unused; 0: it gave none in 0..1
	Reason      string   `json:"reason,omitempty"`      // the model's, in one line of at most 300 runes
	Evaluations []string `json:"evaluations,omitempty"` // the model's text about each option, by index
	Problem     string   `json:"problem,omitempty"`     // why the call has no vote
}
