package postgres

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
)

// What tests of the tree use.
var ReadCatalog = readCatalog

func (c *catalog) Check(s string) (*named, error) { return c.check(s, false) }

func (c *catalog) CheckOurs(s string) (*named, error) { return c.check(s, true) }

func (c *catalog) Unknown() []string { return c.unknown }

func (c *catalog) RowSecurity() bool { return c.rowSecurity }

// Permit takes pairs of an OID and a mode.
func (c *catalog) Permit(n *named, locks map[uint32]string) (exec.Analysis, error) {
	var list []lock
	for oid, mode := range locks {
		list = append(list, lock{oid, mode})
	}
	return c.permit(n, list)
}

// Catalog is one.
type Catalog = *catalog

// Columns are those that n reads, as "schema.table.column", in order.
func (n *named) Columns() (out []string) {
	for _, r := range n.reads.Columns() {
		for _, column := range r.Columns {
			out = append(out, r.Relation.Schema+"."+r.Relation.Name+"."+column)
		}
	}
	return out
}

// MadeCatalog is a catalog without a database: a table users with a denied password, a table t and some functions.
func MadeCatalog() *catalog {
	c := newCatalog([]string{"public"}, exec.Policy{})
	for i, columns := range [][]string{{"id", "name", "password"}, {"a", "b"}} {
		r := &relation{oid: uint32(20000 + i), schema: "public", name: []string{"users", "t"}[i], kind: "r", columns: map[string]bool{}, names: columns}
		for _, column := range columns {
			r.columns[column], c.columns[column] = true, true
		}
		r.reads = reads.NewRelation(r.schema, r.name, columns, func(column string) bool { return column == "password" })
		c.relations["public"] = map[string]*relation{"users": c.byOID[20000], r.name: r}
		c.byOID[r.oid] = r
	}
	for name := range listedFunctions {
		c.functions[name] = function{builtin: true, row: true}
	}
	for _, name := range []string{"pg_sleep", "lo_create", "nextval", "to_regclass"} {
		c.functions[name] = function{builtin: true, row: true, strict: true}
	}
	c.types["pg_catalog"] = map[string]string{"regclass": "is not on the list"}
	for name := range listedTypes {
		c.types["pg_catalog"][name] = ""
	}
	return c
}
