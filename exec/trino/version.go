package trino

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// DefaultSchema returns the schema of the connection.
func (Dialect) DefaultSchema(ctx context.Context, q bridge.Queryer) (string, error) {
	_, schema, err := place(ctx, q)
	return schema, err
}

// place returns the catalog and the schema of the connection, which a guard knows without asking.
func place(ctx context.Context, q bridge.Queryer) (catalog, schema string, err error) {
	if h, ok := q.(*held); ok {
		return h.at.catalog, h.at.schema, nil
	}
	var c, s sql.NullString
	err = each(ctx, q, "SELECT current_catalog, current_schema", func(scan func(...any) error) error { return scan(&c, &s) })
	if err == nil && (!c.Valid || !s.Valid) {
		err = &exec.UnguardedError{
			Reason: "the connection has no catalog or no schema",
			Remedy: "name both in the DSN: https://user@host:8443?catalog=hive&schema=shop",
		}
	}
	return c.String, s.String, err
}

// catalogs returns the catalog of the connection, and then the others that the dialect reads, each once.
func (d Dialect) catalogs(own string) []string {
	out := []string{own}
	for _, name := range d.Catalogs {
		if !strings.EqualFold(name, own) {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}

// Version returns a checksum of all columns of the catalogs: schema, table, column, place, type, default, NOT NULL and
// comment. Trino has nothing cheaper that would show a changed column. It costs one statement, as little as any other
// one (50 to 100 ms) where the catalogs answer from memory, and as much as their metadata costs where they do not. A DB
// asks once a second at most.
func (d Dialect) Version(ctx context.Context, q bridge.Queryer) (version string, err error) {
	h, guarded := q.(*held)
	if guarded {
		if version = h.guard.versionOf(h.at); version != "" {
			return version, nil
		}
	}
	start := time.Now()
	own, _, err := place(ctx, q)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, name := range d.catalogs(own) {
		parts = append(parts, `SELECT table_catalog, table_schema, table_name, column_name, ordinal_position, data_type, column_default, is_nullable, "comment" FROM `+
			d.Quote(name)+".information_schema.columns WHERE table_schema <> 'information_schema'")
	}
	err = each(ctx, q, "SELECT to_hex(checksum(ROW(table_catalog, table_schema, table_name, column_name, ordinal_position, data_type, column_default, is_nullable, \"comment\"))),"+
		" count(*) FROM ("+strings.Join(parts, " UNION ALL ")+")", func(scan func(...any) error) error {
		var sum sql.NullString
		var n int64
		err := scan(&sum, &n)
		version = fmt.Sprintf("%s-%d", strings.ToLower(sum.String), n)
		return err
	})
	if err == nil && guarded {
		h.guard.mu.Lock()
		if h.guard.version.version != version {
			h.guard.columns = nil // what it knows of tables is old
		}
		h.guard.version = remembered{h.at, version, start}
		h.guard.mu.Unlock()
	}
	return version, err
}

// versionTime is how long a version is not asked for again.
const versionTime = time.Second

// remembered is the version of what a connection at a place sees.
type remembered struct {
	at      home
	version string
	asked   time.Time
}

// versionOf is the version that was asked for lately, or "".
func (g *guard) versionOf(at home) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.version.at != at || time.Since(g.version.asked) > versionTime {
		return ""
	}
	return g.version.version
}

// each runs a query of ours and calls row for each of its rows.
func each(ctx context.Context, q bridge.Queryer, query string, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return classify(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("trino: reading the catalog: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return classify(err)
	}
	return nil
}
