package vote

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
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

// ordered returns the members that may represent a cluster. The key does not see
// the order of rows, but the person who asked for an order does: where most
// members sort their rows, so must the answer, and as most of them do.
func ordered(d sqltext.Dialect, candidates []Candidate, members []int) []int {
	var sorts []int
	for seen, i := range members {
		if sortsRows(d, candidates[i].SQL) {
			sorts = append(sorts, i)
		} else if plain := seen + 1 - len(sorts); 2*plain >= len(members) {
			return members // the rest cannot make it most of them
		}
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

// sortsRows reports whether sql has a top-level ORDER BY: whether
// Outline(sql).OrderBy has terms. It reads plain statements itself, because this
// would be most of the work of a count (see BenchmarkMajority), and leaves what
// it is not sure of to Outline.
func sortsRows(d sqltext.Dialect, sql string) bool {
	if !holdsBy(sql) {
		return false
	}
	// A backslash may escape a quote, and a statement may stand in brackets.
	sure := strings.IndexByte(sql, '\\') < 0 && !strings.HasPrefix(sql, "(")
	depth := 0
	for i := 0; i < len(sql) && sure; i++ {
		switch c := sql[i]; c {
		case '(':
			depth++
		case ')':
			depth--
			sure = depth >= 0
		case '\'', '"', '`':
			// A doubled quote is the end of one text and the beginning of another.
			n := strings.IndexByte(sql[i+1:], c)
			sure = n >= 0
			i += n + 1
		case '[', '$', '#': // in some dialect a quote or a comment
			sure = false
		case '-', '/':
			sure = i+1 == len(sql) || sql[i+1] != '-' && sql[i+1] != '*'
		case 'o', 'O':
			if depth == 0 && orderBy(sql, i) {
				return true
			}
		}
	}
	if sure && depth == 0 {
		return false
	}
	return len(d.Outline(sql).OrderBy) > 0
}

// holdsBy reports whether the letters BY stand somewhere in sql: two searches for
// a rare letter spare most statements a look at each of theirs.
func holdsBy(sql string) bool {
	for _, y := range []byte("yY") {
		for i := strings.IndexByte(sql, y); i >= 0; {
			if i > 0 && sql[i-1]|0x20 == 'b' {
				return true
			}
			next := strings.IndexByte(sql[i+1:], y)
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return false
}

// orderBy reports whether the words ORDER BY stand at i.
func orderBy(sql string, i int) bool {
	if i > 0 && nameByte(sql[i-1]) || !hasPrefixFold(sql[i:], "order") {
		return false
	}
	rest := sql[i+len("order"):]
	if rest == "" || rest[0] > ' ' {
		return false // orders, order_id
	}
	by := strings.TrimLeft(rest, " \t\r\n")
	return len(by) < len(rest) && hasPrefixFold(by, "by") && (len(by) == 2 || !nameByte(by[2]))
}

// nameByte reports whether c may be part of a name.
func nameByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// hasPrefixFold reports whether s begins with the lower-case ASCII letters of
// prefix, whatever their case.
func hasPrefixFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if s[i]|0x20 != prefix[i] {
			return false
		}
	}
	return true
}
