package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
)

// traps are what an attacker would like to find, beside the tables of the suite.
const traps = dbtest.Fixture + `CREATE SCHEMA s2;
CREATE TABLE s2.deep(id INTEGER, password TEXT);
INSERT INTO s2.deep VALUES (1, 's3cret-9');
CREATE TABLE nested(id INTEGER, secret STRUCT(pin INTEGER, word TEXT), open STRUCT(pin INTEGER),
	made TEXT GENERATED ALWAYS AS (struct_extract(secret, 'word')));
INSERT INTO nested(id, secret, open) VALUES (1, {'pin': 1234, 'word': 's3cret-7'}, {'pin': 1});
CREATE TABLE main.main(id INTEGER, password TEXT);
CREATE SEQUENCE seq;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE MACRO spy(i) AS (SELECT password FROM users WHERE id = i);
CREATE MACRO upper(x) AS (SELECT max(password) FROM users);
CREATE MACRO spies() AS TABLE SELECT * FROM users;
CREATE VIEW v_users AS SELECT id, name, password AS pw FROM users;
CREATE VIEW v_ok AS SELECT id, name FROM users;
CREATE VIEW v_ok_ok AS FROM v_ok SELECT name;
CREATE VIEW v_macro AS SELECT spy(1) AS x;
CREATE VIEW v_settings AS SELECT * FROM duckdb_settings();
CREATE VIEW v_read AS SELECT * FROM read_text('/etc/hostname');
CREATE VIEW "odd AS name" AS SELECT id FROM users;
CREATE VIEW v_seq AS SELECT nextval('seq') AS n;
CREATE VIEW v_listed(a, b) AS SELECT id, password FROM users;
`

// statements of one reason.
type statements struct {
	why    string
	reason string // of the refusal, or "error" for one of the engine before anything ran
	policy exec.Policy
	list   []string
}

var hidden = exec.Policy{DenyColumns: []string{"password", "nested.secret"}}

var refusals = []statements{
	{"files are read by no function", "function", exec.Policy{}, []string{
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_csv_auto('/etc/passwd')",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_blob('/etc/passwd')",
		"SELECT * FROM read_parquet('/tmp/x.parquet')", "SELECT * FROM parquet_scan(['/tmp/x.parquet'])",
		"SELECT * FROM parquet_metadata('/tmp/x')",
		"SELECT * FROM parquet_schema('/tmp/x')",
		"SELECT * FROM parquet_kv_metadata('/tmp/x')", "SELECT * FROM parquet_file_metadata('/tmp/x')",
		"SELECT * FROM parquet_bloom_probe('/tmp/x', 'a', 1)",
		"SELECT * FROM read_json('/tmp/x')",
		"SELECT * FROM read_json_auto('/tmp/x')", "SELECT * FROM read_json_objects('/tmp/x')",
		"SELECT * FROM read_ndjson('/tmp/x')",
		"SELECT * FROM read_ndjson_auto('/tmp/x')",
		"SELECT * FROM glob('/*')", "SELECT * FROM sniff_csv('/etc/passwd')", "SELECT * FROM read_duckdb('/tmp/x.db')",
		"FROM read_csv('https://example.org/x.csv')",
		"SELECT (SELECT content FROM read_text('/etc/passwd'))", "WITH x AS (FROM glob('/*')) SELECT * FROM x",
		"SELECT * FROM t, LATERAL (SELECT * FROM read_text(b))", "SELECT * FROM t JOIN glob('/*') AS g ON true",
	}},
	{"a file is no table", "error", exec.Policy{}, []string{
		"FROM '/etc/passwd'", "FROM '/tmp/x.csv'", "SELECT * FROM 'x.parquet'", `SELECT * FROM "/tmp/x.json"`,
		"SELECT * FROM '/tmp/*.csv' AS t",
		"SELECT * FROM 's3://evil/x.parquet'",
		"SELECT * FROM 'https://example.org/x.parquet'", "SELECT count(*) FROM t, '/tmp/x.csv'",
		"SELECT a FROM t WHERE a IN (FROM 'x.csv')",
		"SELECT * FROM '/proc/self/environ.csv'",
		`SELECT * FROM main."/tmp/x.csv"`, "WITH t2 AS (SELECT 1) SELECT * FROM 't2.csv'", "DESCRIBE '/tmp/x.csv'",
		"SUMMARIZE '/tmp/x.csv'", "TABLE '/tmp/x.csv'",
	}},
	{"what DuckDB knows of itself is no table", "error", exec.Policy{}, []string{
		"SELECT * FROM information_schema.tables", "SELECT * FROM pg_catalog.pg_class", "SELECT * FROM pg_tables",
		"SELECT * FROM sqlite_master",
		"SELECT * FROM duckdb_tables", "SELECT * FROM duckdb_columns",
		"SELECT * FROM system.main.duckdb_views", "SELECT * FROM temp.main.t",
		"SELECT * FROM system.information_schema.columns", "SELECT * FROM duckdb_logs",
		"SELECT * FROM pg_settings",
		"SELECT * FROM sqlite_schema", "SELECT * FROM other.main.t", "SELECT * FROM nosuch.users",
	}},
	{"functions that tell of settings, files, the process and other statements", "function", exec.Policy{}, []string{
		"SELECT getenv('HOME')", "SELECT current_setting('memory_limit')", "SELECT getvariable('x')", "SELECT version()",
		"SELECT current_query()",
		"SELECT current_schemas(true)", "SELECT current_setting(version())",
		"SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets()", "SELECT * FROM duckdb_functions()",
		"SELECT * FROM duckdb_tables()",
		"SELECT * FROM duckdb_columns()", "SELECT * FROM duckdb_databases()",
		"SELECT * FROM duckdb_extensions()", "SELECT * FROM duckdb_memory()", "SELECT * FROM duckdb_temporary_files()",
		"SELECT * FROM duckdb_logs()",
		"SELECT * FROM duckdb_variables()",
		"SELECT * FROM duckdb_prepared_statements()", "SELECT * FROM duckdb_external_file_cache()",
		"SELECT * FROM pragma_table_info('users')",
		"SELECT * FROM pragma_storage_info('users')",
		"SELECT * FROM pragma_database_size()", "SELECT * FROM pragma_user_agent()", "SELECT * FROM pragma_show('users')",
		"SELECT * FROM duckdb_table_sample('users')", "SELECT stats(password) FROM users",
		"SELECT * FROM which_secret('s3://x', 's3')", "SELECT pg_get_viewdef('v_users')", "SELECT txid_current()",
		"SELECT current_transaction_id()",
		"SELECT current_connection_id()",
		"SELECT * FROM seq_scan('users')", "SELECT * FROM pg_timezone_names()",
		"SELECT * FROM sql_auto_complete('SELECT pass')", "SELECT col_description(1, 1)",
		"SELECT get_block_size('main')",
	}},
	{"functions that run text", "function", exec.Policy{}, []string{
		"SELECT * FROM query('SELECT password FROM users')", "SELECT * FROM query_table('users')",
		"SELECT * FROM query_table(['users', 't'])",
		"FROM json_execute_serialized_sql('{}')",
		"SELECT json_serialize_sql('SELECT 1')", "SELECT json_deserialize_sql('{}')",
		"SELECT json_serialize_plan('SELECT * FROM users')",
		"FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
		"SELECT * FROM sqlite_scan('x.db', 't')", "SELECT * FROM postgres_query('db', 'DROP TABLE t')",
		"SELECT * FROM mysql_query('db', 'x')",
		"SELECT * FROM arrow_scan(1, 2, 3)",
		"SELECT * FROM checkpoint('test')", "SELECT * FROM force_checkpoint()", "SELECT * FROM enable_logging()",
		"SELECT * FROM truncate_duckdb_logs()",
		"SELECT * FROM enable_profiling()", "SELECT * FROM summary('users')",
		"SELECT * FROM test_all_types()", "SELECT * FROM histogram('users', 'password')",
		"SELECT * FROM histogram_values('users', 'password')",
		"SELECT * FROM repeat_row(1, num_rows = 3)",
	}},
	{"functions that wait, write or keep a state", "function", exec.Policy{}, []string{
		"SELECT sleep_ms(5)", "SELECT pg_sleep(5)", "SELECT write_log('x')", "SELECT setseed(0.5)", "SELECT nextval('seq')",
		"SELECT currval('seq')",
		"SELECT error('x')", "SELECT a FROM t ORDER BY nextval('seq')",
		"SELECT a FROM t WHERE a = nextval('seq')", "SELECT 'x' AS x GROUP BY write_log('x')",
		"SELECT count(*) FILTER (WHERE write_log('x') IS NULL) FROM t",
		"SELECT sum(a) OVER (ORDER BY sleep_ms(5)) FROM t",
		"SELECT CASE WHEN true THEN getenv('HOME') END", "SELECT [getenv('HOME')]", "SELECT {'a': getenv('HOME')}",
		"SELECT list_transform([1], x -> getenv('HOME'))", "SELECT a FROM t LIMIT (SELECT nextval('seq'))",
		"VALUES (getenv('HOME'))", "SELECT b.getenv() FROM t", "SELECT COLUMNS(x -> getenv('HOME') = x) FROM t",
		"SELECT * REPLACE (getenv('HOME') AS b) FROM t",
		"SELECT CAST(getenv('HOME') AS VARCHAR) COLLATE nocase", "SELECT a FROM t QUALIFY write_log('x') IS NULL",
		"SELECT mode() WITHIN GROUP (ORDER BY sleep_ms(1)) FROM t", "SELECT main.getenv('HOME')",
		"SELECT system.main.getenv('HOME')", `SELECT "getenv"('HOME')`, "SELECT GETENV('HOME')",
		"SELECT getenv /* x */ ('HOME')",
		"SELECT a FROM t GROUP BY ALL HAVING getenv('HOME') IS NULL",
	}},
	{"macros of the database", "function", exec.Policy{}, []string{
		"SELECT spy(1)", "SELECT main.spy(1)", "SELECT test.main.spy(1)", "SELECT upper('a')", "SELECT main.upper('a')",
		"SELECT b.upper() FROM t",
		"SELECT * FROM spies()", "SELECT * FROM main.spies()",
		"SELECT list_transform([1], x -> spy(x))",
	}},
	{"views that do so", "table", exec.Policy{}, []string{
		"SELECT * FROM v_macro", "SELECT * FROM v_settings", "SELECT n FROM v_seq", "SELECT count(*) FROM v_seq",
		"WITH x AS (FROM v_settings) FROM x",
	}},
	{"no SELECT, or more than one", "error", exec.Policy{}, []string{
		"SELECT 1; SELECT 2", "SELECT 1; DROP TABLE t", "DROP TABLE t", "CREATE TABLE z(a INT)", "CREATE TEMP TABLE z(a INT)",
		"CREATE OR REPLACE TEMP VIEW t AS SELECT 1", "CREATE MACRO lower(x) AS 1",
		"CREATE TABLE z AS SELECT 1", "INSERT INTO t VALUES (1, 'x') RETURNING a", "UPDATE t SET a = 1", "DELETE FROM t",
		"TRUNCATE t",
		"MERGE INTO t USING users ON a = id WHEN MATCHED THEN DELETE",
		"COPY t TO '/tmp/x.csv'", "COPY (FROM users) TO '/tmp/x.parquet' (FORMAT parquet)", "COPY t FROM '/tmp/x.csv'",
		"EXPORT DATABASE '/tmp/x'",
		"IMPORT DATABASE '/tmp/x'", "ATTACH '/tmp/evil.db'", "ATTACH ':memory:' AS m",
		"DETACH test", "USE memory", "INSTALL httpfs", "LOAD '/tmp/x.duckdb_extension'", "UPDATE EXTENSIONS",
		"SET threads = 64",
		"SET GLOBAL memory_limit = '100GB'", "RESET threads", "SET VARIABLE x = 1",
		"PRAGMA enable_profiling", "PRAGMA table_info('users')", "PRAGMA database_list", "CALL pragma_version()",
		"CALL enable_logging()", "PREPARE p AS SELECT 1",
		"EXECUTE p", "DEALLOCATE p", "CHECKPOINT", "VACUUM", "ANALYZE",
		"BEGIN", "BEGIN TRANSACTION READ WRITE", "COMMIT", "ROLLBACK", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1",
		"CREATE SECRET s (TYPE s3)",
		"CREATE SEQUENCE q", "CREATE TYPE q AS ENUM ('a')", "COMMENT ON TABLE t IS 'x'",
		"ALTER TABLE t ADD COLUMN c INT", "SHOW TABLES", "SHOW ALL TABLES", "SHOW users", "SELECT * FROM (SHOW ALL TABLES)",
		"WITH x AS (INSERT INTO t VALUES (1, 'x') RETURNING a) SELECT * FROM x", "FROM (DELETE FROM t RETURNING *)",
		"PIVOT t ON a USING sum(a)", "SELECT $1",
		"SELECT ?", "SELECT $x", "SELECT * FROM t AT (VERSION => 1)",
	}},
	{"values that grow without a bound", "function", exec.Policy{}, []string{
		"SELECT repeat('x', 1000000000)", "SELECT repeat('x', a * 1000000000) FROM t",
		"SELECT repeat(b, (SELECT 1000000000)) FROM t",
		"SELECT lpad('x', 1000000000, 'y')", "SELECT rpad(b, 1000000000, 'y') FROM t",
		"SELECT list_resize([1], 1000000000)", "SELECT array_resize([1], 1000000000)", "SELECT bitstring('1', 1000000000)",
		"SELECT bar(1, 0, 1, 1000000000)",
		"SELECT range(1000000000)", "SELECT generate_series(0, 1000000000)",
		"SELECT range(0, 1000000000, 1)", "SELECT range(-1000000000)",
		"SELECT range(DATE '2000-01-01', DATE '2999-01-01', INTERVAL 1 SECOND)",
		"SELECT generate_series(TIMESTAMP '2000-01-01', now()::TIMESTAMP, INTERVAL 1 MICROSECOND)",
		"SELECT range(100000 * 100000)", "SELECT range(a) FROM t", "SELECT range((SELECT 1000000000))",
		"SELECT * FROM unnest(range(1000000000))",
		"SELECT unnest(range(1000000000))", "SELECT max(len(range(a, a + 100000000))) FROM t",
		"SELECT range(DATE '2000-01-01', DATE 'infinity', INTERVAL 1 DAY)",
		"SELECT range(DATE '1000-01-01', DATE '2999-01-01', INTERVAL 1 DAY)",
		"SELECT range(TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01', INTERVAL 1 HOUR)",
		"SELECT range(DATE '2000-01-01', DATE '2000-01-01' + INTERVAL 9999999 DAY, INTERVAL 1 DAY)",
		"SELECT format('{:9999}', 1)",
		"SELECT format('{:1000000000}', 1)", "SELECT format('{:{}}', 1, 1000000000)",
		"SELECT printf('%1000000000d', 1)", "SELECT printf('%*d', 1000000000, 1)", "SELECT format(b, 1) FROM t",
		"SELECT bitstring_agg(a, 0, 1000000000) FROM t",
		"SELECT approx_top_k(repeat('x', 10000) || i, 100000) FROM range(10000000) r(i)",
		"SELECT list_reduce([1,2,3], (x, y) -> x + y)",
		"SELECT array_reduce([1,2,3], lambda x, y: x + y)", "SELECT equi_width_bins(0, 1, 1000000000, true)",
		"SELECT reservoir_quantile(a, 0.5, 1000000000) FROM t", "SELECT range(1e9::BIGINT)",
	}},
	{"values that grow by being put together", "too-complex", exec.Policy{}, []string{
		"SELECT repeat(repeat('x', 10000), 10000)", "SELECT replace(repeat('x', 10000), 'x', repeat('y', 10000))",
		"SELECT regexp_replace(repeat('x', 10000), 'x', repeat('y', 10000), 'g')",
		"SELECT NULL::INTEGER[1000][1000]", "SELECT NULL::INTEGER[100000]",
		"SELECT x::STRUCT(a INTEGER[2000]) FROM (SELECT NULL AS x)",
		"SELECT length(repeat(s, 10000)) FROM (SELECT repeat('x', 10000) AS s)",
		"WITH c(s) AS (SELECT repeat('x', 10000)) SELECT repeat(s, 10000) FROM c",
		"SELECT length(repeat(s, 10000)) FROM (VALUES (repeat('x', 10000))) AS v(s)",
		"SELECT list_transform(range(100000), x -> range(100000))",
		"SELECT [y || z FOR y IN list_transform(range(10000), i -> repeat('x', 10000))]",
		"SELECT string_split(repeat(repeat('x,', 1000), 1000), ',')",
		"SELECT bin(bin(bin(bin(bin(repeat('x', 1000))))))",
		"SELECT length(repeat(\"repeat('x', 10000)\", 10000)) FROM (SELECT repeat('x', 10000))",
		attack.Doubled("SELECT a.c FROM %[1]s AS a, %[1]s AS b", "AS", 18),
		"SELECT strftime(DATE '2024-01-01', repeat(repeat('%c', 10000), 1000))",
		"SELECT list_transform(range(100000), x -> b) FROM t",
		"SELECT hex(hex(repeat(b, 10000))) FROM t",
		"WITH a AS (SELECT repeat(b, 100) AS c FROM t), d AS (SELECT repeat(c, 100) AS e FROM a) SELECT repeat(e, 100) " +
			"FROM d",
		"SELECT 'xxxxxxxxxx' || b AS c, repeat(c || c || c, 6000) FROM t",
		"SELECT format('{0}{0}{0}{0}', repeat(b, 9999)) FROM t",
		aliases(30), lambdas("x -> x || x", 26), lambdas("x -> [x, x]", 26),
		"SELECT list_transform(l, x -> l) FROM (SELECT range(5000) AS l)",
		"SELECT concat_ws(repeat('x', 10000), " + strings.Repeat("a, ", 8000) + "a) FROM t",
		"SELECT concat_ws('" + strings.Repeat("x", 9000) + "', " + strings.Repeat("a, ", 9000) + "a) FROM t",
		"SELECT length(" + strings.Repeat("s || ", 200) + "s) FROM (SELECT repeat('x', 10000) || repeat('y', 10000) AS s)",
		"SELECT concat(s, s, s, s, s, s, s, s, s) FROM (SELECT repeat('" + strings.Repeat("x", 1500) + "', 10000) AS s)",
		"SELECT array_to_string(range(100000), repeat('x', 1000))",
		"SELECT [l, l] FROM (SELECT list_transform(range(10000), x -> range(1000)) AS l)",
		"SELECT array_to_string(range(100000), b || b || b) FROM t",
		"SELECT list_resize([b], 10000, repeat('x', 10000)) FROM t",
		"SELECT count(*) FROM t" + attack.Joined(60), "SELECT " + strings.Repeat("a + ", 900) + "a FROM t",
		"SELECT " + strings.Repeat(strings.Repeat("a + ", 150)+"a, ", 30) + "a FROM t",
		"SELECT " + strings.Repeat("(SELECT ", 13) + "1" + strings.Repeat(")", 13),
		attack.Doubled("SELECT c || c AS c FROM %s", "AS", 40),
		"SELECT " + strings.Repeat("1+", 5000) + "1",
		"SELECT a FROM t WHERE " + strings.Repeat("NOT ", 5000) + "true",
	}},
	{"a denied column", "column", hidden, []string{
		"SELECT password FROM users", "SELECT * FROM users", "SELECT users.* FROM users", "FROM users",
		"SELECT users FROM users", "SELECT u FROM users AS u",
		"SELECT main.users FROM users",
		"SELECT test.main.users FROM users", "SELECT u.password FROM users u", "SELECT main.users.password FROM users",
		"SELECT test.main.users.password FROM users", `SELECT "PassWord" FROM users`,
		"SELECT COLUMNS(*) FROM users", "SELECT COLUMNS('pass.*') FROM users", "SELECT COLUMNS(c -> c LIKE 'p%') FROM users",
		"SELECT *COLUMNS(*) FROM users",
		"SELECT max(COLUMNS(*)) FROM users", "SELECT COLUMNS(users.*) FROM users",
		"SELECT * EXCLUDE (name) FROM users", "SELECT * EXCLUDE (users.password) FROM users, t",
		"SELECT * REPLACE ('x' AS name) FROM users",
		"SELECT * RENAME (password AS x) FROM users", "SELECT * LIKE 'pass%' FROM users",
		"SELECT #3 FROM users", "SELECT #1 FROM users", "SELECT name FROM users ORDER BY #3",
		"SELECT name FROM users WHERE password LIKE 's%'",
		"SELECT name FROM users ORDER BY password", "SELECT count(*) FROM users GROUP BY password",
		"SELECT count(*) FROM users HAVING max(password) > 'a'", "SELECT row_number() OVER (ORDER BY password) FROM users",
		"SELECT name FROM users QUALIFY row_number() OVER (PARTITION BY password) = 1",
		"SELECT DISTINCT ON (password) name FROM users", "SELECT arg_max(name, password) FROM users",
		"SELECT string_agg(name, ',' ORDER BY password) FROM users",
		"SELECT count(*) FILTER (WHERE password > 'a') FROM users",
		"SELECT name FROM users ORDER BY password COLLATE nocase", "SELECT CASE WHEN password > 'a' THEN 1 END FROM users",
		"SELECT {'a': password} FROM users",
		"SELECT [password] FROM users", "SELECT password.trim() FROM users",
		"SELECT password.length() FROM users", "SELECT users.password.lower() FROM users", "SELECT u.to_json() FROM users u",
		"SELECT to_json(u) FROM users u",
		"SELECT row_to_json(users) FROM users", "SELECT hash(users) FROM users",
		"SELECT list(u) FROM users u", "SELECT struct_extract(u, 'password') FROM users u",
		"SELECT u['password'] FROM users u", "SELECT u::VARCHAR FROM users u",
		"SELECT (u).password FROM users u", "SELECT unnest(u) FROM users u",
		"SELECT x.password FROM (SELECT * FROM users) x", "WITH c AS (FROM users) SELECT name FROM c",
		"WITH c AS (SELECT password p FROM users) SELECT p FROM c",
		"SELECT name FROM users UNION SELECT password FROM users",
		"SELECT name FROM users UNION BY NAME SELECT password FROM users",
		"SELECT count(*) FROM users JOIN s2.deep USING (password)",
		"SELECT count(*) FROM users NATURAL JOIN s2.deep",
		"SELECT a.name FROM users a ASOF JOIN users b ON a.password >= b.password",
		"SELECT a.name FROM users a ASOF JOIN users b USING (id, password)",
		"SELECT a.name FROM users a SEMI JOIN s2.deep d ON a.password = d.password",
		"SELECT * FROM users POSITIONAL JOIN t", "SELECT * FROM t POSITIONAL JOIN users",
		"SELECT * FROM users, t", "SELECT name FROM users u, LATERAL (SELECT u.password AS p) x WHERE p > 'a'",
		"SELECT (SELECT password) FROM users",
		"SELECT EXISTS (SELECT 1 WHERE password > 'a') FROM users",
		"SELECT name FROM users WHERE 's3cret-1' IN (SELECT password)",
		"SELECT * FROM (PIVOT users ON name IN ('ann', 'bob') USING max(password))",
		"SELECT * FROM (PIVOT users ON name IN ('ann') USING count(*))",
		"SELECT * FROM (PIVOT users ON name IN ('ann') USING count(*) GROUP BY password)",
		"SELECT * FROM (UNPIVOT users ON name, password INTO NAME n VALUE v)",
		"SELECT * FROM (UNPIVOT users ON COLUMNS(* EXCLUDE (id)) INTO NAME n VALUE v)",
		"SELECT id FROM users UNPIVOT (v FOR n IN (name, password))",
		"SELECT * FROM users PIVOT (max(id) FOR name IN ('ann'))",
		"SELECT a.c FROM users AS a(x, y, c)", "SELECT c FROM users AS a(x, y, c)",
		"SELECT j.password FROM (users JOIN t ON id = a) AS j",
		"SELECT id FROM users LIMIT (SELECT max(length(password)) FROM users)",
		"SELECT list_transform(list(u), x -> x.password) FROM users u",
		"SELECT [x.password FOR x IN list(u)] FROM users u",
		"SELECT name FROM users GROUP BY ALL HAVING any_value(password) > 'a'",
		"SELECT name FROM users GROUP BY GROUPING SETS ((name, password), name)",
		"SELECT sum(id) OVER (ORDER BY id RANGE BETWEEN length(password) PRECEDING AND CURRENT ROW) FROM users",
		"SELECT lag(name, 1, password) OVER () FROM users",
		"WITH RECURSIVE c(n, p) AS (SELECT 1, '' UNION ALL SELECT n + 1, password FROM c, users WHERE n < 3) SELECT p FROM c",
		"WITH users AS (SELECT * FROM users) SELECT name FROM users", "SELECT password FROM s2.deep", "FROM test.s2.deep",
		"SELECT secret FROM nested", "SELECT secret.pin FROM nested", "SELECT nested.secret.pin FROM nested",
		"SELECT main.nested.secret.word FROM nested",
		"SELECT n.secret.word FROM nested n", "SELECT secret['word'] FROM nested", "SELECT (secret).word FROM nested",
		"SELECT struct_extract(secret, 'word') FROM nested", "SELECT unnest(secret) FROM nested", "SELECT made FROM nested",
		"SELECT id FROM nested WHERE secret.pin = 1234", "SELECT secret.* FROM nested",
		"SELECT unnest(n, recursive := true) FROM nested n",
		"SELECT main.to_json() FROM users AS main", "SELECT a.id FROM users a JOIN users b ON a.id = b.id " +
			"AND b.password > 'a'",
		"SELECT unnamed_subquery.password FROM (FROM users)",
		"SELECT id FROM users u WHERE u > {'id': 1, 'name': '', 'password': ''}",
		"SELECT min(u) FROM users u", "SELECT u IS NULL FROM users u", "SELECT count(DISTINCT u) FROM users u",
		"FROM users SELECT name WHERE password = 'x'",
		"SELECT name FROM users TABLESAMPLE 50% WHERE password > 'a'", "SELECT password FROM main.main",
		"DESCRIBE users", "SUMMARIZE users", "SELECT * FROM (DESCRIBE users)", "SELECT * FROM (SUMMARIZE users)",
		"DESCRIBE SELECT password AS p FROM users", "SUMMARIZE SELECT u FROM users u",
		"SUMMARIZE SELECT length(password) FROM users",
	}},
	{"a view over a denied column", "table", hidden, []string{
		"SELECT id FROM v_users", "SELECT pw FROM v_users", "SELECT a FROM v_listed", "SELECT b FROM v_listed",
		"SELECT count(*) FROM v_listed",
	}},
	{"a denied table", "table", exec.Policy{DenyTables: []string{"users"}}, []string{
		"SELECT name FROM users", "SELECT count(*) FROM main.users", "FROM test.users", "FROM test.main.users",
		"SELECT name FROM v_ok", "SELECT name FROM v_ok_ok",
		`SELECT id FROM "odd AS name"`, "SELECT a FROM t WHERE EXISTS (FROM users)",
		`SELECT * FROM "USERS"`, "SELECT a FROM t ANTI JOIN users ON a = id", "FROM nosuch", "FROM '/etc/passwd'",
		"FROM information_schema.tables",
		"SELECT a FROM t, usurs WHERE false", "DESCRIBE users", "SUMMARIZE SELECT name FROM users", "FROM (DESCRIBE v_ok)",
	}},
}

// aliases doubles a text by names that a SELECT gives, so many times.
func aliases(n int) string {
	text := "SELECT b || 'xxxxxxxxxxxxxxxx' AS a0"
	for i := range n {
		text += fmt.Sprintf(", a%[1]d || a%[1]d AS a%[2]d", i, i+1)
	}
	return text + " FROM t"
}

// lambdas puts so many lambdas around each other.
func lambdas(body string, n int) string {
	return "SELECT " + strings.Repeat("list_transform(", n) + "[b]" + strings.Repeat(", "+body+")", n) + " FROM t"
}

// harmless are statements that people and models write.
var harmless = []statements{
	{"DuckDB's own forms", "", exec.Policy{}, []string{
		"FROM t", "FROM t SELECT a, b", "SELECT * EXCLUDE (b) FROM t", "SELECT * REPLACE (a + 1 AS a) FROM t",
		"SELECT * RENAME (a AS z) FROM t",
		"SELECT COLUMNS('a|b') FROM t", "SELECT #1 FROM t", "SELECT t FROM t",
		"SELECT a, b FROM t ORDER BY ALL", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a DESC) <= 5",
		"SELECT b.lower() FROM t",
		"SELECT t.b.length() FROM t", "SELECT list_transform([a], x -> x + 1) FROM t",
		"SELECT [x * 2 FOR x IN [a, 1] IF x > 0] FROM t", "SELECT {'k': a}.k FROM t", "SELECT MAP {'k': a}['k'] FROM t",
		"SELECT a // 2, a ** 2, a % 2, a::VARCHAR || 'x' FROM t", "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b",
		"SELECT b SIMILAR TO 'a.*', regexp_matches(b, 'a'), b ILIKE 'A%', b GLOB 'a*' FROM t",
		"SELECT TRY_CAST(b AS INTEGER) FROM t",
		"SELECT a, unnest([1]) FROM t", "SELECT a FROM t, range(1)", "SELECT t.a FROM t POSITIONAL JOIN users",
		"SELECT a FROM t AS u(a, b)", "SELECT strftime(DATE '2024-01-01' + INTERVAL (a) DAY, '%Y-%m') FROM t",
		"SELECT current_date, now(), today() FROM t",
		"SELECT date_diff('day', DATE '2024-01-01', DATE '2024-03-01') + a FROM t",
		"SELECT date_trunc('month', d) FROM generate_series(DATE '2024-01-01', DATE '2024-01-05', INTERVAL 1 DAY) AS g(d)",
		"SELECT unnest(generate_series(1, 5))",
		"SELECT unnest(range(DATE '2024-01-01', DATE '2024-01-06', INTERVAL '1 day'))",
		"SELECT a, unnest(generate_series(DATE '2024-01-01', current_date, INTERVAL 1 MONTH)) FROM t LIMIT 5",
		"SELECT unnest(generate_series(date_trunc('month', now()::TIMESTAMP) - INTERVAL 1 DAY, DATE '2090-01-01', " +
			"to_days(7))) LIMIT 5",
		"SELECT a, range(0, 1000000, 10000) FROM t",
		"SELECT repeat('-', 20) || repeat('=', 20) || repeat(b, 3), hex(b), to_json(b) FROM t",
		"SELECT regexp_replace(regexp_replace(b, '[^0-9]', '', 'g'), ' +', ' '), replace(b, '&', '&amp;'), replace(b, '<', " +
			"'&lt;') FROM t",
		"SELECT list_transform(string_split(b, ','), x -> trim(x)), list_transform(string_split(b, ';'), x -> replace(x, " +
			"' ', '')) FROM t",
		"SELECT string_split(b, ','), string_split(b, ';'), string_split(b, ' '), concat_ws(', ', a, b) FROM t",
		"SELECT a + 1 AS x, x * 2 AS y, CASE WHEN y > x THEN x + y ELSE y END AS z, z || x || y AS w, w || z FROM t",
		"SELECT list_transform(range(500), x -> x * a), [x + 1 FOR x IN range(10)] FROM t",
		"SELECT '| ' || lpad(b, 40, ' ') || ' | ' || a || ' | ' || repeat('-', 40) || ' | ' || b || ' | ' || a || ' |', " +
			"concat(a, ' ', b) FROM t",
		"SELECT lpad(b, 40, ' '), lpad(b, 40, ' '), rpad(b, 30, ' '), strftime(DATE '2024-01-01', '%d %B %Y, %H:%M') FROM t",
		"SELECT d FROM range(DATE '2024-01-01', DATE '2024-01-06', INTERVAL 1 DAY) r(d)",
		"SELECT median(a) OVER (), quantile_cont(a, 0.5) OVER () FROM t",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) FROM c",
		"SELECT lpad(a::VARCHAR, 10, '0'), rpad('x', 3, '.'), repeat('ab', 3), format('{:05d}', a), printf('%05d', a) FROM t",
		"SELECT replace(replace(replace(b, 'a', 'b'), 'c', 'd'), ' ', '') FROM t", "SELECT string_split(b, ';') FROM t",
		"SELECT to_json(t) FROM t", "SELECT '{\"a\": 1}'::JSON ->> '$.a', a FROM t",
		"SELECT '{\"a\": 1}'::JSON -> 'a', a FROM t",
		"SELECT extract(year FROM DATE '2024-05-06'), a FROM t", "SELECT a FROM t USING SAMPLE 100%",
		"SELECT CASE a WHEN 1 THEN 'x' END, coalesce(b, ''), nullif(a, 1), if(a > 1, 1, 0), ifnull(b, 'x'), greatest(a, 1) " +
			"FROM t",
		"SELECT a FROM (VALUES (1), (2), (3), (4), (5)) AS v(a)", "SELECT a FROM test.main.t", "SELECT main.t.a FROM main.t",
		"SELECT a, lag(b) OVER (ORDER BY a), first_value(b IGNORE NULLS) OVER w FROM t WINDOW w AS (ORDER BY a)",
		"SELECT a FROM t ORDER BY b NULLS FIRST LIMIT 100%", "SELECT 'sad'::mood, a FROM t",
		"SELECT [1, 2, 3][1:2], [a] || [1] FROM t",
		"SELECT a BETWEEN 1 AND 2, a IS DISTINCT FROM 2, NOT a IN (1, 2), a = ANY ([1, 2]) FROM t",
		"SELECT arg_max(b, a) FILTER (WHERE a > 0) OVER () FROM t",
		"SELECT a FROM t WHERE (a, 1) IN (SELECT a, 1 FROM t)", "SELECT (SELECT max(id) FROM users) + a FROM t",
		"SELECT trim(b), substr(b, 1, 2), substring(b FROM 1 FOR 2), position('a' IN b), b[1], left(b, 1), ascii(b), " +
			"md5(b) FROM t",
		"SELECT age(DATE '2024-01-01', DATE '2023-01-01'), to_days(a::INTEGER), last_day(DATE '2024-02-01') FROM t",
		"SELECT count(*) OVER (PARTITION BY a % 2 ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) " +
			"FROM t",
		"SELECT a FROM t UNION BY NAME SELECT a FROM t", "SELECT TRY(a / 0) FROM t", "SELECT '北京' AS \"名\" FROM t",
	}},
	{"a policy leaves the rest alone", "", hidden, []string{
		"SELECT a FROM t, (SELECT count(*) FROM users)", "SELECT * FROM t",
		"SELECT t.*, u.name FROM t LEFT JOIN users u ON u.id = t.a",
		"SELECT t.* FROM t LEFT JOIN v_ok ON id = a", "SELECT t FROM t",
		"SELECT unnest([1, 2, 3, 4, 5]) FROM (SELECT count(*) FROM users)",
		"SELECT a FROM t WHERE a NOT IN (SELECT open.pin + 100 FROM nested)",
		"SELECT a, (SELECT n.open.pin FROM nested n) FROM t",
		"SELECT a, x.name FROM t LEFT JOIN (SELECT id, name FROM users ORDER BY ALL) x ON x.id = a",
		"WITH users AS (SELECT id, name FROM users) SELECT t.a, x.* FROM t LEFT JOIN users x ON id = a",
		"SELECT t.a, x.* FROM t LEFT JOIN (SELECT * EXCLUDE (password) FROM users) x ON x.id = a",
		"SELECT t.a, x.* FROM t LEFT JOIN (SELECT COLUMNS(* EXCLUDE (password)) FROM users) x ON x.id = a",
		"SELECT b.lower() FROM t", "SELECT a, [n.lower() FOR n IN [x.name]] FROM t LEFT JOIN users x ON id = a",
	}},
}

// TestHostile runs the statements one after the other, and looks from outside at what each left behind.
func TestHostile(t *testing.T) {
	if race.Enabled {
		t.Skip("TestReasons runs the same statements; this one looks from outside after each")
	}
	refused, accepted := 0, 0
	for _, policy := range []exec.Policy{{}, hidden, {DenyTables: []string{"users"}}} {
		e := engine()
		e.Fixture = traps
		e.Skip = nil
		for _, s := range refusals {
			if sameText(s.policy, policy) {
				for _, text := range s.list {
					e.Payloads = append(e.Payloads, exectest.Payload{Name: s.why, SQL: text, Why: s.why, Expect: "refuse",
						Policy: s.policy})
				}
				refused += len(s.list)
			}
		}
		for _, s := range harmless {
			if sameText(s.policy, policy) {
				for _, text := range s.list {
					e.Payloads = append(e.Payloads, exectest.Payload{Name: s.why, SQL: text, Why: s.why, Expect: "accept", Rows: 5,
						Policy: s.policy})
				}
				accepted += len(s.list)
			}
		}
		e.CheckPayloads(t)
	}
	t.Logf("%d refused, %d accepted", refused, accepted)
	if refused < 150 {
		t.Errorf("%d hostile statements; want 150 at least", refused)
	}
}

func sameText(a, b exec.Policy) bool {
	return strings.Join(append(a.DenyTables, a.DenyColumns...), " ") == strings.Join(append(b.DenyTables,
		b.DenyColumns...), " ")
}

// TestReasons: each is refused for the reason that its group has.
func TestReasons(t *testing.T) {
	pool := openFile(t, traps, small)
	for _, s := range refusals {
		db := dbtest.NewDB(t, pool, duckdb.Dialect{}, exec.Config{Policy: s.policy})
		for _, text := range s.list {
			_, err := db.Query(t.Context(), text)
			if reason := reasonOf(err); reason != s.reason && (s.reason != "error" || err == nil) {
				t.Errorf("%s: %s: %v, want %s", s.why, text, err, s.reason)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "Candidate")) {
				t.Errorf("%s: the error tells what it may not: %v", text, err)
			}
		}
	}
}

func reasonOf(err error) string {
	var r *exec.RefusedError
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// TestAblation: without the tree the handle itself, which only reads and is locked, stops what changes something or
// leaves the database, so no wall stands alone.
func TestAblation(t *testing.T) {
	file := makeFile(t, traps)
	pool := testutil.Value(duckdb.Open(file, small))(t)
	defer pool.Close()
	before := testutil.Value(contents(file))(t)
	for _, text := range []string{
		"DROP TABLE t", "INSERT INTO t VALUES (6, 'x')", "COPY t TO '/tmp/x.csv'", "EXPORT DATABASE '/tmp/x'",
		"ATTACH '/tmp/evil.db' AS e", "INSTALL httpfs",
		"LOAD httpfs", "SET enable_external_access = true",
		"SET lock_configuration = false", "SET memory_limit = '100GB'", "RESET threads",
		"SELECT * FROM read_text('/etc/hostname')", "FROM '/etc/passwd'",
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM glob('/*')",
		"CREATE TABLE z(a INT)", "SELECT nextval('seq')", "CREATE PERSISTENT SECRET s (TYPE s3)",
		"SET allowed_directories = ['/']",
	} {
		if rows, err := pool.QueryContext(t.Context(), text); err == nil {
			failed := rows.Next()
			rows.Close()
			if failed {
				t.Errorf("%s ran without the guard", text)
			}
		}
	}
	after, err := contents(file)
	if err != nil || after != before {
		t.Errorf("changed: %v\n%s\n%s", err, before, after)
	}
}

// TestFiles: a view reads the files that its owner named and Open allows, a statement none of them.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	allowed, other := filepath.Join(folder, "in"), filepath.Join(folder, "out")
	for _, name := range []string{allowed, other} {
		testutil.OK(t, os.Mkdir(name, 0o700))
		testutil.OK(t, os.WriteFile(filepath.Join(name, "people.csv"),
			[]byte("id,name,password\n1,ann,s3cret-1\n2,bob,s3cret-2\n"), 0o600))
	}
	in, out := filepath.Join(allowed, "people.csv"), filepath.Join(other, "people.csv")
	file := makeFile(t, strings.NewReplacer("ALLOWED", allowed, "IN", in, "OUT", out).Replace(`
		COPY (SELECT 1 AS id, 9.5::DECIMAL(9,2) AS total) TO 'ALLOWED/orders.parquet';
		CREATE VIEW people AS SELECT * FROM 'IN'; CREATE VIEW orders AS SELECT * FROM read_parquet('ALLOWED/*.parquet');
		CREATE VIEW outside AS SELECT * FROM read_csv('OUT'); CREATE VIEW names AS SELECT id, name FROM people; CREATE VIEW words AS SELECT password FROM people;`))
	pool := testutil.Value(duckdb.Open(file, duckdb.Options{Files: []string{allowed}}))(t)
	defer pool.Close()
	db := dbtest.NewDB(t, pool, duckdb.Dialect{},
		exec.Config{Policy: exec.Policy{DenyColumns: []string{"people.password"}}})
	for _, test := range []struct{ why, text, reason string }{
		{"a view over CSV", "SELECT name FROM people", ""},
		{"a view over Parquet", "SELECT sum(total) FROM orders", ""},
		{"both", "SELECT p.name, o.total FROM people p JOIN orders o USING (id)", ""},
		{"a view of that view", "SELECT name FROM names", ""},
		{"a denied column of a file", "SELECT password FROM people", "column"},
		{"the star of a file", "SELECT * FROM people", "column"},
		{"a view of a denied column", "SELECT password FROM words", "table"},
		{"the file by its name", "SELECT * FROM '" + in + "'", "error"},
		{"the file by a function", "SELECT * FROM read_csv('" + in + "')", "function"},
		{"a folder", "SELECT * FROM glob('" + allowed + "/*')", "function"},
		{"a view over a file that Open does not allow", "SELECT name FROM outside", "guard"},
	} {
		_, err := db.Query(t.Context(), test.text)
		if reason := reasonOf(err); reason != test.reason && (test.reason != "error" || err == nil) || test.reason == "" &&
			err != nil {
			t.Errorf("%s: %v, want %q", test.why, err, test.reason)
		}
	}
	closed, err := duckdb.Open(file, duckdb.Options{})
	if err == nil {
		closed.Close()
		t.Error("the same file with other Files")
	}
}

// FuzzGuard: whatever DuckDB makes of a text, the guard comes back, no call of a forbidden function gets through, as
// the tokens tell it, and no denied column is read, as DuckDB's own plan tells it. The file stays what it was.
func FuzzGuard(f *testing.F) {
	for _, s := range append(refusals, harmless...) {
		for i, text := range s.list {
			if len(text) < 200 && i < 12 {
				f.Add(text)
			}
		}
	}
	file := makeFile(f, dbtest.Fixture)
	pool, bare := openPath(f, file, small), openPath(f, file, small)
	db := onPool(f, pool, exec.Config{Policy: denied})
	before := testutil.Value(contents(file))(f)
	d := duckdb.Dialect{}.Language().Text
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := db.Analyze(t.Context(), text); err != nil {
			return
		}
		s, err := d.Check(text)
		if err != nil {
			t.Fatalf("%q: the text check refuses it: %v", text, err)
		}
		attack.Calls(t, s, "getenv", "read_text", "read_csv", "glob", "query", "nextval",
			"sleep_ms", "write_log", "getvariable", "setseed", "current_setting", "duckdb_settings", "version")
		for table, columns := range planned(t, bare, s.SQL()) {
			for _, c := range columns {
				if table == "users" && strings.HasPrefix(c, "password") {
					t.Errorf("the plan reads %s.%s: %q", table, c, text)
				}
			}
		}
		if after, err := contents(file); err != nil || after != before {
			t.Errorf("%q changed the file: %v", text, err)
		}
	})
}

var denied = exec.Policy{DenyColumns: []string{"password"}}
