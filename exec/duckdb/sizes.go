package duckdb

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// DuckDB makes one value outside of memory_limit, and computes what is constant before it looks at any limit. So the
// guard computes how large a value of the statement may become, in bytes, from above.
const (
	mostBytes    = 16 << 20 // of one value
	mostLength   = 10_000   // that repeat, lpad and the like are told to make
	mostElements = 100_000  // of a list of constants
	mostArray    = 1_000    // of an array type

	columnBytes  = 1_000 // what a stored value counts
	elementBytes = 16    // what an element of a list counts
	lambdaBytes  = 100   // what the parameter of a lambda counts
)

// lengthOf is the argument that says how long the result of a function is.
var lengthOf = map[string]int{
	"repeat": 1, "lpad": 1, "rpad": 1, "list_resize": 1, "array_resize": 1, "bitstring": 1, "bar": 3,
}

// factors are how many times longer than its arguments the result of a function may be; 1 where it is not here.
var factors = map[string]float64{
	"bin": 8, "to_binary": 8, "hex": 2, "to_hex": 2, "url_encode": 3, "to_json": 2, "json_quote": 2, "json_object": 2, "json_array": 2, "array_to_json": 2,
	"row_to_json": 2, "json_pretty": 4, "json_group_array": 2, "json_group_object": 2, "regexp_escape": 2, "strftime": 40, "to_base64": 2, "base64": 2,
	"string_split": elementBytes, "str_split": elementBytes, "split": elementBytes, "string_to_array": elementBytes, "str_split_regex": elementBytes,
	"string_split_regex": elementBytes, "regexp_split_to_array": elementBytes, "regexp_extract_all": elementBytes, "list_zip": 2, "array_zip": 2,
}

// isWide finds a width of five digits, or one that an argument gives, in the text of format and printf.
var isWide = regexp.MustCompile(`[0-9]{5}|\{[^}]*\{|%[^a-zA-Z%]*\*`)

// sizes are what a statement's names stand for.
type sizes struct {
	facts    *facts
	names    map[string][]any // by the alias in lower case; "" has expressions without one
	lambdas  map[string]bool  // parameters
	position map[string]bool  // names of a list of columns, for expressions at any place
	known    map[string]float64
	working  map[string]bool
}

// collectSizes reads the aliases of a statement.
func collectSizes(f *facts, root node) *sizes {
	s := &sizes{f, map[string][]any{}, map[string]bool{}, map[string]bool{}, map[string]float64{}, map[string]bool{}}
	s.collect(root)
	return s
}

func (s *sizes) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			s.collect(part)
		}
	case node:
		for _, selected := range list(v["select_list"]) {
			if e, ok := selected.(node); ok {
				alias := schema.Fold(str(e["alias"]))
				if kind := str(e["type"]); alias != "" || kind != "COLUMN_REF" && kind != "STAR" && kind != "VALUE_CONSTANT" {
					s.names[alias] = append(s.names[alias], e)
				}
				for _, replaced := range list(e["replace_list"]) {
					if r, ok := replaced.(node); ok {
						s.names[schema.Fold(str(r["key"]))] = append(s.names[schema.Fold(str(r["key"]))], r["value"])
					}
				}
			}
		}
		if str(v["type"]) == "EXPRESSION_LIST" {
			for _, row := range list(v["values"]) {
				s.names[""] = append(s.names[""], list(row)...)
			}
		}
		for _, key := range []string{"aliases", "column_name_alias"} {
			for _, name := range list(v[key]) {
				s.position[schema.Fold(str(name))] = true
			}
		}
		if str(v["type"]) == "LAMBDA" {
			s.parameters(v["lhs"])
		}
		for key, part := range v {
			if key != "cast_type" {
				s.collect(part)
			}
		}
	}
}

func (s *sizes) parameters(lhs any) {
	e, _ := lhs.(node)
	for _, name := range list(e["column_names"]) {
		s.lambdas[schema.Fold(str(name))] = true
	}
	for _, part := range list(e["children"]) {
		s.parameters(part)
	}
}

// of is the size of an expression.
func (s *sizes) of(v any) float64 {
	switch v := v.(type) {
	case []any:
		sum := 0.0
		for _, part := range v {
			sum += s.of(part)
		}
		return sum
	case node:
		switch str(v["type"]) {
		case "VALUE_CONSTANT":
			value, _ := v["value"].(node)
			return float64(max(8, len(str(value["value"]))))
		case "COLUMN_REF":
			names := list(v["column_names"])
			if len(names) == 0 {
				return columnBytes
			}
			size := 0.0
			for _, name := range names { // behind a dot a field of a struct may stand
				size = max(size, s.name(schema.Fold(str(name))))
			}
			return size
		case "SUBQUERY":
			return max(columnBytes, s.selected(v["subquery"]))
		case "FUNCTION":
			return s.function(v)
		}
		sum := 8.0
		for key, part := range v {
			if key != "cast_type" && key != "value" && key != "sample" {
				sum += s.of(part)
			}
		}
		return sum
	}
	return 0
}

// selected is the size of the largest expression that a query selects.
func (s *sizes) selected(v any) (size float64) {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			size = max(size, s.selected(part))
		}
	case node:
		for _, e := range list(v["select_list"]) {
			size = max(size, s.of(e))
		}
		for _, key := range []string{"node", "left", "right"} {
			size = max(size, s.selected(v[key]))
		}
	}
	return size
}

// name is the size of what a name stands for, anywhere in the statement. Inside of its own definition, which is
// recursive then, it counts as stored.
func (s *sizes) name(name string) float64 {
	if size, ok := s.known[name]; ok {
		return size
	}
	if s.working[name] {
		return columnBytes
	}
	s.working[name] = true
	size := 0.0
	for _, e := range s.names[name] {
		size = max(size, s.of(e))
	}
	switch {
	case s.lambdas[name]:
		size = max(size, lambdaBytes)
	case s.position[name]:
		for _, list := range s.names {
			for _, e := range list {
				size = max(size, s.of(e))
			}
		}
	case size == 0 && !s.facts.columns[name] && name != "":
		size = s.name("")
	}
	delete(s.working, name)
	if size = max(size, columnBytes); s.lambdas[name] && len(s.names[name]) == 0 {
		size = lambdaBytes
	}
	s.known[name] = size
	return size
}

// function is the size of what a call returns.
func (s *sizes) function(v node) float64 {
	name, args := schema.Fold(str(v["function_name"])), list(v["children"])
	sum := 8.0
	for _, arg := range args {
		sum += s.of(arg)
	}
	arg := func(i int) float64 {
		if i < len(args) {
			return s.of(args[i])
		}
		return 0
	}
	if i, ok := lengthOf[name]; ok && i < len(args) {
		n, isInt := integer(args[i])
		if !isInt {
			return math.Inf(1)
		}
		if name == "repeat" {
			return float64(max(n, 0)) * arg(0)
		}
		return sum + float64(max(n, 0))*elementBytes
	}
	switch name {
	case "replace", "regexp_replace":
		if c, ok := constant(args, 2); ok && name == "replace" && len(c) <= 1 {
			return sum
		}
		return arg(0) * (1 + arg(2)/2)
	case "translate":
		return 4 * sum
	case "format", "printf":
		return sum * (1 + arg(0)/4)
	case "list_transform", "list_apply", "array_transform", "array_apply", "apply":
		return arg(0) * max(1, arg(1)/elementBytes)
	case "concat_ws":
		return sum + float64(len(args))*arg(0)
	case "range", "generate_series":
		return max(columnBytes, elementBytes*elements(args))
	}
	if f, ok := factors[name]; ok {
		return f * sum
	}
	return sum
}

// check refuses a call that may make too large a value.
func (s *sizes) check(v node) {
	name, args := schema.Fold(str(v["function_name"])), list(v["children"])
	if i, ok := lengthOf[name]; ok && i < len(args) {
		if n, isInt := integer(args[i]); !isInt || n > mostLength {
			guard.Stop(exec.ReasonFunction, "the length that %s makes has to be a number of at most %d", name, mostLength)
		}
	}
	switch name {
	case "format", "printf":
		if text, ok := constant(args, 0); !ok || isWide.MatchString(text) {
			guard.Stop(exec.ReasonFunction, "the text of %s has to be a constant without widths of five digits", name)
		}
	case "range", "generate_series":
		if n := elements(args); n > mostElements {
			guard.Stop(exec.ReasonFunction, "%s as a value has to have constant bounds, and at most %d values; in a FROM it may have any", name, mostElements)
		}
	}
	if size := s.of(v); size > mostBytes {
		guard.Stop(exec.ReasonTooComplex, "%s may make a value of over %d MiB", name, mostBytes>>20)
	}
}

// constant is the text of an argument.
func constant(args []any, i int) (string, bool) {
	if i >= len(args) {
		return "", false
	}
	v, _ := args[i].(node)
	if str(v["type"]) == "OPERATOR_CAST" {
		v, _ = v["child"].(node)
	}
	value, _ := v["value"].(node)
	text, ok := value["value"].(string)
	return text, ok && str(v["type"]) == "VALUE_CONSTANT"
}

// integer is the number of an expression that is one.
func integer(v any) (int64, bool) {
	e, _ := v.(node)
	switch str(e["type"]) {
	case "VALUE_CONSTANT":
		value, _ := e["value"].(node)
		if number, ok := value["value"].(json.Number); ok {
			n, err := number.Int64()
			kind, _ := value["type"].(node)
			return n, err == nil && strings.HasSuffix(str(kind["id"]), "INT") || err == nil && str(kind["id"]) == "INTEGER"
		}
	case "OPERATOR_CAST":
		kind, _ := e["cast_type"].(node)
		if id := str(kind["id"]); strings.HasSuffix(id, "INT") || id == "INTEGER" || id == "DOUBLE" {
			return integer(e["child"])
		}
	case "FUNCTION":
		args := list(e["children"])
		if name := str(e["function_name"]); len(args) == 1 && (name == "-" || name == "trunc") {
			n, ok := integer(args[0])
			if name == "-" {
				n = -n
			}
			return n, ok
		}
	}
	return 0, false
}

// elements bounds how many values range and generate_series make in one list. Where an argument is no constant, nobody
// knows, and an interrupt does not end it.
func elements(args []any) float64 {
	var bounds [3]float64
	integers := true
	for i, arg := range args[:min(3, len(args))] {
		n, ok := integer(arg)
		integers = integers && ok
		bounds[i] = float64(n)
	}
	switch {
	case integers && len(args) == 1:
		return math.Abs(bounds[0])
	case integers && len(args) == 2:
		return math.Abs(bounds[1]-bounds[0]) + 1
	case integers && len(args) == 3:
		return math.Abs(bounds[1]-bounds[0])/max(1, math.Abs(bounds[2])) + 1
	case len(args) != 3:
		return math.Inf(1)
	}
	from, ok := moment(args[0])
	to, ok2 := moment(args[1])
	step := seconds(args[2])
	if !ok || !ok2 || step <= 0 {
		return math.Inf(1)
	}
	return math.Abs(to-from)/step + 1
}

// nowNames are names that stand for the time.
var nowNames = wordSet("current_date current_timestamp localtimestamp now today current_localtimestamp get_current_timestamp transaction_timestamp")

// moment is a time in seconds since 1970, of a constant, or of now, and intervals from there.
func moment(v any) (float64, bool) {
	e, _ := v.(node)
	switch str(e["type"]) {
	case "COLUMN_REF":
		names := list(e["column_names"])
		return float64(time.Now().Unix()), len(names) == 1 && nowNames[schema.Fold(str(names[0]))]
	case "FUNCTION":
		name, args := schema.Fold(str(e["function_name"])), list(e["children"])
		switch {
		case nowNames[name] && len(args) == 0:
			return float64(time.Now().Unix()), true
		case (name == "+" || name == "-") && len(args) == 2:
			at, ok := moment(args[0])
			by := seconds(args[1])
			if n, isInt := integer(args[1]); isInt {
				by = float64(n) * 86400
			}
			if name == "-" {
				by = -by
			}
			return at + by, ok && by != 0
		case name == "date_trunc" && len(args) == 2:
			return moment(args[1])
		}
	case "OPERATOR_CAST":
		child, _ := e["child"].(node)
		if text, ok := constant([]any{child}, 0); ok && str(child["type"]) == "VALUE_CONSTANT" {
			for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04"} {
				if t, err := time.Parse(layout, text); err == nil {
					return float64(t.Unix()), true
				}
			}
			return 0, false
		}
		return moment(child)
	}
	return 0, false
}

// unitSeconds are the units of intervals.
var unitSeconds = map[string]float64{
	"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400, "month": 28 * 86400, "quarter": 90 * 86400, "year": 365 * 86400,
	"decade": 3650 * 86400, "century": 36500 * 86400, "centurie": 36500 * 86400,
}

// seconds is the length of a constant interval, from below; 0 where it is unknown.
func seconds(v any) float64 {
	e, _ := v.(node)
	switch str(e["type"]) {
	case "FUNCTION":
		args := list(e["children"])
		unit := unitSeconds[strings.TrimSuffix(strings.TrimPrefix(schema.Fold(str(e["function_name"])), "to_"), "s")]
		if len(args) == 1 {
			if n, ok := integer(args[0]); ok {
				return math.Abs(float64(n)) * unit
			}
			if text, ok := number(args[0]); ok {
				return math.Abs(text) * unit
			}
		}
	case "OPERATOR_CAST":
		if text, ok := constant([]any{e}, 0); ok {
			if parts := strings.Fields(text); len(parts) == 2 {
				n, err := strconv.ParseInt(parts[0], 10, 32)
				if err == nil {
					return math.Abs(float64(n)) * unitSeconds[strings.TrimSuffix(schema.Fold(parts[1]), "s")]
				}
			}
		}
	}
	return 0
}

// number finds the whole number in the text below casts and trunc: INTERVAL '3' DAY.
func number(v any) (float64, bool) {
	e, _ := v.(node)
	if text, ok := constant([]any{v}, 0); ok {
		n, err := strconv.ParseInt(text, 10, 32)
		return float64(n), err == nil
	}
	if str(e["type"]) == "OPERATOR_CAST" {
		return number(e["child"])
	}
	if args := list(e["children"]); str(e["function_name"]) == "trunc" && len(args) == 1 {
		return number(args[0])
	}
	return 0, false
}

// arraySize is how many values an array type holds.
func arraySize(v any) float64 {
	switch v := v.(type) {
	case []any:
		sum := 0.0
		for _, part := range v {
			sum += arraySize(part)
		}
		return sum
	case node:
		sum := 0.0
		for _, part := range v {
			sum += arraySize(part)
		}
		if str(v["type"]) == "ARRAY_TYPE_INFO" {
			size, _ := v["size"].(json.Number)
			n, err := size.Float64()
			if err != nil {
				return math.Inf(1)
			}
			return n * max(1, sum)
		}
		return sum
	}
	return 0
}
