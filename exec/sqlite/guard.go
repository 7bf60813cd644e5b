package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
)

const (
	installsBeforeDrop = 10_000 // go-sqlite3 keeps 134 bytes of each until the connection closes
	catalogsKept       = 32     // connections in use at about the same time
	addressesKept      = 10_000 // connections come and go
)

// guard is the exec.Guard of one DB.
type guard struct {
	dialect Dialect
	config  exec.GuardConfig

	mu       sync.Mutex
	gates    []*gate         // not in use
	catalogs map[any]known   // by driver connection; the key keeps its address from being reused
	checked  bool            // the names of the policy were looked up in a schema
	installs map[uintptr]int // by address of the driver connection; a reused address only drops one early
}

// Guard makes the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Guard, error) {
	if c.CellBytes < 0 {
		return nil, errors.New("sqlite: GuardConfig.CellBytes is negative")
	}
	return &guard{
		dialect: d, config: c,
		catalogs: map[any]known{}, installs: map[uintptr]int{},
	}, nil
}

// Hold implements exec.Guard.
func (g *guard) Hold(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout, gate: g.gate()})
}

// Catalog implements exec.Guard.
func (g *guard) Catalog(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Held, error) {
	return g.hold(ctx, &held{guard: g, conn: conn, timeout: timeout, gate: g.gate(), catalog: true})
}

func (g *guard) hold(ctx context.Context, h *held) (exec.Held, error) {
	var fault error
	err := h.conn.Raw(func(dc any) error {
		if fault = h.install(ctx, dc); fault == nil {
			return nil
		}
		if undo := h.restore(dc); undo != nil {
			return h.unrestored(undo)
		}
		return nil
	})
	if fault == nil && err == nil {
		return h, nil
	}
	if err == nil {
		g.put(h.gate)
	}
	switch {
	case fault == nil:
		return nil, fmt.Errorf("sqlite: guarding a connection: %w", err)
	case errors.Is(err, exec.ErrBroken):
		return nil, errors.Join(fault, err)
	default:
		return nil, fault
	}
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
	fresh := &gate{application: g.dialect.Authorizer}
	fresh.callback = fresh.authorize
	return fresh
}

// put stores a gate that no connection uses.
func (g *guard) put(gate *gate) {
	gate.begin()
	gate.catalog, gate.temp = nil, nil
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gates = append(g.gates, gate)
}

// catalogOf returns the catalog of a connection whose schema versions are key.
func (g *guard) catalogOf(ctx context.Context, dc driver.Conn, dbs []attached, key string) (*catalog, error) {
	files := attachedFiles(dbs)
	comparable := reflect.ValueOf(dc).Comparable()
	if comparable {
		g.mu.Lock()
		k := g.catalogs[dc]
		g.mu.Unlock()
		if k.catalog != nil && k.key == key && slices.EqualFunc(k.files, files, sameFile) {
			return k.catalog, nil
		}
	}
	c, err := readCatalog(ctx, dc, dbs, g.config.Policy)
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
	if comparable && key == again {
		if len(g.catalogs) >= catalogsKept {
			clear(g.catalogs)
		}
		g.catalogs[dc] = known{key: key, files: files, catalog: c}
	}
	return c, nil
}

// forget lets go of a connection that is about to be closed.
func (g *guard) forget(raw any) {
	if !reflect.ValueOf(raw).Comparable() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.catalogs, raw)
}

// count counts an install and reports whether the connection has had too many.
func (g *guard) count(address uintptr) bool {
	if address == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.installs[address]++
	if g.installs[address] >= installsBeforeDrop {
		delete(g.installs, address)
		return true
	}
	if len(g.installs) > addressesKept {
		clear(g.installs)
	}
	return false
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
		Remedy: "open the database with github.com/mattn/go-sqlite3, or where a library wraps that driver give the way to it " +
			"with texttosql.WithDriverHook or exec.Config.Unwrap, or set the field Hooks of sqlite.Dialect to adapt another one",
	}
}
