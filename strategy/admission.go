package strategy

import (
	"context"
	"errors"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Admission turns replies into candidates that may vote: extraction, then the
// checks, once for each distinct statement of a question. Every copy of a
// statement keeps its own vote.
//
// The rules are those of methods/plan-voting.md 3.2. An Admission belongs to
// one question; safe for concurrent use.
type Admission struct {
	// Signature turns a plan into what vote.ByPlan compares, and its cost. nil:
	// exec.Plan.Signature and Cost. Not to be changed after the first candidate.
	Signature func(exec.Plan) (signature string, cost float64)

	env    *Env
	checks []exec.Check
	doubts *vote.Doubts // nil: none
	// question is read once for all candidates
	question vote.Question

	compiled sync.Map // by statement: whether the engine takes it

	mu      sync.Mutex
	checked map[string]*admitted // by statement
	span    *trace.Span          // parent of the statements' spans
}

// admitted is one distinct statement.
type admitted struct {
	slot int // lowest draw that has it; guarded by Admission.mu
	span *trace.Span

	// turn is held while the statement is examined: a channel and no mutex,
	// because who waits for it waits no longer than its context. It guards what
	// follows.
	turn      chan struct{}
	done      bool
	candidate vote.Candidate // without what differs from copy to copy
	invalid   error          // the engine's word, for a repair
	err       error          // the database failed, not the statement
}

// NewAdmission starts the admission of one question. checks nil means
// env.Checks(); doubts nil finds none. Under Env.SkipExecution no check can run a
// statement, whichever they are: they get exec.DB.WithoutExecution.
func NewAdmission(ctx context.Context, env *Env, t Task, checks []exec.Check, doubts *vote.Doubts) *Admission {
	if checks == nil {
		checks = env.Checks()
	}
	_, span := trace.Start(ctx, "statements")
	a := &Admission{env: env, checks: checks, doubts: doubts, checked: map[string]*admitted{}, span: span}
	if doubts != nil {
		a.question = doubts.Read(t.Question, t.Evidence)
	}
	return a
}

// Close ends the admission's span. No method may be called after it.
func (a *Admission) Close() { a.span.End() }

// Admit makes the candidate of one reply. A reply without a statement, or with
// one that the guard or the engine refuses, is a rejected candidate and no
// error; the error means that the database could not be asked.
func (a *Admission) Admit(ctx context.Context, draw int, model string, reply llm.Response) (vote.Candidate, error) {
	c := vote.Candidate{Draw: draw, Model: model}
	if reply.StopReason == llm.StopLength {
		c.Rejected = "truncated: the reply was cut at its token limit"
		return c, nil
	}
	text := a.env.DB.Dialect().Text()
	found, err := sqltext.Extractor{
		Dialect: text,
		Ended:   reply.StopReason == llm.StopEnd,
		Valid:   func(sql string) bool { return a.compiles(ctx, sql) },
	}.Extract(reply.Text)
	if cerr := ctx.Err(); cerr != nil {
		return c, cerr
	}
	if err != nil {
		c.Rejected = reasonOf(err)
		return c, nil
	}
	for _, note := range found.Notes {
		trace.From(ctx).Event(note)
	}
	return a.AdmitSQL(ctx, draw, model, found.SQL)
}

// admitDraw is Admit for a draw, whose span says what came of it.
func (a *Admission) admitDraw(ctx context.Context, draw int, model string, reply llm.Response) (vote.Candidate, error) {
	c, err := a.Admit(ctx, draw, model, reply)
	trace.From(ctx).Set("sql", trace.SQL(c.SQL))
	if c.Rejected != "" {
		trace.From(ctx).Set("rejected", trace.SQL(c.Rejected)) // engines repeat parts of the statement
	}
	return c, err
}

// AdmitSQL makes the candidate of one statement.
func (a *Admission) AdmitSQL(ctx context.Context, draw int, model, sql string) (vote.Candidate, error) {
	e := a.entry(sql, draw)
	c := vote.Candidate{SQL: sql, Draw: draw, Model: model}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return c, ctx.Err()
	}
	if !e.done {
		a.examine(trace.Into(ctx, e.span), sql, e)
		// The end of one draw's context says nothing about the statement: the next
		// draw that has it asks again.
		e.done = ctx.Err() == nil
	}
	c = e.candidate
	c.SQL, c.Draw, c.Model = sql, draw, model
	return c, e.err
}

// Invalid is what the engine said about a statement that it rejected; nil for
// any other.
func (a *Admission) Invalid(sql string) error {
	a.mu.Lock()
	e := a.checked[sql]
	a.mu.Unlock()
	if e == nil {
		return nil
	}
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	return e.invalid
}

// Statements is the number of distinct statements examined so far.
func (a *Admission) Statements() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.checked)
}

// entry finds or makes the entry of a statement. Its span stands in the slot of
// the lowest draw that has it, so that the trace does not depend on which came
// first.
func (a *Admission) entry(sql string, draw int) *admitted {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.checked[sql]
	if e == nil {
		_, span := trace.StartAt(trace.Into(context.Background(), a.span), draw, "check", trace.Attr{Key: "sql", Value: trace.SQL(sql)})
		e = &admitted{slot: draw, span: span, turn: make(chan struct{}, 1)}
		a.checked[sql] = e
	}
	if draw < e.slot {
		e.slot = draw
		e.span.SetSlot(draw)
	}
	return e
}

// Discard forgets the statements that only draws from index counted on had: an
// early stop made them unnecessary, and how far they came depends on timing. One
// that comes up again is examined as if it were new.
func (a *Admission) Discard(counted int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for sql, e := range a.checked {
		if e.slot >= counted {
			e.span.Cancelled()
			delete(a.checked, sql)
		}
	}
}

// compiles reports whether the engine takes sql for a statement. Only its own
// words are remembered: that it could not be asked says nothing of the statement.
func (a *Admission) compiles(ctx context.Context, sql string) bool {
	if known, ok := a.compiled.Load(sql); ok {
		return known.(bool)
	}
	_, err := a.env.DB.Analyze(ctx, sql)
	var invalid *exec.InvalidError
	ok := !errors.As(err, &invalid)
	if err == nil || !ok {
		a.compiled.Store(sql, ok)
	}
	return ok
}

func (a *Admission) examine(ctx context.Context, sql string, e *admitted) {
	defer e.span.End()
	db := a.env.DB
	if a.env.SkipExecution {
		db = db.WithoutExecution()
	}
	checked, err := db.Examine(ctx, sql, a.checks...)
	e.candidate, e.invalid, e.err = vote.Candidate{}, nil, nil
	c := &e.candidate
	c.SQL = sql
	switch {
	case checked.Plan == nil:
	case a.Signature != nil:
		c.Plan, c.Cost = a.Signature(*checked.Plan)
	default:
		c.Plan, c.Cost = checked.Plan.Signature(), checked.Plan.Cost()
	}
	if t := checked.Table; t != nil {
		describe(c, t, a.env.SkipExecution)
	}
	for _, f := range checked.Findings {
		c.Findings = append(c.Findings, vote.Finding{Rule: f.Rule, Detail: f.Detail})
	}
	switch {
	case err == nil:
		if a.doubts != nil {
			c.Findings = append(c.Findings, a.doubts.About(a.question, *c, checked.Table)...)
		}
	case exec.IsRejection(err):
		c.Rejected = reasonOf(err)
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) {
			e.invalid = err
		}
		e.span.Set("rejected", trace.SQL(c.Rejected)) // engines repeat parts of the statement
	default:
		e.err = err
		e.span.Fail(err)
	}
}

// describe notes what a vote needs to know of a result.
func describe(c *vote.Candidate, t *result.Table, withoutRows bool) {
	c.Rows, c.Columns = len(t.Rows), len(t.Columns)
	c.Empty, c.AllNull, c.Truncated = t.Empty(), t.AllNull(), t.Truncated
	c.Fingerprint, _ = result.Equality{Digits: vote.Digits}.Fingerprint(t)
	c.Sequence, _ = result.Equality{Mode: result.Ordered, Digits: vote.Digits}.Fingerprint(t)
	if !withoutRows {
		c.Preview = t.Preview(previewRows, previewRunes)
	}
}

// What a judge sees of a result.
const (
	previewRows  = 5
	previewRunes = 64
)

// reasonOf is why a reply or a statement may not vote, in one line.
func reasonOf(err error) string {
	var reply *sqltext.ReplyError
	if errors.As(err, &reply) {
		return string(reply.Reason) + ": " + reply.Detail
	}
	return err.Error()
}
