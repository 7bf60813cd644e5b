// Package duckdb is the DuckDB dialect of exec: its guard, its catalog and its plans, on handles from its Open. It is a
// module of its own, because the driver (github.com/duckdb/duckdb-go/v2, cgo) includes DuckDB.
//
//	pool, _ := duckdb.Open("shop.duckdb", duckdb.Options{})
//	db, _ := exec.New(pool, duckdb.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// The guard refuses a handle that [Open] did not create. Open opens the file read-only, blocks all other files and the
// network, installs no extension, bounds memory and threads, and locks the settings. For each statement the guard does
// the following:
//
//   - It has DuckDB parse the statement (json_serialize_sql, which accepts SELECT only) and checks the whole tree. The
//     tree must be one SELECT with listed kinds of nodes and listed functions. It may name the tables and views of the
//     database that the [exec.Policy] allows. DESCRIBE and SUMMARIZE count as reads of their table. Files, SHOW and
//     macros of the database are refused.
//   - It refuses statements that may create a value of over 16 MiB. Lengths of repeat and lpad, widths of format, and
//     lists as values must be constants. An upper bound is computed for the calls of a statement together.
//   - It checks the definitions of views in the same way. A view may read Parquet, CSV and JSON files of
//     [Options].Files; a statement may not.
//   - It has DuckDB compile the statement (EXPLAIN) and checks the plan. A scan of a table that the text does not name,
//     or of a denied column, refuses the statement. Answers from DuckDB's statistics have no scan.
//   - It runs the statement in a read-only transaction, inside a statement that stops after the wanted rows. It
//     interrupts the statement before its time is over. The driver builds the whole result before the first row, and
//     returns half a second after an interrupt. It does not wait for a statement that the caller cancels; its
//     connection is closed.
//
// If a name may mean several columns, exec.Analysis may list more columns than the statement reads, but never fewer. If
// the policy denies tables, a missing table returns the same error as a denied one.
//
// # What it does not stop
//
//   - Memory that DuckDB takes beyond memory_limit, except on Linux. A result has at most the wanted rows, with values
//     of up to 16 MiB. mode, median, mad, quantiles, entropy and histogram store all values outside of memory_limit: on
//     100,000,000 values they took 0.4 to 1.7 GB in 4 seconds. On Linux a statement ends when the process has grown by
//     more than Options.MemoryBytes since the statement began, whoever took the memory.
//   - Calls on long values that a table stores or an aggregate collects: a name counts as 1,000 bytes, or 62 elements.
//     One call with a text of 1 MB, repeat(s, 200), took 190 MiB, and list_transform(s, x -> s) of 10,000 elements took
//     509 MiB, before the statement could be ended.
//   - Work while DuckDB compiles the statement: no interrupt ends it, so it may continue for some time on its own
//     thread. Its size is bounded.
//   - Faults of DuckDB itself: it runs in this process. Run untrusted users in a separate process with limits of the
//     operating system.
//   - Files that somebody replaces while a view reads them.
package duckdb
