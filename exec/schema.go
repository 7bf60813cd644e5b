package exec

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// schemaCache holds the schema that was inspected last. One caller inspects at a time and the others wait for it, no
// longer than their contexts. A mutex would make them wait longer, and in a singleflight group the end of one caller's
// context would fail the others.
type schemaCache struct {
	turn    *semaphore.Weighted
	current atomic.Pointer[schema.Schema] // written under turn
	shown   atomic.Pointer[map[string]string]
}

// store keeps s as the schema that was read last, with those of its names that prompts show in another form.
func (c *schemaCache) store(s *schema.Schema) {
	shown := map[string]string{} // folded shown form → name
	all := map[string]bool{}     // folded names
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
	c.shown.Store(&shown)
	c.current.Store(s)
}

// named returns s with the names of the database in the place of their shown forms, which models copy from prompts
// ([schema.ShownName]).
func (db *DB) named(s *sqltext.Statement) *sqltext.Statement {
	shown := db.schemas.shown.Load()
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
	if err := db.schemas.turn.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("exec: waiting for the schema: %w", err)
	}
	defer db.schemas.turn.Release(1)
	c, err := db.catalog(ctx)
	if err != nil {
		return nil, err
	}
	db.warn(c.Warnings...) // which may be of this connection alone
	if current := db.schemas.current.Load(); current == nil || current.Version != c.Version {
		db.warnCatalog(c)
		db.schemas.store(db.permitted(c, c.Schema))
	}
	return db.schemas.current.Load(), nil
}

// catalog returns the catalog of a connection.
func (db *DB) catalog(ctx context.Context) (*Catalog, error) {
	c, err := with(&Runner{db: db, bounds: db.limits.Answer}, func(s *Runner) (*Catalog, error) {
		return onConnection(ctx, s, s.bounds.Timeout, func(_ context.Context, h *held) (*Catalog, error) { return h.catalog, nil })
	})
	if err != nil {
		err = fmt.Errorf("exec: reading the schema: %w", err)
	}
	return c, err
}

// Permitted returns s without the tables, views and columns that the policy denies. It also leaves out keys that need
// them and the engine's CREATE text of a table that lost a column or a key. A view that reads something denied is left out, and so
// is a column that shows one. A schema without Default gets that of the database.
//
// It is for a schema that does not come from [DB.Schema]. s stays as it is, and comes back itself if nothing has to
// change.
func (db *DB) Permitted(ctx context.Context, s *schema.Schema) (*schema.Schema, error) {
	c, err := db.catalog(ctx)
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
	return s
}
