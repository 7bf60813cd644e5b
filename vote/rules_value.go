package vote

import (
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/sqltext"
)

// ValueRules returns the rules that look into the data, through Doubts.Lookup:
// literal_unknown, literal_column, value_missing. They are for a program of your
// own whose questions name stored values, and that has a quick way to look them
// up (an index, or exec.DB.Probe). No preset uses them: on recorded answers the
// gain was the same within noise without. Each is silent without a Lookup.
//
//	d := vote.Doubts{Lookup: lookup}.With(vote.ValueRules()...)
func ValueRules() []Rule {
	return []Rule{
		{
			Name:   "literal_unknown",
			Source: "a text that is stored nowhere, case counted, selects nothing",
			Broken: literalUnknown,
		},
		{
			Name:   "literal_column",
			Source: "a value that is stored, but in no column of that name, is compared with the wrong column",
			Broken: literalColumn,
		},
		{
			Name:   "value_missing",
			Source: "a stored value that the question names belongs into the statement",
			Broken: valueMissing,
		},
	}
}

// searchable reports whether a literal is text that should be found as it is.
func searchable(l sqltext.Literal) bool {
	return l.Kind == sqltext.String && l.Value != "" && !strings.ContainsAny(l.Value, "%0123456789")
}

func literalUnknown(in RuleInput) (string, bool) {
	if in.Lookup == nil {
		return "", false
	}
	for _, l := range in.Dialect.Literals(in.SQL) {
		if !searchable(l) {
			continue
		}
		if stored, known := in.Lookup("", l.Value, false); known && !stored {
			return "a text that is stored nowhere", true
		}
	}
	return "", false
}

func literalColumn(in RuleInput) (string, bool) {
	if in.Lookup == nil {
		return "", false
	}
	for _, c := range in.Dialect.Comparisons(in.SQL) {
		if c.Op != "=" || c.Column == "" {
			continue
		}
		for _, l := range c.Literals {
			if !searchable(l) {
				continue
			}
			somewhere, known := in.Lookup("", l.Value, true)
			if !known || !somewhere {
				continue
			}
			if here, known := in.Lookup(c.Column, l.Value, true); known && !here {
				return "a value compared with a column that does not hold it", true
			}
		}
	}
	return "", false
}

func valueMissing(in RuleInput) (string, bool) {
	if in.Lookup == nil {
		return "", false
	}
	used := make(map[string]bool)
	for _, l := range in.Dialect.Literals(in.SQL) {
		used[strings.ToLower(l.Value)] = true
	}
	for _, s := range in.Question.named(in.SchemaWord) {
		if mentioned(used, strings.ToLower(s)) {
			continue
		}
		if stored, known := in.Lookup("", s, false); known && stored {
			return "a value of the question is not used", true
		}
	}
	return "", false
}

// mentioned reports whether value stands in one of the literals: LIKE patterns
// and longer names hold it too.
func mentioned(literals map[string]bool, value string) bool {
	if literals[value] {
		return true
	}
	for l := range literals {
		if strings.Contains(l, value) {
			return true
		}
	}
	return false
}

// named returns the spans of the question that may name a value: quoted ones, and
// one to four words in a row that begin with a capital inside of a sentence or
// are all capitals. A span that lies in a longer one comes after it.
func (q Question) named(schemaWord func(string) bool) []string {
	var out []string
	for _, s := range sqltext.Quotations(q.Text) {
		if value := strings.TrimSpace(q.Text[s.From:s.To]); value != "" {
			out = append(out, value)
		}
	}
	t := q.tokens
	marked := func(i int) bool {
		if t[i].mark || schemaWord != nil && schemaWord(t[i].text) {
			return false
		}
		first := i == 0 || t[i-1].mark && strings.Contains(".?!", t[i-1].text)
		return t[i].caps || t[i].upper && !first && unicode.IsLetter([]rune(t[i].text)[0])
	}
	for n := 4; n >= 1; n-- {
	next:
		for i := 0; i+n <= len(t); i++ {
			for j := i; j < i+n; j++ {
				if !marked(j) {
					continue next
				}
			}
			out = append(out, q.Text[t[i].from:t[i+n-1].to])
		}
	}
	return out
}
