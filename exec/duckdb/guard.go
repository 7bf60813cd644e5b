package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// guard is the bridge.Guard of one DB.
type guard struct {
	config  exec.GuardConfig
	without string // for tests of the other walls: "tree" or "policy" is off

	mu      sync.Mutex
	checked bool // the names of the policy were looked up in a catalog
	catalog *catalog
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (Dialect) guarded(c exec.GuardConfig) (bridge.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("duckdb: GuardConfig.CellBytes is negative")
	}
	return &guard{config: c}, nil
}

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	made    *made
	reads   bool // it reads the catalog, so no statement from outside comes
	catalog *catalog
	begun   bool // a transaction of ours is open
	lost    bool // the connection is not used again

	statement *sql.Stmt
	open      *sql.Rows
}

// remedy is what to do about a handle that cannot be guarded.
const remedy = "open the file with duckdb.Open of github.com/texttosql/texttosql/exec/duckdb, which makes a handle that only reads and reaches no file"

// Hold implements bridge.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, _ time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn})
}

// Catalog implements bridge.Guard.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, _ time.Duration) (bridge.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, reads: true})
}

func (g *guard) hold(ctx context.Context, h *held) (bridge.Held, error) {
	err := h.install(ctx)
	if err == nil && !h.reads {
		h.catalog, err = g.catalogOf(ctx, h)
	}
	if err == nil {
		return h, nil
	}
	err = unblamed(err)
	return nil, errors.Join(err, h.Release(errors.Is(err, driver.ErrBadConn)))
}

// unblamed gives an error of a statement of our own a type that blames no statement of a caller.
func unblamed(err error) error {
	switch typed := classify(err); {
	case exec.IsRejection(typed):
		return fmt.Errorf("duckdb: guarding a connection: %s", firstLine(err))
	case isTyped(typed):
		return typed
	}
	return fmt.Errorf("duckdb: guarding a connection: %w", err)
}

// install looks at the connection. What Open set nobody can change, so it asks only for what others may have left.
func (h *held) install(ctx context.Context) error {
	var on *conn
	foreign := ""
	err := h.conn.Raw(func(dc any) error {
		if h.guard.config.Unwrap != nil {
			dc = h.guard.config.Unwrap(dc)
		}
		switch c := dc.(type) {
		case *conn:
			h.made, on = c.made, c
		case *duckdb.Conn:
			foreign = "the handle was opened by the driver itself, so it may write, read files and change its settings"
		default:
			foreign = fmt.Sprintf("the driver connection %T is none of this package", dc)
		}
		return nil
	})
	if err != nil || foreign != "" {
		if err == nil {
			err = &exec.UnguardedError{Reason: foreign, Remedy: remedy}
		}
		return err
	}
	if !on.touched {
		return nil
	}
	if err := h.begin(ctx); err != nil {
		if isOpenTransaction(err) {
			return &exec.UnguardedError{
				Reason: "a transaction is open on the connection, which its caller began and did not end",
				Remedy: "commit it or roll it back before the connection goes back to the pool",
			}
		}
		return err
	}
	defer h.rollback()
	fit := false
	err = each(ctx, h.conn, `SELECT current_schema() = 'main' AND (SELECT count(*) FROM duckdb_tables() WHERE temporary) = 0 AND (SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal) = 0`, func(scan func(...any) error) error { return scan(&fit) })
	if err == nil && fit && !on.macros {
		on.touched = false
		return nil
	}
	if err == nil {
		err = &exec.UnguardedError{
			Reason: "the connection has temporary tables, views or macros, or another schema than main",
			Remedy: "drop them, or give the SDK a handle of its own",
		}
	}
	return err
}

// begin opens a transaction that only reads.
func (h *held) begin(ctx context.Context) error {
	if h.begun {
		return nil
	}
	err := do(ctx, h.conn, "BEGIN TRANSACTION READ ONLY")
	h.begun = err == nil
	return err
}

// rollback ends it.
func (h *held) rollback() {
	if !h.begun {
		return
	}
	h.begun = false
	lost := true // also where the driver panics
	defer func() { h.lost = h.lost || lost }()
	lost = do(context.Background(), h.conn, "ROLLBACK") != nil
}

// ours marks a context for statements of the guard.
func ours(ctx context.Context) context.Context { return context.WithValue(ctx, guarded{}, true) }

// Release implements bridge.Held.
func (h *held) Release(drop bool) error {
	fit := false
	defer func() {
		if !fit { // also where the driver panics
			h.conn.Raw(func(any) error { return driver.ErrBadConn }) // database/sql closes it
		}
	}()
	h.close()
	if drop || h.lost {
		return nil
	}
	h.rollback()
	fit = !h.lost
	return nil
}

// Finish implements exec.Finisher.
func (h *held) Finish(context.Context) (bool, error) {
	h.close()
	if !h.lost {
		h.rollback()
	}
	return !h.lost, nil
}

// close ends the last statement.
func (h *held) close() {
	if h.open != nil {
		h.open.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.open, h.statement = nil, nil
}

// catalogOf returns the catalog of h's database, which does not change while it is open.
func (g *guard) catalogOf(ctx context.Context, h *held) (*catalog, error) {
	g.mu.Lock()
	c := g.catalog
	g.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := readCatalog(ctx, h, g.config.Policy)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.checked && len(c.unknown) > 0 {
		return nil, &exec.PolicyError{Unknown: c.unknown}
	}
	g.checked, g.catalog = true, c
	return c, nil
}
