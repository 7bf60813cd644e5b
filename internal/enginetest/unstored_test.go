package enginetest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// fullAfter is a writer on a disk with room for some lines.
type fullAfter struct{ lines int }

func (f *fullAfter) Write(line []byte) (int, error) {
	if f.lines--; f.lines < 0 {
		return 0, syscall.ENOSPC
	}
	return len(line), nil
}

// fullJournals are sessions whose journals take no line.
type fullJournals struct{ session.MemoryStore }

type fullJournal struct{ session.Journal }

func (fullJournal) Append([]byte) error { return errors.New("the journal takes nothing") }

func (f *fullJournals) Journal(ctx context.Context, id string) (session.Journal, error) {
	j, err := f.MemoryStore.Journal(ctx, id)
	return fullJournal{j}, err
}

// TestUnstored: an answer is there beside the error of storing a reply, and a batch ends without paying for more.
func TestUnstored(t *testing.T) {
	db := open(t, shop)
	engine := func(rec *replay.Recorder) (*texttosql.Engine, *provider) {
		model := &provider{}
		return testutil.Value(texttosql.New(db, llm.Chain(model, rec.Record),
			texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(3)))(t), model
	}
	answered := func(why string, r *texttosql.Result, err error) {
		t.Helper()
		if !errors.Is(err, syscall.ENOSPC) || r == nil || r.SQL == "" || r.Rows == nil || r.Usage.Calls == 0 {
			t.Errorf("%s: %+v, %v", why, r.SQL, err)
		}
		if f := failure.Of(err); f.Class != failure.Internal {
			t.Errorf("%s: %+v", why, f)
		}
	}
	for _, lines := range []int{0, 1} { // two of three samples are asked, since they agree
		e, _ := engine(replay.NewRecorder(&fullAfter{lines}))
		r, err := e.Ask(t.Context(), "Who lives in the USA?")
		answered("after "+strconv.Itoa(lines), r, err)
	}
	e, _ := engine(replay.NewRecorder(&fullAfter{3}))
	if r, err := e.Ask(t.Context(), "Who lives in the USA?"); err != nil || r.Rows == nil {
		t.Errorf("with room for all: %v", err)
	}

	e, model := engine(replay.NewRecorder(&fullAfter{}))
	var questions iter.Seq[texttosql.Question] = func(yield func(texttosql.Question) bool) {
		for i := range 50 {
			if !yield(texttosql.Question{ID: strconv.Itoa(i), Text: "Who lives in the USA?"}) {
				return
			}
		}
	}
	results, ended := 0, error(nil)
	for r, err := range e.AskAll(t.Context(), questions, 2) {
		if end := (*texttosql.BatchError)(nil); errors.As(err, &end) {
			ended = err
			continue
		}
		results++
		answered("in a batch", r.Result, err)
	}
	if results == 0 || results > 3 || len(model.calls) > 3*results || !errors.Is(ended, syscall.ENOSPC) {
		t.Errorf("%d results, %d calls, ended by %v", results, len(model.calls), ended)
	}

	talk := testutil.Value(texttosql.New(db, &provider{}))(t).NewConversation(&fullJournals{})
	r, err := talk.Ask(t.Context(), "Who lives in the USA?")
	rec := talk.Record()
	answer := func(t session.Turn) bool { return t.Answer != nil }
	if err == nil || r.Rows == nil || rec.State != session.Completed || !slices.ContainsFunc(rec.Turns, answer) {
		t.Errorf("in a conversation: %q, %v, state %s", r.SQL, err, rec.State)
	}
}

// TestUnstoredFailure: a call that failed keeps its own error where it cannot be stored either.
func TestUnstoredFailure(t *testing.T) {
	failing := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "wrong key"}
	})
	model := llm.Chain(failing, replay.NewRecorder(&fullAfter{}).Record)
	e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(strategy.Direct{})))(t)
	_, err := e.Ask(t.Context(), "Who lives in the USA?")
	if f := (*llm.Error)(nil); !errors.As(err, &f) || f.Status != 401 || errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// TestReadyTellsOfFiles: Ready warns of a file without checksums, once.
func TestReadyTellsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirmed.jsonl")
	testutil.OK(t, os.WriteFile(path, []byte(`{"question":"Who?","sql":"SELECT 1"}`), 0o600))
	for _, want := range []int{1, 0} {
		kept := testutil.Value(memory.OpenVerifiedAnswers(path))(t)
		e := testutil.Value(texttosql.New(open(t, shop), &provider{},
			texttosql.WithMemory(memory.Options{VerifiedAnswers: kept})))(t)
		root := trace.Tracer{}.New("ready")
		testutil.OK(t, e.Ready(trace.NewContext(t.Context(), root)))
		told := slices.DeleteFunc(root.Warnings(), func(w trace.Warning) bool { return w.Code != "stored-file" })
		if len(told) != want || want > 0 && !strings.Contains(told[0].Message, "confirmed.jsonl: record 1 has no checksum") {
			t.Errorf("%v, want %d", told, want)
		}
		testutil.OK(t, kept.Close())
	}
}
