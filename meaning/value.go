package meaning

import (
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/sqltext"
)

// verbs are the functions of many rows that have words: as a noun, and as a verb.
var verbs = map[string][2]string{
	"SUM": {"total ", "sums "}, "TOTAL": {"total ", "sums "}, "AVG": {"average ", "averages "},
	"MIN": {"lowest ", "takes the lowest "}, "MAX": {"highest ", "takes the highest "},
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
		return "", r.aggregate(name)
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

// aggregate reads a sum, an average, the lowest or the highest value.
func (r *reader) aggregate(name string) *measure {
	r.at += 2
	different := ""
	if r.take("DISTINCT") {
		different = "different values of "
	}
	of, inner := r.arithmetic()
	r.want(")")
	if inner != nil {
		r.fail()
		return nil
	}

	m := &measure{noun: verbs[name][0] + different + of, verb: verbs[name][1] + different + of, added: verbs[name][0] == "total " && different == ""}
	m.most = m.noun
	switch verbs[name][0] {
	case "total ":
		if of == "total" && different == "" {
			m.noun = "total"
			m.most = "total"
		} else if different != "" || strings.Contains(of, "total") {
			m.noun = "sum of " + different + of
			m.most = m.noun
		}
	case "lowest ":
		m.most, m.end = of, lowest
	case "highest ":
		m.most, m.end = of, highest
	}
	return m
}

// count reads COUNT(…).
func (r *reader) count() *measure {
	r.at += 2
	if r.take("*") {
		r.want(")")
		of := strings.Join(r.facts.from, " with ")
		if r.alone || len(r.facts.from) == 1 {
			for _, t := range r.tables {
				if t.many == r.facts.from[0] {
					of = t.rows()
				}
			}
			return counting(of, of, true)
		}
		return counting("rows of "+of, "rows", true)
	}

	distinct := r.take("DISTINCT")
	words, name, of := r.columnOf()
	r.want(")")
	counted := "rows with a value of " + words
	switch {
	case of != nil && of.sure && isKeyOf(name, of.one):
		counted = of.many
	case distinct:
		counted = "values of " + words
	}
	if distinct {
		counted = "different " + counted
	}
	return counting(counted, counted, !distinct)
}

// counting is the measure that counts what is named.
func counting(what, rows string, added bool) *measure {
	noun := "number of " + what
	return &measure{noun: noun, most: noun, verb: "counts " + what, rows: rows, added: added}
}

// isKeyOf reports whether a column is called like the key of a table: id, order_id or OrderID of orders.
func isKeyOf(column, one string) bool {
	name := spoken(column)
	return name == "id" || name == one+" id" || strings.ReplaceAll(name, " ", "") == strings.ReplaceAll(one, " ", "")+"id"
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
		if r.lacking() {
			continue
		}
		if between := r.span(); between != "" {
			found = append(found, between)
			continue
		}
		words, m := r.value()
		if m != nil {
			words = m.noun
		}
		found = append(found, r.compared(words))
	}
	return found
}

// lacking reads "t.c IS NULL" of a table that is joined to the left: there is no row of it.
func (r *reader) lacking() bool {
	if r.peek(1).Text != "." || !strings.EqualFold(r.peek(3).Text, "IS") || !strings.EqualFold(r.peek(4).Text, "NULL") {
		return false
	}
	t, known := r.tables[strings.ToLower(strings.Trim(r.peek(0).Text, "\"`[]"))]
	if !known || !slices.Contains(r.facts.joined, t.many) {
		return false
	}
	r.at += 5
	r.facts.without = append(r.facts.without, t.many)
	return true
}

// span reads "c >= '2024-01-01' AND c < '2025-01-01'" of a whole year or month: "c is in 2024".
func (r *reader) span() string {
	before := r.at
	words := r.plainColumn()
	if low := r.peek(1).Text; words != "" && r.peek(0).Text == ">=" && r.peek(1).Kind == sqltext.String && r.peek(2).Kind == sqltext.Word &&
		strings.EqualFold(r.peek(2).Text, "AND") {
		r.at += 3
		again := r.plainColumn()
		if again == words && r.peek(0).Text == "<" && r.peek(1).Kind == sqltext.String {
			if named := period(strings.Trim(low, "'"), strings.Trim(r.peek(1).Text, "'")); named != "" {
				r.at += 2
				return words + " is in " + named
			}
		}
	}
	r.at = before
	return ""
}

// plainColumn reads a column without failing; "" where none stands next.
func (r *reader) plainColumn() string {
	if !r.named() || r.peek(1).Text == "(" {
		return ""
	}
	if r.peek(1).Text == "." {
		if _, known := r.tables[strings.ToLower(strings.Trim(r.peek(0).Text, "\"`[]"))]; !known || r.peek(3).Text == "." {
			return ""
		}
	}
	return r.column()
}

// period names the year or the month that begins at one day and ends before another one; "": they are neither.
func period(from, until string) string {
	a, err := time.Parse(time.DateOnly, strings.TrimSuffix(from, " 00:00:00"))
	b, berr := time.Parse(time.DateOnly, strings.TrimSuffix(until, " 00:00:00"))
	switch {
	case err != nil || berr != nil || a.Day() != 1:
		return ""
	case a.Month() == 1 && a.AddDate(1, 0, 0).Equal(b):
		return a.Format("2006")
	case a.AddDate(0, 1, 0).Equal(b):
		return a.Format("January 2006")
	}
	return ""
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
