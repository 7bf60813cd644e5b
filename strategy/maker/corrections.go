package maker

import (
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// against flags a scope that no statement could keep to without going against a correction of the user. Phase 3 holds the
// statements to them.
func (r *run) against(s tableScope) error {
	find := func(name schema.TableName) schema.TableName {
		if t, ok := r.env.Schema.Lookup(name.Schema, name.Name); ok {
			return t.TableName()
		}
		return name
	}
	for i, c := range r.task.Corrections {
		needed := c.Tables
		if c.Join != nil {
			needed = append(slices.Clone(needed), c.Join.Left.Table, c.Join.Right.Table)
		}
		if slices.ContainsFunc(needed, func(t schema.TableName) bool { return !s.Has(find(t)) }) ||
			slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool { return s.Has(find(t)) }) {
			return flagged(flagCorrection, "%s", session.Constraints(r.task.Corrections[i : i+1])[0])
		}
	}
	return nil
}

// corrected puts the joins of the user in the place of those between the same two tables.
func (r *run) corrected(joins []schema.Join) []schema.Join {
	for _, c := range r.task.Corrections {
		if c.Join == nil {
			continue
		}
		a, ok := r.column(c.Join.Left)
		b, also := r.column(c.Join.Right)
		if !ok || !also {
			continue
		}
		joins = slices.DeleteFunc(slices.Clone(joins), func(j schema.Join) bool {
			return j.Left.Table == a.Table && j.Right.Table == b.Table || j.Left.Table == b.Table && j.Right.Table == a.Table
		})
		joins = append(joins, schema.Join{Left: a, Right: b})
	}
	return joins
}

// column is a column as the schema spells it.
func (r *run) column(name schema.ColumnName) (schema.ColumnName, bool) {
	t, ok := r.env.Schema.Lookup(name.Table.Schema, name.Table.Name)
	if !ok {
		return name, false
	}
	c, ok := t.Column(name.Column)
	if !ok {
		return name, false
	}
	return schema.ColumnName{Table: t.TableName(), Column: c.Name}, true
}
