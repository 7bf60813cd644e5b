// Package exec runs SQL of untrusted origin on a database: one reading statement at a time, on a guarded
// connection, within bounds.
//
// It is not for writing, not for knowing who asks, and not for judging answers.
//
//	pool, _ := sql.Open("sqlite3", "file:shop.db?mode=ro")
//	db, _ := exec.New(pool, sqlite.Dialect{}, exec.Config{})
//	table, err := db.Query(ctx, "SELECT name FROM customers WHERE country = 'USA'")
//	table.WriteTable(os.Stdout)
//
// # What stands between a statement and the database
//
// The text check of sqltext cuts a text to its one statement or refuses it. The guard of the [Dialect] makes a
// connection of the pool refuse all but reading, and what the [Policy] denies, while the engine compiles; it also
// lowers the engine's own limits. [Limits] bounds rows, bytes and time. Then the connection goes back to the pool
// as it was, or is closed. What each wall stops and what it does not is told by the dialect: see exec/sqlite.
//
// # One statement's way
//
// [DB.Query] makes a [Runner], which goes through these, from the outside in; none of them knows one further out:
//
//	Query           opens the span, and asks for the plan where Limits.EngineCost bounds it
//	oneUse          one use of the connection: what the engine has open is finished behind the outermost call
//	onStatement     the text check: one statement, parsed once
//	onConnection    a connection under guard, in a goroutine of its own that a time-out can leave behind
//	admit           decides once a use, with the catalog of now; reads it again where a name may be younger
//	judgeWithRules  as it is written, then with the rules about rows in its text
//	judge           each wall in its order: size, names and policy, the engine's own word
//	read            runs what was admitted, behind a fence where it fails, and keeps the rows within the bounds
//
// # Rows by user
//
// Policy.Rows has rules about rows, and [DB.For] gives the view of one [Scope]. A statement gives there what it would give
// on a copy of the database without the other rows: the rules are written into its text at each place that names a table,
// and a second look has the engine say that none is read elsewhere. What cannot be placed is refused. Without a scope
// nothing runs.
//
// # Errors
//
// A statement that fails gives a [*RefusedError] (a rule of ours forbids it), an [*InvalidError] (the engine
// rejects it) or a [*LimitError] (it ran into a limit that leaves no result); [IsRejection] holds for all three.
// Any other error is about the database, or is that of the caller's context, and says nothing about the statement.
// A result that was cut at a limit on rows or bytes is no error.
//
// # Looking before running
//
// [DB.Analyze] says what a statement reads, [DB.Explain] how, and [DB.Examine]
// runs a list of [Check] values and keeps what they find. [DB.Schema], [DB.Profile] and [DB.Sample] read what a
// prompt needs, [DB.Probe] asks whether a value is stored. None of them shows what the policy denies.
package exec
