package bigquery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
)

// named is what a statement, or the text of a view, names before anything is looked up.
type named struct {
	sources   []source
	refs      []guard.Ref
	natural   bool     // what is joined cannot be told from the text
	functions []string // called, in lower case
}

// source is an item of a FROM.
type source struct {
	guard.Source
	names []string // of a table: as the statement writes it, cut at dots
	maybe bool     // it may be something else: a common table expression or an array
}

// bound is what was found of it.
type bound struct {
	*guard.Names
	tables  []ref  // named, whether they are there or not
	outside string // a name that no dataset of the Config can have
}

// bind looks names up. project is that of names without one.
func (c *connector) bind(n *named, project string, of map[ref]*guard.Relation) bound {
	b := bound{Names: &guard.Names{Natural: n.natural, Functions: n.functions}}
	for _, s := range n.sources {
		if s.names != nil {
			r := c.resolve(s.names, project)
			s.Relation = of[r]
			switch inside := slices.Contains(c.datasets, r.dataset); {
			case inside:
				b.tables = append(b.tables, r)
				if s.Relation == nil && !s.maybe {
					b.Lacks(s.names[len(s.names)-1])
				}
			case !s.maybe:
				b.outside = strings.Join(s.names, ".")
			}
		}
		b.Sources = append(b.Sources, s.Source)
	}
	done := map[string]bool{}
	for _, m := range n.refs {
		key := fmt.Sprintf("%q", append([]string{fmt.Sprint(m.Star, m.Select), fold(strings.Join(m.Path, "."))}, m.Except...))
		if !done[key] {
			done[key] = true
			b.Refs = append(b.Refs, b.columns(m)...)
		}
	}
	return b
}

// resolve makes the table of a name of a statement.
func (c *connector) resolve(names []string, project string) ref {
	n := len(names)
	r := ref{c.datasets[0], names[n-1]}
	switch {
	case n == 2:
		r.dataset = dataset{project, names[0]}
		if project == "" {
			r.project = c.client.Project()
		}
	case n > 2:
		r.dataset = dataset{strings.Join(names[:n-2], "."), names[n-2]}
	}
	return r
}

// columns writes one place of the text with the names of columns, which are those of fields too: what reads a part of a
// record reads the column "record.field", and what reads the record reads all of them.
func (b bound) columns(m guard.Ref) (out []guard.Ref) {
	if m.Star && len(m.Path) == 0 {
		m.Except = b.excepted(m.Except)
		return []guard.Ref{m}
	}
	row := len(m.Path) == 1 && slices.ContainsFunc(b.Sources, func(s guard.Source) bool {
		return s.Relation != nil && strings.EqualFold(s.Alias, m.Path[0])
	})
	switch {
	case row: // whatever columns it has, and whatever is called like it
		out = append(out, guard.Ref{Path: m.Path, Star: true, Except: b.excepted(m.Except)})
	case m.Star:
		out = append(out, guard.Ref{Path: m.Path, Star: true})
	}
	for _, s := range b.Sources {
		if s.Relation == nil {
			continue
		}
		for i := range m.Path {
			for _, name := range b.fields(s, m.Path, i) {
				out = append(out, guard.Ref{Path: []string{s.Alias, name}})
			}
		}
	}
	return out
}

// fields are the columns of a source that a path may mean whose part i is one of their names.
func (b bound) fields(s guard.Source, path []string, i int) (found []string) {
	behind := i > 0 && strings.EqualFold(path[i-1], s.Alias)
	first := i == 0 || behind
	other := i > 0 && slices.ContainsFunc(b.Sources, func(o guard.Source) bool {
		return strings.EqualFold(o.Alias, path[i-1])
	})
	t := s.Relation.Own.(*table)
	for _, k := range t.parts[fold(path[i])] {
		of := t.columns[k].path
		n := min(len(of), len(path)-i)
		whole := first && slices.EqualFunc(path[i:i+n], of[:n], strings.EqualFold)
		if whole || i == len(path)-1 && (first || !other) {
			found = append(found, t.columns[k].name)
		}
	}
	return found
}

// excepted are the columns that a star leaves out by the names of columns and records.
func (b bound) excepted(names []string) (out []string) {
	if len(names) == 0 {
		return nil
	}
	for _, r := range b.Relations() {
		for _, c := range r.Own.(*table).columns {
			if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, c.path[0]) }) {
				out = append(out, c.name)
			}
		}
	}
	return out
}
