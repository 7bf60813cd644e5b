package testsuite

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Mutant is a statement with one mistake in it: the kind that a suite has to
// tell from the gold.
type Mutant struct {
	SQL  string `json:"sql"`  // the whole statement; it may fail to run
	Edit string `json:"edit"` // "> to >=", "drop conjunct", "distinct", …
}

// Mutants returns the single-edit mutants of a gold, each once:
//   - > for >=, < for <=, and back;
//   - one conjunct of a WHERE, HAVING or ON left out; one that joins two columns
//     stays, since a product of tables is no likely mistake and a costly one;
//   - DISTINCT left out;
//   - MIN for MAX, and back;
//   - COUNT(*) for COUNT(column), and back, where the column may be NULL;
//   - a LEFT JOIN for an inner one, and back;
//   - a number or a date beside a comparison, or a LIMIT, one more and one less.
//
// s says which columns may be NULL, and where a reference that cannot be NULL
// makes a LEFT JOIN an inner one: such mutants mean the same as the gold and are
// left out, as far as that can be seen. With s nil all columns may be NULL.
//
// The reading is lexical, so a mutant may fail to run. A text that is no statement
// has few mutants or none, and is no error.
func Mutants(s *schema.Schema, gold string) []Mutant {
	m := mutator{lexed: lex(gold), schema: s}
	m.tables, m.columns = m.text.Tables(gold), m.text.Columns(gold)
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
	m.found = append(m.found, Mutant{SQL: sql, Edit: edit})
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
		if m.word(i, "DISTINCT") && (m.word(i-1, "SELECT") && !m.selectsKey(i) || m.op(i-1, "(")) {
			m.replace(i, i+1, "", "drop distinct")
		}
	}
}

// selectsKey reports whether the DISTINCT at token i stands over the whole
// primary key of the only table, so that no row comes twice.
func (m *mutator) selectsKey(i int) bool {
	o := m.text.Outline(m.sql)
	from, ok := o.Clause("FROM")
	if m.schema == nil || !ok || !o.Distinct || m.depth[i] > 0 || o.Joins > 0 || len(o.SetOps) > 0 {
		return false
	}
	for _, ref := range m.tables {
		if ref.Pos < from.Start || !ref.Base() {
			continue
		}
		t, ok := m.schema.Lookup("", ref.Name)
		return ok && len(t.PrimaryKey) > 0 && !slices.ContainsFunc(t.PrimaryKey, func(k string) bool {
			return !slices.ContainsFunc(o.Items, func(it sqltext.SelectItem) bool { return strings.EqualFold(it.Column, k) })
		})
	}
	return false
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
			if name := m.nullableInScope(i); name != "" {
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
		if at >= 0 && (m.nullable(columns[at].Table, columns[at].Column) || m.outer()) {
			m.replace(i+2, end, "*", "count(column) to count(*)")
		}
	}
}

// outer reports whether a join may fill columns with NULL.
func (m *mutator) outer() bool {
	return slices.ContainsFunc(m.tokens, func(t sqltext.Token) bool {
		return t.Kind == sqltext.Word && (strings.EqualFold(t.Text, "LEFT") || strings.EqualFold(t.Text, "RIGHT") || strings.EqualFold(t.Text, "FULL"))
	})
}

// nullableInScope returns a column that may be NULL of the first table in the
// FROM clause behind token i.
func (m *mutator) nullableInScope(i int) string {
	if m.schema == nil {
		return ""
	}
	for j := i; j < len(m.tokens); j++ {
		if m.depth[j] < m.depth[i]-1 { // COUNT's bracket is not open at i
			return ""
		}
		if m.depth[j] != m.depth[i] || !m.word(j, "FROM") || j+1 >= len(m.tokens) {
			continue
		}
		for _, ref := range m.tables {
			if ref.Pos != m.tokens[j+1].Pos || !ref.Base() {
				continue
			}
			t, ok := m.schema.Lookup("", ref.Name)
			if !ok {
				return ""
			}
			for _, c := range t.Columns {
				if m.nullable(t.Name, c.Name) {
					qualifier := ref.Alias
					if qualifier == "" {
						qualifier = ref.Name
					}
					return quoted(qualifier) + "." + quoted(c.Name)
				}
			}
		}
		return ""
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

// besideComparison reports whether token i is a literal that something is
// compared with, or a LIMIT.
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

// stepped returns a literal one more or less: a number in its last place before
// the point, or a date by a day. "" for anything else.
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
