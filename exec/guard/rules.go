package guard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// Rule is one entry of [Policy].Rows, cut into its parts. [ReadRules] makes it.
type Rule struct {
	Table  string // the key in Policy.Rows
	Text   string
	Params []string // the names of its parameters, sorted, each once

	pieces []piece
}

// piece is a part of a rule: text as it stands, a parameter, or a column.
type piece struct {
	text, param, column string
}

// ReadRules reads the rules of a policy, in the order of their tables. It refuses one that is no single expression: it has a
// subquery, a comment, a semicolon, an open bracket, a parameter that is not written as ":name", or a column of another
// table. It does not know the columns of the tables: see [Catalog.Apply].
func ReadRules(d sqltext.Dialect, p Policy) (rules []Rule, err error) {
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
var queryWords = Set("select with values from where table union except intersect group having order limit offset fetch window " +
	"into for insert update delete replace merge raise")

func readRule(d sqltext.Dialect, table, text string) (Rule, error) {
	r := Rule{Table: table, Text: text}
	names, ok := splitName(table)
	if !ok {
		return r, nil // Policy.Validate says so
	}
	const head = "SELECT 1 FROM t WHERE "
	columns := map[int]sqltext.ColumnRef{}
	for _, c := range d.Parse(head + text).Columns() {
		columns[c.Pos-len(head)] = c
	}
	tokens := slices.Collect(d.Tokens(text))
	var depth, done, skip int
	flush := func(to int) {
		if done < to {
			r.pieces = append(r.pieces, piece{text: text[done:to]})
		}
	}
	for i, t := range tokens {
		if t.Pos < skip {
			continue
		}
		param, end := "", t.Pos+len(t.Text)
		switch {
		case t.Kind == sqltext.Comment || t.Kind == sqltext.Unterminated:
			return r, errors.New("it holds a comment, or a quote that does not end")
		case t.Kind == sqltext.Placeholder && t.Text[0] == ':':
			param = t.Text[1:]
		case t.Kind == sqltext.Operator && t.Text == ":" && i+1 < len(tokens) && tokens[i+1].Kind == sqltext.Word:
			param = tokens[i+1].Text
			end += len(param)
		case t.Kind == sqltext.Placeholder:
			return r, fmt.Errorf("%s is no parameter of a scope: write :name", t.Text)
		case t.Kind == sqltext.Word && (fold(t.Text) == "select" || fold(t.Text) == "with" || fold(t.Text) == "values"):
			return r, errors.New("it holds a subquery")
		case t.Kind == sqltext.Word && queryWords[fold(t.Text)] && columns[t.Pos].Column == "" && !(i+1 < len(tokens) && tokens[i+1].Text == "("):
			return r, fmt.Errorf("it is no single expression: %s", strings.ToUpper(t.Text))
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text == ";", t.Text == "," && depth == 0:
			return r, fmt.Errorf("it is no single expression: %q", t.Text)
		}
		if depth < 0 {
			return r, errors.New("it closes a bracket that it did not open")
		}
		c, isColumn := columns[t.Pos]
		switch {
		case param != "":
			flush(t.Pos)
			r.pieces = append(r.pieces, piece{param: param})
			r.Params = append(r.Params, param)
		case isColumn && !strings.HasPrefix(fold(c.Column), "current_"):
			if c.Qualifier != "" {
				if q, ok := splitName(c.Qualifier); !ok || fold(q[len(q)-1]) != fold(names[len(names)-1]) {
					return r, fmt.Errorf("%s.%s is no column of the table", c.Qualifier, c.Column)
				}
			}
			flush(t.Pos)
			for end = t.Pos; i < len(tokens); i++ { // the names and dots of the mention
				if end = tokens[i].Pos + len(tokens[i].Text); i+1 == len(tokens) || tokens[i].Text != "." && tokens[i+1].Text != "." {
					break
				}
			}
			r.pieces = append(r.pieces, piece{column: c.Column})
		default:
			continue
		}
		done, skip = end, end
	}
	flush(len(text))
	switch {
	case depth > 0:
		return r, errors.New("a bracket is open")
	case strings.TrimSpace(text) == "":
		return r, errors.New("it is empty")
	}
	slices.Sort(r.Params)
	r.Params = slices.Compact(r.Params)
	return r, nil
}

// Splicing is how an engine's text is written around a rule.
//
// A reference of a ruled table becomes (SELECT columns FROM schema.table WHERE rule) AS alias, where the columns are all
// that may be read, each behind the table's name. Fence stands behind the rule.
type Splicing struct {
	// Fence makes the engine apply the rule before it evaluates anything else on a row: "LIMIT -1" in SQLite.
	Fence string
	// Quote and QuoteSchema write names, Placeholder parameter n, 1 is the first. Numbered says that Placeholder has its
	// number in it; else parameters count as they stand in the text.
	Quote, QuoteSchema func(string) string
	Placeholder        func(n int) string
	Numbered           bool
	// Settings says that the engine takes the settings of a scope.
	Settings bool
}

// Spot is a place in the text of a statement that names a table or a view. Offsets are in bytes.
type Spot struct {
	Relation *Relation
	Pos, End int    // of the name, with its schema
	Alias    string // the name that the statement gives it if no alias stands behind the name: as it is written; else ""
	// HintPos and HintEnd are where words stand that belong behind the name, INDEXED BY say. They move into the splice.
	HintPos, HintEnd int
	// Insert is what stands in place of Pos to End where Relation is nil, as "" for a word that has no place beside a
	// splice. Exec/postgres writes such spots.
	Insert string
}

// Splice says where the rules stand in the text of a spliced statement.
type Splice struct {
	Text   string // the statement
	Args   []any  // values of its parameters, in the order of Splicing.Numbered
	Ranges []Range
	// Bare is the text with a stand-in in place of each splice that reads no table and has the same columns: whatever
	// table with a rule an engine finds in it is read around the rules.
	Bare string
}

// Range is the place of one splice in the text.
type Range struct {
	Relation *Relation // the table that is read in it, or the view that is written out
	Pos, End int
}
