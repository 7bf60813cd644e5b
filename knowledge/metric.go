package knowledge

import (
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// aggregate is one aggregate of a metric.
type aggregate struct {
	metric   string // the metric that has it
	function string
	unique   bool         // DISTINCT
	argument expression   // rows is COUNT(table.*)
	where    []expression // conditions of the metrics around it
	targets  []target     // what its argument names
	distinct bool         // repeated rows do not change it: DISTINCT, MIN, MAX

	base int    // the table over whose rows it runs
	sql  string // how the outer query reads it
}

// lowered is a metric as text around aggregates.
type lowered struct {
	name  string
	parts []part
}

type part struct {
	text      string
	aggregate *aggregate // nil: text
}

func (l *lowered) sql() string {
	var b strings.Builder
	for _, p := range l.parts {
		if p.aggregate != nil {
			b.WriteString(p.aggregate.sql)
		} else {
			b.WriteString(p.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// metric reads one metric of a request.
func (c *compiler) metric(name string, groupBy []string) error {
	m, ok := c.m.metric(name)
	if !ok {
		return unknown(name, "metric", name, c.m.metricNames())
	}
	for _, text := range groupBy {
		column, _, _ := strings.Cut(text, "@")
		if m.GroupBy != nil && !containsFold(m.GroupBy, column) && !containsFold(m.GroupBy, text) {
			return &RequestError{Reason: reasonUnsupported, Metric: m.Name, Name: text + " is not among its group_by"}
		}
	}
	parts, err := c.lower(m, nil, nil)
	c.metrics = append(c.metrics, lowered{m.Name, parts})
	return err
}

// metric finds a metric by its name.
func (m *Model) metricNames() (list []string) {
	for _, x := range m.Metrics {
		list = append(list, x.Name)
	}
	return list
}

func (m *Model) metric(name string) (*Metric, bool) {
	i := slices.IndexFunc(m.Metrics, func(x Metric) bool { return x.Name == name })
	if i < 0 {
		i = slices.IndexFunc(m.Metrics, func(x Metric) bool { return strings.EqualFold(x.Name, name) })
	}
	if i < 0 {
		return nil, false
	}
	return &m.Metrics[i], true
}

// maxDepth is how deep metrics may stand in metrics.
const maxDepth = 20

// lower makes text and aggregates of a metric, with those of the metrics that it names. around are the metrics that
// name it, and where their conditions.
func (c *compiler) lower(m *Metric, around []string, where []expression) ([]part, error) {
	switch {
	case m.Unsupported != "":
		return nil, &RequestError{Reason: reasonUnsupported, Metric: m.Name, Name: m.Unsupported}
	case slices.Contains(around, m.Name) || len(around) == maxDepth:
		return nil, invalid(m.Name, "it is made of itself")
	}
	e, err := parse(c.d.text, m.Expr)
	if err != nil {
		return nil, invalid(m.Name, "%v", err)
	}
	if m.Where != "" {
		condition, err := c.condition(m.Name, m.Where)
		if err != nil {
			return nil, err
		}
		where = append(slices.Clip(where), condition)
	}
	e = e.divided()
	if err := e.brackets(); err != nil {
		return nil, invalid(m.Name, "%v", err)
	}
	return c.parts(m, e, append(slices.Clip(around), m.Name), where)
}

func (c *compiler) parts(m *Metric, e expression, around []string, where []expression) ([]part, error) {
	var parts []part
	for i := 0; i < len(e); i++ {
		it := e[i]
		if it.blank {
			parts = append(parts, part{text: " "})
		}
		switch {
		case it.kind == itemCall && aggregates[strings.ToUpper(it.text)] && e.isAggregate(i):
			end := e[i+1].match
			a, err := c.aggregated(m.Name, it.text, e[i+2:end], where)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part{aggregate: a})
			i = end
		case it.kind == itemMetric:
			other, ok := c.m.metric(it.name)
			if !ok {
				return nil, unknown(m.Name, "metric", it.name, c.m.metricNames())
			}
			inner, err := c.lower(other, around, where)
			if err != nil {
				return nil, err
			}
			if len(inner) > 1 {
				inner = append(append([]part{{text: "("}}, inner...), part{text: ")"})
			}
			parts = append(parts, inner...)
		case it.kind == itemColumn || it.kind == itemRows:
			return nil, invalid(m.Name, "%s stands outside of an aggregate", it.name)
		default:
			parts = append(parts, part{text: it.text})
		}
	}
	return parts, nil
}

// aggregated reads one aggregate. Equal ones are made once.
func (c *compiler) aggregated(metric, function string, argument expression, where []expression) (*aggregate, error) {
	a := &aggregate{metric: metric, function: strings.ToUpper(function), argument: slices.Clone(argument), where: where}
	if len(argument) > 0 && argument[0].is("DISTINCT") {
		a.unique, a.argument = true, a.argument[1:]
	}
	if err := a.argument.brackets(); err != nil { // its brackets are counted from its own start
		return nil, invalid(metric, "%v", err)
	}
	a.distinct = a.unique || a.function == "MIN" || a.function == "MAX"
	for i, it := range a.argument {
		switch {
		case it.kind == itemRows && (len(a.argument) > 1 || a.function != "COUNT" || a.unique):
			return nil, invalid(metric, "%s.* stands for rows only in COUNT(%s.*)", it.qualifier, it.qualifier)
		case it.kind == itemMetric || it.kind == itemCall && aggregates[strings.ToUpper(it.text)] &&
			a.argument.isAggregate(i):
			return nil, invalid(metric, "an aggregate in an aggregate")
		case it.kind == itemColumn && it.qualifier == "":
			return nil, invalid(metric, "%s is not written table.column", it.name)
		}
	}
	var err error
	if a.targets, err = c.targets(metric, a.argument); err != nil {
		return nil, err
	}
	if len(a.targets) == 0 {
		return nil, invalid(metric, "%s names no table: COUNT(table.*) counts rows", a.function)
	}
	for _, other := range c.aggregates {
		if a.equal(other) {
			return other, nil
		}
	}
	c.aggregates = append(c.aggregates, a)
	return a, nil
}

// equal reports whether two aggregates are the same text.
func (a *aggregate) equal(b *aggregate) bool {
	same := func(x, y expression) bool { return x.key() == y.key() }
	return a.function == b.function && a.unique == b.unique && same(a.argument, b.argument) &&
		slices.EqualFunc(a.where, b.where, same)
}

// key is a text that equal expressions share.
func (e expression) key() string {
	key, _ := e.write(func(it item) (string, error) { return strconv.Quote(it.qualifier) + strconv.Quote(it.name), nil })
	return key
}
