// Package mysql is the MariaDB and MySQL dialect of exec, on the driver github.com/go-sql-driver/mysql.
//
//	pool, _ := sql.Open("mysql", "reader:secret@tcp(db:3306)/shop") // github.com/go-sql-driver/mysql
//	db, _ := exec.New(pool, mysql.Dialect{MariaDB: true}, exec.Config{})
//	err := db.Ready(ctx)
//
// It is tested on MariaDB 10.11 and 11.4. By its documentation MySQL 8 has the same guard; it was not tested.
//
// # The guard
//
// The guard holds a connection of the pool while statements run. It does the following:
//
//   - It refuses a connection with an open transaction, with a client character set other than utf8, or in a database
//     of the server's own. It also refuses an sql_mode that reads text by other rules than the Dialect. Each error says
//     what to do.
//   - It sets session variables: read-only transactions (tx_read_only, which stops DDL too), nine tenths of the
//     time-out (max_statement_time), short waits for locks, and bounds on temporary tables and recursion.
//   - It parses the statement once (github.com/sqlc-dev/marino) and checks the whole tree. The tree may have the parts
//     of SELECT, listed functions, and tables and views of the current database.
//   - It checks the definitions of views in the same way, and refuses a view whose definition this user may not see:
//     GRANT SHOW VIEW.
//   - It refuses statements that the parser would read too often.
//   - It sends the text only by COM_STMT_PREPARE, which accepts one statement, whatever multiStatements says.
//   - Under a policy that denies columns, it reads in the optimizer trace of that preparation which columns the server
//     found.
//   - It stops at one row more than wanted. It also stops at the limit on bytes; there it closes the connection,
//     because the driver would read the rest.
//
// Then it restores the variables. A policy also denies new columns, from the next statement on. If a name may mean
// several columns, exec.Analysis may list more columns than the statement reads, but never fewer.
//
// With rules about rows (exec.Policy.Rows), a statement with a subquery in a HAVING always runs as with Fence "always".
// For such statements MariaDB 10.11 returns wrong results for queries in FROM, and for views, with rules or without. A
// column in parentheses, (NAME), gets the name that its table has, name, because a splice is a query and the server
// uses its names.
//
// # What it does not stop
//
//   - Memory of the server: one value up to its max_allowed_packet, sorts, aggregates. The client receives such a value
//     whole before its length is checked.
//   - A cancelled statement: the server ends it at nine tenths of its time-out, and not before.
//   - The order of rows, which may follow an index on a denied column.
//   - A temporary table that an earlier user of the connection left and that hides a table of the schema, or LOCK
//     TABLES by such a user. Use a separate pool for the SDK.
//   - Tables of the engines CONNECT, FEDERATED and SPIDER, which read other sources, as their owner built them.
//
// For untrusted users, connect with a database user who may only read:
//
//	CREATE USER texttosql IDENTIFIED BY '…'; GRANT SELECT, SHOW VIEW ON shop.* TO texttosql;
package mysql
