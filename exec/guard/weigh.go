package guard

import (
	"cmp"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// size finds what a view adds to a statement, with the views under it. One that names itself adds nothing there.
func (c *Catalog) size(r *Relation) sqlshape.Expansion {
	if !r.sized && r.Definition != "" {
		r.sized = true
		r.expansion = c.Text.Parse(r.Definition).Expand(c.expansionOf)
	}
	return r.expansion
}

// written are the views that an engine writes out.
func (c *Catalog) written() (all []*Relation) {
	if c.applied {
		return c.defined
	}
	for _, r := range c.Relations {
		if r.Definition != "" {
			all = append(all, r)
		}
	}
	return all
}

// expansionOf tells what a view adds to a statement where it is written out, for sqltext.Statement.Expand.
func (c *Catalog) expansionOf(in, name string) (e sqlshape.Expansion, ok bool) {
	for _, r := range c.written() {
		if !schema.EqualFold(r.Name, name) || in != "" && !schema.EqualFold(r.Schema, in) {
			continue
		}
		if size := c.size(r); !ok || size.Added > e.Added {
			e, ok = size, true
		}
	}
	return e, ok
}

// mostAdded is how many tokens an engine may add to a statement by writing out what it names twice. Engines do so
// before they look at any limit of their own. Of 46,387 statements of people and models none adds a fifth of it. Views
// that are written out count for themselves, twice: what their owner made large is no attack. With them no statement
// may add over Catalog.MostExpanded.
const (
	mostAdded    = 10_000
	mostExpanded = 300_000
)

// Weigh refuses a statement that becomes too large when its common table expressions, views and subqueries are
// written out. A guard may call it before Apply, for its own query, if Text and Relations are filled in.
func (c *Catalog) Weigh(s *sqltext.Statement) (sqlshape.Expansion, error) {
	if c.applied && len(c.defined) == 0 && len(s.SQL()) < 2000 {
		if text := schema.FoldCase(s.SQL()); strings.Count(text, "select")+strings.Count(text, "values")+
			strings.Count(text, "table") <= 1 {
			return sqlshape.Expansion{}, nil // too little to grow
		}
	}
	views := 0
	e := s.Expand(func(in, name string) (sqlshape.Expansion, bool) {
		e, ok := c.expansionOf(in, name)
		views += e.Added
		return e, ok
	})
	added, most := e.Added, min(mostAdded+2*views, cmp.Or(c.MostExpanded, mostExpanded))
	if views > 0 && added <= most { // what its author multiplies is bounded however large the views are
		if alone := s.Expand(nil).Added; alone > mostAdded {
			added, most = alone, mostAdded
		}
	}
	if c.MostBeside > 0 && added <= most && e.Beside > c.MostBeside {
		added, most = e.Beside, c.MostBeside
	}
	if added > most {
		return e, Refuse("too-complex", "the engine writes a subquery, view or column out at each place that uses it, "+
			"which would add %d tokens; at most %d may be added", added, most)
	}
	return e, nil
}
