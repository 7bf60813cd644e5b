package trino

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// table is a table or view, in the lower case of the server.
type table struct{ catalog, schema, name string }

// quoted writes the whole name of a table.
func (t table) quoted() string { return quote(t.catalog) + "." + quote(t.schema) + "." + quote(t.name) }

// label is the schema of a table as policies and schemas call it.
func (p home) label(t table) string {
	if t.catalog == p.catalog {
		return t.schema
	}
	return t.catalog + "." + t.schema
}

// resolve is the table that a name in FROM means, if it is one of the database.
func (p home) resolve(r sqltext.TableRef) table {
	t := table{p.catalog, p.schema, strings.ToLower(r.Name)}
	if r.Schema != "" {
		t.schema = strings.ToLower(r.Schema)
		if catalog, schema, ok := strings.Cut(t.schema, "."); ok {
			t.catalog, t.schema = catalog, schema
		}
	}
	return t
}

// systems are the schemas that tell of a server, of Trino and of what is behind its connectors.
var systems = []string{"information_schema", "pg_catalog", "mysql", "performance_schema", "sys", "system"}

// visible reports whether a table may be one of the schema: in no schema of a server's own, and no hidden table of
// metadata or of older data, which has a $ or an @ in its name.
func visible(schema, table string) bool {
	return !slices.Contains(systems, strings.ToLower(schema)) && !strings.ContainsAny(table, "$@")
}

// reads reports whether a table is one that this dialect reads.
func (c *conn) reads(t table) bool {
	return slices.Contains(c.dialect.catalogs(c.at.catalog), t.catalog) && t.catalog != "system" && visible(t.schema, t.name)
}

// known is what the guard keeps with a catalog.
type known struct {
	relations map[table]*guard.Relation
	views     []*guard.Relation
}

// facts are what the guard keeps with a relation.
type facts struct {
	table
	definition string          // of a view; "": it has none, or this user may not see it
	names      map[string]bool // that may be those of tables or views in the definition
}

// of returns the facts about a relation.
func of(r *guard.Relation) *facts { return r.Own.(*facts) }

// Catalog implements exec.Conn. It reads the tables and views of the connection's catalog and of Dialect.Catalogs, by
// schema and name. Schema is "catalog.schema" in another catalog than the connection's.
//
//   - Types are Trino's: "bigint", "varchar(40)", "array(integer)".
//   - Comments of columns are their descriptions, and those of tables where the user may read system.metadata.
//   - A materialized view is a table, as Trino lists it.
//   - Trino knows no keys: Joins come from names, or from a file of descriptions.
//
// Left out are schemas of a server's own, hidden tables of metadata, and tables without a column that this user may see.
// It takes six statements, whatever the number of tables, and more for what a policy denies.
func (c *conn) Catalog(ctx context.Context) (*exec.Catalog, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	r := reading{
		conn: c, at: map[table]int{}, known: &known{relations: map[table]*guard.Relation{}},
		catalog: &exec.Catalog{Version: version, Schema: &schema.Schema{Dialect: language.Name, Default: c.at.schema, Tables: []schema.Table{}}},
	}
	r.catalog.Own = r.known
	for _, part := range []func(context.Context) error{r.columns, r.comments, r.policy, r.definitions, r.writes} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return r.catalog, nil
}

// reading is a catalog while it is read.
type reading struct {
	*conn
	catalog *exec.Catalog
	known   *known
	at      map[table]int // place in catalog.Schema.Tables
}

// columns reads tables, views and their columns. Rows of tables have 0 where those of columns have their place.
func (r *reading) columns(ctx context.Context) error {
	catalogs := r.dialect.catalogs(r.conn.at.catalog)
	s := r.catalog.Schema
	names := map[table][]string{}
	var tables []table
	query := r.everywhere("tables", func(i int) string {
		return fmt.Sprintf("%d AS c, table_schema, table_name, 0 AS n, table_type AS name, '' AS type, NULL AS standard, NULL AS nullable, NULL AS comment", i)
	}) + " UNION ALL " + r.everywhere("columns", func(i int) string {
		return fmt.Sprintf(`%d, table_schema, table_name, ordinal_position, column_name, data_type, column_default, is_nullable, "comment"`, i)
	}) + " ORDER BY 1, 2, 3, 4"
	err := r.each(ctx, query, func(scan func(...any) error) error {
		var t table
		var catalog, n int
		var name, kind string
		var standard, nullable, comment sql.NullString
		if err := scan(&catalog, &t.schema, &t.name, &n, &name, &kind, &standard, &nullable, &comment); err != nil {
			return err
		}
		t.catalog = catalogs[catalog]
		i, listed := r.at[t]
		switch {
		case n == 0 && visible(t.schema, t.name):
			found := schema.Table{Schema: r.conn.at.label(t), Name: t.name, Kind: schema.BaseTable}
			if name == "VIEW" {
				found.Kind = schema.View
			}
			r.at[t] = len(s.Tables)
			s.Tables, tables = append(s.Tables, found), append(tables, t)
		case n > 0 && listed: // else it was made meanwhile
			s.Tables[i].Columns = append(s.Tables[i].Columns, schema.Column{
				Name: name, Type: kind, Default: standard.String, Description: comment.String, NotNull: nullable.String == "NO",
			})
			names[t] = append(names[t], name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Tables = slices.DeleteFunc(s.Tables, func(t schema.Table) bool { return len(t.Columns) == 0 })
	tables = slices.DeleteFunc(tables, func(t table) bool { return names[t] == nil })
	clear(r.at)
	for i, t := range tables {
		r.at[t] = i
		r.add(t, names[t], s.Tables[i].Kind == schema.View)
	}
	return nil
}

// add adds a relation, or puts it in the place of the one of that name.
func (r *reading) add(t table, columns []string, view bool) {
	relation := guard.NewRelation(r.conn.at.label(t), t.name, columns)
	relation.View, relation.Own = view, &facts{table: t}
	if before := r.known.relations[t]; before != nil {
		r.catalog.Relations[slices.Index(r.catalog.Relations, before)] = relation
	} else {
		r.catalog.Relations = append(r.catalog.Relations, relation)
	}
	r.known.relations[t] = relation
}

// optionalTime is how long the guard waits for what a catalog may lack.
const optionalTime = 10 * time.Second

// optional runs a query on what a catalog may lack: this user may not be allowed to read it, or it takes too long.
func (r *reading) optional(ctx context.Context, query string, row func(scan func(...any) error) error) error {
	asking, cancel := context.WithTimeout(ctx, optionalTime)
	defer cancel()
	err := r.each(asking, query, row)
	if err != nil && ctx.Err() == nil && asking.Err() != nil {
		r.catalog.Warnings = append(r.catalog.Warnings, trace.Warning{
			Code: "catalog-incomplete", Message: fmt.Sprintf("the server did not answer within %v: %s", optionalTime, query),
		})
		return nil
	}
	if exec.IsRejection(classify(err)) {
		return nil
	}
	return err
}

// named is a condition for the rows of a table of system.metadata.
func (r *reading) named() string {
	var names []string
	for _, name := range r.dialect.catalogs(r.conn.at.catalog) {
		names = append(names, literal(name))
	}
	return "catalog_name IN (" + strings.Join(names, ", ") + ")"
}

// comments reads those of tables, which no information_schema has.
func (r *reading) comments(ctx context.Context) error {
	query := "SELECT catalog_name, schema_name, table_name, comment FROM system.metadata.table_comments WHERE comment IS NOT NULL AND " + r.named()
	return r.optional(ctx, query, func(scan func(...any) error) error {
		var t table
		var comment string
		if err := scan(&t.catalog, &t.schema, &t.name, &comment); err != nil {
			return err
		}
		if i, ok := r.at[t]; ok {
			r.catalog.Schema.Tables[i].Description = comment
		}
		return nil
	})
}

// definitions reads those of views, materialized ones too, which tell what a view names.
func (r *reading) definitions(ctx context.Context) error {
	catalogs := r.dialect.catalogs(r.conn.at.catalog)
	define := func(t table, definition string) {
		if relation := r.known.relations[t]; relation != nil && definition != "" {
			of(relation).definition = definition
		}
	}
	views := r.everywhere("views", func(i int) string { return fmt.Sprintf("%d, table_schema, table_name, view_definition", i) })
	err := r.optional(ctx, views, func(scan func(...any) error) error {
		var t table
		var catalog int
		var definition sql.NullString
		err := scan(&catalog, &t.schema, &t.name, &definition)
		t.catalog = catalogs[catalog]
		define(t, definition.String)
		return err
	})
	if err != nil {
		return err
	}
	materialized := "SELECT catalog_name, schema_name, name, definition FROM system.metadata.materialized_views WHERE " + r.named()
	err = r.optional(ctx, materialized, func(scan func(...any) error) error {
		var t table
		var definition sql.NullString
		err := scan(&t.catalog, &t.schema, &t.name, &definition)
		define(t, definition.String)
		return err
	})
	for _, relation := range r.catalog.Relations {
		if relation.View {
			r.known.views = append(r.known.views, relation)
		}
		if f := of(relation); f.definition != "" {
			s := sqltext.Trino().Parse(f.definition)
			w := speller{tokens: slices.Collect(s.Tokens())}
			f.names = w.relations()
			relation.Body = r.known.names(s, &w, home{f.catalog, f.schema})
			relation.Body.Absent = nil // the server says what those are, when the view is read
		}
	}
	return err
}

// writes warns of a user who may make tables in the schema of the connection. The server is asked whether it would let
// him, by EXPLAIN (TYPE VALIDATE), which makes nothing.
func (r *reading) writes(ctx context.Context) error {
	t := table{r.conn.at.catalog, r.conn.at.schema, "texttosql_writes"}
	_, err := r.text(ctx, r.conn.at, "EXPLAIN (TYPE VALIDATE) CREATE TABLE "+t.quoted()+" AS SELECT 1 AS a")
	switch {
	case exec.IsRejection(err):
		return nil
	case err == nil:
		r.catalog.Warnings = append(r.catalog.Warnings, trace.Warning{
			Code: "privileged-user",
			Message: "the user may make tables in " + t.catalog + "." + t.schema + ": the guard holds all the same, but use a user under " +
				"the rules that trino.AccessRules makes",
		})
	}
	return err
}

// mostProbes bounds the questions about the columns that a policy denies, when a catalog is read, and those about one
// entry of a policy that the catalog does not have.
const mostProbes = 200

// policy looks at what a policy denies. The server may hide it from this user, so that the catalog does not have it: then
// the server has to say that it refuses it. What it shows it has to refuse too, which is asked for now so that nobody
// learns it from the first question; columns beyond the first ones are tried when a statement reads their table.
func (r *reading) policy(ctx context.Context) error {
	for _, e := range entries(r.config.Policy) {
		if r.catalog.Missing(e.policy) == nil {
			continue
		}
		t, err := remembered(r.pool, "entry "+r.place+e.text, func() (table, error) { return r.refuses(ctx, e) })
		if err != nil && !errors.Is(err, errNotRefused) {
			return err
		}
		if err == nil {
			var columns []string
			view := false
			if before := r.known.relations[t]; before != nil {
				columns, view = slices.Clone(before.Columns()), before.View
			}
			if e.column != "" {
				columns = append(columns, e.column)
			}
			r.add(t, columns, view)
		}
	}
	asked := 0
	for _, relation := range r.catalog.Relations {
		for _, column := range r.denied(relation) {
			if asked++; asked > mostProbes {
				return nil
			}
			if err := r.verify(ctx, relation, column); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry is one name of a policy.
type entry struct {
	policy exec.Policy // that has no other
	text   string
	path   []string // of the table, in lower case; none for a column of any table
	column string
}

// entries are the names of a policy.
func entries(p exec.Policy) (out []entry) {
	for _, text := range p.AllowTables {
		out = append(out, entry{exec.Policy{AllowTables: []string{text}}, text, path(text), ""})
	}
	for _, text := range p.DenyTables {
		out = append(out, entry{exec.Policy{DenyTables: []string{text}}, text, path(text), ""})
	}
	for _, text := range p.DenyColumns {
		parts := path(text)
		last := len(parts) - 1
		out = append(out, entry{exec.Policy{DenyColumns: []string{text}}, text, parts[:last], parts[last]})
	}
	return out
}

// path cuts a name of a policy into its parts, in lower case.
func path(name string) (parts []string) {
	for t := range sqltext.Trino().Tokens(name) {
		if t.Text != "." {
			parts = append(parts, strings.ToLower(sqltext.Trino().Value(t)))
		}
	}
	return parts
}

var errNotRefused = errors.New("trino: the server does not refuse it")

// refuses returns the table of an entry of the policy that the catalog does not have, but the server refuses.
func (r *reading) refuses(ctx context.Context, e entry) (table, error) {
	asked := map[table]bool{}
	for i := -1; i < len(r.catalog.Relations); i++ {
		t := table{r.conn.at.catalog, r.conn.at.schema, ""}
		if i >= 0 {
			t = of(r.catalog.Relations[i]).table
		}
		switch len(e.path) {
		case 1:
			t.name = e.path[0]
		case 2:
			t.schema, t.name = e.path[0], e.path[1]
		case 3:
			t = table{e.path[0], e.path[1], e.path[2]}
		}
		if t.name == "" || asked[t] {
			continue
		}
		if asked[t] = true; len(asked) > mostProbes {
			break
		}
		if denied, err := r.probe(ctx, t, e.column); err != nil || denied {
			return t, err
		}
	}
	return table{}, errNotRefused
}
