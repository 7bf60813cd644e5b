package eval

import (
	"maps"
	"slices"
)

// Rate is the mean score of one group of outcomes.
type Rate struct {
	Name  string   `json:"name"`  // what the Grouping says
	Score Estimate `json:"score"` // mean, drawn by the unit of the bootstrap
}

// Rates returns the mean score of each group of outcomes, in order of names.
func Rates(outcomes []Outcome, by Grouping, boot Bootstrap) []Rate {
	names, parts := partition(by, outcomes, func(o Outcome) Outcome { return o })
	list := make([]Rate, len(names))
	for g, part := range parts {
		list[g] = Rate{Name: names[g], Score: boot.Mean(part)}
	}
	return list
}

// partition parts items by the group of an outcome, in order of names.
func partition[T any](by Grouping, items []T, outcome func(T) Outcome) (names []string, parts [][]T) {
	if by == nil {
		by = ByQuestion
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
