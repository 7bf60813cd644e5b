package mysql

import (
	"errors"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// catalog is what a walk over a statement needs of a database. It does not change after it is read.
type catalog struct {
	place     place
	relations map[string]*guard.Relation // by key
	functions map[string]bool            // those that may be called, in lower case
	added     map[string]bool            // those of them that the policy adds
}

// newCatalog returns a catalog without relations. taken are the names of the functions that the database itself has:
// "count (x)" with a blank calls its function count.
func newCatalog(p place, taken, allowed []string) *catalog {
	c := &catalog{place: p, relations: map[string]*guard.Relation{}, functions: map[string]bool{}, added: map[string]bool{}}
	for _, name := range functions {
		c.functions[name] = true
	}
	for _, name := range taken {
		delete(c.functions, lower(name))
	}
	for _, name := range allowed {
		c.functions[lower(name)], c.added[lower(name)] = true, true
	}
	return c
}

// key is how a table is looked up.
func (c *catalog) key(name string) string {
	if c.place.folds {
		return lower(name)
	}
	return name
}

// lower makes names equal that the server takes for the same: "K" (Kelvin) is k to it.
func lower(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// isCurrent reports whether a name of a database, "" for none, is that of the connection.
func (c *catalog) isCurrent(database string) bool {
	return database == "" || database == c.place.database || c.place.folds && schema.EqualFold(database, c.place.database)
}

// define reads the definition of a view, which the server writes out with all names qualified. guard.Catalog decides
// what comes of those.
func (c *catalog) define(r *guard.Relation, definition string) {
	refuse := func(detail string) { r.Refused = guard.Refuse(exec.ReasonTable, "the view %s %s", r.Name, detail) }
	if definition == "" {
		refuse("has a definition that this user may not see, so nobody knows what it reads: GRANT SHOW VIEW ON " +
			quote(c.place.database) + ".* TO the user, or leave the view out")
		return
	}
	// The server stores and reads definitions by the rules of the default sql_mode.
	body, err := c.read(sqltext.MySQL().Parse(definition), 0, false)
	var refused *exec.RefusedError
	switch {
	case err == nil:
		r.Body, r.Definition = body, definition
	case errors.As(err, &refused):
		refuse("reads or calls what may not be: " + refused.Detail)
	default:
		refuse("has a definition that the guard cannot read")
	}
}

// flows are the ways from columns to those that are generated of them. An expression names its columns.
func flows(r *guard.Relation, generated map[string]string) (all []guard.Flow) {
	named := map[string][]string{}
	for _, name := range r.Columns() {
		named[lower(name)] = append(named[lower(name)], name)
	}
	for as, expression := range generated {
		for t := range sqltext.MySQL().Parse(expression).Tokens() {
			if t.Kind != sqltext.Word && t.Kind != sqltext.QuotedName {
				continue
			}
			for _, from := range named[lower(sqltext.MySQL().Value(t))] {
				all = append(all, guard.Flow{From: r, Column: from, To: r, As: as})
			}
		}
	}
	return all
}
