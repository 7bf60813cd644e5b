package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	options exec.HoldOptions
	gate    *gate

	hooks     Hooks
	databases []attached
	key       string   // versions that the gate's catalog holds for
	off       bool     // the guard is not on, since renewing it failed
	files     []string // of the databases on disk
	memory    bool     // a database of the connection lives in memory
	worn      bool
	length    int // SQLITE_LIMIT_LENGTH as it is now
	undo      []func(ctx context.Context, dc driver.Conn) error
	text      string // of the statement
	statement *sql.Stmt
	rows      *sql.Rows
}

// install puts the guard on a driver connection. What it changes, undo has the
// way back from. It is the one place that runs text without a guard, and that
// text is all ours.
func (h *held) install(ctx context.Context, raw any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("sqlite: guarding a connection: the driver panicked: %v", r)
		}
	}()
	dc, ok := raw.(driver.Conn)
	if !ok {
		return &exec.UnguardedError{
			Reason: fmt.Sprintf("%T is no driver.Conn", raw),
			Remedy: "open the database with a driver for database/sql",
		}
	}
	if h.options.Use != exec.Catalog {
		if h.hooks, err = h.guard.hooks(raw); err != nil {
			return err
		}
	}
	if err := h.prepare(ctx, dc); err != nil {
		return unready(err)
	}
	if h.options.Use == exec.Catalog {
		return nil
	}
	for _, l := range h.limits() {
		h.limit(l[0], l[1])
	}
	h.length = h.longest()

	h.undo = append(h.undo, func(context.Context, driver.Conn) error {
		h.hooks.RegisterAuthorizer(h.guard.dialect.Authorizer)
		return nil
	})
	h.hooks.RegisterAuthorizer(h.gate.callback)
	h.worn = h.guard.count(address(h.hooks))
	return nil
}

// prepare is the part of install that runs PRAGMAs.
func (h *held) prepare(ctx context.Context, dc driver.Conn) error {
	// First of all, since whatever comes next may meet a lock. SQLite waits for
	// one without looking at the context, so for the first one we wait ourselves.
	// From then on SQLite waits, at each statement anew: a writer that comes and
	// goes would else make us begin again and again.
	patience := int64(h.options.Timeout * 9 / 10 / time.Millisecond)
	err := h.pragma(ctx, dc, "busy_timeout", func(old int64) int64 { patience = min(old, patience); return 0 })
	if err != nil {
		return err
	}
	if err := patiently(ctx, time.Duration(patience)*time.Millisecond, func() error { return h.look(ctx, dc) }); err != nil {
		return err
	}
	if patience > 0 {
		if _, err := query(ctx, dc, fmt.Sprintf("PRAGMA busy_timeout = %d", patience)); err != nil {
			return err
		}
	}
	if h.options.Use == exec.Catalog {
		return nil
	}
	if err := h.learn(ctx, dc); err != nil {
		return err
	}
	return h.pragma(ctx, dc, "query_only", func(int64) int64 { return 1 })
}

// longestPause is how long a lock may be gone before it is noticed.
const longestPause = 25 * time.Millisecond

// patiently runs look again and again while somebody else's lock is in its way,
// until patience or ctx is over.
func patiently(ctx context.Context, patience time.Duration, look func() error) error {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := look()
		left := time.Until(end)
		if !isLocked(err) || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err // a lock that outlasts a time-out is a lock
		case <-time.After(min(pause, left)):
		}
	}
}

// look finds the databases and their versions, the first that is read of them.
func (h *held) look(ctx context.Context, dc driver.Conn) error {
	dbs, err := databases(ctx, dc)
	if err != nil {
		return err
	}
	h.databases, h.files, h.memory = dbs, nil, false
	for _, db := range dbs {
		switch {
		case db.name == "temp":
		case db.file == "":
			h.memory = true
		default:
			h.files = append(h.files, db.file)
		}
	}
	h.key, err = versions(ctx, dc, dbs)
	return err
}

// learn finds out what the gate has to know.
func (h *held) learn(ctx context.Context, dc driver.Conn) (err error) {
	if h.gate.catalog, err = h.guard.catalogOf(ctx, dc, h.databases, h.key); err != nil {
		return err
	}
	if h.gate.temp, err = temporary(ctx, dc, h.databases); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(h.gate.temp)) {
		if len(h.gate.catalog.named[name]) > 0 {
			return &exec.UnguardedError{
				Reason: "a temporary table or view of this connection hides " + name + ", so a statement would read another table than it names",
				Remedy: "drop it, or give the SDK a pool of its own",
			}
		}
	}
	// A module sets up its own statements when its table is first used, which an
	// authorizer that allows no writing does not let it do.
	for _, name := range h.gate.catalog.virtual {
		// A module this build lacks is no error: the statement that needs it will say so.
		if _, err := query(ctx, dc, "SELECT 1 FROM "+name+" LIMIT 0"); isLocked(err) {
			return err
		}
	}
	return nil
}

// changed reports whether the schema is another one than that of the catalog.
func (h *held) changed(ctx context.Context) (bool, error) {
	var key string
	err := h.conn.Raw(func(raw any) (err error) {
		h.gate.own = true
		defer func() {
			h.gate.own = false
			if r := recover(); r != nil {
				err = fmt.Errorf("the driver panicked: %v", r)
			}
		}()
		key, err = versions(ctx, raw.(driver.Conn), h.databases)
		return err
	})
	if err != nil {
		return false, unready(err)
	}
	return key != h.key, nil
}

// renew takes the guard off and puts it on again, for the schema as it is now.
// While h.off is set no statement runs.
func (h *held) renew(ctx context.Context) error {
	h.close()
	h.off = true
	var fault error
	err := h.conn.Raw(func(raw any) error {
		if err := h.restore(raw); err != nil {
			return h.unrestored(err)
		}
		fault = h.install(ctx, raw)
		return nil
	})
	if err == nil {
		err = fault
	}
	h.off = err != nil
	return err
}

// pragma changes a setting that is a number.
func (h *held) pragma(ctx context.Context, dc driver.Conn, name string, change func(old int64) int64) error {
	old, err := number(ctx, dc, "PRAGMA "+name)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, dc driver.Conn, value int64) error {
		_, err := query(ctx, dc, fmt.Sprintf("PRAGMA %s = %d", name, value))
		return err
	}
	value := change(old)
	if value == old {
		return nil
	}
	h.undo = append(h.undo, func(ctx context.Context, dc driver.Conn) error { return set(ctx, dc, old) })
	return set(ctx, dc, value)
}

func (h *held) limit(id, value int) {
	old := h.hooks.SetLimit(id, value)
	h.undo = append(h.undo, func(context.Context, driver.Conn) error {
		h.hooks.SetLimit(id, old)
		return nil
	})
}

// releaseTimeout bounds what puts a connection back.
const releaseTimeout = 5 * time.Second

// restore takes back what install did, last things first, on a context of its
// own: that of the statement may be over.
func (h *held) restore(raw any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the driver panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	dc, ok := raw.(driver.Conn)
	if !ok {
		return nil // nothing was done
	}
	for len(h.undo) > 0 {
		last := len(h.undo) - 1
		if err := h.undo[last](ctx, dc); err != nil {
			return err
		}
		h.undo = h.undo[:last]
	}
	return nil
}

// unrestored is what Raw returns for a connection that is not as it was: the
// error that makes database/sql drop it, unless that would lose a database.
func (h *held) unrestored(cause error) error {
	if h.volatile() {
		return fmt.Errorf("%w: %v; its database lives in memory, so it could not be closed instead. "+
			"Writes through this pool may fail; reopen the database", exec.ErrBroken, cause)
	}
	return driver.ErrBadConn
}

// volatile reports whether the databases of the connection may be gone once it is
// closed: they live in memory, or their files are not on disk (other VFS, or
// deleted since).
func (h *held) volatile() bool {
	if h.memory {
		return true
	}
	for _, file := range h.files {
		if _, err := os.Stat(file); err != nil {
			return true
		}
	}
	// Without a list of databases nobody knows.
	return len(h.files) == 0
}

// Release implements exec.Held.
func (h *held) Release(drop bool) error {
	h.close()
	err := h.conn.Raw(func(raw any) error {
		if (drop || h.worn) && !h.volatile() {
			h.guard.forget(raw)
			return driver.ErrBadConn
		}
		if err := h.restore(raw); err != nil {
			return h.unrestored(err)
		}
		return nil
	})
	// A gate may still be registered on a connection that was not restored, so
	// it is not used again then.
	if err == nil {
		h.guard.put(h.gate)
	}
	if errors.Is(err, exec.ErrBroken) {
		return err
	}
	return nil // ErrBadConn, or a connection that database/sql closed before: both are gone
}

// address tells connections apart.
func address(hooks Hooks) uintptr {
	v := reflect.ValueOf(hooks)
	if v.Kind() != reflect.Pointer {
		return 0
	}
	return v.Pointer()
}
