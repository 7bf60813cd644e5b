package summary

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// Found says in one sentence what the rows of a statement show, for shapes of rows of which that is sure:
//
//	412 customers where country is “Germany”.                                     one value
//	Germany has the most: 412 of 2,144 (19 %), then France with 300.              counts by a name
//	Highest total amount: Ann, 990.00; then Bo, 12.50.                            figures by a name
//	Highest in August 2024: 2,138,816.40; up 2.5 % from January to December 2024. figures over time
//	There are no customers without orders.                                        no row
//
// It is "" for every other shape, and where the rows do not carry the sentence: nothing is called highest of rows that
// a limit cut, and a share needs parts that add up. A change needs two periods that the statement's own bounds
// make whole, that ended before now and before the last day of the data, and that the data fills from its beginning.
// ends tells of a column of a table its smallest and its largest value and how many there are; the values are nil where
// none is known, and the function where nobody knows any. tied reports that a row behind a limit of the statement is
// equal in the order to the last row before it: no row is then called the only first one. It calls no model. The
// figures are those of t with commas and one scale. Safe for concurrent use.
func Found(
	d sqltext.Dialect, sql string, t *result.Table, now time.Time,
	ends func(table, column string) (least, most any, values int64), tied bool,
) string {
	if t == nil || len(t.Columns) == 0 {
		return ""
	}
	s := newAnswer(d, sql, t)
	s.now, s.ends = now, ends
	if tied {
		s.also = " and at least one other"
	}
	switch {
	case t.Empty():
		return s.none()
	case t.Truncated, tied && !s.firstRows(), s.overcounts():
		return ""
	}
	text := s.says()
	if s.cutsDay(text) {
		return ""
	}
	return short(text)
}

// says is what the rows show, however long.
func (s answer) says() string {
	f := s.facts
	switch one := len(s.Rows) == 1; {
	case one && (s.limited || s.outline.Having) && len(f.groups) > 0 && len(f.measures) == len(s.Columns):
		return s.counted() // its figures are those of one group
	case one && len(s.Columns) == 1:
		return s.value()
	case one:
		if text := s.single(); text != "" {
			return text
		}
	}
	if text := s.flags(); text != "" {
		return text
	}
	if by, of, ok := s.roles(); ok {
		return s.ranked(by, of)
	}
	return s.counted()
}

// overcounts reports whether a row without its partners counts as one of them: where a group may have several such
// rows, and where the only one of a group may be such a row.
func (s answer) overcounts() bool {
	f := s.facts
	if !s.known || !f.ones || len(f.joined) == 0 {
		return false
	}
	one, _ := Singular(f.from[0])
	if len(f.groups) != 1 || len(f.from) != 2 || strings.TrimSuffix(f.groups[0], " name") != one || len(f.having) > 0 {
		return true
	}
	return slices.ContainsFunc(s.Rows, func(row []any) bool {
		for i, v := range row {
			n, _ := number(v)
			if n <= 1 && s.counts(i) {
				return true
			}
		}
		return false
	})
}

// none says that there is no row.
func (s answer) none() string {
	f := s.facts
	if s.Truncated || f.limit == "0" {
		return ""
	}
	if s.lists() && len(f.having) == 0 && f.oneEach() && !f.distinct {
		if text := short("There are no " + f.rows() + "."); text != "" {
			return text
		}
	}
	return "Nothing was found."
}

// oneEach reports whether each joined row is one row of the subject: the other tables are those to which it refers.
func (f facts) oneEach() bool {
	return f.subject != "" && !strings.HasPrefix(strings.Join(f.joined, ""), "there are no ")
}

// rows are the rows of the only table that count, in words: "customers without orders where country is “Germany”".
func (f facts) rows() string { return f.subject + f.conditions() }

// among are the rows with the conditions that choose them, behind what one of them has; "": all count.
func (f facts) among() string {
	text := f.conditions()
	if text != "" && f.subject != "" && !strings.HasSuffix(f.order[0], f.subject) {
		text = " of " + f.subject + text
	}
	return text
}

// conditions say which rows count.
func (f facts) conditions() string { return f.narrowText() + led(" where ", listed(f.where, "and")) }

// conditionsOfOne are the conditions of one row: "that is a student".
func (f facts) conditionsOfOne() string {
	are := slices.Clone(f.narrow[thatAre])
	for i, phrase := range are {
		noun, not := strings.CutPrefix(phrase, "not ")
		if one, sure := Singular(noun); sure && one != noun && !strings.HasPrefix(noun, "the ") {
			are[i] = map[bool]string{true: "not "}[not] + withArticle(one)
		}
	}
	f.narrow[thatAre] = are
	return strings.Replace(f.conditions(), " that are ", " that is ", 1)
}

// value says what the only value is.
func (s answer) value() string {
	v := s.Rows[0][0]
	_, isNumber := number(v)
	text := s.figure(0, v)
	if !isNumber {
		text = s.label(0, v)
	}
	m := s.measureOf(0)
	switch {
	case v == nil:
		return "There is no value."
	case text == "":
		return ""
	case m != nil && m.rows != "" && isNumber:
		return s.amount(text, m.rows)
	case s.columns[0].flag != (flag{}) && m == nil:
		return capital(spoken(s.Columns[0])) + ": " + truthOf(v) + "."
	case m != nil && (isNumber || strings.HasPrefix(m.noun, "alphabetically ")):
		of := ""
		if !m.whole && len(s.facts.from) == len(s.facts.without)+1 {
			of = " of " + s.facts.from[0]
		}
		if own := s.better(0, m); own != "" {
			return capital(own) + s.facts.conditions() + ": " + text + "."
		}
		return capital(m.noun) + of + s.facts.conditions() + ": " + text + "."
	}
	if event := s.event(); event != "" {
		if at := spokenMoment(s.Types[0], v); at != "" {
			text = at
		}
		return event + ": " + text + s.also + "."
	}
	name := s.called(0)
	f := s.facts
	switch one := s.known && f.limit == "1" && len(f.order) == 1 && len(f.having) == 0; {
	case one && (s.dated() || f.by.isAdjective() || f.by.own && f.by.stamp.is):
		return ""
	case one && (s.also != "" || s.sorted.item == 0 && !strings.Contains(f.top, " by ")):
		return capital(f.order[0]) + f.among() + ": " + text + s.also + "."
	case one && strings.Contains(f.top, " by "):
		return text + " is the " + f.top + f.among() + "."
	case one:
		return text + " has the " + f.order[0] + f.among() + "."
	case name != "" && s.also == "":
		return capital(name) + ": " + text + "."
	}
	return ""
}

// event says which end of a time a statement of one table asks for: "Latest order", "Earliest hire date"; "": none.
func (s answer) event() string {
	c, least := s.facts.by, !s.sorted.down
	switch m := s.measureOf(0); {
	case !s.known:
		return ""
	case m != nil && m.moment && len(s.facts.from) > 1:
		return capital(m.noun) + s.facts.conditions()
	case len(s.facts.from) != 1:
		return ""
	case m != nil && m.moment:
		c, least = m.of, m.end == lowest
	case m != nil || !s.firstRows() || len(s.facts.order) != 1 || !c.stamp.is && !isMoment(c.words) && !s.dated():
		return ""
	}
	name := c.words
	if c.stamp.self || c.stamp.verb != "" {
		name = strings.TrimSpace(c.of.one + " " + c.stamp.happened())
	}
	return capital(extremes(false, true)[least] + " " + name + s.facts.conditions())
}

// dated reports whether a value of the column of the order is a time, although its name does not say so.
func (s answer) dated() bool {
	var v any
	switch c, i := s.facts.by, s.sorted.item; {
	case c.of == nil, c.stamp.is, isMoment(c.words):
	case i >= 0 && len(s.Rows) > 0 && i < len(s.Rows[0]):
		v = s.Rows[0][i]
	case s.ends != nil:
		_, v, _ = s.ends(c.of.name, c.name)
	}
	return spokenMoment(result.Type{}, v) != ""
}

// single says what the only row has: figures, each with its name, or a name with the time by which it is first.
func (s answer) single() string {
	if len(s.Columns) > 3 {
		return ""
	}
	s.align()
	where := s.facts.conditions()
	switch {
	case !s.known:
		where = ""
	case strings.HasPrefix(where, " that"):
		where = s.facts.subject + where
	}
	sep := ": "
	if where != "" {
		sep = " "
	}
	var parts []string
	for i, v := range s.Rows[0] {
		text := s.valueNamed(i, v, sep)
		if text == "" || s.columns[i].key != "" && s.limited {
			return s.firstBy()
		}
		parts = append(parts, text)
	}
	if where != "" {
		return capital(strings.TrimSpace(where)) + ": " + strings.Join(parts, ", ") + "."
	}
	return capital(strings.Join(parts, "; ")) + "."
}

// compares reports whether a statement asks which row has the end of the times of the second of two columns: of each
// group, or by its order and its limit. The texts have one form.
func (s answer) compares(i int) bool {
	if len(s.Columns) != 2 || i != 1 || len(s.Rows) < 2 {
		return false
	}
	it := s.facts.items[i]
	for _, row := range s.Rows {
		first, _ := s.Rows[0][i].(string)
		if text, _ := row[i].(string); spokenMoment(s.Types[i], text) == "" || len(text) != len(first) {
			return false
		}
	}
	return it.measure != nil && it.measure.moment || it.column.name != "" && s.sorted.item == i && s.limited
}

// valueNamed is a figure, or the end of a time, behind its name: "total amount: 431,843.50", "earliest date: 2 January
// 2023".
func (s answer) valueNamed(i int, v any, sep string) string {
	m, at := s.measureOf(i), spokenMoment(s.Types[i], v)
	switch what := s.nameOf(i); {
	case m != nil && m.moment && at != "":
		return m.noun + sep + at
	case s.kind(i) != figures || v == nil || what == "" && s.columns[i].key == "":
		return ""
	case s.columns[i].key != "":
		return s.label(i, v)
	default:
		return what + sep + s.figure(i, v)
	}
}

// align gives the figures of the only row that are computed of one column one scale: 2.75 and 110.00.
func (s answer) align() {
	for i, c := range s.columns {
		one, m := &result.Table{Columns: []string{c.name}}, s.measureOf(i)
		for j, v := range s.Rows[0] {
			if o := s.measureOf(j); m != nil && o != nil && m.of.words != "" && m.of.words == o.of.words &&
				!s.columns[j].percent {
				one.Rows = append(one.Rows, []any{v})
			}
		}
		if len(one.Rows) > 1 && !c.percent {
			s.columns[i].Texts = one.Texts(0)
		}
	}
}

// firstBy says which row is the latest or the earliest one: "Earliest hire date: Rosa Lang, 20 November 2012."
func (s answer) firstBy() string {
	if s.sorted.item <= 0 || s.kind(0) != names && s.columns[0].key == "" {
		return ""
	}
	event, at := s.event(), spokenMoment(s.Types[s.sorted.item], s.Rows[0][s.sorted.item])
	if name := s.label(0, s.Rows[0][0]); event != "" && at != "" && name != "" && s.Rows[0][0] != nil {
		return event + ": " + name + s.also + ", " + at + "."
	}
	return ""
}

// flags says how many rows a flag has, and how many have it not: "206 of 240 customers are active (86 %), 34 are not."
func (s answer) flags() string {
	if len(s.Columns) != 2 || len(s.Rows) > 3 || !s.known || !s.addsUp(1) || s.columns[0].flag == (flag{}) {
		return ""
	}
	found := map[string]float64{}
	for _, row := range s.Rows {
		found[truthOf(row[0])], _ = number(row[1])
	}
	yes, no, unknown := found["yes"], found["no"], found["null"]
	m, f := s.measureOf(1), s.columns[0].flag
	if yes < 1 || no < 1 || m.rows == "" || len(found) != len(s.Rows) {
		return ""
	}
	verb, not := f.verbs(yes), f.negation(no)
	rest := ""
	if unknown > 0 {
		rest = ", " + s.figure(1, unknown) + " " + oneOf(unknown, "is", "are") + " unknown"
	}
	all := yes + no + unknown
	return s.figure(1, yes) + " of " + s.figure(1, all) + " " + m.rows + s.facts.conditions() + " " + verb +
		" (" + share(yes, all) + "), " + s.figure(1, no) + " " + not + rest + "."
}

// verbs say that n rows have a flag, and negation that n have it not.
func (f flag) verbs(n float64) string {
	switch {
	case f.has != "":
		return oneOf(n, "has ", "have ") + f.has
	case f.one != "" && n == 1:
		return "is " + withArticle(f.one)
	}
	return oneOf(n, "is ", "are ") + f.adjective
}

func (f flag) negation(n float64) string {
	if f.has != "" {
		return oneOf(n, "does not", "do not")
	}
	return oneOf(n, "is not", "are not")
}

func oneOf(n float64, one, many string) string {
	return map[bool]string{true: one, false: many}[n == 1]
}

// truthOf says whether a value of a flag is "yes", "no" or "null"; "" for any other one.
func truthOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return truths["“"+strings.ToLower(v)+"”"]
	}
	return truths[label(v)]
}

// amount says how many rows there are.
func (s answer) amount(n, rows string) string {
	if n == "0" || n == "1" {
		rows = strings.TrimPrefix(rows, "different ")
	}
	if n == "1" {
		many, rest := rows, ""
		if tail, ok := strings.CutPrefix(rows, s.facts.subject+" "); ok {
			many, rest = s.facts.subject, " "+tail
		}
		if one, sure := Singular(many); sure {
			rows = one + strings.Replace(rest, " that are ", " that is ", 1)
		}
		return capital(n + " " + rows + s.facts.conditionsOfOne() + ".")
	}
	if n == "0" {
		n = "no"
	}
	return capital(n + " " + rows + s.facts.conditions() + ".")
}

// counted says how many rows a plain list has.
func (s answer) counted() string {
	f := s.facts
	n := len(s.Rows)
	switch {
	case s.known && len(f.having) > 0 && !s.limited:
		return s.countGroups()
	case !s.lists() || len(f.having) > 0 || f.limit == strconv.Itoa(n):
		return ""
	case f.distinct && len(f.shows) == 1:
		many, sure := Plural(f.shows[0])
		of := f.of
		if len(f.from) == 1 && f.conditions() == "" {
			of = ""
		}
		if n = s.groups(); !sure || n < 2 || !f.oneEach() {
			return ""
		}
		return words.Thousands(n) + " different " + many + of + f.conditions() + "."
	case f.distinct || !f.oneEach():
		return ""
	}
	return s.amount(words.Thousands(n), f.subject)
}

// groups counts the rows that have a name: one of which all names are NULL is no country.
func (s answer) groups() int {
	return len(omit(s.Rows, func(row int) (none bool) {
		for i, v := range s.Rows[row] {
			if s.measureOf(i) == nil {
				if none = v == nil; !none {
					return false
				}
			}
		}
		return none
	}))
}

// countGroups says how many groups HAVING leaves: "3 customers where number of orders is above 5."
func (s answer) countGroups() string {
	f := s.facts
	if len(f.groups) != 1 || len(f.measures) > 1 || f.cut || f.narrowText() != "" {
		return ""
	}
	many, sure := Plural(strings.TrimSuffix(f.groups[0], " name"))
	n := s.groups()
	if !sure || n == 0 {
		return ""
	}
	all := slices.Clone(f.where)
	for _, h := range f.having {
		if rest, it := strings.CutPrefix(h, "it is "); it {
			h = f.measures[0].noun + " is " + rest
		}
		all = append(all, h)
	}
	if n == 1 {
		many, _ = Singular(many)
	}
	return words.Thousands(n) + " " + many + " where " + listed(all, "and") + "."
}
