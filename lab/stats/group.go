package stats

import (
	"maps"
	"slices"

	"github.com/texttosql/texttosql/eval"
)

// Rate is the mean score of one group of outcomes.
type Rate struct {
	Name  string        `json:"name"`  // what the Grouping says
	Score eval.Estimate `json:"score"` // mean, drawn by the unit of the bootstrap
}

// Rates returns the mean score of each group of outcomes, in order of names.
func Rates(outcomes []eval.Outcome, by eval.Grouping, boot eval.Bootstrap) []Rate {
	names, parts := partition(by, outcomes, func(o eval.Outcome) eval.Outcome { return o })
	list := make([]Rate, len(names))
	for g, part := range parts {
		list[g] = Rate{Name: names[g], Score: boot.Mean(part)}
	}
	return list
}

// partition parts items by the group of an outcome, in order of names.
func partition[T any](by eval.Grouping, items []T, outcome func(T) eval.Outcome) (names []string, parts [][]T) {
	if by == nil {
		by = eval.ByQuestion
	}
	groups := map[string][]T{}
	for _, item := range items {
		name := by(outcome(item))
		groups[name] = append(groups[name], item)
	}
	names = slices.Sorted(maps.Keys(groups))
	for _, name := range names {
		parts = append(parts, groups[name])
	}
	return names, parts
}

// ByDatabase groups by database.
func ByDatabase(o eval.Outcome) string { return o.Database }

// ByDifficulty groups by difficulty.
func ByDifficulty(o eval.Outcome) string { return o.Difficulty }
