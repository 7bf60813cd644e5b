package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
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
INSERT INTO t VALUES (1, 'alpha'), (2, 'beta');
INSERT INTO users(id, name, password) VALUES (1, 'ann', 's3cret-1'), (2, 'bob', 's3cret-2');
INSERT INTO keyring VALUES ('s3cret-1', 'first');
INSERT INTO orders VALUES (1, 1, 2.5);
INSERT INTO docs VALUES ('hello', 'hidden words');
INSERT INTO boxes VALUES (1, 0, 1);
`

func TestPolicy(t *testing.T) {
	pool, file := open(t, secrets)
	before := snapshot(t, filepath.Dir(file))
	column := exec.Policy{DenyColumns: []string{"users.password"}}
	everywhere := exec.Policy{DenyColumns: []string{"PASSWORD"}}
	table := exec.Policy{DenyTables: []string{"users"}}
	only := exec.Policy{AllowTables: []string{"t", "main.orders"}}

	const fine exec.Rule = "" // it may run
	tests := []struct {
		why    string
		policy exec.Policy
		sql    string
		want   exec.Rule
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
		{"an R-tree", column, "SELECT id, x1, rowid FROM boxes WHERE x0 >= 0", fine},
		{"the hidden columns of a table-valued function", column, "SELECT value, json, root, key FROM users, json_each(json_array(users.name))", fine},
		{"a derived table", column, "SELECT d.x, d.n FROM (SELECT id + 1 AS x, name AS n FROM users) AS d", fine},
		{"a CTE of new columns", column, "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c JOIN c AS d USING (x)", fine},
		{"a compound", column, "SELECT z FROM (SELECT id AS z FROM users UNION SELECT a FROM t) ORDER BY z", fine},
		{"an outer join by USING", column, "SELECT id FROM orders FULL JOIN names USING (id)", fine},

		// Columns.
		{"by name", column, "SELECT password FROM users", exec.RuleColumn},
		{"by star", column, "SELECT * FROM users", exec.RuleColumn},
		{"by another case", column, `SELECT "PassWord" FROM main.USERS`, exec.RuleColumn},
		{"in a condition", column, "SELECT 1 FROM users WHERE password > 'a'", exec.RuleColumn},
		{"in a window", column, "SELECT rank() OVER (ORDER BY password) FROM users", exec.RuleColumn},
		{"in a subquery of LIMIT", column, "SELECT 1 LIMIT (SELECT length(password) FROM users)", exec.RuleColumn},
		{"by IN and a table's name", column, "SELECT (1, 'a', 'b', 'c', 'd', 'e') IN users", exec.RuleColumn},
		{"an argument of a table-valued function", column, "SELECT value FROM users, json_each(json_array(password))", exec.RuleColumn},
		{"in every table of that column", everywhere, "SELECT password FROM keyring", exec.RuleColumn},
		{"a table named by a string", column, "SELECT password FROM 'users'", exec.RuleColumn},

		// What the authorizer does not hear of.
		{"a generated column made of it", column, "SELECT shout FROM users", exec.RuleColumn},
		{"one made of that one", column, "SELECT twice FROM users", exec.RuleColumn},
		{"compared by USING", column, "SELECT count(*) FROM keyring JOIN users USING (password)", exec.RuleColumn},
		{"by USING with a string for a name", column, "SELECT count(*) FROM keyring JOIN users USING ('password')", exec.RuleColumn},
		{"by USING with quotes and comments", column, "SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])", exec.RuleColumn},
		{"by the second name of USING", column, "SELECT count(*) FROM users JOIN users v USING (id, password)", exec.RuleColumn},
		{"by a CTE that guesses", column, "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g JOIN users USING (password)", exec.RuleColumn},
		{"by a FULL JOIN", column, "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g FULL JOIN users USING (password)", exec.RuleColumn},
		{"by NATURAL JOIN", column, "SELECT count(*) FROM keyring NATURAL JOIN users", exec.RuleColumn},
		{"by NATURAL LEFT JOIN", column, "SELECT count(*) FROM keyring natural left join users", exec.RuleColumn},
		{"its order by INDEXED BY", column, "SELECT id FROM users INDEXED BY users_password", exec.RuleColumn},
		{"no index is no order", column, "SELECT id FROM users NOT INDEXED", fine},
		{"in a view by USING", column, "SELECT id FROM matched", exec.RuleColumn},
		{"in a view of that view", column, "SELECT count(*) FROM matched_again", exec.RuleColumn},
		{"in a view by NATURAL JOIN", column, "SELECT note FROM natural_keys", exec.RuleColumn},
		{"a view that renames it", column, "SELECT p FROM logins", exec.RuleColumn},
		{"another column of that view", column, "SELECT id FROM logins", exec.RuleColumn},

		// Tables.
		{"by name", table, "SELECT name FROM users", exec.RuleTable},
		{"by its rows", table, "SELECT count(*) FROM users", exec.RuleTable},
		{"by its rowid", table, "SELECT rowid FROM users", exec.RuleTable},
		{"by existence", table, "SELECT EXISTS (SELECT 1 FROM main.users)", exec.RuleTable},
		{"by NATURAL JOIN", table, "SELECT count(*) FROM orders NATURAL JOIN users", exec.RuleTable},
		{"by USING", table, "SELECT count(*) FROM orders JOIN users USING (id)", exec.RuleTable},
		{"by a comma and NATURAL", table, "SELECT count(*) FROM t, orders NATURAL JOIN users", exec.RuleTable},
		{"by a view", table, "SELECT id FROM names", exec.RuleTable},
		{"by a view that joins", table, "SELECT note FROM natural_keys", exec.RuleTable},
		{"not on the list", only, "SELECT name FROM users", exec.RuleTable},
		{"a view over what is not on the list", exec.Policy{AllowTables: []string{"names"}}, "SELECT name FROM names", exec.RuleTable},
		{"a view that is denied itself, joined", exec.Policy{DenyTables: []string{"names"}}, "SELECT count(*) FROM orders NATURAL JOIN names", exec.RuleTable},
		{"a view with its table", exec.Policy{AllowTables: []string{"names", "users"}}, "SELECT name FROM names", fine},

		// The catalog, without any policy.
		{"the catalog", exec.Policy{}, "SELECT sql FROM sqlite_master", exec.RuleTable},
		{"the catalog by NATURAL JOIN", exec.Policy{}, "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL JOIN sqlite_master", exec.RuleTable},
		{"the catalog by USING", exec.Policy{}, "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g JOIN main.sqlite_schema USING (name)", exec.RuleTable},
		{"a module by USING", exec.Policy{}, "WITH g(input) AS (VALUES ('a b')) SELECT count(*) FROM g JOIN fts3tokenize USING (input)", exec.RuleTable},
		{"a PRAGMA by USING", exec.Policy{}, "WITH g(name) AS (VALUES ('password')) SELECT count(*) FROM g JOIN pragma_table_info('users') USING (name)", exec.RuleTable},
		{"NATURAL JOIN of ordinary tables", exec.Policy{}, "SELECT count(*) FROM users NATURAL JOIN orders", fine},
		{"USING in a view, nothing denied", exec.Policy{}, "SELECT id FROM matched", fine},

		// Virtual tables.
		{"full-text search", exec.Policy{}, "SELECT title FROM docs WHERE docs MATCH 'hidden'", fine},
		{"its functions", exec.Policy{}, "SELECT snippet(docs), offsets(docs) FROM docs WHERE body MATCH 'words'", fine},
		{"an R-tree", exec.Policy{}, "SELECT id FROM boxes WHERE x0 >= 0", fine},
		{"the terms of an index", exec.Policy{}, "SELECT term FROM doc_terms", fine},
		{"search may look into every column", exec.Policy{DenyColumns: []string{"docs.body"}}, "SELECT title FROM docs WHERE docs MATCH 'body:hidden'", exec.RuleTable},
		{"a shadow table has the data", exec.Policy{DenyColumns: []string{"docs.body"}}, "SELECT c1body FROM docs_content", exec.RuleTable},
		{"a shadow table of a denied one", exec.Policy{DenyTables: []string{"docs"}}, "SELECT c1body FROM docs_content", exec.RuleTable},
		{"the terms of a denied one", exec.Policy{DenyTables: []string{"docs"}}, "SELECT term FROM doc_terms", exec.RuleTable},
		{"other tables do not care", exec.Policy{DenyTables: []string{"docs"}}, "SELECT name FROM users", fine},

		// Functions.
		{"off the list", exec.Policy{}, "SELECT json_group_array(a) FROM t", exec.RuleFunction},
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
			case test.want != fine && refused.Rule != test.want:
				t.Errorf("%s: refused by %q (%s), want %q", test.sql, refused.Rule, refused.Detail, test.want)
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
