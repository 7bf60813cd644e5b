package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// BatchResult is the outcome of one question of a batch.
type BatchResult struct {
	Question Question // the question of this result
	Result   *Result  // see Ask; nil if the error belongs to no single question, such as a *BatchError
}

// BatchError reports why a batch ended before all its questions were asked.
type BatchError struct{ Err error }

// Error returns one line with the reason.
func (e *BatchError) Error() string { return "texttosql: the batch ends here: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *BatchError) Unwrap() error { return e.Err }

// AskAll answers questions, parallel of them at the same time; 0 means 4, and less is an error. It yields their results
// in the order of the questions, each with the error that Ask would return.
//
// The goroutine that ranges over the results pulls questions as slots become free, at most parallel ahead of the
// results. Breaking out of the loop cancels the questions in flight; the loop returns when all of them have ended.
//
// If a batch ends early, its last result is a *BatchError without a question. It wraps one of these reasons:
//   - ctx.Err(), if questions may be left. The questions in flight end with this error first.
//   - A provider error that every further question would meet, such as a wrong key. It comes after the results of
//     the questions in flight.
//   - A reply that llm/replay could not store. Each question in flight has a Result with that error.
//   - exec.ErrNoScope: a scope is missing.
//
// An invalid argument is a *strategy.ConfigError. The options WithScope, WithPolicy, WithProgress and WithMemory
// apply to every question. Options that each Question sets itself (WithID, WithEvidence, WithSamples) are rejected.
//
// To resume a batch after a crash, record its replies (llm/replay): give New the model
// llm.Chain(model, player.Or, recorder.Record). Asking the same questions again pays only for missing replies.
// WithClock(player.Now) keeps all questions on the day on which the batch began.
func (e *Engine) AskAll(ctx context.Context, questions iter.Seq[Question], parallel int,
	opts ...AskOption) iter.Seq2[BatchResult, error] {
	return func(yield func(BatchResult, error) bool) {
		shared, err := heeding("AskAll", "", opts, "WithProgress", "WithMemory")
		if err != nil {
			yield(BatchResult{}, err)
			return
		}
		e, err := e.within(shared)
		if err != nil {
			yield(BatchResult{}, &BatchError{err})
			return
		}
		shared.day = e.today()
		var fault *strategy.ConfigError
		switch {
		case parallel < 0:
			fault = &strategy.ConfigError{Field: "texttosql: AskAll", Problem: fmt.Sprintf("%d questions at a time", parallel)}
		case questions == nil:
			fault = &strategy.ConfigError{Field: "texttosql: AskAll", Problem: "the questions are nil"}
		}
		if fault != nil {
			yield(BatchResult{}, fault)
			return
		}
		if end := e.askAll(ctx, questions, shared, cmp.Or(parallel, 4), yield); end != nil {
			yield(BatchResult{}, &BatchError{end})
		}
	}
}

// askAll returns the reason for an early end. It is nil if all questions were asked or the caller left the loop.
func (e *Engine) askAll(caller context.Context, questions iter.Seq[Question], shared asking, parallel int,
	yield func(BatchResult, error) bool) error {
	type ended struct {
		BatchResult
		err error
	}
	ctx, cancel := context.WithCancel(caller)
	next, stop := iter.Pull(questions)
	defer stop()
	var (
		flying []chan ended // in the order of the questions
		f      failures
	)
	defer func() {
		cancel()
		for _, answer := range flying {
			<-answer
		}
	}()
	for more := true; ; {
		for more && len(flying) < parallel && ctx.Err() == nil && f.hopeless() == nil {
			var q Question
			if q, more = next(); !more {
				break
			}
			answer := make(chan ended, 1)
			flying = append(flying, answer)
			go func() {
				a := shared
				a.Question, a.scope, a.policy = q, nil, nil // e has them
				r, err := e.Ask(ctx, q.Text, a)
				f.note(r, err)
				answer <- ended{BatchResult{q, r}, err}
			}()
		}
		switch {
		case len(flying) > 0:
		case more:
			return cmp.Or(caller.Err(), f.hopeless())
		default:
			return nil
		}
		a := <-flying[0]
		flying = flying[1:]
		if !yield(a.BatchResult, a.err) {
			return nil
		}
	}
}

// failures detects an error that every further question of a batch would meet.
type failures struct {
	mu      sync.Mutex
	replies bool       // a question had a reply
	first   *llm.Error // of a question without one
	last    error
}

// hopeless says why the batch must end; nil: it may go on.
func (f *failures) hopeless() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// note looks at how a question ended. A refused key, account or permission (status 401, 402 or 403) ends the batch. So
// does a reply that could not be stored, since the replies after it would be lost too. Any other permanent error may be
// due to the question: it ends the batch if a second question has the same, and none had a reply.
func (f *failures) note(r *Result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.As(err, new(*atomicfile.StoreError)) && f.last == nil {
		f.last = fmt.Errorf("no further reply would be stored: %w", err)
	}
	if err == nil || r != nil && len(r.Candidates) > 0 {
		f.replies = true
		return
	}
	var failed *llm.Error
	if f.last != nil || is(err, llm.ErrBudget) || !errors.As(err, &failed) || failed.Class != llm.ClassPermanent {
		return
	}
	switch {
	case failed.Status >= 401 && failed.Status <= 403:
	case f.first == nil:
		f.first = failed
		return
	case f.replies || failed.Error() != f.first.Error():
		return
	}
	f.last = fmt.Errorf("every further question would end like this: %w", err)
}

func is(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// unstored holds the first error of storing a reply of one question (llm/replay). The question goes on with the reply,
// which is paid for, and ends with the error.
type unstored struct {
	mu    sync.Mutex
	first *atomicfile.StoreError
}

func (u *unstored) note(failed *atomicfile.StoreError) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.first == nil {
		u.first = failed
	}
}

// add joins the storing error with err, the question's own error.
func (u *unstored) add(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.first == nil:
		return err
	case err == nil:
		return &unstoredError{u.first}
	}
	return errors.Join(err, u.first)
}

// unstoredError reports that a question was answered and that one of its replies was not stored.
type unstoredError struct{ *atomicfile.StoreError }

// Error returns one line with the error of storing.
func (e *unstoredError) Error() string {
	return fmt.Sprintf("texttosql: the answer is there, and a reply of the model could not be stored: %v", e.StoreError)
}

// Unwrap returns the error of storing.
func (e *unstoredError) Unwrap() error { return e.StoreError }

// Explain reports that the answer exists and that its reply was not stored.
func (e *unstoredError) Explain() failure.Report {
	return failure.Report{
		Class: failure.Internal, Message: "The answer is there, and what the model replied could not be stored",
		Advice: "Look at the disk where conversations and recordings are kept, then go on",
	}
}
