package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Repeated returns the sums of the outer query that may count a row several times. Such a SUM is over columns of
// tables whose rows another base table of the query may repeat. keys returns the keys of a table: lists of columns
// whose values no two rows share. A table without a key is assumed to repeat no row. has reports whether a table has
// a column, for names without a qualifier.
//
// A table is not repeated if each of its rows determines the rows of all other tables. That is so if equalities of
// the query (ON, WHERE, USING) lead from its columns and from constants to a whole key of each table. It ignores
// SUM(DISTINCT), SUM over a CASE with numbers as results, averages, counts and nested queries. It also ignores a sum
// if one of its tables is not repeated.
func (s *Statement) Repeated(keys func(sqlshape.TableRef) [][]string,
	has func(t sqlshape.TableRef, column string) bool) (found []sqlshape.Repetition) {
	r := repetitions{s: s, keys: keys, has: has, query: s.outerQuery()}
	for _, t := range s.Tables() {
		if t.Query == r.query {
			r.all = append(r.all, t)
		}
	}
	if len(r.all) < 2 || len(s.Outline().SetOps) > 0 {
		return nil
	}
	r.equalities()
	for _, item := range s.Outline().Items {
		if t, by, ok := r.item(item); ok {
			found = append(found, sqlshape.Repetition{Table: r.all[t], By: r.all[by], Item: item.Text})
		}
	}
	return found
}

// repetitions is the outer query of a statement.
type repetitions struct {
	s    *Statement
	keys func(sqlshape.TableRef) [][]string
	has  func(sqlshape.TableRef, string) bool

	query int // the outer one
	all   []sqlshape.TableRef
	equal [][2]place // columns that are equal
	fixed []place    // columns that equal a constant
}

// place is a column of one of the relations, in lower case.
type place struct {
	table  int
	column string
}

// place finds the relation of a column; false: it is of another query, or nobody knows.
func (r *repetitions) place(c sqlshape.ColumnRef) (place, bool) {
	name := asciiLower(c.Column)
	if c.Qualifier != "" {
		last := c.Qualifier[strings.LastIndexByte(c.Qualifier, '.')+1:]
		i := slices.IndexFunc(r.all, func(t sqlshape.TableRef) bool {
			return strings.EqualFold(t.Alias, last) || t.Alias == "" && strings.EqualFold(t.Name, last)
		})
		return place{i, name}, i >= 0
	}
	at := -1
	for i, t := range r.all {
		if t.Base() && r.has(t, c.Column) {
			if at >= 0 {
				return place{}, false
			}
			at = i
		}
	}
	return place{at, name}, at >= 0
}

// outerQuery returns the Query of the relations of the outer SELECT, which a WITH list may stand before; -1: there is
// none.
func (s *Statement) outerQuery() int {
	depth, selected := 0, false
	for t := range s.Tokens() {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case depth == 0 && strings.EqualFold(t.Text, "SELECT"):
			selected = true
		}
		i := slices.IndexFunc(s.Tables(), func(r sqlshape.TableRef) bool { return r.Pos == t.Pos })
		if i >= 0 && selected && (depth == 0 || depth == 1 && t.Text == "(") {
			return s.Tables()[i].Query
		}
	}
	return -1
}

// isOuter reports whether a column stands in the outer query.
func (r *repetitions) isOuter(c sqlshape.ColumnRef) bool {
	return len(c.Scope) > 0 && c.Scope[0].Query == r.query
}

// equalities reads what the query compares.
func (r *repetitions) equalities() {
	for _, c := range r.s.Conditions(nil) {
		if len(c.Equal) == 2 && !c.Nested && r.isOuter(c.Equal[0]) && r.isOuter(c.Equal[1]) {
			a, ok := r.place(c.Equal[0])
			b, ok2 := r.place(c.Equal[1])
			if ok && ok2 {
				r.equal = append(r.equal, [2]place{a, b})
			}
		}
	}
	for _, c := range r.s.Comparisons() {
		if p, ok := r.place(c.ColumnRef); ok && c.Op == "=" && r.isOuter(c.ColumnRef) {
			r.fixed = append(r.fixed, p)
		}
	}
	for _, name := range r.s.Outline().Using {
		first := -1
		for i, t := range r.all {
			switch {
			case !t.Base() || !r.has(t, name):
			case first < 0:
				first = i
			default:
				r.equal = append(r.equal, [2]place{{first, asciiLower(name)}, {i, asciiLower(name)}})
			}
		}
	}
}

// item reads one item of the select list: a table whose rows it adds up, and who repeats them.
func (r *repetitions) item(item sqlshape.SelectItem) (table, by int, ok bool) {
	if !slices.Contains(item.Aggregates, "SUM") {
		return 0, 0, false
	}
	term := r.s.Dialect().Parse("SELECT " + item.Text)
	for arguments := range sums(term) {
		var tables []int
		for _, c := range arguments.Columns() {
			p, ok := r.place(c)
			if !ok || !r.all[p.table].Base() {
				tables = nil
				break
			}
			tables = append(tables, p.table)
		}
		repeated := -1
		for _, t := range tables {
			if repeated = r.repeats(t); repeated < 0 {
				break
			}
		}
		if len(tables) > 0 && repeated >= 0 {
			return tables[0], repeated, true
		}
	}
	return 0, 0, false
}

// sums are the arguments of SUM in an item, each as a statement, those left out that need not be looked at.
func sums(term *Statement) func(func(*Statement) bool) {
	return func(yield func(*Statement) bool) {
		tokens := slices.Collect(term.Tokens())
		for i := 0; i+2 < len(tokens); i++ {
			if !strings.EqualFold(tokens[i].Text, "SUM") || tokens[i+1].Text != "(" {
				continue
			}
			end, depth := i+2, 1
			for ; end < len(tokens) && depth > 0; end++ {
				switch tokens[end].Text {
				case "(":
					depth++
				case ")":
					depth--
				}
			}
			inside := tokens[i+2 : max(end-1, i+2)]
			if len(inside) == 0 || strings.EqualFold(inside[0].Text, "DISTINCT") || countsCases(inside) {
				continue
			}
			last := inside[len(inside)-1]
			if !yield(term.Dialect().Parse("SELECT " + term.SQL()[inside[0].Pos:last.Pos+len(last.Text)])) {
				return
			}
		}
	}
}

// countsCases reports whether a CASE gives numbers only: it counts rows.
func countsCases(tokens []Token) bool {
	results := 0
	for i, t := range tokens {
		if strings.EqualFold(t.Text, "THEN") || strings.EqualFold(t.Text, "ELSE") {
			if i+1 == len(tokens) || tokens[i+1].Kind != Number && !strings.EqualFold(tokens[i+1].Text, "NULL") {
				return false
			}
			results++
		}
	}
	return results > 0
}

// repeats returns a relation that may repeat the rows of a table; -1: none.
func (r *repetitions) repeats(table int) int {
	known := map[place]bool{}
	for _, p := range r.fixed {
		known[p] = true
	}
	rows := map[int]bool{table: true} // relations whose row is fixed
	is := func(p place) bool { return known[p] || rows[p.table] }
	for again := true; again; {
		again = false
		for _, e := range r.equal {
			if is(e[0]) != is(e[1]) {
				known[e[0]], known[e[1]], again = true, true, true
			}
		}
		for i, t := range r.all {
			if rows[i] {
				continue
			}
			keys := r.keys(t)
			whole := func(key []string) bool {
				return !slices.ContainsFunc(key, func(c string) bool { return !known[place{i, asciiLower(c)}] })
			}
			if !t.Base() || len(keys) == 0 || slices.ContainsFunc(keys, whole) {
				rows[i], again = true, true
			}
		}
	}
	return slices.IndexFunc(r.all, func(t sqlshape.TableRef) bool { return !rows[slices.Index(r.all, t)] })
}
