package sqltext

// Hardness grades a query as "easy", "medium", "hard" or "extra" with the rules of Spider's official scorer
// (taoyds/spider, evaluation.py), including its quirks. It reads tokens instead of the scorer's own parse.
//
// C1 counts WHERE, GROUP BY, ORDER BY, LIMIT, joins, and OR and LIKE in conditions. C2 counts nested queries outside of
// FROM, set operations and CTEs. O counts which of four things occur more than once: aggregates, select items,
// conditions in WHERE, GROUP BY terms. By a quirk, NOT in WHERE and NOT, AND, OR in HAVING count as aggregates, and
// aggregates in HAVING do not.
//
//	easy    C1 ≤ 1, O = 0, C2 = 0
//	medium  C2 = 0 and (O ≤ 2 and C1 ≤ 1, or O < 2 and C1 ≤ 2)
//	hard    C2 = 0 and (O > 2 and C1 ≤ 2, or C1 = 3 and O ≤ 2),
//	        or C2 ≤ 1, C1 ≤ 1 and O = 0
//	extra   everything else
//
// For a compound, the first SELECT is graded. Nested queries in the select list and in ORDER BY count, although the
// scorer cannot parse them. Text that is not a SELECT is extra.
func (s *Statement) Hardness() string {
	p := s.tree()
	if p.main < 0 || p.up(p.queries[p.main].at[inSelect]) != "SELECT" {
		return "extra"
	}
	c1, c2, others := p.rubric(&p.queries[p.main])
	switch {
	case c1 <= 1 && others == 0 && c2 == 0:
		return "easy"
	case c2 == 0 && (others <= 2 && c1 <= 1 || others < 2 && c1 <= 2):
		return "medium"
	case c2 == 0 && (others > 2 && c1 <= 2 || c1 == 3 && others <= 2), c2 <= 1 && c1 <= 1 && others == 0:
		return "hard"
	}
	return "extra"
}

// rubric counts Spider's two kinds of components and its "others" in q.
func (p *parsed) rubric(q *query) (c1, c2, others int) {
	c1, c2 = q.joins, len(p.ctes)
	if len(p.arms(p.main)) > 1 || q.op != "" {
		c2++
	}
	for _, c := range []clause{inWhere, inGroup, inOrder, inLimit} {
		if q.at[c] >= 0 {
			c1++
		}
	}
	from, where, having := p.wordsIn(q, inFrom), p.wordsIn(q, inWhere), p.wordsIn(q, inHaving)
	for _, words := range []map[string]int{from, where, having} {
		c1 += words["OR"] + words["LIKE"]
	}
	frames := map[int]bool{}
	for i := range p.queries {
		n := &p.queries[i]
		if n.parent == p.main && !n.source && !n.cte && !frames[n.frame] {
			frames[n.frame] = true
			c2++
		}
	}
	aggregates := where["NOT"] + having["NOT"] + having["AND"] + having["OR"]
	counts := map[clause]int{}
	for _, c := range []clause{inSelect, inGroup, inOrder} {
		start, end, ok := p.clause(q, c)
		if !ok {
			continue
		}
		if c == inSelect {
			start, _ = p.listStart(q)
		} else {
			start += 2
		}
		for _, part := range p.split(min(start, end), end) {
			counts[c]++
			if p.callsAggregate(part[0], part[1]) {
				aggregates++
			}
		}
	}
	conditions := 0
	if q.at[inWhere] >= 0 {
		conditions = 1 + where["AND"] + where["OR"]
	}
	for _, many := range []int{aggregates, counts[inSelect], conditions, counts[inGroup]} {
		if many > 1 {
			others++
		}
	}
	return c1, c2, others
}

// wordsIn counts the keywords in a clause of q outside of nested queries, without the AND of BETWEEN.
func (p *parsed) wordsIn(q *query, c clause) map[string]int {
	words := map[string]int{}
	start, end, ok := p.clause(q, c)
	if !ok {
		return words
	}
	between := 0
	for i := start; i < end; i++ {
		it := &p.items[i]
		if it.role != roleKeyword || it.query < 0 || &p.queries[it.query] != q {
			continue
		}
		switch {
		case it.up == "BETWEEN":
			between++
		case it.up == "AND" && between > 0:
			between--
			continue
		}
		words[it.up]++
	}
	return words
}

// callsAggregate reports whether items[start:end] call one of the five functions of the rubric outside of nested
// queries.
func (p *parsed) callsAggregate(start, end int) bool {
	for _, name := range p.aggregates(start, end) {
		switch name {
		case "MAX", "MIN", "COUNT", "SUM", "AVG":
			return true
		}
	}
	return false
}
