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
	"strconv"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// held is a connection under guard.
type held struct {
	guard   *guard
	conn    *sql.Conn
	timeout time.Duration // of a statement
	catalog bool          // it reads the catalog, so there is no guard
	gate    *gate

	hooks     Hooks
	databases []attached
	key       string   // versions of the schema in the catalog of the gate
	off       bool     // renewing the guard failed, so it is not on
	files     []string // of the databases on disk
	memory    bool     // a database of the connection lives in memory
	worn      bool
	// The limits of SQLite on lengths and parameters now, the page cache in kB (0: as the connection has it), and why
	// the first limit is lower than usual.
	length, parameters, cache int
	reason                    string

	load      load // of the statement weighed, whose views are those of weighedBy
	weighed   string
	weighedBy *catalog

	// What restore sets back, in the order of the changes.
	pragmas    []pragma
	limits     []limit
	authorized bool
	room       struct { // their first memory
		pragmas [2]pragma
		limits  [10]limit
	}

	text      string // of the statement
	statement *sql.Stmt
	rows      *sql.Rows
}

// install puts the guard on a driver connection, and notes for restore what it changes. Nothing else runs text without
// a guard, and all of that text is ours.
func (h *held) install(ctx context.Context, raw any) (err error) {
	defer recovered("guarding a connection", &err)
	dc := raw.(driver.Conn)
	if !h.catalog {
		if h.hooks, err = h.guard.hooks(raw); err != nil {
			return err
		}
	}
	if err := h.prepare(ctx, dc); err != nil {
		return unready(err)
	}
	if h.catalog {
		return nil
	}
	h.limits = h.room.limits[:0]
	for _, l := range h.lowered() {
		h.limits = append(h.limits, limit{l.id, h.hooks.SetLimit(l.id, l.value)})
	}
	h.length, h.parameters, h.cache = h.longest(), h.variables(), 0
	h.authorized = true
	h.hooks.RegisterAuthorizer(h.gate.callback)
	h.worn = h.guard.count(address(h.hooks))
	return nil
}

// prepare is the part of install that runs PRAGMAs.
func (h *held) prepare(ctx context.Context, dc driver.Conn) error {
	// busy_timeout comes first, because everything after it may meet a lock, and SQLite waits for locks without a look
	// at the context. The first lock we wait for ourselves. From then on SQLite waits, because a writer that comes and
	// goes would make us begin again and again.
	if err := ctx.Err(); err != nil {
		return err
	}
	atOnce := context.WithoutCancel(ctx) // what runs with it does not wait, so nothing has to stop it in the middle
	h.pragmas = h.room.pragmas[:0]
	old, err := h.set(atOnce, dc, "busy_timeout", 0)
	if err != nil {
		return err
	}
	patience := min(old, int64(h.timeout*9/10/time.Millisecond))
	if err := patiently(ctx, time.Duration(patience)*time.Millisecond, func() error { return h.look(atOnce, dc) }); err != nil {
		return err
	}
	if patience > 0 {
		if err := (pragma{"busy_timeout", patience}).write(atOnce, dc); err != nil {
			return err
		}
	}
	if h.catalog {
		return nil
	}
	if err := h.learn(ctx, dc); err != nil {
		return err
	}
	_, err = h.set(atOnce, dc, "query_only", 1)
	return err
}

// longestPause bounds the time between the end of a lock and our next look.
const longestPause = 25 * time.Millisecond

// patiently calls look again until no lock of somebody else is in the way, or patience or ctx ends.
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

// look lists the databases and reads their versions, which is the first read of their files.
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

// learn gives the gate its catalog and the temporary names.
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
	// A module prepares statements of its own when its table is first used, and some of them write. So it is used once
	// before the authorizer is on.
	for _, name := range h.gate.catalog.virtual {
		// A module this build lacks is no error: the statement that needs it will say so.
		if err := run(ctx, dc, "SELECT 1 FROM "+name+" LIMIT 0"); isLocked(err) {
			return err
		}
	}
	return nil
}

// changed reports whether the schema differs from the one in the catalog.
func (h *held) changed(ctx context.Context) (bool, error) {
	var key string
	err := h.raw("reading the version of the schema", func(dc driver.Conn) (err error) {
		key, err = versions(ctx, dc, h.databases)
		return err
	})
	if err != nil {
		return false, unready(err)
	}
	return key != h.key, nil
}

// raw runs f on the driver connection while the guard is on. The gate lets the texts of f pass.
func (h *held) raw(doing string, f func(dc driver.Conn) error) error {
	return h.conn.Raw(func(raw any) (err error) {
		h.gate.own = true
		defer func() { h.gate.own = false }()
		defer recovered(doing, &err)
		return f(raw.(driver.Conn))
	})
}

// recovered turns a panic of the driver into an error. Defer it.
func recovered(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("sqlite: %s: the driver panicked: %v", doing, r)
	}
}

// renew takes the guard off and puts it on again for the schema of now. No statement runs while h.off is set.
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

// pragma is a setting that is a number.
type pragma struct {
	name  string
	value int64
}

func (p pragma) write(ctx context.Context, dc driver.Conn) error {
	return run(ctx, dc, "PRAGMA "+p.name+" = "+strconv.FormatInt(p.value, 10))
}

// set changes a setting and returns its old value.
func (h *held) set(ctx context.Context, dc driver.Conn, name string, value int64) (old int64, err error) {
	old, err = number(ctx, dc, "PRAGMA "+name)
	if err != nil || old == value {
		return old, err
	}
	h.pragmas = append(h.pragmas, pragma{name, old})
	return old, pragma{name, value}.write(ctx, dc)
}

// restore undoes what install did, the last change first. It does not look at a context, and nothing in it waits.
func (h *held) restore(raw any) (err error) {
	defer recovered("taking the guard off", &err)
	if h.authorized {
		h.hooks.RegisterAuthorizer(h.guard.dialect.Authorizer)
		h.authorized = false
	}
	for n := len(h.limits) - 1; n >= 0; n-- {
		h.hooks.SetLimit(h.limits[n].id, h.limits[n].value)
		h.limits = h.limits[:n]
	}
	for n := len(h.pragmas) - 1; n >= 0; n-- {
		if err := h.pragmas[n].write(context.Background(), raw.(driver.Conn)); err != nil {
			return err
		}
		h.pragmas = h.pragmas[:n]
	}
	return nil
}

// unrestored returns the error for a connection that could not be restored. driver.ErrBadConn makes database/sql drop
// it, unless that would lose a database.
func (h *held) unrestored(cause error) error {
	if h.volatile() {
		return fmt.Errorf("%w: %v; its database lives in memory, so it could not be closed instead. "+
			"Writes through this pool may fail; reopen the database", exec.ErrBroken, cause)
	}
	return driver.ErrBadConn
}

// volatile reports whether closing the connection may lose its databases: they live in memory, or their files are not
// on disk (another VFS, or deleted since).
func (h *held) volatile() bool {
	lost := func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	}
	return h.memory || len(h.files) == 0 || slices.ContainsFunc(h.files, lost) // without files nobody knows
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
	// A gate may still be registered on a connection that was not restored, so it is not used again then.
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

// Private is for exec.DB; see exec.Held.
func (h *held) Private() bool { return h.volatile() }
