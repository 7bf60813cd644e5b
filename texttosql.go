package texttosql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/replies"
	"github.com/texttosql/texttosql/schema"
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
// that asks none: see there.
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
	return checked, classify(e.near(ctx, sql, err))
}

// errNoEngine is what every call of a nil Engine says.
var errNoEngine = errors.New("texttosql: the engine is nil: look at the error of New")

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
