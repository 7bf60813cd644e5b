package pools_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// labelled makes n questions that models answer rightly with chances of their
// own; wrong answers agree with each other one time in three.
func labelled(n int, chances map[string]float64, seed uint64) []pools.Labelled {
	rng := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for name := range chances {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []pools.Labelled
	for i := range n {
		q := pools.Labelled{ID: fmt.Sprint(i), Grade: []string{"easy", "hard"}[i%2]}
		for j, name := range names {
			right := rng.Float64() < chances[name]
			fp := "right"
			if !right {
				fp = fmt.Sprint("wrong", rng.IntN(3))
			}
			q.Candidates = append(q.Candidates, vote.Candidate{SQL: "SELECT 1", Sample: j, Model: name, Fingerprint: fp, Rows: 1})
			q.Right = append(q.Right, right)
		}
		list = append(list, q)
	}
	return list
}

func TestPanelFit(t *testing.T) {
	alike := map[string]float64{}
	for i := range 12 {
		alike[fmt.Sprintf("m%02d", i)] = .7
	}
	unequal := map[string]float64{"a": .2, "b": .2, "c": .2, "d": .25, "x": .9, "y": .85}
	for _, tt := range []struct {
		name  string
		of    map[string]float64
		equal bool
	}{{"alike", alike, true}, {"unequal", unequal, false}} {
		c, err := pools.PanelFit{}.Fit(labelled(200, tt.of, 7))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(c)
		if (c.Best == pools.WayEqual) != tt.equal || tt.equal && (c.Weights != nil || c.Panel != nil) {
			t.Errorf("%s: %s", tt.name, c)
		}
		if c.N != 200 || c.Folds != 5 || len(c.Ways) < 4 {
			t.Errorf("%s: %+v", tt.name, c)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back pools.PanelChoice
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Errorf("JSON (-want +got)\n%s", diff)
		}
	}
}

// TestPanelChoiceTies: of clusters of equal weight, that of the weightiest model
// wins, wherever it stands.
func TestPanelChoiceTies(t *testing.T) {
	q := pools.Labelled{ID: "1"}
	for i, c := range []struct{ model, fp string }{{"b", "wrong"}, {"c", "wrong"}, {"a", "right"}} {
		q.Candidates = append(q.Candidates, vote.Candidate{SQL: "SELECT 1", Sample: i, Model: c.model, Fingerprint: c.fp, Rows: 1})
		q.Right = append(q.Right, c.fp == "right")
	}
	w := petsql.Weights{Of: map[string]float64{"a": .5, "b": .25, "c": .25}}
	if !(pools.PanelChoice{Weights: &w}).Right(q) || (pools.PanelChoice{}).Right(q) {
		t.Error("a tie of weights went to the first models, or equal votes to the last")
	}
}

// TestPanelFitSeesNoScored: labels of questions that are scored later change
// nothing in the choice.
func TestPanelFitSeesNoScored(t *testing.T) {
	all := labelled(120, map[string]float64{"a": .3, "b": .5, "c": .6, "d": .9}, 3)
	first, err := pools.PanelFit{}.Fit(all[:60])
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all[60:] {
		for i := range q.Right {
			q.Right[i] = !q.Right[i]
		}
	}
	again, err := pools.PanelFit{}.Fit(all[:60])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("(-first +again)\n%s", diff)
	}
}

func TestPanelFitErrors(t *testing.T) {
	one := labelled(10, map[string]float64{"a": 1}, 1)
	short := labelled(10, map[string]float64{"a": 1, "b": 0}, 1)
	short[3].Right = nil
	for want, questions := range map[string][]pools.Labelled{"too few": one[:2], "two models": one, "labels": short} {
		if _, err := (pools.PanelFit{}).Fit(questions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func ExamplePanelFit() {
	// What models answered to questions with known answers, of which none is asked
	// later. One is right most of the time, four guess.
	questions := labelled(100, map[string]float64{"good": .9, "g1": .2, "g2": .2, "g3": .2, "g4": .2}, 1)
	choice, err := pools.PanelFit{Sizes: []int{3}}.Fit(questions)
	fmt.Println(choice.Best != pools.WayEqual, err)
	// Output: true <nil>
}
