package trino

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
func (p home) resolve(in, name string) table {
	t := table{p.catalog, p.schema, strings.ToLower(name)}
	if in != "" {
		t.schema = strings.ToLower(in)
		if catalog, schema, ok := strings.Cut(t.schema, "."); ok {
			t.catalog, t.schema = catalog, schema
		}
	}
	return t
}

// systems are the schemas with metadata of a server: Trino's own, and those of the servers that its connectors read.
var systems = []string{"information_schema", "pg_catalog", "mysql", "performance_schema", "sys", "system"}

// visible reports whether a table may be one of the schema: in no schema of a server's own, and no hidden table of
// metadata or of older data, which has a $ or an @ in its name.
func visible(schema, table string) bool {
	return !slices.Contains(systems, strings.ToLower(schema)) && !strings.ContainsAny(table, "$@")
}

// reads reports whether a table is one that this dialect reads.
func (c *conn) reads(t table) bool {
	return slices.Contains(c.dialect.catalogs(c.at.catalog), t.catalog) && t.catalog != "system" &&
		visible(t.schema, t.name)
}

// known is the guard's own data about a catalog.
type known struct {
	relations map[table]*guard.Relation
	views     []*guard.Relation
}

// facts is the guard's own data about a relation.
type facts struct {
	table
	definition string          // of a view; "": it has none, or this user may not see it
	names      map[string]bool // that may be names of tables or views in the definition
}

// of returns the facts about a relation.
func of(r *guard.Relation) *facts { return r.Own.(*facts) }

// Catalog implements exec.Conn. It reads the tables and views of the connection's catalog and of Dialect.Catalogs,
// sorted by schema and name. In another catalog than the connection's, Schema is "catalog.schema".
//
//   - Types are Trino's: "bigint", "varchar(40)", "array(integer)".
//   - Comments of columns become their descriptions. So do comments of tables, if the user may read system.metadata.
//   - A materialized view is a table, as Trino lists it.
//   - Trino has no keys: Joins come from names, or from a file of descriptions.
//
// Left out are a server's own schemas, hidden metadata tables, and tables without a column that this user may see. A
// view that the server cannot read is left out with a warning "broken-view". Catalog takes five statements, whatever
// the number of tables, and more to check denied names and to find broken views.
func (c *conn) Catalog(ctx context.Context) (*exec.Catalog, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	k := &known{relations: map[table]*guard.Relation{}}
	s := &schema.Schema{Dialect: language.Name, Default: c.at.schema, Tables: []schema.Table{}}
	r := reading{conn: c, at: map[table]int{}, known: k, catalog: &exec.Catalog{Version: version, Schema: s, Own: k}}
	for _, part := range []func(context.Context) error{r.relations, r.described, r.policy, r.views, r.tried, r.writes} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	s = s.Project(nil, nil)
	s.Tables = slices.Grow(s.Tables, 1) // no tables are a list too
	r.catalog.Schema = s
	return r.catalog, nil
}

// reading is a catalog while it is read.
type reading struct {
	*conn
	catalog *exec.Catalog
	known   *known
	at      map[table]int // place in catalog.Schema.Tables
}

// inspect runs a query of a catalog once.
func (r *reading) inspect(ctx context.Context, text string, row func(scan func(...any) error) error) error {
	return r.conn.conn.Raw(func(dc any) error { return guard.Inspect(ctx, dc, text, row, r.arguments(r.conn.at)...) })
}

// relations reads tables, views, their columns and definitions. Columns have their place in n, which is 0 for a table
// and -1 for a definition.
func (r *reading) relations(ctx context.Context) error {
	catalogs := r.dialect.catalogs(r.conn.at.catalog)
	row := func(columns string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%d AS c, table_schema, table_name, %s", i, columns) }
	}
	query := r.everywhere("tables", row("0 AS n, table_type, NULL, NULL, NULL, NULL")) + " UNION ALL " +
		r.everywhere("columns", row(`ordinal_position, column_name, data_type, column_default, is_nullable, "comment"`)) +
		" UNION ALL " +
		r.everywhere("views", row("-1, view_definition, NULL, NULL, NULL, NULL")) + " ORDER BY 1, 2, 3, 4"
	var tables []schema.Table
	var keys []table
	names, definitions := map[table][]string{}, map[table]string{}
	err := r.inspect(ctx, query, func(scan func(...any) error) error {
		var t table
		var catalog, n int
		var name, kind, standard, nullable, comment sql.NullString
		if err := scan(&catalog, &t.schema, &t.name, &n, &name, &kind, &standard, &nullable, &comment); err != nil {
			return err
		}
		t.catalog = catalogs[catalog]
		switch {
		case !visible(t.schema, t.name):
		case n < 0:
			definitions[t] = name.String
		case n == 0:
			found := schema.Table{Schema: r.conn.at.label(t), Name: t.name, Kind: "table"}
			if name.String == "VIEW" {
				found.Kind = "view"
			}
			tables, keys = append(tables, found), append(keys, t)
		case len(keys) > 0 && keys[len(keys)-1] == t: // else it was made meanwhile
			last := &tables[len(tables)-1]
			last.Columns = append(last.Columns, schema.Column{
				Name: name.String, Type: kind.String, Default: standard.String, Description: comment.String,
				NotNull: nullable.String == "NO",
			})
			names[t] = append(names[t], name.String)
		}
		return nil
	})
	for i, t := range keys {
		if names[t] == nil {
			continue
		}
		r.at[t] = len(r.catalog.Schema.Tables)
		r.catalog.Schema.Tables = append(r.catalog.Schema.Tables, tables[i])
		r.add(&facts{table: t, definition: definitions[t]}, names[t], tables[i].Kind == "view")
	}
	return err
}

// add adds a relation, or puts it in the place of the one of that name.
func (r *reading) add(f *facts, columns []string, view bool) {
	relation := guard.NewRelation(r.conn.at.label(f.table), f.name, columns)
	relation.View, relation.Own = view, f
	if before := r.known.relations[f.table]; before != nil {
		r.catalog.Relations[slices.Index(r.catalog.Relations, before)] = relation
	} else {
		r.catalog.Relations = append(r.catalog.Relations, relation)
	}
	r.known.relations[f.table] = relation
}

// metadata reads a name and a text from a list of system.metadata, which this user may not be allowed to read.
func (r *reading) metadata(ctx context.Context, list, columns string, of func(t table, text string)) error {
	var names []string
	for _, name := range r.dialect.catalogs(r.conn.at.catalog) {
		names = append(names, literal(name))
	}
	query := "SELECT catalog_name, schema_name, " + columns + " FROM system.metadata." + list +
		" WHERE catalog_name IN (" + strings.Join(names, ", ") + ")"
	err := r.inspect(ctx, query, func(scan func(...any) error) error {
		var t table
		var text sql.NullString
		err := scan(&t.catalog, &t.schema, &t.name, &text)
		of(t, text.String)
		return err
	})
	return unlessRejected(err)
}

// described reads what no information_schema has: comments of tables, and definitions of materialized views.
func (r *reading) described(ctx context.Context) error {
	err := r.metadata(ctx, "table_comments", "table_name, comment", func(t table, text string) {
		if i, ok := r.at[t]; ok {
			r.catalog.Schema.Tables[i].Description = text
		}
	})
	if err != nil {
		return err
	}
	return r.metadata(ctx, "materialized_views", "name, definition", func(t table, text string) {
		if relation := r.known.relations[t]; relation != nil {
			of(relation).definition = text
		}
	})
}

// views reads the definitions of views, materialized ones too.
func (r *reading) views(context.Context) error {
	for _, relation := range r.catalog.Relations {
		if relation.View {
			r.known.views = append(r.known.views, relation)
		}
		if f := of(relation); f.definition != "" {
			s := sqltext.Trino().Parse(f.definition)
			w := speller{tokens: slices.Collect(s.Tokens())}
			f.names = w.relations()
			relation.Body = r.known.names(s, &w, home{f.catalog, f.schema})
			relation.Body.Absent = nil // the server reports them when the view is read
		}
	}
	return nil
}

// mostTried is how many views are tried.
const mostTried = 200

// tried leaves out the views that the server cannot read, since a table under them is gone or another one than it was.
func (r *reading) tried(ctx context.Context) error {
	return r.try(ctx, r.known.views[:min(len(r.known.views), mostTried)])
}

// try tests views with one statement, which runs nothing. If it fails, try tests each half of them.
func (r *reading) try(ctx context.Context, views []*guard.Relation) error {
	if len(views) == 0 {
		return nil
	}
	parts := make([]string, len(views))
	for i, view := range views {
		parts[i] = "SELECT 1 FROM " + of(view).quoted()
	}
	_, err := r.text(ctx, r.conn.at, "EXPLAIN (TYPE VALIDATE) "+strings.Join(parts, " UNION ALL "))
	half, why := len(views)/2, ""
	switch err := err.(type) {
	case *exec.InvalidError:
		why = err.Message
	case *exec.RefusedError:
		why = err.Detail
	default:
		return err
	}
	if half > 0 {
		if err := r.try(ctx, views[:half]); err != nil {
			return err
		}
		return r.try(ctx, views[half:])
	}
	r.leaveOut(views[0], why)
	return nil
}

// leaveOut takes a view out of the schema, with a warning.
func (r *reading) leaveOut(view *guard.Relation, why string) {
	r.catalog.Schema.Tables[r.at[of(view).table]].Columns = nil
	if r.config.Policy.AllowsTable(view.Schema, view.Name) {
		why = masked(faultPlace.ReplaceAllString(why, ""))
		message := "the view " + view.Name + " is left out of the schema, since the server cannot read it: " + why
		r.catalog.Warnings = append(r.catalog.Warnings, trace.Warning{Code: "broken-view", Message: message})
	}
}

// faultPlace is where in a text the server found a fault.
var faultPlace = regexp.MustCompile(`^line \d+:\d+: `)

// writes warns if the user may create tables in the schema of the connection. It asks the server with EXPLAIN (TYPE
// VALIDATE), which creates nothing.
func (r *reading) writes(ctx context.Context) error {
	t := table{r.conn.at.catalog, r.conn.at.schema, "texttosql_writes"}
	_, err := r.text(ctx, r.conn.at, "EXPLAIN (TYPE VALIDATE) CREATE TABLE "+t.quoted()+" AS SELECT 1 AS a")
	if err != nil {
		return unlessRejected(err)
	}
	message := "the user may make tables in " + t.catalog + "." + t.schema +
		": the guard holds all the same, but use a user under the rules that trino.AccessRules makes"
	r.catalog.Warnings = append(r.catalog.Warnings, trace.Warning{Code: "privileged-user", Message: message})
	return nil
}

// unlessRejected returns err, and nil where the server let this user not ask.
func unlessRejected(err error) error {
	if exec.IsRejection(classify(err)) {
		return nil
	}
	return err
}

// mostProbes bounds the questions about the columns that a policy denies, when a catalog is read, and those about one
// entry of a policy that the catalog does not have.
const mostProbes = 200

// policy checks the names that a policy denies. The server may hide such a name from this user, so that the catalog
// lacks it: then the server must report that it refuses it. The server must also refuse every denied name that it
// shows. policy tests that now, so that the first question does not reveal it. Columns beyond the first ones are tested
// when a statement reads their table.
func (r *reading) policy(ctx context.Context) error {
	for _, e := range entries(r.config.Policy) {
		if r.catalog.Missing(e.policy) == nil {
			continue
		}
		t, err := remembered(r.pool, "entry "+r.place+e.text, func() (table, error) { return r.refuses(ctx, e) })
		switch before := r.known.relations[t]; {
		case err != nil:
			return err
		case t.name == "": // exec reports it
		case before != nil:
			r.add(of(before), append(slices.Clip(before.Columns()), e.columns...), before.View)
		default:
			r.add(&facts{table: t}, e.columns, false)
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
	text    string
	policy  exec.Policy // that has no other
	path    []string    // of the table, in lower case; none for a column of any table
	columns []string    // the column, if it is the name of one
}

// entries are the names of a policy.
func entries(p exec.Policy) (out []entry) {
	for _, text := range p.AllowTables {
		out = append(out, entry{text, exec.Policy{AllowTables: []string{text}}, path(text), nil})
	}
	for _, text := range p.DenyTables {
		out = append(out, entry{text, exec.Policy{DenyTables: []string{text}}, path(text), nil})
	}
	for _, text := range p.DenyColumns {
		parts := path(text)
		last := len(parts) - 1
		out = append(out, entry{text, exec.Policy{DenyColumns: []string{text}}, parts[:last], parts[last:]})
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

// refuses returns the table for an entry of the policy that the catalog lacks but the server refuses, or a table
// without a name if there is none. It searches the schema of the connection and the schemas of the catalog.
func (r *reading) refuses(ctx context.Context, e entry) (table, error) {
	places := []table{{r.conn.at.catalog, r.conn.at.schema, ""}}
	for _, relation := range r.catalog.Relations {
		places = append(places, of(relation).table)
	}
	asked := map[table]bool{}
	for _, t := range places {
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
		if denied, err := r.probe(ctx, t, strings.Join(e.columns, "")); err != nil || denied {
			return t, err
		}
	}
	return table{}, nil
}
