package vote

import (
	"maps"
	"math"
	"testing"
)

func TestWeightsLearn(t *testing.T) {
	c := func(model, fp string) Candidate {
		if fp == "" {
			return Candidate{Model: model, Rejected: "no"}
		}
		return Candidate{Model: model, SQL: "SELECT 1", Fingerprint: fp, Rows: 1}
	}
	three := []Candidate{c("a", "1"), c("b", "1"), c("x", "2")}
	disagree := func(w Weights, b Ballot, list []Candidate) Weights { return w.Disagree(b, list, 0.1) }
	feedback := func(right bool) func(Weights, Ballot, []Candidate) Weights {
		return func(w Weights, b Ballot, list []Candidate) Weights { return w.Feedback(b, list, right, 0.1) }
	}
	for _, tt := range []struct {
		why        string
		learn      func(Weights, Ballot, []Candidate) Weights
		before     map[string]float64
		candidates []Candidate
		want       map[string]float64
	}{
		{"outvoted: less", disagree, nil, three, map[string]float64{"a": 1, "b": 1, "x": .9}},
		{"on top of what was known", disagree, map[string]float64{"a": 2, "x": 1}, three, map[string]float64{"a": 2, "b": 1.5, "x": .9}},
		{
			"a model that was not asked keeps its own", disagree, map[string]float64{"a": 1, "b": 1, "x": 1, "z": .5}, three,
			map[string]float64{"a": 1, "b": 1, "x": .9, "z": .5},
		},
		{"who abstains did not win", disagree, nil, []Candidate{c("a", "1"), c("x", "")}, map[string]float64{"a": 1, "x": .9}},
		{"half of its samples: half as much", disagree, nil, []Candidate{c("a", "1"), c("a", "1"), c("x", "1"), c("x", "2")}, map[string]float64{"a": 1, "x": .95}},
		{"the greatest stays as great", disagree, map[string]float64{"a": 1, "b": 1, "x": 1.5}, three, map[string]float64{"a": 1 / .9, "b": 1 / .9, "x": 1.5}},
		{"nobody wins: nothing changes", disagree, map[string]float64{"x": 2}, []Candidate{c("x", "")}, map[string]float64{"x": 2}},
		{"a verdict that the answer is right says the same", feedback(true), nil, three, map[string]float64{"a": 1, "b": 1, "x": .9}},
		{"wrong: those who voted for it", feedback(false), nil, three, map[string]float64{"a": .9, "b": .9, "x": 1}},
		{"wrong: and those who had no answer", feedback(false), nil, append(three[:3:3], c("n", "")), map[string]float64{"a": .9, "b": .9, "x": 1, "n": .9}},
		{"a vanishing weight is kept", disagree, map[string]float64{"a": 1, "b": 1, "x": 1e-300}, three, map[string]float64{"a": 1, "b": 1, "x": leastWeight}},
	} {
		w := Weights{Of: maps.Clone(tt.before)}
		b, _ := Majority{}.Count(tt.candidates)
		got := tt.learn(w, b, tt.candidates)
		near(t, got.Of, tt.want)
		if t.Failed() {
			t.Fatal(tt.why)
		}
		if !maps.Equal(w.Of, tt.before) {
			t.Errorf("%s: the weights that it began with changed", tt.why)
		}
		if got.N != 1 || got.Validate() != nil {
			t.Errorf("%s: %+v, %v", tt.why, got, got.Validate())
		}
	}
	b, _ := Majority{}.Count(three)
	for _, rate := range []float64{0, -1, math.NaN()} {
		if got := (Weights{}).Disagree(b, three, rate); len(got.Of) != 0 {
			t.Errorf("rate %v: %v", rate, got.Of)
		}
	}
	// However long the stream, weights stay weights.
	w := Weights{}
	for range 100_000 {
		w = w.Disagree(b, three, 7) // as 1
	}
	if err := w.Validate(); err != nil || w.Of["x"] != leastWeight {
		t.Errorf("%v, %v", w.Of, err)
	}
}
