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
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/driverrows"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// conn is a connection under guard.
type conn struct {
	*guarding
	conn    *sql.Conn
	timeout time.Duration // of a statement
	gate    *gate
	hooks   Hooks
	worn    bool

	databases []database // those of the schema: without the temporary one
	versions  string     // their schema_versions, where version is from
	version   string     // of the schema
	place     string     // what the connection sees
	// temp are the folded names of temporary tables and views, which an earlier user of the connection made. They are no
	// part of the schema and may not be read.
	temp map[string]bool

	// The limits of SQLite on lengths, parameters and depth now, the page cache in kB (0: as the connection has it), and
	// why the first limit is lower than usual.
	length, parameters, depth, cache int
	reason                           string

	// What restore sets back, in the order of the changes.
	pragmas    []pragma
	limits     []limit
	authorized bool

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

// has reports whether the text has a word, given in small letters. Most texts have no such letters: do not lex them.
func (d definition) has(word string) bool {
	return strings.Contains(schema.FoldCase(d.sql), word) && guard.NewText(sqltext.SQLite().Parse(d.sql)).Has(word)
}

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
	c.lower(func(l limit) { c.limits = append(c.limits, l) })
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
	old, err := c.set(atOnce, dc, "busy_timeout", 0)
	if err != nil {
		return err
	}
	patience := min(old, int64(c.timeout*9/10/time.Millisecond))
	if err := patiently(ctx, time.Duration(patience)*time.Millisecond, func() error {
		return c.look(atOnce, dc)
	}); err != nil {
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
	var (
		place any
		name  string
		file  sql.NullString
	)
	err = each(ctx, dc, "PRAGMA database_list", func() {
		if name == "temp" {
			c.temp = map[string]bool{}
		} else {
			c.databases = append(c.databases, database{name: name, file: file.String})
		}
	}, &place, &name, &file)
	if err == nil {
		c.versions, err = c.readVersions(ctx, dc)
	}
	return err
}

// file returns the file of the main database; "" where it is in memory, or only a file system of SQLite's has it.
func (c *conn) file() string {
	if _, err := os.Stat(c.databases[0].file); err != nil {
		return ""
	}
	return c.databases[0].file
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
		key = fmt.Appendf(key, "%q %q %d\n", db.name, db.file, n)
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
	err := names(ctx, dc, c.temp, "SELECT name FROM temp.sqlite_master WHERE type IN ('table', 'view')")
	c.place += fmt.Sprintf("%q", slices.Sorted(maps.Keys(c.temp)))
	return err
}

// define reads the definitions of all databases, and returns the version of the schema: for each database its name, its
// schema_version, a hash of its definitions, and the file of an attached one. SQLite raises schema_version at each
// change of a schema. The hash is for a file that replaced another one: its schema_version may be the same.
func (c *conn) define(ctx context.Context, dc any) (version string, err error) {
	for i := range c.databases {
		db := &c.databases[i]
		db.definitions = nil
		hash := sha256.New()
		var (
			d    definition
			text sql.NullString
		)
		// sqlite_master and not sqlite_schema: every version knows it.
		err := each(ctx, dc, "SELECT type, name, sql FROM "+quoted(db.name)+".sqlite_master", func() {
			d.sql = text.String
			fmt.Fprint(hash, len(d.kind), len(d.name), len(d.sql), d.kind, d.name, d.sql)
			db.definitions = append(db.definitions, d)
		}, &d.kind, &d.name, &text)
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

func (c *conn) Version(ctx context.Context) (string, error) {
	err := c.raw(func(dc any) error {
		versions, err := c.readVersions(ctx, dc)
		if err == nil && versions != c.versions {
			if c.version, err = c.define(ctx, dc); err == nil {
				c.versions = versions
			}
		}
		return err
	})
	return c.version, err
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

// bare runs f, whose texts are all ours, on the driver connection with the limits that it had before.
func (c *conn) bare(f func(dc any) error) error {
	return c.raw(func(dc any) error {
		for _, l := range c.limits {
			c.hooks.SetLimit(l.id, l.value)
		}
		err := f(dc)
		c.lower(func(limit) {})
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

// each runs a text of ours and calls row for each row of the result, which is in dest then.
func each(ctx context.Context, dc any, text string, row func(), dest ...any) error {
	return driverrows.Scan(ctx, dc, text, func(scan func(...any) error) error {
		err := scan(dest...)
		if err == nil {
			row()
		}
		return err
	})
}

// names adds the names, folded, that a text of ours answers with.
func names(ctx context.Context, dc any, to map[string]bool, text string) error {
	var name string
	return each(ctx, dc, text, func() { to[schema.FoldCase(name)] = true }, &name)
}

// number runs a text of ours that answers with one integer.
func number(ctx context.Context, dc any, text string) (n int64, err error) {
	found := 0
	err = each(ctx, dc, text, func() { found++ }, &n)
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
	return driverrows.Scan(ctx, dc, text, func(func(...any) error) error { return nil })
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
	err = names(ctx, dc, s.modules, "SELECT name FROM pragma_module_list WHERE name NOT LIKE 'pragma%' "+
		"AND name NOT LIKE 'json%'")
	if err != nil {
		return s, err
	}
	var (
		name    string
		builtin bool
		rest    any // type, encoding, arguments, flags
	)
	err = each(ctx, dc, "PRAGMA function_list", func() {
		name = schema.FoldCase(name)
		known, ok := s.functions[name]
		s.functions[name] = builtin && (known || !ok)
	}, &name, &builtin, &rest, &rest, &rest, &rest)
	if err != nil {
		return s, err
	}
	store, err := number(ctx, dc, "PRAGMA temp_store")
	s.inMemory = store == 2
	return s, err
}
