package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// point is a row with one figure.
type point struct {
	label  string
	value  float64
	figure string
	row    []any
	at     periods.Moment // where its name is one
}

// order compares points by their figures; least: the largest one first.
func order(least bool) func(a, b point) int {
	return func(a, b point) int {
		if least {
			a, b = b, a
		}
		return cmp.Compare(a.value, b.value)
	}
}

// ranked says which row has the highest figure, and how figures over time changed.
func (s answer) ranked(by, of int) string {
	line := s.line(by, of)
	m := s.measureOf(of)
	least := m != nil && m.end == lowest
	if s.limited {
		least = !s.sorted.down
	}
	switch {
	case len(line) == 0, s.ranks, len(s.outline.SetOps) > 0, s.mixesSigns(line, of):
		return ""
	case len(line) == 1 && !s.limited:
		who := line[0].label
		if line[0].row[by] == nil {
			who = capital(who)
		}
		return who + ": " + line[0].figure + s.beside(line[0], of) + "."
	case s.limited && (!s.firstRows() || s.sorted.item != of && s.sorted.item != by):
		return ""
	}
	if s.timed(by, line) && (!s.limited || s.sorted.item == by) {
		if s.bounded(of, least) {
			return ""
		}
		return s.overTime(line, by, of, m != nil && m.end == lowest)
	}
	if _, timed := s.period(by, line[0].row[by]); timed && least {
		return "" // the first or the last period may be cut
	}
	wrongEnd := m != nil && (m.end == lowest && !least || m.end == highest && least)
	if s.limited && s.sorted.item != of || wrongEnd || s.numbered(by, line) {
		return ""
	}
	key := s.columns[by].key != "" || s.kind(by) == figures && keyed.MatchString(s.Columns[by])
	unsorted := s.lists() && s.sorted.item != of && (key || len(s.others(line[0], of)) > 0)
	if s.bounded(of, least) || unsorted {
		return s.counted()
	}
	what := s.named(of)
	counts := s.counts(of)
	money := !counts && !s.columns[of].percent && currency.MatchString(spoken(s.Columns[by]))
	if what == "" && !counts || money {
		return ""
	}
	slices.SortStableFunc(line, order(!least))
	return s.most(line, by, of, what+s.selected(of), least)
}

// mixesSigns reports whether shares of a whole are less than nothing or more than all: gains and losses have no shares.
func (s answer) mixesSigns(line []point, of int) bool {
	m := s.measureOf(of)
	all := 100.0
	if s.Types[of].Share {
		all = 1
	}
	beyond := func(p point) bool { return p.value < 0 || p.value > all+1e-9 }
	return m != nil && strings.HasPrefix(m.noun, "share of ") && slices.ContainsFunc(line, beyond)
}

// selected are the conditions of the rows if one of them chooses values of the column that is summed: the total of
// losses is not the total profit.
func (s answer) selected(of int) string {
	m := s.measureOf(of)
	if m == nil || m.rows != "" || !slices.Contains(slices.Concat(s.facts.below, s.facts.above), m.of.text) {
		return ""
	}
	if s.facts.narrowText() != "" && s.facts.subject != "" {
		return " of " + s.facts.rows()
	}
	return s.facts.conditions()
}

// currency are the names of columns of currencies. Amounts of several ones cannot be compared.
var currency = regexp.MustCompile(`(^| )currency( code)?$`)

// lists reports whether the statement lists rows and computes nothing.
func (s answer) lists() bool {
	return s.known && len(s.facts.measures) == 0 && len(s.facts.groups) == 0
}

// bounded reports whether a condition leaves out the rows at an end of a figure: the first one of the others need not
// be an extreme.
func (s answer) bounded(of int, least bool) bool {
	if !s.known {
		return s.restricted(of, least)
	}
	out := s.facts.below
	if least {
		out = s.facts.above
	}
	names := []string{s.facts.items[of].words}
	if m := s.measureOf(of); m != nil {
		names = []string{m.noun, m.most}
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(out, name) })
}

// restricted is bounded for a statement that is not read: by the name of the figure, or by what makes it.
func (s answer) restricted(of int, least bool) bool {
	end := "<"
	if least {
		end = ">"
	}
	name := regexp.QuoteMeta(s.Columns[of]) + "|" + regexp.QuoteMeta(cmp.Or(s.outline.Items[of].Text, s.Columns[of]))
	figure := regexp.MustCompile(strings.ToValidUTF8("(?i)(^|\\W)("+name+")[\"`]?\\s*(<>|"+end+
		"|[!=]|(not\\s+)?(between|in)\\b)", "\uFFFD"))
	group := regexp.MustCompile(`(?i)<>|` + end + `|(^|[^<>])=|\b(between|in)\b`)
	return slices.ContainsFunc(s.statement.Selects(), func(q sqlshape.Select) bool {
		return figure.MatchString(q.Where) || group.MatchString(q.Having)
	})
}

// numbered reports whether short numbers name the rows, which need not be what they seem: months, floors, grades.
func (s answer) numbered(by int, line []point) bool {
	return s.Types[by].Grain == "" && !slices.ContainsFunc(line, func(p point) bool {
		return !shortNumber.MatchString(p.label)
	})
}

var shortNumber = regexp.MustCompile(`^\d{1,3}$`)

// line are the rows with a figure, in their order; nil where the first of a sorted list has none.
func (s answer) line(by, of int) (line []point) {
	for i, row := range s.Rows {
		value, ok := number(row[of])
		if s.columns[of].times {
			at, _ := periods.ReadTime(row[of].(string))
			value, ok = float64(at.At.Unix()), true
		}
		if !ok && i == 0 && s.limited {
			return nil
		}
		if _, computed := row[of].(float64); computed {
			value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 12, 64), 64) // 0.1 + 0.2 is 0.3
		}
		if ok {
			line = append(line, point{label: s.label(by, row[by]), value: value, figure: s.figure(of, row[of]), row: row})
		}
	}
	return line
}

// named is what the figures of a column are: "total amount"; "" where nothing says it.
func (s answer) named(of int) string {
	if m := s.measureOf(of); m != nil {
		return cmp.Or(s.better(of, m), m.most)
	}
	if s.columns[of].times {
		return s.facts.items[of].words
	}
	what := s.called(of)
	for _, word := range []string{"highest", "lowest", "max", "min", "most", "least", "top", "count"} {
		if slices.Contains(strings.Fields(what), word) {
			return ""
		}
	}
	return what
}

// better is a name of a measure that says more to a reader than its words do, as the statement gives it: of a
// percentage, which has its sign, and of what is computed of several measures. "": the words are better.
func (s answer) better(i int, m *measure) string {
	name := s.called(i)
	switch {
	case s.columns[i].percent && strings.HasPrefix(m.noun, "share of "):
		return strings.Replace(m.noun, " in percent", "", 1)
	case s.columns[i].percent && shareName.MatchString(s.Columns[i]), strings.ContainsAny(m.noun, "×÷−+"),
		!s.columns[i].percent && strings.Contains(m.noun, " in percent"):
		return name
	case s.columns[i].percent:
		return strings.TrimSuffix(m.noun, " in percent")
	}
	return ""
}

// thing is what a column counts, as its name says it: "orders"; "" where it says nothing.
func (s answer) thing(of int) string {
	name := strings.TrimPrefix(s.called(of), "number of ")
	if many, sure := Plural(name); sure && many == name {
		return name
	}
	return ""
}

// most says which rows have the most of what is named.
func (s answer) most(line []point, by, of int, what string, least bool) string {
	top := 1
	for top < len(line) && line[top].value == line[0].value {
		top++
	}
	counts := s.counts(of)
	times := s.columns[of].times
	who, figure := line[0].label, line[0].figure
	those := ""
	if counts && least && line[0].value > 0 && s.leavesEmpty(by) {
		those = "Of those with any, "
	} else if counts && (s.columns[by].names() || s.spans[by] == "week" || line[0].row[by] == nil) {
		who = capital(who)
	}
	switch {
	case times && top > 1:
		return ""
	case top == len(line) && top > 1:
		return s.same(line, words.Thousands(top))
	case top > 2:
		who = s.several(top, by)
	case top == 2:
		who += " and " + line[1].label
	}
	if s.also != "" && len(line) == 1 {
		who, top = who+s.also, 2
	}
	ends := extremes(counts, times || isMoment(what) && s.lists())[least]
	second := top == 1 && !times && (len(line) == 2 && s.also == "" || len(line) > 2 && line[1].value != line[2].value)
	switch {
	case top > 1:
		figure += " each"
	case counts:
		figure += cmp.Or(s.part(line, of), s.beside(line[0], of))
	default:
		figure += s.beside(line[0], of)
	}
	switch {
	case counts:
		if second {
			figure += ", then " + line[1].label + " with " + line[1].figure
		}
		has := map[bool]string{true: " has the ", false: " have the "}[top == 1 && line[0].row[by] != nil]
		return those + who + has + strings.TrimSpace(ends+" "+s.thing(of)) + ": " + figure + "."
	case top > 2:
		return capital(ends + " " + what + ": " + line[0].figure + ", shared by " + who + ".")
	case second:
		figure += "; then " + line[1].label + ", " + line[1].figure
	}
	return capital(ends+" "+what) + ": " + who + ", " + figure + "."
}

// leavesEmpty reports whether a group with no row is left out: the groups are rows of another table, and the statement
// reads only those with a row.
func (s answer) leavesEmpty(by int) bool {
	c := s.facts.items[by].column
	if s.known {
		return len(s.facts.joined) == 0 && (c.of != nil && !c.own || c.base() != "")
	}
	return joining.MatchString(s.statement.SQL()) && !outerJoin.MatchString(s.statement.SQL())
}

var (
	joining   = regexp.MustCompile(`(?i)\bjoin\b`)
	outerJoin = regexp.MustCompile(`(?i)\b(left|right|full)\b`)
)

// extremes are the words for the ends of figures: the lower one is that of true.
func extremes(counts, times bool) map[bool]string {
	switch {
	case counts:
		return map[bool]string{true: "fewest", false: "most"}
	case times:
		return map[bool]string{true: "earliest", false: "latest"}
	}
	return map[bool]string{true: "lowest", false: "highest"}
}

// same says that all n rows have one figure; "" where a limit left out others, which may have as many.
func (s answer) same(line []point, n string) string {
	if s.limited || len(line) != len(s.Rows) {
		return ""
	}
	if text := s.counted(); text != "" && len(s.facts.having) > 0 {
		return text
	}
	all := "All " + n
	if rest, two := strings.CutPrefix(n, "2"); two && len(line) == 2 {
		all = "Both" + rest
	}
	return all + " have the same: " + line[0].figure + "."
}

// several names so many rows by the column that names them: "7 months".
func (s answer) several(n, by int) string {
	text := words.Thousands(n)
	span := s.columns[by].span
	if s.spans[by] == "week" {
		span = "week"
	}
	if part, _, _ := strings.Cut(span, " "); part != "" {
		text += " " + words.Plural(part, n)
	}
	return text
}

// part is the share of the first row in all rows; "" where the rows do not add up to a whole.
func (s answer) part(line []point, of int) string {
	if !s.addsUp(of) || len(line) != len(s.Rows) || len(line) < 2 {
		return ""
	}
	var whole float64
	for _, p := range line {
		whole += p.value
	}
	return " of " + s.figure(of, whole) + " (" + share(line[0].value, whole) + ")"
}

// others are the other columns of figures that have a name, each with its figure in a row.
func (s answer) others(p point, of int) (list []string) {
	for i := range s.Columns {
		key := keyed.MatchString(s.Columns[i]) || s.Types[i].Grain != "" || s.columns[i].names()
		if i == of || key || s.kind(i) != figures || p.row[i] == nil {
			continue
		}
		if text := s.figureOf(i, p.row[i]); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// figureOf is a figure with what it is: "1,115 payments", "average price 61.88"; "" where nothing says it.
func (s answer) figureOf(i int, v any) string {
	text := s.figure(i, v)
	if s.counts(i) && s.thing(i) != "" && text != "1" {
		return text + " " + s.thing(i)
	}
	if what := s.nameOf(i); what != "" {
		return what + " " + text
	}
	return ""
}

// nameOf is what the figures of a column are: the name that the statement gives them, where it says more than their
// words: "paid" of "total paid".
func (s answer) nameOf(i int) string {
	name := s.called(i)
	if m := s.measureOf(i); m != nil && (name == "" || m.rows == "" && !strings.HasSuffix(m.noun, " "+name)) {
		return cmp.Or(s.better(i, m), m.noun)
	}
	return name
}

// beside are the other figures of a row in brackets.
func (s answer) beside(p point, of int) string {
	if list := s.others(p, of); len(list) == 1 {
		return " (" + list[0] + ")"
	}
	return ""
}
