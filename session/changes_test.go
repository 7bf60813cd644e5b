package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// answered saves one more answered question, as a conversation does: five states, each with a save.
func answered(t *testing.T, store session.Store, r *session.Record) {
	t.Helper()
	save := func(to ...session.State) {
		t.Helper()
		for _, s := range to {
			testutil.OK(t, r.Move(s, time.Unix(int64(len(r.Transitions)), 5).UTC(), "why"))
		}
		testutil.OK(t, store.Save(t.Context(), *r))
		r.Revision++
	}
	first := r.State == dialogue.Initializing
	r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnFollowUp,
		Text: fmt.Sprint("How many orders are there in country ", len(r.Turns), "?")})
	if first {
		save(dialogue.SchemaLoading)
	}
	save(dialogue.QueryUnderstanding)
	save(dialogue.GeneratingSQL)
	save(dialogue.ExecutingQuery)
	sql := "SELECT count(*) FROM orders JOIN customers ON customers.id = orders.customer_id " +
		"WHERE customers.country = 'USA'"
	r.Turns[len(r.Turns)-1].Answer = &session.Answer{SQL: sql, Confidence: .9, Closing: strings.Repeat("word ", 40)}
	save(session.Completed)
}

// TestSaveWritesATurn: the hundredth answer of a conversation in files writes as much as the twentieth, not a hundred
// turns again. The whole record is written so rarely that it does not matter.
func TestSaveWritesATurn(t *testing.T) {
	f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0).UTC())
	path := filepath.Join(f.dir, r.ID+".json")
	size := func() int {
		info := testutil.Value(os.Stat(path))(t)
		return int(info.Size())
	}
	written, before := 0, 0
	atomicfile.AtStep = func(step, at string) {
		switch {
		case at != path:
		case step == "append":
			before = size()
		case step == "flushed":
			written += size() - before
		case step == "renamed":
			written += size()
		}
	}
	defer func() { atomicfile.AtStep = nil }()

	const turns, window = 100, 20
	var windows []int
	for range turns / window {
		written = 0
		for range window {
			answered(t, f, &r)
		}
		windows = append(windows, written/window)
	}
	whole := len(testutil.Value(session.Whole(r))(t))
	t.Logf("bytes written an answer, by twenties: %d; the whole record has %d bytes", windows, whole)
	if first, last := windows[1], windows[len(windows)-1]; last > 2*first || last > whole {
		t.Errorf("an answer writes %d bytes after %d turns, and %d after %d", last, turns, first, 2*window)
	}

	got := testutil.Value(f.Load(t.Context(), r.ID))(t)
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTornChange cuts a record at many places of its last line, as a crash does. Load gives the revision before with a
// warning, and the next save goes on from there.
func TestTornChange(t *testing.T) {
	f, r := openFiles(t), session.New(session.NewID(), time.Unix(0, 0).UTC())
	answered(t, f, &r)
	path := filepath.Join(f.dir, r.ID+".json")
	text := testutil.Value(os.ReadFile(path))(t)
	last := strings.LastIndexByte(strings.TrimSuffix(string(text), "\n"), '\n') + 1
	for cut := last; cut <= len(text); cut++ {
		if inside := cut > last+2 && cut < len(text)-25; inside && cut%31 != 0 {
			continue
		}
		testutil.OK(t, os.WriteFile(path, text[:cut], 0o600))
		want, warnings := r.Revision-1, 1
		if cut == last {
			warnings = 0 // the end of a line
		}
		if cut >= len(text)-1 { // the line end alone is missing
			want, warnings = r.Revision, 0
		}
		root := trace.Tracer{}.New("load")
		got, err := f.Load(trace.NewContext(t.Context(), root), r.ID)
		if err != nil || got.Revision != want || len(root.Warnings()) != warnings {
			t.Fatalf("cut after %d of %d bytes: revision %d, %v, warnings %v", cut-last, len(text)-last, got.Revision, err,
				root.Warnings())
		}
		got.Title = "after"
		testutil.OK(t, f.Save(t.Context(), got))
		if got := testutil.Value(f.Load(t.Context(), r.ID))(t); got.Revision != want+1 || got.Title != "after" {
			t.Fatalf("cut after %d of %d bytes: then revision %d", cut-last, len(text)-last, got.Revision)
		}
	}
}

// TestOtherChange: a line that does not follow the record before it is an error.
func TestOtherChange(t *testing.T) {
	r := session.New(session.NewID(), time.Unix(0, 0).UTC())
	r.Turns = []session.Turn{{Kind: dialogue.TurnQuestion, Text: "Who?"}, {Kind: dialogue.TurnFollowUp, Text: "When?"}}
	first, _, err := r.Encode(nil)
	testutil.OK(t, err)
	r.Revision++
	second, whole, err := r.Encode(first)
	if err != nil || whole || strings.Contains(string(second), "When?") {
		t.Fatalf("whole %v, %v: %s", whole, err, second)
	}
	short := session.New(r.ID, time.Unix(0, 0).UTC()) // the first revision of another session, with no turns
	none, _, err := short.Encode(nil)
	testutil.OK(t, err)
	for _, tt := range []struct{ why, text, says string }{
		{"the same line twice", string(first) + string(second) + string(second), "revision 2 does not follow revision 2"},
		{"turns that are not there", string(none) + string(second), "revision 2 does not follow revision 1"},
		{"a record in place of a line", string(first) + string(first), "cannot unmarshal"},
		{"a changed line", string(first) + strings.Replace(string(second), `"turns":2`, `"turns":1`, 1), "checksum"},
	} {
		var got session.Record
		if err := got.Decode(r.ID, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.says)
		}
	}
}
