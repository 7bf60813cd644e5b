package knowledge

import (
	"slices"
	"strings"
)

// step is one relationship on a way: from many to one, or backwards over one that is one to one.
type step struct {
	relationship int
	back         bool
}

// way leads from a table to another, of whose rows each of the first has at most one.
type way []step

// target is what a qualifier names: a table, or the To of one relationship.
type target struct {
	table        int
	relationship int // -1: any way to the table
}

// graph is the tables and relationships of a model.
type graph struct {
	m     *Model
	edges [][]edge // by table: where its rows lead
}

type edge struct {
	step
	to int
}

func newGraph(m *Model) *graph {
	g := &graph{m: m, edges: make([][]edge, len(m.Tables))}
	for i, r := range m.Relationships {
		from, to := m.table(r.From), m.table(r.To)
		if from < 0 || to < 0 || len(r.On) == 0 {
			continue
		}
		g.edges[from] = append(g.edges[from], edge{step{i, false}, to})
		if m.hasKey(from, r.columns(0)) && from != to {
			g.edges[to] = append(g.edges[to], edge{step{i, true}, from})
		}
	}
	return g
}

// table returns the index of a table by its name; -1: there is none.
func (m *Model) table(name string) int {
	if i := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(m.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) })
}

// hasKey reports whether no two rows of a table share the values of the columns, by its keys.
func (m *Model) hasKey(table int, columns []string) bool {
	return slices.ContainsFunc(m.Tables[table].Keys, func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(c string) bool { return !containsFold(columns, c) })
	})
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// columns are those of From (0) or To (1).
func (r *Relationship) columns(side int) []string {
	var names []string
	for _, pair := range r.On {
		names = append(names, pair[side])
	}
	return names
}

// label names a relationship for people; no two have the same.
func (r *Relationship) label() string {
	if r.Name != "" {
		return r.Name
	}
	return r.From + "." + strings.Join(r.columns(0), ",") + " -> " + r.To + "." + strings.Join(r.columns(1), ",")
}

// target finds what a qualifier names.
func (g *graph) target(qualifier string) (target, bool) {
	if t := g.m.table(qualifier); t >= 0 {
		return target{t, -1}, true
	}
	for i, r := range g.m.Relationships {
		if r.Name != "" && strings.EqualFold(r.Name, qualifier) {
			if to := g.m.table(r.To); to >= 0 && g.m.table(r.From) >= 0 {
				return target{to, i}, true
			}
		}
	}
	return target{}, false
}

// targetNames are those of all targets.
func (g *graph) targetNames() (list []string) {
	for _, t := range g.m.Tables {
		list = append(list, t.Name)
	}
	for _, r := range g.m.Relationships {
		list = append(list, r.Name)
	}
	return list
}

// anchor is the table whose rows the columns of a target belong to.
func (g *graph) anchor(t target) int {
	if t.relationship >= 0 {
		return g.m.table(g.m.Relationships[t.relationship].From)
	}
	return t.table
}

// ways returns the shortest ways from a table to a target: none, the one, or several of equal length.
func (g *graph) ways(from int, to target) []way {
	if to.relationship < 0 {
		return g.shortest(from, to.table)
	}
	found := g.shortest(from, g.anchor(to))
	for i, w := range found {
		found[i] = append(slices.Clip(w), step{to.relationship, false})
	}
	return found
}

// maxWays is how many ways of one length are followed: two are ambiguous already.
const maxWays = 8

func (g *graph) shortest(from, to int) []way {
	type end struct {
		at  int
		way way
	}
	seen := map[int]bool{from: true}
	for level := []end{{from, nil}}; len(level) > 0; {
		var found []way
		var next []end
		count := map[int]int{}
		for _, e := range level {
			if e.at == to {
				found = append(found, e.way)
			}
			for _, edge := range g.edges[e.at] {
				if seen[edge.to] || count[edge.to] == maxWays {
					continue
				}
				count[edge.to]++
				next = append(next, end{edge.to, append(slices.Clip(e.way), edge.step)})
			}
		}
		if len(found) > 0 {
			return found
		}
		for t := range count {
			seen[t] = true
		}
		level = next
	}
	return nil
}

// reach is how a table reaches several targets.
type reach uint8

const (
	reached reach = iota
	ambiguous
	unreachable
)

// reaches says how a table reaches all targets, and which one is the matter if it does not.
func (g *graph) reaches(from int, targets []target) (reach, target) {
	worst, which := reached, target{}
	for _, t := range targets {
		r := unreachable
		switch ways := g.ways(from, t); {
		case len(ways) == 1:
			r = reached
		case len(ways) > 1:
			r = ambiguous
		}
		if r > worst {
			worst, which = r, t
		}
	}
	return worst, which
}

// finest returns the table with the fewest rows of those that reach all targets: none of the others that do is on its
// way. Several, or none, are a reason.
func (g *graph) finest(targets []target) (table int, r reach, ways []string) {
	var all []int
	for t := range g.m.Tables {
		switch r, _ := g.reaches(t, targets); r {
		case reached:
			all = append(all, t)
		case ambiguous:
			ways = append(ways, g.m.Tables[t].Name)
		}
	}
	var finest []int
	for _, t := range all {
		passes := func(other int) bool {
			onWay := other != t && len(g.shortest(t, other)) > 0
			oneToOne := onWay && len(g.shortest(other, t)) > 0
			return onWay && (!oneToOne || other < t)
		}
		if !slices.ContainsFunc(all, passes) {
			finest = append(finest, t)
		}
	}
	switch {
	case len(finest) == 1:
		return finest[0], reached, nil
	case len(finest) > 1:
		ways = nil
		for _, t := range finest {
			ways = append(ways, g.m.Tables[t].Name)
		}
		return 0, ambiguous, ways
	case len(ways) > 0:
		return 0, ambiguous, ways
	}
	return 0, unreachable, nil
}

// names writes ways for a person: by the names of relationships, or by the columns that they start with.
func (g *graph) names(ways []way) []string {
	var out []string
	for _, w := range ways {
		var parts []string
		for _, s := range w {
			r := &g.m.Relationships[s.relationship]
			parts = append(parts, r.label())
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return out
}
