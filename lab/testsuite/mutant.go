package testsuite

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Mutant is a statement with one mistake in it: the kind that a suite has to tell from the gold.
type Mutant struct {
	Gold string `json:"gold"` // its ID
	SQL  string `json:"sql"`  // the whole statement; it may fail to run
	Edit string `json:"edit"` // "> to >=", "drop conjunct", "distinct", …
}

// mutants returns the single-edit mutants of a gold, each once:
//   - > for >=, < for <=, and back;
//   - one conjunct of a WHERE, HAVING or ON left out; a conjunct that joins two columns stays, because a product of
//     tables is an unlikely mistake and costs much;
//   - DISTINCT left out;
//   - MIN for MAX, and back;
//   - COUNT(*) for COUNT(column), and back, where the column may be NULL;
//   - a JOIN for a LEFT JOIN, and back if no WHERE and no other JOIN follows;
//   - a number or a date beside a comparison, or a LIMIT, one more and one less.
//
// s says which columns may be NULL; a nil s means all. The reading is lexical, so a mutant may fail to run. A text that
// is no statement has few mutants or none.
func mutants(s *schema.Schema, gold Gold) []Mutant {
	m := mutator{lexed: lex(gold.SQL), gold: gold.ID, schema: s}
	statement := m.text.Parse(gold.SQL)
	m.tables, m.columns = statement.Tables(), statement.Columns()
	m.comparisons()
	m.conjuncts()
	m.distinct()
	m.extremes()
	m.counts()
	m.joins()
	m.literals()
	return m.found
}

type mutator struct {
	lexed
	gold    string // its ID
	schema  *schema.Schema
	tables  []sqltext.TableRef
	columns []sqltext.ColumnRef
	found   []Mutant
}

// replace adds the mutant in which tokens from..to-1 are another text.
func (m *mutator) replace(from, to int, with, edit string) {
	start := m.tokens[from].Pos
	last := m.tokens[to-1]
	before, after := m.sql[:start], m.sql[last.Pos+len(last.Text):]
	if with == "" { // no two blanks where something was
		before, after = strings.TrimRight(before, " "), strings.TrimLeft(after, " ")
		if after != "" && after[0] != ')' {
			with = " "
		}
	}
	sql := before + with + after
	if sql == m.sql || slices.ContainsFunc(m.found, func(x Mutant) bool { return x.SQL == sql }) {
		return
	}
	m.found = append(m.found, Mutant{Gold: m.gold, SQL: sql, Edit: edit})
}

func (m *mutator) comparisons() {
	other := map[string]string{">": ">=", ">=": ">", "<": "<=", "<=": "<"}
	for i, tok := range m.tokens {
		if to := other[tok.Text]; tok.Kind == sqltext.Operator && to != "" {
			m.replace(i, i+1, to, tok.Text+" to "+to)
		}
	}
}

// conjuncts leaves out the parts of WHERE, HAVING and ON that AND joins.
func (m *mutator) conjuncts() {
	for i := range m.tokens {
		if !m.word(i, "WHERE", "HAVING", "ON") {
			continue
		}
		end := m.clauseEnd(i)
		parts, ok := m.split(i+1, end)
		if !ok {
			continue
		}
		for n, part := range parts {
			switch {
			case part[0] >= part[1] || m.joining(part[0], part[1]):
			case len(parts) > 1 && n > 0: // with the AND before it
				m.replace(part[0]-1, part[1], "", "drop conjunct")
			case len(parts) > 1: // with the AND behind it
				m.replace(part[0], part[1]+1, "", "drop conjunct")
			case !m.word(i, "ON"):
				m.replace(i, end, "", "drop conjunct")
			}
		}
	}
}

// joining reports whether tokens compare two columns and nothing else: a.x = b.y.
func (m *mutator) joining(from, to int) bool {
	equal, columns := false, 0
	for i := from; i < to; i++ {
		switch tok := m.tokens[i]; {
		case m.op(i, "=", "=="):
			equal = true
		case m.op(i, ".", "(", ")"):
		case tok.Kind == sqltext.Word, tok.Kind == sqltext.QuotedName:
			if !m.op(i+1, ".") {
				columns++
			}
		default:
			return false
		}
	}
	return equal && columns == 2
}

func (m *mutator) distinct() {
	for i := range m.tokens {
		if m.word(i, "DISTINCT") && (m.word(i-1, "SELECT") || m.op(i-1, "(")) {
			m.replace(i, i+1, "", "drop distinct")
		}
	}
}

func (m *mutator) extremes() {
	for i := range m.tokens {
		if !m.op(i+1, "(") {
			continue
		}
		switch {
		case m.word(i, "MIN"):
			m.replace(i, i+1, "MAX", "min to max")
		case m.word(i, "MAX"):
			m.replace(i, i+1, "MIN", "max to min")
		}
	}
}

// counts exchanges COUNT(*) with COUNT of a column that may be NULL.
func (m *mutator) counts() {
	columns := m.columns
	for i := range m.tokens {
		if !m.word(i, "COUNT") || !m.op(i+1, "(") {
			continue
		}
		if m.op(i+2, "*") && m.op(i+3, ")") {
			if name := m.nullableBehind(i); name != "" {
				m.replace(i+2, i+3, name, "count(*) to count(column)")
			}
			continue
		}
		end := i + 2
		for end < len(m.tokens) && !m.op(end, ")") {
			end++
		}
		if end == len(m.tokens) || end == i+2 || m.word(i+2, "DISTINCT") {
			continue
		}
		pos := m.tokens[end-1].Pos
		at := slices.IndexFunc(columns, func(c sqltext.ColumnRef) bool { return c.Pos <= pos && c.Pos >= m.tokens[i+2].Pos })
		if at >= 0 && (m.nullable(columns[at].Table, columns[at].Column)) {
			m.replace(i+2, end, "*", "count(column) to count(*)")
		}
	}
}

// nullableBehind returns a column that may be NULL of the first table named behind token i, "" for none.
func (m *mutator) nullableBehind(i int) string {
	at := slices.IndexFunc(m.tables, func(r sqltext.TableRef) bool { return r.Pos > m.tokens[i].Pos })
	if m.schema == nil || at < 0 || !m.tables[at].Base() {
		return ""
	}
	ref := m.tables[at]
	t, ok := m.schema.Lookup("", ref.Name)
	if !ok {
		return ""
	}
	for _, c := range t.Columns {
		if m.nullable(t.Name, c.Name) {
			return quoted(cmp.Or(ref.Alias, ref.Name)) + "." + quoted(c.Name)
		}
	}
	return ""
}

// nullable reports whether a column may be NULL, as far as is known.
func (m *mutator) nullable(table, column string) bool {
	if m.schema == nil {
		return true
	}
	t, ok := m.schema.Lookup("", table)
	if !ok {
		return true
	}
	inKey := slices.ContainsFunc(t.PrimaryKey, func(k string) bool { return strings.EqualFold(k, column) })
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, column) {
			return !c.NotNull && !inKey
		}
	}
	return true
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (m *mutator) joins() {
	for i := range m.tokens {
		if !m.word(i, "JOIN") {
			continue
		}
		switch {
		case m.word(i-1, "LEFT"):
			m.replace(i-1, i+1, "JOIN", "left to inner")
		case m.word(i-1, "OUTER") && m.word(i-2, "LEFT"):
			m.replace(i-2, i+1, "JOIN", "left to inner")
		case m.filtered(i):
		case m.word(i-1, "INNER"):
			m.replace(i-1, i+1, "LEFT JOIN", "inner to left")
		case !m.word(i-1, "OUTER", "CROSS", "NATURAL", "RIGHT", "FULL"):
			m.replace(i, i+1, "LEFT JOIN", "inner to left")
		}
	}
}

// filtered reports whether a WHERE or another JOIN follows the join at token i. Most of them drop the rows that a LEFT
// JOIN would add.
func (m *mutator) filtered(i int) bool {
	for j := i + 1; j < len(m.tokens) && m.depth[j] >= m.depth[i]; j++ {
		if m.depth[j] == m.depth[i] && m.word(j, "WHERE", "JOIN") {
			return true
		}
	}
	return false
}

// literals moves numbers and dates by one.
func (m *mutator) literals() {
	for i, tok := range m.tokens {
		if !m.besideComparison(i) {
			continue
		}
		for _, by := range []int{-1, +1} {
			if with := stepped(m.text, tok, by); with != "" {
				m.replace(i, i+1, with, "literal "+map[int]string{-1: "- 1", +1: "+ 1"}[by])
			}
		}
	}
}

// besideComparison reports whether token i is a literal that something is compared with, or a LIMIT.
func (m *mutator) besideComparison(i int) bool {
	switch m.tokens[i].Kind {
	case sqltext.Number, sqltext.String, sqltext.QuotedName:
	default:
		return false
	}
	before := i - 1
	if m.op(before, "-", "+") {
		before--
	}
	switch {
	case m.op(before, "=", "==", "<>", "!=", "<", "<=", ">", ">="), m.word(before, "BETWEEN", "LIMIT", "OFFSET"):
		return true
	case m.word(before, "AND"):
		for j := before - 1; j >= 0 && j >= before-4; j-- { // BETWEEN x AND i
			if m.word(j, "BETWEEN") {
				return true
			}
		}
		return m.op(i+1, "=", "==", "<>", "!=", "<", "<=", ">", ">=")
	case m.op(before, "(", ","):
		for j := before; j >= 0; j-- { // IN (…, i
			if m.op(j, "(") {
				return m.word(j-1, "IN")
			}
		}
	}
	return m.op(i+1, "<", "<=", ">", ">=")
}

// stepped returns a literal one more or less: a number in its last place before the point, or a date by a day. "" for
// anything else.
func stepped(d sqltext.Dialect, tok sqltext.Token, by int) string {
	if tok.Kind == sqltext.Number {
		whole, rest, hasPoint := strings.Cut(tok.Text, ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n+int64(by) < 0 {
			return ""
		}
		if hasPoint {
			rest = "." + rest
		}
		return strconv.FormatInt(n+int64(by), 10) + rest
	}
	if len(tok.Text) < 2 {
		return ""
	}
	quote, inside := tok.Text[:1], tok.Text[1:len(tok.Text)-1]
	for _, layout := range dateLayouts {
		if _, err := time.Parse(layout, inside); err == nil {
			return quote + shifted(inside, layout, by) + quote
		}
	}
	return ""
}
