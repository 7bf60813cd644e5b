package dbt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/knowledge"
)

// metric adds a metric, with the reason if a Model cannot say it.
func (r *reader) metric(m *metric) {
	out := knowledge.Metric{Name: m.Name, Subject: knowledge.Subject{Description: m.Description}}
	if m.Label != "" && m.Label != m.Name {
		out.Synonyms = []string{m.Label}
	}
	var err error
	switch p := &m.Params; {
	case m.Type == "simple" && p.Measure != nil:
		out.Expr, err = r.simple(p.Measure)
	case m.Type == "ratio" && p.Numerator != nil && p.Denominator != nil:
		out.Expr, err = derived("numerator / denominator",
			[]input{p.Numerator.as("numerator"), p.Denominator.as("denominator")})
	case m.Type == "derived":
		out.Expr, err = derived(p.Expr, p.Metrics)
	default:
		err = fmt.Errorf("a %s metric", m.Type)
	}
	if err == nil {
		out.Where, err = r.where(m)
	}
	if err != nil {
		out.Unsupported = err.Error()
	}
	r.out.Metrics = append(r.out.Metrics, out)
}

func (in input) as(alias string) input {
	in.Alias = alias
	return in
}

// part says why an input is more than a measure or a metric.
func (in *input) part() error {
	switch {
	case in.Window != nil || in.ToGrain != nil:
		return fmt.Errorf("an offset in time")
	case len(in.Filter.Filters) > 0:
		return fmt.Errorf("a filter of %s alone", in.Name)
	case in.TimeSpine:
		return fmt.Errorf("a join to the time spine")
	}
	return nil
}

// derived writes an expression over metrics, which it names by their names or aliases.
func derived(expr string, inputs []input) (string, error) {
	for i := range inputs {
		if err := inputs[i].part(); err != nil {
			return "", err
		}
	}
	return knowledge.Rename(expr, func(_, name string) string {
		i := slices.IndexFunc(inputs, func(in input) bool { return cmp.Or(in.Alias, in.Name) == name })
		if i < 0 {
			return name
		}
		return "{" + inputs[i].Name + "}"
	})
}

// simple writes the aggregate of a measure.
func (r *reader) simple(in *input) (string, error) {
	if err := in.part(); err != nil {
		return "", err
	}
	table, ms := r.measure(in.Name)
	if ms == nil {
		return "", fmt.Errorf("its measure %s is nowhere", in.Name)
	}
	form, held := forms[ms.Agg]
	switch {
	case ms.NonAdditive != nil:
		return "", fmt.Errorf("its measure %s is not additive", in.Name)
	case !held:
		return "", fmt.Errorf("its measure %s is a %s", in.Name, ms.Agg)
	}
	expr, err := cmp.Or(ms.Expr, ms.Name), error(nil)
	if isCount := ms.Agg == "count" || ms.Agg == "sum"; isCount && (expr == "1" || expr == "*") {
		form, expr = "COUNT(%s)", table.ColumnName("*")
	} else {
		expr, err = r.qualified(table, ms.Name, expr)
	}
	if in.Fill != nil {
		form = fmt.Sprintf("COALESCE(%s, %v)", form, *in.Fill)
	}
	return fmt.Sprintf(form, expr), err
}

// forms are the aggregates of measures.
var forms = map[string]string{
	"sum": "SUM(%s)", "count": "COUNT(%s)", "count_distinct": "COUNT(DISTINCT %s)", "average": "AVG(%s)", "min": "MIN(%s)",
	"max": "MAX(%s)", "sum_boolean": "SUM(CASE WHEN %s THEN 1 ELSE 0 END)",
}

func (r *reader) measure(name string) (*knowledge.Table, *measure) {
	for i := range r.file.Models {
		m := &r.file.Models[i]
		if k := slices.IndexFunc(m.Measures, func(x measure) bool { return x.Name == name }); k >= 0 {
			return &r.out.Tables[i], &m.Measures[k]
		}
	}
	return nil, nil
}

// qualified writes the expression of a measure. One that names no column, or a column of the database whose name is
// that of a dimension with another expression, becomes a computed column.
func (r *reader) qualified(t *knowledge.Table, name, expr string) (string, error) {
	columns := knowledge.Column{Expr: expr}.Reads()
	shadowed := slices.ContainsFunc(t.Columns, func(c knowledge.Column) bool {
		return c.Expr != "" && slices.ContainsFunc(columns, func(n string) bool { return strings.EqualFold(n, c.Name) })
	})
	if len(columns) > 0 && !shadowed {
		return knowledge.Qualified(t.Name, expr)
	}
	for slices.ContainsFunc(t.Columns, func(c knowledge.Column) bool {
		return strings.EqualFold(c.Name, name) && c.Expr != expr
	}) {
		name += "_measure"
	}
	if !slices.ContainsFunc(t.Columns, func(c knowledge.Column) bool { return strings.EqualFold(c.Name, name) }) {
		t.Columns = append(t.Columns, knowledge.Column{Name: name, Expr: expr})
	}
	return t.ColumnName(name), nil
}

var (
	call     = regexp.MustCompile(`\{\{\s*(Dimension|TimeDimension|Entity)\s*\(([^()]*)\)\s*\}\}`)
	argument = regexp.MustCompile(`['"]([^'"]*)['"]`)
)

// where writes the filters of a metric as one condition.
func (r *reader) where(m *metric) (string, error) {
	var conditions []string
	for _, f := range m.Filter.Filters {
		var failed error
		sql := call.ReplaceAllStringFunc(f.SQL, func(text string) string {
			found := call.FindStringSubmatch(text)
			column, err := r.filtered(m, found[1], argument.FindAllStringSubmatch(found[2], -1))
			failed = cmp.Or(failed, err)
			return column
		})
		if failed == nil && (strings.Contains(sql, "{{") || strings.Contains(sql, "{%")) {
			failed = fmt.Errorf("its filter is a template that is not read: %s", strings.TrimSpace(f.SQL))
		}
		if failed != nil {
			return "", failed
		}
		conditions = append(conditions, strings.TrimSpace(sql))
	}
	if len(conditions) > 1 {
		for i := range conditions {
			conditions[i] = "(" + conditions[i] + ")"
		}
	}
	return strings.Join(conditions, " AND "), nil
}

// filtered writes the column that a filter names: entity__dimension, an entity, or a dimension with its own grain.
func (r *reader) filtered(m *metric, kind string, arguments [][]string) (string, error) {
	if len(arguments) == 0 {
		return "", fmt.Errorf("its filter names nothing")
	}
	path := strings.Split(arguments[0][1], "__")
	name, of := path[len(path)-1], ""
	if len(path) > 1 {
		of = path[len(path)-2]
	}
	var found []string
	for pass := 0; pass < 2 && len(found) == 0; pass++ { // tables whose key the entity is come first
		for i := range r.file.Models {
			if c := r.file.Models[i].filtered(kind, of, name, arguments, pass == 1, r.isOwn(m, i)); c != "" {
				found = append(found, r.out.Tables[i].ColumnName(c))
			}
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("its filter names %s, which %d tables have", arguments[0][1], len(found))
	}
	return found[0], nil
}

// isOwn reports whether the measure of a metric is of model i.
func (r *reader) isOwn(m *metric, i int) bool {
	if m.Params.Measure == nil {
		return false
	}
	table, _ := r.measure(m.Params.Measure.Name)
	return table == &r.out.Tables[i]
}

// filtered returns the column that the filter names if the model has it, else "".
func (s *semanticModel) filtered(kind, of, name string, arguments [][]string, foreign, own bool) string {
	has := of == "" && own || of != "" && of == s.PrimaryEntity
	for _, e := range s.Entities {
		if kind == "Entity" && own && e.Name == name {
			return e.column()
		}
		has = has || e.Name == of && (e.isKey() || foreign)
	}
	for _, d := range s.Dimensions {
		if !has || d.Name != name || kind == "Entity" {
			continue
		}
		if len(arguments) > 1 && (d.Params == nil || !strings.EqualFold(d.Params.Grain, arguments[1][1])) {
			continue // another grain than the stored one
		}
		if strings.EqualFold(d.Expr, d.Name) {
			return d.Expr
		}
		return d.Name
	}
	return ""
}
