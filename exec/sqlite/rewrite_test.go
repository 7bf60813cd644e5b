package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestGroupedJSON: json_group_array and json_group_object give what SQLite itself gives, under the same names.
func TestGroupedJSON(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE t(n TEXT, g INT, v); INSERT INTO t VALUES ('a', 1, 1.5), ('b "q"', 1, NULL), (NULL, 2, 'x,y'), ('a', 2, 7);
		CREATE TABLE none(n)`)
	db := newDB(t, pool, exec.Config{})
	for _, test := range []struct{ why, sql string }{
		{"an array", "SELECT json_group_array(n) FROM t"},
		{"no rows", "SELECT json_group_array(n), json_group_object(n, n) FROM none"},
		{"an order of its own", "SELECT JSON_GROUP_ARRAY(v ORDER BY n DESC, v) AS x FROM t"},
		{"each once", "SELECT json_group_array(DISTINCT n) FROM t"},
		{"some rows", "SELECT json_group_array(n) FILTER (WHERE g = 1 AND n IN ('a')) FROM t GROUP BY g"},
		{"a window", "SELECT g, json_group_array(n) OVER (PARTITION BY g ORDER BY v) FROM t ORDER BY 1, 2"},
		{"a window with a name", "SELECT json_group_array(n) OVER w FROM t WINDOW w AS (ORDER BY v) ORDER BY 1"},
		{"an object", "SELECT json_group_object(g || coalesce(n, ''), v) FROM t"},
		{"numbers as names", "SELECT json_group_object(g, n) FROM t"},
		{"objects in an array in an object", "SELECT json_object('all', json_group_array(json_object('n', n, 'v', v))) " +
			"FROM t"},
		{"one in another", "SELECT json_group_object(g, x) FROM (SELECT g, json_group_array(n) AS x FROM t GROUP BY g)"},
		{"inside of its arguments", "SELECT json_group_array((SELECT json_group_array(u.n) FROM t u WHERE u.g = t.g)) " +
			"FROM t"},
		{"comments and blanks", "SELECT 1, json_group_array ( n -- every one\n ) /* of */ , 2 FROM t"},
		{"a name, not a call", "SELECT 'json_group_array(' || n AS \"json_group_array\" FROM t ORDER BY 1"},
		{"an order of rows", "SELECT g, json_group_array(v) FROM t GROUP BY g ORDER BY json_group_array(v) DESC"},
	} {
		got, err := db.Query(t.Context(), test.sql)
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		rows := testutil.Value(pool.Query(test.sql))(t)
		names := testutil.Value(rows.Columns())(t)
		var want [][]any
		for rows.Next() {
			row, dest := make([]any, len(names)), make([]any, len(names))
			for i := range row {
				dest[i] = &row[i]
			}
			testutil.OK(t, rows.Scan(dest...))
			want = append(want, row)
		}
		rows.Close()
		if diff := cmp.Diff(fmt.Sprint(names, want), fmt.Sprint(got.Columns, got.Rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
	_, err := db.Query(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "+
		"SELECT json_group_array(i) FROM n")
	if limit, ok := errors.AsType[*exec.LimitError](err); !ok || limit.Limit != "cell" {
		t.Errorf("an array over the limit on one value: %v", err)
	}
}

// TestLongConditions: chains of OR and AND may be as long as SQLite allows, and other expressions no deeper than
// before.
func TestLongConditions(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, 2)")
	db := newDB(t, pool, exec.Config{})
	chain := func(term, with string, n int) string {
		return "SELECT count(*) FROM t WHERE " + strings.Repeat(term+with, n-1) + term
	}
	for _, test := range []struct {
		why, sql string
		refused  bool
	}{
		{"900 ORs", chain("a = 1", " OR ", 900), false},
		{"900 ANDs of two columns", chain("a <> b", " AND ", 900), false},
		{"ORs in brackets", chain("(a = 1 AND b = 2)", " or ", 400), false},
		{"2,000 ORs", chain("a = 1", " OR ", 2000), true},
		{"300 additions", chain("a", " + ", 300), true},
	} {
		_, err := db.Query(t.Context(), test.sql)
		refused, is := errors.AsType[*exec.RefusedError](err)
		if is != test.refused || err != nil && !is || is && refused.Reason != "too-complex" {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}

// TestLongStored: a stored value over the limit on one value is cut where the statement computes none, and is over the
// limit elsewhere.
func TestLongStored(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE doc(id INTEGER PRIMARY KEY, body TEXT, twice TEXT AS (body || body));
		CREATE TABLE plain(id INTEGER PRIMARY KEY, body TEXT, at DATE); CREATE VIEW joined AS SELECT body || body AS both FROM plain;
		INSERT INTO plain VALUES (1, replace(hex(zeroblob(1500000)), '0', 'x'), ''), (2, 'short', ''); INSERT INTO doc SELECT id, body FROM plain`)
	db := newDB(t, pool, exec.Config{})
	dialecttest.Gives(t, db, [][3]string{
		{"columns of a table", "SELECT id, body FROM plain", "… 3,000,000 bytes"},
		{"a condition without a call", "SELECT body FROM plain WHERE id = 1", "… 3,000,000 bytes"},
		{"in the order of the key", "SELECT id, body FROM plain ORDER BY id", "[2 short]"},
		{"a call", "SELECT upper(body) FROM plain", "limit on cell"},
		{"two texts put together", "SELECT body || 'x' FROM plain", "limit on cell"},
		{"a sort beside a column that drivers convert", "SELECT body, at FROM plain ORDER BY body", "limit on cell"},
		{"a sort", "SELECT body FROM plain ORDER BY body", "limit on cell"},
		{"a column that is computed", "SELECT twice FROM doc", "limit on cell"},
		{"a view that computes", "SELECT both FROM joined", "limit on cell"},
	})
}
