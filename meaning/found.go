package meaning

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

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
// It is "" for every other shape, and where the rows do not carry the sentence: nothing is called highest of rows that a limit
// cut, no share is told where the parts do not add up, and no change where the first figure is 0. It calls no model. The
// figures are those of t, with commas; a float is rounded to two digits behind the point. Safe for concurrent use.
func Found(d sqltext.Dialect, sql string, t *result.Table) string {
	if t == nil || len(t.Columns) == 0 {
		return ""
	}
	s := answer{Table: t.Shown()}
	s.facts, s.known = read(d, sql)
	s.limited = !s.known && limits(d, sql) || s.facts.limit != ""

	switch {
	case t.Empty():
		return s.none()
	case t.Truncated:
		return ""
	case len(t.Rows) == 1 && len(t.Columns) == 1:
		return short(s.value())
	}
	if by, of, ok := s.roles(); ok {
		return short(s.ranked(by, of))
	}
	return short(s.counted())
}

// answer is a statement with its rows.
type answer struct {
	*result.Table
	facts   facts
	known   bool // the statement was read
	limited bool // it may leave rows out
}

// limiting are the words of statements that leave rows out.
var limiting = words.Set("LIMIT FETCH OFFSET TOP SAMPLE TABLESAMPLE ROWNUM ROWCOUNT QUALIFY")

// limits reports whether a statement that could not be read may leave rows out.
func limits(d sqltext.Dialect, sql string) bool {
	for t := range d.Parse(sql).Tokens() {
		if t.Kind == sqltext.Word && limiting[strings.ToUpper(t.Text)] {
			return true
		}
	}
	return false
}

// none says that there is no row.
func (s answer) none() string {
	f := s.facts
	if s.Truncated || f.limit == "0" {
		return ""
	}
	if s.known && len(f.measures) == 0 && len(f.having) == 0 && len(f.from) == len(f.without)+1 && !f.distinct && len(f.groups) == 0 {
		if text := short("There are no " + f.rows() + "."); text != "" {
			return text
		}
	}
	return "Nothing was found."
}

// rows are the rows of the only table that count, in words: "customers without orders where country is “Germany”".
func (f facts) rows() string {
	text := f.from[0]
	if _, sure := Plural(text); !sure {
		text = "rows of " + text
	}
	return text + f.conditions()
}

// conditions say which rows count.
func (f facts) conditions() (text string) {
	if len(f.without) > 0 {
		text += " without " + listed(f.without, "or")
	}
	if len(f.where) > 0 {
		text += " where " + listed(f.where, "and")
	}
	return text
}

// value says what the only value is.
func (s answer) value() string {
	v := s.Rows[0][0]
	_, isNumber := number(v)
	text := figure(v)
	if !isNumber {
		text = label(v)
	}
	m := s.measure()
	switch {
	case v == nil:
		return "There is no value."
	case text == "":
		return ""
	case m != nil && m.rows != "" && isNumber:
		return s.amount(text, m.rows)
	case m != nil && isNumber:
		of := ""
		if len(s.facts.from) == len(s.facts.without)+1 {
			of = " of " + s.facts.from[0]
		}
		return capital(m.noun) + of + s.facts.conditions() + ": " + text + "."
	case s.known && s.facts.limit == "1" && len(s.facts.order) == 1:
		return capital(extremeOf(s.facts.order[0])) + ": " + text + "."
	}
	return labelled(s.Columns[0], text)
}

// extremeOf is a term of an order in words: "highest amount".
func extremeOf(order string) string {
	if strings.Contains(order, " ") {
		return order
	}
	return order + " value"
}

// amount says how many rows there are.
func (s answer) amount(n, rows string) string {
	if n == "1" {
		if one, sure := Singular(rows); sure {
			rows = one
		}
	}
	if n == "0" {
		n = "no"
	}
	return capital(n + " " + rows + s.facts.conditions() + ".")
}

// plainName is the name of a column that a person chose.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z_ ]{2,39}$`)

// labelled says what a column is; "" where its name says nothing.
func labelled(column, text string) string {
	if !plainName.MatchString(column) {
		return ""
	}
	return capital(spoken(column)) + ": " + text + "."
}

// measure is the only measure of a statement that was read; nil: there is none, or there are several.
func (s answer) measure() *measure {
	if !s.known || len(s.facts.measures) != 1 {
		return nil
	}
	return &s.facts.measures[0]
}

// keyed is the name of a column whose numbers name something, and are no amounts.
var keyed = regexp.MustCompile(`(?i)(^|_)(id|ids|key|code|zip|postal|phone|no|nr|number|lat|lon|latitude|longitude|rank|position|` +
	`year|quarter|month|week|day|hour)$|[a-z]I[Dd]$`)

// roles finds the one column that names the rows, and the one with their figures. Keys count for neither. ok is false where
// there are others, and where two rows have one name.
func (s answer) roles() (by, of int, ok bool) {
	by, of = -1, -1
	year := -1 // or another part of a time, as a number
	for i, name := range s.Columns {
		switch kind := s.kind(i); {
		case kind == figures && keyed.MatchString(name):
			if year < 0 && !strings.HasSuffix(spoken(name), "id") {
				year = i
			}
		case kind == figures && of < 0:
			of = i
		case kind == names && by < 0:
			by = i
		default:
			return -1, -1, false
		}
	}
	if by < 0 {
		by = year
	}
	if by < 0 || of < 0 {
		return -1, -1, false
	}

	seen := map[string]bool{}
	for _, row := range s.Rows {
		name := label(row[by])
		if name == "" || seen[name] {
			return -1, -1, false
		}
		seen[name] = true
	}
	return by, of, true
}

// The kinds of a column here.
const (
	mixed = iota
	names
	figures
)

// kind says what the values of a column are.
func (s answer) kind(column int) int {
	kind := mixed
	for _, row := range s.Rows {
		at := names
		switch v := row[column].(type) {
		case nil:
			continue
		case string, bool:
		default:
			if _, ok := number(v); !ok {
				return mixed
			}
			at = figures
		}
		if kind != mixed && kind != at {
			return mixed
		}
		kind = at
	}
	return kind
}

// counted says how many rows a plain list has.
func (s answer) counted() string {
	f := s.facts
	n := len(s.Rows)
	switch {
	case !s.known || len(f.measures) > 0 || len(f.groups) > 0 || len(f.having) > 0 || f.limit == strconv.Itoa(n):
		return ""
	case f.distinct && len(f.shows) == 1:
		many, sure := Plural(f.shows[0])
		if !sure || n == 1 || len(f.from) != 1 {
			return ""
		}
		return words.Thousands(n) + " different " + many + f.conditions() + "."
	case f.distinct || len(f.from) != len(f.without)+1:
		return ""
	}
	rows := strings.TrimSuffix(f.rows(), f.conditions())
	return s.amount(words.Thousands(n), rows)
}

// ranked says which row has the highest figure, and how figures over time changed.
func (s answer) ranked(by, of int) string {
	line := s.line(by, of)
	if len(line) == 0 {
		return ""
	}

	first := s.facts.first
	byFigure := s.known && first.item == of && len(s.facts.items) == len(s.Columns)
	if times := periods(line); times != nil && !s.limited {
		return overTime(line, times)
	}
	m := s.measure()
	least := byFigure && !first.down
	if !s.limited {
		least = m != nil && m.end == lowest
	}
	if s.limited && !byFigure || m != nil && (m.end == lowest && !least || m.end == highest && least) || numbered(line) {
		return ""
	}

	what := s.named(of)
	switch {
	case len(line) == 1 && !s.limited:
		return line[0].label + ": " + line[0].figure + "."
	case what == "":
		return ""
	}
	slices.SortStableFunc(line, func(a, b point) int {
		if least {
			a, b = b, a
		}
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return 0
	})
	return s.most(line, what, least)
}

// point is a row with one figure.
type point struct {
	label  string
	value  float64
	figure string
}

// numbered reports whether short numbers name the rows, which need not be what they seem: months, floors, grades.
func numbered(line []point) bool {
	return !slices.ContainsFunc(line, func(p point) bool { return !shortNumber.MatchString(p.label) })
}

var shortNumber = regexp.MustCompile(`^\d{1,3}$`)

// line are the rows with a figure, in their order; nil where the first of a sorted list has none.
func (s answer) line(by, of int) (line []point) {
	for i, row := range s.Rows {
		value, ok := number(row[of])
		if !ok && i == 0 && s.limited {
			return nil
		}
		if ok {
			line = append(line, point{label(row[by]), value, figure(row[of])})
		}
	}
	return line
}

// named is what the figures of a column are: "total amount"; "" where nothing says it.
func (s answer) named(of int) string {
	if m := s.measure(); m != nil {
		return m.most
	}
	if !plainName.MatchString(s.Columns[of]) {
		return ""
	}
	what := spoken(s.Columns[of])
	for _, word := range []string{"highest", "lowest", "max", "min", "most", "least", "top", "count"} {
		if slices.Contains(strings.Fields(what), word) {
			return ""
		}
	}
	return what
}

// most says which rows have the most of what is named.
func (s answer) most(line []point, what string, least bool) string {
	top := 1
	for top < len(line) && line[top].value == line[0].value {
		top++
	}
	word := "highest "
	if least {
		word = "lowest "
	}
	m := s.measure()
	counts := m != nil && m.rows != ""
	switch {
	case top == len(line) && top > 1 && s.limited:
		return "" // others may have as many
	case top == len(line) && top > 1:
		return "All " + words.Thousands(top) + " have the same: " + line[0].figure + "."
	case top > 2:
		return capital(word + what + ": " + line[0].figure + ", shared by " + words.Thousands(top) + ".")
	case top == 2 && counts:
		return line[0].label + " and " + line[1].label + " have the " + extreme(least) + ": " + line[0].figure + " each."
	case top == 2:
		return capital(word + what + ": " + line[0].label + " and " + line[1].label + ", " + line[0].figure + " each.")
	}

	then := ""
	if len(line) > 1 && (len(line) == 2 || line[1].value != line[2].value) {
		then = line[1].label
	}
	if counts {
		text := line[0].label + " has the " + extreme(least) + ": " + line[0].figure + s.part(line)
		if then != "" {
			text += ", then " + then + " with " + line[1].figure
		}
		return text + "."
	}
	text := capital(word+what) + ": " + line[0].label + ", " + line[0].figure
	if then != "" {
		text += "; then " + then + ", " + line[1].figure
	}
	return text + "."
}

func extreme(least bool) string {
	if least {
		return "fewest"
	}
	return "most"
}

// part is the share of the first row in all rows; "" where the rows do not add up to a whole.
func (s answer) part(line []point) string {
	m := s.measure()
	if s.limited || !m.added || len(s.facts.from) != 1 || len(s.facts.having) > 0 || len(line) != len(s.Rows) || len(line) < 2 {
		return ""
	}
	var whole float64
	for _, p := range line {
		whole += p.value
	}
	return " of " + figure(whole) + " (" + share(line[0].value, whole) + ")"
}
