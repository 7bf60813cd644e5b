package strategy

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/constraints"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Checker turns replies into candidates that may vote: extraction, then the checks, once for each distinct statement
// of a question. Every copy of a statement has its own vote.
//
// A distinct statement costs one text check, one parse and one use of a guarded connection, whatever the number of
// samples that have it. A Checker belongs to one question. Safe for concurrent use.
type Checker struct {
	// Signature maps a plan to the key for vote.ByPlan, and its cost. nil: exec.Plan.Signature and Cost. Do not
	// change it after the first candidate.
	Signature func(exec.Plan) (signature string, cost float64)

	db       *exec.DB
	env      *Env
	checks   []exec.Check
	doubts   doubt.Rules
	question doubt.QuestionFeatures // read once for all candidates
	span     *trace.Span            // parent of the statements' spans

	mu       sync.Mutex
	checked  map[string]*admitted     // by statement
	read     map[replyKey]*extraction // by reply
	compiled map[string]bool          // by statement: whether the engine takes it
}

// admitted is one distinct statement.
type admitted struct {
	sql       string
	statement *sqltext.Statement // nil: sql is not checked yet
	slot      int                // lowest sample that has it, or unclaimed; guarded by Examiner.mu
	span      *trace.Span

	// turn is held while the statement is examined, and guards the fields below. It is a semaphore and not a mutex,
	// so that a waiting caller can stop at the end of its context.
	turn *semaphore.Weighted
	done bool
	exam
}

// unclaimed is the slot of a statement that no sample has: the engine was asked about it for a reply that held another
// one.
const unclaimed = math.MaxInt

// exam is what an examination found out.
type exam struct {
	candidate vote.Candidate // without what differs from copy to copy
	analysis  *exec.Analysis // the tables and columns that it reads; nil if it does not compile
	failure   error          // of the examination
	invalid   error          // the engine's word, for a repair
	err       error          // the database failed, not the statement
}

// NewChecker starts the checker of one question. If checks is nil, it uses env.Checks(). It always adds a check of
// t's corrections. If doubts is nil, it uses the rules on findings of checks (doubt.Rules.OfChecks). Rules without an
// EmptyAnswerRate use the rate of env. Under Env.WithoutExecution the checks receive exec.DB.WithoutExecution, which
// runs no statement.
func NewChecker(ctx context.Context, env *Env, t Task, checks []exec.Check, doubts *doubt.Rules) *Checker {
	if len(checks) == 0 {
		checks = env.Checks()
	}
	checks = constraints.Check(t.Corrections).Among(checks)
	_, span := trace.Start(ctx, "statements")
	a := &Checker{
		db: env.DB, env: env, checks: checks, doubts: doubt.Rules{}.OfChecks(), span: span,
		checked: map[string]*admitted{}, read: map[replyKey]*extraction{}, compiled: map[string]bool{},
	}
	if env.WithoutExecution {
		a.db = a.db.WithoutExecution()
	}
	if doubts != nil {
		a.doubts = doubts.With() // a copy, its list filled in
		a.doubts.EmptyAnswerRate = cmp.Or(a.doubts.EmptyAnswerRate, env.EmptyAnswerRate)
		a.question = t.Reading(*doubts)
	}
	a.question.Text = t.Question
	if len(t.Earlier) > 0 {
		a.doubts = a.doubts.WithEarlier(t.Question, t.statements(env)...)
	}
	return a
}

// doubtable is vote.Majority.MaxExtraDoubt for a vote by result.
func (a *Checker) doubtable(c vote.Candidate) float64 { return a.doubts.SpreadAbout(a.question, c) }

// Close ends the span of the checker. No method may be called after it.
func (a *Checker) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	// A sample that was corrected has several statements, and which of them came first may depend on another sample.
	all := slices.SortedFunc(maps.Values(a.checked), func(x, y *admitted) int {
		return cmp.Or(cmp.Compare(x.slot, y.slot), cmp.Compare(x.sql, y.sql))
	})
	for i, e := range all {
		if e.span.SetSlot(i); e.slot == unclaimed {
			e.span.Cancelled()
		}
	}
	a.span.End()
}

// Examine makes the candidate of one reply. It writes the statement, and the reason of a rejection, to the span of
// ctx. A reply without a statement, or with one that the guard or the engine refuses, becomes a rejected candidate
// without an error. An error means that the database did not check the statement.
func (a *Checker) Examine(ctx context.Context, sample int, model string, reply llm.Response) (c vote.Candidate,
	err error) {
	span := trace.FromContext(ctx)
	defer func() {
		span.Set("sql", trace.PrivateSQL.Secret(c.SQL))
		if c.Rejected != "" {
			span.Set("rejected", trace.PrivateSQL.Secret(c.Rejected)) // engines repeat parts of the statement
		}
	}()
	c = vote.Candidate{Sample: sample, Model: model}
	text, ended := reply.Text, reply.StopReason == llm.StopEnd
	if r := reply.StopReason; r != llm.StopEnd && r != llm.StopFilter && r != "" { // an unknown word is not an end
		if text, ended = replies.CompleteBlocks(text), true; text == "" {
			c.Rejected, c.Reason = "truncated: the reply was cut at its token limit", replies.ReasonTruncated
			return c, nil
		}
	}
	found, err := a.Extract(ctx, sample, text, ended)
	if cerr := ctx.Err(); cerr != nil {
		return c, cerr
	}
	if err != nil {
		reject(&c, err)
		if c.Reason == replies.ReasonRefusal { // in the model's own words
			c.Rejected += ": " + redact.Line(words.Short(prompttext.OneLine(prompttext.AnswerText(reply.Text)), maxReason))
		}
		return c, nil
	}
	for _, note := range found.Notes {
		span.Event(note)
	}
	return a.admit(ctx, sample, model, found.SQL(), found.Statement)
}

// ExamineSQL makes the candidate of one statement.
func (a *Checker) ExamineSQL(ctx context.Context, sample int, model, sql string) (vote.Candidate, error) {
	return a.admit(ctx, sample, model, sql, nil)
}

func (a *Checker) admit(ctx context.Context, sample int, model, sql string,
	statement *sqltext.Statement) (vote.Candidate, error) {
	e := a.entry(sql, statement, sample)
	a.claim(e, sample)
	known, err := a.examined(ctx, e)
	c := known.candidate
	c.SQL, c.Sample, c.Model = sql, sample, model
	return c, cmp.Or(err, known.err)
}

// Invalid returns the engine's error about a statement that it rejected; nil for any other.
func (a *Checker) Invalid(sql string) error { return a.known(sql).invalid }

// failure is why a candidate's statement was rejected; nil for one that was not, and for a reply without a statement.
func (a *Checker) failure(c vote.Candidate) error {
	if c.Rejected == "" {
		return nil
	}
	return a.known(c.SQL).failure
}

// known is what the examination of a statement found; nothing for one that was not examined.
func (a *Checker) known(sql string) exam {
	a.mu.Lock()
	e := a.checked[sql]
	a.mu.Unlock()
	if e == nil {
		return exam{}
	}
	_ = e.turn.Acquire(context.Background(), 1) // this context never ends
	defer e.turn.Release(1)
	return e.exam
}

// Statements returns the number of distinct statements admitted so far.
func (a *Checker) Statements() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, e := range a.checked {
		if e.slot != unclaimed {
			n++
		}
	}
	return n
}

// entry finds or makes the entry of a statement.
func (a *Checker) entry(sql string, statement *sqltext.Statement, sample int) *admitted {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.checked[sql]
	if e == nil {
		_, span := a.span.StartAt(context.Background(), sample, "check",
			trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(sql)})
		e = &admitted{sql: sql, statement: statement, slot: unclaimed, span: span, turn: semaphore.NewWeighted(1)}
		a.checked[sql] = e
	}
	return e
}

// claim says that a sample has the statement. Its span stands in the slot of the lowest sample that has it, so that the
// trace does not depend on which came first.
func (a *Checker) claim(e *admitted, sample int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if sample < e.slot {
		e.slot = sample
		e.span.SetSlot(sample)
	}
}

// Discard forgets statements that occur only in samples with the index counted or higher. An early stop made these
// unnecessary, and their progress depends on timing. If such a statement comes up again, it is examined as a new one.
func (a *Checker) Discard(counted int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for sql, e := range a.checked {
		if e.slot >= counted {
			e.span.Cancelled()
			delete(a.checked, sql)
		}
	}
}

// examined returns the results of examining a statement; it runs the examination if no caller did.
// The error is ctx.Err().
func (a *Checker) examined(ctx context.Context, e *admitted) (exam, error) {
	if err := e.turn.Acquire(ctx, 1); err != nil {
		return exam{}, err
	}
	defer e.turn.Release(1)
	if !e.done {
		e.exam = a.examine(trace.NewContext(ctx, e.span), e)
		// The end of one sample's context says nothing about the statement: the next sample that has it asks again.
		e.done = ctx.Err() == nil
	}
	return e.exam, nil
}

func (a *Checker) examine(ctx context.Context, e *admitted) (x exam) {
	defer e.span.End()
	var checked exec.Checked
	var err error
	if e.statement != nil {
		checked, err = a.db.ExamineStatement(ctx, e.statement, a.checks...)
	} else {
		checked, err = a.db.Examine(ctx, e.sql, a.checks...)
	}
	c := &x.candidate
	c.SQL, c.Statement = e.sql, checked.Statement
	switch {
	case checked.Plan == nil:
	case a.Signature != nil:
		c.Plan, c.Cost = a.Signature(*checked.Plan)
	default:
		c.Plan, c.Cost = checked.Plan.Signature(), checked.Plan.Cost()
	}
	if checked.Plan != nil && checked.Plan.Reduced { // other statements have this plan, too
		c.Plan += "\n" + checked.Statement.Normalize()
	}
	if t := checked.Table; t != nil {
		describe(c, t, a.env.WithoutExecution || readsSensitive(a.env.Schema, checked.Analysis))
	}
	c.Findings = append(c.Findings, checked.Findings...)
	switch {
	case err == nil:
		c.Findings = append(c.Findings, a.doubts.About(a.question, *c, checked.Table)...)
		c.Findings = append(append(c.Findings, a.bypassed(*c)...), a.doubleCounting(*c)...)
	case exec.IsRejection(err):
		reject(c, err)
		if c.Invalid {
			x.invalid = err
		}
		e.span.Set("rejected", trace.PrivateSQL.Secret(c.Rejected)) // engines repeat parts of the statement
	default:
		x.err = err
		e.span.Fail(err)
	}
	x.analysis, x.failure = checked.Analysis, err
	return x
}

// significantDigits is how many significant digits of a float count where results are compared for a vote: the same sum
// in another order differs in the last bits.
const significantDigits = 9

// maxReason limits the model's reason for declining that an error repeats, in runes.
const maxReason = 200

// describe notes what a vote needs to know of a result.
func describe(c *vote.Candidate, t *result.Table, withoutRows bool) {
	c.Rows, c.Columns = len(t.Rows), len(t.Columns)
	c.Empty, c.AllNull, c.Zero, c.Truncated = t.Empty(), t.AllNull(), t.Zero(), t.Truncated || t.Cut
	c.Fingerprint, _ = result.Equality{Digits: significantDigits}.Fingerprint(t)
	c.Sequence, _ = result.Equality{Ordered: true, Digits: significantDigits}.Fingerprint(t)
	if !withoutRows {
		c.Preview = t.Preview(previewRows, previewRunes)
	}
}

// readsSensitive reports whether a statement reads a column whose values no model may see. Without an analysis nobody
// knows.
func readsSensitive(s *schema.Schema, a *exec.Analysis) bool {
	if a == nil {
		return false
	}
	return slices.ContainsFunc(a.Tables, func(read exec.TableRead) bool {
		t, ok := s.Lookup(read.Schema, read.Table)
		if !ok { // the default schema has no name in s
			t, ok = s.Lookup("", read.Table)
		}
		return ok && slices.ContainsFunc(read.Columns, func(name string) bool {
			c, ok := t.Column(name)
			return ok && c.Sensitive
		})
	})
}

// Limits on the part of a result that a judge sees.
const (
	previewRows  = 5
	previewRunes = 40
)

// reject notes why a reply or a statement may not vote.
func reject(c *vote.Candidate, err error) {
	var (
		reply   *replies.Error
		refused *exec.RefusedError
		invalid *exec.InvalidError
		limit   *exec.LimitError
	)
	c.Rejected, c.Writes = err.Error(), errors.Is(err, exec.ErrNotReadOnly)
	switch {
	case errors.As(err, &reply):
		c.SQL, c.Rejected, c.Reason = reply.SQL, reply.Reason+": "+reply.Detail, reply.Reason
		c.Writes = c.Writes || reply.Reason == "not-read-only"
	case errors.As(err, &refused):
		c.Reason, c.Invalid = refused.Reason, refused.Name != ""
	case errors.As(err, &invalid):
		c.Reason, c.Invalid = invalid.Fault, true
	case errors.As(err, &limit):
		c.Reason = "limit"
	}
}
