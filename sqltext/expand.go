package sqltext

import (
	"sort"
	"strconv"
)

// Expansion says what a query costs an engine once every common table expression and view is written out at each place
// that names it, and every column of a subquery at each place that uses it. Engines do that before any limit of theirs
// looks at the result: a text of 700 bytes can grow to gigabytes.
type Expansion struct {
	Added  int // tokens that writing out adds, at most maxExpansion
	Stores int // places that may hold rows: subqueries in FROM, DISTINCT, IN (SELECT …), and every second join
	Sorts  int // ORDER BY, GROUP BY, PARTITION BY, UNION, INTERSECT and EXCEPT

	size    int            // tokens in all
	columns []outputColumn // of the result, in order, as far as the text tells
	largest int            // size of the largest column, also where columns does not have it
	arms    int            // SELECTs of a compound, those of its sources multiplied
	starred bool           // columns lacks those that a * stands for
}

// outputColumn is a column of a result.
type outputColumn struct {
	name string // in ASCII lower case
	size int    // tokens of its expression once everything is written out
}

const (
	// maxExpansion is where Expand stops to count.
	maxExpansion = 1 << 30
	// mostOutput bounds the columns that are kept of one query. No engine has more.
	mostOutput = 5000
	// nameUnit is how many bytes of a column's name cost as much as a token: * repeats names that the text has once.
	nameUnit = 64
)

// Expand returns the Expansion of a query, or of the query in a CREATE VIEW. relation returns that of a view, and false
// for every other relation; nil: there are no views.
//
// The reading is lexical and errs on the side of more: a name that could be that of a large column counts as one. It
// takes time linear in the length of the text but for the depth of nesting.
func (s *Statement) Expand(relation func(schema, name string) (Expansion, bool)) Expansion {
	p := s.tree()
	e := expander{parsed: p, relation: relation, state: make([]grown, len(p.queries)), blocks: map[int]Expansion{}}
	e.index()
	out := e.block(-1)
	if p.up(0) == "CREATE" && len(p.queries) > 0 {
		for i := range p.queries[0].start {
			if e.matchOf(i) > i {
				out = out.renamed(e.namesIn(i))
				break
			}
		}
	}
	out.Added = max(0, out.size-len(p.items))
	return out
}

// expander computes an Expansion from the inside out, each part once.
type expander struct {
	*parsed
	relation   func(schema, name string) (Expansion, bool)
	state      []grown            // of each query
	itemsOf    [][]int            // items of each query
	childrenOf [][]int            // subqueries in the expressions of each query
	withs      map[string][]*with // by name in lower case
	bodies     map[int]bool       // brackets of CTE bodies
	blocks     map[int]Expansion  // by opening bracket, -1 for the text
}

// with is a CTE.
type with struct {
	in       int // the bracket in which its WITH stands, or -1
	body     int // the bracket of its query, or -1
	columns  []string
	active   bool // its body is being expanded
	recurs   bool // its body names it
	expanded *Expansion
}

// grown is the state of one query.
type grown struct {
	done    bool
	total   Expansion
	sources map[string]Expansion // by alias or name in lower case
	columns map[string]int       // of all sources: the largest of each name
	largest int                  // of all sources
	aliases map[string]int       // of the select list, once it is known
}

func add(a, b int) int { return min(a+b, maxExpansion) }

func times(a, b int) int {
	if a > 0 && b > maxExpansion/a {
		return maxExpansion
	}
	return a * b
}

// index finds what belongs to which query, and the CTEs.
func (e *expander) index() {
	n := len(e.queries)
	e.itemsOf, e.childrenOf = make([][]int, n), make([][]int, n)
	for i := range e.items {
		if q := e.items[i].query; q >= 0 {
			e.itemsOf[q] = append(e.itemsOf[q], i)
		}
	}
	e.withs, e.bodies = map[string][]*with{}, map[int]bool{}
	for _, s := range e.ctes {
		w := &with{in: e.items[s.from].in, body: -1}
		i := s.from + 1
		if m := e.matchOf(i); m > i {
			w.columns = e.namesIn(i)
			i = m + 1
		}
		for ; e.up(i) != ""; i++ { // AS NOT MATERIALIZED
		}
		if e.matchOf(i) > i {
			w.body = i
			e.bodies[i] = true
		}
		e.withs[asciiLower(s.name)] = append(e.withs[asciiLower(s.name)], w)
	}
	for q := range e.queries {
		if query := &e.queries[q]; query.parent >= 0 && !query.source && !query.cte {
			e.childrenOf[query.parent] = append(e.childrenOf[query.parent], q)
		}
	}
}

// matchOf returns the closing bracket of the one at item i, or -1.
func (e *expander) matchOf(i int) int {
	if !e.op(i, "(") {
		return -1
	}
	return e.items[i].match
}

// namesIn returns the names in the bracket at item i.
func (e *expander) namesIn(i int) []string {
	var names []string
	for j := i + 1; j < e.items[i].match; j++ {
		if it := &e.items[j]; it.Kind == Word || it.Kind == QuotedName || it.Kind == String {
			names = append(names, asciiLower(e.nameOf(j)))
		}
	}
	return names
}

// renamed returns x with other names for its columns. Where * hides their places each counts as the largest.
func (x Expansion) renamed(names []string) Expansion {
	columns := make([]outputColumn, len(names))
	for i, name := range names {
		columns[i] = outputColumn{name, x.largest}
		if !x.starred && i < len(x.columns) {
			columns[i].size = x.columns[i].size
		}
	}
	x.columns = columns
	return x
}

// block expands the query in a bracket, all arms of it; -1 is the whole text.
func (e *expander) block(open int) Expansion {
	if b, ok := e.blocks[open]; ok {
		return b
	}
	to := len(e.items)
	if open >= 0 && e.items[open].match > open {
		to = e.items[open].match
	}
	var out Expansion
	first := sort.Search(len(e.queries), func(q int) bool { return e.queries[q].start > open })
	for q := first; q < len(e.queries) && e.queries[q].start < to; q++ {
		if parent := e.queries[q].parent; parent >= first || e.inBody(q, open) {
			continue
		}
		arm := e.query(q)
		out.size, out.arms = add(out.size, arm.size), add(out.arms, arm.arms)
		out.Stores, out.Sorts = add(out.Stores, arm.Stores), add(out.Sorts, arm.Sorts)
		out.starred, out.largest = out.starred || arm.starred, max(out.largest, arm.largest)
		for i, c := range arm.columns {
			if i == len(out.columns) {
				out.columns = append(out.columns, c)
			}
			out.columns[i].size = max(out.columns[i].size, c.size)
		}
	}
	e.blocks[open] = out
	return out
}

// inBody reports whether query q is in the body of a CTE that lies inside the bracket.
func (e *expander) inBody(q, bracket int) bool {
	for i := e.items[e.queries[q].start].in; i > bracket; i = e.items[i].in {
		if e.bodies[i] {
			return true
		}
	}
	return false
}

// named expands what a name means at item i: a CTE or a view.
func (e *expander) named(schema, name string, i int) (Expansion, bool) {
	var nearest *with
	if schema == "" {
		for _, w := range e.withs[asciiLower(name)] {
			if w.body >= 0 && w.in < i && (w.in < 0 || i < e.items[w.in].match) && (nearest == nil || w.in > nearest.in) {
				nearest = w
			}
		}
	}
	switch {
	case nearest != nil:
		return e.cte(nearest), true
	case e.relation == nil:
		return Expansion{}, false
	}
	return e.relation(schema, name)
}

func (e *expander) cte(w *with) Expansion {
	switch {
	case w.expanded != nil:
		return *w.expanded
	case w.active:
		w.recurs = true
		return Expansion{size: 1, arms: 1, largest: 1}
	}
	w.active = true
	b := e.block(w.body)
	w.active = false
	if w.recurs {
		b.arms = 1 // no engine writes the arms of a recursion out
	}
	if len(w.columns) > 0 {
		b = b.renamed(w.columns)
	}
	w.expanded = &b
	return b
}

// query expands one SELECT. A query that is being expanded has the expansion 0.
func (e *expander) query(q int) Expansion {
	g := &e.state[q]
	if g.done {
		return g.total
	}
	g.done = true
	query := &e.queries[q]
	out := Expansion{arms: 1}
	own := 0
	sources, hidden := e.sources(q, &out)

	// The select list comes first, because what stands behind it may name its aliases.
	listEnd, aliases := query.start, map[string]int{}
	if at := query.at[inSelect]; at >= 0 && e.up(at) == "SELECT" {
		start, _ := e.listStart(query)
		_, listEnd, _ = e.clause(query, inSelect)
		if from := query.at[inFrom]; from > start {
			listEnd = from // "offset" may be a name in the list
		}
		for _, part := range e.split(start, listEnd) {
			if part[0] >= part[1] {
				continue
			}
			columns := e.starred(q, part[0], part[1], sources)
			if columns != nil {
				out.starred = out.starred || hidden
			} else {
				size := e.sizeOf(q, part[0], part[1])
				name, alias := e.outputName(part[0], part[1])
				columns = []outputColumn{{name, size}}
				if alias {
					aliases[name] = max(aliases[name], size)
				}
			}
			for _, c := range columns {
				own = add(own, c.size+len(c.name)/nameUnit)
				out.largest = max(out.largest, c.size)
			}
			if out.columns = append(out.columns, columns...); len(out.columns) > mostOutput {
				out.columns, own = nil, maxExpansion
			}
		}
	}
	g.aliases = aliases
	rest := e.rest(q, listEnd, out.columns)
	if out.columns == nil { // VALUES, or no list that could be read
		out.largest = max(out.largest, rest)
	}
	own = add(own, rest)

	e.stores(q, &out)
	if query.at[inGroup] >= 0 {
		out.arms = 1 // a query with groups is not repeated for the arms of its sources
	}
	out.size = add(out.size, times(own, out.arms))
	for _, src := range sources {
		out.size = add(out.size, times(src.size, max(1, out.arms/max(1, src.arms))))
	}
	g.total = out
	return out
}

// sources expands what stands in FROM of a query, for look-ups of its columns. hidden says that it does not know the
// columns of all sources.
func (e *expander) sources(q int, out *Expansion) (sources []Expansion, hidden bool) {
	g := &e.state[q]
	byName, columns := map[string]Expansion{}, map[string]int{}
	for _, t := range e.queries[q].tables {
		ref := e.tables[t]
		at := sort.Search(len(e.items), func(i int) bool { return e.items[i].Pos >= ref.Pos })
		var src Expansion
		known := true
		switch {
		case ref.Name == "":
			src = e.block(at)
		case ref.Function:
			known = false
		default:
			src, known = e.named(ref.Schema, ref.Name, at)
		}
		name := asciiLower(ref.Name)
		if ref.Alias != "" {
			name = asciiLower(ref.Alias)
		}
		byName[name] = src
		if !known {
			hidden = true
			continue
		}
		for _, c := range src.columns {
			columns[c.name] = max(columns[c.name], c.size)
		}
		g.largest = max(g.largest, src.largest)
		sources = append(sources, src)
		out.arms = times(out.arms, max(1, src.arms))
		out.Stores, out.Sorts = add(out.Stores, src.Stores+1), add(out.Sorts, src.Sorts)
	}
	g.sources, g.columns = byName, columns
	return sources, hidden
}

// starred returns the columns that items[start:end] of a select list stand for if they are * or name.*, else nil.
func (e *expander) starred(q, start, end int, sources []Expansion) []outputColumn {
	if !e.op(end-1, "*") || end-start > 1 && !e.op(end-2, ".") {
		return nil
	}
	columns := []outputColumn{}
	if end-start > 2 {
		if src, ok := e.state[q].sources[asciiLower(e.nameOf(end-3))]; ok {
			return append(columns, src.columns...)
		}
	}
	for _, src := range sources {
		columns = append(columns, src.columns...)
	}
	return columns
}

// rest returns the size of what stands outside of the select list of a query, which ends before item listEnd.
func (e *expander) rest(q, listEnd int, columns []outputColumn) int {
	query := &e.queries[q]
	total, window, uses := 0, 0, 0
	count := func(i, size int) {
		total = add(total, size)
		if e.within(query, inWindow, i) {
			window = add(window, size)
		}
	}
	for _, i := range e.itemsOf[q] {
		if e.up(i) == "OVER" {
			uses++
		}
		if i >= query.start && i < listEnd {
			continue
		}
		count(i, e.weight(q, i))
		if e.items[i].Kind == Number && i > query.at[inFrom] { // ORDER BY 1, GROUP BY 1
			if k, err := strconv.Atoi(e.items[i].Text); err == nil && 0 < k && k <= len(columns) && (e.within(query, inGroup, i) || e.within(query, inOrder, i)) {
				total = add(total, columns[k-1].size)
			}
		}
	}
	for _, r := range e.childrenOf[q] {
		if start := e.queries[r].start; start < query.start || start >= listEnd {
			count(start, e.query(r).size)
		}
	}
	return add(total, times(window, uses)) // each OVER w repeats its window
}

// within reports whether item i stands in a clause of a query.
func (e *expander) within(q *query, c clause, i int) bool {
	start, end, ok := e.clause(q, c)
	return ok && i >= start && i < end
}

// stores counts what holds and sorts rows in a query and the subqueries of its expressions.
func (e *expander) stores(q int, out *Expansion) {
	query := &e.queries[q]
	out.Stores = add(out.Stores, query.joins/2)
	for _, i := range e.itemsOf[q] {
		switch e.up(i) {
		case "DISTINCT":
			out.Stores++
		case "IN":
			if e.op(i+1, "(") && isQueryWord(e.up(i+2)) {
				out.Stores++
			}
		case "BY":
			out.Sorts++
		}
	}
	if query.op != "" && query.op != "UNION ALL" {
		out.Sorts += 2
	}
	for _, r := range e.childrenOf[q] {
		sub := e.query(r)
		out.Stores, out.Sorts = add(out.Stores, sub.Stores), add(out.Sorts, sub.Sorts)
	}
}

// outputName returns the name of a term of a select list: its alias, its column, or its text.
func (e *expander) outputName(start, end int) (name string, alias bool) {
	last := &e.items[end-1]
	isName := last.Kind == Word || last.Kind == QuotedName || last.Kind == String
	if end-start > 1 && isName && (last.role == roleAlias || e.up(end-2) == "AS" || e.endsOperand(end-2)) {
		return asciiLower(e.nameOf(end - 1)), true
	}
	if isName && e.isChain(start, end) {
		return asciiLower(e.nameOf(end - 1)), false
	}
	return asciiLower(e.sql[e.items[start].Pos:e.endOf(end-1)]), false
}

// sizeOf returns the size of items[start:end] of query q, its subqueries included.
func (e *expander) sizeOf(q, start, end int) int {
	total := 0
	for i := start; i < end; i++ {
		if e.items[i].query == q {
			total = add(total, e.weight(q, i))
		}
	}
	children := e.childrenOf[q]
	at := sort.Search(len(children), func(k int) bool { return e.queries[children[k]].start >= start })
	for ; at < len(children) && e.queries[children[at]].start < end; at++ {
		total = add(total, e.query(children[at]).size)
	}
	return total
}

// weight returns the size of item i of query q. Any word may be a name to an engine, keywords too.
func (e *expander) weight(q, i int) int {
	it := &e.items[i]
	if it.Kind != Word && it.Kind != QuotedName {
		return 1
	}
	switch {
	case it.role == roleTable, it.role == roleCTE, it.role == roleAlias, it.role == roleFunction, it.role == roleType, e.op(i+1, "."):
		return 1
	}
	name, qualified := asciiLower(e.nameOf(i)), e.op(i-1, ".") && i > 1
	schema := ""
	if qualified {
		schema = asciiLower(e.nameOf(i - 2))
		for at := q; at >= 0; at = e.queries[at].parent {
			if src, ok := e.state[at].sources[schema]; ok {
				return max(1, src.column(name))
			}
		}
	}
	if table, ok := e.named(schema, name, i); ok { // x IN table
		return add(1, table.size)
	}
	unknown := 1
	for at := q; at >= 0; at = e.queries[at].parent {
		g := &e.state[at]
		size, ok := g.columns[name]
		if alias, is := g.aliases[name]; is {
			size, ok = max(size, alias), true
		}
		if ok {
			return max(1, size)
		}
		unknown = max(unknown, g.largest)
	}
	if it.role == roleKeyword && !qualified {
		return 1
	}
	return unknown
}

// column returns the size of a column of a source, 0 if it has none.
func (x Expansion) column(name string) int {
	size, found := 0, false
	for _, c := range x.columns {
		if c.name == name {
			size, found = max(size, c.size), true
		}
	}
	if !found {
		return x.largest
	}
	return size
}
