package texttosql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/meaning"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Engine answers questions about one database. Safe for concurrent use.
type Engine struct {
	*core
	key
}

// core is what New made, the same for every key.
type core struct {
	config
	learners []*llm.Learner // by model
	talking  sync.Map       // ids of conversations on which a call works
	told     sync.Map       // trace.Warning → true: the log has it
}

// New makes an Engine for a database and a model. It sends nothing to either: see Ready. NoModel in the model's place makes one
// that only runs statements of the caller: see Query.
//
// Statements run on connections of the pool db, at most Limits.Connections (default 4) at a time. Each connection is
// guarded while it is held, and given back as it was. A pool of one connection works if the caller holds no rows open
// while a question runs. The engine has the rights of db, so the database itself must limit which rows can be read.
//
// Prompts hold the schema, and, unless WithoutValues is given, sampled values of the database.
//
// Every model is wrapped in the account of the question (WithBudget), an llm.Learner, llm.Retry (WithRetry) and llm.Trace. The caller
// adds other middlewares, such as a cache. Without llm.Timeout and without a deadline in ctx, the engine waits for a
// provider that never answers. A model that panics fails its sample. A model that ignores the end of its context is
// left running, with a warning in the trace. A panic of any other part that the caller gives (strategy, stage, linker,
// check, progress) fails its sample or its question with a *strategy.PanicError, unless the part started a goroutine.
//
// The error joins those of all options, each a *strategy.ConfigError or an error of what it configures, and of a driver
// that needs a dialect (ErrUnguarded). Nothing needs to be closed.
func New(db *sql.DB, model llm.Model, opts ...Option) (*Engine, error) {
	e := &Engine{core: &core{config: config{
		strategy: strategy.Consensus{}, models: []llm.Model{model}, confirmed: &memory.Confirmed{}, forgetful: true, clock: time.Now,
	}}}
	for _, opt := range opts {
		if opt != nil {
			opt.configure(&e.config)
		}
	}
	err := e.config.validate()
	if db == nil {
		return nil, errors.Join(err, errors.New("texttosql: the database is nil"))
	}
	if e.dialect == nil {
		var derr error
		if e.dialect, derr = detect(db, e.config.exec.Unwrap != nil); derr != nil {
			return nil, errors.Join(err, derr)
		}
	}
	guarded, gerr := exec.New(db, e.dialect, e.config.exec)
	if err := errors.Join(err, gerr); err != nil {
		return nil, err
	}
	if e.withoutExecution {
		guarded = guarded.WithoutExecution()
	}
	e.db = guarded
	for range e.models {
		e.learners = append(e.learners, &llm.Learner{Room: e.budget.Room, Lacks: e.lacks})
	}
	return e, nil
}

// Ready sees whether questions can be answered: it takes one connection, guards it, reads the catalog and gives the
// connection back. The error says what to do about a database that is not there or cannot be guarded (ErrUnguarded), or
// about names of the policy that it does not have. Without this call the first question has that error.
//
// What an operator should know of the database, its user, the policy and the descriptions, such as that the user is a
// superuser, are warnings of the span in ctx and of the log (WithLogger), which has those that are found later, too. No Result
// has them: they name what whoever asks may not read.
func (e *Engine) Ready(ctx context.Context) error {
	if e == nil {
		return errNoEngine
	}
	err := e.db.Ready(trace.Into(ctx, nil))
	if err == nil && len(e.descriptions) > 0 {
		_, _, err = e.snapshot(trace.Into(ctx, nil), nil)
	}
	for _, w := range e.warn(ctx) {
		trace.From(ctx).Warn(w.Code, w.Message)
	}
	if cerr := ctx.Err(); cerr != nil && err != nil {
		return cerr
	}
	return err
}

// detect finds the dialect of a database by its driver. What is inside of a wrapped one tells its first connection.
func detect(db *sql.DB, wrapped bool) (exec.Dialect, error) {
	if d := (sqlite.Dialect{}); d.Language().Recognises(db.Driver()) {
		return d, nil
	}
	if wrapped {
		return assumed{}, nil
	}
	return nil, foreign(db.Driver())
}

// assumed is the dialect of a wrapped driver that WithDialect did not name.
type assumed struct{ sqlite.Dialect }

// Guard refuses a connection of another engine with the dialect that it needs.
func (d assumed) Guard(c exec.GuardConfig) (exec.Open, error) {
	open, err := d.Dialect.Guard(c)
	return func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.Opened, error) {
		err := conn.Raw(func(dc any) error {
			inner := c.Unwrap(dc)
			if _, ok := inner.(sqlite.Hooks); !ok {
				return foreign(inner)
			}
			return nil
		})
		if err != nil {
			return exec.Opened{}, err
		}
		return open(ctx, conn, timeout)
	}, err
}

// foreign says what a driver needs that is not for SQLite, or a connection of one. It goes by the import path of the type,
// so that no other dialect, nor its parser, is linked into a program that does not import it.
func foreign(driver any) error {
	path, name := "", "nil"
	if t := reflect.TypeOf(driver); t != nil {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		path, name = t.PkgPath(), t.String()
	}
	return foreignType(path, name)
}

func foreignType(path, name string) error {
	for _, known := range []struct{ part, engine, pkg string }{
		{"github.com/jackc/pgx/", "PostgreSQL", "postgres"}, {"github.com/lib/pq", "PostgreSQL", "postgres"},
		{"github.com/go-sql-driver/mysql", "MySQL and MariaDB", "mysql"},
		{"duckdb", "DuckDB", "duckdb"}, {"trino-go-client", "Trino", "trino"}, {"bigquery", "BigQuery", "bigquery"},
	} {
		if strings.Contains(path, known.part) {
			return &exec.UnguardedError{Reason: fmt.Sprintf("%s is a driver for %s, whose dialect was not given", path, known.engine),
				Remedy: fmt.Sprintf("import github.com/texttosql/texttosql/exec/%s and give New texttosql.WithDialect(%[1]s.Dialect{})", known.pkg)}
		}
	}
	return &exec.UnguardedError{Reason: fmt.Sprintf("the driver %s is not known", name),
		Remedy: "a wrapped driver needs the second argument of texttosql.WithDialect, any other engine than SQLite its first"}
}

// Ask answers a question with checked SQL and its rows.
//
// Beside an error the Result is never nil: it has what there is to show, such as usage, trace, candidates and the best answer so
// far. Test for the errors of this package with errors.Is. If ctx ended, the error is ctx.Err().
func (e *Engine) Ask(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	return e.ask(ctx, newQuestion(question, opts), true)
}

// Generate answers a question with checked SQL and without rows. Candidates still run to be compared, unless
// WithoutExecution was given.
func (e *Engine) Generate(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	return e.ask(ctx, newQuestion(question, opts), false)
}

// Question is one question of a batch. It is also an option of one question, which says what belongs to that one alone:
//
//	answer, err := engine.Ask(ctx, "Turnover of 2024?", texttosql.Question{Evidence: "turnover is the sum of orders.total"})
//
// There Text is "", or the question once more.
type Question struct {
	ID       string `json:"id,omitempty"`       // the caller's name for it; "": Progress and log records have one that is made
	Text     string `json:"question"`           // the question, at most 8 KiB
	Evidence string `json:"evidence,omitempty"` // what a word means, how a figure is computed: prose, at most 16 KiB
	Samples  int    `json:"samples,omitempty"`  // overrides WithSamples; 0: no
	User     string `json:"user,omitempty"`     // who asks: Confirm keeps it with the answer, see memory.Pair.By
}

// WithEvidence says for one question what a word means or how a figure is computed: prose, at most 16 KiB. It is short for
// Question{Evidence: text}.
func WithEvidence(text string) AskOption { return Question{Evidence: text} }

func (Question) configure(c *config) {
	c.fail("Question", "it belongs to one question: give it to Ask")
}

func (q Question) extend(a *asking) {
	for name, given := range map[string]bool{"Question.ID": q.ID != "", "Question.Evidence": q.Evidence != "", "Question.Samples": q.Samples != 0, "Question.User": q.User != ""} {
		if given {
			a.given = append(a.given, name)
		}
	}
	if q.Text != "" && q.Text != a.Text {
		a.misplaced = "Question.Text is not the question that is asked"
	}
	a.ID, a.Evidence, a.Samples = cmp.Or(q.ID, a.ID), cmp.Or(q.Evidence, a.Evidence), cmp.Or(q.Samples, a.Samples)
	a.User = cmp.Or(q.User, a.User)
}

// newQuestion is for calls that heed every option.
func newQuestion(text string, opts []AskOption) asking {
	a := asking{Question: Question{Text: text}}
	for _, opt := range opts {
		if opt != nil {
			opt.extend(&a)
		}
	}
	return a
}

// heeding is newQuestion for a call that heeds WithScope, WithPolicy and more, by their names.
func heeding(call, text string, opts []AskOption, more ...string) (asking, error) {
	a := newQuestion(text, opts)
	if a.misplaced != "" {
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: a.misplaced}
	}
	for _, name := range a.given {
		if slices.Contains(append(more, "WithScope", "WithPolicy"), name) {
			continue
		}
		problem := name + " does nothing here"
		if call == "AskAll" {
			problem = name + " is set for each Question"
		}
		return a, &strategy.ConfigError{Field: "texttosql: " + call, Problem: problem}
	}
	return a, nil
}

// errNoEngine is what every call of a nil Engine says.
var errNoEngine = errors.New("texttosql: the engine is nil: look at the error of New")

// wordless reports whether a text has no letter and no digit.
func wordless(text string) bool {
	return !strings.ContainsFunc(words.Clean(text), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func (q Question) validate() error {
	switch {
	case len(q.Text) > maxQuestion:
		return &InputError{Field: "question", Bytes: len(q.Text), Limit: maxQuestion}
	case len(q.Evidence) > maxEvidence:
		return &InputError{Field: "evidence", Bytes: len(q.Evidence), Limit: maxEvidence}
	case wordless(q.Text):
		return ErrEmptyQuestion
	case q.Samples < 0 || q.Samples > strategy.MaxSamples:
		return &strategy.ConfigError{Field: "texttosql: WithSamples", Problem: fmt.Sprintf("%d is not in 0..%d", q.Samples, strategy.MaxSamples)}
	}
	return nil
}

func (e *Engine) ask(ctx context.Context, q asking, rows bool) (*Result, error) {
	res := &Result{Question: q.Text}
	if err := e.takes(q); err != nil {
		return res, err
	}
	e, err := e.within(q)
	if err != nil {
		return res, err
	}
	rows = rows && !e.withoutExecution
	err = e.traced(ctx, q, res, "question", trace.Attr{Key: "strategy", Value: nameOf(e.strategy)}, func(ctx context.Context) error {
		return e.answer(ctx, q, rows, res)
	})
	return res, err
}

// takes says why a question cannot be asked; nil: it can.
func (e *Engine) takes(q asking) error {
	if e == nil {
		return errNoEngine
	}
	if _, none := e.models[0].(noModel); none {
		return ErrNoModel
	}
	if q.misplaced != "" {
		return &strategy.ConfigError{Field: "texttosql: Ask", Problem: q.misplaced}
	}
	if err := q.validate(); err != nil || q.Samples == 0 {
		return err
	}
	return e.repeats(q.Samples)
}

// traced runs f under a trace of its own, which it puts into res with what the trace tells, and writes the log.
func (e *Engine) traced(ctx context.Context, q asking, res *Result, name string, attr trace.Attr, f func(context.Context) error) error {
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
	err := f(within)
	if cerr := ctx.Err(); cerr != nil && err != nil {
		err = cerr // instead of what a provider or a driver made of it
	}
	err = classify(err)
	root.Fail(err)
	root.End()
	if terr := told(); err == nil {
		err = terr
	}
	res.Usage, res.Warnings = root.Usage(), root.Warnings()
	if all := e.warn(ctx); e.db.Scope() == nil && !e.db.Policy().NeedsScope() {
		res.Warnings = append(res.Warnings, leftOut(all)...)
	}
	e.log(ctx, q.ID, res, err)
	if e.telemetry != nil {
		e.telemetry.Ended(res, err)
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

// answer fills in res, also beside an error.
func (e *Engine) answer(ctx context.Context, q asking, rows bool, res *Result) (err error) {
	account := e.budget.Start()
	ctx = account.Into(ctx)
	env, err := e.env(ctx, q, account)
	if err != nil {
		return err
	}
	task := strategy.Task{Question: q.Text, Evidence: q.Evidence, Samples: cmp.Or(q.Samples, e.samples)}
	if e.clock != nil { // else a recording is replayed that knows of neither
		if strategy.SpeaksOfTime(q.Text) {
			task.Dates = e.db.Language().Dates
		}
		task.Lacks = strategy.Lacks(q.Text+" "+q.Evidence, env.Schema)
	}
	if err := q.talk.begin(env, &task); err != nil {
		return err
	}
	known := q.talk.answer()
	if known == nil {
		known = listTables(q.Text, env.Schema)
	}
	people, err := e.peopleSaid(ctx, env, q)
	if err != nil {
		return err
	}
	var verified []knowledge.Ground
	if known == nil {
		if known, verified, err = e.verified(ctx, env, task, people); err != nil {
			return err
		}
	}
	out, err := e.generate(ctx, env, task, known)
	if err == nil {
		env.Tell(ctx, session.ExecutingQuery)
	}
	// The strategy may be foreign code, so its statement is checked again and trimmed.
	runner, serr := e.db.Runner(exec.Bounds{})
	if serr != nil {
		return serr
	}
	defer func() {
		if cerr := runner.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}()
	var (
		winner  *sqltext.Statement
		refused error
	)
	if out == nil {
		out = &strategy.Outcome{}
	}
	env.Host.Omissions.Report(ctx, out)
	res.Outcome = *out
	if out.SQL != "" {
		winner, refused = e.passed(ctx, runner, env, task, out)
		res.SQL = winner.SQL()
		res.Grounds = append(verified, grounds(env, q.Text, out, winner)...)
	}
	if by, ok := confirmedBy(ctx, env, task, out, winner, people); ok {
		res.Grounds, res.Confidence = append(res.Grounds, by), raised(out.Confidence)
	}
	if err == nil || errors.Is(err, ErrNoCandidate) {
		res.Answerable = e.answerable(env, task, out)
	}
	sure := out.Confidence >= 0 && out.Confidence <= 1
	if !sure || res.SQL == "" {
		res.Confidence = 0 // JSON has no form for NaN
	}
	if unanswerable := e.unanswerable(env, q, res, err); unanswerable != nil {
		return unanswerable
	}
	if err != nil {
		return err
	}
	if out.SQL == "" {
		return fmt.Errorf("texttosql: %s gave no statement and no error", nameOf(e.strategy))
	}
	if !sure {
		return fmt.Errorf("texttosql: %s gave the confidence %v, which is not in 0..1", nameOf(e.strategy), out.Confidence)
	}
	switch {
	case refused == nil:
	case exec.IsRejection(refused):
		return fmt.Errorf("texttosql: the winner does not pass the checks: %w", refused)
	default:
		return fmt.Errorf("texttosql: checking the winner: %w", refused)
	}
	if !rows {
		return nil
	}
	if res.Rows, err = rowsOf(ctx, runner, winner); err != nil {
		return fmt.Errorf("texttosql: running the answer: %w", err)
	}
	res.Found = e.found(ctx, env, q.Text, res)
	e.caution(ctx, runner, task, out, winner)
	return nil
}

// found says what the rows of an answer show. A model that cannot say it costs the answer nothing.
func (e *Engine) found(ctx context.Context, env *strategy.Env, question string, res *Result) string {
	if e.headline {
		ctx, span := trace.Start(ctx, "headline")
		text, err := meaning.Headline{Model: env.Models[0]}.Of(ctx, question, res.Rows)
		span.Fail(err)
		span.End()
		if text != "" {
			return text
		}
	}
	return meaning.Found(e.db.Language().Text, res.SQL, res.Rows)
}

// caution warns of what is odd about the answer: what its candidate was doubted for that no vote shows, and what only a person
// can judge.
func (e *Engine) caution(ctx context.Context, runner *exec.Runner, t strategy.Task, out *strategy.Outcome, winner *sqltext.Statement) {
	span := trace.From(ctx)
	if doubt.Wishes(t.Question) {
		span.Warn("nothing-changed", doubt.NothingChanged)
	}
	for _, c := range out.Candidates {
		if c.SQL != out.SQL {
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
	checked, err := runner.Examine(ctx, winner, exec.Caution{Unlimited: t.Reading(doubt.Rules{}).Unlimited()})
	if err != nil {
		return // a question that is answered does not fail for what is said about its answer
	}
	for _, f := range checked.Findings {
		span.Warn(f.Rule, f.Detail)
	}
}

// grounds are what the winner stands on.
func grounds(env *strategy.Env, question string, out *strategy.Outcome, winner *sqltext.Statement) (list []knowledge.Ground) {
	if env.Knowledge == nil || winner == nil {
		return nil
	}
	for _, c := range out.Candidates {
		if c.SQL == out.SQL && c.Metrics != nil {
			for _, name := range c.Metrics {
				list = append(list, knowledge.Ground{Kind: knowledge.GroundMetric, Name: name})
			}
			break
		}
	}
	return append(list, env.Knowledge.TermsIn(question, winner)...)
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

// generate asks the strategy, which may be foreign code, unless the answer is known.
func (e *Engine) generate(ctx context.Context, env *strategy.Env, t strategy.Task, known *strategy.Outcome) (out *strategy.Outcome, err error) {
	if known != nil {
		return known, nil
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
func (e *Engine) passed(ctx context.Context, runner *exec.Runner, env *strategy.Env, t strategy.Task, out *strategy.Outcome) (winner *sqltext.Statement,
	refused error) {
	for _, c := range out.Candidates {
		if len(t.Corrections) == 0 && c.SQL == out.SQL && e.db.Passed(env.Snapshot, c.Statement) {
			return c.Statement, nil
		}
	}
	checked, err := runner.Examine(ctx, e.db.Language().Text.Parse(out.SQL), append(exec.PlanChecks(), strategy.Constraints(t.Corrections))...)
	if err != nil {
		return nil, err
	}
	return checked.Statement, nil
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
		models[i] = llm.Chain(m, slices.Concat([]llm.Middleware{account.Middleware(), day}, q.talk.replies(), []llm.Middleware{e.learners[i].Middleware(), e.retry.Middleware(), llm.Trace()})...)
	}
	return &strategy.Env{
		DB: e.db, Models: models, Schema: snap.Schema, Snapshot: snap, Profiles: true,
		Knowledge: shown.knowledge, Instructions: e.instructions, Exemplars: known.pool, Past: known.past,
		EmptyAnswerRate: known.emptyShare, Lessons: lessons,
		Host: strategy.Host{
			Omissions: &strategy.Omissions{}, CallsLeft: account.CallsLeft,
			Answered: func(model int) bool { return e.learners[model].Answered() },
		},
		Concurrency: e.budget.InFlight, Seed: e.seed,
		AskBelow: e.askBelow, WithoutExecution: e.withoutExecution, WithoutValues: e.withoutValues,
	}, nil
}

// today says for prompts which day it is; "": the engine has no clock.
func (e *Engine) today() string {
	if e.clock == nil {
		return ""
	}
	return llm.DayLine(e.clock())
}

// lacks says what is missing in a reply that ended by length: its statement, or the end of it.
func (e *Engine) lacks(text string) (nothing, half bool) {
	_, err := replies.Extractor{Dialect: e.db.Language().Text}.Extract(text)
	var reply *replies.Error
	switch errors.As(err, &reply); {
	case replies.CompleteBlocks(text) != "":
	case err == nil, reply.Reason == replies.ReasonTruncated:
		half = true
	case reply.Reason == replies.ReasonNoSQL, reply.Reason == sqltext.ReasonEmpty:
		nothing = true
	}
	return nothing, half
}

// Check puts a statement of the caller through the guard and the checks, without running it. A statement that does not
// pass is an error (*exec.RefusedError, *exec.InvalidError). Checked then holds what was found out before, and its SQL
// may be the whole text as given: do not run it.
func (e *Engine) Check(ctx context.Context, sql string) (exec.Checked, error) {
	if _, err := e.within(asking{}); err != nil {
		return exec.Checked{}, err
	}
	checked, err := e.db.Examine(ctx, e.pasted(sql).SQL(), exec.PlanChecks()...)
	return checked, classify(err)
}

// Knowledge returns what WithKnowledge gave, as far as the policy allows it: what names a denied table or column is left out. nil:
// nothing was given. Do not change it.
func (e *Engine) Knowledge(ctx context.Context) (*knowledge.Model, error) {
	if e == nil {
		return nil, errNoEngine
	}
	_, shown, err := e.snapshot(ctx, nil)
	return shown.knowledge, err
}

// Schema returns the schema that prompts are written from: the part that the policy allows, with the descriptions.
func (e *Engine) Schema(ctx context.Context) (*schema.Schema, error) {
	if e == nil {
		return nil, errNoEngine
	}
	s, _, err := e.snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	return s.Schema, nil
}

func nameOf(s strategy.Strategy) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", s), "strategy.")
}
