package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The kinds of steps that cost nothing.
const (
	planConstant    exec.PlanKind = "constant"    // rows that the statement itself spells out
	planFunction    exec.PlanKind = "function"    // rows that a function makes
	planMaterialize exec.PlanKind = "materialize" // a common table expression, stored first
	planRepeat      exec.PlanKind = "recursive"   // a recursive query: its first part, then the repeated one
)

// Explain returns the planner's plan of one statement that has passed the guard of q. EXPLAIN runs functions that say
// they are IMMUTABLE, so without a guard it is not harmless.
//
// Nodes leave out what the planner chooses by its statistics, so that ANALYZE changes a signature only where it makes
// the planner find the rows of a table in another way by constants:
//
//   - How tables are joined, which is on which side, and sorts for that. The tables of a join are sorted.
//   - An index that only finds the partners of a join counts as a full scan.
//   - DISTINCT, and GROUP BY without an aggregate, are btree:distinct, however they are done. Below a join they are a
//     look for one matching row.
//
// A table is named with its schema unless that is public. Rows name the steps of the engine, without the conditions.
func (Dialect) Explain(ctx context.Context, q bridge.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	var raw []byte
	rows, err := q.QueryContext(ctx, explainPrefix+s.SQL())
	if err != nil {
		return exec.Plan{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var part []byte
		if err := rows.Scan(&part); err != nil {
			return exec.Plan{}, err
		}
		raw = append(raw, part...)
	}
	if err := rows.Err(); err != nil {
		return exec.Plan{}, err
	}
	return readPlan(raw, s.Sorts())
}

// planStep is one step as the engine tells it.
type planStep struct {
	Type      string   `json:"Node Type"`
	Place     string   `json:"Parent Relationship"`
	Subplan   string   `json:"Subplan Name"`
	Relation  string   `json:"Relation Name"`
	Schema    string   `json:"Schema"`
	Alias     string   `json:"Alias"`
	Index     string   `json:"Index Name"`
	Condition string   `json:"Index Cond"`
	Tid       string   `json:"TID Cond"`
	Join      string   `json:"Join Type"`
	Strategy  string   `json:"Strategy"`
	Command   string   `json:"Command"`
	CTE       string   `json:"CTE Name"`
	Function  string   `json:"Function Name"`
	Keys      []string `json:"Group Key"`
	Output    []string `json:"Output"`
	Cost      float64  `json:"Total Cost"`
	Rows      float64  `json:"Plan Rows"`

	Steps []planStep `json:"Plans"`
}

// readPlan reads the JSON of a plan. sorts says that the statement has an ORDER BY.
func readPlan(raw []byte, sorts bool) (exec.Plan, error) {
	var found []struct{ Plan planStep }
	if err := json.Unmarshal(raw, &found); err != nil || len(found) != 1 {
		return exec.Plan{}, fmt.Errorf("postgres: the plan of the engine cannot be read: %w", cmp.Or(err, fmt.Errorf("%d plans", len(found))))
	}
	top := &found[0].Plan
	r := planReader{aliases: map[string]bool{}, hashed: map[string]bool{}}
	for _, m := range hashedSubplan.FindAllSubmatch(raw, -1) {
		r.hashed[string(m[1])] = true
	}
	r.list(top, 0)
	nodes := r.read(top, "")
	if sorts && r.implied && !slices.ContainsFunc(nodes, func(n exec.PlanNode) bool { return n.Kind == exec.PlanSort }) {
		nodes = append(nodes, exec.PlanNode{Kind: exec.PlanSort}) // a sort for something else serves the ORDER BY too
	}
	return exec.Plan{Rows: r.rows, Nodes: nodes, EngineCost: top.Cost, EngineRows: top.Rows}, nil
}

// hashedSubplan finds the subqueries that the engine runs once and keeps.
var hashedSubplan = regexp.MustCompile(`hashed (SubPlan \d+)`)

type planReader struct {
	rows    []exec.PlanRow
	aliases map[string]bool
	hashed  map[string]bool
	implied bool // a sort was left out
}

// list makes the rows.
func (r *planReader) list(s *planStep, parent int) {
	detail := s.Type
	if s.Join != "" && s.Join != "Inner" {
		detail += " " + s.Join
	}
	if s.Command != "" {
		detail += " " + s.Command
	}
	if s.Index != "" {
		detail += " using " + s.Index
	}
	if name := joined(".", s.Schema, cmp.Or(s.Relation, s.CTE, s.Function)); name != "" {
		detail += " on " + name
		if s.Alias != "" && s.Alias != s.Relation {
			detail += " " + s.Alias
		}
	}
	if s.Subplan != "" {
		detail = s.Subplan + ": " + detail
	}
	if s.Alias != "" {
		r.aliases[s.Alias] = true
	}
	id := len(r.rows) + 1
	r.rows = append(r.rows, exec.PlanRow{ID: id, Parent: parent, Detail: detail})
	for i := range s.Steps {
		r.list(&s.Steps[i], id)
	}
}

// read returns the steps of s in the order in which they are done. under is the type of the step above that counts.
func (r *planReader) read(s *planStep, under string) []exec.PlanNode {
	var inputs, before, after []exec.PlanNode // subqueries are no inputs
	var sides [][]exec.PlanNode
	for i := range s.Steps {
		below := &s.Steps[i]
		switch below.Place {
		case "InitPlan":
			kind := exec.PlanScalar
			if strings.HasPrefix(below.Subplan, "CTE ") {
				kind = planMaterialize
			}
			before = append(before, exec.PlanNode{Kind: kind, Children: r.read(below, "")})
		case "SubPlan":
			n := exec.PlanNode{Kind: exec.PlanScalar, Correlated: true, Children: r.read(below, "")}
			if r.hashed[below.Subplan] {
				n.Kind, n.Correlated = exec.PlanList, false
			}
			after = append(after, n)
		default:
			side := r.read(below, s.passes(under))
			sides, inputs = append(sides, side), append(inputs, side...)
		}
	}
	return slices.Concat(before, r.step(s, under, inputs, sides), after)
}

// passes returns what the steps below s are under.
func (s *planStep) passes(under string) string {
	switch s.Type {
	case "Gather", "Gather Merge", "Materialize", "Memoize", "Result", "ProjectSet", "Subquery Scan":
		return under
	case "Aggregate", "Group":
		return "Unique"
	}
	return s.Type
}

func (r *planReader) step(s *planStep, under string, inputs []exec.PlanNode, sides [][]exec.PlanNode) []exec.PlanNode {
	add := func(n exec.PlanNode) []exec.PlanNode { return append(inputs, n) }
	switch s.Type {
	case "Seq Scan", "Sample Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan", "Tid Range Scan":
		return []exec.PlanNode{r.scan(s)}
	case "Bitmap Index Scan", "BitmapAnd", "BitmapOr":
		return nil
	case "Foreign Scan", "Custom Scan":
		return add(exec.PlanNode{Kind: exec.PlanScan, Table: s.table(), Access: exec.AccessVirtual})
	case "CTE Scan", "WorkTable Scan":
		return []exec.PlanNode{{Kind: exec.PlanScan, Table: exec.DerivedTable}}
	case "Subquery Scan":
		if under == "Append" || under == "SetOp" || under == "Recursive Union" {
			return inputs
		}
		return []exec.PlanNode{derived(inputs)}
	case "Function Scan", "Table Function Scan":
		return []exec.PlanNode{{Kind: planFunction, Table: schema.Fold(s.Function)}}
	case "Values Scan":
		return []exec.PlanNode{{Kind: planConstant}}
	case "Result":
		if len(sides) == 0 {
			return []exec.PlanNode{{Kind: planConstant}}
		}
	case "Nested Loop", "Hash Join", "Merge Join":
		if len(sides) == 2 {
			return join(s.Join, sides[0], sides[1])
		}
	case "Sort", "Incremental Sort":
		switch under {
		case "Merge Join", "Unique", "WindowAgg", "SetOp", "Merge Append":
			r.implied = true
		default:
			return add(exec.PlanNode{Kind: exec.PlanSort})
		}
	case "Unique", "Aggregate", "Group":
		switch {
		case s.Type == "Aggregate" && s.Strategy == "Plain":
		case s.Type != "Unique" && !slices.Equal(unqualified(s.Output), unqualified(s.Keys)):
			return add(exec.PlanNode{Kind: exec.PlanGroup})
		case len(inputs) == 1 && inputs[0].Kind == exec.PlanUnionAll:
			return []exec.PlanNode{{Kind: exec.PlanUnion, Children: inputs[0].Children}}
		default:
			return add(exec.PlanNode{Kind: exec.PlanDistinct})
		}
	case "WindowAgg":
		return add(exec.PlanNode{Kind: exec.PlanTemp})
	case "Append", "Merge Append", "Recursive Union":
		return set(s, under, sides)
	case "SetOp":
		n := exec.PlanNode{Kind: exec.PlanExcept, Children: inputs}
		if len(inputs) == 1 && inputs[0].Kind == exec.PlanUnionAll { // before PostgreSQL 18
			n.Children = inputs[0].Children
		}
		if strings.HasPrefix(s.Command, "Intersect") {
			n.Kind = exec.PlanIntersect
			sortNodes(n.Children)
		}
		return []exec.PlanNode{n}
	}
	return inputs // Limit, Hash, Materialize and what else has no meaning of its own
}

// unqualified writes expressions without the tables of their columns, sorted.
func unqualified(expressions []string) []string {
	var out []string
	for _, e := range expressions {
		out = append(out, planName.ReplaceAllString(e, ""))
	}
	slices.Sort(out)
	return out
}

// table is the name of the step's table.
func (s *planStep) table() string {
	if s.Schema == "public" {
		return schema.Fold(s.Relation)
	}
	return schema.Fold(joined(".", s.Schema, s.Relation))
}

// scan reads a step that reads a table.
func (r *planReader) scan(s *planStep) exec.PlanNode {
	n := exec.PlanNode{Kind: exec.PlanScan, Table: s.table(), Access: exec.AccessFull}
	index, condition := s.Index, s.Condition
	for bitmap := s.Steps; s.Type == "Bitmap Heap Scan" && len(bitmap) > 0; bitmap = bitmap[0].Steps {
		index, condition = bitmap[0].Index, condition+bitmap[0].Condition
	}
	switch {
	case s.Tid != "":
		n.Kind, n.Access = exec.PlanSearch, exec.AccessPK
	case condition != "" && !r.joins(s, condition):
		n.Kind, n.Access = exec.PlanSearch, exec.AccessIndex
		if strings.HasSuffix(index, "_pkey") {
			n.Access = exec.AccessPK
		} else if s.Type == "Index Only Scan" {
			n.Access = exec.AccessCovering
		}
	}
	return n
}

var (
	planText = regexp.MustCompile(`'(?:[^']|'')*'`)
	planName = regexp.MustCompile(`("(?:[^"]|"")+"|[\pL_][\pL\pN_$]*)\.`)
)

// joins reports whether the condition of an index needs a row of another table.
func (r *planReader) joins(s *planStep, condition string) bool {
	for _, m := range planName.FindAllStringSubmatch(planText.ReplaceAllString(condition, "''"), -1) {
		name := m[1]
		if name[0] == '"' {
			name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
		}
		if name != s.Alias && r.aliases[name] {
			return true
		}
	}
	return false
}

// join puts the two sides of a join into one list that is the same whatever the planner joins first.
func join(kind string, left, right []exec.PlanNode) []exec.PlanNode {
	mark := func(nodes []exec.PlanNode, outer, semi bool) []exec.PlanNode {
		for i := range nodes {
			nodes[i].Outer, nodes[i].Semi = nodes[i].Outer || outer, nodes[i].Semi || semi
		}
		return nodes
	}
	left, leftOnce := side(left)
	right, rightOnce := side(right)
	switch kind {
	case "Left":
		right = mark(right, true, false)
	case "Right":
		left = mark(left, true, false)
	case "Full":
		left, right = mark(left, true, false), mark(right, true, false)
	case "Semi":
		right = mark(right, false, true)
	case "Right Semi":
		left = mark(left, false, true)
	case "Anti":
		right = mark(right, true, true)
	case "Right Anti":
		left = mark(left, true, true)
	default: // the planner makes of a semi-join a join with what is distinct
		left, right = mark(left, false, leftOnce), mark(right, false, rightOnce)
	}
	nodes := append(left, right...)
	sortNodes(nodes)
	return nodes
}

// side returns the steps of one side of a join: its tables, or what it is derived from as one step. once says that its
// rows were made distinct.
func side(nodes []exec.PlanNode) (tables []exec.PlanNode, once bool) {
	if n := len(nodes); n > 1 && nodes[n-1].Kind == exec.PlanDistinct {
		nodes, once = nodes[:n-1], true
	}
	for _, n := range nodes {
		switch n.Kind {
		case exec.PlanSort, exec.PlanGroup, exec.PlanDistinct, exec.PlanTemp:
			return []exec.PlanNode{derived(nodes)}, once
		}
	}
	return nodes, once
}

// derived is a subquery in FROM.
func derived(nodes []exec.PlanNode) exec.PlanNode {
	if len(nodes) == 1 && nodes[0].Table == exec.DerivedTable {
		return nodes[0]
	}
	return exec.PlanNode{Kind: exec.PlanScan, Table: exec.DerivedTable, Children: nodes}
}

// set makes one step of several branches. Within another UNION ALL they are branches of that one, as they are if the
// planner puts them there itself.
func set(s *planStep, under string, sides [][]exec.PlanNode) []exec.PlanNode {
	n := exec.PlanNode{Kind: exec.PlanUnionAll}
	if s.Type == "Recursive Union" {
		n.Kind = planRepeat
	}
	for _, side := range sides {
		switch {
		case len(side) == 1 && side[0].Kind == n.Kind && n.Kind == exec.PlanUnionAll:
			n.Children = append(n.Children, side[0].Children...)
		case len(side) == 1:
			n.Children = append(n.Children, side[0])
		default:
			n.Children = append(n.Children, derived(side))
		}
	}
	if len(n.Children) == 1 {
		return n.Children
	}
	return []exec.PlanNode{n}
}

// sortNodes sorts steps by how they print.
func sortNodes(nodes []exec.PlanNode) {
	slices.SortStableFunc(nodes, func(a, b exec.PlanNode) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(exec.Plan{Nodes: []exec.PlanNode{a}}.Signature(), exec.Plan{Nodes: []exec.PlanNode{b}}.Signature()))
	})
}
