package doubt

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// referring are words by which a follow-up keeps what was asked before.
var referring = compile(`(?i)\b(?:them|they|their|theirs|those|these|this|that|its?|he|she|his|her|him|same|
		also|ones?|there(?:of|in)|former|latter|such|again|instead|only|just|now|sort(?:ed)?|order(?:ed)? by|
		what about|how about|davon|diese\w*|deren|ihre\w*|dort|auch|jene\w*|estos?|esas?|esos?|ellos|ellas|
		también|ceux|celles?|leurs?|aussi|questi|queste|loro|anche)\b|^\s*(?:and|but|or|und|aber|y|pero|et|mais|
		e|ma)\b`)

var (
	// thisPeriod finds a time, which refers to no question.
	thisPeriod = compile(`(?i)\s*\bthis (?:day|week|month|quarter|year|season)\b`)
	// ownThings finds what refers to the words in front of it: doctors and their specialties.
	ownThings = compile(`((?:\pL+ )?\pL+) (?:that|(?:and|with|by) (?:their|its)|(?:sorted|ordered) by)\b`)
)

// refers reports whether a question refers to the one before: not by what belongs to a table of the statement.
func (h held) refers() bool {
	text := replace(thisPeriod, h.asked, "")
	for _, m := range ownThings.FindAllStringSubmatch(text, -1) {
		if slices.ContainsFunc(stemsOf(m[1]), func(w string) bool { return byNoun(h.tables, w) != nil }) {
			text = strings.Replace(text, m[0], m[1], 1)
		}
	}
	return referring.MatchString(text)
}

// whole are words by which a question means all there is.
var whole = compile(`(?i)\b(?:in total|overall|altogether|in all|entire\w*|whole|regardless|everywhere|anywhere|
		every one|insgesamt|überhaupt|alle|en total|todos|todas|au total|tous|toutes|in totale|tutti|tutte)\b|
		\btotal number\b|\ball\b`)

// WithEarlier returns a copy with the rule carried_filter. It finds a condition from the previous question that the
// statement still has, although question, a follow-up, neither names it nor refers to it. For example, "How many
// orders are there in total?" after "How many customers are from France?" does not ask for France. earlier has the
// previous statements, oldest first. A condition that all of several statements have is not reported.
func (r Rules) WithEarlier(question string, earlier ...*sqltext.Statement) Rules {
	return r.With(carried(question, earlier))
}

func carried(question string, earlier []*sqltext.Statement) Rule {
	return Rule{
		Name: "carried_filter", Source: "who asks a whole question does not repeat the conditions of the one before",
		Broken: func(in Input) (string, bool) {
			const detail = "a condition of an earlier question is kept, which this one does not name"
			text := replace(thisPeriod, question, "")
			if len(earlier) == 0 || referring.MatchString(text) && !whole.MatchString(text) ||
				len(strings.Fields(text)) < 4 {
				return "", false
			}
			last := conditionsOf(earlier[len(earlier)-1])
			for key, c := range conditionsOf(in.Statement) {
				always := len(earlier) > 1 && !slices.ContainsFunc(earlier, func(s *sqltext.Statement) bool {
					_, has := conditionsOf(s)[key]
					return !has
				})
				if _, kept := last[key]; kept && !always && !names(question, c) {
					return detail, true
				}
			}
			return "", false
		},
	}
}

// conditionsOf are the comparisons of columns with constants, by column, operator and constants.
func conditionsOf(s *sqltext.Statement) map[string]sqlshape.Comparison {
	found := map[string]sqlshape.Comparison{}
	for _, c := range s.Comparisons() {
		key := strings.ToLower(c.Column) + " " + c.Op
		for _, l := range c.Literals {
			key += " " + strings.ToLower(l.Value)
		}
		found[key] = c
	}
	return found
}

// names reports whether a question names a constant of a comparison, or its column.
func names(question string, c sqlshape.Comparison) bool {
	line, asked := strings.ToLower(question), words.Of(question)
	if share(asked, except(words.OfName(c.Column), func(w string) bool { return len(w) <= 3 || general[w] })) {
		return true
	}
	return slices.ContainsFunc(c.Literals, func(l sqlshape.Literal) bool {
		value := strings.ToLower(strings.Trim(l.Value, "%_"))
		return strings.Contains(line, value) ||
			strings.Contains(value, "-") && strings.Contains(line, value[:min(4, len(value))]) ||
			slices.ContainsFunc(words.Of(value), func(w string) bool { return len(w) > 2 && alike(asked, w, 3, 4) })
	})
}
