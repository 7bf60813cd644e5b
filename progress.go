package texttosql

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Progress is one step of a question, as WithProgress tells it.
type Progress struct {
	Question string           // the question's text; "" of Query
	ID       string           // its Question.ID, or one that was made for it
	Step     string           // name of the span: one of the steps below, or one that only a strategy has (its Report tells)
	Kind     trace.NoticeKind // Started, Ended, Happened or Warned
	Message  string           // the name of the event, the warning in words; the reason of a failed step that ended
	Span     *trace.Span      // what it is about, only to be read; a slow callback may see more of it than the step
}

// The steps that every strategy may have, and those of a database and a model.
const (
	StepQuestion  = "question"   // all of it
	StepSchema    = "schema"     // the catalog is read, and what was learned is recalled
	StepProfile   = "profile"    // values of tables are looked at
	StepLink      = "link"       // the tables that the question needs are chosen
	StepSample    = "sample"     // one reply, and its statement
	StepModelCall = "model call" // one call of a model
	StepCheck     = "check"      // one statement is examined
	StepQuery     = "exec.query" // one statement runs
	StepRepair    = "repair"     // a statement that failed is mended
	StepVote      = "vote"       // the samples are counted
	StepJudge     = "judge"      // a model chooses between the first answers
	StepRows      = "rows"       // the rows of the answer are read
	StepStatement = "statement"  // all of a Query
)

// observer returns what the trace of one question tells about its steps, nil when nobody listens, and a function that
// returns when all was told.
func (e *Engine) observer(ctx context.Context, a asking) (observe func(trace.Notice), told func() error) {
	f := a.progress
	if f == nil {
		f = e.config.progress
	}
	if f == nil && e.logger == nil {
		return nil, func() error { return nil }
	}
	tell, told := func(Progress) {}, func() error { return nil }
	if f != nil {
		tell, told = queued(f)
	}
	logStep := func(trace.Notice) {}
	if e.logger != nil {
		logStep = trace.LogTo(ctx, e.logger, e.keep, slog.String("id", a.ID))
	}
	return func(n trace.Notice) {
		logStep(n)
		p := Progress{Question: a.Text, ID: a.ID, Step: n.Span.Name(), Kind: n.Kind, Span: n.Span}
		switch n.Kind {
		case trace.Happened:
			p.Message = n.Event.Name
		case trace.Warned:
			p.Message = n.Warning.Message
		case trace.Ended:
			p.Message = n.Span.Failure()
		}
		tell(p)
	}, told
}

// call is a question, or a statement of the caller, under a trace of its own.
type call struct {
	engine *Engine
	ctx    context.Context // of the caller
	id     string
	res    *Result
	told   func() error
}

// begin starts the trace of a call. Its context carries the trace, and end puts what the trace tells into res.
func (e *Engine) begin(ctx context.Context, q asking, res *Result, name string, attr trace.Attr) (context.Context, call) {
	if q.ID == "" { // only here, so that no result depends on it
		q.ID = session.NewID()
	}
	observe, told := e.observer(ctx, q)
	tracer := trace.Tracer{Keep: e.keep, Observe: observe}
	if e.telemetry != nil {
		tracer.Follow = e.telemetry.Follow
	}
	within, root := tracer.Start(ctx, name, attr)
	res.Trace = root
	if key := e.ScopeKey(); key != "" {
		root.Set("scope", trace.Secret{Kind: trace.PrivateScopes, Text: key})
	}
	return within, call{e, ctx, q.ID, res, told}
}

// end ends the trace and writes the log. It returns the error that the caller sees.
func (c call) end(err error) error {
	e, root := c.engine, c.res.Trace
	if cerr := c.ctx.Err(); cerr != nil && err != nil {
		err = cerr // instead of what a provider or a driver made of it
	}
	err = classify(err)
	root.Fail(err)
	root.End()
	if terr := c.told(); err == nil {
		err = terr
	}
	c.res.Usage, c.res.Warnings = root.Usage(), root.Warnings()
	if all := e.warn(c.ctx); e.db.Scope() == nil && !e.db.Policy().NeedsScope() {
		c.res.Warnings = append(c.res.Warnings, leftOut(all)...)
	}
	e.log(c.ctx, c.id, c.res, err)
	if e.telemetry != nil {
		e.telemetry.Ended(c.res, err)
	}
	return err
}

// leftOut are the warnings about what a schema lacks, since it cannot be read: a view, a file of a folder. Who asks in a
// scope is told of no table.
func leftOut(all []trace.Warning) []trace.Warning {
	return slices.DeleteFunc(all, func(w trace.Warning) bool {
		return !strings.HasPrefix(w.Code, "broken-") && w.Code != "file-left-out"
	})
}

// lag is how long one step of a question waits for its callback.
const lag = 100 * time.Millisecond

// queued calls f in a goroutine of its own. A step waits for f, so that a quick f can end the context at a step. Once f
// took longer than lag the question goes on without waiting, because it may hold a connection that others wait for. The
// function told returns when f has seen everything, with its panic if it had one; what is told later is dropped.
func queued(f func(Progress)) (tell func(Progress), told func() error) {
	type step struct {
		Progress
		seen chan struct{}
	}
	var (
		mu      sync.Mutex
		more    = sync.NewCond(&mu)
		queue   []step
		lagging bool
		closed  bool
		err     error
		done    = make(chan struct{})
	)
	next := func() (s step, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		for len(queue) == 0 && !closed {
			more.Wait()
		}
		if len(queue) == 0 {
			return s, false
		}
		s, queue = queue[0], queue[1:]
		return s, true
	}
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = &strategy.PanicError{Value: r, Stack: debug.Stack()}
			}
		}()
		for s, ok := next(); ok; s, ok = next() {
			f(s.Progress)
			close(s.seen)
		}
	}()
	tell = func(p Progress) {
		mu.Lock()
		if closed {
			mu.Unlock()
			return
		}
		s, wait := step{p, make(chan struct{})}, !lagging
		queue = append(queue, s)
		mu.Unlock()
		more.Signal()
		if !wait {
			return
		}
		timer := time.NewTimer(lag)
		defer timer.Stop()
		select {
		case <-s.seen:
		case <-done:
		case <-timer.C:
			mu.Lock()
			lagging = true
			mu.Unlock()
		}
	}
	return tell, func() error {
		mu.Lock()
		closed = true
		mu.Unlock()
		more.Signal()
		<-done
		return err
	}
}

// warn logs what an operator should know and was not logged before, and returns all of it.
func (e *Engine) warn(ctx context.Context) []trace.Warning {
	all := e.db.Warnings()
	for _, w := range all {
		if _, told := e.told.LoadOrStore(w, true); !told && e.logger != nil {
			e.logger.LogAttrs(ctx, slog.LevelWarn, "texttosql: operator", slog.String("code", w.Code), slog.String("message", w.Message))
		}
	}
	return all
}

// log writes the record of one question or statement.
func (e *Engine) log(ctx context.Context, id string, r *Result, err error) {
	if e.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.String("id", id), slog.Duration("took", r.Trace.Duration().Round(time.Microsecond))}
	if r.Trace.Name() != StepStatement {
		attrs = append(attrs, slog.Int("calls", r.Usage.Calls),
			slog.Int("prompt_tokens", r.Usage.PromptTokens), slog.Int("completion_tokens", r.Usage.CompletionTokens),
			slog.Float64("confidence", r.Confidence), slog.Int("candidates", len(r.Candidates)))
	}
	class := Failure(err).Class
	if r.Usage.Money > 0 {
		attrs = append(attrs, slog.Float64("money", r.Usage.Money))
	}
	attrs = append(attrs, slog.String("outcome", cmp.Or(string(class), "answered")))
	if key := e.ScopeKey(); key != "" {
		hash := trace.Secret{Kind: trace.PrivateScopes, Text: key}.Shown(e.keep)
		attrs = append(attrs, slog.String("scope", cmp.Or(hash.Sum, key)))
	}
	if r.Rows != nil {
		attrs = append(attrs, slog.Int("rows", len(r.Rows.Rows)))
	}
	if err != nil {
		var none *strategy.NoCandidateError
		if errors.As(err, &none) && len(none.Failed) > 0 {
			err = none.Failed[0]
		}
		attrs = append(attrs, slog.String("failure", llm.Scrub(trace.Public(err))))
	}
	e.logger.LogAttrs(ctx, level(class), "texttosql: "+r.Trace.Name(), attrs...)
}
