package sqlite

import (
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// aliases are the names by which a plan may call the tables of a statement, in lower case.
type aliases struct{ scopes []*scope }

// scope is the FROM clause of one SELECT.
type scope struct {
	tables map[string]string // alias or name -> base table or exec.DerivedTable
	used   bool              // some steps were taken to come from here
}

// readAliases collects the tables and aliases of a statement.
func readAliases(s *sqltext.Statement) aliases {
	var n aliases
	index := make(map[int]*scope) // by SELECT
	for _, ref := range s.Tables() {
		in, ok := index[ref.Query]
		if !ok {
			in = &scope{tables: make(map[string]string)}
			index[ref.Query] = in
			n.scopes = append(n.scopes, in)
		}
		table := schema.Fold(ref.Name)
		if ref.Name == "" || ref.CTE {
			table = exec.DerivedTable
		}
		switch {
		case ref.Alias != "":
			in.tables[schema.Fold(ref.Alias)] = table
		case ref.Name != "":
			in.tables[schema.Fold(ref.Name)] = table
			if ref.Schema != "" { // SQLite writes "SCAN main.t"
				in.tables[schema.Fold(ref.Schema)+"."+table] = table
			}
		}
	}
	return n
}

// all calls f with every name, of all parts of the statement.
func (n aliases) all(f func(name string)) {
	for _, s := range n.scopes {
		for name := range s.tables {
			f(name)
		}
	}
}

// scopeOf returns the part of the statement that fits the names of some steps best: with most of them, then not chosen
// before, then with fewest other names, then first in the text. nil: none has any.
func (n aliases) scopeOf(names []string) *scope {
	var (
		best  *scope
		score [3]int
	)
	for _, s := range n.scopes {
		common := 0
		for _, name := range names {
			if _, ok := s.tables[name]; ok && name != "" {
				common++
			}
		}
		if common == 0 {
			continue
		}
		fresh := 0
		if !s.used {
			fresh = 1
		}
		this := [3]int{common, fresh, -len(s.tables)}
		if best == nil || slices.Compare(this[:], score[:]) > 0 {
			best, score = s, this
		}
	}
	if best != nil {
		best.used = true
	}
	return best
}

// resolve returns the table that a plan calls name. It looks in the part in first, then in all: engines merge simple
// subqueries into the query around them. A name of no part is its own.
func (n aliases) resolve(name string, in *scope) string {
	if in != nil {
		if table, ok := in.tables[name]; ok {
			return table
		}
	}
	for _, s := range n.scopes {
		if table, ok := s.tables[name]; ok {
			return table
		}
	}
	return name
}
