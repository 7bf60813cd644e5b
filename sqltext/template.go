package sqltext

import (
	"fmt"
	"strings"
)

// Template masks what differs between two instances of one question: every string, number and blob becomes ? (with its
// sign), names are in lower case and without quotes, aliases of tables and CTEs are t1, t2, …, those of columns c1, c2,
// …, by first use, comments and semicolons are dropped.
//
// Two statements with equal templates are one pattern with other constants: the unit of a leakage guard and of a
// bootstrap by template. In a dialect in which "x" may be a string, an unqualified "x" beside a comparison counts as
// one. The form is that of the leakage guard in 2.METHODOLOGY.md of MacKenzieOBrian/NLtoSQL, told by tokens instead of
// regular expressions.
func (s *Statement) Template() string {
	p := s.tree()
	masked := make(map[int]bool) // quoted names that stand for strings
	for _, c := range p.columns {
		if i := c.end - 1; p.stringLike(i) && p.isOperand(c) {
			masked[i] = true
		}
	}
	names := p.aliases()
	w := writer{d: p.d}
	for i := range p.items {
		it := &p.items[i]
		switch {
		case it.isOperator(";"):
		case it.Kind == Operator && (it.Text == "-" || it.Text == "+") && i+1 < len(p.items) && p.items[i+1].Kind == Number && !p.endsOperand(i-1):
			// the sign of the number behind it
		case it.Kind == Operator:
			w.write(Operator, plainOperator(it.Text))
		case it.Kind == String, it.Kind == Number, it.Kind == Blob, masked[i]:
			w.write(Placeholder, "?")
		case it.Kind == Word && it.role == roleKeyword:
			w.write(Word, strings.ToLower(it.Text))
		case it.Kind == Word, it.Kind == QuotedName:
			name := asciiLower(p.nameOf(i))
			if to := names.rename(p, i, name); to != "" {
				name = to
			}
			w.write(it.Kind, name)
		default:
			w.write(it.Kind, it.Text)
		}
	}
	return w.b.String()
}

// aliasNames numbers the aliases of a statement by first use.
type aliasNames struct {
	tables, columns map[string]string // alias in lower case -> new name; "" until it is used
	lists           map[string]int    // alias of a column -> the query that defines it
	used            [2]int
}

func (p *parsed) aliases() *aliasNames {
	n := &aliasNames{tables: map[string]string{}, columns: map[string]string{}, lists: map[string]int{}}
	for _, t := range p.tables {
		if t.Alias != "" {
			n.tables[asciiLower(t.Alias)] = ""
		}
	}
	for _, c := range p.ctes {
		n.tables[c.name] = ""
	}
	for i := range p.items {
		if it := &p.items[i]; it.role == roleAlias || it.role == roleCTE {
			name := asciiLower(p.nameOf(i))
			if _, ok := n.tables[name]; !ok {
				n.columns[name], n.lists[name] = "", it.query
			}
		}
	}
	return n
}

// rename returns the new name of item i, or "" where it is no alias.
func (n *aliasNames) rename(p *parsed, i int, name string) string {
	it := &p.items[i]
	switch it.role {
	case roleQualif, roleTable:
		// A CTE's name stands where tables do; a base table that is called like an alias of another one keeps its name.
		if it.role == roleTable && !p.isCTE(name, i) {
			return ""
		}
		return n.number(n.tables, name, "t", 0)
	case roleAlias, roleCTE:
		if to := n.number(n.tables, name, "t", 0); to != "" {
			return to
		}
		return n.number(n.columns, name, "c", 1)
	case roleColumn:
		// An alias is not seen in the list that defines it: name AS name.
		if q := it.query; q >= 0 && n.lists[name] == q && p.inList(i, q) {
			return ""
		}
		return n.number(n.columns, name, "c", 1)
	}
	return ""
}

func (n *aliasNames) number(of map[string]string, name, prefix string, kind int) string {
	to, ok := of[name]
	if !ok {
		return ""
	}
	if to == "" {
		n.used[kind]++
		to = fmt.Sprintf("%s%d", prefix, n.used[kind])
		of[name] = to
	}
	return to
}

// inList reports whether item i is in the select list of query q.
func (p *parsed) inList(i, q int) bool {
	from := p.queries[q].at[inFrom]
	return p.queries[q].at[inSelect] >= 0 && i > p.queries[q].at[inSelect] && (from < 0 || i < from)
}
