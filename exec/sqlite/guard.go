package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/exec"
)

const (
	installsBeforeDrop = 10_000 // go-sqlite3 keeps 134 bytes of each until the connection closes
	sightsKept         = 32     // connections in use at about the same time
	addressesKept      = 10_000 // connections come and go
)

// guarding guards the connections of one DB.
type guarding struct {
	dialect Dialect
	config  exec.GuardConfig
	checked atomic.Bool // by quickCheck

	gates    sync.Pool // of *gate: go-sqlite3 keeps every callback until the connection closes
	mu       sync.Mutex
	sights   map[any]sight   // by driver connection; the key keeps its address from being reused
	installs map[uintptr]int // by address of the driver connection; a reused address only drops one early
}

// sight is what was seen of a connection that has no database attached. Another connection needs its own, even with the
// same file and schema_version: a file that replaced another one counts for itself, and a connection that was opened
// before still reads the old file.
type sight struct {
	versions string // of conn.versions
	version  string // of conn.version
	place    string
}

// Guard implements [exec.Dialect]. See the package comment for what the guard does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	g := &guarding{dialect: d, config: c, sights: map[any]sight{}, installs: map[uintptr]int{}}
	g.gates.New = func() any {
		fresh := &gate{application: d.Authorizer}
		fresh.callback = fresh.authorize
		return fresh
	}
	return g.open, nil
}

// open implements [exec.Open].
func (g *guarding) open(ctx context.Context, pooled *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
	c := &conn{guarding: g, conn: pooled, timeout: timeout, gate: g.gates.Get().(*gate)}
	var fault error
	err := pooled.Raw(func(dc any) error {
		if fault = c.install(ctx, dc); fault == nil {
			return nil
		}
		if undo := c.restore(dc); undo != nil {
			return c.unrestored(undo)
		}
		return nil
	})
	switch {
	case fault == nil && err == nil:
		return exec.GuardedConn{Conn: c, Place: c.place, Version: c.version, Private: c.volatile(), File: c.file()}, nil
	case fault == nil:
		return exec.GuardedConn{}, err
	case err == nil: // else the gate may still be registered
		g.put(c.gate)
	case errors.Is(err, exec.ErrBroken):
		fault = errors.Join(fault, err)
	}
	return exec.GuardedConn{}, fault
}

// put stores a gate that no connection uses.
func (g *guarding) put(gate *gate) {
	gate.begin()
	gate.catalog = nil
	g.gates.Put(gate)
}

// seen returns what is known of a driver connection.
func (g *guarding) seen(dc any) sight {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !reflect.ValueOf(dc).Comparable() {
		return sight{}
	}
	return g.sights[dc]
}

// remember keeps what was seen of a driver connection. An empty sight forgets it.
func (g *guarding) remember(dc any, s sight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !reflect.ValueOf(dc).Comparable():
	case s == sight{}:
		delete(g.sights, dc)
	default:
		if len(g.sights) >= sightsKept {
			clear(g.sights)
		}
		g.sights[dc] = s
	}
}

// count counts an install and reports whether the connection has had too many.
func (g *guarding) count(hooks Hooks) bool {
	v := reflect.ValueOf(hooks)
	if v.Kind() != reflect.Pointer {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.installs) > addressesKept {
		clear(g.installs)
	}
	g.installs[v.Pointer()]++
	worn := g.installs[v.Pointer()] >= installsBeforeDrop
	if worn {
		delete(g.installs, v.Pointer())
	}
	return worn
}

// hooks finds the hooks of a driver connection.
func (g *guarding) hooks(dc any) (Hooks, error) {
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
		Remedy: "open the database with github.com/mattn/go-sqlite3, or where a library wraps that driver give the way to " +
			"it " +
			"with texttosql.WithDialect or exec.Config.Unwrap, or set the field Hooks of sqlite.Dialect to adapt another one",
	}
}

func (c *conn) Close(drop bool) error {
	c.close()
	err := c.conn.Raw(func(dc any) error {
		if (drop || c.worn) && !c.volatile() {
			c.remember(dc, sight{})
			return driver.ErrBadConn
		}
		if err := c.restore(dc); err != nil {
			return c.unrestored(err)
		}
		return nil
	})
	// A gate may still be registered on a connection that was not restored, so it is not used again then.
	if err == nil {
		c.put(c.gate)
	}
	if errors.Is(err, exec.ErrBroken) {
		return err
	}
	return nil // ErrBadConn, or a connection that database/sql closed before: both are gone
}
