package doubt_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// TestRowStateColumns: which columns and values mark rows that usually do not count, one table a row: its columns, its
// rows, and the statement.
func TestRowStateColumns(t *testing.T) {
	const count, sum = "SELECT count(*) FROM t", "SELECT sum(n) FROM t"
	for _, tt := range []struct{ reason, columns, rows, question, sql, want string }{
		{"a flag in numbers", "id, deleted INTEGER", "(1,0),(2,1),(3,0)", "How many?", count,
			"3 t. 1 of them has deleted set; without them 2."},
		{"a flag in words", "id, is_test TEXT", "(1,'no'),(2,'yes'),(3,'yes')", "How many?", count,
			"3 t. 2 of them have is_test set; without them 1."},
		{"a flag in letters", "id, archived TEXT", "(1,'f'),(2,'T'),(3,'f')", "How many?", count,
			"3 t. 1 of them has archived set; without them 2."},
		{"a flag of one value marks nothing", "id, deleted INTEGER", "(1,1),(2,1)", "How many?", count, ""},
		{"a flag that is set or unknown", "id, deleted INTEGER", "(1,1),(2,NULL),(3,NULL)", "How many?", count,
			"3 t. 1 of them has deleted set; without them 2."},
		{"a flag for those that count", "id, active INTEGER", "(1,1),(2,0),(3,1)", "How many?", count,
			"3 t. 1 of them does not have active set; without them 2."},
		{"a flag for those that count, never false", "id, active INTEGER", "(1,1),(2,NULL)", "How many?", count, ""},
		{"three values are no flag", "id, deleted INTEGER", "(1,1),(2,0),(3,2)", "How many?", count, ""},
		{"a moment", "id, cancelled_at DATE", "(1,NULL),(2,'2024-01-01'),(3,'2024-01-02')", "How many?", count,
			"3 t. 2 of them have cancelled_at set; without them 1."},
		{"a moment that all rows have", "id, cancelled_at DATE", "(1,'2024-01-03'),(2,'2024-01-01')", "How many?", count, ""},
		{"a moment of another word", "id, cancelled_order_count INTEGER", "(1,0),(2,1)", "How many?", count, ""},
		{"a status", "id, status TEXT", "(1,'open'),(2,' Archived '),(3,'open')", "How many?", count,
			"3 t. 1 of them is archived; without them 2."},
		{"two of a status", "id, order_status TEXT", "(1,'open'),(2,'test'),(3,'void'),(4,'inactive')", "How many?", count,
			"4 t. 2 of them are inactive or test; without them 2."},
		{"a cancelled order was placed", "id, status TEXT, n", "(1,'open',5),(2,'cancelled',7)", "How many?", count, ""},
		{"and earned nothing", "id, status TEXT, n", "(1,'open',5),(2,'cancelled',7)", "What is the revenue?", sum,
			"Some rows of t are cancelled. Without them the answer is 5, not 12."},
		{"all are gone", "id, status TEXT", "(1,'archived'),(2,'deleted')", "How many?", count, ""},
		{"the question names the value", "id, status TEXT", "(1,'open'),(2,'archived')", "How many archives?", count, ""},
		{"the question names the column", "id, deleted INTEGER", "(1,0),(2,1)", "How many deleted ones?", count, ""},
		{"a status of another kind", "id, status_id INTEGER", "(1,1),(2,2)", "How many?", count, ""},

		{"open versions", "id, valid_from DATE, valid_to DATE",
			"(1,'2020-01-01','2021-01-01'),(2,'2021-01-01',NULL),(3,'2021-01-01',NULL)", "How many?", count,
			"3 t. 1 of them is an old version with valid_to; without them 2."},
		{"versions to the end of time", "id, effective_since DATE, effective_until DATE",
			"(1,'2020-01-01','2021-01-01'),(2,'2021-01-01','9999-12-31')",
			"How many?", count,
			"2 t. 1 of them is an old version with effective_until; without them 1."},
		{"all are open", "id, valid_from DATE, valid_to DATE", "(1,'2020-01-01','9999-12-31'),(2,'2021-01-01','9999-12-31')",
			"How many?", count, ""},
		{"an end without a beginning", "id, valid_to DATE", "(1,'2021-01-01'),(2,NULL)", "How many?", count, ""},
		{"an end that is another thing", "id, valid_from DATE, sent_to TEXT", "(1,'2020-01-01','x'),(2,'2021-01-01',NULL)",
			"How many?", count, ""},

		{"snapshots", "item, snapshot_date DATE, n, PRIMARY KEY (item, snapshot_date)",
			"(1,'2024-01-01',2),(1,'2024-01-02',3)", "How many pieces?", sum,
			"Some rows of t are of an earlier snapshot_date. Without them the answer is 3, not 5."},
		{"one snapshot", "item, snapshot_date DATE, n, PRIMARY KEY (item, snapshot_date)",
			"(1,'2024-01-01',2),(2,'2024-01-01',3)", "How many pieces?", sum, ""},
		{"a snapshot that is not in the key", "id, item, snapshot_date DATE, n, PRIMARY KEY (id, item)",
			"(1,1,'2024-01-01',2),(2,1,'2024-01-02',3)",
			"How many pieces?", sum, ""},
		{"snapshots in a list", "item, snapshot_date DATE, n, PRIMARY KEY (item, snapshot_date)",
			"(1,'2024-01-01',2),(1,'2024-01-02',3)", "Which items?",
			"SELECT item FROM t", ""},

		{"totals", "region TEXT, n", "('East',1),('West',2),('Grand Total',3)", "What is the number?", sum,
			"Some rows of t are totals, where region is Grand Total. Without them the answer is 3, not 6."},
		{"totals beside one part", "region TEXT, n", "('East',1),('Total',1)", "What is the number?", sum, ""},
		{"totals in a list", "region TEXT, n", "('East',1),('West',2),('total',3)", "Which regions?", "SELECT region FROM t",
			""},
		{"totals among groups", "region TEXT, n", "('East',1),('West',2),('overall',3)", "The number by region",
			"SELECT region, n FROM t GROUP BY region, n",
			"Some rows of t are totals, where region is overall. Without them the answer is 2 rows, not 3 rows."},

		{"-1", "n INTEGER", "(-1),(5),(7)", "The average?", "SELECT avg(n) FROM t",
			"Some rows of t have the n -1. Without them the answer is 6, not 3.67."},
		{"-1 among negatives", "n INTEGER", "(-1),(-5),(7),(8)", "The average?", "SELECT avg(n) FROM t", ""},
		{"-2 is a number", "n INTEGER", "(-2),(5),(7)", "The average?", "SELECT avg(n) FROM t", ""},
		{"-999 and 9999", "n INTEGER", "(-999),(5),(7),(9999)", "The sum?", sum,
			"Some rows of t have the n -999 or 9999. Without them the answer is 12, not 9,012."},
		{"999 near the others", "n INTEGER", "(999),(250),(7)", "The greatest?", "SELECT max(n) FROM t", ""},
		{"999 far from the others", "n INTEGER", "(999),(249),(7)", "The greatest?", "SELECT max(n) FROM t",
			"Some rows of t have the n 999. Without them the answer is 249, not 999."},
		{"99999", "n REAL", "(99999),(249),(7)", "The greatest?", "SELECT max(n) FROM t",
			"Some rows of t have the n 99999. Without them the answer is 249, not 99,999."},
		{"100000 is a number", "n INTEGER", "(100000),(249),(7)", "The greatest?", "SELECT max(n) FROM t", ""},
		{"999 beside one other", "n INTEGER", "(999),(7)", "The greatest?", "SELECT max(n) FROM t", ""},
		{"the end of time", "n DATE", "('9999-12-31'),('2024-01-01'),('2024-01-02')", "The latest?", "SELECT max(n) FROM t",
			"Some rows of t have the n '9999-12-31'. Without them the answer is 2024-01-02, not 9999-12-31."},
		{"a placeholder that the statement leaves out", "n INTEGER", "(-1),(5),(7)", "The average?",
			"SELECT avg(n) FROM t WHERE n > 0", ""},
		{"a placeholder in a count", "n INTEGER", "(-1),(5),(7)", "How many?", "SELECT count(n) FROM t", ""},

		{"currencies", "n REAL, currency TEXT", "(5,'EUR'),(7,'EUR'),(9,'NOK')", "The sum?", sum,
			"Some rows of t are not in EUR. Without them the answer is 12, not 21."},
		{"one currency", "n REAL, currency TEXT", "(5,'EUR'),(7,'EUR')", "The sum?", sum, ""},
		{"currencies that are counted", "n REAL, currency TEXT", "(5,'EUR'),(7,'EUR'),(9,'NOK')", "The first currency?",
			"SELECT min(currency) FROM t", ""},
		{"the question names the currency", "n REAL, currency TEXT", "(5,'EUR'),(7,'EUR'),(9,'NOK')",
			"The sum in each currency?", sum, ""},

		{"several figures", "id, deleted INTEGER, n", "(1,0,2),(2,1,3)", "The sum and more?",
			"SELECT sum(n), 1, avg(n), count(*) FROM t",
			"Some rows of t have deleted set. Without them the answer is 2, 1, 2, not 5, 1, 2.50."},
		{"nothing is left", "id, deleted INTEGER, n", "(1,1,2),(2,0,NULL)", "The sum?", sum,
			"Some rows of t have deleted set. Without them the answer is unknown, not 2."},
		{"a list", "id, deleted INTEGER", "(1,0),(2,1),(3,0)", "Which ones?", "SELECT id FROM main.t AS x ORDER BY id",
			"Some rows of t have deleted set. Without them the answer is 2 rows, not 3 rows."},
		{"equal figures of other rows", "id, deleted INTEGER", "(1,0),(2,1),(3,0)", "Which ones?",
			"SELECT id FROM t ORDER BY id DESC LIMIT 2", ""},
		{"a count of one column", "id, deleted INTEGER", "(1,0),(NULL,0),(3,1)", "How many?", "SELECT count(id) FROM t",
			"2 t. 1 of them has deleted set; without them 1."},
		{"a count of different ones", "id, deleted INTEGER", "(1,0),(1,0),(3,1)", "How many?",
			"SELECT count(DISTINCT id) FROM t",
			"Some rows of t have deleted set. Without them the answer is 1, not 2."},
	} {
		pool := testutil.Value(sql.Open("sqlite3", "file:"+t.TempDir()+"/t.db"))(t)
		testutil.Value(pool.Exec("CREATE TABLE t ("+tt.columns+"); INSERT INTO t VALUES "+tt.rows))(t, tt.reason)
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{}))(t)
		known := testutil.Value(db.Profile(t.Context(), testutil.Value(db.Schema(t.Context()))(t), exec.ProfileOptions{}))(t)
		a := contradict.Answer{Statement: db.Language().Text.Parse(tt.sql), Schema: known,
			Table: testutil.Value(db.Query(t.Context(), tt.sql))(t, tt.sql)}
		a.Query = func(sql string) *result.Table { return testutil.Value(db.Query(t.Context(), sql))(t, sql) }
		if got := (doubt.Rules{}).Read(tt.question, "").RowState(a); strings.TrimSpace(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
		pool.Close()
	}
}
