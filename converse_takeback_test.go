package texttosql_test

import (
	"errors"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
)

// TestTakenBackOnce: a correction that could not be saved weakens no lesson; the same one that could does it once.
func TestTakenBackOnce(t *testing.T) {
	lessons := &memory.Lessons{}
	store := &troubled{Store: &session.Memory{}}
	s := converse(t, talking(t, &provider{}, texttosql.WithMemory(memory.Options{Lessons: lessons})), store, "")
	need.Value(s.Ask(t.Context(), "who?"))(t)
	need.Value(s.Correct(t.Context(), "home means customers.country"))(t)
	full := errors.New("no space left on device")
	store.before = func() error { return full }
	if _, err := s.Correct(t.Context(), "home means customers.name"); !errors.Is(err, full) {
		t.Fatal(err)
	}
	store.before = nil
	need.Value(s.Correct(t.Context(), "home means customers.name"))(t)
	all, err := lessons.All()
	if err != nil || len(all) != 2 || all[1].To != "customers.country" || all[1].Confidence != .9 {
		t.Errorf("%+v, %v; want customers.country at .95 less one failure", all, err)
	}
}
