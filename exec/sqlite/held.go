package sqlite

import (
	"context"
	"database/sql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// QueryContext implements exec.Held.
//
// The statement is prepared on its own: go-sqlite3 would run every statement of
// a text given to Query, and takes the first step of a cached statement before
// its number of columns is known.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if h.options.Use == exec.Catalog {
		return h.conn.QueryContext(ctx, text, args...)
	}
	rows, err := h.run(ctx, text, args)
	if err != nil {
		return nil, err
	}
	names, declared, err := resultColumns(rows)
	if err == nil && converted(declared) {
		if rows, err = h.run(ctx, asStored(text, names), args); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = h.fit(text, len(names))
	}
	if err != nil {
		h.close()
		return nil, classify(err, true, nil)
	}
	return rows, nil
}

// run compiles text and starts it. Nothing is stepped yet.
func (h *held) run(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	if err := h.compile(ctx, text); err != nil {
		return nil, err
	}
	rows, err := h.statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, h.classify(err, true)
	}
	h.rows = rows
	return rows, nil
}

// compile prepares text as the statement of h.
//
// What the gate says holds for the schema of its catalog, which is also the one that
// SQLite has in memory. So where a statement is rejected, or where the policy
// denies something, the schema has to be the same still.
func (h *held) compile(ctx context.Context, text string) error {
	// SQLite compiles without a look at the context.
	if err := ctx.Err(); err != nil {
		return classify(err, true, nil)
	}
	if h.off {
		if err := h.renew(ctx); err != nil {
			return err
		}
	}
	for renewed := false; ; renewed = true {
		err := h.prepareStatement(ctx, text)
		if err == nil && !h.guard.config.Policy.Restricts() || err != nil && !exec.IsRejection(err) {
			return err
		}
		changed, cerr := h.changed(ctx)
		switch {
		case cerr == nil && !changed:
			return err
		case cerr == nil && renewed:
			cerr = &exec.RefusedError{Rule: exec.RuleGuard, Detail: "the schema changes all the time"}
		case cerr == nil:
			cerr = h.renew(ctx)
		}
		if cerr != nil {
			h.close()
			return cerr
		}
	}
}

// prepareStatement is one try of compile.
func (h *held) prepareStatement(ctx context.Context, text string) error {
	h.close()
	if refused := h.gate.vet(text); refused != nil {
		return refused
	}
	h.gate.begin()
	h.text = text
	stmt, err := h.conn.PrepareContext(ctx, text)
	if err != nil {
		return h.classify(err, true)
	}
	h.statement = stmt
	return nil
}

// Analyze implements exec.Held.
func (h *held) Analyze(ctx context.Context, text string) (exec.Analysis, error) {
	if err := h.compile(ctx, text); err != nil {
		return exec.Analysis{}, err
	}
	if maySilence(text) {
		// A table of which only USING or a NATURAL join reads something is not
		// named to the authorizer.
		for _, ref := range sqltext.SQLite().Tables(text) {
			if ref.Base() {
				h.gate.reads = append(h.gate.reads, read{database: ref.Schema, table: ref.Name})
			}
		}
	}
	return h.gate.analysis(), nil
}

// Classify implements exec.Held.
func (h *held) Classify(err error) error { return h.classify(err, false) }

// close ends the statement that ran last. What closing says is no news: SQLite
// repeats the error that the statement had.
func (h *held) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.rows, h.statement = nil, nil
}
