package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/sqltext"
)

// secrets is what the policies of SQLite's own need beside exectest.PolicyScript.
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
func policies() []exectest.PolicyCase {
	column := exectest.DenyColumn
	table := exec.Policy{DenyTables: []string{"users"}}
	only := exec.Policy{AllowTables: []string{"t", "main.orders"}}
	const fine sqltext.Reason = "" // it may run
	return []exectest.PolicyCase{
		// What a policy leaves alone.
		{Why: "a generated column of allowed ones", Policy: column, SQL: "SELECT upper_name FROM users", Want: fine},
		{Why: "a CTE in the place of the table", Policy: column, SQL: "WITH users(password) AS (VALUES (1)) SELECT password FROM users", Want: fine},
		{Why: "an allowed table", Policy: only, SQL: "SELECT total FROM main.orders", Want: fine},
		{Why: "table-valued functions belong to no schema", Policy: only, SQL: "SELECT value FROM json_each('[1]')", Want: fine},
		{
			Why: "a recursive CTE", Policy: only,
			SQL: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT count(*) FROM n", Want: fine,
		},

		// What is no plain column is known all the same.
		{Why: "the rowid by its names", Policy: column, SQL: "SELECT rowid, oid, _rowid_ FROM orders", Want: fine},
		{Why: "the rowid that is a column", Policy: column, SQL: "SELECT rowid, oid, users._rowid_ FROM users", Want: fine},
		{
			Why: "the hidden columns of a search", Policy: column,
			SQL: "SELECT docid, docs FROM docs WHERE docs MATCH 'hidden' ORDER BY rowid", Want: fine,
		},
		{Why: "the columns of its terms", Policy: column, SQL: "SELECT term, col, documents, occurrences, languageid FROM doc_terms", Want: fine},
		{Why: "a shadow table of an allowed one", Policy: column, SQL: "SELECT docid, c1body FROM docs_content", Want: fine},
		{
			Why: "a search over a view of allowed columns", Policy: column,
			SQL: "SELECT docid FROM named_search WHERE named_search MATCH 'ann'", Want: fine,
		},
		{Why: "an R-tree", Policy: column, SQL: "SELECT id, x1, rowid FROM boxes WHERE x0 >= 0", Want: fine},
		{
			Why: "the hidden columns of a table-valued function", Policy: column,
			SQL: "SELECT value, json, root, key FROM users, json_each(json_array(users.name))", Want: fine,
		},
		{
			Why: "a CTE of new columns", Policy: column,
			SQL: "WITH c(x, y) AS (SELECT id, name FROM users) SELECT c.x, d.y FROM c JOIN c AS d USING (x)", Want: fine,
		},
		{Why: "a compound", Policy: column, SQL: "SELECT z FROM (SELECT id AS z FROM users UNION SELECT a FROM t) ORDER BY z", Want: fine},
		{Why: "an outer join by USING", Policy: column, SQL: "SELECT id FROM orders FULL JOIN names USING (id)", Want: fine},

		// Columns.
		{Why: "by another case", Policy: column, SQL: `SELECT "PassWord" FROM main.USERS`, Want: exec.ReasonColumn},
		{Why: "in a subquery of LIMIT", Policy: column, SQL: "SELECT 1 LIMIT (SELECT length(password) FROM users)", Want: exec.ReasonColumn},
		{Why: "by IN and a table's name", Policy: column, SQL: "SELECT (1, 'a', 'b', 'c', 'd', 'e') IN users", Want: exec.ReasonColumn},
		{
			Why: "an argument of a table-valued function", Policy: column,
			SQL: "SELECT value FROM users, json_each(json_array(password))", Want: exec.ReasonColumn,
		},
		{Why: "a table named by a string", Policy: column, SQL: "SELECT password FROM 'users'", Want: exec.ReasonColumn},

		// What the authorizer does not hear of.
		{Why: "a generated column made of it", Policy: column, SQL: "SELECT shout FROM users", Want: exec.ReasonColumn},
		{Why: "one made of that one", Policy: column, SQL: "SELECT twice FROM users", Want: exec.ReasonColumn},
		{
			Why: "by USING with a string for a name", Policy: column,
			SQL: "SELECT count(*) FROM keyring JOIN users USING ('password')", Want: exec.ReasonColumn,
		},
		{
			Why: "by USING with quotes and comments", Policy: column,
			SQL: "SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])", Want: exec.ReasonColumn,
		},
		{
			Why: "by a CTE that guesses", Policy: column,
			SQL: "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g JOIN users USING (password)", Want: exec.ReasonColumn,
		},
		{
			Why: "by a FULL JOIN", Policy: column,
			SQL: "WITH g(password) AS (VALUES ('s3cret-1')) SELECT count(*) FROM g FULL JOIN users USING (password)", Want: exec.ReasonColumn,
		},
		{Why: "its order by INDEXED BY", Policy: column, SQL: "SELECT id FROM users INDEXED BY users_password", Want: exec.ReasonColumn},
		{Why: "no index is no order", Policy: column, SQL: "SELECT id FROM users NOT INDEXED", Want: fine},

		// Tables.
		{Why: "by its rowid", Policy: table, SQL: "SELECT rowid FROM users", Want: exec.ReasonTable},
		{Why: "by existence", Policy: table, SQL: "SELECT EXISTS (SELECT 1 FROM main.users)", Want: exec.ReasonTable},
		{Why: "by a comma and NATURAL", Policy: table, SQL: "SELECT count(*) FROM t, orders NATURAL JOIN users", Want: exec.ReasonTable},

		// The catalog, without any policy.
		{Why: "the catalog", Policy: exec.Policy{}, SQL: "SELECT sql FROM sqlite_master", Want: exec.ReasonTable},
		{
			Why: "the catalog by NATURAL JOIN", Policy: exec.Policy{},
			SQL: "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL JOIN sqlite_master", Want: exec.ReasonTable,
		},
		{
			Why: "the catalog by USING", Policy: exec.Policy{},
			SQL: "WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g JOIN main.sqlite_schema USING (name)", Want: exec.ReasonTable,
		},
		{
			Why: "a search over a view that reads the column", Policy: column,
			SQL: "SELECT docid FROM found WHERE found MATCH 's3cret'", Want: exec.ReasonTable,
		},
		{Why: "its count", Policy: column, SQL: "SELECT count(*) FROM found", Want: exec.ReasonTable},
		{Why: "its terms", Policy: column, SQL: "SELECT term FROM found_terms", Want: exec.ReasonTable},
		{Why: "its shadow table", Policy: column, SQL: "SELECT hex(root) FROM found_segdir", Want: exec.ReasonTable},
		{
			Why: "a search over a view over that view", Policy: column,
			SQL: "SELECT docid FROM again_search WHERE again_search MATCH 's3cret'", Want: exec.ReasonTable,
		},
		{
			Why: "a search over a view of a denied table", Policy: table,
			SQL: "SELECT docid FROM named_search WHERE named_search MATCH 'ann'", Want: exec.ReasonTable,
		},
		{
			Why: "a module by USING", Policy: exec.Policy{},
			SQL: "WITH g(input) AS (VALUES ('a b')) SELECT count(*) FROM g JOIN fts3tokenize USING (input)", Want: exec.ReasonTable,
		},
		{
			Why: "a PRAGMA by USING", Policy: exec.Policy{},
			SQL: "WITH g(name) AS (VALUES ('password')) SELECT count(*) FROM g JOIN pragma_table_info('users') USING (name)", Want: exec.ReasonTable,
		},

		// Virtual tables.
		{Why: "full-text search", Policy: exec.Policy{}, SQL: "SELECT title FROM docs WHERE docs MATCH 'hidden'", Want: fine},
		{Why: "its functions", Policy: exec.Policy{}, SQL: "SELECT snippet(docs), offsets(docs) FROM docs WHERE body MATCH 'words'", Want: fine},
		{Why: "an R-tree", Policy: exec.Policy{}, SQL: "SELECT id FROM boxes WHERE x0 >= 0", Want: fine},
		{Why: "the terms of an index", Policy: exec.Policy{}, SQL: "SELECT term FROM doc_terms", Want: fine},
		{
			Why: "search may look into every column", Policy: exec.Policy{DenyColumns: []string{"docs.body"}},
			SQL: "SELECT title FROM docs WHERE docs MATCH 'body:hidden'", Want: exec.ReasonTable,
		},
		{
			Why: "a shadow table has the data", Policy: exec.Policy{DenyColumns: []string{"docs.body"}},
			SQL: "SELECT c1body FROM docs_content", Want: exec.ReasonTable,
		},
		{
			Why: "a shadow table of a denied one", Policy: exec.Policy{DenyTables: []string{"docs"}},
			SQL: "SELECT c1body FROM docs_content", Want: exec.ReasonTable,
		},
		{
			Why: "the terms of a denied one", Policy: exec.Policy{DenyTables: []string{"docs"}},
			SQL: "SELECT term FROM doc_terms", Want: exec.ReasonTable,
		},

		// Functions.
		{Why: "off the list", Policy: exec.Policy{}, SQL: "SELECT json_group_array(a) FROM t", Want: exec.ReasonFunction},
		{
			Why: "named by the policy", Policy: exec.Policy{AllowFunctions: []string{"json_group_array"}},
			SQL: "SELECT json_group_array(a) FROM t", Want: fine,
		},
		{Why: "in any case", Policy: exec.Policy{AllowFunctions: []string{"JSON_Group_Array"}}, SQL: "SELECT Json_group_array(a) FROM t", Want: fine},
	}
}

// TestDeniedIsAbsent has the words of SQLite's guard, and its own forms.
func TestDeniedIsAbsent(t *testing.T) {
	pool, _ := open(t, exectest.PolicyScript+secrets)
	for name, policy := range map[string]exec.Policy{
		"denied":      {DenyTables: []string{"users"}},
		"not allowed": {AllowTables: []string{"t", "orders"}},
	} {
		db := newDB(t, pool, exec.Config{Policy: policy})
		for _, form := range []string{
			"SELECT * FROM %s", "SELECT a FROM t WHERE a IN (SELECT id FROM main.%s)", "SELECT nope(id) FROM %s", "SELECT 1 FROM '%s'",
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
