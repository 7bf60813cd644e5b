package petsql

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/schema"
)

// maxValueRunes is the longest text that REp shows as a value. A longer one is left out, because a value that was cut
// matches nothing.
const maxValueRunes = 40

// form is the description of a database as REp has it: lines of each section, comments all of them.
type form struct {
	names                          schema.Quoter
	without                        parts
	published                      bool
	tables, values, keys, comments []string
}

// add writes a table of s, which can be shown as it is, into the sections.
func (f *form) add(s *schema.Schema, t *schema.Table, sample schema.Sample) {
	name := t.TableName().Quoted(f.names)
	if text := prompttext.Comment(t.Description); text != "" {
		f.comments = append(f.comments, name+": "+text)
	}
	var columns, values []string
	for _, c := range t.Columns {
		column := f.names.Quote(c.Name)
		columns = append(columns, strings.TrimSpace(column+" "+plainType(c.Type)))
		values = append(values, column+f.valuesOf(c, sample))
		if text := about(c); text != "" {
			f.comments = append(f.comments, name+"."+column+": "+text)
		}
	}
	if len(t.PrimaryKey) > 0 {
		columns = append(columns, "PRIMARY KEY ("+prompttext.List(f.names.Quote, t.PrimaryKey)+")")
	}
	f.tables = append(f.tables, name+"("+strings.Join(columns, ", ")+")")
	f.values = append(f.values, name+"("+strings.Join(values, ",")+")")
	for _, k := range t.ForeignKeys {
		if to, ok := s.Lookup(cmp.Or(k.RefSchema, t.Schema), k.RefTable); ok {
			f.keys = append(f.keys, name+"("+prompttext.List(f.names.Quote, k.Columns)+") REFERENCES "+
				to.TableName().Quoted(f.names)+"("+prompttext.List(f.names.Quote, k.RefColumns)+")")
		}
	}
}

// valuesOf writes the values of a column in the rows of a sample, in brackets: each once, as published all of them.
func (f *form) valuesOf(c schema.Column, sample schema.Sample) string {
	at := slices.Index(sample.Columns, c.Name)
	if at < 0 || c.Sensitive {
		return ""
	}
	var values []string
	for _, row := range sample.Rows {
		if text, ok := row[at].(string); ok && utf8.RuneCountInString(text) > maxValueRunes {
			continue
		}
		write := prompttext.Literal
		if f.published {
			write = publishedValue
		}
		value, ok := write(row[at])
		if ok && (f.published || row[at] != nil && !slices.Contains(values, value)) {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "[" + strings.Join(values, ",") + "]"
}

// about is what is said of a column, where it is more than the name.
func about(c schema.Column) string {
	var notes []string
	for _, text := range []string{c.Title, cmp.Or(prompttext.Comment(c.Description), c.Described), c.Values} {
		if text = prompttext.Comment(text); text != "" && !strings.EqualFold(text, c.Name) {
			notes = append(notes, text)
		}
	}
	return strings.Join(notes, "; ")
}

// plainType is a declared type where nothing in it could be taken for another part of the line; "" where it could.
// SQLite takes any words for a type.
func plainType(declared string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ (),"
	text := prompttext.Comment(declared)
	if len(text) > 40 || strings.Trim(text, letters) != "" {
		return ""
	}
	return text
}

// write writes the sections. engine is what their headings call its tables.
func (f *form) write(engine string) string {
	values, keys, end := "### Sample values:\n", "### Foreign keys:\n", ".\n"
	if f.published {
		values, end = "### Here are some data information about database references.\n", ";\n"
		keys = "### Foreign key information of " + engine + " tables, used for table joins: \n"
	}
	text := section("", f.tables, ";\n# ", ".\n")
	if !f.without.Values {
		text += section(values, f.values, ";\n# ", end)
	}
	if len(f.keys) > 0 {
		text += section(keys, f.keys, ";\n# ", "\n")
	}
	if len(f.comments) > 0 && !f.without.Descriptions {
		text += section("### Descriptions:\n", f.comments, "\n# ", "\n")
	}
	return text
}

func section(head string, lines []string, sep, end string) string {
	if len(lines) == 0 {
		return head + "#\n#\n"
	}
	return head + "#\n# " + strings.Join(lines, sep) + end + "#\n"
}

// describe writes s in at most so many bytes, if it can: it loses the values of the table whose values take most, then
// of the next.
func (f *form) describe(s *schema.Schema, engine string, samples []schema.Sample, most int) (out schema.Rendering) {
	bare := form{names: f.names}
	for i := range s.Tables {
		t := &s.Tables[i]
		var sample schema.Sample
		if at := slices.IndexFunc(samples, func(o schema.Sample) bool { return o.Table == t.TableName() }); at >= 0 {
			sample = samples[at]
		}
		f.add(s, t, sample)
		bare.add(s, t, schema.Sample{})
	}
	saved := func(i int) int { return len(f.values[i]) - len(bare.values[i]) }
	size := len(f.write(engine))
	for size > most && len(f.values) > 0 {
		i := 0
		for k := range f.values {
			if saved(k) > saved(i) {
				i = k
			}
		}
		if saved(i) == 0 {
			break
		}
		size -= saved(i)
		f.values[i] = bare.values[i]
		out.Reduced = append(out.Reduced, schema.Reduction{Table: s.Tables[i].TableName(), Step: "no_examples",
			OnlyValues: true})
	}
	out.Text = f.write(engine)
	out.Tokens, out.OverBudget = prompttext.EstimateTokens(out.Text), size > most
	return out
}
