package memory_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// hanging is a store of answers and lessons whose calls hang while hold is locked.
type hanging struct {
	hold  sync.Mutex
	text  []byte
	begun atomic.Int32 // calls
}

func (h *hanging) String() string { return "a store that hangs" }

func (h *hanging) call() {
	h.begun.Add(1)
	h.hold.Lock()
	defer h.hold.Unlock()
}

// answersThatHang and lessonsThatHang are h as a store of each kind.
type answersThatHang struct{ *hanging }

func (h answersThatHang) Append(lines []byte) error {
	h.call()
	h.text = append(h.text, lines...)
	return nil
}

func (h answersThatHang) Read(after int64) ([]byte, error) {
	h.call()
	return h.text[after:], nil
}

type lessonsThatHang struct{ *hanging }

func (h lessonsThatHang) Read(string) ([]byte, string, error) {
	h.call()
	return h.text, string(h.text) + "version", nil
}

func (h lessonsThatHang) Change(change func([]byte) ([]byte, error)) error {
	h.call()
	text, err := change(h.text)
	if text != nil {
		h.text = text
	}
	return err
}

// TestStoreHangs: while a call of a store hangs, facts that are in memory are told at once. Those who wait to read
// share one reading, which begins after they asked.
func TestStoreHangs(t *testing.T) {
	of, ol := &hanging{}, &hanging{}
	answers := testutil.Value(memory.VerifiedAnswersOn(answersThatHang{of}))(t)
	lessons := testutil.Value(memory.LessonsOn(lessonsThatHang{ol}))(t)
	testutil.OK(t, answers.Add(memory.Exemplar{Question: "a?", SQL: "SELECT 1"}))
	testutil.OK(t, answers.Add(memory.Exemplar{Question: "a?", SQL: "SELECT 2"}))
	learn(t, lessons, customers("s"))
	for _, tt := range []struct {
		name  string
		store *hanging
		read  func() (int, error)
		write func() error
		told  func() bool
	}{
		{"answers", of, func() (int, error) { p, err := answers.Pairs(); return len(p), err }, func() error {
			return answers.Add(memory.Exemplar{Question: "b?", SQL: "SELECT 3"})
		}, func() bool { return answers.Notes() == nil && answers.Removed("", "SELECT 1") }},
		{"lessons", ol, func() (int, error) { l, err := lessons.All(); return len(l), err }, func() error {
			_, err := lessons.Learn(customers("t"))
			return err
		}, func() bool { return lessons.Notes() == nil }},
	} {
		for kind, first := range map[string]func() error{
			"a reading": func() error { _, err := tt.read(); return err }, "a change": tt.write,
		} {
			before, _ := tt.read()
			begun := tt.store.begun.Load()
			tt.store.hold.Lock()
			var group sync.WaitGroup
			group.Go(func() {
				if err := first(); err != nil {
					t.Error(err)
				}
			})
			for tt.store.begun.Load() == begun {
				time.Sleep(time.Millisecond)
			}
			told := make(chan bool, 1)
			group.Go(func() { told <- tt.told() })
			select {
			case right := <-told:
				if !right {
					t.Errorf("%s, %s: other facts than before", tt.name, kind)
				}
			case <-time.After(5 * time.Second):
				t.Errorf("%s, %s: facts in memory wait for the store", tt.name, kind)
			}
			for range 50 {
				group.Go(func() {
					if n, err := tt.read(); err != nil || n < before {
						t.Errorf("%s, %s: %d, %v", tt.name, kind, n, err)
					}
				})
			}
			time.Sleep(20 * time.Millisecond) // until they wait
			tt.store.hold.Unlock()
			group.Wait()
			if n := tt.store.begun.Load() - begun; n > 4 { // a change of answers takes two calls
				t.Errorf("%s, %s: 51 took %d calls", tt.name, kind, n)
			}
		}
	}
}

// panicking is a store that panics when it is read again.
type panicking struct{ *hanging }

func (p panicking) Append([]byte) error { return errors.New("none") }

func (p panicking) Read(int64) ([]byte, error) {
	if p.begun.Add(1) == 2 {
		panic("a bug")
	}
	return nil, nil
}

// TestStorePanics: a store that panics once is read again.
func TestStorePanics(t *testing.T) {
	c := testutil.Value(memory.VerifiedAnswersOn(panicking{&hanging{}}))(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		c.Pairs()
	}()
	testutil.Value(c.Pairs())(t)
}
