package sqltext

import "strings"

// name reads a name that is no table: a column with its qualifier, a function, an alias, a type.
func (p *parser) name(i int) int {
	f := p.top()
	start := i
	for p.op(i+1, ".") && i+2 < len(p.items) {
		next := &p.items[i+2]
		if next.isOperator("*") { // t.*
			p.qualify(start, i+1)
			return i + 3
		}
		if !next.isName() {
			break
		}
		i += 2
	}
	last := &p.items[i]
	for j := start; j <= i; j++ {
		p.items[j].query = f.query
	}
	prev := p.up(start - 1)
	switch {
	case p.op(i+1, "("):
		last.role = roleFunction
		p.qualify(start, i)
		return i + 1
	case prev == "AS" && (f.call == "CAST" || f.call == "TRY_CAST" || f.call == "SAFE_CAST"),
		prev == "COLLATE", prev == "OVER", p.op(start-1, "::"):
		last.role = roleType
		return i + 1
	case prev == "AS", f.clause == inWindow && f.kind == queryFrame:
		last.role = roleAlias
		return i + 1
	case start == i && f.kind == queryFrame && f.clause == inSelect && p.endsOperand(start-1):
		last.role = roleAlias
		return i + 1
	case start > 0 && p.items[start-1].role == roleType && last.Kind == Word: // double precision
		last.role = roleType
		return i + 1
	}
	p.qualify(start, i)
	last.role = roleColumn
	p.columns = append(p.columns, column{start: start, end: i + 1, query: f.query})
	return i + 1
}

// qualify marks items[start:end], names and dots, as qualifiers.
func (p *parser) qualify(start, end int) {
	for j := start; j < end; j++ {
		p.items[j].query = p.top().query
		if !p.op(j, ".") {
			p.items[j].role = roleQualif
		}
	}
}

// endsOperand reports whether an operand ends with item i, so that a name behind it can only be an alias.
func (p *parsed) endsOperand(i int) bool {
	it := p.item(i)
	switch it.Kind {
	case String, Number, Blob, Placeholder:
		return true
	case Operator:
		if it.Text == ")" && it.match >= 0 && p.up(it.match-1) == "ON" && p.up(it.match-2) == "DISTINCT" {
			return false
		}
		return it.Text == ")" || it.Text == "]"
	}
	return it.role == roleColumn || it.role == roleType || it.up == "END" || it.up == "NULL" || it.up == "TRUE" ||
		it.up == "FALSE" ||
		strings.HasPrefix(it.up, "CURRENT_")
}
