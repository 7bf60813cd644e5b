package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// place is where a condition stands behind the rows that it narrows.
type place int

// The places, in their order.
const (
	inTime  place = iota // "created in 2023"
	ofKey                // "of customer 9"
	thatAre              // "active", behind "that are"
	marked               // "marked urgent"
	withOne              // "with orders"
	places
)

// condition is a condition in words.
type condition struct {
	text   string // "status is “open”"
	phrase string // the same behind the rows: "active"; "": it has only a text
	at     place
	bounds *bounds // of a time, which has no text yet
	absent string  // rows that must not exist
}

// says is the condition as a predicate.
func (c condition) says() string {
	if c.bounds != nil {
		return c.bounds.says()
	}
	return c.text
}

// addConditions adds conditions that all hold. Those of one time become one.
func (f *facts) addConditions(all []condition) {
	times := map[string]*bounds{}
	for _, c := range all {
		if b := c.bounds; b != nil {
			if known := times[b.column.text]; known.takes(b) {
				continue
			}
			times[b.column.text] = b
		}
	}
	for _, c := range all {
		if b := c.bounds; b != nil {
			if b.merged {
				continue
			}
			c.text, c.phrase = b.says(), b.phrase()
			f.ranges = append(f.ranges, b)
		}
		switch {
		case c.absent != "":
			f.without = append(f.without, c.absent)
			f.from = append(f.from, c.absent)
		case c.phrase != "" && c.bounds != nil && c.bounds.column.stamp.self: // behind "delivered" it would be of that time
			f.narrow[c.at] = append([]string{c.phrase}, f.narrow[c.at]...)
		case c.phrase != "":
			f.narrow[c.at] = append(f.narrow[c.at], c.phrase)
		case c.text != "":
			f.where = append(f.where, c.text)
		}
	}
}

// narrowText are the conditions that stand behind the rows.
func (f facts) narrowText() (text string) {
	for at, phrases := range f.narrow {
		if len(phrases) > 0 {
			text += map[place]string{thatAre: " that are"}[place(at)] + " " + listed(phrases, "and")
		}
	}
	return text + led(" without ", listed(f.without, "or"))
}

// with are the rows with one more condition.
func (f facts) with(phrase string, at place) string {
	f.narrow[at] = append(slices.Clip(f.narrow[at]), phrase)
	return f.rows()
}

// conditions reads conditions between AND, or between OR.
func (r *reader) conditions() (all []condition) {
	all = r.condition()
	texts, join := []string{r.texts(all)}, ""
	for !r.failed && (r.is("AND") || r.is("OR")) {
		word := strings.ToUpper(r.peek(0).Text)
		if r.at++; join != "" && word != join {
			r.fail() // what belongs together needs brackets
		}
		join = word
		more := r.condition()
		all, texts = append(all, more...), append(texts, r.texts(more))
	}
	if join != "OR" {
		return all
	}
	bounded := func(c condition) bool { return c.bounds != nil }
	r.facts.parts = r.facts.parts || slices.ContainsFunc(all, bounded)
	if slices.Contains(texts, "") {
		r.fail()
	}
	return []condition{{text: listed(texts, "or")}}
}

// texts are conditions that all hold, as one predicate; "" where one has no words.
func (r *reader) texts(all []condition) string {
	var texts []string
	for _, c := range all {
		if c.says() == "" {
			return ""
		}
		texts = append(texts, c.says())
	}
	return listed(texts, "and")
}

// condition reads one condition, or several in brackets.
func (r *reader) condition() []condition {
	switch {
	case r.readLink():
		return nil
	case r.take("NOT", "EXISTS", "("):
		return []condition{r.exists(false)}
	case r.take("EXISTS", "("):
		return []condition{r.exists(true)}
	case r.is("(") && !strings.EqualFold(r.peek(1).Text, "SELECT"):
		r.at++
		all := r.conditions()
		if r.want(")"); len(all) == 1 && strings.Contains(all[0].text, " or ") {
			all[0].text = "either " + all[0].text
		}
		return all
	case r.take("NOT"):
		v, yes := r.term(), false
		if r.take("=") {
			truth := truths[r.constant().words]
			if yes = truth == "no"; truth == "" || v.column.flag() == (flag{}) {
				r.fail()
			}
		}
		if v.column.name == "" || v.span != "" || !r.ends() {
			r.fail()
		}
		return []condition{r.sayFlag(v.column, yes)}
	}
	r.turn()
	v := r.sortable(false)
	r.facts.parts = r.facts.parts || strings.Contains(v.span, " ") || v.span == "weekday"
	if r.noteBound(v); v.filled {
		r.fail() // the text may be the one that is looked for
	}
	if t := v.column.of; t != nil && v.measure == nil && !r.is("IS", "NULL") {
		if t.left = false; t.absent && !r.outwards { // there is a row of it
			r.fail()
		}
	}
	if v.measure != nil {
		v.words = v.measure.noun
		if r.facts.only(v.measure) {
			v.words = "it"
		}
	}
	c := r.compared(v)
	if c.bounds == nil && v.measure == nil && !strings.HasSuffix(c.text, " is known") {
		r.facts.loose = append(r.facts.loose, v.column)
	}
	return []condition{c}
}

// mirrored are comparisons with their sides changed.
var mirrored = words.Pairs("= = < > > < <= >= >= <=")

// turn changes the sides of a comparison that has its constant first.
func (r *reader) turn() {
	op := mirrored[r.peek(1).Text]
	if op == "" || r.peek(0).Kind != sqltext.String || !nameToken(r.peek(2)) {
		return
	}
	end := r.at + 3
	if r.peek(3).Text == "." {
		end += 2
	}
	turned := slices.Clone(r.tokens[r.at+2 : end])
	turned = append(turned, r.tokens[r.at+1], r.tokens[r.at])
	turned[len(turned)-2].Text = op
	r.tokens = slices.Concat(r.tokens[:r.at], turned, r.tokens[end:])
}

// noteBound notes that a condition leaves out values at an end: the largest one that is left need not be the largest of
// all.
func (r *reader) noteBound(v value) {
	name := v.words
	if v.measure != nil {
		name = v.measure.noun
	}
	op := r.peek(0).Text
	both := op == "=" || op == "==" || op == "!=" || r.is("BETWEEN") || r.is("NOT") || r.is("IN")
	if both || strings.HasPrefix(op, "<") {
		r.facts.below = append(r.facts.below, name)
	}
	if both || strings.HasPrefix(op, ">") || op == "<>" {
		r.facts.above = append(r.facts.above, name)
	}
}

// only reports whether a measure is the only one of the list.
func (f facts) only(m *measure) bool {
	for _, it := range f.items {
		if it.measure != nil && it.measure.verb != m.verb {
			return false
		}
	}
	return slices.ContainsFunc(f.items, func(it item) bool { return it.measure != nil })
}

// ends reports whether a condition ends here.
func (r *reader) ends() bool {
	t := r.peek(0)
	return t.Kind == sqltext.Space || slices.Contains(ends, strings.ToUpper(t.Text)) ||
		slices.Contains([]string{"AND", "OR", ")", "THEN"}, strings.ToUpper(t.Text))
}

// readLink reads "a.x = b.y" that joins two tables by a key: such a condition has no words.
func (r *reader) readLink() bool {
	before := r.at
	a, b := r.reference(), (*columnRef)(nil)
	if a != nil && r.take("=") {
		b = r.reference()
	}
	if b == nil || a.of == b.of {
		r.at = before
		return false
	}
	inner := func(c *columnRef) bool { return slices.Contains(r.tables, c.of) }
	switch {
	case inner(a) && inner(b):
		if a.of.left, b.of.left = a.of.left && r.outwards, b.of.left && r.outwards; a.joins(*b) {
			return true
		}
		r.at = before
		return false
	case inner(b):
		a, b = b, a
	}
	r.links = append(r.links, [2]columnRef{*a, *b})
	return true
}

// reference reads a column of this statement or of the outer one; nil: none stands next, or its table is not known.
func (r *reader) reference() *columnRef {
	in, name, qualified := r, strings.ToLower(bare(r.peek(0).Text)), r.peek(1).Text == "."
	switch {
	case !r.named(), r.peek(1).Text == "(", !qualified && (r.outer == nil || len(r.tables) != 1), qualified &&
		r.peek(3).Text == ".":
		return nil
	case qualified && r.aliases[name] == nil:
		if r.outer == nil || r.outer.aliases[name] == nil {
			return nil
		}
		outer := *r.outer
		outer.at, in = r.at, &outer
	}
	c := in.column()
	r.at = in.at
	return &c
}

// exists reads the statement of EXISTS.
func (r *reader) exists(yes bool) condition {
	in := r.inner(false)
	if r.failed || len(in.links) != 1 {
		r.fail()
		return condition{}
	}
	return r.relate(in.links[0][1], in.links[0][0], in.facts.rows(), yes)
}

// inner reads a statement in brackets that lists one column, or anything, of rows.
func (r *reader) inner(one bool) *reader {
	in := &reader{d: r.d, tokens: r.tokens, at: r.at, outer: r}
	in.want("SELECT")
	in.take("DISTINCT")
	list := in.at
	in.toTables()
	tables := in.at
	in.from()
	if one {
		in.at = list
		in.facts.items = []item{{value: in.term()}}
		in.want("FROM")
	}
	in.at = tables
	in.sources(in.readJoin)
	if in.take("WHERE") {
		in.facts.addConditions(in.conditions())
	}
	in.want(")")
	if r.at = in.at; in.failed || in.subject == nil {
		r.fail()
	}
	return in
}

// listedRows are the rows of a statement behind IN, without the condition that its value is known: a missing value
// equals nothing.
func (r *reader) listedRows() string {
	f := r.facts
	known := r.facts.items[0].words + " is known"
	f.where = omit(f.where, func(i int) bool { return f.where[i] == known })
	return f.rows()
}

// relate says that the rows of a table have rows of another one, or have not.
func (r *reader) relate(of, in columnRef, rows string, yes bool) condition {
	is, has := " is ", " has "
	if !yes {
		is, has = " is not ", " has no "
	}
	key := of.of != nil && keyOf(of.name, of.of)
	refers := of.base() != "" && keyOf(in.name, in.of)
	many, sure := Plural(in.words)
	if !sure && endsInKey.MatchString(in.words) {
		many, sure = in.words+"s", true
	}

	c := condition{text: of.text + is + "among the " + many + " of " + rows}
	switch {
	case key && of.of.may(in.base()):
		c.text = of.of.called() + has + rows
		if of.own && yes {
			c.phrase, c.at = "with "+rows, withOne
		} else if of.own {
			c.absent = rows
		}
	case key && in.base() != "" && of.own:
		c.text = of.of.called() + is + "the " + in.base() + " of " + rows
		c.phrase, c.at = strings.TrimPrefix(c.text, of.of.called()+" is "), thatAre
	case refers:
		c.text = of.base() + is + "one of the " + rows
		if of.own && yes {
			c.phrase, c.at = "of "+rows, ofKey
		}
	case !sure:
		r.fail()
	}
	return c
}

// sayFlag says that a column is true, or is not.
func (r *reader) sayFlag(c columnRef, yes bool) condition {
	f := c.flag()
	phrase, at := f.says(c.words, yes)
	if c.own && c.of != nil {
		return condition{text: phrase, phrase: phrase, at: at}
	}
	no := map[bool]string{false: "not "}[yes]
	switch {
	case c.of == nil:
		return condition{text: phrase}
	case f.has != "":
		return condition{text: c.of.called() + map[bool]string{true: " has ", false: " has no "}[yes] + f.has}
	case f.one != "":
		return condition{text: c.of.called() + " is " + no + withArticle(f.one)}
	default:
		return condition{text: c.of.called() + " is " + phrase}
	}
}

// compared reads what a value is compared with.
func (r *reader) compared(v value) condition {
	c := v.column
	plain := c.name != "" && v.span == "" && v.measure == nil
	if plain && r.ends() {
		return r.sayFlag(c, true)
	}
	no := ""
	if r.take("NOT") {
		no = "not "
	}
	switch {
	case no == "" && r.take("IS"):
		return r.state(v, plain)
	case r.take("IN", "("):
		return r.among(v, no, plain)
	case r.take("BETWEEN"):
		low := r.constant()
		r.want("AND")
		high := r.constant()
		if b, end := v.readBounds(">=", low), v.readBounds("<=", high); no == "" && b.takes(end) {
			return condition{bounds: b}
		}
		return condition{text: v.words + " " + v.amounts("is "+no+"from ") + low.words + " to " + high.words}
	case r.take("LIKE"), r.take("ILIKE"):
		return r.like(v, no)
	case no != "":
		r.fail()
	}
	return r.operator(v, plain)
}

// state reads what stands behind IS: a value is missing, known, true or false.
func (r *reader) state(v value, plain bool) condition {
	no := r.take("NOT")
	switch c := v.column; {
	case plain && (r.is("TRUE") || r.is("FALSE")):
		yes := r.is("TRUE") != no
		r.at++
		return r.sayFlag(c, yes)
	case !plain || !r.take("NULL"):
		r.fail()
	case c.of != nil && c.of.absent && !no:
		if !keyOf(c.name, c.of) && c.base() == "" {
			r.fail()
		}
	case no:
		return condition{text: c.text + " is known"}
	case c.of != nil && c.of.left && keyTail.MatchString(c.words):
		r.fail() // a missing row in a place that has no words
	case c.own && c.of != nil && c.flag() == (flag{}):
		return condition{text: c.text + " is missing", absent: cmp.Or(c.base(), c.text)}
	default:
		return condition{text: c.text + " is missing"}
	}
	return condition{}
}

// among reads the values, or the statement, of IN.
func (r *reader) among(v value, no string, plain bool) condition {
	if r.is("SELECT") {
		in := r.inner(true)
		if r.failed {
			return condition{}
		}
		return r.relate(v.column, in.facts.items[0].column, in.listedRows(), no == "")
	}
	var values []string
	for more := true; more && !r.failed; more = r.take(",") {
		values = append(values, r.constant().words)
	}
	if r.want(")"); len(values) > 8 {
		r.fail()
	}
	return r.equal(v, "is "+no, literal{words: listed(values, "or")}, plain)
}

// like reads a pattern.
func (r *reader) like(v value, no string) condition {
	pattern, ok := r.text()
	if r.at++; !ok || r.is("ESCAPE") {
		r.fail()
		return condition{}
	}
	inner := strings.Trim(pattern, "%")
	if begin, open := strings.CutSuffix(pattern, "%"); open && no == "" && v.span == "" && v.column.stamp.is {
		v.span = map[int]string{4: "year", 7: "month", 10: "day"}[len(strings.TrimSuffix(begin, "-"))]
		if b := v.readBounds("=", literal{text: strings.TrimSuffix(begin, "-")}); v.span != "" && b != nil {
			return condition{bounds: b}
		}
	}
	if inner == "" || strings.ContainsAny(inner, `%_\`) {
		r.fail()
	}
	forms := [2][2]string{{"is", "begins with"}, {"ends with", "contains"}}
	if no != "" {
		forms = [2][2]string{{"is not", "does not begin with"}, {"does not end with", "does not contain"}}
	}
	at := [2]int{}
	if strings.HasPrefix(pattern, "%") {
		at[0] = 1
	}
	if strings.HasSuffix(pattern, "%") {
		at[1] = 1
	}
	return condition{text: v.words + " " + forms[at[0]][at[1]] + " “" + inner + "”"}
}

// timeText is the name of a column beside another one: "admission time" where "time" is that of the rows.
func (c columnRef) timeText() string {
	if noun := nominals[c.stamp.verb]; c.stamp.self && noun != "" {
		return noun + " " + c.stamp.unit
	}
	return c.text
}

// operators are the operators of comparisons in words, for numbers.
var operators = words.Pairs("= is_ == is_ <> is_not_ != is_not_ < is_below_ > is_above_ <= is_at_most_ >= is_at_least_")

// whens are operators of comparisons in words, for times.
var whens = words.Pairs("< is_before_ > is_after_ <= is_up_to_ >= is_from_")

// truths are constants that say that something is true, or is not.
var truths = words.Pairs("1 yes 0 no true yes false no “y” yes “n” no “yes” yes “no” no “true” yes “false” no “t” " +
	"yes “f” no")

// operator reads an operator with a constant, a column or a statement.
func (r *reader) operator(v value, plain bool) condition {
	op := r.peek(0).Text
	verb := operators[op]
	if r.at++; verb == "" {
		r.fail()
	}
	t := r.peek(0)
	word := plain && t.Kind == sqltext.Word && nameToken(t)
	switch {
	case r.is("(", "SELECT") && plain && verb == "is " && r.peek(3).Text != "(":
		r.at++
		in := r.inner(true)
		if r.failed {
			return condition{}
		}
		return r.relate(v.column, in.facts.items[0].column, in.facts.rows(), true)
	case r.is("(", "SELECT"):
		return condition{text: v.words + " " + v.amounts(verb) + r.scalar()}
	case word && r.peek(1).Kind != sqltext.String && r.peek(1).Text != "(":
		c := r.column()
		if when := whens[op]; when != "" && (c.stamp.is || isMoment(c.words)) {
			verb = when
		}
		return condition{text: v.words + " " + verb + "the " + c.timeText()}
	}

	if ago := r.ago(); ago != "" {
		return r.since(v, op, ago)
	}
	l := r.constant()
	if r.failed || signs[r.peek(0).Text] != "" || r.is("COLLATE") {
		r.fail()
		return condition{}
	}
	if b := v.readBounds(op, l); b != nil {
		return condition{bounds: b}
	}
	if when := whens[op]; v.measure != nil && v.measure.moment && l.date && when != "" {
		verb = when
	}
	if equal := verb == "is " || verb == "is not "; equal {
		return r.equal(v, verb, l, plain)
	}
	return condition{text: v.words + " " + v.amounts(verb) + l.words}
}

// amounts replaces "is" behind words such as total, with which it makes no sentence.
func (v value) amounts(verb string) string {
	if !sums.MatchString(v.words) || strings.HasPrefix(verb, "is not ") {
		return verb
	}
	return strings.NewReplacer("is ", "comes to ", "above", "more than", "below", "less than", "from ", "").Replace(verb)
}

var sums = regexp.MustCompile(`\b(total|average|lowest|highest)$`)

// equal says that a value is a constant, or is not: that a flag is set, or which row is meant.
func (r *reader) equal(v value, verb string, l literal, plain bool) condition {
	c := v.column
	n, err := strconv.Atoi(strings.Trim(l.words, "“”"))
	if v.span == "month of the year" && err == nil && n > 0 && n < 13 {
		l.words = time.Month(n).String()
	}
	truth, one := truths[strings.ToLower(l.words)], plain && verb == "is " && c.own && c.of != nil
	switch {
	case plain && truth != "" && (l.word || c.flag() != (flag{})):
		return r.sayFlag(c, (truth == "yes") == (verb == "is "))
	case one && c.base() != "":
		return condition{text: c.base() + " is " + l.words, phrase: "of " + c.base() + " " + l.words, at: ofKey}
	case one && keyOf(c.name, c.of):
		key := strings.TrimSpace(keyTail.FindString(c.words))
		return condition{text: c.text + " is " + l.words, phrase: "with " + key + " " + l.words, at: withOne}
	case l.words == "0" || l.words == "1":
		verb += "exactly "
	}
	return condition{text: v.words + " " + v.amounts(verb) + l.words}
}

// scalar reads a statement in brackets that computes one value of all rows.
func (r *reader) scalar() string {
	r.want("(")
	in := &reader{d: r.d, tokens: r.tokens, at: r.at, outer: r}
	in.statement()
	in.want(")")
	r.at = in.at
	if in.failed || len(in.facts.measures) != 1 || len(in.facts.groups) > 0 || len(in.links) > 0 {
		return r.fail()
	}
	return "the " + in.facts.what() + led(" where ", listed(in.facts.where, "and"))
}

// literal is a constant.
type literal struct {
	words string
	text  string // as the statement has it
	date  bool
	word  bool // it is true or false
}

// constant reads a constant.
func (r *reader) constant() (l literal) {
	typed := r.take("DATE") || r.take("TIMESTAMP") || r.take("TIMESTAMPTZ") || r.take("DATETIME")
	wrapped := typed && r.take("(")
	sign := ""
	if !typed && r.take("-") {
		sign = "−"
	}
	t := r.peek(0)
	word := strings.ToLower(t.Text)
	text, quoted := r.text()
	r.at++
	switch {
	case quoted && sign == "":
		l = literal{words: "“" + text + "”", text: text}
		if at, ok := periods.ReadTime(text); ok {
			l.words, l.date = at.String(), true
		} else if typed || len(text) > 80 {
			r.fail()
		}
	case t.Kind == sqltext.Number && !typed:
		l = literal{words: sign + t.Text, text: t.Text}
		if n, err := strconv.Atoi(t.Text); err == nil && n >= 10_000 {
			l.words = sign + words.Thousands(n)
		}
	case sign == "" && !typed && (word == "true" || word == "false"):
		l = literal{words: word, word: true}
	default:
		r.fail()
	}
	if wrapped {
		r.want(")")
	}
	if r.take("::") {
		r.name()
	}
	return l
}

// text returns the text that stands next. Behind a comparison, SQLite reads a name in double quotes as a text.
func (r *reader) text() (text string, ok bool) {
	t := r.peek(0)
	if t.Kind == sqltext.String {
		return r.d.Value(t), true
	}
	if t.Kind != sqltext.QuotedName || t.Text[0] != '"' || r.d != sqltext.SQLite() || r.at < 2 || r.peek(1).Text == "." {
		return "", false
	}
	before := strings.ToUpper(r.tokens[r.at-1].Text)
	behind := slices.Contains([]string{"=", "!=", "<>", "LIKE", "(", ","}, before)
	return bare(t.Text), behind && r.tokens[r.at-2].Kind != sqltext.QuotedName
}
