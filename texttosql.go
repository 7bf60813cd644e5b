package texttosql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/confighash"
	"github.com/texttosql/texttosql/internal/dateprompt"
	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Engine answers questions about one database. Safe for concurrent use.
//
// It inspects the schema once and keeps it until it changes. A strategy samples statements from a model. Each
// statement is checked by its text, by the guard of the database and by its plan, and runs under limits. Equal
// results are equal votes, and the winner is checked once more. No other model statement reaches the database. A
// database that cannot be guarded is refused.
//
// Equal replies give equal results, byte for byte, with two exceptions. Parallel calls may race for the last of a
// budget. A sample whose reply comes very late is left out if it cannot change the winner.
//
// An error comes with a non-nil Result whenever there is something to show. Cancelling ctx ends everything soon, and
// errors.Is(err, context.Canceled) holds.
type Engine struct {
	*core
	key
}

// core is what New made, the same for every key.
type core struct {
	config
	learners      []*llm.TokenLimitTuner // by model
	secondLearner *llm.TokenLimitTuner   // of WithSecondOpinion
	talking       sync.Map               // ids of conversations on which a call works
	told          sync.Map               // trace.Warning → true: the log has it
	scopes        seenScopes

	atAnswers, atLessons chan struct{} // of patiently
}

// New makes an Engine for a database and a model. It sends nothing to either: see Ready. With NoModel instead of a
// model the Engine calls none: see NoModel.
//
// Statements run on connections of the pool db, at most Limits.Connections (default 4) at a time. Each
// connection is guarded during its use and returned in its original state. A pool of one connection works if the
// caller has no open rows while a question runs. The engine has the rights of db. WithPolicy and WithScope limit what
// a question reads.
//
// Prompts hold the schema, and, unless WithoutValues is given, sampled values of the database.
//
// Every model is wrapped in the budget of the question (WithBudget), an llm.TokenLimitTuner, llm.Retry (WithRetry)
// and llm.Trace. The caller adds other middlewares, such as a cache. Without llm.Timeout and without a deadline in
// ctx, the engine waits for a provider that never answers. A model that panics fails its sample. A model that ignores
// the end of its context continues to run, with a warning in the trace. A panic in any other part from the caller
// (strategy, stage, linker, check, progress) fails its sample or its question with a *strategy.PanicError, unless the
// part started a goroutine.
//
// The error joins the errors of all options and of a driver that needs a dialect (*exec.UnguardedError). An option's
// error is a *strategy.ConfigError or an error of the part that it configures. An Engine needs no Close.
func New(db *sql.DB, model llm.Model, opts ...Option) (*Engine, error) {
	e := &Engine{core: &core{config: config{
		strategy: strategy.Consensus{}, models: []llm.Model{model}, confirmed: &memory.VerifiedAnswers{}, forgetful: true,
		clock: time.Now,
	}, atLessons: make(chan struct{}, atOnce)}}
	for _, opt := range opts {
		if opt != nil {
			opt.configure(&e.config)
		}
	}
	err := e.config.validate()
	if !e.forgetful {
		e.atAnswers = make(chan struct{}, atOnce)
	}
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
	learner := func() *llm.TokenLimitTuner {
		return &llm.TokenLimitTuner{Room: e.budget.ReasoningTokens, Lacks: e.lacks}
	}
	for range e.models {
		e.learners = append(e.learners, learner())
	}
	e.secondLearner = learner()
	return e, nil
}

// Ready checks whether questions can be answered. It takes one connection, guards it, reads the catalog and returns the
// connection. The error has advice for a database that does not respond or cannot be guarded (*exec.UnguardedError),
// and for names in the policy that the database does not have. Without this call the first question has that error.
//
// Warnings for an operator are about the database, its user, the policy and the descriptions, for example that the
// user is a superuser. They go to the span in ctx and to the log (WithLogger); the log also has later ones. No Result
// has them, because they name items that the caller may not read.
func (e *Engine) Ready(ctx context.Context) error {
	if e == nil {
		return errNoEngine
	}
	err := e.db.Ready(trace.NewContext(ctx, nil))
	if err == nil && len(e.descriptions) > 0 {
		_, _, err = e.snapshot(trace.NewContext(ctx, nil), nil)
	}
	for _, w := range e.warn(ctx) {
		trace.FromContext(ctx).Warn(w.Code, w.Message)
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

// Guard rejects a connection of another engine; the error names the dialect that it needs.
func (d assumed) Guard(c exec.GuardConfig) (exec.Open, error) {
	open, err := d.Dialect.Guard(c)
	return func(ctx context.Context, conn *sql.Conn, timeout time.Duration) (exec.GuardedConn, error) {
		err := conn.Raw(func(dc any) error {
			inner := c.Unwrap(dc)
			if _, ok := inner.(sqlite.Hooks); !ok {
				return foreign(inner)
			}
			return nil
		})
		if err != nil {
			return exec.GuardedConn{}, err
		}
		return open(ctx, conn, timeout)
	}, err
}

// foreign says what a driver needs that is not for SQLite, or a connection of one. It goes by the import path of the
// type, so that no other dialect, nor its parser, is linked into a program that does not import it.
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
			return &exec.UnguardedError{Reason: fmt.Sprintf("%s is a driver for %s, whose dialect was not given", path,
				known.engine),
				Remedy: fmt.Sprintf("import github.com/texttosql/texttosql/exec/%s and give New "+
					"texttosql.WithDialect(%[1]s.Dialect{})", known.pkg)}
		}
	}
	return &exec.UnguardedError{Reason: fmt.Sprintf("the driver %s is not known", name),
		Remedy: "a wrapped driver needs the second argument of texttosql.WithDialect, any other engine than SQLite its first"}
}

// today says for prompts which day it is; "": the engine has no clock.
func (e *Engine) today() string {
	if e.clock == nil {
		return ""
	}
	return dateprompt.Line(e.clock())
}

// lacks says what is missing in a reply that ended by length: its statement, or the end of it.
func (e *Engine) lacks(text string) (nothing, half bool) {
	_, err := replies.Extractor{Dialect: e.db.Language().Text}.Extract(text)
	var reply *replies.Error
	switch errors.As(err, &reply); {
	case replies.CompleteBlocks(text) != "":
	case err == nil, reply.Reason == replies.ReasonTruncated:
		half = true
	case reply.Reason == replies.ReasonNoSQL, reply.Reason == "empty":
		nothing = true
	}
	return nothing, half
}

// Check passes a statement of the caller through the guard and the checks, without running it. A statement that does
// not pass is an error (*exec.RefusedError, *exec.InvalidError). Checked then has the results before the error, and
// its SQL may be the whole text as given: do not run it.
func (e *Engine) Check(ctx context.Context, sql string) (exec.Checked, error) {
	if _, err := e.within(asking{}); err != nil {
		return exec.Checked{}, err
	}
	checked, err := e.db.Examine(ctx, e.pasted(sql).SQL(), exec.PlanChecks()...)
	return checked, classify(e.near(ctx, sql, err))
}

// errNoEngine is what every call of a nil Engine says.
var errNoEngine = errors.New("texttosql: the engine is nil: look at the error of New")

// Knowledge returns the model of WithKnowledge without the items that name a denied table or column. Without
// WithKnowledge it returns nil. Do not change it.
func (e *Engine) Knowledge(ctx context.Context) (*knowledge.Model, error) {
	if e == nil {
		return nil, errNoEngine
	}
	_, shown, err := e.snapshot(ctx, nil)
	return shown.knowledge, err
}

// Schema returns the schema for prompts: the part that the policy allows, with the descriptions. WithProgress gets a
// warning for each part that is left out.
func (e *Engine) Schema(ctx context.Context) (*schema.Schema, error) {
	if e == nil {
		return nil, errNoEngine
	}
	s, _, err := e.snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	return s.Schema, e.tellWarnings(ctx)
}

// tellWarnings sends the observer of the engine the warnings about the database, where everybody may see them.
func (e *Engine) tellWarnings(ctx context.Context) error {
	all := leftOut(e.warn(ctx))
	if len(all) == 0 || e.config.progress == nil || e.db.Scope() != nil || e.db.Policy().NeedsScope() {
		return nil
	}
	observe, told := e.observer(ctx, asking{})
	_, span := trace.Tracer{Observe: observe}.Start(ctx, "schema")
	for _, w := range all {
		span.Warn(w.Code, w.Message)
	}
	span.End()
	return told()
}

func nameOf(s strategy.Strategy) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", s), "strategy.")
}

// For returns the engine for one caller: all its calls use the WithScope and WithPolicy in opts. It is for parts
// of a program that must not choose the scope, and for calls without options: Check, Confirm, Schema,
// NewConversation, OpenConversation.
//
// An engine with a scope rejects another one. For returns the errors of exec.DB.For. It does not call the database
// and may be called for each question: engines of the same scope and policy share their knowledge about the database.
func (e *Engine) For(opts ...AskOption) (*Engine, error) {
	q, err := heeding("For", "", opts)
	if err != nil {
		return nil, err
	}
	return e.within(q)
}

// key says under which policy and for which scope an engine works.
type key struct {
	db       *exec.DB // the database, as they have it
	narrowed bool     // the policy is from a question, or from For
}

// within returns the engine of a question's scope and policy, and refuses a question that lacks its scope.
func (e *Engine) within(a asking) (*Engine, error) {
	if e == nil {
		return nil, errNoEngine
	}
	scope := e.db.Scope()
	switch {
	case a.scope == nil:
	case a.scope.Key == "":
		return nil, &exec.RefusedError{Reason: "scope", Detail: "the scope has no key"}
	case scope != nil && reflect.DeepEqual(scope, a.scope):
		a.scope = nil
	case scope != nil:
		return nil, &exec.RefusedError{Reason: "scope", Detail: "the engine has another scope"}
	}
	if a.scope == nil && a.policy == nil && (scope != nil || !e.db.Scoped()) {
		return e, nil
	}
	db, err := e.db.For(a.scope, a.policy)
	if err != nil {
		return nil, err
	}
	if a.scope != nil && !e.scopes.matches(*a.scope) {
		return nil, &exec.RefusedError{Reason: "scope",
			Detail: "the key of the scope was seen with other parameters or settings: give each set of them a key of its " +
				"own, as NewScope does for parameters"}
	}
	return &Engine{e.core, key{db, e.narrowed || a.policy != nil}}, nil
}

// seenScopes are the parameters and settings with which each key was seen. Of very many keys it forgets those before.
type seenScopes struct {
	mu    sync.Mutex
	byKey map[string]string
}

// mostSeenScopes bounds the memory of seenScopes.
const mostSeenScopes = 100_000

// matches reports whether the key of a scope was seen with no other parameters and settings, and remembers it.
func (s *seenScopes) matches(scope exec.Scope) bool {
	params := NewScope(map[string]any{NewScope(scope.Params).Key: fmt.Sprintf("%q", scope.Settings)}).Key
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.byKey[scope.Key]; ok {
		return before == params
	}
	if s.byKey == nil || len(s.byKey) >= mostSeenScopes {
		s.byKey = map[string]string{}
	}
	s.byKey[scope.Key] = params
	return true
}

// ScopeKey returns the Key of the engine's scope, which owns the data between questions; "" without a scope. It is
// for programs that list such data: session.Filter.Scope, memory.VerifiedAnswers.PairsOf.
func (e *Engine) ScopeKey() string {
	if e != nil && e.db.Scope() != nil {
		return e.db.Scope().Key
	}
	return ""
}

// configHash is a hash of what must be the same when a conversation goes on: the strategy with its fields, the models
// by name, and those options that change an answer and have one form in writing.
func (e *Engine) configHash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%T ", e.strategy)
	confighash.Write(h, e.strategy)
	for _, m := range e.models {
		fmt.Fprintf(h, " %q", llm.NameOf(m))
	}
	fmt.Fprintf(h, " %d %d %q %v %t %t", e.samples, e.seed, e.instructions, e.askBelow, e.withoutExecution,
		e.withoutValues)
	if e.refuseBelow > 0 {
		fmt.Fprintf(h, " refuse %v", e.refuseBelow)
	}
	if e.second != nil {
		fmt.Fprintf(h, " second %q", llm.NameOf(e.second))
	}
	if e.knowledge != nil {
		confighash.Write(h, *e.knowledge)
	}
	if e.narrowed {
		confighash.Write(h, e.db.Policy())
	}
	for _, p := range e.exemplars {
		fmt.Fprintf(h, " %q %q", p.Question, p.SQL)
		if p.Past {
			io.WriteString(h, " past")
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
