package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Spots implements [exec.RowFilterConn] by the text, which the second look checks.
func (c *conn) Spots(_ context.Context, s *exec.Statement) ([]guard.TablePosition, error) {
	known, f, refs := s.Catalog.Own.(*catalog), &guard.Finder{Text: guard.NewText(s.Statement)}, s.Tables()
	commons := commonNames(f.Text)
	var ruled []sqlshape.TableRef
	for _, ref := range refs {
		ref.Schema = cmp.Or(ref.Schema, s.In)
		r := known.find(ref.Schema, ref.Name)
		if !ref.Base() || r == nil {
			continue
		}
		if err := placeTable(f, s, r, ref); err != nil {
			return nil, err
		}
		if !r.Ruled() {
			continue
		}
		if ref.Schema == s.In && commons[schema.FoldCase(ref.Name)] {
			return nil, guard.Refuse("rows",
				"%[1]s is a table and a common table expression too: write main.%[1]s for the table, "+
					"or give the other one another name", ref.Name)
		}
		ruled = append(ruled, ref)
	}
	if err := known.rowids(s, ruled); err != nil {
		return nil, err
	}
	if err := known.unqualify(f, refs, ruled); err != nil {
		return nil, err
	}
	return f.Spots(), nil
}

// placeTable finds where a table stands, and NOT INDEXED or INDEXED BY behind it. That of a sample, which may take an
// index of the rule, is left out.
func placeTable(f *guard.Finder, s *exec.Statement, r *guard.Relation, ref sqlshape.TableRef) error {
	last, err := f.Table(r, ref.Pos, ref.Name, ref.Alias)
	if err != nil {
		return err
	}
	hint := last + 1
	if ref.Alias != "" {
		if hint++; f.Word(last+1) == "as" {
			hint++
		}
	}
	end := hint + 1
	switch {
	case f.Word(hint) == "not" && f.Word(hint+1) == "indexed":
	case f.Word(hint) == "indexed" && f.Word(hint+1) == "by" && f.Raw(hint+2) != "":
		end++
	default:
		return nil
	}
	if s.Ours && s.In == "" {
		f.Put(f.Pos(hint), f.End(end), "")
	} else {
		f.Hint(hint, end)
	}
	return nil
}

// commonNames returns the folded names that stand before AS and a bracket, or before a bracket and these. Those of
// common table expressions are among them. SQLite knows one also in those before it.
func commonNames(t guard.Text) map[string]bool {
	found := map[string]bool{}
	var open []int
	closed := map[int]int{} // by the token of a closing bracket: that of the opening one
	for i := range t.Len() {
		switch t.Word(i) {
		case "(":
			open = append(open, i)
		case ")":
			if last := len(open) - 1; last >= 0 {
				closed[i], open = open[last], open[:last]
			}
		case "as":
			name := i - 1
			if from, ok := closed[name]; ok {
				name = from - 1
			}
			if next := t.Word(i + 1); name >= 0 && (next == "(" || next == "materialized" || next == "not") {
				found[schema.FoldCase(t.Value(name))] = true
			}
		}
	}
	return found
}

// rowids refuses the names of the key that SQLite gives each table, which a subquery does not have: there the name
// could mean the row around it.
func (c *catalog) rowids(s *exec.Statement, ruled []sqlshape.TableRef) error {
	for _, m := range s.Columns() {
		name := schema.FoldCase(m.Column)
		if name != "rowid" && name != "_rowid_" && name != "oid" {
			continue
		}
		for _, ref := range ruled {
			r := c.find(ref.Schema, ref.Name)
			qualifier := m.Qualifier[strings.LastIndexByte(m.Qualifier, '.')+1:]
			if !r.View && !r.Has(name) && (qualifier == "" || schema.EqualFold(qualifier, cmp.Or(ref.Alias, ref.Name))) {
				return guard.Refuse("rows", "only some rows of %s may be read, and so its %s may not: name a column", r.Name,
					m.Column)
			}
		}
	}
	return nil
}

// unqualify finds the schemas in front of columns, as in main.t.id, that are left out because a subquery has no schema.
// It refuses where t could be something else then.
func (c *catalog) unqualify(f *guard.Finder, refs, ruled []sqlshape.TableRef) error {
	for i := range f.Len() - 4 {
		if f.Raw(i+1) != "." || f.Raw(i+3) != "." || f.Token(i).Kind == sqltext.Operator {
			continue
		}
		in, name := schema.FoldCase(f.Value(i)), schema.FoldCase(f.Value(i+2))
		k := slices.IndexFunc(ruled, func(r sqlshape.TableRef) bool {
			return schema.FoldCase(r.Name) == name && schema.FoldCase(c.find(r.Schema, r.Name).Schema) == in
		})
		if k < 0 {
			continue
		}
		relation := c.find(ruled[k].Schema, ruled[k].Name)
		for _, ref := range refs {
			if schema.FoldCase(cmp.Or(ref.Alias, ref.Name)) == name &&
				(ref.Alias != "" || !ref.Base() || c.find(ref.Schema, ref.Name) != relation) {
				return guard.Refuse("rows", "%s.%s and another %[2]s: give one of them an alias", in, relation.Name)
			}
		}
		f.Put(f.Pos(i), f.Pos(i+2), "")
	}
	return nil
}

// nowhere is the name of no table. It stands for the tables with rules where none may be read.
const nowhere = "a place where no rule can stand"

// Placed implements [exec.RowFilterConn]: SQLite compiles the statement without what the rules read, and the authorizer
// may hear of no table with a rule. It does not hear of one that only USING or a NATURAL join reads. So around the
// statement each such name is a common table expression that cannot be compiled, and no schema may stand in front of
// one.
func (c *conn) Placed(ctx context.Context, s *exec.Statement) error {
	known := s.Catalog.Own.(*catalog)
	text := known.written(sqltext.SQLite().Parse(s.Splice.Bare)).text
	traps, err := known.traps(text)
	if err != nil {
		return err
	}
	if len(traps) > 0 {
		text = "WITH " + strings.Join(traps, ", ") + " SELECT 1 FROM (" + text + "\n)"
	}
	look := *s
	look.Splice = nil
	err = c.keep(ctx, &look, text)
	// Without a schema and a column it is a common table expression: the others of that name are traps.
	c.gate.reads = slices.DeleteFunc(c.gate.reads, func(r read) bool { return r.database == "" && r.column == "" })
	heard := c.gate.heard()
	c.close()
	if err != nil {
		if exec.IsRejection(err) {
			return guard.Refuse("rows", "it cannot be read through the rules about rows: %v",
				strings.TrimPrefix(err.Error(), "exec: "))
		}
		return err
	}
	for _, u := range heard {
		if u.Relation.Ruled() {
			return guard.Refuse("rows", "it reads %s where no rule can stand", u.Relation.Name)
		}
	}
	return nil
}

// traps are common table expressions that cannot be compiled, one for each table with a rule that a text may name.
func (c *catalog) traps(text string) (traps []string, err error) {
	t, trapped := guard.NewText(sqltext.SQLite().Parse(text)), map[string]bool{}
	for i := range t.Len() {
		if !t.IsName(i) && t.Token(i).Kind != sqltext.String {
			continue
		}
		name := schema.FoldCase(t.Value(i))
		for _, r := range c.named[name] {
			if !r.Ruled() {
				continue
			}
			if t.Raw(i-1) == "." && schema.EqualFold(t.Value(i-2), r.Schema) {
				return nil, guard.Refuse("rows", "it names %s.%s where no rule can stand", r.Schema, r.Name)
			}
			if !trapped[name] && r == c.find("", name) {
				trapped[name] = true
				traps = append(traps, quoted(r.Name)+" AS (SELECT 1 FROM "+quoted(nowhere)+")")
			}
		}
	}
	return traps, nil
}
