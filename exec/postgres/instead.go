package postgres

// instead says what to write in place of what people and models write: see exec.Language.Instead.
const instead = `
version pg_version sqlite_version: the server's version is not told to statements
information_schema* pg_catalog*: the tables and columns are those of the schema, and no statement reads the catalog
pg_class pg_tables pg_views: the tables and columns are those of the schema, and no statement reads the catalog
pg_attribute pg_namespace pg_indexes: the tables and columns are those of the schema, and no statement reads the catalog
pg_index pg_proc pg_type: the tables and columns are those of the schema, and no statement reads the catalog
pg_constraint pg_stat_* pg_database: the tables and columns are those of the schema, and no statement reads the catalog
pg_settings pg_roles pg_user: the tables and columns are those of the schema, and no statement reads the catalog
sqlite_master sqlite_schema pragma*: the tables and columns are those of the schema, and no statement reads the catalog
show describe desc: the tables and columns are those of the schema, and no statement reads the catalog
current_setting set_config @@*: settings of the server are not told to statements
user current_user session_user current_role: the user is not told to statements; write a column in double quotes, "user"
nextval currval lastval setval: sequences are not read by statements
seq_*_to_*: write generate_series(1, 10)
date_format strftime: write to_char(d, 'YYYY-MM')
str_to_date: write to_date(s, 'YYYY-MM-DD')
datediff timestampdiff julianday: write d2::date - d1::date for days, extract(epoch FROM t2 - t1) for seconds
dateadd date_add date_sub adddate timestampadd: write d + INTERVAL '1 day'
curdate getdate sysdate curtime sysdatetime: write current_date or now()
unix_timestamp unixepoch: write extract(epoch FROM t)
from_unixtime: write to_timestamp(n)
last_day eomonth: write (date_trunc('month', d) + INTERVAL '1 month - 1 day')::date
year month day quarter week hour minute dayofweek weekday: write extract(year FROM d), and so on for other parts
ifnull nvl isnull: write coalesce(a, b), or a IS NULL
iif if: write CASE WHEN c THEN a ELSE b END
group_concat listagg: write string_agg(x::text, ',')
json_group_array json_arrayagg: write json_agg(x)
json_group_object: write json_object_agg(k, v)
regexp rlike glob regexp_contains: write x ~ 'pattern', or ~* without regard to case
instr locate charindex: write strpos(text, part)
substring_index: write split_part(text, ',', 1)
median: write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)
factorial: write round(exp(sum(ln(n)))) FROM generate_series(1, 5) AS n
rand: write random()
len: write length(x)
ucase: write upper(x)
lcase: write lower(x)
array_fill: write ARRAY(SELECT 0 FROM generate_series(1, 5))
countif count_if: write count(*) FILTER (WHERE c)
xmltable xmlelement xmlforest xmlagg: XML is read with xpath('/a/b/text()', x), whose path is a constant of plain steps
xmlconcat xmlserialize xmlexpr: XML is read with xpath('/a/b/text()', x), whose path is a constant of plain steps
xmlparse query_to_xml table_to_xml: XML is read with xpath('/a/b/text()', x), whose path is a constant of plain steps
`
