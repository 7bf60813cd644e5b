package enginetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestOutage: a provider that stays down for longer than a Retry waits is reported as that and not as a spent budget.
// The first question of an engine tries it with one call at a time, and what comes behind the 15 s is not sent.
func TestOutage(t *testing.T) {
	fails := func(class llm.Class, status int) error {
		return &llm.Error{Class: class, Status: status, Err: errors.New("no")}
	}
	for _, tt := range []struct {
		why    string
		err    error
		retry  llm.Retry
		budget llm.Budget
		most   int64 // calls
		takes  time.Duration
		class  failure.Class
		status int
	}{
		{"too many requests", fails(llm.ClassRateLimit, 429), llm.Retry{}, llm.Budget{Calls: 16}, 8, 15 * time.Second,
			failure.Rate, 503},
		{"overloaded", fails(llm.ClassOverloaded, 503), llm.Retry{}, llm.Budget{Calls: 16}, 8, 15 * time.Second,
			failure.Provider, 502},
		{"a time-out of the provider", fails(llm.ClassTimeout, 408), llm.Retry{}, llm.Budget{Calls: 16}, 8, 15 * time.Second,
			failure.Provider, 502},
		{"overloaded, and a budget for less than its samples", fails(llm.ClassOverloaded, 503), llm.Retry{},
			llm.Budget{Calls: 3}, 3, time.Second,
			failure.Provider, 502},
		{"overloaded, without a budget", fails(llm.ClassOverloaded, 503), llm.Retry{}, llm.Budget{}, 8, 15 * time.Second,
			failure.Provider, 502},
		{"with less patience", fails(llm.ClassOverloaded, 503), llm.Retry{GiveUp: 2 * time.Second}, llm.Budget{}, 5,
			2 * time.Second, failure.Provider, 502},
		{"without a retry", fails(llm.ClassOverloaded, 503), llm.Retry{Attempts: 1}, llm.Budget{}, 7, 0, failure.Provider,
			502},
		{"it hangs", nil, llm.Retry{}, llm.Budget{Timeout: 5 * time.Second}, 7, 5 * time.Second, failure.Time, 504},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int64
			model := llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
				if calls.Add(1); tt.err == nil {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return llm.Response{}, tt.err
			})
			e := engine(t, model, texttosql.WithRetry(tt.retry), texttosql.WithSamples(7), texttosql.WithBudget(tt.budget),
				texttosql.WithStrategy(strategy.SelfConsistency{}))
			start := time.Now()
			_, err := e.Ask(t.Context(), whoInUSA)
			if f := failure.Of(err); f.Class != tt.class || f.HTTPStatus != tt.status || calls.Load() > tt.most {
				t.Errorf("%s: %s, HTTP %d, after %d calls: %v", tt.why, f.Class, f.HTTPStatus, calls.Load(), err)
			}
			if took := time.Since(start); took < tt.takes/2 || took > tt.takes+time.Second {
				t.Errorf("%s: took %v", tt.why, took)
			}
		})
	}
}

// TestNilEngine: every call of a nil Engine says so.
func TestNilEngine(t *testing.T) {
	var e *texttosql.Engine
	ctx := t.Context()
	for call, f := range map[string]func() error{
		"Ask":      func() error { _, err := e.Ask(ctx, whoInUSA); return err },
		"Generate": func() error { _, err := e.Generate(ctx, whoInUSA); return err },
		"Query":    func() error { _, err := e.Query(ctx, "SELECT 1"); return err },
		"Check":    func() error { _, err := e.Check(ctx, "SELECT 1"); return err },
		"Ready":    func() error { return e.Ready(ctx) },
		"Schema":   func() error { _, err := e.Schema(ctx); return err },
		"Confirm":  func() error { return e.Confirm(ctx, whoInUSA, "SELECT 1") },
		"Estimate": func() error { _, err := e.Estimate(ctx, whoInUSA); return err },
		"For":      func() error { _, err := e.For(); return err },
		"OpenConversation": func() error {
			_, err := e.OpenConversation(ctx, &session.MemoryStore{}, session.NewID())
			return err
		},
		"a conversation": func() error { _, err := e.NewConversation(nil).Ask(ctx, whoInUSA); return err },
		"AskAll": func() (err error) {
			for _, err = range e.AskAll(ctx, slices.Values(asked(whoInUSA)), 0) {
			}
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "the engine is nil") {
			t.Errorf("%s: %v", call, err)
		}
	}
	if e.ScopeKey() != "" {
		t.Error("a nil engine has a scope")
	}
}

// TestOptionsThatDoNothing: a call refuses the options that it cannot heed, and names them.
func TestOptionsThatDoNothing(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithPolicy(exec.Policy{}))
	ctx := t.Context()
	calls := map[string]func(texttosql.AskOption) error{
		"Ask":      func(o texttosql.AskOption) error { _, err := e.Ask(ctx, whoInUSA, o); return err },
		"Generate": func(o texttosql.AskOption) error { _, err := e.Generate(ctx, whoInUSA, o); return err },
		"Query":    func(o texttosql.AskOption) error { _, err := e.Query(ctx, "SELECT 1", o); return err },
		"Confirm":  func(o texttosql.AskOption) error { return e.Confirm(ctx, whoInUSA, usa, o) },
		"Estimate": func(o texttosql.AskOption) error { _, err := e.Estimate(ctx, whoInUSA, o); return err },
		"For":      func(o texttosql.AskOption) error { _, err := e.For(o); return err },
		"OpenConversation": func(o texttosql.AskOption) error {
			_, err := e.OpenConversation(ctx, &session.MemoryStore{}, session.NewID(), o)
			return err
		},
		"AskAll": func(o texttosql.AskOption) (err error) {
			for _, err = range e.AskAll(ctx, slices.Values(asked(whoInUSA)), 0, o) {
				if err != nil {
					return err
				}
			}
			return err
		},
	}
	all := map[string]texttosql.AskOption{
		"WithID": texttosql.WithID("x"), "WithEvidence": texttosql.WithEvidence("x"), "WithSamples": texttosql.WithSamples(1),
		"WithProgress": texttosql.WithProgress(func(texttosql.Progress) {}),
		"WithMemory":   texttosql.WithMemory(memory.Options{Off: true}), "WithPolicy": texttosql.WithPolicy(exec.Policy{}),
	}
	refuses := map[string][]string{
		"Query": {"WithEvidence", "WithSamples", "WithMemory"}, "AskAll": {"WithID", "WithEvidence", "WithSamples"},
		"Estimate": {"WithID", "WithProgress"},
	}
	for _, call := range []string{"Confirm", "For", "OpenConversation"} {
		refuses[call] = []string{"WithID", "WithEvidence", "WithSamples", "WithProgress", "WithMemory"}
	}
	for call, f := range calls {
		for name, option := range all {
			var config *strategy.ConfigError
			err := f(option)
			refused := errors.As(err, &config) && config.Field == "texttosql: "+call
			if refused != slices.Contains(refuses[call], name) || refused && !strings.Contains(err.Error(), name) {
				t.Errorf("%s with %s: %v", call, name, err)
			}
		}
	}
	if err := calls["AskAll"](all["WithSamples"]); err.Error() != "texttosql: AskAll: "+
		"WithSamples is set for each Question" {
		t.Error(err)
	}
}

// TestResultBesideAnError: Ask and Generate give a Result beside every error.
func TestResultBesideAnError(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e := engine(t, always("no statement"))
	for why, tt := range map[string]struct {
		ctx      context.Context
		question string
		opts     []texttosql.AskOption
		is       error
	}{
		"empty": {t.Context(), " ", nil, strategy.ErrEmptyQuestion}, "without a word": {t.Context(), "?! …", nil,
			strategy.ErrEmptyQuestion},
		"cancelled": {ended, whoInUSA, nil, context.Canceled}, "no candidate": {t.Context(), whoInUSA, nil,
			strategy.ErrNoCandidate},
		"too many samples":     {t.Context(), whoInUSA, []texttosql.AskOption{texttosql.WithSamples(-1)}, nil},
		"a scope without rule": {t.Context(), whoInUSA, []texttosql.AskOption{texttosql.WithScope(acme)}, exec.ErrNoRules},
	} {
		for _, ask := range []func(context.Context, string, ...texttosql.AskOption) (*texttosql.Result, error){e.Ask,
			e.Generate} {
			r, err := ask(tt.ctx, tt.question, tt.opts...)
			if r == nil || r.Question != tt.question || err == nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%s: %+v, %v", why, r, err)
			}
			testutil.Value(r.MarshalJSON())(t)
			_ = r.Trace.Warnings()
		}
	}
}

// TestGreedySamples: several samples that would be one and the same are refused, by New and for one question.
func TestGreedySamples(t *testing.T) {
	pipeline := func(s strategy.Sampler, p strategy.Prompter) texttosql.Option {
		return texttosql.WithStrategy(strategy.Pipeline{Sampler: s, Prompter: p})
	}
	own := strategy.PrompterFunc(func(context.Context, *strategy.Env, strategy.PromptInput) ([]llm.Message, error) {
		return []llm.Message{{Role: "user", Text: whoInUSA}}, nil
	})
	for _, tt := range []struct {
		why     string
		opts    []texttosql.Option
		samples int // for the question
		refused bool
	}{
		{"twelve copies", []texttosql.Option{pipeline(strategy.Sampler{}, nil), texttosql.WithSamples(12)}, 0, true},
		{"of the Sampler", []texttosql.Option{pipeline(strategy.Sampler{Samples: 3}, strategy.Prompt{})}, 0, true},
		{"of one question", []texttosql.Option{pipeline(strategy.Sampler{}, nil)}, 3, true},
		{"one", []texttosql.Option{pipeline(strategy.Sampler{}, nil)}, 1, false},
		{"at a temperature", []texttosql.Option{pipeline(strategy.Sampler{Temperature: .7}, nil), texttosql.WithSamples(3)},
			0, false},
		{"of two models", []texttosql.Option{pipeline(strategy.Sampler{}, nil),
			texttosql.WithSamples(2), texttosql.WithModels(llm.Named("b", always(usa)))}, 0, false},
		{"of prompts that may differ", []texttosql.Option{pipeline(strategy.Sampler{}, own), texttosql.WithSamples(3)}, 0,
			false},
	} {
		e, err := texttosql.New(open(t, shop), llm.Named("a", always(usa)), tt.opts...)
		if err == nil {
			_, err = e.Ask(t.Context(), whoInUSA, texttosql.WithSamples(tt.samples))
		}
		var config *strategy.ConfigError
		if errors.As(err, &config) != tt.refused {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
