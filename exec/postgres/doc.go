// Package postgres is the PostgreSQL dialect of exec: its guard, its catalog and its plans, on the driver
// github.com/jackc/pgx/v5.
//
//	pool, _ := sql.Open("pgx", "postgres://texttosql@localhost/shop") // github.com/jackc/pgx/v5/stdlib
//	db, _ := exec.New(pool, postgres.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard holds a connection of the pool for each statement. It
//
//   - refuses a connection of another driver than pgx (behind a library that wraps it, exec.Config.Unwrap or
//     texttosql.WithDialect finds it), one in a transaction that somebody left open, with
//     standard_conforming_strings off, with another client_encoding than UTF8, or with pg_temp first in search_path;
//   - begins a transaction that only reads, with settings until its end: built-in functions come first in the search
//     path and temporary tables last, time-outs below that of the statement, 8 MB of work_mem, no parallel workers;
//   - gives a superuser's role up for pg_read_all_data and limits his temporary files to 256 MB ([Dialect].KeepRole,
//     and where a table has row security, which would hide rows from that role, the role stays);
//   - limits the messages that it takes from the server to 8 MiB, so that a longer value does not get into memory: it is
//     an exec.LimitError, and the connection is closed;
//   - parses the statement, refuses all of its grammar, functions, types and operators that is not on a list, names
//     behind a dot that PostgreSQL would call as functions, and columns whose use calls a function of a user;
//   - lets the server parse it, by a protocol that takes one statement, and asks which relations it locked for that:
//     each must be one that may be read, in the mode of reading;
//   - runs it as a cursor and fetches as many rows as are wanted;
//   - looks afterwards whether the transaction wrote or an advisory lock is held that was not before. Then the statement
//     passed the guard: it is an error, and the connection is closed;
//   - rolls everything back. Nothing stays on the connection: settings, prepared statements, cursors.
//
// A connection that was cancelled, that broke, or on which a result over a limit on bytes was cut is closed.
//
// A Runner keeps its transaction and goes back to a savepoint after each use, which takes half the time. While its
// owner thinks, this transaction is "idle in transaction", holds neither locks nor a snapshot, and is not ended by
// idle_in_transaction_session_timeout.
//
// # The catalog
//
// The catalog is read once, and again when the server's statistics say that it changed, which they do a second late, or
// ten where the session that changed it then rests. So it is also read again before a name is refused, unless nobody
// wrote anything since; and where Policy.DenyColumns is set the guard compares the columns of what a statement reads
// each time. In these seconds a function that the schema's owner creates in the place of a built-in one is not noticed.
//
// # What it does not stop
//
//   - Memory of the server: a value may have up to 1 GB, and of a hash or a sort several may be made at once.
//   - What the owner of the schema built: functions in policies of row security, foreign data wrappers, and functions
//     that an index, a CHECK or a partition key calls with constants. Functions on Policy.AllowFunctions run as well.
//   - The server's log, which may hold statements that fail.
//   - Temporary files of an ordinary role, who may not set temp_file_limit: set it with ALTER ROLE.
//
// For questions of strangers connect with a role that may do nothing but read what they may see.
package postgres
