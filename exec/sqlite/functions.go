package sqlite

import (
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// safeFunctions are the functions of SQLite that a statement may call. They read only their arguments, change nothing,
// and their memory is bounded by SQLITE_LIMIT_LENGTH. That bound is why these are missing: json_group_array and the
// like ignore it (0.8 GB in 3 s), json_pretty indents as deep as the text nests, percentile and median keep every
// value, and zeroblob and randomblob.
const safeFunctions = `
-> ->> abs avg ceil ceiling char coalesce concat concat_ws count cume_dist
current_date current_time current_timestamp date datetime dense_rank
first_value floor format glob group_concat hex if ifnull iif instr
json json_array json_array_insert json_array_length json_error_position
json_extract json_insert json_object json_patch json_quote json_remove
json_replace json_set json_type json_valid
jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_insert jsonb_object
jsonb_patch jsonb_remove jsonb_replace jsonb_set
julianday lag last_value lead length like likelihood likely lower ltrim max min
nth_value ntile nullif octet_length percent_rank printf quote random rank
replace round row_number rtrim sign soundex strftime string_agg substr substring
sum time timediff total trim typeof unhex unicode unistr unistr_quote unixepoch
unlikely upper
acos acosh asin asinh atan atan2 atanh cos cosh degrees exp ln log log10 log2 mod
pi pow power radians sin sinh sqrt tan tanh trunc`

// searchFunctions belong to full-text search. SQLite lists them as if the application had registered them.
const searchFunctions = "match snippet offsets matchinfo highlight bm25"

// tableFunctions may stand in FROM.
const tableFunctions = "json_each json_tree jsonb_each jsonb_tree"

// callable returns the functions that may be called. A function of the application may do anything, even one that
// replaces a built-in function, so only the policy can allow it.
func (s surroundings) callable(allowed []string) map[string]bool {
	callable := map[string]bool{}
	allow := func(names string) {
		for name := range strings.FieldsSeq(names) {
			callable[name] = true
		}
	}
	allow(safeFunctions)
	for name, builtin := range s.functions {
		if !builtin {
			delete(callable, name)
		}
	}
	for module := range s.modules {
		if strings.HasPrefix(module, "fts") {
			allow(searchFunctions)
		}
	}
	allow(tableFunctions)
	for _, entry := range allowed {
		callable[schema.Fold(strings.Trim(entry, `"`))] = true
	}
	return callable
}
