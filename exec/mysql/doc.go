// Package mysql is the MariaDB and MySQL dialect of exec, on the driver github.com/go-sql-driver/mysql.
//
//	pool, _ := sql.Open("mysql", "reader:secret@tcp(db:3306)/shop") // github.com/go-sql-driver/mysql
//	db, _ := exec.New(pool, mysql.Dialect{MariaDB: true}, exec.Config{})
//	err := db.Ready(ctx)
//
// It is tested on MariaDB 10.11 and 11.4. MySQL 8 has the same guard by its documentation, and was not tested.
//
// # The guard
//
// The guard holds a connection of the pool while statements run. It
//
//   - refuses a connection with an open transaction, whose client character set is not utf8, whose database is one of the
//     server's own, or whose sql_mode reads text by other rules than the Dialect says, each with what to do about it;
//   - sets session variables: read-only transactions (tx_read_only, which stops DDL too), nine tenths of the time-out
//     (max_statement_time), short waits for locks, bounds on temporary tables and recursion;
//   - parses the statement once (github.com/sqlc-dev/marino) and walks the whole tree: it may be made of the parts of
//     SELECT, and name functions of a list and tables and views of the current database;
//   - reads the definitions of views in the same way, and refuses a view that this user may not see: GRANT SHOW VIEW;
//   - refuses what the parser would read too often;
//   - sends the text by COM_STMT_PREPARE only, which takes one statement, whatever multiStatements says;
//   - under a policy that denies columns, reads in the optimizer trace of that preparation which columns the server found;
//   - stops at one row more than wanted, or at the limit on bytes, where it closes the connection: the driver would read
//     the rest.
//
// Then it sets the variables back. What a policy denies holds for a new column from the next statement on. Columns in
// exec.Analysis are more than are read where a name may mean several, and never fewer.
//
// With rules about rows (exec.Policy.Rows), a statement that has a subquery in a HAVING always runs as with Fence "always".
// There MariaDB 10.11 gives wrong results for queries in FROM, and for views, with rules or without. A column
// in brackets, (NAME), is called as its table spells it, name: a splice is a query, and the server takes its names.
//
// # What it does not stop
//
//   - Memory of the server: one value up to its max_allowed_packet, sorts, aggregates. Such a value reaches the client
//     whole before its length is looked at.
//   - A cancelled statement, which the server ends at nine tenths of its time-out and not before.
//   - The order of rows, which may be that of an index on a denied column.
//   - A temporary table that an earlier user of the connection left behind and that hides a table of the schema, or LOCK
//     TABLES of such a user. Give the SDK a pool of its own.
//   - Tables of the engines CONNECT, FEDERATED and SPIDER, which read elsewhere, as their owner built them.
//
// So for askers who are not trusted, give the pool a user who may only read:
//
//	CREATE USER texttosql IDENTIFIED BY '…'; GRANT SELECT, SHOW VIEW ON shop.* TO texttosql;
package mysql
