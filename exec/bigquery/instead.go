package bigquery

// instead says what to write in place of what people and models write: see exec.Language.Instead. Words that messages
// of the service have for other things, such as USER and SEQUENCE, are left out.
const instead = `
pg_typeof: write TYPEOF(x)
version sqlite_version pg_version: the server's version is not told to statements
@@*: variables are not told to statements
information_schema* pg_* *__tables__: the tables and columns are those of the schema, and no statement reads the catalog
*sqlite_master *sqlite_schema pragma*: the tables and columns are those of the schema, and no statement reads the catalog
show describe: the tables and columns are those of the schema, and no statement reads the catalog
current_database current_schema database: the project and the dataset are not told to statements
session_user current_user: the user is not told to statements
nextval currval lastval setval: sequences are not read by statements
generate_series *seq_*_to_*: write FROM UNNEST(GENERATE_ARRAY(1, 10)) AS n
timestamp_add timestamp_sub: write DATE_ADD(DATE(t), INTERVAL 1 MONTH)
strftime date_format to_char: write FORMAT_DATE('%Y-%m', d), or FORMAT_TIMESTAMP('%Y-%m', t)
str_to_date to_date strptime date_parse: write PARSE_DATE('%Y-%m-%d', s)
to_timestamp: write PARSE_TIMESTAMP('%Y-%m-%d', s)
datediff timestampdiff julianday age: write DATE_DIFF(d2, d1, DAY)
dateadd adddate timestampadd: write DATE_ADD(d, INTERVAL 1 DAY)
now getdate sysdate curdate curtime sysdatetime: write CURRENT_DATE('UTC'), or CURRENT_TIMESTAMP()
unix_timestamp unixepoch epoch to_unixtime: write UNIX_SECONDS(t)
from_unixtime: write TIMESTAMP_SECONDS(n)
eomonth last_day_of_month: write LAST_DAY(d)
year month day quarter: write EXTRACT(YEAR FROM d)
date_part datepart dayofweek weekday dayofmonth dayofyear: write EXTRACT(DAYOFWEEK FROM d)
isnull nvl: write IFNULL(a, b), or a IS NULL
iif: write IF(c, a, b)
group_concat listagg array_join: write STRING_AGG(x, ',' ORDER BY x)
json_agg json_arrayagg json_group_array: write TO_JSON(ARRAY_AGG(x))
json_object_agg json_objectagg json_group_object: write JSON_OBJECT(ARRAY_AGG(k), ARRAY_AGG(v))
json_each json_array_elements: write FROM UNNEST(JSON_QUERY_ARRAY(x)) AS v
regexp rlike regexp_like regexp_matches glob: write REGEXP_CONTAINS(x, r'pattern')
ilike: write LOWER(x) LIKE 'a%'
locate charindex: write STRPOS(text, part)
split_part substring_index: write SPLIT(text, ',')[SAFE_OFFSET(0)]
string_to_array: write SPLIT(text, ',')
cardinality array_size: write ARRAY_LENGTH(x)
concat_ws: write ARRAY_TO_STRING([a, b], ',')
median percentile approx_percentile quantile_cont: write APPROX_QUANTILES(x, 2)[OFFSET(1)]
factorial: write ROUND(EXP(SUM(LN(n)))) FROM UNNEST(GENERATE_ARRAY(1, 5)) AS n
random: write RAND()
len: write LENGTH(x)
ucase: write UPPER(x)
lcase: write LOWER(x)
count_if: write COUNTIF(c)
bool_or: write LOGICAL_OR(c)
bool_and: write LOGICAL_AND(c)
try_cast try_convert: write SAFE_CAST(x AS INT64)
to_number: write CAST(x AS NUMERIC)
rownum: write ROW_NUMBER() OVER (ORDER BY x)
`
