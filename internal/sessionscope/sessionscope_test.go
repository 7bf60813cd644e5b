package sessionscope_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sessionscope"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
)

// TestWithin: the sessions of another scope are not there.
func TestWithin(t *testing.T) {
	all := &session.MemoryStore{}
	acme, globex := sessionscope.Of(all, "acme"), sessionscope.Of(all, "globex")
	r := session.New(session.NewID(), time.Now())
	r.Scope = "acme"
	if err := globex.Save(t.Context(), r); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("another scope saves it: %v", err)
	}
	testutil.OK(t, acme.Save(t.Context(), r))
	stolen := r
	stolen.Scope, stolen.Revision = "globex", 1
	if err := globex.Save(t.Context(), stolen); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("another scope takes it over: %v", err)
	}
	for who, s := range map[string]session.Store{"acme": acme, "globex": globex, "": sessionscope.Of(all, "")} {
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
		if release, err := s.(session.Locker).Lock(t.Context(), r.ID); err != nil || release == nil {
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

// TestWithinItsScope: a scope saves, holds and deletes what is its own, and a session of another scope is held for
// nobody.
func TestWithinItsScope(t *testing.T) {
	f := testutil.Value(session.OpenFiles(t.TempDir()))(t)
	acme := sessionscope.Of(f, "acme")
	r := session.New(session.NewID(), time.Now())
	r.Scope = "acme"
	testutil.OK(t, acme.Save(t.Context(), r))
	r.Revision, r.Title = 1, "again"
	testutil.OK(t, acme.Save(t.Context(), r))
	golden.Equal(t, "again", testutil.Value(f.Load(t.Context(), r.ID))(t).Title, "what was saved")
	release := testutil.Value(acme.(session.Locker).Lock(t.Context(), r.ID))(t)
	if _, err := f.Lock(t.Context(), r.ID); !errors.Is(err, session.ErrLocked) {
		t.Errorf("it is held for the whole store: %v", err)
	}
	release()
	testutil.OK(t, acme.Delete(t.Context(), r.ID))
	for _, s := range []session.Store{f, acme} {
		if _, err := s.Load(t.Context(), r.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("after Delete: %v", err)
		}
	}
}

// TestDamagedRecords: which records cannot be read only those learn who see the sessions of no scope.
func TestDamagedRecords(t *testing.T) {
	dir := t.TempDir()
	f := testutil.Value(session.OpenFiles(dir))(t)
	for _, scope := range []string{"acme", "acme", "globex"} {
		r := session.New(session.NewID(), time.Now())
		r.Scope = scope
		testutil.OK(t, f.Save(t.Context(), r))
	}
	for range 2 {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, session.NewID()+".json"), []byte("{"), 0o600))
	}
	lost := errors.New("the connection is lost")
	for _, tt := range []struct {
		why, scope string
		store      session.Store
		listed     int
		told       bool  // of the records
		want       error // of the store, beside that
	}{
		{"no scope", "", f, 0, true, nil},
		{"a scope with sessions", "acme", f, 2, false, nil},
		{"a scope without sessions", "initech", f, 0, false, nil},
		{"another error stays", "acme", failing{f, lost}, 2, false, lost},
	} {
		list, err := sessionscope.Of(tt.store, tt.scope).List(t.Context(), session.Filter{})
		if len(list) != tt.listed || errors.As(err, new(*session.RecordError)) != tt.told || !errors.Is(err, tt.want) &&
			!tt.told || err == nil && tt.want != nil {
			t.Errorf("%s: %d sessions, %v", tt.why, len(list), err)
		}
	}
}

// failing is a store whose lists have one error more.
type failing struct {
	session.Store
	err error
}

func (f failing) List(ctx context.Context, filter session.Filter) ([]session.Summary, error) {
	all, err := f.Store.List(ctx, filter)
	return all, errors.Join(err, f.err)
}
