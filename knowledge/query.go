package knowledge

import (
	"slices"
	"strings"
)

// query is one SELECT over the rows of a table, with what those rows lead to.
type query struct {
	c     *compiler
	nodes []*node // the first is the table whose rows are read
}

// node is one table in FROM.
type node struct {
	table  int
	alias  string
	parent *node // nil: the first
	step   step  // from parent
	needs  []string
}

func (c *compiler) query(base int) *query {
	q := &query{c: c}
	q.add(base, nil, step{})
	return q
}

func (q *query) add(table int, parent *node, s step) *node {
	n := &node{table: table, alias: "t" + itoa(q.c.aliases), parent: parent, step: s}
	q.c.aliases++
	q.nodes = append(q.nodes, n)
	return n
}

// node is the one at the end of a way from the first.
func (q *query) node(w way) *node {
	at := q.nodes[0]
	for _, s := range w {
		i := slices.IndexFunc(q.nodes, func(n *node) bool { return n.parent == at && n.step == s })
		if i >= 0 {
			at = q.nodes[i]
			continue
		}
		r := &q.c.m.Relationships[s.relationship]
		to := r.To
		if s.back {
			to = r.From
		}
		at = q.add(q.c.m.table(to), at, s)
	}
	return at
}

// column writes a column of a node.
func (q *query) column(n *node, name string) string {
	name = q.c.m.Tables[n.table].spelled(name)
	if !slices.Contains(n.needs, name) {
		n.needs = append(n.needs, name)
	}
	return n.alias + "." + q.c.d.name(name)
}

// spelled is a column's name as the model spells it, if the model has it.
func (t *Table) spelled(name string) string {
	if c := t.column(name); c != nil {
		return c.Name
	}
	return name
}

func (t *Table) column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		i = slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	}
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// write writes an expression whose targets the first table reaches.
func (q *query) write(e expression) (string, error) {
	return e.write(func(it item) (string, error) {
		t, _ := q.c.g.target(it.qualifier)
		return q.column(q.node(q.c.g.ways(q.nodes[0].table, t)[0]), it.name), nil
	})
}

// keys writes the columns that the query is grouped by, as items of its list and as terms of GROUP BY. Their names are
// those in the result if named, else k0, k1, ….
func (q *query) keys(named bool) (items, keys []string) {
	for i, g := range q.c.groups {
		key := q.column(q.node(q.c.g.ways(q.nodes[0].table, g.target)[0]), g.column)
		if g.grain != "" {
			key = strings.ReplaceAll(q.c.d.grains[slices.Index(grains, g.grain)], "$x", key)
		}
		name := "k" + itoa(i)
		if named {
			name = q.c.d.name(g.alias())
		}
		keys, items = append(keys, key), append(items, key+" AS "+name)
	}
	return items, keys
}

// aggregate writes one aggregate. The conditions of its metric stand in a CASE inside of it, so that a group without
// such rows stays.
func (q *query) aggregate(a *aggregate) (string, error) {
	value, counts := "", len(a.argument) == 1 && a.argument[0].kind == itemRows
	var err error
	if !counts {
		if value, err = q.write(a.argument); err != nil {
			return "", err
		}
	}
	var conditions []string
	for _, e := range a.where {
		sql, err := q.condition(e)
		if err != nil {
			return "", err
		}
		conditions = append(conditions, sql)
	}
	value = strings.TrimSpace(value)
	switch {
	case counts && len(conditions) == 0:
		value = "*"
	case counts:
		value = "1"
	}
	if len(conditions) > 0 {
		value = "CASE WHEN " + strings.Join(conditions, " AND ") + " THEN " + value + " END"
	}
	if a.unique {
		value = "DISTINCT " + value
	}
	return a.function + "(" + value + ")", nil
}

// selected writes the SELECT, with the conditions of the request.
func (q *query) selected(items, keys []string) (string, error) {
	var conditions []string
	for _, e := range q.c.conditions {
		sql, err := q.condition(e)
		if err != nil {
			return "", err
		}
		conditions = append(conditions, sql)
	}
	from, err := q.from()
	if err != nil {
		return "", err
	}
	sql := "SELECT " + strings.Join(items, ", ") + " FROM " + from
	if len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	if len(keys) > 0 {
		sql += " GROUP BY " + strings.Join(keys, ", ")
	}
	return sql, nil
}

// condition writes a condition on the rows of the first table. What it asks of a finer table is EXISTS.
func (q *query) condition(e expression) (string, error) {
	base := q.nodes[0]
	targets, err := q.c.targets("", e)
	if err != nil {
		return "", err
	}
	r, which := q.c.g.reaches(base.table, targets)
	if r == reached {
		sql, err := q.write(e)
		return "(" + sql + ")", err
	}
	if r == ambiguous {
		return "", q.c.outOfReach("", base.table, r, which)
	}
	table, r, ways := q.c.g.finest(append(targets, target{base.table, -1}))
	switch r {
	case ambiguous:
		return "", &RequestError{Reason: reasonAmbiguous, Name: q.c.named(which), Ways: ways}
	case unreachable:
		return "", &RequestError{Reason: reasonFanOut, Name: q.c.named(which)}
	}
	return q.exists(table, e)
}

// exists writes that some row of a finer table belongs to the row of the first table and meets the condition.
func (q *query) exists(table int, e expression) (string, error) {
	inner := q.c.query(table)
	base := q.nodes[0]
	up := q.c.g.ways(table, target{base.table, -1})[0]
	last := up[len(up)-1]
	from := inner.node(up[:len(up)-1])
	var conditions []string
	for _, pair := range q.c.pairs(last) {
		conditions = append(conditions, inner.column(from, pair[0])+" = "+q.column(base, pair[1]))
	}
	sql, err := inner.write(e)
	if err != nil {
		return "", err
	}
	tables, err := inner.from()
	if err != nil {
		return "", err
	}
	conditions = append(conditions, "("+sql+")")
	return "EXISTS (SELECT 1 FROM " + tables + " WHERE " + strings.Join(conditions, " AND ") + ")", nil
}

// pairs are the columns that a step compares: of where it starts, of where it leads.
func (c *compiler) pairs(s step) [][2]string {
	pairs := slices.Clone(c.m.Relationships[s.relationship].On)
	if s.back {
		for i := range pairs {
			pairs[i][0], pairs[i][1] = pairs[i][1], pairs[i][0]
		}
	}
	return pairs
}

// from writes the tables and their joins. Every column must have been written before.
func (q *query) from() (string, error) {
	joins := make([]string, len(q.nodes))
	for i, n := range q.nodes {
		if n.parent == nil {
			continue
		}
		var on []string
		for _, pair := range q.c.pairs(n.step) {
			on = append(on, q.column(n.parent, pair[0])+" = "+q.column(n, pair[1]))
		}
		joins[i] = " ON " + strings.Join(on, " AND ")
	}
	var b strings.Builder
	for i, n := range q.nodes {
		source, err := q.c.source(n)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(" LEFT JOIN ")
		}
		b.WriteString(source + " AS " + n.alias + joins[i])
	}
	return b.String(), nil
}

// source writes what a node reads: the table by its name, or a query of the columns that are needed, where the model
// computes one of them or has a condition for every read. A computed column is NULL then where a LEFT JOIN finds no
// row, and a column that nobody needs is not read.
func (c *compiler) source(n *node) (string, error) {
	t := &c.m.Tables[n.table]
	from := c.d.path(t.Name)
	switch {
	case t.isQuery():
		from = "(" + t.Source + ")"
	case t.Source != "":
		from = c.d.path(t.Source)
	}
	computed := slices.ContainsFunc(n.needs, func(name string) bool { return t.isComputed(name) })
	if !computed && t.Where == "" {
		return from, nil
	}
	var items []string
	for _, name := range n.needs {
		sql, err := c.own(t, name)
		if err != nil {
			return "", err
		}
		items = append(items, sql+" AS "+c.d.name(name))
	}
	if len(items) == 0 {
		items = []string{"1 AS one"}
	}
	if t.isQuery() {
		from += " AS s"
	}
	sql := "(SELECT " + strings.Join(items, ", ") + " FROM " + from
	if t.Where != "" {
		where, err := c.inside(t, "the condition of table "+t.Name, t.Where, true)
		if err != nil {
			return "", err
		}
		sql += " WHERE " + where
	}
	return sql + ")", nil
}

// isQuery reports whether Source is a query.
func (t *Table) isQuery() bool {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToUpper(t.Source)), " ")
	return first == "SELECT" || first == "WITH" || strings.HasPrefix(first, "SELECT\n") ||
		strings.HasPrefix(first, "WITH\n")
}

// isComputed reports whether a column is an expression, or a column under another name.
func (t *Table) isComputed(name string) bool {
	c := t.column(name)
	return c != nil && c.Expr != "" && !strings.EqualFold(c.Expr, c.Name)
}

// own writes a column inside of its table.
func (c *compiler) own(t *Table, name string) (string, error) {
	if !t.isComputed(name) {
		return c.d.name(name), nil
	}
	return c.inside(t, "column "+t.Name+"."+name, t.column(name).Expr, false)
}

// inside writes an expression over the columns of one table, which it may name with the table or without. logical says
// that it may name columns that the model computes.
func (c *compiler) inside(t *Table, what, expr string, logical bool) (string, error) {
	e, err := parse(c.d.text, expr)
	if err != nil {
		return "", invalid("", "%s: %v", what, err)
	}
	return e.write(func(it item) (string, error) {
		if it.kind != itemColumn || it.qualifier != "" && !strings.EqualFold(it.qualifier, t.Name) {
			return "", invalid("", "%s may name columns of %s only", what, t.Name)
		}
		if !logical || !t.isComputed(it.name) {
			return c.d.name(it.name), nil
		}
		sql, err := c.own(t, it.name)
		return "(" + sql + ")", err
	})
}
