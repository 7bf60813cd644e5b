package postgres

import (
	"context"
	"database/sql"
	"errors"
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
	last     facts              // of the connection held last: the next one is likely to be the same
	asked    time.Time          // when the version of last was read
	catalogs map[facts]*catalog // by all of facts
	checked  bool               // the names of the policy were looked up
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("postgres: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c, catalogs: map[facts]*catalog{}}, nil
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
		return g.last, g.catalogs[g.last], literal(g.last.version)
	}
	return g.last, g.catalogs[g.last], versionExpr
}

// known returns the catalog of a connection; nil if it was not read yet. asked says that its version was.
func (g *guard) known(f facts, asked bool) *catalog {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = f
	if asked {
		g.asked = time.Now()
	}
	return g.catalogs[f]
}

// read reads the catalog of a connection, outside of a transaction: in one it would leave its own locks.
func (g *guard) read(ctx context.Context, q exec.Queryer, f facts) (*catalog, error) {
	c, err := readCatalog(ctx, q, f.schemas(), g.config.Policy)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.checked && len(c.unknown) > 0 {
		return nil, &exec.PolicyError{Unknown: c.unknown}
	}
	g.checked = true
	if len(g.catalogs) >= catalogsKept {
		clear(g.catalogs)
	}
	g.catalogs[f] = c
	return c, nil
}
