package mysql

// instead says what to write in place of what people and models write: see exec.Language.Instead.
const instead = `
pg_typeof typeof: the types are those of the schema
version sqlite_version: the server's version is not told to statements
@@*: variables of the server are not told to statements
@*: variables are not kept between statements: write WITH, or a window function as ROW_NUMBER()
user current_user: the user and the connection are not told to statements; a column of this name is written in backticks
session_user: the user and the connection are not told to statements; a column of this name is written in backticks
system_user: the user and the connection are not told to statements; a column of this name is written in backticks
current_role: the user and the connection are not told to statements; a column of this name is written in backticks
connection_id: the user and the connection are not told to statements; a column of this name is written in backticks
information_schema*: the tables and columns are those of the schema, and no statement reads the catalog
performance_schema* mysql sys pg_*: the tables and columns are those of the schema, and no statement reads the catalog
sqlite_master sqlite_schema pragma*: the tables and columns are those of the schema, and no statement reads the catalog
show describe desc: the tables and columns are those of the schema, and no statement reads the catalog
seq_*_to_*: write a sequence as WITH RECURSIVE seq(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq WHERE n < 10)
generate_series: write a sequence as WITH RECURSIVE seq(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq WHERE n < 10)
nextval lastval setval: sequences are not read by statements
date_trunc: write DATE_FORMAT(d, '%Y-%m-01')
strftime: write DATE_FORMAT(d, '%Y-%m')
to_date to_timestamp: write STR_TO_DATE(s, '%Y-%m-%d')
dateadd: write DATE_ADD(d, INTERVAL 1 DAY)
date_part: write EXTRACT(YEAR FROM d)
age julianday: write DATEDIFF(d2, d1) or TIMESTAMPDIFF(YEAR, d1, d2)
getdate sysdatetime: write NOW()
unixepoch: write UNIX_TIMESTAMP(t)
eomonth: write LAST_DAY(d)
string_agg listagg: write GROUP_CONCAT(x ORDER BY x SEPARATOR ',')
array_agg json_agg json_group_array: write JSON_ARRAYAGG(x)
json_object_agg json_group_object: write JSON_OBJECTAGG(k, v)
ilike: write LIKE, which the usual collations compare without regard to case
regexp_matches regexp_match similar glob regexp_contains: write x REGEXP 'pattern'
len: write CHAR_LENGTH(x)
strpos charindex: write LOCATE(part, text)
iif: write IF(c, a, b)
random: write RAND()
split_part: write SUBSTRING_INDEX(text, ',', 1)
countif count_if: write SUM(c)
bool_or: write MAX(c)
bool_and: write MIN(c)
initcap: write CONCAT(UPPER(LEFT(x, 1)), LOWER(SUBSTRING(x, 2)))
factorial: write ROUND(EXP(SUM(LN(n)))) over a recursive sequence
unnest: write JSON_TABLE(x, '$[*]' COLUMNS (v VARCHAR(100) PATH '$'))
try_cast: write CAST(x AS SIGNED)
rownum: write ROW_NUMBER() OVER (ORDER BY x), or LIMIT
current_database current_schema: write DATABASE()
`
