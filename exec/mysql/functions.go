package mysql

import (
	"strings"

	"github.com/sqlc-dev/marino/ast"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// call decides on a node that calls a function.
func (w *walker) call(node any) {
	switch n := node.(type) {
	case *ast.FuncCallExpr:
		w.function(n.Schema.O, n.FnName.O)
		w.length(lower(n.FnName.O), n.Args)
	case *ast.AggregateFuncExpr:
		w.function("", n.F)
	case *ast.WindowFuncExpr:
		w.function("", n.Name)
	case *ast.FuncCastExpr:
		if n.Tp != nil && n.Tp.GetFlen() > mostLength && n.Tp.GetCharset() == "binary" {
			reject("function", "a cast makes a value of %d bytes; at most %d are allowed", n.Tp.GetFlen(), mostLength)
		}
		w.functions["cast"] = true
	}
}

// function decides on a function that is called, in a database where one is written.
func (w *walker) function(database, name string) {
	folded := lower(name)
	// A function of the database is one that the policy allows, and never one of the list.
	mine := database != "" && (!w.catalog.isCurrent(database) || !w.catalog.added[folded])
	if mine || !w.catalog.functions[folded] {
		if database != "" {
			folded = lower(database) + "." + folded
		}
		reject("function", "%s is not allowed here", folded)
	}
	if called := parsedAs[folded]; called != "" {
		folded = called
	}
	w.functions[folded] = true
}

// length refuses a text of a length that is no small number.
func (w *walker) length(function string, args []ast.ExprNode) {
	i, ok := lengthOf[function]
	if !ok || i >= len(args) {
		return
	}
	v, ok := args[i].(*ast.ValueExprBase)
	if !ok || (v.Kind() != ast.KindInt64 || v.GetInt64() > mostLength) &&
		(v.Kind() != ast.KindUint64 || v.GetUint64() > mostLength) {
		reject("function", "the length that %s makes has to be a number of at most %d", function, mostLength)
	}
}

// functions may be called: what they return depends on their arguments, the data and the time alone, and they wait for
// nothing. database() tells what the schema tells. User, version, server settings, files, locks, sleeps, ciphers and
// XML (whose errors tell values) are left out.
var functions = strings.Fields(`
abs acos add_months adddate addtime any_value ascii asin atan atan2 avg bin bin_to_uuid bit_and bit_count bit_length
bit_or bit_xor ceil ceiling char char_length character_length charset chr coalesce coercibility collation column_check column_exists column_get
column_json column_list concat
concat_ws conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_time
current_timestamp curtime database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
degrees dense_rank div elt exp export_set extract field find_in_set first_value floor format from_base64 from_days
from_unixtime get_format greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa
insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append
json_array_insert json_arrayagg json_compact json_contains json_contains_path json_depth json_detailed json_equals
json_exists json_extract json_insert json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve
json_normalize json_object json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace
json_search json_set json_type json_unquote json_valid json_value lag last_day last_value lcase lead least left length
lengthb linestring ln localtime localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate maketime max
md5 median microsecond mid min minute mod month monthname natural_sort_key now nth_value ntile nullif nvl nvl2 oct
octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon position pow
power quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr repeat
replace reverse right round row_number rpad rtrim schema sec_to_time second sha sha1 sha2 sign sin soundex space sqrt st_area
st_asbinary st_astext st_centroid st_contains st_crosses st_disjoint st_distance st_distance_sphere st_envelope
st_equals st_geometrytype st_geomfromtext st_intersects st_isempty st_length st_overlaps st_pointfromtext st_srid
st_touches st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring
substring_index subtime sum sysdate tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff
to_base64 to_char to_days to_seconds trim truncate ucase uncompressed_length unhex unix_timestamp upper utc_date
utc_time utc_timestamp uuid uuid_to_bin var_pop var_samp variance week weekday weekofyear weight_string year yearweek
insert_func char_func 'tidb` + "`" + `.(dateliteral 'tidb` + "`" + `.(timeliteral 'tidb` + "`" + `.(timestampliteral
`)

// parsedAs are names by which the parser calls a function that has another one. They are on the list as they are, so
// that a function of the database with such a name takes it off.
var parsedAs = map[string]string{"insert_func": "insert", "char_func": "char", "'tidb`.(dateliteral": "date",
	"'tidb`.(timeliteral": "time", "'tidb`.(timestampliteral": "timestamp"}

// mostLength is the greatest length that a statement may ask of a function that makes text of a length of its choice.
const mostLength = 10_000

// lengthOf is the position of the length among the arguments of those functions.
var lengthOf = map[string]int{"repeat": 1, "space": 0, "lpad": 1, "rpad": 1}

// beforeBracket are keywords and types that stand in front of a bracket and call nothing.
var beforeBracket = guard.Set(`all and any as between binary by case char cast columns convert decimal distinct double else except exists float for from group
	having in intersect into interval is join json_table like limit not numeric on or order over partition path recursive regexp rlike row select some then
	time datetime timestamp union using values varbinary varchar when where window with xor ties nested set`)

// callsOnlyListed reports whether all words in front of a bracket are those of functions that may be called, or call
// nothing.
func (c *catalog) callsOnlyListed(s *sqltext.Statement) bool {
	before := ""
	for t := range s.Tokens() {
		if t.Text == "(" && before != "" && !c.functions[before] && !beforeBracket[before] {
			return false
		}
		if before = ""; t.Kind == sqltext.Word || t.Kind == sqltext.QuotedName {
			before = lower(s.Dialect().Value(t))
		}
	}
	return true
}
