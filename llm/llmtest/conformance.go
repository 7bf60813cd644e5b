package llmtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// The behaviours of a provider.
const (
	answers = "answers"
	hangs   = "hangs"
	empties = "empties"
	fails   = "fails"
	busy    = "busy"
	down    = "down"
)

// patience bounds how long a cancelled call may take to return and a goroutine to end. Both need much less, even on a
// loaded machine.
const patience = 30 * time.Second

// Conformance tests a model against the contract of llm.Model:
//
//   - an answer has a text and a usage that is not negative;
//   - when the context has ended, before or during the call, the call ends with ctx.Err();
//   - an empty reply is an error, and a provider's refusal is an [*llm.Error];
//   - the status 429 becomes an error of ClassRateLimit with the wait that the provider requests, and 503 an error of
//     ClassOverloaded, so that llm.Retry repeats the call (llm.StatusError returns both);
//   - the request is not changed;
//   - parallel calls work (run it with -race), and leave no goroutine behind.
//
// newModel makes a model whose provider has the given behaviour. "answers" replies to every request, "hangs" takes a
// request and never replies, and "empties" replies with an empty text. "fails" rejects every request. "busy" rejects
// every request with the status 429 and "Retry-After: 1", and "down" with the status 503. It cleans up what it starts
// with t.Cleanup, idle connections included. For a behaviour that it cannot simulate it returns nil, and the part is
// skipped. Conformance counts the goroutines of the whole process, so no other test may run at the same time.
func Conformance(t *testing.T, newModel func(t *testing.T, behaviour string) llm.Model) {
	t.Helper()
	for _, part := range parts() {
		t.Run(part.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Run("call", func(t *testing.T) { // its cleanup is over when the goroutines are counted
				m := newModel(t, part.behaviour)
				if m == nil {
					t.Skipf("the model cannot be made to behave so: %s", part.behaviour)
				}
				if err := part.check(m); err != nil {
					t.Error(err)
				}
			})
			if err := goroutinesEnd(before, patience); err != nil {
				t.Error(err)
			}
		})
	}
}

// part is one rule of the contract. Its check returns an error, so that it can be tested with models that break the
// rule.
type part struct {
	name      string
	behaviour string
	check     func(llm.Model) error
}

func parts() []part {
	return []part{
		{"answer", answers, checkAnswer},
		{"request_unchanged", answers, checkUnchanged},
		{"cancelled_before", answers, checkCancelledBefore},
		{"deadline_before", answers, checkDeadlineBefore},
		{"cancelled_during", hangs, checkCancelledDuring},
		{"deadline_during", hangs, checkDeadlineDuring},
		{"empty_reply", empties, checkEmpty},
		{"failure", fails, checkFailure},
		{"busy", busy, checkBusy},
		{"down", down, checkDown},
		{"parallel", answers, checkParallel},
	}
}

func conformanceRequest() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: "Answer with one SQL statement."},
			{Role: llm.User, Text: "How many singers are there?"},
		},
		Purpose:   "generate",
		MaxTokens: new(64),
		Stop:      []string{";"},
	}
}

func checkAnswer(m llm.Model) error {
	for _, temperature := range []*float64{nil, new(float64)} {
		req := conformanceRequest()
		req.Temperature = temperature
		resp, err := m.Complete(context.Background(), req)
		if err != nil {
			return fmt.Errorf("no answer: %w", err)
		}
		if resp.Text == "" {
			return errors.New("an empty text without an error")
		}
		if u := resp.Usage; u.Calls < 0 || u.PromptTokens < 0 || u.CompletionTokens < 0 || u.Money < 0 {
			return fmt.Errorf("negative usage: %+v", u)
		}
	}
	return nil
}

func checkUnchanged(m llm.Model) error {
	req := conformanceRequest()
	if _, err := m.Complete(context.Background(), req); err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if !reflect.DeepEqual(req, conformanceRequest()) {
		return fmt.Errorf("the request was changed to %+v", req)
	}
	return nil
}

func checkCancelledBefore(m llm.Model) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return checkEnds(ctx, m, context.Canceled)
}

func checkDeadlineBefore(m llm.Model) error {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	return checkEnds(ctx, m, context.DeadlineExceeded)
}

// during is the time after which a call in flight is ended. By then a loopback server has got the request.
const during = 50 * time.Millisecond

func checkCancelledDuring(m llm.Model) error {
	// The cause differs from ctx.Err(), which the model must return.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer time.AfterFunc(during, func() { cancel(errors.New("changed my mind")) }).Stop()
	return checkEnds(ctx, m, context.Canceled)
}

func checkDeadlineDuring(m llm.Model) error {
	ctx, cancel := context.WithTimeout(context.Background(), during)
	defer cancel()
	return checkEnds(ctx, m, context.DeadlineExceeded)
}

// checkEnds calls m with a context that has ended or will end, and wants its error.
func checkEnds(ctx context.Context, m llm.Model, want error) error {
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
			return fmt.Errorf("error %v (%T), want %v", got.err, got.err, want)
		}
		if got.resp.Text != "" {
			return fmt.Errorf("text %q beside the error", got.resp.Text)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the call has not returned %v after its context ended", patience)
	}
}

func checkEmpty(m llm.Model) error {
	resp, err := m.Complete(context.Background(), conformanceRequest())
	if err == nil {
		return fmt.Errorf("no error for an empty reply, but %+v", resp)
	}
	return nil
}

func checkFailure(m llm.Model) error {
	resp, err := m.Complete(context.Background(), conformanceRequest())
	if err == nil {
		return fmt.Errorf("no error for a failure, but %+v", resp)
	}
	if e := (*llm.Error)(nil); !errors.As(err, &e) {
		return fmt.Errorf("error %v (%T) holds no *llm.Error", err, err)
	}
	if resp.Text != "" {
		return fmt.Errorf("text %q beside the error", resp.Text)
	}
	return nil
}

func checkBusy(m llm.Model) error { return checkOutage(m, llm.ClassRateLimit, time.Second) }

func checkDown(m llm.Model) error { return checkOutage(m, llm.ClassOverloaded, 0) }

// checkOutage wants a failure of a class, with the wait that the provider asks for.
func checkOutage(m llm.Model, class llm.Class, wait time.Duration) error {
	resp, err := m.Complete(context.Background(), conformanceRequest())
	if err == nil {
		return fmt.Errorf("no error for an outage, but %+v", resp)
	}
	if e := llm.AsError(err); e.Class != class || e.RetryAfter != wait {
		return fmt.Errorf("error %w with the wait %v, want one of class %v with the wait %v", err, e.RetryAfter, class, wait)
	}
	return nil
}

func checkParallel(m llm.Model) error {
	req := conformanceRequest() // shared by all calls, so that the race detector sees a change
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for sample := range errs {
		wg.Go(func() {
			req := req
			req.Sample = sample
			resp, err := m.Complete(context.Background(), req)
			if err == nil && resp.Text == "" {
				err = errors.New("an empty text without an error")
			}
			if err != nil {
				errs[sample] = fmt.Errorf("sample %d of 16 parallel ones: %w", sample, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// goroutinesEnd waits until there are no more goroutines than before.
func goroutinesEnd(before int, patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		now := runtime.NumGoroutine()
		if now <= before {
			return nil
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return fmt.Errorf("%d goroutines, %d before the calls:\n%s", now, before, stacks)
		}
	}
}
