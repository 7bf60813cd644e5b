package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// schemaCache holds the schema that was inspected last. One caller inspects at a
// time and the others wait for it: a channel instead of a mutex, because they
// wait no longer than their context, and instead of a singleflight group,
// because the one whose context ends must not fail the rest.
type schemaCache struct {
	turn    chan struct{}
	current *schema.Schema // guarded by turn
}

func newSchemaCache() schemaCache { return schemaCache{turn: make(chan struct{}, 1)} }

// Schema returns the tables, views and columns that a statement may read. What
// the policy denies is left out, and so is a view that reads it, with the
// engine's CREATE text of a table that lost a column.
//
// The schema is inspected once and again when the engine says that it changed;
// a call that finds it current costs a few small queries. Looking at the catalog is
// bounded by Limits.Answer.Timeout. Callers share one *Schema: do not change it.
// What a [Warner] has to say about the database goes to the span in ctx.
func (db *DB) Schema(ctx context.Context) (*schema.Schema, error) {
	select {
	case db.schemas.turn <- struct{}{}:
		defer func() { <-db.schemas.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("exec: waiting for the schema: %w", ctx.Err())
	}
	fresh, err := db.inspect(ctx)
	if err != nil {
		return nil, err
	}
	if fresh != nil {
		fresh, err = db.Permitted(ctx, fresh)
		if err != nil {
			return nil, err
		}
		db.schemas.current = fresh
	}
	return db.schemas.current, nil
}

// inspect returns the schema as the engine has it, nil when the one in the cache
// is current.
func (db *DB) inspect(ctx context.Context) (fresh *schema.Schema, err error) {
	err = db.held(ctx, HoldOptions{Use: Catalog, Timeout: db.limits.Answer.Timeout}, func(ctx context.Context, h Held) error {
		version, err := db.dialect.Version(ctx, h)
		if err != nil {
			return err
		}
		if w, ok := db.dialect.(Warner); ok {
			warnings, err := w.Warnings(ctx, h)
			if err != nil {
				return err
			}
			for _, warning := range warnings {
				trace.From(ctx).Warn(warning.Code, warning.Message)
			}
		}
		if db.schemas.current != nil && db.schemas.current.Version == version {
			return nil
		}
		if fresh, err = db.dialect.Inspect(ctx, h); err != nil {
			return err
		}
		fresh.Version = version
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("exec: reading the schema: %w", err)
	}
	return fresh, nil
}

// Permitted returns s without the tables, views and columns that the policy
// denies, and without what is said about them: keys that need them, and the
// engine's CREATE text of a table that lost a column. Whether a view or a
// generated column reads something denied is asked of the engine, which runs
// nothing for it. It is for a schema that does not come from [DB.Schema]; s stays
// as it is, and comes back itself where the policy denies nothing.
func (db *DB) Permitted(ctx context.Context, s *schema.Schema) (*schema.Schema, error) {
	if !db.policy.Restricts() {
		return s, nil
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
	return &out, nil
}

// permittedTable returns t without its denied columns; without any where the
// whole of it may not be read. Where a name does not tell, the engine does: what
// lies under a view, and what a generated column is made of.
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

// readable reports whether expression may be read from t. A view that does not
// compile stays in the schema: it reads nothing, and is not the policy's affair.
func (db *DB) readable(ctx context.Context, t schema.Table, expression string) (bool, error) {
	quote := db.dialect.Quote
	_, err := db.Analyze(ctx, "SELECT "+expression+" FROM "+quote(db.schemaName(t))+"."+quote(t.Name))
	var refused *RefusedError
	var invalid *InvalidError
	switch {
	case errors.As(err, &refused):
		return false, nil
	case errors.As(err, &invalid):
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
