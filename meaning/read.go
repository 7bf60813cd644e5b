package meaning

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// facts is a statement of a shape that this package knows, in words.
type facts struct {
	shows    []string // what it lists: columns that are no group
	measures []measure
	groups   []string
	distinct bool
	from     []string // tables, the first one first
	joined   []string // those of them that are joined to the left
	without  []string // those of joined of which there must be no row
	where    []string // conditions that all hold
	having   []string
	order    []string
	limit    string

	items []item // the select list
	first sorting
}

// sorting is the first term of ORDER BY.
type sorting struct {
	item int // its place in the select list; -1: it has none
	down bool
}

// measure is a value of many rows.
type measure struct {
	noun  string // "total amount"
	verb  string // "sums amount"
	rows  string // the table whose rows it counts, in words; "": it counts none
	most  string // what the group with the largest value has most of: "total amount", "price"
	end   end    // the end of most that is computed of each group
	added bool   // the values of all groups add up
}

// end is an end of a range.
type end int

// The ends.
const (
	noEnd end = iota
	lowest
	highest
)

// reader reads the tokens of one statement. What it does not know makes it fail, and stay so.
type reader struct {
	d      sqltext.Dialect
	tokens []sqltext.Token
	at     int
	failed bool
	alone  bool             // all columns that have words are of one table
	tables map[string]table // by alias or name, in lower case
	facts  facts
}

// table is a table of a statement in words.
type table struct {
	many, one string
	sure      bool // the words are nouns
}

// rows are the rows of the table in words.
func (t table) rows() string {
	if t.sure {
		return t.many
	}
	return "rows of " + t.many
}

// item is a term of the select list.
type item struct {
	alias, words string
	measure      *measure
}

// read reads a statement. One that joins a table only to see that it has no row is read again as one of a single table.
func read(d sqltext.Dialect, sql string) (facts, bool) {
	f, ok := readAs(d, sql, false)
	if ok && len(f.without) > 0 && len(f.from) == len(f.without)+1 {
		return readAs(d, sql, true)
	}
	return f, ok
}

func readAs(d sqltext.Dialect, sql string, alone bool) (facts, bool) {
	r := &reader{d: d, alone: alone, tables: map[string]table{}, facts: facts{first: sorting{item: -1}}}
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

// named reports whether a name stands next that is no keyword of a clause.
func (r *reader) named() bool {
	t := r.peek(0)
	return t.Kind == sqltext.QuotedName && len(t.Text) > 2 || t.Kind == sqltext.Word && !slices.Contains(keywords, strings.ToUpper(t.Text))
}

func (r *reader) name() string {
	if !r.named() {
		return r.fail()
	}
	r.at++
	return strings.Trim(r.tokens[r.at-1].Text, "\"`[]")
}

var keywords = strings.Fields(`SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH JOIN INNER LEFT RIGHT FULL OUTER CROSS NATURAL ON USING AS AND OR
	NOT IN IS NULL LIKE ILIKE BETWEEN BY ASC DESC DISTINCT ALL UNION EXCEPT INTERSECT WITH CASE WHEN THEN ELSE END EXISTS OVER FILTER WINDOW QUALIFY
	VALUES TABLE LATERAL TRUE FALSE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP INTERVAL GLOB REGEXP MATCH COLLATE ANY SOME ESCAPE NULLS SAMPLE
	TABLESAMPLE PIVOT UNPIVOT FOR INDEXED STRAIGHT_JOIN SEMI ANTI ASOF POSITIONAL RETURNING INTO LOCK`)

func (r *reader) statement() {
	r.want("SELECT")
	r.facts.distinct = r.take("DISTINCT")
	list := r.at
	for depth := 0; r.at < len(r.tokens) && (depth > 0 || !r.is("FROM")); r.at++ { // names of tables come first
		depth += map[string]int{"(": 1, ")": -1}[r.tokens[r.at].Text]
	}
	r.want("FROM")
	r.sources()
	end := r.at
	r.at = list
	for more := !r.failed; more && !r.failed; more = r.take(",") {
		r.item()
	}
	r.want("FROM")
	if r.failed {
		return
	}
	r.at = end
	if r.take("WHERE") {
		r.facts.where = append(r.facts.where, r.all()...)
	}
	grouped := r.take("GROUP", "BY")
	for more := grouped; more && !r.failed; more = r.take(",") {
		r.facts.groups = append(r.facts.groups, r.term())
	}
	if r.take("HAVING") {
		r.facts.having = r.all()
	}
	r.sorted()
	for _, it := range r.facts.items {
		switch {
		case it.measure != nil:
			r.facts.measures = append(r.facts.measures, *it.measure)
		case !slices.Contains(r.facts.groups, it.words):
			r.facts.shows = append(r.facts.shows, it.words)
		}
	}
	// A column beside a measure is a group, and a group without a measure is a way to say DISTINCT of columns shown.
	if len(r.facts.measures) > 0 && !grouped && len(r.facts.shows) > 0 || len(r.facts.having) > 0 && !grouped ||
		grouped && len(r.facts.measures) == 0 && len(r.facts.having) == 0 && len(r.facts.shows) > 0 || r.facts.distinct && (grouped || len(r.facts.measures) > 0) {
		r.fail()
	}
}

// sources reads what stands behind FROM.
func (r *reader) sources() {
	r.table()
	for !r.failed {
		left := r.take("LEFT", "OUTER", "JOIN") || r.take("LEFT", "JOIN")
		if !left && !r.take("INNER", "JOIN") && !r.take("JOIN") {
			return
		}
		if joined := r.table(); left {
			r.facts.joined = append(r.facts.joined, joined)
		}
		r.joining()
	}
}

// table reads a table with its alias, and returns its words.
func (r *reader) table() string {
	name := r.name()
	if r.take(".") {
		name = r.name()
	}
	alias := name
	if r.take("AS") || r.named() {
		alias = r.name()
	}
	t := table{}
	t.many, t.sure = Plural(name)
	t.one, _ = Singular(name)
	if _, twice := r.tables[strings.ToLower(alias)]; twice || slices.Contains(r.facts.from, t.many) {
		r.fail() // two roles of one table need names that the text does not give
	}
	r.tables[strings.ToLower(alias)], r.tables[strings.ToLower(name)] = t, t
	r.facts.from = append(r.facts.from, t.many)
	return t.many
}

// joining reads by what two tables are joined: by equal columns.
func (r *reader) joining() {
	if r.take("USING", "(") {
		r.name()
		r.want(")")
		return
	}
	r.want("ON")
	for more := true; more && !r.failed; more = r.take("AND") {
		r.column()
		r.want("=")
		r.column()
	}
}

// column reads t.c or c, in words: with its table where there are several.
func (r *reader) column() string {
	words, _, _ := r.columnOf()
	return words
}

// columnOf reads a column, and returns its name and its table beside its words. known is false of a table that has no name.
func (r *reader) columnOf() (words, name string, of *table) {
	name = r.name()
	if !r.take(".") {
		if r.is("(") {
			r.fail()
		}
		if len(r.facts.from) == 1 {
			for _, only := range r.tables {
				of = &only
			}
		}
		return spoken(name), name, of
	}
	in, known := r.tables[strings.ToLower(name)]
	name = r.name()
	if r.take(".") { // schema.t.c
		in, known = r.tables[strings.ToLower(name)]
		name = r.name()
	}
	if !known || r.is("(") {
		r.fail()
		return "", "", nil
	}
	words = spoken(name)
	switch {
	case len(r.facts.from) == 1 || r.alone:
	case !in.sure:
		words += " of " + in.many
	case !strings.HasPrefix(words+" ", in.one+" "):
		words = in.one + " " + words
	}
	return words, name, &in
}

// item reads a term of the select list.
func (r *reader) item() {
	var it item
	if r.take("*") {
		it = item{words: "all columns"}
	} else {
		it.words, it.measure = r.value()
	}
	if r.take("AS") || !r.is(",") && !r.is("FROM") {
		it.alias = strings.ToLower(r.name())
		it.measure.call(spoken(it.alias))
	}
	r.facts.items = append(r.facts.items, it)
}

// call names a measure that is computed of several columns as the statement does: "revenue (price × quantity)".
func (m *measure) call(alias string) {
	if m == nil || !strings.ContainsAny(m.noun, "×÷−+") || len(alias) < 4 || alias == "total" || alias == "value" || alias == "result" {
		return
	}
	of := m.noun[strings.Index(m.noun, " ")+1:]
	m.noun, m.most = alias+" ("+of+")", alias
}

// term reads a term of GROUP BY, of which a number and an alias mean an item of the list.
func (r *reader) term() string {
	name := spoken(r.peek(0).Text)
	words, m := r.sortable()
	if m != nil || words != name && strings.HasSuffix(words, " "+name) { // an alias that hides the column of its name
		return r.fail()
	}
	return words
}

func (r *reader) sortable() (string, *measure) {
	if t := r.peek(0); t.Kind == sqltext.Number {
		r.at++
		for i, it := range r.facts.items {
			if t.Text == string(rune('1'+i)) && i < 9 {
				return it.words, it.measure
			}
		}
		return r.fail(), nil
	}
	for _, it := range r.facts.items {
		if next := r.peek(1).Text; it.alias != "" && strings.EqualFold(strings.Trim(r.peek(0).Text, "\"`"), it.alias) && next != "." && next != "(" {
			r.at++
			return it.words, it.measure
		}
	}
	return r.value()
}

// sorted reads ORDER BY and LIMIT.
func (r *reader) sorted() {
	if r.take("ORDER", "BY") {
		for more := true; more && !r.failed; more = r.take(",") {
			r.order()
		}
	}
	if r.take("LIMIT") {
		t := r.peek(0)
		r.at++
		if t.Kind != sqltext.Number {
			r.fail()
		}
		r.facts.limit = t.Text
	}
}

// order reads a term of ORDER BY.
func (r *reader) order() {
	words, m := r.sortable()
	down := r.take("DESC")
	if !down {
		r.take("ASC")
	}
	_ = r.take("NULLS", "LAST") || r.take("NULLS", "FIRST")

	same := func(it item) bool {
		return m == nil && it.measure == nil && it.words == words || m != nil && it.measure != nil && it.measure.verb == m.verb
	}
	if len(r.facts.order) == 0 {
		r.facts.first = sorting{slices.IndexFunc(r.facts.items, same), down}
	}
	others := func(it item) bool { return it.measure != nil && it.measure.verb != m.verb }
	switch {
	case m == nil:
	case slices.ContainsFunc(r.facts.items, others):
		words = m.noun
	default:
		words = "" // the only one needs no name
	}
	ends := [2]string{"lowest ", "highest "}
	if m == nil && momentName.MatchString(words) {
		ends = [2]string{"earliest ", "latest "}
	}
	r.facts.order = append(r.facts.order, strings.TrimSpace(map[bool]string{false: ends[0], true: ends[1]}[down]+words))
}

var momentName = regexp.MustCompile(`(?i)\b(date|day|time|month|year|quarter|week|created|updated|born|at)\b`)
