package replay

import (
	"maps"
	"slices"

	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/vote"
)

// weightsFromAgreement makes weights without any label, from answers of several models to the same questions: the mean
// share of the other models' votes that are for the model's own answer, shrunk to the mean of all models as in
// petsql.WeightsFromLabels. A model that agrees with many is more often right. A model that repeats another's mistakes is
// not found out.
//
// questions holds the candidates of one question each. A model with several samples counts as the mean of them.
// Questions that fewer than two models answer say nothing.
func weightsFromAgreement(questions [][]vote.Candidate) petsql.Weights {
	w := petsql.Weights{Of: make(map[string]float64), From: "agreement"}
	shares, asked := make(map[string]float64), make(map[string]int) // by model
	for _, candidates := range questions {
		votes := votesByModel(candidates)
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
		w.Of[model] = max((shares[model]+10*mean)/float64(asked[model]+10), 0.01)
	}
	return w
}

// votesByModel returns the part of each model's votes that is for each key.
func votesByModel(candidates []vote.Candidate) map[string]map[string]float64 {
	votes := make(map[string]map[string]float64)
	cast := make(map[string]float64)
	for _, c := range candidates {
		key, ok := vote.ByResult(c)
		if !ok || c.Rejected != "" {
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
