package session_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/session"
)

// table has a line a state and a column a state, both in the order of session.States: x may follow, . may not.
const table = `
initializing        .x......xx
schema_loading      ..x.....xx
query_understanding ...xx.x.xx
inferring_joins     ....x.x.xx
generating_sql      ....xxx.xx
executing_query     ....x.xxxx
awaiting_correction ..xx....xx
completed           ..xx......
failed              ..xx......
interrupted         xxxxxxx...
`

func TestStates(t *testing.T) {
	states := session.States()
	pairs := 0
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		name, row, _ := strings.Cut(line, " ")
		row = strings.TrimSpace(row)
		if from := states[i]; string(from) != name || len(row) != len(states) {
			t.Fatalf("line %d is of %s with %d states", i, name, len(row))
		}
		for k, to := range states {
			pairs++
			if may := states[i].May(to); may != (row[k] == 'x') {
				t.Errorf("%s to %s: %v", states[i], to, may)
			}
		}
	}
	if pairs != 100 {
		t.Errorf("%d pairs", pairs)
	}
	for _, s := range states {
		if session.State("other").May(s) || s.May("other") {
			t.Errorf("an unknown state and %s", s)
		}
	}
}

func TestActive(t *testing.T) {
	for i, s := range session.States() {
		if got := s.Active(); got != (i < 6) {
			t.Errorf("%s is active: %v", s, got)
		}
	}
}

// TestMove walks from every state to every other one: a record that may not move does not change, and an interrupted
// one goes back to the state that it left and to no other.
func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, from := range session.States() {
			for _, to := range session.States() {
				if from == session.Interrupted {
					continue
				}
				r := session.New(session.NewID(), time.Now())
				r.State = from
				before := r
				err := r.Move(to, time.Now(), "why")
				if !from.May(to) {
					var illegal *session.TransitionError
					if !errors.As(err, &illegal) || illegal.From != from || illegal.To != to || !cmp.Equal(r, before) {
						t.Errorf("%s to %s: %v", from, to, err)
					}
					continue
				}
				want := before
				want.State, want.Transitions = to, []session.Transition{{From: from, To: to, At: time.Now(), Reason: "why"}}
				if to == session.Interrupted {
					want.ResumeState = from
				}
				if diff := cmp.Diff(want, r); err != nil || diff != "" {
					t.Errorf("%s to %s: %v (-want +got):\n%s", from, to, err, diff)
				}
				if to != session.Interrupted {
					continue
				}
				for _, back := range session.States() {
					r := r
					if err := r.Move(back, time.Now(), ""); (err == nil) != (back == from) {
						t.Errorf("%s, interrupted, to %s: %v", from, back, err)
					} else if err == nil && (r.ResumeState != "" || r.State != back) {
						t.Errorf("%s, resumed, is %s with resume state %q", from, r.State, r.ResumeState)
					}
				}
			}
		}
	})
}
