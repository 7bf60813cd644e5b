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
	blind             bool                // the columns of a table beside it are not known
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
	s, _ = s.Presentable() // the names go into a prompt
	m := &misplaced{env: env, schema: s, statement: env.DB.Language().Text.Parse(sql)}
	m.qualifier, m.column, _ = words.CutLast(name, ".")
	mentions := m.mentions()
	if len(mentions) == 0 {
		return nil
	}
	m.tables = m.statement.Tables()
	if m.qualifier == "" {
		return m.unqualified(mentions)
	}

	m.lacks = "No table of the statement is " + m.qualifier + " with a column " + m.column
	for i, ref := range m.tables {
		if alias := cmp.Or(ref.Alias, ref.Name); strings.EqualFold(alias, m.qualifier) {
			t, known := m.table(ref)
			if !known || has(t, m.column) {
				return nil
			}
			m.lacks, m.several, m.own = alias+" has no column "+m.column, m.own != nil, &m.tables[i]
			if !strings.EqualFold(alias, t.Name) {
				m.lacks = alias + " is " + env.Quote(t.Name) + ", which has no column " + m.column
			}
		}
	}
	m.collect(func(ref sqlshape.TableRef) bool { return m.own == nil || ref.Query == m.own.Query })
	return m
}

// mentions are where the statement has the name. Some engines name the column alone: its only qualifier is then meant.
func (m *misplaced) mentions() (list []sqlshape.ColumnRef) {
	for _, c := range m.statement.Columns() {
		if strings.EqualFold(c.Column, m.column) && (m.qualifier == "" || strings.EqualFold(c.Qualifier, m.qualifier)) {
			list = append(list, c)
		}
	}
	differs := func(c sqlshape.ColumnRef) bool { return !strings.EqualFold(c.Qualifier, list[0].Qualifier) }
	if m.qualifier == "" && len(list) > 0 && !slices.ContainsFunc(list, differs) {
		m.qualifier = list[0].Qualifier
	}
	return list
}

// unqualified reads which tables of its SELECT have a column without a qualifier. With several it is ambiguous.
func (m *misplaced) unqualified(mentions []sqlshape.ColumnRef) *misplaced {
	m.lacks = "No table of the statement has a column " + m.column
	m.collect(func(ref sqlshape.TableRef) bool {
		return slices.ContainsFunc(mentions, func(c sqlshape.ColumnRef) bool {
			return c.Qualifier == "" && len(c.Scope) > 0 && c.Scope[0].Query == ref.Query
		})
	})
	switch {
	case m.blind:
		return nil
	case len(m.have) > 1:
		m.lacks = "The column " + m.column + " needs its table"
	default:
		m.have = nil
	}
	return m
}

// collect reads which tables have the column, of those that a condition holds for.
func (m *misplaced) collect(holds func(sqlshape.TableRef) bool) {
	for _, ref := range m.tables {
		if !holds(ref) {
			continue
		}
		t, known := m.table(ref)
		if !known {
			m.blind = true
			continue
		}
		if c, ok := t.Column(m.column); ok {
			m.have = append(m.have, columnOf{ref, cmp.Or(ref.Alias, ref.Name), c.Name})
		}
	}
}

// table is the table of the schema that a name in FROM means.
func (m *misplaced) table(ref sqlshape.TableRef) (t *schema.Table, known bool) {
	t, known = m.schema.Lookup(ref.Schema, ref.Name)
	return t, known && ref.Base()
}

func has(t *schema.Table, column string) bool {
	_, ok := t.Column(column)
	return ok
}

// written is a name as the statement writes it: PostgreSQL has no "T1" where it was called T1.
func (m *misplaced) written(name string) string {
	for t := range m.statement.Tokens() {
		if isName(t, name) {
			return t.Text
		}
	}
	return m.env.Quote(name)
}

// hint says which tables have the column: the statement's own, or else those that a foreign key joins with them; "":
// none, and where the column may only have another name.
func (m *misplaced) hint() string {
	if m == nil {
		return ""
	}
	var have []string
	for _, c := range m.have {
		if name := m.written(c.alias) + "." + m.env.Quote(c.name); !slices.Contains(have, name) {
			have = append(have, name)
		}
	}
	if len(have) > 0 {
		return fmt.Sprintf("%s. The statement has it as %s.", m.lacks, strings.Join(have, " or "))
	}
	if joins := m.joins(); len(joins) > 0 && !m.hasLonger() {
		return fmt.Sprintf("%s. %s.", m.lacks, strings.Join(joins, ", or "))
	}
	return ""
}

// hasLonger reports whether the qualifier's table has a column that ends in the same words: stu_name for name.
func (m *misplaced) hasLonger() bool {
	if m.own == nil {
		return false
	}
	own, _ := m.table(*m.own)
	return slices.ContainsFunc(own.Columns, func(c schema.Column) bool {
		return strings.HasSuffix(wordsOf(c.Name), wordsOf(m.column))
	})
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
		own, known := m.table(ref)
		return known && own == t
	})
}

// joined writes the join of a table with one of the statement's, whose alias it returns; "": no key joins it.
func (m *misplaced) joined(t *schema.Table) (join, alias string) {
	for _, ref := range m.tables {
		own, known := m.table(ref)
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
			ours, theirs := m.written(alias)+"."+m.env.Quote(columns[i]), m.env.Quote(other.Name)+"."+m.env.Quote(others[i])
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
	edits := renamed(m.statement, m.places(), m.qualifier, holder)
	if holder == "" || len(edits) == 0 {
		return ""
	}
	if join != "" {
		edits = append(edits, edit{at: m.endOfTables(), by: join})
	}
	return edited(m.statement, edits)
}

// meant is the only table that can be meant, as the statement writes its name, with the join that it needs. A qualifier
// without a table in the statement means one only if it is its name, in place of its alias.
func (m *misplaced) meant() (holder, join string) {
	if m.several || m.blind || joinsOuter(m.statement) {
		return "", ""
	}
	if m.own == nil {
		m.have = slices.DeleteFunc(m.have, func(c columnOf) bool { return !strings.EqualFold(c.ref.Name, m.qualifier) })
	} else if m.hasLonger() || m.isJoinedTwice() {
		return "", ""
	}
	switch {
	case len(m.have) == 1:
		return m.written(m.have[0].alias), ""
	case len(m.have) > 1 || m.own == nil:
		return "", ""
	}
	own, _ := m.table(*m.own)
	for _, k := range own.ForeignKeys {
		to, known := m.schema.Lookup(cmp.Or(k.RefSchema, own.Schema), k.RefTable)
		if !known || !has(to, m.column) || m.reads(to) {
			continue
		}
		if holder != "" || m.isChangedBy(to, own, k) {
			return "", ""
		}
		holder = m.env.Quote(to.Name)
		join = " JOIN " + holder + " ON " + m.condition(own, cmp.Or(m.own.Alias, m.own.Name), to)
	}
	return holder, join
}

// isJoinedTwice reports whether the SELECT reads the qualifier's table a second time.
func (m *misplaced) isJoinedTwice() bool {
	own, _ := m.table(*m.own)
	return slices.ContainsFunc(m.tables, func(ref sqlshape.TableRef) bool {
		t, known := m.table(ref)
		return known && t == own && ref.Query == m.own.Query && ref.Pos != m.own.Pos
	})
}

// isChangedBy reports whether joining another table by a key may change more than the values of the column: what * or a
// name stands for, and rows without a partner that the statement asks for.
func (m *misplaced) isChangedBy(to, own *schema.Table, k schema.ForeignKey) bool {
	s := m.statement
	isStar := func(i sqlshape.SelectItem) bool { return i.Star }
	var around sqlshape.Select // the innermost one
	for _, q := range s.Selects() {
		if q.Has(m.own.Pos) {
			around = q
		}
	}
	mayLack := slices.ContainsFunc(k.Columns, func(name string) bool {
		c, has := own.Column(name)
		return !has || !c.NotNull
	})
	asksForRest := s.Outline().IsNull || s.Uses("OR") || slices.ContainsFunc(s.Outline().Functions, forNull)
	return to.Schema != "" || mayLack && asksForRest ||
		slices.ContainsFunc(m.tables, func(ref sqlshape.TableRef) bool {
			return strings.EqualFold(cmp.Or(ref.Alias, ref.Name), to.Name)
		}) ||
		slices.ContainsFunc(s.Selects(), func(q sqlshape.Select) bool { return slices.ContainsFunc(q.Items, isStar) }) ||
		slices.ContainsFunc(s.Columns(), func(c sqlshape.ColumnRef) bool {
			return c.Qualifier == "" && has(to, c.Column) && around.Has(c.Pos)
		})
}

// forNull reports whether a function gives a value for NULL.
func forNull(function string) bool {
	return function == "COALESCE" || function == "IFNULL" || function == "NVL"
}

// joinsOuter reports whether a join keeps rows without a partner.
func joinsOuter(s *sqltext.Statement) bool {
	return s.Uses("LEFT") || s.Uses("RIGHT") || s.Uses("FULL")
}

// places are where the statement has the column in the SELECT of its table; none where a condition compares it with
// another one: such a condition says how tables belong together.
func (m *misplaced) places() (list []int) {
	columns := m.statement.Columns()
	isOther := func(o sqlshape.ColumnRef) bool {
		return !strings.EqualFold(o.Qualifier, m.qualifier) || !strings.EqualFold(o.Column, m.column)
	}
	for _, c := range columns {
		if isOther(c) || m.own != nil && !slices.ContainsFunc(c.Scope, func(ref sqlshape.TableRef) bool {
			return ref.Pos == m.own.Pos
		}) {
			continue
		}
		for _, cond := range m.statement.Conditions(nil) {
			within := func(pos int) bool { return !cond.Nested && cond.Pos <= pos && pos < cond.Pos+len(cond.Text) }
			if m.own != nil && within(c.Pos) && slices.ContainsFunc(columns, func(o sqlshape.ColumnRef) bool {
				return isOther(o) && within(o.Pos)
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
	depth, of, end, before := 0, -1, 0, ""
	for t := range m.statement.Tokens() {
		isClause := before != "." && (t.Text == ";" || afterFrom[strings.ToUpper(t.Text)])
		switch {
		case t.Pos == m.own.Pos:
			of = depth
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		}
		if of >= 0 && (depth < of || depth == of && isClause) {
			return end
		}
		end, before = t.Pos+len(t.Text), t.Text
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
	return edited(s, renamed(s, places, m.column, m.written(m.have[0].alias)+"."+m.env.Quote(m.have[0].name)))
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
