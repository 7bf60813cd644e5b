package guard

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Family is a family of types. Values of one family are compared with each other and with constants, and no comparison
// fails on a value.
type Family uint8

// The families. A column of NoFamily may fail when it is read, as one that is computed then, or when it is compared.
const (
	NoFamily  Family = iota
	AnyFamily        // of an engine in which every two values can be compared
	NumberFamily
	FloatFamily
	TextFamily
	TimeFamily
	BoolFamily
	OtherFamily // compared with texts alone, which the engine reads before it looks at a row
)

// longestPattern bounds a LIKE pattern, in bytes: SQLite takes no longer one under the guard.
const longestPattern = 100

// CannotFail reports whether no part of a statement can fail on a value of a row, but for the list of results of its
// outermost SELECT, which an engine evaluates on the rows that are left. Such a statement needs no fence: that it is
// answered does not tell whether an index led the engine to a hidden row.
//
// What is on the list: columns of a [Family], constants, parameters; comparisons within one family, AND, OR,
// NOT, IS NULL, IS TRUE, BETWEEN, IN of constants, LIKE with a short constant pattern without a backslash; EXISTS, IN,
// derived tables, common table expressions and views of such queries; joins ON such conditions or USING such columns;
// GROUP BY and ORDER BY of columns; count, min and max of a column; LIMIT of the whole. Everything else may fail, also
// what this reader does not know: the next function of an engine costs time then, and tells nothing.
//
// list says which functions may stand in the outermost list of results; nil: all.
func (c *Catalog) CannotFail(s *sqltext.Statement, list func(function string) bool) bool {
	r := failReader{catalog: c, list: list, families: map[string]Family{}, views: map[*Relation]bool{}}
	return r.statement(s) && r.holds()
}

// failReader reads statements by a small grammar, and notes which values are compared. A method that meets something else
// returns false.
type failReader struct {
	catalog *Catalog
	list    func(string) bool
	text    Text
	i       int // the token that is read next

	families map[string]Family // of columns, by folded name, in all of the statement
	commons  []string          // names of common table expressions, folded
	views    map[*Relation]bool
	pairs    [][2]operand
	any      bool // the engine compares every two values
	having   bool // aggregates may stand here, and queries may not
}

// operand is one side of a comparison.
type operand struct {
	column   string // folded; "" for a constant
	family   Family // of a constant whose type is written
	constant sqltext.Kind
	null     bool // NULL, or a parameter: it is compared with anything
	logical  bool // it is a condition
}

// holds reports whether all pairs of operands are of one family, now that all columns are known.
func (r *failReader) holds() bool {
	return !slices.ContainsFunc(r.pairs, func(pair [2]operand) bool { return !r.comparable(pair[0], pair[1]) })
}

func (r *failReader) comparable(a, b operand) bool {
	fa, fb := r.family(a), r.family(b)
	switch {
	case a.logical || b.logical || a.column != "" && fa == NoFamily || b.column != "" && fb == NoFamily:
		return false
	case r.any || a.null || b.null || fa == fb:
		return true // two constants without a type, too: the engine compares them before it reads a row
	case fa == NoFamily:
		return a.fits(fb)
	case fb == NoFamily:
		return b.fits(fa)
	}
	return false
}

// fits reports whether a constant without a type is compared as what a family is.
func (o operand) fits(family Family) bool {
	switch o.constant {
	case sqltext.Number:
		return family == NumberFamily || family == FloatFamily
	case sqltext.String:
		return family != NumberFamily && family != FloatFamily && family != BoolFamily
	}
	return family == BoolFamily // TRUE or FALSE
}

func (r *failReader) family(o operand) Family {
	if o.column != "" {
		return r.families[o.column]
	}
	return o.family
}

// name notes what a name stands for. One that stands for two families stands for none.
func (r *failReader) name(folded string, family Family) {
	r.any = r.any || family == AnyFamily
	if r.any && family != NoFamily {
		family = AnyFamily
	}
	if was, known := r.families[folded]; known && was != family {
		family = NoFamily
	}
	r.families[folded] = family
}

func (r *failReader) word() string { return r.text.Word(r.i) }

// take reads words or signs, if they come next.
func (r *failReader) take(words ...string) bool {
	for k, word := range words {
		if r.text.Word(r.i+k) != word {
			return false
		}
	}
	r.i += len(words)
	return true
}

// one reads one of some words, if it comes next.
func (r *failReader) one(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return r.take(word) })
}

// clauseWords begin what may stand behind a name. None of them is read as an alias.
var clauseWords = Set("as on using where group having order limit offset union except intersect minus window fetch for set " +
	"natural left right full inner cross outer join straight_join lateral tablesample indexed not and or is in like between " +
	"exists case when then else end cast collate select from with values table by null true false all distinct returning " +
	"qualify use force ignore partition escape glob ilike similar regexp rlike match isnull notnull xor div mod interval " +
	"array row binary only over filter within")

// ident reads a name, if one comes next, and returns it folded.
func (r *failReader) ident() (folded string, ok bool) {
	if !r.text.IsName(r.i) || clauseWords[r.word()] {
		return "", false
	}
	r.i++
	return schema.Fold(r.text.d.Value(r.text.Token(r.i - 1))), true
}

// path reads names with dots between them, at most three.
func (r *failReader) path() (folded []string, ok bool) {
	for len(folded) < 3 {
		name, ok := r.ident()
		if !ok {
			return nil, false
		}
		if folded = append(folded, name); !r.take(".") {
			return folded, true
		}
	}
	return nil, false
}

// statement reads a whole one.
func (r *failReader) statement(s *sqltext.Statement) bool {
	r.text = NewText(s)
	if r.take("with") {
		for again := true; again; again = r.take(",") {
			if !r.common() {
				return false
			}
		}
	}
	return r.take("select") && r.results() && r.clauses(true) && r.limit() && r.i == r.text.Len()
}

// common reads a common table expression, with a name for each column or for none.
func (r *failReader) common() bool {
	name, ok := r.ident()
	if !ok {
		return false
	}
	var columns []string
	if r.take("(") {
		for again := true; again; again = r.take(",") {
			column, ok := r.ident()
			if !ok {
				return false
			}
			columns = append(columns, column)
		}
		if !r.take(")") {
			return false
		}
	}
	if !r.take("as") {
		return false
	}
	if !r.take("materialized") {
		r.take("not", "materialized")
	}
	items, ok := r.bracketed()
	if !ok || len(columns) > 0 && len(columns) != len(items) {
		return false
	}
	for i, column := range columns {
		r.name(column, r.later(items[i]))
	}
	r.commons = append(r.commons, name)
	return true
}

// later is the family of an item of a query that was read whole: its columns are known.
func (r *failReader) later(o operand) Family {
	if o.column == "" && o.family == NoFamily {
		return map[sqltext.Kind]Family{sqltext.Number: NumberFamily, sqltext.String: TextFamily}[o.constant]
	}
	return r.family(o)
}

// results skips the outermost list of results. A query in it has conditions of its own, so there may be none.
func (r *failReader) results() bool {
	r.one("distinct", "all")
	for depth, begin := 0, r.i; r.i < r.text.Len(); r.i++ {
		word, before := r.word(), r.text.Word(r.i-1)
		switch {
		case word == "select", word == "values", word == "table", word == "with", word == "on" && before == "distinct":
			return false
		case r.list != nil && (word == "||" || strings.HasPrefix(word, "current_")):
			return false
		case r.list != nil && word == "(" && r.text.IsName(r.i-1) && !clauseWords[before] && !r.list(before):
			return false
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth == 0 && (word == "," || word == "from"):
			r.item(begin, r.i)
			begin = r.i + 1
			if word == "from" {
				return true
			}
		}
	}
	return true
}

// item notes what an item of the outermost list is called: what may fail, if that is not the name of a column in it.
func (r *failReader) item(begin, end int) {
	outer := r.i
	defer func() { r.i = outer }()
	r.i = begin
	path, column := r.path()
	r.take("as")
	last := r.text.Token(end - 1)
	if column && r.i >= end || last.Kind != sqltext.String && !r.text.IsName(end-1) {
		return // a column alone, or without a name
	}
	if name := schema.Fold(r.text.d.Value(last)); !column || r.i != end-1 || name != path[len(path)-1] {
		r.name(name, NoFamily)
	}
}

// clauses reads what stands behind a list of results, but for the LIMIT. outermost: ORDER BY may name results.
func (r *failReader) clauses(outermost bool) bool {
	if r.take("from") && !r.sources() || r.take("where") && !r.condition() {
		return false
	}
	if r.take("group", "by") && !r.columns(false) {
		return false
	}
	if r.take("having") {
		r.having = true
		ok := r.condition()
		if r.having = false; !ok {
			return false
		}
	}
	return !r.take("order", "by") || r.columns(outermost)
}

// columns reads what is grouped or sorted by: columns, counts and the like, or places in the list of results. named: also
// a name of the list.
func (r *failReader) columns(named bool) bool {
	for again := true; again; again = r.take(",") {
		at := r.i
		if name, ok := r.ident(); !named || !ok || name == "" || r.word() == "." || r.word() == "(" {
			r.i, r.having = at, true
			o, ok := r.operand()
			if r.having = false; !ok || o.constant == sqltext.String {
				return false
			}
			r.pairs = append(r.pairs, [2]operand{o, {null: true}})
		}
		r.one("asc", "desc")
		if r.take("nulls") && !r.one("first", "last") {
			return false
		}
	}
	return true
}

// limit reads the LIMIT of the whole.
func (r *failReader) limit() bool {
	number := func() bool { r.i++; return r.text.Token(r.i-1).Kind == sqltext.Number }
	return !r.take("limit") || number() && (!r.one("offset", ",") || number())
}

// sources reads a FROM.
func (r *failReader) sources() bool {
	for again := true; again; again = r.take(",") {
		if !r.joined() {
			return false
		}
	}
	return true
}

// joined reads a source and what is joined to it. No join is without a condition, but CROSS JOIN.
func (r *failReader) joined() bool {
	if !r.source() {
		return false
	}
	for {
		cross := r.take("cross")
		outer := !cross && r.one("left", "right", "full") && (r.take("outer") || true)
		if !cross && !outer {
			r.take("inner")
		}
		switch {
		case !r.take("join"):
			return !cross && !outer && r.text.Word(r.i-1) != "inner"
		case !r.source():
			return false
		case cross:
		case r.take("on"):
			if !r.condition() {
				return false
			}
		case !r.take("using") || !r.using():
			return false
		}
	}
}

// using reads the columns of USING, each of which stands for those of two tables.
func (r *failReader) using() bool {
	if !r.take("(") {
		return false
	}
	for again := true; again; again = r.take(",") {
		name, ok := r.ident()
		if !ok {
			return false
		}
		r.pairs = append(r.pairs, [2]operand{{column: name}, {column: name}})
	}
	return r.take(")")
}

// source reads one item of a FROM with its alias.
func (r *failReader) source() bool {
	if r.word() == "(" {
		at := r.i
		if _, ok := r.bracketed(); !ok {
			if r.i = at + 1; slices.Contains([]string{"select", "with", "values"}, r.word()) || !r.joined() || !r.take(")") {
				return false
			}
			return true
		}
	} else if !r.table() {
		return false
	}
	as := r.take("as")
	if _, named := r.ident(); as && !named {
		return false
	}
	return r.word() != "("
}

// table reads the name of a table, a view or a common table expression.
func (r *failReader) table() bool {
	path, ok := r.path()
	if !ok {
		return false
	}
	name := path[len(path)-1]
	found := len(path) == 1 && slices.Contains(r.commons, name)
	for _, relation := range r.catalog.Relations {
		if fold(relation.Name) != name {
			continue
		}
		if found = true; !r.relation(relation) {
			return false
		}
	}
	return found
}

// relation notes the columns of a table, or reads the query of a view.
func (r *failReader) relation(t *Relation) bool {
	for i, column := range t.columns {
		r.name(fold(column), t.families[i])
	}
	switch {
	case !t.View: // a table without any may be one of another server, or of a module
		return slices.ContainsFunc(t.families, func(f Family) bool { return f != NoFamily })
	case r.views[t]:
		return true
	case t.Definition == "":
		return false
	}
	r.views[t] = true
	around, at, commons := r.text, r.i, r.commons
	r.text, r.i, r.commons = NewText(r.catalog.Text.Parse(ViewQuery(r.catalog.Text, t.Definition))), 0, nil
	_, ok := r.query()
	r.take(";")
	ok = ok && r.i == r.text.Len()
	r.text, r.i, r.commons = around, at, commons
	return ok
}

// bracketed reads a query in brackets and returns the items of its list.
func (r *failReader) bracketed() (items []operand, ok bool) {
	if !r.take("(") {
		return nil, false
	}
	items, ok = r.query()
	return items, ok && r.take(")")
}

// query reads a query in another one, whose list counts: an engine may write it into the conditions around it.
func (r *failReader) query() (items []operand, ok bool) {
	if !r.take("select") {
		return nil, false
	}
	r.one("distinct", "all")
	type named struct {
		name string
		is   operand
	}
	var names []named
	for again := true; again; again = r.take(",") {
		if r.take("*") || r.star() {
			items = append(items, operand{logical: true}) // not one value
			continue
		}
		r.having = true
		o, ok := r.operand()
		if r.having = false; !ok {
			return nil, false
		}
		as := r.take("as")
		if name, ok := r.ident(); ok {
			names = append(names, named{name, o})
		} else if as {
			return nil, false
		}
		items = append(items, o)
	}
	if !r.clauses(false) {
		return nil, false
	}
	for _, n := range names {
		if n.is.column != n.name {
			r.name(n.name, r.family(n.is))
		}
		r.pairs = append(r.pairs, [2]operand{n.is, {null: true}})
	}
	return items, true
}

// star reads all columns of one source.
func (r *failReader) star() bool {
	at := r.i
	for range 2 {
		if _, ok := r.ident(); ok && r.take(".") && r.take("*") {
			return true
		}
		if r.text.Word(r.i-1) != "." {
			break
		}
	}
	r.i = at
	return false
}

// condition reads terms between AND and OR.
func (r *failReader) condition() bool {
	_, ok := r.terms()
	return ok
}

// terms reads a condition, or one operand in brackets.
func (r *failReader) terms() (operand, bool) {
	o, ok := r.term()
	if !ok {
		return o, false
	}
	for first := true; r.one("and", "or"); first = false {
		next, ok := r.term()
		if !ok || first && !r.truth(o) || !r.truth(next) {
			return o, false
		}
		o = operand{logical: true}
	}
	return o, true
}

// truth takes an operand as a condition: a column is one where its engine says so.
func (r *failReader) truth(o operand) bool {
	if !o.logical {
		r.pairs = append(r.pairs, [2]operand{o, {family: BoolFamily}})
	}
	return o.logical || o.column != ""
}

var comparisons = Set("= <> != < > <= >=")

// term reads one condition without AND and OR outside of brackets.
func (r *failReader) term() (operand, bool) {
	condition := operand{logical: true}
	if r.take("not") {
		o, ok := r.term()
		return condition, ok && r.truth(o)
	}
	if r.take("exists") {
		if r.having {
			return condition, false
		}
		_, ok := r.bracketed()
		return condition, ok
	}
	left, ok := r.operand()
	if !ok {
		return left, false
	}
	switch {
	case comparisons[r.word()]:
		r.i++
		right, ok := r.operand()
		return condition, ok && r.pair(left, right)
	case r.take("is"):
		r.take("not")
		if !left.logical {
			r.pairs = append(r.pairs, [2]operand{left, {null: true}})
		}
		return condition, r.one("null", "true", "false", "unknown")
	}
	at := r.i
	r.take("not")
	switch {
	case r.take("between"):
		low, lok := r.operand()
		and := r.take("and")
		high, hok := r.operand()
		return condition, lok && and && hok && r.pair(left, low) && r.pair(left, high)
	case r.take("in"):
		return condition, r.members(left)
	case r.take("like"):
		return condition, r.pattern(left)
	}
	r.i = at
	return left, true
}

func (r *failReader) pair(a, b operand) bool {
	r.pairs = append(r.pairs, [2]operand{a, b})
	return true
}

// members reads what IN has behind it: constants, or a query with one column.
func (r *failReader) members(left operand) bool {
	if r.text.Word(r.i) == "(" && r.text.Word(r.i+1) == "select" {
		if r.having {
			return false
		}
		items, ok := r.bracketed()
		return ok && len(items) == 1 && r.pair(left, items[0])
	}
	if !r.take("(") {
		return false
	}
	for again := true; again; again = r.take(",") {
		o, ok := r.operand()
		if !ok || o.column != "" || o.logical {
			return false
		}
		r.pair(left, o)
	}
	return r.take(")")
}

// pattern reads what LIKE has behind it.
func (r *failReader) pattern(left operand) bool {
	text := r.text.Token(r.i)
	r.i++
	r.pair(left, operand{family: TextFamily})
	return text.Kind == sqltext.String && len(text.Text) <= longestPattern && !strings.Contains(text.Text, `\`) && r.word() != "escape" &&
		left.column != ""
}

// operand reads a column, a constant, an aggregate where one may stand, or a condition in brackets.
func (r *failReader) operand() (o operand, ok bool) {
	token := r.text.Token(r.i)
	switch {
	case r.take("("):
		if o, ok = r.terms(); !ok || !r.take(")") {
			return o, false
		}
	case r.one("null"), token.Kind == sqltext.Placeholder:
		if token.Kind == sqltext.Placeholder {
			r.i++
		}
		o.null = true
	case r.one("true", "false"):
		o.constant = sqltext.Word
	case token.Kind == sqltext.Number || token.Kind == sqltext.String:
		r.i++
		o.constant = token.Kind
	case (token.Text == "-" || token.Text == "+") && r.text.Token(r.i+1).Kind == sqltext.Number:
		r.i += 2
		o.constant = sqltext.Number
	case (r.word() == "date" || r.word() == "timestamp") && r.text.Token(r.i+1).Kind == sqltext.String:
		r.i += 2
		o.family = TimeFamily
	case r.text.Word(r.i+1) == "(":
		if o, ok = r.aggregate(); !ok {
			return o, false
		}
	default:
		path, ok := r.path()
		if !ok {
			return o, false
		}
		o.column = path[len(path)-1]
	}
	return r.cast(o)
}

// aggregate reads count, min or max of a column.
func (r *failReader) aggregate() (o operand, ok bool) {
	function := r.word()
	if !r.having || function != "count" && function != "min" && function != "max" {
		return o, false
	}
	r.i += 2
	r.having = false
	defer func() { r.having = true }()
	if function == "count" && r.take("*", ")") {
		return operand{family: NumberFamily}, true
	}
	r.take("distinct")
	if o, ok = r.operand(); !ok || o.column == "" && function != "count" || !r.take(")") {
		return o, false
	}
	r.pair(o, operand{null: true})
	if function == "count" {
		o = operand{family: NumberFamily}
	}
	return o, true
}

// castable are types to which PostgreSQL, which writes them into the queries of views, casts a constant before it reads a
// row, and their families.
var castable = map[string]Family{
	"text": TextFamily, "character varying": TextFamily, "bpchar": TextFamily, "integer": NumberFamily, "bigint": NumberFamily, "smallint": NumberFamily,
	"numeric": NumberFamily, "date": TimeFamily, "timestamp without time zone": TimeFamily, "boolean": BoolFamily, "double precision": FloatFamily,
}

// cast reads a cast of a constant, or of a text to a text.
func (r *failReader) cast(o operand) (operand, bool) {
	for r.take("::") {
		words := []string{r.word()}
		for r.i++; slices.Contains([]string{"varying", "precision", "without", "time", "zone"}, r.word()); r.i++ {
			words = append(words, r.word())
		}
		family := castable[strings.Join(words, " ")]
		switch {
		case family == NoFamily || o.logical || r.word() == "(":
			return o, false
		case o.column == "":
			o = operand{family: family}
		case family != TextFamily:
			return o, false
		default:
			r.pair(o, operand{family: TextFamily})
		}
	}
	return o, true
}
