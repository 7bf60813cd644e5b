package replay

import (
	"testing"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/vote"
)

// TestPlans: each voter by plan looks at what its strategy would see.
func TestPlans(t *testing.T) {
	stored, missing := vote.Finding{Rule: "literal-stored"}, vote.Finding{Rule: "literal-missing"}
	edit := func(votes string, change func(*Question)) *Question {
		q := question("1", votes)
		change(q)
		return q
	}
	tests := []struct {
		voter string
		q     *Question
		right float64
		why   string
	}{
		{"first", question("1", ".aBB"), 1, "the first that compiles"},
		{"first", question("1", ".."), 0, "none does"},
		{"cost", edit("BBa", func(q *Question) { q.answers[0].cost, q.answers[1].cost = 50, 50 }), 1,
			"the cheapest, outvoted"},
		{"cost-compat", edit("aB", func(q *Question) { q.answers[0].cost, q.answers[1].compat.cost = 50, 50 }), 1,
			"by the published costs"},
		{"plan", edit("aaB", func(q *Question) {
			for i := range 2 {
				q.Candidates[i].Findings = []vote.Finding{{Rule: checks.String}}
			}
		}), 0, "a string in place of a column has no vote"},
		{"plan-compat", edit("aaB", func(q *Question) {
			for i := range 2 {
				q.Candidates[i].Findings = []vote.Finding{{Rule: checks.String}}
			}
		}), 1, "it had one as published"},
		{
			"plan", edit("aaB", func(q *Question) {
				q.Candidates[0].Rejected, q.Candidates[1].Rejected = "timeout", "timeout"
			}), 0,
			"what fails when it runs has no vote",
		},
		{"plan-unrun", edit("aaB", func(q *Question) {
			q.Candidates[0].Rejected, q.Candidates[1].Rejected = "timeout", "timeout"
		}), 1, "unless nothing runs"},
		{"plan", edit("aB", func(q *Question) { q.Candidates[0].Empty = true }), 0, "a tie goes to the result with rows"},
		{"plan-unrun", edit("aB", func(q *Question) { q.Candidates[0].Empty = true }), 1,
			"which nobody knows where nothing runs"},
		{"text-unrun", question("1", "BBa.."), 0, "the failed ones have no vote"},
		{"text-unrun", question("1", "aB..."), 1, "a tie: the first wins"},
		{"plan-probing", edit("Ba", func(q *Question) { q.Candidates[0].Findings = []vote.Finding{missing} }), 1,
			"ties to the stored literal"},
		{"plan-probing-compat", edit("BBa", func(q *Question) {
			q.answers[0].compat.findings, q.answers[2].compat.findings = []vote.Finding{missing}, []vote.Finding{stored}
		}), 1, "two votes less two against one"},
		{"result-probing", edit("Ba", func(q *Question) { q.Candidates[0].Findings = []vote.Finding{missing} }), 1, ""},
	}
	for _, tt := range tests {
		v := testutil.Value(VoterNamed(tt.voter))(t)
		elect := testutil.Value(v.start(Pool{}, Settings{}))(t)
		d, err := elect(tt.q)
		if err != nil || d.Score != tt.right {
			t.Errorf("%s: %v, %v, want %v: %s", tt.voter, d.Score, err, tt.right, tt.why)
		}
	}
}
