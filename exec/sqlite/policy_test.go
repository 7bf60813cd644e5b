package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// secrets is what the policies of SQLite's own need beside dbtest.PolicyScript.
const secrets = `
ALTER TABLE users ADD COLUMN upper_name TEXT AS (upper(name)) VIRTUAL;
ALTER TABLE users ADD COLUMN shout TEXT AS (upper("password")) VIRTUAL;
ALTER TABLE users ADD COLUMN twice TEXT GENERATED ALWAYS AS (shout || '!') VIRTUAL;
CREATE INDEX users_password ON users(password);
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
INSERT INTO docs VALUES ('hello', 'hidden words');
INSERT INTO boxes VALUES (1, 0, 1);
INSERT INTO found(found) VALUES ('rebuild');
INSERT INTO again_search(again_search) VALUES ('rebuild');
INSERT INTO named_search(named_search) VALUES ('rebuild');
`

// policies are the statements under a policy that only SQLite knows, and those that say by which reason it refuses.
func policies() (all []exectest.PolicyCase) {
	for _, c := range []struct {
		policy exec.Policy
		want   string      // "": it may run
		rows   [][2]string // why, and the statement
	}{
		{dbtest.DenyColumn, "", [][2]string{
			{"a generated column of allowed ones", "SELECT upper_name FROM users"},
			{"a CTE in the place of the table", "WITH users(password) AS (VALUES (1)) SELECT password FROM users"},
			{"the rowid by its names", "SELECT rowid, oid, _rowid_ FROM orders"},
			{"the rowid that is a column", "SELECT rowid, oid, users._rowid_ FROM users"},
			{"the hidden columns of a search", "SELECT docid, docs FROM docs WHERE docs MATCH 'hidden' ORDER BY rowid"},
			{"the columns of its terms", "SELECT term, col, documents, occurrences, languageid FROM doc_terms"},
			{"a shadow table of an allowed one", "SELECT docid, c1body FROM docs_content"},
			{"a search over a view of allowed columns", "SELECT docid FROM named_search WHERE named_search MATCH 'ann'"},
			{"an R-tree", "SELECT id, x1, rowid FROM boxes WHERE x0 >= 0"},
			{"the hidden columns of a table-valued function",
				"SELECT value, json, root, key FROM users, json_each(json_array(users.name))"},
			{"a CTE of new columns", "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c " +
				"JOIN c AS d USING (x)"},
			{"an outer join by USING", "SELECT id FROM orders FULL JOIN names USING (id)"},
			{"no index is no order", "SELECT id FROM users NOT INDEXED"},
		}},
		{exec.Policy{AllowTables: []string{"t", "main.orders"}}, "", [][2]string{
			{"an allowed table", "SELECT total FROM main.orders"},
			{"table-valued functions belong to no schema", "SELECT value FROM json_each('[1]')"},
		}},
		{dbtest.DenyColumn, "column", [][2]string{
			{"by another case", `SELECT "PassWord" FROM main.USERS`},
			{"in a subquery of LIMIT", "SELECT 1 LIMIT (SELECT length(password) FROM users)"},
			{"by IN and a table's name", "SELECT (1, 'a', 'b', 'c', 'd', 'e') IN users"},
			{"an argument of a table-valued function", "SELECT value FROM users, json_each(json_array(password))"},
			{"a table named by a string", "SELECT password FROM 'users'"},
			{"a generated column made of it", "SELECT shout FROM users"},
			{"one made of that one", "SELECT twice FROM users"},
			{"by USING with a string for a name", "SELECT count(*) FROM keyring JOIN users USING ('password')"},
			{"by USING with quotes and comments", "SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])"},
			{"by a CTE that guesses", "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g " +
				"JOIN users USING (password)"},
			{"by a FULL JOIN", "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g FULL " +
				"JOIN users USING (password)"},
			{"its order by INDEXED BY", "SELECT id FROM users INDEXED BY users_password"},
		}},
		{exec.Policy{DenyTables: []string{"users"}}, "table", [][2]string{
			{"by its rowid", "SELECT rowid FROM users"},
			{"by existence", "SELECT EXISTS (SELECT 1 FROM main.users)"},
			{"by a comma and NATURAL", "SELECT count(*) FROM t, orders NATURAL JOIN users"},
			{"a search over a view of a denied table", "SELECT docid FROM named_search WHERE named_search MATCH 'ann'"},
		}},
		{exec.Policy{}, "table", [][2]string{
			{"the catalog", "SELECT sql FROM sqlite_master"},
			{"the catalog by NATURAL JOIN", "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL " +
				"JOIN sqlite_master"},
			{"the catalog by USING", "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g JOIN main.sqlite_schema USING " +
				"(name)"},
			{"a module by USING", "WITH g(input) AS (VALUES ('a b')) SELECT count(*) FROM g JOIN fts3tokenize USING (input)"},
			{"a PRAGMA by USING", "WITH g(name) AS (VALUES ('password')) SELECT count(*) FROM g " +
				"JOIN pragma_table_info('users') USING (name)"},
		}},
		{dbtest.DenyColumn, "table", [][2]string{
			{"a search over a view that reads the column", "SELECT docid FROM found WHERE found MATCH 's3cret'"},
			{"its count", "SELECT count(*) FROM found"},
			{"its terms", "SELECT term FROM found_terms"},
			{"its shadow table", "SELECT hex(root) FROM found_segdir"},
			{"a search over a view over that view", "SELECT docid FROM again_search WHERE again_search MATCH 's3cret'"},
		}},
		{exec.Policy{}, "", [][2]string{
			{"full-text search", "SELECT title FROM docs WHERE docs MATCH 'hidden'"},
			{"its functions", "SELECT snippet(docs), offsets(docs) FROM docs WHERE body MATCH 'words'"},
			{"an R-tree", "SELECT id FROM boxes WHERE x0 >= 0"},
			{"the terms of an index", "SELECT term FROM doc_terms"},
		}},
		{exec.Policy{DenyColumns: []string{"docs.body"}}, "table", [][2]string{
			{"search may look into every column", "SELECT title FROM docs WHERE docs MATCH 'body:hidden'"},
			{"a shadow table has the data", "SELECT c1body FROM docs_content"},
		}},
		{exec.Policy{DenyTables: []string{"docs"}}, "table", [][2]string{
			{"a shadow table of a denied one", "SELECT c1body FROM docs_content"},
			{"the terms of a denied one", "SELECT term FROM doc_terms"},
		}},
		{exec.Policy{}, "function", [][2]string{
			{"off the list", "SELECT jsonb_group_array(a) FROM t"},
		}},
		{exec.Policy{AllowFunctions: []string{"json_group_array"}}, "", [][2]string{
			{"named by the policy", "SELECT json_group_array(a) FROM t"},
		}},
		{exec.Policy{AllowFunctions: []string{"JSON_Group_Array"}}, "", [][2]string{
			{"in any case", "SELECT Json_group_array(a) FROM t"},
		}},
	} {
		for _, row := range c.rows {
			all = append(all, exectest.PolicyCase{Why: row[0], Policy: c.policy, SQL: row[1], Want: c.want})
		}
	}
	return all
}

// TestDeniedIsAbsent has the words of SQLite's guard, and its own forms.
func TestDeniedIsAbsent(t *testing.T) {
	pool, _ := open(t, dbtest.PolicyScript+secrets)
	for name, policy := range map[string]exec.Policy{
		"denied":      {DenyTables: []string{"users"}},
		"not allowed": {AllowTables: []string{"t", "orders"}},
	} {
		db := newDB(t, pool, exec.Config{Policy: policy})
		for _, form := range []string{
			"SELECT * FROM %s", "SELECT a FROM t WHERE a IN (SELECT id FROM main.%s)", "SELECT nope(id) FROM %s",
			"SELECT 1 FROM '%s'",
		} {
			var errs []string
			for _, table := range []string{"users", "usurs"} {
				_, err := db.Query(t.Context(), fmt.Sprintf(form, table))
				errs = append(errs, strings.ReplaceAll(fmt.Sprint(err), "usurs", "users"))
			}
			if errs[0] != errs[1] || errs[0] != "exec: refused (table): users: no such table, or you may not read it" {
				t.Errorf("%s, %s: %q for a table that is there, %q for one that is not", name, form, errs[0], errs[1])
			}
		}
		if _, err := db.Query(t.Context(), "SELECT nix FROM t, json_each"); !strings.Contains(fmt.Sprint(err),
			"no such column") {
			t.Errorf("%s: a column that is not there: %v", name, err)
		}
	}
}

// TestSecretFlows: what shows the values of a column that is called as secrets are may not be read either, and is in no
// schema.
func TestSecretFlows(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, secret TEXT,
	g TEXT GENERATED ALWAYS AS (secret || '!') VIRTUAL,
	h TEXT AS (upper("g")) STORED,
	n TEXT AS (upper(name)));
CREATE VIEW shown AS SELECT id, secret AS s FROM users;
CREATE VIEW again AS SELECT s AS other FROM shown;
CREATE VIEW fine AS SELECT id, name, n FROM users;
CREATE VIEW generated AS SELECT h AS v FROM users;
INSERT INTO users(id, name, secret) VALUES (1, 'ann', 's3cret-1');`)
	const few = "fine.id fine.n fine.name users.id users.n users.name"
	for _, test := range []struct {
		why    string
		policy exec.Policy
		want   string
	}{
		{"what is made of it", exec.Policy{}, few},
		{"revealed", exec.Policy{Reveal: []string{"users.secret"}},
			"again.other fine.id fine.n fine.name generated.v shown.id shown.s users.g users.h users.id users.n users.name " +
				"users.secret"},
		{"what is made of it is none by itself", exec.Policy{Reveal: []string{"users.g"}}, few},
		{"denied and revealed", exec.Policy{DenyColumns: []string{"secret"}, Reveal: []string{"*"}}, few},
	} {
		t.Run(test.why, func(t *testing.T) {
			db := newDB(t, pool, exec.Config{Policy: test.policy})
			s := testutil.Value(db.Schema(trace.NewContext(t.Context(), trace.Tracer{}.New("test"))))(t)
			if diff := cmp.Diff(test.want, strings.Join(dbtest.Columns(s), " ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, text := range []string{"SELECT secret FROM users", "SELECT h FROM users", "SELECT * FROM users",
				"SELECT * FROM shown", "SELECT v FROM generated"} {
				if _, err := db.Query(t.Context(), text); (err == nil) != (test.why == "revealed") {
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
}
