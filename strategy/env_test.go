package strategy_test

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestEnvIsRequired: what a strategy cannot work without is an error before any
// call.
func TestEnvIsRequired(t *testing.T) {
	whole := shopEnv(t, &llmtest.Script{})
	for name, take := range map[string]func(e *strategy.Env){
		"database": func(e *strategy.Env) { e.DB = nil },
		"schema":   func(e *strategy.Env) { e.Schema = nil },
		"models":   func(e *strategy.Env) { e.Models = nil },
	} {
		env := *whole
		take(&env)
		if _, err := (strategy.Consensus{}).Generate(t.Context(), &env, strategy.Task{Question: "q"}); err == nil {
			t.Errorf("without %s: no error", name)
		}
	}
}

// TestEnvConcurrency bounds the calls in flight for one question.
func TestEnvConcurrency(t *testing.T) {
	for _, tt := range []struct{ set, most int }{{0, 16}, {1, 1}, {3, 3}} {
		var flying, peak atomic.Int32
		full := make(chan struct{})
		model := llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			n := flying.Add(1)
			defer flying.Add(-1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			if int(n) == tt.most {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			select { // everyone waits until as many are in flight as may be
			case <-full:
			case <-ctx.Done():
			}
			return llm.Response{Text: usa, StopReason: llm.StopEnd}, ctx.Err()
		})
		env := shopEnv(t, model)
		env.Concurrency = tt.set
		testutil.Value(plain(40).Generate(t.Context(), env, strategy.Task{Question: "q"}))(t)
		if int(peak.Load()) != tt.most {
			t.Errorf("Concurrency %d: %d calls in flight, want %d", tt.set, peak.Load(), tt.most)
		}
	}
}

// TestEnvKeyAndChecks: without execution votes go by plan and nothing is run.
func TestEnvKeyAndChecks(t *testing.T) {
	c := vote.Candidate{Fingerprint: "f", Plan: "p"}
	for _, skip := range []bool{false, true} {
		env := &strategy.Env{WithoutExecution: skip}
		key, _ := env.Key()(c)
		if want := map[bool]string{false: "f", true: "p"}[skip]; key != want {
			t.Errorf("WithoutExecution %v: the key is %q", skip, key)
		}
		if n := len(env.Checks()); skip == (n == 5) {
			t.Errorf("WithoutExecution %v: %d checks", skip, n)
		}
	}
}

// TestProfileThatFails is a note: the question is asked without one.
func TestProfileThatFails(t *testing.T) {
	var fails atomic.Bool // once: the profile is the first that asks
	dialect := exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Open: func(_ context.Context, _ *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error) {
			if fails.Swap(false) {
				return exec.GuardedConn{}, errors.New("no connection now")
			}
			return open()
		},
	})
	pool := poolOf(t, shopSQL)
	pool.SetMaxOpenConns(1) // each call opens its connection
	db := testutil.Value(exec.New(pool, dialect, exec.Config{}))(t)
	s := testutil.Value(db.Snapshot(t.Context()))(t)
	env := &strategy.Env{DB: db, Schema: s.Schema, Snapshot: s, Profiles: true,
		Models: []llm.Model{&llmtest.Script{Rules: []llmtest.Rule{generate(usa)}}}}
	fails.Store(true)
	out, err := plain(1).Generate(t.Context(), env, strategy.Task{Question: "q"})
	if err != nil || len(out.Notes) != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	env.WithoutValues = true
	fails.Store(true)
	if same, err := env.Profiled(t.Context(), out, s.Schema); same != s.Schema || err != nil || !fails.Load() {
		t.Errorf("asked for values: %v", err)
	}
}

// TestTaskSamples overrides the preset's number of samples.
func TestTaskSamples(t *testing.T) {
	for _, s := range []strategy.Strategy{plain(5), strategy.SelfConsistency{}, strategy.Consensus{}} {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
		root := trace.Tracer{}.New("test")
		testutil.Value(s.Generate(trace.NewContext(t.Context(), root), shopEnv(t, script),
			strategy.Task{Question: "q", Samples: 2}))(t)
		if n := len(script.RequestsFor("generate")); n != 2 {
			t.Errorf("%T: %d samples", s, n)
		}
	}
}

// TestSamplerRequest sets everything that a provider must not guess.
func TestSamplerRequest(t *testing.T) {
	env := &strategy.Env{Seed: 5}
	s := strategy.Sampler{Temperature: 0.7, TopP: 0.9, FirstGreedy: true, StopSequences: []string{";"}}
	first, second := s.Request(env, 0, nil), s.Request(env, 1, nil)
	if *first.Temperature != 0 || *second.Temperature != 0.7 || *first.MaxTokens != 1024 || *first.TopP != 0.9 ||
		*second.Seed != 6 || second.Sample != 1 ||
		second.Stop[0] != ";" || second.Purpose != "generate" {
		t.Errorf("got %+v and %+v", first, second)
	}
	if zero := (strategy.Sampler{}).Request(&strategy.Env{}, 0, nil); zero.Temperature == nil || *zero.Temperature != 0 ||
		zero.Seed != nil {
		t.Errorf("the zero Sampler: %+v", zero)
	}
	for _, bad := range []strategy.Sampler{{Samples: -1}, {Temperature: -1}, {MaxTokens: -1}, {TopP: 1.1},
		{MinVotes: -1}} {
		if err := (strategy.Pipeline{Sampler: bad}).Validate(0); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
