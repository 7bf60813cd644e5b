// Package exec runs untrusted SQL on a database: one read-only statement at a time, on a guarded connection, within
// limits.
//
// It does not write, does not authenticate users, and does not judge answers.
//
//	pool, _ := sql.Open("sqlite3", "file:shop.db?mode=ro")
//	db, _ := exec.New(pool, sqlite.Dialect{}, exec.Config{})
//	table, err := db.Query(ctx, "SELECT name FROM customers WHERE country = 'USA'")
//	table.WriteTable(os.Stdout)
//
// # What protects the database
//
// The text check of sqltext accepts a text with exactly one statement and refuses any other. The guard of the [Dialect]
// makes a pooled connection refuse everything but reads that the [Policy] allows, while the engine compiles. It also
// lowers the engine's own limits. [Limits] bounds rows, bytes and time. Then the connection returns to the pool
// unchanged, or is closed. The package of each dialect documents what its guard stops and what it does not stop; see
// exec/sqlite.
//
// # How a statement runs
//
// [DB.Query] creates a [Runner]. The statement passes through these steps, outermost first. No step knows the steps
// outside it.
//
//	Query           opens the span, and reads the plan if Limits.EngineCost bounds it
//	oneUse          one use of the connection: the outermost call closes what the engine has open
//	onStatement     the text check: one statement, parsed once
//	onConnection    a guarded connection, in its own goroutine, which a time-out can leave behind
//	admit           decides once a use, with the current catalog; reads it again if a name may be newer
//	judgeWithRules  checks the statement as written, then with the row rules in its text
//	judge           runs each check in order: size, names and policy, the engine's own report
//	read            runs the admitted statement, with a fence if needed, and stores rows within the bounds
//
// # Rows by user
//
// Policy.Rows has rules about rows, and [DB.For] returns the view of one [Scope]. There a statement returns what it
// would return on a copy of the database without the other rows. The rules are written into the statement at each place
// that names a table. A second check asks the engine whether such a table is read anywhere else. A statement whose
// rules cannot be placed is refused. Without a scope no statement runs.
//
// # Errors
//
// A failed statement returns one of three errors, and [IsRejection] accepts all three:
//
//   - [*RefusedError]: a rule of this package forbids the statement;
//   - [*InvalidError]: the engine rejects it;
//   - [*LimitError]: it reached a limit that leaves no result.
//
// Any other error is about the database or the caller's context, not about the statement. A result that was cut at a
// limit on rows or bytes is returned without an error.
//
// # Looking before running
//
// [DB.Analyze] reports what a statement reads, [DB.Explain] returns its plan, and [DB.Examine] runs a list of [Check]
// values and stores their findings. [DB.Schema], [DB.Profile] and [DB.Sample] read what a prompt needs. [DB.Probe]
// reports whether a value is stored. They never show what the policy denies.
//
// # Engines of your own
//
// The port of engines (API is not stable) is [Dialect] and [Language], [GuardConfig], [Open], [GuardedConn], [Conn],
// [Statement] and [Catalog], and the optional [RowFilterDialect], [RowFilterConn], [ImpersonatingDialect]
// and [Sampler]. Programs that only check and run statements need only the dialect's own
// name.
package exec
