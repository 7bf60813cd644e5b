package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/meaning"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Ask answers a question with checked SQL and its rows.
//
// Beside an error the Result is never nil: it has what there is to show, such as usage, trace, candidates and the best answer so
// far. Test for the errors of this package with errors.Is. If ctx ended, the error is ctx.Err().
func (e *Engine) Ask(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	q := newQuestion(question, opts)
	res := &Result{Question: q.Text}
	if err := e.takes(q); err != nil {
		return res, err
	}
	e, err := e.within(q)
	if err != nil {
		return res, err
	}
	ctx, call := e.begin(ctx, q, res, StepQuestion, trace.Attr{Key: "strategy", Value: nameOf(e.strategy)})
	return res, call.end(e.answer(ctx, q, res))
}

// Generate answers a question with checked SQL and without rows. Candidates still run to be compared, unless
// WithoutExecution was given.
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
	task   strategy.Task
	people []knowledge.VerifiedQuery // statements that people found right
	out    *strategy.Outcome         // what the strategy found; before it is asked the answer that is known, nil: none
	res    *Result
}

// answer fills in res, also beside an error.
func (e *Engine) answer(ctx context.Context, q asking, res *Result) error {
	account := e.budget.Start()
	ctx = account.Into(ctx)
	a := &answering{Engine: e, q: q, res: res}
	if err := a.prepare(ctx, account); err != nil {
		return err
	}
	out, err := e.generate(ctx, a.env, a.task, a.out)
	if err == nil {
		a.env.Tell(ctx, session.ExecutingQuery)
	}
	a.out = cmp.Or(out, &strategy.Outcome{})
	return a.conclude(ctx, err)
}

// prepare makes the Env and the Task of the question, and looks for an answer that is known.
func (a *answering) prepare(ctx context.Context, account *llm.Account) (err error) {
	if a.env, err = a.Engine.env(ctx, a.q, account); err != nil {
		return err
	}
	a.task = a.q.task(a.samples)
	if a.clock != nil { // else a recording is replayed that knows of neither
		if strategy.SpeaksOfTime(a.q.Text) {
			a.task.Dates = a.db.Language().Dates
		}
		a.task.Lacks = strategy.Lacks(a.q.Text+" "+a.q.Evidence, a.env.Schema)
	}
	if err := a.q.talk.begin(a.env, &a.task); err != nil {
		return err
	}
	if a.people, err = a.peopleSaid(ctx, a.env, a.q); err != nil {
		return err
	}
	if a.out = a.q.talk.answer(); a.out == nil {
		a.out = listTables(a.q.Text, a.env.Schema)
	}
	if a.out == nil {
		err = a.verified(ctx)
	}
	return err
}

// conclude checks the winner of the strategy, says how far it can be trusted and reads its rows. failed is the strategy's error.
func (a *answering) conclude(ctx context.Context, failed error) (err error) {
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
	a.env.Host.Omissions.Report(ctx, a.out)
	a.res.Outcome = *a.out
	winner, refused := a.winner(ctx, runner)
	if failed == nil || errors.Is(failed, ErrNoCandidate) {
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
	case a.q.withoutRows || a.withoutExecution:
		return nil
	}
	if a.res.Rows, err = rowsOf(ctx, runner, winner); err != nil {
		return fmt.Errorf("texttosql: running the answer: %w", err)
	}
	a.res.Found = a.found(ctx)
	a.caution(ctx, runner, winner)
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
	if by, ok := a.confirmedBy(ctx, winner); ok {
		a.res.Grounds, a.res.Confidence = append(a.res.Grounds, by), raised(a.out.Confidence)
	}
	return winner, nil
}

// generate asks the strategy, which may be foreign code, unless the answer is known.
func (e *Engine) generate(ctx context.Context, env *strategy.Env, t strategy.Task, known *strategy.Outcome) (out *strategy.Outcome, err error) {
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
	checked, err := runner.Examine(ctx, a.db.Language().Text.Parse(a.out.SQL), append(exec.PlanChecks(), strategy.Constraints(a.task.Corrections))...)
	if err != nil {
		return nil, err
	}
	return checked.Statement, nil
}

// grounds are what the winner stands on.
func (a *answering) grounds(winner *sqltext.Statement) (list []knowledge.Ground) {
	if a.env.Knowledge == nil {
		return nil
	}
	for _, c := range a.out.Candidates {
		if c.SQL == a.out.SQL && c.Metrics != nil {
			for _, name := range c.Metrics {
				list = append(list, knowledge.Ground{Kind: knowledge.GroundMetric, Name: name})
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

// found says what the rows of an answer show. A model that cannot say it costs the answer nothing.
func (a *answering) found(ctx context.Context) string {
	if a.headline {
		ctx, span := trace.Start(ctx, "headline")
		text, err := meaning.Headline{Model: a.env.Models[0]}.Of(ctx, a.q.Text, a.res.Rows)
		span.Fail(err)
		span.End()
		if text != "" {
			return text
		}
	}
	return meaning.Found(a.db.Language().Text, a.res.SQL, a.res.Rows)
}

// caution warns of what is odd about the answer: what its candidate was doubted for that no vote shows, and what only a person
// can judge.
func (a *answering) caution(ctx context.Context, runner *exec.Runner, winner *sqltext.Statement) {
	span := trace.From(ctx)
	if doubt.Wishes(a.q.Text) {
		span.Warn("nothing-changed", doubt.NothingChanged)
	}
	for _, c := range a.out.Candidates {
		if c.SQL != a.out.SQL {
			continue
		}
		for _, f := range c.Findings {
			if f.Rule == strategy.RuleDoubleCounting {
				span.Warn("double-counting", f.Detail)
			}
			if strings.HasPrefix(f.Rule, exec.FindingOdd) || f.Rule == "carried_filter" {
				span.Warn(f.Rule, f.Detail)
			}
		}
		break
	}
	checked, err := runner.Examine(ctx, winner, exec.Caution{Unlimited: a.task.Reading(doubt.Rules{}).Unlimited()})
	if err != nil {
		return // a question that is answered does not fail for what is said about its answer
	}
	for _, f := range checked.Findings {
		span.Warn(f.Rule, f.Detail)
	}
}

// env builds the Env of one question.
func (e *Engine) env(ctx context.Context, q asking, account *llm.Account) (*strategy.Env, error) {
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
	models, day := make([]llm.Model, len(e.models)), llm.Today(cmp.Or(q.day, e.today()))
	for i, m := range e.models {
		calls := []llm.Middleware{e.learners[i].Middleware(), e.retry.Middleware(), llm.Trace()}
		models[i] = llm.Chain(m, slices.Concat([]llm.Middleware{account.Middleware(), day}, q.talk.replies(), calls)...)
	}
	return &strategy.Env{
		DB: e.db, Models: models, Schema: snap.Schema, Snapshot: snap, Profiles: true,
		Knowledge: shown.knowledge, Instructions: e.instructions, Exemplars: known.pool, Past: known.past,
		EmptyAnswerRate: known.emptyShare, Lessons: lessons,
		Host: strategy.Host{
			Omissions: &strategy.Omissions{}, CallsLeft: account.CallsLeft,
			Learners: e.learners,
		},
		Concurrency: e.budget.InFlight, Seed: e.seed,
		AskBelow: e.askBelow, WithoutExecution: e.withoutExecution, WithoutValues: e.withoutValues,
	}, nil
}
