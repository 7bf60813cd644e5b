package maker

import (
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// corrections are those of the user, as the schema spells their names.
func (r *run) corrections() (all []session.Correction) {
	for _, c := range r.task.Corrections {
		if c, err := c.Resolve(r.env.Schema); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// against flags a scope that no statement could keep to without going against a correction of the user. Phase 3 holds the
// statements to them.
func (r *run) against(s tableScope) error {
	for _, c := range r.corrections() {
		needed := c.Tables
		if c.Join != nil {
			needed = append(slices.Clone(needed), c.Join.Left.Table, c.Join.Right.Table)
		}
		if slices.ContainsFunc(needed, func(t schema.TableName) bool { return !s.Has(t) }) || slices.ContainsFunc(c.Rejected, s.Has) {
			return flagged(flagCorrection, "%s", session.Constraints([]session.Correction{c})[0])
		}
	}
	return nil
}

// corrected puts the joins of the user in the place of those between the same two tables.
func (r *run) corrected(joins []schema.Join) []schema.Join {
	for _, c := range r.corrections() {
		if c.Join == nil {
			continue
		}
		a, b := c.Join.Left.Table, c.Join.Right.Table
		joins = slices.DeleteFunc(slices.Clone(joins), func(j schema.Join) bool {
			return j.Left.Table == a && j.Right.Table == b || j.Left.Table == b && j.Right.Table == a
		})
		joins = append(joins, *c.Join)
	}
	return joins
}
