// Package trino is the Trino dialect of exec: its guard, its catalog and its plans, on the driver
// github.com/trinodb/trino-go-client.
//
//	// with github.com/trinodb/trino-go-client
//	pool, _ := sql.Open("trino", "https://reader:secret@trino:8443?catalog=hive&schema=shop")
//	db, _ := exec.New(pool, trino.Dialect{Catalogs: []string{"postgresql"}}, exec.Config{})
//	err := db.Ready(ctx)
//
// It is tested on two nodes of Trino 435, with the connectors memory and tpch.
//
// # The guard
//
// No parser of Trino's SQL is written in Go, so words and the server's own answers decide. The guard
//
//   - refuses a connection without catalog and schema, or whose driver does not tell its session: that is read from
//     the headers of a question, by net/http/httptrace;
//   - looks at the words: the first one; a name before a bracket has to be a function of a list, a type, or an
//     alias; no TABLE, WITH FUNCTION, WITH SESSION, MATCH_RECOGNIZE, current_user, FOR VERSION or hidden table
//     ("t$partitions"); the lengths that repeat, lpad, rpad, sequence and reduce ask for are bounded;
//   - resolves the names behind FROM, and refuses catalogs that the Dialect does not name, schemas of a server's
//     own, and what the [exec.Policy] denies;
//   - has the server say by EXPLAIN (TYPE IO) which tables the statement reads, what lies under views included, and
//     judges them in the same way. A statement that writes is refused;
//   - sends with each statement its catalog and schema, the session property query_max_run_time, the time-out but 5 s
//     at least, a path in which functions without a schema are built-in ones, and that it is in no transaction. What
//     the DSN set stays. Nothing is left on the connection.
//
// # What it costs
//
// A round trip takes 50 to 100 ms and more on a large cluster. A statement costs two. A checksum of all columns, by which
// the guard knows that its catalog is the current one, is a third one, a second at most after the last; where the
// metadata are slow it is believed five times as long as it took, up to a minute. The first connection of a pool costs
// seven, which ask for the session, the version, the catalog and whether its views can be read; the session is asked for again after a minute. Under a
// policy one more is sent for each denied column (200 at most, and for those of a statement once a minute), one for each
// view that is read, and two where columns are denied.
//
// # Policies that deny columns
//
// The server does not say which columns a statement reads, so its own access control has to hold them back, and the
// guard makes sure that it does: every denied column is tried by EXPLAIN (TYPE VALIDATE), which runs nothing, and
// one that the server would show is an [exec.UnguardedError]. [AccessRules] makes the rules. The words of a statement
// decide before that: it is refused where a name in it may be that of a denied column. A view, which reads with the
// rights of its owner, is refused unless this user may read its definition and everything that it names, and the
// server reads the same tables for both. A materialized view is refused under any policy that denies
// something, since its data lies elsewhere.
//
// # One user for each scope
//
// With Dialect.AsUser each scope (exec.DB.For, texttosql.WithScope) says as whom the server is asked, in X-Trino-User:
//
//	scope := exec.Scope{Key: "alice", Settings: map[string]string{"user": "alice"}}
//
// The server's rules then decide what alice reads: row filters, masks, tables. The user is sent with every request, and never
// kept on a connection. Each scope has a guard, a catalog and a schema of its own, the last 32 of them; the server has to
// answer that it takes the user for alice. Without a scope everything is refused (exec.ErrNoScope), Ready too. The user of
// the DSN needs a rule of impersonation where the server asks for passwords. exec.Policy.Rows is refused as before.
//
// # What it does not stop
//
//   - Memory of the server: values that replace, concatenation or array functions make, sorts, aggregates. A page of
//     rows, or one large value, reaches the client whole. Give the user a resource group with limits.
//   - Rules that change while a program runs: a column is tried again after a minute, as are a view and a new
//     column.
//   - What connectors do: a table of one may be a query, or a file that somebody else writes.
//   - Names: a statement that reads no row of a denied table, by LIMIT 0 below a common table expression of its
//     name, learns the names of its columns.
//
// So for askers who are not trusted, give the server rules under which the user may only read.
package trino
