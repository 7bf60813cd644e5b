package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// Map returns declared with names from live, if lessons supply them; otherwise it returns declared itself.
//
// A table or a column that live has keeps its name. Map uses only names that live has and that no other table of
// declared has. So mapping twice changes nothing. A lesson that names the table has priority over one with a Pattern,
// then the one with more confidence. If the To of a Pattern begins with a prefix, names that already have the prefix
// do not change. Keys get the new names of their columns; a CREATE text with an old name is dropped.
func (r *RetrievedLessons) Map(declared, live *schema.Schema) *schema.Schema {
	if r == nil || declared == nil || live == nil || declared == live {
		return declared
	}
	m := mapper{recall: r, live: namesOf(live), taken: map[string]bool{}, tables: map[*schema.Table]*schema.Table{},
		columns: map[*schema.Table]map[string]string{}}
	for i := range declared.Tables {
		t := &declared.Tables[i]
		if now, ok := m.live.table(t.TableName().String()); ok {
			m.tables[t] = now
			m.taken[schema.FoldCase(now.TableName().String())] = true
		}
	}
	changed := false
	for i := range declared.Tables {
		t := &declared.Tables[i]
		if m.tables[t] == nil {
			m.table(t)
		}
		if m.tables[t] != nil {
			changed = m.rename(t) || changed
		}
	}
	if !changed {
		return declared
	}
	out := *declared
	out.Tables = slices.Clone(declared.Tables)
	for i := range out.Tables {
		m.write(declared, &declared.Tables[i], &out.Tables[i])
	}
	return &out
}

// mapper finds the names of a database for those of a declared schema.
type mapper struct {
	recall  *RetrievedLessons
	live    names
	taken   map[string]bool                     // tables of the database that a declared one is, folded
	tables  map[*schema.Table]*schema.Table     // declared -> that of the database
	columns map[*schema.Table]map[string]string // declared -> its columns that have another name, folded -> now
}

// table finds the table that a declared one without a match is now.
func (m *mapper) table(t *schema.Table) {
	take := func(k Lesson, to string) bool {
		now, ok := m.live.table(to)
		if ok = ok && !m.taken[schema.FoldCase(to)]; ok {
			m.tables[t], m.taken[schema.FoldCase(to)] = now, true
			m.recall.mark(k.ID)
		}
		return ok
	}
	name := t.TableName().String()
	for _, patterned := range []bool{false, true} {
		for _, k := range m.recall.sorted() {
			if k.Kind != tableLesson || patterned != (k.Pattern != "") {
				continue
			}
			if !patterned {
				if schema.EqualFold(k.From, name) && take(k, k.To) {
					return
				}
				continue
			}
			like, err := pattern(k)
			if err != nil {
				continue
			}
			prefix, _, _ := strings.Cut(k.To, "$")
			if prefix != "" && strings.HasPrefix(schema.FoldCase(name), schema.FoldCase(prefix)) {
				continue
			}
			if at := like.FindStringSubmatchIndex(name); at != nil && take(k, string(like.ExpandString(nil, k.To, name, at))) {
				return
			}
		}
	}
}

// rename finds the columns of a declared table that have another name now. It reports whether anything has.
func (m *mapper) rename(t *schema.Table) bool {
	now := m.tables[t]
	full := now.TableName().String()
	found := map[string]string{}
	taken := map[string]bool{}
	for _, c := range t.Columns {
		taken[schema.FoldCase(c.Name)] = true
	}
	for _, c := range t.Columns {
		if _, ok := now.Column(c.Name); ok {
			continue
		}
		for _, k := range m.recall.sorted() {
			if k.Kind != columnLesson || !schema.EqualFold(k.From, c.Name) || !schema.EqualFold(tableOf(k.To), full) ||
				!schema.EqualFold(k.Table, full) && !schema.EqualFold(k.Table, t.TableName().String()) {
				continue
			}
			if to, ok := m.live.columns[schema.FoldCase(k.To)]; ok && !taken[schema.FoldCase(to)] {
				found[schema.FoldCase(c.Name)], taken[schema.FoldCase(to)] = to, true
				m.recall.mark(k.ID)
				break
			}
		}
	}
	m.columns[t] = found
	return len(found) > 0 || now.TableName() != t.TableName()
}

// write gives a copy of t its names.
func (m *mapper) write(declared *schema.Schema, t, out *schema.Table) {
	if now := m.tables[t]; now != nil && (now.TableName() != t.TableName() || len(m.columns[t]) > 0) {
		out.Schema, out.Name, out.Definition = now.Schema, now.Name, ""
	}
	out.Columns = slices.Clone(t.Columns)
	for i := range out.Columns {
		if to, ok := m.columns[t][schema.FoldCase(out.Columns[i].Name)]; ok {
			out.Columns[i].Name = to
		}
	}
	out.PrimaryKey = m.list(t, t.PrimaryKey)
	out.Unique = slices.Clone(t.Unique)
	for i := range out.Unique {
		out.Unique[i] = m.list(t, out.Unique[i])
	}
	out.ForeignKeys = slices.Clone(t.ForeignKeys)
	for i := range out.ForeignKeys {
		k := &out.ForeignKeys[i]
		k.Columns = m.list(t, k.Columns)
		ref, ok := declared.Lookup(cmp.Or(k.RefSchema, t.Schema), k.RefTable)
		if !ok || m.tables[ref] == nil {
			continue
		}
		k.RefColumns = m.list(ref, k.RefColumns)
		if now := m.tables[ref].TableName(); now != ref.TableName() || len(m.columns[ref]) > 0 {
			k.RefSchema, k.RefTable, out.Definition = now.Schema, now.Name, ""
		}
	}
}

// list gives columns of t their names.
func (m *mapper) list(t *schema.Table, columns []string) []string {
	out := slices.Clone(columns)
	for i, c := range out {
		if to, ok := m.columns[t][schema.FoldCase(c)]; ok {
			out[i] = to
		}
	}
	return out
}

// sorted returns the lessons, the best ones first.
func (r *RetrievedLessons) sorted() []Lesson {
	return slices.SortedFunc(slices.Values(r.Lessons), better)
}
