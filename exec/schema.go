package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// shownNames are the names of s that prompts show in another form, by that form, folded.
func shownNames(s *schema.Schema) map[string]string {
	shown, all := map[string]string{}, map[string]bool{} // all: folded names
	note := func(name string) {
		all[schema.FoldCase(name)] = true
		if as := prompttext.ShownName(name); as != name {
			shown[schema.FoldCase(as)] = name
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
// ([prompttext.ShownName]).
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
		if name, ok := (*shown)[schema.FoldCase(s.Dialect().Value(t))]; ok {
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
// that read something denied, and the engine's CREATE text of a table that lost a column.
//
// The schema is read once, and again when the engine reports a change. A call that finds it current costs a few small
// queries. Limits.Answer.Timeout bounds the time for reading the catalog. Callers share one *Schema: do not change it.
func (db *DB) Schema(ctx context.Context) (*schema.Schema, error) {
	s, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return s.Schema, nil
}

// Snapshot returns the current state of the database under the policy and for the scope of db, with its [DB.Schema] and
// the columns that are hidden for their names.
// Other packages cache derived data with the snapshot, for all callers with the same scope. It costs the same as
// Schema.
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
	at = at.Named("", s)
	at.Hidden = func() []string { return db.hidden(c) }
	return at, err
}

// schemas caches the readable schema of each catalog.
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

// leaveOut takes the views out of the schema of c that no statement can read, since they call what is not allowed.
func (db *DB) leaveOut(c *Catalog) {
	refused := map[[2]string]*guard.Relation{}
	for _, r := range c.Relations {
		if r.Refused != nil && r.View {
			refused[[2]string{r.Schema, r.Name}] = r
		}
	}
	if len(refused) == 0 {
		return
	}
	whole := c.Schema
	c.Schema = whole.Project(func(t *schema.Table) bool {
		r := refused[[2]string{whole.SchemaOf(t), t.Name}]
		if r == nil {
			return true
		}
		whole.LeftOut = append(whole.LeftOut, schema.Omitted{Item: "view", Table: t.TableName(),
			Reason: "it reads or calls what is not allowed"})
		if told, ok := r.Refused.(*RefusedError); ok && r.Allowed() && !db.policy.Scoped() {
			c.Warnings = append(c.Warnings, trace.Warning{Code: "broken-view", Message: told.Detail +
				": it is left out of the schema"})
		}
		return false
	}, nil)
	c.Schema.LeftOut = whole.LeftOut
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
	h, err := with(&Runner{db: db, bounds: db.limits.Answer}, func(s *Runner) (*held, error) { return s.present(ctx) })
	if err != nil {
		return nil, nil, err
	}
	return h.at, h.catalog, nil
}

// at is the snapshot of db at a version of what a connection sees.
func (db *DB) at(place, version string) *snapshot.Snapshot {
	return db.kept.At(snapshot.Key{Database: place, Policy: db.id, Scope: db.scopeID, Version: version}, nil)
}

// Permitted returns s without the tables, views and columns that the policy denies. It also leaves out keys that need
// them and the engine's CREATE text of a table that lost a column or a key. A view that reads something denied is left
// out, and so is a column that shows a denied column. A schema without Default gets the Default of the database.
//
// It is for a schema that does not come from [DB.Schema]. s is not changed; Permitted returns s itself if nothing has
// to change.
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

// Withheld returns the tables and views of the database that db may not read: those that the policy denies, and those
// that read them.
func (db *DB) Withheld(ctx context.Context) (names []schema.TableName, err error) {
	at, c, err := db.look(ctx)
	if err != nil {
		return nil, err
	}
	readable, err := db.schemaOf(ctx, at, c)
	if err != nil {
		return nil, err
	}
	for _, t := range c.Schema.Tables {
		if _, ok := readable.Lookup(t.Schema, t.Name); !ok {
			names = append(names, t.TableName())
		}
	}
	for _, l := range c.Schema.LeftOut {
		if l.Item == "view" { // see leaveOut
			names = append(names, l.Table)
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
	_, apart := db.dialect.(ImpersonatingDialect) // the server shows each user something else
	if c.Restricts() || apart {
		whole := s
		s = whole.Project(func(t *schema.Table) bool {
			r := relation(t)
			return db.policy.AllowsTable(s.SchemaOf(t), t.Name) && (r == nil && !db.policy.Scoped() && !apart || r != nil &&
				r.Allowed() && r.Refused == nil)
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
	told := slices.DeleteFunc(slices.Clone(s.LeftOut), func(l schema.Omitted) bool {
		return db.policy.Scoped() || !db.policy.AllowsTable(cmp.Or(l.Table.Schema, s.Default), l.Table.Name)
	})
	if len(told) < len(s.LeftOut) {
		s = new(*s)
		s.LeftOut = told
	}
	return s
}
