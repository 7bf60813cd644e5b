package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/vote"
)

func TestWeightsFromAgreement(t *testing.T) {
	near := func(got, want map[string]float64) {
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	question := func(answers ...string) []vote.Candidate { // "model=result"
		var out []vote.Candidate
		for i, a := range answers {
			model, fp, _ := strings.Cut(a, "=")
			c := vote.Candidate{SQL: "S", Sample: i, Model: model, Fingerprint: fp}
			if fp == "" {
				c.Rejected = "error"
			}
			out = append(out, c)
		}
		return out
	}
	// In each question x and y agree and z stands alone.
	var questions [][]vote.Candidate
	for range 30 {
		questions = append(questions, question("x=1", "y=1", "z=2"))
	}
	w := weightsFromAgreement(questions)
	mean := 1.0 / 3 // (½ + ½ + 0) ÷ 3
	near(w.Of, map[string]float64{
		"x": (15 + 10*mean) / 40, "y": (15 + 10*mean) / 40, "z": 10 * mean / 40,
	})
	if w.N != 30 || w.From != "agreement" {
		t.Errorf("%+v", w)
	}

	// Several samples of a model count as their mean; own samples say nothing.
	w = weightsFromAgreement([][]vote.Candidate{question("x=1", "x=2", "y=1", "y=1")})
	near(w.Of, map[string]float64{"x": 0.5, "y": 0.5})

	// Nothing can be learned from one model, or from failures: equal votes.
	w = weightsFromAgreement([][]vote.Candidate{question("x=1", "x=1"), question("x=1", "y="), nil})
	near(w.Of, map[string]float64{"x": 1, "y": 1})
	if w.N != 0 {
		t.Errorf("%d questions used", w.N)
	}
}
