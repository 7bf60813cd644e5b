package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a table with all its texts cleaned and quoted, ready to be written in
// any form. It is made once; a budget may have it written several times.
type view struct {
	schema, table string // raw, for reports
	create        string // "TABLE", "VIEW" or "VIRTUAL TABLE"
	name          string // quoted, with its schema
	description   string
	columns       []columnView
	primaryKey    []string   // quoted; only where it has several columns
	unique        [][]string // quoted; only those of several columns
	foreignKeys   []keyView
}

type columnView struct {
	name        string // quoted
	typ         string
	title       string // "" where it says no more than the name
	description string
	values      string
	examples    []string // literals
	key         bool     // part of some key, of this table or of one that refers to it
	primary     bool
	sole        bool // the only column of the primary key
	notNull     bool
	unique      bool
}

type keyView struct {
	columns []string // quoted
	table   string   // quoted, with its schema
	refs    []string // quoted
}

// plainColumns counts the columns that are part of no key.
func (v *view) plainColumns() int {
	n := 0
	for i := range v.columns {
		if !v.columns[i].key {
			n++
		}
	}
	return n
}

// shown returns the columns to show under d and the number of those left out.
func (v *view) shown(d detail) ([]columnView, int) {
	switch {
	case d.nameOnly:
		return nil, len(v.columns)
	case d.columns < 0:
		return v.columns, 0
	}
	plain := 0
	out := make([]columnView, 0, len(v.columns))
	for _, c := range v.columns {
		if !c.key {
			if plain++; plain > d.columns {
				continue
			}
		}
		out = append(out, c)
	}
	return out, len(v.columns) - len(out)
}

// views prepares the tables of s, which is presentable.
func (r Renderer) views(s *Schema) []view {
	quote := r.Quote
	if quote == nil {
		quote = QuoteName
	}
	quoteAll := func(names []string) []string {
		out := make([]string, len(names))
		for i, n := range names {
			out[i] = quote(n)
		}
		return out
	}
	qualified := func(t *Table) string {
		if t.Schema == "" {
			return quote(t.Name)
		}
		return quote(t.Schema) + "." + quote(t.Name)
	}

	index := s.index()
	views := make([]view, len(s.Tables))
	for i := range s.Tables {
		t := &s.Tables[i]
		v := &views[i]
		v.schema, v.table = t.Schema, t.Name
		v.create = createWord(t.Kind)
		v.name = qualified(t)
		v.columns = make([]columnView, len(t.Columns))
		if !r.WithoutDescriptions {
			v.description = Comment(t.Description)
		}
		for j := range t.Columns {
			v.columns[j] = r.columnView(&t.Columns[j], quote)
		}
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		v := &views[i]
		for _, name := range t.PrimaryKey {
			if c := v.column(t, name); c != nil {
				c.key, c.primary, c.sole = true, true, len(t.PrimaryKey) == 1
			}
		}
		if len(t.PrimaryKey) > 1 {
			v.primaryKey = quoteAll(t.PrimaryKey)
		}
		for _, u := range t.Unique {
			if len(u) > 1 {
				v.unique = append(v.unique, quoteAll(u))
			} else if len(u) == 1 {
				if c := v.column(t, u[0]); c != nil {
					c.unique = true
				}
			}
		}
		for _, k := range t.ForeignKeys {
			ref := index.target(t, k)
			if ref < 0 {
				continue // Presentable leaves none
			}
			v.foreignKeys = append(v.foreignKeys, keyView{quoteAll(k.Columns), qualified(&s.Tables[ref]), quoteAll(k.RefColumns)})
			for _, name := range k.Columns {
				if c := v.column(t, name); c != nil {
					c.key = true
				}
			}
			for _, name := range k.RefColumns {
				if c := views[ref].column(&s.Tables[ref], name); c != nil {
					c.key = true
				}
			}
		}
	}
	return views
}

func (v *view) column(t *Table, name string) *columnView {
	if i := t.columnIndex(name); i >= 0 {
		return &v.columns[i]
	}
	return nil
}

func createWord(k Kind) string {
	switch k {
	case View:
		return "VIEW"
	case Virtual:
		return "VIRTUAL TABLE"
	}
	return "TABLE"
}

func (r Renderer) columnView(c *Column, quote func(string) string) columnView {
	v := columnView{name: quote(c.Name), typ: typeText(c.Type), notNull: c.NotNull}
	if !r.WithoutDescriptions {
		if title := Comment(c.Title); !sameWords(title, c.Name) {
			v.title = title
		}
		if v.description = Comment(c.Description); sameWords(v.description, v.title) || sameWords(v.description, c.Name) {
			v.description = ""
		}
		v.values = Comment(c.Values)
	}
	if n := r.examples(); n > 0 && !c.Sensitive {
		v.examples = exampleTexts(c.Profile, n, cmp.Or(max(r.ValueRunes, 0), maxValueRunes))
	}
	return v
}

// exampleTexts writes the first n values of p that can be shown. Without
// examples of its own, a profile shows its most frequent values.
func exampleTexts(p *Profile, n, maxRunes int) []string {
	if p == nil {
		return nil
	}
	values := p.Examples
	if len(values) == 0 {
		for _, v := range p.Top {
			values = append(values, v.Value)
		}
	}
	var out []string
	for _, v := range values {
		if len(out) == n {
			break
		}
		if v == nil {
			continue
		}
		if text, ok := LiteralWithin(v, maxRunes); ok && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// typeText is a declared type as a prompt may show it: SQLite takes any words
// for a type, so it is cleaned as a comment is; one too long for a type is left
// out.
func typeText(declared string) string {
	text := Comment(declared)
	if strings.Contains(text, "--") || strings.Contains(text, "/*") || utf8.RuneCountInString(declared) > maxCommentRunes {
		return ""
	}
	return text
}

// sameWords reports whether a text is a name but for case and what separates the
// words, so that it says no more than the name.
func sameWords(text, name string) bool {
	// Most texts are empty or far longer than a name: no need to look closer.
	return text != "" && len(text) <= 2*len(name) && squeeze(text) == squeeze(name)
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '_', '-':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// notes joins what is said about a column beside its type.
func (c *columnView) notes(d detail) []string {
	var out []string
	if d.descriptions {
		switch {
		case c.title != "" && c.description != "":
			out = append(out, c.title+": "+c.description)
		case c.title != "" || c.description != "":
			out = append(out, c.title+c.description)
		}
	}
	if d.valueNotes && c.values != "" {
		out = append(out, c.values)
	}
	return out
}

// some returns the first n examples.
func (c *columnView) some(n int) []string { return c.examples[:min(n, len(c.examples))] }

// moreColumns says how many columns are not shown.
func moreColumns(n int) string {
	if n == 1 {
		return "1 more column"
	}
	return strconv.Itoa(n) + " more columns"
}
