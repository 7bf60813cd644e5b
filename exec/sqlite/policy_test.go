package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/sqltext"
)

const secrets = `
CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, password TEXT,
	upper_name TEXT AS (upper(name)) VIRTUAL,
	shout TEXT AS (upper("password")) VIRTUAL,
	twice TEXT GENERATED ALWAYS AS (shout || '!') STORED);
CREATE INDEX users_password ON users(password);
CREATE TABLE keyring(password TEXT PRIMARY KEY, note TEXT) WITHOUT ROWID;
CREATE TABLE orders(id INTEGER, user_id INTEGER REFERENCES users(id), total REAL);
CREATE VIEW names AS SELECT id, name FROM users;
CREATE VIEW logins AS SELECT id, password AS p FROM users;
CREATE VIEW matched AS SELECT users.id FROM users JOIN keyring USING (password);
CREATE VIEW matched_again AS SELECT id FROM matched;
CREATE VIEW natural_keys AS SELECT note FROM keyring NATURAL JOIN users;
CREATE VIRTUAL TABLE docs USING fts4(title, body);
CREATE VIRTUAL TABLE doc_terms USING fts4aux(docs);
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
CREATE VIEW people AS SELECT id AS rowid, name, upper(password) AS p FROM users;
CREATE VIEW everyone AS SELECT rowid, p AS q FROM people;
CREATE VIEW named AS SELECT id AS rowid, name FROM users;
CREATE VIRTUAL TABLE found USING fts4(content="people", name, p);
CREATE VIRTUAL TABLE found_terms USING fts4aux(found);
CREATE VIRTUAL TABLE again_search USING fts4(content='everyone', q);
CREATE VIRTUAL TABLE named_search USING fts4(content="named", name);
INSERT INTO t VALUES (1, 'alpha'), (2, 'beta');
INSERT INTO users(id, name, password) VALUES (1, 'ann', 's3cret-1'), (2, 'bob', 's3cret-2');
INSERT INTO keyring VALUES ('s3cret-1', 'first');
INSERT INTO orders VALUES (1, 1, 2.5);
INSERT INTO docs VALUES ('hello', 'hidden words');
INSERT INTO boxes VALUES (1, 0, 1);
INSERT INTO found(found) VALUES ('rebuild');
INSERT INTO again_search(again_search) VALUES ('rebuild');
INSERT INTO named_search(named_search) VALUES ('rebuild');
`

func TestPolicy(t *testing.T) {
	pool, file := open(t, secrets)
	before := snapshot(t, filepath.Dir(file))
	column := exec.Policy{DenyColumns: []string{"users.password"}}
	everywhere := exec.Policy{DenyColumns: []string{"PASSWORD"}}
	table := exec.Policy{DenyTables: []string{"users"}}
	only := exec.Policy{AllowTables: []string{"t", "main.orders"}}

	const fine sqltext.Reason = "" // it may run
	tests := []struct {
		why    string
		policy exec.Policy
		sql    string
		want   sqltext.Reason
	}{
		// What a policy leaves alone.
		{"an allowed column", column, "SELECT name FROM users", fine},
		{"counting reads no column", column, "SELECT count(*) FROM users", fine},
		{"a join that names its columns", column, "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id", fine},
		{"USING over an allowed column", column, "SELECT name FROM users JOIN orders USING (id)", fine},
		{"a view over allowed columns", column, "SELECT name FROM names", fine},
		{"a generated column of allowed ones", column, "SELECT upper_name FROM users", fine},
		{"the column of that name in another table", column, "SELECT password FROM keyring", fine},
		{"an alias that looks denied", column, "SELECT name AS password FROM users", fine},
		{"a CTE in the place of the table", column, "WITH users(password) AS (VALUES (1)) SELECT password FROM users", fine},
		{"an allowed table", only, "SELECT total FROM main.orders", fine},
		{"table-valued functions belong to no schema", only, "SELECT value FROM json_each('[1]')", fine},
		{"a recursive CTE", only, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT count(*) FROM n", fine},

		// What is no plain column is known all the same.
		{"the rowid by its names", column, "SELECT rowid, oid, _rowid_ FROM orders", fine},
		{"the rowid that is a column", column, "SELECT rowid, oid, users._rowid_ FROM users", fine},
		{"the hidden columns of a search", column, "SELECT docid, docs FROM docs WHERE docs MATCH 'hidden' ORDER BY rowid", fine},
		{"the columns of its terms", column, "SELECT term, col, documents, occurrences, languageid FROM doc_terms", fine},
		{"a shadow table of an allowed one", column, "SELECT docid, c1body FROM docs_content", fine},
		{"a search over a view of allowed columns", column, "SELECT docid FROM named_search WHERE named_search MATCH 'ann'", fine},
		{"an R-tree", column, "SELECT id, x1, rowid FROM boxes WHERE x0 >= 0", fine},
		{"the hidden columns of a table-valued function", column, "SELECT value, json, root, key FROM users, json_each(json_array(users.name))", fine},
		{"a derived table", column, "SELECT d.x, d.n FROM (SELECT id + 1 AS x, name AS n FROM users) AS d", fine},
		{"a CTE of new columns", column, "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c JOIN c AS d USING (x)", fine},
		{"a compound", column, "SELECT z FROM (SELECT id AS z FROM users UNION SELECT a FROM t) ORDER BY z", fine},
		{"an outer join by USING", column, "SELECT id FROM orders FULL JOIN names USING (id)", fine},

		// Columns.
		{"by name", column, "SELECT password FROM users", exec.ReasonColumn},
		{"by star", column, "SELECT * FROM users", exec.ReasonColumn},
		{"by another case", column, `SELECT "PassWord" FROM main.USERS`, exec.ReasonColumn},
		{"in a condition", column, "SELECT 1 FROM users WHERE password > 'a'", exec.ReasonColumn},
		{"in a window", column, "SELECT rank() OVER (ORDER BY password) FROM users", exec.ReasonColumn},
		{"in a subquery of LIMIT", column, "SELECT 1 LIMIT (SELECT length(password) FROM users)", exec.ReasonColumn},
		{"by IN and a table's name", column, "SELECT (1, 'a', 'b', 'c', 'd', 'e') IN users", exec.ReasonColumn},
		{"an argument of a table-valued function", column, "SELECT value FROM users, json_each(json_array(password))", exec.ReasonColumn},
		{"in every table of that column", everywhere, "SELECT password FROM keyring", exec.ReasonColumn},
		{"a table named by a string", column, "SELECT password FROM 'users'", exec.ReasonColumn},

		// What the authorizer does not hear of.
		{"a generated column made of it", column, "SELECT shout FROM users", exec.ReasonColumn},
		{"one made of that one", column, "SELECT twice FROM users", exec.ReasonColumn},
		{"compared by USING", column, "SELECT count(*) FROM keyring JOIN users USING (password)", exec.ReasonColumn},
		{"by USING with a string for a name", column, "SELECT count(*) FROM keyring JOIN users USING ('password')", exec.ReasonColumn},
		{"by USING with quotes and comments", column, "SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])", exec.ReasonColumn},
		{"by the second name of USING", column, "SELECT count(*) FROM users JOIN users v USING (id, password)", exec.ReasonColumn},
		{"by a CTE that guesses", column, "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g JOIN users USING (password)", exec.ReasonColumn},
		{"by a FULL JOIN", column, "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g FULL JOIN users USING (password)", exec.ReasonColumn},
		{"by NATURAL JOIN", column, "SELECT count(*) FROM keyring NATURAL JOIN users", exec.ReasonColumn},
		{"by NATURAL LEFT JOIN", column, "SELECT count(*) FROM keyring natural left join users", exec.ReasonColumn},
		{"its order by INDEXED BY", column, "SELECT id FROM users INDEXED BY users_password", exec.ReasonColumn},
		{"no index is no order", column, "SELECT id FROM users NOT INDEXED", fine},
		{"in a view by USING", column, "SELECT id FROM matched", exec.ReasonColumn},
		{"in a view of that view", column, "SELECT count(*) FROM matched_again", exec.ReasonColumn},
		{"in a view by NATURAL JOIN", column, "SELECT note FROM natural_keys", exec.ReasonColumn},
		{"a view that renames it", column, "SELECT p FROM logins", exec.ReasonColumn},
		{"another column of that view", column, "SELECT id FROM logins", exec.ReasonColumn},

		// Tables.
		{"by name", table, "SELECT name FROM users", exec.ReasonTable},
		{"by its rows", table, "SELECT count(*) FROM users", exec.ReasonTable},
		{"by its rowid", table, "SELECT rowid FROM users", exec.ReasonTable},
		{"by existence", table, "SELECT EXISTS (SELECT 1 FROM main.users)", exec.ReasonTable},
		{"by NATURAL JOIN", table, "SELECT count(*) FROM orders NATURAL JOIN users", exec.ReasonTable},
		{"by USING", table, "SELECT count(*) FROM orders JOIN users USING (id)", exec.ReasonTable},
		{"by a comma and NATURAL", table, "SELECT count(*) FROM t, orders NATURAL JOIN users", exec.ReasonTable},
		{"by a view", table, "SELECT id FROM names", exec.ReasonTable},
		{"by a view that joins", table, "SELECT note FROM natural_keys", exec.ReasonTable},
		{"not on the list", only, "SELECT name FROM users", exec.ReasonTable},
		{"a view over what is not on the list", exec.Policy{AllowTables: []string{"names"}}, "SELECT name FROM names", exec.ReasonTable},
		{"a view that is denied itself, joined", exec.Policy{DenyTables: []string{"names"}}, "SELECT count(*) FROM orders NATURAL JOIN names", exec.ReasonTable},
		{"a view with its table", exec.Policy{AllowTables: []string{"names", "users"}}, "SELECT name FROM names", fine},

		// The catalog, without any policy.
		{"the catalog", exec.Policy{}, "SELECT sql FROM sqlite_master", exec.ReasonTable},
		{"the catalog by NATURAL JOIN", exec.Policy{}, "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL JOIN sqlite_master", exec.ReasonTable},
		{"the catalog by USING", exec.Policy{}, "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g JOIN main.sqlite_schema USING (name)", exec.ReasonTable},
		{"a search over a view that reads the column", column, "SELECT docid FROM found WHERE found MATCH 's3cret'", exec.ReasonTable},
		{"its count", column, "SELECT count(*) FROM found", exec.ReasonTable},
		{"its terms", column, "SELECT term FROM found_terms", exec.ReasonTable},
		{"its shadow table", column, "SELECT hex(root) FROM found_segdir", exec.ReasonTable},
		{"a search over a view over that view", column, "SELECT docid FROM again_search WHERE again_search MATCH 's3cret'", exec.ReasonTable},
		{"a search over a view of a denied table", table, "SELECT docid FROM named_search WHERE named_search MATCH 'ann'", exec.ReasonTable},
		{"a module by USING", exec.Policy{}, "WITH g(input) AS (VALUES ('a b')) SELECT count(*) FROM g JOIN fts3tokenize USING (input)", exec.ReasonTable},
		{"a PRAGMA by USING", exec.Policy{},
			"WITH g(name) AS (VALUES ('password')) SELECT count(*) FROM g JOIN pragma_table_info('users') USING (name)", exec.ReasonTable},
		{"NATURAL JOIN of ordinary tables", exec.Policy{}, "SELECT count(*) FROM users NATURAL JOIN orders", fine},
		{"USING in a view, nothing denied", exec.Policy{}, "SELECT id FROM matched", fine},

		// Virtual tables.
		{"full-text search", exec.Policy{}, "SELECT title FROM docs WHERE docs MATCH 'hidden'", fine},
		{"its functions", exec.Policy{}, "SELECT snippet(docs), offsets(docs) FROM docs WHERE body MATCH 'words'", fine},
		{"an R-tree", exec.Policy{}, "SELECT id FROM boxes WHERE x0 >= 0", fine},
		{"the terms of an index", exec.Policy{}, "SELECT term FROM doc_terms", fine},
		{"search may look into every column", exec.Policy{DenyColumns: []string{"docs.body"}},
			"SELECT title FROM docs WHERE docs MATCH 'body:hidden'", exec.ReasonTable},
		{"a shadow table has the data", exec.Policy{DenyColumns: []string{"docs.body"}}, "SELECT c1body FROM docs_content", exec.ReasonTable},
		{"a shadow table of a denied one", exec.Policy{DenyTables: []string{"docs"}}, "SELECT c1body FROM docs_content", exec.ReasonTable},
		{"the terms of a denied one", exec.Policy{DenyTables: []string{"docs"}}, "SELECT term FROM doc_terms", exec.ReasonTable},
		{"other tables do not care", exec.Policy{DenyTables: []string{"docs"}}, "SELECT name FROM users", fine},

		// Functions.
		{"off the list", exec.Policy{}, "SELECT json_group_array(a) FROM t", exec.ReasonFunction},
		{"named by the policy", exec.Policy{AllowFunctions: []string{"json_group_array"}}, "SELECT json_group_array(a) FROM t", fine},
		{"in any case", exec.Policy{AllowFunctions: []string{"JSON_Group_Array"}}, "SELECT Json_group_array(a) FROM t", fine},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			db := newDB(t, pool, exec.Config{Policy: test.policy})
			table, err := db.Query(context.Background(), test.sql)
			var refused *exec.RefusedError
			switch {
			case test.want == fine && err != nil:
				t.Errorf("%s: %v", test.sql, err)
			case test.want != fine && !errors.As(err, &refused):
				t.Errorf("%s: want a refusal by %q, got %v %v", test.sql, test.want, table, err)
			case test.want != fine && refused.Reason != test.want:
				t.Errorf("%s: refused by %q (%s), want %q", test.sql, refused.Reason, refused.Detail, test.want)
			case test.want != fine && strings.Contains(err.Error(), "s3cret"):
				t.Errorf("the error repeats a stored value: %v", err)
			}
			// No other way in may be wider.
			if _, err := db.Analyze(context.Background(), test.sql); (err == nil) != (test.want == fine) {
				t.Errorf("Analyze: %v", err)
			}
			if _, err := db.Explain(context.Background(), test.sql); (err == nil) != (test.want == fine) {
				t.Errorf("Explain: %v", err)
			}
		})
	}
	unchanged(t, filepath.Dir(file), before)
}

func TestPolicyNamesNothing(t *testing.T) {
	pool, _ := open(t, secrets)
	for _, test := range []struct {
		why    string
		policy exec.Policy
		want   string // in the error; "" where there is none
	}{
		{"all names exist", exec.Policy{AllowTables: []string{"T", "users"}, DenyColumns: []string{"Users.Password"}}, ""},
		{"a table that is not there", exec.Policy{DenyTables: []string{"user"}}, `DenyTables: "user"`},
		{"a column that is not there", exec.Policy{DenyColumns: []string{"users.pasword"}}, `DenyColumns: "users.pasword"`},
		{"a column of no table", exec.Policy{DenyColumns: []string{"pasword"}}, `DenyColumns: "pasword"`},
		{"a list that allows nothing", exec.Policy{AllowTables: []string{"orderz"}}, `AllowTables: "orderz"`},
	} {
		t.Run(test.why, func(t *testing.T) {
			db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: test.policy})
			if err != nil {
				t.Fatal(err)
			}
			err = db.Ready(context.Background())
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %s", err, test.want)
			}
		})
	}
}

// TestDeniedIsAbsent: under a policy nobody can find out by the error which tables there are.
func TestDeniedIsAbsent(t *testing.T) {
	pool, _ := open(t, secrets)
	for name, policy := range map[string]exec.Policy{
		"denied":      {DenyTables: []string{"users"}},
		"not allowed": {AllowTables: []string{"t", "orders"}},
	} {
		db := newDB(t, pool, exec.Config{Policy: policy})
		for _, form := range []string{
			"SELECT * FROM %s", "SELECT count(*) FROM %s", "SELECT nix FROM %s", "SELECT nix FROM t JOIN %s USING (id)",
			"SELECT a FROM t NATURAL JOIN %s", "SELECT a FROM t WHERE a IN (SELECT id FROM main.%s)", "SELECT nope(id) FROM %s",
			"WITH c AS (SELECT id FROM %s) SELECT * FROM c", "SELECT sum(a, b, %[1]s.id) FROM t, %[1]s", "SELECT 1 FROM '%s'",
		} {
			var errs []string
			for _, table := range []string{"users", "usurs"} {
				_, err := db.Query(t.Context(), fmt.Sprintf(form, table))
				errs = append(errs, strings.ReplaceAll(fmt.Sprint(err), "usurs", "users"))
			}
			if errs[0] != errs[1] || errs[0] != "exec: refused (table): users is no table that may be read" {
				t.Errorf("%s, %s: %q for a table that is there, %q for one that is not", name, form, errs[0], errs[1])
			}
		}
		if _, err := db.Query(t.Context(), "SELECT nix FROM t, json_each"); !strings.Contains(fmt.Sprint(err), "no such column") {
			t.Errorf("%s: a column that is not there: %v", name, err)
		}
	}
}
