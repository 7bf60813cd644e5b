package postgres

import (
	"context"
	"slices"
	"strconv"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// deny applies the policy to tables and columns.
func (c *catalog) deny(ctx context.Context, q bridge.Queryer, p exec.Policy) error {
	if !p.Restricts() {
		return nil
	}
	for _, r := range c.byOID {
		if r.refusal == nil && !p.AllowsTable(r.schema, r.name) {
			r.refusal = c.unreadable(r.schema, r.name)
		}
		for _, column := range r.names {
			if !p.AllowsColumn(r.schema, r.name, column) {
				r.denied[column] = true
			}
		}
	}
	// A parent shows the rows of its children and partitions, and a child holds rows of its parents.
	type edge struct{ child, parent *relation }
	var edges []edge
	err := read(ctx, q, "SELECT inhrelid::bigint, inhparent::bigint FROM pg_catalog.pg_inherits", func(scan func(...any) error) error {
		var child, parent uint32
		err := scan(&child, &parent)
		if e := (edge{c.byOID[child], c.byOID[parent]}); e.child != nil && e.parent != nil {
			edges = append(edges, e)
		}
		return err
	})
	if err != nil {
		return err
	}
	// A column that is generated of a denied one would give it away.
	type generated struct {
		relation *relation
		number   int
		of       int
	}
	var made []generated
	err = read(ctx, q, `SELECT a.adrelid::bigint, a.adnum::int, d.refobjsubid FROM pg_catalog.pg_attrdef a
 JOIN pg_catalog.pg_attribute t ON t.attrelid = a.adrelid AND t.attnum = a.adnum AND t.attgenerated <> ''
 JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = a.adrelid AND d.refobjsubid > 0 AND d.refobjsubid <> a.adnum
 AND (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = a.oid OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = a.adrelid AND d.objsubid = a.adnum)`,
		func(scan func(...any) error) error {
			var oid uint32
			var g generated
			err := scan(&oid, &g.number, &g.of)
			if g.relation = c.byOID[oid]; g.relation != nil {
				made = append(made, g)
			}
			return err
		})
	if err != nil {
		return err
	}
	for changed := true; changed; {
		changed = false
		share := func(from, to *relation, column, as string) {
			if from.denied[column] && to.columns[as] && !to.denied[as] {
				to.denied[as], changed = true, true
			}
		}
		for _, g := range made {
			share(g.relation, g.relation, g.relation.numbers[g.of], g.relation.numbers[g.number])
		}
		for _, e := range edges {
			for _, column := range e.child.names {
				share(e.child, e.parent, column, column)
				share(e.parent, e.child, column, column)
			}
		}
	}
	denied := map[*relation]bool{}
	for _, r := range c.byOID {
		denied[r] = !exec.Policy{DenyTables: p.DenyTables}.AllowsTable(r.schema, r.name)
	}
	spread := func(ends func(edge) (from, to *relation)) {
		for changed := true; changed; {
			changed = false
			for _, e := range edges {
				if from, to := ends(e); denied[from] && !denied[to] {
					denied[to], changed = true, true
					to.refusal = c.unreadable(to.schema, to.name)
				}
			}
		}
	}
	spread(func(e edge) (from, to *relation) { return e.parent, e.child })
	spread(func(e edge) (from, to *relation) { return e.child, e.parent })
	return nil
}

// missing returns the entries of the policy that name no table or column.
func (c *catalog) missing(p exec.Policy) (out []string) {
	check := func(field string, entries []string, names func(entry string, r *relation) bool) {
		for _, entry := range entries {
			found := false
			for _, r := range c.byOID {
				found = found || names(entry, r)
			}
			if !found {
				out = append(out, field+": "+strconv.Quote(entry))
			}
		}
	}
	table := func(entry string, r *relation) bool {
		return !exec.Policy{DenyTables: []string{entry}}.AllowsTable(r.schema, r.name)
	}
	check("AllowTables", p.AllowTables, table)
	check("DenyTables", p.DenyTables, table)
	check("DenyColumns", p.DenyColumns, func(entry string, r *relation) bool {
		return slices.ContainsFunc(r.names, func(column string) bool {
			return !exec.Policy{DenyColumns: []string{entry}}.AllowsColumn(r.schema, r.name, column)
		})
	})
	return out
}
