package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Spots implements [exec.RulerConn] by the text, which the second look checks.
func (c *conn) Spots(_ context.Context, s *exec.Statement) (spots []guard.Spot, err error) {
	known := s.Catalog.Own.(*catalog)
	tokens := slices.Collect(s.Statement.Tokens())
	commons := commonNames(tokens)
	at := make(map[int]int, len(tokens)) // by position
	for i, t := range tokens {
		at[t.Pos] = i
	}
	refs := s.Tables()
	var ruled []sqltext.TableRef
	for _, ref := range refs {
		ref.Schema = cmp.Or(ref.Schema, s.In)
		r := known.find(ref.Schema, ref.Name)
		if !ref.Base() || r == nil {
			continue
		}
		spot := guard.Spot{Relation: r, Pos: ref.Pos, Alias: quoted(ref.Name)}
		i := at[ref.Pos]
		for i+2 < len(tokens) && tokens[i+1].Text == "." {
			i += 2
		}
		spot.End = end(tokens[i])
		if ref.Alias != "" {
			spot.Alias = ""
			if i++; i+1 < len(tokens) && schema.Fold(tokens[i].Text) == "as" {
				i++
			}
		}
		if words := wordsAt(tokens, i+1, 3); words[0] == "not" && words[1] == "indexed" {
			spot.HintPos, spot.HintEnd = tokens[i+1].Pos, end(tokens[i+2])
		} else if words[0] == "indexed" && words[1] == "by" && i+3 < len(tokens) {
			spot.HintPos, spot.HintEnd = tokens[i+1].Pos, end(tokens[i+3])
		}
		if s.Ours && s.In == "" && spot.HintEnd > 0 { // that of a sample, which may take an index of the rule
			spots = append(spots, guard.Spot{Pos: spot.HintPos, End: spot.HintEnd})
			spot.HintPos, spot.HintEnd = 0, 0
		}
		if r.Ruled() {
			if ref.Schema == s.In && commons[schema.Fold(ref.Name)] {
				return nil, guard.Refuse(exec.ReasonRows,
					"%[1]s is a table and a common table expression too: write main.%[1]s for the table, or give the other one another name", ref.Name)
			}
			ruled = append(ruled, ref)
		}
		spots = append(spots, spot)
	}
	if err := known.rowids(s, ruled); err != nil {
		return nil, err
	}
	drops, err := known.unqualify(tokens, refs, ruled)
	spots = append(spots, drops...)
	slices.SortFunc(spots, func(a, b guard.Spot) int { return a.Pos - b.Pos })
	return spots, err
}

func end(t sqltext.Token) int { return t.Pos + len(t.Text) }

// wordsAt returns n tokens from i on, folded; "" for what is no plain word.
func wordsAt(tokens []sqltext.Token, i, n int) []string {
	words := make([]string, n)
	for k := range words {
		if i+k < len(tokens) && tokens[i+k].Kind == sqltext.Word {
			words[k] = schema.Fold(tokens[i+k].Text)
		}
	}
	return words
}

// commonNames returns the folded names that stand before AS and a bracket, or before a bracket and these. Those of common
// table expressions are among them. SQLite knows one also in those before it.
func commonNames(tokens []sqltext.Token) map[string]bool {
	d, found := sqltext.SQLite(), map[string]bool{}
	var open []int
	closed := map[int]int{} // by the item of a closing bracket: that of the opening one
	for i, t := range tokens {
		switch {
		case t.Text == "(":
			open = append(open, i)
		case t.Text == ")" && len(open) > 0:
			closed[i] = open[len(open)-1]
			open = open[:len(open)-1]
		case t.Kind == sqltext.Word && schema.Fold(t.Text) == "as" && i > 0:
			name := i - 1
			if from, ok := closed[name]; ok {
				name = from - 1
			}
			if words := wordsAt(tokens, i+1, 2); name >= 0 && (i+1 < len(tokens) && tokens[i+1].Text == "(" || words[0] == "materialized" || words[0] == "not") {
				found[schema.Fold(d.Value(tokens[name]))] = true
			}
		}
	}
	return found
}

// rowids refuses the names of the key that SQLite gives each table, which a subquery does not have: there the name could
// mean the row around it.
func (c *catalog) rowids(s *exec.Statement, ruled []sqltext.TableRef) error {
	for _, m := range s.Columns() {
		name := schema.Fold(m.Column)
		if name != "rowid" && name != "_rowid_" && name != "oid" {
			continue
		}
		for _, ref := range ruled {
			r := c.find(ref.Schema, ref.Name)
			qualifier := m.Qualifier[strings.LastIndexByte(m.Qualifier, '.')+1:]
			if !r.View && !r.Has(name) && (qualifier == "" || schema.EqualFold(qualifier, cmp.Or(ref.Alias, ref.Name))) {
				return guard.Refuse(exec.ReasonRows, "only some rows of %s may be read, and so its %s may not: name a column", r.Name, m.Column)
			}
		}
	}
	return nil
}

// unqualify finds the schemas in front of columns, as in main.t.id, that are left out because a subquery has no schema. It
// refuses where t could be something else then.
func (c *catalog) unqualify(tokens []sqltext.Token, refs, ruled []sqltext.TableRef) (drops []guard.Spot, err error) {
	d := sqltext.SQLite()
	for i := 0; i+4 < len(tokens); i++ {
		if tokens[i+1].Text != "." || tokens[i+3].Text != "." || tokens[i].Kind == sqltext.Operator {
			continue
		}
		in, name := schema.Fold(d.Value(tokens[i])), schema.Fold(d.Value(tokens[i+2]))
		k := slices.IndexFunc(ruled, func(r sqltext.TableRef) bool {
			return schema.Fold(r.Name) == name && schema.Fold(c.find(r.Schema, r.Name).Schema) == in
		})
		if k < 0 {
			continue
		}
		relation := c.find(ruled[k].Schema, ruled[k].Name)
		for _, ref := range refs {
			if schema.Fold(cmp.Or(ref.Alias, ref.Name)) == name && (ref.Alias != "" || !ref.Base() || c.find(ref.Schema, ref.Name) != relation) {
				return nil, guard.Refuse(exec.ReasonRows, "%s.%s and another %[2]s: give one of them an alias", in, relation.Name)
			}
		}
		drops = append(drops, guard.Spot{Pos: tokens[i].Pos, End: tokens[i+2].Pos})
	}
	return drops, nil
}

// nowhere is the name of no table. It stands for the tables with rules where none may be read.
const nowhere = "a place where no rule can stand"

// Placed implements [exec.RulerConn]: SQLite compiles the statement without what the rules read, and the authorizer may hear
// of no table with a rule. It does not hear of one that only USING or a NATURAL join reads. So around the statement each
// such name is a common table expression that cannot be compiled, and no schema may stand in front of one.
func (c *conn) Placed(ctx context.Context, s *exec.Statement) error {
	known, bare := s.Catalog.Own.(*catalog), s.Splice.Bare
	var traps []string
	tokens := slices.Collect(sqltext.SQLite().Parse(bare).Tokens())
	trapped := map[string]bool{}
	for i, t := range tokens {
		if t.Kind != sqltext.Word && t.Kind != sqltext.QuotedName && t.Kind != sqltext.String {
			continue
		}
		name := schema.Fold(sqltext.SQLite().Value(t))
		for _, r := range known.named[name] {
			if !r.Ruled() {
				continue
			}
			if i > 1 && tokens[i-1].Text == "." && schema.EqualFold(sqltext.SQLite().Value(tokens[i-2]), r.Schema) {
				return guard.Refuse(exec.ReasonRows, "it names %s.%s where no rule can stand", r.Schema, r.Name)
			}
			if !trapped[name] && r == known.find("", name) {
				trapped[name] = true
				traps = append(traps, quoted(r.Name)+" AS (SELECT 1 FROM "+quoted(nowhere)+")")
			}
		}
	}
	text := bare
	if len(traps) > 0 {
		text = "WITH " + strings.Join(traps, ", ") + " SELECT 1 FROM (" + bare + "\n)"
	}
	look := *s
	look.Splice = nil
	err := c.keep(ctx, &look, text)
	// Without a schema and a column it is a common table expression: the others of that name are traps.
	c.gate.reads = slices.DeleteFunc(c.gate.reads, func(r read) bool { return r.database == "" && r.column == "" })
	heard := c.gate.heard()
	c.close()
	if err != nil {
		if exec.IsRejection(err) {
			return guard.Refuse(exec.ReasonRows, "it cannot be read through the rules about rows: %v", strings.TrimPrefix(err.Error(), "exec: "))
		}
		return err
	}
	for _, u := range heard {
		if u.Relation.Ruled() {
			return guard.Refuse(exec.ReasonRows, "it reads %s where no rule can stand", u.Relation.Name)
		}
	}
	return nil
}
