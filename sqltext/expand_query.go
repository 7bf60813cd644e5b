package sqltext

import (
	"sort"
	"strconv"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// query expands one SELECT. A query that is being expanded has the expansion 0.
func (e *expander) query(q int) sqlshape.Expansion {
	g := &e.state[q]
	if g.done {
		return g.total
	}
	g.done = true
	query := &e.queries[q]
	out := sqlshape.Expansion{Arms: 1}
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
				out.Starred = out.Starred || hidden
			} else {
				size := e.sizeOf(q, part[0], part[1])
				name, alias := e.outputName(part[0], part[1])
				columns = []sqlshape.OutputColumn{{Name: name, Size: size}}
				if alias {
					aliases[name] = max(aliases[name], size)
				}
			}
			for _, c := range columns {
				own = add(own, c.Size+len(c.Name)/nameUnit)
				out.Largest = max(out.Largest, c.Size)
			}
			if out.Columns = append(out.Columns, columns...); len(out.Columns) > mostOutput {
				out.Columns, own = nil, maxExpansion
			}
		}
	}
	g.aliases = aliases
	rest := e.rest(q, listEnd, out.Columns)
	if out.Columns == nil { // VALUES, or no list that could be read
		out.Largest = max(out.Largest, rest)
	}
	own = add(own, rest)
	out.Beside = add(out.Beside, times(rest, out.Arms))

	e.stores(q, &out)
	if query.at[inGroup] >= 0 {
		out.Arms = 1 // a query with groups is not repeated for the arms of its sources
	}
	out.Size = add(out.Size, times(own, out.Arms))
	for _, src := range sources {
		out.Size = add(out.Size, times(src.Size, max(1, out.Arms/max(1, src.Arms))))
	}
	g.total = out
	return out
}

// sources expands what stands in FROM of a query, for look-ups of its columns. hidden says that it does not know the
// columns of all sources.
func (e *expander) sources(q int, out *sqlshape.Expansion) (sources []sqlshape.Expansion, hidden bool) {
	g := &e.state[q]
	byName, columns := map[string]sqlshape.Expansion{}, map[string]int{}
	for _, t := range e.queries[q].tables {
		ref := e.tables[t]
		at := sort.Search(len(e.items), func(i int) bool { return e.items[i].Pos >= ref.Pos })
		var src sqlshape.Expansion
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
		for _, c := range src.Columns {
			columns[c.Name] = max(columns[c.Name], c.Size)
		}
		g.largest = max(g.largest, src.Largest)
		sources = append(sources, src)
		out.Arms = times(out.Arms, max(1, src.Arms))
		out.Stores, out.Sorts, out.Beside = add(out.Stores, src.Stores+1), add(out.Sorts, src.Sorts),
			add(out.Beside, src.Beside)
	}
	g.sources, g.columns = byName, columns
	return sources, hidden
}

// starred returns the columns that items[start:end] of a select list stand for if they are * or name.*, else nil.
func (e *expander) starred(q, start, end int, sources []sqlshape.Expansion) []sqlshape.OutputColumn {
	if !e.op(end-1, "*") || end-start > 1 && !e.op(end-2, ".") {
		return nil
	}
	columns := []sqlshape.OutputColumn{}
	if end-start > 2 {
		if src, ok := e.state[q].sources[asciiLower(e.nameOf(end-3))]; ok {
			return append(columns, src.Columns...)
		}
	}
	for _, src := range sources {
		columns = append(columns, src.Columns...)
	}
	return columns
}

// rest returns the size of what stands outside of the select list of a query, which ends before item listEnd.
func (e *expander) rest(q, listEnd int, columns []sqlshape.OutputColumn) int {
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
			if k, err := strconv.Atoi(e.items[i].Text); err == nil && 0 < k && k <= len(columns) &&
				(e.within(query, inGroup, i) || e.within(query, inOrder, i)) {
				total = add(total, columns[k-1].Size)
			}
		}
	}
	for _, r := range e.childrenOf[q] {
		if start := e.queries[r].start; start < query.start || start >= listEnd {
			count(start, e.query(r).Size)
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
func (e *expander) stores(q int, out *sqlshape.Expansion) {
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
		total = add(total, e.query(children[at]).Size)
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
	case it.role == roleTable, it.role == roleCTE, it.role == roleAlias, it.role == roleFunction, it.role == roleType,
		e.op(i+1, "."):
		return 1
	}
	name, qualified := asciiLower(e.nameOf(i)), e.op(i-1, ".") && i > 1
	schema := ""
	if qualified {
		schema = asciiLower(e.nameOf(i - 2))
		for at := q; at >= 0; at = e.queries[at].parent {
			if src, ok := e.state[at].sources[schema]; ok {
				return max(1, src.Column(name))
			}
		}
	}
	if table, ok := e.named(schema, name, i); ok { // x IN table
		return add(1, table.Size)
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
