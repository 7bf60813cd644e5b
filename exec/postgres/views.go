package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// stored is what the stored trees of views and of the CHECKs of domains use, by OID of the view or domain.
type stored struct {
	refusals map[uint32]string   // why it may not be used: "calls f"
	whole    map[uint32]bool     // it takes a row as a value, which no dependency tells
	types    map[uint32][]uint32 // user's types that it casts to, or has constants of
}

// readStored reads the trees. The engine keeps dependencies on users' objects beside them, and none on its own.
func (c *catalog) readStored(ctx context.Context, q bridge.Queryer) (stored, error) {
	s := stored{map[uint32]string{}, map[uint32]bool{}, map[uint32][]uint32{}}
	err := read(ctx, q, `WITH texts AS (
 SELECT r.ev_class AS id, r.ev_action::text AS body, 'pg_catalog.pg_rewrite'::regclass AS class, r.oid AS object FROM pg_catalog.pg_rewrite r
 JOIN pg_catalog.pg_class c ON c.oid = r.ev_class JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE r.ev_type = '1' AND c.relkind IN ('v', 'm') AND `+users("n")+`
 UNION ALL SELECT k.contypid, k.conbin::text, 'pg_catalog.pg_constraint'::regclass, k.oid FROM pg_catalog.pg_constraint k
 JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.contypid <> 0 AND k.conbin IS NOT NULL AND `+users("n")+`),
 used AS (SELECT DISTINCT t.id, m[1] AS what, m[2]::oid AS used FROM texts t,
 pg_catalog.regexp_matches(t.body, ':(funcid|opfuncid|aggfnoid|winfnoid|relid|varattno) (\d+)', 'g') m WHERE m[1] <> 'varattno' OR m[2] = '0'
 UNION SELECT t.id, 'opfuncid', o.oprcode::oid FROM texts t JOIN pg_catalog.pg_depend d ON d.classid = t.class AND d.objid = t.object
 AND d.refclassid = 'pg_catalog.pg_operator'::regclass JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid
 UNION SELECT t.id, 'type', d.refobjid FROM texts t JOIN pg_catalog.pg_depend d ON d.classid = t.class AND d.objid = t.object
 AND d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid <> t.id)
 SELECT u.id::bigint, u.what, u.used::bigint, coalesce(n.nspname::text, ''), coalesce(p.proname::text, ''), coalesce(p.provolatile <> 'v'
 AND p.oid IN (`+ofExtensions("pg_proc")+`) OR p.oid IN (SELECT oprcode FROM pg_catalog.pg_operator WHERE oid < 16384)
 OR p.oid IN (SELECT castfunc FROM pg_catalog.pg_cast WHERE oid < 16384), false)
 FROM used u LEFT JOIN pg_catalog.pg_proc p ON u.what IN ('funcid', 'opfuncid', 'aggfnoid', 'winfnoid') AND p.oid = u.used
 LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace ORDER BY 1, 5, 3`, func(scan func(...any) error) error {
		var id, used uint32
		var what, schemaName, name string
		var harmless bool
		if err := scan(&id, &what, &used, &schemaName, &name, &harmless); err != nil {
			return err
		}
		refusal := ""
		switch what {
		case "varattno":
			s.whole[id] = true
		case "type":
			s.types[id] = append(s.types[id], used)
		case "relid":
			if used != 0 && c.byOID[used] == nil {
				refusal = "reads a table of the system"
			}
		default:
			if !harmless && !(schemaName == "pg_catalog" && listedFunctions[name]) && !c.policyAllows(name) {
				refusal = "calls the function " + cmp.Or(name, "0") + ", which is not on the list; Policy.AllowFunctions adds to it"
			}
		}
		s.refusals[id] = cmp.Or(s.refusals[id], refusal)
		return nil
	})
	return s, err
}

// readViews tells what each view reads and refuses those that read something denied, or that do more than read.
func (c *catalog) readViews(ctx context.Context, q bridge.Queryer, s stored) error {
	under := map[*relation]map[*relation]map[string]bool{}
	err := read(ctx, q, `SELECT r.ev_class::bigint, d.refobjid::bigint, d.refobjsubid FROM pg_catalog.pg_rewrite r
 JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
 WHERE r.ev_type = '1' AND d.refobjid <> r.ev_class`, func(scan func(...any) error) error {
		var id, used uint32
		var number int
		if err := scan(&id, &used, &number); err != nil {
			return err
		}
		view, base := c.byOID[id], c.byOID[used]
		if view == nil || base == nil || view.kind != "v" && view.kind != "m" {
			return nil
		}
		if under[view] == nil {
			under[view] = map[*relation]map[string]bool{}
		}
		columns := under[view][base]
		if columns == nil {
			columns = map[string]bool{}
			under[view][base] = columns
		}
		if column, ok := base.numbers[number]; ok {
			columns[column] = true
		}
		if s.whole[id] {
			for _, column := range base.names {
				columns[column] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for view, bases := range under {
		for base, columns := range bases {
			view.under = append(view.under, part{base, columns})
		}
		slices.SortFunc(view.under, func(a, b part) int { return cmp.Compare(a.relation.oid, b.relation.oid) })
	}
	judged := map[*relation]bool{}
	var judge func(v *relation)
	judge = func(v *relation) {
		if judged[v] {
			return
		}
		judged[v] = true
		detail := s.refusals[v.oid]
		for _, id := range s.types[v.oid] {
			if refusal := c.domains[id]; detail == "" && refusal != "" {
				detail = "casts to a domain that " + refusal
			}
		}
		reason := exec.ReasonFunction
		for _, p := range v.under {
			judge(p.relation)
			if p.relation.refusal != nil && detail == "" {
				reason, detail = exec.ReasonTable, "reads "+p.relation.name+", which may not be read"
			}
			for _, column := range p.relation.names {
				if p.columns[column] && p.relation.denied[column] && detail == "" {
					reason, detail = exec.ReasonColumn, "reads "+p.relation.name+"."+column+", which may not be read"
				}
			}
		}
		if detail != "" && v.refusal == nil {
			v.refusal = refuse(reason, "the view "+v.name+" "+detail)
		}
	}
	for _, r := range c.byOID {
		if r.kind == "v" || r.kind == "m" {
			judge(r)
		}
	}
	return nil
}
