package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/sqltext"
)

// shownNames are the names of s that prompts show in another form, by that form, folded.
func shownNames(s *schema.Schema) map[string]string {
	shown, all := map[string]string{}, map[string]bool{} // all: folded names
	note := func(name string) {
		all[schema.Fold(name)] = true
		if as := schema.ShownName(name); as != name {
			shown[schema.Fold(as)] = name
		}
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		note(t.Schema)
		note(t.Name)
		for j := range t.Columns {
			note(t.Columns[j].Name)
		}
	}
	maps.DeleteFunc(shown, func(as, _ string) bool { return all[as] })
	return shown
}

// named returns s with the names of the database in the place of their shown forms, which models copy from prompts
// ([schema.ShownName]).
func (db *DB) named(s *sqltext.Statement) *sqltext.Statement {
	shown := db.shown.Load()
	if shown == nil || len(*shown) == 0 {
		return s
	}
	var b strings.Builder
	from, text := 0, s.SQL()
	for t := range s.Tokens() {
		if t.Kind != sqltext.QuotedName {
			continue
		}
		if name, ok := (*shown)[schema.Fold(s.Dialect().Value(t))]; ok {
			b.WriteString(text[from:t.Pos] + db.language.Quote(name))
			from = t.Pos + len(t.Text)
		}
	}
	if from == 0 {
		return s
	}
	b.WriteString(text[from:])
	if !s.Checked() { // it is ours
		return s.Dialect().Parse(b.String())
	}
	if named, err := s.Dialect().Check(b.String()); err == nil {
		return named
	}
	return s // the names are too long
}

// Schema returns the tables, views and columns that a statement may read. It leaves out what the policy denies, views
// that read it, and the engine's CREATE text of a table that lost a column.
//
// The schema is read once, and again when the engine says that it changed. A call that finds it current costs a
// few small queries. The look at the catalog is bounded by Limits.Answer.Timeout. Callers share one *Schema: do not
// change it.
func (db *DB) Schema(ctx context.Context) (*schema.Schema, error) {
	s, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return s.Schema, nil
}

// Snapshot returns the present state of the database under the policy and for the scope of db, with its [DB.Schema]. What other
// packages derive of it is kept with it, for all who ask on behalf of the same scope. It costs what Schema does.
func (db *DB) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	if err := db.inspecting.Acquire(ctx, 1); err != nil { // a mutex would make callers wait longer than their contexts
		return nil, fmt.Errorf("exec: waiting for the schema: %w", err)
	}
	defer db.inspecting.Release(1)
	at, c, err := db.look(ctx)
	if err != nil {
		return nil, err
	}
	db.Warn(c.Warnings...) // which may be of this connection alone
	s, err := db.schemaOf(ctx, at, c)
	return at.Named("", s), err
}

// schemas are what may be read, by the catalog that it is of.
var schemas = &snapshot.Derived[*Catalog, *schema.Schema]{
	Reach: snapshot.OfPolicy, Needed: true,
	Size: func(c *Catalog, s *schema.Schema) int {
		if s == c.Schema {
			return 0
		}
		return sizeOf(s) / 2
	},
}

// schemaOf returns what may be read of a catalog.
func (db *DB) schemaOf(ctx context.Context, at *snapshot.Snapshot, c *Catalog) (*schema.Schema, error) {
	return schemas.Of(ctx, at, c, func(context.Context) (*schema.Schema, error) {
		db.warnCatalog(c)
		s := db.permitted(c, c.Schema)
		db.shown.Store(new(shownNames(s)))
		return s, nil
	})
}

// sizeOf estimates what a schema takes in memory.
func sizeOf(s *schema.Schema) (bytes int) {
	for i := range s.Tables {
		bytes += 400 + len(s.Tables[i].Definition) + 250*len(s.Tables[i].Columns)
	}
	return bytes
}

// look returns the catalog of a connection, and the snapshot that it belongs to.
func (db *DB) look(ctx context.Context) (at *snapshot.Snapshot, c *Catalog, err error) {
	c, err = with(&Runner{db: db, bounds: db.limits.Answer}, func(s *Runner) (*Catalog, error) {
		return onConnection(ctx, s, s.bounds.Timeout, func(_ context.Context, h *held) (*Catalog, error) {
			at = h.at
			return h.catalog, nil
		})
	})
	if err != nil {
		err = fmt.Errorf("exec: reading the schema: %w", err)
	}
	return at, c, err
}

// at is the snapshot of db at a version of what a connection sees.
func (db *DB) at(place, version string) *snapshot.Snapshot {
	return db.kept.At(snapshot.Key{Database: place, Policy: db.id, Scope: db.scopeID, Version: version}, nil)
}

// Permitted returns s without the tables, views and columns that the policy denies. It also leaves out keys that need
// them and the engine's CREATE text of a table that lost a column or a key. A view that reads something denied is left out, and so
// is a column that shows one. A schema without Default gets that of the database.
//
// It is for a schema that does not come from [DB.Schema]. s stays as it is, and comes back itself if nothing has to
// change.
func (db *DB) Permitted(ctx context.Context, s *schema.Schema) (*schema.Schema, error) {
	_, c, err := db.look(ctx)
	if err != nil {
		return nil, err
	}
	if s.Default == "" {
		copied := *s
		copied.Default, s = c.Schema.Default, &copied
	}
	db.warnCatalog(c)
	return db.permitted(c, s), nil
}

// Withheld returns the tables and views of the database that db may not read: what the policy denies, and what reads it.
func (db *DB) Withheld(ctx context.Context) (names []schema.TableName, err error) {
	at, c, err := db.look(ctx)
	if err != nil {
		return nil, err
	}
	readable, err := db.schemaOf(ctx, at, c)
	if err != nil {
		return nil, err
	}
	for i := range c.Schema.Tables {
		t := &c.Schema.Tables[i]
		if _, ok := readable.Lookup(t.Schema, t.Name); !ok {
			names = append(names, t.TableName())
		}
	}
	return names, nil
}

// permitted is Permitted for a schema of the database of c.
func (db *DB) permitted(c *Catalog, s *schema.Schema) *schema.Schema {
	of := map[[2]string]*guard.Relation{}
	for _, r := range c.Relations {
		of[[2]string{r.Schema, r.Name}] = r
	}
	relation := func(t *schema.Table) *guard.Relation { return of[[2]string{s.SchemaOf(t), t.Name}] }
	_, apart := db.dialect.(Scoper) // the server shows each user something else
	if c.Restricts() || apart {
		whole := s
		s = whole.Project(func(t *schema.Table) bool {
			r := relation(t)
			return db.policy.AllowsTable(s.SchemaOf(t), t.Name) && (r == nil && !db.policy.Scoped() && !apart || r != nil && r.Allowed() && r.Refused == nil)
		}, func(t *schema.Table, column *schema.Column) bool {
			r := relation(t)
			return db.policy.AllowsColumn(s.SchemaOf(t), t.Name, column.Name) &&
				(r == nil || !r.Denies(column.Name) && !r.Unnamed(column.Name) && (!apart || r.Has(column.Name)))
		})
		for i := range s.Tables {
			t := &s.Tables[i]
			if was, ok := whole.Lookup(t.Schema, t.Name); ok && len(was.ForeignKeys) > len(t.ForeignKeys) {
				t.Definition = "" // which names what the key led to
			}
		}
	}
	told := slices.Clone(s.LeftOut)
	if told = slices.DeleteFunc(told, func(l schema.LeftOut) bool {
		return db.policy.Scoped() || !db.policy.AllowsTable(cmp.Or(l.Table.Schema, s.Default), l.Table.Name)
	}); len(told) < len(s.LeftOut) {
		s = new(*s)
		s.LeftOut = told
	}
	return s
}
