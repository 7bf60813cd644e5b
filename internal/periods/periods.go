// Package periods reads times in statements: how an expression cuts one ([Cut]), which bounds a comparison sets to it
// ([Compare]), which columns of a result are periods ([Mark]): the months of date_trunc('month', t), where the values
// confirm it; and which are shares ([MarkShares]): the quotients that a question asks for.
package periods

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// Bucket says how an expression cuts a time.
type Bucket struct {
	Span    string          // the part in words: "month", "month of the year", "weekday"; "": it is not known
	Grain   string          // as [result.Type.Grain]; "": the values are no periods, or only they tell
	Of      []sqltext.Token // the column that is cut; nil: a shifted one, a computed one, or one in another zone
	Confirm bool            // a function that is not known makes it: values on boundaries tell its grain
}

// Cut returns how an expression cuts a time.
func Cut(d sqltext.Dialect, expression []sqltext.Token) Bucket {
	return reader{d: d}.expression(expression)
}

// Mark sets the grain of each column of t that s cuts a time into, and marks its shares. A column with a value that is
// not such a period has none. Without rows the statement alone decides.
func Mark(s *sqltext.Statement, t *result.Table) {
	MarkShares(s, "", t)
	for i, b := range of(s) {
		if i >= len(t.Types) {
			return
		}
		grains := []string{b.Grain}
		if b.Confirm {
			grains = finer[:3]
		}
		for _, grain := range grains {
			if grain != "" && (!b.Confirm && len(t.Rows) == 0 || confirmed(t, i, grain, b.Confirm)) {
				t.Types[i].Grain = grain
				break
			}
		}
	}
}

// confirmed reports whether all values of a column but NULL are periods of a grain. A grain that only values tell takes
// two of them, which are texts.
func confirmed(t *result.Table, column int, grain string, alone bool) bool {
	of, found := result.Type{Grain: grain}, map[any]bool{}
	for _, row := range t.Rows {
		if row[column] == nil {
			continue
		}
		at, ok := of.Period(row[column])
		if _, text := row[column].(string); !ok || alone && !text {
			return false
		}
		found[at] = true
	}
	return len(found) > 1 || len(found) == 1 && !alone
}

// of are the buckets of the columns of a statement; nil where its list cannot be read.
func of(s *sqltext.Statement) []Bucket {
	selects := s.Selects()
	outer := slices.IndexFunc(selects, func(q sqlshape.Select) bool { return !q.Nested })
	if outer < 0 || slices.ContainsFunc(selects[outer].Items, func(it sqlshape.SelectItem) bool { return it.Star }) {
		return nil
	}
	r := &reader{d: s.Dialect(), selects: selects}
	var all []Bucket
	for _, it := range selects[outer].Items {
		all = append(all, r.item(it, outer, 0))
	}
	return all
}

// Spans returns the part of a time that each column of a result is; "": none, or it is not known. A column whose name
// says so has weeks, unless its expression makes another part.
func Spans(s *sqltext.Statement, columns []string) []string {
	all, made := make([]string, len(columns)), of(s)
	for i, name := range columns {
		if len(made) == len(columns) {
			all[i] = made[i].Span
		}
		if all[i] == "" && weekly.MatchString(name) {
			all[i] = "week"
		}
	}
	return all
}

// reader reads the items of the SELECTs of one statement.
type reader struct {
	d       sqltext.Dialect
	selects []sqlshape.Select
	looks   int // at items of nested SELECTs
}

// maxDepth is how many SELECTs deep a name is followed, and maxLooks how many items are looked at. A statement that
// takes more has no buckets behind them.
const (
	maxDepth = 4
	maxLooks = 10_000
)

// item is the bucket of an item of a SELECT. A plain column is that of the nested SELECT that makes it, where there is
// one.
func (r *reader) item(it sqlshape.SelectItem, in, depth int) Bucket {
	if it.Column == "" {
		return r.expression(slices.Collect(r.d.Parse(it.Text).Tokens()))
	}
	var made []Bucket
	for i, q := range r.selects {
		for _, inner := range q.Items {
			if r.looks++; r.looks > maxLooks {
				return Bucket{}
			}
			named := strings.EqualFold(inner.Alias, it.Column) || inner.Alias == "" && strings.EqualFold(inner.Column, it.Column)
			if i != in && q.Nested && depth < maxDepth && named {
				made = append(made, r.item(inner, i, depth+1))
			}
		}
	}
	if len(made) == 0 || slices.ContainsFunc(made, func(b Bucket) bool { return b.Grain != made[0].Grain }) {
		return Bucket{}
	}
	return made[0]
}

// Parts of a time, by what names them.
var (
	units = words.Pairs(
		`year year years year yyyy year quarter quarter qtr quarter month month months month mon month mm month week week
		weeks week isoweek week day day days day hour hour hours hour dow weekday isodow weekday`)
	formats = words.Pairs(
		`%Y year %G year %q quarter %Q quarter %m month %b month %B month %W week %U week %V week %d day %e day %H hour
		%I hour %k hour %w weekday %u weekday YYYY year IYYY year IW week WW week Q quarter MONTH month MON month MM month
		DD day HH24 hour HH hour DAY weekday DY weekday`)
	lengths = words.Pairs("1,4 year 1,7 month 1,10 day 4 year 7 month 10 day")
	// larger are the times of which a part without its year is one.
	larger = words.Pairs("quarter _of_the_year month _of_the_year week _of_the_year day _of_the_month hour _of_the_day")
	// finer are the parts, each within those before it.
	finer = strings.Fields("year quarter month week day hour")

	percentPart = regexp.MustCompile(`%.`)
	letterPart  = regexp.MustCompile(`YYYY|MONTH|MON|MM|Q|DDD|DD|HH24|HH12|HH|MI|SS|IW|WW|IYYY|YY|W|DY|DAY`)
)

// Functions, by what they do with a time.
var (
	// cutting functions have an argument that names the part: a unit as date_trunc('month', t), a part as
	// extract(month FROM t), a format as strftime('%Y-%m', t), a length as substr(t, 1, 7).
	cutting = words.Pairs(
		`DATE_TRUNC unit DATETIME_TRUNC unit TIMESTAMP_TRUNC unit TRUNC unit TIME_BUCKET unit DATE_BIN unit
		DATETIME_BUCKET unit TIMESTAMP_BUCKET unit EXTRACT part DATE_PART part STRFTIME format
		TO_CHAR format DATE_FORMAT format FORMAT_DATE format FORMAT_TIMESTAMP format FORMAT_DATETIME format FORMATDATETIME format
		SUBSTR length SUBSTRING length LEFT length`)
	// single functions cut one part.
	single = words.Pairs(
		`YEAR year QUARTER quarter_of_the_year MONTH month_of_the_year MONTHNAME month_of_the_year DAYOFMONTH day_of_the_month
		DAYOFWEEK weekday DAYNAME weekday HOUR hour_of_the_day`)
	// neutral make no period of a time that is none: they shift it, choose it, or change its type.
	neutral = words.Set(
		`COALESCE IFNULL NULLIF NVL MIN MAX ANY_VALUE FIRST LAST FIRST_VALUE LAST_VALUE LAG LEAD DATE_ADD DATE_SUB ADDDATE
		SUBDATE DATEADD ADD_MONTHS TIMESTAMPADD DATE DATETIME TIMESTAMP CAST TRY_CAST SAFE_CAST TO_DATE TO_TIMESTAMP TIMEZONE CONVERT_TZ
		UPPER LOWER TRIM IF IIF GREATEST LEAST SUBSTRING NOW CURRENT_DATE JULIANDAY STR_TO_DATE UNNEST IN AND OR VALUES OVER`)
	// choosing return one of their arguments.
	choosing = words.Set("COALESCE IFNULL NULLIF MIN MAX ANY_VALUE TIMEZONE")
)

// expression is the bucket of an expression.
func (r reader) expression(tokens []sqltext.Token) Bucket {
	tokens, day := bare(tokens)
	if isColumn(tokens) {
		if day {
			return Bucket{Span: "day", Grain: "day", Of: tokens}
		}
		return Bucket{}
	}
	if name, args := call(tokens); name != "" {
		if b, known := r.function(name, args); known {
			return b
		}
	}
	b := Bucket{Confirm: !day && unknown(tokens)}
	if b.Confirm && slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return weekly.MatchString(t.Text) }) {
		b = Bucket{Span: "week"} // whose numbers look like those of months
	}
	return b
}

// weekly is a part of an expression that makes a week, or of the name of a column of weeks.
var weekly = regexp.MustCompile(`(?i)week|wk|%[uvw]|\b(IW|WW)\b`)

// bare takes brackets and casts away. day: a cast made a day of it.
func bare(tokens []sqltext.Token) (_ []sqltext.Token, day bool) {
	for {
		n := len(tokens)
		switch {
		case n > 2 && tokens[n-2].Text == "::":
			day = day || strings.EqualFold(tokens[n-1].Text, "DATE")
			tokens = tokens[:n-2]
		case n > 4 && strings.EqualFold(tokens[n-4].Text, "AT") && strings.EqualFold(tokens[n-2].Text, "ZONE"):
			tokens = tokens[:n-4]
		case n > 5 && slices.Contains([]string{"CAST", "TRY_CAST", "SAFE_CAST"}, strings.ToUpper(tokens[0].Text)) &&
			Closes(tokens, 1) == n-1:
			as := lastWord(tokens, "AS")
			if as < 2 {
				return tokens, day
			}
			day = day || strings.EqualFold(tokens[as+1].Text, "DATE")
			tokens = tokens[2:as]
		case n > 2 && tokens[0].Text == "(" && Closes(tokens, 0) == n-1:
			tokens = tokens[1 : n-1]
		default:
			return tokens, day
		}
	}
}

// Closes returns the place of the bracket that closes the one at open; -1: there is none.
func Closes(tokens []sqltext.Token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i].Text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func lastWord(tokens []sqltext.Token, word string) int {
	for i := len(tokens) - 1; i >= 0; i-- {
		if strings.EqualFold(tokens[i].Text, word) {
			return i
		}
	}
	return -1
}

// isColumn reports whether tokens are the name of a column, with its qualifier or without.
func isColumn(tokens []sqltext.Token) bool {
	for i, t := range tokens {
		name := t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName
		if name != (i%2 == 0) || !name && t.Text != "." {
			return false
		}
	}
	return len(tokens)%2 == 1
}

// call is a function with its arguments, where the tokens are one call.
func call(tokens []sqltext.Token) (name string, args [][]sqltext.Token) {
	if len(tokens) < 3 || tokens[0].Kind != sqltext.Word || tokens[1].Text != "(" || Closes(tokens, 1) != len(tokens)-1 {
		return "", nil
	}
	depth, from := 0, 2
	for i, t := range tokens {
		switch text := t.Text; {
		case i < 2:
		case text == "(":
			depth++
		case depth == 0 && (text == "," || i == len(tokens)-1):
			args = append(args, tokens[from:i])
			from = i + 1
		case text == ")":
			depth--
		}
	}
	return strings.ToUpper(tokens[0].Text), args
}

// function is the bucket of a call of a function that is known.
func (r reader) function(name string, args [][]sqltext.Token) (b Bucket, known bool) {
	if len(args) == 0 || len(args[0]) == 0 {
		return b, false
	}
	switch {
	case single[name] != "" && len(args) == 1:
		return bucket(single[name], args[0]), true
	case cutting[name] != "":
		return r.cut(name, args), true
	case name == "DATE" || name == "DATETIME":
		return r.date(name, args)
	case choosing[name]:
		b = r.expression(args[len(args)-1])
		if name != "TIMEZONE" {
			b = r.expression(args[0])
		}
		b.Of = nil
		return b, true
	}
	return b, false
}

// bucket is a part of what an argument is. A part of a larger one is no period.
func bucket(span string, of []sqltext.Token) Bucket {
	b := Bucket{Span: span}
	if slices.Contains(finer, span) {
		b.Grain = span
	}
	if plain, _ := bare(of); isColumn(plain) && lastWord(of, "ZONE") < 0 {
		b.Of = plain
	}
	return b
}

// cut is the bucket of a function that tells which part it cuts.
func (r reader) cut(name string, args [][]sqltext.Token) (b Bucket) {
	how, by := cutting[name], 0
	if first := args[0]; name == "EXTRACT" && len(first) > 2 {
		args = [][]sqltext.Token{first[:1], first[2:]}
	} else if how != "part" && first[0].Kind != sqltext.String && !strings.EqualFold(first[0].Text, "interval") {
		by = 1
	}
	if len(args) < 2 || len(args) > 2 && how == "part" {
		return b
	}
	told, unit, of := r.constant(args[by]), r.unit(args[by]), args[1-by]
	switch how {
	case "unit":
		b = bucket(unit, of)
	case "part":
		b = bucket(unit+larger[unit], of)
	case "format":
		if name == "DATE_FORMAT" {
			told = ofMySQL.Replace(told)
		}
		if b = bucket(formatted(told), of); b.Span == "week" {
			b.Grain = "" // engines number weeks in different ways
		}
	case "length":
		if len(args) == 3 {
			told += "," + r.constant(args[2])
		}
		b = bucket(lengths[told], of)
		b.Grain, b.Confirm = "", name != "SUBSTRING"
		return b
	}
	if len(args) > 2 {
		b.Of = nil
	}
	return b
}

// ofMySQL writes a format of MySQL and Trino as strftime has it.
var ofMySQL = strings.NewReplacer("%W", "%w", "%a", "%w", "%M", "%m", "%u", "%W", "%v", "%W", "%x", "%Y", "%X", "%Y")

// date is the bucket of SQLite's functions of days, which modifiers shift. A weekday alone is the end of a week.
func (r reader) date(name string, args [][]sqltext.Token) (b Bucket, known bool) {
	if len(args) == 1 && name == "DATE" {
		if b = r.expression(args[0]); b.Grain == "" && !b.Confirm {
			b = bucket("day", args[0])
		}
		return b, true
	}
	week, back := false, false
	for _, arg := range args[1:] {
		text := r.constant(arg)
		week, back = week || strings.HasPrefix(text, "weekday "), back || strings.HasPrefix(text, "-")
		if span, start := strings.CutPrefix(text, "start of "); start && len(args) == 2 {
			return bucket(span, args[0]), true
		}
	}
	if week && back {
		return Bucket{Span: "week", Grain: "week"}, true
	}
	return b, false
}

// unit is the grain that an argument names: a word, or an interval of its length.
func (r reader) unit(tokens []sqltext.Token) string {
	var parts []string
	for i := range tokens {
		parts = append(parts, r.constant(tokens[i:]))
	}
	text := strings.TrimPrefix(strings.ToLower(strings.Join(parts, " ")), "interval ")
	if strings.TrimSuffix(text, "s") == "3 month" {
		return "quarter"
	}
	return units[strings.TrimPrefix(text, "1 ")]
}

// constant is the text of a string, or of a word.
func (r reader) constant(tokens []sqltext.Token) string {
	if len(tokens) == 0 {
		return ""
	}
	if tokens[0].Kind == sqltext.String {
		return r.d.Value(tokens[0])
	}
	return tokens[0].Text
}

// formatted is the part that a format names: the finest one, where it has a year, or the only one.
func formatted(format string) string {
	form := percentPart
	if !strings.Contains(format, "%") {
		form, format = letterPart, strings.ToUpper(format)
	}
	names := form.FindAllString(strings.ReplaceAll(format, "%F", "%Y-%m-%d"), -1)
	if len(names) == 1 {
		part := formats[names[0]]
		return part + larger[part]
	}
	finest, year := -1, false
	for _, name := range names {
		at := slices.Index(finer, formats[name])
		if at < 0 {
			return ""
		}
		finest, year = max(finest, at), year || at == 0
	}
	if !year {
		return ""
	}
	return finer[finest]
}

// unknown reports whether an expression calls a function that may make a period of a time.
func unknown(tokens []sqltext.Token) bool {
	for i, t := range tokens {
		switch name := strings.ToUpper(t.Text); {
		case t.Kind != sqltext.Word:
		case name == "CASE", name == "SELECT":
			return false
		case i+1 < len(tokens) && tokens[i+1].Text == "(" && !neutral[name]:
			return true
		}
	}
	return false
}
