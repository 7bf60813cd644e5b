package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// Answer is what became of one question of a batch.
type Answer struct {
	Question Question // as it was asked
	Result   *Result  // see Ask; nil when there is nothing to show
	Err      error    // what Ask returned; or, without a Question, what ended the batch
	Resumed  bool     // from the journal: no model was called for it
}

// Batch says how AskAll works. The zero Batch answers 4 questions at a time and keeps no journal.
type Batch struct {
	Parallel int // questions answered at the same time; 0 means 4; negative is an error

	// Journal makes a batch resumable: a question is appended to the JSONL file of this path when it is finished, also
	// before its turn, and one that is found there is not asked again. "": no journal.
	//
	// A question is finished when it was answered, abstained, or had no candidate though every sample got a reply. A
	// question that a provider, a budget, the database or a cancellation ended is asked again. A resumed answer has
	// everything the first one had but rows, which are read again. A line that is cut short or damaged is passed over.
	//
	// The file names the strategy with its fields, the models (llm.Named) and the schema it was written with, and knows
	// WithSamples, WithSeed, WithInstructions and WithExemplars. AskAll refuses the file of another engine, and a file
	// that is no journal. Of a function in a strategy it knows only that there is one, so it cannot tell apart two
	// strategies that differ in what their functions do. It cannot tell apart models without a name either, and knows no
	// other option: give each such configuration a journal of its own. Two batches on one journal ask the questions that
	// both have twice, and lose nothing.
	Journal string
}

// AskAll answers questions in parallel and gives their answers in the order of the questions.
//
// The goroutine that ranges over the answers pulls questions as places become free, at most b.Parallel ahead of the
// answers. Breaking out of the loop cancels what is in flight; the loop ends when all of it has ended.
//
// What ends a batch early is the Err of a last Answer without a question: ctx.Err(), after the questions in flight were
// answered with it, where others may be left; a journal that cannot be read; one that cannot be written, after the
// first answer that could not be written; or an error of the provider that every further question would end with, such
// as a wrong key, after the answers of the questions in flight.
func (e *Engine) AskAll(ctx context.Context, questions iter.Seq[Question], b Batch) iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		if b.Parallel < 0 {
			yield(Answer{Err: fmt.Errorf("texttosql: Batch.Parallel: %d is negative", b.Parallel)})
			return
		}
		if questions == nil {
			yield(Answer{Err: errors.New("texttosql: AskAll: the questions are nil")})
			return
		}
		log, err := e.openJournal(ctx, b.Journal)
		if err != nil {
			yield(Answer{Err: err})
			return
		}
		defer log.close() // also when the loop's body panics or ends its goroutine
		err = e.askAll(ctx, questions, cmp.Or(b.Parallel, 4), log, yield)
		if err = errors.Join(err, log.close()); err != nil && !errors.Is(err, errStopped) {
			yield(Answer{Err: err})
		}
	}
}

// errStopped says that the loop over the answers was left.
var errStopped = errors.New("stopped")

func (e *Engine) askAll(caller context.Context, questions iter.Seq[Question], parallel int, log *journal, yield func(Answer) bool) error {
	type ended struct {
		Answer
		unkept error // it could not be written to the journal
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
				a := e.answerOf(ctx, q, log)
				f.note(a)
				answer <- ended{a, log.keep(a)} // also out of turn: what was finished was paid for
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
		if !yield(a.Answer) {
			return errStopped
		}
		if a.unkept != nil {
			return a.unkept
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
func (f *failures) note(a Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Resumed {
		return // no model was asked
	}
	if a.Err == nil || a.Result != nil && len(a.Result.Candidates) > 0 {
		f.replies = true
		return
	}
	var failed *llm.Error
	if f.last != nil || is(a.Err, llm.ErrBudget) || !errors.As(a.Err, &failed) || failed.Class != llm.ClassPermanent {
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
	f.last = fmt.Errorf("texttosql: the batch ends here, because every further question would end like this: %w", a.Err)
}

// answerOf answers one question of a batch, from the journal if it is there.
func (e *Engine) answerOf(ctx context.Context, q Question, log *journal) Answer {
	if a, ok := log.find(q); ok {
		return e.resume(ctx, a)
	}
	r, err := e.ask(ctx, asking{Question: q}, !e.withoutExecution)
	return Answer{Question: q, Result: r, Err: err}
}

// resume reads the rows of a journaled answer again.
func (e *Engine) resume(ctx context.Context, a Answer) Answer {
	r := *a.Result // a question that is there twice has one line in the journal
	a.Result = &r
	if a.Err != nil || e.withoutExecution {
		return a
	}
	r.Rows, a.Err = e.db.Query(ctx, r.SQL)
	if a.Err != nil && ctx.Err() != nil {
		a.Err = ctx.Err()
	}
	a.Err = classify(a.Err)
	return a
}

func is(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}
