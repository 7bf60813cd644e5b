package schema

import (
	"maps"
	"slices"
)

// Restrict returns what of s a question needs according to l, and the names of
// l that s does not have ("table" or "table.column", in the order of l).
//
// Tables stay in the order of s, columns in the order of their table. Kept are:
//   - the linked tables, each with its linked columns, or all of them where the
//     link names none that exists;
//   - bridge tables: while linked tables fall into parts that no foreign key
//     joins, the tables on a shortest path of foreign keys between two parts.
//     Parts are taken in the order of their first table's name, and of several
//     shortest paths the first by name is taken. A part that no path leads out
//     of stays alone. A bridge shows all its columns, or only its keys where
//     some link names columns;
//   - the foreign keys between kept tables, those of a table to itself included;
//   - key columns: of each kept table the primary key, which tells its rows apart,
//     and the columns on both ends of the foreign keys kept. A column that refers
//     to a table left out joins nothing, so it stays only where a link names it.
//
// With l.Whole set, or when no linked table exists, the whole schema is kept:
// an empty schema helps nobody. The CREATE text of a table that lost a column is
// dropped, because it would still show it.
//
// Linking by tables is that of PET-SQL (arXiv 2403.09732); closure is ours,
// because a question names both ends of a many-to-many relation and seldom the
// table between them.
func (s *Schema) Restrict(l Links) (restricted *Schema, unknown []string) {
	if s == nil {
		s = &Schema{}
	}
	index := s.index()
	wanted := make(map[int]*choice) // by place in s.Tables
	someColumns := false
	for _, link := range l.Tables {
		i := index.lookup(link.Schema, link.Table)
		if i < 0 {
			unknown = append(unknown, dotted(link.Schema, link.Table))
			continue
		}
		c, seen := wanted[i]
		if !seen {
			c = &choice{columns: make(map[int]bool)}
			wanted[i] = c
		}
		known := 0
		for _, name := range link.Columns {
			j := s.Tables[i].columnIndex(name)
			if j < 0 {
				unknown = append(unknown, dotted(link.Schema, link.Table)+"."+name)
				continue
			}
			c.columns[j] = true
			known++
		}
		if known == 0 {
			c.all = true
		}
		someColumns = someColumns || known > 0
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

// addKeys marks of every table of wanted the primary key, and both ends of the
// foreign keys that join it with a table of wanted.
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

func dotted(schema, table string) string {
	if schema == "" {
		return table
	}
	return schema + "." + table
}
