package testsuite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// having is the comparison of an aggregate with a number: SUM(a * b) > 5.
type having struct {
	function string // SUM, AVG, MIN, MAX or COUNT
	table    int    // of the columns; of COUNT(*), -1
	columns  []int  // one, or the factors of a product; none for COUNT
	literal  float64
	group    int // the table whose rows are the groups
	by       int // its column
}

// havings reads the comparisons of aggregates in the HAVING clauses of a gold, at
// any depth. An alias stands for the aggregate that has it. What is more than a
// column or a product of columns, or is grouped by no column, is left out.
func (d *database) havings(gold string) []having {
	l := lex(gold)
	columns := l.text.Columns(gold)
	var list []having
	for i := range l.tokens {
		if !l.word(i, "HAVING") {
			continue
		}
		end := l.clauseEnd(i)
		parts, _ := l.split(i+1, end)
		for _, part := range parts {
			h := having{table: -1}
			from, to, ok := l.compared(part[0], part[1], &h)
			if !ok {
				continue
			}
			if d.aggregate(&l, columns, from, to, &h) && d.grouping(&l, columns, i, &h) {
				list = append(list, h)
			}
		}
	}
	return list
}

// compared reads "aggregate op number" and returns the tokens of the aggregate.
func (l *lexed) compared(from, to int, h *having) (start, end int, ok bool) {
	if to-from < 3 || l.tokens[to-1].Kind != sqltext.Number || !l.op(to-2, ">", ">=", "<", "<=", "=") {
		return 0, 0, false
	}
	n, err := strconv.ParseFloat(l.tokens[to-1].Text, 64)
	if err != nil {
		return 0, 0, false
	}
	h.literal = n
	if to-2-from > 1 {
		return from, to - 2, true
	}
	// An alias: … ) AS name, before this.
	for j := from - 1; j > 0; j-- {
		if l.depth[j] != l.depth[from] || !strings.EqualFold(l.tokens[j].Text, l.tokens[from].Text) {
			continue
		}
		last := j - 1
		if l.word(last, "AS") {
			last--
		}
		if !l.op(last, ")") {
			continue
		}
		for first := last; first > 0; first-- {
			if l.op(first, "(") && l.depth[first] == l.depth[last] {
				return first - 1, last + 1, true
			}
		}
	}
	return 0, 0, false
}

// aggregate reads the call of an aggregate from tokens.
func (d *database) aggregate(l *lexed, columns []sqltext.ColumnRef, from, to int, h *having) bool {
	if !l.word(from, "SUM", "AVG", "MIN", "MAX", "COUNT") || !l.op(from+1, "(") || !l.op(to-1, ")") {
		return false
	}
	h.function = strings.ToUpper(l.tokens[from].Text)
	if h.function == "COUNT" {
		return !l.word(from+2, "DISTINCT")
	}
	for i := from + 2; i < to-1; i++ {
		tok := l.tokens[i]
		switch {
		case l.op(i, "*", "."):
		case tok.Kind != sqltext.Word && tok.Kind != sqltext.QuotedName:
			return false
		}
	}
	for _, c := range columns {
		if c.Pos < l.tokens[from].Pos || c.Pos > l.tokens[to-1].Pos {
			continue
		}
		table, column := d.find(c)
		if table < 0 || h.table >= 0 && table != h.table || d.tables[table].columns[column].kind != number {
			return false
		}
		h.table, h.columns = table, append(h.columns, column)
	}
	return len(h.columns) > 0
}

// find returns the table and column that a reference names, or -1.
func (d *database) find(c sqltext.ColumnRef) (table, column int) {
	for _, ref := range c.Scope {
		if c.Table != "" && !strings.EqualFold(ref.Name, c.Table) {
			continue
		}
		if i := d.number(ref); i >= 0 {
			if j := d.tables[i].index(c.Column); j >= 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

// grouping finds the GROUP BY before the HAVING at token i.
func (d *database) grouping(l *lexed, columns []sqltext.ColumnRef, i int, h *having) bool {
	for j := i - 1; j >= 0; j-- {
		if l.depth[j] != l.depth[i] || !l.word(j, "GROUP") {
			continue
		}
		for _, c := range columns {
			if c.Pos > l.tokens[j].Pos && c.Pos < l.tokens[i].Pos {
				h.group, h.by = d.find(c)
				return h.group >= 0
			}
		}
		return false
	}
	return false
}

// gather gives the group of a joined row an aggregate at its literal, or one
// step above where above is 1.
func (p *planter) gather(w *witness, h having, rows map[int][]any, above int, r random) {
	i := h.table
	if i < 0 {
		i = w.tables[0] // COUNT(*) counts the rows that lead to all others
	}
	row, of := rows[i], rows[h.group]
	if row == nil || of == nil || p.tables[i].frozen {
		return
	}
	members := p.members(i, h, of[h.by])
	if len(members) == 0 {
		return
	}
	if h.function == "COUNT" {
		p.shrink(i, members, int(h.literal)+above)
		return
	}
	value := p.tables[i].columns[h.columns[0]].stepped(h.literal, above, r)
	if value == nil {
		return
	}
	for n, member := range members {
		for place, c := range h.columns {
			v := any(int64(1))
			switch {
			case place == 0 && h.function == "SUM" && n > 0:
				v = int64(0)
			case place == 0:
				v = value
			}
			if !sameValue(member[c], v) {
				member[c] = v
				p.changed[[2]int{i, c}]++
			}
		}
	}
}

// stepped returns the literal of an aggregate, or the next value; nil for what
// the column cannot hold.
func (c *column) stepped(literal float64, above int, r random) any {
	n, _ := parseNumber(strconv.FormatFloat(literal, 'f', -1, 64))
	if n = c.fitting(n); n == nil || above == 0 {
		return n
	}
	return c.moved(n, above, r)
}

// members returns the rows of table i in the group that has value in h.by.
func (p *planter) members(i int, h having, value any) [][]any {
	way, ok := p.way(p.tables[i], p.tables[h.group])
	if !ok {
		return nil
	}
	var list [][]any
	for _, row := range p.tables[i].rows {
		if of := p.follow(row, way); of != nil && sameValue(of[h.by], value) {
			list = append(list, row)
		}
	}
	return list
}

// way returns the fewest references that lead from one table to another.
func (p *planter) way(from, to *table) (way []*reference, ok bool) {
	ways := map[*table][]*reference{from: nil}
	for queue := []*table{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			return ways[at], true
		}
		for _, ref := range at.refs {
			if _, seen := ways[ref.to]; !seen {
				ways[ref.to] = append(slices.Clone(ways[at]), ref)
				queue = append(queue, ref.to)
			}
		}
	}
	return nil, false
}

// follow returns the row to which references lead, nil where one is NULL.
func (p *planter) follow(row []any, way []*reference) []any {
	for _, ref := range way {
		if row == nil {
			return nil
		}
		key, ok := keyOf(row, ref.cols)
		if !ok {
			return nil
		}
		row = p.targets(ref)[key]
	}
	return row
}

// shrink deletes members of a group until n are left. Rows that others may refer
// to stay.
func (p *planter) shrink(i int, members [][]any, n int) {
	t := p.tables[i]
	if n < 1 || len(members) <= n || slices.ContainsFunc(t.columns, func(c column) bool { return c.pointed }) {
		return
	}
	surplus := map[*any]bool{}
	for _, row := range members[n:] {
		surplus[&row[0]] = true
	}
	before := len(t.rows)
	t.rows = slices.DeleteFunc(t.rows, func(row []any) bool { return surplus[&row[0]] })
	p.deleted[i] += before - len(t.rows)
}
