package doubt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// held is an answer that is held against its question.
type held struct{ *shared }

// shared is what the readers share.
type shared struct {
	answer
	asked    string    // the question in lower case, quotations included
	evidence string    // what is known besides, in lower case
	stems    []string  // the words of the question, each in the singular
	known    []string  // those of the evidence, too
	times    []stretch // that the question names with their year
	timeless string    // the question without them

	sqlshape.Outline // of the outer query
	selects          []sqlshape.Select
	single           bool // there is one SELECT
	tokens           []sqltext.Token
	columns          []mention
	tables           []*schema.Table // that the statement reads, each once
	constant         []constant
	sql              string        // the statement
	upper            string        // in upper case
	rows             *result.Table // see shown
}

func newHeld(a answer) held {
	h := held{&shared{
		answer: a, asked: replace(bareNot, strings.ToLower(a.Text), "$1't"),
		evidence: strings.ToLower(strings.TrimSpace(a.Evidence)),
		Outline:  a.Statement.Outline(), selects: a.Statement.Selects(),
		tokens: slices.Collect(a.Statement.Tokens()), sql: a.Statement.SQL(), upper: strings.ToUpper(a.Statement.SQL()),
	}}
	h.single = len(h.selects) == 1
	h.times, h.timeless = timesIn(a.Text)
	h.stems = stemsOf(a.Text)
	h.known = append(stemsOf(a.Evidence), h.stems...)
	if strings.Contains(a.Text, "-") { // an e-mail is an email, too
		h.known = append(h.known, stemsOf(strings.ReplaceAll(a.Text, "-", ""))...)
	}
	for _, ref := range a.Statement.Tables() {
		if t := a.table(ref); t != nil && !slices.Contains(h.tables, t) {
			h.tables = append(h.tables, t)
		}
	}
	for _, c := range a.Statement.Columns() {
		h.columns = append(h.columns, a.mention(c))
	}
	h.constant = h.constants()
	h.times = except(h.times, h.isAmount)
	return h
}

// bareNot finds a not without its apostrophe: havent.
var bareNot = compile(`\b((?:have|has|had|do|does|did|is|are|was|were|could|should)n)t\b`)

// mention is a column where the statement names it.
type mention struct {
	sqlshape.ColumnRef
	of    *schema.Table // nil where nobody knows
	known *schema.Column
}

// table is the table of the schema that the statement reads; nil where nobody knows.
func (a answer) table(ref sqlshape.TableRef) *schema.Table {
	if t, ok := a.Schema.Lookup(ref.Schema, ref.Name); ok && ref.Base() {
		return t
	}
	return nil
}

// mention finds the table and the column of the schema that a column of the statement means.
func (a answer) mention(c sqlshape.ColumnRef) mention {
	scope := c.Scope
	if c.Table != "" {
		scope = []sqlshape.TableRef{{Schema: c.Schema, Name: c.Table}}
	}
	for _, ref := range scope {
		if t := a.table(ref); t != nil {
			if found, has := t.Column(c.Column); has {
				return mention{c, t, found}
			}
		}
	}
	return mention{ColumnRef: c}
}

// is reports whether a mention is one of a column of a table.
func (m mention) is(t *schema.Table, column string) bool {
	return m.of == t && strings.EqualFold(m.Column, column)
}

// writes reports whether a mention is written like a term.
func (m mention) writes(term string) bool {
	return strings.EqualFold(term, m.Column) || strings.EqualFold(term, m.Qualifier+"."+m.Column)
}

// profileOf is what is known of the values of a column.
func profileOf(c *schema.Column) *schema.Profile { return cmp.Or(c.Profile, unknown) }

var unknown = &schema.Profile{}

// stemsOf are the words of a text, each in the singular.
func stemsOf(text string) []string {
	list := words.Of(text)
	for i, w := range list {
		list[i] = words.Stem(w)
	}
	return list
}

// nounOf is the last word of a name in the singular: item of order_items; "" where the name has no word.
func nounOf(name string) string {
	stems := append([]string{""}, words.Stems(name)...)
	return stems[len(stems)-1]
}

// anyTable reports whether a table that the statement reads is such as this.
func (h held) anyTable(such func(*schema.Table) bool) bool {
	return slices.ContainsFunc(h.tables, such)
}

// anyMention reports whether a column of the statement is such as this.
func (h held) anyMention(such func(mention) bool) bool { return slices.ContainsFunc(h.columns, such) }

// anyConstant reports whether a constant of the statement is such as this.
func (h held) anyConstant(such func(constant) bool) bool {
	return slices.ContainsFunc(h.constant, such)
}

// byNoun is the table whose rows a noun names; nil: none.
func byNoun(tables []*schema.Table, noun string) *schema.Table {
	for _, t := range tables {
		if nounOf(t.Name) == noun {
			return t
		}
	}
	return nil
}

// share reports whether two lists have a word in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// named reports whether the name of a table, or of a column, has one of words in the singular.
func named(name string, stems ...string) bool { return share(words.Stems(name), stems) }

// naming is a function that reports of a name whether it has one of words in the singular.
func naming(stems ...string) func(name string) bool {
	return func(name string) bool { return named(name, stems...) }
}

// except returns a list without some members.
func except[T any](list []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// anyColumn reports whether a column of a table has a name such as this.
func anyColumn(t *schema.Table, such func(name string) bool) bool {
	return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return such(c.Name) })
}

// constant is a string or a number of the statement, with the comparison in which it stands.
type constant struct {
	text   string // without quotes
	number bool
	op     string // "=", ">=", "LIKE", "NOT IN", "BETWEEN", "AND" for the second one of a BETWEEN; "": none
	column mention
	at     int // its place among the tokens
	opAt   int // that of its comparison; -1: none
}

// equal reports whether the constant keeps the rows that have it.
func (c constant) equal() bool {
	return c.op == "=" || c.op == "IN" || c.op == "LIKE" || c.op == "ILIKE"
}

// drops reports whether the constant drops the rows that have it, or are like it.
func (c constant) drops() bool { return unequal[c.op] || strings.HasPrefix(c.op, "NOT") }

// unequal are the operators that drop the rows that have a constant.
var unequal = words.Set("<>,!=,NOT IN")

// constants are those of the statement in text order.
func (h held) constants() (list []constant) {
	for i, t := range h.tokens {
		if !h.isConstant(i) {
			continue
		}
		c := constant{text: h.Statement.Dialect().Value(t), number: t.Kind == sqltext.Number, at: i, opAt: h.operator(i)}
		if c.opAt >= 0 {
			c.op = h.word(c.opAt)
			if h.word(c.opAt-1) == "NOT" {
				c.op = "NOT " + c.op
			}
			c.column = h.columnBefore(c.opAt)
		} else if c.op = flippedOperator[h.word(i+1)]; c.op != "" {
			c.column = h.columnBehind(t.Pos)
		}
		list = append(list, c)
	}
	return list
}

var (
	flippedOperator = words.Pairs("= = < > <= >= > < >= <=")
	compares        = words.Set("= == <> != < <= > >= IN LIKE ILIKE GLOB BETWEEN")
	// wraps are words between an operator and its constant.
	wraps = words.Set("( - + DATE TIMESTAMP DATETIME CAST TO_DATE LOWER UPPER SUM ANY")
)

// word is the text of a token in upper case; "" outside of the statement.
func (h held) word(i int) string {
	if i < 0 || i >= len(h.tokens) {
		return ""
	}
	return strings.ToUpper(h.tokens[i].Text)
}

// stand reports whether these words stand side by side in the statement, the first one at a token.
func (h held) stand(at int, list ...string) bool {
	for i, w := range list {
		if h.word(at+i) != w {
			return false
		}
	}
	return true
}

// places are the tokens at which these words stand side by side.
func (h held) places(list ...string) (at []int) {
	for i := range h.tokens {
		if h.stand(i, list...) {
			at = append(at, i)
		}
	}
	return at
}

// tokenAt is the token at a byte offset; -1: none.
func (h held) tokenAt(pos int) int {
	return slices.IndexFunc(h.tokens, func(t sqltext.Token) bool { return t.Pos == pos })
}

// lastPart is the last token of a name that begins at a token: price of o.price.
func (h held) lastPart(at int) int {
	for h.word(at+1) == "." {
		at += 2
	}
	return at
}

// isConstant reports whether a token is a string or a number.
func (h held) isConstant(at int) bool {
	return h.tokens[at].Kind == sqltext.String || h.tokens[at].Kind == sqltext.Number
}

// operator returns the place of the comparison in front of the constant at i; -1: none. For the second constant of a
// BETWEEN it is that of its AND.
func (h held) operator(i int) int {
	listed := false
	for j := i - 1; j >= 0; j-- {
		switch w := h.word(j); {
		case w == "AND" && !listed && h.between(j):
			return j
		case compares[w]:
			if listed && w != "IN" {
				return -1
			}
			return j
		case w == ",":
			listed = true
		case listed && h.isConstant(j):
		case !wraps[w]:
			return -1
		}
	}
	return -1
}

// between reports whether the AND at token i is one of a BETWEEN with constants.
func (h held) between(i int) bool {
	for j := i - 1; j >= max(0, i-8); j-- {
		switch w := h.word(j); {
		case w == "BETWEEN":
			return true
		case w != ")" && !h.isConstant(j) && !wraps[w]:
			return false
		}
	}
	return false
}

// columnBefore is the last column in front of a token.
func (h held) columnBefore(at int) (c mention) {
	for _, r := range h.columns {
		if r.Pos < h.tokens[at].Pos {
			c = r
		}
	}
	return c
}

// find returns the first column such as this; zero: none.
func (h held) find(such func(mention) bool) (c mention) {
	if at := slices.IndexFunc(h.columns, such); at >= 0 {
		return h.columns[at]
	}
	return c
}

// columnBehind is the first column behind a byte offset.
func (h held) columnBehind(pos int) mention {
	return h.find(func(c mention) bool { return c.Pos > pos })
}

// groups are the columns that are terms of the GROUP BY; zero for other terms.
func (h held) groups() (list []mention) {
	const by = "GROUP BY"
	from := min(strings.LastIndex(h.upper, by)+len(by), len(h.sql))
	for _, term := range h.GroupBy {
		at := from + strings.Index(h.sql[from:], term)
		list = append(list, h.find(func(c mention) bool { return c.Pos == at }))
	}
	return list
}

// keys reports whether a mention is of the only column of the key of its table.
func (m mention) keys() bool {
	return m.of != nil && slices.Equal(m.of.PrimaryKey, []string{m.known.Name})
}

// isAlias reports whether a mention is of a term of the outer query by its alias: ORDER BY average_cost.
func (h held) isAlias(c mention) bool {
	return c.of == nil && slices.ContainsFunc(h.Items, func(i sqlshape.SelectItem) bool {
		return i.Column == "" && strings.EqualFold(i.Alias, c.Column)
	})
}

// uses reports whether the statement mentions a column of a table.
func (h held) uses(t *schema.Table, column string) bool {
	return h.anyMention(func(c mention) bool { return c.is(t, column) || c.is(nil, column) })
}

// asks reports whether the question has one of several forms.
func (h held) asks(forms ...*regexp.Regexp) bool {
	return slices.ContainsFunc(forms, func(f *regexp.Regexp) bool { return f.MatchString(h.asked) })
}

// says reports whether one of words in the singular stands in the question.
func (h held) says(list ...string) bool { return share(list, h.stems) }

// knows reports whether a text stands in the question or its evidence.
func (h held) knows(text string) bool {
	return strings.Contains(h.asked, text) || strings.Contains(h.evidence, text)
}

// alike reports whether a list has a word that is equal to another one or has its first letters, at least so many.
func alike(list []string, word string, least, most int) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		n := min(len(w), len(word), most)
		return n >= least && w[:n] == word[:n] || w == word
	})
}

// related reports whether the question or its evidence has a word that begins like this one: German and Germany, euros
// and EUR.
func (h held) related(word string) bool {
	return alike(h.known, strings.ToLower(word), 3, 4)
}

// named reports whether the question or its evidence has a word of a constant.
func (h held) named(text string) bool {
	text = strings.Trim(text, "%_ ")
	if slices.ContainsFunc(words.OfName(text), h.related) {
		return true
	}
	if len(text) <= 3 && text != "" {
		return words.Spelled(h.Text+" "+h.Evidence, text)
	}
	return h.knows(strings.ToLower(text))
}

// writes reports whether one of parts in upper case stands in the statement.
func (h held) writes(parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(h.upper, p) })
}

// run returns the rows of a statement of ours; nil: unknown.
func (h held) run(format string, args ...any) *result.Table {
	if h.Query == nil {
		return nil
	}
	return h.Query(fmt.Sprintf(format, args...))
}

// some reports whether a statement of ours has rows.
func (h held) some(format string, args ...any) bool {
	t := h.run(format, args...)
	return t != nil && len(t.Rows) > 0
}

// shown are the rows of the statement, which is run where the answer has no rows; nil: unknown.
func (h held) shown() *result.Table {
	if h.Table == nil && h.rows == nil {
		h.rows = h.run("%s", h.sql)
	}
	return cmp.Or(h.Table, h.rows)
}

// differs reports whether another form of the statement has other rows.
func (h held) differs(sql string) bool {
	shown := h.shown()
	if shown == nil || shown.Truncated || sql == "" {
		return false
	}
	t := h.run("%s", sql)
	return t != nil && !t.Truncated && !(result.Equality{Digits: 9}).Equal(t, shown)
}

// changes reports whether the statement has other rows with another text in place of a token.
func (h held) changes(at int, text string) bool {
	return h.differs(h.replaced(map[int]string{at: text}))
}

// replaced is the statement with other texts in place of some tokens.
func (h held) replaced(by map[int]string) string {
	var b strings.Builder
	done := 0
	for i, t := range h.tokens {
		if text, ok := by[i]; ok {
			b.WriteString(h.sql[done:t.Pos] + text)
			done = t.Pos + len(t.Text)
		}
	}
	return b.String() + h.sql[done:]
}
