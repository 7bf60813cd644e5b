package vote

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Weights are how much the votes of models count, by name. Weights are given by
// the user or made by [WeightsFromLabels] or [WeightsFromAgreement] on questions
// set aside for it, and saved as JSON. Safe for concurrent reading.
//
// They pay where a few unequal models vote, because ties decide there; in large
// pools nothing was seen to beat equal votes.
type Weights struct {
	Of map[string]float64 `json:"of"` // by name of the model

	// From says what they were made from, N of how many questions.
	From string `json:"from,omitempty"`
	N    int    `json:"n,omitempty"` // 0: unknown
}

// Weight returns the weight of c's model; a model without one has the mean of
// the others. Use it as Majority.Weight. Without any weights it is 1.
func (w Weights) Weight(c Candidate) float64 {
	if x, ok := w.Of[c.Model]; ok {
		return x
	}
	return w.Mean()
}

// Mean returns the mean weight, 1 if there is none.
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

// Max returns the greatest weight, for [Tally.MaxWeight]; 1 if there is none.
func (w Weights) Max() float64 {
	if len(w.Of) == 0 {
		return 1
	}
	most := 0.0
	for _, x := range w.Of {
		most = max(most, x)
	}
	return most
}

// greatestWeight keeps sums of weights far from where floats end.
const greatestWeight = 1e12

// WeightError says that a weight is not a number above 0, up to 1e12.
type WeightError struct {
	Model  string  // its name
	Weight float64 // what it was given
}

// Error names the model and its weight.
func (e *WeightError) Error() string {
	return fmt.Sprintf("vote: weight %v of model %q is not a number above 0, up to %v", e.Weight, e.Model, greatestWeight)
}

// Validate says what is wrong with weights that were read from a file: each must
// be a number above 0, up to 1e12, or the error has a *[WeightError].
func (w Weights) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.Of)) {
		if x := w.Of[name]; !(x > 0 && x <= greatestWeight) {
			errs = append(errs, &WeightError{name, x})
		}
	}
	return errors.Join(errs...)
}

// Record is how a model did on questions with known answers.
type Record struct {
	Right int `json:"right"` // of them right
	Asked int `json:"asked"` // questions asked
}

// How many questions of mean accuracy every model is given on top of its own: ten
// keep one that was lucky on five questions near the others, and the few questions
// of a grade need twice as many.
const (
	shrinkage      = 10
	gradeShrinkage = 20
)

// shrunk is sum ÷ asked, with n questions of mean on top. A model that is never
// right still is a voter, if a weak one.
func shrunk(sum float64, asked int, mean float64, n float64) float64 {
	return max((sum+n*mean)/(float64(asked)+n), 0.01)
}

// WeightsFromLabels makes weights of how models did on a calibration set, which
// must hold none of the questions to be asked:
//
//	(right + 10·ā) ÷ (asked + 10),  ā the accuracy of all models together
//
// A model that was asked nothing gets ā.
func WeightsFromLabels(records map[string]Record) Weights {
	right, asked, most := 0, 0, 0
	for _, r := range records {
		right += r.Right
		asked += r.Asked
		most = max(most, r.Asked)
	}
	w := Weights{Of: make(map[string]float64, len(records)), From: "labels", N: most}
	mean := float64(right) / float64(max(asked, 1))
	for name, r := range records {
		w.Of[name] = shrunk(float64(r.Right), r.Asked, mean, shrinkage)
	}
	return w
}

// WeightsFromAgreement makes weights without any label, from answers of several
// models to the same questions: the mean share of the other models' votes that
// are for the model's own answer, shrunk to the mean of all models as in
// [WeightsFromLabels]. A model that agrees with many is more often right; one
// that repeats another's mistakes is not found out.
//
// questions holds the candidates of one question each; a model with several
// draws counts as the mean of them. Questions that fewer than two models answer
// say nothing. key is nil for [ByResult].
func WeightsFromAgreement(key Key, questions [][]Candidate) Weights {
	m := Majority{Key: key}
	type sum struct {
		share float64
		asked int
	}
	sums := make(map[string]*sum)
	used := 0
	for _, candidates := range questions {
		// votes[model][key] is the part of the model's draws that is for key.
		votes := make(map[string]map[string]float64)
		draws := make(map[string]int)
		for i, c := range candidates {
			if sums[c.Model] == nil {
				sums[c.Model] = &sum{}
			}
			k, _, why, err := m.voteOf(i, &c)
			if err != nil || why != "" {
				continue
			}
			if votes[c.Model] == nil {
				votes[c.Model] = make(map[string]float64)
			}
			votes[c.Model][k]++
			draws[c.Model]++
		}
		if len(votes) < 2 {
			continue
		}
		used++
		// In the order of names: sums of floats depend on their order.
		models := slices.Sorted(maps.Keys(votes))
		total := make(map[string]float64)
		for _, model := range models {
			for _, k := range slices.Sorted(maps.Keys(votes[model])) {
				votes[model][k] /= float64(draws[model])
				total[k] += votes[model][k]
			}
		}
		for _, model := range models {
			share := 0.0
			for _, k := range slices.Sorted(maps.Keys(votes[model])) {
				share += votes[model][k] * (total[k] - votes[model][k])
			}
			sums[model].share += share / float64(len(models)-1)
			sums[model].asked++
		}
	}
	w := Weights{Of: make(map[string]float64, len(sums)), From: "agreement", N: used}
	shares, asked := 0.0, 0
	for _, model := range slices.Sorted(maps.Keys(sums)) {
		shares += sums[model].share
		asked += sums[model].asked
	}
	mean := 1.0 // nothing is known: equal votes
	if asked > 0 {
		mean = shares / float64(asked)
	}
	for model, s := range sums {
		w.Of[model] = shrunk(s.share, s.asked, mean, shrinkage)
	}
	return w
}

// ByPosition returns a weight for candidates that one reply lists as different
// queries: decay to the power of Candidate.Position. Such a list is no sample:
// the model gives its best answer first and then has to say something else, so
// that agreement among the later ones means little. At 0.5 the first answer
// counts more than all others together; 1 is equal votes. Outside of 0..1 it is
// taken for the nearer of the two.
func ByPosition(decay float64) func(Candidate) float64 {
	decay = min(max(decay, 0), 1)
	if decay != decay {
		decay = 1
	}
	return func(c Candidate) float64 { return math.Pow(decay, float64(max(c.Position, 0))) }
}
