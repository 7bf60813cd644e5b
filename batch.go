package texttosql

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Answer is what became of one question of a batch.
type Answer struct {
	Question Question // as it was asked
	Result   *Result  // see Ask; nil when there is nothing to show
	Err      error    // what Ask returned; or, without a Question, what ended the batch
	Resumed  bool     // from the journal: no model was called for it
}

// BatchOption configures one call of AskAll.
type BatchOption func(*batch)

type batch struct {
	parallel int
	journal  string
}

// WithParallel bounds the questions answered at the same time, n ≥ 1. Default: 4.
func WithParallel(n int) BatchOption { return func(b *batch) { b.parallel = n } }

// WithJournal makes a batch resumable: every finished question is appended to
// the JSONL file at path, and a question found there is not asked again.
//
// Finished means answered, abstained, or without a candidate though every draw
// got a reply; a question that a provider, a budget, the database or a
// cancellation ended is asked again. A resumed answer has everything its first
// one had but rows, which are read again. A line that a crash cut short is
// passed over.
//
// The file names the strategy, the models (llm.Named) and the schema it was
// written with, and knows WithSamples, WithSeed, WithInstructions and
// WithExemplars; AskAll refuses one of another engine, and
// a file that is no journal. It cannot tell apart models without a name, nor
// strategies of one type with other fields, and knows no other option: give each
// configuration a journal of its own. Two batches on one journal ask the questions that both
// have twice, and lose nothing.
func WithJournal(path string) BatchOption { return func(b *batch) { b.journal = path } }

// AskAll answers questions in parallel and gives their answers in the order of
// the questions.
//
// Questions are pulled as places become free, at most WithParallel ahead of the
// answers, in the goroutine that ranges over the answers. Breaking out of the
// loop cancels what is in flight; the loop ends when all of it has ended.
//
// What ends a batch early is the Err of a last Answer without a question:
// ctx.Err(), after the questions in flight were answered with it, where others
// may be left; a journal that cannot be read, or written, after the answer that
// could not be written.
func (e *Engine) AskAll(ctx context.Context, questions iter.Seq[Question], opts ...BatchOption) iter.Seq[Answer] {
	b := batch{parallel: 4}
	for _, opt := range opts {
		if opt != nil {
			opt(&b)
		}
	}
	return func(yield func(Answer) bool) {
		if b.parallel < 1 {
			yield(Answer{Err: fmt.Errorf("texttosql: WithParallel: %d is not at least 1", b.parallel)})
			return
		}
		if questions == nil {
			yield(Answer{Err: errors.New("texttosql: AskAll: the questions are nil")})
			return
		}
		log, err := e.openJournal(ctx, b.journal)
		if err != nil {
			yield(Answer{Err: err})
			return
		}
		defer log.close() // also when the loop's body panics or ends its goroutine
		err = e.askAll(ctx, questions, b.parallel, log, yield)
		if err = errors.Join(err, log.close()); err != nil && !errors.Is(err, errStopped) {
			yield(Answer{Err: err})
		}
	}
}

// errStopped says that the loop over the answers was left.
var errStopped = errors.New("stopped")

func (e *Engine) askAll(caller context.Context, questions iter.Seq[Question], parallel int, log *journal, yield func(Answer) bool) error {
	ctx, cancel := context.WithCancel(caller)
	next, stop := iter.Pull(questions)
	defer stop()
	var flying []chan Answer // in the order of the questions
	defer func() {
		cancel()
		for _, answer := range flying {
			log.keep(<-answer) // what was finished was paid for; nobody is left to tell an error
		}
	}()
	for more := true; ; {
		for more && len(flying) < parallel && ctx.Err() == nil {
			var q Question
			if q, more = next(); !more {
				break
			}
			answer := make(chan Answer, 1)
			flying = append(flying, answer)
			go func() { answer <- e.answerOf(ctx, q, log) }()
		}
		switch {
		case len(flying) > 0:
		case more:
			return caller.Err()
		default:
			return nil
		}
		a := <-flying[0]
		flying = flying[1:]
		unkept := log.keep(a)
		if !yield(a) {
			return errStopped
		}
		if unkept != nil {
			return unkept
		}
	}
}

// answerOf answers one question of a batch, from the journal if it is there.
func (e *Engine) answerOf(ctx context.Context, q Question, log *journal) Answer {
	if a, ok := log.find(q); ok {
		return e.resume(ctx, a)
	}
	r, err := e.ask(ctx, q, !e.skipRunning)
	return Answer{Question: q, Result: r, Err: err}
}

// resume reads the rows of a journaled answer again.
func (e *Engine) resume(ctx context.Context, a Answer) Answer {
	r := *a.Result // a question that is there twice has one line in the journal
	a.Result = &r
	if a.Err != nil || e.skipRunning {
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
