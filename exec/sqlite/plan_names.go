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
	scopes []planScope // one a SELECT, in the order of the text
	known  map[string]bool
	length map[int]bool // lengths of known names, so that few texts are looked up
}

// planScope is the FROM clause of one SELECT.
type planScope struct {
	tables map[string]string // alias or name -> base table or exec.DerivedTable
	used   bool              // some rows were taken to come from here
}

// readPlanNames collects the tables and aliases of a statement.
func readPlanNames(s *sqltext.Statement) planNames {
	var p planNames
	index := make(map[int]int) // SELECT -> place in scopes
	for _, ref := range s.Tables() {
		at, ok := index[ref.Query]
		if !ok {
			at = len(p.scopes)
			index[ref.Query] = at
			p.scopes = append(p.scopes, planScope{tables: make(map[string]string)})
		}
		table := schema.Fold(ref.Name)
		if ref.Name == "" || ref.CTE {
			table = exec.DerivedTable
		}
		tables := p.scopes[at].tables
		switch {
		case ref.Alias != "":
			tables[schema.Fold(ref.Alias)] = table
		case ref.Name != "":
			tables[schema.Fold(ref.Name)] = table
			if ref.Schema != "" { // SQLite writes "SCAN main.t"
				tables[schema.Fold(ref.Schema)+"."+table] = table
			}
		}
	}
	p.known, p.length = make(map[string]bool), make(map[int]bool)
	for _, s := range p.scopes {
		for name := range s.tables {
			p.known[name], p.length[len(name)] = true, true
		}
	}
	return p
}

// scopeOf returns the part of the statement that fits the scans and searches among steps best: with most of their
// names, then not chosen before, then with fewest other names, then first in the text.
func (p *planNames) scopeOf(steps []planStep) *planScope {
	var (
		best  *planScope
		score [3]int
	)
	for i := range p.scopes {
		s := &p.scopes[i]
		common := 0
		for _, step := range steps {
			if _, ok := s.tables[step.name]; ok && step.name != "" {
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

// resolve returns the table that a plan calls name. It looks in the part in first, then in all: SQLite merges simple
// subqueries into the query around them.
func (p *planNames) resolve(name string, in *planScope) string {
	if in != nil {
		if table, ok := in.tables[name]; ok {
			return table
		}
	}
	for i := range p.scopes {
		if table, ok := p.scopes[i].tables[name]; ok {
			return table
		}
	}
	return name
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
