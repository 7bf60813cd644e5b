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
		return planStep{node: exec.PlanNode{Kind: "right"}, name: schema.Fold(rest)}
	case strings.HasPrefix(d, "USE TEMP B-TREE"):
		return planStep{node: exec.PlanNode{Kind: tempKind(d)}}
	case word == "USING" && strings.HasSuffix(d, " FOR IN-OPERATOR"):
		// An IN that searches its right side directly: USING INDEX i FOR IN-OPERATOR, or by rowid.
		n := exec.PlanNode{Kind: "list", Access: "index"}
		if table, ok := strings.CutPrefix(strings.TrimSuffix(rest, " FOR IN-OPERATOR"), "ROWID SEARCH ON TABLE "); ok {
			n.Table, n.Access = schema.Fold(table), "pk"
		}
		return planStep{node: n}
	case word == "COMPOUND" && isSet: // COMPOUND SUBQUERIES 1 AND 2 (UNION ALL)
		return planStep{node: exec.PlanNode{Kind: set}, set: true}
	case word == "COMPOUND":
		return planStep{compound: true}
	case isSet && slices.Contains([]string{"MERGE", "UNION", "INTERSECT", "EXCEPT"}, word):
		return planStep{node: exec.PlanNode{Kind: set}, set: true, newScope: true}
	case strings.Contains(d, "SUBQUERY") && slices.Contains([]string{"CORRELATED", "SCALAR", "LIST", "REUSE", "SUBQUERY"}, word):
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
func tempKind(d string) exec.PlanKind {
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
func setKind(d string) (exec.PlanKind, bool) {
	words := []string{"UNION ALL", "UNION", "INTERSECT", "EXCEPT"}
	i := slices.IndexFunc(words, func(word string) bool { return strings.Contains(d, word) })
	if i < 0 {
		return "", false
	}
	return []exec.PlanKind{"unionall", "union", "intersect", "except"}[i], true
}

// notLetters is all that a kind cannot have.
var notLetters = regexp.MustCompile(`[^a-z]+`)

// otherKind makes a kind of an unknown row: its letters in lower case, with "-" for all between them. So it has no
// punctuation of a signature, and numbers of subqueries do not tell plans apart.
func otherKind(d string) exec.PlanKind {
	kind := strings.Trim(notLetters.ReplaceAllString(schema.Fold(d), "-"), "-")
	return exec.PlanKind(cmp.Or(kind[:min(len(kind), 60)], "other"))
}
