package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Read implements exec.Conn. There is no parser but SQLite's own, so the names are those that the text tells, and decide
// on no column. What the authorizer does not hear of is refused here.
func (h *conn) Read(ctx context.Context, s *exec.Statement) (*guard.Names, error) {
	if err := ctx.Err(); err != nil { // SQLite does not look at the context while it compiles
		return nil, err
	}
	f := s.Catalog.Own.(*facts)
	h.close()
	h.gate.facts = f
	if err := h.warm(ctx, f); err != nil {
		return nil, err
	}
	var refused error
	if h.load, refused = f.weigh(s.Statement, s.Size); refused != nil {
		return nil, refused
	}
	if refused := h.gate.vet(s.SQL()); refused != nil {
		if absent := h.gate.unnamed(s.Statement); f.hides && absent != nil {
			refused = absent
		}
		return nil, refused
	}
	n := &guard.Names{}
	if s.Ours {
		return n, nil // the authorizer decides, and nobody asks what it names
	}
	for _, ref := range s.Tables() {
		if r := f.find(ref); ref.Base() && r != nil {
			n.Sources = append(n.Sources, guard.Source{Alias: cmp.Or(ref.Alias, ref.Name), Relation: r, Select: ref.Query})
		}
	}
	return n, nil
}

// find returns the relation that a name in FROM means.
func (f *facts) find(ref sqltext.TableRef) *guard.Relation {
	for _, r := range f.named[schema.Fold(ref.Name)] {
		if ref.Schema == "" || schema.EqualFold(ref.Schema, r.Schema) {
			return r
		}
	}
	return nil
}

// Confirm implements exec.Conn: it compiles the statement under the authorizer.
//
// The statement is prepared. Given to Query, go-sqlite3 would run every statement of a text, and take the first step of a
// cached statement before its number of columns is known.
func (h *conn) Confirm(ctx context.Context, s *exec.Statement) (guard.Seen, error) {
	f := s.Catalog.Own.(*facts)
	if err := h.compile(ctx, s.SQL(), len(s.Args)); err != nil {
		if exec.IsRejection(err) && !errors.Is(err, exec.ErrNotReadOnly) && f.hides {
			// A denied table and an absent one have the same error.
			if refused := h.gate.unnamed(s.Statement); refused != nil {
				return guard.Seen{}, refused
			}
		}
		return guard.Seen{}, err
	}
	h.prepared = s
	if h.config.Policy.Restricts() {
		// The gate decided by its catalog, so the schema must not have changed since.
		switch version, err := h.Version(ctx); {
		case err != nil:
			return guard.Seen{}, err
		case version != s.Catalog.Version:
			return guard.Seen{}, guard.ErrStale
		}
	}
	if maySilence(s.SQL()) {
		// The authorizer does not hear of a table that only USING or a NATURAL join reads.
		for _, ref := range s.Tables() {
			if ref.Base() {
				h.gate.reads = append(h.gate.reads, read{database: ref.Schema, table: ref.Name})
			}
		}
	}
	return h.gate.seen(), nil
}

// compile compiles text, which has that many parameters. SQLite refuses parameters in all texts from outside.
func (h *conn) compile(ctx context.Context, text string, parameters int) error {
	h.close()
	h.gate.begin()
	h.text = text
	if err := h.setLimit(limitVariable, &h.parameters, max(h.variables(), parameters)); err != nil {
		return err
	}
	err := orOutOfMemory(func() (err error) {
		h.statement, err = h.conn.PrepareContext(ctx, text)
		return err
	})
	return h.classify(err, true)
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

// Explain implements exec.Conn. EXPLAIN QUERY PLAN does not run the statement.
func (h *conn) Explain(ctx context.Context, s *exec.Statement) (exec.Plan, error) {
	rows := []exec.PlanRow{} // a plan without rows is a plan
	h.gate.begin()
	h.text = s.SQL()
	err := h.conn.Raw(func(raw any) error {
		// The rows are made by SQLite itself: no type and no length has to be checked, and nothing waits for a lock, so
		// nothing has to be stopped in the middle. It is prepared for the reason that Confirm has.
		stmt, err := prepare(ctx, raw.(driver.Conn), "EXPLAIN QUERY PLAN "+s.SQL())
		if err != nil {
			return err
		}
		defer stmt.Close()
		found, err := start(context.WithoutCancel(ctx), stmt)
		if err != nil {
			return err
		}
		return drain(found, 4, func(row []driver.Value) {
			rows = append(rows, exec.PlanRow{ID: int(integer(row[0])), Parent: int(integer(row[1])), Detail: text(row[3])})
		})
	})
	if err != nil {
		return exec.Plan{}, h.classify(err, true)
	}
	return readPlan(s.Statement, rows), nil
}

// Run implements exec.Conn.
func (h *conn) Run(ctx context.Context, s *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	if h.prepared != s {
		if err := h.compile(ctx, s.SQL(), len(s.Args)); err != nil {
			return nil, err
		}
		h.prepared = s
	}
	rows, err := h.start(ctx, s.Args)
	if err != nil {
		return nil, err
	}
	names, changed, err := resultColumns(rows)
	if err == nil && changed {
		if err := h.compile(ctx, asStored(s.SQL(), names), len(s.Args)); err != nil {
			return nil, err
		}
		if rows, err = h.start(ctx, s.Args); err != nil {
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
	return &exec.Rows{Rows: rows, Classify: func(err error) error { return h.classify(err, false) }}, nil
}

// start starts the prepared statement without a step.
func (h *conn) start(ctx context.Context, args []any) (rows *sql.Rows, err error) {
	h.prepared = nil // a second run is another one
	if h.rows, err = h.statement.QueryContext(ctx, args...); err != nil {
		return nil, h.classify(err, false) // modernc.org/sqlite takes the first step
	}
	return h.rows, nil
}

// close ends the last statement. SQLite repeats the error of the statement then, so close drops it.
func (h *conn) close() {
	if h.rows != nil {
		h.rows.Close()
	}
	if h.statement != nil {
		h.statement.Close()
	}
	h.rows, h.statement, h.prepared = nil, nil, nil
}
