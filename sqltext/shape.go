package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// This file judges by shape what only an engine can judge for certain: whether a text is SQL or prose, and whether it
// is whole. Extract asks it to order its candidates, and to decide where there is no engine to ask.

// head is what a text starts with.

// Head returns the kind of a text by its first words: "query" for SELECT, VALUES, WITH and a list item, or another
// first word of a query in the dialect. "other" is another statement, and "" is prose or an empty text. It skips
// blanks, comments, semicolons and opening brackets. For words that often start English sentences, the next words
// decide, or only capitals count. If prose is taken for a statement, a good reply is refused; the opposite mistake
// only drops text after a statement.
func (d Dialect) Head(s string) string {
	var t [6]Token
	n := 0
	l := lexer{d: d, src: s}
	for n < len(t) && l.next() {
		if l.tok.Kind == Space || l.tok.Kind == Comment || n == 0 && (l.tok.isOperator(";") || l.tok.isOperator("(")) {
			continue
		}
		t[n] = l.tok
		n++
	}
	if t[0].Kind != Word {
		return ""
	}
	word, is := strings.ToUpper(t[0].Text), false
	switch next, ok := followed[word]; {
	case word != "WITH" && word != "TABLE" && d.startsQuery(t[0]) && (!d.describes(t[0]) || word == t[0].Text):
		return "query"
	case word == "WITH":
		if t[1].isWord("RECURSIVE") || t[2].isWord("AS") || t[2].isOperator("(") {
			return "query"
		}
	case ok:
		is = slices.ContainsFunc(t[1:next.upto], func(t Token) bool {
			return t.Kind == Word && next.by[strings.ToUpper(t.Text)]
		})
	case administrative[word]:
		is = true
	default:
		is = t[0].Text == word && (descriptive[word] || changes(word))
	}
	if is {
		return "other"
	}
	return ""
}

// Words that start a statement that is no query: alone, in capitals, or if one of the words up to a place follows.
var (
	administrative = words.Set("ATTACH DETACH PRAGMA VACUUM REINDEX SAVEPOINT")
	descriptive    = words.Set("EXPLAIN SHOW DESCRIBE DESC")
	objects        = follow{2,
		words.Set(`TABLE TEMP TEMPORARY VIEW INDEX UNIQUE TRIGGER VIRTUAL OR FUNCTION PROCEDURE DATABASE SCHEMA
		MATERIALIZED ROLE USER SEQUENCE TYPE EXTENSION EXTERNAL UNLOGGED`)}
	followed = map[string]follow{
		"INSERT": {3, words.Set("INTO OR IGNORE OVERWRITE")}, "REPLACE": {2, words.Set("INTO")},
		"MERGE":  {2, words.Set("INTO")},
		"UPDATE": {6, words.Set("SET")}, "DELETE": {4, words.Set("FROM")},
		"CREATE": objects, "DROP": objects, "ALTER": objects, "TRUNCATE": objects,
	}
)

type follow struct {
	upto int
	by   map[string]bool
}

// IsCut reports whether a text starts like a statement but ends in the middle: in a string, in a bracket, or after a
// word or operator that needs more.
func (s *Statement) IsCut() bool {
	p := s.tree()
	if len(p.items) == 0 || strings.HasSuffix(p.sql, ";") {
		return false // a text that ends with a semicolon ends where it should
	}
	if p.lacksQuery() {
		return true
	}
	last := &p.items[len(p.items)-1]
	switch {
	case last.Kind == Unterminated, p.opened(), dangling[last.up]:
		return true
	case last.Kind == Operator:
		switch last.Text {
		case ")", "]", "}", ";", ".", "!", ":", "*", "`", "~":
			return false
		}
		return true
	}
	return false
}

// lacksQuery reports whether the text has a WITH list and no query behind it.
func (p *parsed) lacksQuery() bool { return p.main >= 0 && p.queries[p.main].cte }

// IsStub reports whether a text, without comments, is at most the first letters of a query.
func (d Dialect) IsStub(text string) bool {
	items := d.Parse(text).tree().items
	if len(items) == 0 {
		return true
	}
	word := items[0].up
	return len(items) == 1 && word != "" && (strings.HasPrefix("SELECT", word) || strings.HasPrefix("WITH", word))
}

// opened reports whether a bracket is open at the end.
func (p *parsed) opened() bool {
	depth := 0
	for i := range p.items {
		it := &p.items[i]
		switch {
		case it.isOperator("("):
			if it.match < 0 {
				return true
			}
		case it.isOperator("["), it.isOperator("{"):
			depth++
		case it.isOperator("]"), it.isOperator("}"):
			depth--
		}
	}
	return depth > 0
}

// IsPlausible reports whether a text that passed the text check looks like a whole query and not like prose. It makes
// both mistakes: a valid but unusual statement may fail, and most nonsense passes.
func (s *Statement) IsPlausible() bool {
	p := s.tree()
	if len(p.items) < 2 || p.main < 0 || p.lacksQuery() || p.d.Head(p.sql) != "query" || p.opened() {
		return false
	}
	last := &p.items[len(p.items)-1]
	if dangling[last.up] || last.Kind == Operator && last.Text != ")" && last.Text != "]" && last.Text != "}" {
		return false
	}
	starts := 0
	for q := range p.queries {
		if !p.startsWell(&p.queries[q]) {
			return false
		}
		if p.up(p.queries[q].at[inSelect]) == "SELECT" {
			starts++
		}
	}
	names := 0
	for i := range p.items {
		it := &p.items[i]
		if it.up == "SELECT" && it.role == roleKeyword {
			starts--
		}
		if it.Kind == Operator && !p.isOperatorHere(i) {
			return false
		}
		isName := it.role != roleKeyword && it.role != roleType && it.isName()
		if it.Kind == Number && names > 0 {
			return false // "the first 5 rows"
		}
		if !isName {
			names = 0
		} else if names++; names > 2 {
			return false // "t This query"
		}
	}
	return starts == 0
}

// startsWell reports whether a query stands where one may, and asks for something.
func (p *parsed) startsWell(q *query) bool {
	i := q.start - 1
	if i >= 0 && !p.op(i, "(") && !p.op(i, ")") {
		switch p.up(i) {
		case "UNION", "EXCEPT", "INTERSECT", "MINUS", "ALL", "DISTINCT":
		default:
			return false
		}
	}
	if q.at[inSelect] < 0 || p.up(q.at[inSelect]) != "SELECT" {
		return true
	}
	list, _ := p.listStart(q)
	if clauseOf(p.up(list), p.up(list+1)) != inNone {
		return false
	}
	switch p.up(list) {
	case "FROM", "BY", "SELECT":
		return false
	}
	return !p.op(list, ",") && !p.op(list, ")")
}

// isOperatorHere tells punctuation of sentences from operators.
func (p *parsed) isOperatorHere(i int) bool {
	switch p.items[i].Text {
	case ")":
		return p.items[i].match >= 0
	case ".":
		before := i > 0 && (p.items[i-1].Kind == Word || p.items[i-1].Kind == QuotedName || p.op(i-1, ")") ||
			p.op(i-1, "]") || p.op(i-1, "}"))
		after := p.op(i+1, "*") || i+1 < len(p.items) && (p.items[i+1].Kind == Word || p.items[i+1].Kind == QuotedName)
		return before && after
	case ":":
		return p.d.NoColonName
	case "!", `\`, "`":
		return false
	}
	return true
}
