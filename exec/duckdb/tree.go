package duckdb

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// node is an object of the tree that json_serialize_sql writes.
type node = map[string]any

// document is what json_serialize_sql says of a text.
type document struct {
	Error      bool   `json:"error"`
	Kind       string `json:"error_type"`
	Message    string `json:"error_message"`
	Statements []node `json:"statements"`
}

// tree asks the engine for the syntax tree of a text, and refuses what is not one SELECT.
func (h *held) tree(ctx context.Context, text string) (*document, error) {
	raw := ""
	err := h.each(ctx, "SELECT system.main.json_serialize_sql(?::VARCHAR)::VARCHAR", func(scan func(...any) error) error {
		return scan(&raw)
	}, text)
	if err != nil {
		return nil, err
	}
	var d document
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		return nil, guard.Refuse("too-complex", "its syntax tree cannot be read: it may be nested too deep")
	}
	message, _, _ := strings.Cut(d.Message, "\n")
	switch {
	case d.Error && strings.Contains(message, "expression depth"):
		return nil, guard.Refuse("too-complex", "it is nested too deep")
	case d.Error && d.Kind == "parser":
		return nil, &exec.InvalidError{Fault: "syntax", Message: message}
	case d.Error && strings.Contains(message, "Only SELECT") && pivots.MatchString(text):
		return nil, guard.Refuse("statement", "a PIVOT without its values makes a type for them: name them, as in PIVOT t "+
			"ON x IN ('a', 'b')")
	case d.Error && strings.Contains(message, "Only SELECT"):
		return nil, guard.Refuse("not-read-only", "it is no SELECT")
	case d.Error:
		return nil, guard.Refuse("statement", "the engine cannot write its syntax tree: %s", masked(message))
	case len(d.Statements) != 1:
		return nil, guard.Refuse("several-statements", "it is %d statements", len(d.Statements))
	}
	return &d, nil
}

var pivots = regexp.MustCompile(`(?i)\bpivot`)

// kinds are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var kinds = guard.Set(
	`SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER DISTINCT_MODIFIER
	ORDER_DEFAULT ASCENDING DESCENDING BASE_TABLE JOIN SUBQUERY TABLE_FUNCTION EMPTY EXPRESSION_LIST PIVOT SHOW_REF
	VALUE_CONSTANT COLUMN_REF FUNCTION STAR CONJUNCTION_AND CONJUNCTION_OR OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE
	OPERATOR_TRY OPERATOR_UNPACK OPERATOR_CAST OPERATOR_NULLIF CASE_EXPR ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT ARRAY_CONSTRUCTOR GROUPING_FUNCTION
	LAMBDA POSITIONAL_REFERENCE COLLATE COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO
	COMPARE_GREATERTHANOREQUALTO COMPARE_IN COMPARE_NOT_IN COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM COMPARE_BETWEEN COMPARE_NOT_BETWEEN
	WINDOW_AGGREGATE WINDOW_ROW_NUMBER WINDOW_RANK WINDOW_RANK_DENSE WINDOW_PERCENT_RANK WINDOW_CUME_DIST WINDOW_NTILE WINDOW_FIRST_VALUE
	WINDOW_LAST_VALUE WINDOW_NTH_VALUE WINDOW_LAG WINDOW_LEAD WINDOW_FILL`)

// implied are the functions that DuckDB calls for what does not look like a call.
var implied = map[string]string{
	"ARRAY_CONSTRUCTOR": "list_value", "ARRAY_EXTRACT": "array_extract", "ARRAY_SLICE": "array_slice",
	"STRUCT_EXTRACT": "struct_extract",
	"current_time":   "get_current_time", "current_timestamp": "get_current_timestamp",
	"localtime": "current_localtime", "localtimestamp": "current_localtimestamp",
}

// The limits on a tree. DuckDB's planner takes twice as long for each subquery inside of another one, and no interrupt
// ends it; joins take it long too.
const (
	mostNodes   = 200_000 // objects
	mostNested  = 12      // expressions that are subqueries, inside of each other
	mostSources = 50      // in the FROM of one SELECT

	// It looks at each expression again for all around it: a chain of 800 additions takes it seconds.
	mostWork = 10_000_000 // the sum of depth times depth of all expressions
)

// walker walks one tree.
type walker struct {
	facts     *facts
	arguments bool // parameters are allowed
	view      bool // the text is the definition of a view
	found     *guard.Names
	called    map[string]bool // functions
	visited   int
	selects   []int // numbers of the SELECTs around, the last is the one
	number    int
	nested    int // subqueries around
	lambdas   int // around
	depth     int // expressions around
	work      int
	sources   map[int]int // in each SELECT
	with      [][]string  // common table expressions in scope, a scope a WITH, in lower case
	added     int         // tokens that are written out
	sizes     sizes
	main      bool // a function of the schema main is called, or of what else is called so
}

// names walks the tree of a statement and says what it names, or refuses it.
func (w *walker) names(d *document) (*guard.Names, error) {
	root := d.Statements[0]
	w.called, w.sources = map[string]bool{}, map[int]int{}
	w.found = &guard.Names{Fields: true, Call: func(string) bool { return false }} // the name of a relation is its row
	w.sizes = sizes{times: 1, nested: 1}
	err := guard.RecoverWalk(func() {
		w.walk(root)
		w.sizes.check(w.added)
	})
	if err != nil {
		return nil, err
	}
	isMain := func(s guard.Source) bool { return schema.EqualFold(s.Alias, defaultSchema) }
	if w.main && (w.facts.columns[defaultSchema] || slices.ContainsFunc(w.found.Sources, isMain)) {
		w.column([]string{defaultSchema})
	}
	w.found.Functions = slices.Sorted(maps.Keys(w.called))
	return w.found, nil
}

// walk visits a value and all that it holds.
func (w *walker) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			w.walk(part)
		}
	case node:
		if _, constant := v["type"].(node); !constant {
			w.object(v)
		} else {
			w.count()
		}
	}
}

// count bounds the objects of a tree.
func (w *walker) count() {
	if w.visited++; w.visited > mostNodes {
		reject("too-complex", "its tree has over %d parts", mostNodes)
	}
}

// object visits an object that is no constant.
func (w *walker) object(v node) {
	w.count()
	kind, typed := v["type"].(string)
	if typed && !kinds[kind] && !(w.arguments && kind == "VALUE_PARAMETER") {
		what := strings.ToLower(strings.ReplaceAll(kind, "_", " "))
		reject("statement", "%s is not among what a statement may be made of", what)
	}
	if _, expression := v["class"]; expression {
		w.depth++
		defer func() { w.depth-- }()
		if w.work += w.depth * w.depth; w.work > mostWork {
			reject("too-complex", "its expressions are too many or nested too deep")
		}
	}
	w.implies(implied[kind])
	if visit := visits[kind]; visit != nil {
		visit(w, v)
	} else if strings.HasPrefix(kind, "WINDOW_") {
		w.call(v)
	} else {
		w.fields(v)
	}
}

// implies refuses a macro of the database in the place of a function that DuckDB calls by itself.
func (w *walker) implies(name string) {
	if w.facts.macros[name] && !w.facts.added[name] {
		reject("function", "the database has a macro %s in the place of the function that is called here", name)
	}
}

// fields visits the parts of an object in the order of their names, but for those that are no expressions.
func (w *walker) fields(v node, skip ...string) {
	keys := make([]string, 0, len(v))
	for key := range v {
		if !slices.Contains(skip, key) && key != "named_param_map" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		w.walk(v[key])
	}
}

// column notes a name. One in three parts or more may begin with the name of the database.
func (w *walker) column(path []string) {
	if len(path) == 0 {
		return
	}
	w.ref(guard.Ref{Path: path})
	if len(path) > 1 && schema.EqualFold(path[0], w.facts.database) {
		w.ref(guard.Ref{Path: path[1:]})
	}
}

// current is the number of the SELECT around.
func (w *walker) current() int {
	if len(w.selects) == 0 {
		return 0
	}
	return w.selects[len(w.selects)-1]
}

func (w *walker) ref(r guard.Ref) { w.found.Refs = append(w.found.Refs, r) }

func (w *walker) source(s guard.Source) {
	s.Select = w.current()
	if w.sources[s.Select]++; w.sources[s.Select] > mostSources {
		reject("too-complex", "it joins over %d tables in one SELECT", mostSources)
	}
	w.found.Sources = append(w.found.Sources, s)
}

// inScope visits the WITH of a query and then, with its names in scope, the rest.
func (w *walker) inScope(v node) {
	ctes, _ := v["cte_map"].(node)
	w.with = append(w.with, nil)
	last := len(w.with) - 1
	for _, entry := range list(ctes["map"]) {
		cte, _ := entry.(node)
		value, _ := cte["value"].(node)
		// A name before its own definition is that of a table, unless the definition is recursive.
		w.walk(value["query"])
		w.walk(value["key_targets"])
		w.with[last] = append(w.with[last], schema.FoldCase(str(cte["key"])))
	}
	w.fields(v, "cte_map", "aliases", "cte_name", "group_sets")
	w.with = w.with[:last]
}

// table notes a table of a FROM.
func (w *walker) table(v node) {
	name, in, database := str(v["table_name"]), str(v["schema_name"]), str(v["catalog_name"])
	s := guard.Source{Alias: str(v["alias"]), Renamed: len(list(v["column_name_alias"])) > 0}
	if s.Alias == "" {
		s.Alias = name
	}
	if v["at_clause"] != nil {
		reject("statement", "a table AT another time is not among what a statement may be made of")
	}
	if in == "" && database == "" && slices.ContainsFunc(w.with, func(scope []string) bool {
		return slices.Contains(scope, schema.FoldCase(name))
	}) {
		w.source(s)
		return
	}
	if r := w.facts.lookup(database, in, name); r != nil {
		s.Relation = r
		// of the view's owner
	} else if file := in == "" && database == "" && strings.ContainsAny(name, "./"); !file || !w.view {
		w.found.Lacks(name)
	}
	w.source(s)
}

// isBuiltin reports whether a function is named without a schema, or with that of DuckDB's own.
func isBuiltin(v node) bool {
	return str(v["catalog"]) == "" && (str(v["schema"]) == "" || str(v["schema"]) == "main")
}

// function decides on a call. In a.upper() the parser takes what stands before the dot for a schema.
func (w *walker) function(v node) {
	name := schema.FoldCase(str(v["function_name"]))
	if !w.facts.functions[name] {
		reject("function", "%s is not allowed here", name)
	}
	var path []string
	for _, part := range []string{str(v["catalog"]), str(v["schema"])} {
		if part != "" {
			path = append(path, part)
		}
	}
	if !isBuiltin(v) {
		if w.facts.added[name] && w.facts.macros[name] && len(path) == 1 && w.facts.schemas[schema.FoldCase(path[0])] {
			path = nil
		}
		w.column(path)
	} else if str(v["schema"]) != "" {
		w.main = true
	}
	w.called[name] = true
	w.sizes.call(v)
}

// str is a text of the tree, "" for anything else.
func str(v any) string { s, _ := v.(string); return s }

// list is a list of the tree.
func list(v any) []any { l, _ := v.([]any); return l }

// reject ends a walk with a refusal.
func reject(reason string, format string, args ...any) {
	guard.Abort(guard.Refuse(reason, format, args...))
}
