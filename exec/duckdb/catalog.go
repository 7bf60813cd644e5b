package duckdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// defaultSchema is where DuckDB looks for a table without a schema.
const defaultSchema = "main"

// facts are what the guard knows of a database beside its relations. They do not change after they are read. All names
// are in lower case.
type facts struct {
	database  string                        // as DuckDB writes it
	relations map[[2]string]*guard.Relation // by schema and name
	schemas   map[string]bool               // that have a relation
	columns   map[string]bool               // names that some relation has
	functions map[string]bool               // that may be called
	added     map[string]bool               // those of them that the policy adds
	macros    map[string]bool               // of the database
}

func key(in, name string) [2]string { return [2]string{schema.FoldCase(in), schema.FoldCase(name)} }

// lookup finds a relation as the engine does: a.b is in the schema a, or in the database a.
func (f *facts) lookup(database, in, name string) *guard.Relation {
	if database != "" && !schema.EqualFold(database, f.database) {
		return nil
	}
	if in == "" || database == "" && schema.EqualFold(in, f.database) && !f.schemas[schema.FoldCase(in)] {
		in = defaultSchema
	}
	return f.relations[key(in, name)]
}

// identities returns a hash of the identities of all tables, views and types, which the engine renews at each change.
func (h *held) identities(ctx context.Context) (string, error) {
	hash := sha256.New()
	err := h.each(ctx, `SELECT 't', schema_name, table_name, table_oid FROM system.main.duckdb_tables() WHERE NOT internal
		UNION ALL SELECT 'v', schema_name, view_name, view_oid FROM system.main.duckdb_views() WHERE NOT internal
		UNION ALL SELECT 'y', schema_name, type_name, type_oid FROM system.main.duckdb_types() WHERE NOT internal
		ORDER BY ALL`, func(scan func(...any) error) error {
		var kind, in, name string
		var oid int64
		err := scan(&kind, &in, &name, &oid)
		fmt.Fprintf(hash, "%s %q %q %d\n", kind, in, name, oid)
		return err
	})
	return fmt.Sprintf("%.16x", hash.Sum(nil)), err
}

// reader reads the system tables.
type reader struct {
	*held
	ctx         context.Context
	facts       *facts
	s           *schema.Schema
	at          map[[2]string]int // schema and name -> place in s.Tables
	definitions []string          // of s.Tables: the CREATE text
}

// How many tokens a statement may grow by where views are written out, in all and outside of select lists: DuckDB keeps
// a column of a select list as one, and writes out what a condition names. See BenchmarkCompile.
const (
	mostExpanded = 2_000_000
	mostBeside   = 100_000
)

// Catalog implements exec.Conn. Tables and views come by schema and name, without those in memory:
//
//   - Types are DuckDB's: "DECIMAL(10,2)", "STRUCT(f INTEGER)[]". An enum is "ENUM", with its labels in Values, as SQL
//     strings: 'small', 'large'.
//   - Comments of tables, views and columns are their descriptions.
//   - Foreign keys come in the order of their declaration. Unique is what UNIQUE constraints and unique indexes say.
//   - A view over a Parquet or CSV file is a view: its columns are those that the file had when the view was made.
//
// Definition stays empty. DuckDB cannot open a view whose table or file is gone. Such a view is left out with a warning
// "broken-view"; the first 200 views of a file are tried.
func (h *held) Catalog(ctx context.Context) (*exec.Catalog, error) {
	version, err := h.Version(ctx)
	if err != nil {
		return nil, err
	}
	r := reader{
		held: h, ctx: ctx, at: map[[2]string]int{},
		facts: &facts{
			relations: map[[2]string]*guard.Relation{}, schemas: map[string]bool{}, columns: map[string]bool{},
			functions: map[string]bool{}, added: map[string]bool{}, macros: map[string]bool{},
		},
		s: &schema.Schema{Dialect: language.Name, Default: defaultSchema, Tables: []schema.Table{}},
	}
	if zone, name := guard.Zone(h.made.zone); zone != time.UTC {
		r.s.Zone = name
	}
	for _, part := range []func() error{r.tables, r.columns, r.constraints, r.indexes, r.functions} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	c := &exec.Catalog{Version: version, Schema: r.s, Own: r.facts}
	c.MostExpanded, c.MostBeside = mostExpanded, mostBeside
	for _, why := range h.made.left {
		c.Warnings = append(c.Warnings, trace.Warning{Code: "file-left-out", Message: why})
	}
	for i := range r.s.Tables {
		c.Relations = append(c.Relations, r.relation(&r.s.Tables[i]))
	}
	views := 0
	for i, relation := range c.Relations {
		if relation.View {
			if err := r.view(relation, r.definitions[i]); err != nil {
				return nil, err
			}
			if views++; views <= mostTried {
				if why := r.broken(relation); why != "" && h.allows(relation.Schema, relation.Name) {
					reason := "a table or file under it is gone"
					if why == filesClosed {
						reason = why
					}
					r.s.Tables[i].Columns = nil
					r.s.LeftOut = append(r.s.LeftOut, schema.Omitted{
						Item: "view", Table: r.s.Tables[i].TableName(), Reason: "DuckDB cannot open it: " + reason,
					})
					c.Warnings = append(c.Warnings, trace.Warning{
						Code: "broken-view", Message: "the view " + relation.Name +
							" is left out of the schema, since DuckDB cannot open it: " + why,
					})
				}
			}
			continue
		}
		c.Flows = append(c.Flows, flowsIn(relation, r.s.Tables[i].Columns)...)
	}
	c.Schema = r.s.Project(nil, nil)
	c.Schema.Tables = slices.Grow(c.Schema.Tables, 1) // no tables are a list too
	return c, nil
}

const mostTried = 200 // views that are tried, some of which open files

// broken says why a view fails at its use: a table or file under it is gone, another one than it was, or may not be
// read. "": it does not. DuckDB prepares a statement over it, which runs nothing.
func (r *reader) broken(view *guard.Relation) string {
	statement, err := r.conn.PrepareContext(ours(r.ctx), "SELECT 1 FROM "+language.Quote(view.Schema)+"."+
		language.Quote(view.Name))
	if err == nil {
		err = statement.Close()
	}
	var known *duckdb.Error
	switch {
	case err == nil || r.ctx.Err() != nil:
		return ""
	case errors.As(err, &known) && known.Type == duckdb.ErrorTypePermission:
		return filesClosed
	}
	return masked(firstLine(err))
}

const filesClosed = "it reads files that Options.Files does not name"

// each calls row for each row of a query about a table of the schema.
func (r *reader) each(query string, row func(t *schema.Table) error, dest ...any) error {
	return r.held.each(r.ctx, query, func(scan func(...any) error) error {
		var name [2]string
		if err := scan(append([]any{&name[0], &name[1]}, dest...)...); err != nil {
			return err
		}
		if i, ok := r.at[name]; ok {
			return row(&r.s.Tables[i])
		}
		return nil
	})
}

func (r *reader) tables() error {
	return r.held.each(r.ctx,
		`SELECT schema_name, table_name, comment, sql, false, system.main.current_database() FROM system.main.duckdb_tables()
		WHERE NOT internal AND NOT temporary AND database_name = system.main.current_database()
		UNION ALL SELECT schema_name, view_name, comment, sql, true, system.main.current_database() FROM system.main.duckdb_views()
		WHERE NOT internal AND NOT temporary AND database_name = system.main.current_database() ORDER BY 1, 2`, func(scan func(...any) error) error {
			var comment, definition sql.NullString
			var isView bool
			t := schema.Table{Kind: "table"}
			if err := scan(&t.Schema, &t.Name, &comment, &definition, &isView, &r.facts.database); err != nil {
				return err
			}
			t.Description = comment.String
			if isView {
				t.Kind = "view"
			}
			r.facts.schemas[schema.FoldCase(t.Schema)] = true
			r.at[[2]string{t.Schema, t.Name}] = len(r.s.Tables)
			r.s.Tables, r.definitions = append(r.s.Tables, t), append(r.definitions, definition.String)
			return nil
		})
}

func (r *reader) columns() error {
	var standard, comment sql.NullString
	var c schema.Column
	return r.each(`SELECT schema_name, table_name, column_name, data_type, NOT is_nullable, column_default, comment
		FROM system.main.duckdb_columns() WHERE NOT internal AND database_name = system.main.current_database()
		ORDER BY schema_name, table_name, column_index`, func(t *schema.Table) error {
		c := c
		c.Default, c.Description = standard.String, comment.String
		if labels, ok := strings.CutPrefix(c.Type, "ENUM("); ok {
			c.Type, c.Values = "ENUM", strings.TrimSuffix(labels, ")")
		}
		definition := r.definitions[r.at[[2]string{t.Schema, t.Name}]]
		for _, name := range []string{c.Name, language.Quote(c.Name)} {
			c.Generated = c.Generated || c.Default != "" && strings.Contains(definition, name+" "+c.Type+" GENERATED ALWAYS AS(")
		}
		r.facts.columns[schema.FoldCase(c.Name)] = true
		t.Columns = append(t.Columns, c)
		return nil
	}, &c.Name, &c.Type, &c.NotNull, &standard, &comment)
}

func (r *reader) constraints() error {
	var kind string
	var target sql.NullString
	var columns, referenced any
	var condition string
	return r.each(
		`SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names,
		COALESCE(expression, '') FROM system.main.duckdb_constraints()
		WHERE database_name = system.main.current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY', 'CHECK')
		ORDER BY schema_name, table_name, constraint_index`, func(t *schema.Table) error {
			switch kind {
			case "PRIMARY KEY":
				t.PrimaryKey = texts(columns)
			case "UNIQUE":
				t.Unique = append(t.Unique, texts(columns))
			case "CHECK":
				guard.NewText(language.Text.Parse(condition)).AllowValues(t)
			default:
				t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Columns: texts(columns), RefTable: target.String,
					RefColumns: texts(referenced)})
			}
			return nil
		}, &kind, &columns, &target, &referenced, &condition)
}

// indexes reads unique indexes on plain columns.
func (r *reader) indexes() error {
	var expressions string
	return r.each(`SELECT schema_name, table_name, expressions FROM system.main.duckdb_indexes()
		WHERE is_unique AND NOT is_primary AND database_name = system.main.current_database()
		ORDER BY schema_name, table_name, index_name`, func(t *schema.Table) error {
		var columns []string
		for part := range strings.SplitSeq(strings.Trim(expressions, "[]"), ", ") {
			c, ok := t.Column(strings.Trim(part, `'"`))
			if !ok {
				return nil
			}
			columns = append(columns, c.Name)
		}
		if !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, columns) }) {
			t.Unique = append(t.Unique, columns)
		}
		return nil
	}, &expressions)
}

// functions decides what may be called. A macro of the database goes before a function of DuckDB, also where a macro of
// DuckDB's own calls that function, so neither of them may be called then.
func (r *reader) functions() error {
	f := r.facts
	calls := map[string][]string{} // what the macros of DuckDB itself call
	err := r.held.each(r.ctx,
		`SELECT DISTINCT function_name, internal, macro_definition FROM system.main.duckdb_functions()
		WHERE NOT internal OR function_type IN ('macro', 'table_macro')`, func(scan func(...any) error) error {
			var name string
			var definition sql.NullString
			var internal bool
			err := scan(&name, &internal, &definition)
			if name = schema.FoldCase(name); !internal {
				f.macros[name] = true
			} else {
				calls[name] = append(calls[name], called(definition.String)...)
			}
			return err
		})
	if err != nil {
		return err
	}
	shadowed := maps.Clone(f.macros)
	for grown := len(shadowed) > 0; grown; {
		grown = false
		for name, parts := range calls {
			if !shadowed[name] && slices.ContainsFunc(parts, func(part string) bool { return shadowed[part] }) {
				shadowed[name], grown = true, true
			}
		}
	}
	for name := range strings.FieldsSeq(functions + operators) {
		f.functions[name] = !shadowed[name]
	}
	for _, name := range r.added {
		f.functions[schema.FoldCase(name)], f.added[schema.FoldCase(name)] = true, true
	}
	return nil
}

// called are the names and operators in an expression, in lower case, and what a list in brackets calls.
func called(expression string) (names []string) {
	for t := range language.Text.Parse(expression).Tokens() {
		names = append(names, schema.FoldCase(language.Text.Value(t)))
		if t.Text == "[" {
			names = append(names, implied["ARRAY_CONSTRUCTOR"])
		}
	}
	return names
}

// relation makes the relation of a table or view.
func (r *reader) relation(t *schema.Table) *guard.Relation {
	relation := guard.RelationOf(t.Schema, t)
	relation.View = t.Kind == "view"
	r.facts.relations[key(t.Schema, t.Name)] = relation
	return relation
}

// flowsIn are the ways from columns to those that are generated of them.
func flowsIn(relation *guard.Relation, columns []schema.Column) (flows []guard.LineageEdge) {
	for _, made := range columns {
		names := called(made.Default)
		for _, c := range columns {
			if slices.Contains(names, schema.FoldCase(c.Name)) {
				flows = append(flows, guard.LineageEdge{From: relation, Column: c.Name, To: relation, As: made.Name})
			}
		}
	}
	return flows
}

// view has the engine parse the definition of a view. What its owner reads from files it may: they are not of the
// schema.
func (r *reader) view(relation *guard.Relation, definition string) error {
	relation.Definition = query(definition)
	refuse := func(detail string) error {
		relation.Refused = guard.Refuse("table", "the view %s %s", relation.Name, detail)
		return nil
	}
	if relation.Definition == "" {
		return refuse("has a definition that the guard cannot read")
	}
	tree, err := r.tree(r.ctx, relation.Definition)
	switch {
	case err != nil && !exec.IsRejection(err):
		return err
	case err != nil:
		return refuse("has a definition that the guard cannot read")
	}
	w := walker{facts: r.facts, view: true}
	names, err := w.names(tree)
	switch refused := new(exec.RefusedError); {
	case errors.As(err, &refused):
		return refuse("reads or calls what may not be: " + refused.Detail)
	case err != nil:
		return err
	case len(names.Absent) > 0:
		return refuse("reads or calls what may not be: " + names.Absent[0] + " is no table of the schema")
	}
	relation.Body = names
	return nil
}

// query is the SELECT of a view: CREATE VIEW name (columns) AS SELECT …;
func query(definition string) string {
	depth, from, end := 0, -1, len(definition)
	for t := range language.Text.Parse(definition).Tokens() {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case from < 0 && depth == 0 && t.Kind == sqltext.Word && schema.EqualFold(t.Text, "as"):
			from = t.Pos + len(t.Text)
		case depth == 0 && t.Text == ";":
			end = t.Pos
		}
	}
	if from < 0 || end < from {
		return ""
	}
	return definition[from:end]
}

// texts is a list of the driver.
func texts(v any) (out []string) {
	for _, part := range list(v) {
		out = append(out, str(part))
	}
	return out
}
