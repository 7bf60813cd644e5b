package exec

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Names writes names of a dialect for people and prompts. It is a [schema.Quoter] and a quoter of schemas in catalogs.
type Names struct{ Dialect Dialect }

// Quote writes a name without quotes if no engine needs them, else as the dialect quotes it.
func (n Names) Quote(name string) string {
	if name = schema.ShownName(name); schema.QuoteName(name) == name {
		return name
	}
	return n.Dialect.Language().Quote(name)
}

// QuoteSchema writes the name of a schema, with its catalog if it has one.
func (n Names) QuoteSchema(name string) string {
	if l := n.Dialect.Language(); l.QuoteSchemaName != nil {
		return l.QuoteSchemaName(name)
	}
	return n.Quote(name)
}

// ColumnOf finds the one column that a mention means: in the table that the text names, or else in the only table of
// its Scope that has the column. The name is spelled as in s. t is nil if no table or several tables have the column.
func ColumnOf(s *schema.Schema, r sqltext.ColumnRef) (t *schema.Table, column string) {
	scope := r.Scope
	if r.Table != "" {
		scope = []sqltext.TableRef{{Schema: r.Schema, Name: r.Table}}
	} else if r.Qualifier != "" {
		return nil, ""
	}
	for _, ref := range scope {
		found, ok := s.Lookup(ref.Schema, ref.Name)
		if !ok || found == t {
			continue
		}
		if c, ok := found.Column(r.Column); ok {
			if t != nil {
				return nil, "" // ambiguous
			}
			t, column = found, c.Name
		}
	}
	return t, column
}

// hasColumn reports whether some table of a scope has a column of that name.
func hasColumn(s *schema.Schema, scope []sqltext.TableRef, name string) bool {
	return slices.ContainsFunc(scope, func(ref sqltext.TableRef) bool {
		t, ok := s.Lookup(ref.Schema, ref.Name)
		if !ok {
			return false
		}
		_, ok = t.Column(name)
		return ok
	})
}

// ColumnNames returns a function that writes columns for sqltext.Statement.Conditions in one way, whatever alias a
// statement uses: behind the table that s tells, both written by [Names]. A column of no known table is written
// alone, in lower case. "x" beside a comparison is a string if no table around it has a column x.
func ColumnNames(s *schema.Schema, d Dialect) func(sqltext.ColumnRef) string {
	return func(r sqltext.ColumnRef) string {
		if t, column := ColumnOf(s, r); t != nil {
			names := Names{d}
			return names.Quote(t.Name) + "." + names.Quote(column)
		}
		if r.Qualifier == "" && r.Quote == '"' && r.Operand && !hasColumn(s, r.Scope, r.Column) {
			return ""
		}
		return strings.ToLower(r.Column)
	}
}

// TablesOf returns the tables read, spelled as in s. Tables of its default schema have the Schema "".
func (a Analysis) TablesOf(s *schema.Schema) []TableRead {
	read := slices.Clone(a.Tables)
	for i := range read {
		t := &read[i]
		if strings.EqualFold(t.Schema, s.Default) {
			t.Schema = ""
		}
		if found, ok := s.Lookup(t.Schema, t.Table); ok {
			t.Schema, t.Table = found.Schema, found.Name
		}
	}
	return read
}
