package llmtest

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// Behaviour is what a provider does in a part of [Conformance].
type Behaviour string

// The behaviours.
const (
	Answers Behaviour = "answers" // gives a reply to every request
	Hangs   Behaviour = "hangs"   // takes a request and never replies
	Empties Behaviour = "empties" // replies with an empty text
	Fails   Behaviour = "fails"   // turns every request away
)

// patience is how long a cancelled call may take to return, and a goroutine to
// end: much more than either needs on a loaded machine.
const patience = 5 * time.Second

// Conformance holds models against the contract of llm.Model:
//
//   - an answer has a text and a usage that is not negative;
//   - a context that has ended, or ends while the call is on its way, ends the
//     call with its own error, context.Canceled or context.DeadlineExceeded;
//   - an empty reply is an error, and a provider's refusal is an [*llm.Error];
//   - a request is not changed;
//   - parallel calls work (run it with -race), and leave no goroutine behind.
//
// newModel makes a model whose provider behaves as asked, and cleans up by
// t.Cleanup what it starts, idle connections included. It returns nil for a
// behaviour that it cannot bring about; that part is then skipped. Goroutines
// are counted for the whole process, so nothing else may run beside it.
func Conformance(t *testing.T, newModel func(t *testing.T, b Behaviour) llm.Model) {
	t.Helper()
	part := func(name string, b Behaviour, check func(t *testing.T, m llm.Model)) {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Run("call", func(t *testing.T) { // its cleanup is over when the goroutines are counted
				m := newModel(t, b)
				if m == nil {
					t.Skipf("the model cannot be made to behave so: %s", b)
				}
				check(t, m)
			})
			checkGoroutines(t, before)
		})
	}
	part("answer", Answers, checkAnswer)
	part("request unchanged", Answers, checkUnchanged)
	part("cancelled before", Answers, checkCancelledBefore)
	part("deadline before", Answers, checkDeadlineBefore)
	part("cancelled during", Hangs, checkCancelledDuring)
	part("deadline during", Hangs, checkDeadlineDuring)
	part("empty reply", Empties, checkEmpty)
	part("failure", Fails, checkFailure)
	part("parallel", Answers, checkParallel)
}

func conformanceRequest() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "Answer with one SQL statement."},
			{Role: llm.User, Text: "How many singers are there?"},
		},
		Purpose:   "generate",
		MaxTokens: 64,
		Stop:      []string{";"},
	}
}

func checkAnswer(t *testing.T, m llm.Model) {
	for _, temperature := range []*float64{nil, new(float64)} {
		req := conformanceRequest()
		req.Temperature = temperature
		resp, err := m.Complete(context.Background(), req)
		if err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if resp.Text == "" {
			t.Error("an empty text without an error")
		}
		if u := resp.Usage; u.Calls < 0 || u.PromptTokens < 0 || u.CompletionTokens < 0 || u.Money < 0 {
			t.Errorf("negative usage: %+v", u)
		}
	}
}

func checkUnchanged(t *testing.T, m llm.Model) {
	req := conformanceRequest()
	if _, err := m.Complete(context.Background(), req); err != nil {
		t.Fatalf("Complete: %v", err)
	}
	if !reflect.DeepEqual(req, conformanceRequest()) {
		t.Errorf("the request was changed to %+v", req)
	}
}

func checkCancelledBefore(t *testing.T, m llm.Model) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	checkEnds(t, ctx, m, context.Canceled)
}

func checkDeadlineBefore(t *testing.T, m llm.Model) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	checkEnds(t, ctx, m, context.DeadlineExceeded)
}

// during is when a call on its way is ended: late enough for a loopback server
// to have the request.
const during = 50 * time.Millisecond

func checkCancelledDuring(t *testing.T, m llm.Model) {
	// With a cause of its own, because what a model returns is ctx.Err().
	ctx, cancel := context.WithCancelCause(context.Background())
	defer time.AfterFunc(during, func() { cancel(errors.New("changed my mind")) }).Stop()
	checkEnds(t, ctx, m, context.Canceled)
	cancel(nil)
}

func checkDeadlineDuring(t *testing.T, m llm.Model) {
	ctx, cancel := context.WithTimeout(context.Background(), during)
	defer cancel()
	checkEnds(t, ctx, m, context.DeadlineExceeded)
}

// checkEnds calls m with a context that has ended or will, and wants its error.
func checkEnds(t *testing.T, ctx context.Context, m llm.Model, want error) {
	t.Helper()
	type outcome struct {
		resp llm.Response
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		resp, err := m.Complete(ctx, conformanceRequest())
		done <- outcome{resp, err}
	}()
	select {
	case got := <-done:
		if !errors.Is(got.err, want) {
			t.Errorf("error = %v (%T), want %v", got.err, got.err, want)
		}
		if got.resp.Text != "" {
			t.Errorf("text %q beside the error", got.resp.Text)
		}
	case <-time.After(patience):
		t.Fatalf("the call has not returned %v after its context ended", patience)
	}
}

func checkEmpty(t *testing.T, m llm.Model) {
	resp, err := m.Complete(context.Background(), conformanceRequest())
	if err == nil {
		t.Errorf("no error for an empty reply, but %+v", resp)
	}
}

func checkFailure(t *testing.T, m llm.Model) {
	resp, err := m.Complete(context.Background(), conformanceRequest())
	if err == nil {
		t.Fatalf("no error, but %+v", resp)
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v (%T) holds no *llm.Error", err, err)
	}
	if resp.Text != "" {
		t.Errorf("text %q beside the error", resp.Text)
	}
}

func checkParallel(t *testing.T, m llm.Model) {
	var wg sync.WaitGroup
	req := conformanceRequest() // one for all, so that the race detector sees a change to it
	for draw := range 16 {
		wg.Go(func() {
			req := req
			req.Draw = draw
			resp, err := m.Complete(context.Background(), req)
			if err != nil || resp.Text == "" {
				t.Errorf("draw %d: text %q, error %v", draw, resp.Text, err)
			}
		})
	}
	wg.Wait()
}

// checkGoroutines waits until there are no more goroutines than before.
func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			t.Errorf("%d goroutines, %d before the calls:\n%s", runtime.NumGoroutine(), before, stacks)
			return
		}
	}
}
