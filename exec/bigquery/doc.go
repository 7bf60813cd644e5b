// Package bigquery is the BigQuery dialect of exec, with a small database/sql driver of its own over the official
// client. It is a module of its own, since that client is large.
//
//	client, _ := bigquery.NewClient(ctx, "my-project") // cloud.google.com/go/bigquery
//	pool := bq.Open(client, bq.Config{Dataset: "shop", MaxBytesBilled: 5 << 30})
//	db, _ := exec.New(pool, bq.Dialect{}, exec.Config{})
//	err := db.Ready(ctx)
//
// It was never run against the real service: its tests run the real client against a fake of the REST API. See the
// README of the module for what that leaves unproven, and for the one command that runs the same checks against your
// project.
//
// # The guard
//
// A dry run is the guard, and it is free: the service says that a statement is a SELECT, which tables it reads, which
// have to be in the datasets of the Config, and how many bytes. What it does not tell is decided before it:
//
//   - the text check, as on every engine;
//   - the syntax tree (github.com/sqlc-dev/zetajones) tells the columns and the functions. It may be made of the parts
//     of a query and call functions of a list: no time travel, hints, table functions, ML, AI, EXTERNAL_QUERY or
//     function of the user;
//   - the names, with those in the texts of views: the tables are in a dataset of the Config, and the [exec.Policy]
//     allows them and the columns. So wildcard tables, INFORMATION_SCHEMA and __TABLES__ are refused.
//
// Then it runs as a job of its own, never legacy SQL, with Config.MaxBytesBilled and the time-out of exec set. The job
// is cancelled when the context ends. Columns in exec.Analysis are more than are read where a name may mean several.
//
// # What it does not stop
//
//   - Cost below MaxBytesBilled, of each statement anew. Set a quota of your project too, and exec.Limits.EngineCost.
//   - Slots that a statement uses until its time is over: bytes are bounded, work is not.
//   - External tables and views, as their owner built them. A view that calls what is not on the list is refused.
//   - A table that changes in the second before a statement that reads it.
//
// So for askers who are not trusted, give the client an account with the roles BigQuery Job User and, on the datasets,
// BigQuery Data Viewer, and nothing else.
package bigquery
