package duckdb

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// DuckDB makes one value outside of memory_limit, and no interrupt ends a call that makes it. So lengths have to be
// numbers in the text, and sizes bounds from above what the calls of a statement can make of a value together: a
// product over the whole statement, wherever its names lead.
//
// Tested on DuckDB 1.5.4 with 32 MB of memory_limit, with each rule switched off by itself: these took over 64 MiB more
// memory, or over 1.15 times the deadline, though a statement ends when the process has grown by MemoryBytes
// (memory.go). That is too late for what one call makes. Everything else of the lists of hostile statements is held
// without the rules.
//
//   - A length: repeat('x', 1000000000), lpad, rpad, list_resize, array_resize (65 to 128 MiB), bitstring
//     (2,000,000,000).
//   - A width: format('{:1000000000}', 1), printf('%*d', 1000000000, 1) (280 to 450 MiB).
//   - A list: range(1000000000), generate_series, also of dates (over 400 MiB).
//   - One in another: repeat(repeat('x', 10000), 10000), also by the names of subqueries, CTEs and VALUES (95 MiB),
//     replace and regexp_replace by repeat('y', 10000), five times bin, string_split of a long text, a lambda over
//     range(100000), strftime with a long format, INTEGER[1000][1000] (117 to 480 MiB).
//   - A chain of 200 || of a text of 20 kB (363 MiB). Names that double a text (90 MiB); lambdas in lambdas (1.7 GiB);
//     a list of a list that is longer than 62 (411 MiB); bin of bin and regexp_escape of regexp_escape (300 MiB);
//     concat_ws with a long separator (410 MiB), array_to_string with one (72 MiB), format with {0} thousands of times
//     (304 MiB).
//
// Which statement of hostile_test.go ("values that grow by being put together") is read where a rule is off:
//
//   - repeat of a value: all with repeat in repeat. replaced: replace and regexp_replace by repeat('y', 10000). split:
//     string_split of a long text. factors: bin in bin, hex(hex(…)). joins and made: the chain of 200 || and
//     concat(s, …).
//   - each: lambdas and array_to_string over range(100000), [l, l] of a list of lists, list_resize by a text. nested: a
//     list of 5,000 lists, [l, l]. lambda: lambdas in lambdas. aliases: names that double.
//   - separated: concat_ws with 8,000 arguments, by its constant and by its unknown separator. arraySize:
//     INTEGER[100000].
//
// strftime, format with {0} and literal lists in lambdas are held by others of these there, and took what stands above.
//
// What a table stores, or an aggregate collects, counts storedBytes and storedList, however long it is: the package
// comment says what that leaves open.
const (
	mostBytes    = 16 << 20 // of one value
	mostLength   = 10_000   // that repeat, lpad and the like are told to make
	mostElements = 100_000  // of range as a value
	mostArray    = 1_000    // of an array type

	storedBytes  = 1_000 // what a stored value counts
	elementBytes = 16    // what an element of a list counts
	storedList   = 62    // elements of a stored list
)

// factors are how many times longer than its argument the result of a function may be.
var factors = map[string]float64{
	"bin": 8, "to_binary": 8, "translate": 4, "json_pretty": 4, "url_encode": 3, "hex": 2, "to_hex": 2, "base64": 2,
	"to_base64": 2,
	"to_json":   2, "json_quote": 2, "json_object": 2, "json_array": 2, "array_to_json": 2, "row_to_json": 2,
	"regexp_escape": 2,
}

var (
	// splitting are the functions that make a list of a text.
	splitting = guard.Set(
		`string_split str_split split string_to_array str_split_regex string_split_regex regexp_split_to_array
		regexp_extract_all`)
	// isWide finds a width of four digits, or one that an argument gives, in the text of format and printf.
	isWide = regexp.MustCompile(`[0-9]{4}|\{[^}]*\{|%[^a-zA-Z%]*\*`)
	// isMoment matches the constants of a list of days: a date from 1900 to 2099, an interval, a part of a date.
	isMoment = regexp.MustCompile(
		`^((19|20)\d\d-\d\d(-\d\d[ t0-9:.]*)?|-?[0-3]?\d?\d|(-?[0-3]?\d?\d )?(day|week|month|quarter|year)s?)$`)
	// ofMoments are the functions in it, and nowNames the names that stand for the time.
	ofMoments = guard.Set("+ - trunc date_trunc to_days to_weeks to_months to_quarters to_years now today " +
		"get_current_timestamp transaction_timestamp")
	nowNames = guard.Set("current_date current_timestamp localtimestamp")
)

// sizes are what a statement may make of one value.
type sizes struct {
	texts    float64 // bytes of its constants, and of what calls make of nothing
	columns  float64 // places that name one
	elements float64 // of its lists
	times    float64 // how many times longer a value gets
	nested   float64 // how many elements the lists have in each other
	replaced int     // texts in which each character may become a value
	split    bool    // some text becomes a list
	each     bool    // something is made of each element of a list
	made     float64 // of texts, the bytes that calls make
	joins    float64 // places that put two values together
}

// check refuses a statement that may make too large a value. added is what grows where it is written out.
func (s *sizes) check(added int) {
	value := s.texts + elementBytes*s.elements + storedBytes*(s.columns+float64(added))
	times := s.times * math.Pow(max(storedBytes, value), float64(s.replaced))
	if s.each {
		times *= max(storedList, s.nested)
	}
	if s.split && times > 1 {
		times *= elementBytes
	}
	size := s.texts + elementBytes*s.elements
	if times > 1 {
		size = value * times
	}
	// Each place of a chain makes a value of its own, as long as all before it.
	size = max(size, s.made*(s.columns+float64(added))*s.joins)
	if size > mostBytes {
		reject("too-complex", "its calls may make a value of over %d MiB together", mostBytes>>20)
	}
}

// list notes a list.
func (s *sizes) list(n float64) {
	s.elements += n
	if n > storedList {
		s.nested *= n
	}
}

// lambda notes a lambda, which may stand in others: around of them.
func (s *sizes) lambda(body any, around int) {
	s.each = true
	s.times *= max(1, columnsIn(body, nil))
	if around > 0 {
		s.nested *= storedList
	}
}

// aliases notes the names of what a SELECT selects, in whose place DuckDB puts the expression.
func (s *sizes) aliases(selected []any) {
	most, uses := 1.0, map[string]float64{}
	for _, v := range selected {
		n := max(1, columnsIn(v, uses))
		if e, _ := v.(node); str(e["alias"]) != "" {
			uses[schema.FoldCase(str(e["alias"]))] = n
		}
		most = max(most, n)
	}
	s.times *= most
}

// columnsIn counts the places in an expression that name a column, or a parameter. With uses, each counts what its name
// has there.
func columnsIn(v any, uses map[string]float64) (n float64) {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			n += columnsIn(part, uses)
		}
	case node:
		if names := list(v["column_names"]); str(v["type"]) == "COLUMN_REF" && len(names) > 0 {
			if uses == nil {
				return 1
			}
			return uses[schema.FoldCase(str(names[len(names)-1]))]
		}
		for _, part := range v {
			n += columnsIn(part, uses)
		}
	}
	return n
}

// call notes a call, and refuses one that makes too much by itself.
func (s *sizes) call(v node) {
	name, args := schema.FoldCase(str(v["function_name"])), list(v["children"])
	s.split = s.split || splitting[name]
	s.times *= cmp.Or(factors[name], 1)
	switch name {
	case "repeat":
		s.repeat(length(name, 1, args), args)
	case "lpad", "rpad", "bitstring":
		s.list(length(name, 1, args))
	case "bar":
		s.list(length(name, 3, args))
	case "list_resize", "array_resize":
		s.list(length(name, 1, args))
		s.each = true
	case "||", "concat", "list_concat", "list_cat", "array_concat", "array_cat":
		s.joins += float64(len(args) - 1)
	case "replace", "regexp_replace":
		s.replace(name, args)
	case "concat_ws":
		s.separated(args)
	case "array_to_string", "list_string_agg", "list_aggregate", "list_aggr", "array_aggregate", "array_aggr":
		s.each = true
	case "list_value", "list_pack", "array_value":
		s.list(float64(len(args)))
	case "strftime":
		if format, ok := text(args, 1); !ok || len(format) > 80 {
			s.times *= 40
		}
	case "format", "printf":
		s.format(name, args)
	case "range", "generate_series":
		s.series(name, args)
	}
}

// length is the argument of a call that says how long its result is, and refuses one that is no small number.
func length(name string, at int, args []any) float64 {
	if at >= len(args) {
		return 0
	}
	n, isInt := integer(args[at])
	if !isInt {
		n, isInt = leastOf(args[at])
	}
	if !isInt || n > mostLength {
		reject("function", "the length that %s makes has to be a number of at most %d, or least(n, %[2]d)", name, mostLength)
	}
	return max(0, n)
}

// leastOf is a constant in a call of least, which gives no larger number. A text among its arguments makes a text of
// it, which is no length to DuckDB.
func leastOf(v any) (n float64, ok bool) {
	e, _ := v.(node)
	for _, arg := range list(e["children"]) {
		if n, ok = integer(arg); ok && schema.EqualFold(str(e["function_name"]), "least") {
			return n, true
		}
	}
	return 0, false
}

// text is an argument that is a constant text.
func text(args []any, i int) (string, bool) {
	if i < len(args) {
		return constant(args[i])
	}
	return "", false
}

func (s *sizes) repeat(n float64, args []any) {
	if of, ok := text(args, 0); ok {
		s.texts += n * float64(len(of))
		s.made += n * float64(len(of))
	} else {
		s.times *= max(1, n)
	}
}

// replace puts a text in the place of each character, in regexp_replace also between two.
func (s *sizes) replace(name string, args []any) {
	by, ok := text(args, 2)
	switch {
	case !ok:
		s.replaced++
	case name == "replace":
		s.times *= max(1, float64(len(by)))
	default:
		s.times *= float64(1 + len(by))
	}
}

func (s *sizes) separated(args []any) {
	between, known := text(args, 0)
	if !known {
		s.times *= float64(max(1, len(args)))
	}
	s.columns += float64(len(args))
	s.texts += float64(len(args) * len(between))
}

func (s *sizes) format(name string, args []any) {
	format, ok := text(args, 0)
	if !ok || isWide.MatchString(format) {
		reject("function", "the text of %s has to be a constant without widths of four digits", name)
	}
	s.texts += 200 * float64(len(format))
	if n := strings.Count(format, "{") + strings.Count(format, "%"); n >= len(args) {
		s.times *= float64(max(1, n))
	}
}

func (s *sizes) series(name string, args []any) {
	n := elements(args)
	if n > mostElements {
		reject("function",
			"%s as a value has to have constant bounds, and at most %d values; in a FROM it may have any", name, mostElements)
	}
	s.list(n)
}

// constant is the text of an expression that is one.
func constant(v any) (string, bool) {
	e, _ := v.(node)
	if str(e["type"]) == "OPERATOR_CAST" {
		e, _ = e["child"].(node)
	}
	value, _ := e["value"].(node)
	text, ok := value["value"].(string)
	return text, ok && str(e["type"]) == "VALUE_CONSTANT"
}

// integer is the number of an expression that is one.
func integer(v any) (float64, bool) {
	e, _ := v.(node)
	value, _ := e["value"].(node)
	kind, _ := value["type"].(node)
	args := list(e["children"])
	switch number, isNumber := value["value"].(json.Number); {
	case str(e["type"]) == "OPERATOR_CAST":
		return integer(e["child"])
	case str(e["type"]) == "FUNCTION" && str(e["function_name"]) == "-" && len(args) == 1:
		n, ok := integer(args[0])
		return -n, ok
	case isNumber && strings.Contains(str(kind["id"]), "INT"):
		n, err := number.Float64()
		return n, err == nil
	}
	return 0, false
}

// elements bounds how many values range and generate_series make in one list.
func elements(args []any) float64 {
	bounds := []float64{0, 0, 1}
	for i, arg := range args[:min(3, len(args))] {
		n, ok := integer(arg)
		if !ok {
			if len(args) == 3 && days(args, new(int)) {
				return storedBytes * 10 // 27 years
			}
			return math.Inf(1)
		}
		bounds[i] = n
	}
	return (math.Abs(bounds[0]) + math.Abs(bounds[1])) / max(1, math.Abs(bounds[2]))
}

// days reports whether a list goes from one day to another one by days or more, so that it has at most some hundred
// thousand values.
func days(v any, parts *int) bool {
	if *parts++; *parts > 50 {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			if !days(part, parts) {
				return false
			}
		}
		return true
	case node:
		switch str(v["type"]) {
		case "VALUE_CONSTANT":
			text, ok := constant(v)
			if n, isInt := integer(v); isInt {
				return math.Abs(n) < 400
			}
			return ok && isMoment.MatchString(schema.FoldCase(text))
		case "COLUMN_REF":
			names := list(v["column_names"])
			return len(names) == 1 && nowNames[schema.FoldCase(str(names[0]))]
		case "OPERATOR_CAST":
			return days(v["child"], parts)
		case "FUNCTION":
			return ofMoments[schema.FoldCase(str(v["function_name"]))] && days(v["children"], parts)
		}
	}
	return false
}

// arraySize is how many values an array type holds, with those in it.
func arraySize(v any) float64 {
	product := 1.0
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			product *= arraySize(part)
		}
	case node:
		for _, part := range v {
			product *= arraySize(part)
		}
		if str(v["type"]) == "ARRAY_TYPE_INFO" {
			size, _ := v["size"].(json.Number)
			n, err := size.Float64()
			if err != nil {
				return math.Inf(1)
			}
			product *= max(1, n)
		}
	}
	return product
}
