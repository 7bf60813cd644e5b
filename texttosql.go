package texttosql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Engine answers questions about one database. Safe for concurrent use.
type Engine struct {
	config
	db       *exec.DB
	progress sync.Mutex // calls of config.progress never overlap
	rows     strategy.RowCache
	index    strategy.ExemplarIndex
	pooled   pooled // under mu

	profiling chan struct{} // holds a value while a question profiles the database
	mu        sync.Mutex
	described snapshot // the last schema with descriptions, and its profile
}

// snapshot is what was made of one state of the database's schema.
type snapshot struct {
	of       *schema.Schema // as inspected or given; identity is the key
	schema   *schema.Schema // what the policy allows of it, with descriptions
	unknown  []string       // descriptions of names that do not exist
	profiled *schema.Schema // nil until a strategy asks for it
	gaps     error          // what could not be profiled
}

// New makes an Engine for a database and a model.
//
// The database is used as it is given: statements run on connections of its own
// pool, at most Limits.Connections (default 4) at a time, each guarded while it
// is held and given back as it was. New takes one to see that it can be guarded.
// A pool of one connection works, if the caller holds no rows open while a
// question runs. The rights of the handle are the engine's rights: who may see
// which rows belongs into the database.
//
// Every model is wrapped in the account of the question (WithBudget), llm.Retry
// (WithRetry) and llm.Trace. A time-out of one attempt, a limit and a cache are
// middlewares for the caller to put around it: without llm.Timeout, and without a
// deadline in ctx, a provider that never answers is waited for.
//
// Prompts hold the schema, and, unless WithoutSampleValues is given, sampled
// values of the database.
//
// A panic of the model, or of any other part that the caller gives, is not caught:
// draws run in goroutines of the engine's own, so that it ends the program. A
// model that may panic is to be wrapped in one that recovers; llm/langchain does
// so for the replies that langchaingo's clients cannot read.
//
// The error joins every bad option, and says what to do about a database that
// cannot be guarded (ErrUnguarded). Nothing needs to be closed.
func New(db *sql.DB, model llm.Model, opts ...Option) (*Engine, error) {
	e := &Engine{
		config:    config{strategy: strategy.Consensus{}, models: []llm.Model{model}, confirmed: &strategy.Confirmed{}},
		profiling: make(chan struct{}, 1),
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&e.config)
		}
	}
	err := e.config.validate()
	if db == nil {
		return nil, errors.Join(err, errors.New("texttosql: the database is nil"))
	}
	if e.dialect == nil {
		var derr error
		if e.dialect, derr = detect(db); derr != nil {
			return nil, errors.Join(err, derr)
		}
	}
	guarded, gerr := exec.New(db, e.dialect, e.config.exec)
	if gerr == nil {
		gerr = guarded.Ready(context.Background())
	}
	if err := errors.Join(err, gerr); err != nil {
		return nil, err
	}
	if e.skipRunning {
		guarded = guarded.WithoutExecution()
	}
	e.db = guarded
	return e, nil
}

// detect finds the dialect of a database by its driver.
func detect(db *sql.DB) (exec.Dialect, error) {
	driver := db.Driver()
	if d := (sqlite.Dialect{}); d.Recognises(driver) {
		return d, nil
	}
	name := fmt.Sprintf("%T", driver)
	for _, known := range []struct{ part, engine string }{
		{"pgx", "PostgreSQL"}, {"stdlib", "PostgreSQL"}, {"pq.", "PostgreSQL"},
		{"mysql", "MySQL"}, {"duckdb", "DuckDB"}, {"trino", "Trino"},
	} {
		if strings.Contains(strings.ToLower(name), known.part) {
			return nil, fmt.Errorf("%w: the driver %s looks like %s; this module has a dialect for SQLite only: write an exec.Dialect and give it with texttosql.WithDialect", ErrUnguarded, name, known.engine)
		}
	}
	return nil, fmt.Errorf("%w: the driver %s is not known; a wrapped SQLite driver needs texttosql.WithDialect(sqlite.Dialect{}) and WithDriverHook, any other engine WithDialect", ErrUnguarded, name)
}

// Ask answers a question with checked SQL and its rows.
//
// With an error the Result is not nil whenever there is something to show:
// usage, trace, candidates, the best answer so far. Errors to test for are those
// of this package; ctx.Err() keeps its identity.
func (e *Engine) Ask(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	return e.ask(ctx, newQuestion(question, opts), !e.skipRunning)
}

// Generate answers a question with checked SQL and without rows. Candidates are
// still run to be compared, unless WithoutExecution was given.
func (e *Engine) Generate(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	return e.ask(ctx, newQuestion(question, opts), false)
}

// Question is one question of a batch.
type Question struct {
	ID       string `json:"id,omitempty"`       // the caller's name for it; may be empty
	Text     string `json:"question"`           // at most 8 KiB
	Evidence string `json:"evidence,omitempty"` // knowledge that belongs to it; at most 16 KiB
	Samples  int    `json:"samples,omitempty"`  // overrides WithSamples; 0: does not
}

// AskOption says more about one question.
type AskOption func(*Question)

// WithEvidence gives knowledge that belongs to the question, in prose: what a
// word means, how a figure is computed.
func WithEvidence(text string) AskOption { return func(q *Question) { q.Evidence = text } }

// WithDraws overrides WithSamples for one question, within the same limits; 0
// does not.
func WithDraws(n int) AskOption { return func(q *Question) { q.Samples = n } }

func newQuestion(text string, opts []AskOption) Question {
	q := Question{Text: text}
	for _, opt := range opts {
		if opt != nil {
			opt(&q)
		}
	}
	return q
}

func (q Question) validate() error {
	switch {
	case len(q.Text) > maxQuestion:
		return &InputError{Field: "question", Bytes: len(q.Text), Limit: maxQuestion}
	case len(q.Evidence) > maxEvidence:
		return &InputError{Field: "evidence", Bytes: len(q.Evidence), Limit: maxEvidence}
	case strings.TrimSpace(sqltext.CleanText(q.Text)) == "":
		return ErrEmptyQuestion
	case q.Samples < 0 || q.Samples > strategy.MaxSamples:
		return fmt.Errorf("texttosql: WithDraws: %d is not in 0..%d", q.Samples, strategy.MaxSamples)
	}
	return nil
}

func (e *Engine) ask(ctx context.Context, q Question, rows bool) (*Result, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	root := trace.Tracer{Keep: e.keep, Observe: e.observer(ctx, q)}.New("question",
		trace.Attr{Key: "strategy", Value: nameOf(e.strategy)})
	res := &Result{Question: q.Text, Trace: root}
	err := e.answer(trace.Into(ctx, root), q, rows, res)
	if cerr := ctx.Err(); cerr != nil && err != nil {
		err = cerr // whatever a provider or a driver made of it
	}
	err = classify(err)
	root.Fail(err)
	root.End()
	res.Usage, res.Warnings = root.Usage(), root.Warnings()
	e.log(ctx, q.ID, res, err)
	return res, err
}

// answer fills in res; what it holds when an error comes back is worth showing.
func (e *Engine) answer(ctx context.Context, q Question, rows bool, res *Result) error {
	env, err := e.env(ctx)
	if err != nil {
		return err
	}
	out, err := e.strategy.Generate(ctx, env, strategy.Task{
		Question: q.Text, Evidence: q.Evidence, Samples: cmp.Or(q.Samples, e.samples),
	})
	// A strategy may be anybody's: what leaves the engine is checked again, and
	// trimmed to the one statement.
	var refused error
	if out != nil && out.SQL != "" {
		var checked exec.Checked
		if checked, refused = e.db.Examine(ctx, out.SQL, exec.PlanChecks()...); refused == nil {
			res.SQL = checked.SQL
		}
	}
	sure := out != nil && out.Confidence >= 0 && out.Confidence <= 1
	if sure && res.SQL != "" {
		res.Confidence = out.Confidence // JSON has no form for one that is no number
	}
	if out != nil {
		res.Ballot, res.Candidates, res.Links, res.Notes = out.Ballot, out.Candidates, out.Links, out.Notes
		res.Saved, res.Phases, res.Rounds, res.Fallback = out.Saved, out.Phases, out.Rounds, out.Fallback
	}
	if err != nil {
		return err
	}
	if out == nil || out.SQL == "" {
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
	ctx, span := trace.Start(ctx, "rows")
	defer span.End()
	res.Rows, err = e.db.Query(ctx, res.SQL)
	if err != nil {
		span.Fail(err)
		return fmt.Errorf("texttosql: running the answer: %w", err)
	}
	span.Set("rows", len(res.Rows.Rows))
	if res.Rows.Truncated {
		span.Warn("rows-truncated", fmt.Sprintf("the result has more than the %d rows shown", len(res.Rows.Rows)))
	}
	return nil
}

// env builds what a strategy works with for one question.
func (e *Engine) env(ctx context.Context) (*strategy.Env, error) {
	schemaCtx, span := trace.Start(ctx, "schema")
	snap, err := e.snapshot(schemaCtx)
	span.Fail(err)
	span.End()
	if err != nil {
		return nil, fmt.Errorf("texttosql: inspecting the database: %w", err)
	}
	if len(snap.schema.Tables) == 0 {
		return nil, ErrNoTables
	}
	if len(snap.unknown) > 0 {
		trace.From(ctx).Warn("unknown-description", fmt.Sprintf("descriptions of names that do not exist: %s", strings.Join(snap.unknown, ", ")))
	}
	pool, err := e.pool()
	if err != nil {
		return nil, err
	}
	account := e.budget.Start()
	models := make([]llm.Model, len(e.models))
	for i, m := range e.models {
		models[i] = llm.Chain(m, account.Middleware(), e.retry.Middleware(), llm.Trace())
	}
	return &strategy.Env{
		DB: e.db, Models: models, Schema: snap.schema,
		Profile:      func(ctx context.Context) (*schema.Schema, error) { return e.profile(ctx, snap) },
		Rows:         &e.rows,
		Index:        &e.index,
		CallsLeft:    account.CallsLeft,
		Instructions: e.instructions, Exemplars: pool,
		Concurrency: e.concurrency, Seed: e.seed,
		SkipExecution: e.skipRunning, SkipValues: e.skipValues,
	}, nil
}

// snapshot returns the schema as it is now, described.
func (e *Engine) snapshot(ctx context.Context) (snapshot, error) {
	of := e.schema
	if of == nil {
		var err error
		if of, err = e.db.Schema(ctx); err != nil {
			return snapshot{}, err
		}
	}
	e.mu.Lock()
	s := e.described
	e.mu.Unlock()
	if s.of == of {
		return s, nil
	}
	s = snapshot{of: of, schema: of}
	if e.schema != nil {
		var err error
		if s.schema, err = e.db.Permitted(ctx, of); err != nil {
			return snapshot{}, err
		}
	}
	if len(e.descriptions) > 0 {
		s.schema, s.unknown = s.schema.Describe(e.descriptions)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.described.of != of { // or another question was quicker, and its profile counts
		e.described = s
	}
	return e.described, nil
}

// profile returns the snapshot's schema with profiles, taken once a state of the
// schema and in the trace of none of the questions that share it. One question
// takes it and the others wait, no longer than their contexts; when its own ends,
// the next one starts anew. Nothing goes on when the last one has left.
//
// What cannot be profiled stays without, unless somebody else's lock was in the
// way: to try again would cost every question the same time-out.
func (e *Engine) profile(ctx context.Context, snap snapshot) (*schema.Schema, error) {
	select {
	case e.profiling <- struct{}{}:
		defer func() { <-e.profiling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e.mu.Lock()
	if e.described.of == snap.of && e.described.profiled != nil {
		snap = e.described
	}
	e.mu.Unlock()
	if snap.profiled == nil {
		snap.profiled, snap.gaps = e.db.Profile(trace.Into(ctx, nil), snap.schema, exec.ProfileOptions{})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if snap.profiled == nil {
			return nil, snap.gaps
		}
		e.mu.Lock()
		if e.described.of == snap.of && !errors.Is(snap.gaps, exec.ErrBusy) {
			e.described = snap
		}
		e.mu.Unlock()
	}
	if snap.gaps != nil {
		trace.From(ctx).Warn("profile-incomplete", "not all of the database could be profiled: "+llm.Scrub(snap.gaps.Error()))
	}
	return snap.profiled, nil
}

// Verdict is what Check found out about a statement.
type Verdict struct {
	SQL      string         // the one statement, trimmed; with an error it may be the whole text as given: do not run it
	Analysis *exec.Analysis // what it reads
	Plan     *exec.Plan     // how
	Findings []exec.Finding // what is odd about it
}

// Check puts a statement of the caller's own through the guard and the checks,
// without running it. A statement that does not pass is an error
// (*exec.RefusedError, *exec.InvalidError); the Verdict holds what was found out
// until then.
func (e *Engine) Check(ctx context.Context, sql string) (Verdict, error) {
	checked, err := e.db.Examine(ctx, sql, exec.PlanChecks()...)
	return Verdict{SQL: checked.SQL, Analysis: checked.Analysis, Plan: checked.Plan, Findings: checked.Findings}, classify(err)
}

// Schema is the schema that prompts are written from: what the policy allows,
// with the descriptions merged in.
func (e *Engine) Schema(ctx context.Context) (*schema.Schema, error) {
	snap, err := e.snapshot(ctx)
	return snap.schema, err
}

func nameOf(s strategy.Strategy) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", s), "strategy.")
}
