package schema

import "strings"

// Lookup finds a table by name.
//
// Names are compared byte for byte first and then without regard to the case of
// ASCII letters, as SQLite does. Where schema is "" and the default schema has no
// such table, the first table of that name in any schema is found. The table
// belongs to s and must not be changed.
func (s *Schema) Lookup(schema, table string) (*Table, bool) {
	if s == nil {
		return nil, false
	}
	var folded, bare *Table
	for i := range s.Tables {
		t := &s.Tables[i]
		switch {
		case !equalFold(t.Name, table):
		case t.Name == table && t.Schema == schema:
			return t, true
		case folded == nil && equalFold(t.Schema, schema):
			folded = t
		case bare == nil && schema == "":
			bare = t
		}
	}
	if folded == nil {
		folded = bare
	}
	return folded, folded != nil
}

// Column finds a column of t by name, byte for byte first and then without
// regard to the case of ASCII letters. It belongs to t and must not be changed.
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
		case found < 0 && equalFold(t.Columns[i].Name, name):
			found = i
		}
	}
	return found
}

// equalFold compares without regard to the case of ASCII letters. Engines fold
// no others, so strings.EqualFold would find tables that the engine does not.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// fold lowers the ASCII letters of s.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return rune(lower(byte(r)))
		}
		return r
	}, s)
}
