package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

const catalogsKept = 32 // for so many search paths, users and databases of one pool

// guard is the bridge.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig

	mu       sync.Mutex
	last     facts           // of the connection held last: the next one is likely to be the same
	asked    time.Time       // when the version of last was read
	catalogs map[facts]known // by all of facts
	checked  bool            // the names of the policy were looked up
	reached  map[any]*pgx    // by driver connection
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) guarded(c exec.GuardConfig) (bridge.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("postgres: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c, catalogs: map[facts]known{}, reached: map[any]*pgx{}}, nil
}

// Hold implements bridge.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout})
}

// Catalog implements bridge.Guard. Settings and transaction are those of a guarded connection, but for the role: names
// have to mean the same.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout, ours: true})
}

func (g *guard) hold(ctx context.Context, h *held) (_ bridge.Held, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.leave(true)
			err = fmt.Errorf("postgres: guarding a connection: the driver panicked: %v", r)
		}
	}()
	if err := h.install(ctx); err != nil {
		h.leave(ctx.Err() != nil)
		return nil, err
	}
	return h, nil
}

// trusted is how long a version holds. The server itself counts changes a second late.
const trusted = time.Second

// guess is what a connection is likely to be, the catalog for that, nil if there is none yet, and how to ask for the
// version.
func (g *guard) guess() (f facts, c *catalog, version string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.asked) < trusted {
		return g.last, g.catalogs[g.last].catalog, literal(g.last.version)
	}
	return g.last, g.catalogs[g.last].catalog, versionExpr
}

// of returns the catalog of a connection; nil if it was not read yet. asked says that its version was.
func (g *guard) of(f facts, asked bool) *catalog {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = f
	if asked {
		g.asked = time.Now()
	}
	return g.catalogs[f].catalog
}

// current reports whether the catalog that was read for f cannot have changed since, at snapshot.
func (g *guard) current(f facts, snapshot string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.catalogs[f].snapshot == snapshot && strings.HasSuffix(snapshot, ":")
}

// read reads the catalog of a connection. Its transaction has to end then, since that has the locks of reading.
func (g *guard) read(ctx context.Context, h *held, f facts) error {
	snapshot, err := h.script(ctx, "SELECT "+snapshotExpr)
	if err != nil {
		return err
	}
	var stamps map[string]string
	if len(g.config.Policy.DenyColumns) > 0 {
		if stamps, err = stampsOf(ctx, h, nil); err != nil {
			return err
		}
	}
	c, err := readCatalog(ctx, direct{h}, f.schemas(), g.config.Policy)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.checked && len(c.unknown) > 0 {
		return &exec.PolicyError{Unknown: c.unknown}
	}
	g.checked = true
	if len(g.catalogs) >= catalogsKept {
		clear(g.catalogs)
	}
	g.catalogs[f] = known{c, snapshot[0][0], stamps}
	return nil
}

// stamp is that of a relation when the catalog was read.
func (g *guard) stamp(f facts, oid string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.catalogs[f].stamps[oid]
}

// stampsOf returns a text for each of relations, by OID, that changes when a column comes, goes, or has another name, and
// when a view is replaced; nil: for all. Where a policy denies columns, the catalog cannot be trusted for the seconds
// until the server has counted a change.
func stampsOf(ctx context.Context, h *held, relations []lock) (map[string]string, error) {
	which := "c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384" // those of users
	if relations != nil {
		which = "c.oid IN (0"
		for _, l := range relations {
			which += fmt.Sprint(", ", l.relation)
		}
		which += ")"
	}
	rows, err := h.script(ctx, `SELECT c.oid, pg_catalog.concat_ws('/', c.relname,
(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attname, a.xmin), ',' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid),
(SELECT pg_catalog.string_agg(r.xmin::pg_catalog.text, ',' ORDER BY r.oid) FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid))
FROM pg_catalog.pg_class c WHERE `+which)
	stamps := map[string]string{}
	for _, row := range rows {
		stamps[row[0]] = row[1]
	}
	return stamps, err
}

// snapshotExpr is "XMIN:XMAX:LIST". While it stays the same, and nothing stands in the list, no transaction has written
// anything.
const snapshotExpr = "pg_catalog.txid_current_snapshot()::pg_catalog.text"

// known is a catalog, and the snapshot from before it was read.
type known struct {
	*catalog
	snapshot string
	stamps   map[string]string // by OID; nil where no column is denied
}
