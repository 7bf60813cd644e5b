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
	case call && (name == "ROUND" || name == "COALESCE" || name == "IFNULL"): // what they do to a value needs no word
		r.at += 2
		words, m = r.arithmetic()
		if r.take(",") {
			t := r.peek(0)
			r.at++
			if t.Kind != sqltext.Number || name != "ROUND" && t.Text != "0" {
				r.fail()
			}
		} else if name != "ROUND" {
			r.fail()
		}
		r.want(")")
		if name != "ROUND" && m == nil {
			return r.fail(), nil // of a row it changes which rows a comparison finds
		}
		return words, m
	case call:
		return r.part(name), nil
	}
	return r.column(), nil
}

// count reads COUNT(…).
func (r *reader) count() *measure {
	r.at += 2
	if r.take("*") || r.take("1") || r.peek(0).Text == "1" && r.peek(1).Text == ")" {
		if r.peek(0).Text == "1" {
			r.at++
		}
		r.want(")")
		if len(r.facts.from) > 1 {
			of := "rows of " + strings.Join(r.facts.from, " with ")
			return &measure{noun: "the number of " + of, verb: "counts " + of, rows: true}
		}
		of := strings.Join(r.facts.from, "")
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

// part reads a function that cuts a time, or that only changes the case of letters.
func (r *reader) part(name string) string {
	r.at += 2
	span, column := "", ""
	quoted := func() string {
		t := r.peek(0)
		r.at++
		if t.Kind != sqltext.String {
			return r.fail()
		}
		return r.d.Value(t)
	}
	switch name {
	case "STRFTIME":
		span = spans[quoted()]
		r.want(",")
		column = r.column()
	case "DATE_TRUNC":
		span = spans[strings.ToLower(quoted())]
		r.want(",")
		column = r.column()
	case "TO_CHAR", "DATE_FORMAT":
		column = r.column()
		r.want(",")
		span = spans[quoted()]
	case "EXTRACT":
		if span = strings.ToLower(r.name()); span == "month" {
			span = "month of the year"
		} else if span != "year" {
			r.fail()
		}
		r.want("FROM")
		column = r.column()
	case "YEAR":
		span, column = "year", r.column()
	case "MONTH":
		span, column = "month of the year", r.column()
	case "DATE":
		span, column = "day", r.column()
	default:
		return r.fail()
	}
	r.want(")")
	if span == "" || column == "" {
		return r.fail()
	}
	return "the " + span + " of " + column
}

// all reads conditions between AND.
func (r *reader) all() (found []string) {
	for more := true; more && !r.failed; more = r.take("AND") {
		found = append(found, r.condition())
		if r.is("OR") { // AND binds closer: what stood before it is another group
			if len(found) > 1 {
				r.fail()
			}
			found[0] = r.either(found[0])
			return found
		}
	}
	return found
}

// either reads what follows the first of some conditions between OR.
func (r *reader) either(first string) string {
	any := []string{first}
	for r.take("OR") {
		any = append(any, r.condition())
	}
	if r.is("AND") {
		r.fail()
	}
	return "either " + strings.Join(any, " or ")
}

func (r *reader) condition() string {
	if r.take("(") {
		first := r.condition()
		if r.is("OR") {
			first = r.either(first)
		}
		r.want(")")
		return first
	}
	words, m := r.value()
	if m != nil {
		words = m.noun
	}
	return r.compared(words)
}

// compared reads what a value is compared with.
func (r *reader) compared(words string) string {
	no := ""
	if r.take("IS") {
		if r.take("NOT") {
			no = "has a value"
		}
		r.want("NULL")
		if no != "" {
			return words + " " + no
		}
		return words + " has no value"
	}
	if r.take("NOT") {
		no = "not "
	}
	switch {
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
	case r.is("LIKE"), r.is("ILIKE"):
		r.at++
		return r.like(words, no != "")
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

// like reads a pattern.
func (r *reader) like(words string, not bool) string {
	t := r.peek(0)
	r.at++
	if t.Kind != sqltext.String || r.is("ESCAPE") {
		return r.fail()
	}
	pattern := r.d.Value(t)
	inner := strings.Trim(pattern, "%")
	if inner == "" || strings.ContainsAny(inner, `%_\`) {
		return r.fail()
	}
	verb := [2]string{"is ", "is not "}
	switch begins, ends := !strings.HasPrefix(pattern, "%"), !strings.HasSuffix(pattern, "%"); {
	case !begins && !ends:
		verb = [2]string{"contains ", "does not contain "}
	case !ends:
		verb = [2]string{"begins with ", "does not begin with "}
	case !begins:
		verb = [2]string{"ends with ", "does not end with "}
	}
	if not {
		return words + " " + verb[1] + "“" + inner + "”"
	}
	return words + " " + verb[0] + "“" + inner + "”"
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
