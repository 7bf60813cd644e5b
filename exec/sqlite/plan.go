package sqlite

import (
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The kinds of steps that cost nothing.
const (
	planConstant    exec.PlanKind = "constant"    // rows that the statement itself spells out
	planCoroutine   exec.PlanKind = "coroutine"   // a subquery in FROM, read row by row
	planMaterialize exec.PlanKind = "materialize" // a subquery in FROM, stored first
	planSetup       exec.PlanKind = "setup"       // the first part of a recursive query
	planRepeat      exec.PlanKind = "step"        // its repeated part
	planOr          exec.PlanKind = "or"          // several searches of one table, their rows united
	planRight       exec.PlanKind = "right"       // the rows of a right join that met no partner
)

// maxPlanDepth bounds the depth of a plan tree; deeper rows become siblings. SQLite's own plans are far from it. Rows
// from elsewhere must not make us recurse without end.
const maxPlanDepth = 200

// ReadPlan turns the rows of EXPLAIN QUERY PLAN for sql into a plan.
//
// The text of the statement is needed because SQLite prints aliases: ReadPlan resolves them to base tables. Where one
// alias stands for several tables in different parts of a statement, the part whose names fit a group of rows best is
// taken, in the order of the text. Aliases inside a view are not in the text and stay as they are.
//
// It knows the words of SQLite 3.24 to 3.54, also "SCAN TABLE x AS y" of the time before 3.36. A row that it does not
// know becomes a step with a kind made of the row's letters. It reads nothing but its arguments and never fails.
//
// Safe for concurrent use.
func ReadPlan(sql string, rows []exec.PlanRow) exec.Plan {
	return readPlan(sqltext.SQLite().Parse(sql), rows)
}

func readPlan(s *sqltext.Statement, rows []exec.PlanRow) exec.Plan {
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
		in = r.names.scopeOf(steps)
	}
	var nodes []exec.PlanNode
	for i, row := range rows {
		s := steps[i]
		switch {
		case s.drop:
		case s.lift:
			below := in
			if s.newScope {
				below = nil
			}
			nodes = append(nodes, r.group(r.children[row], below)...)
		case s.compound:
			nodes = append(nodes, r.compound(r.children[row])...)
		default:
			n := s.node
			if s.name != "" {
				n.Table = r.names.resolve(s.name, in)
			}
			below := in
			if s.newScope {
				below = nil
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
func flattenSet(kind exec.PlanKind, branches []exec.PlanNode) []exec.PlanNode {
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
func (p *planNames) step(detail string) planStep {
	d := strings.TrimSpace(detail)
	// SQLite before 3.24 wrote "EXECUTE LIST SUBQUERY 1".
	d = strings.TrimPrefix(d, "EXECUTE ")
	word, rest, _ := strings.Cut(d, " ")
	switch word {
	case "SCAN":
		return p.access(exec.PlanScan, rest)
	case "SEARCH":
		return p.access(exec.PlanSearch, rest)
	case "CREATE":
		if rest == "BLOOM FILTER" {
			return planStep{drop: true}
		}
	case "RIGHT-JOIN":
		return planStep{node: exec.PlanNode{Kind: planRight}, name: schema.Fold(rest)}
	case "USE":
		if strings.HasPrefix(rest, "TEMP B-TREE") {
			return planStep{node: exec.PlanNode{Kind: tempKind(rest)}}
		}
	case "USING":
		if s, ok := inOperator(rest); ok {
			return s
		}
	case "COMPOUND":
		if kind, ok := setKind(rest); ok { // COMPOUND SUBQUERIES 1 AND 2 (UNION ALL)
			return planStep{node: exec.PlanNode{Kind: kind}, set: true}
		}
		return planStep{compound: true}
	case "MERGE", "UNION", "INTERSECT", "EXCEPT":
		if kind, ok := setKind(d); ok {
			return planStep{node: exec.PlanNode{Kind: kind}, set: true, newScope: true}
		}
	case "CORRELATED", "SCALAR", "LIST", "REUSE", "SUBQUERY":
		if s, ok := subquery(d); ok {
			return s
		}
	}
	if s, ok := plainSteps[word]; ok {
		return s
	}
	return planStep{node: exec.PlanNode{Kind: otherKind(d)}}
}

// plainSteps are the rows whose first word says all.
var plainSteps = map[string]planStep{
	"LEFT":        {lift: true, newScope: true},
	"RIGHT":       {lift: true, newScope: true},
	"LEFT-MOST":   {lift: true, newScope: true},
	"INDEX":       {lift: true},
	"BLOOM":       {drop: true},
	"MULTI-INDEX": {node: exec.PlanNode{Kind: planOr}},
	"CO-ROUTINE":  {node: exec.PlanNode{Kind: planCoroutine}, newScope: true},
	"MATERIALIZE": {node: exec.PlanNode{Kind: planMaterialize}, newScope: true},
	"SETUP":       {node: exec.PlanNode{Kind: planSetup}, newScope: true},
	"RECURSIVE":   {node: exec.PlanNode{Kind: planRepeat}, newScope: true},
}

// subquery reads "[REUSE] [CORRELATED] [SCALAR|LIST] SUBQUERY n".
func subquery(d string) (planStep, bool) {
	if !strings.Contains(d, "SUBQUERY") {
		return planStep{}, false
	}
	kind := exec.PlanScalar
	if strings.Contains(d, "LIST SUBQUERY") {
		kind = exec.PlanList
	}
	return planStep{
		node:     exec.PlanNode{Kind: kind, Correlated: strings.HasPrefix(d, "CORRELATED")},
		newScope: true,
	}, true
}

// inOperator reads the rows of an IN that searches its right side directly: "USING ROWID SEARCH ON TABLE x FOR
// IN-OPERATOR" and "USING INDEX i FOR IN-OPERATOR".
func inOperator(rest string) (planStep, bool) {
	what, ok := strings.CutSuffix(rest, " FOR IN-OPERATOR")
	if !ok {
		return planStep{}, false
	}
	if table, ok := strings.CutPrefix(what, "ROWID SEARCH ON TABLE "); ok {
		return planStep{node: exec.PlanNode{Kind: exec.PlanList, Table: schema.Fold(table), Access: exec.AccessPK}}, true
	}
	return planStep{node: exec.PlanNode{Kind: exec.PlanList, Access: exec.AccessIndex}}, true
}

// tempKind says what a temporary B-tree is for.
func tempKind(d string) exec.PlanKind {
	switch {
	case strings.HasSuffix(d, "ORDER BY"):
		return exec.PlanSort
	case strings.HasSuffix(d, "GROUP BY"):
		return exec.PlanGroup
	case strings.Contains(d, "DISTINCT"):
		return exec.PlanDistinct
	}
	return exec.PlanTemp
}

// setKind finds the set operation that a row names.
func setKind(d string) (exec.PlanKind, bool) {
	switch {
	case strings.Contains(d, "UNION ALL"):
		return exec.PlanUnionAll, true
	case strings.Contains(d, "UNION"):
		return exec.PlanUnion, true
	case strings.Contains(d, "INTERSECT"):
		return exec.PlanIntersect, true
	case strings.Contains(d, "EXCEPT"):
		return exec.PlanExcept, true
	}
	return "", false
}

// otherKind makes a kind of an unknown row: its letters in lower case, with "-" for all between them. So it has no
// punctuation of a signature, and numbers of subqueries do not tell plans apart.
func otherKind(d string) exec.PlanKind {
	var b strings.Builder
	gap := false
	for i := 0; i < len(d) && b.Len() < 60; i++ {
		c := d[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c < 'a' || c > 'z' {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteByte(c)
	}
	if b.Len() == 0 {
		return "other"
	}
	return exec.PlanKind(b.String())
}
