package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// held is a connection under guard.
//
// Each use is rolled back to a savepoint in one transaction. While the owner of a session thinks, this transaction is
// open, but it has no snapshot and no lock on anything, so it keeps nobody waiting; the server must not end it either,
// however long that takes, so idle_in_transaction_session_timeout is off then and on again during a use.
type held struct {
	guard   *guard
	conn    *sql.Conn
	timeout time.Duration // of a statement
	ours    bool          // it reads the catalog, so there is no guard

	pgx    *pgx // nil: another driver
	status byte // of lib/pq when it was held: 'I' outside of a transaction; 0: unknown
	pq     bool // the driver is lib/pq: a text without arguments goes to the server as it is, all statements of it
	lost   bool // a statement was stopped in the middle

	facts   facts
	catalog *catalog

	open   bool      // a transaction is open
	begun  time.Time // when; zero before the first one
	single bool      // it is for one use: many holds have no second one
	used   bool      // it is not at its savepoint
	ran    bool      // the server has looked at a statement since
	began  []string  // the advisory locks of the connection when the first transaction began
	before state     // what the connection held when the statement was parsed

	statement *sql.Stmt
	rows      *sql.Rows
	cancel    context.CancelFunc // of rows
}

// install puts the guard on.
func (h *held) install(ctx context.Context) error {
	if err := h.conn.Raw(func(dc any) error {
		if h.guard.config.Unwrap != nil {
			dc = h.guard.config.Unwrap(dc)
		} else if t := reflect.TypeOf(dc); t != nil && t.Kind() == reflect.Pointer {
			if h.pq = t.Elem().PkgPath() == "github.com/lib/pq" && t.Elem().Kind() == reflect.Struct; h.pq {
				if status := reflect.ValueOf(dc).Elem().FieldByName("txnStatus"); status.CanUint() {
					h.status = byte(status.Uint())
				}
			}
		}
		if h.pgx = h.guard.pgxOf(dc); h.pgx != nil {
			h.pgx.cap(h.guard.longest())
		}
		return nil
	}); err != nil {
		return classify(err)
	}
	idle, err := h.idle(ctx)
	if err != nil {
		return classify(err)
	}
	if !idle {
		return &exec.UnguardedError{
			Reason: "somebody left a transaction open on this connection, so a statement would run in it",
			Remedy: "end every transaction that the program begins, best with sql.DB.BeginTx, which keeps its connection to itself",
		}
	}
	return h.begin(ctx)
}

// idle reports whether no transaction is open. Outside of one each text is a transaction of its own, with a number of
// its own.
func (h *held) idle(ctx context.Context) (idle bool, err error) {
	switch {
	case h.pgx != nil:
		return h.pgx.idle(), nil
	case h.status != 0:
		return h.status == 'I', nil
	case h.pq: // one message is one statement to the server
		rows, err := h.script(ctx, "SELECT pg_catalog.now() OPERATOR(pg_catalog.=) pg_catalog.statement_timestamp()")
		return err == nil && len(rows) == 1 && rows[0][0] == "true", err
	}
	var numbers [2]string
	for i := range numbers {
		rows, err := h.script(ctx, "SELECT (s.l).virtualtransaction FROM ("+lockText+") AS s LIMIT 1")
		if err != nil {
			return false, err
		}
		if len(rows) == 0 {
			return false, errNoLocks
		}
		numbers[i] = rows[0][0]
	}
	return numbers[0] != numbers[1], nil
}

const beginText = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"

// begin begins a transaction with the settings of the guard. They need facts that are read with them, so they are made
// for a guess, and made again where the guess was wrong.
func (h *held) begin(ctx context.Context) error {
	first := h.begun.IsZero()
	h.single = first && !h.ours
	for range 5 {
		guess, catalog, version := h.guard.guess()
		lowly := h.lowly(guess, catalog)
		var idle time.Duration // may the owner think
		if h.single {
			idle = 2 * h.timeout
		}
		columns, texts := settings(guess.settings(h.timeout, idle, lowly), h.pgx != nil || h.pq)
		rows, err := h.script(ctx, slices.Concat([]string{beginText, factsText + version + columns}, texts,
			[]string{"PREPARE texttosql_locks AS " + lockText, locks, "SAVEPOINT texttosql_s"})...)
		h.open, h.begun = true, time.Now()
		if err != nil {
			return unready(err)
		}
		f, err := factsOf(rows)
		if err != nil {
			return err
		}
		if err := f.unguarded(); err != nil {
			return err
		}
		if h.before, err = stateOf(rows[1:]); err != nil {
			return err
		}
		if first {
			h.began = h.before.advisory
			first = false
		} else if err := h.unmoved(); err != nil {
			return err
		}
		catalog = h.guard.of(f, version == versionExpr)
		if f.same(guess) && (h.ours || catalog != nil && h.lowly(f, catalog) == lowly) {
			h.facts, h.catalog = f, catalog
			return nil
		}
		if f.same(guess) && catalog == nil { // with the settings for f, so that names of the catalog mean what they say
			if err := h.guard.read(ctx, h, f); err != nil {
				return unready(err)
			}
		}
		if err := h.rollback(ctx, true); err != nil {
			return unready(err)
		}
	}
	return &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the schema or the settings change all the time"}
}

// lowly reports whether the role is given up for one that reads tables and does nothing else. It obeys row security, so
// it would find fewer rows where tables have that.
func (h *held) lowly(f facts, c *catalog) bool {
	return !h.ours && !h.guard.dialect.KeepRole && f.superuser == "on" && f.major() >= 14 && c != nil && !c.rowSecurity
}

// unready is the error of what the guard does for itself. Nothing that a statement says is to blame for it.
func unready(err error) error {
	if class := stateCode(err); strings.HasPrefix(class, "42") || strings.HasPrefix(class, "22") {
		return &exec.UnguardedError{Reason: "the server does not know what the guard needs: " + err.Error(), Remedy: "use PostgreSQL"}
	}
	return classify(err)
}

// direct reads the catalog for the guard, without a look at the texts.
type direct struct{ h *held }

func (d direct) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return d.h.stream(ctx, true, text, args)
}

// ready makes the connection ready for the next use. A transaction that is older than a version is trusted is begun
// anew, since it would not see that the schema changed.
func (h *held) ready(ctx context.Context) error {
	h.close()
	if h.lost {
		return driver.ErrBadConn
	}
	err := h.rollback(ctx, h.open && time.Since(h.begun) > trusted)
	if err == nil && !h.open {
		err = h.begin(ctx)
	}
	if err != nil {
		return h.unfit(err)
	}
	h.used = true
	return nil
}

// unfit notes that the connection cannot be used any more.
func (h *held) unfit(err error) error {
	h.lost = true
	return classify(err)
}

// Finish implements exec.Finisher.
func (h *held) Finish(ctx context.Context) (fit bool, err error) {
	h.close()
	if h.lost {
		return false, nil
	}
	if err := h.rollback(ctx, h.single); err != nil {
		return false, h.unfit(err)
	}
	return true, nil
}

// Stop implements exec.Stopper. Of a result that is cut at its limit on rows the server has no more; of one that is cut
// at its limit on bytes there may be much more.
func (h *held) Stop(tooLarge bool) (stopped bool) {
	if tooLarge && h.cancel != nil {
		h.cancel()
		h.lost = true
	}
	return h.lost
}

// patience is how long Release waits for the server.
const patience = 5 * time.Second

// Release implements the held connection.
func (h *held) Release(drop bool) error {
	h.leave(drop)
	return nil
}

// leave takes the guard off, or makes database/sql close the connection.
func (h *held) leave(drop bool) {
	if (drop || h.lost) && h.cancel != nil {
		h.cancel() // before its rows are closed, or all of them are read
	}
	off := h.off(drop)
	_ = h.conn.Raw(func(any) error {
		if drop || h.lost || !off {
			return driver.ErrBadConn
		}
		if h.pgx != nil {
			h.pgx.uncap()
		}
		return nil
	})
}

// off ends the transaction, unless the connection is dropped, and reports whether it did.
func (h *held) off(drop bool) (off bool) {
	defer func() {
		if recover() != nil { // the driver panicked
			off = false
		}
	}()
	h.close()
	if !h.open || drop || h.lost {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return h.rollback(ctx, true) == nil
}
