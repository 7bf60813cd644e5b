package sqltext

import (
	"cmp"
	"strconv"
	"strings"
)

// Template masks the differences between two instances of one question:
//
//   - Every string, number and blob becomes ? (with its sign).
//   - Names are in lower case, without quotes and without qualifiers.
//   - CTEs become t1, t2, … and aliases of columns c1, c2, …, in the order of first use.
//   - Comments, semicolons and the declarations of aliases are dropped: s.name of singer AS s becomes name.
//
// Two statements with equal templates follow one pattern with different constants. A leakage guard, and a bootstrap by
// template, use it as their unit. In a dialect in which "x" may be a string, an unqualified "x" next to a comparison
// counts as a string. The form is similar to the leakage guard in 2.METHODOLOGY.md of MacKenzieOBrian/NLtoSQL, but
// computed from tokens instead of regular expressions.
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
		case it.isOperator(";"), it.isOperator("."), it.isName() && p.op(i+1, "."), it.role == roleAlias:
		case it.role == roleKeyword && p.up(i) == "AS" && p.item(i+1).role == roleAlias:
		case (p.op(i, "-") || p.op(i, "+")) && p.item(i+1).Kind == Number && !p.endsOperand(i-1): // a sign
		case it.Kind == Operator:
			w.write(Operator, plainOperator(it.Text))
		case it.Kind == String, it.Kind == Number, it.Kind == Blob, masked[i]:
			w.write(Placeholder, "?")
		case it.Kind == Word && it.role == roleKeyword:
			w.write(Word, strings.ToLower(it.Text))
		case it.Kind == Word, it.Kind == QuotedName:
			w.write(it.Kind, names.rename(p, i, asciiLower(p.nameOf(i))))
		default:
			w.write(it.Kind, it.Text)
		}
	}
	return w.b.String()
}

// aliasNames numbers the aliases of a statement by first use.
type aliasNames struct {
	prefix map[string]string // of each alias in lower case: t for tables and CTEs, c for columns
	lists  map[string]int    // alias of a column -> the query that defines it
	to     map[string]string // the new names
	used   map[string]int    // by prefix
}

func (p *parsed) aliases() *aliasNames {
	n := &aliasNames{map[string]string{}, map[string]int{}, map[string]string{}, map[string]int{}}
	for _, t := range p.tables {
		n.prefix[asciiLower(t.Alias)] = "t"
	}
	for _, c := range p.ctes {
		n.prefix[c.name] = "t"
	}
	for i := range p.items {
		if it := &p.items[i]; it.role == roleAlias || it.role == roleCTE {
			if name := asciiLower(p.nameOf(i)); n.prefix[name] != "t" {
				n.prefix[name], n.lists[name] = "c", it.query
			}
		}
	}
	return n
}

// rename returns the new name of item i, or its old one if it is not an alias.
func (n *aliasNames) rename(p *parsed, i int, name string) string {
	prefix := n.prefix[name]
	switch it := &p.items[i]; it.role {
	case roleTable:
		if prefix != "t" || !p.isCTE(name, i) {
			return name
		}
	case roleColumn:
		// An alias is not seen in the list that defines it: name AS name.
		if prefix != "c" || it.query >= 0 && n.lists[name] == it.query && p.inList(i, it.query) {
			return name
		}
	case roleCTE:
	default:
		return name
	}
	if n.to[name] == "" && prefix != "" {
		n.used[prefix]++
		n.to[name] = prefix + strconv.Itoa(n.used[prefix])
	}
	return cmp.Or(n.to[name], name)
}

// inList reports whether item i is in the select list of query q.
func (p *parsed) inList(i, q int) bool {
	at := &p.queries[q].at
	return at[inSelect] >= 0 && i > at[inSelect] && (at[inFrom] < 0 || i < at[inFrom])
}
