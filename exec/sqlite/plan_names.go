package sqlite

import (
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// planNames are the names by which a plan may call the tables of a statement.
type planNames struct {
	aliases
	known  map[string]bool
	length map[int]bool // lengths of known names, so that few texts are looked up
}

func readPlanNames(s *sqltext.Statement) planNames {
	p := planNames{readAliases(s), make(map[string]bool), make(map[int]bool)}
	p.all(func(name string) { p.known[name], p.length[len(name)] = true, true })
	return p
}

// scopeOf returns the part of the statement that the scans and searches among steps come from.
func (p *planNames) scopeOf(steps []planStep) *scope {
	names := make([]string, len(steps))
	for i, step := range steps {
		names[i] = step.name
	}
	return p.aliases.scopeOf(names)
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
