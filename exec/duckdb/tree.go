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
	"github.com/texttosql/texttosql/sqltext"
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
	err := h.each(ctx, "SELECT system.main.json_serialize_sql(?::VARCHAR)::VARCHAR", func(scan func(...any) error) error { return scan(&raw) }, text)
	if err != nil {
		return nil, err
	}
	var d document
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		return nil, guard.Refuse(exec.ReasonTooComplex, "its syntax tree cannot be read: it may be nested too deep")
	}
	message, _, _ := strings.Cut(d.Message, "\n")
	switch {
	case d.Error && strings.Contains(message, "expression depth"):
		return nil, guard.Refuse(exec.ReasonTooComplex, "it is nested too deep")
	case d.Error && d.Kind == "parser":
		return nil, &exec.InvalidError{Fault: exec.FaultSyntax, Message: message}
	case d.Error && strings.Contains(message, "Only SELECT") && pivots.MatchString(text):
		return nil, guard.Refuse(exec.ReasonStatement, "a PIVOT without its values makes a type for them: name them, as in PIVOT t ON x IN ('a', 'b')")
	case d.Error && strings.Contains(message, "Only SELECT"):
		return nil, guard.Refuse(sqltext.ReasonNotReadOnly, "it is no SELECT")
	case d.Error:
		return nil, guard.Refuse(exec.ReasonStatement, "the engine cannot write its syntax tree: %s", masked(message))
	case len(d.Statements) != 1:
		return nil, guard.Refuse(sqltext.ReasonSeveral, "it is %d statements", len(d.Statements))
	}
	return &d, nil
}

var pivots = regexp.MustCompile(`(?i)\bpivot`)

// kinds are the types of which a tree may be made. What is not here is refused, so new syntax is too.
var kinds = guard.Set(`SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER DISTINCT_MODIFIER
	ORDER_DEFAULT ASCENDING DESCENDING BASE_TABLE JOIN SUBQUERY TABLE_FUNCTION EMPTY EXPRESSION_LIST PIVOT
	VALUE_CONSTANT COLUMN_REF FUNCTION STAR CONJUNCTION_AND CONJUNCTION_OR OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE
	OPERATOR_TRY OPERATOR_UNPACK OPERATOR_CAST OPERATOR_NULLIF CASE_EXPR ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT ARRAY_CONSTRUCTOR GROUPING_FUNCTION
	LAMBDA POSITIONAL_REFERENCE COLLATE COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO
	COMPARE_GREATERTHANOREQUALTO COMPARE_IN COMPARE_NOT_IN COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM COMPARE_BETWEEN COMPARE_NOT_BETWEEN
	WINDOW_AGGREGATE WINDOW_ROW_NUMBER WINDOW_RANK WINDOW_RANK_DENSE WINDOW_PERCENT_RANK WINDOW_CUME_DIST WINDOW_NTILE WINDOW_FIRST_VALUE
	WINDOW_LAST_VALUE WINDOW_NTH_VALUE WINDOW_LAG WINDOW_LEAD WINDOW_FILL`)

// implied are the functions that DuckDB calls for what does not look like a call.
var implied = map[string]string{
	"ARRAY_CONSTRUCTOR": "list_value", "ARRAY_EXTRACT": "array_extract", "ARRAY_SLICE": "array_slice", "STRUCT_EXTRACT": "struct_extract",
	"current_time": "get_current_time", "current_timestamp": "get_current_timestamp",
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
	err := guard.Walked(func() {
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
		if w.visited++; w.visited > mostNodes {
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "its tree has over %d parts", mostNodes))
		}
		kind, typed := v["type"].(string)
		if _, isValue := v["type"].(node); isValue { // a constant
			return
		}
		if typed && !kinds[kind] && !(w.arguments && kind == "VALUE_PARAMETER") {
			what := strings.ToLower(strings.ReplaceAll(kind, "_", " "))
			if show, ok := v["show_type"].(string); ok {
				what = "DESCRIBE, SUMMARIZE or SHOW (" + strings.ToLower(show) + ")"
			}
			guard.Stop(guard.Refuse(exec.ReasonStatement, "%s is not among what a statement may be made of", what))
		}
		if _, expression := v["class"]; expression {
			w.depth++
			defer func() { w.depth-- }()
			if w.work += w.depth * w.depth; w.work > mostWork {
				guard.Stop(guard.Refuse(exec.ReasonTooComplex, "its expressions are too many or nested too deep"))
			}
		}
		w.implies(implied[kind])
		w.node(v, kind)
	}
}

// implies refuses a macro of the database in the place of a function that DuckDB calls by itself.
func (w *walker) implies(name string) {
	if w.facts.macros[name] && !w.facts.added[name] {
		guard.Stop(guard.Refuse(exec.ReasonFunction, "the database has a macro %s in the place of the function that is called here", name))
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

func (w *walker) node(v node, kind string) {
	switch kind {
	case "SELECT_NODE":
		w.sizes.aliases(list(v["select_list"]))
		w.number++
		w.selects = append(w.selects, w.number)
		w.inScope(v)
		w.selects = w.selects[:len(w.selects)-1]
	case "SET_OPERATION_NODE":
		w.inScope(v)
	case "RECURSIVE_CTE_NODE": // its name stands for itself inside
		w.with = append(w.with, []string{schema.Fold(str(v["cte_name"]))})
		w.inScope(v)
		w.with = w.with[:len(w.with)-1]
	case "ORDER_MODIFIER":
		orders, _ := v["orders"].([]any)
		if len(orders) == 1 { // ORDER BY ALL is about what is selected
			order, _ := orders[0].(node)
			star, _ := order["expression"].(node)
			if str(star["type"]) == "STAR" && star["columns"] == true && star["expr"] == nil && str(star["relation_name"]) == "" && len(list(star["exclude_list"])) == 0 {
				return
			}
		}
		w.fields(v)
	case "BASE_TABLE":
		w.table(v)
		w.fields(v, "type", "table_name", "schema_name", "catalog_name", "alias", "column_name_alias", "sample")
	case "JOIN":
		w.found.Natural = w.found.Natural || str(v["ref_type"]) == "NATURAL"
		if alias := str(v["alias"]); alias != "" {
			w.source(guard.Source{Alias: alias, Joined: true, Renamed: len(list(v["column_name_alias"])) > 0})
		}
		for _, name := range list(v["using_columns"]) {
			w.ref(guard.Ref{Path: []string{str(name)}})
		}
		w.fields(v, "using_columns", "sample")
	case "SUBQUERY":
		if _, expression := v["class"]; expression {
			if w.nested++; w.nested > mostNested {
				guard.Stop(guard.Refuse(exec.ReasonTooComplex, "it has subqueries over %d deep inside of each other", mostNested))
			}
			defer func() { w.nested-- }()
		} else {
			w.source(guard.Source{Alias: str(v["alias"]), Renamed: len(list(v["column_name_alias"])) > 0})
		}
		w.fields(v, "sample")
	case "EXPRESSION_LIST":
		w.source(guard.Source{Alias: str(v["alias"])})
		w.fields(v, "sample", "expected_names", "expected_types")
	case "TABLE_FUNCTION":
		function, _ := v["function"].(node)
		name := schema.Fold(str(function["function_name"]))
		w.source(guard.Source{Alias: str(v["alias"])})
		w.source(guard.Source{Alias: name})
		allowed := tableFunctions[name] || w.facts.added[name] || w.view && fileFunctions[name]
		if !allowed || w.facts.macros[name] && !w.facts.added[name] || !isBuiltin(function) {
			guard.Stop(guard.Refuse(exec.ReasonFunction, "the table function %s is not on the list", name))
		}
		w.called[name] = true
		w.walk(function["children"])
		w.fields(v, "function", "sample")
	case "PIVOT": // it groups by all columns that it does not name
		w.ref(guard.Ref{Star: true, Select: w.current()})
		w.source(guard.Source{Alias: str(v["alias"])})
		for _, name := range list(v["groups"]) {
			w.ref(guard.Ref{Path: []string{str(name)}})
		}
		w.fields(v, "groups", "unpivot_names", "column_name_alias", "sample")
	case "COLUMN_REF":
		var path []string
		for _, name := range list(v["column_names"]) {
			path = append(path, str(name))
		}
		if len(path) == 1 {
			name := schema.Fold(path[0])
			w.implies(implied[name])
			if nowNames[name] {
				w.implies(name)
			}
		}
		w.sizes.columns++
		w.column(path)
	case "POSITIONAL_REFERENCE":
		w.ref(guard.Ref{Star: true, Select: w.current()})
	case "STAR":
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
	case "FUNCTION":
		w.function(v)
		w.fields(v)
	case "OPERATOR_CAST":
		if n := arraySize(v["cast_type"]); n > mostArray {
			guard.Stop(guard.Refuse(exec.ReasonTooComplex, "a cast makes an array of %.0f values; at most %d are allowed", n, mostArray))
		}
		w.fields(v, "cast_type")
	case "VALUE_CONSTANT":
		text, _ := constant(v)
		w.sizes.texts += float64(max(8, len(text)))
	default:
		switch kind {
		case "ARRAY_CONSTRUCTOR":
			w.sizes.list(float64(len(list(v["children"]))))
		case "LAMBDA":
			w.sizes.lambda(v["expr"], w.lambdas)
			w.lambdas++
			defer func() { w.lambdas-- }()
		}
		if strings.HasPrefix(kind, "WINDOW_") {
			w.function(v)
		}
		w.fields(v)
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
		guard.Stop(guard.Refuse(exec.ReasonTooComplex, "it joins over %d tables in one SELECT", mostSources))
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
		w.with[last] = append(w.with[last], schema.Fold(str(cte["key"])))
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
		guard.Stop(guard.Refuse(exec.ReasonStatement, "a table AT another time is not among what a statement may be made of"))
	}
	if in == "" && database == "" && slices.ContainsFunc(w.with, func(scope []string) bool { return slices.Contains(scope, schema.Fold(name)) }) {
		w.source(s)
		return
	}
	if r := w.facts.lookup(database, in, name); r != nil {
		s.Relation = r
	} else if file := in == "" && database == "" && strings.ContainsAny(name, "./"); !file || !w.view { // of the view's owner
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
	name := schema.Fold(str(v["function_name"]))
	if !w.facts.functions[name] {
		guard.Stop(guard.Refuse(exec.ReasonFunction, "%s is not allowed here", name))
	}
	var path []string
	for _, part := range []string{str(v["catalog"]), str(v["schema"])} {
		if part != "" {
			path = append(path, part)
		}
	}
	if !isBuiltin(v) {
		if w.facts.added[name] && w.facts.macros[name] && len(path) == 1 && w.facts.schemas[schema.Fold(path[0])] {
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

// functions are those that a statement may call: scalar functions, aggregates, window functions and the macros that
// DuckDB itself defines, as version 1.5.4 has them. Left out is what reads settings, sequences, variables, the
// environment, files or the text of statements, what sleeps, logs or sets a seed, what makes a value of any size
// (list_reduce, bitstring_agg, equi_width_bins, approx_top_k), and what only DuckDB itself calls.
const functions = `
abs acos acosh add age aggregate ago any_value apply approx_count_distinct approx_quantile arbitrary arg_max arg_max_null
arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg array_aggr array_aggregate array_append array_apply array_cat
array_concat array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product
array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front
array_resize array_reverse array_reverse_sort array_select array_slice array_sort array_to_json array_to_string array_transform array_unique
array_value array_where array_zip ascii asin asinh atan atan2 atanh avg bar base64 bin bit_and bit_count bit_length bit_or bit_position bit_xor
bitstring bool_and bool_or cardinality cbrt ceil ceiling century char_length character_length chr concat concat_ws contains corr cos cosh cot count
count_if count_star countif covar_pop covar_samp cume_dist current_date current_localtime current_localtimestamp damerau_levenshtein date_add
date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade decode
degrees dense_rank divide editdist3 element_at encode ends_with entropy enum_code enum_first enum_last enum_range epoch epoch_ms epoch_ns epoch_us era
even exp factorial favg fdiv fill filter first first_value flatten floor fmod format formatReadableDecimalSize formatReadableSize format_bytes
from_base64 from_binary from_hex from_json from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts geomean geometric_mean
get_bit get_current_time get_current_timestamp grade_up greatest greatest_common_divisor group_concat hamming hash hex histogram histogram_exact hour
ilike_escape instr isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array json_array_length json_contains
json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object json_keys json_merge_patch
json_object json_pretty json_quote json_structure json_transform json_transform_strict json_type json_valid json_value julian kahan_sum kurtosis
kurtosis_pop lag last last_day last_value lcase lcm lead least least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma
like_escape list list_aggr list_aggregate list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance
list_distinct list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all list_has_any
list_histogram list_indexof list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min
list_mode list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend list_product list_resize list_reverse
list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform
list_unique list_value list_var_pop list_var_samp list_where list_zip listagg ln log log10 log2 lower lpad ltrim mad make_date make_time
make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries
map_extract map_extract_value map_from_entries map_keys map_values max max_by md5 md5_number md5_number_lower md5_number_upper mean median microsecond
millennium millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond nextafter not_ilike_escape not_like_escape now
nth_value ntile nullif octet_length ord parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path percent_rank pg_typeof pi position
pow power prefix printf product quantile quantile_cont quantile_disc quarter radians random range rank rank_dense regexp_escape regexp_extract
regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regr_avgx regr_avgy regr_count
regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right right_grapheme round round_even roundbankers row row_number
row_to_json rpad rtrim second sem set_bit sha1 sha256 sign signbit sin sinh skewness split split_part sqrt starts_with stddev stddev_pop stddev_samp
str_split str_split_regex strftime string_agg string_split string_split_regex string_to_array strip_accents strlen strpos strptime struct_concat
struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update
struct_values substr substring substring_grapheme subtract suffix sum sum_no_overflow sumkahan tan tanh time_bucket timezone timezone_hour
timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia to_milliseconds
to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp translate trim trunc try_strptime typeof ucase
unbin unhex unicode union_extract union_tag union_value unnest upper url_decode url_encode uuid uuid_extract_timestamp uuid_extract_version uuidv4
uuidv7 var_pop var_samp variance wavg week weekday weekofyear weighted_avg xor year yearweek
`

// operators are written as functions in a tree.
const operators = "! !__postfix !~~ !~~* % & && * ** + - ->> -> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~"

// tableFunctions may stand in a FROM.
var tableFunctions = guard.Set("range generate_series unnest json_each json_tree")

// fileFunctions may stand in the FROM of a view, whose owner named the files.
var fileFunctions = guard.Set("read_parquet parquet_scan read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto " +
	"read_ndjson read_ndjson_auto read_ndjson_objects glob read_text read_blob")
