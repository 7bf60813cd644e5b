package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// conn is a connection under guard.
//
// Each use is rolled back to a savepoint in one transaction. While the owner of a session thinks, this transaction is
// open, but it has no snapshot and no lock on anything, so it keeps nobody waiting; the server must not end it either,
// however long that takes, so idle_in_transaction_session_timeout is off then and on again during a use.
type conn struct {
	*guarding
	conn    *sql.Conn
	timeout time.Duration // of a statement
	pgx     *protocol
	wrapped bool // a library wraps pgx
	lost    bool // it cannot be used any more

	facts  facts
	plain  bool      // no table has row security, as far as is known
	lowly  bool      // the role was given up
	begun  bool      // a transaction is open
	since  time.Time // when; zero before the first one
	single bool      // it is for one use: many connections have no second one
	began  []string  // the advisory locks of the connection when the first transaction began

	used     bool     // the transaction is not at its savepoint
	ran      bool     // the server has looked at a statement since
	before   state    // what the connection held when the statement was parsed
	declared bool     // the cursor is open
	judged   *catalog // by which the last statement was read; nil: none was
	settings []string // texts that make the settings of the scope
	fresh    string   // the version of the catalog that was read last, until it is checked

	statement *sql.Stmt
	rows      *sql.Rows
	cancel    context.CancelFunc // of rows
}

// install puts the guard on.
func (c *conn) install(ctx context.Context) error {
	err := c.conn.Raw(func(dc any) (err error) {
		if c.pgx, c.wrapped, err = c.reach(dc); err == nil && !c.pgx.idle() {
			return &exec.UnguardedError{
				Reason: "somebody left a transaction open on this connection, so a statement would run in it",
				Remedy: "end every transaction that the program begins, best with sql.DB.BeginTx, which keeps its connection to " +
					"itself",
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	c.pgx.cap(c.longest())
	c.facts, c.plain = c.met(facts{})
	c.single = true
	return c.begin(ctx)
}

// begin begins a transaction with the settings of the guard. The settings depend on facts that are read in the same
// request. So begin uses the previous facts, and sets them again if those were wrong.
func (c *conn) begin(ctx context.Context) error {
	for range 5 {
		results, err := c.start(ctx, "READ COMMITTED", c.lowers())
		if err != nil {
			return unready(err)
		}
		f, err := factsOf(results[1])
		if err == nil {
			err = f.unguarded()
		}
		if err == nil {
			c.before, err = stateOf(results[len(results)-2])
		}
		if err != nil {
			return err
		}
		if c.since.IsZero() {
			c.began = c.before.advisory
		}
		c.since = time.Now()
		if err := c.unmoved(); err != nil {
			return err
		}
		if f == c.facts {
			return nil
		}
		c.facts, c.plain = c.met(f)
		if err := c.rollback(ctx, true); err != nil {
			return unready(err)
		}
	}
	return guard.Refuse("guard", "the settings change all the time")
}

// start begins a transaction.
func (c *conn) start(ctx context.Context, isolation string, lowly bool) ([][]row, error) {
	var idle time.Duration // may the owner think
	if c.single {
		idle = 2 * c.timeout
	}
	c.begun, c.lowly = true, lowly
	return c.script(ctx, c.facts.begin(isolation, c.timeout, idle, lowly)...)
}

// lowers reports whether the role is given up for one that reads tables and does nothing else. It obeys row security,
// so it would find fewer rows where tables have that.
func (c *conn) lowers() bool {
	return c.plain && !c.dialect.KeepRole && c.facts.superuser == "on" && c.facts.major() >= 14
}

// unready returns the error of the guard's own work, which the statement did not cause.
func unready(err error) error {
	if class := stateCode(err); strings.HasPrefix(class, "42") || strings.HasPrefix(class, "22") {
		return &exec.UnguardedError{Reason: "the server does not know what the guard needs: " + err.Error(),
			Remedy: "use PostgreSQL"}
	}
	return err
}

// ready makes the connection ready for the next statement. A transaction that is older than a second is begun anew,
// since its time would stand still, and it would not see that the schema changed.
func (c *conn) ready(ctx context.Context) error {
	c.close()
	if c.lost {
		return driver.ErrBadConn
	}
	err := c.rollback(ctx, c.begun && (time.Since(c.since) > time.Second || c.lowly != c.lowers()))
	if err == nil && !c.begun {
		err = c.begin(ctx)
		c.lost = c.lost || err != nil
	}
	return err
}

// Version implements exec.Conn. The server counts changes of the catalog with a delay: see versionText. exec may call
// it after a statement was read, to find out whether an old catalog caused a refusal. Then it returns the version of
// that catalog if nobody has written anything since, and otherwise "".
func (c *conn) Version(ctx context.Context) (string, error) {
	if fresh := c.fresh; fresh != "" {
		c.fresh = ""
		return fresh, nil
	}
	judged := c.judged
	if err := c.ready(ctx); err != nil {
		return "", err
	}
	results, err := c.script(ctx, versionText)
	if err != nil {
		return "", err
	}
	version, snapshot := c.facts.version(results[0])
	switch {
	case judged == nil:
		return version, nil
	case judged.snapshot == snapshot && strings.HasSuffix(snapshot, ":"):
		return judged.version, nil
	}
	return "", nil
}

// Catalog implements exec.Conn. It reads in its own transaction, which sees one state of the database. The transaction
// has the settings of a guarded connection, so that names mean the same, and the caller's role.
func (c *conn) Catalog(ctx context.Context) (*exec.Catalog, error) {
	c.close()
	if c.lost {
		return nil, driver.ErrBadConn
	}
	err := c.rollback(ctx, true)
	if err == nil {
		_, err = c.start(ctx, "REPEATABLE READ", false)
	}
	if err != nil {
		return nil, unready(err)
	}
	read, own, err := c.readCatalog(ctx)
	if err != nil {
		return nil, unready(err)
	}
	if zone, name := guard.Zone(c.facts.zone); zone != time.UTC {
		read.Schema.Zone = name
	}
	if err := c.rollback(ctx, true); err != nil {
		return nil, err
	}
	if c.judged, c.fresh = nil, own.version; own.old {
		c.fresh = ""
	}
	c.plain = !own.secured
	c.learn(c.facts.place(), c.plain)
	return read, nil
}

func (c *conn) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	c.judged = s.Catalog.Own.(*catalog)
	c.plain = !c.judged.secured
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	w, err := c.judged.read(s.SQL(), len(s.Args) > 0 || s.Splice != nil)
	if invalid, ok := err.(*exec.InvalidError); ok && invalid.Fault == "syntax" {
		return nil, c.unparsed(ctx, s, invalid)
	}
	if err != nil {
		return nil, err
	}
	return w.n, nil
}

// unparsed returns the error of a statement that our parser rejects. If the server accepts it, the error is a refusal,
// so that nobody repairs a correct statement. The server parses a text after PREPARE, resolves no name in it, and runs
// nothing.
func (c *conn) unparsed(ctx context.Context, s *exec.Statement, fault *exec.InvalidError) error {
	c.used = true
	_, perr := c.ask(ctx, nil, "PREPARE unparsed AS "+s.SQL(), nil)
	if perr == nil {
		return guard.Refuse("statement", "the guard's parser does not know this form, though the server does: "+
			"write it in another way (%s)", fault.Message)
	}
	if !c.pgx.aborted() {
		return perr // of the connection
	}
	return fault
}

// Confirm implements exec.Conn. The server parses the statement with a protocol that accepts one statement, and
// resolves its names. It does not plan or run any part of it. The locks that the server takes show what the statement
// reads. They remain until endUse, so that nobody can replace a table in between.
func (c *conn) Confirm(ctx context.Context, s *exec.Statement) (seen guard.EngineReport, err error) {
	own := s.Catalog.Own.(*catalog)
	if err := c.ready(ctx); err != nil {
		return seen, err
	}
	var others []string
	if own.stamps != nil {
		others = append(others, lockedStampText)
	}
	c.used, c.ran = true, true
	results, err := c.ask(ctx, c.settingsOf(ctx), s.SQL(), nil, others...)
	if err != nil {
		return seen, s.Unspliced(err, c.dialect)
	}
	if c.before, err = stateOf(results[0]); err != nil {
		return seen, err
	}
	if err := c.unmoved(); err != nil {
		return seen, err
	}
	c.before.relations = own.unpoliced(c.before.relations, s.Catalog.Reads(s.Names))
	if seen, err = own.seen(c.before.relations); err != nil {
		return seen, err
	}
	if err := c.secured(ctx, s); err != nil {
		return seen, err
	}
	if own.stamps != nil {
		for _, r := range results[len(results)-1] {
			if own.stamps[r[0]] != r[1] {
				return seen, guard.ErrStale
			}
		}
	}
	if s.Names.Own != nil && len(s.Names.Absent) == 0 {
		return seen, guard.ErrStale // the server knows a function that the catalog does not have
	}
	return seen, nil
}

// settingsOf are the settings of one use, with which it is rolled back. A statement that has less time than the
// connection waits less long for a lock.
func (c *conn) settingsOf(ctx context.Context) (texts []string) {
	if !c.single {
		texts = append(texts, "SET LOCAL idle_in_transaction_session_timeout = "+milliseconds(2*c.timeout))
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < c.timeout*8/9 {
		texts = append(texts, lowered("lock_timeout", c.facts.lock, time.Until(end)*8/10)...)
	}
	return append(texts, c.settings...)
}

// again prepares the connection to explain or run the confirmed statement. If an earlier run of it failed and released
// the locks, again confirms it anew.
func (c *conn) again(ctx context.Context, s *exec.Statement) error {
	c.close()
	switch {
	case c.lost:
		return driver.ErrBadConn
	case c.pgx.aborted():
		seen, err := c.Confirm(ctx, s)
		if err == nil && !slices.Equal(seen.Relations, s.Seen.Relations) {
			err = guard.Refuse("guard", "the schema changes all the time")
		}
		return err
	case c.declared:
		c.declared = false
		_, err := c.script(ctx, "CLOSE "+cursor)
		return err
	}
	return nil
}

// Explain implements exec.Conn. EXPLAIN runs functions that are declared IMMUTABLE, so it is not harmless without a
// guard.
func (c *conn) Explain(ctx context.Context, s *exec.Statement) (p exec.Plan, err error) {
	if err := c.again(ctx, s); err != nil {
		return p, err
	}
	results, err := c.ask(ctx, nil, "", s.Args, "EXPLAIN "+s.SQL())
	if err != nil {
		return p, err
	}
	var text strings.Builder
	for _, line := range results[0] {
		text.WriteString(line[0] + "\n")
	}
	return planOf(text.String()), nil
}

// planCost is in the first line of a plan: "Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)".
var planCost = regexp.MustCompile(`^[^\n]*\(cost=[0-9.]+\.\.([0-9.]+) rows=([0-9.]+) `)

func planOf(text string) exec.Plan {
	var p exec.Plan
	p.AddText(text)
	if m := planCost.FindStringSubmatch(text); m != nil {
		p.EngineCost, _ = strconv.ParseFloat(m[1], 64)
		p.EngineRows, _ = strconv.ParseFloat(m[2], 64)
	}
	quoted := false // in a text of a condition that goes on in the next line
	for i, row := range p.Rows {
		if m := seqScan.FindStringSubmatch(row.Detail); m != nil && !quoted {
			name := m[1]
			if inner, ok := strings.CutPrefix(name, `"`); ok {
				name = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
			}
			p.Rows[i].Scans = []schema.TableName{{Name: name}}
		} else if strings.Count(row.Detail, "'")%2 == 1 {
			quoted = !quoted
		}
	}
	return p
}

// seqScan is a step that reads a whole table: "  ->  Parallel Seq Scan on "Orders" o  (cost=…".
var seqScan = regexp.MustCompile(`^\s*(?:->  )?(?:Parallel )?Seq Scan on ("(?:[^"]|"")*"|\S+)(?: .*)?  \(cost=`)

// Run implements exec.Conn. The cursor accepts SELECT and VALUES only, and the server stops after the requested rows.
func (c *conn) Run(ctx context.Context, s *exec.Statement, b exec.Bounds) (*exec.Rows, error) {
	if err := c.again(ctx, s); err != nil {
		return nil, err
	}
	text, args := s.SQL(), s.Args
	if len(args) == 0 || s.Splice != nil {
		declare := "DECLARE " + cursor + " NO SCROLL CURSOR WITHOUT HOLD FOR " + text
		if s.Splice != nil {
			if _, err := c.ask(ctx, nil, "", args, declare); err != nil {
				return nil, err
			}
		} else if rows, err := c.stream(ctx, declare, nil); err != nil {
			return nil, err
		} else if err := rows.Close(); err != nil {
			return nil, err
		}
		c.declared = true
		text, args = fmt.Sprintf("FETCH FORWARD %d FROM %s", b.Rows+1, cursor), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	rows, err := c.stream(ctx, text, args)
	c.cancel = cancel
	if err != nil {
		return nil, err
	}
	zone, name := guard.Zone(c.facts.zone)
	return &exec.Rows{
		Rows: rows, Stop: c.stop,
		Convert: func(_ int, column *sql.ColumnType) func(any) (any, error) { return converter(column, zone) },
		Type: func(_ int, column *sql.ColumnType) result.Type {
			return s.Catalog.Own.(*catalog).typeOf(column, name)
		},
	}, nil
}

// stop implements exec.Rows. Of a result that is cut at its limit on rows the server has no more; of one that is cut at
// its limit on bytes there may be much more.
func (c *conn) stop(tooLarge bool) (stopped bool) {
	if tooLarge && c.cancel != nil {
		c.cancel()
		c.lost = true
	}
	return c.lost
}

// script runs texts of ours, one after the other, and returns the rows of each.
func (c *conn) script(ctx context.Context, texts ...string) (results [][]row, err error) {
	err = c.conn.Raw(func(any) (err error) {
		results, err = c.pgx.script(ctx, texts)
		return err
	})
	return results, err
}

// ask calls the function of the same name in protocol.
func (c *conn) ask(ctx context.Context, settings []string, parsed string, args []any,
	others ...string) (results [][]row, err error) {
	err = c.conn.Raw(func(any) (err error) {
		results, err = c.pgx.ask(ctx, settings, parsed, args, others...)
		return err
	})
	return results, err
}

// stream runs one text by a protocol that takes one statement only. The driver keeps nothing of it: a statement in its
// cache would stay on the connection, and it would read the rows of the next cursor by the columns of this one.
func (c *conn) stream(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	c.close()
	var err error
	if !c.wrapped && len(args) == 0 {
		c.rows, err = c.conn.QueryContext(ctx, text, pgx.QueryExecModeExec)
		return c.rows, err
	}
	if c.statement, err = c.conn.PrepareContext(ctx, text); err == nil {
		c.rows, err = c.statement.QueryContext(ctx, args...)
	}
	return c.rows, err
}

// close ends the last statement.
func (c *conn) close() {
	if c.rows != nil {
		c.rows.Close()
	}
	if c.statement != nil {
		c.statement.Close()
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.rows, c.statement, c.cancel = nil, nil, nil
}

// endUse implements exec.GuardedConn.EndUse.
func (c *conn) endUse(ctx context.Context) (fit bool, err error) {
	c.close()
	c.judged = nil
	if !c.lost {
		err = c.rollback(ctx, c.single)
		c.single = false
	}
	return !c.lost, err
}

// patience is how long Close waits for the server.
const patience = 5 * time.Second

func (c *conn) Close(drop bool) error {
	c.leave(drop)
	return nil
}

// leave takes the guard off, or makes database/sql close the connection.
func (c *conn) leave(drop bool) {
	if drop = drop || c.lost; drop && c.cancel != nil {
		c.cancel() // before its rows are closed, or all of them are read
	}
	off := false
	func() {
		defer func() { _ = recover() }() // the driver panicked
		c.close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		off = !drop && c.rollback(ctx, true) == nil
	}()
	_ = c.conn.Raw(func(any) error {
		if !off {
			return driver.ErrBadConn
		}
		if c.pgx != nil {
			c.pgx.uncap()
		}
		return nil
	})
}

// stateCode is the SQLSTATE of an error, "" without one.
func stateCode(err error) string {
	if known, ok := errors.AsType[*pgconn.PgError](err); ok {
		return known.Code
	}
	return ""
}
