package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// generator writes random statements about the tables of a database: joins of all kinds, subqueries, expressions over
// names, set operations, windows.
type generator struct {
	b      *rowsBase
	l      exec.Language
	r      *rand.Rand
	seen   map[string]bool
	names  int
	values map[string][]any // of a column, by table and column
}

// ref is a table or a query in a FROM clause.
type ref struct {
	text    string // with its alias
	name    string // by which its columns are named
	table   *schema.Table
	columns []string
}

func (g *generator) one(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *generator) in(percent int) bool       { return g.r.IntN(100) < percent }
func (g *generator) quote(name string) string {
	if plainWord.MatchString(name) && g.in(70) {
		return name
	}
	return g.l.Quote(name)
}

func (g *generator) table() *schema.Table {
	for {
		if t := &g.b.schema.Tables[g.r.IntN(len(g.b.schema.Tables))]; t.Kind != "view" && len(t.Columns) > 0 {
			return t
		}
	}
}

// base is a table under its own name or an alias.
func (g *generator) base() ref {
	t := g.table()
	r := ref{table: t, name: t.Name}
	for _, c := range t.Columns {
		r.columns = append(r.columns, c.Name)
	}
	r.text = g.quote(t.Name)
	if t.Schema == "" && g.l.Name == "sqlite" && g.in(10) {
		r.text = "main." + r.text
	}
	if g.in(70) {
		g.names++
		r.name = fmt.Sprintf("a%d", g.names)
		if g.in(10) {
			r.name = g.table().Name // the name of another table
		}
		r.text += g.one(" AS ", " ") + g.l.Quote(r.name)
	}
	return r
}

// from is what stands in a FROM clause: a table, or a query.
func (g *generator) from(depth int) ref {
	if depth > 0 && g.in(15) {
		g.names++
		name := fmt.Sprintf("q%d", g.names)
		text, n := g.query(depth-1, 0)
		r := ref{name: name}
		for i := range n {
			r.columns = append(r.columns, fmt.Sprintf("c%d", i))
		}
		r.text = "(" + text + ") AS " + name
		return r
	}
	return g.base()
}

func (g *generator) column(refs []ref) string {
	r := refs[g.r.IntN(len(refs))]
	c := g.l.Quote(r.columns[g.r.IntN(len(r.columns))])
	if len(refs) == 1 && g.in(40) {
		return c
	}
	return g.l.Quote(r.name) + "." + c
}

// literal is a value of some column.
func (g *generator) literal(refs []ref) (column, value string) {
	r := refs[g.r.IntN(len(refs))]
	name := r.columns[g.r.IntN(len(r.columns))]
	column = g.l.Quote(r.name) + "." + g.l.Quote(name)
	if r.table == nil {
		return column, fmt.Sprint(g.r.IntN(50))
	}
	key := r.table.Name + "\x00" + name
	if _, ok := g.values[key]; !ok {
		g.values[key], _, _ = valuesOf(context.Background(), g.b.pools[0], g.l.Quote(name), r.table.TableName().Quoted(g.l))
	}
	list := g.values[key]
	if len(list) == 0 {
		return column, "1"
	}
	return column, rowRule{":v", map[string]any{"v": list[g.r.IntN(len(list))]}}.written("")
}

// condition is a condition over refs; outer are those of the queries around it.
func (g *generator) condition(refs, outer []ref, depth int) string {
	all := append(append([]ref{}, refs...), outer...)
	switch n := g.r.IntN(10); {
	case n < 4 || depth == 0:
		column, value := g.literal(all)
		return column + g.one(" = ", " <> ", " > ", " <= ") + value
	case n == 4:
		return g.column(all) + g.one(" IS NULL", " IS NOT NULL")
	case n == 5:
		return g.column(all) + " = " + g.column(all)
	case n == 6:
		r := g.base()
		return g.one("EXISTS", "NOT EXISTS") + " (SELECT 1 FROM " + r.text + " WHERE " +
			g.condition([]ref{r}, all, depth-1) + ")"
	case n == 7:
		r := g.base()
		return g.column(all) + g.one(" IN", " NOT IN") + " (SELECT " + g.column([]ref{r}) + " FROM " + r.text + " WHERE " +
			g.condition([]ref{r}, nil, depth-1) + ")"
	case n == 8:
		r := g.base()
		return g.column(all) + g.one(" > ", " = ", " < ") + "(SELECT " + g.one("max", "min", "count") + "(" +
			g.column([]ref{r}) + ") FROM " + r.text + ")"
	default:
		return "(" + g.condition(refs, outer, depth-1) + g.one(" AND ", " OR ") + g.condition(refs, outer, depth-1) + ")"
	}
}

// query returns a query and the number of its columns, which are called c0, c1, …; columns is how many there must be,
// 0: any.
func (g *generator) query(depth, columns int) (string, int) {
	refs := []ref{g.from(depth)}
	from := refs[0].text
	for g.in(45) && len(refs) < 4 {
		r := g.from(depth)
		taken := false
		for _, o := range refs {
			taken = taken || strings.EqualFold(o.name, r.name)
		}
		if taken {
			continue
		}
		switch g.r.IntN(6) {
		case 0:
			from += ", " + r.text
		case 1:
			from += " NATURAL JOIN " + r.text
		case 2:
			from += " CROSS JOIN " + r.text
		default:
			from += g.one(" JOIN ", " LEFT JOIN ", " INNER JOIN ", " LEFT OUTER JOIN ") + r.text + " ON " + g.join(refs, r)
		}
		refs = append(refs, r)
	}
	if columns == 0 {
		columns = 1 + g.r.IntN(3)
	}
	where := ""
	if g.in(60) {
		where = " WHERE " + g.condition(refs, nil, depth)
	}
	var list, group []string
	grouped := g.in(35)
	for i := range columns {
		c := g.column(refs)
		switch {
		case grouped && (i > 0 || g.in(30)):
			c = g.one("count(*)", "count("+c+")", "count(DISTINCT "+c+")", "max("+c+")", "min("+c+")", "sum("+c+")")
		case grouped:
			group = append(group, c)
		case g.in(8):
			c = "(SELECT count(*) FROM " + g.base().text + ")"
		case g.in(8):
			c = g.one("count(*)", "row_number()", "rank()") + " OVER (PARTITION BY " + c + " ORDER BY " + g.column(refs) + ")"
		}
		list = append(list, fmt.Sprintf("%s AS c%d", c, i))
	}
	text := "SELECT " + g.one("", "", "", "DISTINCT ") + strings.Join(list, ", ") + " FROM " + from + where
	if len(group) > 0 {
		text += " GROUP BY " + strings.Join(group, ", ")
		if g.in(30) {
			text += " HAVING count(*) > " + fmt.Sprint(g.r.IntN(4))
		}
	}
	return text, columns
}

// join is what a table is joined on.
func (g *generator) join(refs []ref, r ref) string {
	a, b := g.column(refs[g.r.IntN(len(refs)):][:1]), g.column([]ref{r})
	for _, o := range refs { // a column of the same name, mostly
		for _, c := range o.columns {
			for _, d := range r.columns {
				if strings.EqualFold(c, d) && g.in(60) {
					return g.l.Quote(o.name) + "." + g.l.Quote(c) + " = " + g.l.Quote(r.name) + "." + g.l.Quote(d)
				}
			}
		}
	}
	return a + " = " + b
}

// statement is a query, perhaps with CTEs, set operations, an order and a limit.
func (g *generator) statement() string {
	g.names = 0
	if g.in(6) {
		r := g.base()
		return "SELECT * FROM " + r.text + g.one("", " WHERE "+g.condition([]ref{r}, nil, 1))
	}
	text, n := g.query(2, 0)
	for g.in(12) {
		more, _ := g.query(1, n)
		text += g.one(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") + more
	}
	if g.in(12) { // a name of its own, or that of a table
		inner, m := g.query(1, 0)
		name := g.one("w", g.l.Quote(g.table().Name))
		text = "WITH " + name + " AS (" + inner + ") SELECT " + fmt.Sprintf("c%d", g.r.IntN(m)) + " FROM " + name
		n = 1
	}
	if g.in(25) {
		text += " ORDER BY " + fmt.Sprint(1+g.r.IntN(n)) + g.one("", " DESC")
		if g.in(60) {
			text += " LIMIT " + fmt.Sprint(1+g.r.IntN(9))
		}
	}
	return text
}
