package web

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/texttosql/texttosql/session"
)

// TestNumbersAtTheEdge: a number of a path or a query at which there is nothing, however long, is 404.
func TestNumbersAtTheEdge(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "What was sold each day?").ID
	for path, want := range map[string]int{
		"/rows/0": 200, "/rows/0?sort=1&from=2": 200, "/rows/0?from=99": 200, "/rows/0?sort=": 200,
		"/rows/88888888888888888888": 404, "/rows/-88888888888888888888": 404, "/rows/1e3": 404, "/rows/0x0": 404,
		"/rows/-1": 404, "/rows/7": 404,
		"/rows/0?sort=88888888888888888888": 404, "/rows/0?from=88888888888888888888": 404, "/rows/0?from=x": 404,
		"/rows/0?sort=1.5": 404,
	} {
		if status, got := s.do(t, "/api/conversations/"+id+path, nil, nil); status != want {
			t.Errorf("%s: %d %v, want %d", path, status, got, want)
		}
	}
	for path, want := range map[string]string{
		id + "/rows/99": "This conversation has no answer 99.", id + "/rows/x": `There is nothing at "x".`,
		session.NewID() + "/rows/0": "There is no such conversation. Begin another one.",
	} {
		if _, got := s.do(t, "/api/conversations/"+path, nil, nil); got["error"] != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	for _, turn := range []string{"88888888888888888888", "x", "-1"} {
		if status, _ := s.do(t, "/trace/"+id+"/"+turn, nil, nil); status != 404 {
			t.Errorf("/trace/%s: %d", turn, status)
		}
	}
}

// TestCancelOfNothing: to cancel a conversation that is another's looks like one that is not there.
func TestCancelOfNothing(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "What was sold each day?").ID
	for at, want := range map[string]int{id: 202, session.NewID(): 404, "x": 404} {
		if status, got := s.do(t, "/api/conversations/"+at+"/cancel", map[string]any{}, nil); status != want {
			t.Errorf("%s: %d %v, want %d", at, status, got, want)
		}
	}
}

// full is a store whose disk has no space after some saves.
type full struct {
	session.Store
	left int
}

func (f *full) Save(ctx context.Context, r session.Record) error {
	if f.left--; f.left < 0 {
		return fmt.Errorf("session: writing a record: %w", syscall.ENOSPC)
	}
	return f.Store.Save(ctx, r)
}

// TestFullDisk: on a full disk a question says that there is no space, at once or when its answer is saved.
func TestFullDisk(t *testing.T) {
	told := 0
	for left := range 8 {
		s := open(t, func(c *Config) { c.Store = &full{c.Store, left} })
		status, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
		text := fmt.Sprint(r)
		if status == 202 {
			turn := s.settled(t, r["id"].(string)).Turns[0]
			if turn.Failure == nil && turn.Answer != nil {
				continue // there was enough
			}
			text = fmt.Sprintf("%+v", *turn.Failure)
			told++
		}
		if !strings.Contains(text, "no space left") || strings.Contains(text, "has ended") {
			t.Errorf("after %d saves: %d %s", left, status, text)
		}
	}
	if told == 0 {
		t.Error("no question was running when the disk was full")
	}
}
