package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// attached is one row of PRAGMA database_list.
type attached struct {
	name string
	file string // "" for a database in memory and for the temporary one

	version int64 // its schema_version, where it was read
}

func databases(ctx context.Context, dc driver.Conn) (dbs []attached, err error) {
	err = scan(ctx, dc, "PRAGMA database_list", 3, func(row []driver.Value) {
		dbs = append(dbs, attached{name: text(row[1]), file: text(row[2])})
	})
	return dbs, err
}

// versions reads the schema_version of each of dbs. The text that it returns changes when the schema of one of them
// changes.
func versions(ctx context.Context, dc driver.Conn, dbs []attached) (string, error) {
	var key []byte
	for i := range dbs {
		db := &dbs[i]
		if db.name == "temp" {
			continue // its objects are never readable, see temporary
		}
		n, err := number(ctx, dc, "PRAGMA "+Dialect{}.Quote(db.name)+".schema_version")
		if err != nil {
			return "", err
		}
		db.version = n
		key = strconv.AppendQuote(key, db.name)
		key = strconv.AppendQuote(key, db.file)
		key = append(strconv.AppendInt(key, n, 10), '\n')
	}
	return string(key), nil
}

// known is the catalog of one connection. Another connection needs its own, even with the same file and schema_version:
// a file that replaced another one counts for itself, and a connection that was opened before still reads the old file.
type known struct {
	key     string        // versions
	files   []os.FileInfo // of the databases that were attached
	catalog *catalog
}

// attachedFiles identifies the files of the attached databases; nil stands for a database without a file. Unlike the
// main file, they can be exchanged while the connection is open.
func attachedFiles(dbs []attached) []os.FileInfo {
	var files []os.FileInfo
	for _, db := range dbs {
		if db.name == "main" || db.name == "temp" {
			continue
		}
		info, err := os.Stat(db.file)
		if err != nil {
			info = nil
		}
		files = append(files, info)
	}
	return files
}

// sameFile reports whether a and b are the same unchanged file. Time and size count too, because the system gives the
// number of a deleted file to the next one.
func sameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// temporary returns the folded names of the temporary tables and views of the connection. An earlier user of the
// connection made them. They are no part of the schema and may not be read.
func temporary(ctx context.Context, dc driver.Conn, dbs []attached) (map[string]bool, error) {
	if !slices.ContainsFunc(dbs, func(db attached) bool { return db.name == "temp" }) {
		return nil, nil
	}
	names := map[string]bool{}
	err := scan(ctx, dc, "SELECT name FROM temp.sqlite_master WHERE type IN ('table', 'view')", 1, func(row []driver.Value) {
		names[schema.Fold(text(row[0]))] = true
	})
	return names, err
}

// kind is what a relation is.
type kind uint8

const (
	table kind = iota
	view
	virtual
	shadow // keeps the data of a virtual table
)

// relation is one table or view of the schema and what the policy makes of it.
type relation struct {
	database string
	name     string
	kind     kind
	allowed  bool
	denied   map[string]bool // folded names of columns that may not be read
	columns  map[string]bool // folded names of all columns; nil where no column is denied anywhere

	words mentions // of a view's text, where the policy restricts anything

	definition string // of a view
	load       *load  // of a view, once it was asked for; guarded by catalog.mu
}

// has reports whether column, folded, is a column of r, its rowid, or "" (only the rows count).
func (r *relation) has(column string) bool {
	return r.columns == nil || r.columns[column] || column == "" || column == "rowid"
}

// catalog is what the guard knows of a schema. Only the loads of views change after it is built.
type catalog struct {
	mu        sync.Mutex
	views     map[string][]*relation          // by folded name
	relations map[string]map[string]*relation // by folded database and folded name
	named     map[string][]*relation          // by folded name, in any database
	modules   map[string]bool                 // folded names of virtual table modules
	functions map[string]bool                 // folded names of functions that may be called
	virtual   []string                        // quoted names of virtual tables
	fts5      bool                            // one of them is of FTS5
	hides     bool                            // some relation may not be read
	// silentViews: some view uses columns without naming them to the authorizer, and the policy restricts something.
	silentViews bool
	unknown     []string // entries of the policy that name nothing
}

// readCatalog reads the schema of a connection that has no guard on it yet.
func readCatalog(ctx context.Context, dc driver.Conn, dbs []attached, policy exec.Policy) (*catalog, error) {
	c := &catalog{
		relations: map[string]map[string]*relation{},
		named:     map[string][]*relation{},
		views:     map[string][]*relation{},
		modules:   map[string]bool{},
	}
	err := scan(ctx, dc, "PRAGMA module_list", 1, func(row []driver.Value) { c.modules[schema.Fold(text(row[0]))] = true })
	if err != nil {
		return nil, err
	}
	if err := c.readFunctions(ctx, dc, policy); err != nil {
		return nil, err
	}
	for _, db := range dbs {
		if db.name == "temp" {
			continue
		}
		if err := c.readDatabase(ctx, dc, db.name, policy); err != nil {
			return nil, err
		}
	}
	for _, relations := range c.named {
		for _, r := range relations {
			if policy.Restricts() {
				if err := c.readColumns(ctx, dc, r, policy); err != nil {
					return nil, err
				}
			}
		}
	}
	c.spread()
	c.unknown = c.missing(policy)
	return c, nil
}

// readDatabase reads the tables and views of one database. It leaves out the tables of SQLite itself (sqlite_sequence;
// sqlite_stat4, which has stored values), so nothing of them can be read.
func (c *catalog) readDatabase(ctx context.Context, dc driver.Conn, database string, policy exec.Policy) error {
	quote := Dialect{}.Quote
	in := map[string]*relation{}
	c.relations[schema.Fold(database)] = in
	var virtuals []string
	err := scan(ctx, dc, "SELECT type, name, sql FROM "+quote(database)+".sqlite_master WHERE type IN ('table', 'view')", 3, func(row []driver.Value) {
		r := &relation{database: database, name: text(row[1])}
		if strings.HasPrefix(schema.Fold(r.name), "sqlite_") {
			return
		}
		definition := text(row[2])
		switch {
		case text(row[0]) == "view":
			r.kind, r.definition = view, definition
			c.views[schema.Fold(r.name)] = append(c.views[schema.Fold(r.name)], r)
		case isVirtual(definition):
			r.kind = virtual
			virtuals = append(virtuals, schema.Fold(r.name))
			c.virtual = append(c.virtual, quote(database)+"."+quote(r.name))
			c.fts5 = c.fts5 || strings.Contains(schema.Fold(definition), "fts5")
		}
		r.allowed = policy.AllowsTable(database, r.name)
		if policy.Restricts() && r.kind != table {
			r.words = mentioned(definition)
			c.silentViews = c.silentViews || r.kind == view && r.words.silent()
		}
		in[schema.Fold(r.name)] = r
		c.named[schema.Fold(r.name)] = append(c.named[schema.Fold(r.name)], r)
	})
	if err != nil {
		return err
	}
	// A module reads its shadow tables under our guard, so they follow the policy of the virtual table. Only the name
	// tells a shadow table. An ordinary table with such a name follows both policies.
	for name, r := range in {
		for _, v := range virtuals {
			if r.kind == table && strings.HasPrefix(name, v+"_") {
				r.kind = shadow
				r.words = mentions{names: map[string]bool{v: true}}
			}
		}
	}
	return nil
}

func isVirtual(definition string) bool {
	words := strings.Fields(definition)
	return len(words) > 2 && strings.EqualFold(words[0], "create") && strings.EqualFold(words[1], "virtual")
}

// readColumns finds the columns of r and those that may not be read: the denied ones, and generated columns made of
// them, for which SQLite makes no READ callback.
func (c *catalog) readColumns(ctx context.Context, dc driver.Conn, r *relation, policy exec.Policy) error {
	if len(policy.DenyColumns) == 0 {
		return nil
	}
	r.columns = map[string]bool{}
	quote := Dialect{}.Quote
	deny := func(name string) {
		if r.denied == nil {
			r.denied = map[string]bool{}
		}
		r.denied[schema.Fold(name)] = true
	}
	generated := map[string]bool{}
	err := scan(ctx, dc, "PRAGMA "+quote(r.database)+".table_xinfo("+quote(r.name)+")", 7, func(row []driver.Value) {
		name := text(row[1])
		r.columns[schema.Fold(name)] = true
		if !policy.AllowsColumn(r.database, r.name, name) {
			deny(name)
		}
		if hidden := integer(row[6]); hidden == 2 || hidden == 3 {
			generated[schema.Fold(name)] = true
		}
	})
	if err != nil {
		if r.kind == view {
			return nil // a view that does not compile cannot be read either
		}
		return err
	}
	if r.denied == nil || len(generated) == 0 {
		return nil
	}
	found := false
	err = scan(ctx, dc, "SELECT sql FROM "+quote(r.database)+".sqlite_master WHERE type = 'table' AND name = "+literal(r.name), 1, func(row []driver.Value) {
		found = true
		for name := range tainted(text(row[0]), generated, r.denied) {
			deny(name)
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("the definition of %s is not to be found", r.name)
	}
	return err
}

// literal returns s as a string literal.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// spread denies virtual tables that depend on something denied. A module may read any column of its table, and some
// modules (fts4aux, fts5vocab, FTS with external content) read other tables, which their definition names.
func (c *catalog) spread() {
	for changed := true; changed; {
		changed = false
		for _, relations := range c.named {
			for _, r := range relations {
				c.hides = c.hides || !r.allowed
				if r.allowed && (r.kind == virtual || r.kind == shadow) && (len(r.denied) > 0 || c.denies(r)) {
					r.allowed, changed = false, true
				}
			}
		}
	}
}

// denies reports whether the definition of a virtual table names a relation that is denied in any part, or a view that
// reads something denied. The module has read all of it before, for its owner.
func (c *catalog) denies(r *relation) bool {
	for name := range r.words.names {
		for _, other := range c.named[name] {
			if other != r && (!other.allowed || len(other.denied) > 0 || other.kind == view && c.readsDenied(other, map[*relation]bool{})) {
				return true
			}
		}
	}
	return false
}

// readsDenied reports whether a view, or one under it, may read something denied.
func (c *catalog) readsDenied(v *relation, seen map[*relation]bool) bool {
	seen[v] = true
	for name := range v.words.names {
		for _, other := range c.named[name] {
			if seen[other] {
				continue
			}
			columns := v.words.star || v.words.silent()
			for column := range other.denied {
				columns = columns || v.words.names[column]
			}
			if !other.allowed || len(other.denied) > 0 && columns || other.kind == view && c.readsDenied(other, seen) {
				return true
			}
		}
	}
	return false
}

// missing returns the entries of the policy that name no table or column.
func (c *catalog) missing(policy exec.Policy) (out []string) {
	check := func(field string, entries []string, names func(entry string, r *relation) bool) {
		for _, entry := range entries {
			if !c.some(func(r *relation) bool { return names(entry, r) }) {
				out = append(out, field+": "+strconv.Quote(entry))
			}
		}
	}
	table := func(entry string, r *relation) bool {
		return !exec.Policy{DenyTables: []string{entry}}.AllowsTable(r.database, r.name)
	}
	check("AllowTables", policy.AllowTables, table)
	check("DenyTables", policy.DenyTables, table)
	check("DenyColumns", policy.DenyColumns, func(entry string, r *relation) bool {
		for column := range r.denied {
			if !(exec.Policy{DenyColumns: []string{entry}}).AllowsColumn(r.database, r.name, column) {
				return true
			}
		}
		return false
	})
	return out
}

// some reports whether f holds for some relation.
func (c *catalog) some(f func(*relation) bool) bool {
	for _, relations := range c.named {
		if slices.ContainsFunc(relations, f) {
			return true
		}
	}
	return false
}
