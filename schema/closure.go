package schema

import (
	"maps"
	"slices"
)

// index finds tables by name in constant time and knows which of them foreign
// keys join. Tables are named by their place in the schema.
type index struct {
	s     *Schema
	exact map[tableName]int
	folds map[tableName]int
	bare  map[string]int // folded name without a schema
}

type tableName struct{ schema, name string }

// index builds the index of s. Its lookup agrees with [Schema.Lookup].
func (s *Schema) index() *index {
	x := &index{
		s:     s,
		exact: make(map[tableName]int, len(s.Tables)),
		folds: make(map[tableName]int, len(s.Tables)),
		bare:  make(map[string]int, len(s.Tables)),
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		if _, seen := x.exact[tableName{t.Schema, t.Name}]; !seen {
			x.exact[tableName{t.Schema, t.Name}] = i
		}
		key := tableName{Fold(t.Schema), Fold(t.Name)}
		if _, seen := x.folds[key]; !seen {
			x.folds[key] = i
		}
		if _, seen := x.bare[key.name]; !seen {
			x.bare[key.name] = i
		}
	}
	return x
}

// lookup is Schema.Lookup; -1 is not found.
func (x *index) lookup(schema, name string) int {
	if i, ok := x.exact[tableName{schema, name}]; ok {
		return i
	}
	if i, ok := x.folds[tableName{Fold(schema), Fold(name)}]; ok {
		return i
	}
	if i, ok := x.bare[Fold(name)]; ok && schema == "" {
		return i
	}
	return -1
}

// target is the table that key k of t refers to, or -1. A key that names no
// schema means one of t's own schema before any other.
func (x *index) target(t *Table, k ForeignKey) int {
	if k.RefSchema == "" && t.Schema != "" {
		if i := x.lookup(t.Schema, k.RefTable); i >= 0 {
			return i
		}
	}
	return x.lookup(k.RefSchema, k.RefTable)
}

// neighbours lists for every table those that a foreign key joins it with, in
// either direction, by name.
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
	if c := compareTables(x.s.Tables[a], x.s.Tables[b]); c != 0 {
		return c
	}
	return a - b
}

// bridges returns the tables that join the parts of linked, as Restrict
// describes.
func (x *index) bridges(linked []int) []int {
	if len(linked) < 2 {
		return nil
	}
	next := x.neighbours()
	kept := make(map[int]bool, len(linked))
	for _, i := range linked {
		kept[i] = true
	}
	var added []int
	starts := slices.Clone(linked)
	slices.SortFunc(starts, x.byName)
	alone := make(map[int]bool) // tables of parts that no path leads out of
	for _, start := range starts {
		for !alone[start] {
			part := component(next, kept, start)
			path := x.shortestPath(next, kept, part)
			if path == nil {
				for i := range part {
					alone[i] = true
				}
				break
			}
			for _, i := range path {
				kept[i] = true
				added = append(added, i)
			}
		}
	}
	return added
}

// component is the set of kept tables that start reaches over kept tables.
func component(next [][]int, kept map[int]bool, start int) map[int]bool {
	part := map[int]bool{start: true}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range next[i] {
			if kept[j] && !part[j] {
				part[j] = true
				queue = append(queue, j)
			}
		}
	}
	return part
}

// shortestPath returns the tables strictly between part and the nearest kept
// table outside it; nil where there is none. Breadth first from the tables of
// part by place, neighbours by name: always the same path.
func (x *index) shortestPath(next [][]int, kept, part map[int]bool) []int {
	from := make([]int, len(next)) // where each table was reached from, plus 1
	queue := slices.SortedFunc(maps.Keys(part), x.byName)
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
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
