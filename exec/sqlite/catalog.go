package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
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
		n, err := number(ctx, dc, "PRAGMA "+quote(db.name)+".schema_version")
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

// contents returns a hash of what a connection has: the definitions of its databases, and its functions.
func contents(ctx context.Context, dc driver.Conn, dbs []attached) (string, error) {
	hash := sha256.New()
	var buffer []byte
	add := func(query string, columns int) error {
		return scan(ctx, dc, query, columns, func(row []driver.Value) {
			buffer = buffer[:0]
			for _, v := range row {
				part := text(v)
				buffer = append(strconv.AppendInt(buffer, integer(v)+int64(len(part)), 10), ' ')
				buffer = append(buffer, part...)
			}
			hash.Write(buffer)
		})
	}
	for _, db := range dbs {
		if db.name == "temp" {
			continue
		}
		fmt.Fprintf(hash, "%q", db.name)
		if db.name != "main" {
			fmt.Fprintf(hash, "%q", db.file) // another file may be attached under the same name
		}
		if err := add("SELECT type, name, sql FROM "+quote(db.name)+".sqlite_master", 3); err != nil {
			return "", err
		}
	}
	if err := add("PRAGMA function_list", 6); err != nil {
		return "", err
	}
	return fmt.Sprintf("%.8x", hash.Sum(nil)), nil
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

// own is what the guard keeps of a relation beside what all engines do.
type own struct {
	kind   kind
	words  mentions        // of the text of a view or a virtual table
	slow   int             // of a view: the largest factor of the slow calls in it and under it
	hidden bool            // it may not be read
	denied map[string]bool // folded names of columns that may not be read
}

func kindOf(r *guard.Relation) *own { return r.Own.(*own) }

// has reports whether column is a column of r, its rowid, or "" (only the rows count).
func has(r *guard.Relation, column string) bool {
	return column == "" || r.Has(column) || schema.EqualFold(column, "rowid")
}

// facts are what the guard knows of a schema. They do not change after they are read.
type facts struct {
	relations map[string]map[string]*guard.Relation // by folded database and folded name
	named     map[string][]*guard.Relation          // by folded name, in any database
	modules   map[string]bool                       // folded names of virtual table modules
	functions map[string]bool                       // folded names of functions that may be called
	virtual   []string                              // quoted names of virtual tables
	fts5      bool                                  // one of them is of FTS5
	hides     bool                                  // some relation may not be read
	strict    bool                                  // the policy denies columns, so a new one may not be read
	// silentViews: some view uses columns without naming them to the authorizer, and the policy restricts something.
	silentViews bool
}

// Catalog implements exec.Conn. It takes a handful of statements for each database, whatever the number of tables, and
// compiles each view once.
func (h *conn) Catalog(ctx context.Context) (c *exec.Catalog, err error) {
	h.close()
	if err := h.setLimit(limitVariable, &h.parameters, moduleParameters); err != nil { // modules look at their tables
		return nil, err
	}
	rawErr := h.raw("reading the catalog", func(dc driver.Conn) error {
		key, err := versions(ctx, dc, h.databases)
		if err == nil {
			h.sight, err = h.sightOf(ctx, dc, h.databases, key)
		}
		if err != nil {
			return err
		}
		c = &exec.Catalog{Version: h.version()}
		return h.read(ctx, dc, c)
	})
	if rawErr != nil {
		return nil, unready(rawErr)
	}
	return c, nil
}

// read fills in a catalog.
func (h *conn) read(ctx context.Context, dc driver.Conn, c *exec.Catalog) error {
	policy := h.config.Policy
	f := &facts{
		strict:    len(policy.DenyColumns) > 0,
		relations: map[string]map[string]*guard.Relation{}, named: map[string][]*guard.Relation{}, modules: map[string]bool{},
	}
	c.Own, c.Text = f, language.Text
	s, all, err := h.inspect(ctx, dc, c)
	if err != nil {
		return err
	}
	c.Schema = s
	// SQLite registers its own table-valued functions, which inspect used, as modules when they are first used.
	if err := scan(ctx, dc, "PRAGMA module_list", 1, func(row []driver.Value) { f.modules[schema.Fold(text(row[0]))] = true }); err != nil {
		return err
	}
	if err := f.readFunctions(ctx, dc, policy); err != nil {
		return err
	}
	for i := range all {
		f.add(c, &all[i], policy)
	}
	f.shadows()
	for _, r := range c.Relations {
		if r.View {
			kindOf(r).slow = f.slowest(r, map[*guard.Relation]bool{})
		}
	}
	for _, r := range c.Relations {
		if r.View {
			if r.Under, err = h.under(ctx, dc, c, r); err != nil {
				return err
			}
		}
	}
	if policy.Restricts() {
		f.deny(c, policy)
		h.gate.facts = f
		for _, r := range c.Relations { // the authorizer does not hear all that these read
			if refused := h.gate.vet(r.Name); r.View && refused != nil {
				r.Refused = refused
			}
		}
	}
	c.Warnings, err = warnings(ctx, dc, c.Warnings)
	return err
}

// add makes the relation of a table.
func (f *facts) add(c *exec.Catalog, t *inspected, policy exec.Policy) {
	r := guard.NewRelation(t.database, t.name, t.columns)
	o := &own{kind: t.kind}
	r.Own = o
	name := schema.Fold(r.Name)
	switch t.kind {
	case view:
		r.View, r.Definition = true, t.definition
	case virtual:
		f.virtual = append(f.virtual, quote(t.database)+"."+quote(t.name))
		f.fts5 = f.fts5 || strings.Contains(schema.Fold(t.definition), "fts5")
	}
	if t.kind != table {
		o.words = mentioned(t.definition)
		f.silentViews = f.silentViews || policy.Restricts() && t.kind == view && o.words.silent()
	}
	for _, flow := range flows(t.definition, t.generated) {
		c.Flows = append(c.Flows, guard.Flow{From: r, Column: proper(r, flow[0]), To: r, As: proper(r, flow[1])})
	}
	if f.relations[schema.Fold(t.database)] == nil {
		f.relations[schema.Fold(t.database)] = map[string]*guard.Relation{}
	}
	f.relations[schema.Fold(t.database)][name] = r
	f.named[name] = append(f.named[name], r)
	c.Relations = append(c.Relations, r)
}

// proper is the name of a column as its table has it.
func proper(r *guard.Relation, folded string) string {
	for _, column := range r.Columns() {
		if schema.Fold(column) == folded {
			return column
		}
	}
	return folded
}

// shadows marks what keeps the data of a virtual table. A module reads its shadow tables under our guard, so they follow
// the policy of the virtual table. Only the name tells a shadow table. An ordinary table with such a name follows both
// policies.
func (f *facts) shadows() {
	for _, in := range f.relations {
		for v, of := range in {
			if kindOf(of).kind != virtual {
				continue
			}
			for name, r := range in {
				if o := kindOf(r); o.kind == table && strings.HasPrefix(name, v+"_") {
					o.kind, o.words = shadow, mentions{names: map[string]bool{v: true}}
				}
			}
		}
	}
}

// slowest is the largest factor of the slow calls of a view and of those that it names.
func (f *facts) slowest(r *guard.Relation, seen map[*guard.Relation]bool) int {
	seen[r] = true
	slow := f.readLoad(language.Text.Parse(r.Definition)).slow
	for name := range kindOf(r).words.names {
		for _, other := range f.named[name] {
			if other.View && !seen[other] {
				slow = max(slow, f.slowest(other, seen))
			}
		}
	}
	return slow
}

// under is what a view reads, as the authorizer hears it when the view is compiled. A view that is too large to be
// compiled, or does not compile, reads nothing: nobody can read it.
func (h *conn) under(ctx context.Context, dc driver.Conn, c *exec.Catalog, r *guard.Relation) ([]guard.Read, error) {
	f := c.Own.(*facts)
	s := language.Text.Parse("SELECT * FROM " + quote(r.Schema) + "." + quote(r.Name))
	size, err := c.Weigh(s)
	if err == nil {
		_, err = f.weigh(s, size)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // it is refused where a statement names it
	}
	h.gate.begin()
	h.gate.listening = true
	defer func() { h.gate.listening = false }()
	stmt, err := prepare(ctx, dc, s.SQL())
	if isLocked(err) || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	if err != nil {
		return nil, nil //nolint:nilerr // as SQLite says to whoever reads it
	}
	if err := stmt.Close(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(f.read(h.gate.reads), func(u guard.Read) bool { return u.Relation == r }), nil
}

// literal returns s as a string literal.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// deny notes what the policy denies, and hides virtual tables that depend on it. A module may read any column of its
// table, and some modules (fts4aux, fts5vocab, FTS with external content) read other tables, which their definition names.
func (f *facts) deny(c *exec.Catalog, policy exec.Policy) {
	columns := c.Spread(func(r *guard.Relation, column string) bool { return !policy.AllowsColumn(r.Schema, r.Name, column) })
	for _, r := range c.Relations {
		o := kindOf(r)
		o.hidden, o.denied = !policy.AllowsTable(r.Schema, r.Name), map[string]bool{}
		for column := range columns[r] {
			o.denied[schema.Fold(column)] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, r := range c.Relations {
			if o := kindOf(r); !o.hidden && (o.kind == virtual || o.kind == shadow) && (len(o.denied) > 0 || f.namesDenied(r)) {
				o.hidden, r.Hidden, changed = true, true, true
			}
		}
	}
	f.hides = slices.ContainsFunc(c.Relations, func(r *guard.Relation) bool { return kindOf(r).hidden })
}

// namesDenied reports whether the definition of a virtual table names a relation that is denied in any part, or a view that
// reads something denied. The module has read all of it before, for its owner.
func (f *facts) namesDenied(r *guard.Relation) bool {
	for name := range kindOf(r).words.names {
		for _, other := range f.named[name] {
			o := kindOf(other)
			if other != r && (o.hidden || len(o.denied) > 0 || other.View && f.readsDenied(other, map[*guard.Relation]bool{})) {
				return true
			}
		}
	}
	return false
}

// readsDenied reports whether a view, or one under it, may read something denied.
func (f *facts) readsDenied(v *guard.Relation, seen map[*guard.Relation]bool) bool {
	seen[v] = true
	words := kindOf(v).words
	for name := range words.names {
		for _, other := range f.named[name] {
			if seen[other] {
				continue
			}
			o := kindOf(other)
			columns := words.star || words.silent()
			for column := range o.denied {
				columns = columns || words.names[column]
			}
			if o.hidden || len(o.denied) > 0 && columns || other.View && f.readsDenied(other, seen) {
				return true
			}
		}
	}
	return false
}

// warnings looks for settings of the connection that weaken its guard.
func warnings(ctx context.Context, dc driver.Conn, found []trace.Warning) ([]trace.Warning, error) {
	const inMemory = 2
	store, err := number(ctx, dc, "PRAGMA temp_store")
	if err == nil && store == inMemory {
		// Setting it back would delete the temporary tables of the connection.
		found = append(found, trace.Warning{
			Code:    "temp-store-memory",
			Message: "PRAGMA temp_store is MEMORY on this pool: a statement that sorts or groups much can take gigabytes of memory before its time is up",
		})
	}
	return found, err
}
