package strategy

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/vote"
)

// compatPrompt is the one user message of galah92/egtts: schema, question, hint
// (methods/plan-voting.md 2.1), then what is wanted. Question and hint are one line
// each, as everywhere.
func compatPrompt(schemaText string, t Task, want string) []llm.Message {
	var b strings.Builder
	b.WriteString(schemaText + "\n\nQuestion: " + oneLine(t.Question) + "\n")
	if evidence := oneLine(t.Evidence); evidence != "" {
		b.WriteString("Hint: " + evidence + "\n")
	}
	b.WriteString("\n" + want)
	return []llm.Message{{Role: llm.User, Text: b.String()}}
}

const compatQuery = "Write only the SQL query, no explanation, no markdown."

// compatDDL is the prompt of M7: the CREATE texts without samples.
type compatDDL struct{}

func (compatDDL) Prompt(ctx context.Context, env *Env, in PromptInput) ([]llm.Message, error) {
	text, err := Augmented{Rows: -1, MaxChars: -1, Compat: true}.write(ctx, env, in.Schema, in.Draw)
	if err != nil {
		return nil, err
	}
	return compatPrompt(text, in.Task, compatQuery), nil
}

// compatSignature is the documented signature and cost of a plan.
func compatSignature(p exec.Plan) (string, float64) { return p.CompatSignature(), p.CompatCost() }

// compatVote is the vote of galah92/egtts (methods/plan-voting.md 2.5): most
// candidates, then the signature seen first; lowest cost in it, then earliest. Its
// confidence is the share.
type compatVote struct{}

func (compatVote) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	ballot, err := countByCost(candidates)
	for i := range ballot.Clusters {
		ballot.Clusters[i].Confidence = ballot.Clusters[i].Share
	}
	if len(ballot.Clusters) > 0 {
		ballot.Confidence = ballot.Clusters[0].Confidence
	}
	return ballot, err
}

// countByCost counts by plan; the member of the lowest cost represents a cluster,
// whatever the others answer.
func countByCost(candidates []vote.Candidate) (vote.Ballot, error) {
	ballot, err := vote.Majority{Key: vote.ByPlan, Tie: vote.Earliest}.Count(candidates)
	for i := range ballot.Clusters {
		c := &ballot.Clusters[i]
		c.Best, c.Split = cheapest(candidates, c.Members), 0
		c.SQL = candidates[c.Best].SQL
	}
	return ballot, err
}

// cheapest returns the member of the lowest cost; of several the earliest.
func cheapest(candidates []vote.Candidate, members []int) int {
	best := members[0]
	for _, i := range members[1:] {
		if candidates[i].Cost < candidates[best].Cost {
			best = i
		}
	}
	return best
}
