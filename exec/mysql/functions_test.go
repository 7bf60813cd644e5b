package mysql_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// unlisted are the functions of the server that are not on the list, by why.
var unlisted = []struct{ why, names string }{
	{"it tells of the server, its sessions, replication or statistics",
		"version|database|schema|sys_guid|connection_id|found_rows|row_count|last_insert_id|" +
			"binlog_.*|wsrep_.*|decode_histogram|.*_gtid_.*"},
	{"it tells who asks", "(session|system|current)_user|user|current_role"},
	{"it waits or takes a lock", "sleep|benchmark|get_lock|release_.*|is_(free|used)_lock|master_.*"},
	{"it reads a file", "load_file"},
	{"it is a cipher, or hashes passwords", "(aes|des)_(en|de)crypt|encrypt|encode|decode|password|old_password"},
	{"it makes a value that is much larger than what it is given", "uncompress|compress|sformat"},
	{"it reads XML, whose errors tell values", "extractvalue|updatexml"},
	{"it reads dynamic columns", "column_.*"},
	{"it counts in the server", "uuid_short"},
	{"it is no call", "cast"},
	{"it has no name of its own in a statement", ".*_oracle|name_const|schemas"},
}

// TestFunctions: each function of the server's catalog is on the list, or there is a reason why not.
func TestFunctions(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(id INTEGER);\n", "")
	names, err := dbtest.Texts(t.Context(), pool,
		"SELECT DISTINCT lower(function) FROM information_schema.sql_functions ORDER BY 1")
	if err != nil || len(names) < 200 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		why := ""
		for _, of := range unlisted {
			if regexp.MustCompile("^(?:" + of.names + ")$").MatchString(name) {
				why = of.why
			}
		}
		if !slices.Contains(mysql.Functions(), name) && why == "" {
			t.Errorf("%s is not on the list, and nothing says why", name)
		}
	}
}

// TestComputing: functions that only compute are called.
func TestComputing(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(id INTEGER);\n", "")
	db := dbtest.ReadyDB(t, pool, mysql.Dialect{}, exec.Config{})
	dialecttest.Gives(t, db, [][3]string{
		{"addresses", "SELECT INET_NTOA(2130706433), INET6_NTOA(INET6_ATON('::1')), INET_ATON('127.0.0.1'), " +
			"IS_IPV4('1.2.3.4')", "[[127.0.0.1 ::1 2130706433 1]]"},
		{"JSON", "SELECT JSON_EQUALS('{}', '{ }'), JSON_NORMALIZE('{\"b\":1,\"a\":2}')", "[[1 {\"a\":2.0E0,\"b\":1.0E0}]]"},
		{"texts and numbers", "SELECT LENGTH(RANDOM_BYTES(8)), MAKE_SET(5, 'a', 'b', 'c'), CRC32C('a')", "[[8 a,c "},
		{"it waits", "SELECT SLEEP(0)", "refused"},
		{"a cipher", "SELECT AES_DECRYPT('a', 'b')", "refused"},
		{"a value that grows", "SELECT UNCOMPRESS('x')", "refused"},
	})
}

// TestGrammar: what MariaDB takes is read, or the guard says that it is its parser which cannot.
func TestGrammar(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE seats(id INT, row INT, virtual INT, array INT, until INT, database INT);
INSERT INTO seats VALUES (1, 4, 0, 1, 2, 3), (2, 5, 1, 2, 3, 4);
CREATE TABLE hosts(uuid UUID, inet6 INET6);
INSERT INTO hosts VALUES ('123e4567-e89b-12d3-a456-426655440000', '::1');
CREATE TABLE versions(id INT, x INT) WITH SYSTEM VERSIONING;
INSERT INTO versions VALUES (1, 2)`, "")
	db := dbtest.ReadyDB(t, pool, mysql.Dialect{}, exec.Config{})
	dialecttest.Gives(t, db, [][3]string{
		{"words that are names", "SELECT id, row, virtual, s.until FROM seats s WHERE row = 4 ORDER BY array, database",
			"[[1 4 0 2]]"},
		{"words that are aliases", "SELECT row.id AS option FROM seats row WHERE row.id = 1", "[[1]]"},
		{"a frame", "SELECT id, sum(row) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM seats",
			"[[1 4] [2 9]]"},
		{"rows", "SELECT id FROM seats WHERE ROW(id, row) = ROW(1, 4)", "[[1]]"},
		{"a table of JSON", "SELECT j.n FROM JSON_TABLE('[{\"n\":1},{\"n\":2}]', '$[*]' COLUMNS (n INT PATH '$.n' DEFAULT " +
			"'0' ON EMPTY)) AS j", "[[1] [2]]"},
		{"beside a table", "SELECT id, j.n FROM seats, JSON_TABLE('[1]', '$[*]' COLUMNS (n INT PATH '$', " +
			"o FOR ORDINALITY)) j WHERE id = 1", "[[1 1]]"},
		{"casts", "SELECT inet6 FROM hosts WHERE uuid = CAST('123E4567E89B12D3A456426655440000' AS UUID) " +
			"AND inet6 = CAST('0::1' AS INET6)", "[[::1]]"},
		{"a cast of what is none", "SELECT CAST('x' AS UUID), CAST('x' AS INET6), CONVERT('x', INET4)",
			"[[<nil> <nil> <nil>]]"},
		{"columns that are called as types",
			"SELECT concat(max(q.inet6), uuid) FROM (SELECT inet6, uuid AS uuid FROM hosts GROUP BY inet6, uuid) q",
			"[[::1123e4567-e89b-12d3-a456-426655440000]]"},
		{"a LIMIT in a list", "SELECT GROUP_CONCAT(id ORDER BY id LIMIT 2) FROM seats",
			"the guard's parser does not know GROUP_CONCAT"},
		{"rows of another time", "SELECT x FROM versions FOR SYSTEM_TIME AS OF NOW(6)",
			"the guard's parser does not know FOR SYSTEM_TIME"},
		{"FETCH", "SELECT id FROM seats ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", "[[2]]"},
		{"FETCH without a number", "SELECT id FROM (SELECT id FROM seats ORDER BY id FETCH FIRST ROW ONLY) q", "[[1]]"},
		{"OFFSET alone", "SELECT id FROM seats ORDER BY id OFFSET 1 ROW", "[[2]]"},
		{"ties", "SELECT id FROM seats ORDER BY id FETCH FIRST 1 ROWS WITH TIES",
			"the guard's parser does not know WITH TIES"},
		{"a fault of the statement", "SELECT id FROM seats WHERE ORDER BY id", "You have an error in your SQL syntax"},
		{"a function in a table of JSON", "SELECT * FROM JSON_TABLE(LOAD_FILE('/etc/passwd'), " +
			"'$' COLUMNS (n INT PATH '$')) j", "load_file is not allowed here"},
		{"a table that is none", "SELECT * FROM JSON_TABLE((SELECT user FROM mysql.user), '$' COLUMNS (n INT PATH '$')) j",
			"refused"},
	})
}

// TestClocks: under rules about rows no function is called whose value moves while a statement runs.
func TestClocks(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE parcels(id INTEGER, team VARCHAR(9));\n", "")
	db := dbtest.ReadyDB(t, pool, mysql.Dialect{},
		exec.Config{Policy: exec.Policy{Rows: map[string]string{"parcels": "team = :team"}}})
	view, err := db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": "red"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SELECT SYSDATE(6)", "SELECT UUID() FROM parcels", "SELECT SYS_GUID()",
		"SELECT id FROM parcels WHERE SYSDATE() > '2024-01-01'"} {
		if _, err := view.Query(t.Context(), text); !exec.IsRejection(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := view.Query(t.Context(),
		"SELECT NOW(6), CURRENT_TIMESTAMP, UNIX_TIMESTAMP(), RAND() FROM parcels"); err != nil {
		t.Error(err)
	}
}
