package maker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// tableScope is what a question needs of a schema: its tables and how they join, the outcome of the first phase of MAKER.
// The zero tableScope needs no table.
type tableScope struct {
	Tables []schema.TableName `json:"tables"`          // the tables in order of their names; a table that is joined with itself stands twice
	Joins  []schema.Join      `json:"joins,omitempty"` // the joins in order, each once
}

// newScope puts tables and joins in order.
func newScope(tables []schema.TableName, joins []schema.Join) tableScope {
	s := tableScope{Tables: slices.SortedFunc(slices.Values(tables), byText)}
	for _, j := range joins {
		s.Joins = append(s.Joins, j.Ordered())
	}
	slices.SortFunc(s.Joins, byText)
	s.Joins = slices.Compact(s.Joins)
	return s
}

func byText[T fmt.Stringer](a, b T) int { return cmp.Compare(a.String(), b.String()) }

// Key is what a scope votes for: its tables, each as often as it stands there. Joins have no part in it.
func (s tableScope) Key() string { return setKey(texts(s.Tables)) }

// String lists the tables: "customers, orders", or "no tables".
func (s tableScope) String() string { return cmp.Or(strings.Join(texts(s.Tables), ", "), "no tables") }

// JoinText lists the joins: "a.x = b.y AND b.z = c.z"; "" for none.
func (s tableScope) JoinText() string { return strings.Join(texts(s.Joins), " AND ") }

func texts[T fmt.Stringer](items []T) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = item.String()
	}
	return all
}

// Has reports whether t is one of the tables.
func (s tableScope) Has(t schema.TableName) bool { return slices.Contains(s.Tables, t) }

// Complete adds the declared foreign keys of from that join parts of s which nothing joins yet, in the order of from.
// It returns a new one.
func (s tableScope) Complete(from *schema.Schema) tableScope {
	joins := slices.Clone(s.Joins)
	part := map[schema.TableName]int{} // tables with one number are joined already
	for i, t := range s.Tables {
		part[t] = i
	}
	unite := func(a, b schema.TableName) {
		old, now := part[a], part[b]
		for t, n := range part {
			if n == old {
				part[t] = now
			}
		}
	}
	for _, j := range joins {
		unite(j.Left.Table, j.Right.Table)
	}
	for i := range from.Tables {
		t := &from.Tables[i]
		child := t.TableName()
		for _, fk := range t.ForeignKeys {
			parent, ok := from.Lookup(fk.RefSchema, fk.RefTable)
			if !ok || len(fk.Columns) != len(fk.RefColumns) {
				continue
			}
			ref := parent.TableName()
			needed := part[child] != part[ref]
			if child == ref { // joined with itself: it stands twice, and nothing joins it yet
				at := slices.Index(s.Tables, child)
				needed = at >= 0 && slices.Contains(s.Tables[at+1:], child) && !slices.ContainsFunc(joins, func(j schema.Join) bool { return j.Left.Table == child || j.Right.Table == child })
			}
			if !s.Has(child) || !s.Has(ref) || !needed {
				continue
			}
			unite(child, ref)
			for k, c := range fk.Columns {
				joins = append(joins, schema.Join{Left: schema.ColumnName{Table: child, Column: c}, Right: schema.ColumnName{Table: ref, Column: fk.RefColumns[k]}})
			}
		}
	}
	return newScope(s.Tables, joins)
}

// From writes the tables and joins as a FROM clause, "" without tables: from the first table on, breadth first, each
// with the joins to the tables before it. ok is false where nothing joins some table to the others: that would be a
// cross product.
//
// A table whose name stands there before has an alias of its own: orders_2.
func (s tableScope) From(d exec.Dialect) (text string, ok bool) {
	if len(s.Tables) == 0 {
		return "", true
	}
	names, written := s.aliases(), exec.Names{Dialect: d}
	column := func(i int, c schema.ColumnName) string {
		return written.Quote(names[i]) + "." + written.Quote(c.Column)
	}
	placed := []int{0} // places in s.Tables
	text = "FROM " + s.Tables[0].Quoted(written)
	for at := 0; at < len(placed); at++ {
		for i, t := range s.Tables {
			if slices.Contains(placed, i) {
				continue
			}
			var on []string
			reached := false
			for _, j := range s.Joins {
				for _, side := range []schema.Join{j, {Left: j.Right, Right: j.Left}} {
					k := slices.IndexFunc(placed, func(p int) bool { return s.Tables[p] == side.Right.Table })
					if side.Left.Table == t && k >= 0 {
						reached = reached || s.Tables[placed[at]] == side.Right.Table
						on = append(on, column(i, side.Left)+" = "+column(placed[k], side.Right))
						break
					}
				}
			}
			if !reached {
				continue
			}
			text += " JOIN " + t.Quoted(written)
			if names[i] != t.Name {
				text += " AS " + written.Quote(names[i])
			}
			text += " ON " + strings.Join(on, " AND ")
			placed = append(placed, i)
		}
	}
	return text, len(placed) == len(s.Tables)
}

// aliases are the names by which FROM knows the tables, each another one: that of the table where it is free.
func (s tableScope) aliases() []string {
	names, used := map[string]bool{}, map[string]bool{}
	for _, t := range s.Tables {
		names[strings.ToLower(t.Name)] = true
	}
	aliases := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		alias := t.Name
		for n := 2; used[strings.ToLower(alias)] || alias != t.Name && names[strings.ToLower(alias)]; n++ {
			alias = fmt.Sprintf("%s_%d", t.Name, n)
		}
		used[strings.ToLower(alias)] = true
		aliases[i] = alias
	}
	return aliases
}

// Statement is the shortest query over the scope, to ask the engine whether it makes sense: SELECT 1 FROM … WHERE …
// LIMIT 1. ok is that of From.
func (s tableScope) Statement(d exec.Dialect, f rowFilter) (sql string, ok bool) {
	from, ok := s.From(d)
	sql = "SELECT 1"
	if from != "" {
		sql += " " + from
	}
	if len(f.Conditions) > 0 {
		sql += " WHERE " + strings.Join(f.Conditions, " AND ")
	}
	return sql + " LIMIT 1", ok
}

// setKey returns the key of a vote for a set of things instead of a text: the tables of a join, the conditions of a
// WHERE clause. Two lists have the same key exactly if they hold the same members equally often, in any order.
func setKey(members []string) string { return fmt.Sprintf("%q", slices.Sorted(slices.Values(members))) }
