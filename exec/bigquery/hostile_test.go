package bigquery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/option"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// one is an answer of one row.
var one = answer{`{"fields": [{"name": "x", "type": "INTEGER", "mode": "NULLABLE"}]}`, []string{`{"f": [{"v": "1"}]}`}}

// metadata of tables, as tables.get has it.
const (
	metaT     = `{"type": "TABLE", "schema": {"fields": [{"name": "a", "type": "INTEGER"}, {"name": "b", "type": "STRING"}]}}`
	metaUsers = `{"type": "TABLE", "schema": {"fields": [{"name": "id", "type": "INTEGER", "mode": "REQUIRED"}, {"name": "name", "type": "STRING"},
 {"name": "password", "type": "STRING"},
 {"name": "address", "type": "RECORD", "fields": [{"name": "city", "type": "STRING"}, {"name": "door", "type": "STRING"}]},
 {"name": "orders", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "sku", "type": "STRING", "description": "stock number"},
  {"name": "price", "type": "NUMERIC"}]}]}}`
	metaKeys = `{"type": "TABLE", "schema": {"fields": [{"name": "id", "type": "INTEGER"}, {"name": "password", "type": "STRING"}]}}`
)

func metaView(query string) string {
	return fmt.Sprintf(
		`{"type": "VIEW", "view": {"query": %q, "useLegacySql": false}, "schema": {"fields": [{"name": "id", "type": "INTEGER"}]}}`, query)
}

// hostileFake has tables, views and a dataset of another project. Every statement that comes to a job has one row.
func hostileFake(t testing.TB) *fake {
	f := newFake(t)
	f.always = &one
	f.mentions = []string{}
	in := project + "." + home + "."
	for name, meta := range map[string]string{
		in + "t": metaT, in + "users": metaUsers, in + "keys": metaKeys, "public-project.pub.cities": metaT,
		project + ".hidden.t": metaT,
		in + "v_ok":           metaView("SELECT id, name FROM " + home + ".users"),
		in + "v_pw":           metaView("SELECT id, password AS pw FROM `" + in + "users`"),
		in + "v_star":         metaView("SELECT * FROM " + home + ".users"),
		in + "v_ml":           metaView("SELECT id FROM ML.PREDICT(MODEL d.m, (SELECT 1))"),
		in + "v_fn":           metaView("SELECT " + home + ".remote(id) AS id FROM " + home + ".users"),
		in + "v_out":          metaView("SELECT a AS id FROM hidden.t"),
		in + "v_deep":         metaView("SELECT id FROM " + home + ".v_pw"),
		in + "v_legacy": `{"type": "VIEW", "view": {"query": "SELECT id FROM [d.users]", "useLegacySql": true},
 "schema": {"fields": [{"name": "id", "type": "INTEGER"}]}}`,
		in + "m":      `{"type": "MODEL"}`,
		in + "lake":   `{"type": "EXTERNAL"}`,
		in + "t_2024": metaT,
	} {
		f.tables[name] = fakeTable{meta: meta}
	}
	return f
}

var (
	open    = exec.Policy{Reveal: []string{"*"}} // the columns password are there to be read
	noPass  = exec.Policy{DenyColumns: []string{"users.password"}, Reveal: []string{"keys.password"}}
	noDoor  = exec.Policy{DenyColumns: []string{`users."address.door"`}, Reveal: []string{"*"}}
	noOrder = exec.Policy{DenyColumns: []string{"users.orders"}, Reveal: []string{"*"}}
	noUsers = exec.Policy{DenyTables: []string{"users"}}
	only    = exec.Policy{AllowTables: []string{"t", "public-project.pub.cities"}}
)

// refusals are statements that must not come to a job.
var refusals = []struct {
	why    string
	policy exec.Policy
	reason string
	sql    string
}{
	{"a second statement", open, "several-statements", "SELECT 1; DROP TABLE t"},
	{"a second statement behind a comment", open, "several-statements",
		"SELECT 1 /* x */ ; # y\n DELETE FROM t WHERE true"},
	{"DML", open, "not-read-only", "DELETE FROM t WHERE true"},
	{"DML behind a comment of #", open, "not-read-only", "# SELECT 1\nDELETE FROM t WHERE true"},
	{"INSERT", open, "not-read-only", "INSERT INTO t (a) VALUES (1)"},
	{"UPDATE", open, "not-read-only", "UPDATE t SET a = 1 WHERE true"},
	{"MERGE", open, "not-read-only", "MERGE t USING users ON false WHEN NOT MATCHED THEN INSERT ROW"},
	{"TRUNCATE", open, "not-read-only", "TRUNCATE TABLE t"},
	{"a table made of a query", open, "not-read-only", "CREATE TABLE x AS SELECT 1 AS a"},
	{"a table over one", open, "not-read-only", "CREATE OR REPLACE TABLE t AS SELECT 1 AS a"},
	{"a temporary table", open, "not-read-only", "CREATE TEMP TABLE x AS SELECT 1 AS a"},
	{"a snapshot", open, "not-read-only", "CREATE SNAPSHOT TABLE x CLONE t"},
	{"a function, which a script may call", open, "several-statements",
		"CREATE TEMP FUNCTION f(x INT64) AS (x); SELECT f(1)"},
	{"a function in JavaScript", open, "not-read-only",
		"CREATE FUNCTION d.f(x INT64) RETURNS INT64 LANGUAGE js AS 'return x'"},
	{"a remote function", open, "not-read-only", "CREATE FUNCTION d.f(x INT64) RETURNS INT64 REMOTE " +
		"WITH CONNECTION us.c OPTIONS (endpoint = 'https://x')"},
	{"a table function", open, "not-read-only", "CREATE TABLE FUNCTION d.f() AS SELECT 1 AS a"},
	{"a procedure", open, "several-statements", "CREATE PROCEDURE d.p() BEGIN SELECT 1; END"},
	{"a model, which costs money", open, "not-read-only",
		"CREATE MODEL d.m OPTIONS (model_type = 'linear_reg') AS SELECT 1 AS label"},
	{"a remote model", open, "not-read-only", "CREATE MODEL d.m REMOTE WITH CONNECTION us.c OPTIONS (endpoint = " +
		"'gemini-pro')"},
	{"a policy of rows", open, "not-read-only", "CREATE ROW ACCESS POLICY p ON t GRANT TO ('user:x@evil.example') " +
		"FILTER USING (true)"},
	{"a dataset", open, "not-read-only", "CREATE SCHEMA other"},
	{"DROP", open, "not-read-only", "DROP TABLE t"},
	{"DROP of a dataset", open, "not-read-only", "DROP SCHEMA suite_data CASCADE"},
	{"UNDROP", open, "not-read-only", "UNDROP SCHEMA d"},
	{"ALTER", open, "not-read-only", "ALTER TABLE t ADD COLUMN c INT64"},
	{"rights", open, "not-read-only", "GRANT `roles/bigquery.dataOwner` ON SCHEMA suite_data TO 'user:x@evil.example'"},
	{"rights taken", open, "not-read-only", "REVOKE `roles/bigquery.dataViewer` ON SCHEMA suite_data " +
		"FROM 'user:x@evil.example'"},
	{"rows leave the project", open, "not-read-only",
		"EXPORT DATA OPTIONS (uri = 'gs://evil/*.csv', format = 'CSV') AS SELECT * FROM users"},
	{"files come in", open, "not-read-only", "LOAD DATA INTO t FROM FILES (format = 'CSV', uris = ['gs://evil/x.csv'])"},
	{"a transaction", open, "not-read-only", "BEGIN TRANSACTION"},
	{"COMMIT", open, "not-read-only", "COMMIT TRANSACTION"},
	{"a procedure called", open, "not-read-only", "CALL d.p()"},
	{"a script", open, "several-statements", "DECLARE x INT64 DEFAULT 1; SELECT x"},
	{"SQL as text", open, "not-read-only", "EXECUTE IMMEDIATE 'DROP TABLE t'"},
	{"a variable", open, "not-read-only", "SET x = 1"},
	{"a system variable that moves the default dataset", open, "not-read-only", "SET @@dataset_id = 'other'"},
	{"a block", open, "several-statements", "BEGIN SELECT 1; END"},
	{"a condition", open, "several-statements", "IF true THEN SELECT 1; END IF"},
	{"a loop", open, "several-statements", "LOOP SELECT 1; END LOOP"},
	{"WHILE", open, "several-statements", "WHILE true DO SELECT 1; END WHILE"},
	{"FOR", open, "several-statements", "FOR r IN (SELECT 1) DO SELECT 1; END FOR"},
	{"an error raised", open, "not-a-query", "RAISE USING MESSAGE = 'x'"},
	{"ASSERT, a script", open, "not-a-query", "ASSERT (SELECT count(*) FROM t) > 0"},
	{"EXPLAIN", open, "not-a-query", "EXPLAIN SELECT 1"},
	{"a pipe that writes", open, "not-read-only", "FROM t |> INSERT INTO x"},
	{"a pipe that exports", open, "not-read-only", "FROM t |> EXPORT DATA OPTIONS (uri = 'gs://x')"},
	{"a pipe that makes a table", open, "not-read-only", "FROM t |> CREATE TABLE x"},
	{"a pipe that calls", open, "statement", "FROM t |> CALL d.f()"},
	{"a pipe with a side output", open, "statement", "FROM t |> TEE (|> SELECT a)"},
	{"a pipe that asserts", open, "statement", "FROM t |> ASSERT false"},
	{"a pipe that describes", open, "statement", "FROM t |> DESCRIBE"},
	{"a named parameter", open, "placeholder", "SELECT @x"},
	{"a positional parameter", open, "placeholder", "SELECT ?"},
	{"a system variable", open, "placeholder", "SELECT @@project_id"},
	{"EXTERNAL_QUERY sends text to another database", open, "function",
		"SELECT * FROM EXTERNAL_QUERY('us.conn', 'DELETE FROM t')"},
	{"the same in small letters and quotes", open, "function", "SELECT * FROM `external_query`('us.conn', 'SELECT 1')"},
	{"the same in a subquery", open, "function", "SELECT (SELECT max(a) FROM EXTERNAL_QUERY('us.conn', 'SELECT 1 AS a'))"},
	{"the same behind a WITH", open, "function", "WITH x AS (SELECT * FROM EXTERNAL_QUERY('us.conn', 'SELECT 1')) " +
		"SELECT * FROM x"},
	{"the same behind a pipe", open, "function", "FROM EXTERNAL_QUERY('us.conn', 'SELECT 1') |> SELECT 1"},
	{"a model predicts", open, "function", "SELECT * FROM ML.PREDICT(MODEL d.m, (SELECT * FROM users))"},
	{"a model writes text", open, "function", "SELECT * FROM ML.GENERATE_TEXT(MODEL d.llm, (SELECT password AS prompt " +
		"FROM users))"},
	{"with a table for a query", open, "function", "SELECT * FROM ML.PREDICT(MODEL d.m, TABLE t)"},
	{"a function of AI", open, "function", "SELECT AI.GENERATE('say', connection_id => 'us.c').result"},
	{"a condition of AI", open, "function", "SELECT a FROM t WHERE AI.IF(b, connection_id => 'us.c')"},
	{"AI as a table", open, "function", "SELECT * FROM AI.FORECAST(TABLE t, data_col => 'a', timestamp_col => 'b')"},
	{"a search by vectors", open, "function", "SELECT * FROM VECTOR_SEARCH(TABLE t, 'b', TABLE t)"},
	{"changes of a table", open, "function", "SELECT * FROM APPENDS(TABLE t, NULL, NULL)"},
	{"a table function of the user", open, "function", "SELECT * FROM suite_data.f(1)"},
	{"a function of the user", open, "function", "SELECT suite_data.f(a) FROM t"},
	{"a function of the user with its project", open, "function", "SELECT `shop-project`.suite_data.f(a) FROM t"},
	{"a function of the user in one pair of quotes", open, "function", "SELECT `suite_data.f`(a) FROM t"},
	{"a function that only looks listed", open, "function", "SELECT `net.host`('x')"},
	{"a function of the user behind a listed name", open, "function", "SELECT suite_data.upper(b) FROM t"},
	{"one behind SAFE", open, "function", "SELECT SAFE.session_user()"},
	{"who asks", open, "function", "SELECT SESSION_USER()"},
	{"in other letters and with a comment", open, "function", "SELECT Session_User /* x */ ()"},
	{"in ORDER BY", open, "function", "SELECT a FROM t ORDER BY session_user()"},
	{"in a window", open, "function", "SELECT sum(a) OVER (PARTITION BY session_user()) FROM t"},
	{"in a named window", open, "function", "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY session_user())"},
	{"in QUALIFY", open, "function", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY session_user()) = 1"},
	{"in HAVING", open, "function", "SELECT count(*) FROM t GROUP BY a HAVING session_user() > ''"},
	{"in a LIMIT", open, "function", "SELECT a FROM t LIMIT 1 OFFSET session_user()"},
	{"in a star", open, "function", "SELECT * REPLACE (session_user() AS a) FROM t"},
	{"in a join", open, "function", "SELECT 1 FROM t JOIN users ON session_user() = name"},
	{"in UNNEST", open, "function", "SELECT 1 FROM UNNEST([session_user()])"},
	{"in a STRUCT", open, "function", "SELECT STRUCT(session_user() AS a)"},
	{"in an array", open, "function", "SELECT [session_user()]"},
	{"in a lambda", open, "function", "SELECT array_first(array(SELECT session_user()))"},
	{"in a cast", open, "function", "SELECT CAST(session_user() AS STRING)"},
	{"in CASE", open, "function", "SELECT CASE WHEN true THEN session_user() END"},
	{"in a pivot", open, "function", "SELECT * FROM t PIVOT (max(session_user()) FOR a IN (1))"},
	{"in a sample", open, "function", "SELECT a FROM t WHERE a IN UNNEST([length(session_user())])"},
	{"in an interval", open, "function", "SELECT INTERVAL length(session_user()) DAY"},
	{"behind a chain", open, "function", "SELECT ('x').session_user()"},
	{"in a pipe", open, "function", "FROM t |> EXTEND session_user() AS u"},
	{"in EXTRACT", open, "function", "SELECT EXTRACT(YEAR FROM error('x'))"},
	{"an error with a text of the statement", open, "function", "SELECT ERROR(b) FROM t"},
	{"a key", open, "function", "SELECT KEYS.NEW_KEYSET('AEAD_AES_GCM_256')"},
	{"decryption", open, "function", "SELECT AEAD.DECRYPT_STRING(b'', b'', '') FROM t"},
	{"a long text", open, "function", "SELECT REPEAT('x', 1000000000)"},
	{"a length from a column", open, "function", "SELECT REPEAT('x', a) FROM t"},
	{"a length that is computed", open, "function", "SELECT LPAD('x', 10000 * 10000)"},
	{"a signed URL", open, "function", "SELECT OBJ.GET_ACCESS_URL(b, 'r') FROM t"},
	{"names of tables", open, "table", "SELECT * FROM INFORMATION_SCHEMA.TABLES"},
	{"of the dataset", open, "table", "SELECT * FROM suite_data.INFORMATION_SCHEMA.COLUMNS"},
	{"in small letters and quotes", open, "table", "SELECT * FROM `suite_data.information_schema.tables`"},
	{"statements of others", open, "table", "SELECT query FROM `region-us`.INFORMATION_SCHEMA.JOBS"},
	{"the old list of tables", open, "table", "SELECT * FROM suite_data.__TABLES__"},
	{"a wildcard", open, "table", "SELECT * FROM `suite_data.t_*`"},
	{"a wildcard over the dataset", open, "table", "SELECT * FROM `shop-project.suite_data.*`"},
	{"a partition by its decorator", open, "table", "SELECT * FROM `suite_data.t$20240101`"},
	{"the past by a decorator", open, "table", "SELECT * FROM `suite_data.t@-3600000`"},
	{"the past", open, "statement", "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), " +
		"INTERVAL 1 HOUR)"},
	{"a dataset that is not in the Config", open, "table", "SELECT * FROM hidden.t"},
	{"one of another project", open, "table", "SELECT * FROM `other-project.d.t`"},
	{"behind a comma", open, "table", "SELECT 1 FROM t, hidden.t"},
	{"in a subquery", open, "table", "SELECT (SELECT max(a) FROM hidden.t)"},
	{"in an arm of a UNION", open, "table", "SELECT a FROM t UNION ALL SELECT a FROM hidden.t"},
	{"behind a pipe", open, "table", "FROM t |> JOIN hidden.t USING (a)"},
	{"in a UNION of a pipe", open, "table", "FROM t |> UNION ALL (SELECT * FROM hidden.t)"},
	{"a view that reads it", open, "table", "SELECT id FROM v_out"},
	{"a view that calls a model", open, "table", "SELECT id FROM v_ml"},
	{"a view that calls a function of the user", open, "table", "SELECT id FROM v_fn"},
	{"a view in legacy SQL", open, "table", "SELECT id FROM v_legacy"},
	{"a model as a table", open, "table", "SELECT * FROM m"},
	{"a hint", open, "statement", "SELECT @{x = 1} 1"},
	{"a proto", open, "statement", "SELECT NEW a.b(1 AS c)"},
	{"a lock", open, "not-read-only", "SELECT a FROM t FOR UPDATE"},
	{"a type as a select", open, "statement", "SELECT AS d.message 1 AS x"},
	{"a graph", open, "syntax", "SELECT * FROM GRAPH_TABLE(d.g MATCH (n) RETURN n.id)"},
	{"rows that match a pattern", open, "statement",
		"SELECT * FROM t MATCH_RECOGNIZE(ORDER BY a MEASURES max(x.a) AS m PATTERN (x) DEFINE x AS true)"},
	{"legacy SQL", open, "syntax", "SELECT a FROM [shop-project:suite_data.t]"},
	{"an escape in a name", open, "guard", "SELECT `pass\\x77ord` FROM users"},
	{"over fifty tables", open, "too-complex", "SELECT 1 FROM t" + strings.Repeat(", t", 51)},
	{"by name", noPass, "column", "SELECT password FROM users"},
	{"a field of it, as a JSON has them", noPass, "column", "SELECT password.hash FROM users"},
	{"a field of it behind an alias", noPass, "column", "SELECT u.password.hash FROM users AS u"},
	{"by an alias of its table", noPass, "column", "SELECT u.password FROM users AS u"},
	{"by an escape, which the parser does not read", noPass, "guard", "SELECT u.`\\u0070assword` FROM users AS u"},
	{"in quotes and other letters", noPass, "column", "SELECT `PassWord` FROM users"},
	{"the whole row", noPass, "column", "SELECT u FROM users AS u"},
	{"the whole row by an alias called like a column", noPass, "column", "SELECT TO_JSON_STRING(name) FROM users AS name"},
	{"the whole row as JSON", noPass, "column", "SELECT TO_JSON_STRING(users) FROM users"},
	{"the whole row, searched", noPass, "column", "SELECT id FROM users AS u WHERE SEARCH(u, 's3cret')"},
	{"the whole row in an array", noPass, "column", "SELECT ARRAY_AGG(u) FROM users AS u"},
	{"a field of the whole row", noPass, "column", "SELECT (u).password FROM users AS u"},
	{"a star with an exception", noPass, "column", "SELECT * EXCEPT (id) FROM users"},
	{"a star with a replacement", noPass, "column", "SELECT * REPLACE (1 AS id) FROM users"},
	{"the star of an alias", noPass, "column", "SELECT u.* EXCEPT (name) FROM users AS u"},
	{"a star in a struct", noPass, "column", "SELECT AS STRUCT * FROM users"},
	{"the exception is of another table", noPass, "column",
		"SELECT k.* EXCEPT (password), u.* FROM keys AS k, users AS u"},
	{"a pipe that gives all", noPass, "column", "FROM users"},
	{"a pipe with a condition", noPass, "column", "FROM users |> WHERE id = 1"},
	{"a star in a pipe", noPass, "column", "FROM users |> SELECT *"},
	{"a renamed column in a pipe", noPass, "column", "FROM users |> RENAME password AS p |> SELECT p"},
	{"an alias of the row in a pipe", noPass, "column", "FROM users |> AS x |> SELECT x"},
	{"dropped but for it", noPass, "column", "FROM users |> DROP id, name, address, orders"},
	{"a join in a pipe", noPass, "column", "SELECT id FROM t AS k |> JOIN users ON true |> SELECT *"},
	{"a join behind the columns", noPass, "column", "FROM t |> SELECT a |> JOIN users ON true"},
	{"set in a pipe", noPass, "column", "FROM users |> SET name = password |> SELECT name"},
	{"grouped in a pipe", noPass, "column", "FROM users |> AGGREGATE count(*) GROUP BY password"},
	{"ordered in a pipe", noPass, "column", "FROM users |> ORDER BY password |> SELECT name"},
	{"a pivot groups by what is left", noPass, "column", "SELECT * FROM users PIVOT (count(*) FOR name IN ('ann'))"},
	{"a pivot of other columns", noPass, "column", "SELECT id FROM users PIVOT (count(*) FOR name IN ('ann'))"},
	{"an unpivot", noPass, "column", "SELECT v FROM users UNPIVOT (v FOR k IN (name, password))"},
	{"USING", noPass, "column", "SELECT 1 FROM users JOIN keys USING (password)"},
	{"NATURAL", noPass, "column", "SELECT 1 FROM users NATURAL JOIN keys"},
	{"a correlated subquery", noPass, "column", "SELECT (SELECT password) FROM users"},
	{"GROUP BY ALL", noPass, "column", "SELECT password, count(*) FROM users GROUP BY ALL"},
	{"another field of the record's star", noDoor, "column", "SELECT address.* EXCEPT (city) FROM t AS address, users"},
	{"a table whose columns are not told", noPass, "table", "SELECT * FROM lake"},
	{"QUALIFY behind a WHERE", noPass, "column", "SELECT id FROM users WHERE true QUALIFY row_number() OVER (ORDER BY " +
		"password) = 1"},
	{"QUALIFY", noPass, "column", "SELECT id FROM users QUALIFY row_number() OVER (ORDER BY password) = 1"},
	{"an aggregate by its HAVING", noPass, "column", "SELECT any_value(name HAVING MAX password) FROM users"},
	{"the order of an aggregate", noPass, "column", "SELECT string_agg(name ORDER BY password) FROM users"},
	{"a lambda", noPass, "column", "SELECT array_first([password]) FROM users"},
	{"a JSON path of that name", noPass, "column", "SELECT JSON_OBJECT('p', password) FROM users"},
	{"a view that renames it", noPass, "table", "SELECT pw FROM v_pw"},
	{"another column of that view", noPass, "table", "SELECT id FROM v_pw"},
	{"a view of the view", noPass, "table", "SELECT id FROM v_deep"},
	{"a view of a star", noPass, "table", "SELECT id FROM v_star"},
	{"in a recursive query", noPass, "column", "WITH RECURSIVE r AS (SELECT password AS p FROM users UNION ALL SELECT p " +
		"FROM r) SELECT p FROM r"},
	{"behind a common table expression of its name", noPass, "column",
		"WITH x AS (SELECT * FROM users), users AS (SELECT 1 AS password) SELECT * FROM x"},
	{"sampled", noPass, "column", "SELECT password FROM users TABLESAMPLE SYSTEM (10 PERCENT)"},
	{"by tabledata.list", noPass, "column", "SELECT /* tabledata.list */ t.`password` FROM `suite_data`.`users` AS t " +
		"LIMIT 5"},
	{"with its dataset", noPass, "column", "SELECT users.password FROM `shop-project`.suite_data.users"},
	{"a set operation", noPass, "column", "SELECT id FROM users EXCEPT DISTINCT SELECT length(password) FROM users"},
	{"IN", noPass, "column", "SELECT 1 FROM t WHERE b IN (SELECT password FROM users)"},
	{"a field of a record", noDoor, "column", "SELECT address.door FROM users"},
	{"a field behind an alias", noDoor, "column", "SELECT u.address.door FROM users AS u"},
	{"the record", noDoor, "column", "SELECT address FROM users"},
	{"the record of an alias", noDoor, "column", "SELECT u.address FROM users AS u"},
	{"the star of the record", noDoor, "column", "SELECT u.address.* FROM users AS u"},
	{"the star of the record without another field", noDoor, "column", "SELECT address.* EXCEPT (city) FROM users"},
	{"a field of a bracket", noDoor, "column", "SELECT (address).door FROM users"},
	{"a field of an array of it", noDoor, "column", "SELECT [address][0].door FROM users"},
	{"the record as JSON", noDoor, "column", "SELECT TO_JSON_STRING(address) FROM users"},
	{"a table called like the record", noDoor, "column", "SELECT address.door FROM t AS address, users"},
	{"a star", noDoor, "column", "SELECT * FROM users"},
	{"a repeated record", noOrder, "column", "SELECT orders FROM users"},
	{"opened", noOrder, "column", "SELECT o.sku FROM users, UNNEST(orders) AS o"},
	{"as a table behind its alias", noOrder, "column", "SELECT o.sku FROM users AS u, u.orders AS o"},
	{"in a subquery that comes first", noOrder, "column", "SELECT (SELECT count(*) FROM u.orders) FROM users AS u"},
	{"by its length", noOrder, "column", "SELECT ARRAY_LENGTH(orders) FROM users"},
	{"by its rows", noUsers, "table", "SELECT count(*) FROM users"},
	{"in quotes", noUsers, "table", "SELECT 1 FROM `shop-project.suite_data.users`"},
	{"by a view", noUsers, "table", "SELECT id FROM v_ok"},
	{"by an array of it", noUsers, "table", "SELECT 1 FROM users AS u, u.orders"},
	{"a table that is not on the list", only, "table", "SELECT 1 FROM keys"},
	{"a table that is not there", only, "table", "SELECT 1 FROM nosuch"},
	{"a dataset that is not there", only, "table", "SELECT 1 FROM nosuch.t"},
}

// harmless are statements that must run.
var harmless = []struct {
	why    string
	policy exec.Policy
	sql    string
}{
	{"one row", open, "SELECT 1"},
	{"a table", open, "SELECT a, b FROM t"},
	{"a table with its dataset", open, "SELECT a FROM suite_data.t"},
	{"with its project", open, "SELECT a FROM `shop-project`.suite_data.t"},
	{"with its project in one pair of quotes", open, "SELECT a FROM `shop-project.suite_data.t`"},
	{"a project with a dash and no quotes", open, "SELECT a FROM shop-project.suite_data.t"},
	{"another project of the Config", open, "SELECT a FROM `public-project.pub.cities`"},
	{"a table whose name looks like a shard", open, "SELECT a FROM t_2024"},
	{"a view", open, "SELECT id FROM v_ok"},
	{"a pipe", open, "FROM t |> WHERE a > 1 |> AGGREGATE sum(a) AS s GROUP BY b |> ORDER BY s DESC |> LIMIT 5"},
	{"an array of structs opened", open, "SELECT u.name, o.sku, o.price FROM users AS u, UNNEST(u.orders) AS o " +
		"WITH OFFSET AS i WHERE i = 0"},
	{"an array as a table", open, "SELECT o.sku FROM users AS u, u.orders AS o"},
	{"a correlated array", open, "SELECT name, (SELECT sum(o.price) FROM u.orders AS o) FROM users AS u"},
	{"fields of a record", open, "SELECT address.city, u.address.door FROM users AS u"},
	{"dates", open, "SELECT DATE_TRUNC(CURRENT_DATE(), MONTH), EXTRACT(YEAR FROM DATE '2020-05-01'), " +
		"DATE_ADD(DATE '2020-05-01', INTERVAL 1 DAY)"},
	{"a window and QUALIFY", open, "SELECT a, rank() OVER (PARTITION BY b ORDER BY a DESC) AS r FROM t QUALIFY r = 1"},
	{"a window with a frame", open, "SELECT sum(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"},
	{"SAFE", open, "SELECT SAFE.PARSE_DATE('%F', b), SAFE_CAST(b AS INT64), SAFE_DIVIDE(a, 0) FROM t"},
	{"NET and HLL", open, "SELECT NET.HOST(b), HLL_COUNT.EXTRACT(HLL_COUNT.INIT(b)) FROM t GROUP BY b"},
	{"strings", open,
		`SELECT REGEXP_EXTRACT(b, r'^\d+;'), SPLIT(b, ',')[SAFE_OFFSET(0)], FORMAT('%t', a), b LIKE '%x%' FROM t`},
	{"JSON", open, `SELECT JSON_VALUE(JSON '{"a": 1}', '$.a'), TO_JSON_STRING(STRUCT(1 AS a))`},
	{"aggregates", open, "SELECT APPROX_COUNT_DISTINCT(a), STRING_AGG(b, ',' ORDER BY a LIMIT 3), COUNTIF(a > 1), " +
		"ARRAY_AGG(a IGNORE NULLS) FROM t"},
	{"a pivot", open, "SELECT * FROM (SELECT a, b FROM t) PIVOT (count(*) FOR b IN ('x' AS x, 'y' AS y))"},
	{"an unpivot", open, "SELECT * FROM t UNPIVOT (v FOR k IN (a))"},
	{"set operations", open, "SELECT a FROM t UNION DISTINCT SELECT 1 INTERSECT DISTINCT SELECT 2"},
	{"a recursive query", open, "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) " +
		"SELECT max(n) FROM r"},
	{"grouping sets", open, "SELECT a, b, count(*) FROM t GROUP BY GROUPING SETS ((a), (b), ())"},
	{"ROLLUP", open, "SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)"},
	{"geography", open, "SELECT ST_DISTANCE(ST_GEOGPOINT(1, 2), ST_GEOGFROMTEXT('POINT(1 2)'))"},
	{"a text that looks like a statement", open, "SELECT '''DELETE FROM t; --''' AS s -- ; DROP TABLE t"},
	{"an escaped quote", open, `SELECT 'it\'s' AS s`},
	{"a sample", open, "SELECT a FROM t TABLESAMPLE SYSTEM (10 PERCENT)"},
	{"LIKE ANY", open, "SELECT a FROM t WHERE b LIKE ANY ('a%', 'b%')"},
	{"CASE, IF, COALESCE", open, "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, IF(a > 1, 1, 2), COALESCE(b, ''), " +
		"NULLIF(a, 0) FROM t"},
	{"a struct by its type", open, "SELECT STRUCT<x INT64, y STRING>(1, 'a').y"},
	{"generated rows", open, "SELECT d FROM UNNEST(GENERATE_DATE_ARRAY('2020-01-01', '2020-01-31')) AS d"},
	{"a correlated EXISTS", open, "SELECT name FROM users AS u WHERE EXISTS (SELECT 1 FROM t WHERE t.a = u.id)"},
	{"percentiles", open, "SELECT PERCENTILE_CONT(a, 0.5) OVER () FROM t"},
	{"a left join with USING", open, "SELECT name FROM users LEFT JOIN keys USING (id)"},
	{"a quoted name of an output", open, "SELECT a AS `total price` FROM t ORDER BY `total price`"},
	{"a star without what is denied", noPass, "SELECT * EXCEPT (password) FROM users"},
	{"the star of an alias without it", noPass, "SELECT u.* EXCEPT (PASSWORD), k.password FROM users AS u " +
		"JOIN keys AS k ON k.id = u.id"},
	{"a pipe that names its columns", noPass, "FROM users |> WHERE id > 1 |> SELECT name, address.city"},
	{"a pipe that counts", noPass, "FROM users |> AGGREGATE count(*) AS n GROUP BY name"},
	{"a pipe that goes on behind its columns", noPass, "FROM users |> SELECT name |> RENAME name AS n |> DISTINCT"},
	{"a pipe with all but it", noPass, "FROM users |> SELECT * EXCEPT (password) |> WHERE id > 1"},
	{"a view without it", noPass, "SELECT id FROM v_ok"},
	{"the column of another table", noPass, "SELECT password FROM keys"},
	{"counted", noPass, "SELECT count(*) FROM users"},
	{"another field of the record", noDoor, "SELECT address.city, u.address.city FROM users AS u"},
	{"the rest of the row", noDoor, "SELECT * EXCEPT (address) FROM users"},
	{"other columns", noOrder, "SELECT name, address FROM users"},
	{"a table on the list", only, "SELECT a FROM t"},
	{"one of another project", only, "SELECT a FROM `public-project.pub.cities`"},
}

func TestHostile(t *testing.T) {
	f := hostileFake(t)
	ctx := t.Context()
	pool := f.pool(bq.Config{Datasets: []string{"public-project.pub"}})
	dbs := map[string]*exec.DB{}
	db := func(p exec.Policy) *exec.DB {
		key := fmt.Sprint(p)
		if dbs[key] == nil {
			made := dbtest.NewDB(t, pool, bq.Dialect{},
				exec.Config{Policy: p, Limits: exec.Limits{Answer: exec.Bounds{Timeout: time.Minute}}})
			dbs[key] = made
		}
		return dbs[key]
	}
	for _, test := range refusals {
		_, err := db(test.policy).Query(ctx, test.sql)
		var refused *exec.RefusedError
		var invalid *exec.InvalidError
		switch {
		case errors.As(err, &refused) && refused.Reason == test.reason:
		case errors.As(err, &invalid) && invalid.Fault == "syntax" && test.reason == "syntax":
		default:
			t.Errorf("%s: %s: %v, want a refusal (%s)", test.why, test.sql, err, test.reason)
		}
		if _, err := db(test.policy).Explain(ctx, test.sql); !exec.IsRejection(err) {
			t.Errorf("%s: Explain: %v", test.why, err)
		}
	}
	if n := f.count("insert"); n > 0 {
		t.Errorf("%d jobs ran", n)
	}
	t.Logf("%d hostile statements; %d dry runs", len(refusals), f.count("dry"))
	for _, test := range harmless {
		if table, err := db(test.policy).Query(ctx, test.sql); err != nil || len(table.Rows) != 1 {
			t.Errorf("%s: %s: %v, %v", test.why, test.sql, table, err)
		}
	}
	if n := f.count("insert"); n != len(harmless) {
		t.Errorf("%d jobs ran, want %d", n, len(harmless))
	}
}

// TestPayloads runs the statements of the data set. What they refuse comes to no job.
func TestPayloads(t *testing.T) {
	f := hostileFake(t)
	for _, name := range []string{"t", "users"} {
		f.tables["p.d."+name] = f.tables[project+"."+home+"."+name]
	}
	client, err := bigquery.NewClient(context.Background(), "p", option.WithEndpoint(f.server.URL),
		option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	pool := bq.Open(client, bq.Config{Dataset: "d"})
	t.Cleanup(func() { pool.Close() })
	counts := map[string]int{}
	for _, p := range attack.Payloads(t, "bigquery") {
		db := dbtest.NewDB(t, pool, bq.Dialect{}, exec.Config{Policy: p.Policy})
		counts[p.Expect]++
		jobs, start := f.count("insert"), time.Now()
		_, err = db.Query(t.Context(), p.SQL)
		ran := f.count("insert") - jobs
		switch {
		case p.Expect == "refuse" && (!exec.IsRejection(err) || ran > 0):
			t.Errorf("%s: %s: %v, %d jobs", p.Name, p.SQL, err, ran)
		case p.Expect == "accept" && (err != nil || ran != 1):
			t.Errorf("%s: %s: %v, %d jobs", p.Name, p.SQL, err, ran)
		case p.Expect == "survive" && time.Since(start) > 30*time.Second:
			t.Errorf("%s: took %v", p.Name, time.Since(start))
		}
	}
	t.Logf("%v", counts)
}
