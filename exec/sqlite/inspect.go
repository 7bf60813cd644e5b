package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// Version returns the schema_version of each database of the connection, which
// SQLite counts up at each change of a schema, with its name, its file where it is
// attached, and a hash of its definitions: a file put in the place of another one
// has a count of its own, which may be the same. The temporary database is left
// out, as it is by Inspect.
func (d Dialect) Version(ctx context.Context, q exec.Queryer) (string, error) {
	dbs, err := attachedDatabases(ctx, q)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, db := range dbs {
		var n int64
		err := each(ctx, q, func(rows *sql.Rows) error { return rows.Scan(&n) }, "PRAGMA "+d.Quote(db.name)+".schema_version")
		if err != nil {
			return "", err
		}
		hash := sha256.New()
		var row [3]sql.RawBytes
		err = each(ctx, q, func(rows *sql.Rows) error {
			err := rows.Scan(&row[0], &row[1], &row[2])
			fmt.Fprint(hash, len(row[0]), len(row[1]), len(row[2]))
			for _, text := range row {
				hash.Write(text)
			}
			return err
		}, "SELECT type, name, sql FROM "+d.Quote(db.name)+".sqlite_master")
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%d:%.8x", db.name, n, hash.Sum(nil))
		if db.name != "main" {
			// Another file may be attached under the same name.
			fmt.Fprintf(&b, ":%s", db.file)
		}
	}
	return b.String(), nil
}

// Inspect reads the tables, views and virtual tables of the connection's
// databases, in the order in which they were made, database by database. The
// tables of the main database have no Schema, those of an attached one its name.
//
// What is read of a table:
//   - Columns with declared type, NOT NULL and DEFAULT as declared, and whether
//     they are generated. Hidden columns of virtual tables are left out.
//   - The primary key in its own order.
//   - Foreign keys in the order of their declaration, with the names of tables
//     and columns as their owners write them, and with the primary key of the
//     target where the key names no columns. A key whose target does not exist
//     is left out: nothing can be joined by it.
//   - Unique constraints and unique indexes, except those on expressions or on
//     a part of the rows.
//   - The CREATE text as Definition, and its comments as descriptions: see
//     below.
//
// Left out are SQLite's own tables (sqlite_…), temporary tables, which belong to
// one connection, the shadow tables of virtual tables, and views and virtual
// tables that SQLite itself cannot open, because a table or module is missing.
//
// Functions are all that PRAGMA function_list knows, in lower case.
//
// A comment in the CREATE text describes the column behind which it stands on
// the same line, or before which it stands alone:
//
//	CREATE TABLE orders ( -- what customers bought
//	  id INTEGER PRIMARY KEY, -- order number
//	  /* in cents */
//	  total INTEGER
//	)
//
// A comment before the opening bracket, or behind it on the same line, describes
// the table. Comments are text from the database: clean them before they go into
// a prompt, as the renderings of package schema do.
//
// It takes a handful of statements for each database, whatever the number of
// tables, and needs SQLite 3.37 (2021).
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

// attachedDatabases lists the databases of a connection but the temporary one.
func attachedDatabases(ctx context.Context, q exec.Queryer) ([]attached, error) {
	var dbs []attached
	err := each(ctx, q, func(rows *sql.Rows) error {
		var (
			seq  int
			name string
			file sql.NullString
		)
		if err := rows.Scan(&seq, &name, &file); err != nil {
			return err
		}
		if name != "temp" {
			dbs = append(dbs, attached{name: name, file: file.String})
		}
		return nil
	}, "PRAGMA database_list")
	return dbs, err
}

func functionNames(ctx context.Context, q exec.Queryer) ([]string, error) {
	names := []string{}
	err := each(ctx, q, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, schema.Fold(name))
		return nil
	}, "SELECT DISTINCT name FROM pragma_function_list")
	slices.Sort(names)
	return slices.Compact(names), err
}

// each calls f for each row of a statement of ours.
func each(ctx context.Context, q exec.Queryer, f func(rows *sql.Rows) error, text string, args ...any) error {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return unblamed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return unblamed(err)
	}
	return rows.Close()
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
	kinds, err := in.kinds(ctx)
	if err != nil {
		return err
	}
	if err := in.list(ctx, kinds); err != nil {
		return err
	}
	if err := in.columns(ctx, kinds); err != nil {
		return err
	}
	if err := in.foreignKeys(ctx); err != nil {
		return err
	}
	if err := in.uniques(ctx); err != nil {
		return err
	}
	in.drop()
	for i := range in.tables {
		describe(&in.tables[i])
	}
	return nil
}

// kinds asks what each relation is. Only SQLite knows which tables are shadows.
func (in *inspection) kinds(ctx context.Context) (map[string]string, error) {
	kinds := make(map[string]string)
	err := each(ctx, in.q, func(rows *sql.Rows) error {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return err
		}
		kinds[name] = kind
		return nil
	}, "SELECT name, type FROM pragma_table_list WHERE schema = ?1", in.database)
	return kinds, err
}

// list fills in.tables, in the order of the schema table.
func (in *inspection) list(ctx context.Context, kinds map[string]string) error {
	in.at = make(map[string]int, len(kinds))
	// sqlite_master and not sqlite_schema: every version knows it.
	return each(ctx, in.q, func(rows *sql.Rows) error {
		var (
			name       string
			definition sql.NullString
		)
		if err := rows.Scan(&name, &definition); err != nil {
			return err
		}
		t := schema.Table{Name: name, Definition: definition.String}
		if in.database != "main" {
			t.Schema = in.database
		}
		switch kinds[name] {
		case "table":
			t.Kind = schema.BaseTable
		case "view":
			t.Kind = schema.View
		case "virtual":
			t.Kind = schema.Virtual
		default:
			return nil // a shadow table
		}
		in.at[name] = len(in.tables)
		in.tables = append(in.tables, t)
		return nil
	}, "SELECT name, sql FROM "+in.dialect.Quote(in.database)+`.sqlite_master
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY rowid`)
}

// columns reads the columns of all tables in one statement, then those of views
// and virtual tables: in one statement if it can be, else one by one, since a
// single one that SQLite cannot open fails the statement for all.
func (in *inspection) columns(ctx context.Context, kinds map[string]string) error {
	const query = `SELECT l.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
		FROM pragma_table_list l, pragma_table_xinfo(l.name, l.schema) c
		WHERE l.schema = ?1 AND `
	if err := in.readColumns(ctx, query+"l.type = 'table'", in.database); err != nil {
		return err
	}
	const others = "l.type IN ('view', 'virtual')"
	if !slices.ContainsFunc(in.tables, func(t schema.Table) bool { return t.Kind != schema.BaseTable }) {
		return nil
	}
	if err := in.readColumns(ctx, query+others, in.database); err == nil || ctx.Err() != nil {
		return err
	}
	for i := range in.tables {
		if t := &in.tables[i]; t.Kind != schema.BaseTable {
			t.Columns, t.PrimaryKey = nil, nil
			err := in.readColumns(ctx, query+others+" AND l.name = ?2", in.database, t.Name)
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				t.Columns = nil // drop leaves it out
			}
		}
	}
	return nil
}

func (in *inspection) readColumns(ctx context.Context, query string, args ...any) error {
	var (
		table   sql.RawBytes
		current *schema.Table
		keys    []int // places in the primary key, from 1, of current's columns
	)
	finish := func() {
		if current == nil {
			return
		}
		for place := 1; ; place++ {
			i := slices.Index(keys, place)
			if i < 0 {
				break
			}
			current.PrimaryKey = append(current.PrimaryKey, current.Columns[i].Name)
		}
		keys = keys[:0]
	}
	err := each(ctx, in.q, func(rows *sql.Rows) error {
		var (
			c       schema.Column
			initial sql.NullString
			key     int
			hidden  int
		)
		if err := rows.Scan(&table, &c.Name, &c.Type, &c.NotNull, &initial, &key, &hidden); err != nil {
			return err
		}
		if current == nil || current.Name != string(table) {
			finish()
			current = nil
			if i, ok := in.at[string(table)]; ok {
				current = &in.tables[i]
			}
		}
		const hiddenByModule, generated = 1, 2 // 3 is generated and stored
		if current == nil || hidden == hiddenByModule {
			return nil
		}
		c.Default = initial.String
		c.Generated = hidden >= generated
		current.Columns = append(current.Columns, c)
		keys = append(keys, key)
		return nil
	}, query, args...)
	finish()
	return err
}

// drop removes what could not be opened, and with a virtual table that has no
// module here its shadow tables, which SQLite does not recognise then.
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

// isShadowSuffix knows how SQLite's own modules (FTS3, FTS4, FTS5, R-Tree) name
// their shadow tables.
func isShadowSuffix(suffix string) bool {
	switch suffix {
	case "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "rowid", "parent":
		return true
	}
	return false
}
