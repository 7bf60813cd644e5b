// Package exectest tests a dialect of exec against its contract, on a real database of the engine.
//
//	func TestConformance(t *testing.T) {
//		exectest.Conformance(t, exectest.Engine{
//			Dialect: sqlite.Dialect{},
//			Open:    newDatabase,  // makes one for each part
//			State:   readSettings, // of one connection
//			Endless: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
//		})
//	}
//
// It does not know the engine's own statements: the caller adds hostile statements, values and policies as data.
package exectest

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Engine is a database engine under test. Dialect, Open, State and Endless are required.
type Engine struct {
	Dialect exec.Dialect
	// Open creates a database, runs script in it, and registers its removal with t.Cleanup. A script has several
	// statements; each ends in a semicolon and a line break. Open fails t if it cannot create the database.
	Open func(t testing.TB, script string) Database
	// State returns everything that the engine stores for a connection between statements: settings, prepared
	// statements, cursors, locks. Equal states return equal texts. State leaves the connection unchanged. [Unwrap]
	// returns the driver's own connection.
	State func(ctx context.Context, conn *sql.Conn) (string, error)
	// Endless is a reading statement that never ends by itself.
	Endless string

	// Write translates a statement of the suite if the engine's grammar differs, for example UNION DISTINCT. nil: the
	// statement is used unchanged.
	Write func(sql string) string

	// Fixture creates the two tables that most parts use, for engines that cannot run these statements:
	//
	//	CREATE TABLE t(a INTEGER, b TEXT);
	//	CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
	//	INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
	//	INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');
	Fixture  string
	Payloads []Payload    // more hostile and harmless statements on these tables
	Policies []PolicyCase // more statements under a policy
	// PolicyScript creates what Policies need in addition to the tables of the suite.
	PolicyScript string
	Values       []Value // expressions and their values in a result

	Lock string // takes a lock on the table t in a transaction, so that nobody can read it; "": not possible
	// VersionDelay is the delay or the resolution of the schema version. The suite waits this long between changes.
	VersionDelay time.Duration
	// VersionSeen is how long a change may stay unseen, if that is longer than VersionDelay. It is at least one second
	// if GuardedConn.Version is empty.
	VersionSeen time.Duration
	Flush       string            // what the owner runs after a change to update the version; "": nothing
	InProcess   bool              // the engine runs in this process: time is its CPU time, if that is less
	Deadline    time.Duration     // the deadline of statements that the suite must stop; 0: 1 s
	Fault       error             // the driver's error when a connection breaks; nil: io.ErrUnexpectedEOF
	Skip        map[string]string // parts of the suite that the engine cannot pass, and why
	Unwrap      func(any) any     // returns the driver's own connection, like exec.Config.Unwrap; nil: not wrapped
}

// Database is a database that [Engine.Open] made.
type Database struct {
	User  driver.Connector // opens the connections that run statements
	Owner driver.Connector // opens connections that may change data and schema; nil: User
	// Contents returns, from outside, everything that a statement must not change: rows, tables, sequences, locks,
	// files. It returns equal texts if nothing changed. nil: the rows of the fixture.
	Contents func(ctx context.Context) (string, error)
}

// ConnectorOf returns a connector for a registered database/sql driver and a data source name.
func ConnectorOf(t testing.TB, name, dsn string) driver.Connector {
	t.Helper()
	pool, err := sql.Open(name, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d, ok := pool.Driver().(driver.DriverContext)
	if !ok {
		return plainConnector{pool.Driver(), dsn}
	}
	c, err := d.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type plainConnector struct {
	driver driver.Driver
	dsn    string
}

func (c plainConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c plainConnector) Driver() driver.Driver                        { return c.driver }

// Conformance tests a dialect against the contract of exec.Dialect:
//
//   - Hostile statements are refused before they run, harmless statements are answered, and endless ones are stopped.
//   - Values, limits, cancellation, policies, schemas, versions, plans, samples and sessions behave as exec specifies.
//   - After any failure, also in a call of the driver, the connection is unchanged for the next statement and for the
//     caller.
//
// It creates a database for each part. A part takes some seconds at most. Run it with -race, and not in parallel,
// because it measures the memory of the process.
func Conformance(t *testing.T, e Engine) {
	t.Helper()
	for _, part := range parts() {
		t.Run(part.name, func(t *testing.T) {
			if why := e.Skip[part.name]; why != "" {
				t.Skip(why)
			}
			if err := part.check(t, e); err != nil {
				t.Error(err)
			}
		})
	}
}

// CheckPayloads runs only the statements of e.Payloads, as [Conformance] does.
func (e Engine) CheckPayloads(t *testing.T) {
	t.Helper()
	if err := checkPayloads(t, e, e.Payloads); err != nil {
		t.Error(err)
	}
}

// part is one rule of the contract. Its check returns an error, so that it can be tested with dialects that break the
// rule.
type part struct {
	name  string
	check func(testing.TB, Engine) error
}

func parts() []part {
	return []part{
		{"names", checkNames},
		{"odd_names", checkShownNames},
		{"payloads", func(t testing.TB, e Engine) error {
			return checkPayloads(t, e, slices.Concat(portable(e.write), hostile(e.Dialect.Language().Name), e.Payloads))
		}},
		{"values", checkValues},
		{"limits", checkLimits},
		{"cancel", checkCancel},
		{"state", checkState},
		{"faults", checkFaults},
		{"stuck_driver", checkStuck},
		{"policy", checkPolicy},
		{"rows", checkRows},
		{"rows_views", checkRowViews},
		{"rows_params", checkRowParams},
		{"policy_names", checkPolicyNames},
		{"denied_is_absent", checkAbsent},
		{"inspect", checkInspect},
		{"version", checkVersion},
		{"plans", checkPlans},
		{"samples", checkSamples},
		{"busy", checkBusy},
		{"once", checkOnce},
		{"session", checkSession},
		{"parallel", checkParallel},
	}
}

// patience bounds waits for what a loaded machine is slow at.
const patience = 10 * time.Second

// database is a database of the engine, with a driver that can fail.
type database struct {
	Engine
	faults      *Faults
	user, owner *sql.DB
	contents    func(context.Context) (string, error)
}

// open makes a database of a script. Its user has one connection, so that what one statement leaves the next one finds.
func (e Engine) open(t testing.TB, script string) *database { return e.opened(t, script, false) }

// faulty opens a database with a driver that fails where faults says so. A dialect may treat a wrapped driver
// differently.
func (e Engine) faulty(t testing.TB, script string) *database { return e.opened(t, script, true) }

func (e Engine) opened(t testing.TB, script string, faulty bool) *database {
	t.Helper()
	made := e.Open(t, script)
	d := &database{Engine: e, contents: made.Contents}
	connector := made.User
	if faulty {
		d.faults = &Faults{Connector: made.User}
		connector = d.faults
	}
	d.user = sql.OpenDB(connector)
	d.user.SetMaxOpenConns(1)
	d.owner = sql.OpenDB(cmp.Or(made.Owner, made.User))
	d.owner.SetMaxOpenConns(1) // so that Flush follows its change
	t.Cleanup(func() { d.user.Close(); d.owner.Close() })
	return d
}

func (e Engine) write(sql string) string {
	if e.Write == nil {
		return sql
	}
	return e.Write(sql)
}

func (e Engine) fixture() string { return cmp.Or(e.Fixture, dbtest.Fixture) }

func (e Engine) deadline() time.Duration { return cmp.Or(e.Deadline, time.Second) }

// db returns a DB on the user's pool that is ready.
func (d *database) db(c exec.Config) (*exec.DB, error) {
	return dbtest.Ready(d.unready(c))
}

func (d *database) unready(c exec.Config) (*exec.DB, error) {
	if c.Policy.Reveal == nil { // the columns password of the fixtures are there to be read
		c.Policy.Reveal = []string{"*"}
	}
	if c.Unwrap = d.Unwrap; d.faults != nil {
		c.Unwrap = func(driverConn any) any {
			if driverConn = Unwrap(driverConn); d.Unwrap != nil {
				driverConn = d.Unwrap(driverConn)
			}
			return driverConn
		}
	}
	return exec.New(d.user, d.Dialect, c)
}

// Make creates a database from a script. It returns a function that creates DBs on its user's pool, which has one
// connection. The columns named password in the suite's tables may be read there, unless the policy has Reveal.
func (e Engine) Make(t testing.TB, script string) func(exec.Config) (*exec.DB, error) {
	return e.open(t, script).unready
}

// change runs a statement of the owner.
func (d *database) change(text string) error {
	for _, text := range []string{text, d.Flush} {
		if text != "" {
			if _, err := d.owner.Exec(text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	return nil
}

// look reads the state of the user's connection, once the pool has it back, and its address.
func (d *database) look(ctx context.Context) (state string, address any, err error) {
	if err := d.idle(); err != nil {
		return "", nil, err
	}
	conn, err := d.user.Conn(ctx)
	if err != nil {
		return "", nil, err
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { address = Unwrap(c); return nil }); err != nil {
		return "", nil, err
	}
	state, err = d.State(ctx, conn)
	return state, address, err
}

// idle waits until the pool has all of its connections back.
func (d *database) idle() error {
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		s := d.user.Stats()
		if s.InUse == 0 && s.MaxOpenConnections <= 1 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the pool did not get its connections back: %+v", s)
		}
	}
}

// watch records contents and state. It returns a function that compares them with the later ones.
func (d *database) watch(ctx context.Context) (same func() error, err error) {
	read := func() (contents, state string, err error) {
		if contents, err = d.read(ctx); err == nil {
			state, _, err = d.look(ctx)
		}
		return contents, state, err
	}
	contents, state, err := read()
	return func() error {
		c, s, err := read()
		switch {
		case err != nil:
			return fmt.Errorf("looking at what is left: %w", err)
		case c != contents:
			return fmt.Errorf("the database changed: %s", difference(contents, c))
		case s != state:
			return fmt.Errorf("the connection changed: %s", difference(state, s))
		}
		return nil
	}, err
}

// difference returns the lines that only one of two texts has.
func difference(before, after string) string {
	out := ""
	lines := func(mark, text, other string) {
		for line := range strings.Lines(text) {
			if !strings.Contains("\n"+other+"\n", "\n"+strings.TrimSuffix(line, "\n")+"\n") {
				out += "\n" + mark + strings.TrimSuffix(line, "\n")
			}
		}
	}
	lines("- ", before, after)
	lines("+ ", after, before)
	return out
}

// read is Contents.
func (d *database) read(ctx context.Context) (string, error) {
	if d.contents != nil {
		return d.contents(ctx)
	}
	out := ""
	for _, text := range []string{"SELECT a, b, NULL FROM t ORDER BY a",
		"SELECT id, name, password FROM users ORDER BY id"} {
		rows, err := d.owner.QueryContext(ctx, text)
		if err != nil {
			return "", err
		}
		for rows.Next() {
			var row [3]sql.NullString
			if err := rows.Scan(&row[0], &row[1], &row[2]); err != nil {
				rows.Close()
				return "", err
			}
			out += fmt.Sprintln(row)
		}
		if err := rows.Err(); err != nil {
			return "", err
		}
	}
	return out, nil
}

// refused returns err as a refusal.
func refused(err error) (r *exec.RefusedError, ok bool) { return r, errors.As(err, &r) }

// limited returns the limit that err reports.
func limited(err error) string {
	var l *exec.LimitError
	if errors.As(err, &l) {
		return l.Limit
	}
	return ""
}
