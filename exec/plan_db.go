package exec

import "context"

// Explain asks the engine for its plan of one statement, without running it.
//
// The statement passes the text check and the guard first, as it would for
// [DB.Query]: nothing else ever reaches the engine's EXPLAIN, which is not
// harmless where a driver runs every statement of a text. A statement that the
// engine does not accept gives an [*InvalidError], one that may not run a
// [*RefusedError]. The time-out is that of a candidate.
//
// A plan that comes back proves that the statement compiles, and no more.
func (db *DB) Explain(ctx context.Context, sql string) (Plan, error) {
	var p Plan
	err := db.generated(ctx, sql, db.limits.Candidate.Timeout, func(ctx context.Context, h Held, sql string) error {
		var err error
		if p, err = db.dialect.Explain(ctx, h, sql); err != nil {
			return h.Classify(err)
		}
		return nil
	})
	if err != nil {
		return Plan{}, err
	}
	return p, nil
}
