package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Version returns, for each database but the temporary one, its name, its schema_version, the file of an attached one,
// and a hash of its definitions. SQLite raises schema_version at each change of a schema. The hash is for a file that
// replaced another one: its schema_version may be the same.
func (d Dialect) Version(ctx context.Context, q exec.Queryer) (string, error) {
	dbs, err := attachedDatabases(ctx, q)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, db := range dbs {
		hash := sha256.New()
		var buffer []byte
		err := each(ctx, q, "SELECT type, name, sql FROM "+d.Quote(db.name)+".sqlite_master", 3, func(row []driver.Value) {
			kind, name, definition := text(row[0]), text(row[1]), text(row[2])
			buffer = fmt.Append(buffer[:0], len(kind), len(name), len(definition), kind, name, definition)
			hash.Write(buffer)
		})
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%d:%.8x", db.name, db.version, hash.Sum(nil))
		if db.name != "main" {
			// Another file may be attached under the same name.
			fmt.Fprintf(&b, ":%s", db.file)
		}
	}
	return b.String(), nil
}

// Inspect reads the tables, views and virtual tables of the connection's databases, in the order in which they were
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
// span in ctx gets a warning "broken-view" or "broken-table" for each that the policy allows.
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
// It takes a handful of statements for each database, whatever the number of tables, and needs SQLite 3.37 (2021).
func (d Dialect) Inspect(ctx context.Context, q exec.Queryer) (*schema.Schema, error) {
	version, err := d.Version(ctx, q) // first: a change in the middle shows as a new version later
	if err != nil {
		return nil, err
	}
	dbs, err := attachedDatabases(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &schema.Schema{Dialect: d.Name(), Version: version, Tables: []schema.Table{}}
	for _, db := range dbs {
		in := inspection{dialect: d, q: q, database: db.name}
		if err := in.read(ctx); err != nil {
			return nil, err
		}
		s.Tables = append(s.Tables, in.tables...)
	}
	s.Functions, err = functionNames(ctx, q)
	return s, err
}

// attachedDatabases lists the databases of a connection but the temporary one, with their versions.
func attachedDatabases(ctx context.Context, q exec.Queryer) (dbs []attached, err error) {
	if h, ok := q.(*held); ok {
		dbs = slices.Clone(h.databases) // as they were when the connection was held
	} else {
		err = each(ctx, q, "PRAGMA database_list", 3, func(row []driver.Value) {
			dbs = append(dbs, attached{name: text(row[1]), file: text(row[2])})
		})
		for i := range dbs {
			if err == nil {
				err = each(ctx, q, "PRAGMA "+Dialect{}.Quote(dbs[i].name)+".schema_version", 1, func(row []driver.Value) { dbs[i].version = integer(row[0]) })
			}
		}
	}
	return slices.DeleteFunc(dbs, func(db attached) bool { return db.name == "temp" }), err
}

func functionNames(ctx context.Context, q exec.Queryer) ([]string, error) {
	names := []string{}
	err := each(ctx, q, "SELECT DISTINCT name FROM pragma_function_list", 1, func(row []driver.Value) {
		names = append(names, schema.Fold(text(row[0])))
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// inspection reads one database.
type inspection struct {
	dialect  Dialect
	q        exec.Queryer
	database string

	tables []schema.Table
	at     map[string]int // folded name -> place in tables
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
	err := each(ctx, in.q, "SELECT name, type FROM pragma_table_list WHERE schema = "+literal(in.database), 2, func(row []driver.Value) {
		kinds[text(row[0])] = text(row[1])
	})
	if err != nil {
		return err
	}
	in.at = make(map[string]int, len(kinds))
	// sqlite_master and not sqlite_schema: every version knows it.
	const tables = `.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`
	return each(ctx, in.q, "SELECT name, sql FROM "+in.dialect.Quote(in.database)+tables, 2, func(row []driver.Value) {
		t := schema.Table{Name: text(row[0]), Definition: text(row[1])}
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
	if err := in.readColumns(ctx, query+"l.type = 'table'"); err != nil {
		return err
	}
	const others = "l.type IN ('view', 'virtual')"
	if !slices.ContainsFunc(in.tables, func(t schema.Table) bool { return t.Kind != schema.BaseTable }) {
		return nil
	}
	if err := in.readColumns(ctx, query+others); err == nil || ctx.Err() != nil {
		return err
	}
	for i := range in.tables {
		if t := &in.tables[i]; t.Kind != schema.BaseTable {
			t.Columns, t.PrimaryKey = nil, nil
			err := in.readColumns(ctx, query+others+" AND l.name = "+literal(t.Name))
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				t.Columns = nil // drop leaves it out
				in.warn(ctx, t, err)
			}
		}
	}
	return nil
}

// warn tells of a view or virtual table that SQLite cannot open, unless the policy keeps its name back.
func (in *inspection) warn(ctx context.Context, t *schema.Table, cause error) {
	code, what := "broken-view", "view "
	if t.Kind == schema.Virtual {
		code, what = "broken-table", "virtual table "
	}
	why := ""
	if h, ok := in.q.(*held); ok {
		if p := h.guard.config.Policy; !p.AllowsTable(in.database, t.Name) {
			return
		} else if !p.Restricts() {
			why = ": " + ownWords(cause)
		}
	}
	trace.From(ctx).Warn(code, "the "+what+t.Name+" is left out of the schema, since SQLite cannot open it"+why)
}

func (in *inspection) readColumns(ctx context.Context, query string) error {
	return each(ctx, in.q, query, 7, func(row []driver.Value) {
		const hiddenByModule, generated = 1, 2 // 3 is generated and stored
		i, ok := in.at[text(row[0])]
		hidden := integer(row[6])
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
