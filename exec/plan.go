package exec

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// Plan is the engine's plan for one statement. The engine does not run the statement for it.
//
// Rows are the engine's own words. exec/sqlite builds Nodes from them, so that plans can be compared and costed with
// the methods published for SQLite. Other engines return their Rows and cost unchanged. An engine that plans by
// statistics uses the statistics of all rows. So if Policy.Rows applies to the statement, or the scope has settings,
// Rows list only its tables (Reduced). So they do with Policy.DenyColumns, because an index or a condition may name a
// denied column, and with a policy that denies tables, because row security may read one. Then EngineCost and Scans
// stay. On SQLite the rows stay too, and name no index with Policy.DenyColumns.
//
// A Plan is plain data: safe for concurrent reading.
type Plan struct {
	Rows  []PlanRow  `json:"rows"`            // the rows of the plan as the engine returns them
	Nodes []PlanNode `json:"nodes,omitempty"` // the same as a tree; in the order of the rows

	Reduced bool `json:"reduced,omitempty"` // Rows list only the tables: many statements have the same ones

	// EngineCost is the engine's cost estimate, in its own unit. 0: the engine does not report it, or rules about rows
	// or the settings of the scope hide it because it counts all rows.
	EngineCost float64 `json:"engine_cost,omitempty"`
	EngineRows float64 `json:"engine_rows,omitempty"` // the engine's estimate of the number of rows; 0: not reported
}

// PlanRow is one row of the engine's plan. Parent is the ID of the parent row, 0 for none.
type PlanRow struct {
	ID     int    `json:"id"`               // identifies the row in its plan
	Parent int    `json:"parent,omitempty"` // the ID of the row that it is a part of; 0: none
	Detail string `json:"detail"`           // the engine's own words

	// Scans are the tables that the step reads completely, nearly always one. [Plan.Scans] returns the tables of all
	// steps.
	Scans []schema.TableName `json:"scans,omitempty"`
}

// Scans returns the tables that the plan reads completely, each once and sorted, with their names in the schema. A
// complete read means every row of the table, or every entry of one of its indexes. A LIMIT may end such a scan early;
// conditions do not make it smaller. nil: the plan has none, or rules about rows hide them.
//
// SQLite, PostgreSQL, MariaDB and DuckDB distinguish scans from lookups by a key. If an engine does not report which of
// two tables a step reads, Scans returns both. Trino and BigQuery have no indexes: each table that they read counts,
// though a connector or partitions may skip parts of it.
func (p Plan) Scans() (tables []schema.TableName) {
	for _, row := range p.Rows {
		for _, t := range row.Scans {
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	slices.SortFunc(tables, func(a, b schema.TableName) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return tables
}

// PlanNode is one step of a plan, in terms that all dialects share.
type PlanNode struct {
	// Kind is the kind of the step. The values are stable, because signatures contain them. A dialect may add its own
	// kinds; Cost counts them as 0.
	//
	//   - "scan" reads all rows, "search" looks rows up.
	//   - "btree:order" sorts, "btree:group" collects groups, "btree:distinct" removes duplicates; "btree" is any other
	//     temporary structure that is sorted or searched.
	//   - "scalar" is a subquery for one value, "list" one for the right side of IN.
	//   - "union", "unionall" and "intersect" are set operations of the children; "except" is the first child without
	//     the others.
	Kind  string `json:"kind"`
	Table string `json:"table,omitempty"` // the base table in lower case, "sub" for a CTE or a subquery, or ""
	// Access is how a scan or a search finds its rows; "" if the engine does not report it.
	//
	//   - "full": every row of the table itself
	//   - "index": an index, then the table; "covering": an index that contains all needed columns
	//   - "pk": the primary key
	//   - "auto": an index that the engine builds for this statement
	//   - "virtual": a virtual table decides
	Access string `json:"access,omitempty"`

	Outer      bool `json:"outer,omitempty"`      // the optional side of an outer join
	Semi       bool `json:"semi,omitempty"`       // looks for one matching row only, as EXISTS does
	Correlated bool `json:"correlated,omitempty"` // a subquery that runs again for each row

	Children []PlanNode `json:"children,omitempty"` // the child steps in the order of the engine's rows
}

// Signature returns the strict signature of p. Two plans have the same signature exactly if their steps are the same,
// whatever the aliases are.
//
// A step prints as kind[:table][:access][:left][:exists](children). Commas separate steps that follow each other. A
// correlated subquery has the prefix "correlated:". Sorting inside the branches of a set operation is left out, because
// it depends on the version of SQLite. The signature of a plan without nodes is the text of its rows, with each number
// replaced by 0. A plan without rows has the empty signature.
//
// Equal signatures only suggest equal results: conditions, selected columns, sort direction and LIMIT are not part of a
// plan. Prefer to compare results if statements may run.
//
// The rules correct the rules of galah92/egtts.
func (p Plan) Signature() string {
	if p.Nodes != nil {
		return signature(p.Nodes, false)
	}
	texts := make([]string, len(p.Rows))
	for i, row := range p.Rows {
		texts[i] = numbers.ReplaceAllString(row.Detail, "0")
	}
	return strings.Join(texts, "\n")
}

// numbers are the digits in a plan that are no part of a name.
var numbers = regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\b`)

// AddText appends the lines of a plan that an engine returns as text to p.Rows.
func (p *Plan) AddText(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n \t"); line != "" {
			p.Rows = append(p.Rows, PlanRow{ID: len(p.Rows) + 1, Detail: line})
		}
	}
}

// signature writes nodes with commas between them. inSet: they are the branches of a set operation.
func signature(nodes []PlanNode, inSet bool) string {
	var steps []string
	for i := range nodes {
		n := &nodes[i]
		if inSet && n.Kind == "btree:order" {
			continue
		}
		step := n.Kind
		if n.Correlated {
			step = "correlated:" + step
		}
		if strings.ContainsAny(n.Table, `:,()"`) { // no name makes two different plans look alike
			step += ":" + strconv.Quote(n.Table)
		} else if n.Table != "" {
			step += ":" + n.Table
		}
		if n.Access != "" {
			step += ":" + n.Access
		}
		if n.Outer {
			step += ":left"
		}
		if n.Semi {
			step += ":exists"
		}
		if len(n.Children) > 0 {
			isSet := slices.Contains([]string{"union", "unionall", "intersect", "except"}, n.Kind)
			step += "(" + signature(n.Children, isSet) + ")"
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, ",")
}

// Cost returns a rough price of p, in points; lower is better, 0 is free. It is the sum over all steps:
//
//   - 100 for a full scan
//   - 50 for a scan of an index, for an index that the engine builds for this statement, and for a virtual table
//   - 50 for each temporary structure that sorts, groups or removes duplicates
//   - 75 for a correlated subquery
//   - 0 for everything else
//
// Cost ignores the number of rows, so it ranks different ways to write one query and cannot predict time. The cost of a
// plan without nodes is the engine's estimate, EngineCost.
func (p Plan) Cost() float64 {
	if p.Nodes == nil {
		return p.EngineCost
	}
	return nodesCost(p.Nodes)
}

func nodesCost(nodes []PlanNode) float64 {
	var sum float64
	for i := range nodes {
		sum += nodes[i].cost() + nodesCost(nodes[i].Children)
	}
	return sum
}

func (n *PlanNode) cost() float64 {
	switch n.Kind {
	case "scan", "search":
		switch n.Access {
		case "full":
			return 100
		case "auto", "virtual":
			return 50
		case "index", "covering":
			if n.Kind == "scan" {
				return 50
			}
		}
	case "btree:order", "btree:group", "btree:distinct", "btree":
		return 50
	case "scalar", "list":
		if n.Correlated {
			return 75
		}
	}
	return 0
}
