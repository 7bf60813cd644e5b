package main

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect guards databases of SQLite that modernc.org/sqlite opens.
type Dialect struct{}

// Language implements [exec.Dialect].
func (Dialect) Language() exec.Language {
	return exec.Language{
		Name: "sqlite", Title: "SQLite", Text: sqltext.Dialect{}, Backticks: true, Drivers: []string{"modernc.org/sqlite"},
	}
}

// Guard implements [exec.Dialect].
func (Dialect) Guard(config exec.GuardConfig) (exec.Open, error) {
	return func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
		c := &connection{Conn: conn, config: config, longest: max(1_000_000, config.CellBytes)}
		o, err := c.open(ctx, timeout)
		if err != nil {
			return exec.GuardedConn{}, errors.Join(err, c.Close(false))
		}
		return o, nil
	}, nil
}

// Classify implements [exec.Dialect]. Confirm gives the error of a statement that does not compile its type.
func (Dialect) Classify(err error) error { return classify(err, "run") }

// classify gives an error of SQLite its type. fault is that of an error with the code that stands for everything else.
func classify(err error, fault string) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	message := strings.TrimSuffix(strings.TrimPrefix(e.Error(), "SQL logic error: "), fmt.Sprintf(" (%d)", e.Code()))
	begins := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(message, text) })
	}
	invalid := &exec.InvalidError{Fault: fault, Message: message}
	switch code := e.Code() & 0xff; {
	case code == 5, code == 6: // SQLITE_BUSY, SQLITE_LOCKED
		return fmt.Errorf("%w: %s", exec.ErrBusy, message)
	case code == 8: // SQLITE_READONLY
		return guard.Refuse("not-read-only", "%s", message)
	case code == 9: // SQLITE_INTERRUPT
		return &exec.LimitError{Limit: "time"}
	case code == 18: // SQLITE_TOOBIG
		return &exec.LimitError{Limit: "cell"}
	case fault == "compile" && (code == 7 || begins("too many ", "Expression tree", "parser stack", "at most ")):
		return guard.Refuse("too-complex", "%s", message) // SQLITE_NOMEM is a program that is too long
	case code == 7, code == 13: // SQLITE_NOMEM, SQLITE_FULL
		return &exec.LimitError{Limit: "memory"}
	case code != 1 && code != 20: // SQLITE_ERROR, SQLITE_MISMATCH
		return err
	case fault == "run":
		invalid.Message, _, _ = strings.Cut(message, "'") // a stored value may follow
	case begins("near ", "unrecognized token", "incomplete input"):
		invalid.Fault = "syntax"
	case begins("no such ", "ambiguous column name", "cannot join using"):
		invalid.Fault = "schema"
		_, invalid.Name, _ = strings.Cut(message, ": ")
		if _, of, using := strings.Cut(message, "cannot join using column "); using {
			invalid.Name, _, _ = strings.Cut(of, " - ")
		}
	}
	return invalid
}

// connection is one connection under guard.
type connection struct {
	*sql.Conn
	config    exec.GuardConfig
	inner     driver.Conn     // the driver's own
	limits    *sql.Conn       // the same, for sqlite.Limit
	functions map[string]bool // that may be called
	longest   int             // bytes of a value
	private   bool            // its database lives in memory
	begun     bool            // a transaction is open, in which the schema stays as it is
	undo      []func() error
}

// open reads and changes the settings.
func (c *connection) open(ctx context.Context, timeout time.Duration) (o exec.GuardedConn, err error) {
	if err := c.begin(ctx); err != nil {
		return o, err
	}
	settings, err := guard.Texts(ctx, c.Conn, `SELECT max(file), count(*), '2001-02-03',
		(SELECT query_only FROM pragma_query_only),
		(SELECT timeout FROM pragma_busy_timeout), (SELECT min(timeout, ?) FROM pragma_busy_timeout),
		(SELECT group_concat(name) FROM pragma_function_list WHERE NOT builtin)
		FROM pragma_database_list`, int64(timeout*9/10/time.Millisecond))
	if err == nil {
		o.Version, err = c.Version(ctx)
	}
	if _, ferr := c.endUse(ctx); err != nil || ferr != nil {
		return o, errors.Join(err, ferr)
	}
	s := settings[0]
	c.private = s[0] == ""
	if s[1] != "1" || s[2] != "2001-02-03" {
		return o, &exec.UnguardedError{
			Reason: "the connection has temporary tables, attached databases, or the driver's option _texttotime",
			Remedy: "give the SDK a pool of its own, without them",
		}
	}
	for _, p := range [][3]string{{"query_only", s[3], "1"}, {"busy_timeout", s[4], s[5]}} {
		write := func(ctx context.Context, value string) error {
			_, err := guard.Texts(ctx, c.Conn, "PRAGMA "+p[0]+" = "+value)
			return err
		}
		c.undo = append(c.undo, func() error { return write(context.Background(), p[1]) })
		if err := write(ctx, p[2]); err != nil {
			return o, err
		}
	}
	// The functions of the application may do anything, also under the name of one of SQLite's.
	c.functions = guard.Set(safe)
	for own := range strings.SplitSeq(s[6], ",") {
		delete(c.functions, schema.FoldCase(own))
	}
	for _, name := range c.config.Policy.AllowFunctions {
		c.functions[schema.FoldCase(strings.Trim(name, `"`))] = true
	}
	if err := c.limit(ctx); err != nil {
		return o, err
	}
	o.EndUse = c.endUse
	if o.Conn, o.Place, o.Private = c, s[0]+"\n"+s[6], c.private; c.private {
		o.Place += fmt.Sprintf("\n%p", c.inner)
	}
	return o, nil
}

// limit lowers limits of SQLite, in the order of sqlite3.h: the length of a value and of the text, columns, depth, arms
// of a compound, steps of the program, arguments, attached databases, length of a pattern.
func (c *connection) limit(ctx context.Context) (err error) {
	if c.inner, c.limits, err = limits(ctx, c.Conn, c.config.Unwrap); err != nil {
		return err
	}
	for id, most := range []int{c.longest, 120_000, 500, 200, 50, 25_000, 40, 0, 100} {
		old, err := sqlite.Limit(c.limits, id, -1)
		if err != nil {
			return &exec.UnguardedError{Reason: err.Error(), Remedy: "let exec.Config.Unwrap return the driver's connection"}
		}
		if id == 0 {
			c.longest = min(old, most)
		}
		c.undo = append(c.undo, func() error { _, err := sqlite.Limit(c.limits, id, old); return err })
		if _, err := sqlite.Limit(c.limits, id, min(old, most)); err != nil {
			return err
		}
	}
	return nil
}

// limits returns the driver's own connection, and the same for sqlite.Limit, which wants a *sql.Conn and knows nothing
// of what a library puts around a driver.
func limits(ctx context.Context, conn *sql.Conn, unwrap func(any) any) (inner driver.Conn, again *sql.Conn, err error) {
	err = conn.Raw(func(dc any) error {
		if unwrap != nil {
			dc = unwrap(dc)
		}
		inner = dc.(driver.Conn)
		return nil
	})
	if err == nil {
		pool := sql.OpenDB(there{inner})
		defer pool.Close() // which leaves a connection alone that is in use
		again, err = pool.Conn(ctx)
	}
	return inner, again, err
}

// there is a connector for a connection that exists. It has no method Close, which sql.DB.Close would call.
type there struct{ conn driver.Conn }

func (t there) Connect(context.Context) (driver.Conn, error) { return t.conn, nil }
func (there) Driver() driver.Driver                          { return nil }

func (c *connection) begin(ctx context.Context) error {
	if c.begun {
		return nil
	}
	_, err := guard.Texts(ctx, c.Conn, "BEGIN")
	if err != nil && strings.Contains(err.Error(), "within a transaction") {
		return &exec.UnguardedError{Reason: "the connection has an open transaction", Remedy: "end it"}
	}
	c.begun = true // also after an error: it may have come too late
	return err
}

// endUse implements the field of [exec.GuardedConn].
func (c *connection) endUse(ctx context.Context) (fit bool, err error) {
	if c.begun {
		_, err = guard.Texts(ctx, c.Conn, "ROLLBACK")
	}
	if err != nil && strings.Contains(err.Error(), "no transaction is active") { // SQLite ended it after an error
		err = nil
	}
	if c.limits != nil && err == nil {
		_, err = sqlite.Limit(c.limits, 0, c.longest) // Run lowers it
	}
	if err != nil {
		return false, err
	}
	c.begun = false
	return true, nil
}

// Close implements [exec.Conn].
func (c *connection) Close(drop bool) (err error) {
	if drop && !c.private {
		err = driver.ErrBadConn
	} else {
		_, err = c.endUse(context.Background())
		for _, undo := range slices.Backward(c.undo) {
			err = cmp.Or(err, undo())
		}
	}
	if err == nil || errors.Is(err, sql.ErrConnDone) { // database/sql closed it
		return nil
	}
	if c.private {
		return fmt.Errorf("%w: %v; its database lives in memory and would be lost with it", exec.ErrBroken, err)
	}
	return guard.Discard(c.Conn)
}
