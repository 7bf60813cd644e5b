package sqltext

import (
	"sort"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

const (
	// maxExpansion is where Expand stops to count.
	maxExpansion = 1 << 30
	// mostOutput bounds the columns that are stored for one query. No engine has more.
	mostOutput = 5000
	// nameUnit is how many bytes of a column's name cost as much as a token: * repeats names that the text has once.
	nameUnit = 64
)

// Expand returns the Expansion of a query, or of the query in a CREATE VIEW. relation returns the Expansion of a view,
// and false for every other relation; nil: there are no views.
//
// Expand reads tokens and overestimates in doubt: a name that could mean a large column counts as one. It takes time
// linear in the length of the text, apart from the depth of nesting.
func (s *Statement) Expand(relation func(schema, name string) (sqlshape.Expansion, bool)) sqlshape.Expansion {
	p := s.tree()
	e := expander{parsed: p, relation: relation, state: make([]grown, len(p.queries)),
		blocks: map[int]sqlshape.Expansion{}}
	e.index()
	out := e.block(-1)
	if p.up(0) == "CREATE" && len(p.queries) > 0 {
		for i := range p.queries[0].start {
			if e.matchOf(i) > i {
				out = out.Renamed(e.namesIn(i))
				break
			}
		}
	}
	out.Added = max(0, out.Size-len(p.items))
	return out
}

// expander computes an Expansion from the inside out, each part once.
type expander struct {
	*parsed
	relation   func(schema, name string) (sqlshape.Expansion, bool)
	state      []grown                    // of each query
	itemsOf    [][]int                    // items of each query
	childrenOf [][]int                    // subqueries in the expressions of each query
	withs      map[string][]*with         // by name in lower case
	bodies     map[int]bool               // brackets of CTE bodies
	blocks     map[int]sqlshape.Expansion // by opening bracket, -1 for the text
}

// with is a CTE.
type with struct {
	in       int // the bracket that contains its WITH, or -1
	body     int // the bracket of its query, or -1
	columns  []string
	active   bool // its body is being expanded
	recurs   bool // its body names it
	expanded *sqlshape.Expansion
}

// grown is the state of one query.
type grown struct {
	done    bool
	total   sqlshape.Expansion
	sources map[string]sqlshape.Expansion // by alias or name in lower case
	columns map[string]int                // of all sources: the largest of each name
	largest int                           // of all sources
	aliases map[string]int                // of the select list, once it is known
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

// block expands the query in a bracket, all arms of it; -1 is the whole text.
func (e *expander) block(open int) sqlshape.Expansion {
	if b, ok := e.blocks[open]; ok {
		return b
	}
	to := len(e.items)
	if open >= 0 && e.items[open].match > open {
		to = e.items[open].match
	}
	var out sqlshape.Expansion
	first := sort.Search(len(e.queries), func(q int) bool { return e.queries[q].start > open })
	for q := first; q < len(e.queries) && e.queries[q].start < to; q++ {
		if parent := e.queries[q].parent; parent >= first || e.inBody(q, open) {
			continue
		}
		arm := e.query(q)
		out.Size, out.Arms = add(out.Size, arm.Size), add(out.Arms, arm.Arms)
		out.Stores, out.Sorts, out.Beside = add(out.Stores, arm.Stores), add(out.Sorts, arm.Sorts),
			add(out.Beside, arm.Beside)
		out.Starred, out.Largest = out.Starred || arm.Starred, max(out.Largest, arm.Largest)
		for i, c := range arm.Columns {
			if i == len(out.Columns) {
				out.Columns = append(out.Columns, c)
			}
			out.Columns[i].Size = max(out.Columns[i].Size, c.Size)
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
func (e *expander) named(schema, name string, i int) (sqlshape.Expansion, bool) {
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
		return sqlshape.Expansion{}, false
	}
	return e.relation(schema, name)
}

func (e *expander) cte(w *with) sqlshape.Expansion {
	switch {
	case w.expanded != nil:
		return *w.expanded
	case w.active:
		w.recurs = true
		return sqlshape.Expansion{Size: 1, Arms: 1, Largest: 1}
	}
	w.active = true
	b := e.block(w.body)
	w.active = false
	if w.recurs {
		b.Arms = 1 // no engine writes the arms of a recursion out
	}
	if len(w.columns) > 0 {
		b = b.Renamed(w.columns)
	}
	w.expanded = &b
	return b
}
