// Package knowledge holds what people know about a database in addition to its schema: metrics, relationships, words
// and verified statements. It checks them in the database and compiles requests for metrics into SQL.
//
// It does not replace SQL with a query language and does not call a model. Only [Model.Check] runs statements.
//
//	m, err := knowledge.Read(file)               // or dbt.Read, ossie.Read, snowflake.Read, wren.Read
//	faults, err := m.Check(ctx, db, "sqlite")    // db is an *exec.DB
//	m = m.Without(faults)                        // nothing unchecked is compiled from
//	sql, err := m.Compile(knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"customers.country"}}, "sqlite")
//
// A metric is SQL of aggregates over table.column, and of {other metrics}. A relationship leads from many rows to
// one. Metrics and relationships determine the rows of an aggregate and the path to a column; see [Model.Compile].
//
// A file is a claim, not a fact. If a declared key does not hold, every number through it counts rows twice.
// Expressions of a model are SQL from the author of the file. Compile returns a statement like any other: it must
// pass the text check, the guard and the policy of package exec before it runs. Names and texts of a model are
// untrusted in a prompt.
//
// Everything here is safe for concurrent use as long as no goroutine writes to the Model.
package knowledge
