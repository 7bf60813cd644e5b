package duckdb

// instead says what to write in place of what people and models write: see exec.Language.Instead.
const instead = `
version sqlite_version library_version: the server's version is not told to statements
information_schema* duckdb_* pg_*: the tables and columns are those of the schema, and no statement reads the catalog
sqlite_master sqlite_schema pragma*: the tables and columns are those of the schema, and no statement reads the catalog
show: the tables and columns are those of the schema, and no statement reads the catalog
current_setting getenv getvariable @@*: settings are not told to statements
nextval currval: sequences are not read by statements
read_csv* read_parquet parquet_scan: a statement reads no files: the files that may be read are tables of the schema
read_json* read_ndjson* read_text: a statement reads no files: the files that may be read are tables of the schema
read_blob glob sniff_csv: a statement reads no files: the files that may be read are tables of the schema
seq_*_to_*: write range(1, 11)
isnull nvl: write coalesce(a, b), or a IS NULL
date_format to_char: write strftime(d, '%Y-%m')
to_date str_to_date: write strptime(s, '%Y-%m-%d')::DATE
dateadd adddate timestampadd: write d + INTERVAL 1 DAY
timestampdiff julianday: write date_diff('day', d1, d2)
getdate sysdate curdate curtime sysdatetime: write current_date or now()
unix_timestamp unixepoch: write epoch(t)
from_unixtime: write to_timestamp(n)
eomonth: write last_day(d)
regexp rlike: write regexp_matches(x, 'pattern')
charindex locate: write instr(text, part)
substring_index: write split_part(text, ',', 1)
iif: write CASE WHEN c THEN a ELSE b END
rand: write random()
json_agg json_arrayagg: write json_group_array(x)
json_object_agg json_objectagg: write json_group_object(k, v)
list_reduce reduce array_reduce: write list_sum(x), or an aggregate over unnest(x)
approx_top_k equi_width_bins bitstring_agg: write count(*) with GROUP BY
initcap: write upper(x[1]) || lower(x[2:])
`
