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

func (c *catalog) spots(s *sqltext.Statement, h *held, ours bool) ([]guard.Spot, error) {
	w, err := c.walked(s, h.at.mode, ours)
	if err != nil {
		return nil, err
	}
	f := guard.NewFinder(s)
	for _, table := range w.tables {
		if err := w.placeTable(f, table); err != nil {
			return nil, err
		}
	}
	for _, h := range w.headings {
		w.placeHeading(f, h)
	}
	// The definitions of views have the name of the database in front of tables and columns.
	for i := range f.Len() - 4 {
		if !f.IsName(i) || f.Word(i+1) != "." || !f.IsName(i+2) || f.Word(i+3) != "." || f.Word(i-1) == "." {
			continue
		}
		if err := f.Unqualify(&w.names, f.Pos(i), f.Value(i+2), schema.EqualFold); err != nil {
			return nil, err
		}
	}
	return f.Spots(), nil
}

// placeTable finds where a table stands, with its hints, and refuses what tells of other rows of it.
func (w *walker) placeTable(f *guard.Finder, table tableAt) error {
	r := table.source.Relation
	for _, ref := range w.names.Refs {
		if ref.Star || len(ref.Path) == 0 {
			continue
		}
		if name := lower(ref.Path[len(ref.Path)-1]); r.Unnamed(name) || systemColumns[name] && !r.Has(name) && r.Ruled() {
			return guard.Refuse(exec.ReasonRows, "only some rows of %s may be read, and so its hidden column %s may not", r.Name, name)
		}
	}
	last, err := f.Table(r, origin(w.edits, table.OriginTextPosition()), table.Name.O, table.alias)
	switch {
	case err != nil:
		return err
	case table.unsure:
		return guard.Refuse(exec.ReasonRows, "%s may be a table or a common table expression", r.Name)
	case w.matches && r.Ruled():
		return guard.Refuse(exec.ReasonRows, "MATCH weighs words by all rows of %s, and only some may be read: write LIKE", r.Name)
	case len(table.PartitionNames) > 0 && r.Ruled():
		return guard.Refuse(exec.ReasonRows, "a partition of %s is named: its rule is about the table", r.Name)
	case len(table.IndexHints) == 0:
		return nil
	}
	first := last + 1
	if table.alias != "" {
		first++
		if f.Word(last+1) == "as" {
			first++
		}
	}
	last = first - 1
	for range table.IndexHints {
		for last++; last < f.Len() && f.Word(last) != ")"; last++ {
		}
	}
	f.Hint(first, last)
	return nil
}

// placeHeading writes the name of a column behind it where the server would call the result otherwise: a column of a query in
// FROM is called as that spells it, one of a table as the statement does.
func (w *walker) placeHeading(f *guard.Finder, h heading) {
	c, ok := h.Expr.(*ast.ColumnNameExpr)
	if !ok || h.AsName.O != "" {
		return
	}
	name, other := c.Name.Name.O, false
	for _, from := range w.names.Sources {
		if from.Select != h.of || from.Joined {
			continue
		}
		r := from.Relation
		if r == nil || r.View {
			return
		}
		other = other || r.Has(name) && !slices.Contains(r.Columns(), name)
	}
	if _, last, err := f.Name(origin(w.edits, h.Offset), name); err == nil && other {
		f.Put(f.End(last), f.End(last), " AS "+quote(name))
	}
}
