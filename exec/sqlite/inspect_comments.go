package sqlite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The places in a CREATE text that are no column.
const (
	beforeBody = -1 // before the opening bracket
	unnamed    = -2 // behind a comma or the bracket: the item's name comes next
	constraint = -3 // in a table constraint
)

// describe turns the comments of t's CREATE text into descriptions.
//
// A comment describes the column behind which it stands on the same line, or before which it stands alone:
//
//	CREATE TABLE orders ( -- what customers bought
//	  id INTEGER PRIMARY KEY, -- order number
//	  /* in cents */
//	  total INTEGER
//	)
//
// A comment before the opening bracket, or behind it on the same line, describes the table. Comments are text from
// the database: clean them before they go into a prompt, as the renderings of package schema do.
func describe(t *schema.Table) {
	// Most definitions have no comment: do not lex them.
	if !strings.Contains(t.Definition, "--") && !strings.Contains(t.Definition, "/*") {
		return
	}
	var (
		d       = sqltext.SQLite()
		tokens  = slices.Collect(d.Tokens(t.Definition))
		item    = beforeBody // column whose definition is being read, or a place above
		last    = beforeBody // item before the last comma, or before the bracket
		waiting []string     // comments for the column that comes next; behind the last one they are lost
		depth   int
		newLine bool // a line ended since the last word or sign
	)
	add := func(item int, text string) { // about a constraint: nowhere
		if item == beforeBody {
			t.Description = strings.TrimSpace(t.Description + " " + text)
		} else if item >= 0 {
			t.Columns[item].Description = strings.TrimSpace(t.Columns[item].Description + " " + text)
		}
	}
	for i, token := range tokens {
		switch token.Kind {
		case sqltext.Space:
			newLine = newLine || strings.Contains(token.Text, "\n")
			continue
		case sqltext.Comment:
			switch text := commentText(token.Text); {
			case text == "":
			case item == beforeBody:
				add(item, text)
			case item == unnamed && !newLine && !codeFollows(tokens[i+1:]):
				add(last, text)
			case item == unnamed, newLine:
				waiting = append(waiting, text)
			default:
				add(item, text)
			}
			continue
		}
		newLine = false
		switch {
		case token.Text == "(":
			depth++
			if depth == 1 && item == beforeBody {
				last, item = item, unnamed
				continue
			}
		case token.Text == ")":
			depth--
			if depth == 0 && t.Kind != schema.View {
				return
			}
			if depth == 0 { // the names of a view's columns end here
				item = beforeBody
			}
		case token.Text == "," && depth == 1:
			last, item = item, unnamed
			continue
		}
		if depth >= 1 && item == unnamed {
			item = itemOf(t, d.Value(token), token)
			for _, text := range waiting {
				add(item, text)
			}
			waiting = nil
		}
		if t.Kind == schema.View && depth == 0 && isWord(token, "select", "with", "values") {
			return // the query of the view
		}
	}
}

// itemOf returns the column whose definition begins with a name. Without quotes no column can have the name with which a
// table constraint begins.
func itemOf(t *schema.Table, name string, token sqltext.Token) int {
	i := slices.IndexFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, name) })
	if i < 0 || isWord(token, "constraint", "primary", "unique", "check", "foreign") {
		return constraint
	}
	return i
}

func isWord(token sqltext.Token, words ...string) bool {
	return token.Kind == sqltext.Word && slices.Contains(words, schema.Fold(token.Text))
}

// codeFollows reports whether something other than comments stands on the rest of the line.
func codeFollows(tokens []sqltext.Token) bool {
	for _, t := range tokens {
		switch t.Kind {
		case sqltext.Space:
			if strings.Contains(t.Text, "\n") {
				return false
			}
		case sqltext.Comment:
		default:
			return true
		}
	}
	return false
}

// commentText returns what a comment says, in one line, without its marks and without rulers and frames around the
// words; "" where nothing is left.
func commentText(s string) string {
	s, block := strings.CutPrefix(s, "/*")
	if block {
		s = strings.TrimSuffix(s, "*/")
	} else {
		s = strings.TrimPrefix(s, "--")
	}
	var words []string
	for line := range strings.Lines(s) {
		w := strings.Fields(line)
		if block && len(w) > 0 {
			w[0] = strings.TrimPrefix(w[0], "*")
		}
		for len(w) > 0 && isOrnament(w[0]) {
			w = w[1:]
		}
		for len(w) > 0 && isOrnament(w[len(w)-1]) {
			w = w[:len(w)-1]
		}
		words = append(words, w...)
	}
	return strings.Join(words, " ")
}

func isOrnament(word string) bool { return strings.Trim(word, "*=-#~_+|") == "" }
