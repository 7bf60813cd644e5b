package maker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// tableScope is what a question needs of a schema: its tables and how they join, the outcome of the first phase.
// The zero tableScope needs no table.
type tableScope struct {
	Tables []schema.TableName // in order of their names; a table that is joined with itself stands twice
	Joins  []schema.Join      // in order, each once
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
func (s tableScope) Key() string { return fmt.Sprintf("%q", texts(s.Tables)) }

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

// completed is s with the declared foreign keys of from that join a table which no other join reaches, in the order of
// from.
func (s tableScope) completed(from *schema.Schema) tableScope {
	for range s.Tables {
		for i := range from.Tables {
			if !slices.Contains(s.Tables, from.Tables[i].TableName()) {
				continue
			}
			for _, key := range from.Tables[i].ForeignKeys {
				more := newScope(s.Tables, append(slices.Clone(s.Joins), joinsOf(from, &from.Tables[i], key)...))
				if len(more.places()) > len(s.places()) {
					s = more
				}
			}
		}
	}
	return s
}

// joinsOf are the equal columns of a foreign key of t.
func joinsOf(from *schema.Schema, t *schema.Table, key schema.ForeignKey) (joins []schema.Join) {
	parent, ok := from.Lookup(key.RefSchema, key.RefTable)
	if !ok || len(key.Columns) != len(key.RefColumns) {
		return nil
	}
	for i, column := range key.Columns {
		joins = append(joins, schema.Join{
			Left:  schema.ColumnName{Table: t.TableName(), Column: column},
			Right: schema.ColumnName{Table: parent.TableName(), Column: key.RefColumns[i]},
		})
	}
	return joins
}

// places are the places in Tables that joins reach from the first one, breadth first.
func (s tableScope) places() (reached []int) {
	if len(s.Tables) > 0 {
		reached = []int{0}
	}
	for at := 0; at < len(reached); at++ {
		for i, t := range s.Tables {
			if !slices.Contains(reached, i) && s.joined(t, s.Tables[reached[at]]) {
				reached = append(reached, i)
			}
		}
	}
	return reached
}

func (s tableScope) joined(a, b schema.TableName) bool {
	return slices.ContainsFunc(s.Joins, func(j schema.Join) bool {
		return j.Left.Table == a && j.Right.Table == b || j.Left.Table == b && j.Right.Table == a
	})
}

// Statement is the shortest query over the scope, to ask the engine whether it makes sense: SELECT 1 FROM … WHERE …
// LIMIT 1. ok is false where nothing joins some table to the others: that would be a cross product. A table that stands
// there twice has an alias the second time: orders_2.
func (s tableScope) Statement(d exec.Dialect, f rowFilter) (sql string, ok bool) {
	sql = "SELECT 1"
	written, places := d.Language().PromptQuoter(), s.places()
	aliases := make([]string, len(s.Tables))
	for n, i := range places {
		t := s.Tables[i]
		if aliases[i] = t.Name; i > 0 && s.Tables[i-1] == t {
			aliases[i] = fmt.Sprintf("%s_%d", t.Name, i+1)
		}
		sql += map[bool]string{true: " FROM ", false: " JOIN "}[n == 0] + t.Quoted(written)
		if aliases[i] != t.Name {
			sql += " AS " + written.Quote(aliases[i])
		}
		word := " ON "
		for _, j := range s.Joins {
			if j.Left.Table != t {
				j.Left, j.Right = j.Right, j.Left
			}
			at := slices.IndexFunc(places[:n], func(k int) bool { return s.Tables[k] == j.Right.Table })
			if j.Left.Table != t || at < 0 {
				continue
			}
			sql += word + written.Quote(aliases[i]) + "." + written.Quote(j.Left.Column) + " = " +
				written.Quote(aliases[places[at]]) + "." + written.Quote(j.Right.Column)
			word = " AND "
		}
	}
	if len(f.Conditions) > 0 {
		sql += " WHERE " + strings.Join(f.Conditions, " AND ")
	}
	return sql + " LIMIT 1", len(places) == len(s.Tables)
}
