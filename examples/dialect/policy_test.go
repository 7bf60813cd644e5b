package main

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/sqltext"
)

// secrets is what the policies of this dialect's own need beside exectest.PolicyScript.
const secrets = `
ALTER TABLE users ADD COLUMN shout TEXT AS (upper("password")) VIRTUAL;
ALTER TABLE users ADD COLUMN twice TEXT GENERATED ALWAYS AS (shout || '!') VIRTUAL;
CREATE INDEX users_password ON users(password);
CREATE TABLE pins(password TEXT);
CREATE VIRTUAL TABLE docs USING fts5(title, body);
CREATE VIEW named(number, title) AS SELECT rowid, name FROM users;
CREATE VIEW broken AS SELECT nix FROM nowhere;
CREATE VIEW counted AS SELECT json_group_array(a) AS all_a FROM t;
CREATE VIEW hidden AS SELECT (SELECT u.password FROM (users) AS u) AS p;
`

// policies are statements under a policy that only SQLite knows.
func policies() (all []exectest.PolicyCase) {
	add := func(p exec.Policy, want sqltext.Reason, statements ...string) {
		for _, text := range statements {
			all = append(all, exectest.PolicyCase{Why: "SQLite's own", Policy: p, SQL: text, Want: want})
		}
	}
	column, none := exectest.DenyColumn, exec.Policy{}
	add(column, "", // what a policy leaves alone
		"WITH users(password) AS (VALUES (1)) SELECT password FROM users", "SELECT rowid, oid, users._rowid_ FROM users",
		"SELECT id FROM users NOT INDEXED", "SELECT value FROM users, json_each(json_array(users.name)) AS j",
		"SELECT CAST(id AS VARCHAR(10)), 'password' FROM users", "SELECT number FROM named", "SELECT 's3cret-1' IN pins",
		"SELECT users.name FROM users JOIN orders AS o ON o.user_id = users.id GROUP BY 1 HAVING count(*) > 0",
		"SELECT o.* FROM (orders) AS o", "WITH c AS (SELECT id FROM users) SELECT c.* FROM c")
	add(column, exec.ReasonColumn, // the column by other names
		`SELECT "PassWord" FROM main.USERS`, "SELECT users.'password' FROM users", "SELECT [password] FROM 'users'",
		"SELECT 'users'.'password' FROM users", "SELECT 1 LIMIT (SELECT length(password) FROM users)",
		"SELECT (1, 'a', 'b', 'c', 'd') IN users", "SELECT count(*) FROM keyring JOIN users USING ('password')",
		"SELECT count(*) FROM keyring JOIN users USING/**/(\n--\n[PASSWORD])", "SELECT id FROM users INDEXED BY users_password",
		"SELECT shout FROM users", "SELECT twice FROM users")
	add(column, exec.ReasonColumn, // a star whose table a text reader may mistake
		"SELECT minus.* FROM users minus, (SELECT 1 FROM t AS minus)", "SELECT u.* FROM (users) AS u, (SELECT 1 FROM t AS u)",
		"SELECT u.* FROM ((users)) u, (SELECT 1 FROM t AS u)", "SELECT u.* FROM (users JOIN t) AS u, (SELECT 1 FROM t AS u)",
		"SELECT 'u'.* FROM users 'u', (SELECT 1 FROM t AS u)", "SELECT window.* FROM users window, (SELECT 1 FROM t AS window)",
		"SELECT for.* FROM users AS for, (SELECT 1 FROM t AS for)",
		"SELECT m.* FROM users m, main.users AS a, (WITH users AS (SELECT 1) SELECT 1 FROM users), (SELECT 1 FROM t AS m)",
		"SELECT ALL * FROM users", "SELECT DISTINCT * FROM users", "SELECT 1, * FROM users",
		"SELECT (SELECT u.password FROM (SELECT 1 AS password) AS u) FROM users AS u")
	add(exec.Policy{DenyColumns: []string{"users.id"}}, exec.ReasonColumn, // the row's number is the key
		"SELECT rowid FROM users", `SELECT "OID" FROM users`, "SELECT name FROM users ORDER BY users._rowid_")
	add(exec.Policy{DenyColumns: []string{"users.id"}}, exectest.AnyReason, "SELECT title FROM named")
	add(column, exectest.AnyReason, "SELECT p FROM hidden")
	add(exec.Policy{DenyTables: []string{"users"}}, exec.ReasonTable,
		"SELECT rowid FROM users", "SELECT EXISTS (SELECT 1 FROM main.users)", "SELECT count(*) FROM t, orders NATURAL JOIN users",
		"SELECT 1 FROM 'users'", "SELECT 1 IN users", "SELECT number FROM named")
	add(none, exec.ReasonTable, // what belongs to SQLite, or to a module
		"SELECT sql FROM sqlite_master", "SELECT name FROM temp.sqlite_master", "SELECT title FROM docs",
		"SELECT count(*) FROM docs WHERE docs = 'a'", "SELECT c0 FROM docs_content", "SELECT 1 IN pragma_compile_options",
		"SELECT 1 FROM pragma_compile_options", "SELECT 1 FROM json_each('[]') WHERE 1 IN pragma_compile_options",
		"WITH g(name) AS (VALUES ('users')) SELECT count(*) FROM g NATURAL JOIN sqlite_master", "SELECT * FROM broken")
	add(none, exec.ReasonFunction,
		"SELECT json_group_array(a) FROM t", `SELECT "load_extension"('x')`, "SELECT [load_extension]('x')", "SELECT all_a FROM counted",
		"SELECT 1 FROM 'pragma_table_info'('users')", "SELECT b MATCH 'a' FROM t",
		"WITH load_extension(x) AS (SELECT 1) SELECT load_extension('x') FROM load_extension")
	add(exec.Policy{AllowFunctions: []string{"JSON_Group_Array"}}, "", "SELECT Json_group_array(a) FROM t", "SELECT all_a FROM counted")
	// What this dialect refuses in excess, having no parser.
	add(column, exec.ReasonColumn,
		"WITH c AS (SELECT id FROM users) SELECT * FROM c",                                                // a star without a table is every table's
		"SELECT k.password FROM keyring AS k JOIN users AS u ON u.name = k.note",                          // a name is every table's
		"SELECT name password FROM users", "WITH c(password) AS (SELECT name FROM users) SELECT 1 FROM c", // an alias without AS is a name
	)
	return all
}
