package schema

import (
	"cmp"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
)

// TableName is the unquoted name of a table, as the schema writes it.
type TableName struct {
	Schema string `json:"schema,omitempty"` // the attached database or schema; "" is the default one
	Name   string `json:"name"`             // the table
}

// Link returns the link to the table with the named columns, or with all of its columns if there are no names.
func (t TableName) Link(columns ...string) TableLink {
	return TableLink{Schema: t.Schema, Table: t.Name, Columns: columns}
}

// String returns the name, with the name of its schema in front if it has one.
func (t TableName) String() string {
	if t.Schema != "" {
		return t.Schema + "." + t.Name
	}
	return t.Name
}

// TableName returns the name of t.
func (t *Table) TableName() TableName { return TableName{t.Schema, t.Name} }

// References returns the foreign keys of t to other tables, one line each, for a text about t only. For a text about
// several tables, [Renderer] shows the keys between them. t is a table of a schema from [Schema.Presentable]. A nil q
// uses double quotes where necessary.
func (t *Table) References(q Quoter) (lines string) {
	if q == nil {
		q = quoterFunc(prompttext.QuoteName)
	}
	for _, k := range t.ForeignKeys {
		if to := (TableName{cmp.Or(k.RefSchema, t.Schema), k.RefTable}); to != t.TableName() {
			lines += "FOREIGN KEY (" + prompttext.List(q.Quote, k.Columns) + ") REFERENCES " + to.Quoted(q) + "(" +
				prompttext.List(q.Quote, k.RefColumns) + ")\n"
		}
	}
	return lines
}

// Quoter quotes names as identifiers of a dialect. For an engine with catalogs, the schema of another catalog is called
// "catalog.schema". Such a Quoter also has a method QuoteSchema(name string) string, which writes that as two
// identifiers.
type Quoter interface{ Quote(name string) string }

// quoterFunc is a function as a [Quoter].
type quoterFunc func(name string) string

// Quote calls f.
func (f quoterFunc) Quote(name string) string { return f(name) }

// Quoted returns the name with all its parts quoted. A nil q uses double quotes where necessary.
func (t TableName) Quoted(q Quoter) string {
	if q == nil {
		q = quoterFunc(prompttext.QuoteName)
	}
	if t.Schema == "" {
		return q.Quote(t.Name)
	}
	if s, ok := q.(interface{ QuoteSchema(name string) string }); ok {
		return s.QuoteSchema(t.Schema) + "." + q.Quote(t.Name)
	}
	return q.Quote(t.Schema) + "." + q.Quote(t.Name)
}

// compare orders names by schema, then by name, byte by byte.
func (t TableName) compare(o TableName) int {
	return cmp.Or(strings.Compare(t.Schema, o.Schema), strings.Compare(t.Name, o.Name))
}

// ColumnName is the unquoted name of a column, as the schema writes it.
type ColumnName struct {
	Table  TableName `json:"table"`  // the table that has the column
	Column string    `json:"column"` // the column
}

// String returns "table.column".
func (c ColumnName) String() string { return c.Table.String() + "." + c.Column }

// Quoted returns the name with all its parts quoted. A nil q uses double quotes where necessary.
func (c ColumnName) Quoted(q Quoter) string {
	if q == nil {
		q = quoterFunc(prompttext.QuoteName)
	}
	return c.Table.Quoted(q) + "." + q.Quote(c.Column)
}

// sameName reports whether two names are the same to an SQL engine, or one is the shown form of the other.
func sameName(a, b string) bool {
	if EqualFold(a, b) {
		return true
	}
	escaped := strings.IndexByte(a, '\\') >= 0 || strings.IndexByte(b, '\\') >= 0
	return escaped && EqualFold(prompttext.ShownName(a), prompttext.ShownName(b))
}
