package sqlite

import (
	"strings"

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
	star    bool // *, whatever it means
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
			name := schema.Fold(lexer.Value(t))
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
			case "*":
				m.star = true
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

// maySilence is a quick look for the words that make silent true.
func maySilence(text string) bool {
	text = schema.Fold(text)
	return strings.Contains(text, "natural") || strings.Contains(text, "indexed") || strings.Contains(text, "using")
}

// flows returns the pairs of columns, folded, of which the second is generated of the first, directly. In the CREATE text,
// the definition of a column runs from its name to the next comma outside of brackets. A generated column that is not found
// in the text is made of all others.
func flows(definition string, columns map[string]bool) (pairs [][2]string) {
	generated := 0
	for _, is := range columns {
		if is {
			generated++
		}
	}
	if generated == 0 {
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
			name := schema.Fold(lexer.Value(t))
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
	for name, is := range columns {
		for of := range columns {
			if is && of != name && (uses[name] == nil || uses[name][of]) {
				pairs = append(pairs, [2]string{of, name})
			}
		}
	}
	return pairs
}
