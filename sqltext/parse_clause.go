package sqltext

import "github.com/texttosql/texttosql/internal/sqlshape"

// keyword handles the word at item i where it is a keyword and returns the item to go on with, or i where it is a name.
func (p *parser) keyword(i int) int {
	f := p.top()
	it := &p.items[i]
	running := f.kind == queryFrame && f.query >= 0 && f.query != f.parent
	if f.kind == queryFrame {
		switch it.up {
		case "SELECT":
			// FROM t SELECT a (DuckDB) goes on with its query.
			if running && f.clause == inFrom && p.queries[f.query].at[inSelect] < 0 {
				p.enter(i, inSelect)
			} else {
				p.begin(i, inSelect)
			}
			return p.mark(i)
		case "VALUES":
			p.begin(i, inSelect)
			return p.mark(i)
		case "TABLE": // TABLE t is SELECT * FROM t
			if !running || f.clause == inNone {
				p.begin(i, inFrom)
				return p.mark(i)
			}
		case "WITH":
			if !running {
				f.clause, f.name = inWith, true
				return p.mark(i)
			}
		case "FROM":
			if prev := p.up(i - 1); prev == "DISTINCT" && (p.up(i-2) == "IS" || p.up(i-2) == "NOT") {
				return p.mark(i)
			}
			if !running {
				p.begin(i, inFrom)
			} else {
				p.enter(i, inFrom)
				f.expect = true
			}
			return p.mark(i)
		case "UNION", "EXCEPT", "INTERSECT", "MINUS":
			if p.op(i-1, "*") || it.up == "MINUS" && !isQueryWord(p.up(i+1)) { // SELECT * EXCEPT (a)
				break
			}
			op := it.up
			if p.up(i+1) == "ALL" {
				op += " ALL"
			}
			if running {
				q := &p.queries[f.query]
				q.op, q.end = op, i
			} else if p.op(i-1, ")") && p.closed >= 0 { // (SELECT …) UNION
				p.queries[p.closed].op = op
			}
			f.clause, f.expect = inNone, false
			return p.mark(i)
		}
		if c := clauseOf(it.up, p.up(i+1)); c != inNone && running && p.opens(i, f.clause) {
			p.enter(i, c)
			return p.mark(i)
		}
	}
	switch it.up {
	case "JOIN", "STRAIGHT_JOIN":
		if f.clause == inFrom || f.kind == fromFrame {
			f.expect = true
			p.join(f)
		}
	case "USING":
		if p.op(i+1, "(") && (f.clause == inFrom || f.kind == fromFrame) {
			p.mark(i)
			return p.usingList(i + 1)
		}
	}
	if sqlshape.Reserved[it.up] && !(p.op(i+1, "(") && !isNoFunction(it.up)) || p.contextual(i) {
		return p.mark(i)
	}
	return i
}

func (p *parser) mark(i int) int {
	p.items[i].role = roleKeyword
	return i + 1
}

func clauseOf(word, next string) clause {
	switch word {
	case "WHERE":
		return inWhere
	case "GROUP":
		if next == "BY" {
			return inGroup
		}
	case "HAVING":
		return inHaving
	case "QUALIFY":
		return inQualify
	case "WINDOW":
		return inWindow
	case "ORDER":
		if next == "BY" {
			return inOrder
		}
	case "LIMIT", "OFFSET", "FETCH":
		return inLimit
	}
	return inNone
}

// opens reports whether the keyword at item i opens its clause behind clause last. Some are names to engines that do
// not have the clause, or only where the clause cannot be.
func (p *parser) opens(i int, last clause) bool {
	switch p.items[i].up {
	case "WINDOW":
		return p.up(i+2) == "AS"
	case "FETCH":
		return p.up(i+1) == "FIRST" || p.up(i+1) == "NEXT"
	case "OFFSET", "QUALIFY":
		next := p.item(i + 1)
		if last == inSelect || next.Text == "" {
			return false
		}
		return next.Kind != Operator && !sqlshape.Reserved[next.up] || next.Text == "(" || next.Text == "-"
	}
	return true
}

// enter opens a clause of the query that runs.
func (p *parser) enter(i int, c clause) {
	f := p.top()
	f.clause, f.expect = c, false
	if q := &p.queries[f.query]; q.at[c] < 0 {
		q.at[c] = i
	}
}

// contextual reports whether the word at item i, which is not reserved, is a keyword where it stands.
func (p *parser) contextual(i int) bool {
	prev, next, behind := p.up(i-1), p.up(i+1), p.item(i+1).Kind
	switch p.items[i].up {
	case "FIRST", "LAST":
		return prev == "NULLS"
	case "NULLS":
		return next == "FIRST" || next == "LAST"
	case "ROWS", "RANGE", "GROUPS":
		return next == "BETWEEN" || next == "UNBOUNDED" || next == "CURRENT" || behind == Number
	case "UNBOUNDED":
		return next == "PRECEDING" || next == "FOLLOWING"
	case "PRECEDING", "FOLLOWING":
		return prev == "UNBOUNDED" || prev == "ROW" || p.item(i-1).Kind == Number
	case "CURRENT":
		return next == "ROW"
	case "ROW":
		return prev == "CURRENT"
	case "FILTER":
		return p.op(i+1, "(") && p.op(i-1, ")")
	case "WITHIN":
		return next == "GROUP"
	case "MATERIALIZED":
		return prev == "AS" || prev == "NOT"
	case "TO":
		return prev == "SIMILAR"
	case "UNKNOWN":
		return prev == "IS" || prev == "NOT"
	case "AT":
		return next == "TIME"
	case "ZONE":
		return prev == "TIME"
	case "TIME":
		return prev == "AT" && next == "ZONE" || behind == String
	case "MATCH", "SEPARATOR", "DATE", "TIMESTAMP", "DATETIME", "TIMESTAMPTZ", "NUMERIC", "JSON", "N", "_UTF8", "_UTF8MB4":
		return behind == String
	case "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR":
		// INTERVAL 1 DAY, EXTRACT(YEAR FROM x), TIMESTAMPDIFF(YEAR, a, b)
		call := p.top().call
		return p.up(i-2) == "INTERVAL" || p.op(i-1, "(") && (call == "EXTRACT" || call == "TIMESTAMPDIFF" ||
			call == "TIMESTAMPADD")
	}
	return false
}
