package vote

import (
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

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
