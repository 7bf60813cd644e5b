package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Conditions returns the conditions of every WHERE, ON and HAVING clause, in text order of their clauses. Conditions of
// a nested query are listed separately, in addition to the condition that contains the query.
//
// name returns a column as Key writes it. If it returns "", the mention is a string: SQLite reads "x" as a string if no
// such column exists. A nil name writes the column in lower case, with its qualifier as in the text. Columns of a query
// inside a condition are always written that way, because they may use its aliases.
func (s *Statement) Conditions(name func(sqlshape.ColumnRef) string) []sqlshape.Condition {
	if name == nil {
		name = lowerColumn
	}
	c := conditions{parsed: s.resolved(), at: map[int]mention{}}
	for i, col := range c.columns {
		c.at[col.start] = mention{column: col, ref: &c.refs[i], name: name(c.refs[i])}
	}
	for i := range c.items {
		it := &c.items[i]
		if it.role != roleKeyword {
			continue
		}
		if it.up == "WHERE" || it.up == "HAVING" || it.up == "ON" && c.up(i-1) != "DISTINCT" {
			c.own = it.query
			c.clause(i+1, c.clauseEnd(i), 0)
		}
	}
	return c.found
}

func lowerColumn(r sqlshape.ColumnRef) string {
	if r.Qualifier == "" {
		return asciiLower(r.Column)
	}
	return asciiLower(r.Qualifier + "." + r.Column)
}

type conditions struct {
	*parsed
	at    map[int]mention // by the first item of the mention
	own   int             // the query whose clause is read
	found []sqlshape.Condition
}

// mention is a column with the name that the caller gives it, "" for a string.
type mention struct {
	column
	ref  *sqlshape.ColumnRef
	name string
}

// text writes a column; "" for what is a string.
func (c *conditions) text(col mention) string {
	if col.name == "" || !c.isInner(col.column) {
		return col.name
	}
	var b strings.Builder
	for i := col.start; i < col.end; i++ {
		if it := &c.items[i]; it.Kind == Word {
			b.WriteString(asciiLower(it.Text))
		} else {
			b.WriteString(it.Text)
		}
	}
	return b.String()
}

// isInner reports whether a column is one of a query inside of the condition, and not of the query that has the
// condition or of one around it.
func (c *conditions) isInner(col column) bool {
	if col.query == c.own {
		return false
	}
	if col.end-col.start == 1 {
		return true
	}
	t := c.resolve(c.qualifier(col), col.query)
	if t < 0 {
		return true
	}
	for q := c.own; q >= 0; q = c.queries[q].parent {
		if c.tables[t].Query == q {
			return false
		}
	}
	return true
}

// clauseEnd returns the item after the clause whose keyword is item i.
func (c *conditions) clauseEnd(i int) int {
	word := c.items[i].up
	for j := i + 1; j < len(c.items); j++ {
		it := &c.items[j]
		if it.match > j { // brackets, CASE … END
			j = it.match
			continue
		}
		if it.isOperator(")") || it.isOperator(";") || word == "ON" && it.isOperator(",") {
			return j
		}
		if it.role != roleKeyword {
			continue
		}
		switch it.up {
		case "UNION", "EXCEPT", "INTERSECT", "MINUS", "SELECT":
			return j
		case "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "FULL", "NATURAL", "STRAIGHT_JOIN", "WHERE", "ON", "USING":
			if word == "ON" {
				return j
			}
		}
		if clauseOf(it.up, c.up(j+1)) != inNone && it.up != word {
			return j
		}
	}
	return len(c.items)
}

// clause keeps the conditions of items[start:end].
func (c *conditions) clause(start, end, depth int) {
	start, end = c.unwrap(start, end)
	if start >= end {
		return
	}
	if parts := c.splitAt("AND", start, end); len(parts) > 1 && depth < maxNested {
		for _, part := range parts {
			c.clause(part[0], part[1], depth+1) // (a AND b) AND c
		}
		return
	}
	cond := sqlshape.Condition{
		Text: c.sql[c.items[start].Pos:c.endOf(end-1)], Pos: c.items[start].Pos,
		Key: c.key(start, end, 0), Equal: c.equal(start, end), Aggregate: len(c.aggregates(start, end)) > 0,
	}
	cond.Nested = slices.ContainsFunc(c.items[start:end], func(it item) bool { return it.up == "SELECT" })
	c.found = append(c.found, cond)
}

// unwrap takes off brackets around the whole.
func (c *conditions) unwrap(start, end int) (int, int) {
	for start < end && c.op(start, "(") && c.items[start].match == end-1 && !isQueryWord(c.up(start+1)) {
		start++
		end--
	}
	return start, end
}

// splitAt cuts items[start:end] at a keyword outside of brackets and CASE. It does not cut at the AND of a BETWEEN.
func (c *conditions) splitAt(word string, start, end int) [][2]int {
	var parts [][2]int
	from, between := start, 0
	for i := start; i < end; i++ {
		it := &c.items[i]
		if it.match > i && it.match < end {
			i = it.match
			continue
		}
		if it.role != roleKeyword {
			continue
		}
		switch {
		case it.up == "BETWEEN":
			between++
		case it.up == "AND" && between > 0:
			between--
		case it.up == word:
			parts = append(parts, [2]int{from, i})
			from = i + 1
		}
	}
	return append(parts, [2]int{from, end})
}

// maxNested bounds the depth to which brackets are looked into; what is deeper is written as it is.
const maxNested = 20

// key writes the canonical form of items[start:end].
func (c *conditions) key(start, end, depth int) string {
	start, end = c.unwrap(start, end)
	if depth < maxNested {
		for _, word := range []string{"OR", "AND"} {
			parts := c.splitAt(word, start, end)
			if len(parts) == 1 {
				continue
			}
			keys := make([]string, 0, len(parts))
			for _, part := range parts {
				keys = append(keys, c.key(part[0], part[1], depth+1))
			}
			slices.Sort(keys)
			return "(" + strings.Join(slices.Compact(keys), " "+word+" ") + ")"
		}
		if c.up(start) == "NOT" && start+1 < end {
			return "NOT " + c.key(start+1, end, depth+1)
		}
	}
	if at, op := c.comparison(start, end); at > start && at+1 < end {
		left, right := c.write(start, at), c.write(at+1, end)
		if back := flipped[op]; back != "" {
			if c.isColumn(at+1, end) && (!c.isColumn(start, at) || back == op && right < left) {
				left, op, right = right, back, left
			}
		}
		return left + " " + op + " " + right
	}
	return c.write(start, end)
}

// comparison finds the only comparison operator of items[start:end] outside of brackets.
func (c *conditions) comparison(start, end int) (at int, op string) {
	at = -1
	for i := start; i < end; i++ {
		it := &c.items[i]
		if it.match > i && it.match < end {
			i = it.match
			continue
		}
		if o, ok := c.comparisonOp(i); ok && it.Kind == Operator {
			if at >= 0 {
				return -1, ""
			}
			at, op = i, o
		}
	}
	return at, op
}

// isColumn reports whether items[start:end] are one column.
func (c *conditions) isColumn(start, end int) bool {
	col, ok := c.at[start]
	return ok && col.end == end && col.name != ""
}

// equal returns the columns that items[start:end] make equal.
func (c *conditions) equal(start, end int) []sqlshape.ColumnRef {
	if at, op := c.comparison(start, end); op == "=" && c.isColumn(start, at) && c.isColumn(at+1, end) {
		return []sqlshape.ColumnRef{*c.at[start].ref, *c.at[at+1].ref}
	}
	left, ok := c.at[start]
	if !ok || c.up(left.end) != "IN" || !c.op(left.end+1, "(") || c.items[left.end+1].match != end-1 ||
		c.up(left.end+2) != "SELECT" {
		return nil
	}
	i := left.end + 3
	if c.up(i) == "DISTINCT" {
		i++
	}
	if right, ok := c.at[i]; ok && c.up(right.end) == "FROM" {
		return []sqlshape.ColumnRef{*left.ref, *right.ref}
	}
	return nil
}

// write writes items[start:end], the members of IN lists in order.
func (c *conditions) write(start, end int) string {
	var b strings.Builder
	put := func(text string, tight bool) {
		if b.Len() > 0 && !tight && !strings.HasSuffix(b.String()[b.Len()-1:], "(") {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	dot := false // the last token was a dot
	for i := start; i < end; i++ {
		it := &c.items[i]
		if col, ok := c.at[i]; ok && col.end <= end {
			text := c.text(col)
			if text == "" {
				text = "'" + strings.ReplaceAll(c.nameOf(col.end-1), "'", "''") + "'"
			}
			put(text, false)
			i = col.end - 1
			continue
		}
		if it.isOperator("(") && c.up(i-1) == "IN" && it.match > i && it.match < end {
			if list, ok := c.list(i+1, it.match); ok {
				put("("+list+")", false)
				i = it.match
				continue
			}
		}
		tight := dot || it.isOperator(")") || it.isOperator(",") || it.isOperator(".") ||
			it.isOperator("(") && i > start && c.items[i-1].role == roleFunction
		dot = it.isOperator(".")
		switch {
		case it.Kind == Word:
			put(c.word(it), tight)
		case it.Kind == Operator:
			put(plainOperator(it.Text), tight)
		default:
			put(it.Text, tight)
		}
	}
	return b.String()
}

// word writes a word: what is a name in lower case, all else in upper case.
func (c *conditions) word(it *item) string {
	switch it.role {
	case roleTable, roleAlias, roleCTE, roleQualif, roleColumn:
		return asciiLower(it.Text)
	}
	return it.up
}

// list writes the members of an IN list in order; ok is false if one of them is not a constant.
func (c *conditions) list(start, end int) (text string, ok bool) {
	var members []string
	for _, part := range c.split(start, end) {
		first := part[0]
		if c.op(first, "-") || c.op(first, "+") {
			first++
		}
		if part[1]-first != 1 {
			return "", false
		}
		switch it := &c.items[first]; {
		case it.Kind == String, it.Kind == Number, it.Kind == Blob, it.up == "NULL":
			members = append(members, c.sql[c.items[part[0]].Pos:c.endOf(first)])
		case it.Kind == QuotedName && c.at[first].end == first+1 && c.at[first].name == "":
			members = append(members, "'"+strings.ReplaceAll(c.nameOf(first), "'", "''")+"'")
		default:
			return "", false
		}
	}
	slices.Sort(members)
	return strings.Join(slices.Compact(members), ", "), len(members) > 0
}
