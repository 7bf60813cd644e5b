package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// The ids of sqlite3_limit that the guard sets, and what it sets them to.
const (
	limitLength        = 0 // of a string, blob or row: exec.GuardConfig.CellBytes, but no less than minLength
	limitSQLLength     = 1
	limitColumn        = 2
	limitExprDepth     = 3
	limitCompound      = 4
	limitVDBEOp        = 5
	limitFunctionArg   = 6
	limitAttached      = 7
	limitLikePattern   = 8
	limitVariable      = 9
	minLength          = 1_000_000
	ownVariables       = 2
	virtualVariables   = 16 // the statements that the modules of virtual tables run bind some
	sqlLength          = 120_000
	columns            = 500
	exprDepth          = 200 // 100 already refuses an OR list of 121 terms
	compoundSelect     = 50
	vdbeOp             = 25_000 // an IN list of 3,000 passes
	functionArg        = 100
	likePattern        = 100
	installsBeforeDrop = 10_000 // go-sqlite3 keeps 134 bytes of each until the connection closes
	releaseTimeout     = 5 * time.Second
	catalogsKept       = 16 // databases of one pool differ at most in what is attached
)

// guard is the exec.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig

	mu       sync.Mutex
	gates    []*gate             // not in use
	catalogs map[string]*catalog // by versions
	checked  bool                // the policy was held against a schema
	installs map[uintptr]int     // by address of the driver connection; a reused address only drops one early
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("sqlite: GuardConfig.CellBytes is negative")
	}
	return &guard{
		dialect: d, config: c,
		catalogs: map[string]*catalog{}, installs: map[uintptr]int{},
	}, nil
}

// Hold implements exec.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, o exec.HoldOptions) (exec.Held, error) {
	h := &held{guard: g, conn: conn, options: o, gate: g.gate()}
	var fault error
	err := conn.Raw(func(dc any) error {
		fault = h.install(ctx, dc)
		if fault == nil {
			return nil
		}
		if undo := h.restore(dc); undo != nil {
			return h.unrestored(undo)
		}
		return nil
	})
	switch {
	case fault == nil && err == nil:
		return h, nil
	case fault == nil:
		fault = fmt.Errorf("sqlite: guarding a connection: %w", err)
	case errors.Is(err, exec.ErrBroken):
		fault = errors.Join(fault, err)
	}
	g.put(h.gate)
	return nil, fault
}

// gate takes a gate out of the store.
func (g *guard) gate() *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.gates); n > 0 {
		gate := g.gates[n-1]
		g.gates = g.gates[:n-1]
		return gate
	}
	return newGate(g.dialect.Authorizer)
}

// put puts a gate back that no connection has.
func (g *guard) put(gate *gate) {
	gate.begin()
	gate.catalog, gate.temp = nil, nil
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gates = append(g.gates, gate)
}

// catalogOf returns what is known of the schema that a connection sees.
func (g *guard) catalogOf(ctx context.Context, dc driver.Conn, dbs []attached) (*catalog, error) {
	key, err := versions(ctx, dc, dbs)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	c := g.catalogs[key]
	g.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err = readCatalog(ctx, dc, dbs, g.config.Policy)
	if err != nil {
		return nil, err
	}
	// The schema may have changed while it was read.
	again, err := versions(ctx, dc, dbs)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.checked && len(c.unknown) > 0 {
		return nil, &exec.PolicyError{Unknown: c.unknown}
	}
	g.checked = true
	if key == again {
		if len(g.catalogs) >= catalogsKept {
			clear(g.catalogs)
		}
		g.catalogs[key] = c
	}
	return c, nil
}

// count counts an install on a connection and reports whether it is worn out.
func (g *guard) count(address uintptr) bool {
	if address == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.installs[address]++
	if g.installs[address] < installsBeforeDrop {
		if len(g.installs) > 4*installsBeforeDrop {
			clear(g.installs) // connections come and go: forget the gone ones
		}
		return false
	}
	delete(g.installs, address)
	return true
}

// hooks finds the hooks of a driver connection.
func (g *guard) hooks(dc any) (Hooks, error) {
	inner := dc
	if g.config.Unwrap != nil {
		inner = g.config.Unwrap(dc)
	}
	if g.dialect.Hooks != nil {
		if h := g.dialect.Hooks(inner); h != nil {
			return h, nil
		}
	}
	if h, ok := inner.(Hooks); ok {
		return h, nil
	}
	return nil, &exec.UnguardedError{
		Reason: fmt.Sprintf("the driver connection %T has not the methods RegisterAuthorizer and SetLimit", inner),
		Remedy: "open the database with github.com/mattn/go-sqlite3, or set exec.Config.Unwrap where a library wraps that driver, " +
			"or set the field Hooks of sqlite.Dialect to adapt another one",
	}
}
