package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// catalog is what the gate knows of a schema. It does not change.
type catalog struct {
	surroundings
	named     map[string][]*guard.Relation // by folded name, in the order of the databases
	functions map[string]bool              // folded names of functions that may be called
	temp      map[string]bool              // see conn.temp
	virtual   []string                     // quoted names of virtual tables
	slow      map[string]int               // by folded name of a view: load.slow
	fts5      bool                         // some virtual table is of FTS5
	hides     bool                         // some relation may not be read
	exact     bool                         // some column may not be read, so that an unknown one is refused
	restricts bool                         // something may not be read
	counted   bool                         // ANALYZE has counted rows, by which plans are chosen
	version   string                       // of the schema
}

// Catalog implements [exec.Conn], with a handful of statements for each database, whatever the number of tables.
func (c *conn) Catalog(ctx context.Context) (found *exec.Catalog, err error) {
	err = c.bare(func(dc any) (err error) {
		if err = c.quickCheck(ctx, dc); err != nil {
			return err
		}
		found, err = c.readCatalog(ctx, dc)
		return err
	})
	return found, err
}

// quickCheck says once whether pages of the file are damaged, where [Dialect.QuickCheck] asks for it.
func (c *conn) quickCheck(ctx context.Context, dc any) error {
	if !c.dialect.QuickCheck || c.checked.Load() {
		return nil
	}
	var fault, line string
	err := each(ctx, dc, "PRAGMA quick_check(1)", func() {
		if line != "ok" && fault == "" {
			fault = strings.TrimSpace(line)
		}
	}, &line)
	switch {
	case fault != "":
		return fmt.Errorf("sqlite: the file is damaged: %s: restore it from a copy, or read what is left with the command "+
			".recover of sqlite3", fault)
	case err == nil:
		c.checked.Store(true)
	}
	return err
}

func (c *conn) readCatalog(ctx context.Context, dc any) (found *exec.Catalog, err error) {
	policy := c.config.Policy
	if c.versions, err = c.readVersions(ctx, dc); err != nil {
		return nil, err
	}
	if c.version, err = c.define(ctx, dc); err != nil {
		return nil, err
	}
	around, err := readSurroundings(ctx, dc)
	if err != nil {
		return nil, err
	}
	own := &catalog{
		surroundings: around, functions: around.callable(policy.AllowFunctions, c.dialect.Math), temp: c.temp,
		version: c.version,
		named:   map[string][]*guard.Relation{}, slow: map[string]int{},
		hides: len(policy.AllowTables)+len(policy.DenyTables) > 0 || policy.Scoped(),
	}
	found = &exec.Catalog{
		Version: c.version, Own: own, Catalog: guard.Catalog{Text: sqltext.SQLite(), MostExpanded: mostExpanded},
		Schema: &schema.Schema{
			Dialect: "sqlite", Default: mainSchema, Tables: []schema.Table{},
			Functions: slices.Sorted(maps.Keys(around.functions)),
		},
	}
	if around.inMemory { // setting it back would delete the temporary tables of the connection
		found.Warnings = append(found.Warnings, trace.Warning{
			Code: "temp-store-memory",
			Message: "PRAGMA temp_store is MEMORY on this pool: a statement that sorts or groups much can take gigabytes of " +
				"memory before its time is up",
		})
	}
	own.exact = len(policy.DenyColumns) > 0
	var shapes []shape
	for i := range c.databases {
		own.counted = own.counted || slices.ContainsFunc(c.databases[i].definitions, func(d definition) bool {
			return strings.HasPrefix(d.name, "sqlite_stat")
		})
		in := inspection{ctx: ctx, dc: dc, database: &c.databases[i], policy: policy}
		if err := in.read(); err != nil {
			return nil, err
		}
		found.Schema.Tables = append(found.Schema.Tables, in.tables...)
		found.Warnings, found.Schema.LeftOut = append(found.Warnings, in.warnings...),
			append(found.Schema.LeftOut, in.left...)
		shapes = append(shapes, in.shapes()...)
	}
	for _, s := range shapes {
		own.exact = own.exact || slices.ContainsFunc(s.Columns(), func(column string) bool {
			return policy.Hides(s.Schema, s.Name, column)
		})
	}
	own.restricts = own.exact || policy.Restricts()
	return found, own.fill(ctx, c, dc, found, shapes)
}

// shape is a relation and how it is made.
type shape struct {
	*guard.Relation
	definition string
	virtual    bool
	generated  []string // its generated columns
	mentions   mentions // of the definition of a virtual table
	shadow     bool     // it may keep the data of a virtual table
}

// fill puts the relations into the catalog, with what the guard has to know of each.
func (own *catalog) fill(ctx context.Context, c *conn, dc any, found *exec.Catalog, shapes []shape) error {
	for i := range shapes {
		s := &shapes[i]
		found.Relations = append(found.Relations, s.Relation)
		found.Flows = append(found.Flows, flows(s.Relation, s.definition, s.generated)...)
		name := schema.FoldCase(s.Name)
		own.named[name] = append(own.named[name], s.Relation)
		if own.temp[name] {
			return &exec.UnguardedError{
				Reason: "a temporary table or view of this connection hides " + name +
					", so a statement would read another table than it names",
				Remedy: "drop it, or give the SDK a pool of its own",
			}
		}
		if s.virtual {
			own.virtual = append(own.virtual, quoted(s.Schema)+"."+quoted(s.Name))
			own.fts5 = own.fts5 || strings.Contains(schema.FoldCase(s.definition), "fts5")
		}
	}
	if err := own.use(ctx, dc); err != nil {
		return err
	}
	if err := own.views(c, dc, found); err != nil {
		return err
	}
	own.hideVirtual(found, c.config.Policy, shapes)
	return nil
}

// use uses each virtual table once.
func (own *catalog) use(ctx context.Context, dc any) error {
	for _, name := range own.virtual {
		// A module this build lacks is no error: the statement that needs it will say so.
		err := each(ctx, dc, "SELECT 1 FROM "+name+" LIMIT 0", func() {})
		if isLocked(err) {
			return err
		}
	}
	return nil
}

// views finds what views read: what the authorizer hears when one is compiled whole, and what their texts use in
// silence. A view that calls or reads what no statement may is refused.
func (own *catalog) views(c *conn, dc any, found *exec.Catalog) error {
	views := slices.DeleteFunc(slices.Clone(found.Relations), func(r *guard.Relation) bool { return !r.View })
	policy, before := c.config.Policy, c.gate.catalog
	c.gate.own, c.gate.catalog = false, own
	defer func() { c.gate.own, c.gate.catalog = true, before }()
	for _, v := range views {
		query := "SELECT * FROM " + quoted(v.Schema) + "." + quoted(v.Name)
		if _, err := found.Weigh(found.Text.Parse(query)); err != nil {
			v.Refused = err
			continue
		}
		c.gate.begin()
		stmt, err := dc.(driver.Conn).Prepare(query)
		if err == nil {
			v.Under = slices.DeleteFunc(c.gate.heard(), func(u guard.Read) bool { return u.Relation == v })
			err = stmt.Close()
		}
		switch refused := c.gate.refused; {
		case refused != nil:
			v.Refused = refused
		case isLocked(err):
			return err
		}
	}
	for _, v := range views {
		if m := own.through(mentioned(v.Definition)); own.restricts && m.silent() {
			for _, name := range m.sorted() {
				closed := own.hidden(name) != ""
				for _, r := range own.named[name] {
					closed = closed || !policy.Allows(r)
					if !r.View {
						v.Under = append(v.Under, m.uses(r))
					}
				}
				if closed && v.Refused == nil { // a prompt may show it: it does not say what
					v.Refused = guard.Refuse("table", "the view %s may read what may not be read", v.Name)
				}
			}
		}
	}
	for changed := true; changed; { // until those over others are known
		changed = false
		for _, v := range views {
			name := schema.FoldCase(v.Name)
			if slow := own.readLoad(found.Text.Parse(v.Definition)).slow; slow > own.slow[name] {
				own.slow[name], changed = slow, true
			}
		}
	}
	return nil
}

// hideVirtual denies virtual tables that depend on something denied. A module may read any column of its table, and
// some modules (fts4aux, fts5vocab, FTS with external content) read other tables, which their definition names. A
// module reads its shadow tables under our guard, so they follow its table. Only the name tells a shadow table. An
// ordinary table with such a name follows both policies.
func (own *catalog) hideVirtual(found *exec.Catalog, policy exec.Policy, shapes []shape) {
	if !own.restricts {
		return
	}
	denied := found.Spread(func(r *guard.Relation, column string) bool {
		return !policy.AllowsColumn(r.Schema, r.Name, column)
	})
	// closed reports whether some of r may not be read.
	closed := func(r *guard.Relation) bool {
		return r.Hidden || !policy.Allows(r) || len(denied[r]) > 0
	}
	// reads reports whether a virtual table would read something denied where its definition names r.
	reads := func(r *guard.Relation) bool {
		return closed(r) || policy.Ruled(r) || r.Refused != nil || slices.ContainsFunc(r.Under, func(u guard.Read) bool {
			return u.Relation.Hidden || !policy.Allows(u.Relation) || policy.Ruled(u.Relation) ||
				slices.ContainsFunc(u.Columns, func(column string) bool { return denied[u.Relation][column] })
		})
	}
	for i := range shapes {
		s := &shapes[i]
		for _, name := range s.mentions.sorted() {
			s.Holds = append(s.Holds, slices.DeleteFunc(slices.Clone(own.named[name]), func(r *guard.Relation) bool {
				return r == s.Relation
			})...)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range shapes {
			s := &shapes[i]
			if s.Hidden || !s.virtual && !s.shadow {
				continue
			}
			s.Hidden = closed(s.Relation) || slices.ContainsFunc(s.Holds, reads)
			changed = changed || s.Hidden
			own.hides = own.hides || s.Hidden
		}
	}
}
