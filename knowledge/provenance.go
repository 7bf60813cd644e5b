package knowledge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// Provenance is a definition or a verified statement that an answer uses.
type Provenance struct {
	// Kind is "metric", "term", "verified" or "confirmed-by". "metric": the answer was compiled from the metric's
	// definition. "term": it uses the expression of a term that the question has. "verified": a person verified the
	// statement. "confirmed-by": it has the shape of such a statement.
	Kind   string            `json:"kind"`
	Name   string            `json:"name"`             // the metric, the term's word, or the verified query
	Owner  string            `json:"owner,omitempty"`  // who verified it
	On     string            `json:"on,omitempty"`     // the date, as written in the file
	Params map[string]string `json:"params,omitempty"` // the values of its parameters
}

// String returns the provenance for a person: "by metric revenue".
func (g Provenance) String() string {
	switch g.Kind {
	case "metric":
		return "by metric " + g.Name
	case "verified":
		text := "verified"
		if g.Owner != "" {
			text += " by " + g.Owner
		}
		if g.On != "" {
			text += ", " + g.On
		}
		for i, name := range slices.Sorted(maps.Keys(g.Params)) {
			text += []string{" (", ", "}[min(i, 1)] + name + ": " + g.Params[name]
		}
		if len(g.Params) > 0 {
			text += ")"
		}
		return text
	case "confirmed-by":
		return "has the form of a verified answer: " + g.Name
	}
	return "by " + g.Kind + " " + g.Name
}

// ProvenanceOf returns the provenance of an answer that uses a verified query. kind is "verified", or
// "confirmed-by" if the answer only has the same shape.
func (v VerifiedQuery) ProvenanceOf(kind string, values map[string]string) Provenance {
	return Provenance{Kind: kind, Name: cmp.Or(v.Name, v.Question), Owner: v.VerifiedBy, On: v.VerifiedAt, Params: values}
}

// TermsIn returns the terms that a statement uses: the question has their words, and the statement has their columns
// and constants.
func (m Model) TermsIn(question string, statement *sqltext.Statement) (grounds []Provenance) {
	asked := stems(question)
	for _, t := range m.Terms {
		if t.Expr != "" && touches(asked, t.Words) && usesAll(statement, t.Expr) {
			grounds = append(grounds, Provenance{Kind: "term", Name: t.Words[0]})
		}
	}
	return grounds
}

// usesAll reports whether a statement has the columns and constants of an expression.
func usesAll(statement *sqltext.Statement, expr string) bool {
	e, err := parse(statement.Dialect(), expr)
	return err == nil && uses(statement, e)
}

func uses(statement *sqltext.Statement, e expression) bool {
	text, _ := e.write(func(it item) (string, error) { return plain(it.name), nil })
	literals := statement.Dialect().Parse(text).Literals()
	return !slices.ContainsFunc(e, func(it item) bool { return it.kind == itemColumn && !names(statement, it.name) }) &&
		!slices.ContainsFunc(literals, func(l sqlshape.Literal) bool {
			return !slices.ContainsFunc(statement.Literals(), func(x sqlshape.Literal) bool { return x.Value == l.Value })
		})
}

// names reports whether a statement mentions a column of that name.
func names(statement *sqltext.Statement, column string) bool {
	return slices.ContainsFunc(statement.Columns(), func(c sqlshape.ColumnRef) bool {
		return strings.EqualFold(c.Column, column)
	})
}

// Bypassed returns the metrics that a statement computes without their conditions. The statement reads the table of
// the metric, and each column of the aggregate is in an item with the same function. A column or constant of the
// metric's condition is missing. A metric is not returned if another metric with the same aggregate has no condition,
// or a condition that the statement has. Columns are compared by name.
func (m Model) Bypassed(statement *sqltext.Statement) (found []Metric) {
	g := newGraph(&m)
	met := map[string]bool{} // aggregates that a metric has just so
	var owners []Metric
	var aggregates []*aggregate
	for _, x := range m.Metrics {
		c := &compiler{m: &m, g: g, d: dialect{text: statement.Dialect()}}
		if x.Unsupported != "" || c.metric(x.Name, nil) != nil || c.bases() != nil {
			continue
		}
		for _, a := range c.aggregates {
			if !m.addsUp(statement, a) {
				continue
			}
			bypasses := func(e expression) bool { return !uses(statement, e) }
			if slices.ContainsFunc(a.where, bypasses) {
				owners, aggregates = append(owners, x), append(aggregates, a)
			} else {
				met[a.text()] = true
			}
		}
	}
	for i, x := range owners {
		if text := aggregates[i].text(); !met[text] {
			met[text] = true // the first that has it names it
			found = append(found, x)
		}
	}
	return found
}

// text tells aggregates apart, whatever their conditions.
func (a *aggregate) text() string { return a.function + " " + a.argument.key() }

// addsUp reports whether an item of a statement is an aggregate over the columns of a metric's.
func (m *Model) addsUp(statement *sqltext.Statement, a *aggregate) bool {
	t := &m.Tables[a.base]
	source := t.Name
	if !t.isQuery() && t.Source != "" {
		_, source, _ = words.CutLast(t.Source, ".")
	}
	reads := slices.ContainsFunc(statement.Tables(), func(r sqlshape.TableRef) bool {
		return r.Base() && strings.EqualFold(r.Name, source)
	})
	columns := 0
	for _, it := range a.argument {
		if it.kind == itemColumn {
			columns++
		}
	}
	return reads && columns > 0 && slices.ContainsFunc(statement.Outline().Items, func(i sqlshape.SelectItem) bool {
		term := statement.Dialect().Parse("SELECT " + i.Text)
		return slices.Contains(i.Aggregates, a.function) && !slices.ContainsFunc(a.argument, func(it item) bool {
			return it.kind == itemColumn && !names(term, m.storedName(it))
		})
	})
}

// storedName is the column of the database behind a column of the model, if it is one under another name.
func (m *Model) storedName(it item) string {
	if i := m.table(it.qualifier); i >= 0 {
		if c := m.Tables[i].column(it.name); c != nil && c.Expr != "" {
			if columns := (Column{Expr: c.Expr}).Reads(); len(columns) == 1 && columns[0] == c.Expr {
				return c.Expr
			}
		}
	}
	return it.name
}
