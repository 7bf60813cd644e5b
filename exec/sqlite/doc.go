// Package sqlite is the SQLite dialect of exec: its guard, its catalog and its plans. It imports no driver.
//
//	pool, _ := sql.Open("sqlite3", "file:shop.db?mode=ro") // github.com/mattn/go-sqlite3
//	db, _ := exec.New(pool, sqlite.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard refuses a connection whose temporary tables hide tables of the schema. On any other connection it
//
//   - sets query_only, and lowers busy_timeout below the time-out, because SQLite waits for locks without a look at the
//     context;
//   - lowers SQLite's limits: values of 1 MB (less for a statement that holds many, sorts them, or calls a function that
//     is slow on them), expressions 200 deep, 50 parts of a compound, programs of 250,000 steps, no parameters, nothing
//     newly attached;
//   - registers an authorizer that allows SELECT, recursion, functions on a list, and reading columns of tables of the
//     schema that the policy allows.
//
// It refuses a statement of which 48 subqueries, views, joins and DISTINCTs may hold rows at once. Then it restores
// everything. It closes a connection that cannot be restored, that a cancelled statement used, or that was held 10,000
// times, because go-sqlite3 keeps each callback until then. It never closes a connection to a database in memory, whose
// data would be lost: if that cannot be restored, the exec.DB refuses further work with exec.ErrBroken.
//
// # What SQLite does not tell
//
// The authorizer does not hear of columns that only USING, a NATURAL join or INDEXED BY use, of the columns that a
// generated column is made of, and of what the module of a virtual table reads. Therefore
//
//   - a statement with USING, NATURAL or INDEXED BY is refused if anything that it names may not be read, and a view with
//     one of them if anything that the view names may not be read;
//   - generated columns that are made of denied ones are denied;
//   - virtual tables are denied if one of their columns is denied, or if their definition names a denied table or a view
//     that reads something denied.
//
// Where some table may not be read, an absent table has the same error as a denied one. Catalog tables (sqlite_master,
// sqlite_stat1), PRAGMA functions, temporary tables and eponymous virtual tables cannot be read.
//
// # What it does not stop
//
//   - The order of rows. SQLite may read an index in place of a table if it has all columns of a statement: SELECT name
//     FROM users can come in the order of a denied column password. Drop such an index, or deny its other columns.
//   - One long step of SQLite (merging a sort, a GLOB over a megabyte), which ends only after its time-out.
//   - Temporary files of sorts and groups, of up to gigabytes in 30 seconds. With PRAGMA temp_store=MEMORY that is
//     memory.
//   - Collations of the application. SQLite has no hook for them.
//
// exec does not wait for what goes on after its time; see exec.LimitError. Two waits for a lock may go on: of a
// statement that meets the lock while the guard is on, up to nine tenths of its time-out and the busy_timeout of its
// connection, and of a driver that meets it while it opens a connection (go-sqlite3), up to that busy_timeout.
//
// # Rules about rows
//
// With Policy.Rows a table becomes (SELECT * FROM main.t WHERE (rule)) AS t, and a view its definition with the same in it.
// The second look compiles the statement without these subqueries: the authorizer may hear of no table that has a rule,
// and around it the names of such tables are common table expressions that cannot be compiled. Refused are rowid, _rowid_
// and oid of such a table, x IN t, a table that is also the name of a common table expression unless its schema stands in
// front, and a view with a string in double quotes. No rule can be about a virtual table, and one whose definition names a
// table with a rule may not be read. The fence is LIMIT -1. Which index SQLite takes may depend on statistics of all rows.
//
// # The schema
//
// Tables come in the order in which they were made, database by database; those of the main database have no Schema.
// Left out are SQLite's own tables, temporary tables, the shadow tables of virtual tables, hidden columns, keys to tables
// that do not exist, unique indexes on expressions or on a part of the rows, and views and virtual tables that SQLite
// cannot open, because a table or module is missing: a warning "broken-view" or "broken-table" tells of each that the
// policy allows. It needs SQLite 3.37 (2021).
//
// # Drivers
//
// github.com/mattn/go-sqlite3 works as it is. For a library that wraps it, set exec.Config.Unwrap, or
// texttosql.WithDialect; for another driver, adapt it with [Dialect].Hooks. The module exec/sqlite/modernc does so for
// modernc.org/sqlite, the module examples/drivers for github.com/ncruces/go-sqlite3 and github.com/XSAM/otelsql.
package sqlite
