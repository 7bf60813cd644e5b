package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// LeftOut is something of the schema that a prompt does not show because it
// could not be shown safely. It belongs into the warnings of an answer.
type LeftOut struct {
	Item   string `json:"item"`             // "table", "column" or "definition" (the CREATE text, see [Augmented])
	Schema string `json:"schema,omitempty"` // of the table; raw too
	Table  string `json:"table"`            // raw: may hold anything
	Column string `json:"column,omitempty"` // raw; with Item "column"
	Reason string `json:"reason"`           // one line without text from the database
}

// String is one line of printable ASCII: names are quoted, escaped and, unlike
// in a prompt, cut after 40 characters.
func (l LeftOut) String() string {
	where := shortName(l.Table)
	if l.Schema != "" {
		where = shortName(l.Schema) + "." + where
	}
	if l.Column != "" || l.Item == "column" {
		where += "." + shortName(l.Column)
	}
	return fmt.Sprintf("%s %s: %s", l.Item, where, l.Reason)
}

func shortName(name string) string {
	const most = 40
	n := 0
	for i := range name {
		if n == most {
			return strconv.QuoteToASCII(name[:i]) + "..."
		}
		n++
	}
	return strconv.QuoteToASCII(name)
}

// Presentable returns s without what may not be shown in a prompt, and a list of
// it in the order of s: tables and columns whose names have a fault
// ([NameFault]). Keys that name something left out go too, and so do foreign
// keys to tables that are not in s. Where nothing has to go, s itself is
// returned.
//
// Renderers call it; who writes a prompt of another form starts from it.
func (s *Schema) Presentable() (*Schema, []LeftOut) {
	if s == nil {
		return &Schema{}, nil
	}
	var left []LeftOut
	kept := make([]Table, 0, len(s.Tables))
	places := make([]int, 0, len(s.Tables))
	changed := false
	for i := range s.Tables {
		t := s.Tables[i]
		fault := NameFault(t.Name)
		if fault == "" && t.Schema != "" {
			fault = NameFault(t.Schema)
		}
		if fault != "" {
			left = append(left, LeftOut{Item: "table", Schema: t.Schema, Table: t.Name, Reason: fault})
			continue
		}
		hidden := 0
		for _, c := range t.Columns {
			if fault := NameFault(c.Name); fault != "" {
				left = append(left, LeftOut{Item: "column", Schema: t.Schema, Table: t.Name, Column: c.Name, Reason: fault})
				hidden++
			}
		}
		if hidden > 0 {
			t = t.project(func(i int) bool { return NameFault(t.Columns[i].Name) == "" })
			changed = true
		}
		kept = append(kept, t)
		places = append(places, i)
	}
	out := *s
	out.Tables = kept
	if out.dropDanglingKeys(s.index(), places) {
		changed = true
	}
	if len(left) == 0 && !changed {
		return s, nil
	}
	return &out, left
}

// project returns t with the columns whose places keep accepts. Keys that lose a column
// go, and with them the CREATE text, which would still name what was dropped.
func (t Table) project(keep func(i int) bool) Table {
	columns := make([]Column, 0, len(t.Columns))
	for i := range t.Columns {
		if keep(i) {
			columns = append(columns, t.Columns[i])
		}
	}
	if len(columns) == len(t.Columns) {
		return t
	}
	t.Columns = columns
	t.Definition = ""
	missing := func(name string) bool { return t.columnIndex(name) < 0 }
	if slices.ContainsFunc(t.PrimaryKey, missing) {
		t.PrimaryKey = nil
	}
	t.Unique = filter(t.Unique, func(u []string) bool { return !slices.ContainsFunc(u, missing) })
	t.ForeignKeys = filter(t.ForeignKeys, func(k ForeignKey) bool { return !slices.ContainsFunc(k.Columns, missing) })
	return t
}

// dropDanglingKeys takes away, in s.Tables but not in what they share with
// others, the foreign keys that refer to a table or column that s does not have.
// What they refer to is looked up in the whole schema, in which the tables of s
// have these places: among fewer tables a name could mean another one. It
// reports whether there was such a key.
func (s *Schema) dropDanglingKeys(whole *index, places []int) bool {
	at := make(map[int]int, len(places))
	for i, place := range places {
		at[place] = i
	}
	dropped := false
	for i := range s.Tables {
		t := &s.Tables[i]
		keys := filter(t.ForeignKeys, func(k ForeignKey) bool {
			ref, ok := at[whole.target(t, k)]
			return ok && !slices.ContainsFunc(k.RefColumns, func(name string) bool {
				return s.Tables[ref].columnIndex(name) < 0
			})
		})
		if len(keys) != len(t.ForeignKeys) {
			t.ForeignKeys = keys
			dropped = true
		}
	}
	return dropped
}

// filter returns list without what keep refuses: list itself where it refuses
// nothing, never changed.
func filter[T any](list []T, keep func(T) bool) []T {
	n := 0
	for _, v := range list {
		if keep(v) {
			n++
		}
	}
	if n == len(list) {
		return list
	}
	out := make([]T, 0, n)
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}
