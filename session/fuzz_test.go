package session_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
)

// FuzzDecode: whatever a file holds, it is a record that is written again as it was read, or a typed error.
func FuzzDecode(f *testing.F) {
	id := strings.Repeat("0a", 16)
	r := session.New(id, time.Unix(0, 0).UTC())
	r.Turns = []session.Turn{{Kind: dialogue.TurnChoice, Option: "t1",
		Correction: &session.Correction{Kind: dialogue.CorrectText, Text: "x"}}}
	r.Pending = &session.QuestionError{Kind: dialogue.KindJoin, Options: []session.Option{{ID: "j1"}}}
	whole := testutil.Value(session.Whole(r))(f)
	r.Revision++
	r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnStatement, Text: "SELECT 1"})
	line, replaces, err := r.Encode(whole)
	if err != nil || replaces {
		f.Fatal(replaces, err)
	}
	for _, seed := range [][]byte{
		slices.Concat(whole, line), slices.Concat(whole, line, line), slices.Concat(whole, line[:len(line)/2]),
		whole, whole[:len(whole)/2], []byte("{}"), []byte("null"),
		bytes.Replace(whole, []byte(`"initializing"`), []byte(`"interrupted","resume_state":"failed"`), 1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r session.Record
		err := r.Decode(id, text)
		var broken *session.RecordError
		if err != nil {
			if !errors.As(err, &broken) {
				t.Errorf("%v is no *RecordError", err)
			}
			return
		}
		if r.ID != id || r.Revision < 1 || r.Version != session.Version {
			t.Errorf("%+v", r)
		}
		r.Turn()
		r.Corrections()
		r.Earlier()
		r.Summary()
		if next, replaces, err := r.Encode(text); err == nil && !replaces {
			var later session.Record
			err := later.Decode(id, slices.Concat(bytes.TrimRight(text, "\n"), []byte("\n"), next))
			r.Revision++
			testutil.OK(t, err)
			if diff := cmp.Diff(r.Turns, later.Turns, cmpopts.EquateEmpty()); diff != "" || later.Revision != r.Revision {
				t.Errorf("revision %d (-want +got):\n%s", later.Revision, diff)
			}
			r.Revision--
		}
		r.Revision-- // a save raises it
		once, err := session.Whole(r)
		if err != nil {
			return // too large when written with escapes, or a time that JSON has no form for
		}
		var again session.Record
		err = again.Decode(id, once)
		if err != nil {
			t.Fatalf("written: %v\n%s", err, once)
		}
		again.Revision--
		if twice, err := session.Whole(again); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}
