package trino

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// spelt is a statement that may be sent, and what its words tell. There is no parser of Trino's SQL in Go, so a rule about
// words decides: a bracket opens a call only where a name stands before it.
type spelt struct {
	names   map[string]bool // every word and quoted name, in lower case
	tables  map[string]bool // those of them that may be a table or view
	calls   []string        // functions called, in lower case, sorted
	starred bool            // a * stands for columns
	natural bool            // a NATURAL join
}

// operators are the characters of which operators are made. Others begin what newer servers may have.
const operators = "+-*/%=<>!|()[],.:"

// refusedWords are keywords that Trino reserves, so they are no names outside of quotes.
var refusedWords = map[string]string{
	"table":           "TABLE … calls a table function or reads a table without SELECT",
	"natural":         "Trino knows no NATURAL JOIN",
	"current_user":    "it tells of the server",
	"current_role":    "it tells of the server",
	"current_path":    "it tells of the server",
	"current_catalog": "it tells of the server",
	"current_schema":  "it tells of the server",
}

// spell looks at the words of a statement. extra are functions that the policy allows. ours lets placeholders through.
func spell(s *sqltext.Statement, extra []string, ours bool) (*spelt, error) {
	w := speller{tokens: slices.Collect(s.Tokens()), extra: extra}
	out := &spelt{names: map[string]bool{}, tables: w.relations()}
	for i, t := range w.tokens {
		if err := w.token(i, ours); err != nil {
			return nil, err
		}
		switch {
		case t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName:
			out.names[w.name(i)] = true
		case t.Text == "*":
			out.starred = out.starred || w.is(i-1, "select", "distinct", "all", ",", ".")
		case t.Text == "(":
			call, err := w.bracket(i)
			if err != nil {
				return nil, err
			}
			if call != "" {
				out.calls = append(out.calls, call)
			}
		}
	}
	slices.Sort(out.calls)
	out.calls = slices.Compact(out.calls)
	return out, w.bounded()
}

// speller holds the tokens of one statement.
type speller struct {
	tokens []sqltext.Token
	extra  []string
}

// is reports whether token i is one of some keywords, in lower case, or operators.
func (w *speller) is(i int, words ...string) bool {
	if i < 0 || i >= len(w.tokens) {
		return false
	}
	t := w.tokens[i]
	return (t.Kind == sqltext.Word || t.Kind == sqltext.Operator) && slices.Contains(words, strings.ToLower(t.Text))
}

// name returns the name that token i is, in lower case; "" where it is none.
func (w *speller) name(i int) string {
	if i < 0 || i >= len(w.tokens) {
		return ""
	}
	switch t := w.tokens[i]; t.Kind {
	case sqltext.Word:
		return strings.ToLower(t.Text)
	case sqltext.QuotedName:
		return strings.ToLower(sqltext.Trino().Value(t))
	}
	return ""
}

// token refuses what may stand nowhere.
func (w *speller) token(i int, ours bool) error {
	t := w.tokens[i]
	switch t.Kind {
	case sqltext.Word:
		if strings.ContainsFunc(t.Text, func(r rune) bool { return r != '_' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z') }) {
			return refuse(exec.ReasonStatement, "a word outside of quotes has other characters than letters, digits and underscores")
		}
		if why := refusedWords[strings.ToLower(t.Text)]; why != "" && !w.is(i-1, ".") {
			return refuse(exec.ReasonStatement, strings.ToUpper(t.Text)+" may not be used: "+why)
		}
		if w.is(i, "for") && w.is(i+1, "version", "timestamp", "system_time") {
			return refuse(exec.ReasonStatement, "FOR "+strings.ToUpper(w.tokens[i+1].Text)+" reads rows that may be deleted")
		}
		if w.is(i, "with") && (i == 0 || w.is(i-1, "(")) && !w.expression(i+1) {
			return refuse(exec.ReasonStatement, "behind WITH common table expressions may stand, and nothing else")
		}
	case sqltext.QuotedName:
		if !strings.HasPrefix(t.Text, `"`) {
			return refuse(exec.ReasonStatement, "a name in quotes begins with "+strconv.Quote(t.Text[:1]))
		}
	case sqltext.Placeholder:
		if !ours {
			return refuse(exec.ReasonStatement, "nothing is bound to a placeholder")
		}
	case sqltext.Operator:
		if strings.Trim(t.Text, operators) != "" {
			return refuse(exec.ReasonStatement, "a character that is none of SQL")
		}
	case sqltext.Unterminated:
		return refuse(exec.ReasonStatement, "a string, name or comment has no end")
	}
	return nil
}

// expression reports whether a common table expression begins at token i: a name, columns perhaps, and AS.
func (w *speller) expression(i int) bool {
	if w.is(i, "recursive") && !w.is(i+1, "as", "(") {
		i++
	}
	if end, ok := w.names(i + 1); ok {
		i = end
	}
	return w.name(i) != "" && w.is(i+1, "as") || w.is(i, ")") && w.is(i+1, "as")
}

// names reports whether a bracket opens at token i that holds names and commas only, and where it closes.
func (w *speller) names(i int) (end int, ok bool) {
	if !w.is(i, "(") {
		return 0, false
	}
	for i++; w.name(i) != ""; i += 2 {
		if w.is(i+1, ")") {
			return i + 1, true
		}
		if !w.is(i+1, ",") {
			break
		}
	}
	return 0, false
}

// relations returns the names that may be those of tables or views: behind FROM, JOIN, a comma or a bracket.
func (w *speller) relations() map[string]bool {
	out := map[string]bool{}
	for i := range w.tokens {
		if w.behind(i, "from", "join", ",", "(") {
			out[w.name(i)] = true
		}
	}
	return out
}

// behind reports whether a name ends at token i that stands, with all before its dots, behind one of some words.
func (w *speller) behind(i int, words ...string) bool {
	for ; w.name(i) != ""; i -= 2 {
		if !w.is(i-1, ".") {
			return w.is(i-1, words...)
		}
	}
	return false
}

// bracket looks at what stands before the bracket at token i, and returns the function that it calls.
func (w *speller) bracket(i int) (call string, err error) {
	name, word := w.name(i-1), ""
	switch {
	case name == "": // an operator, a literal, or the beginning
		return "", nil
	case w.tokens[i-1].Kind == sqltext.Word:
		word = name
	}
	if w.is(i-2, ".") {
		if slices.ContainsFunc(w.extra, func(f string) bool { return strings.EqualFold(f, name) }) {
			return name, nil
		}
		return "", refuse(exec.ReasonFunction, "the function "+name+" stands behind the name of a catalog or schema; built-in functions need none")
	}
	if w.is(i-2, "as") { // a type, or an alias with its columns
		return "", nil
	}
	if end, ok := w.names(i); ok {
		switch {
		case w.is(i-2, ")", "ordinality"), w.behind(i-2, "from", "join"):
			return "", nil // an alias with its columns
		case w.is(i-2, "with", "recursive", ",") && w.is(end+1, "as") && w.is(end+2, "("):
			return "", nil // a common table expression with its columns
		}
	}
	if word != "" && keywords[word] {
		return "", nil
	}
	if functions[name] || word != "" && forms[word] {
		return name, nil
	}
	return "", refuse(exec.ReasonFunction, fmt.Sprintf("the function %s is not on the list", name))
}

// refuse makes a refusal.
func refuse(reason sqltext.Reason, detail string) error {
	return &exec.RefusedError{Reason: reason, Detail: detail}
}
