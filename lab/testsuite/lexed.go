package testsuite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// lexed is a statement as tokens, without blanks and comments.
type lexed struct {
	sql    string
	text   sqltext.Dialect
	tokens []sqltext.Token
	depth  []int // for each token: how many brackets are open; a bracket counts itself
}

func lex(sql string) lexed {
	l := lexed{sql: sql, text: sqltext.SQLite()}
	depth := 0
	for tok := range l.text.Tokens(sql) {
		if tok.Kind == sqltext.Space || tok.Kind == sqltext.Comment {
			continue
		}
		if tok.Kind == sqltext.Operator && tok.Text == "(" {
			depth++
		}
		l.tokens, l.depth = append(l.tokens, tok), append(l.depth, depth)
		if tok.Kind == sqltext.Operator && tok.Text == ")" {
			depth--
		}
	}
	return l
}

// word reports whether token i is one of the words, in upper case.
func (l *lexed) word(i int, words ...string) bool {
	return i >= 0 && i < len(l.tokens) && l.tokens[i].Kind == sqltext.Word &&
		slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, l.tokens[i].Text) })
}

func (l *lexed) op(i int, ops ...string) bool {
	return i >= 0 && i < len(l.tokens) && l.tokens[i].Kind == sqltext.Operator && slices.Contains(ops, l.tokens[i].Text)
}

// clauseEnd returns the token behind the clause that starts at token i.
func (l *lexed) clauseEnd(i int) int {
	for j := i + 1; j < len(l.tokens); j++ {
		switch {
		case l.depth[j] < l.depth[i], l.depth[j] == l.depth[i] && l.op(j, ")", ";"):
			return j
		case l.depth[j] == l.depth[i] && l.word(j, "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "UNION", "INTERSECT",
			"EXCEPT", "JOIN", "LEFT", "INNER", "CROSS", "NATURAL", "RIGHT", "FULL") && !l.op(j+1, "("): // LEFT(x, 2) is a function
			return j
		case l.depth[j] == l.depth[i] && l.word(i, "ON") && l.op(j, ","):
			return j
		}
	}
	return len(l.tokens)
}

// split cuts tokens at the ANDs between them. ok is false for an OR, whose parts are no conjuncts.
func (l *lexed) split(from, to int) (parts [][2]int, ok bool) {
	if from >= to {
		return nil, false
	}
	depth := l.depth[from]
	if l.op(from, "(") {
		depth--
	}
	start, between, cases := from, 0, 0
	for i := from; i < to; i++ {
		if l.word(i, "CASE") {
			cases++
		}
		if l.word(i, "END") {
			cases--
		}
		if l.depth[i] != depth || cases > 0 {
			continue
		}
		switch {
		case l.word(i, "OR"):
			return nil, false
		case l.word(i, "BETWEEN"):
			between++
		case l.word(i, "AND") && between > 0:
			between--
		case l.word(i, "AND"):
			parts = append(parts, [2]int{start, i})
			start = i + 1
		}
	}
	return append(parts, [2]int{start, to}), true
}
