package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// inspect reads the tables, views and virtual tables of the connection's databases, in the order in which they were
// made, database by database. The tables of the main database have no Schema, those of an attached one its name.
//
// What is read of a table:
//   - Columns with declared type, NOT NULL and DEFAULT as declared, and whether
//     they are generated. Hidden columns of virtual tables are left out.
//   - The primary key in its own order.
//   - Foreign keys in the order of their declaration, with the names of tables and columns as their owners write them,
//     and with the primary key of the target where the key names no columns. A key whose target does not exist is left
//     out: nothing can be joined by it.
//   - Unique constraints and unique indexes, except those on expressions or on a part of the rows.
//   - The CREATE text as Definition, and its comments as descriptions: see below.
//
// Left out are SQLite's own tables (sqlite_…), temporary tables, which belong to one connection, the shadow tables of
// virtual tables, and views and virtual tables that SQLite itself cannot open, because a table or module is missing: the
// catalog gets a warning "broken-view" or "broken-table" for each that the policy allows.
//
// Functions are all that PRAGMA function_list knows, in lower case.
//
// A comment in the CREATE text describes the column behind which it stands on the same line, or before which it
// stands alone:
//
//	CREATE TABLE orders ( -- what customers bought
//	  id INTEGER PRIMARY KEY, -- order number
//	  /* in cents */
//	  total INTEGER
//	)
//
// A comment before the opening bracket, or behind it on the same line, describes the table. Comments are text from
// the database: clean them before they go into a prompt, as the renderings of package schema do.
//
// It needs SQLite 3.37 (2021). all is every table and view, shadow tables and broken ones included, for the guard.
func (h *conn) inspect(ctx context.Context, dc driver.Conn, c *exec.Catalog) (s *schema.Schema, all []inspected, err error) {
	s = &schema.Schema{Dialect: language.Name, Default: mainSchema, Tables: []schema.Table{}}
	for _, db := range h.databases {
		if db.name == "temp" {
			continue
		}
		in := inspection{dc: dc, database: db.name, policy: h.config.Policy, catalog: c}
		if err := in.read(ctx); err != nil {
			return nil, nil, err
		}
		s.Tables = append(s.Tables, in.tables...)
		all = append(all, in.all...)
	}
	s.Functions, err = functionNames(ctx, dc)
	return s, all, err
}

func functionNames(ctx context.Context, dc driver.Conn) ([]string, error) {
	names := []string{}
	err := scan(ctx, dc, "SELECT DISTINCT name FROM pragma_function_list", 1, func(row []driver.Value) {
		names = append(names, schema.Fold(text(row[0])))
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// inspected is what the guard has to know of a table or view.
type inspected struct {
	database, name, definition string
	kind                       kind
	columns                    []string
	generated                  map[string]bool // all columns, folded, and which of them are generated
}

// inspection reads one database.
type inspection struct {
	dc       driver.Conn
	database string
	policy   exec.Policy
	catalog  *exec.Catalog // for warnings

	tables []schema.Table
	at     map[string]int // name -> place in tables
	all    []inspected
	allAt  map[string]int // name -> place in all
}

func (in *inspection) read(ctx context.Context) error {
	for _, part := range []func(context.Context) error{in.list, in.columns, in.foreignKeys, in.uniques} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	in.drop()
	for i := range in.tables {
		describe(&in.tables[i])
	}
	return nil
}

// list fills in.tables, in the order of the schema table.
func (in *inspection) list(ctx context.Context) error {
	kinds := make(map[string]string) // only SQLite knows which tables are shadows
	err := scan(ctx, in.dc, "SELECT name, type FROM pragma_table_list WHERE schema = "+literal(in.database), 2, func(row []driver.Value) {
		kinds[text(row[0])] = text(row[1])
	})
	if err != nil {
		return err
	}
	in.at, in.allAt = make(map[string]int, len(kinds)), make(map[string]int, len(kinds))
	// sqlite_master and not sqlite_schema: every version knows it.
	const tables = `.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`
	return scan(ctx, in.dc, "SELECT name, sql, type FROM "+quote(in.database)+tables, 3, func(row []driver.Value) {
		t := schema.Table{Name: text(row[0]), Definition: text(row[1])}
		in.allAt[t.Name] = len(in.all)
		whole := inspected{database: in.database, name: t.Name, definition: t.Definition, generated: map[string]bool{}}
		switch {
		case text(row[2]) == "view":
			whole.kind = view
		case isVirtual(t.Definition):
			whole.kind = virtual
		}
		in.all = append(in.all, whole)
		if in.database != "main" {
			t.Schema = in.database
		}
		switch kinds[t.Name] {
		case "table":
			t.Kind = schema.BaseTable
		case "view":
			t.Kind = schema.View
		case "virtual":
			t.Kind = schema.Virtual
		default:
			return // a shadow table
		}
		in.at[t.Name] = len(in.tables)
		in.tables = append(in.tables, t)
	})
}

// columns reads the columns of all tables in one statement, then those of views and virtual tables. The second
// statement fails if SQLite cannot open one of them; then each is read by itself.
func (in *inspection) columns(ctx context.Context) error {
	query := `SELECT l.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
		FROM pragma_table_list l, pragma_table_xinfo(l.name, l.schema) c
		WHERE l.schema = ` + literal(in.database) + " AND "
	if err := in.readColumns(ctx, query+"l.type IN ('table', 'shadow')"); err != nil {
		return err
	}
	const others = "l.type IN ('view', 'virtual')"
	if !slices.ContainsFunc(in.tables, func(t schema.Table) bool { return t.Kind != schema.BaseTable }) {
		return nil
	}
	if err := in.readColumns(ctx, query+others); err == nil || ctx.Err() != nil || isLocked(err) {
		return err
	}
	for i := range in.tables {
		if t := &in.tables[i]; t.Kind != schema.BaseTable {
			t.Columns, t.PrimaryKey = nil, nil
			in.all[in.allAt[t.Name]].columns = nil
			err := in.readColumns(ctx, query+others+" AND l.name = "+literal(t.Name))
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				t.Columns = nil // drop leaves it out
				in.warn(t, err)
			}
		}
	}
	return nil
}

// warn tells of a view or virtual table that SQLite cannot open, unless the policy keeps its name back.
func (in *inspection) warn(t *schema.Table, cause error) {
	code, what := "broken-view", "view "
	if t.Kind == schema.Virtual {
		code, what = "broken-table", "virtual table "
	}
	why := ""
	if !in.policy.AllowsTable(in.database, t.Name) {
		return
	} else if !in.policy.Restricts() {
		why = ": " + ownWords(cause)
	}
	in.catalog.Warnings = append(in.catalog.Warnings, trace.Warning{
		Code: code, Message: "the " + what + t.Name + " is left out of the schema, since SQLite cannot open it" + why,
	})
}

func (in *inspection) readColumns(ctx context.Context, query string) error {
	return scan(ctx, in.dc, query, 7, func(row []driver.Value) {
		const hiddenByModule, generated = 1, 2 // 3 is generated and stored
		hidden := integer(row[6])
		if i, ok := in.allAt[text(row[0])]; ok {
			name := text(row[1])
			in.all[i].columns = append(in.all[i].columns, name)
			in.all[i].generated[schema.Fold(name)] = hidden >= generated
		}
		i, ok := in.at[text(row[0])]
		if !ok || hidden == hiddenByModule {
			return
		}
		t := &in.tables[i]
		c := schema.Column{
			Name: text(row[1]), Type: text(row[2]), NotNull: integer(row[3]) != 0, Default: text(row[4]), Generated: hidden >= generated,
		}
		t.Columns = append(t.Columns, c)
		if place := int(integer(row[5])); place > 0 { // in the primary key, from 1
			t.PrimaryKey = append(t.PrimaryKey, make([]string, max(0, place-len(t.PrimaryKey)))...)
			t.PrimaryKey[place-1] = c.Name
		}
	})
}

// drop removes what could not be opened. With a virtual table whose module is missing it removes the shadow tables,
// which SQLite does not recognise then.
func (in *inspection) drop() {
	var lost []string
	for _, t := range in.tables {
		if t.Kind == schema.Virtual && len(t.Columns) == 0 {
			lost = append(lost, schema.Fold(t.Name))
		}
	}
	in.tables = slices.DeleteFunc(in.tables, func(t schema.Table) bool {
		if len(t.Columns) == 0 {
			return true
		}
		return t.Kind == schema.BaseTable && slices.ContainsFunc(lost, func(name string) bool {
			suffix, ok := strings.CutPrefix(schema.Fold(t.Name), name+"_")
			return ok && isShadowSuffix(suffix)
		})
	})
}

// isShadowSuffix knows how SQLite's own modules (FTS3, FTS4, FTS5, R-Tree) name their shadow tables.
func isShadowSuffix(suffix string) bool {
	switch suffix {
	case "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "rowid", "parent":
		return true
	}
	return false
}

func isVirtual(definition string) bool {
	words := strings.Fields(definition)
	return len(words) > 2 && strings.EqualFold(words[0], "create") && strings.EqualFold(words[1], "virtual")
}
