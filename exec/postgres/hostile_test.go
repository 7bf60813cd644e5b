package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// traps are what hostile needs beside the large fixture: names that an engine resolves without their being written.
const traps = `
CREATE DOMAIN evil2 AS evil;
CREATE TYPE pair AS (x int, y evil);
CREATE FUNCTION step(bigint, money) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(4802); RETURN 1; END $$;
CREATE AGGREGATE avg(money) (SFUNC = step, STYPE = bigint, INITCOND = '0');
CREATE FUNCTION cast_uuid(uuid) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(4803); RETURN 1; END $$;
CREATE CAST (uuid AS integer) WITH FUNCTION cast_uuid(uuid) AS IMPLICIT;
CREATE TABLE parent(id int, secret text);
CREATE TABLE kid() INHERITS (parent);
INSERT INTO kid VALUES (1, 's3cret-4');
CREATE MATERIALIZED VIEW m_users AS SELECT id, password AS word FROM users;
CREATE VIEW v_row AS SELECT id, to_jsonb(u) AS j FROM users u;
CREATE VIEW v_evil AS SELECT a::evil AS e FROM t;
CREATE VIEW v_set AS SELECT set_config('work_mem', '1GB', false) AS s;
CREATE VIEW v_op AS SELECT a === b AS x FROM t;
CREATE VIEW v_authid AS SELECT rolname FROM pg_authid;
CREATE TABLE made(id int, name text, shout text GENERATED ALWAYS AS (upper(name)) STORED);
`

// operatorTraps are operators of the user's own whose names the grammar puts into statements. The guard refuses their
// symbols everywhere, so they have statements of their own.
const operatorTraps = `
CREATE FUNCTION eqf(integer, text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM pg_advisory_lock(4801); RETURN true; END $$;
CREATE OPERATOR = (LEFTARG = integer, RIGHTARG = text, FUNCTION = eqf);
CREATE OPERATOR >= (LEFTARG = integer, RIGHTARG = text, FUNCTION = eqf);
CREATE OPERATOR ~~ (LEFTARG = integer, RIGHTARG = text, FUNCTION = eqf);
`

// hostile are statements on the large fixture and the traps that try to get past the guard, beside those of the data
// set.
func hostile() (all []exectest.Payload) {
	add := func(expect string, policy exec.Policy, why string, statements ...string) {
		for _, s := range statements {
			all = append(all, exectest.Payload{Name: fmt.Sprint("own-", len(all)), SQL: s, Why: why, Expect: expect,
				Policy: policy})
		}
	}
	refuse := func(why string, statements ...string) { add("refuse", exec.Policy{}, why, statements...) }
	denied := func(why string, statements ...string) { add("refuse", dbtest.DenyColumn, why, statements...) }
	survive := func(why string, statements ...string) { add("survive", exec.Policy{}, why, statements...) }

	refuse("the row of a function of one value is that value, and a name behind a dot calls a function with it",
		"SELECT x.pg_advisory_lock FROM generate_series(42::bigint, 42) AS x",
		"SELECT x.pg_sleep FROM generate_series(0.5, 0.5, 1) AS x",
		"SELECT x.lower FROM generate_series(1, 2) AS x", "SELECT (1).lower",
		"SELECT a.folded FROM generate_series(1, 2) AS a",
		"SELECT x.pg_ls_dir FROM unnest(ARRAY['/'::text]) AS x",
		"SELECT 1 FROM generate_series(42::bigint, 42) AS x ORDER BY x.pg_advisory_lock",
		"SELECT (SELECT 42::bigint).pg_advisory_lock", "SELECT ((ARRAY[42::bigint])[1]).pg_advisory_lock",
		"SELECT (x.y).folded FROM (SELECT 1 AS y) AS x",
		"SELECT (CASE WHEN true THEN 42::bigint END).pg_try_advisory_lock",
		"SELECT count(*) FROM generate_series(1, 2) AS x GROUP BY x.folded")
	refuse("an operator of the user's own",
		"SELECT a === ANY (ARRAY[b]) FROM t", "SELECT a === ALL (SELECT b FROM t) FROM t",
		"SELECT 1 FROM t AS x JOIN t AS y ON x.a === y.b",
		"SELECT x FROM v_op")
	refuse("a domain whose check calls a function",
		"SELECT 1::evil2", "SELECT '{1}'::evil[]", "SELECT ARRAY[1]::evil[]", "SELECT ARRAY[1]::evil2[]", "SELECT evil '1'",
		"SELECT CAST('1' AS public.evil)",
		"SELECT * FROM json_to_record('{\"a\": 1}') AS x(a evil)",
		"SELECT * FROM jsonb_to_recordset('[{\"a\": 1}]') AS x(a evil2)",
		"SELECT * FROM ROWS FROM (json_to_record('{\"a\": 1}') AS (a evil)) AS x", "SELECT e FROM v_evil",
		"SELECT ('(1,2)'::pair).x", "SELECT ROW(1, 2)::pair",
		"SELECT * FROM json_to_record('{\"a\": {\"x\": 1, \"y\": 2}}') AS x(a pair)")
	refuse("an aggregate of the user's own under a known name", "SELECT avg('1'::money)",
		"SELECT avg(x) OVER () FROM (SELECT '1'::money AS x) AS y")
	refuse("a view that does what a statement may not", "SELECT s FROM v_set", "SELECT rolname FROM v_authid",
		"WITH c AS (SELECT * FROM v_lock) SELECT 1 FROM c", "SELECT count(*) FROM v_seq")
	refuse("a function at a place of its own",
		"SELECT a FROM t TABLESAMPLE system (pg_sleep(1)::text::real)", "SELECT a FROM t FETCH FIRST (folded(1)) ROWS ONLY",
		"SELECT count(*) FILTER (WHERE folded(a) = 1) FROM t",
		"SELECT mode() WITHIN GROUP (ORDER BY folded(a)) FROM t", "SELECT DISTINCT ON (folded(a)) a FROM t",
		"SELECT a FROM t GROUP BY GROUPING SETS ((a, folded(a)))",
		"VALUES (folded(1))", "SELECT a FROM t OFFSET folded(1)", "SELECT * FROM t, LATERAL folded(a) AS x",
		"SELECT repeat(str => 'a', times => 5) || folded(1)",
		"SELECT 'a' SIMILAR TO folded(1)::text", "SELECT pg_catalog.folded(1)", "SELECT public.lower(1)",
		"SELECT \"FOLDED\"(1), folded(1)",
		"SELECT ARRAY[folded(1)]",
		"SELECT sum(a) OVER (ROWS folded(1) PRECEDING) FROM t", "SELECT b COLLATE \"C\", folded(1) FROM t",
		"SELECT jsonb '{}' || to_jsonb(folded(1))")
	refuse("the catalog, its types, a sequence",
		"SELECT last_value FROM s", "SELECT 's'::regclass", "SELECT 1::oid::regproc",
		"SELECT * FROM json_to_record('{\"a\": \"users\"}') AS x(a regclass)", "SELECT tableoid::regclass FROM t",
		"SELECT '{users}'::regclass[]", "SELECT 1 FROM t, pg_class", "SELECT * FROM pg_catalog.pg_proc",
		"SELECT * FROM information_schema.columns",
		"SELECT CURRENT_ROLE", "SELECT user",
		"SELECT null::users", "SELECT NULL::t[]", "SELECT 'x'::refcursor", "SELECT pg_typeof(a)::regtype FROM t",
		"SELECT to_regclass('users')",
		"SELECT pg_input_is_valid('1', 'evil')")
	refuse("SQL as text, files, XML, settings", "SELECT xmlparse(DOCUMENT '<a/>')",
		"SELECT * FROM xmltable('/a' PASSING '<a/>'::xml COLUMNS x int)",
		"SELECT schema_to_xml('public', true, true, '')",
		"SELECT query_to_xml_and_xmlschema('SELECT 1', true, true, '')", "SELECT dblink_get_connections()",
		"SELECT dblink_connect_u('c', 'x')",
		"SELECT pg_read_file('x', 0, 1, true)",
		"SELECT ts_stat('SELECT 1')", "SELECT ts_rewrite('a'::tsquery, 'SELECT 1, 2')", "SELECT current_setting('x', true)",
		"SELECT has_any_column_privilege('users', 'select')")

	denied("the row of a table that has the column",
		"SELECT u FROM users AS u", "SELECT count(u) FROM users AS u", "SELECT u = u FROM users AS u",
		"SELECT 1 FROM users AS u ORDER BY u",
		"SELECT 1 FROM users AS u GROUP BY u",
		"SELECT DISTINCT ON (u) 1 FROM users AS u", "SELECT COALESCE(u, u) FROM users AS u", "SELECT ROW(u) FROM users AS u",
		"SELECT ROW(u.*) FROM users AS u", "SELECT concat(u) FROM users AS u",
		"SELECT format('%s', u) FROM users AS u", "SELECT (SELECT u) FROM users AS u",
		"SELECT x FROM users AS u, LATERAL (SELECT u AS x) AS y",
		"SELECT json_agg(u.*) FROM users AS u",
		"SELECT public.users FROM users", "SELECT users.users FROM users", "SELECT u.u FROM users AS u",
		"SELECT CASE WHEN true THEN u END FROM users AS u", "SELECT u IS NULL FROM users AS u",
		"SELECT ARRAY[u] FROM users AS u", "SELECT ARRAY(SELECT u FROM users AS u)", "SELECT (u).spy FROM users AS u",
		"SELECT u.spy FROM users AS u",
		"SELECT 1 FROM users AS u JOIN t ON u.spy = t.b",
		"SELECT row_to_json(x) FROM (SELECT * FROM users) AS x", "SELECT x.to_jsonb FROM users AS x")
	denied("another name for the column", "SELECT u.z FROM users AS u(x, y, z)", "SELECT z FROM users u(x, y, z)",
		"TABLE users", "SELECT EXISTS (TABLE users), x FROM (TABLE users) AS y(w, v, x)",
		"SELECT j.password FROM users JOIN t ON t.a = users.id JOIN LATERAL (SELECT users.password) AS j ON true",
		"SELECT (j).* FROM users AS j",
		"SELECT j.* FROM (users JOIN t ON true) AS j",
		"SELECT j.password FROM users JOIN users AS v USING (password) AS j", "SELECT word FROM m_users",
		"SELECT j FROM v_row", "SELECT id FROM v_row",
		"SELECT pw FROM public.v_users",
		"SELECT U&\"passw\\006Frd\" FROM users", "SELECT password FROM ONLY users",
		"SELECT \"users\".\"password\" FROM \"public\".\"users\"",
		"SELECT password FROM users *",
		"SELECT u.password FROM users TABLESAMPLE bernoulli (100) AS u",
		"WITH users AS (SELECT * FROM public.users) SELECT name FROM users",
		"WITH RECURSIVE c(p) AS (SELECT password FROM users UNION SELECT p FROM c) SELECT p FROM c",
		"SELECT (SELECT password) FROM users",
		"SELECT (VALUES (password)) FROM users",
		"SELECT name FROM users FULL JOIN (SELECT 's3cret-1' AS password) AS g USING (password)",
		"SELECT (array_agg(password))[1] FROM users",
		"SELECT * FROM users AS u NATURAL JOIN t")
	add("refuse", exec.Policy{DenyColumns: []string{"parent.secret"}}, "a child has what its parent has",
		"SELECT secret FROM kid", "SELECT * FROM kid", "SELECT kid FROM kid")
	add("refuse", exec.Policy{DenyColumns: []string{"kid.secret"}}, "a parent reads what its child has",
		"SELECT secret FROM parent")
	add("refuse", exec.Policy{DenyTables: []string{"kid"}}, "a parent reads its children", "SELECT id FROM parent")
	add("refuse", exec.Policy{DenyColumns: []string{"made.name"}}, "a column that is made of the denied one",
		"SELECT shout FROM made")

	deep := strings.Repeat
	survive("plans that grow", attack.Doubled("SELECT x.c FROM %s AS x, %[1]s AS y", "AS NOT MATERIALIZED", 18),
		attack.Doubled("SELECT x.c + y.c AS c FROM %s AS x JOIN %[1]s AS y USING (c)", "AS NOT MATERIALIZED", 10),
		attack.Doubled("SELECT c FROM %s UNION ALL SELECT c FROM %[1]s", "AS NOT MATERIALIZED", 11),
		attack.Doubled("SELECT c FROM %s UNION ALL SELECT c FROM %[1]s", "AS NOT MATERIALIZED", 20),
		attack.Doubled("TABLE %s UNION ALL TABLE %[1]s", "AS NOT MATERIALIZED", 20), "SELECT 1 FROM t AS x0"+
			attack.Joined(400),
		"SELECT a FROM t WHERE a IN (1"+deep(", 1", 30_000)+")")
	survive("texts that are deep for a parser", "SELECT "+deep("NOT ", 20_000)+"true", "SELECT "+deep("- ", 30_000)+"1",
		"SELECT 1"+deep("::int", 15_000), "SELECT 1"+deep(" + 1", 20_000),
		"SELECT "+deep("CASE WHEN true THEN ", 3000)+"1"+deep(" END", 3000), "SELECT (ARRAY[1])"+deep("[1]", 20_000),
		"SELECT 1"+deep(" UNION SELECT 1", 5000), "SELECT x"+deep(".x", 30_000),
		"SELECT "+deep("(", 199)+"1"+deep(")", 199), "SELECT 1 WHERE "+deep("(SELECT ", 190)+"true"+deep(")", 190),
		"SELECT 1"+deep(" AND (1", 190)+deep(")", 190),
		"SELECT "+deep("ARRAY[", 190)+"1"+deep("]", 190), "SELECT "+deep("row(", 190)+"1 x"+deep(")", 190),
		"SELECT * FROM "+deep("(", 190)+"t"+deep(" JOIN t ON true)", 190))
	survive("values and work that grow", "SELECT repeat(repeat(repeat('a', 1000), 1000), 900)",
		"SELECT lpad(repeat('a', 10000), 10000, 'b') FROM big, big AS c",
		"SELECT string_agg(x.v, y.v) FROM big AS x, big AS y",
		"SELECT array_agg(x.v) FROM big AS x, generate_series(1, 10000)",
		"SELECT json_agg(x) FROM (SELECT * FROM big, generate_series(1, 1000)) AS x",
		"SELECT array_fill(0, ARRAY[100000000])", "SELECT (repeat('a', 10000)) ~ '(a*)*(a*)*b'",
		"SELECT regexp_matches(repeat('ab', 5000), '((a|b)+)+c', 'g')", "SELECT 10::numeric ^ 100000",
		"SELECT exp(5000::numeric) * exp(5000::numeric)", "SELECT v FROM big ORDER BY md5(v || id), v || v",
		"SELECT count(DISTINCT x.v || y.v) FROM big AS x, big AS y",
		"WITH RECURSIVE c(x) AS (SELECT ARRAY[1] UNION ALL SELECT x || x FROM c) SELECT count(*) FROM c",
		"SELECT to_tsvector(repeat('a b c ', 1600)) FROM big, big AS y",
		"SELECT generate_series(1, 1e9::bigint) FROM big", "SELECT jsonb_path_query_array('[1]', '$.**.**.**.**') FROM big",
		"SELECT * FROM generate_series(1, 1000000000000)",
		"SELECT ts_headline(repeat('a ', 5000), to_tsquery('a')) FROM big",
		"SELECT format('%s', repeat('x', 10000)) FROM big AS x, big AS y")
	return all
}

// hostileOperators are statements that use an operator without its name, on operatorTraps.
func hostileOperators() (all []exectest.Payload) {
	for i, s := range []string{
		"SELECT a IN (b) FROM t", "SELECT a = ANY (ARRAY[b]) FROM t", "SELECT a IN (SELECT b FROM t) FROM t",
		"SELECT NULLIF(a, b) FROM t",
		"SELECT CASE a WHEN b THEN 1 END FROM t",
		"SELECT a IS DISTINCT FROM b FROM t", "SELECT a BETWEEN b AND b FROM t", "SELECT a LIKE b FROM t",
		"SELECT (a, 1) = (b, 1) FROM t",
		"SELECT (a, 1) IN (SELECT b, 1 FROM t) FROM t",
		"SELECT 1 FROM t JOIN (SELECT b AS a FROM t) AS x USING (a)",
		"SELECT 1 FROM t NATURAL JOIN (SELECT b AS a FROM t) AS x", "SELECT a = b FROM t",
	} {
		all = append(all, exectest.Payload{Name: fmt.Sprint("operator-", i), SQL: s, Why: "the operator is the user's own",
			Expect: "refuse"})
	}
	return all
}

const treeSchema = `
CREATE SCHEMA hr; CREATE SCHEMA other;
CREATE TABLE users(id integer, name text, password text, mark text GENERATED ALWAYS AS (left(password, 1)) STORED);
CREATE TABLE pets(id integer, owner integer, area text, lo_unlink text, pg_sleep_for text);
CREATE TABLE hr.users(id integer, salary integer);
CREATE TABLE "users2"("Password" text, "To_JSON" text);
CREATE TABLE parent(id integer, secret text, kind text) PARTITION BY LIST (kind);
CREATE TABLE child PARTITION OF parent FOR VALUES IN ('a');
CREATE TABLE shown(id integer);
CREATE SEQUENCE s;
CREATE VIEW v_ok AS SELECT id, upper(name) AS n FROM users WHERE id > 0 ORDER BY name;
CREATE VIEW v_pw AS SELECT id, password AS p FROM users;
CREATE VIEW v_row AS SELECT id, to_jsonb(u) AS j FROM users u;
CREATE VIEW v_over AS SELECT id FROM v_row;
CREATE VIEW v_mark AS SELECT mark FROM users;
CREATE VIEW v_lock AS SELECT pg_try_advisory_lock(1) AS x;
CREATE VIEW v_system AS SELECT rolname FROM pg_authid;
CREATE MATERIALIZED VIEW m_pw AS SELECT password FROM users;
CREATE VIEW v_child AS SELECT id FROM child;
CREATE FUNCTION lower(integer) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
CREATE FUNCTION one(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
CREATE FUNCTION spy(users) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ($1).password';
CREATE FUNCTION area(users) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''''';
CREATE FUNCTION "json_array"(integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION other.apart(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION opf(integer, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = text, FUNCTION = opf);
CREATE VIEW v_op AS SELECT id === 'a' AS x FROM users;
CREATE VIEW v_one AS SELECT one(id) AS x FROM users;
CREATE FUNCTION chk(integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE DOMAIN plain AS integer CHECK (VALUE > abs(-1));
CREATE DOMAIN evil AS integer CHECK (chk(VALUE));
CREATE DOMAIN nested AS evil;
CREATE DOMAIN inside AS text CHECK (VALUE::evil > 0);
CREATE DOMAIN many AS integer[];
CREATE VIEW v_domain AS SELECT id::evil AS x FROM users;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE cast_mood AS ENUM ('a');
CREATE TYPE pair AS (a integer, b integer);
CREATE FUNCTION to_mood(integer) RETURNS cast_mood LANGUAGE sql AS 'SELECT ''a''::cast_mood';
CREATE TYPE holds AS (a integer, b evil[]);
CREATE TYPE spans AS RANGE (subtype = nested);
CREATE TABLE trapped(id integer, e evil, l nested[], p holds, q holds[], s spans, plain plain, t text);
CREATE TABLE around(id integer, row_of trapped);
CREATE VIEW v_trapped AS SELECT id, e AS f FROM trapped;
CREATE CAST (integer AS cast_mood) WITH FUNCTION to_mood(integer) AS IMPLICIT;
`

func TestRefusals(t *testing.T) {
	pool, _ := open(t, treeSchema)
	none := exec.Policy{}
	columns := exec.Policy{DenyColumns: []string{"users.password", "parent.secret", `users2."Password"`}}
	tables := exec.Policy{DenyTables: []string{"hr.users", "child"}}
	listed := exec.Policy{AllowTables: []string{"users", "v_ok", "parent"}}
	functions := exec.Policy{AllowFunctions: []string{"one", "LOWER", "chk", "opf", "to_mood", "pg_sleep", "spy"}}
	catalogs := map[string]postgres.Catalog{}
	var version int
	testutil.OK(t, pool.QueryRow("SELECT current_setting('server_version_num')::int").Scan(&version))
	for _, test := range []struct {
		why    string
		policy exec.Policy
		sql    string // "; " between alternatives
		want   string // reason or fault; "" is accepted
	}{
		{"what models write", none, "SELECT * FROM users; SELECT count(*) FROM users u JOIN pets p USING (id); " +
			"TABLE users; VALUES (1, 'a')", ""},
		{"windows and CTEs", none, "WITH c AS (SELECT id, rank() OVER (ORDER BY name) AS r FROM users) SELECT * FROM c " +
			"WHERE r < 3", ""},
		{"JSON constructors", none, "SELECT json_object('a': 1), json_objectagg(name: id), json_arrayagg(id) FROM users", ""},
		{"dates", none, "SELECT current_date, localtimestamp(0), now() - interval '1 day', extract(year FROM now())", ""},
		{"samples", none, "SELECT id FROM users TABLESAMPLE SYSTEM (1.5) REPEATABLE (7)", ""},
		{"types of the list, enumerations, harmless domains, arrays", none,
			"SELECT '1'::numeric(3, 1), 'ok'::mood, 1::plain, '{1}'::many, '{1}'::int[]", ""},
		{"built-ins by their schema", none, "SELECT pg_catalog.lower('A'), 1 OPERATOR(pg_catalog.+) 1, 'a'::pg_catalog.text",
			""},
		{"a column called like a function, its relation told", none, "SELECT p.area, p.lo_unlink FROM pets p", ""},
		{"a name that the statement gives, called like a harmless function", none,
			"WITH c AS (SELECT max(id) AS height FROM users) SELECT c.height FROM c; " +
				"SELECT x.center, x.money, x.oid FROM (SELECT 1, 2, 3) AS x(center, money, oid); SELECT x.family " +
				"FROM json_to_record('{}') AS x(family int)", ""},
		{"a cast that is written like a call", none, "SELECT mood('ok'), plain(1)", ""},
		{"a field of a row", none, "SELECT (u).name, (u.*).id FROM users u", ""},

		{"two statements, none, others", none, "SELECT 1\\; SELECT 2", "not-read-only"},
		{"other statements", none, "INSERT INTO users VALUES (1); CREATE TABLE x(); SET a = 1; COPY users TO STDOUT; " +
			"DO 'x'; CALL p(); " +
			"EXPLAIN SELECT 1", "not-read-only"},
		{"writing inside", none, "WITH x AS (DELETE FROM users RETURNING *) SELECT * FROM x; SELECT 1 INTO x; SELECT * " +
			"FROM users FOR UPDATE", "not-read-only"},
		{"not a text of this language", none, "SELEC 1; SELECT FROM WHERE", "syntax"},
		{"XML", none, "SELECT xmlelement(name a); SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b text)", "statement"},
		{"JSON_TABLE is not on the list", none, "SELECT json_value('{}', '$.a')", "statement"},
		{"parameters", none, "SELECT $1", "statement"},
		{"functions that act, or tell of the server", none,
			"SELECT pg_sleep(1); SELECT lo_create(0); SELECT version(); SELECT current_setting('a'); " +
				"SELECT nextval('s'); SELECT * FROM pg_ls_dir('.'); SELECT pg_catalog.pg_sleep(1); SELECT query_to_xml('a', " +
				"true, " +
				"true, '')", "function"},
		{"functions of users", none, "SELECT one(1); SELECT public.one(1); SELECT other.apart(1)", "function"},
		{"a user's function of a built-in's name", none, "SELECT lower(1); SELECT lower('A')", "function"},
		{"it is a function to older servers", none, "SELECT json_array(1)", "function"},
		{"who and where", none, "SELECT current_user; SELECT session_user; SELECT current_role; SELECT user", "function"},
		{"a function that nobody has", none, "SELECT strftime('%Y', now())", "schema"},
		{"a relation that nobody has", none, "SELECT * FROM people; SELECT * FROM hr.pets", "schema"},
		{"a name that is not there does not hide what is worse", none,
			"SELECT pg_sleep(1) FROM nothing; SELECT nothing(pg_sleep(1))", "function"},
		{"system tables, sequences, another database", none, "SELECT * FROM pg_class; SELECT * FROM pg_catalog.pg_class; " +
			"SELECT * FROM information_schema.tables; " +
			"SELECT * FROM s; SELECT * FROM a.b.c; SELECT * FROM pg_temp.x", "table"},
		{"long values", none, "SELECT repeat('a', 10001); SELECT lpad('a', id) FROM users; SELECT format('%*s', 1); " +
			"SELECT format('%99999s', 'a'); " +
			"SELECT format(name) FROM users; SELECT repeat('a', VARIADIC ARRAY[1])", "too-complex"},
		{"brackets that the parser takes years for", none,
			"SELECT ((((SELECT ((((SELECT ((((SELECT ((((SELECT ((((SELECT 1~~)))))", "too-complex"},
		{"brackets in a string", none, "SELECT id FROM users WHERE name LIKE '((((((((((((((((((((((((((((((((((((((((((('",
			""},
		{"short ones", none, "SELECT repeat('a', 10000), rpad(name, 20), ltrim(name), format('%-10s|%s', name, id) " +
			"FROM users", ""},
		{"a call by dot", none, "SELECT (42::bigint).pg_advisory_lock; SELECT ('x'::text).pg_read_file; SELECT u.spy " +
			"FROM users u; SELECT users.one FROM users; " +
			"SELECT x.pg_sleep FROM (SELECT 1.0) AS x; SELECT (1).lower; SELECT ('a'::text).regclass; SELECT (5).evil",
			"function"},
		{"a column called like a user's or changing function opens the name for nothing else", none,
			"SELECT u.area FROM users u; SELECT (u).area FROM users u; SELECT (5::oid).lo_unlink FROM pets; " +
				"SELECT x.lo_unlink FROM (SELECT 5) x, pets; " +
				"SELECT p.pg_sleep_for FROM pets p, (SELECT interval '1 s') AS p(a); SELECT p.lo_unlink FROM pets p(a, b)",
			"function"},
		{"types that are names of things, rows, cursors", none,
			"SELECT 'users'::regclass; SELECT '(1,2)'::pair; SELECT 'a'::refcursor; SELECT NULL::users; " +
				"SELECT '1'::public.users; SELECT x.a FROM json_to_record('{}') AS x(a regclass); SELECT 1::users.id%TYPE",
			"function"},
		{"domains whose CHECK calls", none, "SELECT 1::evil; SELECT evil(1); SELECT CAST(1 AS nested); SELECT 'a'::inside; " +
			"SELECT '{1}'::evil[]", "function"},
		{"a text beside a column whose type has such a domain in it", none,
			"SELECT l = '{5}' FROM trapped; SELECT COALESCE(l, '{5}') FROM trapped; " +
				"SELECT CASE WHEN true THEN p ELSE '(1,2)' END FROM trapped; SELECT l FROM trapped UNION ALL SELECT '{5}'; " +
				"SELECT lag(e, 1, '5') OVER () FROM trapped; " +
				"SELECT x.q = '{}' FROM trapped x; SELECT 1 FROM trapped WHERE s = '[1,2]'; SELECT z = '(1,2)' " +
				"FROM trapped AS z; " +
				"TABLE trapped UNION ALL VALUES (1, '5', NULL, NULL, NULL, NULL, NULL, NULL); SELECT row_of = '(1)' FROM around; " +
				"SELECT f FROM v_trapped; " +
				"SELECT * FROM (SELECT * FROM trapped) AS x", "function"},
		{"the other columns", none, "SELECT id, t, plain FROM trapped; SELECT count(*) FROM trapped; SELECT id " +
			"FROM around; SELECT id FROM v_trapped", ""},
		{"a cast that calls", none, "SELECT 1::cast_mood", "function"},
		{"a user's operator", none, "SELECT 1 === 'a'; SELECT 1 OPERATOR(public.===) 'a'; SELECT id FROM users " +
			"ORDER BY id USING ===; " +
			"SELECT 1 === ANY (ARRAY['a']); " +
			"SELECT 1 === ALL (SELECT 'a')", "function"},
		{"samples by another method", none, "SELECT id FROM users TABLESAMPLE mine (1)", "function"},
		{"views that call, by every way", none, "SELECT * FROM v_lock; SELECT * FROM v_op; SELECT * FROM v_one; SELECT * " +
			"FROM v_domain", "function"},
		{"a view of system tables", none, "SELECT * FROM v_system", "function"},
		{"views otherwise", none, "SELECT * FROM v_ok; SELECT * FROM v_row; SELECT * FROM m_pw", ""},

		{"the policy adds functions", functions, "SELECT one(1), public.one(1), lower(1), pg_sleep(0); SELECT 1 === 'a'; " +
			"SELECT 1::evil; SELECT 1::cast_mood; " +
			"SELECT * FROM v_op; SELECT * FROM v_one; SELECT u.spy FROM users u", ""},

		{"denied columns", columns, "SELECT password FROM users; SELECT u.password FROM users u; SELECT 1 FROM users " +
			"ORDER BY password; " +
			"SELECT 1 FROM users GROUP BY password; " +
			"SELECT * FROM users; SELECT u.* FROM users u; SELECT u FROM users u; SELECT to_jsonb(users) FROM users; " +
			"SELECT count(u) FROM users u; " +
			"SELECT 1 FROM users u JOIN users v USING (password); SELECT 1 FROM users NATURAL JOIN pets; SELECT c " +
			"FROM users AS u(a, b, c, d); " +
			"SELECT (SELECT u FROM users u).name; TABLE users; SELECT u.to_jsonb FROM users u; SELECT (u).id FROM users u; " +
			"SELECT secret FROM parent; SELECT secret FROM child; SELECT x.c FROM (pets p JOIN users u ON true) AS x(a, b, " +
			"c); " +
			"SELECT id FROM pets WHERE EXISTS (SELECT 1 FROM users WHERE password LIKE 'a%')", "column"},
		{"a generated column of a denied one", columns, "SELECT mark FROM users; SELECT * FROM v_mark", "column"},
		{"a denied column in other letters, and a call beside", columns,
			`SELECT "Password" FROM users2; SELECT users2.to_json FROM users2`, "column"},
		{"views over a denied column, also by the whole row, and their data", columns,
			"SELECT id FROM v_pw; SELECT id FROM v_row; SELECT 1 FROM m_pw", "column"},
		{"a view over such a view", columns, "SELECT id FROM v_over", "table"},
		{"what else is there", columns, "SELECT id, name FROM users; SELECT count(*) FROM users; SELECT * FROM (SELECT id, " +
			"name FROM users) x; " +
			"SELECT x.password FROM (SELECT 1 AS password) x, users; " +
			"WITH c AS (SELECT id FROM users) SELECT * FROM c; SELECT p.* FROM pets p JOIN users u ON p.id = u.id; SELECT * " +
			"FROM v_ok; SELECT * FROM hr.users; " +
			"SELECT id FROM parent", ""},
		{"a CTE of a table's name is not the table, inside its statement", columns,
			"WITH users AS (SELECT 1 AS password) SELECT password FROM users", ""},
		{"and the table outside of it", columns, "SELECT (WITH users AS (SELECT 1 AS password) SELECT max(password) " +
			"FROM users), password FROM users; " +
			"WITH users AS (SELECT password FROM users) SELECT 1 FROM users", "column"},

		{"denied, absent and system tables have one answer", tables,
			"SELECT * FROM hr.users; SELECT * FROM hr.nothing; SELECT * FROM nothing; " +
				"SELECT * FROM pg_class; SELECT * FROM s", "table"},
		{"a partition that is denied is in its parent", tables,
			"SELECT 1 FROM child; SELECT 1 FROM parent; SELECT 1 FROM v_child", "table"},
		{"other tables", tables, "SELECT * FROM users; SELECT * FROM v_pw", ""},
		{"a list of tables", listed, "SELECT * FROM users; SELECT * FROM v_ok; SELECT * FROM parent", ""},
		{"what is not on it", listed, "SELECT * FROM pets; SELECT * FROM v_pw; SELECT * FROM child", "table"},
		{"hr.users has the name that is allowed", listed, "SELECT * FROM hr.users", ""},
	} {
		key := fmt.Sprint(test.policy)
		if catalogs[key].Catalog == nil {
			catalogs[key] = readCatalog(t, pool, test.policy)
		}
		for sql := range strings.SplitSeq(strings.ReplaceAll(test.sql, `\;`, "\x01"), "; ") {
			sql = strings.ReplaceAll(sql, "\x01", ";")
			_, err := catalogs[key].Check(sql)
			if got := kindOf(err); got != test.want {
				t.Errorf("%s: %s\ngot %q (%v), want %q", test.why, sql, got, err, test.want)
			}
			if test.want == "" { // the engine takes it too, so that the row says something
				if s, err := pool.Prepare(sql); err == nil {
					s.Close()
				} else if version >= 160000 || !strings.Contains(sql, "json_objectagg") {
					t.Errorf("%s: %s: the engine: %v", test.why, sql, err)
				}
			}
		}
	}
	// One answer, whatever the table.
	c := catalogs[fmt.Sprint(tables)]
	_, denied := c.Check("SELECT * FROM hr.users")
	_, absent := c.Check("SELECT * FROM hr.nobody")
	if diff := cmp.Diff(denied.Error(), strings.ReplaceAll(absent.Error(), "nobody", "users")); diff != "" {
		t.Errorf("a denied table is told from an absent one (-denied +absent):\n%s", diff)
	}
}

func kindOf(err error) string {
	var refused *exec.RefusedError
	var invalid *exec.InvalidError
	switch {
	case errors.As(err, &refused):
		return refused.Reason
	case errors.As(err, &invalid):
		return invalid.Fault
	case err != nil:
		return "other"
	}
	return ""
}

func TestUnknownOfPolicy(t *testing.T) {
	pool, _ := open(t, treeSchema)
	c := readCatalog(t, pool, exec.Policy{DenyTables: []string{"hr.users", "nothing"},
		DenyColumns: []string{"users.pasword", "password"}, AllowTables: []string{"x.users"}})
	var unknown *exec.PolicyError
	if !errors.As(c.Unknown, &unknown) {
		t.Fatal(c.Unknown)
	}
	want := []string{`AllowTables: "x.users"`, `DenyTables: "nothing"`, `DenyColumns: "users.pasword"`}
	if diff := cmp.Diff(want, unknown.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.RowSecurity() {
		t.Error("row security, and no table has it")
	}
	testutil.Value(pool.Exec("ALTER TABLE users ENABLE ROW LEVEL SECURITY"))(t)
	if !readCatalog(t, pool, exec.Policy{}).RowSecurity() {
		t.Error("row security is not noticed")
	}
}

// TestPermit decides on locks, as the server would tell them.
func TestPermit(t *testing.T) {
	pool, _ := open(t, treeSchema+`;
CREATE TABLE teams(id INTEGER, who TEXT);
CREATE TABLE members(team INTEGER);
CREATE VIEW own_teams AS SELECT id FROM teams WHERE who = current_user;
CREATE TABLE docs(id INTEGER, team INTEGER);
CREATE TABLE pages(id INTEGER, doc INTEGER);
CREATE TABLE drafts(id INTEGER, team INTEGER);
CREATE TABLE open_docs(id INTEGER, team INTEGER);
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
ALTER TABLE pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON docs USING (team IN (SELECT id FROM own_teams));
CREATE POLICY p ON pages FOR SELECT USING (doc IN (SELECT id FROM docs));
CREATE POLICY p ON drafts FOR UPDATE USING (team IN (SELECT id FROM teams));
CREATE POLICY p ON open_docs USING (team IN (SELECT id FROM teams));
`)
	oid := func(name string) (n uint32) {
		t.Helper()
		testutil.OK(t, pool.QueryRow("SELECT $1::regclass::oid::bigint", name).Scan(&n))
		return n
	}
	const share = "AccessShareLock"
	for _, test := range []struct {
		why    string
		policy exec.Policy
		sql    string
		locks  map[string]string
		want   string
		tables []exec.TableRead
	}{
		{why: "one table", sql: "SELECT name, lower_inc(int4range(1, 2)) FROM users WHERE id = 1",
			locks:  map[string]string{"users": share},
			tables: []exec.TableRead{{Schema: "public", Table: "users", Columns: []string{"id", "name"}}}},
		{why: "only rows", sql: "SELECT count(*) FROM hr.users", locks: map[string]string{"hr.users": share},
			tables: []exec.TableRead{{Schema: "hr", Table: "users"}}},
		{why: "no table", sql: "SELECT 1", tables: []exec.TableRead{}},
		{why: "a view and what lies under it, with all that the view reads", sql: "SELECT id FROM v_over",
			locks: map[string]string{"v_over": share,
				"v_row": share, "users": share},
			tables: []exec.TableRead{{Schema: "public", Table: "users", Columns: []string{"id", "mark", "name", "password"}},
				{Schema: "public", Table: "v_over", Columns: []string{"id"}},
				{Schema: "public", Table: "v_row", Columns: []string{"id"}}}},
		{why: "a materialized view has rows of its own", sql: "SELECT 1 FROM m_pw", locks: map[string]string{"m_pw": share},
			tables: []exec.TableRead{{Schema: "public", Table: "m_pw"}}},
		{why: "it locks rows", sql: "SELECT id FROM users", locks: map[string]string{"users": "RowShareLock"},
			want: "not-read-only"},
		{why: "a table that the text does not name", sql: "SELECT id FROM users", locks: map[string]string{"users": share,
			"pets": share}, want: "guard"},
		{why: "a table of the system", sql: "SELECT id FROM users", locks: map[string]string{"users": share,
			"pg_catalog.pg_authid": share}, want: "table"},
		{why: "a table that the policy denies", policy: exec.Policy{DenyTables: []string{"pets"}},
			sql:   "SELECT id FROM users",
			locks: map[string]string{"pets": share}, want: "table"},
		{why: "a policy reads a view, and a table under it that our policy denies", sql: "SELECT id FROM docs",
			policy: exec.Policy{DenyTables: []string{"teams"}},
			locks:  map[string]string{"docs": share, "own_teams": share, "teams": share},
			tables: []exec.TableRead{{Schema: "public", Table: "docs", Columns: []string{"id"}}}},
		{why: "a policy reads a table with a policy", sql: "SELECT id FROM pages",
			locks:  map[string]string{"pages": share, "docs": share, "own_teams": share, "teams": share},
			tables: []exec.TableRead{{Schema: "public", Table: "pages", Columns: []string{"id"}}}},
		{why: "a table that no policy reads", sql: "SELECT id FROM docs",
			locks: map[string]string{"docs": share, "own_teams": share, "teams": share, "members": share}, want: "guard"},
		{why: "a policy of another table reads it", sql: "SELECT id FROM own_teams", want: "guard",
			locks: map[string]string{"own_teams": share, "teams": share, "docs": share}},
		{why: "a policy that does not hold for SELECT", sql: "SELECT id FROM drafts",
			locks: map[string]string{"drafts": share, "teams": share}, want: "guard"},
		{why: "a policy of a table without row security", sql: "SELECT id FROM open_docs",
			locks: map[string]string{"open_docs": share, "teams": share}, want: "guard"},
		{why: "it locks rows of what a policy reads", sql: "SELECT id FROM docs",
			locks: map[string]string{"docs": share, "own_teams": share, "teams": "RowShareLock"}, want: "not-read-only"},
		{why: "nothing but what a policy reads", sql: "SELECT id FROM docs", locks: map[string]string{"teams": share},
			want: "guard"},
		{why: "the policy reads a table of the system", sql: "SELECT id FROM docs",
			locks: map[string]string{"docs": share, "pg_catalog.pg_authid": share}, want: "table"},
		{why: "a server that tells no locks", sql: "SELECT id FROM users", want: "guard"},
	} {
		c := readCatalog(t, pool, test.policy)
		n := testutil.Value(c.Check(test.sql))(t, test.why)
		locks := map[uint32]string{}
		for name, mode := range test.locks {
			locks[oid(name)] = mode
		}
		err := c.Seen(n, locks)
		if got := kindOf(err); got != test.want {
			t.Errorf("%s: got %q (%v), want %q", test.why, got, err, test.want)
		}
		if err != nil {
			continue
		}
		tables := []exec.TableRead{}
		for _, r := range c.Reads(n) {
			tables = append(tables, exec.TableRead{Schema: r.Relation.Schema, Table: r.Relation.Name, Columns: r.Columns})
		}
		if diff := cmp.Diff(test.tables, tables); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
}

// FuzzCheck: the tree never panics, and what it accepts is one SELECT that
// writes nothing and calls nothing that acts.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"SELECT 1", "SELECT * FROM t", "SELECT u.id FROM users u JOIN t ON u.id = t.a",
		"WITH c AS (SELECT 1) SELECT * FROM c", "VALUES (1), (2)",
		"SELECT password FROM users", "SELECT pg_sleep(1)", "SELECT (1).pg_sleep", "SELECT 'a'::regclass",
		"SELECT 1; SELECT 2", "SELECT 1 INTO x",
		"SELECT count(*) OVER (PARTITION BY a ORDER BY b) FROM t", "SELECT x.id FROM jsonb_to_recordset('[]') AS x(id int)",
		"TABLE t",
		"SELECT a FROM t UNION SELECT id FROM users ORDER BY 1", "SELECT format('%s', 1), repeat('a', 3)",
		"SELECT a FROM t TABLESAMPLE system (1)",
		"SELECT * FROM (t CROSS JOIN users) AS j(a, b)", "SELECT json_object('a': 1)", "SELECT ARRAY[1][1], (ROW(1)).f1, $1",
		"DELETE FROM t",
	} {
		f.Add(s)
	}
	c := postgres.MadeCatalog()
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := sqltext.PostgreSQL().Check(s); err != nil {
			return
		}
		_, err := c.Check(s)
		if err != nil {
			if kind := kindOf(err); kind == "guard" || kind == "other" {
				t.Fatal(err)
			}
			return
		}
		text, err := parser.ParseToJSON(s)
		if err != nil || strings.Count(text, `"stmt":`) != 1 || !strings.Contains(text, `"stmts":[{"stmt":{"SelectStmt":`) {
			t.Fatalf("accepted: %v %s", err, text)
		}
		for _, never := range []string{
			`"InsertStmt":`, `"UpdateStmt":`, `"DeleteStmt":`, `"MergeStmt":`, `"intoClause":`, `"lockingClause":`, `"XmlExpr":`,
			`"ParamRef":`,
			`"funcname":[{"String":{"sval":"pg_sleep"`,
		} {
			if strings.Contains(text, never) {
				t.Fatalf("accepted %s: %s", never, s)
			}
		}
	})
}
