package trino

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// explainPrefix makes of a statement one that tells its plan.
const explainPrefix = "EXPLAIN (TYPE LOGICAL, FORMAT JSON) "

// Explain returns the plan of one statement: what EXPLAIN (TYPE LOGICAL, FORMAT JSON) says. It runs nothing of the
// statement.
//
// Each step of the JSON is a row, with no condition, since that may hold stored values. What the nodes cannot tell,
// because the server rewrites it: INTERSECT and EXCEPT (a union that is grouped), subqueries (joins), DISTINCT from GROUP
// BY without an aggregate (both are "btree:distinct"). Exchanges between nodes are left out. Tables that are joined to
// each other without an outer join come by name, since their order depends on statistics.
//
// EngineCost is the CPU cost of all steps that the server can estimate; 0 where it can estimate none.
func (Dialect) Explain(ctx context.Context, q bridge.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	var text string
	err := each(ctx, q, explainPrefix+s.SQL(), func(scan func(...any) error) error { return scan(&text) })
	if err != nil {
		return exec.Plan{}, err
	}
	var root step
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return exec.Plan{}, fmt.Errorf("trino: reading a plan: %w", err)
	}
	r := planReader{}
	for _, ref := range s.Tables() {
		if name := schema.Fold(ref.Name); ref.Base() && !slices.ContainsFunc(r.tables, func(t *planTable) bool { return t.name == name }) {
			r.tables = append(r.tables, &planTable{name: name})
		}
	}
	if r.anonymous(root) {
		if err := r.columns(ctx, q); err != nil {
			return exec.Plan{}, err
		}
	}
	p := exec.Plan{Rows: root.rows([]exec.PlanRow{}, 0), Nodes: r.nodes(root)}
	root.estimate(&p)
	return p, nil
}

// step is one object of the JSON.
type step struct {
	Name       string
	Descriptor map[string]string
	Details    []string
	Estimates  []struct{ OutputRowCount, CPUCost estimate }
	Children   []step
}

// estimate is a number, 0 where the server writes "NaN" or "Infinity".
type estimate float64

func (e *estimate) UnmarshalJSON(text []byte) error {
	if f, err := strconv.ParseFloat(string(text), 64); err == nil {
		*e = estimate(f)
	}
	return nil
}

// table is the server's text for the table of a scan, "" for other steps: "tpch:tiny:nation", and of some connectors a
// number, "memory:7".
func (s step) table() string { return s.Descriptor["table"] }

func (s step) rows(rows []exec.PlanRow, parent int) []exec.PlanRow {
	detail := s.Name
	for _, key := range slices.Sorted(maps.Keys(s.Descriptor)) {
		if value := s.Descriptor[key]; value != "" && slices.Contains([]string{"table", "type", "distribution", "partitioning", "keys"}, key) {
			detail += " " + key + "=" + value
		}
	}
	rows = append(rows, exec.PlanRow{ID: len(rows) + 1, Parent: parent, Detail: detail})
	parent = len(rows)
	for _, child := range s.Children {
		rows = child.rows(rows, parent)
	}
	return rows
}

func (s step) estimate(p *exec.Plan) {
	for i, e := range s.Estimates {
		if p.EngineCost += float64(e.CPUCost); i == 0 && s.Name == "Output" {
			p.EngineRows = float64(e.OutputRowCount)
		}
	}
	for _, child := range s.Children {
		child.estimate(p)
	}
}

// planReader makes nodes of steps.
type planReader struct{ tables []*planTable }

// planTable is a table of the statement.
type planTable struct {
	name    string
	columns []string
	used    int // by how many scans
}

// word is a part of a table's text, with the number of its version or its kind of rows behind.
var word = regexp.MustCompile(`[\pL\pN_]+`)

// called is the table of the statement that a scan's text names, or the text's own word for a table that stands under a
// view. "" where there is none.
func (r planReader) called(text string) string {
	_, text, _ = strings.Cut(schema.Fold(text), ":")
	words := word.FindAllString(text, -1)
	for _, t := range r.tables {
		if slices.Contains(words, t.name) || len(word.FindString(t.name)) < len(t.name) && strings.Contains(text, t.name) {
			return t.name
		}
	}
	first, _, _ := strings.Cut(text, " ")
	first, _, _ = strings.Cut(first, "$")
	words = word.FindAllString(first, -1)
	if len(words) == 0 {
		return ""
	}
	if _, err := strconv.Atoi(words[len(words)-1]); err == nil {
		return ""
	}
	return words[len(words)-1]
}

// anonymous reports whether some scan does not say what it reads.
func (r planReader) anonymous(s step) bool {
	return s.table() != "" && r.called(s.table()) == "" || slices.ContainsFunc(s.Children, r.anonymous)
}

// columns reads those of the tables, by which scans without a name are told apart. A guard knows them, and the tables
// under a view too.
func (r *planReader) columns(ctx context.Context, q bridge.Queryer) error {
	h, ok := q.(*held)
	if !ok || h.last == nil {
		return nil
	}
	columns, err := h.columnsOf(ctx, h.last.tables)
	if err != nil {
		return err
	}
	r.tables = nil
	for _, t := range slices.SortedFunc(maps.Keys(columns), byName) {
		r.tables = append(r.tables, &planTable{name: t.name, columns: columns[t]})
	}
	return nil
}

// numbered is what the server puts behind a name that is there already: a_12.
var numbered = regexp.MustCompile(`(_\d+)+$`)

// guess is the table of a scan without a name: that with most of its columns, then one that no scan has, then the first
// in the text.
func (r planReader) guess(s step) string {
	var best *planTable
	most := 0
	for _, t := range r.tables {
		n := 0
		for _, detail := range s.Details {
			symbol, _, _ := strings.Cut(detail, " := ")
			if slices.Contains(t.columns, symbol) || slices.Contains(t.columns, numbered.ReplaceAllString(symbol, "")) {
				n++
			}
		}
		if best == nil || n > most || n == most && t.used < best.used {
			best, most = t, n
		}
	}
	if best == nil {
		return schema.Fold(s.table())
	}
	best.used++
	return best.name
}

func (r planReader) nodes(s step) (nodes []exec.PlanNode) {
	if table := s.table(); table != "" {
		name := r.called(table)
		if name == "" {
			name = r.guess(s)
		}
		return []exec.PlanNode{{Kind: exec.PlanScan, Table: name, Access: exec.AccessFull}}
	}
	var parts [][]exec.PlanNode
	for _, child := range s.Children {
		parts = append(parts, r.nodes(child))
	}
	switch {
	case len(parts) == 2 && strings.HasSuffix(s.Name, "Join"):
		left, right := parts[0], parts[1]
		optional := func(nodes []exec.PlanNode, is bool) {
			for i := range nodes {
				nodes[i].Outer = nodes[i].Outer || is && nodes[i].Kind == exec.PlanScan
			}
		}
		optional(left, s.Name == "RightJoin" || s.Name == "FullJoin")
		optional(right, s.Name == "LeftJoin" || s.Name == "FullJoin")
		if s.Name == "SemiJoin" {
			return append(left, exec.PlanNode{Kind: exec.PlanList, Children: right})
		}
		nodes = append(left, right...)
		if s.Name == "InnerJoin" || s.Name == "CrossJoin" {
			nodes = byTable(nodes)
		}
		return nodes
	case len(parts) > 1: // an exchange of several
		n := exec.PlanNode{Kind: exec.PlanUnionAll}
		for _, part := range parts {
			n.Children = append(n.Children, part...)
		}
		return []exec.PlanNode{n}
	case len(parts) == 1:
		nodes = parts[0]
	}
	kind := exec.PlanKind("")
	switch s.Name {
	case "Sort", "TopN", "LocalMerge":
		kind = exec.PlanSort
	case "Window", "TopNRanking", "RowNumber":
		kind = exec.PlanTemp
	case "DistinctLimit":
		kind = exec.PlanDistinct
	case "Aggregate":
		switch {
		case s.Descriptor["type"] == "PARTIAL" || s.Descriptor["keys"] == "":
		case len(s.Details) == 0:
			kind = exec.PlanDistinct
		default:
			kind = exec.PlanGroup
		}
	}
	if kind != "" {
		nodes = append(nodes, exec.PlanNode{Kind: kind})
	}
	return nodes
}

// byTable sorts the tables among nodes that are joined to each other by their names, up to one that is the optional side
// of a join or no table.
func byTable(nodes []exec.PlanNode) []exec.PlanNode {
	for from, i := 0, 0; i <= len(nodes); i++ {
		if i < len(nodes) && nodes[i].Kind == exec.PlanScan && !nodes[i].Outer {
			continue
		}
		slices.SortStableFunc(nodes[from:i], func(a, b exec.PlanNode) int { return cmp.Compare(a.Table, b.Table) })
		from = i + 1
	}
	return nodes
}
