package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Inspect reads the tables, views, materialized views and foreign tables that the connection's user may read, in all
// schemas but the system's and those of temporary tables. Those of the default schema come first and have no Schema;
// then follow the other schemas by name. In a schema tables stand in the order in which they were made.
//
// What is read of a table:
//   - Its kind: views and materialized views are schema.View, all others schema.BaseTable.
//   - Columns that the user may read, with the type as the engine writes it. Values of a column of an enum, or of arrays
//     of one, are its labels. The description of a column of a domain names the type under it.
//   - The primary key in its own order.
//   - Foreign keys in the order of their making, except those to tables that the user may not read.
//   - Unique constraints and unique indexes, except those on expressions or on a part of the rows.
//   - Comments as descriptions. They are text from the database: clean them before they go into a prompt, as the
//     renderings of package schema do.
//
// Definition is empty: PostgreSQL keeps no CREATE text. Columns with GENERATED … AS IDENTITY have that as Default.
//
// Left out are partitions, whose parent stays, tables without columns, relations that belong to an extension, and views
// with the rights of their reader over relations that this user may not read: the span in ctx gets a warning
// "broken-view" for each.
//
// It takes nine statements, whatever the number of tables.
func (d Dialect) Inspect(ctx context.Context, q bridge.Queryer) (*schema.Schema, error) {
	in := inspection{tables: []schema.Table{}, at: map[int64]int{}, numbered: map[int64][]*schema.Column{}}
	version, err := version(ctx, q) // first: a change in the middle shows as a new version later
	if err == nil {
		in.standard, err = d.DefaultSchema(ctx, q)
	}
	for _, part := range []func(context.Context, bridge.Queryer) error{in.types, in.relations, in.columns, in.defaults, in.comments, in.indexes, in.foreignKeys} {
		if err == nil {
			err = part(ctx, q)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("postgres: reading the catalog: %w", err)
	}
	// Nothing can be read from a table without columns.
	in.tables = slices.DeleteFunc(in.tables, func(t schema.Table) bool { return len(t.Columns) == 0 })
	return &schema.Schema{Dialect: d.Name(), Version: version, Default: in.standard, Tables: in.tables}, nil
}

type inspection struct {
	standard string // the default schema
	tables   []schema.Table
	oids     []int64                    // of the tables
	partly   []int64                    // of those whose columns may not all be read
	at       map[int64]int              // OID -> place in tables
	numbered map[int64][]*schema.Column // OID -> columns by their number
	kinds    map[int64]kind             // OID -> enum, domain or an array of one
}

// typeUse is a type with its modifier, as the 10 of varchar(10).
type typeUse struct{ typ, mod int64 }

// kind is what the schema tells of a type that somebody made.
type kind struct{ labels, about string }

// types reads enums and domains.
func (in *inspection) types(ctx context.Context, q bridge.Queryer) error {
	in.kinds = map[int64]kind{}
	return each(ctx, q, `WITH RECURSIVE made AS (
			SELECT t.oid, t.typtype, t.typbasetype, t.typtypmod FROM pg_catalog.pg_type t WHERE t.typtype IN ('d', 'e')),
		under AS (
			SELECT oid, oid AS base, typtype, typbasetype, typtypmod FROM made
			UNION ALL SELECT u.oid, m.oid, m.typtype, m.typbasetype, m.typtypmod FROM under u JOIN made m ON m.oid = u.typbasetype),
		labels AS (
			SELECT u.oid, pg_catalog.string_agg(pg_catalog.quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) AS text
			FROM under u JOIN pg_catalog.pg_enum e ON e.enumtypid = u.base GROUP BY u.oid)
		SELECT m.oid::bigint, a.oid::bigint, l.text, 'domain over ' || pg_catalog.format_type(u.typbasetype, u.typtypmod),
			pg_catalog.obj_description(m.oid, 'pg_type')
		FROM made m LEFT JOIN labels l ON l.oid = m.oid
			LEFT JOIN under u ON u.oid = m.oid AND u.typtype = 'd' AND NOT EXISTS (SELECT FROM made d WHERE d.oid = u.typbasetype AND d.typtype = 'd')
			LEFT JOIN pg_catalog.pg_type a ON a.typelem = m.oid AND a.typcategory = 'A'`,
		5, func(row []any) {
			k := kind{labels: text(row[2]), about: joined(": ", text(row[3]), text(row[4]))}
			in.kinds[integer(row[0])] = k
			if array := integer(row[1]); array != 0 {
				in.kinds[array] = k
			}
		})
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// relations lists what the user may read. A view with the rights of its reader may have something under it that this
// user may not.
func (in *inspection) relations(ctx context.Context, q bridge.Queryer) error {
	return each(ctx, q, `SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text,
			pg_catalog.has_table_privilege(c.oid, 'SELECT'),
			c.relkind = 'v' AND 'security_invoker=true' = ANY (c.reloptions) AND EXISTS (
				SELECT FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass
					AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> c.oid
				WHERE r.ev_class = c.oid AND NOT pg_catalog.has_any_column_privilege(d.refobjid, 'SELECT'))
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
			AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
			AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
			AND c.oid <> ALL (ARRAY(SELECT objid FROM pg_catalog.pg_depend WHERE refclassid = 'pg_catalog.pg_extension'::regclass
				AND classid = 'pg_catalog.pg_class'::regclass AND deptype = 'e'))
		ORDER BY n.nspname <> `+literal(in.standard)+`, n.nspname, c.oid`, 6, func(row []any) {
		t := schema.Table{Schema: text(row[1]), Name: text(row[2]), Kind: schema.BaseTable}
		if t.Schema == in.standard {
			t.Schema = ""
		}
		if k := text(row[3]); k == "v" || k == "m" {
			t.Kind = schema.View
		}
		if hidden, _ := row[5].(bool); hidden {
			trace.From(ctx).Warn("broken-view", "the view "+t.Name+" is left out of the schema, since this user may not read what is under it")
			return
		}
		oid := integer(row[0])
		if whole, _ := row[4].(bool); !whole {
			in.partly = append(in.partly, oid)
		}
		in.oids, in.at[oid] = append(in.oids, oid), len(in.tables)
		in.tables = append(in.tables, t)
	})
}

// list writes numbers as an array.
func list(numbers []int64) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return "'{" + string(b) + "}'::bigint[]"
}

// columns reads the columns of a table as one value, with control characters between them, which become blanks in a
// name: a row for each column would take three times as long. There are no joins, since the planner may know nothing of
// a catalog that is new and choose the slowest one.
func (in *inspection) columns(ctx context.Context, q bridge.Queryer) error {
	type use struct {
		column *schema.Column
		typeUse
	}
	var uses []use
	err := each(ctx, q, `SELECT a.attrelid::bigint, pg_catalog.string_agg(pg_catalog.concat_ws(E'\x1f', a.attnum, a.atttypid, a.atttypmod, a.attnotnull::integer,
			a.attgenerated <> '', '.' || a.attidentity::text, pg_catalog.translate(a.attname, E'\x1e\x1f', '  ')), E'\x1e' ORDER BY a.attnum)
		FROM pg_catalog.pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY (`+list(in.oids)+`::oid[])
			AND (a.attrelid <> ALL (`+list(in.partly)+`::oid[]) OR pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'))
		GROUP BY a.attrelid`, 2, func(row []any) {
		oid, lines := integer(row[0]), strings.Split(text(row[1]), "\x1e")
		t := &in.tables[in.at[oid]]
		t.Columns = make([]schema.Column, len(lines))
		for i, line := range lines {
			f := strings.Split(line, "\x1f")
			var n [3]int64 // number, type, modifier
			for j := range n {
				n[j], _ = strconv.ParseInt(f[j], 10, 64)
			}
			c := &t.Columns[i]
			*c = schema.Column{Name: f[6], NotNull: f[3] == "1", Generated: f[4] == "t"}
			switch f[5] {
			case ".a":
				c.Default = "GENERATED ALWAYS AS IDENTITY"
			case ".d":
				c.Default = "GENERATED BY DEFAULT AS IDENTITY"
			}
			numbered := in.numbered[oid]
			in.numbered[oid] = append(numbered, make([]*schema.Column, int(n[0])+1-len(numbered))...)
			in.numbered[oid][n[0]] = c
			uses = append(uses, use{c, typeUse{n[1], n[2]}})
		}
	})
	if err != nil {
		return err
	}
	written := map[typeUse]string{}
	var types, mods []int64
	for _, u := range uses {
		if _, ok := written[u.typeUse]; !ok {
			written[u.typeUse] = ""
			types, mods = append(types, u.typ), append(mods, u.mod)
		}
	}
	err = each(ctx, q, `SELECT t, m, pg_catalog.format_type(t::oid, m::integer)
		FROM ROWS FROM (pg_catalog.unnest(`+list(types)+`), pg_catalog.unnest(`+list(mods)+`)) u(t, m)`,
		3, func(row []any) { written[typeUse{integer(row[0]), integer(row[1])}] = text(row[2]) })
	for _, u := range uses {
		k := in.kinds[u.typ]
		u.column.Type, u.column.Values, u.column.Description = written[u.typeUse], k.labels, k.about
	}
	return err
}

// defaults reads default values; the expression of a generated column is none.
func (in *inspection) defaults(ctx context.Context, q bridge.Queryer) error {
	return each(ctx, q, `SELECT adrelid::bigint, adnum::bigint, pg_catalog.pg_get_expr(adbin, adrelid) FROM pg_catalog.pg_attrdef
		WHERE adrelid = ANY (`+list(in.oids)+`::oid[])`, 3, func(row []any) {
		if c := in.column(integer(row[0]), integer(row[1])); c != nil && !c.Generated {
			c.Default = text(row[2])
		}
	})
}

// comments reads those on relations, which have the number 0, and on columns.
func (in *inspection) comments(ctx context.Context, q bridge.Queryer) error {
	return each(ctx, q, `SELECT objoid::bigint, objsubid::bigint, description FROM pg_catalog.pg_description
		WHERE classoid = 'pg_catalog.pg_class'::regclass AND objoid = ANY (`+list(in.oids)+`::oid[])`, 3, func(row []any) {
		oid, number := integer(row[0]), integer(row[1])
		if number == 0 {
			in.tables[in.at[oid]].Description = text(row[2])
		} else if c := in.column(oid, number); c != nil {
			c.Description = joined("; ", text(row[2]), c.Description)
		}
	})
}

// column returns a column by its number, nil where it is not in the schema.
func (in *inspection) column(relation, number int64) *schema.Column {
	if columns := in.numbered[relation]; number >= 0 && number < int64(len(columns)) {
		return columns[number]
	}
	return nil
}

// indexes reads the primary keys and what is unique beside them.
func (in *inspection) indexes(ctx context.Context, q bridge.Queryer) error {
	return each(ctx, q, `SELECT i.indrelid::bigint, i.indisprimary, pg_catalog.array_to_string((i.indkey::smallint[])[0:i.indnkeyatts - 1], ',')
		FROM pg_catalog.pg_index i WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
		ORDER BY i.indrelid, i.indexrelid`, 3, func(row []any) {
		i, ok := in.at[integer(row[0])]
		columns := in.columnNames(integer(row[0]), text(row[2]))
		if !ok || columns == nil {
			return
		}
		t := &in.tables[i]
		if primary, _ := row[1].(bool); primary {
			t.PrimaryKey = columns
		} else if !slices.ContainsFunc(t.Unique, func(other []string) bool { return slices.Equal(other, columns) }) {
			t.Unique = append(t.Unique, columns)
		}
	})
}

func (in *inspection) foreignKeys(ctx context.Context, q bridge.Queryer) error {
	return each(ctx, q, `SELECT k.conrelid::bigint, k.confrelid::bigint, pg_catalog.array_to_string(k.conkey, ','), pg_catalog.array_to_string(k.confkey, ',')
		FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' ORDER BY k.conrelid, k.oid`, 4, func(row []any) {
		i, ok := in.at[integer(row[0])]
		j, known := in.at[integer(row[1])]
		from, to := in.columnNames(integer(row[0]), text(row[2])), in.columnNames(integer(row[1]), text(row[3]))
		if !ok || !known || from == nil || to == nil {
			return
		}
		key := schema.ForeignKey{Columns: from, RefSchema: in.tables[j].Schema, RefTable: in.tables[j].Name, RefColumns: to}
		if key.RefSchema == "" && in.tables[i].Schema != "" {
			key.RefSchema = in.standard // none would mean that of the table
		}
		in.tables[i].ForeignKeys = append(in.tables[i].ForeignKeys, key)
	})
}

// columnNames returns the names of the columns "1,3" of a relation, nil where one is not in the schema.
func (in *inspection) columnNames(relation int64, numbers string) (names []string) {
	for number := range strings.SplitSeq(numbers, ",") {
		n, err := strconv.ParseInt(number, 10, 64)
		c := in.column(relation, n)
		if err != nil || c == nil {
			return nil
		}
		names = append(names, c.Name)
	}
	return names
}

// literal writes a text of the database for a statement of ours.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
