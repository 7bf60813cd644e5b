package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
)

// Omitted is a part of the schema that a prompt does not show because it cannot be shown safely, or cannot be read.
// Put it into the warnings of an answer.
type Omitted struct {
	// Item is "table", "column" or "definition" (the CREATE text, see planvote.Augmented) if the part cannot be
	// shown. It is "view" or "virtual table" if the engine cannot open it: see Schema.LeftOut.
	Item   string    `json:"item"`
	Table  TableName `json:"table"`            // the table's unchanged name: it may contain anything
	Column string    `json:"column,omitempty"` // the column, raw; with Item "column"
	Reason string    `json:"reason"`           // one line without text from the database
}

// String returns one line of printable ASCII. Names are quoted, escaped and, unlike in a prompt, cut after 40
// characters.
func (l Omitted) String() string {
	where := l.Table.Quoted(quoterFunc(shortName))
	if l.Column != "" || l.Item == "column" {
		where += "." + shortName(l.Column)
	}
	return fmt.Sprintf("%s %s: %s", l.Item, where, l.Reason)
}

// Broken reports whether l is in Schema.LeftOut: no prompt can have it, because the engine cannot open it.
func (l Omitted) Broken() bool { return l.Item == "view" || l.Item == "virtual table" }

func shortName(name string) string {
	short := words.Short(name, 40)
	if short == name {
		return strconv.QuoteToASCII(name)
	}
	return strconv.QuoteToASCII(strings.TrimSuffix(short, "…")) + "..."
}

// Presentable returns s with names as prompts show them. It leaves out tables and columns whose names cannot be
// shown, or would be shown like another name in s. It also returns a list of these, in the order of s, after
// s.LeftOut. Keys that name one of them are left out too, and so are foreign keys to tables that s does not have. If
// nothing changes, it returns s itself.
//
// [Renderer] calls it. A prompt of another form starts from it.
func (s *Schema) Presentable() (*Schema, []Omitted) {
	shown, left, _ := s.presentable(context.Background())
	return shown, left
}

// presentable is Presentable; the error is ctx.Err().
func (s *Schema) presentable(ctx context.Context) (*Schema, []Omitted, error) {
	if s == nil {
		return &Schema{}, nil, nil
	}
	left := slices.Clone(s.LeftOut)
	renamed := false
	kept := make([]Table, 0, len(s.Tables))
	places := make([]int, 0, len(s.Tables))
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		t := s.Tables[i]
		of := t.TableName()
		if fault := s.tableFault(i); fault != "" {
			left = append(left, Omitted{Item: "table", Table: of, Reason: fault})
			continue
		}
		before := len(left)
		for j := range t.Columns {
			if fault := t.columnFault(j); fault != "" {
				left = append(left, Omitted{Item: "column", Table: of, Column: t.Columns[j].Name, Reason: fault})
			}
		}
		if all := &s.Tables[i]; len(left) > before {
			t = t.project(func(j int) bool { return all.columnFault(j) == "" })
		}
		changed := t.showNames()
		renamed = renamed || changed
		kept = append(kept, t)
		places = append(places, i)
	}
	out := *s
	out.Tables = kept
	if dropped := out.dropDanglingKeys(s.index(), places); !dropped && !renamed && len(left) == len(s.LeftOut) {
		return s, left, nil
	}
	return &out, left, nil
}

const isAnothers = "the name reads as another one in a prompt"

// tableFault says why a prompt may not show table i; "": it may.
func (s *Schema) tableFault(i int) string {
	t := &s.Tables[i]
	if fault := cmp.Or(prompttext.NameFault(prompttext.ShownName(t.Name)),
		prompttext.NameFault(prompttext.ShownName(t.Schema))); fault != "" {
		return fault
	}
	if prompttext.ShownName(t.Name) == t.Name {
		return ""
	}
	for j := range s.Tables {
		if other := &s.Tables[j]; j != i && sameName(other.Name, t.Name) && sameName(other.Schema, t.Schema) {
			return isAnothers
		}
	}
	return ""
}

// columnFault says why a prompt may not show column i; "": it may.
func (t *Table) columnFault(i int) string {
	name := t.Columns[i].Name
	shown := prompttext.ShownName(name)
	if fault := prompttext.NameFault(shown); fault != "" || shown == name {
		return fault
	}
	for j := range t.Columns {
		if j != i && sameName(t.Columns[j].Name, name) {
			return isAnothers
		}
	}
	return ""
}

// eachName visits the names of t, and those in its keys.
func (t *Table) eachName(visit func(*string)) {
	list := func(names []string) {
		for i := range names {
			visit(&names[i])
		}
	}
	visit(&t.Schema)
	visit(&t.Name)
	for i := range t.Columns {
		visit(&t.Columns[i].Name)
	}
	list(t.PrimaryKey)
	for _, u := range t.Unique {
		list(u)
	}
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		visit(&k.RefSchema)
		visit(&k.RefTable)
		list(k.Columns)
		list(k.RefColumns)
	}
}

// showNames writes the names of t, and those in its keys, as prompts show them, and reports whether one changed. The
// slices that t shares with other schemas stay as they are. The CREATE text goes, which has the names of the database.
func (t *Table) showNames() (changes bool) {
	t.eachName(func(name *string) { changes = changes || prompttext.ShownName(*name) != *name })
	if !changes {
		return false
	}
	t.Columns, t.PrimaryKey = slices.Clone(t.Columns), slices.Clone(t.PrimaryKey)
	t.Unique, t.ForeignKeys = slices.Clone(t.Unique), slices.Clone(t.ForeignKeys)
	for i := range t.Unique {
		t.Unique[i] = slices.Clone(t.Unique[i])
	}
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		k.Columns, k.RefColumns = slices.Clone(k.Columns), slices.Clone(k.RefColumns)
	}
	t.eachName(func(name *string) { *name = prompttext.ShownName(*name) })
	t.Definition = ""
	return true
}

// Project returns the part of s with the tables that table accepts and the columns that column accepts. A nil function
// accepts all. Project drops tables without columns, keys that name a dropped item, and the CREATE text of a table that
// lost a column.
func (s *Schema) Project(table func(*Table) bool, column func(*Table, *Column) bool) *Schema {
	out := *s
	out.Tables = nil
	var places []int
	for i := range s.Tables {
		t := &s.Tables[i]
		if table != nil && !table(t) {
			continue
		}
		if kept := t.project(func(j int) bool { return column == nil || column(t, &t.Columns[j]) }); len(kept.Columns) > 0 {
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
