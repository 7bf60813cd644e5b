package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// BatchResult is what became of one question of a batch.
type BatchResult struct {
	Question Question // the question as it was asked
	Result   *Result  // see Ask; nil beside a *BatchError or a *strategy.ConfigError, of no question
}

// BatchError is what ended a batch before all its questions were asked.
type BatchError struct{ Err error }

// Error says that the batch ended, and why.
func (e *BatchError) Error() string { return "texttosql: the batch ends here: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *BatchError) Unwrap() error { return e.Err }

// Batch says how AskAll works. The zero Batch answers 4 questions at a time.
type Batch struct {
	Parallel int // questions answered at the same time; 0 means 4; negative is an error
}

// AskAll answers questions in parallel and gives their results in the order of the questions, each with the error that Ask
// would return.
//
// The goroutine that ranges over the results pulls questions as places become free, at most b.Parallel ahead of the
// results. Breaking out of the loop cancels what is in flight; the loop ends when all of it has ended.
//
// What ends a batch early comes last, as a *BatchError without a question: ctx.Err(), after the questions in flight were
// answered with it, where others may be left; or an error of the provider that every further question would end with,
// such as a wrong key, after the results of the questions in flight; or a scope that is missing (ErrNoScope). A fault in the
// arguments is a *strategy.ConfigError. opts hold for every question; what each Question has itself (a Question,
// WithSamples) is refused.
//
// A batch that a crash may end is resumed from a recording of its replies (llm/replay): the model of New is
// llm.Chain(model, player.Or, recorder.Record), and the same questions asked again pay only for what has no reply yet.
// WithClock(player.Now) keeps the rest on the day on which the batch began.
func (e *Engine) AskAll(ctx context.Context, questions iter.Seq[Question], b Batch, opts ...AskOption) iter.Seq2[BatchResult, error] {
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
		case b.Parallel < 0:
			fault = &strategy.ConfigError{Field: "texttosql: Batch.Parallel", Problem: fmt.Sprintf("%d is negative", b.Parallel)}
		case questions == nil:
			fault = &strategy.ConfigError{Field: "texttosql: AskAll", Problem: "the questions are nil"}
		}
		if fault != nil {
			yield(BatchResult{}, fault)
			return
		}
		if end := e.askAll(ctx, questions, shared, cmp.Or(b.Parallel, 4), yield); end != nil {
			yield(BatchResult{}, &BatchError{end})
		}
	}
}

// askAll returns what ended the batch; nil where all was asked, or the loop over the results was left.
func (e *Engine) askAll(caller context.Context, questions iter.Seq[Question], shared asking, parallel int, yield func(BatchResult, error) bool) error {
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

// failures looks for an error that every further question of a batch would end with.
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

// note looks at how a question ended. A refused key, account or permission (status 401, 402 or 403) ends the batch. Any
// other permanent error may be due to the question: it ends the batch if a second question has the same, and none had a
// reply.
func (f *failures) note(r *Result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
