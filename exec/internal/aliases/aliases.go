// Package aliases resolves the names in an engine's plan, which may be aliases, to the tables of the statement.
package aliases

import (
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Names are the names by which a plan may call the tables of a statement, in lower case.
type Names struct{ scopes []*Scope }

// Scope is the FROM clause of one SELECT.
type Scope struct {
	tables map[string]string // alias or name -> base table or exec.DerivedTable
	used   bool              // some steps were taken to come from here
}

// Read collects the tables and aliases of a statement.
func Read(s *sqltext.Statement) Names {
	var n Names
	index := make(map[int]*Scope) // by SELECT
	for _, ref := range s.Tables() {
		scope, ok := index[ref.Query]
		if !ok {
			scope = &Scope{tables: make(map[string]string)}
			index[ref.Query] = scope
			n.scopes = append(n.scopes, scope)
		}
		table := schema.Fold(ref.Name)
		if ref.Name == "" || ref.CTE {
			table = exec.DerivedTable
		}
		switch {
		case ref.Alias != "":
			scope.tables[schema.Fold(ref.Alias)] = table
		case ref.Name != "":
			scope.tables[schema.Fold(ref.Name)] = table
			if ref.Schema != "" { // SQLite writes "SCAN main.t"
				scope.tables[schema.Fold(ref.Schema)+"."+table] = table
			}
		}
	}
	return n
}

// All calls f with every name, of all parts of the statement.
func (n Names) All(f func(name string)) {
	for _, s := range n.scopes {
		for name := range s.tables {
			f(name)
		}
	}
}

// ScopeOf returns the part of the statement that fits the names of some steps best: with most of them, then not chosen
// before, then with fewest other names, then first in the text. nil: none has any.
func (n Names) ScopeOf(names []string) *Scope {
	var (
		best  *Scope
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

// Resolve returns the table that a plan calls name. It looks in the part in first, then in all: engines merge simple
// subqueries into the query around them. A name of no part is its own.
func (n Names) Resolve(name string, in *Scope) string {
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
