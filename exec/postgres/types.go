package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// A user's type is one that a statement may cast to if it is an enumeration, belongs to an extension, or is a domain
// over such a type whose CHECK calls nothing that is not on the list: the engine runs a CHECK with every cast.

// readTypes fills in c.types and c.domains: why a value may not be cast to the type, "" if it may.
func (c *catalog) readTypes(ctx context.Context, q bridge.Queryer, s stored) error {
	type known struct {
		schema, name, kind string
		of                 uint32 // the base of a domain, the element of an array
		extension          bool
	}
	types := map[uint32]known{}
	err := read(ctx, q, `SELECT t.oid::bigint, n.nspname::text, t.typname::text, t.typtype::text || t.typcategory::text,
 CASE WHEN t.typtype = 'd' THEN t.typbasetype WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END::bigint, t.oid IN (`+ofExtensions("pg_type")+`)
 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
 WHERE t.typtype IN ('b', 'd', 'e', 'r', 'm') AND (n.nspname = 'pg_catalog' OR `+users("n")+`)`, func(scan func(...any) error) error {
		var oid, of uint32
		var t known
		if err := scan(&oid, &t.schema, &t.name, &t.kind, &of, &t.extension); err != nil {
			return err
		}
		t.of = of
		types[oid] = t
		return nil
	})
	if err != nil {
		return err
	}
	casts := map[uint32]string{} // functions of users' casts, by target
	err = read(ctx, q, `SELECT k.casttarget::bigint, p.proname::text FROM pg_catalog.pg_cast k JOIN pg_catalog.pg_proc p ON p.oid = k.castfunc
 WHERE k.oid > 16383 AND p.oid NOT IN (`+ofExtensions("pg_proc")+`) ORDER BY 1, 2`, func(scan func(...any) error) error {
		var target uint32
		var name string
		err := scan(&target, &name)
		if err == nil && !c.policyAllows(name) {
			casts[target] = name
		}
		return err
	})
	if err != nil {
		return err
	}
	var refusal func(oid uint32, depth int) string
	refusal = func(oid uint32, depth int) string {
		t, ok := types[oid]
		switch {
		case !ok || depth > 100:
			return "is not on the list"
		case casts[oid] != "":
			return "is cast to by the function " + casts[oid] + ", which is not on the list; Policy.AllowFunctions adds to it"
		case s.refusals[oid] != "":
			return "has a CHECK that " + s.refusals[oid]
		case slices.ContainsFunc(s.types[oid], func(used uint32) bool { return refusal(used, depth+1) != "" }):
			return "has a CHECK with a type that is not on the list"
		case t.kind[0] == 'd' || t.of != 0 && t.kind[1] == 'A':
			return refusal(t.of, depth+1)
		case t.schema == "pg_catalog" && !listedTypes[t.name] || t.schema != "pg_catalog" && t.kind[0] != 'e' && (t.kind[0] != 'b' || !t.extension):
			return "is not on the list"
		}
		return ""
	}
	for oid, t := range types {
		if c.types[t.schema] == nil {
			c.types[t.schema] = map[string]string{}
		}
		c.types[t.schema][t.name] = refusal(oid, 0)
		if t.kind[0] == 'd' {
			c.domains[oid] = c.types[t.schema][t.name]
		}
	}
	return nil
}

// typeNamed looks for a type as the engine does for a name without a schema.
func (c *catalog) typeNamed(name string) (refusal string, known bool) {
	for _, s := range c.search {
		if refusal, known = c.types[s][name]; known {
			return refusal, true
		}
	}
	return "is not on the list", false
}

// typed refuses a cast to a type that is not on the list. A type that does not exist is the engine's to tell: nothing
// is called.
func (c *catalog) typed(parts []string) error {
	var refusal string
	switch len(parts) {
	case 1:
		refusal, _ = c.typeNamed(parts[0])
	case 2:
		var known bool
		if refusal, known = c.types[parts[0]][parts[1]]; !known {
			refusal = "is not on the list"
		}
	default:
		refusal = "is not on the list"
	}
	if refusal == "" {
		return nil
	}
	return refuse(exec.ReasonFunction, fmt.Sprintf("the type %s %s", parts[len(parts)-1], refusal))
}
