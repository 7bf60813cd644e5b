package schema

import (
	"maps"
	"slices"
	"strings"
)

// Description is what a person wrote about one table or column. Empty fields
// say nothing.
type Description struct {
	Title  string `json:"title,omitempty"`  // a readable name; of columns only
	Text   string `json:"text,omitempty"`   // what it means
	Values string `json:"values,omitempty"` // what its values mean; of columns only
}

// Descriptions holds what people wrote about a database, by name: "table",
// "table.column", "schema.table" or "schema.table.column".
//
// Names are compared without regard to the case of ASCII letters and are not
// quoted: the name of the table "order details" is written order details. Where
// a name fits more than one item (because a name has a dot in it), a table goes
// before a column and an earlier item before a later one.
type Descriptions map[string]Description

// Describe returns a copy of s with the descriptions of d put in, and, sorted,
// the names of d that s does not have.
//
// A field of d that is not empty replaces what s said; an empty one leaves it.
// Texts are kept as they are; what goes into a prompt is cleaned when it is
// rendered.
func (s *Schema) Describe(d Descriptions) (described *Schema, unknown []string) {
	if s == nil {
		s = &Schema{}
	}
	out := *s
	out.Tables = slices.Clone(s.Tables)

	// Sorted, so that of two names that differ in case the same one always wins.
	names := slices.Sorted(maps.Keys(d))

	index := s.names()
	cloned := make([]bool, len(out.Tables))
	for _, name := range names {
		at, ok := index[Fold(name)]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		text := d[name]
		t := &out.Tables[at.table]
		if at.column < 0 {
			t.Description = orElse(text.Text, t.Description)
			continue
		}
		if !cloned[at.table] {
			t.Columns = slices.Clone(t.Columns)
			cloned[at.table] = true
		}
		c := &t.Columns[at.column]
		c.Title = orElse(text.Title, c.Title)
		c.Description = orElse(text.Text, c.Description)
		c.Values = orElse(text.Values, c.Values)
	}
	return &out, unknown
}

// item is a place in a schema; column is -1 for the table itself.
type item struct{ table, column int }

// names maps every folded dotted name to the item that it means.
func (s *Schema) names() map[string]item {
	index := make(map[string]item)
	add := func(at item, parts ...string) {
		key := Fold(strings.Join(parts, "."))
		if _, taken := index[key]; !taken {
			index[key] = at
		}
	}
	// A bare name means the default schema before any other.
	order := make([]int, 0, len(s.Tables))
	for i := range s.Tables {
		if s.Tables[i].Schema == "" {
			order = append(order, i)
		}
	}
	for i := range s.Tables {
		if s.Tables[i].Schema != "" {
			order = append(order, i)
		}
	}
	for _, i := range order {
		t := &s.Tables[i]
		add(item{i, -1}, t.Name)
		if t.Schema != "" {
			add(item{i, -1}, t.Schema, t.Name)
		}
	}
	for _, i := range order {
		t := &s.Tables[i]
		for j := range t.Columns {
			add(item{i, j}, t.Name, t.Columns[j].Name)
			if t.Schema != "" {
				add(item{i, j}, t.Schema, t.Name, t.Columns[j].Name)
			}
		}
	}
	return index
}

func orElse(s, otherwise string) string {
	if strings.TrimSpace(s) == "" {
		return otherwise
	}
	return strings.TrimSpace(s)
}
