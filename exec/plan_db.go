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
	err := db.generated(ctx, sql, db.limits.Candidate.Timeout, func(ctx context.Context, h Held, sql string) (err error) {
		p, err = db.explain(ctx, h, sql)
		return err
	})
	if err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Explain is [DB.Explain] on the session's connection. Putting the guard on takes
// several times as long as explaining a small statement, so it is for those who
// explain many.
func (s *Session) Explain(ctx context.Context, sql string) (Plan, error) {
	var p Plan
	err := s.run(ctx, sql, func(ctx context.Context, sql string) (err error) {
		p, err = s.db.explain(ctx, s.held, sql)
		return err
	})
	if err != nil {
		return Plan{}, err
	}
	return p, nil
}

func (db *DB) explain(ctx context.Context, h Held, sql string) (Plan, error) {
	p, err := db.dialect.Explain(ctx, h, sql)
	if err != nil {
		return Plan{}, h.Classify(err)
	}
	return p, nil
}
