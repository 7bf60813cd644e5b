package postgres_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// rowTraps are tables, and functions of a user, for the statements against rules about rows.
var rowTraps = dbtest.RowsOf{
	Script: `CREATE TABLE parent_orders(id INTEGER, tenant_id INTEGER, memo TEXT);
CREATE TABLE kid_orders() INHERITS (parent_orders);
INSERT INTO kid_orders VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-k');
CREATE MATERIALIZED VIEW matview AS SELECT memo FROM orders;
CREATE FUNCTION nth_memo(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT memo FROM orders WHERE id = $1';
CREATE FUNCTION memos() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT memo FROM orders';
CREATE FUNCTION first_memo(orders) RETURNS text LANGUAGE sql STABLE AS 'SELECT max(memo) FROM orders';
CREATE TABLE parted(id INTEGER, tenant_id INTEGER, memo TEXT) PARTITION BY LIST (tenant_id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
INSERT INTO parted VALUES (1, 1, 'x'), (2, 2, 'Zebu-Q7-p');
CREATE TABLE made(id INTEGER, tenant_id INTEGER, twice INTEGER GENERATED ALWAYS AS (id * 2) STORED);
INSERT INTO made VALUES (1, 1), (2, 2);
CREATE TABLE often(tenant_id INTEGER, memo TEXT);
INSERT INTO often SELECT 1 + i % 2, CASE WHEN i % 2 = 0 THEN 'x' ELSE 'Zebu-Q7-' || i % 3 END FROM generate_series(1, 300) AS i;
ANALYZE;
`,
	Hidden: `DELETE FROM parent_orders WHERE tenant_id <> 1;
REFRESH MATERIALIZED VIEW matview;
DELETE FROM parted WHERE tenant_id <> 1;
DELETE FROM often WHERE tenant_id <> 1;
DELETE FROM made WHERE tenant_id <> 1;
ANALYZE;
`,
	Rows: map[string]string{"kid_orders": "tenant_id = :tenant", "parted": "tenant_id = :tenant",
		"made": "twice > 0 AND tenant_id = :tenant", "often": "tenant_id = :tenant"},
}

// TestRows runs the hostile statements under rules about rows, fenced after an error and always.
func TestRows(t *testing.T) {
	for _, fence := range []string{"", "always"} {
		of := rowTraps
		of.Fence = fence
		statements := attack.Rows()
		if n := dialecttest.Rows(t, engine("", "reader"), of, statements...); n < 150 {
			t.Errorf("only %d of %d statements are answered", n, len(statements))
		} else {
			t.Logf("%d of %d statements are answered", n, len(statements))
		}
	}
}

// TestRowsParams: each value of a parameter is compared as what it is.
func TestRowsParams(t *testing.T) {
	d := engine("", "reader").Open(t, "CREATE TABLE notes(id INTEGER, memo TEXT);\nINSERT INTO notes VALUES (1, ''), "+
		"(2, NULL), (3, 'x'), (4, '5');\n")
	user := sql.OpenDB(d.User)
	defer user.Close()
	for _, test := range []struct {
		why, rule string
		value     any
		want      string
	}{
		{"a text", "memo = :v", "x", "[[3]]"},
		{"an empty text is not NULL", "memo = :v", "", "[[1]]"},
		{"and other texts are not it", "memo IS NULL OR memo <> :v", "", "[[2] [3] [4]]"},
		{"a number where a text is", "memo = :v", 5, "[[4]]"},
	} {
		view, err := newDB(t, user, exec.Config{Policy: exec.Policy{Rows: map[string]string{"notes": test.rule}}}).
			For(&exec.Scope{Key: "x", Params: map[string]any{"v": test.value}}, nil)
		if err != nil {
			t.Fatalf("%s: %v", test.why, err)
		}
		got := ""
		if table, err := view.Query(t.Context(), "SELECT id FROM notes ORDER BY id"); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(table.Rows)
		}
		if got != test.want {
			t.Errorf("%s: %s gives %s, want %s", test.why, test.rule, got, test.want)
		}
	}
}

// TestScopeSettings: settings of a scope hold for its statements and no longer, and no table is read past its row
// security.
func TestScopeSettings(t *testing.T) {
	e := engine("", "reader")
	d := e.Open(t, `CREATE TABLE orders(id INTEGER PRIMARY KEY, tenant_id INTEGER, memo TEXT);
INSERT INTO orders VALUES (1, 1, 'mine'), (2, 2, 'theirs');
CREATE TABLE plain(id INTEGER);
CREATE TABLE countries(code TEXT);
CREATE VIEW v AS SELECT memo FROM orders;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON orders USING (tenant_id = pg_catalog.current_setting('app.tenant')::integer);
CREATE TABLE teams(id INTEGER, tenant_id INTEGER, who TEXT);
INSERT INTO teams VALUES (7, 1, 'reader'), (8, 2, 'somebody');
CREATE TABLE docs(id INTEGER PRIMARY KEY, team INTEGER, body TEXT);
INSERT INTO docs VALUES (1, 7, 'mine'), (2, 8, 'theirs');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON docs USING (team IN (SELECT id FROM teams WHERE tenant_id =
	pg_catalog.current_setting('app.tenant')::integer));
CREATE TABLE notes AS SELECT * FROM docs;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON notes USING (team IN (SELECT id FROM teams WHERE who = current_user));
`)
	user, owner := sql.OpenDB(d.User), sql.OpenDB(d.Owner)
	defer user.Close()
	defer owner.Close()
	user.SetMaxOpenConns(1)
	scope := func(tenant string) *exec.Scope {
		return &exec.Scope{Key: tenant, Settings: map[string]string{"app.tenant": tenant},
			Params: map[string]any{"tenant": 1}}
	}
	secured := exec.Policy{Settings: []string{"app.tenant"}}
	rules := exec.Policy{Rows: map[string]string{"orders": "true"}, Shared: []string{"countries"}}
	tenants := exec.Policy{Rows: map[string]string{"orders": "tenant_id = :tenant"}}
	both := exec.Policy{Rows: map[string]string{"orders": "true", "plain": "true"}}
	for _, test := range []struct {
		why, sql string
		pool     *sql.DB
		policy   exec.Policy
		scope    *exec.Scope
		want     string // the rows, or a part of the refusal
	}{
		{"one tenant", "SELECT memo FROM orders", user, secured, scope("1"), "[[mine]]"},
		{"another on the same connection", "SELECT memo FROM orders", user, secured, scope("2"), "[[theirs]]"},
		{"beside rules of ours", "SELECT memo FROM orders", user, rules, scope("1"), "[[mine]]"},
		{"our rules alone hold too", "SELECT memo FROM orders", user, tenants, scope("2"), "[]"},
		{"a text that would end its quotes", "SELECT memo FROM orders", user, secured,
			scope("1', true), set_config('app.tenant', '2"), "invalid"},
		{"a shared table needs none", "SELECT count(*) FROM countries", user, rules, scope("1"), "[[0]]"},
		{"a table without row security", "SELECT id FROM plain", user, secured, scope("1"), "plain has no row security"},
		{"a table with a rule of ours and without row security", "SELECT memo FROM orders", user, both, scope("1"),
			"plain has no row security"},
		{"a view reads with the rights of its owner", "SELECT memo FROM v", user, secured, scope("1"),
			"v has no row security"},
		{"a view that is written out", "SELECT memo FROM v", user, rules, scope("1"), "[[mine]]"},
		{"a role that bypasses it", "SELECT memo FROM orders", owner, secured, scope("1"), "orders has no row security"},
		{"a policy that reads another table", "SELECT body FROM docs", user, secured, scope("1"), "[[mine]]"},
		{"the same, of another scope", "SELECT body FROM docs", user, secured, scope("2"), "[[theirs]]"},
		{"the same beside rules of ours", "SELECT body FROM docs", user, exec.Policy{Rows: map[string]string{"docs": "true"}},
			scope("1"), "[[mine]]"},
		{"the same, and that table is denied", "SELECT body FROM docs", user,
			exec.Policy{DenyTables: []string{"teams"}, Settings: secured.Settings}, scope("1"), "[[mine]]"},
		{"the table that the policy reads", "SELECT id FROM teams", user, secured, scope("1"), "teams has no row security"},
		{"both", "SELECT body FROM docs JOIN teams ON teams.id = team", user, secured, scope("1"),
			"teams has no row security"},
		{"both, one of them denied", "SELECT body FROM docs WHERE team IN (SELECT id FROM teams)", user,
			exec.Policy{DenyTables: []string{"teams"}, Settings: secured.Settings}, scope("1"), "you may not read it"},
		{"both by rules of ours", "SELECT body FROM docs JOIN teams ON teams.id = team", user,
			exec.Policy{Rows: map[string]string{"docs": "true"}}, scope("1"), "you may not read it"},
		{"a policy that reads another table by the role", "SELECT body FROM notes", user, exec.Policy{}, nil, "[[mine]]"},
		{"the same, and that table is denied", "SELECT body FROM notes", user,
			exec.Policy{DenyTables: []string{"teams"}}, nil, "[[mine]]"},
		{"the table that it reads, without settings", "SELECT id FROM teams", user, exec.Policy{}, nil, "[[7] [8]]"},
		{"the owner's statement does not read it", "SELECT body FROM notes", owner, exec.Policy{}, nil, "[[mine] [theirs]]"},
		{"a setting of the guard", "SELECT memo FROM orders", user, exec.Policy{Settings: []string{"role"}},
			&exec.Scope{Key: "x", Settings: map[string]string{"role": "x"}}, "no dot"},
	} {
		view, err := newDB(t, test.pool, exec.Config{Policy: test.policy}).For(test.scope, nil)
		if err != nil {
			t.Fatal(err)
		}
		table, err := view.Query(t.Context(), test.sql)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(table.Rows)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s gives %s, want %s", test.why, test.sql, got, test.want)
		}
		var left sql.NullString
		if err := test.pool.QueryRow("SELECT current_setting('app.tenant', true)").Scan(&left); err != nil ||
			left.String != "" {
			t.Errorf("%s: the setting is %q behind the statement (%v)", test.why, left.String, err)
		}
	}
}

// TestRowsSampled: a sample of a table with a rule is of its first own rows, since TABLESAMPLE takes others too.
func TestRowsSampled(t *testing.T) {
	d := engine("", "reader").Open(t, `CREATE TABLE orders(id INTEGER PRIMARY KEY, tenant_id INTEGER);
INSERT INTO orders SELECT i, 1 + i % 2 FROM generate_series(1, 6000) AS i;
CREATE TABLE countries(id INTEGER PRIMARY KEY);
INSERT INTO countries SELECT i FROM generate_series(1, 6000) AS i;
`)
	user := sql.OpenDB(d.User)
	defer user.Close()
	db := newDB(t, user, exec.Config{Policy: exec.Policy{
		Rows: map[string]string{"orders": "tenant_id = :tenant"}, Shared: []string{"countries"}}})
	view := testutil.Value(db.For(&exec.Scope{Key: "x", Params: map[string]any{"tenant": 1}}, nil))(t)
	known := testutil.Value(view.Schema(t.Context()))(t)
	for _, test := range []struct {
		why, table string
		own, first bool // every row is one of the tenant's, and they are its first ones
	}{
		{"a rule", "orders", true, true},
		{"no rule", "countries", false, false},
	} {
		table, _ := known.Lookup("", test.table)
		sample := testutil.Value(view.Sample(t.Context(), *table, exec.SampleOptions{Rows: 100, Spread: true}))(t, test.why)
		own, first := true, true
		for i, row := range sample.Rows {
			id := row[0].(int64)
			own, first = own && id%2 == 0, first && id == int64(2*i+2)
		}
		if len(sample.Rows) != 100 || own != test.own || first != test.first {
			t.Errorf("%s: %v", test.why, sample.Rows)
		}
	}
	testutil.Value(view.Profile(t.Context(), known, exec.ProfileOptions{Rows: 100, Count: 1000}))(t)
}

// TestRowsUnreadable: a rule may be about a table too that has its name and that the user may not read.
func TestRowsUnreadable(t *testing.T) {
	d := engine("", "reader").Open(t, "CREATE TABLE orders(id INTEGER, tenant_id INTEGER); INSERT INTO orders "+
		"VALUES (1, 1), (2, 2);\n"+
		"CREATE SCHEMA closed; CREATE TABLE closed.orders(id INTEGER, tenant_id INTEGER); CREATE SCHEMA apart; GRANT USAGE "+
		"ON SCHEMA apart TO PUBLIC;\n"+
		"CREATE TABLE apart.orders(id INTEGER, tenant_id INTEGER)")
	user := sql.OpenDB(d.User)
	defer user.Close()
	db := newDB(t, user, exec.Config{Policy: exec.Policy{Rows: map[string]string{"orders": "tenant_id = :tenant"}}})
	view := testutil.Value(db.For(&exec.Scope{Key: "x", Params: map[string]any{"tenant": 1}}, nil))(t)
	for query, want := range map[string]string{
		"SELECT id FROM orders": "[[1]]", "SELECT id FROM closed.orders": "refused", "SELECT id FROM apart.orders": "refused",
	} {
		got := ""
		if table, err := view.Query(t.Context(), query); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(table.Rows)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestRowsFailing: whether a statement fails does not tell whether a key finds a hidden row.
func TestRowsFailing(t *testing.T) {
	attack.Twins(t, engine("", "reader"), "CREATE TABLE t(id TEXT PRIMARY KEY, owner INTEGER, "+
		"memo TEXT);\nINSERT INTO t VALUES ('hidden', 2, '(');\n"+
		"INSERT INTO t SELECT i, 1, '(' FROM generate_series(1, 3000) AS i;\nANALYZE t;\nCREATE VIEW v AS SELECT * FROM t;\n",
		"owner IN (:v, 5, 6, 7, 8, 9)",
		"SELECT 1 FROM t WHERE 'x' ~ memo AND id = '%s'", "SELECT 1 FROM v WHERE 'x' ~ memo AND id = '%s'")
}

// BenchmarkRows: 1.3 times the filter by hand at the median is the bar.
func BenchmarkRows(b *testing.B) { attack.BenchmarkRows(b, engine("", "reader")) }

// TestOneInspection: a narrower policy asks the server for no schema of its own, by its log.
func TestOneInspection(t *testing.T) {
	pool, _ := open(t, "SELECT 1")
	count := func() int {
		log, err := os.ReadFile(filepath.Join(server.Get(t).Dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(log), "FROM pg_catalog.pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped")
	}
	if _, err := pool.Exec("ALTER ROLE ALL SET log_statement = 'all'"); err != nil {
		t.Fatal(err)
	}
	var tries []int // the server's own workers may change a catalog in between, which is read again then
	for len(tries) < 4 && !slices.Contains(tries, 1) {
		before := count()
		dialecttest.Inspections(t, engine("", "reader"), "")
		tries = append(tries, count()-before)
	}
	if _, err := pool.Exec("ALTER ROLE ALL RESET log_statement"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(tries, 1) {
		t.Errorf("the columns were read so many times: %v", tries)
	}
}

// TestRowPlans: neither costs nor the choice of an index tell of hidden rows.
func TestRowPlans(t *testing.T) { dialecttest.RowPlans(t, engine("", "reader"), "ANALYZE;\n") }

// TestStreamed: a stream under rules about rows gives what the whole result has, and is refused where that is.
func TestStreamed(t *testing.T) {
	if n := dialecttest.Streamed(t, engine("", "reader"), attack.Rows()...); n < 120 {
		t.Errorf("only %d statements are answered", n)
	}
}
