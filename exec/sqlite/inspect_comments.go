package sqlite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// describe turns the comments of t's CREATE text into descriptions. The rules are in the comment of Inspect.
func describe(t *schema.Table) {
	// Most definitions have no comment: do not lex them.
	if !strings.Contains(t.Definition, "--") && !strings.Contains(t.Definition, "/*") {
		return
	}
	var (
		d       = sqltext.SQLite()
		tokens  = slices.Collect(d.Tokens(t.Definition))
		c       = commentReader{table: t, item: beforeBody}
		depth   int
		newLine bool // a line ended since the last word or sign
	)
	for i, token := range tokens {
		switch token.Kind {
		case sqltext.Space:
			newLine = newLine || strings.Contains(token.Text, "\n")
			continue
		case sqltext.Comment:
			c.comment(token.Text, newLine, codeFollows(tokens[i+1:]))
			continue
		}
		newLine = false
		switch {
		case token.Text == "(":
			depth++
			if depth == 1 && c.item == beforeBody {
				c.last, c.item = c.item, unnamed
				c.lastWasOpen = true
				continue
			}
		case token.Text == ")":
			depth--
			if depth == 0 && t.Kind != schema.View {
				return
			}
			if depth == 0 { // the names of a view's columns end here
				c.item = beforeBody
			}
		case token.Text == "," && depth == 1:
			c.last, c.item = c.item, unnamed
			continue
		}
		c.lastWasOpen = false
		if depth >= 1 && c.item == unnamed {
			c.start(d.Value(token), isWord(token, "constraint", "primary", "unique", "check", "foreign"))
		}
		if t.Kind == schema.View && depth == 0 && isWord(token, "select", "with", "values") {
			return // the query of the view
		}
	}
}

func isWord(token sqltext.Token, words ...string) bool {
	return token.Kind == sqltext.Word && slices.Contains(words, schema.Fold(token.Text))
}

// The places of commentReader.item that are no column.
const (
	beforeBody = -1 // before the opening bracket
	unnamed    = -2 // behind a comma or the bracket: the item's name comes next
	constraint = -3 // in a table constraint
)

// commentReader gives comments to the columns of a table.
type commentReader struct {
	table       *schema.Table
	item        int      // column whose definition is being read, or a place above
	last        int      // item before the last comma
	lastWasOpen bool     // nothing but comments since the opening bracket
	waiting     []string // comments for the column that comes next; behind the last one they are lost
}

// comment places one comment. newLine says that it is the first thing on its line; codeFollows that it is not the last.
func (c *commentReader) comment(text string, newLine, codeFollows bool) {
	text = commentText(text)
	switch {
	case text == "":
	case c.item == beforeBody:
		c.add(beforeBody, text)
	case c.item == unnamed && !newLine && !codeFollows && c.lastWasOpen:
		c.add(beforeBody, text)
	case c.item == unnamed && !newLine && !codeFollows:
		c.add(c.last, text)
	case c.item == unnamed, newLine:
		c.waiting = append(c.waiting, text)
	default:
		c.add(c.item, text)
	}
}

func (c *commentReader) add(item int, text string) {
	var to *string
	switch {
	case item == beforeBody:
		to = &c.table.Description
	case item >= 0:
		to = &c.table.Columns[item].Description
	default:
		return // about a constraint
	}
	if *to != "" {
		*to += " "
	}
	*to += text
}

// start is called with the first name of an item. clause says that a table constraint starts with it: no column can have
// such a name without quotes.
func (c *commentReader) start(name string, clause bool) {
	c.item = constraint
	for i := range c.table.Columns {
		if schema.EqualFold(c.table.Columns[i].Name, name) && !clause {
			c.item = i
			break
		}
	}
	for _, text := range c.waiting {
		c.add(c.item, text)
	}
	c.waiting = nil
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
