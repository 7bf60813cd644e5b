package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// mostAllowed bounds the values that a CHECK shows.
const mostAllowed = 100

// CheckValues reads a text, the condition of a CHECK. It returns the column of the condition and the values that it
// allows, as SQL. It reads the forms "kind IN ('bug', 'wish')", "kind = 'bug' OR kind = 'wish' OR kind IS NULL" and
// "kind = ANY (ARRAY['bug'::text])". A condition of another form has none. A PostgreSQL domain calls its column VALUE.
func (t Text) CheckValues() (column string, values []string) {
	r := checkReader{text: t}
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

// checkReader reads a condition without its brackets and casts, because PostgreSQL writes them around everything. A
// call of a function then has two names next to each other.
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

// term reads a condition on the values of one column.
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

// Checks returns the conditions of the CHECKs in a CREATE TABLE statement, whose text is create.
func (t Text) Checks(create string) (conditions []string) {
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

// AllowValues reads a text, the condition of a CHECK, and stores the values that it allows in the column of a table. A
// column that already has values, for example an enum, is not changed.
func (t Text) AllowValues(table *schema.Table) {
	name, values := t.CheckValues()
	if c, ok := table.Column(name); ok && c.Values == "" {
		c.Values = strings.Join(values, ", ")
	}
}
