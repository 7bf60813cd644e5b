package postgres

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/reads"
	"github.com/texttosql/texttosql/sqltext"
)

// permit decides on the locks that the engine took when it prepared the statement of n: on what it reads, as it
// understood the names, and on nothing else.
func (c *catalog) permit(n *named, locks []lock) (exec.Analysis, error) {
	a := exec.Analysis{Kind: "select", Tables: []exec.TableRead{}, Functions: append([]string{}, n.functions...), Inexact: true}
	if len(locks) == 0 && len(n.relations) > 0 {
		return a, refuse(exec.ReasonGuard, "the server does not tell what the statement reads")
	}
	read := map[*relation]map[string]bool{}
	add := func(r *relation) map[string]bool {
		if read[r] == nil {
			read[r] = map[string]bool{}
		}
		return read[r]
	}
	known := map[*reads.Relation]*relation{}
	for _, r := range n.relations {
		known[r.reads] = r
	}
	for _, r := range n.reads.Columns() {
		columns := add(known[r.Relation])
		for _, column := range r.Columns {
			columns[column] = true
		}
	}
	views := slices.Clone(n.relations)
	for i := 0; i < len(views); i++ {
		if views[i].kind != "v" { // a materialized view has rows of its own
			continue
		}
		for _, p := range views[i].under {
			columns := add(p.relation)
			for column := range p.columns {
				columns[column] = true
			}
			if !slices.Contains(views, p.relation) {
				views = append(views, p.relation)
			}
		}
	}
	for _, l := range locks {
		r := c.byOID[l.relation]
		switch {
		case r == nil || r.refusal != nil && c.hides:
			return a, refuse(exec.ReasonTable, "it reads what is no table that may be read")
		case r.refusal != nil:
			return a, r.refusal
		case l.mode != "AccessShareLock":
			return a, &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: "it does more than read " + r.name, Writes: true}
		case read[r] == nil:
			return a, refuse(exec.ReasonGuard, "the engine reads "+r.name+", which the text does not name")
		}
	}
	for r, columns := range read {
		t := exec.TableRead{Schema: r.schema, Table: r.name}
		for _, column := range r.names {
			if columns[column] {
				t.Columns = append(t.Columns, column)
			}
		}
		slices.Sort(t.Columns)
		a.Tables = append(a.Tables, t)
	}
	slices.SortFunc(a.Tables, func(a, b exec.TableRead) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Table, b.Table))
	})
	return a, nil
}
