package exec

import (
	"strings"
	"unicode"
)

// CompatSignature returns the signature of galah92/egtts (egtts/plans.py), from
// which plan voting comes, for repeating its published runs. Use
// [Plan.Signature] for anything else: this one holds aliases, does not tell an
// outer join from an inner one, and cuts table names at a blank.
//
// Rows count in their order and without their tree; each becomes one word, and
// the words are joined with "|". A plan without rows has the empty signature.
func (p Plan) CompatSignature() string {
	var parts []string
	for _, r := range p.Rows {
		if s := compatDetail(strings.TrimSpace(r.Detail)); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "|")
}

// compatDetail maps one row by the first rule that matches.
func compatDetail(d string) string {
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
	return compatOther(d)
}

// compatOther keeps the text itself: digits out, white space to underscores, at
// most 50 characters.
func compatOther(d string) string {
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

// firstContained takes pairs of a text to look for and the answer to give, and
// returns the answer of the first text that s contains.
func firstContained(s string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(s, pairs[i]) {
			return pairs[i+1]
		}
	}
	return ""
}

// CompatCost returns the cost that every strategy of galah92/egtts uses
// (egtts/guided.py): 100 if a row starts with "SCAN " and holds no apostrophe
// while no row contains "USING INDEX", plus 50 if a row contains "USE TEMP
// B-TREE". It judges the plan as a whole; one use of an index anywhere pays for
// every scan. Use [Plan.Cost] for anything else.
func (p Plan) CompatCost() float64 {
	return p.compatCost(func(d string) bool { return strings.HasPrefix(d, "SCAN ") && !strings.Contains(d, "'") })
}

// CompatPlansCost returns the other cost of galah92/egtts (egtts/plans.py),
// which none of its strategies uses: "SCAN " may stand anywhere in a row, and a
// row that contains "CORRELATED" adds 75.
func (p Plan) CompatPlansCost() float64 {
	cost := p.compatCost(func(d string) bool { return strings.Contains(d, "SCAN ") })
	for _, r := range p.Rows {
		if strings.Contains(r.Detail, "CORRELATED") {
			return cost + 75
		}
	}
	return cost
}

func (p Plan) compatCost(isScan func(detail string) bool) float64 {
	var scan, index, temp bool
	for _, r := range p.Rows {
		scan = scan || isScan(r.Detail)
		index = index || strings.Contains(r.Detail, "USING INDEX")
		temp = temp || strings.Contains(r.Detail, "USE TEMP B-TREE")
	}
	var cost float64
	if scan && !index {
		cost += 100
	}
	if temp {
		cost += 50
	}
	return cost
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
