package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
)

const catalogsKept = 32 // for so many search paths, users and databases of one pool

// guard is the exec.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig

	mu       sync.Mutex
	last     facts           // of the connection held last: the next one is likely to be the same
	asked    time.Time       // when the version of last was read
	catalogs map[facts]known // by all of facts
	checked  bool            // the names of the policy were looked up
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("postgres: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c, catalogs: map[facts]known{}}, nil
}

// Hold implements exec.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout})
}

// Catalog implements exec.Guard. Settings and transaction are those of a guarded connection, but for the role: names
// have to mean the same.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout, ours: true})
}

func (g *guard) hold(ctx context.Context, h *held) (exec.Held, error) {
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
func (g *guard) read(ctx context.Context, q exec.Queryer, f facts) error {
	rows, err := q.QueryContext(ctx, "SELECT "+snapshotExpr)
	if err != nil {
		return err
	}
	snapshot, err := textsOf(rows)
	if err != nil {
		return err
	}
	c, err := readCatalog(ctx, q, f.schemas(), g.config.Policy)
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
	g.catalogs[f] = known{c, snapshot[0][0]}
	return nil
}

// snapshotExpr is "XMIN:XMAX:LIST". While it stays the same, and nothing stands in the list, no transaction has written
// anything.
const snapshotExpr = "pg_catalog.txid_current_snapshot()::pg_catalog.text"

// known is a catalog, and the snapshot from before it was read.
type known struct {
	*catalog
	snapshot string
}
