package enginetest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

// TestMisplacedOptions: what belongs to one question is refused by New, and what belongs to New by a question.
func TestMisplacedOptions(t *testing.T) {
	db, store := open(t, shop), &memory.VerifiedAnswers{}
	for _, tt := range []struct {
		why, want string
		option    texttosql.AskOption
		ask       bool // given to Ask, else to New
	}{
		{"a scope is that of a question", "WithScope: it belongs to one question", texttosql.WithScope(exec.Scope{Key: "a"}),
			false},
		{"so is an id", "WithID: it belongs to one question", texttosql.WithID("a"), false},
		{"so is evidence", "WithEvidence: it belongs to one question", texttosql.WithEvidence("a"), false},
		{"a store is that of an engine", "WithMemory of one question has Off alone",
			texttosql.WithMemory(memory.Options{VerifiedAnswers: store}), true},
		{"so are exemplars", "WithMemory of one question has Off alone",
			texttosql.WithMemory(memory.Options{Off: true, Exemplars: []memory.Exemplar{{Question: "a", SQL: "SELECT 1"}}}),
			true},
		{"a user confirms, and does not ask", "WithUser does nothing here", texttosql.WithUser("ann"), true},
		{"memory is for both", "", texttosql.WithMemory(memory.Options{Off: true}), false},
		{"memory is for both", "", texttosql.WithMemory(memory.Options{Off: true}), true},
	} {
		var opts []texttosql.Option
		if !tt.ask {
			opts = append(opts, tt.option)
		}
		e, err := texttosql.New(db, always(usa), opts...)
		if tt.ask {
			_, err = e.Ask(t.Context(), whoInUSA, tt.option)
		}
		var config *strategy.ConfigError
		if (tt.want != "") != errors.As(err, &config) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	_, err := testutil.Value(texttosql.New(db, always(usa)))(t).NewConversation(nil).Ask(t.Context(), whoInUSA,
		texttosql.WithID("mine"))
	if err == nil || !strings.Contains(err.Error(), "the id of the conversation") {
		t.Errorf("an id beside that of a conversation: %v", err)
	}
}

// TestIdleChecks: checks that need rows are refused where no statement runs.
func TestIdleChecks(t *testing.T) {
	db, runs := open(t, shop), exec.RunCheck{Bounds: exec.Bounds{Rows: 1}}
	for _, tt := range []struct {
		why, want string
		checks    []exec.Check
		executes  bool
	}{
		{"the usual checks run the statement", "exec.RunCheck in Pipeline.Checks needs rows", exec.DefaultChecks(), false},
		{"so does one with bounds of its own", "exec.RunCheck in Pipeline.Checks needs rows",
			[]exec.Check{exec.ReadOnly{}, runs}, false},
		{"a look at the rows", "exec.SuspiciousResultCheck in Pipeline.Checks needs rows",
			[]exec.Check{exec.SuspiciousResultCheck{}}, false},
		{"plans need none", "", exec.PlanChecks(), false},
		{"no list is the engine's choice", "", nil, false},
		{"statements run", "", exec.DefaultChecks(), true},
	} {
		opts := []texttosql.Option{texttosql.WithStrategy(strategy.Pipeline{Checks: tt.checks})}
		if !tt.executes {
			opts = append(opts, texttosql.WithoutExecution())
		}
		_, err := texttosql.New(db, always(usa), opts...)
		var config *strategy.ConfigError
		if (tt.want != "") != errors.As(err, &config) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}

// TestShortDurations: a duration that was written without its unit is refused, and one of a millisecond is not.
func TestShortDurations(t *testing.T) {
	limited := func(d time.Duration) texttosql.Option {
		return texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Timeout: d}})
	}
	for _, tt := range []struct {
		why, want string
		option    texttosql.Option
	}{
		{"the time of an answer", "Answer.Timeout: 30 is 30 ns", limited(30)},
		{"of a candidate", "Candidate.Timeout: 5 is", texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: 5}})},
		{"of a stream", "Stream.Timeout: 999999 is",
			texttosql.WithLimits(exec.Limits{Stream: exec.Bounds{Timeout: 999_999}})},
		{"of a budget", "WithBudget: Timeout: 60 is", texttosql.WithBudget(llm.Budget{Timeout: 60})},
		{"of a retry", "WithRetry: GiveUp: 15 is", texttosql.WithRetry(llm.Retry{GiveUp: 15})},
		{"of a model inside other middlewares", "llm: Timeout: 30 is",
			texttosql.WithModels(llm.Chain(llm.Named("b", always(usa)),
				llm.Trace(), llm.Retry{}.Middleware(), llm.Timeout(30)))},
		{"one millisecond", "", limited(time.Millisecond)},
		{"the default", "", limited(0)},
	} {
		_, err := texttosql.New(open(t, shop), llm.Named("a", always(usa)), tt.option)
		var config *strategy.ConfigError
		if errors.As(err, &config) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}

// TestLogIDs: every record of a question has its id, one that is made where the caller gave none, and two questions
// have two.
func TestLogIDs(t *testing.T) {
	var log bytes.Buffer
	var told []string
	e := engine(t, always(usa),
		texttosql.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		texttosql.WithProgress(func(p texttosql.Progress) { told = append(told, p.ID) }))
	id := regexp.MustCompile(` id=(\S+)`)
	seen := map[string]bool{}
	for _, ask := range []func() error{
		func() error { _, err := e.Ask(t.Context(), whoInUSA); return err },
		func() error { _, err := e.Ask(t.Context(), whoInUSA); return err },
		func() error { _, err := e.Query(t.Context(), usa); return err },
		func() error { _, err := e.Ask(t.Context(), whoInUSA, texttosql.WithID("mine")); return err },
	} {
		log.Reset()
		told = nil
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		var of string
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "texttosql: operator") { // of no question
				continue
			}
			found := id.FindStringSubmatch(line)
			if found == nil || of != "" && found[1] != of {
				t.Fatalf("want one id, %q: %s", of, line)
			}
			of = found[1]
		}
		if of == "" || seen[of] || told[0] != of {
			t.Errorf("the id %q, seen before: %v; progress has %q", of, seen[of], told[0])
		}
		seen[of] = true
	}
	if !seen["mine"] {
		t.Errorf("the caller's own id is not among %v", seen)
	}
}

// TestRepeatedOptions: an option that is given twice is refused, by New and by a question, and different ones are not.
func TestRepeatedOptions(t *testing.T) {
	db, m := open(t, shop), llm.Named("a", always(usa))
	e := testutil.Value(texttosql.New(db, m))(t)
	for name, option := range map[string]texttosql.Option{
		"WithPolicy": texttosql.WithPolicy(exec.Policy{}), "WithSamples": texttosql.WithSamples(3),
		"WithoutValues": texttosql.WithoutValues(),
		"WithModels":    texttosql.WithModels(), "WithMemory": texttosql.WithMemory(memory.Options{}),
		"WithLimits":   texttosql.WithLimits(exec.Limits{}),
		"WithProgress": texttosql.WithProgress(nil), "WithScope": texttosql.WithScope(exec.Scope{Key: "a"}),
	} {
		want := name + ": it is given twice"
		if name == "WithScope" {
			want = "WithScope: it belongs to one question"
		}
		_, err := texttosql.New(db, m, option, option)
		var config *strategy.ConfigError
		if !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("New with %s: %v", name, err)
		}
		asking, ok := option.(texttosql.AskOption)
		if !ok {
			continue
		}
		_, err = e.Ask(t.Context(), whoInUSA, asking, asking)
		if config = nil; !errors.As(err, &config) || !strings.Contains(err.Error(), name+" is given twice") {
			t.Errorf("Ask with %s: %v", name, err)
		}
		if _, err = e.Query(t.Context(), usa, asking, asking); !errors.As(err, &config) {
			t.Errorf("Query with %s: %v", name, err)
		}
	}
	if _, err := texttosql.New(db, m, texttosql.WithoutValues(), texttosql.WithoutExecution(),
		texttosql.WithSamples(3)); err != nil {
		t.Errorf("three options: %v", err)
	}
	if _, err := e.Ask(t.Context(), whoInUSA, texttosql.WithSamples(3),
		texttosql.WithEvidence("all of them")); err != nil {
		t.Errorf("two options: %v", err)
	}
}

// TestNewScope: the key of a scope goes by its parameters, and a key that stands for other parameters is refused.
func TestNewScope(t *testing.T) {
	scope := func(params map[string]any) exec.Scope { return texttosql.NewScope(params) }
	usual := scope(map[string]any{"country": "USA", "n": 1})
	for _, tt := range []struct {
		why    string
		params map[string]any
		same   bool
	}{
		{"another integer type", map[string]any{"n": int64(1), "country": "USA"}, true},
		{"a text for a number", map[string]any{"n": "1", "country": "USA"}, false},
		{"another value", map[string]any{"n": 2, "country": "USA"}, false},
		{"values changed places", map[string]any{"n": "USA", "country": 1}, false},
		{"one less", map[string]any{"country": "USA"}, false},
		{"none", nil, false},
	} {
		if other := scope(tt.params); (other.Key == usual.Key) != tt.same || other.Key == "" {
			t.Errorf("%s: %q and %q", tt.why, other.Key, usual.Key)
		}
	}
	e := testutil.Value(texttosql.New(open(t, shop), always("SELECT name FROM customers"),
		texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"customers": "country = :country"}})))(t)
	query := func(s exec.Scope) error {
		_, err := e.Query(t.Context(), "SELECT name FROM customers", texttosql.WithScope(s))
		return err
	}
	usa, norway := scope(map[string]any{"country": "USA"}), scope(map[string]any{"country": "Norway"})
	testutil.OK(t, query(usa))
	testutil.OK(t, query(norway))
	testutil.OK(t, query(usa))
	norway.Key = usa.Key
	if err := query(norway); !errors.Is(err, exec.ErrNoScope) ||
		!strings.Contains(err.Error(), "seen with other parameters") {
		t.Errorf("the key of another scope: %v", err)
	}
}

// TestAskQuestion: the fields of a Question are as the options of their names, and each is given once.
func TestAskQuestion(t *testing.T) {
	var prompts []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		prompts = append(prompts, req.Messages[len(req.Messages)-1].Text)
		return llm.Response{Text: usa, StopReason: llm.StopEnd}, nil
	})
	var ids []string
	e := engine(t, model, texttosql.WithProgress(func(p texttosql.Progress) { ids = append(ids, p.ID) }),
		texttosql.WithBudget(llm.Budget{InFlight: 1}), texttosql.WithStrategy(strategy.SelfConsistency{}))
	q := texttosql.Question{ID: "mine", Text: whoInUSA, Evidence: "USA is a country", Samples: 3}
	r, err := e.AskQuestion(t.Context(), q)
	if err != nil || r.Question != whoInUSA || r.Usage.Calls+r.Saved != 3 || ids[0] != "mine" ||
		!strings.Contains(prompts[0], q.Evidence) {
		t.Errorf("%+v: %d calls, %q, %v", r, r.Usage.Calls, ids[0], err)
	}
	for name, option := range map[string]texttosql.AskOption{
		"WithID": texttosql.WithID("other"), "WithEvidence": texttosql.WithEvidence("other"),
		"WithSamples": texttosql.WithSamples(2),
	} {
		var config *strategy.ConfigError
		if r, err := e.AskQuestion(t.Context(), q, option); !errors.As(err, &config) || r == nil ||
			!strings.Contains(err.Error(), name+" is given twice") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.AskQuestion(t.Context(), texttosql.Question{ID: "x"}); !errors.Is(err, strategy.ErrEmptyQuestion) {
		t.Errorf("no text: %v", err)
	}
}
