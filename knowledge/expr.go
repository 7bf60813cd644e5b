package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// grammar are the reserved words that an expression may have. A word that is not here, and names no function, is a
// name: so an expression holds no query, no window and no second clause.
var grammar = words.Set(`
	AND OR NOT IS NULL IN LIKE ILIKE GLOB REGEXP RLIKE SIMILAR TO BETWEEN CASE WHEN THEN ELSE END TRUE FALSE ESCAPE
	DISTINCT FROM AS DIV XOR ISNULL NOTNULL INTERVAL CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP`)

// units are the words that say how long or which part of a date, in the places for them.
var units = words.Set("YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND DOW DOY EPOCH YEARS MONTHS WEEKS DAYS HOURS " +
	"MINUTES SECONDS")

// aggregates are the functions that make one value of many rows. Each takes one argument here.
var aggregates = words.Set("COUNT SUM AVG MIN MAX TOTAL STDDEV STDDEV_SAMP STDDEV_POP VARIANCE VAR_SAMP VAR_POP MEDIAN")

type itemKind uint8

const (
	itemText   itemKind = iota // an operator, a keyword, a literal
	itemCall                   // the name of a function, before its bracket
	itemColumn                 // qualifier.name, or a name alone
	itemRows                   // qualifier.*
	itemMetric                 // {name}
)

// item is one piece of an expression.
type item struct {
	kind            itemKind
	text            string // as it is written, for itemText and itemCall
	qualifier, name string
	blank           bool // a blank stands before it
	match           int  // the item of the other bracket; -1: none
}

func (it *item) is(text string) bool { return it.kind == itemText && strings.EqualFold(it.text, text) }

// expression is a text of SQL, cut into items.
type expression []item

// parse cuts a text into items. The error says what no expression may have.
func parse(d sqltext.Dialect, text string) (expression, error) {
	p := parser{text: text}
	for t := range d.Tokens(text) {
		if t.Kind == sqltext.Space {
			continue
		}
		p.tokens = append(p.tokens, t)
	}
	for p.at < len(p.tokens) {
		if err := p.next(d); err != nil {
			return nil, err
		}
	}
	if len(p.out) == 0 {
		return nil, fmt.Errorf("an empty expression")
	}
	return p.out, p.out.brackets()
}

type parser struct {
	text   string
	tokens []sqltext.Token
	at     int
	cast   int // how many of the next words name a type
	out    expression
}

// token is the token n places on; the zero Token where there is none.
func (p *parser) token(n int) sqltext.Token {
	if i := p.at + n; i >= 0 && i < len(p.tokens) {
		return p.tokens[i]
	}
	return sqltext.Token{}
}

func (p *parser) next(d sqltext.Dialect) error {
	t := p.token(0)
	it := item{kind: itemText, text: t.Text, match: -1}
	it.blank = t.Pos > 0 && p.at > 0 && p.tokens[p.at-1].Pos+len(p.tokens[p.at-1].Text) < t.Pos
	used := 1
	switch t.Kind {
	case sqltext.Comment, sqltext.Placeholder, sqltext.Unterminated:
		return fmt.Errorf("%s in an expression", t.Kind)
	case sqltext.Operator:
		switch t.Text {
		case ";":
			return fmt.Errorf("a semicolon: a condition is one condition")
		case "{":
			it.kind = itemMetric
			it.name, used = p.braced()
		}
	case sqltext.Word, sqltext.QuotedName:
		var err error
		if used, err = p.word(d, &it); err != nil {
			return err
		}
	}
	switch {
	case it.is("AS"):
		p.cast = 4 // TIMESTAMP WITH TIME ZONE
	case it.is("::"):
		p.cast = 1
	case t.Kind == sqltext.Word:
		p.cast--
	default:
		p.cast = 0
	}
	p.out = append(p.out, it)
	p.at += used
	return nil
}

// braced reads {name}; the name may be any text without a brace.
func (p *parser) braced() (name string, used int) {
	from := p.token(0).Pos + 1
	for n := 1; p.token(n).Text != ""; n++ {
		if p.token(n).Text == "}" {
			return strings.TrimSpace(p.text[from:p.token(n).Pos]), n + 1
		}
	}
	return "", 1
}

// word reads a keyword, a function, or a column with its qualifier. It returns how many tokens that takes.
func (p *parser) word(d sqltext.Dialect, it *item) (int, error) {
	t := p.token(0)
	up := strings.ToUpper(t.Text)
	dotted := p.token(1).Text == "."
	switch {
	case t.Kind == sqltext.Word && !dotted && (p.cast > 0 && !sqlshape.IsReserved(t.Text) || p.isUnit(up)):
		return 1, nil
	case t.Kind == sqltext.Word && !dotted && (grammar[up] && up != "TO" || up == "TO" &&
		p.token(-1).Kind == sqltext.Word):
		return 1, nil
	case t.Kind == sqltext.Word && !dotted && sqlshape.IsReserved(t.Text) &&
		!(p.token(1).Text == "(" && (up == "LEFT" || up == "RIGHT")):
		return 0, fmt.Errorf("%s in an expression", up)
	case t.Kind == sqltext.Word && p.token(1).Text == "(":
		it.kind = itemCall
		return 1, nil
	case t.Kind == sqltext.Word && !dotted && p.token(1).Kind == sqltext.String: // DATE '2004-01-01'
		return 1, nil
	}
	it.kind, it.name = itemColumn, d.Value(t)
	if !dotted {
		return 1, nil
	}
	last := p.token(2)
	it.qualifier, it.name = it.name, d.Value(last)
	switch {
	case last.Text == "*":
		it.kind = itemRows
	case last.Kind != sqltext.Word && last.Kind != sqltext.QuotedName:
		return 0, fmt.Errorf("%s. names no column", it.qualifier)
	case p.token(3).Text == "." || p.token(3).Text == "(":
		return 0, fmt.Errorf("%s.%s: a column is written table.column", it.qualifier, it.name)
	}
	return 3, nil
}

// isUnit reports whether the word is a unit of time in a place for one: EXTRACT(YEAR FROM x), DATEDIFF(day, a, b),
// INTERVAL '1' DAY.
func (p *parser) isUnit(up string) bool {
	if !units[up] {
		return false
	}
	before, after := p.token(-1), p.token(1)
	switch {
	case before.Text == "(":
		call := p.token(-2).Kind == sqltext.Word
		return call && (after.Text == "," || strings.EqualFold(after.Text, "FROM"))
	case before.Kind == sqltext.String || before.Kind == sqltext.Number:
		return strings.EqualFold(p.token(-2).Text, "INTERVAL")
	}
	return false
}

// brackets pairs the brackets, and CASE with END.
func (e expression) brackets() error {
	var open []int
	for i := range e {
		it := &e[i]
		switch {
		case it.is("(") || it.is("CASE"):
			open = append(open, i)
		case it.is(")") || it.is("END"):
			if len(open) == 0 || e[open[len(open)-1]].is("(") != it.is(")") {
				return fmt.Errorf("%s without its other half", it.text)
			}
			last := open[len(open)-1]
			e[last].match, it.match = i, last
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%s without its other half", e[open[0]].text)
	}
	return nil
}

// write writes the items; column writes the items of the kinds column, rows and metric.
func (e expression) write(column func(item) (string, error)) (string, error) {
	var b strings.Builder
	before := ""
	for i, it := range e {
		text := it.text
		if it.kind > itemCall {
			var err error
			if text, err = column(it); err != nil {
				return "", err
			}
		}
		if i > 0 && (it.blank || it.kind > itemCall && endsWord(before)) { // 0"": two items, which must stay two
			b.WriteByte(' ')
		}
		b.WriteString(text)
		before = text
	}
	return b.String(), nil
}

// endsWord reports whether a name behind a text would be part of its last word.
func endsWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == '_' || r == '"' || r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// alone returns the column that the expression is, if it is one.
func (e expression) alone() (item, bool) {
	if len(e) == 1 && e[0].kind == itemColumn {
		return e[0], true
	}
	return item{}, false
}

// divided is the expression with "/" as the division of numbers on every engine: a fraction of whole numbers, and NULL
// where the divisor is 0.
func (e expression) divided() expression {
	before, behind := map[int]int{}, map[int]int{}
	for i := range e {
		if !e[i].is("/") {
			continue
		}
		start, end := i+1, e.operand(i+1)
		if end-start == 1 && e[start].kind == itemText && strings.Trim(e[start].text, "0.") != "" {
			continue // a number that is not 0
		}
		before[start]++
		behind[end-1]++
	}
	var out expression
	for i, it := range e {
		it.match = -1
		for range before[i] {
			out = append(out, item{text: "NULLIF(", blank: true, match: -1})
			it.blank = false
		}
		if it.is("/") {
			out = append(out, item{text: "* 1e0", blank: true, match: -1})
			it.blank = true
		}
		out = append(out, it)
		for range behind[i] {
			out = append(out, item{text: ", 0)", match: -1})
		}
	}
	return out
}

// operand returns the end of the operand that starts at item i.
func (e expression) operand(i int) int {
	for i < len(e)-1 && (e[i].is("-") || e[i].is("+")) {
		i++
	}
	if i < len(e)-1 && e[i].kind == itemCall {
		i++
	}
	if i >= len(e) {
		return len(e)
	}
	if e[i].match > i {
		i = e[i].match
	}
	for i+2 < len(e) && e[i+1].is("::") {
		i += 2
	}
	return i + 1
}

// Rename replaces the columns of an expression; column returns the new text. table is "" if a column has no
// qualifier. The star of COUNT(*) is the column "*". Readers of other formats use it to convert columns.
func Rename(expr string, column func(table, name string) string) (string, error) {
	e, err := parse(sqltext.SQLite(), expr)
	if err != nil {
		return "", fmt.Errorf("knowledge: reading %q: %w", expr, err)
	}
	for i := range e {
		if i > 0 && i < len(e)-1 && e[i].is("*") && e[i-1].is("(") && e[i+1].is(")") {
			e[i].kind = itemRows
		}
	}
	out, err := e.write(func(it item) (string, error) {
		switch it.kind {
		case itemMetric:
			return "{" + it.name + "}", nil
		case itemRows:
			return column(it.qualifier, "*"), nil
		}
		return column(it.qualifier, it.name), nil
	})
	if err != nil {
		return "", fmt.Errorf("knowledge: reading %q: %w", expr, err)
	}
	return out, nil
}

// Qualified converts an expression over the columns of one table into an expression of a model: SUM(amount * rate)
// becomes SUM(orders.amount * orders.rate), and COUNT(*) becomes COUNT(orders.*).
func Qualified(table, expr string) (string, error) {
	full := func(qualifier, name string) string {
		if qualifier == "" {
			qualifier = table
		}
		return Table{Name: qualifier}.ColumnName(name)
	}
	once, err := Rename(expr, full)
	if err != nil {
		return "", err
	}
	if again, err := Rename(once, full); err != nil || again != once { // the next characters decide: 0A""
		return "", fmt.Errorf("knowledge: reading %q: with its columns named in full it reads otherwise: "+
			"put blanks between its parts", expr)
	}
	return once, nil
}

// ColumnName returns a column of t for an expression of a model: table.column, quoted if necessary. The column
// "*" means the whole row.
func (t Table) ColumnName(column string) string {
	if column != "*" {
		column = plain(column)
	}
	return plain(t.Name) + "." + column
}

// Reads returns the columns without a qualifier in Expr, each once, in the order of their first use. It returns nil for
// a text that is not an expression. Readers of other formats use it with Qualified.
func (c Column) Reads() []string {
	e, _ := parse(sqltext.SQLite(), c.Expr)
	var names []string
	for _, it := range e {
		if it.kind == itemColumn && it.qualifier == "" && !slices.Contains(names, it.name) {
			names = append(names, it.name)
		}
	}
	return names
}

// plain writes a name for an expression of a model, in quotes where it needs them.
func plain(name string) string {
	e, err := parse(sqltext.SQLite(), name)
	digit := strings.IndexAny(name, "0123456789") == 0 // behind a point it would be a number
	if c, ok := e.alone(); err == nil && ok && c.qualifier == "" && c.name == name && !digit {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
