package trino

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// operators are the characters of which operators are made. Others begin what newer servers may have.
const operators = "+-*/%=<>!|()[],.:"

// refusedWords are keywords that Trino reserves, so they are no names outside of quotes.
var refusedWords = map[string]string{
	"table":           "TABLE … calls a table function or reads a table without SELECT",
	"natural":         "Trino knows no NATURAL JOIN",
	"current_user":    "it tells of the server",
	"current_role":    "it tells of the server",
	"current_path":    "it tells of the server",
	"current_catalog": "it tells of the server",
	"current_schema":  "it tells of the server",
}

// speller holds the tokens of one statement, and the functions that the policy allows beside the list. There is no
// parser of Trino's SQL in Go, so a rule about words decides: a bracket opens a call only where a name stands before
// it.
type speller struct {
	tokens []sqltext.Token
	extra  []string
}

// check refuses a statement by its words, and returns the functions that it calls, in lower case, sorted. bound lets
// placeholders through.
func (w *speller) check(bound bool) (calls []string, err error) {
	calls = []string{}
	for i, t := range w.tokens {
		if err := w.token(i, bound); err != nil {
			return nil, err
		}
		if t.Text != "(" {
			continue
		}
		call, err := w.bracket(i)
		if err != nil {
			return nil, err
		}
		if call != "" {
			calls = append(calls, call)
		}
	}
	slices.Sort(calls)
	return slices.Compact(calls), w.bounded()
}

// refs keep columns that are called as secrets from being read, which no rule of the server knows of, and name the
// denied column before the server is asked. They are the places where a column may be named: all words, but for those
// behind AS, which are aliases and types. A star without a name in front stands for the columns of every table.
func (w *speller) refs() (refs []guard.Ref) {
	for i := range w.tokens {
		switch {
		case w.is(i, "*") && w.is(i-1, "."):
			refs = append(refs, guard.Ref{Path: w.chain(i - 2), Star: true})
		case w.is(i, "*") && w.is(i-1, "select", "distinct", "all", ","):
			refs = append(refs, guard.Ref{Star: true})
		case w.name(i) != "" && !w.is(i+1, ".") && !w.is(i-1, "as"):
			refs = append(refs, guard.Ref{Path: w.chain(i)})
		}
	}
	return refs
}

// chain returns the name that ends at token i, with all before its dots.
func (w *speller) chain(i int) (path []string) {
	for ; w.name(i) != ""; i -= 2 {
		path = append(path, w.name(i))
		if !w.is(i-1, ".") {
			break
		}
	}
	slices.Reverse(path)
	return path
}

// renames reports whether a list of names stands behind an alias, so that columns have other names there.
func (w *speller) renames(alias string) bool {
	for i := range w.tokens {
		if _, list := w.names(i); list && w.name(i-1) == strings.ToLower(alias) {
			return true
		}
	}
	return false
}

// is reports whether token i is one of some keywords, in lower case, or operators.
func (w *speller) is(i int, words ...string) bool {
	if i < 0 || i >= len(w.tokens) {
		return false
	}
	t := w.tokens[i]
	return (t.Kind == sqltext.Word || t.Kind == sqltext.Operator) && slices.Contains(words, strings.ToLower(t.Text))
}

// name returns the name that token i is, in lower case; "" where it is none.
func (w *speller) name(i int) string {
	if i < 0 || i >= len(w.tokens) {
		return ""
	}
	switch t := w.tokens[i]; t.Kind {
	case sqltext.Word:
		return strings.ToLower(t.Text)
	case sqltext.QuotedName:
		return strings.ToLower(sqltext.Trino().Value(t))
	}
	return ""
}

// token refuses what may stand nowhere.
func (w *speller) token(i int, bound bool) error {
	t, why := w.tokens[i], ""
	switch t.Kind {
	case sqltext.Word:
		why = w.word(i)
	case sqltext.QuotedName:
		if !strings.HasPrefix(t.Text, `"`) {
			why = fmt.Sprintf("a name in quotes begins with %q", t.Text[:1])
		}
	case sqltext.Placeholder:
		if !bound {
			why = "nothing is bound to a placeholder"
		}
	case sqltext.Operator:
		if strings.Trim(t.Text, operators) != "" {
			why = "a character that SQL does not have"
		}
	case sqltext.Unterminated:
		why = "a string, name or comment has no end"
	}
	if why != "" {
		return guard.Refuse("statement", "%s", why)
	}
	return nil
}

// plain matches the words that Trino takes outside of quotes.
var plain = regexp.MustCompile(`^\w+$`)

// word says why a word may not stand where it does.
func (w *speller) word(i int) (why string) {
	text := w.tokens[i].Text
	reserved := refusedWords[strings.ToLower(text)]
	switch {
	case !plain.MatchString(text):
		return "a word outside of quotes has other characters than letters, digits and underscores"
	case reserved != "" && !w.is(i-1, "."):
		return strings.ToUpper(text) + " may not be used: " + reserved
	case w.is(i, "for") && w.is(i+1, "version", "timestamp", "system_time"):
		return "FOR … AS OF reads rows that may be deleted"
	case w.is(i, "with") && (i == 0 || w.is(i-1, "(")) && !w.expression(i+1):
		return "behind WITH common table expressions may stand, and nothing else"
	}
	return ""
}

// expression reports whether a common table expression begins at token i: a name, columns perhaps, and AS.
func (w *speller) expression(i int) bool {
	if w.is(i, "recursive") && !w.is(i+1, "as", "(") {
		i++
	}
	if end, ok := w.names(i + 1); ok {
		i = end
	}
	return w.name(i) != "" && w.is(i+1, "as") || w.is(i, ")") && w.is(i+1, "as")
}

// names reports whether a bracket opens at token i that holds names and commas only, and where it closes.
func (w *speller) names(i int) (end int, ok bool) {
	if !w.is(i, "(") {
		return 0, false
	}
	for i++; w.name(i) != ""; i += 2 {
		if w.is(i+1, ")") {
			return i + 1, true
		}
		if !w.is(i+1, ",") {
			break
		}
	}
	return 0, false
}

// relations returns the names that may be those of tables or views: behind FROM, JOIN, a comma or a bracket.
func (w *speller) relations() map[string]bool {
	out := map[string]bool{}
	for i := range w.tokens {
		if w.behind(i, "from", "join", ",", "(") {
			out[w.name(i)] = true
		}
	}
	return out
}

// behind reports whether a name ends at token i that stands, with all before its dots, behind one of some words.
func (w *speller) behind(i int, words ...string) bool {
	for ; w.name(i) != ""; i -= 2 {
		if !w.is(i-1, ".") {
			return w.is(i-1, words...)
		}
	}
	return false
}

// bracket looks at what stands before the bracket at token i, and returns the function that it calls.
func (w *speller) bracket(i int) (call string, err error) {
	name := w.name(i - 1)
	word := name != "" && w.tokens[i-1].Kind == sqltext.Word
	switch {
	case name == "": // an operator, a literal, or the beginning
		return "", nil
	case w.is(i-2, "."):
		if slices.ContainsFunc(w.extra, func(f string) bool { return strings.EqualFold(f, name) }) {
			return name, nil
		}
		return "", guard.Refuse("function", "the function %s stands behind the name of a catalog or schema; "+
			"built-in functions need none", name)
	case w.is(i-2, "as"), w.lists(i), word && keywords[name]: // a type, or an alias
		return "", nil
	case functions[name] || word && forms[name]:
		return name, nil
	}
	return "", guard.Refuse("function", "the function %s is not on the list", name)
}

// lists reports whether the bracket at token i holds the columns of an alias or of a common table expression.
func (w *speller) lists(i int) bool {
	end, ok := w.names(i)
	alias := w.is(i-2, ")", "ordinality") || w.behind(i-2, "from", "join")
	common := w.is(i-2, "with", "recursive", ",") && w.is(end+1, "as") && w.is(end+2, "(")
	return ok && (alias || common)
}

const (
	// mostLength is the greatest length that a statement may ask of a function that makes values of a length of its
	// choice; also the most entries that Trino gives an array there.
	mostLength = 10_000
	// mostGrown is the most that such functions of one statement may ask for together, their lengths multiplied: each
	// may stand in the arguments of another one, and the server looks at the memory of no call.
	mostGrown = 1_000_000
	// short is the longest padding that counts for nothing: it does not grow with what it pads.
	short = 100
)

// wide is a format whose result is wide by its own words.
var wide = regexp.MustCompile(`[0-9]{5}`)

// bounded refuses a statement whose functions make values of any length.
func (w *speller) bounded() error {
	grown := 1
	for i := range w.tokens {
		if !w.is(i, "(") || w.is(i-2, "as") {
			continue
		}
		weight, why := w.weight(i)
		if why != "" {
			return guard.Refuse("function", "%s", why)
		}
		if grown *= max(1, weight); grown > mostGrown {
			return guard.Refuse("too-complex", "the lengths that its functions ask for are over %d, multiplied", mostGrown)
		}
	}
	return nil
}

// weight is how long a value the call whose bracket opens at token i may make of one, or why it may not be made.
func (w *speller) weight(i int) (n int, why string) {
	switch name := w.name(i - 1); name {
	case "repeat", "lpad", "rpad":
		n, ok := w.number(w.argument(i, 1))
		if !ok || n > mostLength {
			return 0, fmt.Sprintf("the length of %s must be a number of at most %d", name, mostLength)
		}
		if name == "repeat" || n > short {
			return n, ""
		}
	case "sequence":
		if !w.is(i-2, "(") || !w.is(i-3, "unnest") { // else rows, which are no value
			return mostLength, ""
		}
	case "format":
		if a := w.argument(i, 0); len(a) != 1 || a[0].Kind != sqltext.String || wide.MatchString(a[0].Text) {
			return 0, "the first argument of format must be a text without widths of five digits"
		}
	case "reduce":
		if a := w.argument(i, 1); len(a) != 1 || a[0].Kind != sqltext.Number {
			return 0, "the state of reduce must begin with a number: another one may double with each step"
		}
	}
	return 1, ""
}

// argument returns the tokens of argument n of the call whose bracket opens at token i, 0 is the first.
func (w *speller) argument(i, n int) []sqltext.Token {
	depth, from := 0, i+1
	for at := i; at < len(w.tokens); at++ {
		switch {
		case w.is(at, "(", "["):
			depth++
		case w.is(at, ")", "]"):
			depth--
		}
		if depth == 0 || depth == 1 && w.is(at, ",") {
			if n == 0 {
				return w.tokens[from:at]
			}
			if depth == 0 {
				return nil
			}
			from, n = at+1, n-1
		}
	}
	return nil
}

// number reads an argument that is one whole number.
func (w *speller) number(argument []sqltext.Token) (int, bool) {
	if len(argument) != 1 || argument[0].Kind != sqltext.Number {
		return 0, false
	}
	n, err := strconv.Atoi(argument[0].Text)
	return n, err == nil
}

// functions may be called: what they return depends on their arguments, the data and the time alone. Left out are user,
// version, failures on purpose, colours, models, and reduce_agg, whose state may double with each row.
var functions = guard.Set(`
abs acos all_match any_match any_value approx_distinct approx_most_frequent approx_percentile approx_set arbitrary array_agg array_distinct array_except array_first array_histogram
array_intersect array_join array_last array_max array_min array_position array_remove array_sort array_union arrays_overlap asin at_timezone atan atan2 avg
beta_cdf bit_count bitwise_and bitwise_and_agg bitwise_left_shift bitwise_not bitwise_or bitwise_or_agg bitwise_right_shift bitwise_right_shift_arithmetic bitwise_xor bitwise_xor_agg bool_and bool_or
cardinality cbrt ceil ceiling char2hexint checksum chr codepoint combinations concat concat_ws contains contains_sequence corr cos cosh cosine_distance cosine_similarity cot count count_if covar_pop covar_samp
crc32 cume_dist current_timezone date date_add date_diff date_format date_parse date_trunc day day_of_month day_of_week day_of_year degrees dense_rank dot_product dow doy e element_at
empty_approx_set euclidean_distance every exp filter first_value flatten floor format_datetime format_number from_base from_base32 from_base64 from_base64url from_big_endian_32 from_big_endian_64 from_hex
from_ieee754_32 from_ieee754_64 from_iso8601_date from_iso8601_timestamp from_iso8601_timestamp_nanos from_unixtime from_unixtime_nanos from_utf8 geometric_mean great_circle_distance greatest
hamming_distance histogram hmac_md5 hmac_sha1 hmac_sha256 hmac_sha512 hour human_readable_seconds index infinity intersection_cardinality inverse_beta_cdf inverse_normal_cdf is_finite is_infinite
is_json_scalar is_nan jaccard_index json_array_contains json_array_get json_array_length json_extract json_extract_scalar json_format json_parse json_size kurtosis lag last_day_of_month last_value lead
least length levenshtein_distance listagg ln log log10 log2 lower lpad ltrim luhn_check map map_agg map_concat map_entries map_filter map_from_entries map_keys map_union map_values map_zip_with
max max_by md5 merge millisecond min min_by minute mod month multimap_agg multimap_from_entries murmur3 nan ngrams none_match normal_cdf normalize now nth_value ntile numeric_histogram
parse_data_size parse_datetime parse_duration parse_presto_data_size percent_rank pi pow power qdigest_agg quantile_at_value quarter radians rand random rank reduce regexp_count regexp_extract regexp_extract_all
regexp_like regexp_position regexp_replace regexp_split regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse round row_number rpad rtrim
second sequence sha1 sha256 sha512 shuffle sign sin sinh skewness slice soundex split split_part split_to_map split_to_multimap spooky_hash_v2_32 spooky_hash_v2_64 sqrt starts_with stddev stddev_pop stddev_samp
strpos st_area st_astext st_contains st_distance st_geometryfromtext st_intersects st_length st_point st_within st_x st_y substr substring sum t_cdf t_pdf tan tanh tdigest_agg timezone timezone_hour timezone_minute
to_base to_base32 to_base64 to_base64url to_big_endian_32 to_big_endian_64 to_char to_date to_hex to_ieee754_32 to_ieee754_64 to_iso8601 to_milliseconds to_timestamp to_unixtime to_utf8 transform transform_keys
transform_values translate trim trim_array truncate typeof upper url_decode url_encode url_extract_fragment url_extract_host url_extract_parameter url_extract_path url_extract_port url_extract_protocol
url_extract_query uuid value_at_quantile values_at_quantiles var_pop var_samp variance week week_of_year width_bucket wilson_interval_lower wilson_interval_upper with_timezone word_stem xxhash64 year
year_of_week yow zip zip_with`)

// forms are calls with a syntax of their own, by keywords: in quotes such a name is that of a function.
var forms = guard.Set(
	`cast coalesce current_time current_timestamp extract format grouping if json_array json_exists json_object json_query json_value localtime localtimestamp
nullif position row try try_cast`)

// keywords may stand before a bracket that calls nothing. Types are among them, which a type may hold:
// array(varchar(3)).
var keywords = guard.Set(`all and any array as bernoulli between by case char cube decimal distinct else escape except exists filter from group groups having in interval intersect is join
lateral like limit not numeric offset on or over rollup select sets some system then time timestamp union unnest using values varbinary varchar when where`)
