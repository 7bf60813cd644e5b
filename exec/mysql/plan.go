package mysql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/aliases"
	"github.com/texttosql/texttosql/exec/internal/bridge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// explainPrefix makes of a statement one that tells its plan.
const explainPrefix = "EXPLAIN FORMAT=JSON "

// Explain returns the plan of one statement: what EXPLAIN FORMAT=JSON says. It runs nothing of the statement.
//
// Each object of the JSON is a row, with its numbers and words but no condition, since that may hold stored values.
// What the nodes cannot tell, because the server does not: UNION from UNION ALL (both are "union"), and what a
// temporary table is for ("btree"). Tables that are joined to each other without an outer join come by name, since
// their order depends on statistics. MariaDB tells a cost from version 11.0.
func (Dialect) Explain(ctx context.Context, q bridge.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	var text []byte
	err := each(ctx, q, explainPrefix+s.SQL(), func(scan func(...any) error) error { return scan(&text) })
	if err != nil {
		return exec.Plan{}, err
	}
	return readPlan(s, text)
}

// planValue is one member of a JSON object or one element of an array. Members stay in their order, and a key may be
// there twice: both matters in a plan.
type planValue struct {
	key   string
	text  string // of a number, a string or a constant
	parts []planValue
	list  bool
}

const maxPlanDepth = 200 // so that no text makes us recurse without end

func readJSON(d *json.Decoder, v planValue, depth int) (planValue, error) {
	token, err := d.Token()
	if err != nil || depth > maxPlanDepth {
		return v, cmp.Or(err, fmt.Errorf("over %d levels", maxPlanDepth))
	}
	delim, ok := token.(json.Delim)
	if !ok {
		v.text = fmt.Sprint(token)
		return v, nil
	}
	v.list = delim == '['
	for d.More() {
		var part planValue
		if !v.list {
			if token, err = d.Token(); err != nil {
				return v, err
			}
			part.key, _ = token.(string)
		}
		if part, err = readJSON(d, part, depth+1); err != nil {
			return v, err
		}
		v.parts = append(v.parts, part)
	}
	_, err = d.Token()
	return v, err
}

// get is the text of a member, "" where there is none.
func (v planValue) get(key string) string {
	for _, p := range v.parts {
		if p.key == key {
			return p.text
		}
	}
	return ""
}

func readPlan(s *sqltext.Statement, text []byte) (exec.Plan, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	root, err := readJSON(d, planValue{}, 0)
	if err != nil {
		return exec.Plan{}, fmt.Errorf("mysql: reading a plan: %w", err)
	}
	r := planReader{names: aliases.Read(s)}
	p := exec.Plan{Nodes: append([]exec.PlanNode{}, r.members(root, nil)...)} // a plan of which nothing is told has no signature
	p.Rows = planRows([]exec.PlanRow{}, root, 0)
	p.EngineCost = engineCost(root)
	return p, nil
}

// engineCost is the cost of the outermost query blocks: a UNION has none of its own.
func engineCost(v planValue) (cost float64) {
	for _, p := range v.parts {
		own, err := strconv.ParseFloat(p.get("cost"), 64)
		if err != nil {
			own = engineCost(p)
		}
		cost += own
	}
	return cost
}

// planRows appends a row for each object.
func planRows(rows []exec.PlanRow, v planValue, parent int) []exec.PlanRow {
	if v.key != "" && !v.list && len(v.parts) > 0 {
		detail := v.key
		for _, p := range v.parts {
			if p.text != "" && !strings.HasSuffix(p.key, "condition") && p.key != "sort_key" {
				detail += " " + p.key + "=" + p.text
			}
		}
		rows = append(rows, exec.PlanRow{ID: len(rows) + 1, Parent: parent, Detail: detail})
		parent = len(rows)
	}
	for _, p := range v.parts {
		rows = planRows(rows, p, parent)
	}
	return rows
}

// planReader turns the JSON into nodes.
type planReader struct{ names aliases.Names }

// members reads the parts of an object or a list. in is the part of the statement that they come from.
func (r planReader) members(v planValue, in *aliases.Scope) (nodes []exec.PlanNode) {
	var after []exec.PlanNode // what is done to the rows of the others
	for _, p := range v.parts {
		switch p.key {
		case "query_block":
			nodes = append(nodes, r.members(p, r.names.ScopeOf(tableNames(p, nil)))...)
		case "nested_loop":
			nodes = append(nodes, byTable(r.members(p, in))...)
		case "table":
			nodes = append(nodes, r.table(p, in)...)
		case "filesort", "temporary_table", "duplicates_removal":
			nodes = append(nodes, r.members(p, in)...)
			nodes = append(nodes, exec.PlanNode{Kind: map[string]exec.PlanKind{
				"filesort": exec.PlanSort, "temporary_table": exec.PlanTemp, "duplicates_removal": exec.PlanDistinct,
			}[p.key]})
		case "sorts": // of window functions
			after = append(after, r.members(p, in)...)
		case "union_result", "recursive_union":
			kind := exec.PlanUnion
			if name := p.get("table_name"); strings.HasPrefix(name, "<intersect") {
				kind = exec.PlanIntersect
			} else if strings.HasPrefix(name, "<except") {
				kind = exec.PlanExcept
			}
			nodes = append(nodes, exec.PlanNode{Kind: kind, Children: r.members(p, in)})
		case "subqueries":
			for _, sub := range p.parts {
				after = append(after, r.subquery(sub))
			}
		case "index_merge", "rowid_filter": // how a table is searched
		default:
			nodes = append(nodes, r.members(p, in)...)
		}
	}
	return append(nodes, after...)
}

// subquery reads one that is a value. The server keeps results of those that depend on the row around them in a cache;
// a search of one table for a value of that row has an access of its own.
func (r planReader) subquery(v planValue) exec.PlanNode {
	n := exec.PlanNode{Kind: exec.PlanScalar, Children: r.members(v, nil)}
	for len(v.parts) > 0 {
		v = v.parts[len(v.parts)-1]
		switch v.key {
		case "expression_cache":
			n.Correlated = true
		case "materialization":
			n.Kind = exec.PlanList
		case "table":
			if strings.HasSuffix(v.get("access_type"), "_subquery") {
				n.Kind, n.Correlated = exec.PlanList, true
			}
			return n
		}
	}
	return n
}

// table reads one table. A message instead of a name says that none is read.
func (r planReader) table(v planValue, in *aliases.Scope) []exec.PlanNode {
	name, access := v.get("table_name"), strings.TrimPrefix(v.get("access_type"), "hash_")
	if name == "" {
		return nil
	}
	n := exec.PlanNode{
		Kind: exec.PlanSearch, Access: exec.AccessIndex, Table: r.names.Resolve(schema.Fold(name), in),
		Outer: strings.Contains(v.get("attached_condition"), "trigcond("),
		Semi:  v.get("first_match") != "" || v.get("loosescan") != "" || strings.HasPrefix(name, "<subquery"),
	}
	if strings.HasPrefix(name, "<") {
		n.Table = exec.DerivedTable
	}
	key := v.get("key")
	switch {
	case access == "ALL" || access == "system" || access == "index" && key == "PRIMARY":
		n.Kind, n.Access = exec.PlanScan, exec.AccessFull
	case key == "PRIMARY":
		n.Access = exec.AccessPK
	case n.Table == exec.DerivedTable || strings.HasPrefix(key, "#hash#"):
		n.Access = exec.AccessAuto
	case v.get("using_index") != "":
		n.Access = exec.AccessCovering
	}
	if access == "index" {
		n.Kind = exec.PlanScan
	}
	for _, p := range v.parts {
		if p.key == "materialized" {
			n.Children = r.members(p, nil)
		}
	}
	return []exec.PlanNode{n}
}

// tableNames collects the names that the tables of one query block have, in lower case.
func tableNames(v planValue, names []string) []string {
	for _, p := range v.parts {
		switch p.key {
		case "query_block", "materialized", "subqueries":
		case "table":
			names = append(names, schema.Fold(p.get("table_name")))
		default:
			names = tableNames(p, names)
		}
	}
	return names
}

// byTable sorts tables that are joined to each other by their names, up to one that is the optional side of a join.
func byTable(nodes []exec.PlanNode) []exec.PlanNode {
	for from, i := 0, 0; i <= len(nodes); i++ {
		if i < len(nodes) && (nodes[i].Kind == exec.PlanScan || nodes[i].Kind == exec.PlanSearch) && !nodes[i].Outer && !nodes[i].Semi {
			continue
		}
		slices.SortStableFunc(nodes[from:i], func(a, b exec.PlanNode) int {
			return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(string(a.Access), string(b.Access)))
		})
		from = i + 1
	}
	return nodes
}
