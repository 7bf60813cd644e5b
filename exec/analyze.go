package exec

import "context"

// Analysis is what a statement reads, as the engine sees it when it compiles.
type Analysis struct {
	// Kind is the kind of the statement: "select".
	Kind string `json:"kind"`
	// Tables are the relations read, views and what lies under them included, in
	// the order of schema and name. Common table expressions and table-valued
	// functions are not among them.
	Tables []TableRead `json:"tables"`
	// Functions are the functions called, operators that are functions to the
	// engine included, in lower case and in order.
	Functions []string `json:"functions"`
}

// TableRead is one relation and the columns read of it, in order of their names.
// Columns is empty where only the rows count, as in count(*). Of a join by USING
// or NATURAL it may lack the columns compared: SQLite does not tell them.
type TableRead struct {
	Schema  string   `json:"schema"`  // where the table is: "main"
	Table   string   `json:"table"`   // table or view, as the schema spells it
	Columns []string `json:"columns"` // those that are read, sorted
}

// Analyze compiles one statement under the guard, without running it, and says
// what it would read. A statement that may not run is a *RefusedError, one that
// does not compile an *InvalidError. It costs one compilation.
func (db *DB) Analyze(ctx context.Context, sql string) (Analysis, error) {
	var a Analysis
	err := db.generated(ctx, sql, db.limits.Candidate.Timeout, func(ctx context.Context, h Held, sql string) (err error) {
		a, err = h.Analyze(ctx, sql)
		return err
	})
	return a, err
}
