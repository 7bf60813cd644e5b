package enginetest_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

func TestProgressAndLog(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	steps := map[texttosql.Step]int{}
	busy := map[string]int{} // by question
	e := engine(t, always(usa+" AND password <> 's3cret-9'"),
		texttosql.WithLogger(slog.New(ofRequest{slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})})),
		texttosql.WithProgress(func(p texttosql.Progress) {
			mu.Lock()
			if busy[p.ID]++; busy[p.ID] > 1 {
				t.Errorf("calls for question %s overlap", p.ID)
			}
			if p.Kind == "ended" {
				steps[p.Step]++
			}
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			busy[p.ID]--
			mu.Unlock()
		}))
	ctx := context.WithValue(t.Context(), ofRequest{}, "r-17")
	for r, err := range e.AskAll(ctx,
		slices.Values(asked(slices.Repeat([]string{"Which of my secret customers live in the USA?"}, 4)...)), 0) {
		a := answer{r, err}
		if a.Err != nil {
			t.Error(a.Err)
		}
	}
	if steps["question"] != 4 || steps["sample"] < 4*7 || steps["vote"] != 4 {
		t.Errorf("steps: %v", steps)
	}
	for _, private := range []string{"s3cret", "secret customers", "SELECT", "Ada"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("%q is in the log:\n%s", private, log.String())
		}
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "request=r-17") {
			t.Fatalf("without the context of the question: %s", line)
		}
	}
	for id := range 4 {
		if want := fmt.Sprintf("msg=\"texttosql: question\" id=%d ", id); !strings.Contains(log.String(), want) {
			t.Errorf("no record with %q:\n%s", want, log.String())
		}
	}
}

// ofRequest adds what the context of a request carries to its records.
type ofRequest struct{ slog.Handler }

func (h ofRequest) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(ofRequest{}).(string); ok {
		r.AddAttrs(slog.String("request", id))
	}
	return h.Handler.Handle(ctx, r)
}

// TestProgressOfOneQuestion: whatever a question is doing when its callback hangs, another question is answered.
func TestProgressOfOneQuestion(t *testing.T) {
	looking := exec.CheckFunc(func(ctx context.Context, _ *exec.Runner, _ *exec.Checked) error {
		trace.FromContext(ctx).Event("looking") // while it holds the only connection
		return nil
	})
	s := strategy.Pipeline{Checks: append(exec.DefaultChecks(), looking)}
	newEngine := func(opts ...texttosql.Option) *texttosql.Engine {
		return engine(t, always(usa),
			append(opts, texttosql.WithStrategy(s), texttosql.WithLimits(exec.Limits{Connections: 1}))...)
	}
	type at struct {
		step    texttosql.Step
		message string
		kind    string
	}
	var all []at
	engineWide := func(p texttosql.Progress) {
		t.Errorf("the callback of the engine is told of %s, which has its own", p.ID)
	}
	newEngine(texttosql.WithProgress(engineWide)).Ask(t.Context(), whoInUSA, texttosql.WithID("first"),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.ID != "first" || p.Question != whoInUSA {
				t.Errorf("told as %q: %q", p.ID, p.Question)
			}
			all = append(all, at{p.Step, p.Message, p.Kind})
		}))
	if !slices.Contains(all, at{"check", "looking", "happened"}) || all[len(all)-1] != (at{"question", "", "ended"}) {
		t.Fatalf("steps: %v", all)
	}
	for _, here := range all {
		e := newEngine()
		reached, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		done := make(chan error)
		go func() {
			_, err := e.Ask(t.Context(), whoInUSA, texttosql.WithProgress(func(p texttosql.Progress) {
				if (at{p.Step, p.Message, p.Kind}) == here {
					once.Do(func() { close(reached) })
					<-release
				}
			}))
			done <- err
		}()
		<-reached
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a failing test waits for it
		if r, err := e.Ask(ctx, whoInUSA); err != nil || len(r.Rows.Rows) != 2 {
			t.Errorf("another question while one hangs at %v: %v", here, err)
		}
		cancel()
		close(release)
		if err := <-done; err != nil {
			t.Errorf("the question that hung at %v: %v", here, err)
		}
	}
}

// TestDeadlineOfTheCaller: the best answer so far is beside the error of a question whose time is up.
func TestDeadlineOfTheCaller(t *testing.T) {
	sent := make(chan struct{})
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if isWarming(req) {
			return llm.Response{Text: usa}, nil
		}
		if req.Sample == 1 {
			close(sent)
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		}
		<-sent
		return llm.Response{Text: usa}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	arrived := texttosql.WithProgress(func(p texttosql.Progress) {
		if p.Step == "sample" && p.Kind == "ended" {
			cancel()
		}
	})
	r, err := warmed(t, engine(t, model, texttosql.WithSamples(2))).Ask(ctx, whoInUSA, arrived)
	if !errors.Is(err, context.Canceled) || r.SQL != usa || r.Rows != nil || !warned(r, "cut-short") ||
		r.Usage.Calls != 2 {
		t.Errorf("%q, %+v, %+v, %v", r.SQL, r.Usage, r.Warnings, err)
	}
}

// TestPanicsOfTheCaller: code of the caller that panics ends its question, or its sample, with a typed error.
func TestPanicsOfTheCaller(t *testing.T) {
	cause := errors.New("a bug of the caller")
	check := exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error { panic(cause) })
	generate := func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) { panic(cause) }
	link := linker.Func(func(context.Context, linker.Input) (schema.Links, error) { panic(cause) })
	prompt := strategy.PrompterFunc(func(context.Context, *strategy.Env, strategy.PromptInput) ([]llm.Message, error) {
		panic(cause)
	})
	goexit := strategy.PrompterFunc(func(context.Context, *strategy.Env, strategy.PromptInput) ([]llm.Message, error) {
		runtime.Goexit()
		return nil, nil
	})
	sampler := strategy.Sampler{Samples: 3, Temperature: 0.7}
	for _, tt := range []struct {
		name     string
		strategy strategy.Strategy
		ask      texttosql.AskOption
		cause    error
		why      string
	}{
		{"strategy", strategy.Func(generate), nil, cause, "nothing is left of it"},
		{"linker", strategy.Pipeline{Linker: link, Sampler: sampler}, nil, cause, "there is no schema to go on with"},
		{"check", strategy.Pipeline{Checks: []exec.Check{check}, Sampler: sampler}, nil, cause,
			"it runs in a sample, and fails each"},
		{"prompter", strategy.Pipeline{Prompter: prompt, Sampler: sampler}, nil, cause, "the same"},
		{"prompter that ends its goroutine", strategy.Pipeline{Prompter: goexit, Sampler: sampler}, nil, nil,
			"as t.FailNow does"},
		{"voter", strategy.Pipeline{Voter: panicky{}, Sampler: sampler}, nil, nil, "it counts after the samples"},
		{"progress", nil, texttosql.WithProgress(func(texttosql.Progress) { panic(cause) }), cause,
			"in a goroutine of its own"},
	} {
		var opts []texttosql.Option
		if tt.strategy != nil {
			opts = append(opts, texttosql.WithStrategy(tt.strategy))
		}
		e := engine(t, always(usa), opts...)
		before := runtime.NumGoroutine()
		r, err := e.Ask(t.Context(), whoInUSA, tt.ask)
		var panicked *strategy.PanicError
		if !errors.As(err, &panicked) || tt.cause != nil && !errors.Is(err, tt.cause) ||
			strings.Contains(err.Error(), "\n") || len(panicked.Stack) == 0 {
			t.Errorf("%s: %v (%s)", tt.name, err, tt.why)
		}
		if r == nil || r.Trace.Duration() == 0 {
			t.Errorf("%s: without a trace", tt.name)
		}
		if _, err := e.Generate(t.Context(), whoInUSA, tt.ask); !errors.As(err, &panicked) {
			t.Errorf("%s, asked again: %v", tt.name, err)
		}
		settled(t, before)
	}
}

// TestDriverPanics: a driver that panics fails its call, in whatever goroutine that is, as a part of the program does.
func TestDriverPanics(t *testing.T) {
	faults := &exectest.Faults{Connector: exectest.ConnectorOf(t, "sqlite3", filepath.Join(t.TempDir(), "test.db"))}
	db := sql.OpenDB(faults)
	defer db.Close()
	db.SetMaxIdleConns(-1) // each call opens its connection
	testutil.Value(db.Exec(shop))(t)
	ctx := t.Context()
	for _, tt := range []struct {
		name, at string
		call     func(*texttosql.Engine) error
	}{
		{"a statement", usa, func(e *texttosql.Engine) error { _, err := e.Query(ctx, usa); return err }},
		{"a stream", usa, func(e *texttosql.Engine) error { _, err := e.Stream(ctx, usa); return err }},
		{"samples", usa, func(e *texttosql.Engine) error { _, err := e.Ask(ctx, whoInUSA); return err }},
		{"the schema, which no sample asks for", "connect", func(e *texttosql.Engine) error {
			_, err := e.Ask(ctx, whoInUSA)
			return err
		}},
		{"questions of a batch", "connect", func(e *texttosql.Engine) (err error) {
			for _, err = range e.AskAll(ctx, slices.Values(asked(whoInUSA)), 0) {
			}
			return err
		}},
		{"profiles, which a question can do without", `FROM "main"."orders"`, func(e *texttosql.Engine) error {
			r, err := e.Ask(ctx, whoInUSA)
			if err != nil || !slices.ContainsFunc(r.Warnings, func(w trace.Warning) bool {
				return w.Code == "profile-incomplete"
			}) {
				return fmt.Errorf("%v, %w", r.Warnings, err)
			}
			return llmerr.ErrPanic
		}},
	} {
		e := testutil.Value(texttosql.New(db, always(usa), texttosql.WithDialect(nil, exectest.Unwrap)))(t)
		faults.Fail(func(event string) error {
			if !strings.HasPrefix(event, "run ") && strings.Contains(event, tt.at) {
				panic("injected")
			}
			return nil
		})
		if err := tt.call(e); failure.Of(err).Class != failure.Internal {
			t.Errorf("%s: %v", tt.name, err)
		}
		faults.Fail(nil)
		if _, err := e.Ask(ctx, whoInUSA); err != nil {
			t.Errorf("behind %s: %v", tt.name, err)
		}
	}
}

// panicky is a voter with a bug.
type panicky struct{}

func (panicky) Count([]vote.Candidate) (vote.Ballot, error) { panic("a bug of the caller") }

// TestLogFailures: a record tells a wrong key, a panic and a bad question apart, with the first failure, without
// secrets and at a level by which the operator hears of what nobody else can change.
func TestLogFailures(t *testing.T) {
	const key = "sk-ant-REDACTED"
	panics := func() (string, error) { panic(key + usa) }
	fails := func(class llm.Class, status int, message string) func() (string, error) {
		return func() (string, error) { return "", &llm.Error{Class: class, Status: status, Message: message} }
	}
	replies := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	for _, tt := range []struct {
		why, level, told string
		reply            func() (string, error)
		opts             []texttosql.Option
	}{
		{"an answer", "INFO", "outcome=answered rows=2", replies(usa), nil},
		{"a bad question", "INFO",
			`outcome=invalid failure="strategy: no candidate passed the checks: 3 × rejected (schema)"`,
			replies("SELECT no FROM customers"), nil},
		{"a question for a write", "INFO", `outcome=refused failure="strategy: no candidate`,
			replies("DELETE FROM customers"), nil},
		{"a wrong key", "ERROR", `outcome=key failure="llm: permanent (status 401): the key sk-*** is wrong"`,
			fails(llm.ClassPermanent, 401, "the key "+key+" is wrong"), nil},
		{"a provider that is down", "WARN", `outcome=provider failure="llm: overloaded (status 503): later"`,
			fails(llm.ClassOverloaded, 503, "later"), nil},
		{"a model that panics", "ERROR", `outcome=internal failure="the model panicked"`, panics, nil},
		{"a strategy that panics", "ERROR", `outcome=internal failure="strategy: the part enginetest_test.`, panics,
			[]texttosql.Option{texttosql.WithStrategy(strategy.Func(func(context.Context, *strategy.Env,
				strategy.Task) (*strategy.Outcome, error) {
				panic(key + usa)
			}))}},
		{"a budget", "WARN", `outcome=budget failure="llm: budget spent: tokens`, replies(usa),
			[]texttosql.Option{texttosql.WithBudget(llm.Budget{Tokens: 1})}},
	} {
		var log bytes.Buffer
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			text, err := tt.reply()
			return llm.Response{Text: text}, err
		})
		e := testutil.Value(texttosql.New(open(t, shop), model,
			enginetest.Options([]texttosql.Option{texttosql.WithStrategy(strategy.SelfConsistency{Samples: 3}),
				texttosql.WithRetry(llm.Retry{Attempts: 1}), texttosql.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))},
				tt.opts...)...))(t)
		e.Ask(t.Context(), "Which customers live in the USA?")
		lines := strings.SplitAfter(log.String(), "\n")
		record := lines[len(lines)-2]
		if !strings.Contains(record, "level="+tt.level+" ") || !strings.Contains(record, tt.told) ||
			strings.Contains(log.String(), key[:12]) ||
			strings.Contains(record, "FROM") {
			t.Errorf("%s: want %s and %s:\n%s", tt.why, tt.level, tt.told, log.String())
		}
	}
}
