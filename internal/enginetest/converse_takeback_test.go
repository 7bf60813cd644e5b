package enginetest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// TestTakenBackOnce: a correction that could not be saved weakens no lesson; the same one that could does it once.
func TestTakenBackOnce(t *testing.T) {
	lessons := &memory.Lessons{}
	store := &troubled{Store: &session.MemoryStore{}}
	s := converse(t, talking(t, &provider{}, texttosql.WithMemory(memory.Options{Lessons: lessons})), store, "")
	testutil.Value(s.Ask(t.Context(), "who?"))(t)
	testutil.Value(s.Correct(t.Context(), "home means customers.country"))(t)
	full := errors.New("no space left on device")
	store.before = func() error { return full }
	if _, err := s.Correct(t.Context(), "home means customers.name"); !errors.Is(err, full) {
		t.Fatal(err)
	}
	store.before = nil
	testutil.Value(s.Correct(t.Context(), "home means customers.name"))(t)
	all, err := lessons.All()
	if err != nil || len(all) != 2 || all[1].To != "customers.country" || all[1].Confidence != .9 {
		t.Errorf("%+v, %v; want customers.country at .95 less one failure", all, err)
	}
}

// brittle keeps lessons in memory, until its disk is full.
type brittle struct {
	text    []byte
	version int
	full    error
	changes int
}

func (b *brittle) String() string { return "a brittle shelf" }

func (b *brittle) Read(string) ([]byte, string, error) { return b.text, fmt.Sprint(b.version), nil }

func (b *brittle) Change(change func([]byte) ([]byte, error)) error {
	b.changes++
	if b.full != nil {
		return b.full
	}
	text, err := change(b.text)
	if err == nil && text != nil {
		b.text, b.version = text, b.version+1
	}
	return err
}

// TestNotTakenBack: what cannot be learned, and what cannot be taken back, is a warning, and the question is answered.
func TestNotTakenBack(t *testing.T) {
	shelf := &brittle{}
	lessons := testutil.Value(memory.LessonsOn(shelf))(t)
	s := converse(t, talking(t, &provider{}, texttosql.WithMemory(memory.Options{Lessons: lessons})),
		&session.MemoryStore{}, "")
	testutil.Value(s.Ask(t.Context(), "who?"))(t)
	testutil.Value(s.Correct(t.Context(), "home means customers.country"))(t)
	kept, changes := string(shelf.text), shelf.changes
	shelf.full = errors.New("no space left on device")
	root := trace.Tracer{}.New("question")
	res := testutil.Value(s.Correct(trace.NewContext(t.Context(), root), "home means customers.name"))(t)
	warned := 0
	for _, w := range root.Warnings() {
		if w.Code == "lessons-not-kept" && strings.Contains(w.Message, "no space left") {
			warned++
		}
	}
	if warned == 0 || !slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool {
		return w.Code == "lessons-not-kept"
	}) {
		t.Errorf("%d warnings in the trace, %v in the result", warned, res.Warnings)
	}
	if shelf.changes != changes+2 || string(shelf.text) != kept {
		t.Errorf("%d changes, %s", shelf.changes-changes, shelf.text)
	}
}
