package mysql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

// traps are what hostile needs beside the large fixture.
const traps = `
CREATE FUNCTION ` + "`upper`" + `(i TEXT) RETURNS INT RETURN GET_LOCK('t1', 0);
CREATE VIEW v_call AS SELECT f_write() AS x;
CREATE VIEW v_of_spy AS SELECT x FROM v_spy;
CREATE VIEW v_lockit AS SELECT a, lockit() AS x FROM t;
CREATE VIEW v_mysql AS SELECT User FROM mysql.user;
CREATE VIEW v_join AS SELECT u.id FROM users u NATURAL JOIN (SELECT 's3cret-1' AS password) AS g;
CREATE TABLE made(id INT, name VARCHAR(20), shout VARCHAR(20) AS (UPPER(name)) VIRTUAL);
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

	refuse("a comment that is code", "SELECT 1 /*!50000 + GET_LOCK('x', 0) */",
		"SELECT 1 /*M!100100 + GET_LOCK('x', 0) */", "SELECT /*! SLEEP(1) */",
		"SELECT 1 /*!99999 */ /*! INTO @v */",
		"SELECT /*+ SET_VAR(max_statement_time=0) */ SLEEP(0.01)", "SELECT 1 /* /*! */ + GET_LOCK('x', 0) -- */")
	refuse("a function in another spelling", "SELECT `sleep`(1)", "SELECT SLEEP (1)", "SELECT SLÉEP(1)",
		"SELECT GÉT_LOCK('x', 0)",
		"SELECT get_lock/**/('x', 0)", "SELECT count (1)", "SELECT count /**/ (a) FROM t",
		"SELECT `count`(1)", "SELECT ｓleep(1)", "SELECT d1.lockit()", "SELECT `lockit` ()", "SELECT LockIt()",
		"SELECT mysql.sleep(1)")
	refuse("a function at a place of its own", "SELECT a FROM t ORDER BY SLEEP(1)",
		"SELECT a FROM t LIMIT 1 OFFSET GET_LOCK('x', 0)",
		"SELECT a FROM t GROUP BY lockit()", "SELECT a FROM t HAVING lockit()",
		"SELECT IF(1, lockit(), 2)", "SELECT CASE WHEN lockit() THEN 1 END", "SELECT CONCAT(lockit())",
		"SELECT a FROM t JOIN users ON lockit()",
		"SELECT sum(lockit()) OVER () FROM t", "SELECT a IN (lockit()) FROM t",
		"VALUES (lockit())", "SELECT 1 UNION SELECT lockit()", "WITH c AS (SELECT lockit()) SELECT 1 FROM c",
		"SELECT (SELECT lockit())",
		"SELECT EXISTS (SELECT lockit())", "SELECT GROUP_CONCAT(lockit()) FROM t",
		"SELECT DATE_ADD(NOW(), INTERVAL lockit() DAY)", "SELECT CAST(lockit() AS CHAR)", "SELECT CONVERT(lockit(), CHAR)",
		"SELECT BINARY lockit()",
		"SELECT lockit() DIV 1", "SELECT - lockit()", "SELECT NOT lockit()",
		"SELECT a FROM t WHERE (a, 1) = (lockit(), 1)",
		"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (x INT PATH '$')) AS j WHERE lockit()",
		"SELECT max(a) OVER (ORDER BY lockit()) FROM t", "SELECT 'x' REGEXP lockit()",
		"SELECT TRIM(lockit() FROM 'x')", "SELECT EXTRACT(DAY FROM lockit())", "SELECT SUBSTRING('x' FROM lockit())",
		"SELECT a FROM t PROCEDURE ANALYSE()")
	refuse("state of the connection or the server", "SELECT LAST_INSERT_ID(5)", "SELECT @v", "SELECT @v := 5",
		"SELECT @@global.max_connections",
		"SELECT @@session.sql_mode", "SELECT @@version", "SELECT 1 INTO @v", "SELECT 1 INTO OUTFILE '/tmp/x'",
		"SELECT a INTO DUMPFILE '/tmp/x' FROM t LIMIT 1", "SELECT SQL_CALC_FOUND_ROWS a FROM t", "SELECT FOUND_ROWS()",
		"SELECT ROW_COUNT()",
		"SELECT CONNECTION_ID()", "SELECT CURRENT_USER", "SELECT CURRENT_ROLE", "SELECT USER()",
		"SELECT SESSION_USER()", "SELECT SYSTEM_USER()", "SELECT VERSION()", "SELECT RELEASE_ALL_LOCKS()",
		"SELECT IS_FREE_LOCK('x')",
		"SELECT MASTER_POS_WAIT('x', 1, 1)", "SELECT UUID_SHORT()", "SELECT SETVAL(s, 5)", "SELECT NEXTVAL(s)",
		"SELECT LASTVAL(s)", "SELECT NEXT VALUE FOR s", "SELECT PREVIOUS VALUE FOR s", "SELECT * FROM s",
		"SELECT next_not_cached_value FROM s",
		"SELECT LOAD_FILE('/etc/passwd')", "SELECT BENCHMARK(1e9, 1)", "SELECT DEFAULT(a) FROM t",
		"SELECT a FROM t FOR UPDATE", "SELECT a FROM t LOCK IN SHARE MODE", "SELECT a FROM t FOR UPDATE SKIP LOCKED",
		"(SELECT a FROM t FOR UPDATE)",
		"SELECT a FROM (SELECT a FROM t LOCK IN SHARE MODE) AS x", "SELECT a FROM t FOR SYSTEM_TIME ALL",
		"SELECT EXTRACTVALUE('<a/>', '/a')", "SELECT UPDATEXML('<a/>', '/a', '<b/>')", "SELECT COLUMN_CREATE('a', 1)",
		"SELECT ENCRYPT('x')",
		"SELECT SYS_GUID()", "SELECT DECODE_ORACLE(1, 2, 3)", "EXECUTE IMMEDIATE 'SELECT 1'",
		"SET STATEMENT max_statement_time=0 FOR SELECT 1", "HANDLER t OPEN", "CALL p()", "DO SLEEP(1)",
		"ANALYZE SELECT a FROM t", "SHOW TABLES",
		"DESC t", "BEGIN NOT ATOMIC SELECT 1; END")
	refuse("another database, or a view on it", "SELECT * FROM mysql.user", "SELECT * FROM information_schema.TABLES",
		"SELECT * FROM performance_schema.threads", "SELECT 1 FROM t, mysql.db", "SELECT * FROM `mysql`.`user`",
		"SELECT mysql.user.User FROM mysql.user", "SELECT (SELECT count(*) FROM mysql.user)", "SELECT User FROM v_mysql",
		"SELECT x FROM v_call",
		"SELECT x FROM v_of_spy", "SELECT a FROM v_lockit", "WITH c AS (SELECT * FROM v_lock) SELECT 1 FROM c",
		"SELECT count(*) FROM v_spy")
	denied("the column in another spelling or place", "SELECT PASSWORD FROM users", "SELECT `password` FROM users",
		"SELECT users.`PassWord` FROM users", "SELECT pässword FROM users", "SELECT paſſword FROM users",
		"SELECT ｐassword FROM users",
		"SELECT `password ` FROM users", "SELECT users . password FROM users", "SELECT .users.password FROM users",
		"SELECT u.password FROM users u",
		"SELECT u.* FROM users u", "SELECT * FROM (SELECT * FROM users) AS x",
		"SELECT x.password FROM (SELECT * FROM users) AS x", "WITH c(i, n, p) AS (SELECT * FROM users) SELECT p FROM c",
		"SELECT name FROM users WHERE password LIKE 's%'", "SELECT name FROM users ORDER BY password",
		"SELECT name FROM users GROUP BY password",
		"SELECT name FROM users HAVING password > 'a'", "SELECT GROUP_CONCAT(password) FROM users",
		"SELECT GROUP_CONCAT(name ORDER BY password) FROM users", "SELECT MATCH (password) AGAINST ('s3cret') FROM users",
		"SELECT JSON_OBJECTAGG(id, password) FROM users",
		"SELECT VALUES(password) FROM users", "SELECT name FROM users u WHERE EXISTS (SELECT 1 FROM t WHERE b = u.password)",
		"SELECT name FROM users UNION SELECT password FROM users", "SELECT (SELECT password FROM users LIMIT 1)",
		"SELECT (SELECT u.password) FROM users u", "SELECT a FROM t WHERE (a, 's3cret-1') IN (SELECT id, password "+
			"FROM users)",
		"SELECT rank() OVER (ORDER BY password) FROM users",
		"SELECT rank() OVER w FROM users WINDOW w AS (PARTITION BY password)",
		"SELECT count(*) FROM users NATURAL JOIN (SELECT 's3cret-1' AS password) AS g",
		"SELECT count(*) FROM users JOIN (SELECT 's3cret-1' AS password) AS g USING (password)", "SELECT id FROM v_join",
		"SELECT pw FROM v_users",
		"SELECT id FROM v_users",
		"SELECT NULLIF(name, password) FROM users", "SELECT (id, name, password) = (1, 'ann', 'x') FROM users",
		"SELECT name COLLATE utf8mb4_bin, `users`.`password` FROM users", "SELECT DISTINCT name, password FROM users",
		"SELECT IFNULL((SELECT 1 FROM users v WHERE v.password > u.name LIMIT 1), 0) FROM users u",
		"SELECT * FROM users LIMIT 0",
		"SELECT users.* FROM users, t", "SELECT `users`.* FROM users", "SELECT JSON_ARRAYAGG(password) FROM users",
		"SELECT j.x FROM users, JSON_TABLE(JSON_ARRAY(password), '$[*]' COLUMNS (x TEXT PATH '$')) AS j",
		"SELECT name FROM users JOIN t ON t.b = users.password", "SELECT sum(CASE WHEN password > 's' THEN 1 END) FROM users",
		"WITH RECURSIVE c(p) AS (SELECT password FROM users UNION SELECT p FROM c) SELECT p FROM c",
		"WITH users AS (SELECT * FROM users) SELECT name FROM users", "(SELECT password FROM users)",
		"SELECT password p FROM users ORDER BY p",
		"SELECT name FROM users WHERE 's3cret-1' = password", "SELECT name FROM users WHERE password IS NULL",
		"SELECT INSERT(password, 1, 0, '') FROM users")
	add("refuse", exec.Policy{DenyColumns: []string{"made.name"}}, "a column that is made of the denied one",
		"SELECT shout FROM made")
	add("refuse", exec.Policy{DenyTables: []string{"users"}}, "a table that may not be counted",
		"SELECT count(*) FROM users", "SELECT 1 FROM USERS", "SELECT 1 FROM t LEFT JOIN users ON true", "SELECT id FROM v_ok",
		"SELECT EXISTS (SELECT 1 FROM users)",
		"WITH users AS (SELECT 1 AS x) SELECT * FROM d1.users", "SELECT 1 FROM (t, users)")

	deep := strings.Repeat
	survive("a stored function under the name of a built-in one, which who may not call it does not see",
		"SELECT upper('x')", "SELECT UPPER ('x')")
	survive("plans that grow", attack.Doubled("SELECT x.c FROM %s AS x, %[1]s AS y", "AS", 16),
		attack.Doubled("SELECT x.c + y.c AS c FROM %s AS x JOIN %[1]s AS y USING (c)", "AS", 6),
		attack.Doubled("SELECT c FROM %s UNION ALL SELECT c FROM %[1]s", "AS", 16),
		"SELECT a FROM t WHERE a IN (1"+deep(", 1", 30_000)+")", "SELECT 1 FROM t AS x0"+attack.Joined(55), "SELECT 1"+
			deep(" UNION SELECT 1", 5000))
	survive("texts that are deep for a parser", "SELECT "+deep("NOT ", 20_000)+"1", "SELECT "+deep("- ", 30_000)+"1",
		"SELECT 1"+deep(" + 1", 20_000), "SELECT "+deep("CASE WHEN 1 THEN ", 3000)+"1"+deep(" END", 3000),
		"SELECT "+deep("(", 199)+"1"+deep(")", 199), "SELECT 1 WHERE "+deep("(SELECT ", 190)+"1"+deep(")", 190),
		"SELECT "+deep("json_value(", 150)+"1 x"+deep(")", 150), "SELECT "+deep("((SELECT ", 90)+"1 x y z"+deep("))", 90),
		"SELECT * FROM "+deep("(", 190)+"t"+deep(" JOIN t ON 1)", 190), "SELECT 1"+deep(" AND (1", 190)+deep(")", 190),
		"SELECT "+deep("BINARY ", 10_000)+"1", "SELECT "+deep("INTERVAL(", 150)+"1"+deep(", 1)", 150),
		"SELECT "+deep("@", 10_000),
		"SELECT 1"+deep(" COLLATE utf8mb4_bin", 5000), "SELECT "+deep("if(1, ", 190)+"1 1"+deep(", 1)", 190))
	survive("values and work that grow", "SELECT REPEAT(REPEAT(REPEAT('a', 10000), 10000), 100)",
		"SELECT LPAD(v, 10000, 'x') FROM big AS x, big AS y",
		"SELECT GROUP_CONCAT(x.v, y.v) FROM big AS x, big AS y", "SELECT JSON_ARRAYAGG(x.v) FROM big AS x, big AS y",
		"SELECT count(DISTINCT x.v, y.v) FROM big AS x, big AS y", "SELECT * FROM big AS x, big AS y LIMIT 1000000000",
		"SELECT REPEAT('a', 10000) REGEXP '(a*)*(a*)*b'",
		"SELECT REGEXP_REPLACE(REPEAT('a', 10000), 'a', REPEAT('b', 10000))",
		"SELECT REPLACE(REPLACE(REPEAT('a', 10000), 'a', REPEAT('b', 10000)), 'b', REPEAT('c', 10000))",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
		"WITH RECURSIVE c(x) AS (SELECT CAST('a' AS CHAR(10000)) UNION ALL SELECT CONCAT(x, x) FROM c) SELECT count(*) "+
			"FROM c",
		"SELECT v FROM big ORDER BY SHA2(REPEAT(v, 300), 512)", "SELECT EXP(800), POW(10, 400), 10 DIV 0",
		"SELECT x.v FROM big x JOIN big y ON x.v LIKE CONCAT('%', y.v)",
		"SELECT JSON_EXTRACT(REPEAT('[', 10000), '$**[0]**[0]') FROM big",
		"SELECT SOUNDEX(REPEAT(v, 300)) FROM big, t, users",
		"SELECT BIT_COUNT(x.k) FROM big x, big y ORDER BY 1")
	return all
}

// FuzzCheck: the parser and the walk come back without a panic, and whatever the parser makes of a text, no call of a
// forbidden function and no INTO, as the tokens tell them, gets through.
func FuzzCheck(f *testing.F) {
	for _, sql := range []string{
		"SELECT sleep(1)", "SELECT a FROM t INTO OUTFILE '/tmp/x'", "SELECT `sleep` (1)", "SELECT {x sleep(1)}",
		"SELECT 1 FROM t PROCEDURE ANALYSE(sleep(1))",
		"SELECT a, (SELECT get_lock('x', 1)) FROM t ORDER BY load_file('x')",
		"SELECT sum(a) OVER (ORDER BY sleep(1)) FROM t WINDOW w AS (PARTITION BY sleep(2))",
		"WITH c AS (SELECT 1) SELECT * FROM c JOIN (SELECT 2) d USING (x) LIMIT 1",
		"SELECT CASE WHEN 1 THEN 'a' ELSE \"sleep(1)\" END -- sleep(1)",
		"SELECT _utf8mb4'sleep(' COLLATE utf8mb4_bin, N'x', x'4d', b'1', 0x4d, 1e5, .5",
		"SELECT GROUP_CONCAT(DISTINCT a ORDER BY sleep(1) SEPARATOR 'x')",
		"SELECT * FROM JSON_TABLE(load_file('x'), '$' COLUMNS (a INT PATH '$')) j", "SELECT a FROM t LIMIT 1 OFFSET sleep(1)",
		"SELECT CAST(sleep(1) AS INT), rank",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := mysql.Dialect{}.Language().Text
		s, err := d.Check(text)
		if err != nil || mysql.Parse(s.SQL()) != nil {
			return
		}
		attack.Calls(t, s, "sleep", "get_lock", "load_file", "benchmark", "extractvalue", "user", "version", "analyse")
		for token := range s.Tokens() {
			if token.Kind == sqltext.Word && strings.EqualFold(token.Text, "into") {
				t.Errorf("INTO passes: %q", text)
			}
		}
	})
}

// TestLexing: whatever character stands where comments, strings, names and numbers begin or end, the parser sees as
// many columns as the server, so neither takes for a comment what is code to the other.
func TestLexing(t *testing.T) {
	pool, _ := open(t, "", "")
	compared := 0
	for _, form := range []string{
		"SELECT 1 --%s, 2\n, 3", "SELECT 1%s, 2 , 3", "SELECT 1 #%s, 2\n, 3", "SELECT 1 /*%s*/, 2 /* */, 3",
		"SELECT 1 /* /*%s*/, 2 -- */ \n, 3", "SELECT 'a\\%s', 2, '", "SELECT 'a%s, 2, 3'", "SELECT 1 AS `a%s`, 2",
		"SELECT 1 -%s-, 2\n, 3", "SELECT _latin1'%s', 2", "SELECT x'41'%s, 2", "SELECT 1e%s, 2",
		"SELECT 0x4%s, 2", "SELECT .1%s, 2", "SELECT 1 a%s, 2", "SELECT N'%s', 2",
		"SELECT 'a'%s'b', 2", "SELECT \"%s\", 2", "SELECT 1 --%s 1, 2", "SELECT 1 /%s* , 2 */, 3",
		"SELECT 1 *%s/ 2, 3", "SELECT 1 %s, 2 -- '\n, 3 -- '",
	} {
		for c := rune(0); c < 0x2100; c++ {
			if c == 0x101 {
				c = 0x2000 // blanks, dashes and quotes of Unicode
			}
			s, err := mysql.Dialect{}.Language().Text.Check(fmt.Sprintf(form, string(c)))
			if err != nil {
				continue
			}
			fields, err := mysql.Fields(s.SQL())
			if err != nil {
				continue
			}
			rows, err := pool.Query(s.SQL())
			if err != nil {
				continue
			}
			columns, err := rows.Columns()
			testutil.OK(t, rows.Close())
			if compared++; err != nil || len(columns) != fields {
				t.Errorf("%q: the server sees %d columns, the parser %d, %v", s.SQL(), len(columns), fields, err)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d texts compared", compared)
	}
}
