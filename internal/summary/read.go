package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// facts is a statement of a shape that this package knows, in words.
type facts struct {
	shows    []string // what it lists: columns that are no group
	measures []measure
	groups   []string
	distinct bool
	of       string   // behind the listed values: " of orders", " with orders"
	subject  string   // what one row before grouping is, as a plural; "": several tables, and it is not known
	from     []string // tables, the first one first
	joined   []string // tables of which there may be no row, as conditions
	without  []string // rows that must not exist
	narrow   [places][]string
	where    []string // other conditions that all hold
	ranges   []*bounds
	loose    []columnRef // of conditions that are not bounds
	having   []string
	order    []string
	top      string // the first term of order behind a number of rows: "highest", "with the latest hire date"
	by       columnRef
	ones     bool // a row without its other side counts as 1
	cut      bool // a group is a time
	parts    bool // a condition leaves a part of each period: its first half, its mornings
	usual    bool // rows are in the order of their groups
	limit    string

	items []item // the select list

	below, above []string // values that a condition bounds from above, and from below
}

// sorting is the first term of ORDER BY.
type sorting struct {
	item int // its place in the select list; -1: it has none
	down bool
}

// reader reads the tokens of one statement. What it does not know makes it fail, and stay so.
type reader struct {
	d         sqltext.Dialect
	tokens    []sqltext.Token
	at        int
	failed    bool
	tables    []*table
	aliases   map[string]*table // by alias or name, in lower case
	subject   *table            // whose rows the joined rows are; nil: it is not known
	grouped   *facts            // of a SELECT in FROM
	within    bool              // a function of many rows
	outer     *reader           // of the statement around this one
	links     [][2]columnRef    // equal columns of this statement and of outer
	product   bool              // tables stand behind a comma
	outwards  bool              // the condition of LEFT JOIN is read
	fractions bool              // a number became one with a fraction
	facts     facts
}

// table is a table of a statement in words.
type table struct {
	name      string
	many, one string
	sure      bool     // the words are nouns
	role      string   // what its rows are for those that refer to them, where that is not what they are
	left      bool     // it is joined to the left
	absent    bool     // there must be no row of it
	again     bool     // another role of a table that stands twice
	refs      []*table // the tables whose keys it has
}

// item is a term of the select list.
type item struct {
	value
	alias string
}

// read reads a statement.
func read(d sqltext.Dialect, sql string) (facts, bool) {
	r := &reader{d: d}
	for t := range d.Parse(sql).Tokens() {
		r.tokens = append(r.tokens, t)
	}
	if n := len(r.tokens); n > 0 && r.tokens[n-1].Text == ";" {
		r.tokens = r.tokens[:n-1]
	}
	if len(r.tokens) > maxTokens {
		return facts{}, false
	}
	r.statement()
	return r.facts, !r.failed && r.at == len(r.tokens)
}

// maxTokens bounds what is read: no person reads the sentence of a longer statement.
const maxTokens = 400

func (r *reader) fail() string { r.failed = true; return "" }

func (r *reader) peek(n int) sqltext.Token {
	if r.failed || r.at+n >= len(r.tokens) {
		return sqltext.Token{Kind: sqltext.Space}
	}
	return r.tokens[r.at+n]
}

// is reports whether words, or operators, stand next.
func (r *reader) is(texts ...string) bool {
	for i, text := range texts {
		if t := r.peek(i); t.Kind != sqltext.Word && t.Kind != sqltext.Operator || !strings.EqualFold(t.Text, text) {
			return false
		}
	}
	return true
}

func (r *reader) take(texts ...string) bool {
	if !r.is(texts...) {
		return false
	}
	r.at += len(texts)
	return true
}

func (r *reader) want(text string) {
	if !r.take(text) {
		r.fail()
	}
}

// nameToken reports whether a token is a name, and no keyword of a clause.
func nameToken(t sqltext.Token) bool {
	word := t.Kind == sqltext.Word && !slices.Contains(keywords, strings.ToUpper(t.Text))
	return word || t.Kind == sqltext.QuotedName && len(t.Text) > 2
}

func (r *reader) named() bool { return nameToken(r.peek(0)) }

func (r *reader) name() string {
	if !r.named() {
		return r.fail()
	}
	r.at++
	return bare(r.tokens[r.at-1].Text)
}

// bare is a name without its quotes.
func bare(name string) string { return strings.Trim(name, "\"`[]") }

var keywords = strings.Fields(`SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH JOIN INNER LEFT RIGHT FULL
	OUTER CROSS NATURAL ON USING AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN BY ASC DESC DISTINCT ALL UNION EXCEPT
	INTERSECT WITH CASE WHEN THEN ELSE END EXISTS OVER FILTER WINDOW QUALIFY VALUES TABLE LATERAL TRUE FALSE
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP INTERVAL GLOB REGEXP COLLATE ANY SOME ESCAPE NULLS SAMPLE
	TABLESAMPLE PIVOT UNPIVOT FOR INDEXED STRAIGHT_JOIN SEMI ANTI ASOF POSITIONAL RETURNING INTO LOCK`)

func (r *reader) statement() {
	r.want("SELECT")
	r.facts.distinct = r.take("DISTINCT")
	list := r.at
	r.toTables()
	from, behind := r.at, 0
	if r.is("(") {
		behind = r.derive()
	} else {
		r.from()
	}
	r.at = list
	for more := !r.failed; more && !r.failed; more = r.take(",") {
		r.item()
	}
	r.want("FROM")
	if r.failed || r.at != from {
		r.fail()
		return
	}
	if r.at = max(r.at, behind); behind == 0 {
		r.sources(r.readJoin)
		if r.take("WHERE") {
			r.facts.addConditions(r.conditions())
		}
	}
	groups := r.readGroups()
	if r.take("HAVING") {
		all := r.conditions()
		for _, c := range all {
			r.facts.having = append(r.facts.having, c.says())
		}
		if r.texts(all) == "" {
			r.fail()
		}
	}
	r.sorted(groups)
	r.listed(groups)
}

// derive reads a SELECT in FROM that makes one row for each group, or for each different value. behind is where it
// ends.
func (r *reader) derive() (behind int) {
	in := &reader{d: r.d, tokens: r.tokens, at: r.at + 1}
	in.statement()
	if in.want(")"); in.take("AS") || in.named() {
		in.name()
	}
	f := in.facts
	r.facts = facts{subject: f.subject, from: f.from, narrow: f.narrow, where: f.where, without: f.without,
		ranges: f.ranges}
	if f.distinct && len(f.shows) == 1 {
		many, sure := Plural(f.shows[0])
		r.facts.subject, r.failed = "different "+many+f.of, !sure
	} else if r.facts.subject = ""; len(f.groups) != 1 {
		r.fail()
	}
	if r.grouped = &f; in.failed || len(f.having)+len(f.joined) > 0 || f.limit != "" {
		r.fail()
	}
	return in.at
}

// made is a column of the SELECT in FROM.
func (r *reader) made(c columnRef) (v value) {
	for _, it := range r.grouped.items {
		if it.alias == strings.ToLower(c.name) {
			v = it.value
		}
	}
	if v.measure == nil || !r.within {
		r.fail()
	}
	return v
}

// toTables goes to what stands behind FROM.
func (r *reader) toTables() {
	for depth := 0; r.at < len(r.tokens) && (depth > 0 || !r.is("FROM")); r.at++ {
		depth += map[string]int{"(": 1, ")": -1}[r.tokens[r.at].Text]
	}
	r.want("FROM")
}

// from learns the tables, and whose rows the joined rows are, before any column is read.
func (r *reader) from() {
	r.aliases = map[string]*table{}
	r.sources(func(*table) {
		for depth := 0; r.at < len(r.tokens); r.at++ {
			text := strings.ToUpper(r.tokens[r.at].Text)
			depth += map[string]int{"(": 1, ")": -1}[text]
			if depth < 0 || depth == 0 && slices.Contains(ends, text) {
				return
			}
		}
	})
	r.absent()
	r.link()
	r.checkRoles()
	r.subject = r.finest()
	for _, t := range r.tables {
		r.facts.from = append(r.facts.from, t.many)
	}
	if r.subject != nil {
		r.facts.subject = r.subject.rows()
	} else if r.product {
		r.fail()
	}
}

// checkRoles rejects a table that stands twice, unless its rows have different names: "agent" and "manager".
func (r *reader) checkRoles() {
	for i, t := range r.tables {
		for j, o := range r.tables {
			twice := i != j && o.many == t.many
			t.again = t.again || twice && t.role != ""
			if twice && (o.called() == t.called() || !t.sure || t.absent && t.role == "") {
				r.fail()
			}
		}
	}
}

// named reports whether a condition is one of the rows of a table.
func (t *table) named(condition string) bool { return strings.HasPrefix(condition, t.called()+" ") }

// absent finds "t.c IS NULL" of the key of a table that is joined to the left.
func (r *reader) absent() {
	for at := r.at; at+4 < len(r.tokens); at++ {
		part := func(n int) string { return strings.ToUpper(r.tokens[at+n].Text) }
		t := r.aliases[strings.ToLower(bare(part(0)))]
		if t != nil && t.left && part(1) == "." && part(3) == "IS" && part(4) == "NULL" {
			t.absent = t.absent || keyTail.MatchString(spoken(bare(r.tokens[at+2].Text)))
		}
	}
}

// ends are the words behind a condition of a join.
var ends = strings.Fields("JOIN INNER LEFT RIGHT FULL CROSS NATURAL WHERE GROUP HAVING ORDER LIMIT FETCH " +
	"UNION EXCEPT INTERSECT WINDOW , ;")

// sources reads the tables behind FROM; on reads the condition of each join.
func (r *reader) sources(on func(*table)) {
	known := len(r.tables) > 0
	for n := 0; !r.failed; n++ {
		left := r.take("LEFT", "OUTER", "JOIN") || r.take("LEFT", "JOIN")
		comma := n > 0 && !left && r.take(",")
		if n > 0 && !left && !comma && !r.take("INNER", "JOIN") && !r.take("JOIN") {
			return
		}
		t := r.table(known, n)
		if !known {
			t.left = left
		}
		if r.product = r.product || comma; n > 0 && !comma {
			on(t)
		}
	}
}

// table reads a table with its alias, which is the n-th one where they are known.
func (r *reader) table(known bool, n int) *table {
	name := r.name()
	for r.take(".") {
		name = r.name()
	}
	alias := name
	if r.take("AS") || r.named() {
		alias = r.name()
	}
	switch {
	case r.failed:
		return &table{}
	case known:
		return r.tables[n]
	}
	t := &table{name: name}
	t.many, t.sure = Plural(name)
	t.one, _ = Singular(name)
	if r.aliases[strings.ToLower(alias)] != nil {
		r.fail()
	}
	if r.aliases[strings.ToLower(name)] == nil {
		r.aliases[strings.ToLower(name)] = t
	}
	r.aliases[strings.ToLower(alias)] = t
	r.tables = append(r.tables, t)
	return t
}

// readJoin reads the condition of a join. For a table that must have no row, the condition says which rows are missing.
func (r *reader) readJoin(t *table) {
	if r.take("USING", "(") {
		for more := true; more && !r.failed; more = r.take(",") {
			r.name()
		}
		r.want(")")
		return
	}
	r.want("ON")
	left, f := t.left, &r.facts
	r.outwards = left
	if t.absent {
		subject := r.subject
		defer func() { r.subject = subject }()
		r.subject, f = t, &facts{}
		if f.subject = t.rows(); t.again {
			f.subject = t.called() // "without manager"
		}
	}
	f.addConditions(r.conditions())
	if r.outwards, t.left = false, left; t.absent {
		r.facts.without = append(r.facts.without, f.rows())
	}
}

// link finds the columns by which tables are joined, and which of them has the key of the other one.
func (r *reader) link() {
	for at := 0; at+6 < len(r.tokens); at++ {
		part := func(n int) string { return r.tokens[at+n].Text }
		a, b := r.aliases[strings.ToLower(bare(part(0)))], r.aliases[strings.ToLower(bare(part(4)))]
		if a != nil && b != nil && a != b && part(1) == "." && part(3) == "=" && part(5) == "." {
			refer(a, part(2), b, part(6))
		}
	}
	for at, t := range r.tokens { // USING (c): the table with the name of c has the key
		if at+2 < len(r.tokens) && strings.EqualFold(t.Text, "USING") {
			name := r.tokens[at+2].Text
			for _, one := range r.tables {
				for _, many := range r.tables {
					if one != many && keyOf(bare(name), one) {
						many.refs = append(many.refs, one)
					}
				}
			}
		}
	}
}

// refer notes which of two tables has the key of the other one.
func refer(a *table, of string, b *table, with string) {
	first := columnRef{name: bare(of), words: spoken(bare(of)), of: a}
	second := columnRef{name: bare(with), words: spoken(bare(with)), of: b}
	second.refer(first)
	first.refer(second)
}

// refer notes that the table of c has the key of the table of o, and as what.
func (c columnRef) refer(o columnRef) {
	if !c.refersTo(o) {
		return
	}
	c.of.refs = append(c.of.refs, o.of)
	base := c.keyBase()
	switch kind, same := strings.CutSuffix(base, " "+o.of.one); {
	case len(base) < 4 || o.of.may(base) || linking.MatchString(kind):
	case same || base != c.words:
		o.of.role = base
	default:
		o.of.role = base + " " + o.of.one
	}
}

// linking are words of references that name no role.
var linking = regexp.MustCompile(`\b(to|of|in|by|for|from|with|at|on|link|fk|ref)\b`)

// present are the tables of which rows are read.
func (r *reader) present() []*table {
	return omit(r.tables, func(i int) bool { return r.tables[i].absent })
}

// finest is the table that has one row for each joined row: it refers to all others. nil: it is not known.
func (r *reader) finest() *table {
	present := r.present()
	for _, t := range present {
		seen := []*table{t}
		for i := 0; i < len(seen); i++ {
			for _, to := range seen[i].refs {
				if !to.absent && !slices.Contains(seen, to) {
					seen = append(seen, to)
				}
			}
		}
		if len(seen) == len(present) {
			return t
		}
	}
	return nil
}

// item reads a term of the select list.
func (r *reader) item() {
	var it item
	if r.take("*") {
		it.words = "all columns"
	} else {
		if it.value = r.arithmetic(); it.measure == nil && it.column.name == "" &&
			strings.Trim(it.words, "0123456789.") == "" {
			r.fail() // a number says nothing about rows
		}
	}
	if r.take("AS") || !r.is(",") && !r.is("FROM") {
		it.alias = strings.ToLower(r.name())
		it.measure.call(spoken(it.alias))
	}
	r.facts.items = append(r.facts.items, it)
}

// sortable reads a term of GROUP BY or ORDER BY, of which a number and an alias mean an item of the list.
func (r *reader) sortable(grouping bool) value {
	t, at := r.peek(0), -1
	if t.Kind == sqltext.Number {
		if at = slices.Index(strings.Fields("1 2 3 4 5 6 7 8 9"), t.Text); at < 0 || at >= len(r.facts.items) {
			r.fail()
			return value{}
		}
	} else if next := r.peek(1).Text; next != "." && next != "(" {
		called := func(it item) bool { return it.alias != "" && strings.EqualFold(bare(t.Text), it.alias) }
		at = slices.IndexFunc(r.facts.items, called)
	}
	if at < 0 {
		return r.arithmetic()
	}
	r.at++
	it := r.facts.items[at]
	if grouping && (it.measure != nil || it.span != "" && strings.EqualFold(it.column.name, it.alias)) {
		r.fail() // an alias that hides the column of its name
	}
	return it.value
}

// readGroups reads GROUP BY.
func (r *reader) readGroups() (groups []value) {
	for more := r.take("GROUP", "BY"); more && !r.failed; more = r.take(",") {
		groups = append(groups, r.sortable(true))
	}
	return groups
}

// listed sets what is listed, computed and grouped.
func (r *reader) listed(groups []value) {
	f := &r.facts
	single := 0 // columns of which a group has one value
	for _, it := range f.items {
		same := func(g value) bool { return g.words == it.words || namesRows(it.column) && g.column.isKey(it.column.of) }
		switch {
		case it.measure != nil:
			f.measures = append(f.measures, *it.measure)
		case !slices.ContainsFunc(groups, same):
			r.belong(it.column)
			f.shows = append(f.shows, it.words)
			if slices.ContainsFunc(groups, func(g value) bool { return it.column.of != nil && g.column.isKey(it.column.of) }) {
				single++
			}
		}
	}
	if !f.sound(len(groups) > 0, single == len(f.shows)) {
		r.fail()
	}
	f.of = cmp.Or(f.of, " of "+f.subject)
	f.groups = entities(groups)
	f.cut = slices.ContainsFunc(groups, func(g value) bool { return g.span != "" })
	for _, t := range r.tables {
		switch {
		case t.left && t == r.subject:
			f.joined = []string{"there are no " + t.many}
			return
		case t.left && !t.absent:
			f.joined = append(f.joined, "there is no "+t.called())
		case t.again && !t.absent && !slices.ContainsFunc(f.where, t.named):
			f.where = append(f.where, t.called()+" is known")
		}
	}
	if !f.distinct || len(f.items) != 1 || len(f.shows) != 1 || f.subject == "" {
		return
	}
	if c := f.items[0].column; !c.own && c.of != nil {
		if one, ok := strings.CutPrefix(c.text, c.of.called()+" "); ok {
			f.shows[0], f.of = one, " of "+c.of.many+" with "+f.subject
		}
	}
}

// sound reports whether each column that is listed has one value for each row: one beside a measure is a group.
func (f *facts) sound(grouped, single bool) bool {
	measured, shown, having := len(f.measures) > 0, len(f.shows) > 0, len(f.having) > 0
	compared := slices.ContainsFunc(f.measures, func(m measure) bool { return m.compared })
	switch {
	case compared && f.conditions() != "": // with a whole that has other rows
		return false
	case !grouped:
		return !having && !(measured && shown) && !(f.distinct && measured)
	}
	return !f.distinct && (measured || having || single || !shown)
}

// years are participles that are names of years, and not of flags.
var years = words.Set("born built founded established")

// entities are the groups in words. A key and a name of one table are the thing that they name.
func entities(groups []value) (all []string) {
	for _, g := range groups {
		c, text := g.column, g.words
		same := func(o value) bool {
			return o.column.of == c.of || o.column.base() != "" && c.of != nil && c.of.is(o.column.base())
		}
		switch {
		case g.span != "":
		case c.isKey(c.of):
			other := func(o value) bool { return o.column.of == c.of && !namesRows(o.column) && o.words != g.words }
			if text = c.of.called(); slices.ContainsFunc(groups, other) {
				continue
			}
		case namesRows(c) && slices.ContainsFunc(groups, func(o value) bool { return same(o) && o.column.isKey(c.of) }):
			text = c.of.called()
		case c.own && c.base() != "":
			text = c.base()
		case c.flag().adjective != "" && !years[c.words]:
			text += " or not"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// sorted reads ORDER BY and how many rows there may be.
func (r *reader) sorted(groups []value) {
	if r.take("ORDER", "BY") {
		for more := true; more && !r.failed; more = r.take(",") {
			r.order(groups)
		}
	}
	fetch := r.take("FETCH", "FIRST") || r.take("FETCH", "NEXT")
	if !fetch && !r.take("LIMIT") {
		return
	}
	if t := r.peek(0); t.Kind == sqltext.Number {
		r.at++
		r.facts.limit = t.Text
	}
	if r.facts.limit == "" || fetch && !r.take("ROWS", "ONLY") && !r.take("ROW", "ONLY") {
		r.fail()
	}
}

// order reads a term of ORDER BY.
func (r *reader) order(groups []value) {
	v := r.sortable(false)
	down := r.take("DESC")
	if !down {
		r.take("ASC")
	}
	_ = r.take("NULLS", "LAST") || r.take("NULLS", "FIRST")

	f := &r.facts
	m := v.measure
	same := func(o value) bool {
		if m == nil || o.measure == nil {
			return m == o.measure && o.words == v.words
		}
		return o.measure.verb == m.verb
	}
	words, top := r.ranked(v, down)
	if len(f.order) == 0 {
		f.top, f.by = top, v.column
		f.usual = !down && m == nil && slices.ContainsFunc(groups, same)
	}
	f.usual = f.usual && len(f.order) == 0
	f.order = append(f.order, words)
}

// ranked says which rows stand first: "highest amount", "name from A to Z". top says it behind how many they are.
func (r *reader) ranked(v value, down bool) (words, top string) {
	end, time, names := "lowest", "earliest", []string{" from A to Z", "first by ", " in ascending order"}
	if down {
		end, time, names = "highest", "latest", []string{" from Z to A", "last by ", " in descending order"}
	}
	m, c, noun := v.measure, v.column, v.words
	switch {
	case m != nil && m.moment, v.span != "", c.stamp.is, isMoment(v.words):
		end = time
	case m == nil && textName.MatchString(c.words):
		return v.words + names[0], names[1] + v.words
	case m == nil && c.isAdjective():
		return v.words + names[2], names[1] + v.words
	}
	switch {
	case m != nil && r.facts.only(m):
		return end, end // the only one needs no name
	case m != nil:
		noun, _, _ = strings.Cut(strings.TrimPrefix(m.noun, end+" "), " (")
	case v.span != "":
		return end + " " + noun, end
	case c.stamp.is && c.own:
		verb := c.stamp.happened()
		return strings.TrimSpace(end + " " + verb), strings.TrimSpace(verb + " " + end)
	}
	return end + " " + noun, "with the " + end + " " + noun
}

var (
	dayName    = regexp.MustCompile(`(^| )(date|day|birthday|born)$|^date of `)
	momentName = regexp.MustCompile(
		`(^| )(date|day|birthday|month|year|quarter|week|timestamp|datetime|created|updated|born|` +
			`(start|end|arrival|departure|login|opening|closing|creation|pickup) time)$|^(date|year) (of |\w+ed$)|^time$`)
	textName = regexp.MustCompile(
		`(^| )(name|title|label|description|country|city|town|state|status|category|type|kind|region|district|gender|sex|` +
			`model|brand|maker|color|colour|language|email|address|street|specialty|department|genre|method|section|tariff|sku|code|surname|author|subject|` +
			`topic|species|breed|currency|nationality|citizenship|line|zone|segment|channel|carrier|note|comment|reason|unit|ward|team)$`)
)

// perTime ends the names of rates: "price per day" is no day.
var perTime = regexp.MustCompile(`(^| )per (day|month|year|quarter|week)$`)

// isMoment reports whether words name a time.
func isMoment(words string) bool { return momentName.MatchString(words) && !perTime.MatchString(words) }
