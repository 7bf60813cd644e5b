package guard

import (
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
	return schema.Fold(r.text.Value(r.i - 1)), true
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
	if !r.take("select") {
		return false
	}
	list := r.i
	if !r.results() || !r.clauses(true) {
		return false
	}
	limited := r.word() == "limit"
	return r.limit() && r.i == r.text.Len() && (!limited || r.plain(list))
}

// plain reports whether the list of results that begins at a token has columns, constants and counts and the like alone. Of
// how many rows an engine computes another one before a LIMIT ends it depends on its plan, and so on all rows.
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
	if name := schema.Fold(r.text.Value(end - 1)); !column || r.i != end-1 || name != path[len(path)-1] {
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
		return slices.ContainsFunc(t.families, func(f Family) bool { return f != NoFamily }) && r.rule(t)
	case r.views[t]:
		return true
	case t.Definition == "":
		return false
	}
	r.views[t] = true
	return r.within(ViewQuery(r.catalog.Text, t.Definition), func() bool { _, ok := r.query(); return ok })
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
	distinct := r.take("distinct")
	if !distinct {
		r.take("all")
	}
	type named struct {
		name string
		is   operand
	}
	var names []named
	for again := true; again; again = r.take(",") {
		if r.take("*") || r.star() {
			if distinct {
				return nil, false
			}
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
		if items = append(items, o); distinct {
			r.pair(o, operand{null: true})
		}
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
