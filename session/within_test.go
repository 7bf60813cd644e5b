package session_test

import (
	"errors"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/session"
)

// TestWithin: the sessions of another scope are not there.
func TestWithin(t *testing.T) {
	all := &session.Memory{}
	acme, globex := session.Within(all, "acme"), session.Within(all, "globex")
	r := session.New(session.NewID(), time.Now())
	r.Scope = "acme"
	if err := globex.Save(t.Context(), r); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("another scope saves it: %v", err)
	}
	need.OK(t, acme.Save(t.Context(), r))
	stolen := r
	stolen.Scope, stolen.Revision = "globex", 1
	if err := globex.Save(t.Context(), stolen); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("another scope takes it over: %v", err)
	}
	for who, s := range map[string]session.Store{"acme": acme, "globex": globex, "": session.Within(all, "")} {
		var want error
		if who != "acme" {
			want = session.ErrNotFound
		}
		if _, err := s.Load(t.Context(), r.ID); !errors.Is(err, want) {
			t.Errorf("%q loads: %v", who, err)
		}
		if _, err := s.Journal(t.Context(), r.ID); !errors.Is(err, want) {
			t.Errorf("%q reads the journal: %v", who, err)
		}
		if list, err := s.List(t.Context(), session.Filter{Every: true}); err != nil || (len(list) == 1) != (want == nil) {
			t.Errorf("%q lists %v, %v", who, list, err)
		}
		if release, err := s.(session.Holder).Hold(t.Context(), r.ID); err != nil || release == nil {
			t.Errorf("%q holds: %v", who, err) // whose it is the first call says
		} else {
			release()
		}
		if want != nil {
			if err := s.Delete(t.Context(), r.ID); !errors.Is(err, want) {
				t.Errorf("%q deletes: %v", who, err)
			}
		}
	}
}
