package postgres

import (
	"context"

	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// versionExpr is a text that changes with the catalog. It reads no relation, so it leaves no lock, and takes a twentieth
// of a millisecond: it is the number of rows that were inserted, updated and deleted in each table of the catalog that
// says something of a schema, as the statistics have it. ANALYZE does not count.
//
// A standby and a server with track_counts = off count nothing. There the text changes every ten seconds.
//
// The tables are pg_type, pg_attribute, pg_proc, pg_class, pg_attrdef, pg_cast, pg_constraint, pg_depend,
// pg_description, pg_index, pg_inherits, pg_namespace, pg_operator, pg_rewrite and pg_enum.
const versionExpr = `pg_catalog.concat_ws(':', pg_catalog.current_database(), current_user,
	(SELECT pg_catalog.string_agg(s, ',') FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) s WHERE s OPERATOR(pg_catalog.!~) '^pg_'),
	extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
	CASE WHEN pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.=) 'off'
		THEN pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog./) 10) END,
	(SELECT pg_catalog.string_agg(pg_catalog.concat_ws('.', pg_catalog.pg_stat_get_tuples_inserted(o),
			pg_catalog.pg_stat_get_tuples_updated(o), pg_catalog.pg_stat_get_tuples_deleted(o)), ',')
		FROM pg_catalog.unnest('{1247,1249,1255,1259,2604,2605,2606,2608,2609,2610,2611,2615,2617,2618,3501}'::pg_catalog.oid[]) o))`

func version(ctx context.Context, q bridge.Queryer) (v string, err error) {
	err = each(ctx, q, "SELECT "+versionExpr, 1, func(row []any) { v = text(row[0]) })
	return v, err
}

// Version returns the counts of changes to the catalog, with the user and the schemas of the search path. Any role may
// read them.
//
// A change shows when the server has counted it: about a second after its commit, and up to ten seconds where the
// session that made it did more and then waits. What changes the catalog without changing a schema, as a temporary
// table does, changes it too.
func (Dialect) Version(ctx context.Context, q bridge.Queryer) (string, error) { return version(ctx, q) }

// DefaultSchema returns the first schema of the connection's search path that exists; "" where there is none.
func (Dialect) DefaultSchema(ctx context.Context, q bridge.Queryer) (name string, err error) {
	err = each(ctx, q, `SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY u(s, n)
		WHERE s !~ '^pg_' ORDER BY n LIMIT 1`, 1, func(row []any) { name = text(row[0]) })
	return name, err
}

// each runs a text of ours and calls f for each row, whose values it must not keep.
func each(ctx context.Context, q bridge.Queryer, sql string, columns int, f func(row []any)) error {
	rows, err := q.QueryContext(ctx, sql)
	if err != nil {
		return unblamed(err)
	}
	defer rows.Close()
	row, into := make([]any, columns), make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		f(row)
	}
	return unblamed(rows.Err())
}

// text is a value of a text type, which some drivers give as bytes; "" for NULL.
func text(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	s, _ := v.(string)
	return s
}

// integer is a value of the type bigint; 0 for NULL.
func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}
