package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// catalog is what the guard knows of a database beside the relations. It does not change.
type catalog struct {
	version, snapshot string
	old               bool                       // some of it was asked before
	secured           bool                       // a table has row security
	stamps            map[string]string          // by OID; nil where no column is denied
	search            []string                   // schemas in which the engine looks for a name: pg_catalog and the path
	relations         map[string]map[string]any  // by schema and name: a *relation, or nil for one that nobody may read
	byOID             map[uint32]*guard.Relation // those that may be in a FROM
	columns           map[string]bool            // names of all columns
	functions         map[string]function        // by name, those of pg_catalog and of the path
	operators         map[string]operator        // symbols of users
	types             map[uint32]*typ
	typeNames         map[string]map[string]*typ // by schema and name
	allowed           map[string]bool            // Policy.AllowFunctions, folded
	scoped            bool                       // the policy has rules about rows
}

// relation is a row of pg_class. It stands in guard.Relation.Own.
type relation struct {
	*guard.Relation
	schema, name, kind string
	row                uint32 // its type
	shown              bool   // this user may read it
	broken             string // why it cannot be read all the same
	columns            []column
	table              *schema.Table
	policed            []guard.Read // what its policies of row security read
}

// column is a row of pg_attribute. At is its place in a schema.Table, or -1.
type column struct {
	number, at int
	name       string
	of         uint32
	written    string // its type, as the engine writes it
	family     string // none for one that is computed, or of a collation of its own: two of those cannot be compared
}

// families are those of types, by OID. Types that are not here have comparisons that can fail, or that users make.
var families = map[uint32]string{
	16: "bool", 20: "number", 21: "number", 23: "number", 1700: "number",
	700: "float", 701: "float", 25: "text", 1042: "text", 1043: "text",
	1082: "time", 1114: "time",
	1083: "other", 1184: "other", 2950: "other", // time, timestamptz, uuid
}

// reading is a catalog that is being read.
type reading struct {
	*catalog
	policy   exec.Policy
	standard string      // the default schema
	results  [][]row     // by number of the statement
	all      []*relation // in the order of readRelations
	oids     map[uint32]*relation
	barred   map[*relation]map[string]string
	calls    map[uint32]string   // types whose values call a function, and how
	parts    map[uint32][]uint32 // what inside found
	compared map[uint32]string   // types that an operator class of a user compares
	out      *exec.Catalog
}

// mostExpanded is how many tokens a statement may grow by where views with rules are written out: so large ones are
// planned within 0.3 s and 170 MB. See BenchmarkCompile.
const mostExpanded = 2_000_000

// readCatalog reads the system tables in the transaction that is open.
func (c *conn) readCatalog(ctx context.Context) (*exec.Catalog, *catalog, error) {
	p := c.config.Policy
	r := &reading{
		catalog: newCatalog(c.facts.schemas(), p), policy: p, oids: map[uint32]*relation{},
		barred: map[*relation]map[string]string{},
		calls:  map[uint32]string{}, parts: map[uint32][]uint32{}, compared: map[uint32]string{}, out: &exec.Catalog{},
	}
	for _, name := range c.facts.schemas() {
		if !strings.HasPrefix(name, "pg_") {
			r.standard = cmp.Or(r.standard, name)
		}
	}
	var err error
	allowed := slices.Sorted(maps.Keys(r.allowed))
	ask := func(texts []string) ([][]row, error) { return c.script(ctx, texts...) }
	if r.results, r.old, err = guard.QueryOnce(ctx, systemTexts(r.standard, allowed, len(p.DenyColumns) > 0),
		ask); err != nil {
		return nil, nil, fmt.Errorf("postgres: reading the catalog: %w", err)
	}
	r.version, r.snapshot = c.facts.version(r.results[readVersion])
	if len(p.DenyColumns) > 0 {
		r.stamps = map[string]string{}
		for _, row := range r.results[readStamps] {
			r.stamps[row[0]] = row[1]
		}
	}
	for _, step := range []func(){r.readTypes, r.readRelations, r.readFunctions, r.readStored, r.readDepends,
		r.readClasses, r.bar, r.readRole} {
		step()
	}
	if p.Scoped() {
		texts, _, err := guard.QueryOnce(ctx, []string{viewText}, ask)
		if err != nil {
			return nil, nil, fmt.Errorf("postgres: reading the catalog: %w", err)
		}
		for _, row := range texts[0] {
			if t := r.oids[row.oid(0)]; t != nil {
				t.Definition = strings.TrimSuffix(row[1], ";")
			}
		}
	}
	r.out.Version, r.out.Own, r.out.Schema, r.out.MostExpanded = r.version, r.catalog, r.schema(), mostExpanded
	return r.out, r.catalog, nil
}

func newCatalog(path []string, p exec.Policy) *catalog {
	c := &catalog{
		search: []string{"pg_catalog"}, relations: map[string]map[string]any{}, byOID: map[uint32]*guard.Relation{},
		columns:   map[string]bool{},
		functions: map[string]function{}, operators: map[string]operator{}, types: map[uint32]*typ{},
		typeNames: map[string]map[string]*typ{},
		allowed:   map[string]bool{}, scoped: p.Scoped(),
	}
	for _, name := range path {
		if name != "pg_catalog" {
			c.search = append(c.search, name)
		}
	}
	for _, entry := range p.AllowFunctions {
		c.allowed[schema.FoldCase(strings.Trim(entry, `"`))] = true
	}
	return c
}

func (c *catalog) onPath(schemaName string) bool {
	return schemaName != "pg_catalog" && slices.Contains(c.search, schemaName)
}

// find returns the relation that the engine means by a name, nil for one that nobody may read. ok is false where there
// is none.
func (c *catalog) find(schemaName, name string) (r *relation, ok bool) {
	search := c.search
	if schemaName != "" {
		search = []string{schemaName}
	}
	for _, s := range search {
		if found, ok := c.relations[s][name]; ok {
			r, _ := found.(*relation)
			return r, true
		}
	}
	return nil, schemaName == "information_schema" || strings.HasPrefix(schemaName, "pg_")
}

// readRelations reads tables, views and composite types, with their columns. The types are there for their attributes.
func (r *reading) readRelations() {
	for _, row := range r.results[readRelations] {
		r.readRelation(row)
	}
	for _, row := range r.results[readColumns] {
		if t := r.oids[row.oid(0)]; t != nil {
			c := column{number: row.number(1), at: -1, name: row[2], of: row.oid(3), written: row[9]}
			if row.is(10) && t.kind != "f" {
				c.family = families[c.of]
			}
			t.columns = append(t.columns, c)
			r.columns[row[2]] = r.columns[row[2]] || t.kind != "c"
		}
	}
	for oid, t := range r.oids {
		r.relate(oid, t)
	}
	for _, of := range r.types { // of a row
		if t := r.oids[of.relation]; t != nil {
			of.apart = of.apart && t.kind == "c"
			for _, c := range t.columns {
				of.parts = append(of.parts, c.of)
			}
		}
	}
	for _, t := range r.all {
		r.out.Relations = append(r.out.Relations, t.Relation)
		r.flowOfRows(t)
	}
}

func (r *reading) readRelation(row row) {
	t := &relation{schema: row[1], name: row[2], kind: row[3], row: row.oid(4), shown: row.is(6), broken: row[7]}
	if r.relations[t.schema] == nil {
		r.relations[t.schema] = map[string]any{}
	}
	r.relations[t.schema][t.name] = nil
	if t.schema == "pg_catalog" || t.kind == "S" {
		return
	}
	r.secured = r.secured || row.is(5)
	r.oids[row.oid(0)] = t
	r.all = append(r.all, t)
}

// relate makes the guard's relation of one whose columns are read.
func (r *reading) relate(oid uint32, t *relation) {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	t.Relation = guard.NewRelation(t.schema, t.name, names)
	t.Compares(func(name string) string { return t.columns[slices.Index(names, name)].family })
	t.Own, t.View, t.Barred = t, t.kind == "v", map[string]string{}
	if t.kind == "c" {
		t.Refused = guard.NotReadable(t.name)
	} else {
		r.relations[t.schema][t.name] = t
		r.byOID[oid] = t.Relation
	}
}

// orders says how rows of a table are told apart: see [guard.Relation.Orders]. A key is not one of the rows of tables
// that inherit from it.
func (t *relation) orders() {
	if t.table == nil {
		return
	}
	var key []string
	if t.kind == "p" || len(t.Holds) == 0 {
		key = guard.KeyOf(t.table, func(c *schema.Column) bool { return c.NotNull && t.families()(c.Name) != "" })
	}
	t.Orders(key, func(name string) guard.Trait {
		c, _ := t.table.Column(name)
		switch of := t.families()(name); {
		case c == nil || of == "" || of == "float" || c.Type == "bpchar":
			return guard.Trait{Sorted: true}
		case c.Type == "numeric": // 1.0 is 1.00
			return guard.Trait{Whole: true, Sorted: true}
		case of == "number":
			return guard.Trait{Exact: true, Whole: true, Sorted: true}
		}
		return guard.Trait{Exact: true, Sorted: true}
	})
}

// families returns the family of a column.
func (t *relation) families() func(name string) string {
	return func(name string) string {
		return t.columns[slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })].family
	}
}

// flowOfRows notes that whoever reads a column of a row's type reads what is in the row.
func (r *reading) flowOfRows(t *relation) {
	for _, c := range t.columns {
		for _, id := range r.inside(c.of) {
			if of := r.types[id]; of != nil && r.oids[of.relation] != nil {
				for _, attribute := range r.oids[of.relation].columns {
					r.flow(r.oids[of.relation], attribute.name, t, c.name)
				}
			}
		}
	}
}

func (r *reading) flow(from *relation, column string, to *relation, as string) {
	r.out.Flows = append(r.out.Flows, guard.LineageEdge{From: from.Relation, Column: column, To: to.Relation, As: as})
}

func (r *reading) warn(code, message string) {
	r.out.Warnings = append(r.out.Warnings, trace.Warning{Code: code, Message: message})
}

// column returns a column by its number.
func (t *relation) column(number int) *column {
	i, ok := slices.BinarySearchFunc(t.columns, number, func(c column, n int) int { return c.number - n })
	if !ok {
		return nil
	}
	return &t.columns[i]
}

// readDepends reads where values of one column come to stand in another, and what views and policies read.
func (r *reading) readDepends() {
	var edges []edge
	under := map[*relation]guard.ReadSet{}
	for _, row := range r.results[readDepends] {
		t, from := r.oids[row.oid(1)], r.oids[row.oid(2)]
		switch {
		case row[0] == "generated" && t != nil:
			made, of := t.column(row.number(2)), t.column(row.number(3))
			if made != nil && of != nil {
				r.flow(t, of.name, t, made.name)
			}
		case t == nil || from == nil || from.kind == "c":
		case row[0] == "child":
			edges = append(edges, edge{t, from})
			r.inherit(t, from)
		case row[0] == "policy":
			t.policed = append(t.policed, guard.Read{Relation: from.Relation})
		case row[0] == "view" && (t.kind == "v" || t.kind == "m"):
			if under[t] == nil {
				under[t] = guard.ReadSet{}
			}
			under[t].Add(from.Relation)
			if c := from.column(row.number(3)); c != nil {
				under[t].Add(from.Relation, c.name)
			}
		}
	}
	for _, row := range r.results[readStored] { // a view that takes a row as a value, which no dependency tells
		if row[1] == "varattno" {
			bases := under[r.oids[row.oid(0)]]
			for base := range bases {
				bases.Add(base, base.Columns()...)
			}
		}
	}
	for view, bases := range under {
		view.Under = bases.Reads()
	}
	r.hide(edges)
}

// edge is a table that inherits from another one, or is its partition.
type edge struct{ child, parent *relation }

// inherit notes that a parent shows the rows of its children and partitions, and a child holds rows of its parents.
func (r *reading) inherit(t, from *relation) {
	from.Holds, t.Part = append(from.Holds, t.Relation), t.Part || from.kind == "p"
	for _, c := range t.columns {
		r.flow(t, c.name, from, c.name)
		r.flow(from, c.name, t, c.name)
	}
}

// hide hides the tables that the policy denies. Who may not read a table may not read its children either, nor what has
// their rows.
func (r *reading) hide(edges []edge) {
	denied := exec.Policy{DenyTables: r.policy.DenyTables}
	for _, t := range r.all {
		t.Hidden = !denied.AllowsTable(t.schema, t.name)
	}
	spread := func(ends func(edge) (from, to *relation)) {
		for grown := true; grown; {
			grown = false
			for _, e := range edges {
				if from, to := ends(e); from.Hidden && !to.Hidden {
					to.Hidden, grown = true, true
				}
			}
		}
	}
	spread(func(e edge) (from, to *relation) { return e.parent, e.child })
	spread(func(e edge) (from, to *relation) { return e.child, e.parent })
}

// readStored looks at the stored trees of views and of the CHECKs of domains: what they call, and which types of users
// they cast to or have constants of.
func (r *reading) readStored() {
	refusals, types := map[uint32]string{}, map[uint32][]uint32{} // by OID of the view or domain
	for _, row := range r.results[readStored] {
		id, used, refusal := row.oid(0), row.oid(2), ""
		switch row[1] {
		case "varattno": // see readDepends
		case "type":
			types[id] = append(types[id], used)
		case "relid":
			if used != 0 && r.oids[used] == nil {
				refusal = "reads a table of the system"
			}
		default:
			listed := row[3] == "pg_catalog" && listedFunctions[row[4]] && !(r.scoped && clocks[row[4]])
			if !row.is(5) && !listed && !r.allows(row[4]) {
				refusal = "calls " + unlisted(cmp.Or(row[4], "0"))
			}
		}
		refusals[id] = cmp.Or(refusals[id], refusal)
	}
	r.judgeTypes(refusals, types)
	for id, used := range types {
		for _, t := range used {
			if of := r.types[t]; of != nil && of.kind == "d" && of.refusal != "" {
				refusals[id] = cmp.Or(refusals[id], "casts to a domain that "+of.refusal)
			}
		}
	}
	for id, refusal := range refusals {
		switch t := r.oids[id]; {
		case refusal == "":
		case t == nil:
			r.calls[id] = "a CHECK that " + refusal
		default:
			t.Refused = guard.Refuse("function", "the view %s %s", t.name, refusal)
		}
	}
}

// readClasses finds what calls functions of users that no statement names: an operator class that somebody made runs
// its functions when values are compared, sorted, grouped, joined, or looked up by an index. Such a column may not be
// used.
//
// Of the other ways in which PostgreSQL calls a function by itself, generated columns and defaults run when a row is
// written, collations have none, and the server itself keeps the functions of users from virtual columns. Calls with
// constants in an index, statistics object, CHECK or partition key are computed by the planner; they say that they are
// IMMUTABLE. Policies of row security, foreign data wrappers and casts without a function are what their owner made
// them.
func (r *reading) readClasses() {
	told := map[string]bool{}
	for _, row := range r.results[readClasses] {
		why := "the operator class " + row[3] + ", which calls " + unlisted(row[4])
		if row[3] == "" {
			why = "a range that calls " + unlisted(row[4])
		}
		if !told[why] {
			told[why] = true
			r.warn("user-operator-class", "statements may not use columns of "+why)
		}
		if id := row.oid(0); id != 0 {
			r.compared[id] = cmp.Or(r.compared[id], why)
			continue
		}
		if t := r.oids[row.oid(1)]; t != nil {
			for _, c := range t.columns {
				if n := row.number(2); n == 0 || n == c.number {
					r.lock(t, c.name, "is in an index or key of "+why)
				}
			}
		}
	}
	for _, row := range r.results[readCasts] {
		if row[3] == "" || r.allows(row[3]) || !row.is(2) {
			continue
		}
		id := row.oid(1) // of a user, or else where the value comes from
		if id < firstUser {
			id = row.oid(0)
		}
		r.calls[id] = cmp.Or(r.calls[id], "a cast by "+unlisted(row[3]))
	}
	for id, of := range r.types {
		if of.io != "" {
			r.calls[id] = cmp.Or(r.calls[id], "values that are written by "+unlisted(of.io))
		}
		if why := r.compared[id]; why != "" {
			of.refusal = cmp.Or(of.refusal, "is compared by "+why)
		}
	}
}

func (r *reading) lock(t *relation, column, why string) {
	if t.Barred[column] == "" {
		t.Barred[column] = t.name + "." + column + " " + why
	}
}

// bar locks the columns of the types that call, and what shows one that is compared. Beside a column whose type holds a
// domain with a CHECK that calls, a mere '…' calls it: the engine makes it a value of that type while it parses.
func (r *reading) bar() {
	for _, t := range r.all {
		for _, c := range t.columns {
			for _, id := range r.inside(c.of) {
				if why := r.compared[id]; why != "" {
					r.lock(t, c.name, "has a type of "+why)
				}
			}
		}
	}
	own := func(t *guard.Relation) *relation { return t.Own.(*relation) }
	shown := r.out.SpreadThroughViews(func(t *guard.Relation, column string) bool { return t.Barred[column] != "" })
	for t, columns := range shown {
		for column := range columns {
			r.lock(own(t), column, "shows a column of an operator class that calls a function which is not on the list")
		}
	}
	for _, t := range r.all {
		for _, c := range t.columns {
			for _, id := range r.inside(c.of) {
				if why := r.calls[id]; why != "" {
					r.lock(t, c.name, "has a type with "+why)
				}
			}
		}
	}
}

// readRole warns where a user with fewer rights would serve as well.
func (r *reading) readRole() {
	const role = "; the guard holds all the same, but connect as a role that may only SELECT (docs/safety.md)"
	row := r.results[readRole][0]
	super, user, owned := row.is(0), row[1], row.number(2)
	if super {
		r.warn("privileged-user", "the database user "+user+" is a superuser"+role)
	} else if owned > 0 {
		r.warn("privileged-user", fmt.Sprintf("the database user %s owns %d tables and views%s", user, owned, role))
	}
	if row.is(3) && !super {
		r.warn("temp-files-unbounded",
			"PostgreSQL lets only a superuser bound temporary files: ALTER ROLE "+user+" SET temp_file_limit = '256MB' as one")
	}
}
