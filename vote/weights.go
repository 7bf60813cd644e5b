package vote

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Weights are how much the votes of models count. They are given by the user, or made by [WeightsFromLabels] or
// [WeightsFromAgreement] of questions set aside for it, and saved as JSON. Safe for concurrent reading.
//
// They pay where a few unequal models vote, because ties decide there. In large pools nothing was seen to beat equal
// votes.
type Weights struct {
	Of   map[string]float64 `json:"of"`             // by name of the model
	From string             `json:"from,omitempty"` // what they were made from
	N    int                `json:"n,omitempty"`    // number of questions they were made from; 0: unknown
}

// Weight returns the weight of c's model; a model without one has the mean of the others. Use it as Majority.Weight.
// Without any weights it is 1.
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

// Max returns the greatest weight, for Majority.MaxWeight; 1 if there is none.
func (w Weights) Max() float64 {
	if len(w.Of) == 0 {
		return 1
	}
	return max(0, slices.Max(slices.Collect(maps.Values(w.Of))))
}

// greatestWeight keeps sums of weights far from where floats end.
const greatestWeight = 1e12

// WeightError says that a weight is not a number above 0, up to 1e12.
type WeightError struct {
	Model  string  // name of the model
	Weight float64 // what it was given
}

// Error names the model and its weight.
func (e *WeightError) Error() string {
	return fmt.Sprintf("vote: weight %v of model %q is not a number above 0, up to %v", e.Weight, e.Model, greatestWeight)
}

// Validate says what is wrong with weights that were read from a file. The error has a *[WeightError] for each weight
// that is not a number above 0, up to 1e12.
func (w Weights) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.Of)) {
		if x := w.Of[name]; !(x > 0 && x <= greatestWeight) {
			errs = append(errs, &WeightError{name, x})
		}
	}
	return errors.Join(errs...)
}

// leastWeight is the smallest weight that learning leaves a model, as a share of the greatest: no model is silenced for
// ever.
const leastWeight = 0.01

// Disagree returns the weights for the next question, learned from a vote without a label: the weight of each model of
// candidates times 1 − rate × the share of its candidates that are not in the winning cluster. Weights are scaled so
// that the greatest stays as it was. A new model starts with the mean weight.
//
// b is the ballot that counted candidates; without a winner nothing changes. w itself does not change. rate is taken
// into 0..1. It must be small, because the weights learn from their own verdicts: at 0.005, with which a model that is
// outvoted on a hundred questions keeps 61 % of its weight, recorded votes stayed within a point of equal ones; at ten
// times that they lost up to two. It is for streams of questions whose models change. Where there are labels,
// [WeightsFromLabels] knows more.
func (w Weights) Disagree(b Ballot, candidates []Candidate, rate float64) Weights {
	return w.learn(b, candidates, rate, "disagreement", true)
}

// Feedback is Disagree with the verdict of the person who asked: whether the answer was right. If it was not, the
// candidates that voted for it and those that abstained were wrong; nothing is known of the others. The verdict comes
// after the vote, so no label reaches a vote by it.
func (w Weights) Feedback(b Ballot, candidates []Candidate, right bool, rate float64) Weights {
	return w.learn(b, candidates, rate, "feedback", right)
}

func (w Weights) learn(b Ballot, candidates []Candidate, rate float64, from string, right bool) Weights {
	out := Weights{Of: maps.Clone(w.Of), From: from, N: w.N + 1}
	if out.Of == nil {
		out.Of = make(map[string]float64)
	}
	if len(b.Clusters) == 0 || !(rate > 0) {
		return out
	}
	asked, wrong := make(map[string]float64), make(map[string]float64) // by model
	for i, c := range candidates {
		asked[c.Model]++
		abstained := slices.ContainsFunc(b.Abstained, func(a Abstention) bool { return a.Candidate == i })
		if abstained || slices.Contains(b.Clusters[0].Members, i) != right {
			wrong[c.Model]++
		}
		if _, known := w.Of[c.Model]; !known {
			out.Of[c.Model] = w.Mean()
		}
	}
	greatest := out.Max()
	for name, n := range asked {
		out.Of[name] *= 1 - min(rate, 1)*wrong[name]/n
	}
	if now := out.Max(); now > 0 {
		for name, x := range out.Of {
			out.Of[name] = max(x/now, leastWeight) * greatest
		}
	}
	return out
}

// Record is how a model did on questions with known answers.
type Record struct {
	Right int `json:"right"` // questions it answered rightly
	Asked int `json:"asked"` // questions it was asked
}

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

// WeightsFromLabels makes weights of how models did on a calibration set, which must
// hold none of the questions to be asked:
//
//	(right + 10·ā) ÷ (asked + 10),  ā the accuracy of all models together
//
// A model that was asked nothing gets ā.
func WeightsFromLabels(records map[string]Record) Weights {
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

// WeightsFromAgreement makes weights without any label, from answers of several models to the same questions: the mean
// share of the other models' votes that are for the model's own answer, shrunk to the mean of all models as in
// [WeightsFromLabels]. A model that agrees with many is more often right. A model that repeats another's mistakes is
// not found out.
//
// questions holds the candidates of one question each. A model with several samples counts as the mean of them.
// Questions that fewer than two models answer say nothing. key is nil for [ByResult].
func WeightsFromAgreement(key Key, questions [][]Candidate) Weights {
	w := Weights{Of: make(map[string]float64), From: "agreement"}
	shares, asked := make(map[string]float64), make(map[string]int) // by model
	for _, candidates := range questions {
		votes := votesByModel(Majority{Key: key}, candidates)
		for _, c := range candidates {
			w.Of[c.Model] = 0
		}
		if len(votes) < 2 {
			continue
		}
		w.N++
		// In the order of names: sums of floats depend on their order.
		models := slices.Sorted(maps.Keys(votes))
		total := make(map[string]float64) // by key
		for _, model := range models {
			for k, part := range votes[model] {
				total[k] += part
			}
		}
		for _, model := range models {
			share := 0.0
			for _, k := range slices.Sorted(maps.Keys(votes[model])) {
				share += votes[model][k] * (total[k] - votes[model][k])
			}
			shares[model] += share / float64(len(models)-1)
			asked[model]++
		}
	}
	sum, n := 0.0, 0
	for _, model := range slices.Sorted(maps.Keys(shares)) {
		sum += shares[model]
		n += asked[model]
	}
	mean := 1.0 // nothing is known: equal votes
	if n > 0 {
		mean = sum / float64(n)
	}
	for model := range w.Of {
		w.Of[model] = shrunk(shares[model], asked[model], mean, shrinkage)
	}
	return w
}

// votesByModel returns the part of each model's votes that is for each key.
func votesByModel(m Majority, candidates []Candidate) map[string]map[string]float64 {
	votes := make(map[string]map[string]float64)
	cast := make(map[string]float64)
	for i := range candidates {
		c := &candidates[i]
		key, _, why, err := m.voteOf(i, c)
		if err != nil || why != "" {
			continue
		}
		if votes[c.Model] == nil {
			votes[c.Model] = make(map[string]float64)
		}
		votes[c.Model][key]++
		cast[c.Model]++
	}
	for model := range votes {
		for key := range votes[model] {
			votes[model][key] /= cast[model]
		}
	}
	return votes
}
