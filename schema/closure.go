package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/texttosql/texttosql/internal/prompttext"
)

// index finds tables by name in constant time. A table is given as its place in the schema.
type index struct {
	s     *Schema
	first map[string]int32 // by folded name as it is shown, without a schema
	more  []int32          // by table: the next one of that folded name; 0: none
}

// index makes the index of s. Its lookup agrees with [Schema.Lookup].
func (s *Schema) index() *index {
	n := len(s.Tables)
	x := &index{s, make(map[string]int32, n), make([]int32, n)}
	for i := n - 1; i >= 0; i-- {
		name := FoldCase(prompttext.ShownName(s.Tables[i].Name))
		if next, ok := x.first[name]; ok {
			x.more[i] = next
		}
		x.first[name] = int32(i)
	}
	return x
}

// lookup is Schema.Lookup; -1 is not found.
func (x *index) lookup(schema, name string) int {
	i, ok := x.first[FoldCase(prompttext.ShownName(name))]
	if !ok {
		return -1
	}
	standard := x.s.Default != "" && EqualFold(schema, x.s.Default)
	best, rank := -1, 5
	for first := true; first || i > 0; i, first = x.more[i], false {
		t, r := &x.s.Tables[i], 5
		switch {
		case t.Schema == schema && t.Name == name:
			return int(i)
		case sameName(t.Schema, schema):
			r = 1
		case standard && t.Schema == "" && t.Name == name:
			r = 2
		case standard && t.Schema == "":
			r = 3
		case schema == "":
			r = 4
		}
		if r < rank {
			best, rank = int(i), r
		}
	}
	return best
}

// target is the table that key k of t refers to, or -1. A key that names no schema means one of t's own schema before
// any other.
func (x *index) target(t *Table, k ForeignKey) int {
	if k.RefSchema == "" && t.Schema != "" {
		if i := x.lookup(t.Schema, k.RefTable); i >= 0 {
			return i
		}
	}
	return x.lookup(k.RefSchema, k.RefTable)
}

// joined are the tables that foreign keys join, in either direction.
type joined struct {
	*index
	next [][]int32 // by table: the others, by name; one may stand there twice
}

// joined finds the keys of all tables.
func (x *index) joined() *joined {
	n := len(x.s.Tables)
	j := &joined{x, make([][]int32, n)}
	for i := range x.s.Tables {
		t := &x.s.Tables[i]
		for _, k := range t.ForeignKeys {
			if ref := x.target(t, k); ref >= 0 && ref != i {
				j.next[i], j.next[ref] = append(j.next[i], int32(ref)), append(j.next[ref], int32(i))
			}
		}
	}
	for _, next := range j.next {
		slices.SortFunc(next, func(a, b int32) int { return j.byName(int(a), int(b)) })
	}
	return j
}

func (x *index) byName(a, b int) int {
	return cmp.Or(x.s.Tables[a].TableName().compare(x.s.Tables[b].TableName()), a-b)
}

// bridges returns the tables that join the parts of linked, as Restrict describes.
func (g *Graph) bridges(linked []int) (added []int) {
	if len(linked) < 2 {
		return nil
	}
	all := search{g.joined(), make([]int32, len(g.s.Tables))}
	kept := make(map[int]bool, len(linked))
	for _, i := range linked {
		kept[i] = true
	}
	alone := make(map[int]bool) // tables of parts that no path leads out of
	for _, start := range slices.SortedFunc(slices.Values(linked), g.byName) {
		for !alone[start] {
			part := all.component(kept, start)
			path := all.shortestPath(kept, part)
			if path == nil {
				maps.Copy(alone, part)
			}
			for _, i := range path {
				kept[i] = true
			}
			added = append(added, path...)
		}
	}
	return added
}

// search finds paths for one call.
type search struct {
	*joined
	from []int32 // where each table was reached from, plus 1
}

// component is the set of kept tables that start reaches over kept tables.
func (j *joined) component(kept map[int]bool, start int) map[int]bool {
	part := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, next := range j.next[queue[0]] {
			if i := int(next); kept[i] && !part[i] {
				part[i] = true
				queue = append(queue, i)
			}
		}
	}
	return part
}

// longestBridge is how many tables a path may add in a schema of manyTables. Longer ones would join there what nobody
// asked to join.
const longestBridge, manyTables = 4, 200

// shortestPath returns the tables between part and the nearest kept table outside it; nil if there is no path, or only
// one that is too long. The search goes breadth first from the tables of part, all by name, so it always finds the same
// path.
func (j search) shortestPath(kept, part map[int]bool) (path []int) {
	queue := slices.SortedFunc(maps.Keys(part), j.byName)
	level, ends := 0, len(queue) // tables between part and those of the level, and where the level ends
	defer func() {
		for _, i := range queue {
			j.from[i] = 0
		}
	}()
	for at := 0; at < len(queue); at++ {
		if at == ends {
			if level++; level > longestBridge && len(j.s.Tables) > manyTables {
				return nil
			}
			ends = len(queue)
		}
		i := queue[at]
		for _, n := range j.next[i] {
			next := int(n)
			switch {
			case part[next] || j.from[next] != 0:
				continue
			case kept[next]:
				path = []int{}
				for at := i; !part[at]; at = int(j.from[at]) - 1 {
					path = append(path, at)
				}
				return path
			}
			j.from[next] = int32(i) + 1
			queue = append(queue, next)
		}
	}
	return nil
}
