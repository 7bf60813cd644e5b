package egtts

import (
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/exec"
)

// PublishedSignature is the signature and the cost of a plan as galah92/egtts has them, for strategy.Pipeline and
// strategy.Checker. Its rows count in their order, without their tree; each becomes one word, and the words are
// joined with "|".
//
// Use exec.Plan.Signature and Cost for anything else: this signature holds aliases, does not tell an outer join from an
// inner one, and cuts table names at a blank. The cost judges the plan as a whole, and one use of an index anywhere
// pays for every scan: 100 if a row starts with "SCAN " and holds no apostrophe while no row contains "USING INDEX",
// plus 50 if a row contains "USE TEMP B-TREE".
func PublishedSignature(p exec.Plan) (signature string, cost float64) {
	var parts []string
	var scan, index, temp bool
	for _, r := range p.Rows {
		if s := rowWord(strings.TrimSpace(r.Detail)); s != "" {
			parts = append(parts, s)
		}
		scan = scan || strings.HasPrefix(r.Detail, "SCAN ") && !strings.Contains(r.Detail, "'")
		index = index || strings.Contains(r.Detail, "USING INDEX")
		temp = temp || strings.Contains(r.Detail, "USE TEMP B-TREE")
	}
	if scan && !index {
		cost += 100
	}
	if temp {
		cost += 50
	}
	return strings.Join(parts, "|"), cost
}

// rowWord is the word of a row, by the first rule that matches.
func rowWord(d string) string {
	if rest, ok := strings.CutPrefix(d, "SCAN "); ok {
		if w := leadingWord(rest); w != "" {
			if strings.Contains(d, "USING") {
				return "SCAN:" + w + ":USING_INDEX"
			}
			return "SCAN:" + w
		}
	}
	if rest, ok := strings.CutPrefix(d, "SEARCH "); ok {
		if w := leadingWord(rest); w != "" {
			return "SEARCH:" + w + firstContained(d,
				"USING COVERING INDEX", ":COVERING_INDEX",
				"USING INDEX", ":USING_INDEX",
				"USING INTEGER PRIMARY KEY", ":PRIMARY_KEY")
		}
	}
	if strings.Contains(d, "USE TEMP B-TREE") {
		return "TEMP_BTREE" + firstContained(d, "ORDER BY", ":ORDER_BY", "GROUP BY", ":GROUP_BY", "DISTINCT", ":DISTINCT")
	}
	if strings.HasPrefix(d, "COMPOUND") {
		return "COMPOUND" + firstContained(d,
			"UNION ALL", ":UNION_ALL", "UNION", ":UNION", "INTERSECT", ":INTERSECT", "EXCEPT", ":EXCEPT")
	}
	if s := firstContained(d,
		"CORRELATED SCALAR SUBQUERY", "CORRELATED_SUBQUERY",
		"SCALAR SUBQUERY", "SCALAR_SUBQUERY",
		"LIST SUBQUERY", "LIST_SUBQUERY"); s != "" {
		return s
	}
	if strings.HasPrefix(d, "CO-ROUTINE") {
		return "CO_ROUTINE"
	}
	if strings.Contains(d, "MATERIALIZE") {
		return "MATERIALIZE"
	}
	return otherWord(d)
}

// otherWord keeps the text itself: digits out, white space to underscores, at most 50 characters.
func otherWord(d string) string {
	d = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, d)
	d = strings.Join(strings.Fields(d), "_")
	n := 0
	for i := range d {
		if n == 50 {
			return d[:i]
		}
		n++
	}
	return d
}

// firstContained takes pairs of a text to look for and the answer to give, and returns the answer of the first text
// that s contains.
func firstContained(s string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(s, pairs[i]) {
			return pairs[i+1]
		}
	}
	return ""
}

// leadingWord returns the letters, digits and underscores that s starts with.
func leadingWord(s string) string {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return s[:i]
		}
	}
	return s
}
