package duckdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
)

// DefaultSchema returns "main".
func (Dialect) DefaultSchema(context.Context, bridge.Queryer) (string, error) {
	return defaultSchema, nil
}

// Version returns a hash of the identities of all tables, views and types, which the engine renews at each change. A
// file that is open for reading does not change, so it is read once a handle.
func (Dialect) Version(ctx context.Context, q bridge.Queryer) (string, error) {
	h, ok := q.(*held)
	if !ok || h.made == nil {
		return version(ctx, q)
	}
	h.made.mu.Lock()
	defer h.made.mu.Unlock()
	if h.made.version != "" {
		return h.made.version, nil
	}
	v, err := version(ctx, q)
	if err == nil {
		h.made.version = v
	}
	return v, err
}

func version(ctx context.Context, q bridge.Queryer) (string, error) {
	hash := sha256.New()
	err := each(ctx, q, `SELECT 't', schema_name, table_name, table_oid FROM duckdb_tables() WHERE NOT internal UNION ALL
		SELECT 'v', schema_name, view_name, view_oid FROM duckdb_views() WHERE NOT internal UNION ALL
		SELECT 'y', schema_name, type_name, type_oid FROM duckdb_types() WHERE NOT internal ORDER BY ALL`, func(scan func(...any) error) error {
		var kind, in, name string
		var oid int64
		err := scan(&kind, &in, &name, &oid)
		fmt.Fprintf(hash, "%s %q %q %d\n", kind, in, name, oid)
		return err
	})
	return fmt.Sprintf("%.16x", hash.Sum(nil)), classify(err)
}

// Inspect reads the tables and views of the database, by schema and name, without those in memory.
//
//   - Types are DuckDB's: "DECIMAL(10,2)", "STRUCT(f INTEGER)[]". An enum is "ENUM", with its labels in Values, as SQL
//     strings: 'small', 'large'.
//   - Comments of tables, views and columns are their descriptions.
//   - Foreign keys come in the order of their declaration. Unique is what UNIQUE constraints and unique indexes say.
//   - A view over a Parquet or CSV file is a view: its columns are those that the file had when the view was made.
//
// Definition stays empty. It takes four statements, whatever the number of tables.
func (d Dialect) Inspect(ctx context.Context, q bridge.Queryer) (*schema.Schema, error) {
	in := inspection{s: &schema.Schema{Dialect: d.Name(), Tables: []schema.Table{}}, q: q, at: map[[2]string]int{}, sql: map[[2]string]string{}}
	for _, part := range []func(context.Context) error{in.tables, in.columns, in.constraints, in.indexes} {
		if err := part(ctx); err != nil {
			return nil, classify(err)
		}
	}
	return in.s, nil
}

type inspection struct {
	s   *schema.Schema
	q   bridge.Queryer
	at  map[[2]string]int // schema and name -> place in s.Tables
	sql map[[2]string]string
}

func (in *inspection) tables(ctx context.Context) error {
	return each(ctx, in.q, `SELECT schema_name, table_name, comment, sql, false AS is_view FROM duckdb_tables() WHERE NOT internal AND NOT temporary AND database_name = current_database()
		UNION ALL SELECT schema_name, view_name, comment, sql, true FROM duckdb_views() WHERE NOT internal AND NOT temporary AND database_name = current_database()
		ORDER BY 1, 2`, func(scan func(...any) error) error {
		var comment, definition sql.NullString
		var isView bool
		t := schema.Table{Kind: schema.BaseTable}
		if err := scan(&t.Schema, &t.Name, &comment, &definition, &isView); err != nil {
			return err
		}
		t.Description = comment.String
		if isView {
			t.Kind = schema.View
		}
		k := [2]string{t.Schema, t.Name}
		in.at[k], in.sql[k] = len(in.s.Tables), definition.String
		in.s.Tables = append(in.s.Tables, t)
		return nil
	})
}

func (in *inspection) columns(ctx context.Context) error {
	return each(ctx, in.q, `SELECT schema_name, table_name, column_name, data_type, NOT is_nullable, column_default, comment FROM duckdb_columns()
		WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index`, func(scan func(...any) error) error {
		var table [2]string
		var standard, comment sql.NullString
		var c schema.Column
		if err := scan(&table[0], &table[1], &c.Name, &c.Type, &c.NotNull, &standard, &comment); err != nil {
			return err
		}
		i, ok := in.at[table]
		if !ok {
			return nil
		}
		c.Default, c.Description = standard.String, comment.String
		if labels, ok := strings.CutPrefix(c.Type, "ENUM("); ok {
			c.Type, c.Values = "ENUM", strings.TrimSuffix(labels, ")")
		}
		for _, name := range []string{c.Name, Dialect{}.Quote(c.Name)} {
			c.Generated = c.Generated || c.Default != "" && strings.Contains(in.sql[table], name+" "+c.Type+" GENERATED ALWAYS AS(")
		}
		in.s.Tables[i].Columns = append(in.s.Tables[i].Columns, c)
		return nil
	})
}

func (in *inspection) constraints(ctx context.Context) error {
	return each(ctx, in.q, `SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()
		WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ORDER BY schema_name, table_name, constraint_index`, func(scan func(...any) error) error {
		var table [2]string
		var kind string
		var target sql.NullString
		var columns, referenced any
		if err := scan(&table[0], &table[1], &kind, &columns, &target, &referenced); err != nil {
			return err
		}
		i, ok := in.at[table]
		if !ok {
			return nil
		}
		switch t := &in.s.Tables[i]; kind {
		case "PRIMARY KEY":
			t.PrimaryKey = texts(columns)
		case "UNIQUE":
			t.Unique = append(t.Unique, texts(columns))
		default:
			t.ForeignKeys = append(t.ForeignKeys, schema.ForeignKey{Columns: texts(columns), RefTable: target.String, RefColumns: texts(referenced)})
		}
		return nil
	})
}

// indexes reads unique indexes on plain columns.
func (in *inspection) indexes(ctx context.Context) error {
	return each(ctx, in.q, `SELECT schema_name, table_name, expressions FROM duckdb_indexes() WHERE is_unique AND NOT is_primary AND database_name = current_database()
		ORDER BY schema_name, table_name, index_name`, func(scan func(...any) error) error {
		var table [2]string
		var expressions string
		if err := scan(&table[0], &table[1], &expressions); err != nil {
			return err
		}
		i, ok := in.at[table]
		if !ok {
			return nil
		}
		t := &in.s.Tables[i]
		var columns []string
		for part := range strings.SplitSeq(strings.Trim(expressions, "[]"), ", ") {
			c, ok := t.Column(strings.Trim(part, `'"`))
			if !ok {
				return nil
			}
			columns = append(columns, c.Name)
		}
		if !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, columns) }) {
			t.Unique = append(t.Unique, columns)
		}
		return nil
	})
}

// texts is a list of the driver.
func texts(v any) (out []string) {
	for _, part := range list(v) {
		out = append(out, str(part))
	}
	return out
}
