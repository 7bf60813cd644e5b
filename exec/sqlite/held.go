package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// QueryContext implements exec.Held.
func (h *held) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if h.catalog {
		return h.conn.QueryContext(ctx, text, args...)
	}
	return h.run(ctx, text, sqltext.SQLite().Parse(text), args)
}

// Query implements exec.Held.
//
// The statement is prepared first. Given to Query, go-sqlite3 would run every statement of a text, and take the first
// step of a cached statement before its number of columns is known.
func (h *held) Query(ctx context.Context, s *sqltext.Statement, _ exec.Bounds) (*sql.Rows, error) {
	rows, err := h.run(ctx, s.SQL(), s, nil)
	if err != nil {
		return nil, err
	}
	names, changed, err := resultColumns(rows)
	if err == nil && changed {
		if rows, err = h.run(ctx, asStored(s.SQL(), names), s, nil); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = h.fit(len(names))
	}
	if err != nil {
		h.close()
		return nil, classify(err, true, nil)
	}
	return rows, nil
}

// run compiles text, which holds the statement of, and starts it without a step. Only our own texts have args; SQLite
// refuses parameters in all others.
func (h *held) run(ctx context.Context, text string, of *sqltext.Statement, args []any) (*sql.Rows, error) {
	err := h.compile(ctx, text, of, len(args), func() (err error) {
		h.statement, err = h.conn.PrepareContext(ctx, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err := h.statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, h.classify(err, false) // modernc.org/sqlite takes the first step
	}
	h.rows = rows
	return rows, nil
}

// compile calls prepare to compile text, which holds the statement of and has that many parameters.
//
// The gate decides by its catalog, so the schema must not have changed when a statement is rejected, or when the policy
// denies something.
func (h *held) compile(ctx context.Context, text string, of *sqltext.Statement, parameters int, prepare func() error) error {
	// SQLite does not look at the context while it compiles.
	if err := ctx.Err(); err != nil {
		return classify(err, true, nil)
	}
	if h.off {
		if err := h.renew(ctx); err != nil {
			return err
		}
	}
	for renewed := false; ; renewed = true {
		err := h.try(text, of, parameters, prepare)
		if err == nil && !h.guard.config.Policy.Restricts() || err != nil && !exec.IsRejection(err) {
			return err
		}
		changed, cerr := h.changed(ctx)
		switch {
		case cerr == nil && !changed:
			return err
		case cerr == nil && renewed:
			cerr = &exec.RefusedError{Reason: exec.ReasonGuard, Detail: "the schema changes all the time"}
		case cerr == nil:
			cerr = h.renew(ctx)
		}
		if cerr != nil {
			h.close()
			return cerr
		}
	}
}

// try is one try of compile.
func (h *held) try(text string, of *sqltext.Statement, parameters int, prepare func() error) error {
	err := h.attempt(text, of, parameters, prepare)
	if err != nil && exec.IsRejection(err) && !errors.Is(err, exec.ErrNotReadOnly) && h.gate.catalog.hides {
		// A denied table and an absent one have the same error.
		if refused := h.gate.unnamed(of); refused != nil {
			return refused
		}
	}
	return err
}

func (h *held) attempt(text string, of *sqltext.Statement, parameters int, prepare func() error) error {
	h.close()
	if err := h.weigh(of); err != nil {
		return err
	}
	if refused := h.gate.vet(text); refused != nil {
		return refused
	}
	h.gate.begin()
	h.text = text
	if err := h.setLimit(limitVariable, &h.parameters, max(h.variables(), parameters)); err != nil {
		return err
	}
	if err := orOutOfMemory(prepare); err != nil {
		return h.classify(err, true)
	}
	return nil
}

// orOutOfMemory turns a panic that says "out of memory" into an error: github.com/ncruces/go-sqlite3 panics so where a
// program is over SQLite's limit on its length. Other panics go on.
func orOutOfMemory(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || ownWords(e) != "out of memory" {
				panic(r)
			}
			err = e
		}
	}()
	return f()
}

// alone compiles text, which holds the statement s, on the driver connection, calls f with it unless f is nil, and
// closes it. It prepares for the reason that QueryContext has.
func (h *held) alone(ctx context.Context, text string, s *sqltext.Statement, f func(stmt driver.Stmt) error) error {
	return h.compile(ctx, text, s, 0, func() error {
		return h.conn.Raw(func(raw any) error {
			stmt, err := prepare(ctx, raw.(driver.Conn), text)
			if err != nil {
				return err
			}
			defer stmt.Close()
			if f == nil {
				return nil
			}
			return f(stmt)
		})
	})
}

// Analyze implements exec.Held.
func (h *held) Analyze(ctx context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	if err := h.alone(ctx, s.SQL(), s, nil); err != nil {
		return exec.Analysis{}, err
	}
	if maySilence(s.SQL()) {
		// The authorizer does not hear of a table that only USING or a NATURAL join reads.
		for _, ref := range s.Tables() {
			if ref.Base() {
				h.gate.reads = append(h.gate.reads, read{database: ref.Schema, table: ref.Name})
			}
		}
	}
	return h.gate.analysis(), nil
}

// Classify implements exec.Held.
func (h *held) Classify(err error) error { return h.classify(err, false) }

// close ends the last statement. SQLite repeats the error of the statement then, so close drops it.
func (h *held) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.rows, h.statement = nil, nil
}
