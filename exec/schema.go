package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// schemaCache holds the schema that was inspected last. One caller inspects at a time and the others wait for it, no
// longer than their contexts. A mutex would make them wait longer, and in a singleflight group the end of one caller's
// context would fail the others.
type schemaCache struct {
	turn    *semaphore.Weighted
	current atomic.Pointer[schema.Schema] // written under turn
	told    []trace.Warning               // about the database, under turn
}

// Schema returns the tables, views and columns that a statement may read. It leaves out what the policy denies, views
// that read it, and the engine's CREATE text of a table that lost a column.
//
// The schema is inspected once, and again when the engine says that it changed. A call that finds it current costs a
// few small queries. The look at the catalog is bounded by Limits.Answer.Timeout. Callers share one *Schema: do not
// change it. Warnings of the dialect about the database go to the span in ctx, each once.
func (db *DB) Schema(ctx context.Context) (*schema.Schema, error) {
	if err := db.schemas.turn.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("exec: waiting for the schema: %w", err)
	}
	defer db.schemas.turn.Release(1)
	fresh, err := db.inspect(ctx)
	if err != nil {
		return nil, err
	}
	if fresh != nil {
		fresh, err = db.Permitted(ctx, fresh)
		if err != nil {
			return nil, err
		}
		db.schemas.current.Store(fresh)
	}
	return db.schemas.current.Load(), nil
}

// inspect returns the schema as the engine has it; nil if the schema in the cache is current.
func (db *DB) inspect(ctx context.Context) (*schema.Schema, error) {
	look := func(ctx context.Context, h Held) (*schema.Schema, error) {
		version, err := db.dialect.Version(ctx, h)
		if err != nil {
			return nil, err
		}
		if w, ok := db.dialect.(DatabaseWarner); ok {
			warnings, err := w.Warnings(ctx, h)
			if err != nil {
				return nil, err
			}
			for _, warning := range warnings {
				if !slices.Contains(db.schemas.told, warning) {
					db.schemas.told = append(db.schemas.told, warning)
					trace.From(ctx).Warn(warning.Code, warning.Message)
				}
			}
		}
		if current := db.schemas.current.Load(); current != nil && current.Version == version {
			return nil, nil
		}
		fresh, err := db.dialect.Inspect(ctx, h)
		if err == nil {
			fresh.Version = version
			fresh.Default, err = db.dialect.DefaultSchema(ctx, h)
		}
		return fresh, err
	}
	return inCatalog(ctx, db, look)
}

// inCatalog runs f on a connection that is held for the catalog.
func inCatalog[T any](ctx context.Context, db *DB, f func(ctx context.Context, h Held) (T, error)) (T, error) {
	found, err := with(&Session{db: db, bounds: db.limits.Answer, catalog: true}, func(s *Session) (T, error) {
		return run(ctx, s, s.bounds.Timeout, f)
	})
	if err != nil {
		err = fmt.Errorf("exec: reading the schema: %w", err)
	}
	return found, err
}

// Permitted returns s without the tables, views and columns that the policy denies. It also leaves out keys that need
// them and the engine's CREATE text of a table that lost a column. The engine tells whether a view or a generated
// column reads something denied; nothing runs for it. Columns whose names say that they hold secrets are marked
// Sensitive, unless Policy.Reveal has them, with the warning "sensitive-columns" at the span in ctx. A schema without
// Default gets that of the database.
//
// It is for a schema that does not come from [DB.Schema]. s stays as it is, and comes back itself if nothing has to
// change.
func (db *DB) Permitted(ctx context.Context, s *schema.Schema) (*schema.Schema, error) {
	if s.Default == "" {
		standard, err := inCatalog(ctx, db, func(ctx context.Context, h Held) (string, error) { return db.dialect.DefaultSchema(ctx, h) })
		if err != nil {
			return nil, err
		}
		copied := *s
		copied.Default, s = standard, &copied
	}
	if !db.policy.Restricts() {
		return db.conceal(ctx, s), nil
	}
	var failed error
	readable := func(t *schema.Table, expression string) bool {
		if failed != nil {
			return false
		}
		var ok bool
		ok, failed = db.readable(ctx, s.SchemaOf(t), t.Name, expression)
		return ok
	}
	quote := db.dialect.Quote
	out := s.Project(func(t *schema.Table) bool {
		return db.policy.AllowsTable(s.SchemaOf(t), t.Name) && (t.Kind == schema.BaseTable || readable(t, "1"))
	}, func(t *schema.Table, c *schema.Column) bool {
		return db.policy.AllowsColumn(s.SchemaOf(t), t.Name, c.Name) && (!c.Generated || readable(t, quote(t.Name)+"."+quote(c.Name)))
	})
	if failed != nil {
		return nil, failed
	}
	return db.conceal(ctx, out), nil
}

// readable reports whether expression may be read from a table. A view that does not compile stays in the schema, because
// it reads nothing.
func (db *DB) readable(ctx context.Context, schemaName, table, expression string) (bool, error) {
	quote := db.dialect.Quote
	_, err := db.Analyze(ctx, "SELECT "+expression+" FROM "+quote(schemaName)+"."+quote(table))
	switch {
	case errors.As(err, new(*RefusedError)):
		return false, nil
	case errors.As(err, new(*InvalidError)):
		return true, nil
	default:
		return err == nil, err
	}
}
