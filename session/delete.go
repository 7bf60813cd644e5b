package session

import (
	"context"
	"errors"
	"time"
)

// How long DeleteExpired keeps a session after its last change.
const (
	keepCompleted = 30 * 24 * time.Hour
	keepOthers    = 90 * 24 * time.Hour
)

// DeleteExpired deletes completed sessions that did not change for 30 days, and other sessions that did not change
// for 90 days. It returns their ids, the latest first. Nothing is deleted unless you call it. A broken record is
// never deleted. The error joins a *RecordError for each broken record and the other errors.
func DeleteExpired(ctx context.Context, store Store, now time.Time) (deleted []string, err error) {
	all, err := store.List(ctx, Filter{Limit: -1, Every: true})
	problems := []error{err}
	for _, s := range all {
		keep := keepOthers
		if s.State == Completed {
			keep = keepCompleted
		}
		if now.Sub(s.Updated) <= keep {
			continue
		}
		switch err := store.Delete(ctx, s.ID); {
		case err == nil:
			deleted = append(deleted, s.ID)
		case !errors.Is(err, ErrNotFound): // somebody else sweeps too
			problems = append(problems, err)
		}
	}
	return deleted, errors.Join(problems...)
}
