package trino

// instead says what to write in place of what people and models write: see exec.Language.Instead. Words that messages
// of the server have for other things, such as USER and DESC, are left out.
const instead = `
pg_typeof: write typeof(x)
version sqlite_version pg_version: the server's version is not told to statements
*information_schema* pg_*: the tables and columns are those of the schema, and no statement reads the catalog
system.runtime* system.metadata* system.jdbc*: the tables and columns are those of the schema, and no statement reads the catalog
*sqlite_master *sqlite_schema pragma*: the tables and columns are those of the schema, and no statement reads the catalog
show describe: the tables and columns are those of the schema, and no statement reads the catalog
current_database database: the catalog and the schema of the session are not told to statements
session_user: the user is not told to statements
nextval currval lastval setval: sequences are not read by statements
generate_series *seq_*_to_*: write FROM UNNEST(sequence(1, 10)) AS t(n)
strftime: write date_format(d, '%Y-%m'), or format_datetime(d, 'yyyy-MM')
str_to_date strptime: write date_parse(s, '%Y-%m-%d')
datediff timestampdiff julianday age: write date_diff('day', d1, d2)
dateadd date_sub adddate timestampadd: write d + INTERVAL '1' DAY
getdate sysdate curdate curtime sysdatetime: write current_date, or now()
unix_timestamp unixepoch epoch: write to_unixtime(t)
last_day eomonth: write last_day_of_month(d)
date_part datepart dayofweek weekday dayofmonth dayofyear: write extract(YEAR FROM d), or day_of_week(d)
ifnull isnull nvl: write coalesce(a, b), or a IS NULL
iif: write if(c, a, b)
group_concat string_agg: write array_join(array_agg(x ORDER BY x), ',')
json_agg json_arrayagg json_group_array: write CAST(array_agg(x) AS JSON)
json_object_agg json_objectagg json_group_object: write CAST(map_agg(k, v) AS JSON)
json_each json_array_elements: write FROM UNNEST(CAST(json_parse(x) AS ARRAY(JSON))) AS t(v)
regexp rlike regexp_matches regexp_contains glob: write regexp_like(x, 'pattern')
ilike: write lower(x) LIKE 'a%'
instr locate charindex: write strpos(text, part)
substring_index: write split_part(text, ',', 1)
string_to_array: write split(text, ',')
array_length array_size: write cardinality(x)
median percentile percentile_cont percentile_disc quantile_cont: write approx_percentile(x, 0.5)
factorial: write round(exp(sum(ln(n)))) FROM UNNEST(sequence(1, 5)) AS t(n)
len char_length character_length: write length(x)
ucase: write upper(x)
lcase: write lower(x)
initcap: write regexp_replace(x, '(\w)(\w*)', m -> upper(m[1]) || lower(m[2]))
countif: write count_if(c)
safe_cast try_convert: write try_cast(x AS BIGINT)
safe_divide: write a / nullif(b, 0)
rownum: write row_number() OVER (ORDER BY x)
`
