package doubt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// answer is a winner with the question that it answers.
type answer struct {
	contradict.Answer
	Question QuestionFeatures
}

// Contradictions returns the differences between the question and the statement: another value, year, number,
// direction or group, or a part of the question that the statement lacks. Each Detail is one sentence with the words
// of both. The Doubt of a difference is 1, or 0 if many right answers have it too.
//
// For a question in an unknown language it compares only numbers, dates and stored values.
//
// A program gets them in the warnings of texttosql.Result: the type of w is internal.
func (q QuestionFeatures) Contradictions(w contradict.Answer) (found []vote.Finding) {
	if w.Statement == nil || w.Schema == nil {
		return nil
	}
	a := answer{w, q}
	a.telegraphic()
	h := newHeld(a)
	for _, r := range readers() {
		if r.words && a.Question.Language == "" {
			continue
		}
		if detail := r.find(h); detail != "" {
			found = append(found, vote.Finding{Rule: findings.Contradiction + r.name, Detail: detail,
				Doubt: r.weight})
		}
	}
	return found
}

// reader finds one kind of contradiction. words says that it reads the words of a language.
type reader struct {
	name   string
	words  bool
	weight float64
	find   func(*held) string
}

// readers are in the order of their findings.
func readers() []reader {
	return []reader{
		{"time", false, 1, (*held).time},
		{"period", true, 1, (*held).period},
		{"month", true, 1, (*held).month},
		{"value", false, 1, (*held).value},
		{"code", false, 1, (*held).code},
		{"country", false, 1, (*held).country},
		{"unit", true, 1, (*held).unit},
		{"opposite", true, 1, (*held).opposite},
		{"number", false, 1, (*held).number},
		{"limit", true, 1, (*held).limit},
		{"bound", true, 1, (*held).bound},
		{"column", true, 1, (*held).column},
		{"flag", true, 1, (*held).flag},
		{"unasked", true, 1, (*held).unasked},
		{"direction", true, 1, (*held).direction},
		{"group", true, 1, (*held).group},
		{"distinct", true, 1, (*held).distinct},
		{"average", true, 1, (*held).average},
		{"negation", true, 1, (*held).negation},
		{"both", true, 1, (*held).both},
		{"including", true, 1, (*held).including},
		{"share", true, 1, (*held).share},
		{"half", true, 1, (*held).half},
		{"join", false, 1, (*held).join},
		{"needless", true, 1, (*held).needless},
		{"besides", true, 1, (*held).besides},
		{"lost", false, 1, (*held).lost},
		{"union", false, 1, (*held).union},
		{"null-first", false, 1, (*held).nullFirst},
		{"several", false, 1, (*held).several},
		{"homonym", true, 1, (*held).homonym},
		{"count", true, 1, (*held).counted},
		{"repeated", true, 1, (*held).repeated},
		{"outer", false, 1, (*held).outer},
		{"pattern", true, 1, (*held).pattern},
		{"late", true, 1, (*held).lateness},
		{"weekend", true, 1, (*held).weekends},
		{"tax", true, 1, (*held).tax},
		{"text", false, 0, (*held).text},
		{"typed", false, 1, (*held).typed},
		{"null", true, 1, (*held).nulls},
		{"alias", false, 1, (*held).alias},
		{"ties", false, 0, (*held).ties},
		{"spelling", true, 0, (*held).spellings},
		{"months", true, 1, (*held).months},
	}
}

// abrupt are words of English by which people shorten a question: "cheapest products", "revenue last month".
var abrupt = compile(`(?i)^(?:\pL+(?:lest|test|gest|nest|pest|dest|best|worst|rest|hest|iest)|last|next|this|
		months?|years?|weeks?|quarters?|days?|average|number|january|february|march|may|june|july|october|
		december|unpaid|gross|net|revenue|customers?|orders?|users?|newest|oldest|first|including|both|top|due|
		overdue|monthly|yearly|weekly|daily|quarterly|today|yesterday|tomorrow|all|every|except|excluding|never|
		not|only|which|who|open|closed|shipped|paid|sold|per|with|without|by|of|two|three|five|seven|eight|nine|
		ten|nobody|nothing|none|yet|ever|still|since|until|before|after|between|over|under|than|more|less|
		neither)$`)

// onlyEnglish are words that no other language has and that carry the sense of a short question.
var onlyEnglish = compile(`(?i)\b(?:since|before|after|between|without|outside|starting|ending|never|nobody|
		nothing|than|which|whose|cheaper|older|newer|still|both|each|every|how many|who)\b`)

// telegraphic takes a question for English that is in no known language because it has no usual word in it:
// where most of its
// words are names of the schema or words by which people shorten a question, and no word is of another language.
func (a *answer) telegraphic() {
	if a.Question.Language != "" || a.Question.Text == "" {
		return
	}
	l := english[0]
	known, all := 0, 0
	for _, w := range a.Question.words {
		if len(w.text) < 3 || strings.Trim(w.text, "0123456789") == "" {
			continue
		}
		all++
		switch {
		case slices.Contains(l.Foreign, w.text) && w.text != "per" ||
			strings.ContainsFunc(w.text, func(r rune) bool { return r > unicode.MaxASCII }):
			return
		case abrupt.MatchString(w.text), slices.Contains(l.Common, w.text), a.inNames(w.text):
			known++
		}
	}
	if known > 0 && 2*known >= all || onlyEnglish.MatchString(a.Question.Text) {
		a.Question.read(&l)
	}
}

// held is an answer that is held against its question, with what the readers share.
type held struct {
	answer
	asked    string    // the question in lower case, quotations included
	evidence string    // what is known besides, in lower case
	stems    []string  // the words of the question, each in the singular
	known    []string  // those of the evidence, too
	times    []stretch // that the question names with their year
	timeless string    // the question without them

	outline  sqlshape.Outline
	selects  []sqlshape.Select
	tokens   []sqltext.Token
	columns  []sqlshape.ColumnRef
	tables   []*schema.Table // that the statement reads, each once
	constant []constant
	upper    string        // the statement in upper case
	rows     *result.Table // see shown
}

func newHeld(a answer) *held {
	h := &held{
		answer: a, asked: strings.ToLower(a.Question.Text), evidence: strings.ToLower(strings.TrimSpace(a.Question.Evidence)),
		outline: a.Statement.Outline(), selects: a.Statement.Selects(), columns: a.Statement.Columns(),
		tokens: slices.Collect(a.Statement.Tokens()), upper: strings.ToUpper(a.Statement.SQL()),
	}
	h.times, h.timeless = timesIn(a.Question.Text)
	h.stems = stemsOf(a.Question.Text)
	h.known = append(stemsOf(a.Question.Evidence), h.stems...)
	for _, ref := range a.Statement.Tables() {
		if t, ok := a.Schema.Lookup(ref.Schema, ref.Name); ok && ref.Base() && !slices.Contains(h.tables, t) {
			h.tables = append(h.tables, t)
		}
	}
	h.constant = h.constants()
	return h
}

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
	stems := words.Stems(name)
	if len(stems) == 0 {
		return ""
	}
	return stems[len(stems)-1]
}

// constant is a string or a number of the statement, with the comparison in which it stands.
type constant struct {
	text   string // without quotes
	number bool
	op     string // "=", ">=", "LIKE", "NOT IN", "BETWEEN", "AND" for the second one of a BETWEEN; "": none
	column sqlshape.ColumnRef
	at     int // its place among the tokens
}

// equal reports whether the constant keeps the rows that have it.
func (c constant) equal() bool {
	return c.op == "=" || c.op == "IN" || c.op == "LIKE" || c.op == "ILIKE"
}

// constants are those of the statement in text order.
func (h *held) constants() (list []constant) {
	for i, t := range h.tokens {
		if t.Kind != sqltext.String && t.Kind != sqltext.Number {
			continue
		}
		c := constant{text: h.Statement.Dialect().Value(t), number: t.Kind == sqltext.Number, at: i}
		at := h.operator(i)
		if at >= 0 {
			c.op = h.word(at)
			if h.word(at-1) == "NOT" {
				c.op = "NOT " + c.op
			}
			c.column = h.columnBefore(h.tokens[at].Pos)
		} else if back := flippedOperator[h.word(i+1)]; back != "" {
			c.op, c.column = back, h.columnBehind(t.Pos)
		}
		list = append(list, c)
	}
	return list
}

var (
	flippedOperator = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	compares        = []string{"=", "==", "<>", "!=", "<", "<=", ">", ">=", "IN", "LIKE", "ILIKE", "GLOB", "BETWEEN"}
	// wraps are words between an operator and its constant.
	wraps = []string{"(", "-", "+", "DATE", "TIMESTAMP", "DATETIME", "CAST", "TO_DATE", "LOWER", "UPPER", "SUM",
		"ANY"}
)

// word is the text of a token in upper case; "" outside of the statement.
func (h *held) word(i int) string {
	if i < 0 || i >= len(h.tokens) {
		return ""
	}
	return strings.ToUpper(h.tokens[i].Text)
}

// operator returns the place of the comparison in front of the constant at i; -1: none. For the second
// constant of a BETWEEN
// it is that of its AND.
func (h *held) operator(i int) int {
	listed := false
	for j := i - 1; j >= 0; j-- {
		switch w := h.word(j); {
		case w == "AND" && !listed && h.between(j):
			return j
		case slices.Contains(compares, w):
			if listed && w != "IN" {
				return -1
			}
			return j
		case w == ",":
			listed = true
		case listed && (h.tokens[j].Kind == sqltext.String || h.tokens[j].Kind == sqltext.Number):
		case !slices.Contains(wraps, w):
			return -1
		}
	}
	return -1
}

// between reports whether the AND at token i is one of a BETWEEN with constants.
func (h *held) between(i int) bool {
	for j := i - 1; j >= max(0, i-8); j-- {
		switch w := h.word(j); {
		case w == "BETWEEN":
			return true
		case w == ")", h.tokens[j].Kind == sqltext.String, h.tokens[j].Kind == sqltext.Number,
			slices.Contains(wraps, w):
		default:
			return false
		}
	}
	return false
}

// columnBefore is the last column in front of a byte offset.
func (h *held) columnBefore(pos int) (c sqlshape.ColumnRef) {
	for _, r := range h.columns {
		if r.Pos < pos {
			c = r
		}
	}
	return c
}

// columnBehind is the first column behind a byte offset.
func (h *held) columnBehind(pos int) sqlshape.ColumnRef {
	for _, r := range h.columns {
		if r.Pos > pos {
			return r
		}
	}
	return sqlshape.ColumnRef{}
}

// home returns the table and the column of the schema that a mention means; nil where nobody knows.
func (h *held) home(c sqlshape.ColumnRef) (*schema.Table, *schema.Column) {
	scope := c.Scope
	if c.Table != "" {
		scope = []sqlshape.TableRef{{Schema: c.Schema, Name: c.Table}}
	}
	for _, ref := range scope {
		if t, ok := h.Schema.Lookup(ref.Schema, ref.Name); ok {
			if found, has := t.Column(c.Column); has {
				return t, found
			}
		}
	}
	return nil, nil
}

// uses reports whether the statement mentions a column of a table.
func (h *held) uses(t *schema.Table, column string) bool {
	return slices.ContainsFunc(h.columns, func(c sqlshape.ColumnRef) bool {
		home, found := h.home(c)
		return home == t && strings.EqualFold(found.Name, column) || home == nil &&
			strings.EqualFold(c.Column, column)
	})
}

// says reports whether one of words in the singular stands in the question.
func (h *held) says(list ...string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(h.stems, w) })
}

// related reports whether the question or its evidence has a word that begins like this one: German and
// Germany, euros and
// EUR.
func (h *held) related(word string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(h.known, func(s string) bool {
		n := min(len(s), len(word), 4)
		return n >= 3 && s[:n] == word[:n] || s == word
	})
}

// named reports whether the question or its evidence has a word of a constant.
func (h *held) named(text string) bool {
	text = strings.Trim(text, "%_ ")
	if len(text) <= 3 && text != "" {
		return words.Spelled(h.Question.Text+" "+h.Question.Evidence, text) || slices.ContainsFunc(words.OfName(text), h.related)
	}
	return text == "" || strings.Contains(h.asked, strings.ToLower(text)) ||
		strings.Contains(h.evidence, strings.ToLower(text)) ||
		slices.ContainsFunc(words.OfName(text), h.related)
}

// run returns the rows of a statement of ours; nil: unknown.
func (h *held) run(sql string) *result.Table {
	if h.Query == nil {
		return nil
	}
	return h.Query(sql)
}

// some reports whether a statement has rows.
func (h *held) some(sql string) bool { t := h.run(sql); return t != nil && len(t.Rows) > 0 }

// shown are the rows of the statement, which is run where the answer has no rows; nil: unknown.
func (h *held) shown() *result.Table {
	if h.Table == nil && h.rows == nil {
		h.rows = h.run(h.Statement.SQL())
	}
	return cmp.Or(h.Table, h.rows)
}

// differs reports whether another form of the statement has other rows.
func (h *held) differs(sql string) bool {
	shown := h.shown()
	if shown == nil || shown.Truncated || sql == h.Statement.SQL() {
		return false
	}
	t := h.run(sql)
	return t != nil && !t.Truncated && !(result.Equality{Digits: 9}).Equal(t, shown)
}

// replaced is the statement with other texts in place of some tokens.
func (h *held) replaced(by map[int]string) string {
	var b strings.Builder
	done, sql := 0, h.Statement.SQL()
	for i, t := range h.tokens {
		if text, ok := by[i]; ok {
			b.WriteString(sql[done:t.Pos] + text)
			done = t.Pos + len(t.Text)
		}
	}
	return b.String() + sql[done:]
}
