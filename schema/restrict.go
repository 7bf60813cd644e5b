package schema

import (
	"maps"
	"slices"
	"sync"
)

// Restrict returns the part of s that l selects for a question. It also returns the names of l that s does not have
// ("table" or "table.column", in the order of l).
//
// Tables stay in the order of s, columns in the order of their table. The result has
//
//   - the linked tables, each with its linked columns, or with all columns if the link names none that exists;
//   - bridge tables, if foreign keys do not join all linked tables. These are the tables on a shortest path of foreign
//     keys between two parts (at most four in a schema of over 200 tables). Parts are taken in the order of their first
//     table's name. If several paths are shortest, the first by name is taken. A part without such a path stays
//     separate.
//     A bridge shows all its columns, or only its keys if some link names columns;
//   - the foreign keys between these tables, including keys from a table to itself;
//   - the primary key of each of these tables, and the columns on both ends of the foreign keys. A column that refers
//     to a table left out joins nothing, so it stays only if a link names it.
//
// If l.Whole is set, or if no linked table exists, the result has the whole schema. A table that lost a column has no
// CREATE text, because the text would show the column.
//
// Linking by tables comes from PET-SQL (arXiv 2403.09732). Bridges are our addition: a question names both ends of a
// many-to-many relation and seldom the table between.
//
// It reads all tables and keys of s. For many questions about a large schema, make a [Graph] once.
func (s *Schema) Restrict(l Links) (restricted *Schema, unknown []string) {
	return s.Graph().Restrict(l)
}

// Graph is a schema with its tables by name and the foreign keys between them. It is for many calls of Restrict.
// It reads the whole schema once. A call then costs time for the linked tables and the paths between them.
// The schema must not change. Safe for concurrent use.
type Graph struct {
	*index
	joined func() *joined // read for the first path between two tables
}

// Graph returns a new graph of s; a nil s has no tables.
func (s *Schema) Graph() *Graph {
	if s == nil {
		s = &Schema{}
	}
	x := s.index()
	return &Graph{x, sync.OnceValue(x.joined)}
}

// Restrict returns the same as [Schema.Restrict] of the schema.
func (g *Graph) Restrict(l Links) (restricted *Schema, unknown []string) {
	s, index := g.s, g.index
	wanted := make(map[int]*choice) // by place in s.Tables
	someColumns := false
	for _, link := range l.Tables {
		of := TableName{link.Schema, link.Table}
		i := index.lookup(of.Schema, of.Name)
		if i < 0 {
			unknown = append(unknown, of.String())
			continue
		}
		if wanted[i] == nil {
			wanted[i] = &choice{columns: make(map[int]bool)}
		}
		known := false
		for _, name := range link.Columns {
			if j := s.Tables[i].columnIndex(name); j >= 0 {
				wanted[i].columns[j], known = true, true
			} else {
				unknown = append(unknown, ColumnName{of, name}.String())
			}
		}
		wanted[i].all = wanted[i].all || !known
		someColumns = someColumns || known
	}
	if l.Whole || len(wanted) == 0 {
		return s, unknown
	}
	for _, i := range g.bridges(slices.Sorted(maps.Keys(wanted))) {
		wanted[i] = &choice{all: !someColumns, columns: make(map[int]bool)}
	}
	s.addKeys(index, wanted)

	out := *s
	out.Tables = make([]Table, 0, len(wanted))
	places := slices.Sorted(maps.Keys(wanted))
	for _, i := range places {
		t, c := s.Tables[i], wanted[i]
		if !c.all {
			t = t.project(func(j int) bool { return c.columns[j] })
		}
		out.Tables = append(out.Tables, t)
	}
	out.dropDanglingKeys(index, places)
	return &out, unknown
}

// choice lists the columns of a table that stay.
type choice struct {
	all     bool
	columns map[int]bool
}

// addKeys marks the primary key of every table of wanted, and both ends of the foreign keys that join it with a table
// of wanted.
func (s *Schema) addKeys(index *index, wanted map[int]*choice) {
	mark := func(i int, names []string) {
		for _, name := range names {
			if j := s.Tables[i].columnIndex(name); j >= 0 {
				wanted[i].columns[j] = true
			}
		}
	}
	for i := range wanted {
		t := &s.Tables[i]
		mark(i, t.PrimaryKey)
		for _, k := range t.ForeignKeys {
			if ref := index.target(t, k); ref >= 0 && wanted[ref] != nil {
				mark(i, k.Columns)
				mark(ref, k.RefColumns)
			}
		}
	}
}
