package schema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// LeftOut is a part of the schema that a prompt does not show because it cannot be shown safely. It belongs into the
// warnings of an answer.
type LeftOut struct {
	Item   string    `json:"item"`             // "table", "column" or "definition" (the CREATE text, see [Augmented])
	Table  TableName `json:"table"`            // the table, raw: it may hold anything
	Column string    `json:"column,omitempty"` // the column, raw; with Item "column"
	Reason string    `json:"reason"`           // one line without text from the database
}

// String is one line of printable ASCII: names are quoted, escaped and, unlike in a prompt, cut after 40 characters.
func (l LeftOut) String() string {
	where := l.Table.Quoted(QuoterFunc(shortName))
	if l.Column != "" || l.Item == "column" {
		where += "." + shortName(l.Column)
	}
	return fmt.Sprintf("%s %s: %s", l.Item, where, l.Reason)
}

func shortName(name string) string {
	cut, short := cutRunes(name, 40)
	if cut = strconv.QuoteToASCII(cut); short {
		cut += "..."
	}
	return cut
}

// Presentable returns s without the tables and columns whose names may not be shown in a prompt ([NameFault]), and a
// list of them in the order of s. Keys that name one of them are left out too, and so are foreign keys to tables that s
// does not have. If nothing has to go, it returns s itself.
//
// [Renderer] calls it. A prompt of another form starts from it.
func (s *Schema) Presentable() (*Schema, []LeftOut) {
	shown, left, _ := s.presentable(context.Background())
	return shown, left
}

// presentable is Presentable; the error is ctx.Err().
func (s *Schema) presentable(ctx context.Context) (*Schema, []LeftOut, error) {
	if s == nil {
		return &Schema{}, nil, nil
	}
	var left []LeftOut
	kept := make([]Table, 0, len(s.Tables))
	places := make([]int, 0, len(s.Tables))
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		t := s.Tables[i]
		of := t.TableName()
		fault := NameFault(t.Name)
		if fault == "" && t.Schema != "" {
			fault = NameFault(t.Schema)
		}
		if fault != "" {
			left = append(left, LeftOut{Item: "table", Table: of, Reason: fault})
			continue
		}
		shown := len(left)
		for j := range t.Columns {
			if fault := NameFault(t.Columns[j].Name); fault != "" {
				left = append(left, LeftOut{Item: "column", Table: of, Column: t.Columns[j].Name, Reason: fault})
			}
		}
		if len(left) > shown {
			t = t.project(func(i int) bool { return NameFault(t.Columns[i].Name) == "" })
		}
		kept = append(kept, t)
		places = append(places, i)
	}
	out := *s
	out.Tables = kept
	if dropped := out.dropDanglingKeys(s.index(), places); !dropped && len(left) == 0 {
		return s, nil, nil
	}
	return &out, left, nil
}

// Project returns the part of s with the tables that table accepts and the columns of them that column accepts. A table
// without columns goes, and so do keys that name something that went, and the CREATE text of a table that lost a column.
func (s *Schema) Project(table func(*Table) bool, column func(*Table, *Column) bool) *Schema {
	out := *s
	out.Tables = nil
	var places []int
	for i := range s.Tables {
		t := &s.Tables[i]
		if !table(t) {
			continue
		}
		if kept := t.project(func(j int) bool { return column(t, &t.Columns[j]) }); len(kept.Columns) > 0 {
			out.Tables, places = append(out.Tables, kept), append(places, i)
		}
	}
	out.dropDanglingKeys(s.index(), places)
	return &out
}

// project returns t with the columns whose places keep accepts. Keys that lose a column go, and so does the CREATE
// text, which still names what was dropped.
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

// dropDanglingKeys takes away the foreign keys to tables or columns that s does not have, and reports whether there
// were any. It changes s.Tables and nothing that they share with other schemas. Names are looked up in the whole
// schema, in which the tables of s have these places: in s alone they may mean another table.
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

// filter returns list without what keep refuses: list itself if it refuses nothing, else a copy.
func filter[T any](list []T, keep func(T) bool) []T {
	refused := func(v T) bool { return !keep(v) }
	if !slices.ContainsFunc(list, refused) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), refused)
}
