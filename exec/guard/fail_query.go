package guard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The grammar of what [Catalog.CannotFail] has on its list. Each method reads what comes next, and returns false where
// that is something else.

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
var clauseWords = Set(`
as on using where group having order limit offset union except intersect minus window fetch for set natural left right full
inner cross outer join straight_join lateral tablesample indexed not and or is in like between exists case when then else end
cast collate select from with values table by null true false all distinct returning qualify use force ignore partition escape
glob ilike similar regexp rlike match isnull notnull xor div mod interval array row binary only over filter within`)

// ident reads a name, if one comes next, and returns it folded.
func (r *failReader) ident() (folded string, ok bool) {
	if !r.text.IsName(r.i) || clauseWords[r.word()] {
		return "", false
	}
	r.i++
	return schema.FoldCase(r.text.Value(r.i - 1)), true
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
	r.text, r.at.renamed = NewText(s), map[string]string{}
	if r.take("with") {
		for again := true; again; again = r.take(",") {
			if !r.common() {
				return false
			}
		}
	}
	if !r.take("select") {
		return false
	}
	list := r.i
	if !r.results() || !r.clauses(true) {
		return false
	}
	limited := r.word() == "limit"
	if !r.limit() {
		return false
	}
	r.take(";")
	if r.i != r.text.Len() {
		return false
	}
	r.fails = r.fails || limited && !r.plain(list)
	return true
}

// plain reports whether the list of results that begins at a token has columns, constants and counts and the like
// alone. Of how many rows an engine computes another one before a LIMIT ends it depends on its plan, and so on all
// rows.
func (r *failReader) plain(list int) bool {
	r.i = list
	r.one("distinct", "all")
	for again := true; again; again = r.take(",") {
		if r.take("*") || r.star() {
			continue
		}
		r.having = true
		_, ok := r.operand()
		if r.having = false; !ok {
			return false
		}
		r.take("as")
		if _, named := r.ident(); !named && r.text.Token(r.i).Kind == sqltext.String {
			r.i++
		}
	}
	return r.i == r.text.Len() || r.word() == "from"
}

// common reads a common table expression, with a name for each column or for none.
func (r *failReader) common() bool {
	name, ok := r.ident()
	if !ok {
		return false
	}
	var columns, written []string
	if r.take("(") {
		for again := true; again; again = r.take(",") {
			column, ok := r.ident()
			if !ok {
				return false
			}
			columns, written = append(columns, column), append(written, r.text.Raw(r.i-1))
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
	items, shown, ok := r.bracketed()
	if !ok || len(columns) > 0 && len(columns) != len(items) {
		return false
	}
	for i, column := range columns {
		r.name(column, r.later(items[i]), r.trait(items[i]))
	}
	if len(columns) > 0 {
		shown = written
	}
	r.commons = append(r.commons, common{name, shown})
	return true
}

// later is the family of an item of a query that was read whole: its columns are known.
func (r *failReader) later(o operand) string {
	if o.column == "" && o.family == noFamily {
		return map[sqltext.Kind]string{sqltext.Number: numberFamily, sqltext.String: textFamily}[o.constant]
	}
	return r.family(o)
}

// results skips the outermost list of results. A query in it has conditions of its own, so there may be none.
func (r *failReader) results() bool {
	r.at.distinct = r.take("distinct")
	r.take("all")
	for depth, begin := 0, r.i; r.i < r.text.Len(); r.i++ {
		word, before := r.word(), r.text.Word(r.i-1)
		queryWord := word == "select" || word == "values" || word == "table" || word == "with"
		r.fails = r.fails || queryWord || r.list != nil && (word == "||" || strings.HasPrefix(word, "current_"))
		switch {
		case depth == 0 && (queryWord || word == "union"), word == "on" && before == "distinct":
			return false
		case word == "(":
			depth++
			r.fails = r.fails || r.list != nil && r.text.IsName(r.i-1) && !clauseWords[before] && !r.list(before)
		case word == ")":
			depth--
		case depth == 0 && (word == "," || word == "from"):
			r.listed(begin, r.item(begin, r.i))
			begin = r.i + 1
			if word == "from" {
				return true
			}
		}
	}
	return true
}

// item notes what an item of the outermost list is called: what may fail, if that is not the name of a column in it. It
// returns the token behind the item without its alias.
func (r *failReader) item(begin, end int) (behind int) {
	outer := r.i
	defer func() { r.i = outer }()
	r.i = begin
	path, column := r.path()
	r.take("as")
	last := r.text.Token(end - 1)
	if column && r.i >= end {
		r.at.names = append(r.at.names, path[len(path)-1])
		return end // a column alone
	}
	if last.Kind != sqltext.String && !r.text.IsName(end-1) {
		return end // without a name
	}
	name := schema.FoldCase(r.text.Value(end - 1))
	if r.at.names = append(r.at.names, name); !column || r.i != end-1 || name != path[len(path)-1] {
		r.name(name, noFamily, everyTrait) // no aggregate is of it
	}
	if column && r.i == end-1 {
		r.at.renamed[name] = path[len(path)-1]
	}
	switch before := r.text.Token(end - 2); {
	case end-2 > begin && r.text.Word(end-2) == "as":
		return end - 2
	case end-1 > begin && !clauseWords[r.text.Word(end-1)] && (before.Text == ")" || r.text.Word(end-2) == "end" ||
		before.Kind != sqltext.Operator && !clauseWords[r.text.Word(end-2)]):
		return end - 1
	}
	return end
}

// clauses reads what stands behind a list of results, but for the LIMIT. outermost: ORDER BY may name results.
func (r *failReader) clauses(outermost bool) bool {
	if r.take("from") && !r.sources() {
		return false
	}
	if r.take("where") {
		r.skippable(r.condition)
	}
	if r.take("group", "by") && !r.columns(false, func(m mention) { r.at.groups = append(r.at.groups, m) }) {
		return false
	}
	r.at.notes = true
	defer func() { r.at.notes = false; r.at.end = r.i; r.settle() }()
	if r.take("having") {
		r.having = true
		r.skippable(r.condition)
		r.having = false
	}
	r.at.ordered = r.take("order", "by")
	return !r.at.ordered || r.columns(outermost, func(mention) {})
}

// conditionEnds stand behind a condition, outside of brackets.
var conditionEnds = Set(`, ) ; where group having order limit offset fetch union except intersect window for join inner left right full cross natural
asc desc nulls`)

// skippable reads a condition or a value by a method, or skips another one.
func (r *failReader) skippable(read func() bool) {
	at := r.i
	if read() && r.ended() {
		return
	}
	r.fails = true
	for r.i = at; !r.ended(); r.i++ {
		if r.word() == "(" {
			r.i = r.behind(r.i + 1)
		}
	}
	end := r.i
	r.loose = r.loose || r.aggregates(at, end) || !r.expression(at, end)
	r.i = end
}

// ended reports whether what comes next ends a condition or a value.
func (r *failReader) ended() bool {
	function := (r.word() == "left" || r.word() == "right") && r.text.Raw(r.i+1) == "("
	return r.i >= r.text.Len() || conditionEnds[r.word()] && !function
}

// columns reads what is grouped or sorted by: columns, counts and the like, or places in the list of results. named:
// also a name of the list.
func (r *failReader) columns(named bool, each func(mention)) bool {
	for again := true; again; again = r.take(",") {
		at := r.i
		name, ok := r.ident()
		if !named || !ok || name == "" || !r.ended() {
			var o operand
			r.i, r.having = at, true
			r.skippable(func() (ok bool) {
				if o, ok = r.operand(); !ok || o.constant == sqltext.String {
					o, ok = operand{}, false
				}
				return ok
			})
			if r.having = false; r.i == at {
				return false
			}
			r.pairs = append(r.pairs, [2]operand{o, {null: true}})
			each(r.place(at, o))
			name = o.column
		} else {
			if !slices.Contains(r.at.names, name) {
				r.note(at, r.i, []string{name})
			}
			name = cmp.Or(r.at.renamed[name], name)
		}
		if name != "" {
			r.sorted = append(r.sorted, name)
		}
		if r.at.descending = r.take("desc"); !r.at.descending {
			r.take("asc")
		}
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
			r.skippable(r.condition)
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
	var of source
	if r.word() == "(" {
		at := r.i
		_, columns, ok := r.bracketed()
		if !ok {
			if r.i = at + 1; slices.Contains([]string{"select", "with", "values"}, r.word()) || !r.joined() || !r.take(")") {
				return false
			}
			return true
		}
		of.columns = columns
	} else if ok := r.table(&of); !ok {
		return false
	}
	as := r.take("as")
	if _, named := r.ident(); named {
		of.alias = r.text.Raw(r.i - 1)
	} else if as {
		return false
	}
	r.at.sources = append(r.at.sources, of)
	return r.word() != "("
}

// table reads the name of a table, a view or a common table expression.
func (r *failReader) table(of *source) bool {
	path, ok := r.path()
	if !ok {
		return false
	}
	of.alias = r.text.Raw(r.i - 1)
	name, found := path[len(path)-1], 0
	if i := slices.IndexFunc(r.commons, func(c common) bool { return len(path) == 1 && c.name == name }); i >= 0 {
		of.columns = r.commons[i].columns
		found++
	}
	for _, relation := range r.catalog.Relations {
		if fold(relation.Name) != name {
			continue
		}
		if of.relation = relation; !r.relation(relation) {
			return false
		}
		found++
	}
	if found > 1 { // nobody knows which one it is
		of.relation, of.columns = nil, nil
	}
	return found > 0
}

// relation notes the columns of a table, or reads the query of a view.
func (r *failReader) relation(t *Relation) bool {
	for i, column := range t.columns {
		r.name(fold(column), t.families[i], t.traits[i])
	}
	switch {
	case !t.View: // a table without any may be one of another server, or of a module
		r.fails = r.fails || !slices.ContainsFunc(t.families, func(f string) bool { return f != noFamily }) || !r.rule(t)
		return true
	case r.views[t]:
		return true
	case t.Definition == "":
		return false
	}
	r.views[t] = true
	return r.within(r.catalog.ViewQuery(t.Definition), func() bool { _, _, ok := r.query(); return ok })
}

// bracketed reads a query in brackets and returns the items of its list, and their names as they are written: nil where
// one has none.
func (r *failReader) bracketed() (items []operand, names []string, ok bool) {
	if !r.take("(") {
		return nil, nil, false
	}
	items, names, ok = r.query()
	return items, names, ok && r.take(")")
}

// query reads a query in another one, whose list counts: an engine may write it into the conditions around it.
func (r *failReader) query() (items []operand, names []string, ok bool) {
	if !r.take("select") {
		return nil, nil, false
	}
	around := r.at
	defer func() { r.at = around }()
	r.at = &level{distinct: r.take("distinct")}
	if !r.at.distinct {
		r.take("all")
	}
	for again := true; again; again = r.take(",") {
		o, ok := r.shown()
		if !ok {
			return nil, nil, false
		}
		items = append(items, o)
	}
	if !r.clauses(false) {
		return nil, nil, false
	}
	for i, o := range items {
		if name := r.at.aliases[i]; name != "" {
			if o.column != name {
				r.name(name, r.family(o), r.trait(o))
			}
			r.pairs = append(r.pairs, [2]operand{o, {null: true}})
		}
	}
	if !slices.Contains(r.at.written, "") {
		names = r.at.written
	}
	return items, names, true
}

// shown reads an item of the list of a query in another one.
func (r *failReader) shown() (o operand, ok bool) {
	if r.take("*") || r.star() {
		r.at.starred = true
		r.at.add("", "", mention{})
		return operand{logical: true}, !r.at.distinct // not one value
	}
	at := r.i
	r.having, r.at.notes = true, true
	o, ok = r.operand()
	r.having, r.at.notes = false, false
	item, written := r.place(at, o), ""
	if item.path != nil {
		written = r.text.Raw(r.i - 1)
	}
	as := r.take("as")
	name, named := r.ident()
	if named {
		written = r.text.Raw(r.i - 1)
	}
	r.at.add(name, written, item)
	if r.at.distinct {
		r.pair(o, operand{null: true})
	}
	return o, ok && (named || !as)
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
