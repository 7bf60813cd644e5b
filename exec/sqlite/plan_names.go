package sqlite

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// planNames are the names by which a plan may call the tables of a statement: the FROM clauses of its SELECTs.
type planNames []*scope

// scope is the FROM clause of one SELECT.
type scope struct {
	tables map[string]string // alias or name in lower case -> base table or "sub"
	used   bool              // some steps were taken to come from here
}

func readPlanNames(s *sqltext.Statement) (all planNames) {
	index := make(map[int]*scope) // by SELECT
	for _, ref := range s.Tables() {
		in, ok := index[ref.Query]
		if !ok {
			in = &scope{tables: make(map[string]string)}
			index[ref.Query] = in
			all = append(all, in)
		}
		table := schema.Fold(ref.Name)
		if ref.Name == "" || ref.CTE {
			table = "sub"
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
	return all
}

// fitting returns the part of the statement that fits the names of some steps best: with most of them, then not chosen
// before, then with fewest other names, then first in the text. nil: none has any.
func (p planNames) fitting(steps []planStep) (best *scope) {
	var score [3]int
	for _, s := range p {
		this := [3]int{0, 0, -len(s.tables)}
		for _, step := range steps {
			if _, ok := s.tables[step.name]; ok && step.name != "" {
				this[0]++
			}
		}
		if !s.used {
			this[1] = 1
		}
		if this[0] > 0 && (best == nil || slices.Compare(this[:], score[:]) > 0) {
			best, score = s, this
		}
	}
	if best != nil {
		best.used = true
	}
	return best
}

// resolve returns the table that a plan calls name. It looks in the part in first, then in all: SQLite merges simple
// subqueries into the query around them. A name of no part is its own.
func (p planNames) resolve(name string, in *scope) string {
	if in != nil {
		p = append(planNames{in}, p...)
	}
	for _, s := range p {
		if table, ok := s.tables[name]; ok {
			return table
		}
	}
	return name
}

// knows reports whether a plan may call a table so.
func (p planNames) knows(name string) bool {
	return slices.ContainsFunc(p, func(s *scope) bool { _, ok := s.tables[name]; return ok })
}

// access reads what follows SCAN or SEARCH: a table or alias, and how its rows are found. A name may hold blanks and
// any words, so the longest name of the statement wins that leaves a readable rest.
func (p planNames) access(kind exec.PlanKind, rest string) planStep {
	s := planStep{node: exec.PlanNode{Kind: kind}}
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], ' ') {
		if name := schema.Fold(rest[:end]); p.knows(name) && s.readAccess(rest[end:]) {
			s.name = name
			return s
		}
	}
	name, how := cutName(rest)
	table, old := strings.CutPrefix(name, "TABLE ") // before SQLite 3.36
	switch {
	case isConstant(rest):
		s.node.Kind = "constant" // rows that the statement itself spells out
		return s
	case strings.HasPrefix(rest, "(subquery-"), strings.HasPrefix(rest, "(join-"), strings.HasPrefix(rest, "SUBQUERY "):
		s.node.Table = "sub"
	case old:
		table, _, _ = strings.Cut(table, " AS ")
		s.node.Table = schema.Fold(table)
	default:
		s.name = schema.Fold(name)
	}
	s.readAccess(how)
	return s
}

// cutName guesses where the name at the start of s ends, for a name that is not in the text of the statement.
func cutName(s string) (name, rest string) {
	end := len(s)
	for _, mark := range []string{" USING ", " EXISTS", " VIRTUAL TABLE INDEX", " LEFT-JOIN"} {
		if i := strings.Index(s, mark); i >= 0 && i < end {
			end = i
		}
	}
	return s[:end], s[end:]
}

// isConstant recognises "CONSTANT ROW", "2-ROW VALUES CLAUSE" and, before SQLite 3.46, "2 CONSTANT ROWS".
func isConstant(s string) bool {
	what := strings.TrimLeft(s, "0123456789")
	return s == "CONSTANT ROW" || what != s && slices.Contains([]string{"-ROW VALUES CLAUSE", " CONSTANT ROWS", " CONSTANT ROW"}, what)
}

// readAccess reads the part after the name and reports whether it is one.
func (s *planStep) readAccess(rest string) bool {
	n := exec.PlanNode{Kind: s.node.Kind, Table: s.node.Table}
	rest, n.Outer = strings.CutSuffix(rest, " LEFT-JOIN")
	rest, n.Semi = strings.CutPrefix(rest, " EXISTS")
	if rest == "" {
		if n.Kind == "scan" {
			n.Access = "full"
		}
		s.node = n
		return true
	}
	for _, how := range accesses {
		if strings.HasPrefix(rest, how.prefix) {
			n.Access = how.access
			s.node = n
			return true
		}
	}
	return false
}

var accesses = []struct {
	prefix string
	access exec.Access
}{
	{" USING AUTOMATIC ", "auto"},
	{" USING COVERING INDEX ", "covering"},
	{" USING INDEX ", "index"},
	{" USING INTEGER PRIMARY KEY", "pk"},
	{" USING PRIMARY KEY", "pk"},
	{" VIRTUAL TABLE INDEX ", "virtual"},
}
