package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// TableName is a table as the schema writes it.
type TableName struct {
	Schema string `json:"schema,omitempty"` // "" is the default one
	Name   string `json:"name"`             // as the schema spells it
}

// String returns the name, behind that of its schema where it has one.
func (t TableName) String() string {
	if t.Schema != "" {
		return t.Schema + "." + t.Name
	}
	return t.Name
}

// quoted is the name as SQL, with the quotes of d where it needs them.
func (t TableName) quoted(d exec.Dialect) string {
	if t.Schema != "" {
		return exec.QuoteName(d, t.Schema) + "." + exec.QuoteName(d, t.Name)
	}
	return exec.QuoteName(d, t.Name)
}

func compareTables(a, b TableName) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Schema, b.Schema))
}

// ColumnName is a column as the schema writes it.
type ColumnName struct {
	Table  TableName `json:"table"`  // that has the column
	Column string    `json:"column"` // as the schema spells it
}

// String returns "table.column", unquoted.
func (c ColumnName) String() string { return c.Table.String() + "." + c.Column }

func (c ColumnName) quoted(d exec.Dialect) string {
	return c.Table.quoted(d) + "." + exec.QuoteName(d, c.Column)
}

func compareColumns(a, b ColumnName) int {
	return cmp.Or(compareTables(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
}

// Join is a pair of columns that a join sets equal. It has no order: NewJoin puts
// the sides in one.
type Join struct {
	Left  ColumnName `json:"left"`  // the side that is first in order
	Right ColumnName `json:"right"` // the other
}

// NewJoin returns the pair of a and b, in any order.
func NewJoin(a, b ColumnName) Join {
	if compareColumns(b, a) < 0 {
		a, b = b, a
	}
	return Join{a, b}
}

// String returns "left = right", unquoted.
func (j Join) String() string { return j.Left.String() + " = " + j.Right.String() }

func compareJoins(a, b Join) int {
	return cmp.Or(compareColumns(a.Left, b.Left), compareColumns(a.Right, b.Right))
}

// Scope is what a question needs of a schema: its tables and how they join, the
// outcome of the first phase of MAKER. The zero Scope needs no table.
type Scope struct {
	Tables []TableName `json:"tables"`          // in order of their names; a table that is joined with itself stands twice
	Joins  []Join      `json:"joins,omitempty"` // in order, each once
}

// NewScope puts tables and joins in order.
func NewScope(tables []TableName, joins []Join) Scope {
	s := Scope{Tables: slices.Clone(tables), Joins: slices.Clone(joins)}
	slices.SortFunc(s.Tables, compareTables)
	slices.SortFunc(s.Joins, compareJoins)
	s.Joins = slices.Compact(s.Joins)
	return s
}

// Key is what a scope votes for: its tables, each as often as it stands there.
// Joins have no part in it.
func (s Scope) Key() string {
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = t.String()
	}
	return vote.SetKey(names)
}

// String lists the tables: "customers, orders", or "no tables".
func (s Scope) String() string {
	if len(s.Tables) == 0 {
		return "no tables"
	}
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// JoinText lists the joins: "a.x = b.y AND b.z = c.z"; "" for none.
func (s Scope) JoinText() string {
	texts := make([]string, len(s.Joins))
	for i, j := range s.Joins {
		texts[i] = j.String()
	}
	return strings.Join(texts, " AND ")
}

// Has reports whether t is one of the tables.
func (s Scope) Has(t TableName) bool { return slices.Contains(s.Tables, t) }

// Complete adds the declared foreign keys of from that join parts of s which
// nothing joins yet, in the order of from; keys between parts that are joined
// are not added. It returns a new Scope.
func (s Scope) Complete(from *schema.Schema) Scope {
	parts := make(map[TableName]TableName) // union-find
	var root func(TableName) TableName
	root = func(t TableName) TableName {
		if p, ok := parts[t]; ok && p != t {
			return root(p)
		}
		return t
	}
	joins := slices.Clone(s.Joins)
	selfJoined := map[TableName]bool{}
	for _, j := range joins {
		parts[root(j.Left.Table)] = root(j.Right.Table)
		selfJoined[j.Left.Table] = selfJoined[j.Left.Table] || j.Left.Table == j.Right.Table
	}
	twice := map[TableName]int{}
	for _, t := range s.Tables {
		twice[t]++
	}
	for i := range from.Tables {
		t := &from.Tables[i]
		child := TableName{t.Schema, t.Name}
		for _, fk := range t.ForeignKeys {
			parent, ok := from.Lookup(fk.RefSchema, fk.RefTable)
			if !ok || len(fk.Columns) != len(fk.RefColumns) {
				continue
			}
			ref := TableName{parent.Schema, parent.Name}
			if !s.Has(child) || !s.Has(ref) {
				continue
			}
			needed := root(child) != root(ref)
			if child == ref {
				needed = twice[child] > 1 && !selfJoined[child] && !touches(joins, child)
				selfJoined[child] = selfJoined[child] || needed
			}
			if !needed {
				continue
			}
			parts[root(child)] = root(ref)
			for k, c := range fk.Columns {
				joins = append(joins, NewJoin(ColumnName{child, c}, ColumnName{ref, fk.RefColumns[k]}))
			}
		}
	}
	return NewScope(s.Tables, joins)
}

// touches reports whether some join between two tables has t on one side.
func touches(joins []Join, t TableName) bool {
	return slices.ContainsFunc(joins, func(j Join) bool {
		return j.Left.Table != j.Right.Table && (j.Left.Table == t || j.Right.Table == t)
	})
}

// From writes the tables and joins as a FROM clause, "" without tables: from the
// first table on, breadth first, each with the joins to the tables before it. ok
// is false where nothing joins some table to the others: that would be a cross
// product.
//
// A table whose name stands there before has an alias of its own: orders_2.
func (s Scope) From(d exec.Dialect) (text string, ok bool) {
	type instance struct {
		TableName
		sql, as string // in FROM, and before a column
	}
	var waiting, placed []instance
	aliases := s.aliases()
	for i, t := range s.Tables {
		in := instance{t, t.quoted(d), exec.QuoteName(d, aliases[i])}
		if aliases[i] != t.Name {
			in.sql += " AS " + in.as
		}
		waiting = append(waiting, in)
	}
	if len(waiting) == 0 {
		return "", true
	}
	var b strings.Builder
	b.WriteString("FROM " + waiting[0].sql)
	placed, waiting = append(placed, waiting[0]), waiting[1:]
	for at := 0; at < len(placed) && len(waiting) > 0; at++ {
		var rest []instance
		for _, in := range waiting {
			var on []string
			reached := false
			for _, j := range s.Joins {
				for _, sides := range [][2]ColumnName{{j.Left, j.Right}, {j.Right, j.Left}} {
					if sides[0].Table != in.TableName {
						continue
					}
					k := slices.IndexFunc(placed, func(p instance) bool { return p.TableName == sides[1].Table })
					if k < 0 {
						continue
					}
					reached = reached || placed[at].TableName == placed[k].TableName
					on = append(on, in.as+"."+exec.QuoteName(d, sides[0].Column)+" = "+placed[k].as+"."+exec.QuoteName(d, sides[1].Column))
					break
				}
			}
			if !reached {
				rest = append(rest, in)
				continue
			}
			b.WriteString(" JOIN " + in.sql + " ON " + strings.Join(on, " AND "))
			placed = append(placed, in)
		}
		waiting = rest
	}
	return b.String(), len(waiting) == 0
}

// aliases are the names by which FROM knows the tables, each another one: that of
// the table where it is free.
func (s Scope) aliases() []string {
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

// Statement is the shortest query over the scope, to ask the engine whether it
// makes sense: SELECT 1 FROM … WHERE … LIMIT 1. ok is that of From.
func (s Scope) Statement(d exec.Dialect, f Filter) (sql string, ok bool) {
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
