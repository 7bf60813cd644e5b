package vote

import (
	"slices"
)

// best returns the member that represents a cluster. members are in the order of
// draws.
func (m *Majority) best(candidates []Candidate, members []int) int {
	if len(members) == 1 {
		return members[0]
	}
	usual := m.usual(candidates, members)
	usual = ordered(m.Dialect, candidates, usual)
	best := usual[0]
	for _, i := range usual[1:] {
		a, b := &candidates[i], &candidates[best]
		if a.Cost < b.Cost || a.Cost == b.Cost && len(a.SQL) < len(b.SQL) {
			best = i
		}
	}
	return best
}

// split returns the part of a cluster's votes that answer something else than
// best.
func (m *Majority) split(candidates []Candidate, members []int, best int) float64 {
	other, all := 0.0, 0.0
	for _, i := range members {
		a, b, weight := &candidates[i], &candidates[best], 1.0
		if m.Weight != nil {
			weight = m.Weight(*a)
		}
		if a.Fingerprint != b.Fingerprint || a.Fingerprint == "" && !alike(a.SQL, b.SQL) {
			other += weight
		}
		all += weight
	}
	return other / all
}

// alike reports whether two texts are the same but for blanks, semicolons and the
// case of letters. It stands in for sqltext.Dialect.Normalize, which costs more
// than all the rest of a count. Statements of one plan mostly differ near their
// ends, so it reads them from there.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	i, j := len(a), len(b)
	for {
		for i > 0 && (a[i-1] <= ' ' || a[i-1] == ';') {
			i--
		}
		for j > 0 && (b[j-1] <= ' ' || b[j-1] == ';') {
			j--
		}
		if i == 0 || j == 0 {
			return i == j
		}
		i, j = i-1, j-1
		x, y := a[i], b[j]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
}

// usual returns the members that give the most frequent answer of a cluster, and
// all of the most frequent ones where votes are equal. Equal plans may return
// different rows: without a look at them the shortest statement of a cluster would
// speak for all, and that is often the one that forgot a condition. Members with
// equal results all answer the same.
func (m *Majority) usual(candidates []Candidate, members []int) []int {
	first := answerOf(&candidates[members[0]])
	if !slices.ContainsFunc(members[1:], func(i int) bool { return answerOf(&candidates[i]) != first }) {
		return members
	}
	// Answers are few, so they are compared one by one.
	var (
		of        = make([]int, len(members)) // which of seen each member gives
		seenSpace [8]answer
		voteSpace [8]float64
		votes     []float64
	)
	for _, read := range []func(*Candidate) answer{answerOf, m.spelledAlike} {
		seen := seenSpace[:0]
		votes = voteSpace[:0]
		for at, i := range members {
			a, weight := read(&candidates[i]), 1.0
			if m.Weight != nil {
				weight = m.Weight(candidates[i])
			}
			of[at] = slices.Index(seen, a)
			if of[at] < 0 {
				of[at] = len(seen)
				seen, votes = append(seen, a), append(votes, 0)
			}
			votes[of[at]] += weight
		}
		if len(seen) < len(members) {
			break
		}
	}
	most := slices.Max(votes)
	usual := make([]int, 0, len(members))
	for at, i := range members {
		if round9(votes[of[at]]) == round9(most) {
			usual = append(usual, i)
		}
	}
	return usual
}

// answer is what is known of what a candidate returns: its result or, where it
// was not run or not to the end, its text. Texts are normalised only where no two
// are the same: it costs more than all the rest of a count.
type answer struct{ result, text string }

func answerOf(c *Candidate) answer {
	if c.Fingerprint != "" {
		return answer{result: c.Fingerprint}
	}
	return answer{text: c.SQL}
}

// spelledAlike is answerOf with the text normalised.
func (m *Majority) spelledAlike(c *Candidate) answer {
	a := answerOf(c)
	a.text = m.Dialect.Normalize(a.text)
	return a
}
