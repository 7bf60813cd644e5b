// Package bigquery is the BigQuery dialect of exec, with a small database/sql driver of its own over the official
// client. It is a module of its own, since that client is large.
//
//	client, _ := bigquery.NewClient(ctx, "my-project") // cloud.google.com/go/bigquery
//	pool := bq.Open(client, bq.Config{Dataset: "shop", MaxBytesBilled: 5 << 30})
//	db, _ := exec.New(pool, bq.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// It was never run against the real service: its tests run the real client against a fake of the REST API. See
// docs/databases/bigquery.md for what that leaves unproven, and for the command that runs the same checks against your
// project.
//
// # The guard
//
// A dry run is the guard, and it is free. The service reports whether a statement is a SELECT, which tables it reads,
// and how many bytes. The tables have to be in the datasets of the Config. Before the dry run the guard checks three
// things:
//
//   - the text check, as on every engine;
//   - the syntax tree (github.com/sqlc-dev/zetajones), which shows columns and functions. A statement may have only
//     the parts of a query and listed functions. Time travel, hints, table functions, ML, AI, EXTERNAL_QUERY and
//     functions of the user are refused;
//   - the names, including the names in views: each table must be in a dataset of the Config, and the [exec.Policy]
//     must allow the table and its columns. So wildcard tables, INFORMATION_SCHEMA and __TABLES__ are refused.
//
// Then the statement runs as a job of its own, never as legacy SQL, with Config.MaxBytesBilled and the time-out of exec
// set. The job is cancelled when the context ends. If a name may mean several columns, exec.Analysis may list more
// columns than the statement reads.
//
// # What it does not stop
//
//   - Cost below MaxBytesBilled, for each statement. Also set a quota for your project, and exec.Limits.EngineCost.
//   - Slots that a statement uses until its time is over: bytes are bounded, work is not.
//   - External tables and views, as their owner built them. A view that calls a function outside the list is refused.
//   - A table that changes within the second before a statement reads it.
//
// So if you do not trust the askers, give the client an account with two roles only: BigQuery Job User, and BigQuery
// Data Viewer on the datasets.
package bigquery
