package sqlite

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// maxPlanDepth bounds the depth of a plan tree; deeper rows become siblings. SQLite's own plans are far from it. Rows
// from elsewhere must not make us recurse without end.
const maxPlanDepth = 200

// readPlan turns the rows of EXPLAIN QUERY PLAN for s into a plan.
//
// The text of the statement is needed because SQLite prints aliases: readPlan resolves them to base tables. Where one
// alias stands for several tables in different parts of a statement, the part whose names fit a group of rows best is
// taken, in the order of the text. Aliases inside a view are not in the text and stay as they are.
//
// It knows the words of SQLite 3.24 to 3.54, also "SCAN TABLE x AS y" of the time before 3.36. A row that it does not
// know becomes a step with a kind made of the row's letters. It reads nothing but its arguments and never fails.
func readPlan(s *sqltext.Statement, rows []exec.PlanRow) exec.Plan {
	rows = slices.Clone(rows)
	r := planReader{rows: rows, children: make([][]int, len(rows)), names: readPlanNames(s)}
	roots := r.link()
	p := exec.Plan{Rows: rows, Nodes: r.group(roots, nil)}
	if p.Nodes == nil {
		p.Nodes = []exec.PlanNode{} // a plan of which nothing is told has no signature
	}
	return p
}

// planReader turns rows into nodes.
type planReader struct {
	rows     []exec.PlanRow
	children [][]int // row indexes below each row, in row order
	names    planNames
}

// link fills children and returns the rows without a parent. Only an earlier row can be a parent, so no ids make a
// cycle.
func (r *planReader) link() (roots []int) {
	index := make(map[int]int, len(r.rows))
	depth := make([]int, len(r.rows))
	parents := make([]int, len(r.rows))
	for i, row := range r.rows {
		p, ok := index[row.Parent]
		if ok && depth[p] >= maxPlanDepth {
			p = parents[p]
		}
		if ok {
			parents[i], depth[i] = p, depth[p]+1
			r.children[p] = append(r.children[p], i)
		} else {
			roots = append(roots, i)
		}
		index[row.ID] = i
	}
	return roots
}

// group reads the rows of one query. in is the part of the statement that they come from; nil: group chooses it.
func (r *planReader) group(rows []int, in *scope) []exec.PlanNode {
	steps := make([]planStep, len(rows))
	for i, row := range rows {
		steps[i] = r.names.step(r.rows[row].Detail)
	}
	if in == nil {
		in = r.names.fitting(steps)
	}
	var nodes []exec.PlanNode
	for i, row := range rows {
		s, below := steps[i], in
		if s.newScope {
			below = nil
		}
		switch {
		case s.drop:
		case s.lift:
			nodes = append(nodes, r.group(r.children[row], below)...)
		case s.compound:
			nodes = append(nodes, r.compound(r.children[row])...)
		default:
			n := s.node
			if s.name != "" {
				n.Table = r.names.resolve(s.name, in)
			}
			if n.Kind == "scan" && n.Table != "" && n.Access != "virtual" {
				r.rows[row].Scans = []schema.TableName{{Name: n.Table}}
			}
			n.Children = r.group(r.children[row], below)
			if s.set {
				n.Children = flattenSet(n.Kind, n.Children)
			}
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// compound reads the rows below COMPOUND QUERY. There the first branch and the set operations, each with its right
// branch, are siblings. compound nests them from the left, as MERGE rows are.
func (r *planReader) compound(rows []int) []exec.PlanNode {
	var left []exec.PlanNode
	for _, row := range rows {
		s := r.names.step(r.rows[row].Detail)
		branch := r.group(r.children[row], nil)
		if !s.set {
			left = append(left, branch...)
			continue
		}
		n := s.node
		n.Children = append(flattenSet(n.Kind, left), branch...)
		left = []exec.PlanNode{n}
	}
	return left
}

// flattenSet writes (a union b) union c as one union of three. Only the first branch is merged: a except (b except c)
// differs from (a except b) except c.
func flattenSet(kind string, branches []exec.PlanNode) []exec.PlanNode {
	if len(branches) == 0 || branches[0].Kind != kind {
		return branches
	}
	return append(branches[0].Children[:len(branches[0].Children):len(branches[0].Children)], branches[1:]...)
}

// planStep is one row, read without looking at other rows.
type planStep struct {
	node exec.PlanNode
	name string // of a scan or search: what the row calls its table; "" where the table is known or absent

	drop     bool // says nothing about the query: differs between versions
	lift     bool // a marker: the rows below it take its place
	compound bool // COMPOUND QUERY
	set      bool // a set operation
	newScope bool // the rows below it are another part of the statement
}

// step reads one row.
func (p planNames) step(detail string) planStep {
	d := strings.TrimPrefix(strings.TrimSpace(detail), "EXECUTE ") // "EXECUTE LIST SUBQUERY 1" before SQLite 3.24
	word, rest, _ := strings.Cut(d, " ")
	set, isSet := setKind(d)
	switch {
	case word == "SCAN":
		return p.access("scan", rest)
	case word == "SEARCH":
		return p.access("search", rest)
	case d == "CREATE BLOOM FILTER", word == "BLOOM":
		return planStep{drop: true}
	case word == "RIGHT-JOIN":
		return planStep{node: exec.PlanNode{Kind: "right"}, name: schema.FoldCase(rest)}
	case strings.HasPrefix(d, "USE TEMP B-TREE"):
		return planStep{node: exec.PlanNode{Kind: tempKind(d)}}
	case word == "USING" && strings.HasSuffix(d, " FOR IN-OPERATOR"):
		// An IN that searches its right side directly: USING INDEX i FOR IN-OPERATOR, or by rowid.
		n := exec.PlanNode{Kind: "list", Access: "index"}
		if table, ok := strings.CutPrefix(strings.TrimSuffix(rest, " FOR IN-OPERATOR"), "ROWID SEARCH ON TABLE "); ok {
			n.Table, n.Access = schema.FoldCase(table), "pk"
		}
		return planStep{node: n}
	case word == "COMPOUND" && isSet: // COMPOUND SUBQUERIES 1 AND 2 (UNION ALL)
		return planStep{node: exec.PlanNode{Kind: set}, set: true}
	case word == "COMPOUND":
		return planStep{compound: true}
	case isSet && slices.Contains([]string{"MERGE", "UNION", "INTERSECT", "EXCEPT"}, word):
		return planStep{node: exec.PlanNode{Kind: set}, set: true, newScope: true}
	case strings.Contains(d, "SUBQUERY") && slices.Contains([]string{"CORRELATED", "SCALAR", "LIST", "REUSE", "SUBQUERY"},
		word):
		n := exec.PlanNode{Kind: "scalar", Correlated: word == "CORRELATED"}
		if strings.Contains(d, "LIST SUBQUERY") {
			n.Kind = "list"
		}
		return planStep{node: n, newScope: true}
	}
	if s, ok := plainSteps[word]; ok {
		return s
	}
	return planStep{node: exec.PlanNode{Kind: otherKind(d)}}
}

// plainSteps are the rows whose first word says all: several searches of one table whose rows are united, a subquery in
// FROM that is read row by row or stored first, and the two parts of a recursive query.
var plainSteps = map[string]planStep{
	"LEFT":        {lift: true, newScope: true},
	"RIGHT":       {lift: true, newScope: true},
	"LEFT-MOST":   {lift: true, newScope: true},
	"INDEX":       {lift: true},
	"MULTI-INDEX": {node: exec.PlanNode{Kind: "or"}},
	"CO-ROUTINE":  {node: exec.PlanNode{Kind: "coroutine"}, newScope: true},
	"MATERIALIZE": {node: exec.PlanNode{Kind: "materialize"}, newScope: true},
	"SETUP":       {node: exec.PlanNode{Kind: "setup"}, newScope: true},
	"RECURSIVE":   {node: exec.PlanNode{Kind: "step"}, newScope: true},
}

// tempKind says what a temporary B-tree is for.
func tempKind(d string) string {
	switch {
	case strings.HasSuffix(d, "ORDER BY"):
		return "btree:order"
	case strings.HasSuffix(d, "GROUP BY"):
		return "btree:group"
	case strings.Contains(d, "DISTINCT"):
		return "btree:distinct"
	}
	return "btree"
}

// setKind finds the set operation that a row names.
func setKind(d string) (string, bool) {
	words := []string{"UNION ALL", "UNION", "INTERSECT", "EXCEPT"}
	i := slices.IndexFunc(words, func(word string) bool { return strings.Contains(d, word) })
	if i < 0 {
		return "", false
	}
	return []string{"unionall", "union", "intersect", "except"}[i], true
}

// notLetters is all that a kind cannot have.
var notLetters = regexp.MustCompile(`[^a-z]+`)

// otherKind makes a kind of an unknown row: its letters in lower case, with "-" for all between them. So it has no
// punctuation of a signature, and numbers of subqueries do not tell plans apart.
func otherKind(d string) string {
	kind := strings.Trim(notLetters.ReplaceAllString(schema.FoldCase(d), "-"), "-")
	return cmp.Or(kind[:min(len(kind), 60)], "other")
}

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
		table := schema.FoldCase(ref.Name)
		if ref.Name == "" || ref.CTE {
			table = "sub"
		}
		switch {
		case ref.Alias != "":
			in.tables[schema.FoldCase(ref.Alias)] = table
		case ref.Name != "":
			in.tables[schema.FoldCase(ref.Name)] = table
			if ref.Schema != "" { // SQLite writes "SCAN main.t"
				in.tables[schema.FoldCase(ref.Schema)+"."+table] = table
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
func (p planNames) access(kind string, rest string) planStep {
	s := planStep{node: exec.PlanNode{Kind: kind}}
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], ' ') {
		if name := schema.FoldCase(rest[:end]); p.knows(name) && s.readAccess(rest[end:]) {
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
		s.node.Table = schema.FoldCase(table)
	default:
		s.name = schema.FoldCase(name)
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
	return s == "CONSTANT ROW" || what != s &&
		slices.Contains([]string{"-ROW VALUES CLAUSE", " CONSTANT ROWS", " CONSTANT ROW"}, what)
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
	access string
}{
	{" USING AUTOMATIC ", "auto"},
	{" USING COVERING INDEX ", "covering"},
	{" USING INDEX ", "index"},
	{" USING INTEGER PRIMARY KEY", "pk"},
	{" USING PRIMARY KEY", "pk"},
	{" VIRTUAL TABLE INDEX ", "virtual"},
}
