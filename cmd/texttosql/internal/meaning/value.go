package meaning

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// verbs are the functions of many rows that have words.
var verbs = map[string][2]string{
	"SUM": {"the sum of ", "sums "}, "TOTAL": {"the sum of ", "sums "}, "AVG": {"the average ", "averages "},
	"MIN": {"the lowest ", "takes the lowest "}, "MAX": {"the highest ", "takes the highest "},
}

// spans are the parts of a time that functions cut, by the formats that they take.
var spans = map[string]string{
	"%Y": "year", "%Y-%m": "month", "%Y-%m-%d": "day", "%m": "month of the year", "YYYY": "year", "YYYY-MM": "month", "YYYY-MM-DD": "day",
	"year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day",
}

// value reads a value: of one row, in words, or of many.
func (r *reader) value() (words string, m *measure) {
	name := strings.ToUpper(r.peek(0).Text)
	switch call := r.peek(0).Kind == sqltext.Word && r.peek(1).Text == "("; {
	case call && name == "COUNT":
		return "", r.count()
	case call && verbs[name][0] != "":
		r.at += 2
		different := ""
		if r.take("DISTINCT") {
			different = "different values of "
		}
		of, inner := r.arithmetic()
		r.want(")")
		if inner != nil {
			return r.fail(), nil
		}
		return "", &measure{noun: verbs[name][0] + different + of, verb: verbs[name][1] + different + of}
	case call && (name == "ROUND" || name == "COALESCE"): // of a measure: what they do to it needs no word
		r.at += 2
		if words, m = r.arithmetic(); m == nil || name != "ROUND" && !(r.is(",") && r.peek(1).Text == "0") {
			return r.fail(), nil
		}
		if r.take(",") {
			r.at++
		}
		r.want(")")
		return words, m
	case call:
		return r.part(name), nil
	}
	return r.column(), nil
}

// count reads COUNT(…).
func (r *reader) count() *measure {
	r.at += 2
	if r.take("*") {
		r.want(")")
		of := strings.Join(r.facts.from, " with ")
		if len(r.facts.from) > 1 {
			of = "rows of " + of
		}
		return &measure{noun: "the number of " + of, verb: "counts " + of, rows: true}
	}
	distinct := r.take("DISTINCT")
	column := r.column()
	r.want(")")
	if distinct {
		return &measure{noun: "the number of different values of " + column, verb: "counts different values of " + column}
	}
	return &measure{noun: "the number of rows with a value of " + column, verb: "counts rows with a value of " + column}
}

// signs are the words of arithmetic.
var signs = map[string]string{"*": " × ", "/": " ÷ ", "+": " + ", "-": " − "}

// arithmetic reads values and numbers with signs between them, without brackets. One value of many rows stands alone.
func (r *reader) arithmetic() (words string, m *measure) {
	var b strings.Builder
	for terms := 0; !r.failed; terms++ {
		if t := r.peek(0); t.Kind == sqltext.Number {
			r.at++
			b.WriteString(t.Text)
		} else {
			text, of := r.value()
			if m = of; m != nil {
				if terms > 0 || signs[r.peek(0).Text] != "" {
					r.fail()
				}
				return "", m
			}
			b.WriteString(text)
		}
		sign := signs[r.peek(0).Text]
		if sign == "" {
			break
		}
		r.at++
		b.WriteString(sign)
	}
	return b.String(), nil
}

// cuts are the functions that cut a time, by how they are called: a format and a column, a column and a format, a column.
var cuts = map[string]string{"STRFTIME": "fc", "DATE_TRUNC": "fc", "TO_CHAR": "cf", "DATE_FORMAT": "cf", "YEAR": "c", "DATE": "c"}

// part reads a function that cuts a time.
func (r *reader) part(name string) string {
	r.at += 2
	span, column := map[string]string{"YEAR": "year", "DATE": "day"}[name], ""
	for i, arg := range cuts[name] {
		if i > 0 {
			r.want(",")
		}
		if arg == 'c' {
			column = r.column()
			continue
		}
		t := r.peek(0)
		r.at++
		if t.Kind == sqltext.String {
			span = spans[r.d.Value(t)]
		}
	}
	r.want(")")
	if span == "" || column == "" {
		return r.fail()
	}
	return span + " of " + column
}

// all reads conditions between AND. OR and brackets are not read.
func (r *reader) all() (found []string) {
	for more := true; more && !r.failed; more = r.take("AND") {
		words, m := r.value()
		if m != nil {
			words = m.noun
		}
		found = append(found, r.compared(words))
	}
	return found
}

// compared reads what a value is compared with.
func (r *reader) compared(words string) string {
	no := ""
	if r.take("NOT") {
		no = "not "
	}
	switch {
	case no == "" && r.take("IS", "NOT", "NULL"):
		return words + " has a value"
	case no == "" && r.take("IS", "NULL"):
		return words + " has no value"
	case r.take("IN", "("):
		var values []string
		for more := true; more && !r.failed; more = r.take(",") {
			v, _ := r.constant()
			values = append(values, v)
		}
		r.want(")")
		if len(values) > 8 {
			return r.fail()
		}
		return words + " is " + no + listed(values, "or")
	case r.take("BETWEEN"):
		low, _ := r.constant()
		r.want("AND")
		high, _ := r.constant()
		return words + " is " + no + "from " + low + " to " + high
	case r.take("LIKE"), r.take("ILIKE"):
		pattern, _ := r.constant()
		inner := strings.TrimSuffix(strings.TrimPrefix(pattern, "“%"), "%”")
		if len(inner) != len(pattern)-len("“%%”") || strings.ContainsAny(inner, `%_\`) || r.is("ESCAPE") {
			return r.fail() // of patterns only that of a part has words
		}
		return words + " has " + map[bool]string{true: "no "}[no != ""] + "“" + inner + "” in it"
	case no != "":
		return r.fail()
	}
	op := r.peek(0).Text
	r.at++
	v, date := r.constant()
	if r.failed || signs[r.peek(0).Text] != "" || r.is("COLLATE") || r.is("::") {
		return r.fail()
	}
	if date && slices.Contains([]string{"<", "<=", ">", ">="}, op) {
		return words + " is " + map[string]string{"<": "before " + v, ">": "after " + v, "<=": v + " or earlier", ">=": v + " or later"}[op]
	}
	verb, known := map[string]string{"=": "is ", "==": "is ", "<>": "is not ", "!=": "is not ", "<": "is below ", ">": "is above ",
		"<=": "is at most ", ">=": "is at least "}[op]
	if !known {
		return r.fail()
	}
	return words + " " + verb + v
}

// constant reads a constant, and says whether it is a date.
func (r *reader) constant() (words string, date bool) {
	typed := r.take("DATE") || r.take("TIMESTAMP")
	sign := ""
	if !typed && r.take("-") {
		sign = "−"
	}
	t := r.peek(0)
	r.at++
	switch {
	case t.Kind == sqltext.String && sign == "":
		v := r.d.Value(t)
		if date = len(v) >= 10 && len(v) <= 19 && v[4] == '-' && v[7] == '-' && strings.Trim(v, "0123456789-: T") == ""; date {
			return strings.TrimSuffix(strings.TrimSuffix(v, " 00:00:00"), "T00:00:00"), true
		}
		if typed || len(v) > 80 {
			return r.fail(), false
		}
		return "“" + v + "”", false
	case t.Kind == sqltext.Number && !typed:
		return sign + t.Text, false
	case t.Kind == sqltext.Word && sign == "" && !typed && (strings.EqualFold(t.Text, "TRUE") || strings.EqualFold(t.Text, "FALSE")):
		return strings.ToLower(t.Text), false
	}
	return r.fail(), false
}

// listed joins words as a person does.
func listed(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}
