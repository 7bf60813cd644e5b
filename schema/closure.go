package schema

import (
	"cmp"
	"maps"
	"slices"
)

// index finds tables by name in constant time. A table is given as its place in the schema.
type index struct {
	s     *Schema
	exact map[TableName]int
	folds map[TableName]int
	bare  map[string]int // by folded name without a schema
}

// index makes the index of s. Its lookup agrees with [Schema.Lookup].
func (s *Schema) index() *index {
	n := len(s.Tables)
	x := &index{s, make(map[TableName]int, n), make(map[TableName]int, n), make(map[string]int, n)}
	for i := n - 1; i >= 0; i-- { // of equal names the first table stays
		t := &s.Tables[i]
		folded := TableName{Fold(t.Schema), Fold(t.Name)}
		x.exact[t.TableName()], x.folds[folded], x.bare[folded.Name] = i, i, i
	}
	return x
}

// lookup is Schema.Lookup; -1 is not found.
func (x *index) lookup(schema, name string) int {
	if i, ok := x.exact[TableName{schema, name}]; ok {
		return i
	}
	if i, ok := x.folds[TableName{Fold(schema), Fold(name)}]; ok {
		return i
	}
	if x.s.Default != "" && EqualFold(schema, x.s.Default) {
		if i, ok := x.exact[TableName{"", name}]; ok {
			return i
		}
		if i, ok := x.folds[TableName{"", Fold(name)}]; ok {
			return i
		}
	}
	if i, ok := x.bare[Fold(name)]; ok && schema == "" {
		return i
	}
	return -1
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

// neighbours lists for every table those that a foreign key joins it with, in either direction, by name.
func (x *index) neighbours() [][]int {
	next := make([][]int, len(x.s.Tables))
	for i := range x.s.Tables {
		t := &x.s.Tables[i]
		for _, k := range t.ForeignKeys {
			if ref := x.target(t, k); ref >= 0 && ref != i {
				next[i] = append(next[i], ref)
				next[ref] = append(next[ref], i)
			}
		}
	}
	for i := range next {
		slices.SortFunc(next[i], x.byName)
		next[i] = slices.Compact(next[i])
	}
	return next
}

func (x *index) byName(a, b int) int {
	return cmp.Or(x.s.Tables[a].TableName().compare(x.s.Tables[b].TableName()), a-b)
}

// bridges returns the tables that join the parts of linked, as Restrict describes.
func (x *index) bridges(linked []int) (added []int) {
	if len(linked) < 2 {
		return nil
	}
	next := x.neighbours()
	kept := make(map[int]bool, len(linked))
	for _, i := range linked {
		kept[i] = true
	}
	alone := make(map[int]bool) // tables of parts that no path leads out of
	for _, start := range slices.SortedFunc(slices.Values(linked), x.byName) {
		for !alone[start] {
			part := component(next, kept, start)
			path := x.shortestPath(next, kept, part)
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

// component is the set of kept tables that start reaches over kept tables.
func component(next [][]int, kept map[int]bool, start int) map[int]bool {
	part := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, j := range next[queue[0]] {
			if kept[j] && !part[j] {
				part[j] = true
				queue = append(queue, j)
			}
		}
	}
	return part
}

// shortestPath returns the tables between part and the nearest kept table outside it; nil if there is no path. The
// search goes breadth first from the tables of part, all by name, so it always finds the same path.
func (x *index) shortestPath(next [][]int, kept, part map[int]bool) []int {
	from := make([]int, len(next)) // where each table was reached from, plus 1
	for queue := slices.SortedFunc(maps.Keys(part), x.byName); len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, j := range next[i] {
			switch {
			case part[j] || from[j] != 0:
				continue
			case kept[j]:
				path := []int{}
				for at := i; !part[at]; at = from[at] - 1 {
					path = append(path, at)
				}
				return path
			}
			from[j] = i + 1
			queue = append(queue, j)
		}
	}
	return nil
}
