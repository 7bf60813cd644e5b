package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/internal/bridge"
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
// It takes three statements, whatever the number of tables.
func (d Dialect) Inspect(ctx context.Context, q bridge.Queryer) (*schema.Schema, error) {
	in := inspection{s: &schema.Schema{Dialect: d.Name(), Tables: []schema.Table{}}, q: q, at: map[string]int{}}
	for _, part := range []func(context.Context) error{in.tables, in.columns, in.keys} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return in.whole(ctx), nil
}

type inspection struct {
	s  *schema.Schema
	q  bridge.Queryer
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
	var t *schema.Table // of the row before
	return each(ctx, in.q, `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`, func(scan func(...any) error) error {
		var table, name, kind, nullable, standard, extra, comment sql.RawBytes
		if err := scan(&table, &name, &kind, &nullable, &standard, &extra, &comment); err != nil {
			return err
		}
		if t == nil || t.Name != string(table) {
			i, ok := in.at[string(table)]
			if !ok {
				return nil
			}
			t = &in.s.Tables[i]
		}
		c := schema.Column{Name: string(name), Type: string(kind), NotNull: string(nullable) == "NO", Description: string(comment)}
		for _, list := range []string{"enum", "set"} {
			if labels, ok := strings.CutPrefix(c.Type, list+"("); ok {
				c.Values = strings.ReplaceAll(strings.TrimSuffix(labels, ")"), "','", "', '")
				c.Type = list
			}
		}
		// MariaDB writes NULL for no default at all; MySQL says DEFAULT_GENERATED of an expression. A view has that of the
		// column under it.
		if string(standard) != "NULL" && t.Kind != schema.View {
			c.Default = string(standard)
		}
		c.Generated = strings.HasSuffix(string(extra), " GENERATED")
		twice := slices.ContainsFunc(t.Columns, func(other schema.Column) bool { return schema.EqualFold(other.Name, c.Name) })
		if !twice { // a temporary table of the same name has columns here as well
			t.Columns = append(t.Columns, c)
		}
		return nil
	})
}

// keys reads the unique indexes, the primary key among them, and the foreign keys, each by name.
func (in *inspection) keys(ctx context.Context) error {
	type part struct {
		table, name, column, target, key string
		number                           int
	}
	var parts []part
	err := each(ctx, in.q, `SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, COALESCE(REFERENCED_TABLE_NAME, ''), COALESCE(REFERENCED_COLUMN_NAME, ''), ORDINAL_POSITION
		FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND COALESCE(REFERENCED_TABLE_SCHEMA, TABLE_SCHEMA) = TABLE_SCHEMA`, func(scan func(...any) error) error {
		var p part
		err := scan(&p.table, &p.name, &p.column, &p.target, &p.key, &p.number)
		parts = append(parts, p)
		return err
	})
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.name, b.name), strings.Compare(a.target, b.target), a.number-b.number)
	})
	for len(parts) > 0 {
		first := parts[0]
		n := 1
		for n < len(parts) && parts[n].table == first.table && parts[n].name == first.name && parts[n].target == first.target {
			n++
		}
		key := parts[:n]
		parts = parts[n:]
		i, ok := in.at[first.table]
		if !ok {
			continue
		}
		t := &in.s.Tables[i]
		var columns, keys []string
		to, known := in.s.Lookup("", first.target) // the server may write a name in the case of the declaration
		for _, p := range key {
			columns = append(columns, proper(t, p.column))
			if known && first.target != "" {
				keys = append(keys, proper(to, p.key))
			}
		}
		switch {
		case first.target != "" && known:
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{RefTable: to.Name, Columns: columns, RefColumns: keys})
		case first.target != "":
		case first.name == "PRIMARY":
			t.PrimaryKey = columns
		case !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, columns) }):
			t.Unique = append(t.Unique, columns)
		}
	}
	return err
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
