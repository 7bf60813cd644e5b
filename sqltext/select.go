package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Selects returns the SELECTs of the statement in text order. Calls share the slice: do not write to it.
func (s *Statement) Selects() []sqlshape.Select {
	p := s.resolved()
	s.selected.Do(func() { s.selects = p.readSelects() })
	return s.selects
}

func (p *parsed) readSelects() (list []sqlshape.Select) {
	for i := range p.queries {
		q := &p.queries[i]
		if q.at[inSelect] < 0 || q.end <= q.start || p.up(q.at[inSelect]) != "SELECT" {
			continue
		}
		one := sqlshape.Select{
			Pos: p.items[q.start].Pos, Text: p.text(q.start, q.end), Nested: q.parent >= 0 || q.cte || q.source,
			Compound: q.op != "" || slices.Contains(p.arms(i)[1:], i) || i > 0 && p.queries[i-1].frame == q.frame,
			From:     p.clauseText(q, inFrom, 1), Where: p.clauseText(q, inWhere, 1), Having: p.clauseText(q, inHaving, 1),
			Limit:   p.clauseText(q, inLimit, 0),
			GroupBy: p.terms(q, inGroup), OrderBy: p.terms(q, inOrder),
		}
		start, distinct := p.listStart(q)
		one.Distinct = distinct
		_, end, _ := p.clause(q, inSelect)
		for _, part := range p.split(start, end) {
			if part[0] < part[1] {
				one.Items = append(one.Items, p.selectItem(part[0], part[1]))
			}
		}
		for _, t := range q.tables {
			one.Tables = append(one.Tables, p.tables[t])
		}
		one.Tables = byPos(one.Tables, func(r sqlshape.TableRef) int { return r.Pos })
		for _, t := range one.Tables {
			one.Joined = append(one.Joined, p.joinedBy(t))
		}
		list = append(list, one)
	}
	return byPos(list, func(s sqlshape.Select) int { return s.Pos })
}

// text is items[start:end] as written.
func (p *parsed) text(start, end int) string {
	if start >= end {
		return ""
	}
	return p.sql[p.items[start].Pos:p.endOf(end-1)]
}

func (p *parsed) clauseText(q *query, c clause, keyword int) string {
	start, end, ok := p.clause(q, c)
	if !ok {
		return ""
	}
	return p.text(start+keyword, end)
}

// joinedBy returns the words in front of a table.
func (p *parsed) joinedBy(t sqlshape.TableRef) string {
	i, _ := slices.BinarySearchFunc(p.items, t.Pos, func(it item, pos int) int { return it.Pos - pos })
	for i--; p.op(i, "("); i-- {
	}
	if p.op(i, ",") {
		return ","
	}
	var list []string
	for ; i >= 0 && p.items[i].role == roleKeyword; i-- {
		if up := p.items[i].up; up != "OUTER" && up != "LATERAL" && up != "ONLY" {
			list = append([]string{up}, list...)
		}
		if up := p.items[i].up; up != "JOIN" && up != "OUTER" && up != "LATERAL" && up != "INNER" {
			break
		}
	}
	return strings.Join(list, " ")
}

// Rebracketed returns the statement with brackets around each OR that has an AND on only one side, as in a OR b AND
// c. The author may mean (a OR b) AND c, but an engine reads a OR (b AND c). ok is false without such an OR. It does
// not change a AND b OR c AND d, which is unlikely to be a mistake.
func (s *Statement) Rebracketed() (sql string, ok bool) {
	c := conditions{parsed: s.resolved()}
	put := map[int]string{} // brackets, by the item in front of which they stand
	for i := range c.items {
		it := &c.items[i]
		if it.role != roleKeyword || it.up != "WHERE" && it.up != "HAVING" && (it.up != "ON" || c.up(i-1) == "DISTINCT") {
			continue
		}
		c.rebracket(i+1, c.clauseEnd(i), put)
	}
	if len(put) == 0 {
		return s.sql, false
	}
	var b strings.Builder
	done := 0
	for i := range c.items {
		if text := put[i]; text != "" {
			b.WriteString(s.sql[done:c.items[i].Pos] + text)
			done = c.items[i].Pos
		}
	}
	return b.String() + s.sql[done:] + put[len(c.items)], true
}

// rebracket looks at the level of items[start:end], and at the brackets in it.
func (c *conditions) rebracket(start, end int, put map[int]string) {
	levels := [][2]int{{start, end}}
	for len(levels) > 0 {
		start, end := levels[0][0], levels[0][1]
		levels = levels[1:]
		for i := start; i < end; i++ {
			if m := c.items[i].match; m > i && m < end {
				if c.op(i, "(") && !isQueryWord(c.up(i+1)) {
					levels = append(levels, [2]int{i + 1, m})
				}
				i = m
			}
		}
		ors := c.splitAt("OR", start, end)
		single := 0
		for _, part := range ors {
			if len(c.splitAt("AND", part[0], part[1])) == 1 {
				single++
			}
		}
		if len(ors) == 1 || single == 0 || single == len(ors) {
			continue
		}
		open := false
		for k, part := range ors {
			ands := c.splitAt("AND", part[0], part[1])
			if open && (len(ands) > 1 || k == len(ors)-1) {
				put[ands[0][1]] = ") " + put[ands[0][1]]
				open = false
			}
			if last := ands[len(ands)-1]; !open && k < len(ors)-1 {
				put[last[0]] += "("
				open = true
			}
		}
	}
}
