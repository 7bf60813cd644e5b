package summary

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// answer is a statement with its rows.
type answer struct {
	*result.Table
	facts     facts
	known     bool // the statement was read
	statement *sqltext.Statement
	outline   sqlshape.Outline
	spans     []string // as periods.Spans
	now       time.Time
	ends      func(table, column string) (least, most any, values int64)
	also      string // what stands behind a row where one behind the limit is equal in the order

	limited bool    // it may leave rows out
	sorted  sorting // the first term of its ORDER BY
	ranks   bool    // a window ranks or accumulates rows
	columns []column
}

// column is how the values of a column are written.
type column struct {
	result.Texts
	name    string
	item    string // its expression; "": not known
	percent bool
	times   bool   // its times are compared
	key     string // what its keys are of: "shipment"
	span    string // the part of a time within a larger one: "month of the year"
	flag    flag   // what it says of a row, where all values are true, false or missing
}

// names reports whether the numbers of a column name something, and are no amounts.
func (c column) names() bool { return c.key != "" || c.span != "" || c.flag != (flag{}) }

// newAnswer reads a statement and its rows.
func newAnswer(d sqltext.Dialect, sql string, t *result.Table) answer {
	s := answer{statement: d.Parse(sql)}
	marked := *t
	marked.Types = make([]result.Type, len(t.Columns))
	copy(marked.Types, t.Types)
	periods.Mark(s.statement, &marked)
	s.Table = marked.Shown()
	s.facts, s.known = read(d, sql)
	s.outline, s.spans = s.statement.Outline(), periods.Spans(s.statement, t.Columns)
	if len(s.outline.Items) != len(s.Columns) {
		s.outline.Items = nil
		for _, name := range s.Columns {
			s.outline.Items = append(s.outline.Items, sqlshape.SelectItem{Column: name})
		}
	}
	if !s.known || len(s.facts.items) != len(s.Columns) {
		s.facts.items = make([]item, len(s.Columns))
	}
	s.sorted = s.sorting()
	s.namePeriods()
	s.joinMonths()
	s.joinNames()
	s.limited = s.facts.limit != "" || !s.known && (limit.MatchString(sql) || limiting.MatchString(sql))
	s.ranks = ranking.MatchString(sql)
	for i, name := range s.Columns {
		it := s.facts.items[i]
		c := column{name: name, item: s.outline.Items[i].Text, Texts: s.Texts(i), key: it.column.keyFor(), span: it.span,
			flag: s.flagOf(i, it)}
		if c.percent = s.isPercent(i, c); !s.Types[i].Share && computed.MatchString(c.item) {
			c.Texts = s.round(i)
		} else {
			c.Texts = s.Texts(i) // of shares too
		}
		switch {
		case s.kind(i) != figures:
			c.key = ""
		case c.key == "" && s.plainGroup(i, it):
			c.key = it.words
		}
		if partOf(c.span, "1") == "" || !s.withinYear(it.column) {
			c.span = ""
		}
		c.times = s.compares(i)
		s.columns = append(s.columns, c)
	}
	return s
}

// namePeriods makes periods of the days of a column that is named after a larger one, as in a calendar of first days.
// Days that do not begin one are not days either: the figures of month_end are those of a month.
func (s *answer) namePeriods() {
	for i, name := range s.Columns {
		if !periodName.MatchString(name) {
			continue
		}
		grain := lastWord(periodTail.ReplaceAllString(spoken(name), ""))
		larger := slices.Contains([]string{"year", "quarter", "month", "week"}, grain)
		if larger && (s.Types[i].Grain == "" || s.Types[i].Grain == "day") && s.hasDays(i) {
			s.Types[i].Grain = "unknown"
			if s.begins(i, grain) {
				s.Types[i].Grain = grain
			}
		}
	}
}

// hasDays reports whether all values of a column are days, or times.
func (s *answer) hasDays(i int) bool {
	days := 0
	for _, row := range s.Rows {
		text, _ := row[i].(string)
		if _, ok := periods.ReadTime(text); !ok && row[i] != nil {
			return false
		} else if ok {
			days++
		}
	}
	return days > 0
}

// begins reports whether all days of a column begin a period of a grain. Weeks begin with one weekday.
func (s *answer) begins(i int, grain string) bool {
	of, weekdays := result.Type{Grain: grain}, map[time.Weekday]bool{}
	for _, row := range s.Rows {
		at, ok := of.Period(row[i])
		if !ok && row[i] != nil {
			return false
		} else if ok {
			weekdays[at.Weekday()] = true
		}
	}
	return grain != "week" || len(weekdays) == 1
}

var (
	periodName = regexp.MustCompile(`(?i)year|quarter|month|week`)
	periodTail = regexp.MustCompile(` (start|begin|end|date|day)$`)
)

// joinMonths makes one column of months of a column of years and one of the months or quarters of the same times.
func (s *answer) joinMonths() {
	years := slices.IndexFunc(s.Types, func(t result.Type) bool { return t.Grain == "year" })
	for i, span := range s.spans {
		grain, part := strings.CutSuffix(span, " of the year")
		form := map[string]string{"month": "%s-%02d", "quarter": "%s-Q%d"}[grain]
		same := years >= 0 && s.facts.items[years].column == s.facts.items[i].column
		joined := same && part && form != "" && s.join(years, i, func(row []any) string {
			year, ok := result.Type{Grain: "year"}.Period(row[years])
			n, err := strconv.Atoi(strings.TrimSuffix(label(row[i]), ".0"))
			if !ok || err != nil || n < 1 || n > 12 {
				return ""
			}
			return fmt.Sprintf(form, year.Format("2006"), n)
		})
		if joined {
			if i < years {
				years--
			}
			s.Types[years].Grain = grain
			return
		}
	}
}

// joinNames makes one column of the two names by which figures are grouped: "Ann / books", and "Ann Lee" of a first and
// a last name.
func (s *answer) joinNames() {
	if !s.known || len(s.facts.measures) == 0 {
		return
	}
	var at []int
	for i, it := range s.facts.items {
		_, period := s.periodOf(i)
		switch {
		case it.measure != nil:
		case s.kind(i) != names || period || it.span != "":
			return
		default:
			at = append(at, i)
		}
	}
	if len(at) != 2 {
		return
	}

	if currency.MatchString(spoken(s.Columns[at[0]])) || currency.MatchString(spoken(s.Columns[at[1]])) {
		return
	}
	first, last := s.facts.items[at[0]], s.facts.items[at[1]]
	between := " / "
	if strings.HasSuffix(first.words, "first name") && strings.HasSuffix(last.words, "last name") {
		between = " "
	}
	s.join(at[0], at[1], func(row []any) string {
		a, b := first.label(row[at[0]]), last.label(row[at[1]])
		if a == "" || b == "" {
			return ""
		}
		return a + between + b
	})
}

// join makes one column of two, where each row has a text for both; it is the first one.
func (s *answer) join(one, other int, text func(row []any) string) bool {
	texts := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		if texts[i] = text(row); texts[i] == "" {
			return false
		}
	}
	for i, row := range s.Rows {
		row[one] = texts[i]
	}
	s.drop(other)
	return true
}

// label is a value of a term of the select list: "active" for true of a flag.
func (it item) label(v any) string {
	if f := it.column.flag(); f != (flag{}) && (truthOf(v) == "yes" || truthOf(v) == "no") {
		return f.value(v)
	}
	if v == nil && it.words != "" {
		return "no " + it.words
	}
	return label(v)
}

// periodOf is the period of the first value of a column.
func (s *answer) periodOf(i int) (periods.Moment, bool) {
	for _, row := range s.Rows {
		if row[i] != nil {
			return s.period(i, row[i])
		}
	}
	return periods.Moment{}, false
}

// drop takes a column out of the rows and of what is known of them.
func (s *answer) drop(column int) {
	without := func(n int) bool { return n == column }
	switch {
	case s.sorted.item == column:
		s.sorted.item = -1
	case s.sorted.item > column:
		s.sorted.item--
	}
	s.Columns, s.Types = omit(s.Columns, without), omit(s.Types, without)
	s.outline.Items, s.spans = omit(s.outline.Items, without), omit(s.spans, without)
	s.facts.items = omit(s.facts.items, without)
	for i, row := range s.Rows {
		s.Rows[i] = omit(row, without)
	}
}

// omit is a copy of a list without some of its places.
func omit[T any](list []T, out func(int) bool) (kept []T) {
	for i, v := range list {
		if !out(i) {
			kept = append(kept, v)
		}
	}
	return kept
}

// computed are expressions whose digits a division makes.
var computed = regexp.MustCompile(`(?i)\bavg\s*\(|/`)

// round leaves the figures of a column two digits behind the point, or four where all are below one.
func (s answer) round(column int) result.Texts {
	scale := 10_000.0
	for _, row := range s.Rows {
		if f, ok := number(row[column]); ok && math.Abs(f) >= 1 {
			scale = 100
		}
	}
	s.Types[column] = result.Type{Kind: result.KindFloat}
	for _, row := range s.Rows {
		f, ok := number(row[column])
		if rounded := math.Round(scale*f) / scale; ok && (rounded != 0 || f == 0) {
			row[column] = rounded
		}
	}
	return s.Texts(column)
}

// Words of statements that leave rows out, LIMIT and FETCH aside, and those of windows over some of the rows, and of
// running totals, which compare columns by <, and those of groups that count rows again.
var (
	limiting = regexp.MustCompile(`(?i)\b(offset|top|sample|tablesample|rownum|rowcount|qualify)\b`)
	limit    = regexp.MustCompile(`(?i)\b(limit|fetch)\b`)
	ranking  = regexp.MustCompile("(?i)\\b(rollup|cube|grouping\\s+sets)\\b|\\bover\\b\\s*(?:[^\\s(]|\\(\\s*[^\\s)])|" +
		"[a-z_]\\w*[\"`]?\\s*[<>]=?\\s*[\"`]?[a-z_]\\w*[\"`]?\\.")
)

// firstRows reports whether a limit keeps the first rows of the outer order, and nothing else leaves rows out.
func (s answer) firstRows() bool {
	for _, q := range s.statement.Selects() {
		if q.Nested && q.Limit != "" || strings.Contains(q.Limit, ",") {
			return false
		}
	}
	return (s.outline.Limit || s.facts.limit != "") && len(s.outline.SetOps) == 0 &&
		!limiting.MatchString(s.statement.SQL())
}

// sortTerm is a term of ORDER BY without its direction.
var sortTerm = regexp.MustCompile(`(?is)^(.*?)(?:\s+(asc|desc))?(?:\s+nulls\s+(?:first|last))?\s*$`)

// sorting is the first term of ORDER BY, with the column that it sorts by; -1: another one.
func (s answer) sorting() sorting {
	if len(s.outline.OrderBy) == 0 {
		return sorting{item: -1}
	}
	m := sortTerm.FindStringSubmatch(s.outline.OrderBy[0])
	term := sorting{slices.IndexFunc(s.outline.Items, func(it sqlshape.SelectItem) bool {
		return strings.EqualFold(it.Alias, bare(m[1])) || strings.EqualFold(it.Text, m[1])
	}), strings.EqualFold(m[2], "desc")}
	if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n <= len(s.outline.Items) {
		term.item = n - 1
	}
	return term
}

var shareName = regexp.MustCompile(`(?i)(^|[_ ])(pct|perc|percent|percentage|share|rate|ratio|fraction|proportion)([_ ]|$)`)

// rateName are names of what is a percentage of another thing.
var rateName = regexp.MustCompile(`(?i)\b(percent|percentage|perc|pct|share|rate|ratio|fraction|proportion|growth|change|` +
	`increase|decrease|margin|markup|discount|conversion|utili[sz]ation|occupancy|coverage|churn|retention|roi|ctr)\b`)

// isPercent reports whether figures are parts of a hundred, or of one. It marks those of one that the statement alone
// shows.
func (s answer) isPercent(i int, c column) bool {
	if !c.Numeric || c.item == "" || perHundred.MatchString(c.name) {
		return false
	}
	m := s.measureOf(i)
	part := m != nil && strings.HasPrefix(m.noun, "share of ")
	named := part || rateName.MatchString(spoken(c.name))
	if (part || strings.Contains(c.item, "/")) && periods.IsPercent(c.item, named) {
		return true
	}
	apart := func(row []any) bool { f, ok := number(row[i]); return ok && (f < 0 || f > 1) }
	s.Types[i].Share = s.Types[i].Share || part && !slices.ContainsFunc(s.Rows, apart)
	return s.Types[i].Share
}

// figure writes a number of a column.
func (s answer) figure(i int, v any) string {
	c := s.columns[i]
	_, ok := number(v)
	switch {
	case c.times:
		return spokenMoment(s.Types[i], v)
	case !ok:
		return ""
	case c.percent && !s.Types[i].Share:
		return c.Text(v) + " %"
	}
	return c.Text(v)
}

// label writes a value that names a row of a column.
func (s answer) label(i int, v any) string {
	c := s.columns[i]
	if v == nil {
		return s.unnamed(i)
	}
	if at, ok := s.period(i, v); ok {
		return at.String()
	}
	if c.flag != (flag{}) {
		return c.flag.value(v)
	}
	if _, isNumber := number(v); isNumber && c.key != "" {
		return c.key + " " + label(v)
	}
	if part := partOf(c.span, label(v)); part != "" {
		return part
	}
	if s.spans[i] == "week" && plainPeriod(v).Grain == "month" {
		return "week " + label(v)
	}
	return label(v)
}

// unnamed are the rows without a value of a column: "those without region".
func (s answer) unnamed(i int) string {
	what := cmp.Or(s.columns[i].key, s.facts.items[i].words)
	if what == "" || strings.ContainsAny(what, "×÷−+“") {
		what = s.called(i)
	}
	switch {
	case s.columns[i].flag != (flag{}):
		return "unknown"
	case what == "":
		return label(nil)
	}
	return "those without " + what
}

// plainGroup reports whether figures are grouped by the whole numbers of a column, as of floors, which are not parts of
// a time.
func (s answer) plainGroup(i int, it item) bool {
	more := func(row []any) bool { return truthOf(row[i]) == "" } // than 0 and 1, which may say yes and no
	plain := it.measure == nil && it.span == "" && it.column.name != "" && len(s.facts.measures) > 0
	if !plain || it.column.of == nil || !it.column.of.sure || !slices.ContainsFunc(s.Rows, more) {
		return false
	}
	return !keyed.MatchString(it.column.name) && !isMoment(it.words)
}

// flagOf is the flag of a column, if all of its values are true, false or missing.
func (s answer) flagOf(i int, it item) (f flag) {
	odd := func(row []any) bool { return truthOf(row[i]) == "" }
	if it.measure != nil || it.column.name == "" || it.span != "" || slices.ContainsFunc(s.Rows, odd) {
		return f
	}
	return it.column.flag()
}

// value is the value of a flag in words: "active", "not active", "with parking".
func (f flag) value(v any) string {
	yes := truthOf(v) == "yes"
	text, _ := f.says("", yes)
	return text
}

// withinYear reports whether the bounds of the statement leave at most one year of a column: each month of it is one
// period.
func (s answer) withinYear(c columnRef) bool {
	from, until := s.facts.rangeOf(c).Exact(false)
	return !from.IsZero() && !until.IsZero() && len(s.statement.Selects()) == 1 && !until.After(from.AddDate(1, 0, 0))
}

// partOf names a month or a quarter of a year by its number; "" for any other part of a time.
func partOf(span, text string) string {
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	switch {
	case err != nil || n < 1:
		return ""
	case span == "month of the year" && n <= 12:
		return time.Month(n).String()
	case span == "quarter of the year" && n <= 4:
		return "Q" + strconv.Itoa(n)
	}
	return ""
}

// period is the period that a value of a column names.
func (s answer) period(i int, v any) (periods.Moment, bool) {
	of := s.Types[i]
	if of.Grain == "" {
		of = plainPeriod(v)
		day := of.Grain == "day" && s.outline.Items[i].Column == ""
		if of.Grain == "" || day || of.Grain == "month" && s.spans[i] == "week" {
			return periods.Moment{}, false
		}
	}
	at, ok := of.Period(v)
	return periods.Moment{At: at, Grain: of.Grain}, ok
}

// plainPeriod is the type of a text that is a day, a month or a quarter by its form.
func plainPeriod(v any) (of result.Type) {
	if text, _ := v.(string); len(text) > len(time.DateOnly) {
		return of
	}
	for _, grain := range []string{"day", "month", "quarter"} {
		of.Grain = grain
		if _, isText := v.(string); isText {
			if _, ok := of.Period(v); ok {
				return of
			}
		}
	}
	return result.Type{}
}

// measureOf is the measure of a column; nil: it has none, or is not known.
func (s answer) measureOf(i int) *measure { return s.facts.items[i].measure }

// counts reports whether a column counts rows.
func (s answer) counts(i int) bool {
	if m := s.measureOf(i); m != nil {
		return m.rows != ""
	}
	return countOf.MatchString(s.columns[i].item)
}

var countOf = regexp.MustCompile(`(?i)^count\s*\((\s*\*\s*|[\w."` + "`" + `\s]+)\)$`)

// addsUp reports whether the counts of a column are the parts of a whole: of one table, of which no row is left out or
// repeated.
func (s answer) addsUp(i int) bool {
	if s.limited || s.outline.Having || len(s.outline.SetOps) > 0 || s.ranks {
		return false
	}
	if m := s.measureOf(i); m != nil {
		return m.added && len(s.facts.from) == 1
	}
	selects := s.statement.Selects()
	return !s.known && len(selects) == 1 && len(selects[0].Tables) == 1 && !selects[0].Distinct && len(s.Columns) == 2 &&
		len(selects[0].GroupBy) == 1 && countOf.MatchString(s.columns[i].item) &&
		!strings.Contains(strings.ToUpper(s.columns[i].item), "DISTINCT")
}

// keyed is the name of a column whose numbers name something, and are no amounts.
var keyed = regexp.MustCompile(
	`(?i:(^|_)(id|ids|key|code|sku|zip|postcode|postal|phone|no|nr|number|lat|lon|latitude|longitude|rank|position|` +
		`isbn|ean|upc|gtin|imei|barcode|serial|prefix|port|account|year|quarter|month|week|day|hour)$)|[a-z]I[Dd]$`)

// placeName is the name of a column of places on earth, which name no rows.
var placeName = regexp.MustCompile(`(?i)(^|_)(lat|lon|latitude|longitude)$`)

// roles finds the one column that names the rows, and the one with the figures that order them, or the first one. Keys
// count for neither. ok is false where there are other columns, and where two rows have one name.
func (s answer) roles() (by, of int, ok bool) {
	by, of = -1, -1
	year, key := -1, -1 // or another part of a time, as a number
	for i, name := range s.Columns {
		part := s.facts.items[i].span != "" || s.Types[i].Grain != "" || s.columns[i].flag != (flag{})
		switch kind := s.kind(i); {
		case kind == figures && s.columns[i].key != "":
			key = i
		case kind == figures && (keyed.MatchString(name) || part):
			if year < 0 && !strings.HasSuffix(spoken(name), "id") && !placeName.MatchString(name) {
				year = i
			}
		case kind == figures:
			if of < 0 || s.sorted.item == i {
				of = i
			}
		case kind == names && by < 0:
			by = i
		default:
			return -1, -1, false
		}
	}
	switch years := year >= 0 && s.lists() && s.sorted.item == year; {
	case by < 0:
		by = year
	case of < 0 && years:
		of = year
	}
	if key >= 0 && (by < 0 || s.lists() && s.facts.items[by].column.stamp.is) {
		by = key
	}
	if by < 0 || of < 0 {
		return -1, -1, false
	}

	seen := map[string]bool{}
	for _, row := range s.Rows {
		name := s.label(by, row[by])
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
	if column < len(s.columns) && s.columns[column].times {
		return figures
	}
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

// plainName is the name of a column that a person chose.
var (
	plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z_ ]{2,39}$`)
	areaName  = regexp.MustCompile(`(_(?:km|m|cm|mm|ft|mi))[23]$`)
)

// percentWords are names of columns of percentages.
var percentWords = strings.NewReplacer("percentage", "percentage", "percent", "percentage", "pct", "percentage", "perc",
	"percentage")

// called is the name of a column in words; "" where it says nothing.
func (s answer) called(i int) string {
	if !plainName.MatchString(areaName.ReplaceAllString(s.Columns[i], "$1")) {
		return ""
	}
	name := spoken(s.Columns[i])
	if s.columns[i].percent {
		name = percentWords.Replace(name)
	}
	return name
}
