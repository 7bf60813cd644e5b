package schema

import (
	"strconv"
	"unicode/utf8"
)

// writer collects a text.
type writer []byte

func (w *writer) add(texts ...string) {
	for _, text := range texts {
		*w = append(*w, text...)
	}
}

func (w writer) size() size { return size{utf8.RuneCount(w), len(w)} }

// list returns a function that adds first when it is called first, and then sep.
func (w *writer) list(first, sep string) (next func()) {
	return func() {
		w.add(first)
		first = sep
	}
}

// layout is what makes a form. All its functions write the same text each time.
type layout struct {
	sections []section
	// write adds what a section says about a table. Nothing added: the section does not mention the table.
	write func(w *writer, v *view, d detail, section int)
	steps []step // how a text is shortened, in their order
}

// section is a part of the text that goes over all tables.
type section struct {
	head, sep string // before the first table, between two
}

const maxSections = 2

func (r Renderer) layout() layout {
	steps := []step{
		{"fewer_examples", true, func(d *detail) { d.examples = min(d.examples, 1) }},
		{"no_examples", true, func(d *detail) { d.examples = min(d.examples, 0) }},
		{"no_value_notes", false, func(d *detail) { d.valueNotes = false }},
		{"no_descriptions", false, func(d *detail) { d.descriptions = false }},
		{"fewer_columns", false, nil},
		{"name_only", false, func(d *detail) { d.nameOnly = true }},
	}
	switch r.Form {
	case Code:
		return layout{[]section{{}}, writeCode, steps}
	case MSchema:
		return layout{[]section{{head: "【Schema】\n"}, {head: "【Foreign keys】\n"}}, writeMSchema, steps}
	}
	return layout{[]section{{sep: "\n"}}, writeDDL, steps}
}

// moreColumns says how many columns are not shown.
func moreColumns(n int) string {
	if n == 1 {
		return "1 more column"
	}
	return strconv.Itoa(n) + " more columns"
}

// writeDDL writes a CREATE statement over several lines, with comments.
func writeDDL(w *writer, v *view, d detail, _ int) {
	if d.descriptions && v.description != "" {
		w.add("-- ", v.description, "\n")
	}
	w.add("CREATE ", v.create, " ", v.name)
	missing := v.missing(d)
	if missing == len(v.columns) {
		w.add(";")
		if missing > 0 {
			w.add(" -- columns not shown")
		}
		w.add("\n")
		return
	}
	w.add(" (\n")
	lines := len(v.columns) - missing
	for _, k := range v.constraints {
		if missing == 0 || !k.unique {
			lines++
		}
	}
	// The comma of a line stands before its comment; the last line has none.
	comma := func() {
		if lines--; lines > 0 {
			w.add(",")
		}
	}
	for c := range v.shown(d) {
		w.add("  ")
		c.ddl(w)
		comma()
		next := w.list(" -- ", "; ")
		for note := range c.notes(d) {
			next()
			w.add(note)
		}
		if examples := c.some(d); examples != "" {
			next()
			w.add("e.g. ", examples)
		}
		w.add("\n")
	}
	for _, k := range v.constraints {
		if missing == 0 || !k.unique {
			w.add("  ", k.text)
			comma()
			w.add("\n")
		}
	}
	if missing > 0 {
		w.add("  -- ", moreColumns(missing), "\n")
	}
	w.add(");\n")
}

// ddl writes a column without what is said about it.
func (c *columnView) ddl(w *writer) {
	c.code(w)
	if c.unique {
		w.add(" UNIQUE")
	}
	if c.notNull {
		w.add(" NOT NULL")
	}
}

// writeCode writes one line: name(column type, …) with its keys, and behind it the descriptions.
func writeCode(w *writer, v *view, d detail, _ int) {
	w.add(v.name)
	start := len(*w)
	next := w.list("(", ", ")
	for c := range v.shown(d) {
		next()
		c.code(w)
		w.add(c.references)
	}
	if !d.nameOnly {
		for _, k := range v.constraints {
			if k.wide {
				next()
				w.add(k.text)
			}
		}
	}
	if n := v.missing(d); n > 0 {
		next()
		w.add("… ", strconv.Itoa(n), " more")
	}
	if len(*w) > start {
		w.add(")")
	}
	next = w.list(" -- ", "; ")
	if d.descriptions && v.description != "" {
		next()
		w.add(v.description)
	}
	v.about(w, d, next, "", ", ")
	w.add("\n")
}

// about writes what is said about the columns: each behind its name, the notes of one with sep between them.
func (v *view) about(w *writer, d detail, next func(), prefix, sep string) {
	for c := range v.shown(d) {
		before := ": "
		for note := range c.notes(d) {
			if before == ": " {
				next()
				w.add(prefix, c.name)
			}
			w.add(before, note)
			before = sep
		}
	}
}

// code writes a column without its reference.
func (c *columnView) code(w *writer) {
	w.add(c.name)
	if c.typ != "" {
		w.add(" ", c.typ)
	}
	if c.sole {
		w.add(" PRIMARY KEY")
	}
}

// writeMSchema writes the tuples of a table, and its foreign keys into the second section.
func writeMSchema(w *writer, v *view, d detail, section int) {
	if section == 1 {
		for _, k := range v.foreignKeys {
			switch {
			case d.nameOnly:
			case k.single:
				w.add(v.name, ".", k.columns, "=", k.table, ".", k.refs, "\n")
			default:
				w.add(v.name, ".(", k.columns, ")=", k.table, ".(", k.refs, ")\n")
			}
		}
		return
	}
	w.add("# Table: ", v.name)
	if d.descriptions && v.description != "" {
		w.add(", ", v.description)
	}
	w.add("\n[")
	next := w.list("\n", ",\n")
	for c := range v.shown(d) {
		next()
		w.add("(")
		c.mschema(w)
		for note := range c.notes(d) {
			w.add(", ", note)
		}
		if examples := c.some(d); examples != "" {
			w.add(", Examples: [", examples, "]")
		}
		w.add(")")
	}
	w.add("\n")
	if n := v.missing(d); n > 0 {
		w.add("… ", moreColumns(n), "\n")
	}
	w.add("]\n")
}

// mschema writes a column without what is said about it.
func (c *columnView) mschema(w *writer) {
	w.add(c.name)
	if c.typ != "" {
		w.add(":", c.typ)
	}
	if c.primary {
		w.add(", Primary Key")
	}
}
