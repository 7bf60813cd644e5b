package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// condition reads terms between AND and OR.
func (r *failReader) condition() bool {
	o, ok := r.terms()
	return ok && r.truth(o)
}

// terms reads a condition, or one operand in brackets.
func (r *failReader) terms() (operand, bool) {
	o, ok := r.term()
	if !ok {
		return o, false
	}
	for first := true; r.one("and", "or"); first = false {
		next, ok := r.term()
		if !ok || first && !r.truth(o) || !r.truth(next) {
			return o, false
		}
		o = operand{logical: true}
	}
	return o, true
}

// truth takes an operand as a condition: a column is one where its engine says so.
func (r *failReader) truth(o operand) bool {
	if !o.logical {
		r.pairs = append(r.pairs, [2]operand{o, {family: boolFamily}})
	}
	return o.logical || o.column != "" || o.constant == sqltext.Word // TRUE or FALSE
}

var comparisons = Set("= <> != < > <= >=")

// term reads one condition without AND and OR outside of brackets.
func (r *failReader) term() (operand, bool) {
	condition := operand{logical: true}
	if r.take("not") {
		o, ok := r.term()
		return condition, ok && r.truth(o)
	}
	if r.take("exists") {
		if r.having {
			return condition, false
		}
		_, _, ok := r.bracketed()
		return condition, ok
	}
	left, ok := r.operand()
	if !ok {
		return left, false
	}
	switch {
	case comparisons[r.word()]:
		r.i++
		right, ok := r.operand()
		return condition, ok && r.pair(left, right)
	case r.take("is"):
		r.take("not")
		if !left.logical {
			r.pairs = append(r.pairs, [2]operand{left, {null: true}})
		}
		return condition, r.one("null", "true", "false", "unknown")
	}
	at := r.i
	r.take("not")
	switch {
	case r.take("between"):
		low, lok := r.operand()
		and := r.take("and")
		high, hok := r.operand()
		return condition, lok && and && hok && r.pair(left, low) && r.pair(left, high)
	case r.take("in"):
		return condition, r.members(left)
	case r.take("like"):
		return condition, r.pattern(left)
	}
	r.i = at
	return left, true
}

func (r *failReader) pair(a, b operand) bool {
	r.pairs = append(r.pairs, [2]operand{a, b})
	return true
}

// members reads what IN has behind it: constants, or a query with one column.
func (r *failReader) members(left operand) bool {
	if r.text.Word(r.i) == "(" && r.text.Word(r.i+1) == "select" {
		if r.having {
			return false
		}
		items, _, ok := r.bracketed()
		return ok && len(items) == 1 && r.pair(left, items[0])
	}
	if !r.take("(") {
		return false
	}
	for again := true; again; again = r.take(",") {
		o, ok := r.operand()
		if !ok || o.column != "" || o.logical {
			return false
		}
		r.pair(left, o)
	}
	return r.take(")")
}

// pattern reads what LIKE has behind it.
func (r *failReader) pattern(left operand) bool {
	text := r.text.Token(r.i)
	r.i++
	r.pair(left, operand{family: textFamily})
	short := text.Kind == sqltext.String && len(text.Text) <= longestPattern && !strings.Contains(text.Text, `\`)
	return short && left.column != "" && r.word() != "escape"
}

// operand reads a column, a constant, an aggregate where one may stand, or a condition in brackets.
func (r *failReader) operand() (o operand, ok bool) {
	token := r.text.Token(r.i)
	switch {
	case r.take("("):
		if o, ok = r.terms(); !ok || !r.take(")") {
			return o, false
		}
	case r.one("null"), token.Kind == sqltext.Placeholder:
		if token.Kind == sqltext.Placeholder {
			r.i++
		}
		o.null = true
	case r.one("true", "false"):
		o.constant = sqltext.Word
	case token.Kind == sqltext.Number || token.Kind == sqltext.String:
		r.i++
		o.constant = token.Kind
	case (token.Text == "-" || token.Text == "+") && r.text.Token(r.i+1).Kind == sqltext.Number:
		r.i += 2
		o.constant = sqltext.Number
	case (r.word() == "date" || r.word() == "timestamp") && r.text.Token(r.i+1).Kind == sqltext.String:
		r.i += 2
		o.family = timeFamily
	case r.text.Word(r.i+1) == "(":
		if o, ok = r.aggregate(); !ok {
			return o, false
		}
	default:
		at := r.i
		path, ok := r.path()
		if !ok {
			return o, false
		}
		o.column = path[len(path)-1]
		r.note(at, r.i, path)
	}
	return r.cast(o)
}

// aggregate reads count, min or max of a column.
func (r *failReader) aggregate() (o operand, ok bool) {
	function := r.word()
	if !r.having || function != "count" && function != "min" && function != "max" {
		return o, false
	}
	noted := r.at.notes
	r.i += 2
	r.having, r.at.notes, r.at.aggregated = false, false, true
	defer func() { r.having, r.at.notes = true, noted }()
	if function == "count" && r.take("*", ")") {
		return operand{family: numberFamily}, true
	}
	r.take("distinct")
	if o, ok = r.operand(); !ok || o.column == "" && function != "count" || !r.take(")") {
		return o, false
	}
	r.pair(o, operand{null: true})
	if function == "count" {
		o = operand{family: numberFamily}
	} else {
		r.exact = append(r.exact, o.column)
	}
	return o, true
}

// castable are types to which PostgreSQL, which writes them into the queries of views, casts a constant before it reads
// a row, and their families.
var castable = map[string]string{
	"text": textFamily, "character varying": textFamily, "bpchar": textFamily,
	"integer": numberFamily, "bigint": numberFamily, "smallint": numberFamily, "numeric": numberFamily,
	"double precision": floatFamily, "boolean": boolFamily,
	"date": timeFamily, "timestamp without time zone": timeFamily,
}

// cast reads a cast of a constant that is written out, or of a text to a text. PostgreSQL makes another one for each
// row.
func (r *failReader) cast(o operand) (operand, bool) {
	for r.take("::") {
		words := []string{r.word()}
		for r.i++; slices.Contains([]string{"varying", "precision", "without", "time", "zone"}, r.word()); r.i++ {
			words = append(words, r.word())
		}
		family := castable[strings.Join(words, " ")]
		switch {
		case family == noFamily || o.logical || r.word() == "(":
			return o, false
		case o.column == "" && o.family == noFamily:
			o = operand{family: family}
		case family != textFamily || o.column == "" && o.family != textFamily:
			return o, false
		case o.column != "":
			r.pair(o, operand{family: textFamily})
		}
	}
	return o, true
}
