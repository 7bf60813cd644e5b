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
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// conn is a connection under guard.
type conn struct {
	*guarded
	conn    *sql.Conn
	timeout time.Duration // of a statement
	gate    *gate

	hooks     Hooks
	databases []attached
	key       string // their versions when the guard was put on
	sight     sight
	warmed    *facts   // the virtual tables of which were used once
	files     []string // of the databases on disk
	memory    bool     // a database of the connection lives in memory
	worn      bool
	// The limits of SQLite on lengths and parameters now, the page cache in kB (0: as the connection has it), and why
	// the first limit is lower than usual.
	length, parameters, cache int
	reason                    string

	// What restore sets back, in the order of the changes.
	pragmas    []pragma
	limits     []limit
	authorized bool
	room       struct { // their first memory
		pragmas [2]pragma
		limits  [10]limit
	}

	load      load   // of the statement read last
	text      string // of the statement compiled last
	statement *sql.Stmt
	prepared  *exec.Statement // that statement is of
	rows      *sql.Rows
}

// install puts the guard on a driver connection, and notes for restore what it changes. Nothing else runs text without
// a guard, and all of that text is ours.
func (h *conn) install(ctx context.Context, raw any) (err error) {
	defer recovered("guarding a connection", &err)
	dc := raw.(driver.Conn)
	if h.hooks, err = h.guarded.hooks(raw); err != nil {
		return err
	}
	if err := h.prepare(ctx, dc); err != nil {
		return unready(err)
	}
	h.limits = h.room.limits[:0]
	for _, l := range h.lowered() {
		h.limits = append(h.limits, limit{l.id, h.hooks.SetLimit(l.id, l.value)})
	}
	h.length, h.parameters, h.cache = h.longest(), 0, 0
	h.authorized = true
	h.hooks.RegisterAuthorizer(h.gate.callback)
	h.worn = h.count(address(h.hooks))
	return nil
}

// prepare is the part of install that runs PRAGMAs.
func (h *conn) prepare(ctx context.Context, dc driver.Conn) error {
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
	if h.sight, err = h.sightOf(ctx, dc, h.databases, h.key); err != nil {
		return err
	}
	if err := h.shadowed(ctx, dc); err != nil {
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
func (h *conn) look(ctx context.Context, dc driver.Conn) error {
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

// shadowed refuses a connection with a temporary table or view that is called like one of the schema.
func (h *conn) shadowed(ctx context.Context, dc driver.Conn) (err error) {
	h.gate.temp, err = temporary(ctx, dc, h.databases)
	if err != nil || len(h.gate.temp) == 0 {
		return err
	}
	hidden := ""
	for _, db := range h.databases {
		if db.name == "temp" {
			continue
		}
		err := scan(ctx, dc, "SELECT name FROM "+quote(db.name)+".sqlite_master WHERE type IN ('table', 'view') ORDER BY name", 1, func(row []driver.Value) {
			if name := schema.Fold(text(row[0])); hidden == "" && h.gate.temp[name] {
				hidden = name
			}
		})
		if err != nil {
			return err
		}
	}
	if hidden != "" {
		return &exec.UnguardedError{
			Reason: "a temporary table or view of this connection hides " + hidden + ", so a statement would read another table than it names",
			Remedy: "drop it, or give the SDK a pool of its own",
		}
	}
	return nil
}

// version is that of what the connection sees.
func (h *conn) version() string {
	var b strings.Builder
	for _, db := range h.databases {
		if db.name != "temp" {
			fmt.Fprintf(&b, "%s:%d ", db.name, db.version)
		}
	}
	return b.String() + h.sight.content
}

// Version returns the schema_version of each database but the temporary one, and a hash of what they have: a file that
// replaced another one may have the same number.
func (h *conn) Version(ctx context.Context) (string, error) {
	err := h.raw("reading the version of the schema", func(dc driver.Conn) error {
		key, err := versions(ctx, dc, h.databases)
		if err == nil {
			h.sight, err = h.sightOf(ctx, dc, h.databases, key)
		}
		return err
	})
	if err != nil {
		return "", unready(err)
	}
	return h.version(), nil
}

// warm uses each virtual table once. A module prepares statements of its own when its table is first used, and some of
// them write. So it is used before the authorizer looks.
func (h *conn) warm(ctx context.Context, f *facts) error {
	if h.warmed == f || len(f.virtual) == 0 {
		return nil
	}
	err := h.raw("using a virtual table", func(dc driver.Conn) error {
		for _, name := range f.virtual {
			// A module this build lacks is no error: the statement that needs it will say so.
			if err := run(ctx, dc, "SELECT 1 FROM "+name+" LIMIT 0"); isLocked(err) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return unready(err)
	}
	h.warmed = f
	return nil
}

// raw runs f on the driver connection while the guard is on. The gate lets the texts of f pass.
func (h *conn) raw(doing string, f func(dc driver.Conn) error) error {
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

// pragma is a setting that is a number.
type pragma struct {
	name  string
	value int64
}

func (p pragma) write(ctx context.Context, dc driver.Conn) error {
	return run(ctx, dc, "PRAGMA "+p.name+" = "+strconv.FormatInt(p.value, 10))
}

// set changes a setting and returns its old value.
func (h *conn) set(ctx context.Context, dc driver.Conn, name string, value int64) (old int64, err error) {
	old, err = number(ctx, dc, "PRAGMA "+name)
	if err != nil || old == value {
		return old, err
	}
	h.pragmas = append(h.pragmas, pragma{name, old})
	return old, pragma{name, value}.write(ctx, dc)
}

// restore undoes what install did, the last change first. It does not look at a context, and nothing in it waits.
func (h *conn) restore(raw any) (err error) {
	defer recovered("taking the guard off", &err)
	if h.authorized {
		h.hooks.RegisterAuthorizer(h.dialect.Authorizer)
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
func (h *conn) unrestored(cause error) error {
	if h.volatile() {
		return fmt.Errorf("%w: %v; its database lives in memory, so it could not be closed instead. "+
			"Writes through this pool may fail; reopen the database", exec.ErrBroken, cause)
	}
	return driver.ErrBadConn
}

// volatile reports whether closing the connection may lose its databases: they live in memory, or their files are not
// on disk (another VFS, or deleted since).
func (h *conn) volatile() bool {
	lost := func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	}
	return h.memory || len(h.files) == 0 || slices.ContainsFunc(h.files, lost) // without files nobody knows
}

// Close implements exec.Conn.
func (h *conn) Close(drop bool) error {
	h.close()
	err := h.conn.Raw(func(raw any) error {
		if (drop || h.worn) && !h.volatile() {
			h.forget(raw)
			return driver.ErrBadConn
		}
		if err := h.restore(raw); err != nil {
			return h.unrestored(err)
		}
		return nil
	})
	// A gate may still be registered on a connection that was not restored, so it is not used again then.
	if err == nil {
		h.put(h.gate)
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
