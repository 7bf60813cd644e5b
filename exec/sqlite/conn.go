package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// conn is a connection under guard.
type conn struct {
	*guarding
	conn    *sql.Conn
	timeout time.Duration // of a statement
	gate    *gate
	hooks   Hooks
	worn    bool

	databases []database      // those of the schema: without the temporary one
	versions  string          // their schema_versions, where version is from
	version   string          // of the schema
	place     string          // what the connection sees
	temp      map[string]bool // folded names of temporary tables and views; see temporary

	// The limits of SQLite on lengths and parameters now, the page cache in kB (0: as the connection has it), and why
	// the first limit is lower than usual.
	length, parameters, cache int
	reason                    string

	// What restore sets back, in the order of the changes.
	pragmas    []pragma
	limits     []limit
	authorized bool
	room       struct { // their first memory
		pragmas [3]pragma
		limits  [10]limit
	}

	prepared  *exec.Statement // that statement is prepared for, as it is written
	statement *sql.Stmt
	load      load // of prepared
}

// database is one row of PRAGMA database_list.
type database struct {
	name string
	file string // "" for a database in memory
	// version is its schema_version, and definitions what its schema holds, where they were read.
	version     int64
	definitions []definition
}

// definition is one row of sqlite_master.
type definition struct{ kind, name, sql string }

// install puts the guard on a driver connection, and notes for restore what it changes. Nothing else runs text without
// a guard, and all of that text is ours.
func (c *conn) install(ctx context.Context, dc any) (err error) {
	defer recovered(&err)
	if c.hooks, err = c.guarding.hooks(dc); err != nil {
		return err
	}
	if err := c.prepare(ctx, dc); err != nil {
		return err
	}
	c.limits = c.room.limits[:0]
	for _, l := range c.lowered() {
		c.limits = append(c.limits, limit{l.id, c.hooks.SetLimit(l.id, l.value)})
	}
	c.length, c.parameters = c.longest(), 0
	c.authorized = true
	c.hooks.RegisterAuthorizer(c.gate.callback)
	c.worn = c.count(c.hooks)
	return nil
}

// prepare is the part of install that runs PRAGMAs.
func (c *conn) prepare(ctx context.Context, dc any) error {
	// busy_timeout comes first, because everything after it may meet a lock, and SQLite waits for locks without a look
	// at the context. The first lock we wait for ourselves. From then on SQLite waits, because a writer that comes and
	// goes would make us begin again and again.
	if err := ctx.Err(); err != nil {
		return err
	}
	atOnce := context.WithoutCancel(ctx) // what runs with it does not wait, so nothing has to stop it in the middle
	c.pragmas = c.room.pragmas[:0]
	old, err := c.set(atOnce, dc, "busy_timeout", 0)
	if err != nil {
		return err
	}
	patience := min(old, int64(c.timeout*9/10/time.Millisecond))
	if err := patiently(ctx, time.Duration(patience)*time.Millisecond, func() error { return c.look(atOnce, dc) }); err != nil {
		return err
	}
	if patience > 0 {
		if err := (pragma{"busy_timeout", patience}).write(atOnce, dc); err != nil {
			return err
		}
	}
	if err := c.see(ctx, dc); err != nil {
		return err
	}
	_, err = c.set(atOnce, dc, "query_only", 1)
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
func (c *conn) look(ctx context.Context, dc any) (err error) {
	c.databases, c.temp = nil, nil
	err = guard.EachRaw(ctx, dc, "PRAGMA database_list", func(scan func(...any) error) error {
		var (
			place any
			db    database
			file  sql.NullString
		)
		err := scan(&place, &db.name, &file)
		if db.file = file.String; db.name == "temp" {
			c.temp = map[string]bool{}
		} else {
			c.databases = append(c.databases, db)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.versions, err = c.readVersions(ctx, dc)
	return err
}

// readVersions reads the schema_version of each database. The text that it returns changes when the schema of one of
// them does.
func (c *conn) readVersions(ctx context.Context, dc any) (string, error) {
	var key []byte
	for i := range c.databases {
		db := &c.databases[i]
		n, err := number(ctx, dc, "PRAGMA "+quoted(db.name)+".schema_version")
		if err != nil {
			return "", err
		}
		db.version = n
		key = strconv.AppendQuote(key, db.name)
		key = strconv.AppendQuote(key, db.file)
		key = append(strconv.AppendInt(key, n, 10), '\n')
	}
	return string(key), nil
}

// see finds out what the connection sees. That is known of a connection that was seen before. A file that is attached
// can be exchanged while the connection is open, so there it is read each time.
func (c *conn) see(ctx context.Context, dc any) error {
	s, alone := c.seen(dc), len(c.databases) == 1
	if !alone || s.versions != c.versions {
		version, err := c.define(ctx, dc)
		if err != nil {
			return err
		}
		around, err := readSurroundings(ctx, dc)
		if err != nil {
			return err
		}
		hash := sha256.New()
		for _, db := range c.databases {
			fmt.Fprintf(hash, "%q %q\n", db.name, db.file)
		}
		fmt.Fprint(hash, around) // maps print in the order of their keys
		s = sight{c.versions, version, string(hash.Sum(nil))}
		if alone {
			c.remember(dc, s)
		}
	}
	c.version, c.place = s.version, s.place
	if c.temp == nil {
		return nil
	}
	if err := c.temporary(ctx, dc); err != nil {
		return err
	}
	c.place += fmt.Sprintf("%q", slices.Sorted(maps.Keys(c.temp)))
	return nil
}

// define reads the definitions of all databases, and returns the version of the schema: for each database its name, its
// schema_version, a hash of its definitions, and the file of an attached one. SQLite raises schema_version at each change
// of a schema. The hash is for a file that replaced another one: its schema_version may be the same.
func (c *conn) define(ctx context.Context, dc any) (version string, err error) {
	for i := range c.databases {
		db := &c.databases[i]
		db.definitions = nil
		hash := sha256.New()
		var buffer []byte
		const columns = "SELECT type, name, sql FROM " // sqlite_master and not sqlite_schema: every version knows it
		err := guard.EachRaw(ctx, dc, columns+quoted(db.name)+".sqlite_master", func(scan func(...any) error) error {
			var (
				d    definition
				text sql.NullString
			)
			if err := scan(&d.kind, &d.name, &text); err != nil {
				return err
			}
			d.sql = text.String
			buffer = fmt.Append(buffer[:0], len(d.kind), len(d.name), len(d.sql), d.kind, d.name, d.sql)
			hash.Write(buffer)
			db.definitions = append(db.definitions, d)
			return nil
		})
		if err != nil {
			return "", err
		}
		if i > 0 {
			version += " "
		}
		version += fmt.Sprintf("%s:%d:%.8x", db.name, db.version, hash.Sum(nil))
		if db.name != mainSchema {
			version += ":" + db.file // another file may be attached under the same name
		}
	}
	return version, nil
}

// temporary reads the names of the temporary tables and views of the connection. An earlier user of the connection made
// them. They are no part of the schema and may not be read.
func (c *conn) temporary(ctx context.Context, dc any) error {
	return guard.EachRaw(ctx, dc, "SELECT name FROM temp.sqlite_master WHERE type IN ('table', 'view')", func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		c.temp[schema.Fold(name)] = true
		return err
	})
}

// Version implements [exec.Conn].
func (c *conn) Version(ctx context.Context) (string, error) {
	err := c.raw(func(dc any) error {
		versions, err := c.readVersions(ctx, dc)
		if err != nil || versions == c.versions {
			return err
		}
		version, err := c.define(ctx, dc)
		if err == nil {
			c.versions, c.version = versions, version
		}
		return err
	})
	return c.version, err
}

// changed reports whether the schema is another one than that of a catalog.
func (c *conn) changed(ctx context.Context, of *catalog) (changed bool, err error) {
	err = c.raw(func(dc any) error {
		versions, err := c.readVersions(ctx, dc)
		changed = versions != of.versions
		return err
	})
	return changed, err
}

// raw runs f on the driver connection. The gate lets the texts of f pass.
func (c *conn) raw(f func(dc any) error) error {
	return c.conn.Raw(func(dc any) (err error) {
		c.gate.own = true
		defer func() { c.gate.own = false }()
		defer recovered(&err)
		return f(dc)
	})
}

// bare runs f, whose texts are all ours, on the driver connection with the limits and the query_only that it had before.
// After an error that has no type they may be off, and the connection is not used again.
func (c *conn) bare(f func(dc any) error) error {
	return c.raw(func(dc any) error {
		writable := slices.IndexFunc(c.pragmas, func(p pragma) bool { return p.name == "query_only" })
		for _, l := range c.limits {
			c.hooks.SetLimit(l.id, l.value)
		}
		if writable >= 0 {
			if err := c.pragmas[writable].write(context.Background(), dc); err != nil {
				return err
			}
		}
		err := f(dc)
		if writable >= 0 {
			if err := (pragma{"query_only", 1}).write(context.Background(), dc); err != nil {
				return fmt.Errorf("sqlite: putting the guard on again: %v", err)
			}
		}
		for _, l := range c.lowered() {
			c.hooks.SetLimit(l.id, l.value)
		}
		c.length, c.parameters = c.longest(), 0
		return err
	})
}

// recovered turns a panic of the driver into an error: behind one in sql.Conn.Raw, database/sql closes the connection,
// and with it a database that lives in memory. Defer it.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("sqlite: guarding a connection: the driver panicked: %v", r)
	}
}

// number runs a text of ours that answers with one integer.
func number(ctx context.Context, dc any, text string) (n int64, err error) {
	found := 0
	err = guard.EachRaw(ctx, dc, text, func(scan func(...any) error) error {
		found++
		return scan(&n)
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("sqlite: %s did not answer with one number", text)
	}
	return n, err
}

// pragma is a setting that is a number.
type pragma struct {
	name  string
	value int64
}

func (p pragma) write(ctx context.Context, dc any) error {
	text := "PRAGMA " + p.name + " = " + strconv.FormatInt(p.value, 10)
	if x, ok := dc.(driver.ExecerContext); ok {
		if _, err := x.ExecContext(ctx, text, nil); !errors.Is(err, driver.ErrSkip) {
			return err
		}
	}
	return guard.EachRaw(ctx, dc, text, func(func(...any) error) error { return nil })
}

// set changes a setting and returns its old value.
func (c *conn) set(ctx context.Context, dc any, name string, value int64) (old int64, err error) {
	old, err = number(ctx, dc, "PRAGMA "+name)
	if err != nil || old == value {
		return old, err
	}
	c.pragmas = append(c.pragmas, pragma{name, old})
	return old, pragma{name, value}.write(ctx, dc)
}

// restore undoes what install did, the last change first. It does not look at a context, and nothing in it waits.
func (c *conn) restore(dc any) (err error) {
	defer recovered(&err)
	if c.authorized {
		c.hooks.RegisterAuthorizer(c.dialect.Authorizer)
		c.authorized = false
	}
	for n := len(c.limits) - 1; n >= 0; n-- {
		c.hooks.SetLimit(c.limits[n].id, c.limits[n].value)
		c.limits = c.limits[:n]
	}
	for n := len(c.pragmas) - 1; n >= 0; n-- {
		if err := c.pragmas[n].write(context.Background(), dc); err != nil {
			return err
		}
		c.pragmas = c.pragmas[:n]
	}
	return nil
}

// unrestored returns the error for a connection that could not be restored. driver.ErrBadConn makes database/sql drop
// it, unless that would lose a database.
func (c *conn) unrestored(cause error) error {
	if c.volatile() {
		return fmt.Errorf("%w: %v; its database lives in memory, so it could not be closed instead. "+
			"Writes through this pool may fail; reopen the database", exec.ErrBroken, cause)
	}
	return driver.ErrBadConn
}

// volatile reports whether closing the connection may lose its databases: they live in memory, or their files are not
// on disk (another VFS, or deleted since). Without a list of them nobody knows.
func (c *conn) volatile() bool {
	return len(c.databases) == 0 || slices.ContainsFunc(c.databases, func(db database) bool {
		_, err := os.Stat(cmp.Or(db.file, "\x00"))
		return err != nil
	})
}

// surroundings are what a connection has beside its databases.
type surroundings struct {
	modules   map[string]bool // folded names of virtual table modules, without those that SQLite makes for itself
	functions map[string]bool // folded names of all functions, and whether each form of one is SQLite's own
	inMemory  bool            // PRAGMA temp_store
}

func readSurroundings(ctx context.Context, dc any) (s surroundings, err error) {
	s.modules, s.functions = map[string]bool{}, map[string]bool{}
	// SQLite makes modules for its own PRAGMAs and JSON functions when they are first used.
	const modules = "SELECT name FROM pragma_module_list WHERE name NOT LIKE 'pragma%' AND name NOT LIKE 'json%'"
	err = guard.EachRaw(ctx, dc, modules, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		s.modules[schema.Fold(name)] = true
		return err
	})
	if err != nil {
		return s, err
	}
	err = guard.EachRaw(ctx, dc, "PRAGMA function_list", func(scan func(...any) error) error {
		var (
			name    string
			builtin bool
			rest    any // type, encoding, arguments, flags
		)
		err := scan(&name, &builtin, &rest, &rest, &rest, &rest)
		name = schema.Fold(name)
		known, ok := s.functions[name]
		s.functions[name] = builtin && (known || !ok)
		return err
	})
	if err != nil {
		return s, err
	}
	store, err := number(ctx, dc, "PRAGMA temp_store")
	s.inMemory = store == 2
	return s, err
}
