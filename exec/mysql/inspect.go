package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Inspect reads the tables and views of the connection's database, by name. They have no Schema: the guard lets
// no other database be read.
//
//   - Types are those of SHOW COLUMNS: "bigint(20) unsigned", "varchar(40)". An enum or set is "enum" or "set", with
//     its labels in Values, as SQL strings: 'small', 'large'.
//   - Comments of tables and columns are their descriptions.
//   - Foreign keys come by name; one to another database is left out. Unique is what unique indexes say.
//   - Invisible columns are there: a statement may name them.
//
// Left out are sequences, temporary tables, and views that the server cannot open, because a table is gone or their
// owner may not read it: the span in ctx gets a warning "broken-view" for each that the policy allows. Definition stays
// empty.
//
// It takes four statements, whatever the number of tables.
func (d Dialect) Inspect(ctx context.Context, q exec.Queryer) (*schema.Schema, error) {
	in := inspection{s: &schema.Schema{Dialect: d.Name(), Tables: []schema.Table{}}, q: q, at: map[string]int{}}
	for _, part := range []func(context.Context) error{in.tables, in.columns, in.uniques, in.foreignKeys} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return in.whole(ctx), nil
}

type inspection struct {
	s  *schema.Schema
	q  exec.Queryer
	at map[string]int // name -> place in s.Tables
}

func (in *inspection) tables(ctx context.Context) error {
	return each(ctx, in.q, `SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE NOT IN ('SEQUENCE', 'TEMPORARY') ORDER BY TABLE_NAME`, func(scan func(...any) error) error {
		var name, kind, comment string
		if err := scan(&name, &kind, &comment); err != nil {
			return err
		}
		t := schema.Table{Name: name, Kind: schema.BaseTable, Description: comment}
		if kind == "VIEW" {
			t.Kind, t.Description = schema.View, "" // the server writes "VIEW" there, or why it cannot be opened
		}
		in.at[name] = len(in.s.Tables)
		in.s.Tables = append(in.s.Tables, t)
		return nil
	})
}

// columns reads the columns of all tables. They come in order, and to ask for it doubles the time.
func (in *inspection) columns(ctx context.Context) error {
	return each(ctx, in.q, `SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE = 'NO', COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`, func(scan func(...any) error) error {
		var (
			table, kind, extra string
			standard           sql.NullString
			c                  schema.Column
		)
		if err := scan(&table, &c.Name, &kind, &c.Type, &c.NotNull, &standard, &extra, &c.Description); err != nil {
			return err
		}
		i, ok := in.at[table]
		if !ok {
			return nil
		}
		if kind == "enum" || kind == "set" {
			c.Values = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(c.Type, kind+"("), ")"), "','", "', '")
			c.Type = kind
		}
		// MariaDB writes NULL for no default at all; MySQL says DEFAULT_GENERATED of an expression.
		if standard.String != "NULL" {
			c.Default = standard.String
		}
		c.Generated = strings.HasSuffix(extra, " GENERATED")
		t := &in.s.Tables[i]
		if t.Kind == schema.View {
			c.Default = "" // of the column under it
		}
		if _, twice := t.Column(c.Name); !twice { // a temporary table of the same name has columns here as well
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
}

// uniques reads the unique indexes, the primary key among them. One on an expression has columns without a name.
func (in *inspection) uniques(ctx context.Context) error {
	type key struct{ table, index string }
	var (
		last  key
		parts []string
	)
	end := func() {
		i, ok := in.at[last.table]
		if !ok || slices.Contains(parts, "") {
			return
		}
		switch t := &in.s.Tables[i]; {
		case last.index == "PRIMARY":
			t.PrimaryKey = parts
		case !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, parts) }):
			t.Unique = append(t.Unique, parts)
		}
	}
	err := each(ctx, in.q, `SELECT TABLE_NAME, INDEX_NAME, COALESCE(COLUMN_NAME, '') FROM information_schema.STATISTICS
		WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`, func(scan func(...any) error) error {
		var (
			k      key
			column string
		)
		if err := scan(&k.table, &k.index, &column); err != nil {
			return err
		}
		if k != last {
			end()
			last, parts = k, nil
		}
		parts = append(parts, column)
		return nil
	})
	end()
	return err
}

func (in *inspection) foreignKeys(ctx context.Context) error {
	var last [2]string
	return each(ctx, in.q, `SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`, func(scan func(...any) error) error {
		var table, name, column, target, key string
		if err := scan(&table, &name, &column, &target, &key); err != nil {
			return err
		}
		i, ok := in.at[table]
		to, known := in.s.Lookup("", target) // the server may write a name in the case of the declaration
		if !ok || !known {
			return nil
		}
		t := &in.s.Tables[i]
		if this := [2]string{table, name}; this != last {
			last = this
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{RefTable: to.Name})
		}
		f := &t.ForeignKeys[len(t.ForeignKeys)-1]
		f.Columns, f.RefColumns = append(f.Columns, proper(t, column)), append(f.RefColumns, proper(to, key))
		return nil
	})
}

// proper returns the name of a column as t writes it.
func proper(t *schema.Table, name string) string {
	if c, ok := t.Column(name); ok {
		return c.Name
	}
	return name
}

// whole leaves out what has no columns, which is a view that the server cannot open, and keys on columns that the user
// may not see.
func (in *inspection) whole(ctx context.Context) *schema.Schema {
	for i := range in.s.Tables {
		t := &in.s.Tables[i]
		if len(t.Columns) > 0 {
			continue
		}
		if h, ok := in.q.(*held); !ok || h.guard.config.Policy.AllowsTable(h.at.database, t.Name) {
			trace.From(ctx).Warn("broken-view", "the view "+t.Name+" is left out of the schema, since the server cannot open it")
		}
	}
	s := in.s.Project(func(*schema.Table) bool { return true }, func(*schema.Table, *schema.Column) bool { return true })
	s.Tables = slices.Grow(s.Tables, 1) // no tables are a list too
	return s
}
