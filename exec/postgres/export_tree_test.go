package postgres

import "github.com/texttosql/texttosql/exec"

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
