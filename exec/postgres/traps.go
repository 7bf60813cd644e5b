package postgres

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// readTraps finds the columns beside which a mere '…' calls a user's function: the engine makes it a value of the
// column's type while it parses, and a domain in that type has a CHECK that calls. No cast shows in the text, so such a
// column may not be named.
func (c *catalog) readTraps(ctx context.Context, q bridge.Queryer, s stored) error {
	calls := map[uint32]string{} // of domains: what their CHECK does; views are among them, which are no types
	for id, refusal := range s.refusals {
		if refusal != "" {
			calls[id] = refusal
		}
	}
	for id, used := range s.types {
		for _, t := range used {
			if refusal := c.domains[t]; refusal != "" && calls[id] == "" {
				calls[id] = "casts to a domain that " + refusal
			}
		}
	}
	if len(calls) == 0 {
		return nil
	}
	parts := map[uint32][]uint32{} // of a type: what its values are made of
	err := read(ctx, q, `SELECT t.oid::bigint, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END::bigint FROM pg_catalog.pg_type t
 WHERE t.typtype = 'd' OR t.typcategory = 'A'
 UNION ALL SELECT t.oid::bigint, a.atttypid::bigint FROM pg_catalog.pg_type t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid
 WHERE t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped
 UNION ALL SELECT rngtypid::bigint, rngsubtype::bigint FROM pg_catalog.pg_range
 UNION ALL SELECT coalesce(pg_catalog.to_jsonb(r)->>'rngmultitypid', '0')::bigint, r.rngsubtype::bigint FROM pg_catalog.pg_range r`, func(scan func(...any) error) error {
		var whole, part uint32
		err := scan(&whole, &part)
		parts[whole] = append(parts[whole], part)
		return err
	})
	if err != nil {
		return err
	}
	seen := map[uint32]bool{}
	var trap func(id uint32) string
	trap = func(id uint32) string {
		if calls[id] != "" || seen[id] {
			return calls[id]
		}
		seen[id] = true
		for _, part := range parts[id] {
			if detail := trap(part); detail != "" {
				calls[id] = detail
				break
			}
		}
		delete(seen, id)
		return calls[id]
	}
	for _, r := range c.byOID {
		for column, id := range r.types {
			if detail := trap(id); detail != "" {
				if r.traps == nil {
					r.traps = map[string]string{}
				}
				r.traps[column] = detail
			}
		}
	}
	return nil
}

// refusedFor says what a refusal for a column is about: its type, where the policy has nothing against it.
func refusedFor(refused *exec.RefusedError, relations []*relation) *exec.RefusedError {
	for _, r := range relations {
		for column, detail := range r.traps {
			if !r.denied[column] && strings.HasPrefix(refused.Detail, r.name+"."+column+" may not be read") {
				return refuse(exec.ReasonFunction, r.name+"."+column+" has a type with a CHECK that "+detail)
			}
		}
	}
	return refused
}
