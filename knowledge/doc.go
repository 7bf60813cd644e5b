// Package knowledge holds what people know of a database beside its schema: metrics, relationships, words and verified
// statements. It checks them in the database and compiles requests for metrics into SQL.
//
// It is no query language in place of SQL, calls no model and runs no statement but those of [Model.Check].
//
//	m, err := knowledge.Read(file)               // or dbt.Read, ossie.Read, snowflake.Read, wren.Read
//	faults, err := m.Check(ctx, db, "sqlite")    // db is an *exec.DB
//	m = m.Without(faults)                        // nothing unchecked is compiled from
//	sql, err := m.Compile(knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"customers.country"}}, "sqlite")
//
// A metric is SQL of aggregates over table.column, and of {other metrics}. A relationship leads from many rows to one. From
// both follows over which rows an aggregate runs and how a column is reached from there; see [Model.Compile].
//
// A file is a claim, not a fact: keys that a file declares may not hold, and every number through such a key counts twice.
// Expressions of a model are SQL of whoever wrote the file. What Compile returns is a statement like any other, and goes
// through the text check, the guard and the policy of package exec before it runs. Names and texts of a model are
// untrusted in a prompt.
//
// Everything here is safe for concurrent use as long as nobody writes to the Model.
package knowledge
