package schema

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
)

// view is a table with all its texts cleaned and quoted, ready to be written. It is made once; a budget may have it
// written several times.
type view struct {
	of          TableName // raw, for reports
	name        string    // quoted, with its schema
	create      string    // "TABLE", "VIEW" or "VIRTUAL TABLE"
	description string
	columns     []columnView
	plain       int    // number of columns that are part of no key
	primaryKey  string // its columns, quoted
	foreignKeys []keyView
	constraints []constraint
}

// columnView is a column of a view.
type columnView struct {
	name       string // quoted
	typ        string // "" where it cannot be shown
	about      string // title and description, "" where they say no more than the name
	values     string // what the values mean
	examples   string // literals, joined
	first      int    // length of the first example
	references string // in Code: " REFERENCES table(column)" for each foreign key of this column alone
	key        bool   // part of a key, of this table or of one that refers to it
	primary    bool   // part of the primary key
	sole       bool   // the only column of the primary key
	notNull    bool
	unique     bool
}

// keyView is a foreign key. Lists of columns are joined.
type keyView struct {
	columns, table, refs string // quoted
	single               bool   // one column
}

// constraint is a clause of a CREATE statement.
type constraint struct {
	text   string
	unique bool // left out together with the first column
	wide   bool // a key of several columns
}

// missing counts the columns that d leaves out.
func (v *view) missing(d detail) int {
	if d.nameOnly {
		return len(v.columns)
	}
	return max(v.plain-d.columns, 0)
}

// shown returns the columns that d shows.
func (v *view) shown(d detail) iter.Seq[*columnView] {
	return func(yield func(*columnView) bool) {
		if d.nameOnly {
			return
		}
		plain := 0
		for i := range v.columns {
			c := &v.columns[i]
			if !c.key {
				plain++
			}
			if (c.key || plain <= d.columns) && !yield(c) {
				return
			}
		}
	}
}

// notes returns what is said about a column under d.
func (c *columnView) notes(d detail) iter.Seq[string] {
	return func(yield func(string) bool) {
		if d.descriptions && c.about != "" && !yield(c.about) {
			return
		}
		if d.valueNotes && c.values != "" {
			yield(c.values)
		}
	}
}

// some returns the examples that d shows, joined.
func (c *columnView) some(d detail) string {
	switch {
	case d.examples <= 0:
		return ""
	case d.examples == 1:
		return c.examples[:c.first]
	}
	return c.examples
}

// preparer makes views.
type preparer struct {
	Renderer
	s        *Schema
	views    []view // of the tables of s
	examples int    // most examples of a column
	literal  []byte // scratch for one literal
	joined   []byte // examples of one column
	ends     []int  // where each of them ends
}

// prepare makes the views of s, which is presentable, in the order of the text.
func (r Renderer) prepare(ctx context.Context, s *Schema) ([]view, error) {
	if r.Names == nil {
		r.Names = quoterFunc(prompttext.QuoteName)
	}
	p := preparer{Renderer: r, s: s, views: make([]view, len(s.Tables)), examples: r.full().examples}
	index := s.index()
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, v := &s.Tables[i], &p.views[i]
		v.of = t.TableName()
		v.name = v.of.Quoted(r.Names)
		p.table(v, t)
	}
	for i := range s.Tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, k := range s.Tables[i].ForeignKeys {
			if ref := index.target(&s.Tables[i], k); ref >= 0 {
				p.foreignKey(i, ref, k)
			}
		}
	}
	for i := range p.views {
		for j := range p.views[i].columns {
			if !p.views[i].columns[j].key {
				p.views[i].plain++
			}
		}
	}
	return p.views, nil
}

// table fills in what a table says of itself.
func (p *preparer) table(v *view, t *Table) {
	v.create = "TABLE"
	switch t.Kind {
	case "view":
		v.create = "VIEW"
	case "virtual":
		v.create = "VIRTUAL TABLE"
	}
	if !p.WithoutExpertText {
		v.description = prompttext.Comment(t.Description)
	}
	v.columns = make([]columnView, len(t.Columns))
	for j := range t.Columns {
		p.column(&v.columns[j], &t.Columns[j])
	}
	for _, name := range t.PrimaryKey {
		if c := v.column(t, name); c != nil {
			c.key, c.primary, c.sole = true, true, len(t.PrimaryKey) == 1
		}
	}
	v.primaryKey = p.names(t.PrimaryKey)
	if len(t.PrimaryKey) > 1 {
		v.constraints = append(v.constraints, constraint{text: "PRIMARY KEY (" + v.primaryKey + ")", wide: true})
	}
	for _, u := range t.Unique {
		if len(u) > 1 {
			v.constraints = append(v.constraints, constraint{text: "UNIQUE (" + p.names(u) + ")", unique: true})
		} else if len(u) == 1 {
			if c := v.column(t, u[0]); c != nil {
				c.unique = true
			}
		}
	}
}

// column fills in a column, keys aside.
func (p *preparer) column(v *columnView, c *Column) {
	v.name, v.typ, v.notNull = p.Names.Quote(c.Name), typeText(c.Type), c.NotNull
	if !p.WithoutExpertText || !p.WithoutModelText {
		var title, description string
		if !p.WithoutExpertText {
			title, description, v.values = prompttext.Comment(c.Title), prompttext.Comment(c.Description),
				prompttext.Comment(c.Values)
		}
		if described := prompttext.Comment(c.Described); described != "" && !p.WithoutModelText &&
			(p.WithoutExpertText || description == "") {
			description = described
		}
		if sameWords(title, c.Name) {
			title = ""
		}
		if sameWords(description, title) || sameWords(description, c.Name) {
			description = ""
		}
		if v.about = title + description; title != "" && description != "" {
			v.about = title + ": " + description
		}
	}
	if c.Profile == nil || c.Sensitive || p.Form == Code {
		return
	}
	for _, value := range c.Profile.Examples {
		p.example(value)
	}
	if len(c.Profile.Examples) == 0 {
		for _, top := range c.Profile.Top {
			p.example(top.Value)
		}
	}
	p.done(v)
}

// example adds the literal of a value to the examples of a column, unless it is there already or NULL.
func (p *preparer) example(value any) {
	if len(p.ends) >= p.examples || value == nil {
		return
	}
	var ok bool
	if p.literal, ok = prompttext.AppendLiteral(p.literal[:0], value); !ok {
		return
	}
	const sep = ", "
	start := 0
	for _, end := range p.ends {
		if bytes.Equal(p.joined[start:end], p.literal) {
			return
		}
		start = end + len(sep)
	}
	if start > 0 {
		p.joined = append(p.joined, sep...)
	}
	p.joined = append(p.joined, p.literal...)
	p.ends = append(p.ends, len(p.joined))
}

// done gives the examples to their column.
func (p *preparer) done(v *columnView) {
	if len(p.ends) > 0 {
		v.examples, v.first = string(p.joined), p.ends[0]
	}
	p.joined, p.ends = p.joined[:0], p.ends[:0]
}

// foreignKey fills in a key of table i, which refers to table ref. A view without columns shows none.
func (p *preparer) foreignKey(i, ref int, k ForeignKey) {
	v, to := &p.views[i], &p.views[ref]
	for _, name := range k.RefColumns {
		if c := to.column(&p.s.Tables[ref], name); c != nil {
			c.key = true
		}
	}
	if v.columns == nil {
		return
	}
	key := keyView{p.names(k.Columns), to.name, p.names(k.RefColumns), len(k.Columns) == 1}
	v.foreignKeys = append(v.foreignKeys, key)
	references := " REFERENCES " + key.table + "(" + key.refs + ")"
	v.constraints = append(v.constraints, constraint{text: "FOREIGN KEY (" + key.columns + ")" + references,
		wide: !key.single})
	for _, name := range k.Columns {
		if c := v.column(&p.s.Tables[i], name); c != nil {
			c.key = true
			if p.Form == Code && key.columns == c.name {
				c.references += references
			}
		}
	}
}

func (v *view) column(t *Table, name string) *columnView {
	if i := t.columnIndex(name); i >= 0 && i < len(v.columns) {
		return &v.columns[i]
	}
	return nil
}

// names quotes and joins names.
func (p *preparer) names(names []string) string { return prompttext.List(p.Names.Quote, names) }

// typeText is a declared type as a prompt may show it. SQLite takes any words for a type, so it is cleaned as a comment
// is, and left out if it is too long or has comments.
func typeText(declared string) string {
	text := prompttext.Comment(declared)
	if strings.Contains(text, "--") || strings.Contains(text, "/*") ||
		utf8.RuneCountInString(declared) > prompttext.MaxCommentRunes {
		return ""
	}
	return text
}

// sameWords reports whether a text says no more than a name: it is the name but for case and what separates the words.
func sameWords(text, name string) bool {
	// Most texts are empty or far longer than a name: no need to look closer.
	return text != "" && len(text) <= 2*len(name) && words.Squeeze(text) == words.Squeeze(name)
}
