// Package sqlite is the SQLite dialect of exec: its guard, its catalog and its plans. It imports no driver.
//
//	pool, _ := sql.Open("sqlite3", "file:shop.db?mode=ro") // github.com/mattn/go-sqlite3
//	db, _ := exec.New(pool, sqlite.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard refuses a connection whose temporary tables hide tables of the schema. On any other connection it does the
// following:
//
//   - It sets query_only, and lowers busy_timeout below the time-out, because SQLite waits for locks without checking
//     the context.
//   - It lowers SQLite's limits. A value has at most 1 MB, or less in a statement that holds many, sorts them, or calls
//     a function that is slow on them. An expression is at most 200 deep, a compound has at most 50 parts, and a
//     program at most 250,000 steps. A statement may not have parameters or attach a database.
//   - It registers an authorizer that allows SELECT, recursion, functions on a list, and reading columns of tables of
//     the schema that the policy allows.
//
// It refuses a statement in which 48 subqueries, views, joins and DISTINCTs may hold rows at once. Then it restores the
// connection. It closes a connection that cannot be restored, that a cancelled statement used, or that was held 10,000
// times, because go-sqlite3 keeps each callback until then. It never closes a connection to a database in memory, whose
// data would be lost. If such a connection cannot be restored, the exec.DB refuses further work with exec.ErrBroken.
//
// # What SQLite does not report
//
// The authorizer is not called for columns that only USING, a NATURAL join or INDEXED BY use. It is not called for the
// source columns of a generated column, or for reads by the module of a virtual table. Therefore
//
//   - a statement with USING, NATURAL or INDEXED BY is refused if anything that it names may not be read. So is a view
//     with one of them if anything that the view names may not be read;
//   - columns generated from denied ones are denied;
//   - virtual tables are denied if one of their columns is denied, or if their definition names a denied table or a
//     view that reads something denied.
//
// If the policy denies tables, a missing table returns the same error as a denied one. Catalog tables (sqlite_master,
// sqlite_stat1), PRAGMA functions, temporary tables and eponymous virtual tables cannot be read.
//
// # What it does not stop
//
//   - The order of rows. SQLite may read an index instead of a table if the index has all columns of a statement. So
//     SELECT name FROM users can return rows in the order of a denied column password. Drop such an index, or deny its
//     other columns.
//   - One long step of SQLite (merging a sort, a GLOB over a megabyte). It may end long after the time-out.
//   - Temporary files of sorts and groups, of up to gigabytes in 30 seconds. With PRAGMA temp_store=MEMORY they are in
//     memory.
//   - Collations of the application. SQLite has no hook for them.
//
// exec does not wait for work that continues after the time limit; see exec.LimitError. Two waits for a lock may
// continue:
//
//   - A statement that meets the lock while the guard is on waits up to nine tenths of its time-out plus the
//     busy_timeout of its connection.
//   - A driver that meets the lock while it opens a connection (go-sqlite3) waits up to that busy_timeout.
//
// # Rules about rows
//
// With Policy.Rows a table becomes (SELECT * FROM main.t WHERE (rule)) AS t, and a view becomes its definition,
// rewritten in the same way. The second check compiles the statement without these subqueries. Then the authorizer must
// not report a table with a rule, and around it the names of such tables are common table expressions that cannot be
// compiled. The guard refuses
//
//   - rowid, _rowid_ and oid of a table with a rule, and x IN t;
//   - a table that is also the name of a common table expression, unless it is qualified by its schema;
//   - a view with a string in double quotes.
//
// A virtual table cannot have a rule, and a virtual table whose definition names a table with a rule may not be read.
// The fence is LIMIT -1. Which index SQLite uses may depend on statistics of all rows. A rule reads its columns within
// the statement's limit on the length of values, so a longer value makes the statement fail, even in a hidden row.
// Rules should read short columns; a generated column that is STORED makes one from a document.
//
// # The schema
//
// Tables are in the order of their creation, database by database; tables of the main database have no Schema. Left out
// are SQLite's own tables, temporary tables, the shadow tables of virtual tables, hidden columns, and keys to tables
// that do not exist. Unique indexes on expressions or on a part of the rows are left out, too. Also left out are views
// and virtual tables that SQLite cannot open, because a table or module is missing. A warning "broken-view" or
// "broken-table" names each of these that the policy allows. The package needs SQLite 3.37 (2021).
//
// # Drivers
//
// github.com/mattn/go-sqlite3 works without changes. For a library that wraps it, set exec.Config.Unwrap, or use
// texttosql.WithDialect. For another driver, adapt it with [Dialect].Hooks. The module exec/sqlite/modernc does so for
// modernc.org/sqlite, and the module examples/drivers for github.com/ncruces/go-sqlite3 and github.com/XSAM/otelsql.
package sqlite
