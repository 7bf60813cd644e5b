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
}

// Schema returns the tables, views and columns that a statement may read. It leaves out what the policy denies, views
// that read it, and the engine's CREATE text of a table that lost a column.
//
// The schema is inspected once, and again when the engine says that it changed. A call that finds it current costs a
// few small queries. The look at the catalog is bounded by Limits.Answer.Timeout. Callers share one *Schema: do not
// change it. Warnings of the dialect about the database go to the span in ctx.
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
		if w, ok := db.dialect.(warner); ok {
			warnings, err := w.Warnings(ctx, h)
			if err != nil {
				return nil, err
			}
			for _, warning := range warnings {
				trace.From(ctx).Warn(warning.Code, warning.Message)
			}
		}
		if current := db.schemas.current.Load(); current != nil && current.Version == version {
			return nil, nil
		}
		fresh, err := db.dialect.Inspect(ctx, h)
		if err == nil {
			fresh.Version = version
		}
		return fresh, err
	}
	fresh, err := with(&Session{db: db, bounds: db.limits.Answer, catalog: true}, func(s *Session) (*schema.Schema, error) {
		return run(ctx, s, s.bounds.Timeout, look)
	})
	if err != nil {
		return nil, fmt.Errorf("exec: reading the schema: %w", err)
	}
	return fresh, nil
}

// Permitted returns s without the tables, views and columns that the policy denies. It also leaves out keys that need
// them and the engine's CREATE text of a table that lost a column. The engine tells whether a view or a generated
// column reads something denied; nothing runs for it. Columns whose names say that they hold secrets are marked
// Sensitive, unless Policy.Reveal has them, with the warning "sensitive-columns" at the span in ctx.
//
// It is for a schema that does not come from [DB.Schema]. s stays as it is, and comes back itself if nothing has to
// change.
func (db *DB) Permitted(ctx context.Context, s *schema.Schema) (*schema.Schema, error) {
	if !db.policy.Restricts() {
		return db.conceal(ctx, s), nil
	}
	out := *s
	out.Tables = nil
	for _, t := range s.Tables {
		if !db.policy.AllowsTable(db.schemaName(t), t.Name) {
			continue
		}
		kept, err := db.permittedTable(ctx, t)
		if err != nil {
			return nil, err
		}
		if len(kept.Columns) > 0 {
			out.Tables = append(out.Tables, kept)
		}
	}
	for i := range out.Tables {
		t := &out.Tables[i]
		t.ForeignKeys = slices.DeleteFunc(slices.Clone(t.ForeignKeys), func(fk schema.ForeignKey) bool {
			return !hasColumns(t, fk.Columns) || !hasTarget(&out, t, fk)
		})
	}
	return db.conceal(ctx, &out), nil
}

// permittedTable returns t without its denied columns, or without any column if t as a whole may not be read. The
// engine tells what a view and a generated column read.
func (db *DB) permittedTable(ctx context.Context, t schema.Table) (schema.Table, error) {
	if t.Kind != schema.BaseTable {
		readable, err := db.readable(ctx, t, "1")
		if err != nil || !readable {
			return schema.Table{}, err
		}
	}
	var columns []schema.Column
	for _, c := range t.Columns {
		readable := db.policy.AllowsColumn(db.schemaName(t), t.Name, c.Name)
		if readable && c.Generated {
			var err error
			if readable, err = db.readable(ctx, t, db.dialect.Quote(t.Name)+"."+db.dialect.Quote(c.Name)); err != nil {
				return schema.Table{}, err
			}
		}
		if readable {
			columns = append(columns, c)
		}
	}
	if len(columns) == len(t.Columns) {
		return t, nil
	}
	t.Columns = columns
	t.Definition = ""
	if !hasColumns(&t, t.PrimaryKey) {
		t.PrimaryKey = nil
	}
	t.Unique = slices.DeleteFunc(slices.Clone(t.Unique), func(key []string) bool { return !hasColumns(&t, key) })
	return t, nil
}

// readable reports whether expression may be read from t. A view that does not compile stays in the schema, because it
// reads nothing.
func (db *DB) readable(ctx context.Context, t schema.Table, expression string) (bool, error) {
	quote := db.dialect.Quote
	_, err := db.Analyze(ctx, "SELECT "+expression+" FROM "+quote(db.schemaName(t))+"."+quote(t.Name))
	switch {
	case errors.As(err, new(*RefusedError)):
		return false, nil
	case errors.As(err, new(*InvalidError)):
		return true, nil
	default:
		return err == nil, err
	}
}

// schemaName is the name of the schema that t is in, the default one included.
func (db *DB) schemaName(t schema.Table) string {
	if t.Schema == "" {
		return db.dialect.DefaultSchema()
	}
	return t.Schema
}

func hasColumns(t *schema.Table, names []string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return schema.EqualFold(c.Name, name) }) {
			return false
		}
	}
	return true
}

func hasTarget(s *schema.Schema, from *schema.Table, fk schema.ForeignKey) bool {
	target := fk.RefSchema
	if target == "" {
		target = from.Schema
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		if schema.EqualFold(t.Schema, target) && schema.EqualFold(t.Name, fk.RefTable) {
			return hasColumns(t, fk.RefColumns)
		}
	}
	return false
}
