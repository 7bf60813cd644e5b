package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// attached is one row of PRAGMA database_list.
type attached struct {
	name string
	file string // "" for a database in memory and for the temporary one
}

func databases(ctx context.Context, dc driver.Conn) ([]attached, error) {
	rows, err := query(ctx, dc, "PRAGMA database_list")
	if err != nil {
		return nil, err
	}
	var out []attached
	for _, row := range rows {
		if len(row) < 3 {
			return nil, errors.New("PRAGMA database_list has not the columns of SQLite")
		}
		out = append(out, attached{name: text(row[1]), file: text(row[2])})
	}
	return out, nil
}

// versions returns a text that changes with the schema of any database of the
// connection, as long as the connection has the same ones.
func versions(ctx context.Context, dc driver.Conn, dbs []attached) (string, error) {
	var key strings.Builder
	for _, db := range dbs {
		if db.name == "temp" {
			continue // its objects are never readable, see temporary
		}
		n, err := number(ctx, dc, "PRAGMA "+Dialect{}.Quote(db.name)+".schema_version")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&key, "%q %q %s\n", db.name, db.file, strconv.FormatInt(n, 10))
	}
	return key.String(), nil
}

// known is the catalog of one connection. It is not that of another connection,
// even if file and schema_version are the same: a file put in the place of another
// one has its own count, and a connection that was opened before keeps reading the
// old one. Besides, a connection whose version is that of its catalog has no older
// schema in its own memory.
type known struct {
	key     string        // versions
	files   []os.FileInfo // of the databases that were attached
	catalog *catalog
}

// current reports whether the catalog is still that of its connection.
func (k known) current(key string, files []os.FileInfo) bool {
	return k.catalog != nil && k.key == key && slices.EqualFunc(k.files, files, sameFile)
}

// attachedFiles identifies the attached databases, nil for one that is no file:
// unlike the main one, they can be exchanged while the connection is open.
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

// sameFile reports whether a file is the same one, untouched: the number of a
// deleted file is soon that of another one. What is unknown is another one.
func sameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// temporary returns the folded names of the connection's temporary tables and
// views. They belong to whoever used the connection before and are no part of
// the schema, so nothing of them may be read.
func temporary(ctx context.Context, dc driver.Conn, dbs []attached) (map[string]bool, error) {
	if !slices.ContainsFunc(dbs, func(db attached) bool { return db.name == "temp" }) {
		return nil, nil
	}
	rows, err := query(ctx, dc, "SELECT name FROM temp.sqlite_master WHERE type IN ('table', 'view')")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	names := make(map[string]bool, len(rows))
	for _, row := range rows {
		names[schema.Fold(text(row[0]))] = true
	}
	return names, nil
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
}

// has reports whether the READ callback may name the column: one of r's, by its
// folded name, its rowid, or "" for none.
func (r *relation) has(column string) bool {
	return r.columns == nil || r.columns[column] || column == "" || column == "rowid"
}

// catalog is what the guard knows of a schema. It never changes once built.
type catalog struct {
	relations map[string]map[string]*relation // by folded database and folded name
	named     map[string][]*relation          // by folded name, in any database
	modules   map[string]bool                 // folded names of virtual table modules
	functions map[string]bool                 // folded names of functions that may be called
	virtual   []string                        // quoted names of virtual tables
	// silentViews says that some view uses columns without naming them to the
	// authorizer, and that the policy makes that matter.
	silentViews bool
	unknown     []string // entries of the policy that name nothing
}

// readCatalog reads the schema of a connection that has no guard on it yet.
func readCatalog(ctx context.Context, dc driver.Conn, dbs []attached, policy exec.Policy) (*catalog, error) {
	c := &catalog{
		relations: map[string]map[string]*relation{},
		named:     map[string][]*relation{},
		modules:   map[string]bool{},
	}
	modules, err := query(ctx, dc, "PRAGMA module_list")
	if err != nil {
		return nil, err
	}
	for _, row := range modules {
		c.modules[schema.Fold(text(row[0]))] = true
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

// readDatabase reads the tables and views of one database. What SQLite keeps for
// itself (sqlite_sequence, sqlite_stat4 with its samples of stored values) is not
// among them, so it cannot be read.
func (c *catalog) readDatabase(ctx context.Context, dc driver.Conn, database string, policy exec.Policy) error {
	quote := Dialect{}.Quote
	rows, err := query(ctx, dc, "SELECT type, name, sql FROM "+quote(database)+
		".sqlite_master WHERE type IN ('table', 'view')")
	if err != nil {
		return err
	}
	in := make(map[string]*relation, len(rows))
	c.relations[schema.Fold(database)] = in
	var virtuals []string
	for _, row := range rows {
		r := &relation{database: database, name: text(row[1])}
		if strings.HasPrefix(schema.Fold(r.name), "sqlite_") {
			continue
		}
		definition := text(row[2])
		switch {
		case text(row[0]) == "view":
			r.kind = view
		case isVirtual(definition):
			r.kind = virtual
			virtuals = append(virtuals, schema.Fold(r.name))
			c.virtual = append(c.virtual, quote(database)+"."+quote(r.name))
		}
		r.allowed = policy.AllowsTable(database, r.name)
		if policy.Restricts() && r.kind != table {
			r.words = mentioned(definition)
			c.silentViews = c.silentViews || r.kind == view && r.words.silent()
		}
		in[schema.Fold(r.name)] = r
		c.named[schema.Fold(r.name)] = append(c.named[schema.Fold(r.name)], r)
	}
	// A shadow table is readable as far as its virtual table is: the module reads
	// it under our guard, in statements of its own. The name is all that tells one
	// in a stored schema. An ordinary table that happens to have such a name only
	// follows the policy of another table as well as its own.
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

// readColumns finds the columns of r, and those that may not be read: those that
// the policy denies, and the generated ones that are made of them. Reading a
// generated column makes no READ callback for what it is made of.
func (c *catalog) readColumns(ctx context.Context, dc driver.Conn, r *relation, policy exec.Policy) error {
	if len(policy.DenyColumns) == 0 {
		return nil
	}
	r.columns = map[string]bool{}
	quote := Dialect{}.Quote
	rows, err := query(ctx, dc, "PRAGMA "+quote(r.database)+".table_xinfo("+quote(r.name)+")")
	if err != nil {
		if r.kind == view {
			return nil // a view that does not compile cannot be read either
		}
		return err
	}
	deny := func(name string) {
		if r.denied == nil {
			r.denied = map[string]bool{}
		}
		r.denied[schema.Fold(name)] = true
	}
	generated := map[string]bool{}
	for _, row := range rows {
		name := text(row[1])
		r.columns[schema.Fold(name)] = true
		if !policy.AllowsColumn(r.database, r.name, name) {
			deny(name)
		}
		if hidden, _ := row[6].(int64); hidden == 2 || hidden == 3 {
			generated[schema.Fold(name)] = true
		}
	}
	if r.denied == nil || len(generated) == 0 {
		return nil
	}
	definition, err := query(ctx, dc, "SELECT sql FROM "+quote(r.database)+
		".sqlite_master WHERE type = 'table' AND name = "+literal(r.name))
	if err != nil {
		return err
	}
	if len(definition) != 1 {
		return fmt.Errorf("the definition of %s is not to be found", r.name)
	}
	for name := range tainted(text(definition[0][0]), generated, r.denied) {
		deny(name)
	}
	return nil
}

// literal returns s as a string literal.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// spread denies what hangs on something denied: a virtual table's module may read
// any column of it, whatever the statement names, and some (fts4aux, fts5vocab,
// FTS with external content) read other tables, which they name in their
// definition.
func (c *catalog) spread() {
	for changed := true; changed; {
		changed = false
		for _, relations := range c.named {
			for _, r := range relations {
				if r.allowed && (r.kind == virtual || r.kind == shadow) && (len(r.denied) > 0 || c.denies(r)) {
					r.allowed, changed = false, true
				}
			}
		}
	}
}

// denies reports whether r's definition names a relation that is denied in any
// part.
func (c *catalog) denies(r *relation) bool {
	for name := range r.words.names {
		for _, other := range c.named[name] {
			if other != r && (!other.allowed || len(other.denied) > 0) {
				return true
			}
		}
	}
	return false
}

// missing returns the entries of the policy that name no table or column.
func (c *catalog) missing(policy exec.Policy) []string {
	var out []string
	check := func(field string, entries []string, found func(one exec.Policy, r *relation) bool, one func(entry string) exec.Policy) {
		for _, entry := range entries {
			hit := false
			for _, relations := range c.named {
				for _, r := range relations {
					hit = hit || found(one(entry), r)
				}
			}
			if !hit {
				out = append(out, field+": "+strconv.Quote(entry))
			}
		}
	}
	deniesTable := func(one exec.Policy, r *relation) bool { return !one.AllowsTable(r.database, r.name) }
	check("AllowTables", policy.AllowTables, deniesTable, func(e string) exec.Policy { return exec.Policy{DenyTables: []string{e}} })
	check("DenyTables", policy.DenyTables, deniesTable, func(e string) exec.Policy { return exec.Policy{DenyTables: []string{e}} })
	check("DenyColumns", policy.DenyColumns,
		func(one exec.Policy, r *relation) bool {
			for column := range r.denied {
				if !one.AllowsColumn(r.database, r.name, column) {
					return true
				}
			}
			return false
		},
		func(e string) exec.Policy { return exec.Policy{DenyColumns: []string{e}} })
	return out
}
