package trino

import "github.com/texttosql/texttosql/exec/guard"

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
var forms = guard.Set(`cast coalesce current_time current_timestamp extract format grouping if json_array json_exists json_object json_query json_value localtime localtimestamp
nullif position row try try_cast`)

// keywords may stand before a bracket that calls nothing. Types are among them, which a type may hold: array(varchar(3)).
var keywords = guard.Set(`all and any array as bernoulli between by case char cube decimal distinct else escape except exists filter from group groups having in interval intersect is join
lateral like limit not numeric offset on or over rollup select sets some system then time timestamp union unnest using values varbinary varchar when where`)
