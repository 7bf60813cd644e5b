package knowledge

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// Compile returns one SELECT that answers the request, or a *RequestError. dialect names the engine
// (exec.Language.Name): "sqlite", "postgres", "mysql", "duckdb" or "trino". The columns are those in GroupBy, with
// "_" in place of "." and "@", then the metrics by name. The caller must check the statement like any other.
//
// Each aggregate runs over the rows of one table, from which many-to-one relationships reach all its columns:
//   - They must also reach the columns of GroupBy; otherwise the request is refused as fan-out. DISTINCT, MIN and MAX
//     do not add values up, so they may use the table with the fewest rows that reaches all columns.
//   - Aggregates over different tables are computed separately and joined by their groups. NULL is a group.
//   - A condition on a finer table becomes EXISTS: it keeps a row once, however many rows meet it.
//   - Joins are LEFT joins from the aggregated table: a row without a partner counts, under NULL.
//   - Two ways of equal length to a table are ambiguous; the name of a relationship decides.
//
// The same model and request give the same text. Expressions of the model are in the SQL of the database and are
// copied, except for their names.
func (m Model) Compile(r Request, dialect string) (string, error) {
	d, ok := dialects[dialect]
	if !ok {
		return "", &RequestError{Reason: reasonUnsupported, Name: "statements for " + dialect + " are not written"}
	}
	c := &compiler{m: &m, g: newGraph(&m), d: d}
	if err := c.read(r); err != nil {
		return "", err
	}
	sql, err := c.statement(r)
	if err != nil {
		return "", err
	}
	checked, err := d.text.Check(sql)
	if err != nil {
		return "", invalid("", "%v", err)
	}
	return checked.SQL(), nil
}

// compiler makes one statement.
type compiler struct {
	m *Model
	g *graph
	d dialect

	metrics    []lowered
	groups     []group
	conditions []expression
	aggregates []*aggregate
	aliases    int // how many tables are in the statement
}

// group is one column of GroupBy.
type group struct {
	text   string // as the request writes it
	target target
	column string
	grain  string // "": the column as it is
}

// alias is the name of the column in the result.
func (g *group) alias() string { return strings.NewReplacer(".", "_", "@", "_").Replace(g.text) }

// read understands a request.
func (c *compiler) read(r Request) error {
	if len(r.Metrics) == 0 {
		return invalid("", "a request needs a metric")
	}
	if r.Limit < 0 {
		return invalid("", "limit %d is negative", r.Limit)
	}
	for i, text := range r.GroupBy {
		g, err := c.group(text)
		if err != nil {
			return err
		}
		if !slices.Contains(r.GroupBy[:i], text) {
			c.groups = append(c.groups, g)
		}
	}
	for _, text := range r.Where {
		e, err := c.condition("", text)
		if err != nil {
			return err
		}
		c.conditions = append(c.conditions, e)
	}
	for i, name := range r.Metrics {
		if slices.Contains(r.Metrics[:i], name) {
			continue
		}
		if err := c.metric(name, r.GroupBy); err != nil {
			return err
		}
	}
	return c.bases()
}

// group reads table.column or table.column@grain. Both names may have dots.
func (c *compiler) group(text string) (group, error) {
	g := group{text: text}
	column := text
	before, grain, grained := words.CutLast(text, "@")
	if grained && slices.Contains(grains, strings.ToLower(grain)) {
		column, g.grain, grained = before, strings.ToLower(grain), false
	}
	for i := range column {
		if column[i] != '.' || i == len(column)-1 {
			continue
		}
		if t, ok := c.g.target(column[:i]); ok {
			g.target, g.column = t, column[i+1:]
			if grained && c.m.Tables[t.table].column(g.column) == nil {
				return g, invalid("", "group_by %q: a grain is one of %s", text, strings.Join(grains, ", "))
			}
			return g, nil
		}
	}
	if before, after, _ := words.CutLast(column, "."); before == "" || after == "" {
		return g, invalid("", "group_by %q is not written table.column", text)
	}
	qualifier, _, _ := strings.Cut(column, ".")
	return g, unknown("", "table or relationship", qualifier, c.g.targetNames())
}

// condition reads a condition over table.column.
func (c *compiler) condition(metric, text string) (expression, error) {
	e, err := parse(c.d.text, text)
	if err != nil {
		return nil, invalid(metric, "condition %q: %v", text, err)
	}
	for i, it := range e {
		switch {
		case it.kind == itemCall && aggregates[strings.ToUpper(it.text)] && e.isAggregate(i):
			return nil, invalid(metric, "condition %q: %s adds rows up", text, it.text)
		case it.kind == itemRows || it.kind == itemMetric:
			return nil, invalid(metric, "condition %q compares no column", text)
		case it.kind == itemColumn && it.qualifier == "":
			return nil, invalid(metric, "condition %q: %s is not written table.column", text, it.name)
		}
	}
	_, err = c.targets(metric, e)
	return e, err
}

// isAggregate reports whether the call at item i adds rows up: MIN(a, b) and MAX(a, b) do not.
func (e expression) isAggregate(i int) bool {
	if i+1 >= len(e) || !e[i+1].is("(") {
		return false
	}
	for j := i + 2; j < e[i+1].match; j++ {
		if e[j].match > j {
			j = e[j].match
		} else if e[j].is(",") {
			return false
		}
	}
	return true
}

// targets are those that the columns of an expression name, each once.
func (c *compiler) targets(metric string, e expression) ([]target, error) {
	var found []target
	for _, it := range e {
		if it.kind != itemColumn && it.kind != itemRows {
			continue
		}
		t, ok := c.g.target(it.qualifier)
		if !ok {
			return nil, unknown(metric, "table or relationship", it.qualifier, c.g.targetNames())
		}
		if !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	return found, nil
}

// statement writes the statement of a request that was read.
func (c *compiler) statement(r Request) (string, error) {
	var bases []int
	for _, a := range c.aggregates {
		if !slices.Contains(bases, a.base) {
			bases = append(bases, a.base)
		}
	}
	var sql string
	var err error
	if len(bases) == 1 {
		sql, err = c.single(bases[0])
	} else {
		sql, err = c.several(bases)
	}
	if err != nil {
		return "", err
	}
	order, err := c.order(r)
	return sql + order, err
}

// single writes the statement of aggregates over one table.
func (c *compiler) single(base int) (string, error) {
	q := c.query(base)
	items, keys := q.keys(true)
	var err error
	for _, a := range c.aggregates {
		if a.sql, err = q.aggregate(a); err != nil {
			return "", err
		}
	}
	for _, metric := range c.metrics {
		items = append(items, metric.sql()+" AS "+c.d.name(metric.name))
	}
	return q.selected(items, keys)
}

// several writes the statement of aggregates over several tables: a UNION ALL of one query for each table, in which
// the aggregates of the other tables are NULL, and one row of each group. A FULL JOIN would not bring NULLs together,
// and MariaDB has none.
func (c *compiler) several(bases []int) (string, error) {
	var united string
	var columns []string // of united
	for i := range c.groups {
		columns = append(columns, "k"+itoa(i))
	}
	for n, base := range bases {
		q := c.query(base)
		items, keys := q.keys(false)
		old := columns[len(c.groups):]
		for _, column := range old {
			items = append(items, "NULL AS "+column)
		}
		left := slices.Clone(columns)
		for i, a := range c.aggregates {
			if a.base != base {
				continue
			}
			sql, err := q.aggregate(a)
			if err != nil {
				return "", err
			}
			a.sql = "MAX(u.a" + itoa(i) + ")"
			items = append(items, sql+" AS a"+itoa(i))
			columns = append(columns, "a"+itoa(i))
			left = append(left, "NULL AS a"+itoa(i))
		}
		sql, err := q.selected(items, keys)
		switch {
		case err != nil:
			return "", err
		case n == 0:
			united = sql
		default: // one NULL for each typed column: PostgreSQL takes two NULLs for a text
			united = "SELECT " + strings.Join(left, ", ") + " FROM (" + united + ") AS w" + itoa(n) + " UNION ALL " + sql
		}
	}
	var items, keys []string
	for i, g := range c.groups {
		keys = append(keys, "u.k"+itoa(i))
		items = append(items, keys[i]+" AS "+c.d.name(g.alias()))
	}
	for _, metric := range c.metrics {
		items = append(items, metric.sql()+" AS "+c.d.name(metric.name))
	}
	sql := "SELECT " + strings.Join(items, ", ") + " FROM (" + united + ") AS u"
	if len(keys) > 0 {
		sql += " GROUP BY " + strings.Join(keys, ", ")
	}
	return sql, nil
}

// order writes ORDER BY and LIMIT.
func (c *compiler) order(r Request) (string, error) {
	var terms []string
	for _, text := range r.OrderBy {
		name, down := strings.CutPrefix(text, "-")
		alias := ""
		for _, g := range c.groups {
			if g.text == name || g.alias() == name {
				alias = g.alias()
			}
		}
		for _, metric := range c.metrics {
			if strings.EqualFold(metric.name, name) {
				alias = metric.name
			}
		}
		if alias == "" {
			return "", &RequestError{Reason: reasonUnknown, Name: "order_by " + name + " among its metrics and group_by"}
		}
		term := c.d.name(alias)
		if down {
			term += " DESC"
		}
		terms = append(terms, term)
	}
	sql := ""
	if len(terms) > 0 {
		sql = " ORDER BY " + strings.Join(terms, ", ")
	}
	if r.Limit > 0 {
		sql += " LIMIT " + itoa(r.Limit)
	}
	return sql, nil
}

// bases finds the table over whose rows each aggregate runs.
func (c *compiler) bases() error {
	var grouped []target
	for _, g := range c.groups {
		if !slices.Contains(grouped, g.target) {
			grouped = append(grouped, g.target)
		}
	}
	for _, a := range c.aggregates {
		if err := c.base(a, grouped); err != nil {
			return err
		}
	}
	return nil
}

// base finds the table of one aggregate. Every group must be reached from there.
func (c *compiler) base(a *aggregate, grouped []target) error {
	worst, which := unreachable, a.targets[0]
	for _, t := range a.targets {
		anchor := c.g.anchor(t)
		if r, at := c.g.reaches(anchor, a.targets); r < worst {
			worst, which, a.base = r, at, anchor
		}
	}
	if worst == reached {
		worst, which = c.g.reaches(a.base, grouped)
	}
	if worst != unreachable || !a.distinct {
		return c.outOfReach(a.metric, a.base, worst, which)
	}
	table, r, ways := c.g.finest(append(slices.Clone(a.targets), grouped...))
	if r == ambiguous {
		return &RequestError{Reason: reasonAmbiguous, Metric: a.metric, Name: c.named(which), Ways: ways}
	}
	a.base = table
	return c.outOfReach(a.metric, a.base, r, which)
}

// outOfReach is the error of a target that a table does not reach in one way; nil if it does.
func (c *compiler) outOfReach(metric string, from int, r reach, which target) error {
	switch r {
	case unreachable:
		return &RequestError{Reason: reasonFanOut, Metric: metric, Name: c.named(which)}
	case ambiguous:
		ways := c.g.names(c.g.ways(from, which))
		return &RequestError{Reason: reasonAmbiguous, Metric: metric, Name: c.named(which), Ways: ways}
	}
	return nil
}

func (c *compiler) named(t target) string {
	if t.relationship >= 0 {
		return c.m.Relationships[t.relationship].Name
	}
	return c.m.Tables[t.table].Name
}
