// Package sqlite is the SQLite dialect of exec: its guard, its catalog and its plans. It imports no driver.
//
//	pool, _ := sql.Open("sqlite3", "file:shop.db?mode=ro") // github.com/mattn/go-sqlite3
//	db, _ := exec.New(pool, sqlite.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// For each statement a connection of the pool is held, and on it the guard
//
//   - weighs the text before SQLite sees it: writing its subqueries, views and columns out may add 10,000 tokens, and
//     48 subqueries, views, joins and DISTINCTs may hold rows;
//   - refuses a connection whose temporary tables hide tables of the schema;
//   - lowers busy_timeout, since SQLite waits for locks without looking at a context: to nothing until no lock is in
//     the way, which the guard waits for itself, below the time-out afterwards; and sets query_only;
//   - lowers SQLite's limits: values of 1 MB, less for a statement that could hold many of them at once, sorts them, or
//     calls a function that is slow on them; expressions 200 deep, 50 parts of a compound, programs of 25,000 steps, no
//     parameters, nothing newly attached;
//   - registers an authorizer that allows four actions: SELECT, recursion, reading a column of a table of the schema
//     that the policy allows, and calling a function on a list.
//
// Afterwards everything is put back in reverse order. A connection that cannot be put back, one whose statement was
// cancelled, and one that was held 10,000 times (go-sqlite3 keeps each callback until it closes) is closed. A
// connection to a database in memory never is, for the data would go with it: if it cannot be put back, the exec.DB
// refuses further work with exec.ErrBroken.
//
// The guard reads the schema of each connection, and again when its version changes. Under a policy that denies
// something it looks for that after each compilation too, and compiles again for the schema as it is then; a column
// that it has not seen, because SQLite compiled once more in the middle, is refused.
//
// SQLite's authorizer does not hear of columns that only USING or a NATURAL join name or that an index orders by,
// nor of what a generated column is made of, nor what the module of a virtual table reads. So a statement with such
// a join, or with INDEXED BY, is refused when anything it names may not be read, a generated column made of a
// denied one is denied too, and so are virtual tables with a denied column and those that name a denied table, or a
// view that reads something denied, in their definition. Where some table may not be read, a table that is absent
// has the same error as one that is denied. Catalog tables (sqlite_master, sqlite_stat1), PRAGMA functions,
// temporary tables and eponymous virtual tables are no part of a schema and cannot be read.
//
// # What it does not stop
//
// Where an index has a denied column and all columns that a statement reads, SQLite may read the index in place of
// the table, so rows without an ORDER BY of their own come in the order of the denied column: SELECT name FROM
// users in the order of passwords. Drop such an index, or deny its other columns.
//
// One step of SQLite that takes long (a sort being merged, a GLOB over a megabyte) ends only after its time-out.
// Sorts and groups go to temporary files, which may grow to gigabytes within 30 seconds; where the application set
// PRAGMA temp_store=MEMORY, that is memory. A collation that the application registered can be called by a
// statement; SQLite has no hook for that.
//
// Whatever goes on after its time, exec does not wait for it: see exec.LimitError. Two waits for somebody else's
// lock go on like that: that of a statement which met the lock after the guard was on, up to nine tenths of its
// time-out and the busy_timeout of its connection, and that of a driver which meets it while it opens a connection
// (go-sqlite3 does), up to that busy_timeout.
//
// # Drivers
//
// github.com/mattn/go-sqlite3 works as it is. For a library that wraps it, set exec.Config.Unwrap, or
// texttosql.WithDriverHook; for another driver, adapt it with [Dialect].Hooks. The module examples/drivers does so for
// github.com/ncruces/go-sqlite3, modernc.org/sqlite and github.com/XSAM/otelsql.
package sqlite
