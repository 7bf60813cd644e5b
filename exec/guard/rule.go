package guard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

// Rule is one entry of [Policy].Rows, cut into its parts. [Policy.ReadRules] makes it.
type Rule struct {
	Table  string // the key in Policy.Rows
	Text   string
	Params []string // the names of its parameters, sorted, each once

	pieces   []piece
	question string   // Text with "?" for a parameter
	order    []string // the names of these
}

// piece is a part of a rule: text as it stands, a parameter, or a column.
type piece struct{ text, param, column string }

// ReadRules reads the rules of p, in the order of their tables. It rejects a rule that is not one expression, because
// it has a subquery, a comment, a semicolon or an open bracket. It also rejects a parameter that is not written as
// ":name", and a column of another table. It does not know the columns of the tables: see [Catalog.Apply].
func (p Policy) ReadRules(d sqltext.Dialect) (rules []Rule, err error) {
	for _, table := range slices.Sorted(maps.Keys(p.Rows)) {
		r, rerr := readRule(d, table, p.Rows[table])
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("exec: Policy.Rows: the rule of %q: %w", table, rerr))
		}
		rules = append(rules, r)
	}
	return rules, err
}

// queryWords begin or hold a query, or end the condition that a rule is.
var queryWords = Set("select with values from where table union except intersect group having order limit offset " +
	"fetch window " +
	"into for insert update delete replace merge raise")

// ruleBreak is between rules of one table that all hold. Each is read alone: "1) OR (1" would widen the others.
const ruleBreak = "\n;\n"

func readRule(d sqltext.Dialect, table, text string) (Rule, error) {
	if parts := strings.Split(text, ruleBreak); len(parts) > 1 {
		for _, part := range parts {
			if r, err := readRule(d, table, part); err != nil {
				return r, err
			}
		}
		text = "(" + strings.Join(parts, ") AND (") + ")"
	}
	r := Rule{Table: table, Text: text}
	names, ok := splitName(table)
	if !ok {
		return r, nil // Policy.Validate says so
	}
	if strings.TrimSpace(text) == "" {
		return r, errors.New("it is empty")
	}
	reader := newRuleReader(d, &r, names[len(names)-1])
	for i := 0; i < len(reader.tokens); {
		next, err := reader.token(i)
		if err != nil {
			return r, err
		}
		i = next
	}
	return r, reader.close()
}

// ruleReader cuts a rule into its pieces, token by token.
type ruleReader struct {
	*Rule
	table   string // its name alone
	tokens  []sqltext.Token
	columns map[int]sqlshape.ColumnRef // by where they begin
	depth   int                        // of brackets
	done    int                        // the text before it is in pieces
	asked   int                        // and in question
}

func newRuleReader(d sqltext.Dialect, r *Rule, table string) *ruleReader {
	const head = "SELECT 1 FROM t WHERE "
	reader := &ruleReader{Rule: r, table: table, tokens: slices.Collect(d.Tokens(r.Text)),
		columns: map[int]sqlshape.ColumnRef{}}
	for _, c := range d.Parse(head + r.Text).Columns() {
		reader.columns[c.Pos-len(head)] = c
	}
	return reader
}

// token reads what begins with token i, and returns the token behind it.
func (r *ruleReader) token(i int) (next int, err error) {
	if err := r.refused(i); err != nil {
		return 0, err
	}
	if name, next := r.parameter(i); name != "" {
		r.asks(name, r.tokens[i].Pos, r.end(next-1))
		return next, nil
	}
	if c, ok := r.columns[r.tokens[i].Pos]; ok && !strings.HasPrefix(fold(c.Column), "current_") {
		return r.mention(i, c)
	}
	return i + 1, r.bracket(r.tokens[i].Text)
}

// end is where token i ends.
func (r *ruleReader) end(i int) int { return r.tokens[i].Pos + len(r.tokens[i].Text) }

// is reports whether token i is there and written so.
func (r *ruleReader) is(i int, text string) bool {
	return i < len(r.tokens) && r.tokens[i].Text == text
}

// refused returns why a token may not stand in a rule.
func (r *ruleReader) refused(i int) error {
	t := r.tokens[i]
	switch t.Kind {
	case sqltext.Comment, sqltext.Unterminated:
		return errors.New("it holds a comment, or a quote that does not end")
	case sqltext.Placeholder:
		if t.Text[0] != ':' {
			return fmt.Errorf("%s is no parameter of a scope: write :name", t.Text)
		}
	case sqltext.Word:
		return r.refusedWord(i)
	}
	if t.Text == ";" || t.Text == "," && r.depth == 0 {
		return fmt.Errorf("it is no single expression: %q", t.Text)
	}
	return nil
}

// refusedWord returns why a word may not: it belongs to a query, and is no column and no function.
func (r *ruleReader) refusedWord(i int) error {
	word := fold(r.tokens[i].Text)
	switch {
	case word == "select" || word == "with" || word == "values":
		return errors.New("it holds a subquery")
	case queryWords[word] && r.columns[r.tokens[i].Pos].Column == "" && !r.is(i+1, "("):
		return fmt.Errorf("it is no single expression: %s", strings.ToUpper(word))
	}
	return nil
}

// parameter returns the name of the parameter that token i begins, ":name" in one token or in two, and the token behind
// it; "" for none.
func (r *ruleReader) parameter(i int) (name string, next int) {
	t := r.tokens[i]
	switch {
	case t.Kind == sqltext.Placeholder:
		return t.Text[1:], i + 1
	case t.Kind == sqltext.Operator && t.Text == ":" && i+1 < len(r.tokens) && r.tokens[i+1].Kind == sqltext.Word:
		return r.tokens[i+1].Text, i + 2
	}
	return "", i
}

// asks adds a parameter, which is written from pos to end.
func (r *ruleReader) asks(name string, pos, end int) {
	r.add(piece{param: name}, pos, end)
	r.question += r.Text[r.asked:pos] + "?"
	r.asked, r.order = end, append(r.order, name)
}

// mention adds a column, whose names and dots begin with token i.
func (r *ruleReader) mention(i int, c sqlshape.ColumnRef) (next int, err error) {
	if c.Qualifier != "" {
		if q, ok := splitName(c.Qualifier); !ok || fold(q[len(q)-1]) != fold(r.table) {
			return 0, fmt.Errorf("%s.%s is no column of the table", c.Qualifier, c.Column)
		}
	}
	pos := r.tokens[i].Pos
	for i+1 < len(r.tokens) && (r.is(i, ".") || r.is(i+1, ".")) {
		i++
	}
	r.add(piece{column: c.Column}, pos, r.end(i))
	return i + 1, nil
}

// bracket counts the brackets that are open.
func (r *ruleReader) bracket(text string) error {
	switch text {
	case "(":
		r.depth++
	case ")":
		r.depth--
	}
	if r.depth < 0 {
		return errors.New("it closes a bracket that it did not open")
	}
	return nil
}

// add adds a piece that is written from pos to end, behind the text before it.
func (r *ruleReader) add(p piece, pos, end int) {
	if r.done < pos {
		r.pieces = append(r.pieces, piece{text: r.Text[r.done:pos]})
	}
	if p != (piece{}) {
		r.pieces = append(r.pieces, p)
	}
	r.done = end
}

// close adds what is left of the text.
func (r *ruleReader) close() error {
	if r.depth > 0 {
		return errors.New("a bracket is open")
	}
	r.add(piece{}, len(r.Text), len(r.Text))
	r.question += r.Text[r.asked:]
	r.Params = slices.Compact(slices.Sorted(slices.Values(r.order)))
	return nil
}
