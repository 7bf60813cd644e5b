package vote

import "github.com/texttosql/texttosql/sqltext"

// best returns the member that represents a cluster. members are in the order of
// draws.
func (m Majority) best(candidates []Candidate, members []int) int {
	if len(members) == 1 {
		return members[0]
	}
	members = ordered(m.Dialect, candidates, members)
	best := members[0]
	for _, i := range members[1:] {
		a, b := &candidates[i], &candidates[best]
		if a.Cost < b.Cost || a.Cost == b.Cost && len(a.SQL) < len(b.SQL) {
			best = i
		}
	}
	return best
}

// ordered returns the members that may represent a cluster. The key does not see
// the order of rows, but the person who asked for an order does: where most
// members sort their rows, so must the answer, and as most of them do.
func ordered(d sqltext.Dialect, candidates []Candidate, members []int) []int {
	sorts := make([]int, 0, len(members))
	known := make(map[string]bool, len(members)) // equal texts are common
	for _, i := range members {
		sql := candidates[i].SQL
		has, seen := known[sql]
		if !seen {
			has = sortsRows(d, sql)
			known[sql] = has
		}
		if has {
			sorts = append(sorts, i)
		}
	}
	if 2*len(sorts) <= len(members) {
		return members
	}
	times := make(map[string]int, len(sorts))
	most := 0
	for _, i := range sorts {
		times[candidates[i].Sequence]++
		most = max(most, times[candidates[i].Sequence])
	}
	// The first sequence that is the most frequent one, by draw.
	for at, i := range sorts {
		if s := candidates[i].Sequence; times[s] == most {
			kept := sorts[:0]
			for _, j := range sorts[at:] {
				if candidates[j].Sequence == s {
					kept = append(kept, j)
				}
			}
			return kept
		}
	}
	return sorts
}

// sortsRows reports whether sql has a top-level ORDER BY.
func sortsRows(d sqltext.Dialect, sql string) bool {
	// Reading the outline of a statement costs microseconds; most have no such
	// word.
	if !mayContainFold(sql, "order") {
		return false
	}
	return len(d.Outline(sql).OrderBy) > 0
}

// mayContainFold reports whether s contains the lower-case ASCII word sub,
// whatever its case.
func mayContainFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		j := 0
		for j < len(sub) && s[i+j]|0x20 == sub[j] {
			j++
		}
		if j == len(sub) {
			return true
		}
	}
	return false
}
