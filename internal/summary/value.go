package summary

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// measure is a value of many rows.
type measure struct {
	noun     string // "total amount"
	verb     string // the same for each measure that is computed alike
	rows     string // what it counts, as a plural; "": it counts nothing
	with     bool   // what it counts has the rows: "different customers with orders"
	whole    bool   // the noun names the rows
	share    string // what the average of a flag is in percent: "share of orders that are paid"
	compared bool   // with the value of another statement
	moment   bool   // it is a time
	most     string // what the group with the largest value has most of: "total amount", "price"
	end      end    // the end of most that is computed of each group
	added    bool   // the values of all groups add up
	of       columnRef
}

// end is an end of a range.
type end int

// The ends.
const (
	noEnd end = iota
	lowest
	highest
)

// verbs are the functions of many rows that have words.
var verbs = words.Pairs("SUM total_ TOTAL total_ AVG average_ MIN lowest_ MAX highest_")

// silent are functions that keep what a value is.
var silent = strings.Fields("ROUND COALESCE IFNULL CAST LOWER UPPER TRIM")

// term reads a value, without arithmetic.
func (r *reader) term() (v value) {
	name := strings.ToUpper(r.peek(0).Text)
	switch call := r.peek(0).Kind == sqltext.Word && r.peek(1).Text == "("; {
	case r.is("(", "SELECT"):
		v = value{words: r.scalar(), whole: true}
	case r.take("("):
		v = r.arithmetic()
		if r.want(")"); strings.ContainsAny(v.words, "×÷−+") {
			v.words = "(" + v.words + ")"
		}
	case call && name == "COUNT":
		v.measure = r.count()
	case call && verbs[name] != "":
		v.measure = r.aggregate(name)
	case call && slices.Contains(silent, name):
		v = r.readUnchanged(name)
	case call:
		v = r.part()
	default:
		c := r.column()
		if v = (value{words: c.text, column: c}); r.grouped != nil {
			return r.made(c)
		}
		if flagVerb.MatchString(c.words) && c.own {
			v.words = "whether " + c.text
		}
	}
	if r.take("::") {
		r.readType(&v)
	}
	return v
}

// readUnchanged reads a function whose work needs no word.
func (r *reader) readUnchanged(name string) value {
	r.at += 2
	v := r.arithmetic()
	fills := name == "COALESCE" || name == "IFNULL"
	zero := v.measure != nil && r.peek(1).Text == "0"
	named := v.measure == nil && r.peek(1).Kind == sqltext.String // a missing value gets a name
	if fills && !(r.is(",") && (zero || named)) {
		r.fail()
	}
	if name == "CAST" {
		r.want("AS")
		r.readType(&v)
	} else if r.take(",") {
		r.at++
		v.filled = named && fills
	}
	r.want(")")
	return v
}

// readType reads the type that a value becomes. A time that becomes a date is a day; a column that becomes a whole
// number is cut.
func (r *reader) readType(v *value) {
	name := strings.ToUpper(r.name())
	if r.take("(") {
		for r.peek(0).Kind == sqltext.Number || r.is(",") {
			r.at++
		}
		r.want(")")
	}
	r.fractions = r.fractions || slices.Contains(fractional, name)
	switch whole := strings.Contains(name, "INT") || name == "SIGNED" || name == "UNSIGNED"; {
	case name == "DATE" && v.measure == nil && v.span == "":
		*v = v.column.cut("day")
	case name == "DATE" && v.span != "" && !strings.Contains(v.span, " "):
	case name == "DATE", whole && v.measure == nil && v.span == "" && v.column.flag() == (flag{}):
		r.fail()
	}
}

// fractional are the types of numbers with a fraction.
var fractional = strings.Fields("REAL FLOAT DOUBLE DECIMAL NUMERIC FLOAT8")

// aggregate reads a sum, an average, the lowest or the highest value.
func (r *reader) aggregate(name string) *measure {
	r.at += 2
	lead, different := verbs[name], ""
	if r.take("DISTINCT") {
		different = "different values of "
	}
	extreme := lead == "lowest " || lead == "highest "
	if r.is("CASE") && different == "" && !extreme {
		return r.cases(lead)
	}

	if one := r.peek(0).Text == "1" && r.peek(1).Text == ")"; one && lead == "total " && r.facts.subject != "" {
		r.at++
		return r.all(r.facts.subject)
	}
	r.within = true
	v := r.arithmetic()
	r.within = false
	r.want(")")
	if r.grouped != nil && v.measure != nil && r.facts.subject == "" && lead != "total " {
		noun := lead + v.measure.noun + " per " + r.grouped.groups[0]
		return &measure{noun: noun, verb: noun, most: noun, whole: true}
	}
	if v.filled || v.measure != nil || r.subject == nil && !extreme || r.is("FILTER") || r.is("OVER") {
		r.fail()
		return nil
	}
	r.belong(v.column)
	v.words = strings.TrimPrefix(v.words, "whether ")
	m := &measure{noun: lead + different + v.words, of: v.column}
	m.verb, m.most = m.noun, m.noun
	if extreme {
		m.nameExtreme(lead, v)
		if !m.moment && v.column.isAdjective() {
			r.fail() // it may be a time
		}
	} else {
		r.nameSum(m, lead, different, v)
	}
	return m
}

// nameExtreme names an end of a range: a time has an earliest and a latest one.
func (m *measure) nameExtreme(lead string, v value) {
	leads := []string{"earliest ", "alphabetically first "}
	if m.end, m.most = lowest, v.words; lead == "highest " {
		leads, m.end = []string{"latest ", "alphabetically last "}, highest
	}
	m.moment = v.column.stamp.is || v.span != "" || isMoment(v.words)
	if m.moment {
		m.noun = leads[0] + v.words
	} else if textName.MatchString(v.words) {
		m.noun = leads[1] + v.words
	}
}

// nameSum names a sum or an average. The sum of a flag counts rows, and its average is their share. A participle may be
// an amount.
func (r *reader) nameSum(m *measure, lead, different string, v value) {
	of, sum, rows := v.words, lead == "total ", ""
	m.added = sum && different == ""
	f := v.column.flag()
	if f != (flag{}) && v.column.own {
		phrase, at := f.says(of, true)
		rows = facts{subject: r.facts.subject}.with(phrase, at)
	}
	sure := rows != "" && (flagVerb.MatchString(v.column.words) || f.has != "")
	switch {
	case sure && sum:
		m.rows, m.noun, m.whole = rows, "number of "+rows, true
	case rows != "" && !sum:
		if m.share = "share of " + rows; sure {
			m.noun, m.whole = m.share, true
		}
	case m.added && of == "total":
		m.noun = "total"
	case sum && (!m.added || strings.Contains(of, "total") || f.adjective != ""):
		m.noun = "sum of " + different + of
	case strings.HasPrefix(of, lead):
		m.noun = lead + "of the " + of
	}
	m.most = m.noun
}

// count reads COUNT(…).
func (r *reader) count() *measure {
	r.at += 2
	rows := r.facts.subject
	if pair := r.present(); rows == "" && len(pair) == 2 {
		rows = "pairs of " + pair[0].many + " and " + pair[1].many
	}
	if one := r.peek(0).Text == "1" && r.peek(1).Text == ")"; one || r.is("*") {
		r.at++
		return r.all(rows)
	}
	if r.is("CASE") {
		return r.cases("")
	}

	distinct := r.take("DISTINCT")
	c := r.column()
	if r.want(")"); r.is("FILTER") || r.is("OVER") || r.grouped != nil || !distinct && rows == "" {
		r.fail()
	}
	r.facts.ones = r.facts.ones || !distinct && c.of != nil && c.of != r.subject && r.subject != nil && r.subject.left
	switch key := c.of != nil && keyOf(c.name, c.of); {
	case key && (c.of == r.subject || !distinct && !c.of.left):
		return counting(rows)
	case !distinct:
		m := counting(rows + " with a known " + c.text)
		m.whole = true
		return m
	default:
		return r.countDifferent(c, key, rows)
	}
}

// all counts all rows, or the rows that pass a filter.
func (r *reader) all(rows string) *measure {
	if r.want(")"); rows == "" || r.is("OVER") {
		r.fail()
	}
	r.facts.ones = r.facts.ones || r.subject != nil && r.subject.left
	if !r.take("FILTER", "(", "WHERE") {
		return counting(rows)
	}
	m := counting(r.only(rows))
	m.whole = true
	r.want(")")
	return m
}

// countDifferent counts different values of a column: rows of the table whose key it is, or other things.
func (r *reader) countDifferent(c columnRef, key bool, rows string) *measure {
	many, thing := Plural(c.base())
	thing = thing && c.own
	if key {
		many, thing = c.of.many, true
	} else if of, sure := Plural(c.text); !thing && sure {
		many = of
	} else if !thing {
		many = "values of " + c.text
	}
	m := counting("different " + many)
	m.added = false
	r.belong(c)
	m.with = thing && !(r.subject != nil && r.subject.left)
	if m.with && rows != "" {
		m.rows += " with " + rows
	}
	return m
}

// cases reads CASE WHEN … THEN 1 ELSE 0 END in a sum, an average or a count: it counts the rows of a condition. Another
// value is summed, or averaged: "total price of bookings where channel is “web”".
func (r *reader) cases(of string) *measure {
	r.want("CASE")
	r.want("WHEN")
	m := counting(r.only(r.facts.subject))
	m.whole = true
	r.want("THEN")
	v := r.arithmetic()
	one, zero := isNumber(v.words, "1"), r.is("ELSE") && isNumber(r.peek(1).Text, "0")
	if zero || r.is("ELSE", "NULL") {
		r.at += 2
	}
	r.want("END")
	r.want(")")
	switch average := of == "average "; {
	case one && (zero && of == "" || average && !zero), !one && (of == "" || average && zero || v.column.name == "" ||
		v.measure != nil):
		r.fail() // it counts, or averages, other rows
	case !one:
		rows := m.rows
		m = &measure{noun: of + v.words}
		r.nameSum(m, of, "", v)
		m.noun, m.whole, m.rows, m.share = m.noun+" of "+rows, true, "", ""
	case average:
		m.noun, m.rows, m.added = "share of "+m.rows, "", false
	}
	m.verb, m.most = m.noun, m.noun
	return m
}

// isNumber reports whether a constant is a number, which may have zeros behind its point.
func isNumber(text, number string) bool { return strings.TrimSuffix(text, ".0") == number }

// only are the rows for which conditions hold that stand next.
func (r *reader) only(rows string) string {
	f := facts{subject: rows}
	all := r.conditions()
	if f.addConditions(all); rows == "" || r.texts(all) == "" {
		r.fail()
	}
	return f.rows()
}

// counting is the measure that counts what is named.
func counting(what string) *measure {
	noun := "number of " + what
	return &measure{noun: noun, most: noun, verb: noun, rows: what, added: true}
}

// perHundred are names of figures of a hundred of something, which are no percentages: "liters per 100 km".
var perHundred = regexp.MustCompile(`(?i)(^|[_ ])per[_ ]?(100|hundred)`)

// call names a measure that is computed of several columns as the statement does: "revenue (price × quantity)".
func (m *measure) call(alias string) {
	if m != nil && perHundred.MatchString(alias) {
		m.noun, m.most = alias, alias
		return
	}
	vague := len(alias) < 4 || alias == "total" || alias == "value" || alias == "result"
	if m == nil || vague || !strings.ContainsAny(m.noun, "×÷−+") {
		return
	}
	if of, ok := strings.CutPrefix(m.noun, "total "); ok && m.verb == m.noun {
		if !m.added { // several functions of many rows
			of = m.noun
		}
		m.noun, m.most = alias+" ("+of+")", alias
	}
}

// signs are the words of arithmetic.
var signs = map[string]string{"*": " × ", "/": " ÷ ", "+": " + ", "-": " − "}

// arithmetic reads values and numbers with signs between them.
func (r *reader) arithmetic() (v value) {
	var b strings.Builder
	var factor value
	for terms := 0; !r.failed; terms++ {
		t := value{}
		if n := r.peek(0); n.Kind == sqltext.Number {
			r.at++
			t.words = n.Text
		} else {
			t = r.term()
		}
		if terms == 0 && r.is("||") {
			return r.joined(t)
		}
		sign := signs[r.peek(0).Text]
		if terms == 0 && sign == "" {
			return t
		}
		if t.column.name != "" {
			factor = t
		}
		v.whole = v.whole || t.whole
		if m := t.measure; m != nil {
			t.words = m.noun
			percent := hundred.MatchString(b.String()) || strings.HasPrefix(r.peek(1).Text, "100")
			if m.share != "" && percent {
				t.words, m.whole = m.share, true
			}
			whole := v.measure != nil && v.measure.whole
			v.measure = &measure{whole: whole || m.whole || m.rows != ""}
		}
		if b.WriteString(t.words); sign == "" {
			break
		}
		r.at++
		b.WriteString(sign)
	}
	if one := floated.FindStringSubmatch(b.String()); one != nil && v.measure == nil && factor.words == one[1]+one[2] {
		return factor
	}
	if v.words = b.String(); v.measure != nil {
		noun := v.words
		for _, form := range percentages {
			noun = form.text.ReplaceAllString(noun, form.words)
		}
		v.measure.verb = v.words
		r.fractions = r.fractions || oneFactor.MatchString(v.words)
		noun = r.partOfRows(noun)
		if v.whole { // a part of a whole that another statement computes
			noun, v.measure.whole, v.measure.compared = r.portion(noun), true, true
		}
		v.measure.noun, v.measure.most = noun, noun
	}
	return v
}

// joined reads columns that || joins to one text, with texts between them: "first name and last name".
func (r *reader) joined(v value) value {
	texts := []string{v.words}
	for r.take("||") {
		if r.peek(0).Kind == sqltext.String {
			r.at++
			continue
		}
		t := r.term()
		if v.measure != nil || t.measure != nil || v.column.name == "" || t.column.name == "" {
			r.fail()
		}
		texts = append(texts, t.words)
	}
	if len(texts) < 2 {
		r.fail()
	}
	return value{words: listed(texts, "and")}
}

// partOfRows names the number of some rows, divided by that of all of them.
func (r *reader) partOfRows(noun string) string {
	all := "number of " + r.facts.subject
	for end, lead := range map[string]string{" in percent of " + all: "percentage of ", " ÷ " + all: "share of "} {
		if lead == "share of " && !r.fractions {
			continue // of whole numbers it is 0
		}
		part, divided := strings.CutSuffix(noun, end)
		some, narrowed := strings.CutPrefix(part, all+" ")
		if divided && narrowed && r.facts.subject != "" && !strings.ContainsAny(some, "×÷−+") {
			return lead + r.facts.subject + " " + some
		}
	}
	return noun
}

// portion is a measure as a part of the same measure of all rows.
func (r *reader) portion(noun string) string {
	for between, percent := range map[string]string{" in percent of the ": " in percent", " ÷ the ": ""} {
		part, all, _ := strings.Cut(noun, between)
		if all == part && all == "number of "+r.facts.subject {
			return "share of " + r.facts.subject + percent
		}
		if all == part+" of "+r.facts.subject {
			return "share of the " + all + percent
		}
	}
	return noun
}

// oneFactor is a factor that makes a quotient a fraction.
var oneFactor = regexp.MustCompile(`(^| × )1\.0*( × |$| ÷ )`)

// floated is a value that a factor makes a float, and changes in nothing else.
var floated = regexp.MustCompile(`^1\.0* × ([^×÷−+]*)$|^([^×÷−+]*) × 1\.0*$`)

// hundred is what makes a share a percentage.
var hundred = regexp.MustCompile(`^100(\.0*)? × $`)

// percentages are the ways to compute a percentage.
var percentages = []struct {
	text  *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^1\.0* × | × 1\.0*\b`), ""},
	{regexp.MustCompile(
		`^100(?:\.0*)? × (.*?) ÷ (\D.*)$|^(.*?) × 100(?:\.0*)? ÷ (\D.*)$|^\((.*) ÷ (\D.*)\) × 100(?:\.0*)?$`),
		"$1$3$5 in percent of $2$4$6"},
	{regexp.MustCompile(`^100(?:\.0*)? × (share of [^×÷]*)$|^(share of [^×÷]*) × 100(?:\.0*)?$`), "$1$2 in percent"},
}

// part reads a function that cuts a time.
func (r *reader) part() value {
	end := r.at + periods.Closes(r.tokens[r.at:], 1) + 1
	b := periods.Cut(r.d, r.tokens[r.at:max(end, r.at)])
	if b.Span == "" || b.Of == nil {
		r.fail()
		return value{}
	}
	in := *r
	in.tokens, in.at = b.Of, 0
	c := in.column()
	if r.at = end; in.failed || b.Confirm && !c.stamp.is && !isMoment(c.words) {
		r.fail() // the beginning of a text
	}
	return c.cut(b.Span)
}

var timeTail = regexp.MustCompile(`(^| )(time|date|day|at|on|timestamp|datetime)$`)

// cut is a part of a time: "creation month" of "creation time".
func (c columnRef) cut(span string) value {
	text := span + " of " + c.text
	head, tail, _ := strings.Cut(span, " ")
	switch {
	case c.stamp.self && c.own:
		text = span
	case timeTail.MatchString(c.text):
		text = strings.TrimSpace(strings.TrimSpace(timeTail.ReplaceAllString(c.text, "")+" "+head) + " " + tail)
	case strings.HasPrefix(c.text, "date of "):
		text = span + strings.TrimPrefix(c.text, "date")
	}
	return value{words: text, column: c, span: span}
}

// listed joins words as a person does.
func listed(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(slices.Clone(words), "")
}
