package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// rowTraps are tables for the statements against rules about rows.
var rowTraps = dbtest.RowsOf{
	Script: `CREATE TABLE invisible(id INTEGER, tenant_id INTEGER, hidden VARCHAR(40) INVISIBLE, Überzahl INTEGER INVISIBLE,
	made INTEGER AS (id + 1) STORED, virtual_one VARCHAR(50) AS (concat(hidden, '!')) VIRTUAL, unique_one INTEGER INVISIBLE UNIQUE);
INSERT INTO invisible(id, tenant_id, hidden) VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-i');
CREATE TABLE keyless(id INTEGER INVISIBLE AUTO_INCREMENT PRIMARY KEY, tenant_id INTEGER, memo VARCHAR(40));
INSERT INTO keyless(tenant_id, memo) VALUES (1, 'x'), (2, 'Zebu-Q7-k');
CREATE VIEW over_invisible AS SELECT id, hidden FROM invisible;
CREATE TABLE docs(id INTEGER PRIMARY KEY, tenant_id INTEGER, body TEXT, FULLTEXT(body));
CREATE TABLE warned(id INTEGER, memo VARCHAR(40));
INSERT INTO warned VALUES (1, '1'), (2, 'Zebu-Q7-w');
INSERT INTO docs VALUES (1, 1, 'apple pear'), (2, 1, 'cherry'), (3, 2, 'apple Zebu-Q7-d');
`,
	Hidden: "DELETE FROM invisible WHERE tenant_id <> 1;\nDELETE FROM keyless WHERE tenant_id <> 1;\n" +
		"DELETE FROM docs WHERE tenant_id <> 1;\nDELETE FROM warned WHERE id = 2;\n",
	Rows: map[string]string{"invisible": "tenant_id = :tenant", "keyless": "tenant_id = :tenant",
		"docs": "tenant_id = :tenant", "warned": "memo = 1"},
}

// TestRows runs the hostile statements under rules about rows, fenced after an error or a warning and always.
func TestRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		of := rowTraps
		of.Fence = fence
		statements := attack.Rows()
		if n := dialecttest.Rows(t, engine("", "reader"), of, statements...); n < 120 {
			t.Errorf("only %d of %d statements are answered", n, len(statements))
		} else {
			t.Logf("%d of %d statements are answered", n, len(statements))
		}
	}
}

// TestSubqueryInHaving: MariaDB gives a subquery in HAVING the value of another group where it names a column of a
// query in FROM that was merged, as a splice is.
func TestSubqueryInHaving(t *testing.T) {
	const condition = " GROUP BY a.customer_id HAVING count(*) = (SELECT count(*) FROM orders AS b " +
		"WHERE b.customer_id = a.customer_id)"
	of := dbtest.RowsOf{Script: "CREATE VIEW counted AS SELECT a.customer_id FROM orders AS a" + condition + ";\n" +
		"CREATE ALGORITHM = TEMPTABLE VIEW bought AS SELECT customer_id AS by_whom FROM orders;\n"}
	statements := []string{
		"SELECT a.customer_id FROM orders AS a" + condition,
		"SELECT customer_id FROM counted",
		"SELECT a.by_whom FROM bought AS a GROUP BY a.by_whom HAVING count(*) = (SELECT count(*) FROM bought AS b " +
			"WHERE b.by_whom = a.by_whom)",
		"SELECT a.customer_id FROM orders AS a GROUP BY a.customer_id HAVING EXISTS (SELECT 1 FROM orders AS b " +
			"WHERE b.customer_id = a.customer_id AND total = 10)",
		"SELECT a.customer_id FROM orders AS a GROUP BY a.customer_id HAVING max(a.id) IN (SELECT b.id FROM orders AS b " +
			"WHERE b.customer_id >= a.customer_id)",
		"SELECT a.customer_id c FROM orders AS a HAVING c > (SELECT min(b.customer_id) FROM orders AS b " +
			"WHERE b.total > a.total)",
	}
	if n := dialecttest.Rows(t, engine("", "reader"), of, statements...); n != len(statements) {
		t.Errorf("%d of %d statements are answered", n, len(statements))
	}
}

// TestHeadings: columns are called as without rules, which may not be as the table spells them.
func TestHeadings(t *testing.T) {
	statements := []string{
		"SELECT Id, o.MEMO, `Total`, TOTAL+1, id FROM orders o",
		"SELECT c.Id AS x, o.ID FROM (orders o JOIN customers AS c ON c.id = o.customer_id) WHERE Memo <> ''",
		"SELECT x.* FROM (SELECT Memo FROM orders) AS x", "WITH x AS (SELECT Memo FROM orders) SELECT * FROM x",
		"SELECT MEMO FROM (SELECT Memo FROM orders) AS x",
		"SELECT ID FROM orders UNION SELECT Total FROM orders",
		"SELECT Customer_id, max(ID) FROM orders GROUP BY CUSTOMER_ID HAVING customer_ID > 0 ORDER BY Customer_ID",
		"SELECT ID, (SELECT Name FROM customers WHERE id = customer_id) FROM orders WHERE ID IN (SELECT Id FROM orders)",
		"SELECT * FROM orders",
	}
	if n := dialecttest.Rows(t, engine("", "reader"), dbtest.RowsOf{}, statements...); n != len(statements) {
		t.Errorf("%d of %d statements are answered", n, len(statements))
	}
}

// TestRowsParams: no text is compared with a number, of which the server takes the digits that it begins with.
func TestRowsParams(t *testing.T) {
	d := engine("", "reader").Open(t, "CREATE TABLE t(id INTEGER, word VARCHAR(9), n DECIMAL(4,1));\n"+
		"INSERT INTO t VALUES (0, 'a', 0), (7, '7', 1.5), (8, '7x', 7), (9, '', 9);\n")
	user := sql.OpenDB(d.User)
	defer user.Close()
	for _, test := range []struct {
		rule  string
		value any
		want  string // the ids, or a part of the error
	}{
		{"id = :v", 7, "[[7]]"}, {"id = :v", "7", "[[7]]"}, {"id = :v", []byte("7"), "[[7]]"}, {"id = :v", nil, "[]"},
		{"id = :v", true, "[]"},
		{"id = :v", "7x", "no number"}, {"id = :v", "a", "no number"}, {"id = :v", "", "no number"},
		{"id = :v", []byte("0 or 1"), "no number"},
		{":v = t.id", "a", "no number"}, {"id <=> :v", "a", "no number"}, {"(id IN (5, :w, :v))", "a", "no number"},
		{"id NOT IN (:w,:v)", "a", "no number"},
		{"n >= :v AND word <> :w", "7x", "no number"}, {"n BETWEEN 7 AND :v", "9x", "no number"},
		{"n BETWEEN :w AND :v", "9x", "no number"}, {"FIND_IN_SET(id, :v)", "7,x", "[[7]]"}, {"n = :v", "1.5", "[[7]]"},
		{"n BETWEEN :v AND 2", "", "no number"},
		{"word = :v", 7, "[[7]]"}, {"word = :v", 0, "[]"}, {"word = :v", "7x", "[[8]]"}, {"word IN (:w, :v)", 0, "[]"},
		{"word = :v", false, "no text"},
	} {
		db, err := exec.New(user, mysql.Dialect{}, exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": test.rule}}})
		for i, value := range []any{test.value, nil, test.value} { // at the last one the statement is known
			if err != nil {
				t.Fatal(err)
			}
			view, ferr := db.For(&exec.Scope{Key: "x", Params: map[string]any{"v": value, "w": "5"}}, nil)
			if ferr != nil {
				t.Fatal(ferr)
			}
			table, err := view.Query(t.Context(), "SELECT id FROM t")
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(table.Rows)
			}
			if i != 1 && !strings.Contains(got, test.want) || err != nil && !errors.Is(err, exec.ErrNoScope) {
				t.Errorf("%s with %#v gives %s, want %s", test.rule, test.value, got, test.want)
			}
		}
	}
}

// owned returns a view of a table t of which it reads the row of owner 1.
func owned(t *testing.T) *exec.DB {
	d := engine("", "reader").Open(t, "CREATE TABLE t(id INTEGER PRIMARY KEY, owner INTEGER, mail VARCHAR(9) UNIQUE);\n"+
		"INSERT INTO t VALUES (1, 1, 'mine'), (2, 2, 'hidden');\n")
	user := sql.OpenDB(d.User)
	t.Cleanup(func() { user.Close() })
	db := testutil.Value(exec.New(user, mysql.Dialect{},
		exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": "owner = :v"}}}))(t)
	return testutil.Value(db.For(&exec.Scope{Key: "x", Params: map[string]any{"v": 1}}, nil))(t)
}

// TestCommonNames: the forms of docs/databases/mariadb.md in which a name may be that of the table or of a common table
// expression.
func TestCommonNames(t *testing.T) {
	db := owned(t)
	dialecttest.Gives(t, db, [][3]string{
		{"it reads itself", "WITH RECURSIVE t AS (SELECT 1 AS id UNION SELECT id FROM t) SELECT id FROM t", "may be"},
		{"a recursive WITH has the name", "WITH RECURSIVE a AS (SELECT id FROM t), t AS (SELECT 1 AS id) SELECT id FROM a",
			"may be"},
		{"another case", "WITH T AS (SELECT 7 AS id) SELECT id FROM t", "may be"},
		{"a query in a query", "WITH t AS (SELECT 7 AS id) SELECT (WITH u AS (SELECT id FROM t) SELECT id FROM u)", "may be"},
		{"a name of a WITH", "WITH t AS (SELECT 7 AS id) SELECT id FROM t", "[[7]]"},
		{"the table, and then the name", "WITH a AS (SELECT id FROM t), t AS (SELECT 7 AS id) SELECT id FROM a", "[[1]]"},
		{"both", "SELECT (WITH t AS (SELECT 7 AS id) SELECT id FROM t), id FROM t", "[[7 1]]"},
	})
}

// TestLongHeading: the heading is what was written, and no rule is seen in it.
func TestLongHeading(t *testing.T) {
	const text = "(SELECT count(*) FROM t AS a WHERE a.id IN (SELECT b.id FROM t AS b WHERE b.id IN (SELECT c.id " +
		"FROM t AS c" +
		" WHERE c.id IN (SELECT d.id FROM t AS d))))"
	table := testutil.Value(owned(t).Query(t.Context(), "SELECT "+text))(t)
	if table.Columns[0] != text {
		t.Errorf("%q", table.Columns[0])
	}
}

// TestRowsPlan: no plan tells whether a key finds a hidden row.
func TestRowsPlan(t *testing.T) {
	view := owned(t)
	for _, text := range []string{"SELECT id FROM t WHERE mail = '%s'",
		"SELECT (SELECT id FROM t WHERE mail = '%s') FROM t"} {
		hidden, herr := view.Explain(t.Context(), fmt.Sprintf(text, "hidden"))
		absent, aerr := view.Explain(t.Context(), fmt.Sprintf(text, "absent"))
		if herr != nil || aerr != nil || fmt.Sprint(hidden) != fmt.Sprint(absent) {
			t.Errorf("%s: %v %v\n%v\n%v", text, herr, aerr, hidden, absent)
		}
	}
}

// TestOneInspection: a narrower policy asks the server for no schema of its own.
func TestOneInspection(t *testing.T) {
	if n := dialecttest.Inspections(t, engine("", "reader"), "information_schema.COLUMNS"); n != 1 {
		t.Errorf("the columns were read %d times", n)
	}
}

// TestRowsFailing: whether a statement fails does not tell whether a key finds a hidden row.
func TestRowsFailing(t *testing.T) {
	attack.Twins(t, engine("", "reader"), "CREATE TABLE t(id INTEGER PRIMARY KEY, owner INTEGER, "+
		"memo VARCHAR(9) UNIQUE);\n"+
		"INSERT INTO t VALUES (1, 1, 'mine'), (2, 2, 'hidden'), (3, 1, 'me');\nCREATE VIEW v AS SELECT id, memo FROM t;\n",
		"owner = :v",
		"SELECT a.id FROM t a, t b WHERE CAST(0 AS UNSIGNED) - a.id > 1 AND b.memo = '%s'",
		"SELECT a.id FROM v a, v b WHERE -9223372036854775807 - a.id > 1 AND b.memo = '%s'",
		"SELECT id FROM t WHERE id IN (SELECT b.id FROM t b WHERE b.memo = '%s') AND CAST(0 AS UNSIGNED) - id > 0")
}

// BenchmarkRows: 1.3 times the filter by hand at the median is the bar.
func BenchmarkRows(b *testing.B) { attack.BenchmarkRows(b, engine("", "reader")) }

// TestRowPlans: neither costs nor the choice of an index tell of hidden rows.
func TestRowPlans(t *testing.T) {
	dialecttest.RowPlans(t, engine("", "reader"), "ANALYZE TABLE bulk, orders;\n")
}

// TestStreamed: a stream under rules about rows gives what the whole result has, and is refused where that is.
func TestStreamed(t *testing.T) {
	if n := dialecttest.Streamed(t, engine("", "reader"), attack.Rows()...); n < 120 {
		t.Errorf("only %d statements are answered", n)
	}
}
