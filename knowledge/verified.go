package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

// Statement returns the statement of a verified query in a dialect of [Model.Compile]. Each parameter becomes a
// literal of the dialect: its text in values, or its Default. If the statement is Logical, a WITH clause defines the
// tables of the model that it names, so that it can use the column names of the model. A value for an unknown
// parameter is an error.
func (m Model) Statement(v VerifiedQuery, values map[string]string, dialect string) (string, error) {
	d, ok := dialects[dialect]
	if !ok {
		return "", &RequestError{Reason: reasonUnsupported, Name: "statements for " + dialect + " are not written"}
	}
	sql, err := v.bound(d, values)
	if err != nil {
		return "", err
	}
	if v.Logical {
		if sql, err = m.logical(d, sql); err != nil {
			return "", err
		}
	}
	checked, err := d.text.Check(sql)
	if err != nil {
		return "", invalid("", "%v", err)
	}
	return checked.SQL(), nil
}

// bound writes the values in place of the parameters.
func (v *VerifiedQuery) bound(d dialect, values map[string]string) (string, error) {
	for name := range values {
		if !slices.ContainsFunc(v.Params, func(p Param) bool { return p.Name == name }) {
			return "", invalid("", "the verified query %s has no parameter %s", v.Name, name)
		}
	}
	tokens := slices.Collect(d.text.Tokens(v.SQL))
	var b strings.Builder
	for i := 0; i < len(tokens); i++ {
		name := tokens[i].Text
		apart := name == ":" && i+1 < len(tokens) && tokens[i+1].Kind == sqltext.Word // dialects without :name
		if apart {
			name += tokens[i+1].Text
		}
		at := slices.IndexFunc(v.Params, func(p Param) bool { return ":"+p.Name == name })
		if at < 0 {
			b.WriteString(tokens[i].Text)
			continue
		}
		value, given := values[v.Params[at].Name]
		if !given {
			value = v.Params[at].Default
		}
		b.WriteString(d.literal(value))
		if apart {
			i++
		}
	}
	return b.String(), nil
}

// logical puts the tables that a statement names in front of it, each with the columns of the model.
func (m Model) logical(d dialect, sql string) (string, error) {
	s := d.text.Parse(sql)
	m.Tables = slices.Clone(m.Tables)
	c := &compiler{m: &m, g: newGraph(&m), d: d}
	var tables []string
	for i := range m.Tables {
		t := &m.Tables[i]
		named := slices.ContainsFunc(s.Tables(), func(r sqlshape.TableRef) bool {
			return r.Base() && strings.EqualFold(r.Name, t.Name)
		})
		if !named {
			continue
		}
		if d.circular {
			t.Source = m.stored(d, t)
		}
		q := c.query(i)
		var items []string
		for _, column := range c.m.logicalColumns(i) {
			items = append(items, q.column(q.nodes[0], column)+" AS "+d.name(column))
		}
		if len(items) == 0 {
			continue
		}
		text, err := q.selected(items, nil)
		if err != nil {
			return "", err
		}
		tables = append(tables, d.name(t.Name)+" AS ("+text+")")
	}
	if len(tables) == 0 {
		return sql, nil
	}
	with := "WITH " + strings.Join(tables, ", ")
	trimmed := strings.TrimSpace(sql)
	if len(trimmed) > 5 && strings.EqualFold(trimmed[:4], "WITH") && !strings.ContainsAny(trimmed[4:5], "_0123456789") {
		return with + ", " + strings.TrimSpace(trimmed[4:]), nil
	}
	return with + " " + sql, nil
}

// stored returns the source of a table for a dialect in which every WITH clause hides the stored table of its name:
// names of the model's tables get the schema main.
func (m *Model) stored(d dialect, t *Table) string {
	if !t.isQuery() {
		source := cmp.Or(t.Source, t.Name)
		if !strings.Contains(source, ".") {
			source = "main." + source
		}
		return source
	}

	source := t.Source
	for _, r := range slices.Backward(d.text.Parse(t.Source).Tables()) {
		if r.Base() && r.Schema == "" && m.table(r.Name) >= 0 {
			source = source[:r.Pos] + "main." + source[r.Pos:]
		}
	}
	return source
}

// logicalColumns are the columns of a table that the model knows: named ones, keys, and those of relationships.
func (m *Model) logicalColumns(table int) []string {
	t := &m.Tables[table]
	var names []string
	add := func(all ...string) {
		for _, name := range all {
			if !containsFold(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, c := range t.Columns {
		add(c.Name)
	}
	for _, key := range t.Keys {
		add(key...)
	}
	for _, r := range m.Relationships {
		if m.table(r.From) == table {
			add(r.columns(0)...)
		}
		if m.table(r.To) == table {
			add(r.columns(1)...)
		}
	}
	return names
}
