package trino

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

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

// speller holds the tokens of one statement, and the functions that the policy allows beside the list. There is no parser of
// Trino's SQL in Go, so a rule about words decides: a bracket opens a call only where a name stands before it.
type speller struct {
	tokens []sqltext.Token
	extra  []string
}

// check refuses a statement by its words, and returns the functions that it calls, in lower case, sorted. bound lets
// placeholders through.
func (w *speller) check(bound bool) (calls []string, err error) {
	calls = []string{}
	for i, t := range w.tokens {
		if err := w.token(i, bound); err != nil {
			return nil, err
		}
		if t.Text != "(" {
			continue
		}
		call, err := w.bracket(i)
		if err != nil {
			return nil, err
		}
		if call != "" {
			calls = append(calls, call)
		}
	}
	slices.Sort(calls)
	return slices.Compact(calls), w.bounded()
}

// refs are the places where a column may be named: all words, but for those behind AS, which are aliases and types. A star
// without a name in front stands for the columns of every table.
func (w *speller) refs() (refs []guard.Ref) {
	for i := range w.tokens {
		switch {
		case w.is(i, "*") && w.is(i-1, "."):
			refs = append(refs, guard.Ref{Path: w.chain(i - 2), Star: true})
		case w.is(i, "*") && w.is(i-1, "select", "distinct", "all", ","):
			refs = append(refs, guard.Ref{Star: true})
		case w.name(i) != "" && !w.is(i+1, ".") && !w.is(i-1, "as"):
			refs = append(refs, guard.Ref{Path: w.chain(i)})
		}
	}
	return refs
}

// chain returns the name that ends at token i, with all before its dots.
func (w *speller) chain(i int) (path []string) {
	for ; w.name(i) != ""; i -= 2 {
		path = append(path, w.name(i))
		if !w.is(i-1, ".") {
			break
		}
	}
	slices.Reverse(path)
	return path
}

// renames reports whether a list of names stands behind an alias, so that columns have other names there.
func (w *speller) renames(alias string) bool {
	for i := range w.tokens {
		if _, list := w.names(i); list && w.name(i-1) == strings.ToLower(alias) {
			return true
		}
	}
	return false
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
func (w *speller) token(i int, bound bool) error {
	t := w.tokens[i]
	switch t.Kind {
	case sqltext.Word:
		if strings.ContainsFunc(t.Text, func(r rune) bool { return r != '_' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z') }) {
			return guard.Refuse(exec.ReasonStatement, "a word outside of quotes has other characters than letters, digits and underscores")
		}
		if why := refusedWords[strings.ToLower(t.Text)]; why != "" && !w.is(i-1, ".") {
			return guard.Refuse(exec.ReasonStatement, "%s may not be used: %s", strings.ToUpper(t.Text), why)
		}
		if w.is(i, "for") && w.is(i+1, "version", "timestamp", "system_time") {
			return guard.Refuse(exec.ReasonStatement, "FOR %s reads rows that may be deleted", strings.ToUpper(w.tokens[i+1].Text))
		}
		if w.is(i, "with") && (i == 0 || w.is(i-1, "(")) && !w.expression(i+1) {
			return guard.Refuse(exec.ReasonStatement, "behind WITH common table expressions may stand, and nothing else")
		}
	case sqltext.QuotedName:
		if !strings.HasPrefix(t.Text, `"`) {
			return guard.Refuse(exec.ReasonStatement, "a name in quotes begins with %q", t.Text[:1])
		}
	case sqltext.Placeholder:
		if !bound {
			return guard.Refuse(exec.ReasonStatement, "nothing is bound to a placeholder")
		}
	case sqltext.Operator:
		if strings.Trim(t.Text, operators) != "" {
			return guard.Refuse(exec.ReasonStatement, "a character that is none of SQL")
		}
	case sqltext.Unterminated:
		return guard.Refuse(exec.ReasonStatement, "a string, name or comment has no end")
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
		return "", guard.Refuse(exec.ReasonFunction, "the function %s stands behind the name of a catalog or schema; built-in functions need none", name)
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
	return "", guard.Refuse(exec.ReasonFunction, "the function %s is not on the list", name)
}
