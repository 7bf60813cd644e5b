package strategy

import (
	"context"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// Judge chooses between the answers of a vote that is too close. Rubric is one. A Verdict whose Choice is negative or
// names no option leaves the vote as it is; so does an error. The calls of a failed judge are told all the same.
type Judge interface {
	Choose(ctx context.Context, env *Env, in JudgeInput) (Verdict, error)
}

// JudgeInput is the choice.
type JudgeInput struct {
	Task    Task           // what is asked
	Schema  *schema.Schema // the schema as the samples were shown it
	Options []JudgeOption  // one an answer, at least two, the leader first
	Samples int            // how many samples the votes are out of; 0: not known
}

// JudgeOption is one of the answers.
type JudgeOption struct {
	vote.Candidate     // the best of those that agree
	Votes          int // samples that agree
}

// JudgeOptions are the answers of a vote, the leader first: the clusters of the Ballot of out, each with the candidate that
// represents it. Candidates without a vote are in none.
func JudgeOptions(out *Outcome) (options []JudgeOption) {
	for _, c := range out.Ballot.Clusters {
		options = append(options, JudgeOption{out.Candidates[c.Best], len(c.Members)})
	}
	return options
}

// Verdict is what a Judge found.
type Verdict struct {
	Choice int           `json:"choice"` // index of the option; negative: none, and the vote stands
	Votes  []int         `json:"votes"`  // calls that chose each option; nil: not told
	Calls  []VerdictCall `json:"calls"`  // what the calls said, in the order in which they were made; nil: not told

	// Report is what the judge has to tell beyond that. A Pipeline makes it the Report of the Outcome. nil: nothing.
	Report Report `json:"-"`
}

// VerdictCall is what one call said.
type VerdictCall struct {
	First       int      `json:"first"`                 // index of the option that stood first
	Choice      int      `json:"choice"`                // index of the option; -1: no vote
	Confidence  float64  `json:"confidence,omitempty"`  // the model's own, which nothing is made of; 0: it gave none in 0..1
	Reason      string   `json:"reason,omitempty"`      // the model's, in one line of at most 300 runes
	Evaluations []string `json:"evaluations,omitempty"` // what the model said about each option, by index
	Problem     string   `json:"problem,omitempty"`     // why the call has no vote
}
