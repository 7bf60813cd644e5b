package eval

import (
	"maps"
	"slices"
)

// Group is one part of a breakdown.
type Group struct {
	Name       string   `json:"name"`       // what the Grouping says, such as the id of a database
	N          int      `json:"n"`          // pairs
	A          float64  `json:"a"`          // mean score
	B          float64  `json:"b"`          // mean score
	Difference Estimate `json:"difference"` // B − A
	McNemar    McNemar  `json:"mcnemar"`    // the test of its pairs
}

// Breakdown returns the groups of pairs in order of their names. One group says
// nothing new, so its list is empty. Among many groups some differ by chance:
// an interval of one of them is for a look, not for a claim.
func Breakdown(pairs []Pair, by Grouping, boot Bootstrap) []Group {
	names, parts := partition(by, pairs, func(p Pair) Outcome { return p.A })
	if len(names) < 2 {
		return nil
	}
	list := make([]Group, len(names))
	for g, part := range parts {
		list[g] = Group{Name: names[g], N: len(part), Difference: boot.Difference(part), McNemar: NewMcNemar(part)}
		for _, p := range part {
			list[g].A += p.A.Score
			list[g].B += p.B.Score
		}
		list[g].A /= float64(len(part))
		list[g].B /= float64(len(part))
	}
	return list
}

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
