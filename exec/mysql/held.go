package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// QueryContext implements the held connection. EXPLAIN runs of a statement that may run itself.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if h.reads {
		return h.conn.QueryContext(ctx, text, args...)
	}
	statement, explained := strings.CutPrefix(text, explainPrefix)
	if _, err := h.admit(ctx, h.guard.dialect.Text().Parse(statement), len(args) > 0); err != nil {
		return nil, err
	}
	if explained {
		h.close()
		var err error
		if h.statement, err = h.conn.PrepareContext(ctx, text); err != nil {
			return nil, h.Classify(err)
		}
	}
	return h.run(ctx, args...)
}

// Query implements the held connection.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, b exec.Bounds) (*sql.Rows, error) {
	n, err := h.admit(ctx, s, false)
	if err != nil {
		return nil, err
	}
	h.limited = n.limited
	if rows := strconv.Itoa(b.Rows + 1); rows != h.rows {
		if err := h.set(ctx, variable{"sql_select_limit", sql.NullString{String: rows, Valid: true}}); err != nil {
			return nil, err
		}
		h.rows = rows
	}
	return h.run(ctx)
}

// run runs the prepared statement.
func (h *held) run(ctx context.Context, args ...any) (rows *sql.Rows, err error) {
	if h.open, err = h.statement.QueryContext(ctx, args...); err != nil {
		return nil, h.Classify(err)
	}
	return h.open, nil
}

// admit decides on a statement and leaves it prepared. COM_STMT_PREPARE takes one statement, whatever multiStatements
// says, so text from outside is never sent in another way. It runs nothing.
func (h *held) admit(ctx context.Context, s *sqltext.Statement, ours bool) (*named, error) {
	h.close()
	c, err := h.guard.catalogOf(ctx, h, false)
	if err != nil {
		return nil, unblamed(err)
	}
	h.catalog = c
	for asked := false; ; asked = true {
		n, err := h.check(s, ours)
		if err == nil && len(n.absent) == 0 {
			return n, h.prepare(ctx, s.SQL(), n)
		}
		// The catalog may be old.
		if !asked {
			c, cerr := h.guard.catalogOf(ctx, h, true)
			if cerr != nil {
				return nil, unblamed(cerr)
			}
			if c != h.catalog {
				h.catalog = c
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		// Everything else about the statement is right, so the server may say in its own words what is absent.
		err = h.prepare(ctx, s.SQL(), n)
		if err == nil {
			err = &exec.RefusedError{Reason: exec.ReasonTable, Detail: n.absent[0] + " is no table of the schema"}
		}
		h.close()
		return nil, err
	}
}

// check is the part of admit that needs no connection.
func (h *held) check(s *sqltext.Statement, ours bool) (*named, error) {
	if h.guard.without == "tree" {
		return &named{}, nil
	}
	n, err := h.catalog.check(s.SQL(), ours)
	if err == nil && h.guard.without != "policy" {
		err = h.catalog.permit(n)
	}
	if err == nil {
		err = h.catalog.weigh(s)
	}
	return n, err
}

// prepare compiles a statement that check let pass, and looks at how the server resolved its names.
func (h *held) prepare(ctx context.Context, text string, n *named) (err error) {
	trace := len(n.relations) > 0 && len(h.guard.config.Policy.DenyColumns) > 0
	if trace {
		if err := h.set(ctx, variable{"optimizer_trace", sql.NullString{String: "enabled=on", Valid: true}}); err != nil {
			return err
		}
	}
	if h.statement, err = h.conn.PrepareContext(ctx, text); err != nil {
		err = h.Classify(err)
	}
	if trace {
		off := h.set(ctx, variable{"optimizer_trace", sql.NullString{String: "enabled=off", Valid: true}})
		err = cmp.Or(err, off)
	}
	if err != nil || !trace {
		return err
	}
	return h.traced(ctx, text, n)
}

// set changes one variable.
func (h *held) set(ctx context.Context, v variable) error {
	if _, err := h.conn.ExecContext(ctx, "SET "+assignment(v.name, v.value)); err != nil {
		h.lost = true
		return unblamed(err)
	}
	return nil
}

// Analyze implements the held connection.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	n, err := h.admit(ctx, s, false)
	h.close()
	if err != nil {
		return exec.Analysis{}, err
	}
	return h.catalog.analysis(n), nil
}

// Classify implements the held connection. After an error that is none of a statement's the connection is not used again: its
// driver may take it for whole.
func (h *held) Classify(err error) error {
	err = classify(err)
	h.lost = h.lost || err != nil && !isTyped(err)
	return err
}

// Converter implements exec.Converter.
func (h *held) Converter(column *sql.ColumnType) func(any) (any, error) { return converter(column) }

// StatementWarnings implements exec.StatementWarner.
func (h *held) StatementWarnings(ctx context.Context) ([]string, error) {
	if h.lost {
		return nil, nil
	}
	return statementWarnings(ctx, h.conn)
}

// close ends the last statement.
func (h *held) close() {
	if h.open != nil {
		h.open.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.open, h.statement, h.limited = nil, nil, false
}
