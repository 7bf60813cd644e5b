package guard

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Names holds the names in a statement, with its subqueries and common table expressions, as the engine's parser found
// them.
//
// If the engine does not report which columns a statement reads, the names show them: possibly more than it reads, and
// never fewer. Scopes of names are ignored: a name reads the column of every relation that it could mean anywhere in
// the text. This keeps the code short enough to be right. If one alias means two relations, Names reports too many
// columns.
type Names struct {
	Sources []Source // each item of each FROM
	Refs    []Ref    // each place where a column may be named, including names in USING (…) and after parentheses
	Natural bool     // a NATURAL join
	// Call reports whether q.name may call the function name with the row of q, as in PostgreSQL. It is nil if the
	// engine has no such calls.
	Call func(name string) bool
	// Fields reports that fields of a column may follow its name: a.b.c may be the field c of the column b.
	Fields bool

	Absent    []string // tables that the catalog does not have, as the text writes them, each once
	Functions []string // functions called, as the engine folds their names
	Indexes   []string // indexes that the statement requests, except primary keys
	Own       any      // the engine's own data for the next check of the statement
}

// Relations returns the relations of n's sources, each once, in the order of the sources.
func (n *Names) Relations() (all []*Relation) {
	for _, s := range n.Sources {
		if s.Relation != nil && !slices.Contains(all, s.Relation) {
			all = append(all, s.Relation)
		}
	}
	return all
}

// Lacks records a table that the catalog does not have.
func (n *Names) Lacks(name string) {
	if !slices.Contains(n.Absent, name) {
		n.Absent = append(n.Absent, name)
	}
}

// Source is one item of a FROM.
type Source struct {
	Alias    string    // the name in the statement, otherwise the relation's name; "" for none
	Relation *Relation // nil for a subquery, a common table expression, a function or a whole join
	Select   int       // number of the SELECT whose FROM contains it, also inside joins
	Renamed  bool      // a list of columns follows the alias
	Joined   bool      // the alias names a whole join, or its USING (…)

	// Pos and End locate the name of the relation in the text, with its schema, in bytes. [Names.Place] sets them; End
	// is 0 if the place is unknown.
	Pos, End int
}

// Ref is one place where a column may be named.
type Ref struct {
	Path   []string // column; qualifier, column; schema, qualifier, column. With Star: the part before the star
	Star   bool
	Select int      // number of the SELECT whose FROM a star without Path means
	Except []string // columns that a star leaves out, of every relation
}

// Read lists what is read from one relation.
type Read struct {
	Relation *Relation
	Columns  []string // sorted; empty if only the rows count
}

// ReadSet collects the columns that are read, by relation.
type ReadSet map[*Relation]map[string]bool

// Add adds a relation with some of its columns, and reports whether one of them is new.
func (s ReadSet) Add(r *Relation, columns ...string) (grown bool) {
	if s[r] == nil {
		s[r], grown = map[string]bool{}, true
	}
	for _, column := range columns {
		grown = grown || !s[r][column]
		s[r][column] = true
	}
	return grown
}

// Reads returns the relations and columns of s, in the order of schema and name. It is not nil.
func (s ReadSet) Reads() []Read {
	out := make([]Read, 0, len(s))
	for r, columns := range s {
		out = append(out, Read{r, slices.Sorted(maps.Keys(columns))})
	}
	sortReads(out)
	return out
}

// Columns returns the relations of s, each once, in the order of schema and name, with the columns that are read. It
// does not list the relations under views.
func (s *Names) Columns() []Read {
	found := s.find()
	out := make([]Read, 0, len(found))
	for _, f := range found {
		read := Read{Relation: f.relation}
		for i, how := range f.how {
			if how != "" {
				read.Columns = append(read.Columns, f.relation.columns[i])
			}
		}
		out = append(out, read)
	}
	sortReads(out)
	return out
}

// denied returns the refusal of a statement that may read a column which may not be read; nil for any other one.
func (s *Names) denied() error {
	if !slices.ContainsFunc(s.Sources, func(o Source) bool { return o.Relation != nil && o.Relation.Hides() }) {
		return nil
	}
	for _, f := range s.find() {
		for i, how := range f.how {
			column := f.relation.columns[i]
			switch why := f.relation.Barred[column]; {
			case how == "":
			case f.relation.denied[i]:
				if how == named {
					how = ""
				}
				return execerr.NotReadableColumn(f.relation.Name, column, how)
			case why != "":
				return &execerr.RefusedError{Reason: "function", Detail: why}
			}
		}
	}
	return nil
}

// Reasons why a column is read without being named.
const (
	named   = "its name"
	natural = "a NATURAL join"
	renamed = "a list of columns behind an alias"
)

// found are the columns read of one relation.
type found struct {
	relation *Relation
	how      []string // by column; "" is not read
}

func (f found) column(name string) {
	for i := range f.relation.places(name) {
		f.how[i] = named
	}
}

func (f found) all(how string, except ...string) {
	for i := range f.how {
		if !slices.ContainsFunc(except, func(name string) bool { return fold(name) == fold(f.relation.columns[i]) }) {
			f.how[i] = cmp.Or(f.how[i], how)
		}
	}
}

// find is the one rule about columns.
func (s *Names) find() []found {
	f := newFinder(s)
	f.unwritten()
	for _, ref := range s.Refs {
		if ref.Star && len(ref.Path) == 0 {
			f.star(ref)
		} else {
			f.reference(ref)
		}
	}
	return f.relations
}

// finder collects the columns that the references of a statement may mean.
type finder struct {
	*Names
	relations []found
	called    []string // folded aliases of the sources
	index     map[*Relation]int
}

func newFinder(s *Names) *finder {
	f := &finder{Names: s, index: map[*Relation]int{}}
	for _, o := range s.Sources {
		f.called = append(f.called, fold(o.Alias))
		if _, ok := f.index[o.Relation]; o.Relation != nil && !ok {
			f.index[o.Relation] = len(f.relations)
			f.relations = append(f.relations, found{o.Relation, make([]string, len(o.Relation.columns))})
		}
	}
	return f
}

// of returns what is found of the relation of a source.
func (f *finder) of(o Source) found { return f.relations[f.index[o.Relation]] }

// everything reads all columns of all relations.
func (f *finder) everything(how string, except ...string) {
	for _, r := range f.relations {
		r.all(how, except...)
	}
}

// anywhere reads a column of every relation that has it.
func (f *finder) anywhere(column string) {
	for _, r := range f.relations {
		r.column(column)
	}
}

// unwritten reads columns that are not named: columns of NATURAL joins, and those that a list after an alias renames.
func (f *finder) unwritten() {
	if f.Natural {
		f.everything(natural)
	}
	for _, o := range f.Sources {
		switch {
		case o.Renamed && o.Joined:
			f.everything(renamed)
		case o.Renamed && o.Relation != nil:
			f.of(o).all(renamed)
		}
	}
}

// star reads the relations of the SELECT of a star alone.
func (f *finder) star(ref Ref) {
	for _, o := range f.Sources {
		if o.Relation != nil && o.Select == ref.Select {
			f.of(o).all("*", ref.Except...)
		}
	}
}

// reference reads what a name with its qualifiers may mean.
func (f *finder) reference(ref Ref) {
	path := make([]string, 0, 4)
	for _, name := range ref.Path {
		path = append(path, fold(name))
	}
	if !ref.Star {
		f.fields(path)
		f.row(ref, path)
	}
	if !ref.Star && len(path) == 1 {
		f.anywhere(path[0])
		return
	}
	f.qualified(ref, path)
}

// fields reads the column whose fields follow its name.
func (f *finder) fields(path []string) {
	if !f.Fields {
		return
	}
	for i, name := range path[:len(path)-1] {
		for j, o := range f.Sources {
			if o.Relation != nil && (i == 0 || f.called[j] == path[i-1]) {
				f.of(o).column(name)
			}
		}
	}
}

// row reads a relation whose name is used alone, or after its schema: the name means its row, unless the relation has a
// column of that name.
func (f *finder) row(ref Ref, path []string) {
	if f.Call == nil || len(path) > 2 {
		return
	}
	last := ref.Path[len(path)-1]
	for i, o := range f.Sources {
		switch {
		case f.called[i] != path[len(path)-1]:
		case o.Joined:
			f.everything(last)
		case o.Relation != nil && !o.Relation.exactly(last) && (len(path) == 1 || path[0] == fold(o.Relation.Schema)):
			f.of(o).all(last)
		}
	}
}

// qualified reads a column, or all of them, of what the qualifier calls.
func (f *finder) qualified(ref Ref, path []string) {
	last, text := path[len(path)-1], strings.Join(ref.Path, ".")
	qualifier := last
	if ref.Star {
		text += ".*"
	} else {
		qualifier = path[len(path)-2]
	}
	if !slices.Contains(f.called, qualifier) { // the engine will not know it either
		if f.anywhere(last); ref.Star {
			f.everything("*", ref.Except...)
		}
		return
	}
	call := !ref.Star && f.Call != nil && f.Call(ref.Path[len(path)-1])
	for i, o := range f.Sources {
		switch {
		case f.called[i] != qualifier:
		case o.Joined && (ref.Star || call):
			f.everything(text, ref.Except...)
		case o.Joined:
			f.anywhere(last)
		case o.Relation == nil:
		case ref.Star:
			f.of(o).all(text, ref.Except...)
		case call && !o.Relation.exactly(ref.Path[len(path)-1]):
			f.of(o).all(text)
		default:
			f.of(o).column(last)
		}
	}
}

// Set returns the set of the words in a text.
func Set(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// fold makes names equal that any engine takes for the same, whatever their letters.
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.ToLower(strings.ToUpper(s))
		}
	}
	return s
}

// Place locates the name of each relation of n in the text. Equal names mean the same relation, so their order does
// not matter.
func (n *Names) Place(s *sqltext.Statement) {
	refs := s.Tables()
	for i := range n.Sources {
		o := &n.Sources[i]
		if o.Relation == nil || o.End > 0 {
			continue
		}
		k := slices.IndexFunc(refs, func(r sqlshape.TableRef) bool {
			alias := cmp.Or(r.Alias, r.Name)
			return !r.Function && schema.EqualFold(r.Name, o.Relation.Name) && schema.EqualFold(alias, o.Alias)
		})
		if k < 0 {
			continue
		}
		o.Pos, o.End = refs[k].Pos, nameEnd(s, refs[k].Pos)
		refs = slices.Delete(slices.Clone(refs), k, k+1)
	}
}

// nameEnd returns the end of the name that begins at a byte, with all its parts after dots.
func nameEnd(s *sqltext.Statement, pos int) (end int) {
	name := false // the last token was one
	for t := range s.Tokens() {
		if t.Pos < pos || t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		if name = !name; name && t.Kind != sqltext.Word && t.Kind != sqltext.QuotedName && t.Kind != sqltext.String ||
			!name && t.Text != "." {
			return end
		}
		if name {
			end = t.Pos + len(t.Text)
		}
	}
	return end
}
