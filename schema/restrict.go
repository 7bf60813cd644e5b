package schema

import (
	"maps"
	"slices"
)

// Restrict returns the part of s that l says a question needs, and the names of l
// that s does not have ("table" or "table.column", in the order of l).
//
// Tables stay in the order of s, columns in the order of their table. Kept are:
//   - the linked tables, each with its linked columns, or with all of them if the link names none that exists;
//   - bridge tables: while no foreign keys join all linked tables, the tables on a shortest path of foreign keys
//     between two parts (in a schema of over 200 tables, four at most). Parts are taken in the order of their first table's name, and of several shortest paths the
//     first by name. A part that no path leads out of stays alone. A bridge shows all its columns, or only its keys if
//     some link names columns;
//   - the foreign keys between kept tables, those of a table to itself included;
//   - the primary key of each kept table, and the columns on both ends of the foreign keys kept. A column that refers
//     to a table left out joins nothing, so it stays only if a link names it.
//
// With l.Whole set, or if no linked table exists, the whole schema is kept. The
// CREATE text of a table that lost a column is dropped, because it shows it.
//
// Linking by tables is that of PET-SQL (arXiv 2403.09732). Bridges are ours: a
// question names both ends of a many-to-many relation and seldom the table between.
func (s *Schema) Restrict(l Links) (restricted *Schema, unknown []string) {
	if s == nil {
		s = &Schema{}
	}
	index := s.index()
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
	for _, i := range index.bridges(slices.Sorted(maps.Keys(wanted))) {
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

// choice says which columns of a table are kept.
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
