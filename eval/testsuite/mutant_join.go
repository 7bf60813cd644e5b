package testsuite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

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
		case m.total(i), m.rejected(i):
		case m.word(i-1, "INNER"):
			m.replace(i-1, i+1, "LEFT JOIN", "inner to left")
		case !m.word(i-1, "OUTER", "CROSS", "NATURAL", "RIGHT", "FULL"):
			m.replace(i, i+1, "LEFT JOIN", "inner to left")
		}
	}
}

// total reports whether the join at token i finds a row for every row before it:
// its table is the target of a foreign key that cannot be NULL, of a table named
// earlier, and that key is what ON compares.
func (m *mutator) total(i int) bool {
	if m.schema == nil || i+1 >= len(m.tokens) {
		return false
	}
	refs := m.tables
	at := slices.IndexFunc(refs, func(r sqltext.TableRef) bool { return r.Pos == m.tokens[i+1].Pos })
	if at < 0 || !refs[at].Base() {
		return false
	}
	end := m.clauseEnd(i)
	for j := i; j < end; j++ { // the conjuncts of ON make a join partial
		if m.word(j, "AND", "OR") {
			return false
		}
	}
	columns := m.named(i, end)
	for _, from := range refs[:at] {
		t, ok := m.schema.Lookup("", from.Name)
		if !ok || !from.Base() {
			continue
		}
		for _, fk := range t.ForeignKeys {
			if len(fk.Columns) == 1 && strings.EqualFold(fk.RefTable, refs[at].Name) && !m.nullable(t.Name, fk.Columns[0]) &&
				slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, fk.Columns[0]) }) &&
				slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, fk.RefColumns[0]) }) {
				return true
			}
		}
	}
	return false
}

// rejected reports whether the rows that a LEFT JOIN at token i would add are
// dropped again: a comparison in WHERE, or a later inner join, is about a column
// of its table, which is NULL in them.
func (m *mutator) rejected(i int) bool {
	if i+1 >= len(m.tokens) {
		return false
	}
	refs := m.tables
	at := slices.IndexFunc(refs, func(r sqltext.TableRef) bool { return r.Pos == m.tokens[i+1].Pos })
	if at < 0 {
		return false
	}
	end := m.clauseEnd(i)
	if end < len(m.tokens) && m.word(end, "ON") {
		end = m.clauseEnd(end)
	}
	for _, c := range m.columns {
		ours := strings.EqualFold(c.Qualifier, refs[at].Alias) && c.Qualifier != "" || strings.EqualFold(c.Qualifier, refs[at].Name)
		tok := slices.IndexFunc(m.tokens, func(t sqltext.Token) bool { return t.Pos == c.Pos })
		if !ours || !c.Operand || tok < end || m.depth[tok] != m.depth[i] || m.isNullTest(tok) {
			continue
		}
		clause := tok
		for clause > i && (m.depth[clause] != m.depth[i] || !m.word(clause, "WHERE", "ON", "GROUP", "HAVING", "ORDER", "UNION", "EXCEPT", "INTERSECT")) {
			clause--
		}
		_, conjuncts := m.split(clause+1, m.clauseEnd(clause))
		if conjuncts && (m.word(clause, "WHERE") || m.word(clause, "ON") && m.innerOn(clause)) {
			return true
		}
	}
	return false
}

// isNullTest reports whether the column at token i is asked for NULL.
func (m *mutator) isNullTest(i int) bool {
	for m.op(i+1, ".") {
		i += 2
	}
	return m.word(i+1, "IS", "ISNULL", "NOTNULL")
}

// innerOn reports whether the ON at token i is that of an inner join.
func (m *mutator) innerOn(i int) bool {
	for j := i - 1; j >= 0; j-- {
		if m.depth[j] == m.depth[i] && m.word(j, "JOIN") {
			return !m.word(j-1, "LEFT", "OUTER", "RIGHT", "FULL")
		}
	}
	return false
}

// named returns the columns named between tokens from and to.
func (m *mutator) named(from, to int) []string {
	start, end := m.tokens[from].Pos, len(m.sql)
	if to < len(m.tokens) {
		end = m.tokens[to].Pos
	}
	var names []string
	for _, c := range m.columns {
		if c.Pos >= start && c.Pos < end {
			names = append(names, c.Column)
		}
	}
	return names
}
