package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// defaultSchema is where DuckDB looks for a table without a schema.
const defaultSchema = "main"

// catalog is what the guard knows of a database. It does not change after it is read.
type catalog struct {
	database  string
	relations map[[2]string]*relation // by schema and name in lower case
	schemas   map[string]bool         // in lower case
	functions map[string]bool         // those that may be called, in lower case
	added     map[string]bool         // those of them that the policy adds
	own       map[string]bool         // macros of the database
	columns   map[string]bool         // names that some relation has, in lower case
	hides     bool                    // some relation may not be read
	denies    bool                    // some relation or column may not be read
	unknown   []string                // entries of the policy that name nothing
}

// relation is a table or view and what the policy makes of it.
type relation struct {
	schema, name string
	view         bool
	columns      *reads.Relation
	denied       map[string]bool // columns that may not be read, in lower case
	allowed      bool            // by the policy
	named        *named
	refused      error // why a view may not be read; nil: it may
	reading      bool  // its definition is being looked at
	definition   string
	tree         *document
	added        sqltext.Expansion
}

// column is one of a table as the engine tells it.
type column struct{ name, expression string }

const (
	relationsQuery = `SELECT schema_name, table_name, '' FROM duckdb_tables() WHERE NOT internal AND NOT temporary AND database_name = current_database()
UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal AND NOT temporary AND database_name = current_database()`
	columnsQuery = `SELECT schema_name, table_name, column_name, column_default FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index`
	macrosQuery = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE NOT internal"
)

// readCatalog reads the database of h.
func readCatalog(ctx context.Context, h *held, policy exec.Policy) (*catalog, error) {
	c := &catalog{
		relations: map[[2]string]*relation{}, schemas: map[string]bool{}, functions: map[string]bool{}, added: map[string]bool{}, columns: map[string]bool{},
	}
	q := h.conn
	columns := map[[2]string][]column{}
	err := each(ctx, q, "SELECT current_database()", func(scan func(...any) error) error { return scan(&c.database) })
	if err == nil {
		err = each(ctx, q, relationsQuery, func(scan func(...any) error) error {
			r := &relation{}
			err := scan(&r.schema, &r.name, &r.definition)
			r.view = r.definition != ""
			c.relations[key(r.schema, r.name)] = r
			c.schemas[schema.Fold(r.schema)] = true
			return err
		})
	}
	if err == nil {
		err = each(ctx, q, columnsQuery, func(scan func(...any) error) error {
			var in, table string
			var col column
			var standard sql.NullString
			err := scan(&in, &table, &col.name, &standard)
			col.expression = standard.String
			columns[key(in, table)] = append(columns[key(in, table)], col)
			c.columns[schema.Fold(col.name)] = true
			return err
		})
	}
	if err == nil {
		c.own, err = h.made.macrosOf(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(functions + operators) {
		c.functions[name] = !c.own[name] // a macro of the database goes before a function of DuckDB
	}
	for _, name := range policy.AllowFunctions {
		c.functions[schema.Fold(name)], c.added[schema.Fold(name)] = true, true
	}
	for k, r := range c.relations {
		r.denied = deniedColumns(policy, r.schema, r.name, columns[k])
		var names []string
		for _, col := range columns[k] {
			names = append(names, col.name)
		}
		r.columns = reads.NewRelation(r.schema, r.name, names, func(name string) bool { return r.denied[schema.Fold(name)] })
		r.allowed = policy.AllowsTable(r.schema, r.name)
		c.hides = c.hides || !r.allowed
		c.denies = c.denies || !r.allowed || r.columns.Hides()
	}
	if err := c.parseViews(ctx, q); err != nil {
		return nil, err
	}
	for _, r := range c.sorted() {
		if r.view {
			c.look(r)
		}
	}
	c.unknown = c.missing(policy, columns)
	return c, nil
}

// macrosOf reads the names of the macros once a handle.
func (m *made) macrosOf(ctx context.Context, q bridge.Queryer) (map[string]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.macros != nil {
		return m.macros, nil
	}
	found := map[string]bool{}
	err := each(ctx, q, macrosQuery, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		found[name] = true
		return err
	})
	if err == nil {
		m.macros = found
	}
	return found, err
}

func key(in, name string) [2]string { return [2]string{schema.Fold(in), schema.Fold(name)} }

// sorted returns the relations by schema and name.
func (c *catalog) sorted() []*relation {
	keys := slices.SortedFunc(maps.Keys(c.relations), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	out := make([]*relation, len(keys))
	for i, k := range keys {
		out[i] = c.relations[k]
	}
	return out
}

// lookup finds a relation as the engine does: a.b is in the schema a, or in the database a.
func (c *catalog) lookup(database, in, name string) *relation {
	if database != "" && !schema.EqualFold(database, c.database) {
		return nil
	}
	if in == "" || database == "" && schema.EqualFold(in, c.database) && !c.schemas[schema.Fold(in)] {
		in = defaultSchema
	}
	return c.relations[key(in, name)]
}

// deniedColumns are the columns of a table that the policy denies and the generated ones that are made of them, in
// lower case.
func deniedColumns(policy exec.Policy, in, table string, columns []column) map[string]bool {
	denied := map[string]bool{}
	for _, c := range columns {
		if !policy.AllowsColumn(in, table, c.name) {
			denied[schema.Fold(c.name)] = true
		}
	}
	for grown := len(denied) > 0; grown; {
		grown = false
		for _, c := range columns {
			if c.expression == "" || denied[schema.Fold(c.name)] {
				continue
			}
			if mentions(c.expression, denied) {
				denied[schema.Fold(c.name)], grown = true, true
			}
		}
	}
	return denied
}

// mentions reports whether a text has one of the names, which are in lower case.
func mentions(text string, names map[string]bool) bool {
	for t := range sqltext.DuckDB().Parse(text).Tokens() {
		if (t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName) && names[schema.Fold(sqltext.DuckDB().Value(t))] {
			return true
		}
	}
	return false
}

// missing returns the entries of the policy that name no table or column.
func (c *catalog) missing(policy exec.Policy, columns map[[2]string][]column) (out []string) {
	check := func(field string, entries []string, names func(entry string, r *relation) bool) {
		for _, entry := range entries {
			if !slices.ContainsFunc(c.sorted(), func(r *relation) bool { return names(entry, r) }) {
				out = append(out, field+": "+strconv.Quote(entry))
			}
		}
	}
	table := func(entry string, r *relation) bool {
		return !exec.Policy{DenyTables: []string{entry}}.AllowsTable(r.schema, r.name)
	}
	check("AllowTables", policy.AllowTables, table)
	check("DenyTables", policy.DenyTables, table)
	check("DenyColumns", policy.DenyColumns, func(entry string, r *relation) bool {
		return slices.ContainsFunc(columns[key(r.schema, r.name)], func(col column) bool {
			return !exec.Policy{DenyColumns: []string{entry}}.AllowsColumn(r.schema, r.name, col.name)
		})
	})
	return out
}

// mostAdded is how many tokens the engine may add to a statement by writing out what it names twice. It does so before
// it looks at any limit. Of the evaluation data no statement adds a fifth of it.
const mostAdded = 10_000

// weigh refuses a statement that grows where its common table expressions, views and subqueries are written out.
func (c *catalog) weigh(s *sqltext.Statement) error {
	if added := s.Expand(c.expansion).Added; added > mostAdded {
		return &exec.RefusedError{Reason: exec.ReasonTooComplex, Detail: fmt.Sprintf(
			"the engine writes a subquery, view or column out at each place that uses it, which would add %d tokens; at most %d may be added", added, mostAdded)}
	}
	return nil
}

// expansion tells what a view adds where it is written out.
func (c *catalog) expansion(in, name string) (sqltext.Expansion, bool) {
	r := c.lookup("", in, name)
	if r == nil || !r.view {
		return sqltext.Expansion{}, false
	}
	return r.added, true
}

// scans refuses a plan that reads what may not be: the engine's own word, beside that of the tree.
func (c *catalog) scans(steps []step) error {
	for _, s := range steps {
		for _, r := range c.relations {
			if table := s.texts("Table"); len(table) != 1 || !schema.EqualFold(table[0], c.database+"."+r.schema+"."+r.name) || r.view {
				continue
			}
			if !r.allowed {
				return &exec.RefusedError{Reason: exec.ReasonTable, Detail: r.name + " is no table that may be read"}
			}
			for _, read := range append(s.texts("Projections"), s.texts("Filters")...) {
				first, _, _ := strings.Cut(read, ".")
				if r.denied[schema.Fold(read)] || r.denied[schema.Fold(first)] || mentions(read, r.denied) {
					return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: "the engine would read a column of " + r.name + " that may not be read"}
				}
			}
		}
		if err := c.scans(s.Children); err != nil {
			return err
		}
	}
	return nil
}

// analysis is what n reads, with what lies under its views.
func (c *catalog) analysis(n *named) exec.Analysis {
	columns := map[*reads.Relation]map[string]bool{}
	functions := map[string]bool{}
	var add func(n *named)
	add = func(n *named) {
		maps.Copy(functions, n.functions)
		for _, read := range n.reads.Columns() {
			if columns[read.Relation] == nil {
				columns[read.Relation] = map[string]bool{}
			}
			for _, name := range read.Columns {
				columns[read.Relation][name] = true
			}
		}
		for _, r := range n.relations {
			if r.named != nil {
				add(r.named)
			}
		}
	}
	add(n)
	a := exec.Analysis{Kind: "select", Tables: []exec.TableRead{}, Functions: slices.AppendSeq([]string{}, maps.Keys(functions)), Inexact: true}
	slices.Sort(a.Functions)
	for r, names := range columns {
		a.Tables = append(a.Tables, exec.TableRead{Schema: r.Schema, Table: r.Name, Columns: slices.Sorted(maps.Keys(names))})
	}
	slices.SortFunc(a.Tables, func(a, b exec.TableRead) int {
		return strings.Compare(a.Schema+"."+a.Table, b.Schema+"."+b.Table)
	})
	return a
}
