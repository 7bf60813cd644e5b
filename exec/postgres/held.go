package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// explainPrefix is what QueryContext lets stand in front of a statement that the guard admits.
const explainPrefix = "EXPLAIN (FORMAT JSON, VERBOSE) "

// script runs texts of ours, one after the other, and returns all rows.
func (h *held) script(ctx context.Context, texts ...string) (rows [][]string, err error) {
	switch {
	case h.pgx != nil:
		err = h.conn.Raw(func(any) (err error) {
			rows, err = h.pgx.script(ctx, texts)
			return err
		})
		return rows, err
	case h.pq:
		texts = []string{strings.Join(texts, ";")}
	}
	for _, text := range texts {
		found, err := h.stream(ctx, true, text, nil)
		if err != nil {
			return nil, err
		}
		these, err := textsOf(found)
		h.close()
		if err != nil {
			return nil, err
		}
		rows = append(rows, these...)
	}
	return rows, nil
}

// stream runs one text by a protocol that takes one statement only; for a text of ours lib/pq need not. The driver
// keeps nothing of it: a statement in its cache would stay on the connection, and pgx would read the rows of the next
// cursor by the columns of this one.
func (h *held) stream(ctx context.Context, ours bool, text string, args []any) (rows *sql.Rows, err error) {
	h.close()
	defer func() { h.interrupted(err) }()
	switch {
	case h.pgx != nil && h.guard.config.Unwrap == nil && len(args) == 0:
		rows, err = h.conn.QueryContext(ctx, text, h.pgx.mode)
	case h.pq && ours && len(args) == 0:
		rows, err = h.conn.QueryContext(ctx, text)
	default:
		if h.statement, err = h.conn.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		rows, err = h.statement.QueryContext(ctx, args...)
	}
	h.rows = rows
	return rows, err
}

// QueryContext implements the held connection.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	var err error
	if h.ours {
		err = h.ready(ctx)
	} else if explained, ok := strings.CutPrefix(text, explainPrefix); ok && len(args) == 0 {
		_, err = h.admit(ctx, explained, false)
	} else {
		_, err = h.admit(ctx, text, len(args) > 0)
	}
	if err != nil {
		return nil, err
	}
	rows, err := h.stream(ctx, h.ours, text, args)
	if err != nil {
		return nil, classify(err)
	}
	return rows, nil
}

// Query implements the held connection. The cursor takes SELECT and VALUES only, and the server stops after the rows that are
// asked for.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
	declare, fetch := h.declare(s.SQL()), fmt.Sprintf("FETCH FORWARD %d FROM texttosql_c", b.Rows+1)
	if _, err := h.admit(ctx, s.SQL(), false); err != nil {
		return nil, err
	}
	if h.pq { // the server has parsed the text, so it knows that it is one statement
		fetch = declare + ";" + fetch
	} else {
		rows, err := h.stream(ctx, false, declare, nil)
		if err == nil {
			err = rows.Close()
		}
		if err != nil {
			return nil, classify(err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	rows, err := h.stream(ctx, true, fetch, nil)
	h.cancel = cancel
	if err != nil {
		return nil, classify(err)
	}
	return rows, nil
}

// declare opens the cursor of text. Where the driver takes messages of any length, the server sends none that is longer.
func (h *held) declare(text string) string {
	if h.pgx == nil {
		text = fmt.Sprintf(`WITH texttosql_q AS MATERIALIZED (%s
) SELECT texttosql_q.* FROM texttosql_q WHERE CASE WHEN pg_catalog.octet_length(ROW(texttosql_q.*)::pg_catalog.text) OPERATOR(pg_catalog.>) %d
THEN pg_catalog.concat('%s')::pg_catalog.bool ELSE true END`, text, h.guard.longest(), tooLong)
	}
	return "DECLARE texttosql_c NO SCROLL CURSOR WITHOUT HOLD FOR " + text
}

// tooLong is in the error of a row that is too long to be sent.
const tooLong = "texttosql: a row is too long"

// Analyze implements the held connection.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	return h.admit(ctx, s.SQL(), false)
}

// admit decides on a statement: by its tree, and by the relations that the server locks for it when it resolves its
// names. ours allows parameters. Afterwards the statement may run until the transaction ends.
//
// The server tells late of changes to the schema, so the catalog is read again before names are refused, unless nobody
// wrote anything since.
func (h *held) admit(ctx context.Context, text string, ours bool) (exec.Analysis, error) {
	if h.ours {
		return exec.Analysis{}, &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the connection is held for the catalog"}
	}
	a, fault := h.attempt(ctx, text, ours)
	if h.lost || !isAboutNames(fault) {
		return a, fault
	}
	renewed, err := h.renew(ctx)
	switch {
	case err != nil:
		return a, h.unfit(err)
	case renewed:
		return h.attempt(ctx, text, ours)
	}
	return a, fault
}

func isAboutNames(err error) bool {
	var refused *exec.RefusedError
	if errors.As(err, &refused) {
		return refused.Reason == exec.ReasonTable || refused.Reason == exec.ReasonColumn || refused.Reason == exec.ReasonFunction
	}
	var invalid *exec.InvalidError
	return errors.As(err, &invalid) && invalid.Fault == exec.FaultSchema
}

// renew reads the catalog again, unless it is current.
func (h *held) renew(ctx context.Context) (renewed bool, err error) {
	if err := h.rollback(ctx, false); err != nil {
		return false, err
	}
	rows, err := h.script(ctx, "SELECT "+snapshotExpr)
	if err != nil || h.guard.current(h.facts, rows[0][0]) {
		return false, err
	}
	if err := h.guard.read(ctx, h, h.facts); err != nil {
		return false, err
	}
	return true, h.rollback(ctx, true)
}

func (h *held) attempt(ctx context.Context, text string, ours bool) (a exec.Analysis, err error) {
	if err := h.ready(ctx); err != nil {
		return a, err
	}
	n := &named{}
	if walls.tree {
		if n, err = h.catalog.check(text, ours); err != nil {
			return a, err
		}
	}
	rows, err := h.look(ctx, text)
	if err != nil {
		return a, classify(err)
	}
	if h.before, err = stateOf(rows); err != nil {
		return a, err
	}
	if err := h.unmoved(); err != nil {
		return a, err
	}
	if !walls.locks {
		return a, nil
	}
	if a, err = h.catalog.permit(n, h.before.relations); err != nil || len(h.before.relations) == 0 || len(h.guard.config.Policy.DenyColumns) == 0 {
		return a, err
	}
	now, err := stampsOf(ctx, h, h.before.relations)
	if err != nil {
		return a, classify(err)
	}
	for oid, stamp := range now {
		if h.guard.stamp(h.facts, oid) != stamp {
			return a, &exec.RefusedError{Reason: exec.ReasonTable, Detail: "the columns of what it reads change all the time"}
		}
	}
	return a, nil
}

// look lets the server parse a statement, by a protocol that takes one, and nothing of it is planned or runs. It lists
// the locks of the connection then.
func (h *held) look(ctx context.Context, text string) (rows [][]string, err error) {
	h.ran = true
	var others []string
	if !h.single {
		others = []string{"SET LOCAL idle_in_transaction_session_timeout = " + milliseconds(2*h.timeout)}
	}
	if h.pgx != nil {
		err = h.conn.Raw(func(any) (err error) {
			rows, err = h.pgx.look(ctx, text, others...)
			return err
		})
		return rows, err
	}
	statement, err := h.conn.PrepareContext(ctx, text)
	if err == nil {
		err = statement.Close()
	}
	if err != nil {
		h.interrupted(err)
		return nil, err
	}
	return h.script(ctx, append([]string{locks}, others...)...)
}

// interrupted gives up a connection whose driver failed by an error that is none of the server's. pgx knows by itself;
// lib/pq takes what is left of the answer for the next one, also behind an error of over 30,000 bytes, and reads a length
// of a gigabyte there.
func (h *held) interrupted(err error) {
	h.lost = h.lost || err != nil && h.pgx == nil && stateCode(err) == ""
}

// unmoved reports an error if the connection wrote, or has other advisory locks than when it was held.
func (h *held) unmoved() error {
	if !h.before.written && slices.Equal(h.began, h.before.advisory) {
		return nil
	}
	h.lost = true
	return &exec.RefusedError{Reason: exec.ReasonGuard, Writes: true,
		Detail: "the server wrote or took a lock while it looked at the names in the statement; its connection is closed"}
}

// walls are two of the walls of attempt. Tests take one away, to see that the others hold.
var walls = struct{ tree, locks bool }{true, true}

// Classify implements the held connection.
func (h *held) Classify(err error) error { return classify(err) }

// Converter implements exec.Converter.
func (h *held) Converter(c *sql.ColumnType) func(any) (any, error) { return converter(c) }

// close ends the last statement.
func (h *held) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	if h.cancel != nil {
		h.cancel()
	}
	h.rows, h.statement, h.cancel = nil, nil, nil
}
