package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// catalog is what the guard knows of a database. It does not change after it is read.
type catalog struct {
	place     place
	relations map[string]*relation // by key
	functions map[string]bool      // those that may be called, in lower case
	added     map[string]bool      // those of them that the policy adds
	hides     bool                 // some relation may not be read
	unknown   []string             // entries of the policy that name nothing
}

// relation is a table or view and what the policy makes of it.
type relation struct {
	name    string
	view    bool
	columns *reads.Relation
	denied  map[string]bool // columns that may not be read, in lower case
	allowed bool            // by the policy
	named   *named
	refused error // why a view may not be read; nil: it may
	reading bool  // its definition is being looked at
	added   sqltext.Expansion

	definition string // of a view that may be read
}

// key is how a table is looked up.
func (c *catalog) key(name string) string {
	if c.place.folds {
		return lower(name)
	}
	return name
}

// lower makes names equal that the server takes for the same: "K" (Kelvin) is k to it.
func lower(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// column is one of a table as the server tells it.
type column struct {
	name, expression string // of a generated one
}

const (
	relationsQuery = "SELECT TABLE_NAME, TABLE_TYPE, IFNULL(ENGINE, '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
	columnsQuery   = "SELECT TABLE_NAME, COLUMN_NAME, IFNULL(GENERATION_EXPRESSION, '') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION"
	viewsQuery     = "SELECT TABLE_NAME, VIEW_DEFINITION, '' FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"
	routinesQuery  = "SELECT ROUTINE_NAME, '', '' FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'FUNCTION'"
)

// readCatalog reads the database of q, which is at p.
func readCatalog(ctx context.Context, q bridge.Queryer, p place, policy exec.Policy) (*catalog, error) {
	c := &catalog{place: p, relations: map[string]*relation{}, functions: map[string]bool{}, added: map[string]bool{}}
	columns := map[string][]column{}
	views := map[string]string{}
	read := func(query string, row func(a, b, c string)) func() error {
		return func() error {
			return each(ctx, q, query, func(scan func(...any) error) error {
				var v [3]sql.NullString
				err := scan(&v[0], &v[1], &v[2])
				if err == nil {
					row(v[0].String, v[1].String, v[2].String)
				}
				return err
			})
		}
	}
	for _, name := range functions {
		c.functions[name] = true
	}
	merged := map[string]bool{} // tables of the engine MERGE read others
	for _, step := range []func() error{
		// "count (x)" with a blank calls a function count of the database.
		read(routinesQuery, func(name, _, _ string) { delete(c.functions, lower(name)) }),
		read(columnsQuery, func(table, name, expression string) {
			columns[table] = append(columns[table], column{name, expression})
		}),
		read(viewsQuery, func(name, definition, _ string) { views[name] = definition }),
		read(relationsQuery, func(name, kind, engine string) {
			if kind == "SEQUENCE" || kind == "TEMPORARY" || kind == "SYSTEM VIEW" {
				return
			}
			c.relations[c.key(name)] = &relation{name: name, view: strings.HasSuffix(kind, "VIEW")}
			merged[name] = strings.HasPrefix(engine, "MRG_")
		}),
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, name := range policy.AllowFunctions {
		c.functions[lower(name)], c.added[lower(name)] = true, true
	}
	for _, r := range c.relations {
		r.denied = deniedColumns(policy, p.database, r.name, columns[r.name])
		var names []string
		for _, col := range columns[r.name] {
			names = append(names, col.name)
		}
		r.columns = reads.NewRelation(p.database, r.name, names, func(name string) bool { return r.denied[lower(name)] })
		r.allowed = policy.AllowsTable(p.database, r.name) && !(merged[r.name] && policy.Restricts())
		c.hides = c.hides || !r.allowed
	}
	for _, r := range c.relations {
		if r.view {
			c.look(r, views)
		}
	}
	c.unknown = missing(policy, p.database, columns)
	return c, nil
}

// deniedColumns are the columns of a table that the policy denies and the generated ones that are made of them, in lower
// case.
func deniedColumns(policy exec.Policy, database, table string, columns []column) map[string]bool {
	denied := map[string]bool{}
	for _, c := range columns {
		if !policy.AllowsColumn(database, table, c.name) {
			denied[lower(c.name)] = true
		}
	}
	for grown := len(denied) > 0; grown; {
		grown = false
		for _, c := range columns {
			if c.expression == "" || denied[lower(c.name)] {
				continue
			}
			for t := range sqltext.MySQL().Parse(c.expression).Tokens() {
				if (t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName) && denied[lower(sqltext.MySQL().Value(t))] {
					denied[lower(c.name)], grown = true, true
				}
			}
		}
	}
	return denied
}

// missing returns the entries of the policy that name no table or column.
func missing(policy exec.Policy, database string, columns map[string][]column) (out []string) {
	check := func(field string, entries []string, names func(entry, table string, columns []column) bool) {
		for _, entry := range entries {
			found := false
			for table, columns := range columns {
				found = found || names(entry, table, columns)
			}
			if !found {
				out = append(out, field+": "+strconv.Quote(entry))
			}
		}
	}
	table := func(entry, table string, _ []column) bool {
		return !exec.Policy{DenyTables: []string{entry}}.AllowsTable(database, table)
	}
	check("AllowTables", policy.AllowTables, table)
	check("DenyTables", policy.DenyTables, table)
	check("DenyColumns", policy.DenyColumns, func(entry, table string, columns []column) bool {
		return slices.ContainsFunc(columns, func(c column) bool {
			return !exec.Policy{DenyColumns: []string{entry}}.AllowsColumn(database, table, c.name)
		})
	})
	return out
}

// isCurrent reports whether a name of a database, "" for none, is that of the connection.
func (c *catalog) isCurrent(database string) bool {
	return database == "" || database == c.place.database || c.place.folds && schema.EqualFold(database, c.place.database)
}
