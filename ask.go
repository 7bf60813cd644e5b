package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/aboutschema"
	"github.com/texttosql/texttosql/internal/answerable"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/constraints"
	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/findings"
	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/intent"
	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/progress"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Ask answers a question with checked SQL and its rows.
//
// It takes every AskOption except WithUser. Also with an error the Result is never nil: it has the usage, the trace,
// the candidates and the best answer so far. Test for the errors of this package with errors.Is. If ctx ended, the
// error is ctx.Err().
func (e *Engine) Ask(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	q := newQuestion(question, opts)
	res := &Result{Question: q.Text}
	if e == nil {
		return res, errNoEngine
	}
	scoped, rejected := e.admit(ctx, q)
	ctx, call := scoped.begin(ctx, q, res, StepQuestion, trace.Attr{Key: "strategy", Value: nameOf(e.strategy)})
	if rejected != nil { // logged, counted and traced like any other question
		return res, call.end(rejected)
	}
	return res, call.end(scoped.answer(ctx, q, res))
}

// AskQuestion is Ask for a Question. An option for something that q already sets is rejected as given twice.
func (e *Engine) AskQuestion(ctx context.Context, q Question, opts ...AskOption) (*Result, error) {
	return e.Ask(ctx, q.Text, append(q.options(), opts...)...)
}

// admit returns the engine in the scope of a question, and says why the question cannot be asked.
func (e *Engine) admit(ctx context.Context, q asking) (scoped *Engine, err error) {
	if err = e.takes(ctx, q); err == nil {
		scoped, err = e.within(q)
	}
	if err != nil {
		return e, err
	}
	return scoped, nil
}

// Generate answers a question with checked SQL and without rows. It takes the options of Ask. Candidates still run to
// be compared, unless WithoutExecution was given.
func (e *Engine) Generate(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	q := newQuestion(question, opts)
	q.withoutRows = true
	return e.Ask(ctx, question, q)
}

// answering is one question on the way to its answer.
type answering struct {
	*Engine
	q      asking
	env    *strategy.Env
	shown  *schema.Schema // with profiles of the tables that the answer reads, as profiled
	task   strategy.Task
	people []knowledge.VerifiedQuery // statements that people found right
	out    *strategy.Outcome         // the outcome of the strategy; before it runs the known answer, nil: none
	known  bool                      // people know the answer, and no strategy was asked
	level  vote.Level                // of a known answer; "": by its vote
	// a row behind the limit of the answer is equal in the order to the last one before it
	tied    bool
	silent  bool               // the rows are not in the order that a reader expects, and have no headline
	account *llm.BudgetTracker // of all model calls for the question
	res     *Result
}

// answer fills in res, also beside an error.
func (e *Engine) answer(ctx context.Context, q asking, res *Result) error {
	account := e.budget.Start()
	lost := &unstored{}
	ctx = atomicfile.WithNotes(account.Into(ctx), lost.note)
	a := &answering{Engine: e, q: q, res: res, account: account}
	if err := a.prepare(ctx, account); err != nil {
		return err
	}
	if a.known = a.out != nil; !a.known {
		a.level = ""
	}
	out, err := e.generate(ctx, a.env, a.task, a.out)
	if err == nil {
		a.env.Tell(ctx, dialogue.ExecutingQuery)
	}
	a.out = cmp.Or(out, &strategy.Outcome{})
	err = lost.add(a.conclude(ctx, err))
	res.Level = a.level
	if res.Level == "" && res.SQL != "" {
		res.Level = cmp.Or(res.Ballot.Level(), vote.LevelSingle) // a strategy may have no vote
	}
	return err
}

// prepare makes the Env and the Task of the question, and looks for an answer that is known.
func (a *answering) prepare(ctx context.Context, account *llm.BudgetTracker) (err error) {
	if a.env, err = a.Engine.env(ctx, a.q, account); err != nil {
		return err
	}
	a.task = a.q.task(a.samples)
	if a.clock != nil { // else a recording is replayed that knows of neither
		if prompttext.HasDate(a.q.Text) {
			a.task.Dates = a.db.Language().Dates
		}
		a.task.Lacks = prompttext.MissingFunctions(a.q.Text+" "+a.q.Evidence, a.env.Schema.Functions)
	}
	if err := a.q.talk.begin(a.env, &a.task); err != nil {
		return err
	}
	if a.people, err = a.peopleSaid(ctx, a.env, a.q); err != nil {
		return err
	}
	if a.out, a.level = a.q.talk.answer(); a.out != nil {
		return nil
	}
	if a.out, a.level = fromSchema(a.q.Text, a.env.Schema), vote.LevelSchema; a.out != nil {
		return nil
	}
	a.level = vote.LevelVerified
	return a.verified(ctx)
}

// conclude checks the winner of the strategy, says how far it can be trusted and reads its rows. failed is the
// strategy's error.
func (a *answering) conclude(ctx context.Context, failed error) (err error) {
	if a.out.SQL != "" || len(a.out.Candidates) > 0 { // before the runner, which may have the only connection
		at := slices.IndexFunc(a.out.Candidates, func(c vote.Candidate) bool { return c.SQL == a.out.SQL })
		if at >= 0 {
			a.shown = a.profiled(ctx, a.out.Candidates[at].Parsed(a.db.Language().Text))
		} else {
			a.shown = a.profiled(ctx, a.db.Language().Text.Parse(a.out.SQL))
		}
	}
	// The strategy may be foreign code, so its statement is checked again and trimmed.
	runner, err := a.db.Runner(exec.Bounds{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := runner.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}()
	a.env.Host.Omissions.Report(ctx, &a.out.Notes)
	a.res.setOutcome(a.out)
	winner, refused := a.winner(ctx, runner)
	if failed == nil || errors.Is(failed, strategy.ErrNoCandidate) {
		a.res.Answerable = a.answerable()
	}
	sure := a.out.Confidence >= 0 && a.out.Confidence <= 1
	if !sure || a.res.SQL == "" {
		a.res.Confidence = 0 // JSON has no form for NaN
	}
	if unanswerable := a.unanswerable(failed); unanswerable != nil {
		return unanswerable
	}
	switch {
	case failed != nil:
		return failed
	case a.out.SQL == "":
		return fmt.Errorf("texttosql: %s gave no statement and no error", nameOf(a.strategy))
	case !sure:
		return fmt.Errorf("texttosql: %s gave the confidence %v, which is not in 0..1", nameOf(a.strategy), a.out.Confidence)
	case exec.IsRejection(refused):
		return fmt.Errorf("texttosql: the winner does not pass the checks: %w", refused)
	case refused != nil:
		return fmt.Errorf("texttosql: checking the winner: %w", refused)
	}
	if intent.AsksForWrite(a.q.Text) && !intent.ReadsInstead(winner) {
		trace.FromContext(ctx).Warn(nothingChanged, intent.NothingChanged)
	}
	if !a.q.withoutRows && !a.withoutExecution {
		if a.res.Rows, err = rowsOf(ctx, runner, winner); err != nil {
			return fmt.Errorf("texttosql: running the answer: %w", err)
		}
		periods.MarkShares(winner, a.q.Text, a.res.Rows)
		a.caution(ctx, runner, winner)
	}

	if err = runner.Close(); err != nil { // the rest takes connections of its own, and may call a model
		return err
	}
	if err = a.question(ctx, winner); err != nil || a.res.Rows == nil {
		return err
	}
	a.res.Summary = a.found(ctx)
	return nil
}

// winner checks the statement of the strategy, and writes down what it stands on.
func (a *answering) winner(ctx context.Context, runner *exec.Runner) (winner *sqltext.Statement, refused error) {
	if a.out.SQL == "" {
		return nil, nil
	}
	winner, refused = a.passed(ctx, runner)
	if a.res.SQL = winner.SQL(); winner == nil {
		return nil, refused
	}
	a.res.Grounds = append(a.res.Grounds, a.grounds(winner)...)
	return winner, nil
}

// generate asks the strategy, which may be foreign code, unless the answer is known.
func (e *Engine) generate(ctx context.Context, env *strategy.Env, t strategy.Task,
	known *strategy.Outcome) (out *strategy.Outcome, err error) {
	switch {
	case known != nil:
		return known, nil
	case e.hasNoModel():
		return nil, ErrNoModel
	}
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &strategy.PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	return e.strategy.Generate(ctx, env, t)
}

// passed returns the winner; nil if it is refused. It examines the winner, unless an examiner of this question did and
// the user corrected nothing: which corrections a foreign strategy knew nobody can tell.
func (a *answering) passed(ctx context.Context, runner *exec.Runner) (winner *sqltext.Statement, refused error) {
	for _, c := range a.out.Candidates {
		if len(a.task.Corrections) == 0 && c.SQL == a.out.SQL && a.db.Passed(a.env.Snapshot, c.Statement) {
			return c.Statement, nil
		}
	}
	checked, err := runner.Examine(ctx, a.db.Language().Text.Parse(a.out.SQL),
		append(exec.PlanChecks(), constraints.Check(a.task.Corrections))...)
	if err != nil {
		return nil, err
	}
	return checked.Statement, nil
}

// grounds are what the winner stands on.
func (a *answering) grounds(winner *sqltext.Statement) (list []knowledge.Provenance) {
	if a.env.Knowledge == nil {
		return nil
	}
	for _, c := range a.out.Candidates {
		if c.SQL == a.out.SQL && c.Metrics != nil {
			for _, name := range c.Metrics {
				list = append(list, knowledge.Provenance{Kind: "metric", Name: name})
			}
			break
		}
	}
	return append(list, a.env.Knowledge.TermsIn(a.q.Text, winner)...)
}

// rowsOf runs a statement that passed the checks.
func rowsOf(ctx context.Context, runner *exec.Runner, statement *sqltext.Statement) (*result.Table, error) {
	ctx, span := trace.Start(ctx, "rows")
	defer span.End()
	rows, err := runner.QueryStatement(ctx, statement)
	if err != nil {
		span.Fail(err)
		return nil, err
	}
	span.Set("rows", len(rows.Rows))
	if rows.Truncated {
		span.Warn("rows-truncated", fmt.Sprintf("the result has more than the %d rows shown", len(rows.Rows)))
	}
	return rows, nil
}

// found says what the rows of an answer show. A model that cannot say it costs the answer nothing. Where statements are
// billed, nobody looked for a row behind the limit that is equal to the only one or two.
func (a *answering) found(ctx context.Context) string {
	l, n := a.db.Language(), len(a.res.Rows.Rows)
	if a.silent || l.BillsScans && l.Text.Parse(a.res.SQL).Outline().Limit && (n == 1 || n == 2) {
		return ""
	}
	if a.headline && !a.tied { // a model would name a winner
		ctx, span := trace.Start(ctx, "headline")
		text, err := summary.Headline{Model: a.env.Models[0]}.Of(ctx, a.q.Text, a.res.Rows)
		span.Fail(err)
		span.End()
		if text != "" {
			return text
		}
	}
	now := time.Time{} // a replay knows of no day
	if a.clock != nil {
		now = a.clock()
	}
	ends := func(table, column string) (least, most any, values int64) {
		if t, known := a.shown.Lookup("", table); known {
			if c, known := t.Column(column); known && c.Profile != nil && c.Profile.Complete {
				return c.Profile.Min, c.Profile.Max, c.Profile.Sampled - c.Profile.Nulls
			}
		}
		return nil, nil, 0
	}
	return summary.Found(l.Text, a.res.SQL, a.res.Rows, now, ends, a.tied)
}

// caution warns of what is odd about the answer: what its candidate was doubted for that no vote shows, and what only a
// person can judge.
func (a *answering) caution(ctx context.Context, runner *exec.Runner, winner *sqltext.Statement) {
	span := trace.FromContext(ctx)
	for _, c := range a.out.Candidates {
		if c.SQL != a.out.SQL {
			continue
		}
		for _, f := range c.Findings {
			if f.Rule == findings.DoubleCounting {
				span.Warn("double-counting", f.Detail)
			}
			odd := strings.HasPrefix(f.Rule, checks.Odd) && !intent.Excuses(a.q.Text, f.Rule)
			if odd || f.Rule == "carried_filter" {
				span.Warn(f.Rule, f.Detail)
			}
		}
		break
	}
	checked, err := runner.Examine(ctx, winner, exec.ResultWarnings{Unlimited: a.task.Reading(doubt.Rules{}).Unlimited()})
	if err != nil {
		return // a question that is answered does not fail for what is said about its answer
	}
	for _, f := range checked.Findings {
		a.tied, a.silent = a.tied || f.Rule == "ties", a.silent || f.Rule == "text-number"
		span.Warn(f.Rule, f.Detail)
	}
}

// env builds the Env of one question.
func (e *Engine) env(ctx context.Context, q asking, account *llm.BudgetTracker) (*strategy.Env, error) {
	schemaCtx, span := trace.Start(ctx, "schema")
	lessons, err := e.recall(schemaCtx, q)
	var (
		snap  *snapshot.Snapshot
		shown described
		known learned
	)
	if err == nil {
		snap, shown, err = e.snapshot(schemaCtx, lessons)
	}
	span.Fail(err)
	span.End()
	if err != nil {
		return nil, fmt.Errorf("texttosql: inspecting the database: %w", err)
	}
	if len(snap.Schema.Tables) == 0 {
		return nil, ErrNoTables
	}
	if known, err = e.learn(ctx, snap, q); err != nil {
		return nil, err
	}
	models := make([]llm.Model, len(e.models))
	for i, m := range e.models {
		models[i] = e.model(m, e.learners[i], q, account)
	}
	return &strategy.Env{
		DB: e.db, Models: models, Schema: snap.Schema, Snapshot: snap, Profiles: true,
		Knowledge: shown.knowledge, Instructions: e.instructions, Exemplars: known.pool, Past: known.past,
		EmptyAnswerRate: known.emptyShare, Lessons: lessons,
		Host: host.Hooks{
			Omissions: &host.PromptCuts{}, CallsLeft: account.CallsLeft,
			Learners: e.learners,
		},
		Concurrency: e.budget.InFlight, Seed: e.seed,
		AskBelow: e.askBelow, WithoutExecution: e.withoutExecution, WithoutValues: e.withoutValues,
	}, nil
}

// model wraps a model for one question.
func (e *Engine) model(m llm.Model, learner *llm.TokenLimitTuner, q asking, account *llm.BudgetTracker) llm.Model {
	outer := []llm.Middleware{account.Middleware(), onDay(cmp.Or(q.day, e.today()))}
	calls := []llm.Middleware{learner.Middleware(), e.retry.Middleware(), llm.Trace()}
	return llm.Chain(m, slices.Concat(outer, q.talk.replies(), calls)...)
}

// onDay tells a model the day, so that it can decide what "last month" means: the line ends the system message of every
// request that is not Plain, where a prefix that is cached lasts for a day. "": it changes nothing.
func onDay(line string) llm.Middleware {
	return func(next llm.Model) llm.Model {
		if line == "" {
			return next
		}
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if !req.Plain {
				req = req.OnDay(line)
			}
			return next.Complete(ctx, req)
		})
	}
}

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
		tell, told = progress.Queue(f, func(value any) error {
			return &strategy.PanicError{Value: value, Stack: debug.Stack()}
		})
	}
	logStep := func(trace.Notice) {}
	if e.logger != nil {
		logStep = func(n trace.Notice) { n.Log(ctx, e.logger, e.keep, slog.String("id", a.ID)) }
	}
	return func(n trace.Notice) {
		logStep(n)
		p := Progress{Question: a.Text, ID: a.ID, Step: Step(n.Span.Name()), Kind: n.Kind, Span: n.Span}
		switch n.Kind {
		case "happened":
			p.Message = n.Event.Name
		case "warned":
			p.Message = n.Warning.Message
		case "ended":
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
func (e *Engine) begin(ctx context.Context, q asking, res *Result, name Step, attr trace.Attr) (context.Context, call) {
	if q.ID == "" { // only here, so that no result depends on it
		q.ID = session.NewID()
	}
	observe, told := e.observer(ctx, q)
	tracer := trace.Tracer{Keep: e.keep, Observe: observe}
	if e.telemetry != nil {
		tracer.Follow = e.telemetry.Follow
	}
	within, root := tracer.Start(ctx, string(name), attr)
	res.Trace = root
	if key := e.ScopeKey(); key != "" {
		root.Set("scope", trace.PrivateScopes.Secret(key))
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
	c.res.Usage, c.res.Warnings = root.Usage(), slices.Concat(root.Warnings(), c.res.contradictions, c.res.remarks)
	if all := e.warn(c.ctx); e.db.Scope() == nil && !e.db.Policy().NeedsScope() {
		c.res.Warnings = append(c.res.Warnings, leftOut(all)...)
	}
	e.log(c.ctx, c.id, c.res, err)
	if e.telemetry != nil {
		e.telemetry.Ended(c.res, err)
	}
	return err
}

// leftOut are the warnings about what a schema lacks, since it cannot be read: a view, a file of a folder. Who asks in
// a scope gets no tables.
func leftOut(all []trace.Warning) []trace.Warning {
	return slices.DeleteFunc(all, func(w trace.Warning) bool {
		return !strings.HasPrefix(w.Code, "broken-") && w.Code != "file-left-out"
	})
}

// fewSamples is the least number of samples that can reach the level agreed.
const fewSamples = 5

// warn logs what an operator should know and was not logged before, and returns all of it.
func (e *Engine) warn(ctx context.Context) []trace.Warning {
	all := e.db.Warnings()
	for _, note := range append(e.confirmed.Notes(), e.lessons.Notes()...) {
		all = append(all, trace.Warning{Code: "stored-file", Message: note})
	}
	if n := e.votes(); n > 1 && n < fewSamples {
		all = append(all, trace.Warning{Code: "few-samples", Message: fmt.Sprintf(
			"%d samples cannot reach the level agreed, which takes %d equal ones", n, fewSamples)})
	}
	for _, w := range all {
		if _, told := e.told.LoadOrStore(w, true); !told && e.logger != nil {
			e.logger.LogAttrs(ctx, slog.LevelWarn, "texttosql: operator", slog.String("code", w.Code),
				slog.String("message", w.Message))
		}
	}
	return all
}

// votes is the number of samples that the program asked for, each with one vote; 0: the default, or a strategy that
// counts otherwise.
func (e *Engine) votes() int {
	switch s := e.strategy.(type) {
	case strategy.Consensus:
		return cmp.Or(e.samples, s.Samples)
	case strategy.SelfConsistency:
		return cmp.Or(e.samples, s.Samples)
	}
	return 0
}

// outcomeOf returns the outcome of a question as the log has it, and its level.
func outcomeOf(r *Result, class failure.Class) (string, slog.Level) {
	lost := func(w trace.Warning) bool { return w.Code == "provider-failed" }
	switch {
	case class != "":
		return string(class), level(class)
	case slices.ContainsFunc(r.Warnings, lost):
		return "degraded", slog.LevelWarn
	}
	return "answered", slog.LevelInfo
}

// log writes the record of one question or statement.
func (e *Engine) log(ctx context.Context, id string, r *Result, err error) {
	if e.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.String("id", id), slog.Duration("took", r.Trace.Duration().Round(time.Microsecond))}
	if Step(r.Trace.Name()) != StepStatement {
		attrs = append(attrs, slog.Int("calls", r.Usage.Calls),
			slog.Int("prompt_tokens", r.Usage.PromptTokens), slog.Int("completion_tokens", r.Usage.CompletionTokens),
			slog.Float64("confidence", r.Confidence), slog.Int("candidates", len(r.Candidates)))
	}
	class := failure.Of(err).Class
	if r.Usage.Money > 0 {
		attrs = append(attrs, slog.Float64("money", r.Usage.Money))
	}
	outcome, level := outcomeOf(r, class)
	attrs = append(attrs, slog.String("outcome", outcome))
	if key := e.ScopeKey(); key != "" {
		hash := trace.PrivateScopes.Secret(key).Shown(e.keep)
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
		attrs = append(attrs, slog.String("failure", redact.Line(redact.Error(err))))
	}
	e.logger.LogAttrs(ctx, level, "texttosql: "+r.Trace.Name(), attrs...)
}

// level is Error if somebody has to change something first, and Warn if a later attempt may succeed.
func level(c failure.Class) slog.Level {
	switch c {
	case failure.Key, failure.Config, failure.Database, failure.Internal, failure.Other:
		return slog.LevelError
	case failure.Time, failure.Budget, failure.Limit, failure.Rate, failure.Provider, failure.Busy:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// answerable scores the question by what was sampled; nil: nothing was. What the user said in corrections is met.
func (a *answering) answerable() *Answerable {
	q := answerable.Question{
		Text: a.q.Text, Evidence: a.q.Evidence, SQL: a.out.SQL, Dialect: a.db.Language().Text,
		Schema: a.env.Schema, Profiled: a.shown, Snapshot: a.env.Snapshot, Knowledge: a.env.Knowledge,
		Candidates: slices.DeleteFunc(slices.Clone(a.out.Candidates), func(c vote.Candidate) bool {
			return c.Reason == findings.NoMetric
		}),
	}
	if len(q.Candidates) == 0 {
		return nil
	}
	for _, c := range a.task.Corrections {
		q.Evidence += "\n" + c.Constraint()
	}
	return new(q.Answerable())
}

// unanswerable is the error of a question whose score is too low, failed the error that it has already. In a
// conversation it asks the user what is meant.
func (a *answering) unanswerable(failed error) error {
	data, res := a.res.Answerable, a.res
	if data == nil || data.Score >= a.refuseBelow || providerFailed(failed) {
		return nil
	}
	refusal := &UnanswerableError{Unmet: data.Unmet, Nearest: data.Nearest(), Guess: res, err: failed}
	if a.q.talk == nil || len(refusal.Nearest) < 2 {
		return refusal
	}
	back := &session.QuestionError{
		Kind: dialogue.KindMeaning, Message: refusal.says() + "; what is meant?",
		Context: map[string]string{"user_query": a.q.Text, "term": strings.Join(data.Unmet, ", ")},
	}
	for i, name := range refusal.Nearest {
		back.Options = append(back.Options, session.Option{ID: fmt.Sprintf("m%d", i+1), Label: name,
			Column: columnNamed(a.env.Schema, name)})
	}
	if res.SQL != "" {
		back.Options = append(back.Options, session.Option{ID: "r1", Label: "the answer all the same", SQL: res.SQL,
			Confidence: res.Confidence})
	}
	return back
}

// providerFailed reports whether some sample got no reply: then little is known of the question.
func providerFailed(err error) bool {
	var none *strategy.NoCandidateError
	return errors.As(err, &none) && len(none.Failed) > 0
}

// columnNamed finds a column by table.column; nil: it names something else.
func columnNamed(s *schema.Schema, name string) *schema.ColumnName {
	for i := range s.Tables {
		t := &s.Tables[i]
		column, ok := strings.CutPrefix(name, t.Name+".")
		if _, has := t.Column(column); ok && has {
			return &schema.ColumnName{Table: t.TableName(), Column: column}
		}
	}
	return nil
}

// fromSchema answers a question about the schema itself without a model; nil: the question asks for something else.
func fromSchema(question string, s *schema.Schema) *strategy.Outcome {
	sql := aboutschema.Answer(question, s)
	if sql == "" {
		return nil
	}
	out := &strategy.Outcome{SQL: sql, Confidence: 1}
	out.Note("the answer comes from the schema, and no model was asked")
	return out
}

// provingTime bounds the statements by which a contradiction is proved, all together.
const provingTime = 2 * time.Second

// question compares the winner with the words of its question, and then with a second opinion. The error is a question
// to the user, or a confidence below the least that the strategy accepts; there are no rows then. An answer that people
// verified is not compared.
func (a *answering) question(ctx context.Context, winner *sqltext.Statement) error {
	if a.known || winner == nil {
		return nil
	}
	a.contradict(ctx, winner)
	err := a.secondOpinion(ctx)
	if err == nil && a.res.Confidence < a.out.MinConfidence {
		err = &strategy.AbstainedError{Confidence: a.res.Confidence, Min: a.out.MinConfidence,
			Closing: a.res.Ballot.Closing()}
	}
	if err != nil {
		a.res.Rows = nil
	}
	return err
}

// secondOpinion asks another model about an answer on which all samples agree: once, and once more if its result
// differs. An equal result confirms the answer. Two statements that are equal to each other and differ from the answer
// are a doubt, about which a conversation asks the user. If the second model fails, nothing changes.
func (a *answering) secondOpinion(ctx context.Context) error {
	if a.second == nil || a.withoutExecution || a.res.Ballot.Level() != vote.LevelAgreed {
		return nil
	}
	best := a.res.Ballot.Clusters[0].Best
	if best < 0 || best >= len(a.res.Candidates) { // the strategy may be foreign code
		return nil
	}
	ctx, span := trace.Start(ctx, "second-opinion")
	defer span.End()
	env := *a.env
	env.Models, env.Host.Learners, env.AskBelow = []llm.Model{a.model(a.second, a.secondLearner, a.q, a.account)}, nil, 0

	task := a.task
	task.Samples = 0 // those of WithSamples are the first model's

	ours := a.res.Candidates[best]
	var theirs []vote.Candidate
	for i, temperature := range []float64{0, 0.8} {
		sampler := strategy.Sampler{MaxTokens: 512, Offset: i, Temperature: temperature}
		out, err := strategy.Pipeline{Sampler: sampler}.Generate(ctx, &env, task)
		if err != nil {
			a.res.note("the second model gave no opinion: %v", err)
			return ctx.Err()
		}
		theirs = append(theirs, out.Candidates[out.Ballot.Clusters[0].Best])
		span.Set(fmt.Sprintf("statement %d", i+1), trace.PrivateSQL.Secret(theirs[i].SQL))
		if ballot := countBoth(ours, theirs[i]); len(ballot.Clusters) < 2 {
			if i == 0 && ballot.Voted == 2 {
				a.res.Ballot.Second = llm.NameOf(a.second)
				a.res.Confidence += (1 - a.res.Confidence) * confirmedBySecond
				a.res.Ballot.Confidence = a.res.Confidence
			}
			return nil
		}
	}
	if len(countBoth(theirs[0], theirs[1]).Clusters) == 2 {
		return nil
	}
	return a.differ(ctx, &env, ours, theirs[0])
}

// confirmedBySecond is the part of what a unanimous answer lacks to certainty that an equal result of a second model
// adds.
const confirmedBySecond = 0.15

// countBoth counts the results of two candidates.
func countBoth(a, b vote.Candidate) vote.Ballot {
	ballot, _ := vote.Majority{Key: vote.ByResult}.Count([]vote.Candidate{a, b}) // its error is a ballot without a vote
	return ballot
}

// differ makes a doubt of another result of the second model. A conversation asks the user which of both is meant.
func (a *answering) differ(ctx context.Context, env *strategy.Env, ours, theirs vote.Candidate) error {
	if a.q.talk != nil {
		env.AskBelow = 0.6
		both := strategy.Outcome{Ballot: countBoth(ours, theirs), Candidates: []vote.Candidate{ours, theirs}}
		if err := env.AskUser(ctx, a.task, &both); err != nil {
			return err
		}
	}
	a.lower(ctx, []vote.Finding{{Rule: "second-opinion", Detail: a.otherResult(ctx, ours, theirs), Doubt: 1}})
	return nil
}

// otherResult tells how the result of the second model differs.
func (a *answering) otherResult(ctx context.Context, ours, theirs vote.Candidate) string {
	if theirs.Rows == 1 && theirs.Columns == 1 {
		table, err := a.db.QueryWithin(ctx, theirs.SQL, exec.Bounds{Rows: 1})
		if err == nil && !table.Empty() {
			return fmt.Sprintf("Another model finds %v.", table.Shown().Rows[0][0])
		}
	}
	if ours.Rows == theirs.Rows && ours.Columns == theirs.Columns {
		return "Another model finds other values."
	}
	return fmt.Sprintf("Another model finds %s of %s.", count(theirs.Rows, "row"), count(theirs.Columns, "column"))
}

// contradict compares the winner with its question. Each contradiction is a warning, and lowers the confidence as a
// doubt of the vote does.
func (a *answering) contradict(ctx context.Context, winner *sqltext.Statement) {
	question := a.task
	question.Earlier = nil // words of a follow-up count here
	question.Evidence += "\n" + a.instructions
	answer := contradict.Answer{
		Statement: winner, Table: a.res.Rows, Schema: a.shown,
	}
	answer.Values = a.env.Snapshot.Words(answer.Schema)
	for _, e := range a.task.Earlier {
		answer.Earlier = append(answer.Earlier, a.db.Language().Text.Parse(e.SQL))
	}
	if a.clock != nil {
		answer.Now = a.clock()
	}
	var done func()
	answer.Query, done = a.proving(ctx)
	defer done()
	reading := question.Reading(doubt.Rules{})
	a.lower(ctx, append(a.unchanged(winner), reading.Contradictions(answer)...))
	a.likeVerified(ctx, winner)
	a.remark(ctx, reading, answer)
}

// unchanged finds that an answer has the statement that the user corrected; nil: it has another one.
func (a *answering) unchanged(winner *sqltext.Statement) []vote.Finding {
	if a.q.talk == nil || a.q.talk.corrected == "" ||
		winner.Dialect().Parse(a.q.talk.corrected).Normalize() != winner.Normalize() {
		return nil
	}
	return []vote.Finding{{Rule: "correction-unchanged", Detail: "The statement is the same as before the correction.",
		Doubt: 1}}
}

// remark warns of rows that usually do not count, with the answer without them. It changes neither level nor
// confidence. A metric, a term and a person who confirmed the statement settle which rows count.
func (a *answering) remark(ctx context.Context, reading doubt.QuestionFeatures, answer contradict.Answer) {
	began := a.res.Trace.Started()
	ends, _ := ctx.Deadline()
	if all := a.budget.Timeout; all > 0 && (ends.IsZero() || began.Add(all).Before(ends)) {
		ends = began.Add(all)
	}
	if len(a.res.Grounds) > 0 || a.db.Language().BillsScans || isLate(began, time.Now(), ends) {
		return
	}
	for _, c := range a.task.Corrections {
		reading.Evidence += "\n" + c.Constraint()
	}
	if told := reading.RowState(answer); told != "" {
		a.res.remarks = append(a.res.remarks, trace.Warning{Code: "state-of-rows", Message: told})
	}
}

// isLate reports whether half of the time of a question is over. Zero ends: it has no limit.
func isLate(began, now, ends time.Time) bool { return !ends.IsZero() && ends.Sub(now) < now.Sub(began) }

// proving returns what runs the statements that prove a contradiction, all within provingTime; nil where nothing may
// run, or where each statement is billed by what it scans. done frees it.
func (a *answering) proving(ctx context.Context) (query func(string) *result.Table, done func()) {
	if a.withoutExecution || a.db.Language().BillsScans {
		return nil, func() {}
	}
	runner, err := a.db.Runner(exec.Bounds{Timeout: time.Second})
	if err != nil {
		return nil, func() {}
	}
	limited, cancel := context.WithTimeout(trace.NewContext(ctx, nil), provingTime)
	query = func(sql string) *result.Table {
		t, err := runner.Query(limited, sql)
		if err != nil {
			return nil
		}
		return t
	}
	return query, func() { cancel(); runner.Close() }
}

// lower takes the confidence down for the greatest doubt of the winner, and warns of all.
func (a *answering) lower(ctx context.Context, found []vote.Finding) {
	worst := 0.0
	for _, f := range found {
		trace.FromContext(ctx).Event("contradiction", trace.Attr{Key: "rule",
			Value: f.Rule}) // the words of the question stay out of logs
		a.res.contradictions = append(a.res.contradictions, trace.Warning{Code: f.Rule, Message: f.Detail})
		worst = max(worst, f.Doubt)
		a.silent = a.silent || f.Rule == findings.Contradiction+"null-first"
	}
	a.res.Confidence *= math.Exp(-worst / 2)
	if worst == 0 || len(a.res.Ballot.Clusters) == 0 {
		return
	}
	a.res.Ballot.Confidence = a.res.Confidence
	a.res.Ballot.Clusters = slices.Clone(a.res.Ballot.Clusters)
	best := &a.res.Ballot.Clusters[0]
	best.Doubt += worst
	best.Doubts = slices.Clone(best.Doubts)
	for _, f := range found {
		first, size := utf8.DecodeRuneInString(f.Detail) // a sentence becomes a part of the closing line
		detail := string(unicode.ToLower(first)) + strings.TrimSuffix(f.Detail[size:], ".")
		best.Doubts = append(best.Doubts, vote.Finding{Rule: f.Rule, Detail: detail, Doubt: f.Doubt})
	}
}

// profiled is the schema with profiles of the tables that a statement reads, those that it refers to, and those linked.
func (a *answering) profiled(ctx context.Context, s *sqltext.Statement) *schema.Schema {
	whole := *a.env.Schema
	if a.withoutValues {
		return &whole
	}
	part := whole
	part.Tables = nil
	add := func(t *schema.Table, ok bool) {
		if ok && !slices.ContainsFunc(part.Tables, func(x schema.Table) bool { return x.TableName() == t.TableName() }) {
			part.Tables = append(part.Tables, *t)
		}
	}
	for _, ref := range s.Tables() {
		if ref.Base() {
			add(whole.Lookup(ref.Schema, ref.Name))
		}
	}
	for _, t := range part.Tables {
		for _, k := range t.ForeignKeys {
			add(whole.Lookup(k.RefSchema, k.RefTable))
		}
	}
	for _, l := range a.out.Links.Tables {
		add(whole.Lookup(l.Schema, l.Table))
	}
	known, err := a.db.Profiled(ctx, a.env.Snapshot, &part)
	if err != nil {
		return &whole
	}
	whole.Tables = slices.Clone(whole.Tables)
	for i := range whole.Tables {
		for _, t := range known.Tables {
			if t.TableName() == whole.Tables[i].TableName() {
				whole.Tables[i] = t
			}
		}
	}
	return &whole
}
