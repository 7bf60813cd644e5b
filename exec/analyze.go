package exec

import "context"

// Analysis is what a statement reads, as the engine sees it when it compiles.
type Analysis struct {
	// Kind is the kind of the statement: "select".
	Kind string `json:"kind"`
	// Tables are the relations read, views and what lies under them included, in
	// the order of their names. Common table expressions are not among them.
	Tables []TableRead `json:"tables"`
	// Functions are the functions called, in lower case and alphabetical order.
	Functions []string `json:"functions"`
}

// TableRead is one relation and what is read of it. Columns is empty where only
// the rows count, as in count(*).
type TableRead struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// Analyze compiles one statement under the guard, without running it, and says
// what it would read.
func (db *DB) Analyze(ctx context.Context, sql string) (Analysis, error) {
	var a Analysis
	err := db.generated(ctx, sql, db.limits.Candidate.Timeout, func(ctx context.Context, h Held, sql string) error {
		var err error
		a, err = h.Vet(ctx, sql)
		return err
	})
	return a, err
}
