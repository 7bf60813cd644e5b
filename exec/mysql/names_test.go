package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestNames has the words of the server, of its sets of characters and of its functions.
func TestNames(t *testing.T) {
	const query = `SELECT LOWER(WORD) FROM information_schema.KEYWORDS WHERE WORD RLIKE '^[A-Za-z]'
		UNION SELECT CONCAT('_', CHARACTER_SET_NAME) FROM information_schema.CHARACTER_SETS
		UNION SELECT LOWER(FUNCTION) FROM information_schema.SQL_FUNCTIONS`
	names := append([]string{"Ab", "aB", "dueDate", "_a", "id"}, dialecttest.OddNames...)
	dialecttest.Names(t, engine("", "root"), query, names...)

	ansi := engine("sql_mode=%27ANSI_QUOTES%27", "root")
	ansi.Dialect = mysql.Dialect{ANSIQuotes: true}
	dialecttest.Names(t, ansi, "", append(names, "interval", "condition", "utc_date")...)
}

// TestQuotes: see dialecttest.Quotes.
func TestQuotes(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE Orders(Id int, `interval` int, `order` int, `read` int, `key` int, "+
		"`utc_date` varchar(9));"+
		"CREATE TABLE `condition`(`desc` int, `schema` int)", "multiStatements=true")
	const quoted, bare = "names-quoted", "odd-bare-function"
	dialecttest.Quotes(t, testutil.Value(exec.New(pool, mysql.Dialect{MariaDB: true}, exec.Config{}))(t), [][4]string{
		{"SELECT o.Id FROM orders o", "SELECT o.Id FROM `Orders` o", quoted, "a table in another case"},
		{"SELECT o.interval, key FROM Orders o WHERE read > 1", "SELECT o.`interval`, `key` FROM Orders o WHERE `read` > 1",
			quoted, "keywords"},
		{"SELECT interval FROM Orders WHERE interval > 1 AND NOW() - INTERVAL 1 DAY < NOW()",
			"SELECT `interval` FROM Orders WHERE `interval` > 1 AND NOW() - INTERVAL 1 DAY < NOW()", quoted,
			"a keyword that is both"},
		{"SELECT desc FROM condition ORDER BY desc DESC", "SELECT `desc` FROM `condition` ORDER BY `desc` DESC", quoted,
			"a keyword that is both"},
		{"SELECT schema FROM `condition`", "SELECT `schema` FROM `condition`", quoted,
			"a word that only the guard's parser takes for a keyword"},
		{"SELECT utc_date FROM Orders", "SELECT utc_date FROM Orders", bare, "the clock and not the column"},
		{"SELECT utc_date() FROM Orders", "SELECT utc_date() FROM Orders", "", "the clock, by a call"},
		{"SELECT `utc_date` FROM Orders", "SELECT `utc_date` FROM Orders", "", "the column"},
		{"SELECT ID FROM Orders", "SELECT ID FROM Orders", "", "columns have no case"},
		{"SELECT key, nosuch FROM Orders", "", "", "quotes alone do not help"},
	})
}
