package duckdb

import (
	"context"
	"database/sql"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// QueryContext implements the held connection. EXPLAIN runs of a statement that may run itself.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if h.reads {
		return h.conn.QueryContext(ours(ctx), text, args...)
	}
	statement, explained := strings.CutPrefix(text, explainPrefix)
	if _, err := h.admit(ctx, sqltext.DuckDB().Parse(statement), len(args) > 0); err != nil {
		return nil, err
	}
	if explained {
		statement = text
	}
	return h.run(ctx, statement, args...)
}

// Query implements the held connection. The text goes to the engine as it is: rows come as a stream, of which no more is read
// than is wanted.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, _ exec.Bounds) (*sql.Rows, error) {
	if _, err := h.admit(ctx, s, false); err != nil {
		return nil, err
	}
	return h.run(ctx, s.SQL())
}

func (h *held) run(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	if err := h.begin(ctx); err != nil {
		return nil, unblamed(err)
	}
	// Prepared: in a query of its own a driver that panics keeps the connection.
	if h.statement, err = h.conn.PrepareContext(ours(ctx), text); err != nil {
		return nil, h.Classify(err)
	}
	if h.open, err = h.statement.QueryContext(ours(ctx), args...); err != nil {
		return nil, h.Classify(err)
	}
	return h.open, nil
}

// Analyze implements the held connection.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	n, err := h.admit(ctx, s, false)
	if err == nil {
		_, err = h.plan(ctx, s) // which compiles it
	}
	if err != nil {
		return exec.Analysis{}, err
	}
	return h.catalog.analysis(n), nil
}

// admit decides on a statement. It runs nothing of it.
func (h *held) admit(ctx context.Context, s *sqltext.Statement, arguments bool) (*named, error) {
	h.close()
	if h.guard.without == "tree" {
		return &named{}, nil
	}
	if err := h.catalog.weigh(s); err != nil {
		return nil, err
	}
	if err := h.begin(ctx); err != nil {
		return nil, unblamed(err)
	}
	tree, err := h.tree(ctx, s.SQL())
	if err != nil {
		return nil, err
	}
	n, err := h.catalog.check(tree, arguments)
	if err != nil || h.guard.without == "policy" {
		return n, err
	}
	if err := h.catalog.permit(n); err != nil {
		return nil, err
	}
	if len(n.absent) > 0 {
		// Everything else about the statement is right, so the engine may say in its own words what is absent.
		_, err := h.plan(ctx, s)
		if err == nil {
			err = &exec.RefusedError{Reason: exec.ReasonTable, Detail: n.absent[0] + " is no table of the schema"}
		}
		return nil, err
	}
	if h.catalog.denies {
		return n, h.seen(ctx, s)
	}
	return n, nil
}

// tree asks the engine for the syntax tree of a text.
func (h *held) tree(ctx context.Context, text string) (*document, error) {
	raw := ""
	err := each(ctx, h.conn, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", func(scan func(...any) error) error { return scan(&raw) }, text)
	if err != nil {
		if err = h.Classify(err); exec.IsRejection(err) {
			return nil, err
		}
		return nil, unblamed(err)
	}
	return readTree(raw)
}

// plan is the engine's plan as JSON.
func (h *held) plan(ctx context.Context, s *sqltext.Statement) (raw string, err error) {
	if err := h.begin(ctx); err != nil {
		return "", unblamed(err)
	}
	var kind string
	err = each(ctx, h.conn, explainPrefix+s.SQL(), func(scan func(...any) error) error { return scan(&kind, &raw) })
	if err != nil {
		return "", h.Classify(err)
	}
	return raw, nil
}

// seen is the engine's own word about the columns that it would read: the second wall of a policy.
func (h *held) seen(ctx context.Context, s *sqltext.Statement) error {
	raw, err := h.plan(ctx, s)
	if err != nil {
		return err
	}
	steps, err := readSteps(raw)
	if err != nil {
		return &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the engine's plan cannot be read"}
	}
	return h.catalog.scans(steps)
}

// Classify implements the held connection. After an error that is none of a statement's the connection is not used again.
func (h *held) Classify(err error) error {
	err = classify(err)
	h.lost = h.lost || err != nil && !isTyped(err)
	return err
}

// Converter implements exec.Converter.
func (h *held) Converter(column *sql.ColumnType) func(any) (any, error) { return converter(column) }
