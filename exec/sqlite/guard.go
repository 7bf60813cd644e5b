package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
)

const (
	installsBeforeDrop = 10_000 // go-sqlite3 keeps 134 bytes of each until the connection closes
	sightsKept         = 64     // connections in use at about the same time
	addressesKept      = 10_000 // connections come and go
)

// guarded is what the guard of one DB keeps.
type guarded struct {
	dialect Dialect
	config  exec.GuardConfig

	mu       sync.Mutex
	gates    []*gate         // not in use
	seen     map[any]sight   // by driver connection; the key keeps its address from being reused
	installs map[uintptr]int // by address of the driver connection; a reused address only drops one early
}

// sight is what one connection sees. Another connection needs its own, even with the same file and schema_version: a file
// that replaced another one counts for itself, and a connection that was opened before still reads the old file.
type sight struct {
	key     string        // versions
	files   []os.FileInfo // of the databases that were attached
	content string        // a hash of what the databases and the connection have
}

// open puts the guard on a connection.
func (g *guarded) open(ctx context.Context, sc *sql.Conn, timeout time.Duration) (exec.Opened, error) {
	h := &conn{guarded: g, conn: sc, timeout: timeout, gate: g.gate()}
	var fault error
	err := sc.Raw(func(dc any) error {
		if fault = h.install(ctx, dc); fault == nil {
			return nil
		}
		if undo := h.restore(dc); undo != nil {
			return h.unrestored(undo)
		}
		return nil
	})
	if fault == nil && err == nil {
		return exec.Opened{Conn: h, Place: h.sight.content, Version: h.version(), Private: h.volatile()}, nil
	}
	if err == nil {
		g.put(h.gate)
	}
	switch {
	case fault == nil:
		return exec.Opened{}, err
	case errors.Is(err, exec.ErrBroken):
		return exec.Opened{}, errors.Join(fault, err)
	default:
		return exec.Opened{}, fault
	}
}

// gate takes a gate out of the store.
func (g *guarded) gate() *gate {
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
func (g *guarded) put(gate *gate) {
	gate.begin()
	gate.facts, gate.temp, gate.own, gate.listening = nil, nil, false, false
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gates = append(g.gates, gate)
}

// sightOf returns what a connection sees whose schema versions are key.
func (g *guarded) sightOf(ctx context.Context, dc driver.Conn, dbs []attached, key string) (sight, error) {
	files := attachedFiles(dbs)
	comparable := reflect.ValueOf(dc).Comparable()
	if comparable {
		g.mu.Lock()
		s := g.seen[dc]
		g.mu.Unlock()
		if s.content != "" && s.key == key && slices.EqualFunc(s.files, files, sameFile) {
			return s, nil
		}
	}
	content, err := contents(ctx, dc, dbs)
	if err != nil {
		return sight{}, err
	}
	s := sight{key, files, content}
	if comparable {
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.seen) >= sightsKept {
			clear(g.seen)
		}
		g.seen[dc] = s
	}
	return s, nil
}

// forget lets go of a connection that is about to be closed.
func (g *guarded) forget(raw any) {
	if !reflect.ValueOf(raw).Comparable() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.seen, raw)
}

// count counts an install and reports whether the connection has had too many.
func (g *guarded) count(address uintptr) bool {
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
func (g *guarded) hooks(dc any) (Hooks, error) {
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
