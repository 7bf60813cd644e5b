package schema

import (
	"strconv"
	"strings"
)

// writeDDL writes a CREATE statement over several lines, with comments.
func writeDDL(v *view, d detail) block {
	columns, missing := v.shown(d)
	var b strings.Builder
	if d.descriptions && v.description != "" {
		b.WriteString("-- " + v.description + "\n")
	}
	b.WriteString("CREATE " + v.create + " " + v.name)
	if len(columns) == 0 {
		b.WriteString(";")
		if missing > 0 {
			b.WriteString(" -- columns not shown")
		}
		b.WriteString("\n")
		return block{body: b.String(), missing: missing}
	}
	b.WriteString(" (\n")

	// Lines are written without their comma, which goes before the comment.
	type line struct{ text, comment string }
	var lines []line
	for i := range columns {
		c := &columns[i]
		text := c.name
		if c.typ != "" {
			text += " " + c.typ
		}
		if c.sole {
			text += " PRIMARY KEY"
		}
		if c.unique {
			text += " UNIQUE"
		}
		if c.notNull {
			text += " NOT NULL"
		}
		notes := c.notes(d)
		if examples := c.some(d.examples); len(examples) > 0 {
			notes = append(notes, "e.g. "+strings.Join(examples, ", "))
		}
		lines = append(lines, line{text, strings.Join(notes, "; ")})
	}
	if len(v.primaryKey) > 0 {
		lines = append(lines, line{text: "PRIMARY KEY (" + strings.Join(v.primaryKey, ", ") + ")"})
	}
	if missing == 0 {
		for _, u := range v.unique {
			lines = append(lines, line{text: "UNIQUE (" + strings.Join(u, ", ") + ")"})
		}
	}
	for _, k := range v.foreignKeys {
		lines = append(lines, line{text: k.clause()})
	}
	for i, l := range lines {
		b.WriteString("  " + l.text)
		if i < len(lines)-1 {
			b.WriteString(",")
		}
		if l.comment != "" {
			b.WriteString(" -- " + l.comment)
		}
		b.WriteString("\n")
	}
	if missing > 0 {
		b.WriteString("  -- " + moreColumns(missing) + "\n")
	}
	b.WriteString(");\n")
	return block{body: b.String(), missing: missing}
}

// writeCode writes a line: name(column type, …) with its keys, and behind it the
// descriptions.
func writeCode(v *view, d detail) block {
	columns, missing := v.shown(d)
	var parts, notes []string
	if d.descriptions && v.description != "" {
		notes = append(notes, v.description)
	}
	for i := range columns {
		c := &columns[i]
		if about := c.notes(d); len(about) > 0 {
			notes = append(notes, c.name+": "+strings.Join(about, ", "))
		}
		text := c.name
		if c.typ != "" {
			text += " " + c.typ
		}
		if c.sole {
			text += " PRIMARY KEY"
		}
		for _, k := range v.foreignKeys {
			if len(k.columns) == 1 && k.columns[0] == c.name {
				text += " REFERENCES " + k.table + "(" + strings.Join(k.refs, ", ") + ")"
			}
		}
		parts = append(parts, text)
	}
	if !d.nameOnly {
		if len(v.primaryKey) > 0 {
			parts = append(parts, "PRIMARY KEY ("+strings.Join(v.primaryKey, ", ")+")")
		}
		for _, k := range v.foreignKeys {
			if len(k.columns) > 1 {
				parts = append(parts, k.clause())
			}
		}
	}
	if missing > 0 {
		parts = append(parts, "… "+strconv.Itoa(missing)+" more")
	}
	text := v.name
	if len(parts) > 0 {
		text += "(" + strings.Join(parts, ", ") + ")"
	}
	if len(notes) > 0 {
		text += " -- " + strings.Join(notes, "; ")
	}
	return block{body: text + "\n", missing: missing}
}

// writeMSchema writes the tuples of a table, and its foreign keys as the tail.
func writeMSchema(v *view, d detail) block {
	columns, missing := v.shown(d)
	var b strings.Builder
	b.WriteString("# Table: " + v.name)
	if d.descriptions && v.description != "" {
		b.WriteString(", " + v.description)
	}
	b.WriteString("\n[\n")
	for i := range columns {
		c := &columns[i]
		b.WriteString("(" + c.name)
		if c.typ != "" {
			b.WriteString(":" + c.typ)
		}
		if c.primary {
			b.WriteString(", Primary Key")
		}
		for _, note := range c.notes(d) {
			b.WriteString(", " + note)
		}
		if examples := c.some(d.examples); len(examples) > 0 {
			b.WriteString(", Examples: [" + strings.Join(examples, ", ") + "]")
		}
		b.WriteString(")")
		if i < len(columns)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	if missing > 0 {
		b.WriteString("… " + moreColumns(missing) + "\n")
	}
	b.WriteString("]\n")
	var tail strings.Builder
	if !d.nameOnly {
		for _, k := range v.foreignKeys {
			tail.WriteString(k.equation(v.name) + "\n")
		}
	}
	return block{body: b.String(), tail: tail.String(), missing: missing}
}

// clause is the foreign key as a table constraint.
func (k keyView) clause() string {
	return "FOREIGN KEY (" + strings.Join(k.columns, ", ") + ") REFERENCES " + k.table + "(" + strings.Join(k.refs, ", ") + ")"
}

// equation is the foreign key as M-Schema writes it.
func (k keyView) equation(table string) string {
	if len(k.columns) == 1 && len(k.refs) == 1 {
		return table + "." + k.columns[0] + "=" + k.table + "." + k.refs[0]
	}
	return table + ".(" + strings.Join(k.columns, ", ") + ")=" + k.table + ".(" + strings.Join(k.refs, ", ") + ")"
}
