package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// misplaced is a column that a statement looks for in tables that do not have it.
type misplaced struct {
	env       *Env
	schema    *schema.Schema
	statement *sqltext.Statement

	qualifier, column string
	tables            []sqlshape.TableRef // the statement's own
	own               *sqlshape.TableRef  // the one that the qualifier names; nil: none
	have              []columnOf          // those that have the column
	lacks             string              // says which of them lacks it
}

// columnOf is a column of a table in a statement.
type columnOf struct{ alias, name string }

// newMisplaced reads which tables lack the column that a name of the statement looks for in vain, and which of its
// other tables have it. It is nil where that cannot be known, as for a derived table.
func newMisplaced(env *Env, s *schema.Schema, sql, name string) *misplaced {
	if s == nil || name == "" {
		return nil
	}
	qualifier, column, qualified := cutLast(name, ".")
	s, _ = s.Presentable() // the names go into a prompt
	m := &misplaced{env: env, schema: s, statement: env.DB.Language().Text.Parse(sql), qualifier: qualifier,
		column: column}
	m.lacks = "No table of the statement has a column " + column
	if qualified {
		m.lacks = "No table of the statement is " + qualifier + " with a column " + column
	}
	m.tables = m.statement.Tables()
	for i, ref := range m.tables {
		alias := cmp.Or(ref.Alias, ref.Name)
		t, known := s.Lookup(ref.Schema, ref.Name)
		named := strings.EqualFold(alias, qualifier)
		switch {
		case !known && (named || !qualified):
			return nil
		case named && strings.EqualFold(alias, t.Name):
			m.lacks, m.own = alias+" has no column "+column, &m.tables[i]
		case named:
			m.lacks, m.own = alias+" is "+env.Quote(t.Name)+", which has no column "+column, &m.tables[i]
		case known:
			if c, has := t.Column(column); has && !slices.Contains(m.have, columnOf{alias, c.Name}) {
				m.have = append(m.have, columnOf{alias, c.Name})
			}
		}
	}
	if !qualified && len(m.have) > 0 {
		m.lacks = "The column " + column + " needs its table"
	}
	return m
}

// hint says which tables have the column: the statement's own, or else those that a foreign key joins with them; "":
// none.
func (m *misplaced) hint() string {
	if m == nil {
		return ""
	}
	var have []string
	for _, c := range m.have {
		have = append(have, m.env.Quote(c.alias)+"."+m.env.Quote(c.name))
	}
	if len(have) > 0 {
		return fmt.Sprintf("%s. The statement has it as %s.", m.lacks, strings.Join(have, " or "))
	}
	if joins := m.joins(); len(joins) > 0 {
		return fmt.Sprintf("%s. %s.", m.lacks, strings.Join(joins, ", or "))
	}
	return ""
}

// mostJoins bounds the tables that a repair proposes to join.
const mostJoins = 3

// joins says how to join the tables that have the column, by one foreign key or by two.
func (m *misplaced) joins() (list []string) {
	var far []string
	for i := range m.schema.Tables {
		t := &m.schema.Tables[i]
		c, has := t.Column(m.column)
		if !has || m.reads(t) {
			continue
		}
		name := m.env.Quote(t.Name)
		told := func(join string) string {
			return fmt.Sprintf("%s has it: add %s, and write %s.%s", name, join, name, m.env.Quote(c.Name))
		}
		if join, alias := m.joined(t); alias != "" {
			list = append(list, told(join))
		} else if bridge, over := m.bridged(t); over != "" {
			far = append(far, told(bridge+" "+over))
		}
	}
	if len(list) == 0 {
		list = far
	}
	if len(list) > mostJoins {
		return nil // a name such as id, which says nothing
	}
	return list
}

// reads reports whether the statement reads a table.
func (m *misplaced) reads(t *schema.Table) bool {
	return slices.ContainsFunc(m.tables, func(ref sqlshape.TableRef) bool {
		own, known := m.schema.Lookup(ref.Schema, ref.Name)
		return known && own == t
	})
}

// joined writes the join of a table with one of the statement's, whose alias it returns; "": no key joins it.
func (m *misplaced) joined(t *schema.Table) (join, alias string) {
	for _, ref := range m.tables {
		own, known := m.schema.Lookup(ref.Schema, ref.Name)
		if !known {
			continue
		}
		alias := cmp.Or(ref.Alias, ref.Name)
		if on := m.condition(own, alias, t); on != "" {
			return "JOIN " + m.env.Quote(t.Name) + " ON " + on, alias
		}
	}
	return "", ""
}

// bridged writes two joins: of a table that the statement does not read, and of t with it.
func (m *misplaced) bridged(t *schema.Table) (bridge, join string) {
	for i := range m.schema.Tables {
		between := &m.schema.Tables[i]
		on := m.condition(between, between.Name, t)
		if on == "" || m.reads(between) {
			continue
		}
		if first, alias := m.joined(between); alias != "" {
			return first, "JOIN " + m.env.Quote(t.Name) + " ON " + on
		}
	}
	return "", ""
}

// condition compares the columns of the first foreign key between two tables; "": there is none.
func (m *misplaced) condition(own *schema.Table, alias string, other *schema.Table) string {
	pairs := func(from *schema.Table, k schema.ForeignKey, to *schema.Table) bool {
		found, ok := m.schema.Lookup(cmp.Or(k.RefSchema, from.Schema), k.RefTable)
		return ok && found == to && len(k.Columns) == len(k.RefColumns)
	}
	equal := func(columns, others []string) string {
		var all []string
		for i := range columns {
			ours, theirs := m.env.Quote(alias)+"."+m.env.Quote(columns[i]), m.env.Quote(other.Name)+"."+m.env.Quote(others[i])
			all = append(all, ours+" = "+theirs)
		}
		return strings.Join(all, " AND ")
	}
	for _, k := range own.ForeignKeys {
		if pairs(own, k, other) {
			return equal(k.Columns, k.RefColumns)
		}
	}
	for _, k := range other.ForeignKeys {
		if pairs(other, k, own) {
			return equal(k.RefColumns, k.Columns)
		}
	}
	return ""
}

// rewritten is the statement with the column of the only table that can be meant: the only one of its own that has the
// column, or the one that the only foreign key of the qualifier's table leads to, which it joins. It is "" where
// several can be meant, for the condition of a join, which says how tables belong together, and for a text that is cut
// in a string.
func (m *misplaced) rewritten() string {
	switch {
	case m == nil:
		return ""
	case m.qualifier == "":
		return m.qualified()
	}
	holder, join := m.meant()
	tokens := slices.DeleteFunc(slices.Collect(m.statement.Tokens()), func(t sqltext.Token) bool {
		return t.Text == ";"
	})
	places := m.places(tokens)
	if holder == "" || len(places) == 0 || tokens[len(tokens)-1].Kind == sqltext.Unterminated {
		return ""
	}
	end := tokens[len(tokens)-1]
	text := m.statement.SQL()[:end.Pos+len(end.Text)]
	joinAt := -1
	if join != "" {
		joinAt = m.endOfTables(tokens, len(text))
	}
	var b strings.Builder
	last := 0
	for _, t := range append(places, sqltext.Token{Pos: len(text)}) {
		if last <= joinAt && joinAt <= t.Pos {
			b.WriteString(strings.TrimRight(text[last:joinAt], " \n\t") + join)
			if last = joinAt; last < len(text) {
				b.WriteString(" ")
			}
			joinAt = -1
		}
		b.WriteString(text[last:t.Pos])
		if last = t.Pos + len(t.Text); t.Text != "" {
			b.WriteString(m.env.Quote(holder))
		}
	}
	return b.String()
}

// meant is the only table that can be meant, by the name that the statement has for it, with the join that it needs.
func (m *misplaced) meant() (holder, join string) {
	switch {
	case len(m.have) == 1:
		return m.have[0].alias, ""
	case len(m.have) > 1 || m.own == nil:
		return "", ""
	}
	own, _ := m.schema.Lookup(m.own.Schema, m.own.Name)
	for _, k := range own.ForeignKeys {
		to, known := m.schema.Lookup(cmp.Or(k.RefSchema, own.Schema), k.RefTable)
		if !known || m.reads(to) {
			continue
		}
		if _, has := to.Column(m.column); !has {
			continue
		}
		if holder != "" {
			return "", ""
		}
		holder = to.Name
		join = " JOIN " + m.env.Quote(to.Name) + " ON " + m.condition(own, cmp.Or(m.own.Alias, m.own.Name), to)
	}
	return holder, join
}

// Words that begin a clause, and those of them that end the tables of a SELECT.
var (
	afterFrom = words.Set("WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT EXCEPT WINDOW")
	clauses   = words.Set("SELECT FROM JOIN ON WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT EXCEPT WINDOW")
)

// places are the qualifiers of the column in the statement; none where one is in the condition of a join.
func (m *misplaced) places(tokens []sqltext.Token) (list []sqltext.Token) {
	clause := ""
	for i, t := range tokens {
		if word := strings.ToUpper(t.Text); t.Kind == sqltext.Word && clauses[word] {
			clause = word
		}
		if i+2 >= len(tokens) || !isName(t, m.qualifier) || tokens[i+1].Text != "." || !isName(tokens[i+2], m.column) {
			continue
		}
		if clause == "ON" {
			return nil
		}
		list = append(list, t)
	}
	return list
}

// endOfTables is where another table can be joined in the SELECT that reads the qualifier's table; end: at the end.
func (m *misplaced) endOfTables(tokens []sqltext.Token, end int) int {
	depth, of := 0, -1
	for _, t := range tokens {
		switch {
		case t.Pos == m.own.Pos:
			of = depth
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		}
		if of >= 0 && (depth < of || depth == of && afterFrom[strings.ToUpper(t.Text)]) {
			return t.Pos
		}
	}
	return end
}

// qualified is the statement with the first table of a column that several of its tables have. It is "" where the value
// depends on which of them is meant: where no join compares all of them, or an outer join leaves the first one empty.
// Four tables may be compared two by two.
func (m *misplaced) qualified() string {
	s := m.statement
	if len(m.have) < 2 || len(m.have) > 3 || hasAlias(s, m.column) || len(s.Selects()) != 1 ||
		s.Uses("RIGHT") || s.Uses("FULL") || len(s.Outline().Using) > 0 {
		return ""
	}
	compared := map[string]bool{}
	for _, c := range s.Conditions(nil) {
		if len(c.Equal) == 2 && strings.EqualFold(c.Equal[0].Column, m.column) &&
			strings.EqualFold(c.Equal[1].Column, m.column) {
			compared[strings.ToLower(c.Equal[0].Qualifier)], compared[strings.ToLower(c.Equal[1].Qualifier)] = true, true
		}
	}
	if slices.ContainsFunc(m.have, func(c columnOf) bool { return !compared[strings.ToLower(c.alias)] }) {
		return ""
	}

	var places []int
	for _, c := range s.Columns() {
		if c.Qualifier == "" {
			places = append(places, c.Pos)
		}
	}
	return replaced(s, places, m.column, m.env.Quote(m.have[0].alias)+"."+m.env.Quote(m.have[0].name))
}

// hasAlias reports whether a SELECT gives a name to one of its terms. ORDER BY then means the term, and not a column.
func hasAlias(s *sqltext.Statement, name string) bool {
	return slices.ContainsFunc(s.Selects(), func(q sqlshape.Select) bool {
		return slices.ContainsFunc(q.Items, func(i sqlshape.SelectItem) bool { return strings.EqualFold(i.Alias, name) })
	})
}

// isName reports whether a token is a name, quoted or not.
func isName(t sqltext.Token, name string) bool {
	return (t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName) &&
		strings.EqualFold(strings.Trim(t.Text, "\"`[]"), name)
}
