package sqlite

// instead says what to write in place of what people and models write: see exec.Language.Instead.
const instead = `
pg_typeof: write typeof(x)
version sqlite_version sqlite_source_id: the server's version is not told to statements
sqlite_master sqlite_schema: the tables and columns are those of the schema, and no statement reads the catalog
sqlite_temp_master: the tables and columns are those of the schema, and no statement reads the catalog
sqlite_temp_schema sqlite_sequence: the tables and columns are those of the schema, and no statement reads the catalog
dbstat information_schema* pg_*: the tables and columns are those of the schema, and no statement reads the catalog
pragma* show describe desc: the tables and columns are those of the schema, and no statement reads the catalog
current_database current_schema database: the database is called main
changes total_changes last_insert_rowid: it tells of writes, and statements only read
@@*: settings are not told to statements
regexp rlike regexp_matches: this build of SQLite has no regular expressions: write LIKE '%part%' or GLOB '*[0-9]*'
regexp_like regexp_replace: this build of SQLite has no regular expressions: write LIKE '%part%' or GLOB '*[0-9]*'
generate_series seq_*_to_*: this build lacks it: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9)
date_trunc: write strftime('%Y-%m-01', d)
date_format to_char extract date_part year month day: write strftime('%Y', d), with %m, %d, %H, %M or %w for other parts
hour minute quarter weekday: write strftime('%Y', d), with %m, %d, %H, %M or %w for other parts
to_date str_to_date to_timestamp: write date(s) of an ISO text
datediff timestampdiff age: write julianday(d2) - julianday(d1)
dateadd date_add date_sub interval: write date(d, '+1 day')
now getdate sysdate curdate curtime sysdatetime: write datetime('now') or date('now')
unix_timestamp: write unixepoch(t)
from_unixtime: write datetime(n, 'unixepoch')
last_day eomonth: write date(d, 'start of month', '+1 month', '-1 day')
isnull nvl: write ifnull(a, b), or a IS NULL
array_agg json_agg json_arrayagg jsonb_group_array: write json_group_array(x)
json_object_agg json_objectagg jsonb_group_object: write json_group_object(k, v)
json_pretty: write json(x)
listagg: write group_concat(x, ',')
ilike: write LIKE, which does not look at the case of ASCII letters
median percentile: number the rows with ROW_NUMBER() OVER (ORDER BY x), and take the avg of the middle ones
percentile_cont: number the rows with ROW_NUMBER() OVER (ORDER BY x), and take the avg of the middle ones
percentile_disc: number the rows with ROW_NUMBER() OVER (ORDER BY x), and take the avg of the middle ones
stddev stddev_pop stddev_samp stdev std: write sqrt(avg(x * x) - avg(x) * avg(x))
variance var_pop var_samp: write avg(x * x) - avg(x) * avg(x)
factorial: write WITH RECURSIVE f(n, v) AS (SELECT 1, 1 UNION ALL SELECT n + 1, v * (n + 1) FROM f WHERE n < 10)
left: write substr(x, 1, n)
right: write substr(x, -n)
lpad: write printf('%05d', n), or substr('00000' || x, -5)
rpad: write printf('%-5s', x)
repeat replicate space: write printf('%.5c', 'x')
len char_length character_length: write length(x)
position locate charindex strpos: write instr(text, part)
split_part substring_index: write substr(text, 1, instr(text, ',') - 1)
greatest: write max(a, b)
least: write min(a, b)
rand: write random()
bool_or: write max(c)
bool_and every: write min(c)
countif count_if: write count(*) FILTER (WHERE c)
unnest: write json_each(x)
`
