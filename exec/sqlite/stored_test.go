package sqlite_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
)

// TestStoredValues reads what go-sqlite3 would make something else of.
func TestStoredValues(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE d(n INTEGER, day DATE, at DATETIME, ts TIMESTAMP, ok BOOLEAN, "odd ""name" date, plain TEXT);
INSERT INTO d VALUES
	(1, '2020-01-01', '2020-01-01 10:00:00', '2020-01-01T10:00:00Z', 1, '2020-01-01', '2020-01-01'),
	(2, NULL, NULL, NULL, NULL, NULL, NULL),
	(3, '0000-00-00', '', '0001-01-01 00:00:00', 0, 'not a date', ''),
	(4, 1577836800, 1577836800000, -1, 7, 2458849.5, 3),
	(5, '2020-1-1', x'00ff', 1.5, 'true', 'NULL', 1.0);
CREATE VIEW v AS SELECT day AS d, ok FROM d;
CREATE TABLE stored(day DATE); INSERT INTO stored VALUES ('2020-01-01');
CREATE VIEW over_stored AS SELECT day FROM stored;`)
	db := newDB(t, pool, exec.Config{})
	tests := []struct {
		why, sql string
		columns  []string
		rows     [][]any
	}{
		{
			"every kind of value in every kind of column", `SELECT * FROM d`,
			[]string{"n", "day", "at", "ts", "ok", `odd "name`, "plain"},
			[][]any{
				{int64(1), "2020-01-01", "2020-01-01 10:00:00", "2020-01-01T10:00:00Z", int64(1), "2020-01-01", "2020-01-01"},
				{int64(2), nil, nil, nil, nil, nil, nil},
				{int64(3), "0000-00-00", "", "0001-01-01 00:00:00", int64(0), "not a date", ""},
				{int64(4), int64(1577836800), int64(1577836800000), int64(-1), int64(7), 2458849.5, "3"},
				{int64(5), "2020-1-1", []byte{0, 255}, 1.5, "true", "NULL", "1.0"},
			},
		},
		{
			"a column and an expression over it are alike", `SELECT day, day || '' FROM d WHERE n = 5`,
			[]string{"day", "day || ''"}, [][]any{{"2020-1-1", "2020-1-1"}},
		},
		{
			"in the order asked for", `SELECT day FROM d ORDER BY n DESC`,
			[]string{"day"}, [][]any{{"2020-1-1"}, {int64(1577836800)}, {"0000-00-00"}, {nil}, {"2020-01-01"}},
		},
		{
			"with a limit", `SELECT n, ok FROM d ORDER BY ok DESC, n LIMIT 2 OFFSET 1`,
			[]string{"n", "ok"}, [][]any{{int64(4), int64(7)}, {int64(1), int64(1)}},
		},
		{
			"through a view, a comment at the end", "SELECT d, ok FROM v LIMIT 1 -- the first",
			[]string{"d", "ok"}, [][]any{{"2020-01-01", int64(1)}},
		},
		{
			"through WITH and a compound", "WITH x AS (SELECT day, n FROM d WHERE n < 3) SELECT day FROM x UNION ALL SELECT day FROM d WHERE n = 3",
			[]string{"day"}, [][]any{{"2020-01-01"}, {nil}, {"0000-00-00"}},
		},
		{
			"grouped", "SELECT ok, count(*) FROM d GROUP BY ok ORDER BY ok",
			[]string{"ok", "count(*)"}, [][]any{{nil, int64(1)}, {int64(0), int64(1)}, {int64(1), int64(1)}, {int64(7), int64(1)}, {"true", int64(1)}},
		},
		{
			"equal and empty names", `SELECT day, day, 1 AS "" FROM d LIMIT 1`,
			[]string{"day", "day", ""}, [][]any{{"2020-01-01", "2020-01-01", int64(1)}},
		},
		{"a table of the name that the wrapping once had", "SELECT day FROM stored", []string{"day"}, [][]any{{"2020-01-01"}}},
		{"a view over it", "SELECT day FROM over_stored", []string{"day"}, [][]any{{"2020-01-01"}}},
		{"a CTE of that name", "WITH stored(c0) AS (SELECT day FROM d WHERE n = 1) SELECT c0 FROM stored", []string{"c0"}, [][]any{{"2020-01-01"}}},
		{"no rows", "SELECT day FROM d WHERE 0", []string{"day"}, [][]any{}},
		{
			"numbers keep their type", "SELECT 1, 1.0, 9223372036854775807, 9e999, -0.0, x'', ''",
			[]string{"1", "1.0", "9223372036854775807", "9e999", "-0.0", "x''", "''"},
			[][]any{{int64(1), 1.0, int64(math.MaxInt64), math.Inf(1), 0.0, []byte{}, ""}},
		},
		{
			"text that is not UTF-8", "SELECT CAST(x'ff41' AS TEXT)",
			[]string{"CAST(x'ff41' AS TEXT)"}, [][]any{{"\xffA"}},
		},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got, err := db.Query(context.Background(), test.sql)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.columns, got.Columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.rows, got.Rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStoredOrder compares the order of rows with that of the same statement over
// columns without a declared type, which needs no wrapping. It guards the one
// thing that asStored takes from SQLite without a promise.
func TestStoredOrder(t *testing.T) {
	const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
		SELECT i, date('2020-01-01', (i * 37 % 101) || ' days'), i * 31 % 7 > 3, i * 17 % 23 FROM n;`
	pool, _ := open(t, `
CREATE TABLE typed(id INTEGER PRIMARY KEY, day DATE, ok BOOLEAN, k INTEGER);
CREATE TABLE plain(id INTEGER PRIMARY KEY, day TEXT, ok INTEGER, k INTEGER);
CREATE INDEX typed_k ON typed(k, day);
CREATE INDEX plain_k ON plain(k, day);
INSERT INTO typed `+rows+`INSERT INTO plain `+rows)
	db := newDB(t, pool, exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Rows: 100_000}}})
	for _, format := range []string{
		"SELECT * FROM %s",
		"SELECT * FROM %s ORDER BY day, id",
		"SELECT day FROM %s ORDER BY ok DESC, k, id DESC",
		"SELECT day, ok FROM %s ORDER BY id %% 10, id LIMIT 50",
		"SELECT day, ok FROM %s ORDER BY 1 DESC, id LIMIT 50 OFFSET 100",
		"SELECT DISTINCT day FROM %s ORDER BY day DESC",
		"SELECT day, count(*) FROM %s GROUP BY day ORDER BY 2 DESC, 1",
		"SELECT day, max(k) FROM %s GROUP BY day",
		"SELECT day FROM %s WHERE k = 5",
		"SELECT a.day, b.ok FROM %[1]s a JOIN %[1]s b ON a.k = b.id ORDER BY b.day DESC, a.id",
		"SELECT day FROM %[1]s WHERE k < 4 UNION SELECT day FROM %[1]s WHERE k > 20 ORDER BY 1 DESC",
		"SELECT day FROM %[1]s WHERE k < 4 UNION ALL SELECT day FROM %[1]s WHERE k > 20",
		"SELECT day, row_number() OVER (ORDER BY k, id) AS r FROM %s ORDER BY r",
		"SELECT day, sum(k) OVER (PARTITION BY ok ORDER BY id) FROM %s ORDER BY ok, id",
		"WITH top AS (SELECT day, k FROM %s ORDER BY k DESC, id LIMIT 40) SELECT day FROM top",
		"SELECT day FROM (SELECT day, id FROM %s ORDER BY k, id) ORDER BY id DESC",
		"SELECT day FROM %s ORDER BY (SELECT -id), day",
	} {
		t.Run(format, func(t *testing.T) {
			typed, err := db.Query(context.Background(), fmt.Sprintf(format, "typed"))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := db.Query(context.Background(), fmt.Sprintf(format, "plain"))
			if err != nil {
				t.Fatal(err)
			}
			if len(plain.Rows) < 10 {
				t.Fatalf("only %d rows", len(plain.Rows))
			}
			if diff := cmp.Diff(plain.Rows, typed.Rows); diff != "" {
				t.Errorf("order (-plain +typed):\n%s", diff)
			}
		})
	}
}
