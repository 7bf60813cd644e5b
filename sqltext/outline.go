package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Outline returns the outer shape of the statement. Text without a query gives an Outline without Items.
func (s *Statement) Outline() sqlshape.Outline {
	p := s.tree()
	s.outlined.Do(func() { s.outline = p.outline() })
	return s.outline
}

// Uses reports whether the statement has a keyword, given in upper case, or an operator, given as <> for != and = for
// ==.
func (s *Statement) Uses(what string) bool {
	return slices.ContainsFunc(s.tree().items, func(it item) bool {
		return it.role == roleKeyword && it.up == what || it.Kind == Operator && plainOperator(it.Text) == what
	})
}

// Sorts reports whether the outermost query has an ORDER BY.
func (s *Statement) Sorts() bool {
	p := s.tree()
	return p.main >= 0 && len(p.terms(p.last(), inOrder)) > 0
}

func (p *parsed) outline() (o sqlshape.Outline) {
	seen := map[string]bool{}
	for i := range p.items {
		it := &p.items[i]
		if it.role == roleFunction {
			if name := strings.ToUpper(p.nameOf(i)); !seen[name] {
				seen[name] = true
				o.Functions = append(o.Functions, name)
			}
		}
		o.Natural = o.Natural || it.role == roleKeyword && it.up == "NATURAL"
		if it.role == roleKeyword && it.up == "USING" && p.op(i+1, "(") {
			for j := i + 2; j < p.items[i+1].match; j++ {
				if name := p.nameOf(j); p.items[j].role == roleColumn && !slices.Contains(o.Using, name) {
					o.Using = append(o.Using, name)
				}
			}
		}
		o.IsNull = o.IsNull || it.role == roleKeyword && (it.up == "ISNULL" || it.up == "NULL" && p.up(i-1) == "IS")
	}
	if p.main < 0 {
		return o
	}
	main, last := &p.queries[p.main], p.last()
	for _, a := range p.arms(p.main) {
		if op := p.queries[a].op; op != "" {
			o.SetOps = append(o.SetOps, op)
		}
	}
	o.Having, o.Limit = main.at[inHaving] >= 0, last.at[inLimit] >= 0
	o.GroupBy, o.OrderBy = p.terms(main, inGroup), p.terms(last, inOrder)
	if p.up(main.at[inSelect]) != "SELECT" {
		return o
	}
	start, _ := p.listStart(main)
	_, end, _ := p.clause(main, inSelect)
	for _, part := range p.split(start, end) {
		if part[0] < part[1] {
			it := p.selectItem(part[0], part[1])
			o.Items = append(o.Items, it)
			o.Star = o.Star || it.Star
			o.Aggregates = append(o.Aggregates, it.Aggregates...)
		}
	}
	return o
}

// last returns the last arm of the outer query, which has the ORDER BY and LIMIT of the whole.
func (p *parsed) last() *query {
	arms := p.arms(p.main)
	return &p.queries[arms[len(arms)-1]]
}

// arms returns the queries of the compound that starts with query q.
func (p *parsed) arms(q int) []int {
	arms := []int{q}
	for i := q + 1; i < len(p.queries); i++ {
		if p.queries[i].frame == p.queries[q].frame {
			arms = append(arms, i)
		}
	}
	return arms
}

// clause returns the items of a clause of q, its keyword included.
func (p *parsed) clause(q *query, c clause) (start, end int, ok bool) {
	start, end = q.at[c], q.end
	if start < 0 {
		return 0, 0, false
	}
	for _, other := range q.at {
		if other > start {
			end = min(end, other)
		}
	}
	return start, end, end > start
}

// endOf returns the byte behind item i.
func (p *parsed) endOf(i int) int { return p.items[i].Pos + len(p.items[i].Text) }

// split cuts items[start:end] at its commas outside of brackets.
func (p *parsed) split(start, end int) [][2]int {
	var parts [][2]int
	from := start
	for i := start; i < end; i++ {
		if m := p.items[i].match; m > i && m < end {
			i = m
			continue
		}
		// An array or a struct holds commas, too.
		if p.op(i, "[") || p.op(i, "{") {
			i = p.closeOf(i, end)
			continue
		}
		if p.op(i, ",") {
			parts = append(parts, [2]int{from, i})
			from = i + 1
		}
	}
	if from < end {
		parts = append(parts, [2]int{from, end})
	}
	return parts
}

// closeOf returns the item that closes the [ or { at item i, or the last one.
func (p *parsed) closeOf(i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch {
		case p.op(i, "["), p.op(i, "{"):
			depth++
		case p.op(i, "]"), p.op(i, "}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return end - 1
}

func (p *parsed) terms(q *query, c clause) []string {
	start, end, ok := p.clause(q, c)
	if !ok {
		return nil
	}
	var terms []string
	for _, part := range p.split(min(start+2, end), end) {
		if part[0] < part[1] {
			terms = append(terms, p.sql[p.items[part[0]].Pos:p.endOf(part[1]-1)])
		}
	}
	return terms
}

// listStart returns the first item of the select list of q: behind SELECT and DISTINCT, ALL or DISTINCT ON (…).
func (p *parsed) listStart(q *query) (i int, distinct bool) {
	i = q.at[inSelect] + 1
	switch p.up(i) {
	case "ALL":
		i++
	case "DISTINCT":
		distinct = true
		i++
		if p.up(i) == "ON" && p.op(i+1, "(") && p.items[i+1].match > i {
			i = p.items[i+1].match + 1
		}
	}
	return i, distinct
}

func (p *parsed) selectItem(start, end int) sqlshape.SelectItem {
	var it sqlshape.SelectItem
	if end-start > 1 && p.items[end-1].role == roleAlias {
		it.Alias = p.nameOf(end - 1)
		end--
		if end-start > 1 && p.up(end-1) == "AS" {
			end--
		}
	}
	it.Text = p.sql[p.items[start].Pos:p.endOf(end-1)]
	it.Star = p.op(end-1, "*") && (end-start == 1 || p.op(end-2, "."))
	if p.items[end-1].role == roleColumn && p.isChain(start, end) {
		it.Column = p.nameOf(end - 1)
	}
	it.Aggregates = p.aggregates(start, end)
	return it
}

// isChain reports whether items[start:end] are one column with its qualifiers.
func (p *parsed) isChain(start, end int) bool {
	for i := start; i < end; i++ {
		if r := p.items[i].role; r != roleColumn && r != roleQualif && !p.op(i, ".") {
			return false
		}
	}
	return true
}

// aggregates returns the functions in items[start:end] that aggregate, outside of nested queries.
func (p *parsed) aggregates(start, end int) []string {
	var found []string
	for i := start; i < end; i++ {
		if p.op(i, "(") && p.items[i].match > i && isQueryWord(p.up(i+1)) {
			i = p.items[i].match
			continue
		}
		if p.items[i].role != roleFunction {
			continue
		}
		if name := strings.ToUpper(p.nameOf(i)); aggregates[name] && p.isAggregateCall(name, i) {
			found = append(found, name)
		}
	}
	return found
}

// isAggregateCall tells aggregates from window functions and from the min and max of several values that SQLite has.
func (p *parsed) isAggregateCall(name string, i int) bool {
	open := i + 1
	if !p.op(open, "(") || p.items[open].match < 0 {
		return true
	}
	end := p.items[open].match
	if (name == "MIN" || name == "MAX") && len(p.split(open+1, end)) > 1 {
		return false
	}
	after := end + 1
	if p.up(after) == "FILTER" && p.op(after+1, "(") && p.items[after+1].match > after {
		after = p.items[after+1].match + 1
	}
	return p.up(after) != "OVER"
}
