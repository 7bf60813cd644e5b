// Package postgres is the PostgreSQL dialect of exec: its guard, its catalog and its plans, on the driver
// github.com/jackc/pgx/v5.
//
//	pool, _ := sql.Open("pgx", "postgres://texttosql@localhost/shop") // github.com/jackc/pgx/v5/stdlib
//	db, _ := exec.New(pool, postgres.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard holds a connection of the pool for each statement. It does the following:
//
//   - It refuses a connection of a driver other than pgx. If a library wraps pgx, exec.Config.Unwrap or
//     texttosql.WithDialect finds it. It also refuses a connection in an open transaction, with
//     standard_conforming_strings off, with a client_encoding other than UTF8, or with pg_temp first in search_path.
//   - It begins a read-only transaction with local settings. Built-in functions come first in the search path, and
//     temporary tables last. Time-outs are shorter than the statement's, work_mem is 8 MB, and parallel workers are
//     off.
//   - It replaces a superuser's role with pg_read_all_data and limits temporary files to 256 MB. The role stays with
//     [Dialect].KeepRole, and if a table has row security, which would hide rows from pg_read_all_data.
//   - It limits messages from the server to 8 MiB, so that a longer value does not get into memory. A longer message is
//     an exec.LimitError, and the connection is closed.
//   - It parses the statement and refuses all grammar, functions, types and operators that are not on a list. It also
//     refuses names after a dot that PostgreSQL would call as functions, and columns whose use calls a user's function.
//   - It lets the server parse the statement, with a protocol that accepts one statement, and reads which relations the
//     server locked. Each must be allowed, and locked in the mode for reading.
//   - It runs the statement as a cursor and fetches as many rows as are wanted.
//   - It then checks whether the transaction wrote, or holds a new advisory lock. In that case the statement passed the
//     guard: the result is an error, and the connection is closed.
//   - It rolls everything back. No settings, prepared statements or cursors remain on the connection.
//
// A connection is closed if it was cancelled, if it broke, or if a result on it was cut at a limit on bytes.
//
// A Runner keeps its transaction and returns to a savepoint after each use, which takes half the time. Between uses
// this transaction is "idle in transaction". It then holds neither locks nor a snapshot, and
// idle_in_transaction_session_timeout does not end it.
//
// # The catalog
//
// The catalog is read once, and again when the server's statistics report a change. They report it after one second, or
// after ten seconds if the session that made the change is idle afterwards. Therefore the catalog is also read again
// before a name is refused, unless nobody wrote anything since. If Policy.DenyColumns is set, the guard compares the
// columns of the relations that a statement reads each time. During these seconds the guard does not notice a function
// that the schema's owner creates in place of a built-in one.
//
// # What it does not stop
//
//   - Memory of the server: a value may have up to 1 GB, and a hash or a sort may create several values at once.
//   - Code of the schema's owner: functions in policies of row security, foreign data wrappers, and functions that an
//     index, a CHECK or a partition key calls with constants. Functions on Policy.AllowFunctions run as well.
//   - The server's log, which may contain statements that fail.
//   - Temporary files of an ordinary role, which may not set temp_file_limit: set it with ALTER ROLE.
//
// For untrusted users, connect with a role that may only read, and only what they may see.
package postgres
