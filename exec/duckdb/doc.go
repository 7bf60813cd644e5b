// Package duckdb is the DuckDB dialect of exec: its guard, its catalog and its plans, on handles that its Open makes.
// It is a module of its own, since the driver (github.com/duckdb/duckdb-go/v2, cgo) brings DuckDB with it.
//
//	pool, _ := duckdb.Open("shop.duckdb", duckdb.Options{})
//	db, _ := exec.New(pool, duckdb.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// # The guard
//
// It refuses a handle that is not of [Open], which opens the file for reading only, reaches no other file and no
// network, installs no extension, bounds memory and threads, and locks its settings. For each statement it
//
//   - has DuckDB itself parse it (json_serialize_sql, which takes SELECT only) and walks the whole tree: one SELECT
//     made of listed kinds of nodes, calling listed functions, naming tables and views of the database and what the
//     [exec.Policy] allows. DESCRIBE and SUMMARIZE read what they tell of. A file is none of them, nor are SHOW and macros of the database;
//   - refuses what may make one value of over 16 MiB: lengths of repeat and lpad, widths of format, and lists as values
//     have to be constants, and what the calls of a statement make together is bounded from above;
//   - reads the definitions of views in the same way. A view may read Parquet, CSV and JSON files of [Options].Files,
//     which a statement may not;
//   - has DuckDB compile it (EXPLAIN) and looks at the plan: a scan of a table that the text does not name, or of a column
//     that may not be read, refuses it. What DuckDB answers from its statistics has no scan;
//   - runs it in a transaction that only reads, inside of a statement that ends behind the rows that are wanted, and interrupts
//     it before its time is over: the driver makes a whole result before its first row, and returns half a second after
//     an interrupt. Of a statement that somebody cancels it is not waited for; its connection is closed.
//
// Columns in exec.Analysis are more than are read where a name may mean several, and never fewer. Where some table may
// not be read, an absent one has the same error as a denied one.
//
// # What it does not stop
//
//   - Memory that DuckDB takes beyond memory_limit, but on Linux. A result has as many rows as are wanted, of values of up
//     to 16 MiB. mode, median, mad, quantiles, entropy and histogram
//     keep all values outside of it: on 100,000,000 values they took 0.4 to 1.7 GB in 4 seconds. On Linux a statement ends
//     when the process has grown by more than Options.MemoryBytes since it began, whoever took the memory.
//   - Calls on long values that a table stores or an aggregate collects: a name counts as 1,000 bytes, or 62 elements. One
//     call with a text of 1 MB, repeat(s, 200), took 190 MiB, and list_transform(s, x -> s) of 10,000 elements 509 MiB,
//     before the statement could be ended.
//   - What a statement computes while DuckDB compiles it: no interrupt ends that, so it may go on for some time on a
//     thread of its own. Its size is bounded.
//   - Faults of DuckDB itself: it runs in this process. Askers who are not trusted belong in a process of their own,
//     with limits of the operating system.
//   - Reads of a view in files that somebody replaces while they are read.
package duckdb
