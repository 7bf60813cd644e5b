package vote

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// best returns the member that represents a cluster. members are in the order of samples.
//
// Members may answer differently: equal plans may return different rows. The most frequent answer represents the
// cluster, and of its statements the most frequent text. The shortest or cheapest one often forgot something that the
// stored rows do not show: a join, or a condition. So cost decides among texts that are equally frequent only.
func (m *Majority) best(candidates []Candidate, members []int) int {
	if len(members) == 1 {
		return members[0]
	}
	usual := members
	first := candidates[members[0]].Fingerprint
	if first == "" || slices.ContainsFunc(members, func(i int) bool { return candidates[i].Fingerprint != first }) {
		usual = m.usual(candidates, members)
	}
	if i := slices.IndexFunc(usual, func(i int) bool { return candidates[i].Metrics != nil }); i >= 0 {
		return usual[i]
	}
	if candidates[usual[0]].valueless() {
		usual = m.most(candidates, usual, func(c *Candidate) string { return cmp.Or(c.Plan, spelled(c.SQL)) })
		return m.most(candidates, usual, text)[0]
	}
	return slices.MinFunc(m.most(candidates, m.sorted(candidates, usual), text), func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(len(a.SQL), len(b.SQL)))
	})
}

// text is what two spellings of one statement have in common.
func text(c *Candidate) string { return spelled(c.SQL) }

// usual returns the members that give the most frequent answer of a cluster, of all most frequent ones where their
// votes are equal. A member that was not run, or not to the end, answers with its text. Texts are normalised only where
// no two members give the same answer.
func (m *Majority) usual(candidates []Candidate, members []int) (usual []int) {
	answers := make([]string, len(members))
	votes := make(map[string]float64)
	for _, normalise := range []bool{false, true} {
		clear(votes)
		for at, i := range members {
			c := &candidates[i]
			switch answers[at] = c.Fingerprint; {
			case c.Fingerprint != "":
			case normalise:
				answers[at] = "text:" + c.Parsed(m.Dialect).Normalize()
			default:
				answers[at] = "text:" + c.SQL
			}
			votes[answers[at]] += m.weight(&candidates[i])
		}
		if len(votes) < len(members) {
			break
		}
	}
	most := slices.Max(slices.Collect(maps.Values(votes)))
	for at, i := range members {
		if round9(votes[answers[at]]) == round9(most) {
			usual = append(usual, i)
		}
	}
	return usual
}

// most returns the members that have the most frequent text of a kind, of all most frequent ones where their votes are
// equal.
func (m *Majority) most(candidates []Candidate, members []int, of func(*Candidate) string) (frequent []int) {
	texts, votes := make([]string, len(members)), make(map[string]float64)
	for at, i := range members {
		texts[at] = of(&candidates[i])
		votes[texts[at]] += m.weight(&candidates[i])
	}
	greatest := slices.Max(slices.Collect(maps.Values(votes)))
	for at, i := range members {
		if round9(votes[texts[at]]) == round9(greatest) {
			frequent = append(frequent, i)
		}
	}
	return frequent
}

// spelled returns a text without blanks, semicolons and the case of letters.
func spelled(sql string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r <= ' ' || r == ';':
			return -1
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, sql)
}

// split returns the part of a cluster's weight that answers something else than best. Texts of members without a result
// are compared without blanks, semicolons and the case of letters.
func (m *Majority) split(candidates []Candidate, members []int, best int) float64 {
	other, all := 0.0, 0.0
	b := &candidates[best]
	text := spelled(b.SQL)
	for _, i := range members {
		a, w := &candidates[i], m.weight(&candidates[i])
		if a.Fingerprint != b.Fingerprint || a.Fingerprint == "" && spelled(a.SQL) != text {
			other += w
		}
		all += w
	}
	return other / all
}

// sorted returns the members that may represent a cluster. The key does not see the order of rows, but a person may
// have asked for one. So if more than half of the members sort their rows, it returns those with the most frequent
// sequence of rows, the first of several such sequences.
func (m *Majority) sorted(candidates []Candidate, members []int) []int {
	var sorts []int
	for seen, i := range members {
		if candidates[i].Parsed(m.Dialect).Sorts() {
			sorts = append(sorts, i)
		} else if plain := seen + 1 - len(sorts); 2*plain >= len(members) {
			return members // the rest cannot make it most of them
		}
	}
	times := make(map[string]int)
	for _, i := range sorts {
		times[candidates[i].Sequence]++
	}
	usual := slices.MaxFunc(sorts, func(i, j int) int {
		return cmp.Compare(times[candidates[i].Sequence], times[candidates[j].Sequence])
	})
	return slices.DeleteFunc(sorts, func(i int) bool { return candidates[i].Sequence != candidates[usual].Sequence })
}
