package exec

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// oddTimeout bounds the queries about one statement.
const oddTimeout = 2 * time.Second

// SuspiciousResultCheck finds results that seldom answer a question, and mistakes that look right.
//
// Suspicious results are: no rows, only NULLs, and a count of zero. For these it also searches the columns for the
// texts that the statement compares them with, for at most one second. It reports a column that contains none.
//
// All samples of a model may share these mistakes. They are a division of whole numbers, tables without a join
// condition, OR next to AND without parentheses, and a column next to an aggregate. Others are NOT IN a list with a
// NULL, dates in another form than the stored ones, a day compared with moments, and an answer of constants.
//
// The check first looks at the text of the statement. If the engine can test whether the result is affected, the
// check runs that test, within two seconds for all tests. It then reports a finding only if the result is affected.
//
// It checks the rows from [RunCheck] and finds nothing without them. It runs no test if Language.BillsScans is set.
type SuspiciousResultCheck struct {
	EmptyOnly bool // do not look for mistakes that look right
}

// Check implements [Check].
func (o SuspiciousResultCheck) Check(ctx context.Context, s *Runner, c *Checked) error {
	if c.Table == nil {
		return nil
	}
	if err := findEmpty(ctx, s, c); err != nil || o.EmptyOnly {
		return err
	}
	return suspect(ctx, s, c, []look{
		{checks.Odd + "division", "the division of two whole numbers drops the rest", divides},
		{checks.Odd + "unjoined", "tables are combined and nothing joins them: each row of one stands beside each row of " +
			"the other", (*suspicion).unjoined},
		{checks.Odd + "or-and", "OR stands beside AND without brackets, and AND binds first: " +
			"brackets would change the answer", rebracketed},
		{checks.Odd + "bare-column", "a column beside an aggregate is neither grouped nor aggregated: " +
			"its value is of any row", (*suspicion).bare},
		{checks.Odd + "null-in-list", "the list behind NOT IN holds a NULL, so that no row passes", (*suspicion).nullInList},
		{checks.Odd + "date", "", (*suspicion).dates},
		{checks.Odd + "constant", "the answer stands in the statement itself and comes from no column",
			(*suspicion).constant},
	})
}

// look is one suspicion: whether the statement is affected, and a detail in place of its own where there is one.
type look struct {
	rule, detail string
	affected     func(*suspicion) (detail string, affected bool)
}

// suspect writes down the findings of looks.
func suspect(ctx context.Context, s *Runner, c *Checked, looks []look) error {
	if c.Statement == nil || s.db.lookOnly {
		return nil
	}
	known, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, oddTimeout)
	defer cancel()
	o := &suspicion{ctx: asking, run: s, Checked: c, schema: known, selects: c.Statement.Selects(),
		columns: c.Statement.Columns()}
	if main := slices.IndexFunc(o.selects, func(x sqlshape.Select) bool { return !x.Nested }); main >= 0 {
		o.with = c.SQL[:o.selects[main].Pos]
	}
	for _, l := range looks {
		detail, affected := l.affected(o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if detail == "" {
			detail = l.detail
		}
		if affected {
			c.Findings = append(c.Findings, vote.Finding{Rule: l.rule, Detail: detail})
		}
	}
	return nil
}

// suspicion is a statement that is looked at.
type suspicion struct {
	*Checked
	ctx     context.Context // ends with the time for all questions
	run     *Runner
	schema  *schema.Schema
	selects []sqlshape.Select
	columns []sqlshape.ColumnRef
	with    string // the WITH in front of the statement; "" for none
}

// ask runs a statement of this package under the same guard. It returns nil if the engine rejects it, takes too long or
// bills it.
func (o *suspicion) ask(sql string, rows int) *result.Table {
	if o.ctx.Err() != nil || o.run.db.language.BillsScans {
		return nil
	}
	b := o.run.db.limits.Candidate
	b.Rows, b.Timeout = rows, min(b.Timeout, time.Second)
	t, err := o.run.query(o.ctx, sql, b)
	if err != nil {
		return nil
	}
	return t
}

// some reports whether a SELECT over the tables of the statement has a row. Its text follows the WITH of the statement.
func (o *suspicion) some(query string) bool {
	t := o.ask(o.with+query+" LIMIT 1", 1)
	return t != nil && len(t.Rows) > 0
}

// differs reports whether another form of the statement has another result.
func (o *suspicion) differs(sql string) bool {
	t := o.ask(sql, max(o.run.db.limits.Candidate.Rows, 1))
	return t != nil && !t.Truncated && !o.Table.Truncated && !(result.Equality{Digits: 9}).Equal(t, o.Table)
}

// divides makes every division one of real numbers, where the engine cuts whole ones.
func divides(o *suspicion) (string, bool) {
	d, tokens := o.Statement.Dialect(), slices.Collect(o.Statement.Tokens())
	var b strings.Builder
	done := 0
	for i, t := range tokens {
		switch {
		case t.Kind != sqltext.Operator, cutOnPurpose(tokens, i):
		case t.Text == "//" && d.FromFirst: // DuckDB
			b.WriteString(o.SQL[done:t.Pos] + "/")
			done = t.Pos + 2
		case t.Text == "/" && !d.FromFirst && !d.DoubleQuotedStrings: // BigQuery, DuckDB and MySQL divide exactly
			b.WriteString(o.SQL[done:t.Pos] + "* 1.0 ")
			done = t.Pos
		}
	}
	return "", done > 0 && o.differs(b.String()+o.SQL[done:])
}

// wholeTypes are what a CAST makes whole numbers of.
var wholeTypes = []string{"INTEGER", "INT", "BIGINT", "SIGNED"}

// cutOnPurpose reports whether the division at token i is meant to drop the rest: what is divided was made whole by a
// CAST and the divisor is a number, as in a quarter of months, or the quotient is multiplied by the divisor, as in a
// decade of years.
func cutOnPurpose(tokens []sqltext.Token, i int) bool {
	if i == 0 || i+1 >= len(tokens) || tokens[i+1].Kind != sqltext.Number || strings.Contains(tokens[i+1].Text, ".") {
		return false
	}
	depth := 0
	for j := i - 1; j >= 0; j-- {
		switch tokens[j].Text {
		case ")":
			depth++
		case "(":
			depth--
		}
		if depth <= 0 {
			break
		}
		if slices.Contains(wholeTypes, strings.ToUpper(tokens[j].Text)) {
			return true
		}
	}
	return i+3 < len(tokens) && tokens[i+2].Text == "*" && tokens[i+3].Text == tokens[i+1].Text ||
		i+4 < len(tokens) && tokens[i+2].Text == ")" && tokens[i+3].Text == "*" && tokens[i+4].Text == tokens[i+1].Text
}

func rebracketed(o *suspicion) (string, bool) {
	sql, ok := o.Statement.Rebracketed()
	return "", ok && o.differs(sql)
}

// innermost is the SELECT to which the text at pos belongs; -1: none.
func (o *suspicion) innermost(pos int) int {
	at := -1
	for i, s := range o.selects {
		if s.Has(pos) && (at < 0 || o.selects[at].Pos <= s.Pos && len(s.Text) <= len(o.selects[at].Text)) {
			at = i
		}
	}
	return at
}

// tableOf is the place among the tables of a SELECT of the column; -1: it is of none, or nobody knows.
func (o *suspicion) tableOf(s sqlshape.Select, c sqlshape.ColumnRef) int {
	of := -1
	for i, t := range s.Tables {
		known, ok := o.schema.Lookup(t.Schema, t.Name)
		switch name := cmp.Or(t.Alias, t.Name); {
		case c.Qualifier != "":
			if _, last, ok := strings.Cut(c.Qualifier, "."); strings.EqualFold(c.Qualifier, name) || ok &&
				strings.EqualFold(last, name) {
				return i
			}
		case len(s.Tables) == 1:
			return 0
		case t.Base() && ok:
			if _, has := known.Column(c.Column); has && of < 0 {
				of = i
			}
		}
	}
	return of
}

// unjoined looks for tables of one SELECT that no condition joins, each of more than one row.
func (o *suspicion) unjoined() (string, bool) {
	conditions := o.Statement.Conditions(nil)
	for at, s := range o.selects {
		if len(s.Tables) < 2 || o.natural(s) {
			continue
		}
		groups := newJoined(len(s.Tables))
		own := make([]string, len(s.Tables)) // by table, the conditions on it alone
		for _, cond := range conditions {
			if !s.Has(cond.Pos) {
				continue
			}
			tables := o.tablesIn(s, cond.Pos, len(cond.Text))
			if groups.join(tables); len(tables) == 1 && !cond.Aggregate && o.innermost(cond.Pos) == at {
				own[tables[0]] += " AND (" + cond.Text + ")"
			}
		}
		many := map[int]bool{} // groups with several rows
		for i, t := range s.Tables {
			switch {
			case t.Function: // it reads what stands before it
				groups.join([]int{max(i-1, 0), i})
			case o.severalRows(s, t, own[i]):
				many[i] = true
			}
		}
		if groups.with(many) > 1 {
			return "", true
		}
	}
	return "", false
}

// joined has, by table, the first one of its group: the tables that conditions join.
type joined []int

func newJoined(tables int) joined {
	groups := make(joined, tables)
	for i := range groups {
		groups[i] = i
	}
	return groups
}

// join makes one group of the groups of tables.
func (g joined) join(tables []int) {
	for _, t := range tables[min(1, len(tables)):] {
		from, to := g[t], g[tables[0]]
		for i := range g {
			if g[i] == from {
				g[i] = to
			}
		}
	}
}

// with counts the groups that hold one of tables.
func (g joined) with(tables map[int]bool) int {
	found := map[int]bool{}
	for t := range tables {
		found[g[t]] = true
	}
	return len(found)
}

// natural reports whether USING or NATURAL joins tables of the SELECT.
func (o *suspicion) natural(s sqlshape.Select) bool {
	from := strings.ToUpper(s.From)
	return strings.Contains(from, "USING") || strings.Contains(from, "NATURAL")
}

// tablesIn are the tables of a SELECT whose columns stand in a part of the text.
func (o *suspicion) tablesIn(s sqlshape.Select, pos, n int) (tables []int) {
	for _, c := range o.columns {
		if c.Pos < pos || c.Pos >= pos+n {
			continue
		}
		if t := o.tableOf(s, c); t >= 0 && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables
}

// severalRows reports whether a table, within the conditions on it alone, has more than one row.
func (o *suspicion) severalRows(s sqlshape.Select, t sqlshape.TableRef, conditions string) bool {
	from := schema.TableName{Schema: t.Schema, Name: t.Name}.Quoted(o.run.db.language)
	if t.Name == "" { // a derived table
		at := slices.IndexFunc(o.selects, func(x sqlshape.Select) bool { return x.Pos > t.Pos && s.Has(x.Pos) })
		if at < 0 {
			return false
		}
		from = "(" + o.selects[at].Text + ")"
		if o.selects[at].Compound {
			return true
		}
	}
	if alias := cmp.Or(t.Alias, t.Name); alias != "" {
		from += " AS " + o.run.db.language.Quote(alias)
	}
	read := o.ask(o.with+"SELECT 1 FROM "+from+" WHERE 1 = 1"+conditions+" LIMIT 2", 2)
	return read != nil && len(read.Rows) > 1
}
