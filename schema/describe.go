package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Description holds what is known about one table or column. Empty fields are unknown. Text from a model has a
// separate field, so that it is never mistaken for a person's text.
type Description struct {
	Title  string `json:"title,omitempty"`  // a readable name; of columns only
	Text   string `json:"text,omitempty"`   // the meaning
	Values string `json:"values,omitempty"` // the meaning of its values; of columns only

	Described string `json:"described,omitempty"` // a model's text about it; of columns only
}

// Descriptions holds what is known about a database, by name: "table", "table.column", "schema.table" or
// "schema.table.column".
//
// Names are compared without regard to the case of ASCII letters and are not quoted: the table "order details" is
// written order details. If a name fits more than one item, because names may have dots, a table comes before a column
// and an earlier item before a later one.
type Descriptions map[string]Description

// Describe returns a copy of s with the descriptions of d, and the names of d that s does not have, sorted.
//
// A field of d replaces the field of s unless it is empty. Describe stores texts unchanged; they are cleaned when they
// are rendered.
func (s *Schema) Describe(d Descriptions) (described *Schema, unknown []string) {
	if s == nil {
		s = &Schema{}
	}
	out := *s
	out.Tables = slices.Clone(s.Tables)

	index := s.names()
	cloned := make([]bool, len(out.Tables))
	// Sorted, so that the same name always wins if two names differ only in case.
	for _, name := range slices.Sorted(maps.Keys(d)) {
		at, ok := index[FoldCase(name)]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		text := d[name]
		t := &out.Tables[at.table]
		if at.column < 0 {
			t.Description = cmp.Or(strings.TrimSpace(text.Text), t.Description)
			continue
		}
		if !cloned[at.table] {
			t.Columns = slices.Clone(t.Columns)
			cloned[at.table] = true
		}
		c := &t.Columns[at.column]
		c.Title = cmp.Or(strings.TrimSpace(text.Title), c.Title)
		c.Description = cmp.Or(strings.TrimSpace(text.Text), c.Description)
		c.Values = cmp.Or(strings.TrimSpace(text.Values), c.Values)
		c.Described = cmp.Or(strings.TrimSpace(text.Described), c.Described)
	}
	return &out, unknown
}

// item is a place in a schema; column is -1 for the table itself.
type item struct{ table, column int }

// names maps every folded dotted name to the item that it means. A table comes before a column, and the default schema
// before any other.
func (s *Schema) names() map[string]item {
	names := make(map[string]item)
	add := func(at item, name string) {
		if _, taken := names[FoldCase(name)]; !taken {
			names[FoldCase(name)] = at
		}
	}
	var order []int
	for _, others := range []bool{false, true} {
		for i := range s.Tables {
			if others == (s.Tables[i].Schema != "") {
				order = append(order, i)
			}
		}
	}
	for _, i := range order {
		add(item{i, -1}, s.Tables[i].Name)
		add(item{i, -1}, s.Tables[i].TableName().String())
	}
	for _, i := range order {
		t := &s.Tables[i]
		for j, c := range t.Columns {
			add(item{i, j}, t.Name+"."+c.Name)
			add(item{i, j}, ColumnName{t.TableName(), c.Name}.String())
		}
	}
	return names
}
