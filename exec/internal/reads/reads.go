// Package reads tells which columns a statement may read where the engine does not tell: more than it does read, and
// never fewer. A dialect writes down what the parser of its engine found, and asks with that.
//
// The whole statement counts, not the scope of a name: a name reads the column of every relation that it could mean
// anywhere in the text. That is short enough to be right. It reads too much where one alias stands for two things.
package reads

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// Relation is a table or view with all its columns. It does not change, so a catalog makes it once.
type Relation struct {
	Schema, Name string

	columns []string // sorted
	at      map[string][]int
	denied  []bool
	hides   bool
}

// NewRelation makes a Relation. denied reports which of its columns may not be read; nil denies none.
func NewRelation(schema, name string, columns []string, denied func(column string) bool) *Relation {
	r := &Relation{Schema: schema, Name: name, columns: slices.Sorted(slices.Values(columns)), at: map[string][]int{}}
	r.denied = make([]bool, len(columns))
	for i, column := range r.columns {
		r.at[fold(column)] = append(r.at[fold(column)], i)
		r.denied[i] = denied != nil && denied(column)
		r.hides = r.hides || r.denied[i]
	}
	return r
}

// Has reports whether r has a column of that name, whatever its case.
func (r *Relation) Has(column string) bool { return len(r.at[fold(column)]) > 0 }

// exactly is Has for an engine to which names in other letters are other names.
func (r *Relation) exactly(column string) bool {
	_, ok := slices.BinarySearch(r.columns, column)
	return ok
}

// Hides reports whether some column of r may not be read.
func (r *Relation) Hides() bool { return r.hides }

// Statement is what a statement names, with its subqueries and common table expressions.
type Statement struct {
	Sources []Source // each item of each FROM
	Refs    []Ref    // each place where a column may be named, the names in USING (…) and behind brackets included
	Natural bool     // a NATURAL join
	// Call reports whether q.name may call the function name with the row of q, as PostgreSQL has it. It is nil where
	// the name of a relation never stands for its row.
	Call func(name string) bool
	// Fields says that fields of a column may stand behind its name: a.b.c may be the field c of the column b.
	Fields bool
}

// Source is one item of a FROM.
type Source struct {
	Alias    string    // as the statement calls it, else the relation's name; "" for none
	Relation *Relation // nil for a subquery, a common table expression, a function or a whole join
	Select   int       // number of the SELECT whose FROM it stands in, joins in that FROM included
	Renamed  bool      // a list of columns stands behind the alias
	Joined   bool      // the alias is that of a whole join, or of its USING (…)
}

// Ref is one place where a column may be named.
type Ref struct {
	Path   []string // column; qualifier, column; schema, qualifier, column. With Star what stands before the star
	Star   bool
	Select int      // of a star without Path: number of the SELECT whose FROM it means
	Except []string // of a star: columns that it leaves out, of every relation
}

// Read is what is read of one relation.
type Read struct {
	Relation *Relation
	Columns  []string // sorted; empty where only the rows count
}

// Columns returns the relations of s, each once, in the order of schema and name, with the columns that are read.
func (s *Statement) Columns() []Read {
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
	slices.SortFunc(out, func(a, b Read) int {
		return cmp.Or(strings.Compare(a.Relation.Schema, b.Relation.Schema), strings.Compare(a.Relation.Name, b.Relation.Name))
	})
	return out
}

// Denied returns the refusal of a statement that may read a denied column, and nil for any other one.
func (s *Statement) Denied() *exec.RefusedError {
	if !slices.ContainsFunc(s.Sources, func(o Source) bool { return o.Relation != nil && o.Relation.hides }) {
		return nil
	}
	for _, f := range s.find() {
		for i, how := range f.how {
			if how != "" && f.relation.denied[i] {
				detail := f.relation.Name + "." + f.relation.columns[i] + " may not be read"
				if how != named {
					detail += ", and " + how + " could read it: name the columns that you need"
				}
				return &exec.RefusedError{Reason: exec.ReasonColumn, Detail: detail}
			}
		}
	}
	return nil
}

// How a column comes to be read, where no name says it.
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
	for _, i := range f.relation.at[name] {
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

// find is the one rule of this package.
func (s *Statement) find() []found {
	var relations []found
	var called []string // folded aliases of s.Sources
	index := map[*Relation]int{}
	for _, o := range s.Sources {
		called = append(called, fold(o.Alias))
		if _, ok := index[o.Relation]; o.Relation != nil && !ok {
			index[o.Relation] = len(relations)
			relations = append(relations, found{o.Relation, make([]string, len(o.Relation.columns))})
		}
	}
	everything := func(how string, except ...string) {
		for _, f := range relations {
			f.all(how, except...)
		}
	}
	anywhere := func(column string) {
		for _, f := range relations {
			f.column(column)
		}
	}
	if s.Natural {
		everything(natural)
	}
	for _, o := range s.Sources {
		switch {
		case o.Renamed && o.Joined:
			everything(renamed)
		case o.Renamed && o.Relation != nil:
			relations[index[o.Relation]].all(renamed)
		}
	}
	for _, ref := range s.Refs {
		if ref.Star && len(ref.Path) == 0 {
			for _, o := range s.Sources {
				if o.Relation != nil && o.Select == ref.Select {
					relations[index[o.Relation]].all("*", ref.Except...)
				}
			}
			continue
		}
		path := make([]string, 0, 4)
		for _, name := range ref.Path {
			path = append(path, fold(name))
		}
		last := path[len(path)-1]
		if s.Fields && !ref.Star {
			for i, name := range path[:len(path)-1] { // a column with fields behind it
				for j, o := range s.Sources {
					if o.Relation != nil && (i == 0 || called[j] == path[i-1]) {
						relations[index[o.Relation]].column(name)
					}
				}
			}
		}
		if !ref.Star && (len(path) == 1 || len(path) == 2 && s.Call != nil) {
			// A relation's name alone, or behind its schema, is its row unless it has a column of that name.
			for i, o := range s.Sources {
				switch {
				case called[i] != last || s.Call == nil:
				case o.Joined:
					everything(ref.Path[len(path)-1])
				case o.Relation != nil && !o.Relation.exactly(ref.Path[len(path)-1]) && (len(path) == 1 || path[0] == fold(o.Relation.Schema)):
					relations[index[o.Relation]].all(ref.Path[len(path)-1])
				}
			}
		}
		if !ref.Star && len(path) == 1 {
			anywhere(last)
			continue
		}
		qualifier, text := last, strings.Join(ref.Path, ".")
		if ref.Star {
			text += ".*"
		} else {
			qualifier = path[len(path)-2]
		}
		if !slices.Contains(called, qualifier) { // the engine will not know it either
			if anywhere(last); ref.Star {
				everything("*", ref.Except...)
			}
		}
		for i, o := range s.Sources {
			if called[i] != qualifier {
				continue
			}
			call := !ref.Star && s.Call != nil && s.Call(ref.Path[len(path)-1])
			switch {
			case o.Joined && (ref.Star || call):
				everything(text, ref.Except...)
			case o.Joined:
				anywhere(last)
			case o.Relation == nil:
			case ref.Star:
				relations[index[o.Relation]].all(text, ref.Except...)
			case call && !o.Relation.exactly(ref.Path[len(path)-1]):
				relations[index[o.Relation]].all(text)
			default:
				relations[index[o.Relation]].column(last)
			}
		}
	}
	return relations
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
