package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// cte reads the head of a list item of WITH: name, columns, AS.
func (p *parser) cte(i int) int {
	f := p.top()
	f.name = false
	p.items[i].role = roleCTE
	p.ctes = append(p.ctes, span{name: strings.ToLower(p.nameOf(i)), from: i, to: f.until})
	i++
	if p.op(i, "(") && p.items[i].match > 0 {
		i = p.markNames(i, roleCTE)
	}
	return i
}

// markNames gives the names in the bracket at item i a role and returns the item behind the bracket.
func (p *parser) markNames(i int, r role) int {
	end := p.items[i].match
	for j := i + 1; j < end; j++ {
		if p.items[j].isName() {
			p.items[j].role = r
		}
	}
	return end + 1
}

// table reads a table in FROM with its alias.
func (p *parser) table(i int) int {
	f := p.top()
	if w := p.up(i); (w == "LATERAL" || w == "ONLY" || w == "TABLE") && !p.op(i+1, ".") {
		return p.mark(i)
	}
	f.expect = false
	if !p.mayName(i) && p.items[i].Kind != String && !p.op(i+1, ".") && !p.op(i+1, "(") && clauseWords[p.up(i)] {
		return i // a keyword where a table should be
	}
	ref := sqlshape.TableRef{Pos: p.items[i].Pos}
	var parts []string
	start := i
	for {
		parts = append(parts, p.nameOf(i))
		p.items[i].role, p.items[i].query = roleTable, f.query
		i++
		if !p.op(i, ".") || !p.item(i+1).isName() {
			break
		}
		i++
	}
	ref.Name = parts[len(parts)-1]
	ref.Schema = strings.Join(parts[:len(parts)-1], ".")
	if p.op(i, "(") {
		ref.Function = true
		p.items[i-1].role = roleFunction
		p.called = &ref
		return i
	}
	if len(parts) == 1 {
		ref.CTE = p.isCTE(parts[0], start)
	}
	return p.alias(i, ref)
}

func (p *parsed) isCTE(name string, at int) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(p.ctes, func(s span) bool {
		return s.name == name && s.from < at && at < s.to
	})
}

// alias reads the alias of a table that ends before item i and keeps the table.
func (p *parser) alias(i int, ref sqlshape.TableRef) int {
	if p.up(i) == "AS" && i+1 < len(p.items) {
		p.mark(i)
		i++
		if it := &p.items[i]; it.isName() || it.Kind == String {
			ref.Alias = p.nameOf(i)
			it.role = roleAlias
			i++
		}
	} else if p.mayName(i) && (p.items[i].Kind == QuotedName || !tableEnds[p.up(i)] && !p.op(i+1, ".")) {
		ref.Alias = p.nameOf(i)
		p.items[i].role = roleAlias
		i++
	}
	if ref.Alias != "" && p.op(i, "(") && p.items[i].match > 0 && p.items[i-1].role == roleAlias {
		i = p.markNames(i, roleAlias) // AS x(a, b)
	}
	ref.Query = p.top().query
	if q := ref.Query; q >= 0 {
		p.queries[q].tables = append(p.queries[q].tables, len(p.tables))
	}
	p.tables = append(p.tables, ref)
	return i
}

// usingList reads the columns of USING (…), whose bracket is item i.
func (p *parser) usingList(i int) int {
	end := p.items[i].match
	if end < 0 {
		return i
	}
	for j := i + 1; j < end; j++ {
		if it := &p.items[j]; it.isName() {
			it.role, it.query = roleColumn, p.top().query
			p.columns = append(p.columns, column{start: j, end: j + 1, query: it.query})
		}
	}
	return end + 1
}
