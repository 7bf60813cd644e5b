package postgres_test

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/attack"
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

// hostile are statements on the large fixture and the traps that try to get past the guard, beside those of the data set.
func hostile() (all []exectest.Payload) {
	add := func(expect exectest.Expectation, policy exec.Policy, why string, statements ...string) {
		for _, s := range statements {
			all = append(all, exectest.Payload{Name: fmt.Sprint("own-", len(all)), SQL: s, Why: why, Expect: expect, Policy: policy})
		}
	}
	refuse := func(why string, statements ...string) { add(exectest.Refuse, exec.Policy{}, why, statements...) }
	denied := func(why string, statements ...string) { add(exectest.Refuse, exectest.DenyColumn, why, statements...) }
	survive := func(why string, statements ...string) { add(exectest.Survive, exec.Policy{}, why, statements...) }

	refuse("the row of a function of one value is that value, and a name behind a dot calls a function with it",
		"SELECT x.pg_advisory_lock FROM generate_series(42::bigint, 42) AS x", "SELECT x.pg_sleep FROM generate_series(0.5, 0.5, 1) AS x",
		"SELECT x.lower FROM generate_series(1, 2) AS x", "SELECT (1).lower", "SELECT a.folded FROM generate_series(1, 2) AS a",
		"SELECT x.pg_ls_dir FROM unnest(ARRAY['/'::text]) AS x", "SELECT 1 FROM generate_series(42::bigint, 42) AS x ORDER BY x.pg_advisory_lock",
		"SELECT (SELECT 42::bigint).pg_advisory_lock", "SELECT ((ARRAY[42::bigint])[1]).pg_advisory_lock", "SELECT (x.y).folded FROM (SELECT 1 AS y) AS x",
		"SELECT (CASE WHEN true THEN 42::bigint END).pg_try_advisory_lock", "SELECT count(*) FROM generate_series(1, 2) AS x GROUP BY x.folded")
	refuse("an operator of the user's own",
		"SELECT a === ANY (ARRAY[b]) FROM t", "SELECT a === ALL (SELECT b FROM t) FROM t", "SELECT 1 FROM t AS x JOIN t AS y ON x.a === y.b",
		"SELECT x FROM v_op")
	refuse("a domain whose check calls a function",
		"SELECT 1::evil2", "SELECT '{1}'::evil[]", "SELECT ARRAY[1]::evil[]", "SELECT ARRAY[1]::evil2[]", "SELECT evil '1'", "SELECT CAST('1' AS public.evil)",
		"SELECT * FROM json_to_record('{\"a\": 1}') AS x(a evil)", "SELECT * FROM jsonb_to_recordset('[{\"a\": 1}]') AS x(a evil2)",
		"SELECT * FROM ROWS FROM (json_to_record('{\"a\": 1}') AS (a evil)) AS x", "SELECT e FROM v_evil", "SELECT ('(1,2)'::pair).x", "SELECT ROW(1, 2)::pair",
		"SELECT * FROM json_to_record('{\"a\": {\"x\": 1, \"y\": 2}}') AS x(a pair)")
	refuse("an aggregate of the user's own under a known name", "SELECT avg('1'::money)", "SELECT avg(x) OVER () FROM (SELECT '1'::money AS x) AS y")
	refuse("a view that does what a statement may not", "SELECT s FROM v_set", "SELECT rolname FROM v_authid",
		"WITH c AS (SELECT * FROM v_lock) SELECT 1 FROM c", "SELECT count(*) FROM v_seq")
	refuse("a function at a place of its own",
		"SELECT a FROM t TABLESAMPLE system (pg_sleep(1)::text::real)", "SELECT a FROM t FETCH FIRST (folded(1)) ROWS ONLY",
		"SELECT count(*) FILTER (WHERE folded(a) = 1) FROM t",
		"SELECT mode() WITHIN GROUP (ORDER BY folded(a)) FROM t", "SELECT DISTINCT ON (folded(a)) a FROM t",
		"SELECT a FROM t GROUP BY GROUPING SETS ((a, folded(a)))",
		"VALUES (folded(1))", "SELECT a FROM t OFFSET folded(1)", "SELECT * FROM t, LATERAL folded(a) AS x",
		"SELECT repeat(str => 'a', times => 5) || folded(1)",
		"SELECT 'a' SIMILAR TO folded(1)::text", "SELECT pg_catalog.folded(1)", "SELECT public.lower(1)", "SELECT \"FOLDED\"(1), folded(1)",
		"SELECT ARRAY[folded(1)]",
		"SELECT sum(a) OVER (ROWS folded(1) PRECEDING) FROM t", "SELECT b COLLATE \"C\", folded(1) FROM t", "SELECT jsonb '{}' || to_jsonb(folded(1))")
	refuse("the catalog, its types, a sequence",
		"SELECT last_value FROM s", "SELECT 's'::regclass", "SELECT 1::oid::regproc",
		"SELECT * FROM json_to_record('{\"a\": \"users\"}') AS x(a regclass)", "SELECT tableoid::regclass FROM t",
		"SELECT '{users}'::regclass[]", "SELECT 1 FROM t, pg_class", "SELECT * FROM pg_catalog.pg_proc", "SELECT * FROM information_schema.columns",
		"SELECT CURRENT_ROLE", "SELECT user",
		"SELECT null::users", "SELECT NULL::t[]", "SELECT 'x'::refcursor", "SELECT pg_typeof(a) FROM t", "SELECT to_regclass('users')",
		"SELECT pg_input_is_valid('1', 'evil')")
	refuse("SQL as text, files, XML, settings", "SELECT xmlparse(DOCUMENT '<a/>')", "SELECT * FROM xmltable('/a' PASSING '<a/>'::xml COLUMNS x int)",
		"SELECT schema_to_xml('public', true, true, '')",
		"SELECT query_to_xml_and_xmlschema('SELECT 1', true, true, '')", "SELECT dblink_get_connections()", "SELECT dblink_connect_u('c', 'x')",
		"SELECT pg_read_file('x', 0, 1, true)",
		"SELECT ts_stat('SELECT 1')", "SELECT ts_rewrite('a'::tsquery, 'SELECT 1, 2')", "SELECT current_setting('x', true)",
		"SELECT has_any_column_privilege('users', 'select')")

	denied("the row of a table that has the column",
		"SELECT u FROM users AS u", "SELECT count(u) FROM users AS u", "SELECT u = u FROM users AS u", "SELECT 1 FROM users AS u ORDER BY u",
		"SELECT 1 FROM users AS u GROUP BY u",
		"SELECT DISTINCT ON (u) 1 FROM users AS u", "SELECT COALESCE(u, u) FROM users AS u", "SELECT ROW(u) FROM users AS u",
		"SELECT ROW(u.*) FROM users AS u", "SELECT concat(u) FROM users AS u",
		"SELECT format('%s', u) FROM users AS u", "SELECT (SELECT u) FROM users AS u", "SELECT x FROM users AS u, LATERAL (SELECT u AS x) AS y",
		"SELECT json_agg(u.*) FROM users AS u",
		"SELECT public.users FROM users", "SELECT users.users FROM users", "SELECT u.u FROM users AS u",
		"SELECT CASE WHEN true THEN u END FROM users AS u", "SELECT u IS NULL FROM users AS u",
		"SELECT ARRAY[u] FROM users AS u", "SELECT ARRAY(SELECT u FROM users AS u)", "SELECT (u).spy FROM users AS u", "SELECT u.spy FROM users AS u",
		"SELECT 1 FROM users AS u JOIN t ON u.spy = t.b",
		"SELECT row_to_json(x) FROM (SELECT * FROM users) AS x", "SELECT x.to_jsonb FROM users AS x")
	denied("another name for the column", "SELECT u.z FROM users AS u(x, y, z)", "SELECT z FROM users u(x, y, z)", "TABLE users",
		"SELECT EXISTS (TABLE users), x FROM (TABLE users) AS y(w, v, x)",
		"SELECT j.password FROM users JOIN t ON t.a = users.id JOIN LATERAL (SELECT users.password) AS j ON true", "SELECT (j).* FROM users AS j",
		"SELECT j.* FROM (users JOIN t ON true) AS j",
		"SELECT j.password FROM users JOIN users AS v USING (password) AS j", "SELECT word FROM m_users", "SELECT j FROM v_row", "SELECT id FROM v_row",
		"SELECT pw FROM public.v_users",
		"SELECT U&\"passw\\006Frd\" FROM users", "SELECT password FROM ONLY users", "SELECT \"users\".\"password\" FROM \"public\".\"users\"",
		"SELECT password FROM users *",
		"SELECT u.password FROM users TABLESAMPLE bernoulli (100) AS u", "WITH users AS (SELECT * FROM public.users) SELECT name FROM users",
		"WITH RECURSIVE c(p) AS (SELECT password FROM users UNION SELECT p FROM c) SELECT p FROM c", "SELECT (SELECT password) FROM users",
		"SELECT (VALUES (password)) FROM users",
		"SELECT name FROM users FULL JOIN (SELECT 's3cret-1' AS password) AS g USING (password)", "SELECT (array_agg(password))[1] FROM users",
		"SELECT * FROM users AS u NATURAL JOIN t")
	add(exectest.Refuse, exec.Policy{DenyColumns: []string{"parent.secret"}}, "a child has what its parent has", "SELECT secret FROM kid",
		"SELECT * FROM kid", "SELECT kid FROM kid")
	add(exectest.Refuse, exec.Policy{DenyColumns: []string{"kid.secret"}}, "a parent reads what its child has", "SELECT secret FROM parent")
	add(exectest.Refuse, exec.Policy{DenyTables: []string{"kid"}}, "a parent reads its children", "SELECT id FROM parent")
	add(exectest.Refuse, exec.Policy{DenyColumns: []string{"made.name"}}, "a column that is made of the denied one", "SELECT shout FROM made")

	deep := strings.Repeat
	survive("plans that grow", attack.Doubled("SELECT x.c FROM %s AS x, %[1]s AS y", "AS NOT MATERIALIZED", 18),
		attack.Doubled("SELECT x.c + y.c AS c FROM %s AS x JOIN %[1]s AS y USING (c)", "AS NOT MATERIALIZED", 10),
		attack.Doubled("SELECT c FROM %s UNION ALL SELECT c FROM %[1]s", "AS NOT MATERIALIZED", 11),
		attack.Doubled("SELECT c FROM %s UNION ALL SELECT c FROM %[1]s", "AS NOT MATERIALIZED", 20),
		attack.Doubled("TABLE %s UNION ALL TABLE %[1]s", "AS NOT MATERIALIZED", 20), "SELECT 1 FROM t AS x0"+attack.Joined(400),
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
		"SELECT string_agg(x.v, y.v) FROM big AS x, big AS y", "SELECT array_agg(x.v) FROM big AS x, generate_series(1, 10000)",
		"SELECT json_agg(x) FROM (SELECT * FROM big, generate_series(1, 1000)) AS x",
		"SELECT array_fill(0, ARRAY[100000000])", "SELECT (repeat('a', 10000)) ~ '(a*)*(a*)*b'",
		"SELECT regexp_matches(repeat('ab', 5000), '((a|b)+)+c', 'g')", "SELECT 10::numeric ^ 100000",
		"SELECT exp(5000::numeric) * exp(5000::numeric)", "SELECT v FROM big ORDER BY md5(v || id), v || v",
		"SELECT count(DISTINCT x.v || y.v) FROM big AS x, big AS y",
		"WITH RECURSIVE c(x) AS (SELECT ARRAY[1] UNION ALL SELECT x || x FROM c) SELECT count(*) FROM c",
		"SELECT to_tsvector(repeat('a b c ', 1600)) FROM big, big AS y",
		"SELECT generate_series(1, 1e9::bigint) FROM big", "SELECT jsonb_path_query_array('[1]', '$.**.**.**.**') FROM big",
		"SELECT * FROM generate_series(1, 1000000000000)",
		"SELECT ts_headline(repeat('a ', 5000), to_tsquery('a')) FROM big", "SELECT format('%s', repeat('x', 10000)) FROM big AS x, big AS y")
	return all
}

// hostileOperators are statements that use an operator without its name, on operatorTraps.
func hostileOperators() (all []exectest.Payload) {
	for i, s := range []string{
		"SELECT a IN (b) FROM t", "SELECT a = ANY (ARRAY[b]) FROM t", "SELECT a IN (SELECT b FROM t) FROM t", "SELECT NULLIF(a, b) FROM t",
		"SELECT CASE a WHEN b THEN 1 END FROM t",
		"SELECT a IS DISTINCT FROM b FROM t", "SELECT a BETWEEN b AND b FROM t", "SELECT a LIKE b FROM t", "SELECT (a, 1) = (b, 1) FROM t",
		"SELECT (a, 1) IN (SELECT b, 1 FROM t) FROM t",
		"SELECT 1 FROM t JOIN (SELECT b AS a FROM t) AS x USING (a)", "SELECT 1 FROM t NATURAL JOIN (SELECT b AS a FROM t) AS x", "SELECT a = b FROM t",
	} {
		all = append(all, exectest.Payload{Name: fmt.Sprint("operator-", i), SQL: s, Why: "the operator is the user's own", Expect: exectest.Refuse})
	}
	return all
}
