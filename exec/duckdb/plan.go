package duckdb

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// explainPrefix makes of a statement one that tells its plan.
const explainPrefix = "EXPLAIN (FORMAT JSON) "

// The kinds of steps that cost nothing.
const (
	planConstant exec.PlanKind = "constant"  // rows that the statement itself spells out
	planFunction exec.PlanKind = "function"  // rows that a function makes, or of a file
	planRepeat   exec.PlanKind = "recursive" // a recursive query
)

// step is one operator of the physical plan.
type step struct {
	Name     string         `json:"name"`
	Children []step         `json:"children"`
	Info     map[string]any `json:"extra_info"`
}

// texts is what a step says of itself under a name: one text or several.
func (s step) texts(name string) (out []string) {
	switch v := s.Info[name].(type) {
	case string:
		return []string{v}
	case []any:
		for _, part := range v {
			out = append(out, str(part))
		}
	}
	return out
}

func readSteps(raw string) (steps []step, err error) {
	err = json.Unmarshal([]byte(raw), &steps)
	return steps, err
}

// Explain returns the physical plan of one statement: what EXPLAIN (FORMAT JSON) says. It runs nothing of the statement
// but what is constant in it.
//
// Rows name the operators with their tables and estimates, without conditions, since those may hold stored values.
// Nodes leave out projections, filters and how tables are joined. Tables that are joined to each other come by name:
// the side of a join depends on statistics. A table is named with its schema unless that is main. Every scan is a
// full one, but for a search by index. DuckDB tells no cost; EngineRows is its estimate for the outermost step that
// has one.
func (Dialect) Explain(ctx context.Context, q bridge.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	var kind, raw string
	err := each(ctx, q, explainPrefix+s.SQL(), func(scan func(...any) error) error { return scan(&kind, &raw) })
	if err != nil {
		return exec.Plan{}, err
	}
	steps, err := readSteps(raw)
	if err != nil {
		return exec.Plan{}, fmt.Errorf("duckdb: reading a plan: %w", err)
	}
	p := exec.Plan{Rows: []exec.PlanRow{}, Nodes: planNodes(steps), EngineRows: estimate(steps)}
	p.Rows = planRows(p.Rows, steps, 0)
	return p, nil
}

// estimate is the number of rows of the first step that tells it.
func estimate(steps []step) float64 {
	for _, s := range steps {
		for _, text := range s.texts("Estimated Cardinality") {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				return n
			}
		}
		if n := estimate(s.Children); n > 0 {
			return n
		}
	}
	return 0
}

func planRows(rows []exec.PlanRow, steps []step, parent int) []exec.PlanRow {
	for _, s := range steps {
		detail := strings.TrimSpace(s.Name)
		for _, name := range []string{"Table", "Function", "Type", "Join Type", "Estimated Cardinality"} {
			if text := s.texts(name); len(text) > 0 {
				detail += " " + strings.ToLower(strings.ReplaceAll(name, " ", "_")) + "=" + strings.Join(text, ",")
			}
		}
		rows = append(rows, exec.PlanRow{ID: len(rows) + 1, Parent: parent, Detail: detail})
		rows = planRows(rows, s.Children, len(rows))
	}
	return rows
}

// planNodes reads operators that stand beside each other.
func planNodes(steps []step) (nodes []exec.PlanNode) {
	for _, s := range steps {
		nodes = append(nodes, planNode(s)...)
	}
	return nodes
}

func planNode(s step) []exec.PlanNode {
	below := func() []exec.PlanNode { return planNodes(s.Children) }
	after := func(kind exec.PlanKind) []exec.PlanNode { return append(below(), exec.PlanNode{Kind: kind}) }
	whole := func(kind exec.PlanKind) []exec.PlanNode { return []exec.PlanNode{{Kind: kind, Children: below()}} }
	switch name := strings.TrimSpace(s.Name); name {
	case "ORDER_BY", "TOP_N":
		return after(exec.PlanSort)
	case "HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY", "PARTITIONED_AGGREGATE":
		if strings.Join(s.texts("Aggregates"), "") == "" {
			return after(exec.PlanDistinct)
		}
		return after(exec.PlanGroup)
	case "WINDOW", "STREAMING_WINDOW":
		return after(exec.PlanTemp)
	case "UNION":
		return whole(exec.PlanUnionAll)
	case "RECURSIVE_CTE", "RECURSIVE_KEY_CTE", "REC_CTE", "REC_KEY_CTE":
		return whole(planRepeat)
	case "CTE":
		return below()
	case "CTE_SCAN", "REC_CTE_SCAN", "REC_REC_CTE_SCAN", "DELIM_SCAN":
		return []exec.PlanNode{{Kind: exec.PlanScan, Table: exec.DerivedTable, Access: exec.AccessFull}}
	case "DUMMY_SCAN", "COLUMN_DATA_SCAN", "EMPTY_RESULT", "EXPRESSION_SCAN":
		return append(below(), exec.PlanNode{Kind: planConstant})
	case "SEQ_SCAN", "TABLE_SCAN", "INDEX_SCAN":
		n := exec.PlanNode{Kind: exec.PlanScan, Access: exec.AccessFull}
		if strings.Contains(strings.Join(s.texts("Type"), ""), "Index") || name == "INDEX_SCAN" {
			n.Kind, n.Access = exec.PlanSearch, exec.AccessIndex
		}
		if table := s.texts("Table"); len(table) > 0 {
			_, n.Table, _ = strings.Cut(schema.Fold(table[0]), ".")
			n.Table = strings.TrimPrefix(n.Table, defaultSchema+".")
		}
		return []exec.PlanNode{n}
	}
	switch {
	case strings.HasSuffix(s.Name, "_JOIN") || strings.Contains(s.Name, "CROSS_PRODUCT"):
		return join(s)
	case len(s.Children) == 0 && !strings.HasSuffix(s.Name, "_RESULT"):
		return []exec.PlanNode{{Kind: planFunction}}
	}
	return below()
}

// join reads the two sides of a join, the optional one as such. Of those that look for one matching row only it is the
// right side.
func join(s step) (nodes []exec.PlanNode) {
	kind := strings.Join(s.texts("Join Type"), "")
	for i, side := range s.Children {
		part := planNodes([]step{side})
		for j := range part {
			scan := part[j].Kind == exec.PlanScan || part[j].Kind == exec.PlanSearch
			part[j].Outer = part[j].Outer || scan && (kind == "FULL" || kind == "LEFT" && i == 1 || kind == "RIGHT" && i == 0)
			part[j].Semi = part[j].Semi || scan && ((kind == "SEMI" || kind == "ANTI" || kind == "MARK") && i == 1 || strings.HasPrefix(kind, "RIGHT_") && i == 0)
		}
		nodes = append(nodes, part...)
	}
	slices.SortStableFunc(nodes, func(a, b exec.PlanNode) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(string(a.Access), string(b.Access)))
	})
	return nodes
}
