package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Rewrite returns the text of the statement after the changes of r, token by token. All other text stays as it is,
// except comments between the tokens. ok is false if nothing changes. If the changes affect a select list or GROUP
// BY, ok is also false for a compound and for a statement that is not a SELECT. The result is not checked.
func (s *Statement) Rewrite(r sqlshape.Rewrite) (sql string, ok bool) {
	p := s.tree()
	if p.main < 0 {
		return "", false
	}
	main, last := &p.queries[p.main], p.last()
	inner := r.NoGroup || r.Items != nil
	if inner && (len(p.arms(p.main)) > 1 || p.up(main.at[inSelect]) != "SELECT") {
		return "", false
	}
	type cut struct {
		from, to int // bytes
		text     string
	}
	var cuts []cut
	drop := func(q *query, c clause) {
		if start, end, ok := p.clause(q, c); ok {
			cuts = append(cuts, cut{p.items[start].Pos, p.endOf(end - 1), ""})
		}
	}
	if start, _ := p.listStart(main); r.Items != nil {
		if _, end, _ := p.clause(main, inSelect); start < end {
			cuts = append(cuts, cut{p.items[start].Pos, p.endOf(end - 1), strings.Join(r.Items, ", ")})
		}
	}
	if r.NoGroup {
		drop(main, inGroup)
	}
	if r.NoOrder {
		drop(last, inOrder)
	}
	if r.NoLimit {
		drop(last, inLimit)
	}
	for i, it := range p.items {
		text, changed := r.Texts[s.d.Value(it.Token)]
		if changed && it.Kind == String && !strings.ContainsAny(text, "\\\x00") {
			cuts = append(cuts, cut{it.Pos, p.endOf(i), "'" + strings.ReplaceAll(text, "'", "''") + "'"})
		}
	}
	cuts = slices.DeleteFunc(cuts, func(c cut) bool { // inside of what another one drops
		return slices.ContainsFunc(cuts, func(o cut) bool { return o != c && o.from <= c.from && c.to <= o.to })
	})
	slices.SortFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		b.WriteString(p.sql[at:c.from] + c.text)
		at = c.to
	}
	b.WriteString(p.sql[at:])
	sql = strings.TrimSpace(b.String())
	return sql, sql != strings.TrimSpace(p.sql)
}
