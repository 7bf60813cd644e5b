package mysql_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

func inspect(t testing.TB, pool *sql.DB) *schema.Schema {
	t.Helper()
	c := testutil.Value(held(t, pool).Catalog(t.Context()))(t)
	return c.Schema
}

// one returns a connection of its own: temporary tables and settings belong to it.
func one(t testing.TB, pool *sql.DB) *sql.Conn {
	t.Helper()
	c := testutil.Value(pool.Conn(t.Context()))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func exec1(t testing.TB, on interface {
	Exec(string, ...any) (sql.Result, error)
}, statement string) {
	t.Helper()
	testutil.Value(on.Exec(statement))(t, statement)
}

func file(t testing.TB, name string) string {
	t.Helper()
	b := testutil.Value(os.ReadFile("testdata/" + name))(t)
	return string(b)
}

// TestInspectRich holds all that a schema may have to a golden file: TEXTTOSQL_SERVERS=1 go test ./exec/mysql -run
// InspectRich -update
func TestInspectRich(t *testing.T) {
	pool, _ := open(t, file(t, "rich.sql"), "")
	pool.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TEMPORARY TABLE passing(x INT)",
		"CREATE TEMPORARY TABLE two(b TEXT, other INT)"} {
		exec1(t, pool, statement)
	}
	c := testutil.Value(held(t, pool).Catalog(t.Context()))(t)
	if got := fmt.Sprint(c.Warnings); strings.Count(got, "broken-view") != 1 ||
		!strings.Contains(got, "the view broken is left out") {
		t.Error("warnings:", got)
	}
	c.Schema.Default = "" // a number
	got := testutil.Value(json.MarshalIndent(c.Schema, "", "  "))(t)
	golden.Check(t, "rich.golden.json", append(got, '\n'))
}

// TestBrokenViewsByUser: a view that fails at its use is left out, with the reason, for the owner of all and for who
// only reads; the others are there. No lock on metadata is kept, and nothing of a view runs.
func TestBrokenViewsByUser(t *testing.T) {
	const script = `CREATE TABLE t(a INT, b INT);
CREATE TABLE gone(a INT);
CREATE FUNCTION f() RETURNS INT RETURN 1;
CREATE DEFINER='ghost'@'nowhere' VIEW ghosts AS SELECT a FROM t;
CREATE DEFINER=reader@'127.0.0.1' VIEW weak AS SELECT user FROM mysql.user;
CREATE VIEW lost_table AS SELECT a FROM gone;
CREATE VIEW lost_column AS SELECT b FROM t;
CREATE VIEW lost_function AS SELECT f() AS x FROM t;
CREATE VIEW fine AS SELECT a FROM t;
CREATE VIEW slow AS SELECT count(*) AS n FROM t x, t y, t z;
DROP TABLE gone;
ALTER TABLE t DROP COLUMN b;
DROP FUNCTION f`
	const lost = ": a table, column or function of it is gone, or the user as whom it reads has no right to it"
	for _, user := range []string{"root", "reader"} {
		made := engine("", user).Open(t, script)
		pool, owner := sql.OpenDB(made.User), sql.OpenDB(made.Owner)
		owner.SetMaxOpenConns(1)
		t.Cleanup(func() { pool.Close(); owner.Close() })
		c := testutil.Value(held(t, pool).Catalog(t.Context()))(t)
		var names, why []string
		for _, table := range c.Schema.Tables {
			names = append(names, table.Name)
		}
		for _, w := range c.Warnings {
			if w.Code == "broken-view" {
				why = append(why,
					strings.TrimPrefix(strings.Replace(w.Message, " is left out of the schema, since the server cannot open it", "",
						1), "the view "))
			}
		}
		golden.Equal(t, []string{"fine", "slow", "t"}, names, user)
		golden.Equal(t, []string{
			"ghosts: the user as whom it reads (its DEFINER) is gone", "lost_column" + lost, "lost_function" + lost,
			"lost_table" + lost, "weak" + lost,
		}, why, user)
		exec1(t, owner, "SET lock_wait_timeout = 2")
		exec1(t, owner, "ALTER TABLE t ADD COLUMN c INT")
	}
}

// TestVersion: each change of the schema changes the version, and writing rows does not.
func TestVersion(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT, b INT); CREATE VIEW v AS SELECT a FROM t; CREATE FUNCTION f() RETURNS INT "+
		"RETURN 1", "")
	conn := held(t, pool)
	version := func() string {
		v := testutil.Value(conn.Version(t.Context()))(t)
		if c, err := conn.Catalog(t.Context()); err != nil || c.Version != v {
			t.Fatalf("the catalog has the version %q, want %q: %v", c.Version, v, err)
		}
		return v
	}
	last := version()
	for _, c := range []struct {
		statement string
		changes   bool
		why       string
	}{
		{"INSERT INTO t VALUES (1, 2)", false, "rows are no schema"},
		{"ANALYZE TABLE t", false, "nor are statistics"},
		{"CREATE OR REPLACE VIEW v AS SELECT b AS a FROM t", true, "a view has no time"},
		{"EXECUTE IMMEDIATE 'CREATE TABLE u(x INT)'", true, "a statement within another counts"},
		{"ALTER TABLE u COMMENT = 'of things'", true, "a description"},
		{"CREATE FUNCTION g() RETURNS INT RETURN 1", true, "a name that was free may be taken"},
		{"DROP FUNCTION g", true, ""},
		{"DROP VIEW v", true, ""},
		{"RENAME TABLE u TO w", true, ""},
		{"CREATE TEMPORARY TABLE passing(x INT)", false, "belongs to one connection"},
		{"SET GLOBAL event_scheduler = ON", false, ""},
		{"CREATE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP + INTERVAL 2 SECOND DO CREATE VIEW v AS SELECT 1 AS a", false,
			"it runs soon"},
		{"DO SLEEP(2.1)", true, "it ran"},
		{"SET GLOBAL event_scheduler = OFF", false, ""},
		{"ALTER TABLE t RENAME COLUMN b TO c", true, "instant: only the time tells"},
		{"DO SLEEP(1.1)", false, ""},
		{"ALTER TABLE t MODIFY a INT COMMENT 'first'", true, "a comment"},
	} {
		exec1(t, pool, c.statement)
		if now := version(); (now != last) != c.changes {
			t.Errorf("%s: the version changes: %t, want %t (%s)", c.statement, now != last, c.changes, c.why)
		} else {
			last = now
		}
	}
}

// TestEmptyDatabase: a database without tables has a schema, whose default is its name.
func TestEmptyDatabase(t *testing.T) {
	pool, dsn := open(t, "", "")
	if s := inspect(t, pool); len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "mysql" ||
		s.Default != databaseOf(dsn) {
		t.Errorf("an empty database: %+v", s)
	}
}

// TestGrants: which users are told to be too powerful.
func TestGrants(t *testing.T) {
	for _, c := range []struct{ grant, want, why string }{
		{"GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*E'", "", "nothing"},
		{"GRANT SELECT, SHOW VIEW ON `d`.* TO `r`@`%`", "", "the role that we recommend"},
		{"GRANT SELECT (`a`, `b`) ON `d`.`t` TO `r`@`%`", "", "columns"},
		{"GRANT SELECT (a), UPDATE (b) ON `d`.`t` TO `r`@`%`", "UPDATE ON `d`.`t`", "one column may be written"},
		{"GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", "ALL PRIVILEGES ON *.*", ""},
		{"GRANT `analyst` TO `r`@`%`", "", "a role: its own line tells"},
		{"GRANT EXECUTE ON FUNCTION `d`.`f` TO `r`@`%`", "EXECUTE ON `d`.`f`", "a function may write"},
		{"GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION", "PROXY ON ''@'%'", ""},
		{"", "", ""},
	} {
		if got := mysql.BeyondReading(c.grant); got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.grant, got, c.want, c.why)
		}
	}
	pool, _ := open(t, "", "")
	warnings := func(pool *sql.DB) []trace.Warning {
		c := testutil.Value(held(t, pool).Catalog(t.Context()))(t)
		return c.Warnings
	}
	found := warnings(pool)
	if len(found) != 1 || found[0].Code != "privileged-user" ||
		!strings.Contains(found[0].Message, "(ALL PRIVILEGES ON *.*)") {
		t.Errorf("root: %v", found)
	}
	exec1(t, pool, "CREATE USER IF NOT EXISTS plain@'127.0.0.1' IDENTIFIED BY 'p'")
	var name string
	testutil.OK(t, pool.QueryRow("SELECT DATABASE()").Scan(&name))
	exec1(t, pool, "GRANT SELECT, SHOW VIEW ON "+name+".* TO plain@'127.0.0.1'")
	plain := testutil.Value(sql.Open("mysql", fmt.Sprintf("plain:p@tcp(127.0.0.1:%d)/%s", server.Get(t).Port, name)))(t)
	t.Cleanup(func() { plain.Close() })
	if found := warnings(plain); len(found) != 0 {
		t.Errorf("a role that reads: %v", found)
	}
}

var _ exec.Sampler = mysql.Dialect{}

// TestSampleRows: which rows are read, and that the table is never read whole for them.
func TestSampleRows(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE keyed(id INT PRIMARY KEY, v INT, w TEXT, KEY(v)); INSERT INTO keyed SELECT seq, 100000 - seq, REPEAT('é', 300) FROM seq_1_to_20000;
CREATE TABLE heap(v INT, w INT, KEY(v)); INSERT INTO heap SELECT 5000 - seq, seq FROM seq_1_to_5000;
CREATE TABLE named(k VARCHAR(9) PRIMARY KEY, v INT); INSERT INTO named SELECT CONCAT('k', seq), seq FROM seq_1_to_500;
CREATE TABLE gaps(id BIGINT PRIMARY KEY); INSERT INTO gaps SELECT seq FROM seq_1_to_500; INSERT INTO gaps VALUES (9223372036854775807);
CREATE TABLE huge(id BIGINT UNSIGNED PRIMARY KEY); INSERT INTO huge VALUES (18446744073709551615), (1);
CREATE TABLE empty(id INT PRIMARY KEY);
CREATE TABLE blobs(id INT PRIMARY KEY, b BLOB, n DECIMAL(40,0)); INSERT INTO blobs VALUES (1, REPEAT('x', 300), 12345678901234567890123456789012345);
CREATE VIEW v AS SELECT id, w FROM keyed`, "")
	s := inspect(t, pool)
	c := one(t, pool)
	read := func() (handler int) {
		for _, name := range []string{"Handler_read_next", "Handler_read_rnd_next"} {
			var n int
			testutil.OK(t, c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE '"+name+"'").Scan(new(string), &n))
			handler += n
		}
		return handler
	}
	statements := 0
	run := func(ctx context.Context, sql string, most int) (*result.Table, error) {
		statements++
		rows, err := c.QueryContext(ctx, sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		out := &result.Table{}
		for rows.Next() && len(out.Rows) < most {
			row, dest := make([]any, len(types)), make([]any, len(types))
			for i := range row {
				dest[i] = &row[i]
			}
			if err := rows.Scan(dest...); err != nil {
				return nil, err
			}
			for i, column := range types {
				if convert := mysql.ConverterOf(column); convert != nil {
					if row[i], err = convert(row[i]); err != nil {
						return nil, err
					}
				}
			}
			out.Rows = append(out.Rows, row)
		}
		return out, rows.Err()
	}
	first := func(from, to int64) (want []int64) {
		for i := from; i <= to; i++ {
			want = append(want, i)
		}
		return want
	}
	for _, test := range []struct {
		table string
		o     exec.SampleOptions
		want  []int64 // of the first column; nil: the sample is spread
		why   string
	}{
		{"keyed", exec.SampleOptions{Columns: []string{"id"}, Rows: 3}, first(1, 3),
			"by key, though the index of v holds all that is asked"},
		{"keyed", exec.SampleOptions{Columns: []string{"v"}, Rows: 2}, []int64{99999, 99998},
			"by key and not by the index of v"},
		{"keyed", exec.SampleOptions{Columns: []string{"id", "w"}, Rows: 100, Spread: true, Seed: 7, Cut: 9}, nil, "spread"},
		{"keyed", exec.SampleOptions{Columns: []string{"id"}, Rows: 5, Spread: true, Seed: 8, Count: 1000}, nil,
			"five places"},
		{"heap", exec.SampleOptions{Columns: []string{"v"}, Rows: 3, Spread: true}, []int64{4999, 4998, 4997},
			"no key: as stored, and not by the index of v"},
		{"named", exec.SampleOptions{Columns: []string{"v"}, Rows: 3, Spread: true}, []int64{1, 10, 100},
			"a key of text: by key"},
		{"gaps", exec.SampleOptions{Columns: []string{"id"}, Rows: 100, Spread: true}, first(1, 100),
			"too few rows in the parts: the first rows"},
		{"huge", exec.SampleOptions{Columns: []string{"id"}, Rows: 1, Spread: true}, []int64{1}, "a key that is no int64"},
		{"empty", exec.SampleOptions{Columns: []string{"id"}, Rows: 3, Spread: true, Count: 9}, []int64{}, ""},
		{"v", exec.SampleOptions{Columns: []string{"id", "w"}, Rows: 3, Spread: true}, first(1, 3), "a view"},
	} {
		table, _ := s.Lookup("", test.table)
		before := read()
		statements = 0
		got, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, test.o)
		if err != nil {
			t.Errorf("%s: %v", test.table, err)
			continue
		}
		if n := read() - before; n > 3000 || statements > 22 {
			t.Errorf("%s: read %d rows in %d statements", test.table, n, statements)
		}
		ids := []int64{}
		for _, row := range got.Rows {
			ids = append(ids, row[0].(int64))
		}
		again, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, test.o)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s: another sample: %v\n%s", test.table, err, diff)
		}
		if test.want != nil {
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Errorf("%s (%s):\n%s", test.table, test.why, diff)
			}
			continue
		}
		if len(ids) != test.o.Rows || ids[len(ids)-1] < 16000 || test.o.Count > 0 &&
			(got.Count != 1000 || !got.CountAtLeast) {
			t.Errorf("%s (%s): %d rows, %v, count %d", test.table, test.why, len(ids), ids, got.Count)
		}
		if len(got.Rows[0]) > 1 && got.Rows[0][1] != strings.Repeat("é", 9) {
			t.Errorf("cut to %q", got.Rows[0][1])
		}
	}
	table, _ := s.Lookup("", "blobs")
	got, err := mysql.Dialect{}.SampleRows(t.Context(), run, *table, exec.SampleOptions{Columns: []string{"b", "n"},
		Rows: 1, Cut: 4})
	if diff := cmp.Diff([][]any{{[]byte("xxxx"), result.Decimal("12345678901234567890123456789012345")}},
		got.Rows); err != nil || diff != "" {
		t.Errorf("a blob and a number: %v\n%s", err, diff)
	}
}
