package sqlite

import (
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// mentions is what a text may name. An alias and a string count as names, because SQLite takes 'users' in FROM for the
// table.
type mentions struct {
	names   map[string]bool // folded
	using   []string        // folded names in USING (…)
	natural bool
	indexed bool // INDEXED BY
}

// mentioned reads the names of a statement or of a definition.
func mentioned(text string) mentions {
	lexer := sqltext.SQLite()
	m := mentions{names: map[string]bool{}}
	var last string  // the last word, folded
	inUsing := false // inside the brackets of USING
	for t := range lexer.Tokens(text) {
		switch t.Kind {
		case sqltext.Space, sqltext.Comment:
			continue
		case sqltext.Word, sqltext.QuotedName, sqltext.String:
			name := schema.FoldCase(lexer.Value(t))
			m.names[name] = true
			m.natural = m.natural || t.Kind == sqltext.Word && name == "natural"
			m.indexed = m.indexed || t.Kind == sqltext.Word && name == "by" && last == "indexed"
			if inUsing {
				m.using = append(m.using, name)
			}
			last = ""
			if t.Kind == sqltext.Word {
				last = name
			}
			continue
		case sqltext.Operator:
			switch t.Text {
			case "(":
				inUsing = last == "using"
			case ")":
				inUsing = false
			}
		}
		last = ""
	}
	return m
}

// silent reports whether columns may be used without being named to the authorizer.
func (m mentions) silent() bool { return m.natural || m.indexed || len(m.using) > 0 }

// sorted returns the names in order.
func (m mentions) sorted() []string { return slices.Sorted(maps.Keys(m.names)) }

// through adds what the views say that m names.
func (c *catalog) through(m mentions) mentions {
	for todo := m.sorted(); len(todo) > 0; todo = todo[1:] {
		for _, r := range c.named[todo[0]] {
			if !r.View {
				continue
			}
			view := mentioned(r.Definition)
			m.using = append(m.using, view.using...)
			m.natural, m.indexed = m.natural || view.natural, m.indexed || view.indexed
			for name := range view.names {
				if !m.names[name] {
					m.names[name] = true
					todo = append(todo, name)
				}
			}
		}
	}
	return m
}

// uses returns the columns of r that the text may use without naming them to the authorizer.
func (m mentions) uses(r *guard.Relation) guard.Read {
	read := guard.Read{Relation: r}
	for _, column := range r.Columns() {
		if m.natural || m.indexed || slices.Contains(m.using, schema.FoldCase(column)) {
			read.Columns = append(read.Columns, column)
		}
	}
	return read
}

// maySilence is a quick look for the words that make silent true.
func maySilence(text string) bool {
	text = schema.FoldCase(text)
	return strings.Contains(text, "natural") || strings.Contains(text, "indexed") || strings.Contains(text, "using")
}

// flows returns the ways from the columns of a table into those that are generated of them, for which SQLite makes no
// READ callback. In the CREATE text, the definition of a column runs from its name to the next comma outside of
// brackets. A generated column that is not found there may be made of any other.
func flows(r *guard.Relation, definition string, generated []string) (all []guard.LineageEdge) {
	if len(generated) == 0 {
		return nil
	}
	uses := map[string]map[string]bool{} // by column: the names in its definition
	lexer := sqltext.SQLite()
	depth := 0
	var column string
	for t := range lexer.Tokens(definition) {
		switch t.Kind {
		case sqltext.Operator:
			switch t.Text {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 1 && (t.Text == "(" || t.Text == ",") {
				column = ""
			}
		case sqltext.Word, sqltext.QuotedName, sqltext.String:
			name := schema.FoldCase(lexer.Value(t))
			switch {
			case depth == 0:
			case column == "":
				column = name
				uses[column] = map[string]bool{}
			default:
				uses[column][name] = true
			}
		}
	}
	for _, to := range generated {
		used := uses[schema.FoldCase(to)]
		for _, from := range r.Columns() {
			if from != to && (used == nil || used[schema.FoldCase(from)]) {
				all = append(all, guard.LineageEdge{From: r, Column: from, To: r, As: to})
			}
		}
	}
	return all
}
