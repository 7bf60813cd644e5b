package trino

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
)

// Inspect reads the tables and views of the connection's catalog and of Dialect.Catalogs, by schema and name. Schema is
// "catalog.schema" in another catalog than the connection's.
//
//   - Types are Trino's: "bigint", "varchar(40)", "array(integer)".
//   - Comments of columns are their descriptions, and those of tables where the user may read system.metadata.
//   - A materialized view is a table, as Trino lists it.
//   - Trino knows no keys: Joins come from names, or from a file of descriptions.
//
// Left out are schemas of a server's own, and hidden tables of metadata. Definition stays empty. It takes three
// statements, whatever the number of tables.
func (d Dialect) Inspect(ctx context.Context, q bridge.Queryer) (*schema.Schema, error) {
	own, _, err := place(ctx, q)
	if err != nil {
		return nil, err
	}
	in := inspection{dialect: d, s: &schema.Schema{Dialect: d.Name(), Tables: []schema.Table{}}, q: q, own: own, at: map[[3]string]int{}}
	for _, part := range []func(context.Context) error{in.tables, in.columns, in.comments} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return in.s.Project(func(t *schema.Table) bool { return len(t.Columns) > 0 }, func(*schema.Table, *schema.Column) bool { return true }), nil
}

type inspection struct {
	dialect Dialect
	s       *schema.Schema
	q       bridge.Queryer
	own     string            // catalog of the connection
	at      map[[3]string]int // catalog, schema and name -> place in s.Tables
}

// everywhere writes a query on one table of each information_schema.
func (in *inspection) everywhere(columns, table, order string) string {
	var parts []string
	for i, name := range in.dialect.catalogs(in.own) {
		parts = append(parts, fmt.Sprintf("SELECT %d AS c, table_catalog, table_schema, table_name, %s FROM %s.information_schema.%s WHERE table_schema <> 'information_schema'",
			i, columns, in.dialect.Quote(name), table))
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY c, table_schema, table_name" + order
}

func (in *inspection) tables(ctx context.Context) error {
	return each(ctx, in.q, in.everywhere("table_type", "tables", ""), func(scan func(...any) error) error {
		var (
			key  [3]string
			kind string
		)
		if err := scan(new(int), &key[0], &key[1], &key[2], &kind); err != nil {
			return err
		}
		if !visible(key[1], key[2]) {
			return nil
		}
		t := schema.Table{Schema: key[1], Name: key[2], Kind: schema.BaseTable}
		if key[0] != in.own {
			t.Schema = key[0] + "." + key[1]
		}
		if kind == "VIEW" {
			t.Kind = schema.View
		}
		in.at[key] = len(in.s.Tables)
		in.s.Tables = append(in.s.Tables, t)
		return nil
	})
}

func (in *inspection) columns(ctx context.Context) error {
	return each(ctx, in.q, in.everywhere(`ordinal_position, column_name, data_type, column_default, is_nullable, "comment"`, "columns", ", ordinal_position"), func(scan func(...any) error) error {
		var (
			key                         [3]string
			c                           schema.Column
			standard, nullable, comment sql.NullString
		)
		if err := scan(new(int), &key[0], &key[1], &key[2], new(int), &c.Name, &c.Type, &standard, &nullable, &comment); err != nil {
			return err
		}
		i, ok := in.at[key]
		if !ok { // it was made meanwhile
			return nil
		}
		t := &in.s.Tables[i]
		c.Default, c.Description = standard.String, comment.String
		c.NotNull = nullable.String == "NO"
		t.Columns = append(t.Columns, c)
		return nil
	})
}

// comments reads those of tables, which no information_schema has. A user who may not read them gets none.
func (in *inspection) comments(ctx context.Context) error {
	var names []string
	for _, name := range in.dialect.catalogs(in.own) {
		names = append(names, "'"+strings.ReplaceAll(name, "'", "''")+"'")
	}
	err := each(ctx, in.q, "SELECT catalog_name, schema_name, table_name, comment FROM system.metadata.table_comments WHERE comment IS NOT NULL AND catalog_name IN ("+
		strings.Join(names, ", ")+")", func(scan func(...any) error) error {
		var (
			key     [3]string
			comment string
		)
		if err := scan(&key[0], &key[1], &key[2], &comment); err != nil {
			return err
		}
		if i, ok := in.at[key]; ok {
			in.s.Tables[i].Description = comment
		}
		return nil
	})
	if exec.IsRejection(err) {
		return nil
	}
	return err
}
