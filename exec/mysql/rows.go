package mysql

import (
	"context"
	"slices"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Rules says how SQL of MySQL is written around a rule. A query with a LIMIT is not merged into the one around it, so the
// server evaluates nothing of that on a row before the rule.
//
// MariaDB 10.11 gives a subquery in a HAVING the value of another group where it names a column of a query in FROM that was
// merged. [guard.Catalog.CannotFail] has no such subquery on its list, so that the fence is there.
func (d Dialect) Rules() guard.Splicing {
	l := d.Language()
	return guard.Splicing{Fence: "LIMIT " + noLimit, Quote: l.Quote, QuoteSchema: l.QuoteSchema, Placeholder: l.Placeholder}
}

// familyOf is the family of a column. The server may compute a generated one when it is read.
func familyOf(c *schema.Column) guard.Family {
	if k := kindOf(c.Type); k != nil && !c.Generated {
		return k.family
	}
	return guard.NoFamily
}

// systemColumns are columns that a table may have without having them in its list. Behind a splice the name would mean the
// row around it.
var systemColumns = guard.Set("_rowid row_start row_end")

// Spots implements exec.RulerConn.
func (h *held) Spots(_ context.Context, s *exec.Statement) ([]guard.Spot, error) {
	return s.Catalog.Own.(*catalog).spots(s.Statement, h, len(s.Args) > 0)
}

// Placed implements exec.RulerConn: no table with a rule is named where its splice is taken out.
func (h *held) Placed(_ context.Context, s *exec.Statement) error {
	spots, err := s.Catalog.Own.(*catalog).spots(s.Dialect().Parse(s.Splice.Bare), h, len(s.Args) > 0)
	if err != nil {
		return err
	}
	return guard.Bare(spots)
}

func (c *catalog) spots(s *sqltext.Statement, h *held, ours bool) (spots []guard.Spot, err error) {
	w, err := c.walked(s, h.at.mode, ours)
	if err != nil {
		return nil, err
	}
	t := guard.NewText(s)
	for _, table := range w.tables {
		r := table.source.Relation
		for _, ref := range w.names.Refs {
			name := lower(append([]string{""}, ref.Path...)[len(ref.Path)])
			if !ref.Star && (r.Unnamed(name) || systemColumns[name] && !r.Has(name) && r.Ruled()) {
				return nil, guard.Refuse(exec.ReasonRows, "only some rows of %s may be read, and so its hidden column %s may not", r.Name, name)
			}
		}
		first, last, err := t.Name(origin(w.edits, table.OriginTextPosition()), table.Name.O)
		switch {
		case err != nil:
			return nil, err
		case table.unsure:
			return nil, guard.Refuse(exec.ReasonRows, "%s may be a table or a common table expression", r.Name)
		case w.matches && r.Ruled():
			return nil, guard.Refuse(exec.ReasonRows, "MATCH weighs words by all rows of %s, and only some may be read: write LIKE", r.Name)
		case len(table.PartitionNames) > 0 && r.Ruled():
			return nil, guard.Refuse(exec.ReasonRows, "a partition of %s is named: its rule is about the table", r.Name)
		}
		spot := guard.Spot{Relation: r, Pos: t.Pos(first), End: t.End(last)}
		next := last + 1
		switch {
		case table.alias == "":
			spot.Alias = t.Raw(last)
		case t.Word(next) == "as":
			next += 2
		default:
			next++
		}
		if len(table.IndexHints) > 0 {
			spot.HintPos = t.Pos(next)
			for range table.IndexHints {
				for ; t.Word(next) != ")"; next++ {
				}
				next++
			}
			spot.HintEnd = t.End(next - 1)
		}
		spots = append(spots, spot)
	}
	// A column of a query in FROM is called as that spells it, one of a table as the statement does.
	for _, f := range w.headings {
		c, other := f.Expr.(*ast.ColumnNameExpr)
		if !other || f.AsName.O != "" {
			continue
		}
		name, tables := c.Name.Name.O, true
		other = false
		for _, from := range w.names.Sources {
			if r := from.Relation; from.Select == f.of && !from.Joined {
				tables = tables && r != nil && !r.View
				other = other || tables && r.Has(name) && !slices.Contains(r.Columns(), name)
			}
		}
		if _, last, err := t.Name(origin(w.edits, f.Offset), name); err == nil && tables && other {
			spots = append(spots, guard.Spot{Pos: t.End(last), End: t.End(last), Insert: " AS " + quote(name)})
		}
	}
	// The definitions of views have the name of the database in front of tables and columns.
	for i := range t.Len() - 4 {
		if !t.IsName(i) || t.Word(i+1) != "." || !t.IsName(i+2) || t.Word(i+3) != "." || t.Word(i-1) == "." {
			continue
		}
		if !w.names.Same(s.Dialect().Value(t.Token(i+2)), schema.EqualFold) {
			return nil, guard.Refuse(exec.ReasonRows, "%s.%s has a database in front: write it with an alias of the table", t.Raw(i), t.Raw(i+2))
		}
		spots = append(spots, guard.Spot{Pos: t.Pos(i), End: t.Pos(i + 2)})
	}
	slices.SortStableFunc(spots, func(a, b guard.Spot) int { return a.Pos - b.Pos })
	return spots, nil
}
