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
	several           bool                // the qualifier names several, of several SELECTs
	have              []columnOf          // those that have the column
	lacks             string              // says which of them lacks it
}

// columnOf is a column of a table in a statement.
type columnOf struct {
	ref         sqlshape.TableRef
	alias, name string
}

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
			m.lacks, m.several, m.own = alias+" has no column "+column, m.own != nil, &m.tables[i]
		case named:
			m.lacks = alias + " is " + env.Quote(t.Name) + ", which has no column " + column
			m.several, m.own = m.own != nil, &m.tables[i]
		case known:
			if c, has := t.Column(column); has {
				m.have = append(m.have, columnOf{ref, alias, c.Name})
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
		if name := m.env.Quote(c.alias) + "." + m.env.Quote(c.name); !slices.Contains(have, name) {
			have = append(have, name)
		}
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

// rewritten is the statement with the column of the only table that can be meant: the only one of the same SELECT that
// has the column, or the one that the only foreign key of the qualifier's table leads to, which it joins. It is ""
// where several can be meant.
func (m *misplaced) rewritten() string {
	switch {
	case m == nil:
		return ""
	case m.qualifier == "":
		return m.qualified()
	}
	holder, join := m.meant()
	edits := renamed(m.statement, m.places(), m.qualifier, m.env.Quote(holder))
	if holder == "" || len(edits) == 0 {
		return ""
	}
	if join != "" {
		edits = append(edits, edit{at: m.endOfTables(), by: join})
	}
	return edited(m.statement, edits)
}

// meant is the only table that can be meant, by the name that the statement has for it, with the join that it needs. A
// qualifier that is no table of the statement means one only if it is its name, in place of its alias.
func (m *misplaced) meant() (holder, join string) {
	if m.several {
		return "", ""
	}
	have := slices.DeleteFunc(slices.Clone(m.have), func(c columnOf) bool {
		if m.own == nil {
			return !strings.EqualFold(c.ref.Name, m.qualifier)
		}
		return c.ref.Query != m.own.Query
	})
	switch {
	case len(have) == 1:
		return have[0].alias, ""
	case len(have) > 1 || m.own == nil || m.showsJoined():
		return "", ""
	}
	own, _ := m.schema.Lookup(m.own.Schema, m.own.Name)
	for _, k := range own.ForeignKeys {
		to, known := m.schema.Lookup(cmp.Or(k.RefSchema, own.Schema), k.RefTable)
		if !known || to.Schema != "" || m.reads(to) || m.hasTable(to.Name) {
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

// showsJoined reports whether another joined table changes more than the values of the column: what * stands for, or
// the rows that an outer join keeps.
func (m *misplaced) showsJoined() bool {
	isStar := func(i sqlshape.SelectItem) bool { return i.Star }
	return joinsOuter(m.statement) || slices.ContainsFunc(m.statement.Selects(), func(q sqlshape.Select) bool {
		return slices.ContainsFunc(q.Items, isStar)
	})
}

// joinsOuter reports whether a join keeps rows without a partner.
func joinsOuter(s *sqltext.Statement) bool { return s.Uses("LEFT") || s.Uses("RIGHT") || s.Uses("FULL") }

// hasTable reports whether the statement calls a table so.
func (m *misplaced) hasTable(name string) bool {
	return slices.ContainsFunc(m.tables, func(ref sqlshape.TableRef) bool {
		return strings.EqualFold(cmp.Or(ref.Alias, ref.Name), name)
	})
}

// places are where the statement has the column; none where a condition compares it with another one: such a condition
// says how tables belong together.
func (m *misplaced) places() (list []int) {
	columns := m.statement.Columns()
	for _, c := range columns {
		if !strings.EqualFold(c.Qualifier, m.qualifier) || !strings.EqualFold(c.Column, m.column) {
			continue
		}
		for _, cond := range m.statement.Conditions(nil) {
			within := func(pos int) bool { return !cond.Nested && cond.Pos <= pos && pos < cond.Pos+len(cond.Text) }
			if within(c.Pos) && slices.ContainsFunc(columns, func(o sqlshape.ColumnRef) bool {
				return o.Pos != c.Pos && within(o.Pos)
			}) {
				return nil
			}
		}
		list = append(list, c.Pos)
	}
	return list
}

// Words that end the tables of a SELECT.
var afterFrom = words.Set("WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT EXCEPT WINDOW OFFSET FETCH FOR")

// endOfTables is where another table can be joined in the SELECT that reads the qualifier's table: behind the last one.
func (m *misplaced) endOfTables() int {
	depth, of, end := 0, -1, 0
	for t := range m.statement.Tokens() {
		switch {
		case t.Pos == m.own.Pos:
			of = depth
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		}
		if of >= 0 && (depth < of || depth == of && (t.Text == ";" || afterFrom[strings.ToUpper(t.Text)])) {
			return end
		}
		end = t.Pos + len(t.Text)
	}
	return end
}

// qualified is the statement with the first table of a column that several of its tables have. It is "" where the value
// depends on which of them is meant: where no join compares all of them, or an outer join leaves one of them empty.
// Four tables may be compared two by two.
func (m *misplaced) qualified() string {
	s := m.statement
	if len(m.have) < 2 || len(m.have) > 3 || hasAlias(s, m.column) || len(s.Selects()) != 1 ||
		joinsOuter(s) || len(s.Outline().Using) > 0 || s.Outline().Natural {
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
	return edited(s, renamed(s, places, m.column, m.env.Quote(m.have[0].alias)+"."+m.env.Quote(m.have[0].name)))
}

// hasAlias reports whether a SELECT gives a name of the same words to one of its terms. ORDER BY then means the term,
// and not a column.
func hasAlias(s *sqltext.Statement, name string) bool {
	return slices.ContainsFunc(s.Selects(), func(q sqlshape.Select) bool {
		return slices.ContainsFunc(q.Items, func(i sqlshape.SelectItem) bool {
			return i.Alias != "" && wordsOf(i.Alias) == wordsOf(name)
		})
	})
}

// isName reports whether a token is a name, quoted or not.
func isName(t sqltext.Token, name string) bool {
	return (t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName) &&
		strings.EqualFold(strings.Trim(t.Text, "\"`[]"), name)
}
