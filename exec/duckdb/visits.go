package duckdb

import (
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// visits are how the objects of a tree are visited whose parts are not all expressions. All parts of the others are
// visited.
var visits map[string]func(*walker, node)

func init() { // they call each other
	visits = map[string]func(*walker, node){
		"SELECT_NODE":          (*walker).selectNode,
		"SET_OPERATION_NODE":   (*walker).inScope,
		"RECURSIVE_CTE_NODE":   (*walker).recursive,
		"ORDER_MODIFIER":       (*walker).order,
		"BASE_TABLE":           (*walker).baseTable,
		"JOIN":                 (*walker).join,
		"SUBQUERY":             (*walker).subquery,
		"EXPRESSION_LIST":      (*walker).values,
		"TABLE_FUNCTION":       (*walker).tableFunction,
		"PIVOT":                (*walker).pivot,
		"SHOW_REF":             (*walker).show,
		"COLUMN_REF":           (*walker).columnRef,
		"POSITIONAL_REFERENCE": (*walker).position,
		"STAR":                 (*walker).star,
		"FUNCTION":             (*walker).call,
		"OPERATOR_CAST":        (*walker).cast,
		"VALUE_CONSTANT":       (*walker).constant,
		"ARRAY_CONSTRUCTOR":    (*walker).array,
		"LAMBDA":               (*walker).lambda,
	}
}

func (w *walker) selectNode(v node) {
	w.sizes.aliases(list(v["select_list"]))
	w.number++
	w.selects = append(w.selects, w.number)
	w.inScope(v)
	w.selects = w.selects[:len(w.selects)-1]
}

// recursive visits a common table expression whose name stands for itself inside.
func (w *walker) recursive(v node) {
	w.with = append(w.with, []string{schema.FoldCase(str(v["cte_name"]))})
	w.inScope(v)
	w.with = w.with[:len(w.with)-1]
}

// order visits an ORDER BY. ORDER BY ALL, which is about what is selected, names nothing.
func (w *walker) order(v node) {
	if orders := list(v["orders"]); len(orders) == 1 {
		order, _ := orders[0].(node)
		if star, _ := order["expression"].(node); isAll(star) {
			return
		}
	}
	w.fields(v)
}

// isAll reports whether an expression is the ALL of ORDER BY ALL.
func isAll(v node) bool {
	plain := v["expr"] == nil && str(v["relation_name"]) == "" && len(list(v["exclude_list"])) == 0
	return str(v["type"]) == "STAR" && v["columns"] == true && plain
}

func (w *walker) baseTable(v node) {
	w.table(v)
	w.fields(v, "type", "table_name", "schema_name", "catalog_name", "alias", "column_name_alias", "sample")
}

func (w *walker) join(v node) {
	w.found.Natural = w.found.Natural || str(v["ref_type"]) == "NATURAL"
	if alias := str(v["alias"]); alias != "" {
		w.source(guard.Source{Alias: alias, Joined: true, Renamed: len(list(v["column_name_alias"])) > 0})
	}
	for _, name := range list(v["using_columns"]) {
		w.ref(guard.Ref{Path: []string{str(name)}})
	}
	w.fields(v, "using_columns", "sample")
}

// subquery visits one in an expression or in a FROM.
func (w *walker) subquery(v node) {
	if _, expression := v["class"]; expression {
		if w.nested++; w.nested > mostNested {
			reject("too-complex", "it has subqueries over %d deep inside of each other", mostNested)
		}
		defer func() { w.nested-- }()
	} else {
		w.source(guard.Source{Alias: str(v["alias"]), Renamed: len(list(v["column_name_alias"])) > 0})
	}
	w.fields(v, "sample")
}

func (w *walker) values(v node) {
	w.source(guard.Source{Alias: str(v["alias"])})
	w.fields(v, "sample", "expected_names", "expected_types")
}

func (w *walker) tableFunction(v node) {
	function, _ := v["function"].(node)
	name := schema.FoldCase(str(function["function_name"]))
	w.source(guard.Source{Alias: str(v["alias"])})
	w.source(guard.Source{Alias: name})
	listed := tableFunctions[name] || w.view && fileFunctions[name]
	shadowed := w.facts.macros[name] || !listed
	if !isBuiltin(function) || shadowed && !w.facts.added[name] {
		reject("function", "the table function %s is not on the list", name)
	}
	w.called[name] = true
	w.walk(function["children"])
	w.fields(v, "function", "sample")
}

// pivot visits a PIVOT, which groups by all columns that it does not name.
func (w *walker) pivot(v node) {
	w.ref(guard.Ref{Star: true, Select: w.current()})
	w.source(guard.Source{Alias: str(v["alias"])})
	for _, name := range list(v["groups"]) {
		w.ref(guard.Ref{Path: []string{str(name)}})
	}
	w.fields(v, "groups", "unpivot_names", "column_name_alias", "sample")
}

// show visits DESCRIBE or SUMMARIZE of a query; of a table it is one of SELECT * FROM the table. What SHOW shows has no
// query.
func (w *walker) show(v node) {
	query, _ := v["query"].(node)
	if what := str(v["show_type"]); query == nil || what != "DESCRIBE" && what != "SUMMARY" {
		reject("statement", "SHOW is not among what a statement may be made of")
	}
	w.source(guard.Source{Alias: str(v["alias"])})
	w.walk(query)
}

// columnRef visits a name, which may be one that DuckDB reads as a call.
func (w *walker) columnRef(v node) {
	var path []string
	for _, name := range list(v["column_names"]) {
		path = append(path, str(name))
	}
	if len(path) == 1 {
		name := schema.FoldCase(path[0])
		w.implies(implied[name])
		if nowNames[name] {
			w.implies(name)
		}
	}
	w.sizes.columns++
	w.column(path)
}

// position visits #1, which may be any column.
func (w *walker) position(node) { w.ref(guard.Ref{Star: true, Select: w.current()}) }

func (w *walker) star(v node) {
	r := guard.Ref{Star: true, Select: w.current()}
	if name := str(v["relation_name"]); name != "" {
		r.Path = []string{name}
	}
	if v["expr"] == nil {
		for _, name := range list(v["exclude_list"]) {
			r.Except = append(r.Except, str(name))
		}
	}
	w.ref(r)
	w.fields(v, "exclude_list", "qualified_exclude_list", "rename_list")
}

func (w *walker) call(v node) {
	w.function(v)
	w.fields(v)
}

func (w *walker) cast(v node) {
	if n := arraySize(v["cast_type"]); n > mostArray {
		reject("too-complex", "a cast makes an array of %.0f values; at most %d are allowed", n, mostArray)
	}
	w.fields(v, "cast_type")
}

func (w *walker) constant(v node) {
	text, _ := constant(v)
	w.sizes.texts += float64(max(8, len(text)))
}

func (w *walker) array(v node) {
	w.sizes.list(float64(len(list(v["children"]))))
	w.fields(v)
}

func (w *walker) lambda(v node) {
	w.sizes.lambda(v["expr"], w.lambdas)
	w.lambdas++
	defer func() { w.lambdas-- }()
	w.fields(v)
}
