package servertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/sqltext"
)

// TestPolicy: policies about tables hold for a user who may do all, those about columns for one under the rules that
// trino.AccessRules makes, to which the views are added that would give the column away.
func TestPolicy(t *testing.T) {
	place := open(t, exectest.PolicyScript+"CREATE VIEW hidden AS SELECT * FROM (SELECT a FROM t) WHERE false;\nCREATE SCHEMA memory.other;\n"+
		"CREATE TABLE memory.other.users(id INTEGER, name VARCHAR);\n")
	t.Cleanup(func() { _, _ = pool(t, "admin", place).Exec("DROP TABLE memory.other.users") })
	views := []string{"names", "logins", "matched", "matched_again", "natural_keys", "hidden"}
	tables := []string{place + ".t", place + ".users", place + ".keyring", place + ".orders", "tpch.tiny.nation"}
	for _, v := range views {
		tables = append(tables, place+"."+v)
	}
	ruled(t, exec.Policy{DenyColumns: []string{place + ".users.password"}, AllowTables: tables}, "reader", place)
	column := exec.Policy{DenyColumns: []string{place + ".users.password"}}
	bare := exec.Policy{DenyColumns: []string{"users.password"}}
	denied := exec.Policy{DenyTables: []string{place + ".users"}}
	only := exec.Policy{AllowTables: []string{place + ".t", place + ".orders"}}
	view := exec.Policy{DenyTables: []string{place + ".names"}}
	const (
		runs sqltext.Reason = ""
		any  sqltext.Reason = "any"
	)
	dbs := map[string]*exec.DB{}
	for _, test := range []struct {
		why    string
		policy exec.Policy
		sql    string
		want   sqltext.Reason
	}{
		{"an allowed column", column, "SELECT name FROM users", runs},
		{"by a name that any schema has", bare, "SELECT name FROM users", runs},
		{"counting reads no column", column, "SELECT count(*) FROM users", runs},
		{"a join that names its columns", column, "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id", runs},
		{"USING over an allowed column", column, "SELECT name FROM users JOIN orders USING (id)", runs},
		{"a view over allowed columns", column, "SELECT name FROM names", runs},
		{"the column of that name in another table", column, "SELECT password FROM keyring", runs},
		{"an alias that looks denied", column, "SELECT name AS password FROM users", runs},
		{"a CTE of new columns", column, "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c JOIN c AS d ON d.x = c.x", runs},
		{"a star of another table", column, "SELECT o.*, u.name FROM orders AS o JOIN users AS u ON u.id = o.user_id", runs},
		{"another catalog", column, "SELECT u.name, n.name FROM users u JOIN tpch.tiny.nation n ON n.nationkey = u.id", runs},
		{"a view of no rows", column, "SELECT * FROM hidden", runs},
		{"by name", column, "SELECT password FROM users", exec.ReasonColumn},
		{"by star", column, "SELECT * FROM users", exec.ReasonColumn},
		{"by the star of a table", column, "SELECT u.* FROM users AS u", exec.ReasonColumn},
		{"by another case", column, `SELECT "PassWord" FROM users`, exec.ReasonColumn},
		{"in a condition", column, "SELECT 1 FROM users WHERE password > 'a'", exec.ReasonColumn},
		{"in a window", column, "SELECT rank() OVER (ORDER BY password) FROM users", exec.ReasonColumn},
		{"in an order", column, "SELECT name FROM users ORDER BY password", exec.ReasonColumn},
		{"in a group", column, "SELECT count(*) FROM users GROUP BY password", exec.ReasonColumn},
		{"in a subquery", column, "SELECT a FROM t WHERE b IN (SELECT password FROM users)", exec.ReasonColumn},
		{"in a CTE", column, "WITH c AS (SELECT id, password AS x FROM users) SELECT x FROM c", exec.ReasonColumn},
		{"by a star in a CTE", column, "WITH c AS (SELECT * FROM users) SELECT name FROM c", exec.ReasonColumn},
		{"compared by USING", column, "SELECT count(*) FROM keyring JOIN users USING (password)", exec.ReasonColumn},
		{"by a CTE that guesses", column, "WITH g(password) AS (SELECT 's3cret-1') SELECT count(*) FROM g JOIN users USING (password)", exec.ReasonColumn},
		{"below LIMIT 0", column, "SELECT password FROM users LIMIT 0", exec.ReasonColumn},
		{"the rows whole", column, "SELECT users FROM users", any},
		{"in a lambda", column, "SELECT transform(ARRAY[1], x -> u.password) FROM users u", exec.ReasonColumn},
		{"a view that renames it", column, "SELECT p FROM logins", exec.ReasonTable},
		{"another column of that view", column, "SELECT id FROM logins", exec.ReasonTable},
		{"that view beside its table", column, "SELECT l.p FROM users u, logins l", exec.ReasonTable},
		{"that view in quotes and another case", column, `SELECT p FROM memory."` + place + `"."LogIns"`, exec.ReasonTable},
		{"that view below a comma", column, "SELECT p FROM t, logins", exec.ReasonTable},
		{"that view in brackets", column, "SELECT p FROM (logins CROSS JOIN t)", exec.ReasonTable},
		{"in a view by USING", column, "SELECT id FROM matched", exec.ReasonTable},
		{"in a view of that view", column, "SELECT count(*) FROM matched_again", exec.ReasonTable},

		{"by name", denied, "SELECT name FROM users", exec.ReasonTable},
		{"by its rows", denied, "SELECT count(*) FROM users", exec.ReasonTable},
		{"its columns", denied, "SELECT * FROM users LIMIT 0", exec.ReasonTable},
		{"the schema in front", denied, `SELECT 1 FROM memory."` + place + `".users WHERE false`, exec.ReasonTable},
		{"by existence", denied, "SELECT EXISTS (SELECT 1 FROM users)", exec.ReasonTable},
		{"behind a comma", denied, "SELECT count(*) FROM t, users", exec.ReasonTable},
		{"by a view", denied, "SELECT id FROM names", exec.ReasonTable},
		{"by a view of a view", denied, "SELECT id FROM matched_again", exec.ReasonTable},
		{"a CTE of its name out of scope", denied, "SELECT count(*) FROM (WITH users AS (SELECT 1 a) SELECT * FROM users), users", exec.ReasonTable},
		{"before the CTE of its name", denied, "WITH a AS (SELECT name FROM users), users AS (SELECT 1 b) SELECT * FROM a", exec.ReasonTable},
		{"another schema's table of the name", denied, "SELECT count(*) FROM memory.other.users", runs},
		{"not on the list", only, "SELECT name FROM users", exec.ReasonTable},
		{"a view not on the list", only, "SELECT id FROM names", exec.ReasonTable},
		{"a table of the list", only, "SELECT count(*) FROM orders, t", runs},
		{"a recursive CTE", only, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT count(*) FROM n", runs},
		{"a CTE that is called as a view", only, "WITH x AS (SELECT a AS names FROM t) SELECT names FROM x", runs},
		{"a view that is denied itself", view, "SELECT count(*) FROM names", exec.ReasonTable},
		{"the table below that view", view, "SELECT count(*) FROM users", runs},
	} {
		user := "admin"
		if len(test.policy.DenyColumns) > 0 {
			user = "reader"
		}
		key := user + fmt.Sprint(test.policy)
		if dbs[key] == nil {
			dbs[key] = guarded(t, user, place, trino.Dialect{Catalogs: []string{"tpch"}},
				exec.Config{Policy: test.policy, Limits: exec.Limits{Answer: exec.Bounds{Timeout: time.Minute}, Candidate: exec.Bounds{Timeout: time.Minute}}})
		}
		for _, way := range []func(*exec.DB) error{
			func(db *exec.DB) error { _, err := db.Query(t.Context(), test.sql); return err },
			func(db *exec.DB) error { _, err := db.Analyze(t.Context(), test.sql); return err },
			func(db *exec.DB) error { _, err := db.Explain(t.Context(), test.sql); return err },
		} {
			err := way(dbs[key])
			r := new(exec.RefusedError)
			switch is := errors.As(err, &r); {
			case test.want == runs && err != nil, test.want == any && !exec.IsRejection(err), test.want != runs && test.want != any && (!is || r.Reason != test.want):
				t.Errorf("%s: %s: %v, want %q", test.why, test.sql, err, test.want)
			}
		}
	}
	db := dbs["reader"+fmt.Sprint(column)]
	if found, err := db.Probe(t.Context(), "", "users", "password", "s3cret-1"); err == nil {
		t.Errorf("Probe of a denied column: %v", found)
	}
	if found, err := db.Probe(t.Context(), "", "users", "name", "ann"); err != nil || !found {
		t.Errorf("Probe of an allowed column: %v, %v", found, err)
	}
}
