// Package postgres is the PostgreSQL dialect of exec: its guard, its catalog and its plans. It imports no driver.
//
//	pool, _ := sql.Open("pgx", "postgres://texttosql@localhost/shop") // github.com/jackc/pgx/v5/stdlib
//	db, _ := exec.New(pool, postgres.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard holds a connection of the pool for each statement. It
//
//   - refuses a connection in a transaction that somebody left open, with standard_conforming_strings off, or with
//     another client_encoding than UTF8;
//   - begins a transaction that only reads, with settings until its end: built-in functions come first in the search
//     path and temporary tables last, time-outs below that of the statement, 8 MB of work_mem, no parallel workers;
//   - gives a superuser's role up for pg_read_all_data and limits his temporary files to 256 MB ([Dialect].KeepRole,
//     and where a table has row security, which would hide rows from that role, the role stays);
//   - parses the statement, refuses all of its grammar, functions, types and operators that is not on a list, and names
//     behind a dot that PostgreSQL would call as functions;
//   - lets the server parse it, by a protocol that takes one statement, and asks which relations it locked for that:
//     each must be one that may be read, in the mode of reading;
//   - runs it as a cursor and fetches as many rows as are wanted;
//   - looks afterwards whether the transaction wrote or an advisory lock is held that was not before. Then the statement
//     passed the guard: it is an error, and the connection is closed;
//   - rolls everything back. Nothing stays on the connection: settings, prepared statements, cursors.
//
// A connection that was cancelled, that broke, or on which a result over a limit on bytes was cut is closed.
//
// A session keeps its transaction and goes back to a savepoint after each use, which takes half the time. While its
// owner thinks, this transaction is "idle in transaction", holds neither locks nor a snapshot, and is not ended by
// idle_in_transaction_session_timeout.
//
// # The catalog
//
// The guard reads the catalog once, and again when the server's statistics say that it changed, which they do a second
// late, or ten where the session that changed it then rests. So it also reads it again before it refuses a name, and
// where Policy.DenyColumns is set it compares the columns of what a statement reads each time. In these seconds a
// function that the schema's owner creates in the place of a built-in one is not noticed.
//
// # What it does not stop
//
//   - Memory of the server: a value may have up to 1 GB, and of a hash or a sort several may be made at once.
//   - What the owner of the schema built: functions in policies of row security, implicit casts, foreign data wrappers.
//     They run as he wrote them, and so do functions on Policy.AllowFunctions.
//   - The server's log, which may hold statements that fail.
//   - Temporary files of an ordinary role, who may not set temp_file_limit: set it with ALTER ROLE.
//
// For questions of strangers connect with a role that may do nothing but read what they may see.
//
// # Drivers
//
// github.com/jackc/pgx/v5/stdlib works in all its modes. The guard limits the messages that it takes from the server to
// 8 MiB while it holds the connection, so that a longer value does not get into memory: it is an exec.LimitError, and
// the connection is closed. github.com/lib/pq has no such limit: there, and behind a library that wraps the driver, the
// server itself looks how long a row is as text before it sends it, which costs it the time of writing it twice. Errors
// that repeat a value have no bound there. Behind such a library everything works with more messages to the server;
// exec.Config.Unwrap, or texttosql.WithDriverHook, spares them.
package postgres
