package petsql

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/texttosql/texttosql/vote"
)

// Weights holds the weights of the models' votes. The user sets them, or [Weights.FromLabels] computes them from
// questions that were set aside. They are saved as JSON. Safe for concurrent reading.
//
// They help if a few unequal models vote, because ties are frequent there. In large pools no weights were better than
// equal votes.
type Weights struct {
	Of   map[string]float64 `json:"of"`             // the weights by name of the model
	From string             `json:"from,omitempty"` // the data that they were computed from
	N    int                `json:"n,omitempty"`    // number of questions in that data; 0: unknown
}

// Weight returns the weight of c's model, or the mean of all weights if the model has none. Use it as
// vote.Majority.Weight. Without any weights it returns 1.
func (w Weights) Weight(c vote.Candidate) float64 {
	if x, ok := w.Of[c.Model]; ok {
		return x
	}
	return w.Mean()
}

// Mean returns the mean weight; 1 without weights.
func (w Weights) Mean() float64 {
	if len(w.Of) == 0 {
		return 1
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(w.Of)) { // one order, one sum
		sum += w.Of[name]
	}
	return sum / float64(len(w.Of))
}

// greatestWeight is the greatest one that vote.Majority takes.
const greatestWeight = 1e12

// Validate checks weights from a file. Its error names each weight that is not a number above 0, up to 1e12.
func (w Weights) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.Of)) {
		if x := w.Of[name]; !(x > 0 && x <= greatestWeight) {
			errs = append(errs, fmt.Errorf("petsql: weight %v of model %q is not a number above 0, up to %v", x, name,
				greatestWeight))
		}
	}
	return errors.Join(errs...)
}

// record is how a model did on questions with known answers.
type record = struct{ Right, Asked int }

// The number of questions of mean accuracy that every model is given on top of its own. Ten keep a model that was lucky
// on five questions near the others. The few questions of a grade need twice as many.
const (
	shrinkage      = 10
	gradeShrinkage = 20
)

// shrunk is sum ÷ asked, with n questions of mean on top. A model that is never right still is a voter, if a weak one.
func shrunk(sum float64, asked int, mean, n float64) float64 {
	return max((sum+n*mean)/(float64(asked)+n), 0.01)
}

// FromLabels computes weights from the results of models on a calibration set. The set must not contain questions
// that will be asked later. The weight of a model follows from the number of its questions and of its right answers:
//
//	(right + 10·ā) ÷ (asked + 10),  ā the accuracy of all models together
//
// A model without questions gets ā.
func (Weights) FromLabels(records map[string]struct{ Right, Asked int }) Weights {
	w := Weights{Of: make(map[string]float64, len(records)), From: "labels"}
	right, asked := 0, 0
	for _, r := range records {
		right += r.Right
		asked += r.Asked
		w.N = max(w.N, r.Asked)
	}
	mean := float64(right) / float64(max(asked, 1))
	for name, r := range records {
		w.Of[name] = shrunk(float64(r.Right), r.Asked, mean, shrinkage)
	}
	return w
}
