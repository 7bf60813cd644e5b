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
// No parser for Trino's SQL exists in Go, so the guard checks words and the server's own answers. It does the
// following:
//
//   - It refuses a connection without catalog and schema, or whose driver does not show its session. The session is
//     read from the headers of a request, with net/http/httptrace.
//   - It checks the words. The first word must be allowed. A name before a parenthesis must be a listed function, a
//     type, or an alias. TABLE, WITH FUNCTION, WITH SESSION, MATCH_RECOGNIZE, current_user, FOR VERSION and hidden
//     tables ("t$partitions") are refused. The lengths in calls of repeat, lpad, rpad, sequence and reduce are bounded.
//   - It resolves the names after FROM, and refuses catalogs that the Dialect does not name, a server's own schemas,
//     and tables that the [exec.Policy] denies.
//   - It has the server report with EXPLAIN (TYPE IO) which tables the statement reads, including those under views,
//     and checks them in the same way. A statement that writes is refused.
//   - It sends with each statement its catalog and schema, and the session property query_max_run_time (the time-out,
//     but at least 5 s). In the path that it sends, functions without a schema are built-in ones. It also sends that
//     the statement is in no transaction. Settings of the DSN stay. Nothing remains on the connection.
//
// # What it costs
//
// A round trip takes 50 to 100 ms, and more on a large cluster. A statement costs two round trips. A checksum of all
// columns, which shows that the catalog is current, is a third one, if the last is more than a second old. If the
// metadata is slow, the checksum is reused for five times the time that it took, up to a minute. The first connection
// of a pool costs seven round trips, for the session, the version, the catalog and a test whether its views can be
// read. The session is read again after a minute. A policy adds
//
//   - one round trip for each denied column: at most 200, and once a minute for the columns of a statement;
//   - one for each view that is read;
//   - two if columns are denied.
//
// # Policies that deny columns
//
// The server does not report which columns a statement reads, so its own access control must deny them. The guard
// verifies that: it tests every denied column with EXPLAIN (TYPE VALIDATE), which runs nothing. A column that the
// server would show is an [exec.UnguardedError]. [AccessRules] returns the rules for the server. Before that, the words
// of a statement are checked: it is refused if a name in it may be the name of a denied column. A view reads with the
// rights of its owner. It is refused unless this user may read its definition and everything that it names, and the
// server reads the same tables for both. A materialized view is refused under any policy that denies something, because
// its data is stored elsewhere.
//
// # One user for each scope
//
// With Dialect.AsUser each scope (exec.DB.For, texttosql.WithScope) sets the user of a statement, in X-Trino-User:
//
//	scope := exec.Scope{Key: "alice", Settings: map[string]string{"user": "alice"}}
//
// The server's rules then decide what alice reads: row filters, masks, tables. The user is sent with every request, and
// never stored on a connection. Each scope has a separate guard, catalog and schema; the last 32 scopes are cached. The
// server must confirm that it accepts the user as alice. Without a scope everything is refused (exec.ErrNoScope), also
// Ready. The user of the DSN needs an impersonation rule if the server requires passwords. exec.Policy.Rows is still
// refused.
//
// # What it does not stop
//
//   - Memory of the server: values from replace, concatenation or array functions, sorts, aggregates. The client
//     receives a page of rows, or one large value, as a whole. Give the user a resource group with limits.
//   - Rules that change while a program runs: a column is tested again after a minute, and so are a view and a new
//     column.
//   - What connectors do: a connector's table may be a query, or a file that somebody else writes.
//   - Names: a statement that reads no row of a denied table, with LIMIT 0 under a common table expression of the same
//     name, returns the names of its columns.
//
// For untrusted users, give the server rules under which the user may only read.
package trino
