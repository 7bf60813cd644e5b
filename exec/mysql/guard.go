package mysql

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// catalogTime is how long a catalog is not asked for again. The times of changes that the server tells are whole seconds
// too. A statement that is rejected asks earlier, and columns that a policy denies are asked of the trace.
const catalogTime = time.Second

// guard is the bridge.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig
	without string // for tests of the other walls: "tree" or "policy" is off

	mu      sync.Mutex
	known   bool // the server was asked what it is
	isMaria bool
	checked bool // the names of the policy were looked up in a catalog
	catalog *catalog
	key     string    // version of the catalog, and its place
	asked   time.Time // when key was the version
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) guarded(c exec.GuardConfig) (bridge.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("mysql: GuardConfig.CellBytes is negative")
	}
	return &guard{dialect: d, config: c}, nil
}

// server reports whether the server is MariaDB.
func (g *guard) server(ctx context.Context, q bridge.Queryer) (isMaria bool, err error) {
	g.mu.Lock()
	known, isMaria := g.known, g.isMaria
	g.mu.Unlock()
	if known {
		return isMaria, nil
	}
	err = each(ctx, q, "SELECT VERSION()", func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		isMaria = strings.Contains(strings.ToLower(text), "mariadb")
		return err
	})
	if err == nil {
		g.mu.Lock()
		g.known, g.isMaria = true, isMaria
		g.mu.Unlock()
	}
	return isMaria, err
}

// forget makes the next hold ask what the server is.
func (g *guard) forget() {
	g.mu.Lock()
	g.known = false
	g.mu.Unlock()
}

// catalogOf returns the catalog of h's database, one that was looked for less than catalogTime ago unless now is set.
func (g *guard) catalogOf(ctx context.Context, h *held, now bool) (*catalog, error) {
	g.mu.Lock()
	c, key, asked := g.catalog, g.key, g.asked
	g.mu.Unlock()
	if c != nil && c.place == h.at && !now && time.Since(asked) < catalogTime {
		return c, nil
	}
	for range 3 {
		start := time.Now()
		v, err := version(ctx, h.conn)
		if err != nil {
			return nil, err
		}
		if c == nil || c.place != h.at || key != v {
			if c, err = readCatalog(ctx, h.conn, h.at, g.config.Policy); err != nil {
				return nil, err
			}
			again, err := version(ctx, h.conn)
			if err != nil {
				return nil, err
			}
			if key = v; again != v { // it changed while it was read
				c = nil
				continue
			}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.checked && len(c.unknown) > 0 {
			return nil, &exec.PolicyError{Unknown: c.unknown}
		}
		g.checked = true
		g.catalog, g.key, g.asked = c, key, start
		return c, nil
	}
	return nil, &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the schema changes all the time"}
}
