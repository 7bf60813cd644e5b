package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// mostAllowed bounds the values that a CHECK shows.
const mostAllowed = 100

// CheckValues returns the column that the condition of a CHECK is about, and the values that it allows, as SQL: those of
// "kind IN ('bug', 'wish')", of "kind = 'bug' OR kind = 'wish' OR kind IS NULL", and of "kind = ANY (ARRAY['bug'::text])".
// A condition of another form has none. The domain of PostgreSQL calls its column VALUE.
func CheckValues(d sqltext.Dialect, condition string) (column string, values []string) {
	r := checkReader{text: NewText(d.Parse(condition))}
	for again := true; again; again = r.take("or") {
		if !r.term() {
			return "", nil
		}
	}
	if r.next(); r.i < r.text.Len() || len(r.values) > mostAllowed {
		return "", nil
	}
	return r.column, r.values
}

// checkReader reads a condition without its brackets and casts, which PostgreSQL writes around everything. What calls a
// function has two names side by side then.
type checkReader struct {
	text   Text
	i      int
	column string
	values []string
}

// next goes to the next token that counts.
func (r *checkReader) next() {
	for slices.Contains([]string{"(", ")", "[", "]", "::"}, r.text.Word(r.i)) {
		cast := r.text.Word(r.i) == "::"
		for r.i++; cast && r.text.IsName(r.i) && r.text.Word(r.i) != "or"; r.i++ { // the words of a type
		}
	}
}

// take reads words, if they come next.
func (r *checkReader) take(words ...string) bool {
	at := r.i
	for _, word := range words {
		r.next()
		if r.text.Word(r.i) != word {
			r.i = at
			return false
		}
		r.i++
	}
	return true
}

// term reads what says of one column which values it has.
func (r *checkReader) term() bool {
	r.next()
	if !r.text.IsName(r.i) {
		return false
	}
	name := r.text.Value(r.i)
	if r.i++; r.column != "" && !schema.EqualFold(name, r.column) {
		return false
	}
	if r.column == "" {
		r.column = name
	}
	switch {
	case r.take("is", "null"):
		return true
	case r.take("in"), r.take("=", "any", "array"):
		for again := true; again; again = r.take(",") {
			if !r.value() {
				return false
			}
		}
		return true
	}
	return r.take("=") && r.value()
}

// value reads a constant.
func (r *checkReader) value() bool {
	r.next()
	sign := ""
	if r.text.Word(r.i) == "-" {
		sign = "-"
		r.i++
	}
	token := r.text.Token(r.i)
	if r.i++; token.Kind != sqltext.Number && (token.Kind != sqltext.String || sign != "") {
		return false
	}
	if text := sign + token.Text; !slices.Contains(r.values, text) {
		r.values = append(r.values, text)
	}
	return true
}

// Checks returns the conditions of the CHECKs in a CREATE TABLE.
func Checks(d sqltext.Dialect, create string) (conditions []string) {
	if !strings.Contains(fold(create), "check") {
		return nil // most have none: do not lex them
	}
	t := NewText(d.Parse(create))
	for i := range t.Len() {
		if t.Word(i) != "check" || t.Word(i+1) != "(" {
			continue
		}
		depth, end := 1, i+2
		for ; depth > 0 && end < t.Len(); end++ {
			switch t.Word(end) {
			case "(":
				depth++
			case ")":
				depth--
			}
		}
		if depth == 0 {
			conditions = append(conditions, create[t.End(i+1):t.Pos(end-1)])
		}
	}
	return conditions
}

// AllowValues puts what a CHECK allows into the column of a table, unless the column has values already, as one of an
// enum has.
func AllowValues(d sqltext.Dialect, t *schema.Table, condition string) {
	name, values := CheckValues(d, condition)
	if c, ok := t.Column(name); ok && c.Values == "" {
		c.Values = strings.Join(values, ", ")
	}
}
