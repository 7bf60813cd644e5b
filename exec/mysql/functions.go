package mysql

import "strings"

// functions may be called: what they return depends on their arguments, the data and the time alone, and they wait for
// nothing. User, version, server settings, files, locks, sleeps and XML (whose errors tell values) are left out.
var functions = strings.Fields(`
abs acos adddate addtime ascii asin atan atan2 avg bin bit_and bit_count bit_length bit_or bit_xor ceil ceiling char char_length character_length chr coalesce concat concat_ws conv convert convert_tz cos cot count crc32 cume_dist
curdate current_date current_time current_timestamp curtime date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear degrees dense_rank div elt exp export_set extract field find_in_set first_value floor format from_base64 from_days from_unixtime
get_format greatest group_concat hex hour if ifnull insert instr isnull json_array json_array_append json_array_insert json_arrayagg json_compact json_contains json_contains_path json_depth json_exists json_extract json_insert json_keys json_length json_merge json_merge_patch json_merge_preserve json_object json_objectagg
json_overlaps json_pretty json_query json_quote json_remove json_replace json_search json_set json_type json_unquote json_valid json_value lag last_day last_value lcase lead least left length ln localtime localtimestamp locate log log10 log2 lower lpad ltrim makedate maketime max md5 median microsecond mid min minute mod
month monthname nth_value ntile now nullif nvl nvl2 oct octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power quarter quote radians rand rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right round row_number rpad rtrim
sec_to_time second sha sha1 sha2 sign sin soundex space sqrt std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring substring_index subtime sum sysdate tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate
ucase unhex unix_timestamp upper utc_date utc_time utc_timestamp uuid var_pop var_samp variance week weekday weekofyear weight_string year yearweek bin_to_uuid uuid_to_bin is_uuid any_value grouping st_x st_y st_distance st_astext st_contains st_within st_area st_length point
insert_func char_func 'tidb` + "`" + `.(dateliteral 'tidb` + "`" + `.(timeliteral 'tidb` + "`" + `.(timestampliteral
`)

// parsedAs are names by which the parser calls a function that has another one. They are on the list as they are, so that
// a function of the database with such a name takes it off.
var parsedAs = map[string]string{"insert_func": "insert", "char_func": "char", "'tidb`.(dateliteral": "date", "'tidb`.(timeliteral": "time", "'tidb`.(timestampliteral": "timestamp"}

// mostLength is the greatest length that a statement may ask of a function that makes text of a length of its choice.
const mostLength = 10_000

// lengthOf is the position of the length among the arguments of those functions.
var lengthOf = map[string]int{"repeat": 1, "space": 0, "lpad": 1, "rpad": 1}
