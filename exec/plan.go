package exec

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// Plan is what the engine says it would do for one statement, without doing it.
//
// Rows are the engine's own words. Nodes are what exec/sqlite makes of them, so that plans can be compared and costed as
// the methods do that were published for SQLite. Other engines give their plan as it is, and its cost. An engine that plans by
// statistics does so by those of all rows: where Policy.Rows is about the statement, Rows tell its tables, and there is no more.
//
// A Plan is plain data: safe for concurrent reading.
type Plan struct {
	Rows  []PlanRow  `json:"rows"`            // the rows of the plan as the engine gives them
	Nodes []PlanNode `json:"nodes,omitempty"` // the same as a tree; in the order of the rows

	// EngineCost is what the engine estimates the statement to cost, in a unit of its own; 0: it does not tell, or
	// rules about rows hide it: it counts all rows.
	EngineCost float64 `json:"engine_cost,omitempty"`
	EngineRows float64 `json:"engine_rows,omitempty"` // how many rows it estimates; 0: it does not tell
}

// PlanRow is one row of the engine's plan. Parent is the ID of the row it belongs to, 0 for none.
type PlanRow struct {
	ID     int    `json:"id"`               // names the row within its plan
	Parent int    `json:"parent,omitempty"` // the ID of the row that it is a part of; 0: of none
	Detail string `json:"detail"`           // the engine's own words

	// Scans are the tables that the step reads from first to last; nearly always one. [Plan.Scans] has those of all steps.
	Scans []schema.TableName `json:"scans,omitempty"`
}

// Scans returns the tables that the plan reads whole, each once and sorted, named as the schema names them: every row of
// the table, or every entry of one of its indexes. A LIMIT may end such a scan early, and conditions do not make it a
// smaller one. nil: there is none, or rules about rows hide the plan.
//
// SQLite, PostgreSQL, MariaDB and DuckDB tell scans apart from lookups by a key. Where an engine does not tell which of
// two tables a step reads, both are named. Trino and BigQuery have no indexes: each table that they read counts, though a
// connector or partitions may leave parts of it out.
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

// PlanNode is one step of a plan, in the terms all dialects share.
type PlanNode struct {
	Kind   PlanKind `json:"kind"`             // what is done
	Table  string   `json:"table,omitempty"`  // what a scan or search reads: the base table in lower case, "sub" for a CTE or a subquery, or ""
	Access Access   `json:"access,omitempty"` // how a scan or search finds rows; "" where the engine does not say

	Outer      bool `json:"outer,omitempty"`      // the optional side of an outer join
	Semi       bool `json:"semi,omitempty"`       // looks for one matching row only, as EXISTS does
	Correlated bool `json:"correlated,omitempty"` // a subquery that runs again for each row

	Children []PlanNode `json:"children,omitempty"` // the child steps in the order of the engine's rows
}

// PlanKind says what a step does. The values are stable: they are the words of a signature. A dialect may add kinds of its
// own; they cost nothing.
//
//   - "scan" reads all rows, "search" looks rows up.
//   - "btree:order" sorts, "btree:group" collects groups, "btree:distinct" removes duplicates; "btree" is any other
//     temporary structure that is sorted or searched.
//   - "scalar" is a subquery for one value, "list" one for the right side of IN.
//   - "union", "unionall" and "intersect" are set operations of the children; "except" is the first child without the others.
type PlanKind string

// Access says how a scan or a search finds its rows.
//
//   - "full": every row of the table itself
//   - "index": an index, then the table; "covering": an index that holds all that is needed
//   - "pk": the primary key
//   - "auto": an index that the engine builds for this statement
//   - "virtual": a virtual table decides
type Access string

// Signature returns the strict signature of p: one line that is the same for two plans exactly when their steps are,
// whatever the aliases are called.
//
// A step prints as kind[:table][:access][:left][:exists](children), steps that follow each other are separated by
// commas, and a correlated subquery has "correlated:" in front of its kind. Sorting inside the branches of a set
// operation is left out: whether it shows up depends on the version of SQLite. A plan without nodes has the texts of its
// rows as its signature, each number a 0; one without rows has the empty signature.
//
// Equal signatures are a proxy for equal results and not more than that: conditions, selected columns, sort direction
// and LIMIT are not part of a plan. Prefer to compare results wherever statements may run.
//
// The rules mend those of galah92/egtts, which planvote.PublishedSignature has.
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

// RawPlan makes a plan of the lines in which an engine writes it.
func RawPlan(text string) (p Plan) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n \t"); line != "" {
			p.Rows = append(p.Rows, PlanRow{ID: len(p.Rows) + 1, Detail: line})
		}
	}
	return p
}

// signature writes nodes with commas between them. inSet says that they are the branches of a set operation.
func signature(nodes []PlanNode, inSet bool) string {
	var steps []string
	for i := range nodes {
		n := &nodes[i]
		if inSet && n.Kind == "btree:order" {
			continue
		}
		step := string(n.Kind)
		if n.Correlated {
			step = "correlated:" + step
		}
		if strings.ContainsAny(n.Table, `:,()"`) { // no name makes two different plans look alike
			step += ":" + strconv.Quote(n.Table)
		} else if n.Table != "" {
			step += ":" + n.Table
		}
		if n.Access != "" {
			step += ":" + string(n.Access)
		}
		if n.Outer {
			step += ":left"
		}
		if n.Semi {
			step += ":exists"
		}
		if len(n.Children) > 0 {
			isSet := slices.Contains([]PlanKind{"union", "unionall", "intersect", "except"}, n.Kind)
			step += "(" + signature(n.Children, isSet) + ")"
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, ",")
}

// Cost returns a rough price of p, in points; lower is better, 0 is free.
//
// It is the sum over all steps: 100 for a full scan; 50 for a scan of an index, for an index that the engine builds for
// this statement, for a virtual table and for each temporary structure that sorts, groups or removes duplicates; 75 for
// a correlated subquery; 0 for everything else. It knows nothing of the number of rows, so it ranks spellings of one
// query and cannot predict time. A plan without nodes costs what the engine estimates, EngineCost.
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
