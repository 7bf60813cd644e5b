package postgres

import (
	"maps"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// firstUser is the first OID that the engine itself does not use.
const firstUser = 16384

// typ is a type.
type typ struct {
	name      string
	kind      string   // of pg_type: b base or array, c row, d domain, e enumeration, m multirange, r range
	category  string   // "A" is an array
	of        uint32   // the base of a domain, the element of an array, the subtype of a range
	relation  uint32   // of a row
	parts     []uint32 // of, and the attributes of a row
	own       bool     // of the engine's schema
	extension bool
	io        string // the function of a user that reads or writes its values

	base, labels, comment string // what the schema tells: of a domain, of an enumeration, of both

	refusal string // why a value may not be cast to it; "": it may
	apart   bool   // only a value that is of this type, or untyped, can be an argument of this type
}

func (r *reading) readTypes() {
	for _, row := range r.results[readTypes] {
		t := &typ{
			name: row[2], kind: row[3], category: row[4], relation: row.oid(6), of: row.oid(7), own: row[1] == "pg_catalog",
			extension: row.is(8), base: row[9], labels: row[10], comment: row[11], io: row[12],
		}
		if t.of != 0 {
			t.parts = []uint32{t.of}
		}
		t.apart = row.oid(0) >= firstUser && !row.is(5) && slices.Contains([]string{"b", "c", "e", "m", "r"}, t.kind)
		r.types[row.oid(0)] = t
		if t.kind == "c" || row[1] == "information_schema" {
			continue
		}
		if r.typeNames[row[1]] == nil {
			r.typeNames[row[1]] = map[string]*typ{}
		}
		r.typeNames[row[1]][t.name] = t
	}
	for _, row := range r.results[readCasts] {
		if t := r.types[row.oid(1)]; t != nil && row.is(2) {
			t.apart = false
		}
	}
	for _, t := range r.types {
		if of := r.types[t.of]; t.category == "A" && (of == nil || of.kind == "c" || !of.apart) {
			t.apart = false
		}
	}
}

// within returns a type and all types of which its values may hold one.
func (c *catalog) within(oid uint32) map[uint32]bool {
	found := map[uint32]bool{}
	var add func(oid uint32)
	add = func(oid uint32) {
		if found[oid] {
			return
		}
		found[oid] = true
		if t := c.types[oid]; t != nil {
			for _, part := range t.parts {
				add(part)
			}
		}
	}
	add(oid)
	return found
}

// inside is within, in order. It is found once a type.
func (r *reading) inside(oid uint32) []uint32 {
	if r.parts[oid] == nil {
		r.parts[oid] = slices.Sorted(maps.Keys(r.within(oid)))
	}
	return r.parts[oid]
}

// judgeTypes decides to which types a statement may cast. One of a user is a type to cast to if it is an enumeration,
// belongs to an extension, or is a domain over such a type whose CHECK calls nothing that is not on the list: the engine
// runs a CHECK with every cast. checks are what CHECKs do that they may not, and casts the types in them.
func (r *reading) judgeTypes(checks map[uint32]string, uses map[uint32][]uint32) {
	casts := map[uint32]string{} // functions of users' casts
	for _, row := range r.results[readCasts] {
		if row[3] != "" && !r.allows(row[3]) {
			casts[row.oid(1)] = row[3]
			if row.is(2) && row.oid(1) < firstUser {
				casts[row.oid(0)] = row[3]
			}
		}
	}
	var refusal func(oid uint32, depth int) string
	refusal = func(oid uint32, depth int) string {
		t := r.types[oid]
		switch {
		case t == nil || depth > 100:
			return "is not on the list"
		case casts[oid] != "":
			return "is cast by " + unlisted(casts[oid])
		case checks[oid] != "":
			return "has a CHECK that " + checks[oid]
		case slices.ContainsFunc(uses[oid], func(used uint32) bool { return refusal(used, depth+1) != "" }):
			return "has a CHECK with a type that is not on the list"
		case t.kind == "d" || t.of != 0 && t.category == "A":
			return refusal(t.of, depth+1)
		case t.own && !listedTypes[t.name] || !t.own && t.kind != "e" && (t.kind != "b" || !t.extension):
			return "is not on the list"
		}
		return ""
	}
	for oid, t := range r.types {
		t.refusal = refusal(oid, 0)
	}
}

// typeNamed looks for a type as the engine does for a name without a schema; nil where there is none.
func (c *catalog) typeNamed(name string) *typ {
	for _, s := range c.search {
		if t := c.typeNames[s][name]; t != nil {
			return t
		}
	}
	return nil
}

// typed refuses a cast to a type that is not on the list. A type that does not exist is the engine's to tell: nothing
// is called.
func (c *catalog) typed(parts []string) (*typ, error) {
	var t *typ
	switch len(parts) {
	case 1:
		t = c.typeNamed(parts[0])
	case 2:
		t = c.typeNames[parts[0]][parts[1]]
	}
	refusal := "is not on the list"
	if t != nil {
		refusal = t.refusal
	}
	if refusal == "" {
		return t, nil
	}
	return nil, guard.Refuse(exec.ReasonFunction, "the type %s %s", parts[len(parts)-1], refusal)
}
