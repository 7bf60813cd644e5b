package sqlite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// planNames are the names by which a plan may call the tables of a statement.
type planNames struct {
	tableNames
	known  map[string]bool
	length map[int]bool // lengths of known names, so that few texts are looked up
}

func readPlanNames(s *sqltext.Statement) planNames {
	p := planNames{readTableNames(s), make(map[string]bool), make(map[int]bool)}
	p.all(func(name string) { p.known[name], p.length[len(name)] = true, true })
	return p
}

// scopeOf returns the part of the statement that the scans and searches among steps come from.
func (p *planNames) scopeOf(steps []planStep) *scope {
	names := make([]string, len(steps))
	for i, step := range steps {
		names[i] = step.name
	}
	return p.fitting(names)
}

// access reads what follows SCAN or SEARCH: a table or alias, and how its rows are found. A name may hold blanks and
// any words, so the longest name of the statement wins that leaves a readable rest.
func (p *planNames) access(kind exec.PlanKind, rest string) planStep {
	s := planStep{node: exec.PlanNode{Kind: kind}}
	lower := schema.Fold(rest)
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], ' ') {
		if p.length[end] && p.known[lower[:end]] && s.readAccess(rest[end:]) {
			s.name = lower[:end]
			return s
		}
	}
	switch {
	case isConstant(rest):
		s.node.Kind = planConstant
		return s
	case strings.HasPrefix(rest, "(subquery-"), strings.HasPrefix(rest, "(join-"), strings.HasPrefix(rest, "SUBQUERY "):
		s.node.Table = exec.DerivedTable
		s.readAccess(rest[nameEnd(rest):])
		return s
	}
	if table, ok := strings.CutPrefix(rest, "TABLE "); ok { // before SQLite 3.36
		end := nameEnd(table)
		base, _, _ := strings.Cut(table[:end], " AS ")
		s.node.Table = schema.Fold(base)
		s.readAccess(table[end:])
		return s
	}
	end := nameEnd(rest)
	s.name = schema.Fold(rest[:end])
	s.readAccess(rest[end:])
	return s
}

// nameEnd guesses where the name at the start of s ends, for a name that is not in the text of the statement.
func nameEnd(s string) int {
	end := len(s)
	for _, mark := range []string{" USING ", " EXISTS", " VIRTUAL TABLE INDEX", " LEFT-JOIN"} {
		if i := strings.Index(s, mark); i >= 0 && i < end {
			end = i
		}
	}
	return end
}

// isConstant recognises "CONSTANT ROW", "2-ROW VALUES CLAUSE" and, before SQLite 3.46, "2 CONSTANT ROWS".
func isConstant(s string) bool {
	if s == "CONSTANT ROW" {
		return true
	}
	digits := strings.TrimLeft(s, "0123456789")
	return len(digits) < len(s) && (digits == "-ROW VALUES CLAUSE" || digits == " CONSTANT ROWS" || digits == " CONSTANT ROW")
}

// readAccess reads the part after the name and reports whether it is one.
func (s *planStep) readAccess(rest string) bool {
	n := exec.PlanNode{Kind: s.node.Kind, Table: s.node.Table}
	rest, n.Outer = strings.CutSuffix(rest, " LEFT-JOIN")
	rest, n.Semi = strings.CutPrefix(rest, " EXISTS")
	switch {
	case rest == "":
		if n.Kind == exec.PlanScan {
			n.Access = exec.AccessFull
		}
	case strings.HasPrefix(rest, " USING AUTOMATIC "):
		n.Access = exec.AccessAuto
	case strings.HasPrefix(rest, " USING COVERING INDEX "):
		n.Access = exec.AccessCovering
	case strings.HasPrefix(rest, " USING INDEX "):
		n.Access = exec.AccessIndex
	case strings.HasPrefix(rest, " USING INTEGER PRIMARY KEY"), strings.HasPrefix(rest, " USING PRIMARY KEY"):
		n.Access = exec.AccessPK
	case strings.HasPrefix(rest, " VIRTUAL TABLE INDEX "):
		n.Access = exec.AccessVirtual
	default:
		return false
	}
	s.node = n
	return true
}

// tableNames are the names by which a plan may call the tables of a statement, in lower case.
type tableNames struct{ scopes []*scope }

// scope is the FROM clause of one SELECT.
type scope struct {
	tables map[string]string // alias or name -> base table or exec.DerivedTable
	used   bool              // some steps were taken to come from here
}

// readTableNames collects the tables and aliases of a statement.
func readTableNames(s *sqltext.Statement) tableNames {
	var n tableNames
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
func (n tableNames) all(f func(name string)) {
	for _, s := range n.scopes {
		for name := range s.tables {
			f(name)
		}
	}
}

// fitting returns the part of the statement that fits the names of some steps best: with most of them, then not chosen
// before, then with fewest other names, then first in the text. nil: none has any.
func (n tableNames) fitting(names []string) *scope {
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
func (n tableNames) resolve(name string, in *scope) string {
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
