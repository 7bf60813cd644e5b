package guard

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Catalog describes a database to a guard: its relations, as one connection sees them, and what a policy allows. An
// engine fills in the exported fields, then [Catalog.Apply] computes the rest. After that the Catalog does not change,
// and is safe for concurrent use.
type Catalog struct {
	Text      sqltext.Dialect // the dialect in which views are defined
	Relations []*Relation
	Rules     []Rule // the policy's rules, from [Policy.ReadRules]; exec fills them in
	// Flows are pairs of columns in which values of the first reach the second: a column and one generated from it,
	// or an attribute and a column of its type. If the first column is denied or sensitive, so is the second. The
	// columns that a view reads are in Relation.Under or Body.
	Flows []LineageEdge

	// MostExpanded is the number of tokens by which a statement and its views may grow. It is for engines that write
	// out a subquery at each use. It depends on how long the engine takes to compile such statements. 0: 300,000.
	MostExpanded int
	// MostBeside limits how many of these tokens may be in conditions, groups and orders. It is for engines that
	// write out subqueries there, but not in a select list. 0: no separate limit.
	MostBeside int

	restricts bool // some relation or column may not be read
	hides     bool // the policy is about tables: errors do not reveal which ones exist

	applied bool
	defined []*Relation // views that are written out, after Apply
}

// Relation is a table or view with all its columns. Create it with [NewRelation].
type Relation struct {
	Schema, Name string
	View         bool // a view, whose tables a statement reads too

	// Body holds the names in the definition of a view, as the engine's parser reads them, or what the view reads, if
	// the engine reports it. A table has neither. A materialized view has one of them, and View is false for it.
	Body  *Names
	Under []Read
	// Definition is the text of a view's query, which gives its size; "": it counts as a table.
	Definition string

	// Refused is the reason why it may not be read under any policy: its definition cannot be read, or it calls a
	// forbidden function. nil: it may be read.
	Refused error
	Hidden  bool              // a rule of the engine denies it, as a policy does
	Barred  map[string]string // columns that may not be used although the policy allows them, and the reason
	Unseen  []string          // columns that a star and a splice leave out; if r has a rule, statements may not name them
	Own     any               // the engine's own data
	Row     string            // a name for the position of a row, by which a fence sorts; "": the key does
	Unruly  string            // the kind of relation, if it cannot have a row rule: "a virtual table"
	// Holds are relations whose rows it shows as its own: tables that inherit from it, its partitions, or the table of
	// a full-text table. Part marks it as a partition, which a policy need not name.
	Holds []*Relation
	Part  bool

	rules     []*Rule
	columns   []string // sorted
	families  []string // by column
	traits    []traits // by column
	key       []string // see Orders
	denied    []bool   // by column
	hides     bool
	denies    bool // the relation may not be read at all
	judged    bool
	judging   bool
	sized     bool
	expansion sqlshape.Expansion
}

// LineageEdge is a way in which values of one column reach another.
type LineageEdge struct {
	From   *Relation
	Column string
	To     *Relation
	As     string
}

// NewRelation returns a new Relation.
func NewRelation(schema, name string, columns []string) *Relation {
	r := &Relation{Schema: schema, Name: name, columns: slices.Clone(columns), families: make([]string, len(columns)),
		traits: make([]traits, len(columns)), denied: make([]bool, len(columns))}
	slices.Sort(r.columns)
	return r
}

// Compares sets the family of each column's type. Values of one family can be compared with each other and with
// constants, and no comparison fails on a value:
//
//   - "number", "float", "text", "time", "bool"
//   - "any": the engine can compare any two values
//   - "other": compared only with texts, which the engine parses before it reads a row
//   - "": the column may fail when it is read (a computed column), or when it is compared
//
// Without it, a statement that names a column may fail: see [Catalog.CannotFail].
func (r *Relation) Compares(family func(column string) string) {
	for i, name := range r.columns {
		r.families[i] = family(name)
	}
}

// RelationOf returns the Relation for a table in the named schema.
func RelationOf(schema string, t *schema.Table) *Relation {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return NewRelation(schema, t.Name, names)
}

// Columns returns the names of r's columns, sorted.
func (r *Relation) Columns() []string { return r.columns }

// Has reports whether r has a column with that name, ignoring case.
func (r *Relation) Has(column string) bool {
	for range r.places(fold(column)) {
		return true
	}
	return false
}

// places returns the indexes of the columns with the given folded name.
func (r *Relation) places(folded string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, name := range r.columns {
			foreign := strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 })
			if (schema.EqualFold(name, folded) || foreign && fold(name) == folded) && !yield(i) {
				return
			}
		}
	}
}

// exactly is Has for an engine to which names in other letters are other names.
func (r *Relation) exactly(column string) bool {
	_, ok := slices.BinarySearch(r.columns, column)
	return ok
}

// Hides reports whether r has a column that may not be read.
func (r *Relation) Hides() bool { return r.hides }

// Denies reports whether the column with that name, ignoring case, may not be read.
func (r *Relation) Denies(column string) bool {
	for i := range r.places(fold(column)) {
		if r.denied[i] {
			return true
		}
	}
	return false
}

// Allowed reports whether the policy allows reading r.
func (r *Relation) Allowed() bool { return !r.denies }

// Restricts reports whether anything may not be read, by a policy or because the name of a column looks secret.
func (c *Catalog) Restricts() bool { return c.restricts }

// Apply computes which relations and columns may be read. It excludes those that p denies, and the relations that show
// them. Call it once. It returns a *exec.PolicyError if p does not match the database; the catalog can still be used.
func (c *Catalog) Apply(p Policy) error {
	c.restricts, c.hides = p.Restricts(), len(p.AllowTables) > 0 || len(p.DenyTables) > 0 || p.Scoped()
	slices.SortFunc(c.Relations, byName)
	wrong := c.putRules()
	denied := c.Spread(func(r *Relation, column string) bool { return !p.AllowsColumn(r.Schema, r.Name, column) })
	for _, r := range c.Relations {
		r.denies = r.Hidden || !p.Allows(r)
		c.hides = c.hides || r.Hidden
		for i, column := range r.columns {
			r.denied[i] = denied[r][column]
			c.restricts = c.restricts || r.denied[i]
			r.hides = r.hides || r.denied[i] || r.Barred[column] != ""
		}
	}
	wrong = append(wrong, c.pastRules(p)...)
	c.defined, c.applied = c.written(), true
	for _, r := range c.Relations {
		c.size(r)
		c.judge(r)
	}
	if len(wrong) > 0 {
		return &execerr.PolicyError{Unknown: wrong}
	}
	return c.Missing(p)
}

// Spread returns the columns for which seed returns true and the columns into which their values flow. It does not
// follow views: see [Catalog.SpreadThroughViews].
func (c *Catalog) Spread(seed func(r *Relation, column string) bool) ReadSet {
	found := ReadSet{}
	add := func(r *Relation, column string) bool { return r.exactly(column) && found.Add(r, column) }
	for _, r := range c.Relations {
		for _, column := range r.columns {
			if seed(r, column) {
				add(r, column)
			}
		}
	}
	for grown := len(found) > 0; grown; {
		grown = false
		for _, f := range c.Flows {
			grown = found[f.From][f.Column] && add(f.To, f.As) || grown
		}
	}
	return found
}

// SpreadThroughViews is Spread with views. If a view or a materialized view reads one of the columns, it adds every
// column of the view. The name under which the view shows the column is unknown.
func (c *Catalog) SpreadThroughViews(seed func(r *Relation, column string) bool) ReadSet {
	found := c.Spread(seed)
	for grown := len(found) > 0; grown; {
		grown = false
		for _, r := range c.Relations {
			if len(found[r]) == len(r.columns) || !slices.ContainsFunc(r.reads(), func(u Read) bool {
				return slices.ContainsFunc(u.Columns, func(column string) bool { return found[u.Relation][column] })
			}) {
				continue
			}
			grown = found.Add(r, r.columns...) || grown
		}
	}
	return found
}

// reads returns what a view itself reads.
func (r *Relation) reads() []Read {
	if r.Body != nil {
		return r.Body.Columns()
	}
	return r.Under
}

// judge decides on a view by what it reads, and on those under it first. One that may not be read whole is refused
// whole. The refusal, which a prompt may show, does not say what that is.
func (c *Catalog) judge(r *Relation) {
	if r.judged {
		return
	}
	r.judging = true
	defer func() { r.judged, r.judging = true, false }()
	const closed = "reads what may not be read"
	refuse := func(reason string, detail string) {
		if r.Refused == nil {
			r.Refused = &execerr.RefusedError{Reason: reason, Detail: "the view " + r.Name + " " + detail}
		}
	}
	for _, u := range r.reads() {
		if u.Relation.judging {
			refuse("table", "reads itself")
			return
		}
		c.judge(u.Relation)
	}
	switch {
	case r.Refused != nil:
	case r.Body != nil:
		var refused *execerr.RefusedError
		switch err := c.Permit(r.Body); {
		case err == nil:
		case errors.As(err, &refused) && (refused.Reason == "table" || refused.Reason == "column"):
			refuse("table", closed)
		default:
			refuse("table", "calls what may not be: "+detailOf(err))
		}
	default:
		for _, u := range r.Under {
			if u.Relation.denies || u.Relation.Refused != nil {
				refuse("table", closed)
			}
			for _, column := range u.Columns {
				if u.Relation.Denies(column) {
					refuse("column", closed)
				}
			}
		}
	}
}

// detailOf is the text of a refusal without the words around it.
func detailOf(err error) string {
	if refused, ok := err.(*execerr.RefusedError); ok {
		return refused.Detail
	}
	return err.Error()
}

// Missing returns a *exec.PolicyError with the entries of p that name no table or column of c; nil: all entries match.
// It needs no [Catalog.Apply], and changes nothing.
func (c *Catalog) Missing(p Policy) error {
	e := &execerr.PolicyError{}
	check := func(field string, entries []string, names func(entry string, r *Relation) bool) {
		for _, entry := range entries {
			if !slices.ContainsFunc(c.Relations, func(r *Relation) bool { return names(entry, r) }) {
				e.Unknown = append(e.Unknown, field+": "+strconv.Quote(entry))
			}
		}
	}
	table := func(entry string, r *Relation) bool { return matches(entry, r.Schema, r.Name) }
	check("AllowTables", p.AllowTables, table)
	check("DenyTables", p.DenyTables, table)
	check("Rows", slices.Sorted(maps.Keys(p.Rows)), table)
	check("Shared", p.Shared, table)
	check("DenyColumns", p.DenyColumns, func(entry string, r *Relation) bool {
		return slices.ContainsFunc(r.columns, func(column string) bool { return matches(entry, r.Schema, r.Name, column) })
	})
	if len(e.Unknown) == 0 {
		return nil
	}
	return e
}

var systemName = regexp.MustCompile(`^(?:"?\w+"?\.)?"?sqlite_|^information_schema\.|^pg_catalog\.|^mysql\.|^performance_schema\.`)

// NotReadable returns the refusal of a table that may not be read. With a policy about tables, a missing table returns
// the same error.
func NotReadable(name string) *execerr.RefusedError {
	name = fold(name)
	e := Refuse("table", "%s: no such table, or you may not read it", name)
	if e.Name = name; systemName.MatchString(name) {
		e.Detail += "; it is the engine's own, and the schema tells which tables there are"
	}
	return e
}

// Permit refuses a statement, or the definition of a view, that names something that may not be read. If a policy is
// about tables, neither the text of the error nor its table name reveals which tables exist.
func (c *Catalog) Permit(n *Names) error {
	if c.hides {
		unreadable := slices.Clone(n.Absent)
		for _, r := range n.Relations() {
			if r.denies {
				unreadable = append(unreadable, r.Name)
			}
		}
		if len(unreadable) > 0 {
			return NotReadable(slices.MinFunc(unreadable, func(a, b string) int { return strings.Compare(fold(a), fold(b)) }))
		}
	}
	for _, r := range n.Relations() {
		switch {
		case r.Refused != nil:
			return r.Refused
		case r.hides && len(n.Indexes) > 0:
			return Refuse("column", "an index hint may give the order of a column of %s that may not be read", r.Name)
		}
	}
	return n.denied()
}

// Reads returns what a statement reads: the relations that it names, and those under its views.
func (c *Catalog) Reads(n *Names) []Read {
	found := ReadSet{}
	var add func(reads []Read)
	add = func(reads []Read) {
		for _, u := range reads {
			if found.Add(u.Relation, u.Columns...) && u.Relation.View {
				add(u.Relation.reads())
			}
		}
	}
	add(n.Columns())
	return found.Reads()
}

// Functions returns the functions that a statement and its views call, sorted.
func (c *Catalog) Functions(n *Names) []string {
	all := []string{}
	seen := map[*Names]bool{}
	var add func(n *Names)
	add = func(n *Names) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		all = append(all, n.Functions...)
		for _, r := range n.Relations() {
			if r.View {
				add(r.Body)
			}
		}
	}
	add(n)
	slices.Sort(all)
	return slices.Compact(all)
}

// EngineReport is the engine's own report of what a statement reads. The engine does not run the statement for it.
type EngineReport struct {
	// Relations are those that the engine reports as read. The statement or one of its views must name each, and each
	// must be allowed. Told means that the engine reports relations. Then a statement is refused if the report lacks
	// one of its relations.
	Relations []*Relation
	Told      bool
	// Reads lists the relations and columns that the engine reports, including views and the relations under them.
	// Functions lists the functions called. If they are not nil, they replace what the names show.
	Reads     []Read
	Functions []string
	Inexact   bool // Reads may list more columns than are read
}

// Confirm refuses a statement if the engine reports a read that the names do not show. reads is the result of
// [Catalog.Reads] for the same names.
func (c *Catalog) Confirm(reads []Read, seen EngineReport) error {
	if seen.Told && len(seen.Relations) == 0 && len(reads) > 0 {
		return Refuse("guard", "the engine does not tell what the statement reads")
	}
	for _, r := range seen.Relations {
		switch {
		case r.denies || r.Refused != nil && c.hides:
			return Refuse("table", "it reads what is no table that may be read")
		case r.Refused != nil:
			return r.Refused
		case !slices.ContainsFunc(reads, func(u Read) bool { return u.Relation == r }):
			return Refuse("guard", "the engine reads %s, which the text does not name", r.Name)
		}
	}
	return nil
}

func sortReads(reads []Read) {
	slices.SortFunc(reads, func(a, b Read) int { return byName(a.Relation, b.Relation) })
}

func byName(a, b *Relation) int {
	return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
}
