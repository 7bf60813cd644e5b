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

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Catalog is what a guard knows of a database: its relations, as one connection sees them, and what a policy makes of
// them. An engine fills in the exported fields, [Catalog.Apply] does the rest. It does not change then, and is safe for
// concurrent use.
type Catalog struct {
	Text      sqltext.Dialect // the dialect in which views are defined
	Relations []*Relation
	Rules     []Rule // those of the policy, by [ReadRules]; exec fills them in
	// Flows are the ways by which the values of one column come to stand in another one, which is then denied, or
	// sensitive, like the first: from a column to one that is generated of it, from an attribute to a column of its type.
	// What a view reads is in Relation.Under or Body.
	Flows []Flow

	// MostExpanded is how many tokens a statement may grow by, with its views, where the engine writes out what is named twice. It
	// follows from what the engine takes to compile such statements. 0: 300,000.
	MostExpanded int
	// MostBeside is how many of these tokens may stand in conditions, groups and orders, where an engine writes out what it does not in a
	// select list. 0: as many as there may be.
	MostBeside int

	restricts bool // something may not be read
	hides     bool // the policy is about tables: which ones there are is not told

	applied bool
	defined []*Relation // views that are written out, once applied
}

// Relation is a table or view with all its columns. [NewRelation] makes one.
type Relation struct {
	Schema, Name string
	View         bool // its rows are made when it is read: what it reads is read by whoever reads it

	// What the definition of a view names, read by the engine's parser as a statement is; or what it reads, where the
	// engine tells. A table has neither; a materialized view has one of them and is no View.
	Body  *Names
	Under []Read
	// Definition is the text of a view's query, from which its size is told; "": it counts as a table.
	Definition string

	// Refused is why it may not be read, whatever the policy says: its definition cannot be read, or calls what may not be
	// called; nil: it may.
	Refused error
	Hidden  bool              // a rule of the engine's denies it as a policy does
	Barred  map[string]string // columns that may not be used, though the policy allows them, and why
	Unseen  []string          // columns that a star leaves out, and so does a splice: where r has a rule, no statement names one
	Own     any               // what the engine keeps of it
	Unruly  string            // what it is, where no rule can be about its rows: "a virtual table"
	// Holds are relations whose rows it shows as its own: tables that inherit from it, its partitions, what a full-text table
	// is about. Part says that it is a partition, which a policy need not name.
	Holds []*Relation
	Part  bool

	rules     []*Rule
	columns   []string // sorted
	families  []Family // by column
	denied    []bool   // by column
	hides     bool
	denies    bool // it may not be read at all
	judged    bool
	judging   bool
	sized     bool
	expansion sqltext.Expansion
}

// Flow is a way by which values of one column come to stand in another.
type Flow struct {
	From   *Relation
	Column string
	To     *Relation
	As     string
}

// NewRelation makes a Relation.
func NewRelation(schema, name string, columns []string) *Relation {
	r := &Relation{Schema: schema, Name: name, columns: slices.Clone(columns), families: make([]Family, len(columns)), denied: make([]bool, len(columns))}
	slices.Sort(r.columns)
	return r
}

// Compares says of which family the type of each column is. Without it, a statement that names a column may fail: see
// [Catalog.CannotFail].
func (r *Relation) Compares(family func(column string) Family) {
	for i, name := range r.columns {
		r.families[i] = family(name)
	}
}

// RelationOf makes the Relation of a table, which stands in a schema of that name.
func RelationOf(schema string, t *schema.Table) *Relation {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return NewRelation(schema, t.Name, names)
}

// Columns returns the names of r's columns, sorted.
func (r *Relation) Columns() []string { return r.columns }

// Has reports whether r has a column of that name, whatever its case.
func (r *Relation) Has(column string) bool {
	for range r.places(fold(column)) {
		return true
	}
	return false
}

// places are those of the columns whose folded name is given.
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

// Hides reports whether some column of r may not be read.
func (r *Relation) Hides() bool { return r.hides }

// Denies reports whether the column of that name, whatever its case, may not be read.
func (r *Relation) Denies(column string) bool {
	for i := range r.places(fold(column)) {
		if r.denied[i] {
			return true
		}
	}
	return false
}

// Allowed reports whether r may be read, as far as the policy goes.
func (r *Relation) Allowed() bool { return !r.denies }

// Restricts reports whether anything may not be read: a policy says so, or a column is called as secrets are.
func (c *Catalog) Restricts() bool { return c.restricts }

// Apply decides which relations and columns may be read: those that p denies may not, nor what shows them. It is called
// once. Its error is a *PolicyError where p does not fit the database; the catalog may be used all the same.
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
		return &PolicyError{Unknown: wrong}
	}
	return c.Missing(p)
}

// Spread returns the columns for which seed holds and those into which their values flow. A view is not followed: see
// [Catalog.SpreadThroughViews].
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

// SpreadThroughViews is Spread, and adds every column of a view, also of a materialized one, that reads one of the
// columns: nobody knows under which name it shows it.
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

// reads is what a view itself reads.
func (r *Relation) reads() []Read {
	if r.Body != nil {
		return r.Body.Columns()
	}
	return r.Under
}

// judge decides on a view by what it reads, and on those under it first. One that may not be read whole is refused whole.
// The refusal, which a prompt may show, does not say what that is.
func (c *Catalog) judge(r *Relation) {
	if r.judged {
		return
	}
	r.judging = true
	defer func() { r.judged, r.judging = true, false }()
	const closed = "reads what may not be read"
	refuse := func(reason sqltext.Reason, detail string) {
		if r.Refused == nil {
			r.Refused = &RefusedError{Reason: reason, Detail: "the view " + r.Name + " " + detail}
		}
	}
	for _, u := range r.reads() {
		if u.Relation.judging {
			refuse(reasonTable, "reads itself")
			return
		}
		c.judge(u.Relation)
	}
	switch {
	case r.Refused != nil:
	case r.Body != nil:
		var refused *RefusedError
		switch err := c.Permit(r.Body); {
		case err == nil:
		case errors.As(err, &refused) && (refused.Reason == reasonTable || refused.Reason == reasonColumn):
			refuse(reasonTable, closed)
		default:
			refuse(reasonTable, "calls what may not be: "+detailOf(err))
		}
	default:
		for _, u := range r.Under {
			if u.Relation.denies || u.Relation.Refused != nil {
				refuse(reasonTable, closed)
			}
			for _, column := range u.Columns {
				if u.Relation.Denies(column) {
					refuse(reasonColumn, closed)
				}
			}
		}
	}
}

// detailOf is the text of a refusal without the words around it.
func detailOf(err error) string {
	if refused, ok := err.(*RefusedError); ok {
		return refused.Detail
	}
	return err.Error()
}

// Missing returns a *PolicyError about the entries of p that name no table or column of c; nil: each one names something.
// It needs no [Catalog.Apply], and changes nothing.
func (c *Catalog) Missing(p Policy) error {
	e := &PolicyError{}
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

// NotReadable is the refusal of a table that may not be read. With a policy about tables, an absent one has the same.
func NotReadable(name string) *RefusedError {
	name = fold(name)
	e := Refuse(reasonTable, "%s: no such table, or you may not read it", name)
	if e.Name = name; systemName.MatchString(name) {
		e.Detail += "; it is the engine's own: Engine.Schema, and the command schema, tell which tables there are"
	}
	return e
}

// NotReadableColumn is the refusal of a column that may not be read. how is what reads it without its name: "*", "u.*", "a
// NATURAL join"; "": the statement names it.
func NotReadableColumn(table, column, how string) *RefusedError {
	if how == "" {
		return Refuse(reasonColumn, "%s.%s may not be read", table, column)
	}
	e := Refuse(reasonColumn, "%s would read columns of %s that may not be read: name the columns that you need", how, table)
	e.Name = "*"
	return e
}

// Permit refuses a statement, or the definition of a view, that names what may not be read. Where a policy is about tables
// it tells by no word, nor by the table that it names, which of them are there.
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
			return Refuse(reasonColumn, "an index hint may give the order of a column of %s that may not be read", r.Name)
		}
	}
	return n.denied()
}

// Reads returns what a statement reads: what it names, and what lies under its views.
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

// Seen is the engine's own word on what a statement reads, without running it.
type Seen struct {
	// Relations are those that the engine says it reads. Each has to be one that the statement or a view of it names, and
	// that may be read. Told: the engine tells them, so a statement with relations and without an entry here is refused.
	Relations []*Relation
	Told      bool
	// Reads is what the engine tells of relations and columns, views and what lies under them included, and Functions
	// what is called. Not nil, they take the place of what the names tell.
	Reads     []Read
	Functions []string
	Inexact   bool // Reads may have more columns than are read
}

// Confirm refuses a statement of which the engine says that it reads something else than the names tell. reads is what
// [Catalog.Reads] returned for them.
func (c *Catalog) Confirm(reads []Read, seen Seen) error {
	if seen.Told && len(seen.Relations) == 0 && len(reads) > 0 {
		return Refuse(reasonGuard, "the engine does not tell what the statement reads")
	}
	for _, r := range seen.Relations {
		switch {
		case r.denies || r.Refused != nil && c.hides:
			return Refuse(reasonTable, "it reads what is no table that may be read")
		case r.Refused != nil:
			return r.Refused
		case !slices.ContainsFunc(reads, func(u Read) bool { return u.Relation == r }):
			return Refuse(reasonGuard, "the engine reads %s, which the text does not name", r.Name)
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
