package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/session"
)

// FuzzDecode: whatever a file holds, it is a record that is written again as it was read, or a typed error.
func FuzzDecode(f *testing.F) {
	id := strings.Repeat("0a", 16)
	r := session.New(id, time.Unix(0, 0).UTC())
	r.Turns = []session.Turn{{Kind: session.TurnChoice, Option: "t1", Correction: &session.Correction{Kind: session.CorrectText, Text: "x"}}}
	r.Pending = &session.QuestionError{Kind: session.KindJoin, Options: []session.Option{{ID: "j1"}}}
	whole := need.Value(r.Encode())(f)
	for _, seed := range [][]byte{
		whole, whole[:len(whole)/2], []byte("{}"), []byte("null"),
		bytes.Replace(whole, []byte(`"initializing"`), []byte(`"interrupted","resume_state":"failed"`), 1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := session.Decode(id, text)
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
		r.Revision-- // Encode raises it
		once, err := r.Encode()
		if err != nil {
			return // too large when written with escapes, or a time that JSON has no form for
		}
		again, err := session.Decode(id, once)
		if err != nil {
			t.Fatalf("written: %v\n%s", err, once)
		}
		again.Revision--
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}
