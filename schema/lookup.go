package schema

import "cmp"

// Lookup finds a table by name.
//
// Names are compared byte for byte first and then without regard to the case of ASCII letters, as SQLite does, or in
// the form that prompts show. With the schema "" a table of the default schema is found before the first table of
// that name in any other. The name of the default schema also finds tables without a schema. The table belongs to s
// and must not be changed.
func (s *Schema) Lookup(schema, table string) (*Table, bool) {
	if s == nil {
		return nil, false
	}
	var folded, bare *Table
	standard := s.Default != "" && EqualFold(schema, s.Default)
	for i := range s.Tables {
		t := &s.Tables[i]
		switch {
		case !sameName(t.Name, table):
		case t.Name == table && (t.Schema == schema || standard && t.Schema == ""):
			return t, true
		case folded == nil && (sameName(t.Schema, schema) || standard && t.Schema == ""):
			folded = t
		case bare == nil && schema == "":
			bare = t
		}
	}
	folded = cmp.Or(folded, bare)
	return folded, folded != nil
}

// Column finds a column of t by its exact name, then by a name that differs only in the case of ASCII letters, or by
// the name that prompts show. It belongs to t and must not be changed.
func (t *Table) Column(name string) (*Column, bool) {
	i := t.columnIndex(name)
	if i < 0 {
		return nil, false
	}
	return &t.Columns[i], true
}

// columnIndex is the place of the named column in t.Columns, or -1.
func (t *Table) columnIndex(name string) int {
	found := -1
	for i := range t.Columns {
		switch {
		case t.Columns[i].Name == name:
			return i
		case found < 0 && sameName(t.Columns[i].Name, name):
			found = i
		}
	}
	return found
}
