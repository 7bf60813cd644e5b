package strategy_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

const (
	byID   = "SELECT name FROM customers WHERE id = 1" // another plan than a scan
	nobody = "SELECT name FROM customers WHERE country = 'Chile'"
	allNil = "SELECT total FROM orders WHERE id = 3"
)

func TestPlanVote(t *testing.T) {
	compat, cheapest := strategy.PlanVote{Samples: 4, Compat: true}, strategy.PlanVote{Samples: 4, Cheapest: true}
	tests := []struct {
		name    string
		voter   strategy.Strategy
		replies []string
		sql     string  // "" for ErrNoCandidate
		sure    float64 // the confidence
		why     string
	}{
		{"plans, not results", strategy.PlanVote{Samples: 4}, []string{byID, everyone, usa, usaJoin}, usa, 0.5, "one plan, two results: the shortest of the more frequent one represents it, with two of four votes"},
		{"rejected candidates have no vote", strategy.PlanVote{Samples: 4}, []string{"DROP TABLE orders", "SELECT 1; DROP TABLE orders", broken, byID}, byID, 1, "one of four may vote, and wins"},
		{"unknown name in quotes", strategy.PlanVote{Samples: 3}, []string{`SELECT "nosuchcol" FROM customers`, `SELECT "nosuchcol" FROM customers`, byID}, byID, 1, "to the engine it is a string, to us an unknown name"},
		{"string in double quotes", strategy.PlanVote{Samples: 3}, []string{`SELECT name FROM customers WHERE country = "USA"`}, `SELECT name FROM customers WHERE country = "USA"`, 1, "an operand may be one"},
		{"tie to the result with rows", strategy.PlanVote{Samples: 2}, []string{"SELECT name FROM customers WHERE id = 99", everyone}, everyone, 0.5, "empty results go last in a tie"},
		{"tie to the earliest", strategy.PlanVote{Samples: 2}, []string{byID, everyone}, byID, 0.5, ""},
		{"all invalid", strategy.PlanVote{Samples: 2}, []string{broken, "SELECT 1; SELECT 2"}, "", 0, "no candidate is no answer"},
		{"compat: the first representative of the lowest cost", compat, []string{usaJoin, usa, everyone, byID}, usa, 0.5, "SCAN:c is another signature than SCAN:customers"},
		{"compat: nothing runs", compat, []string{"SELECT name FROM customers WHERE id = 99", everyone, "SELECT name FROM customers WHERE id = 98", everyone}, "SELECT name FROM customers WHERE id = 99", 0.5, "a tie goes to the signature seen first, rows or not"},
		{"compat: unknown name in quotes", compat, []string{`SELECT "nosuchcol" FROM customers`}, `SELECT "nosuchcol" FROM customers`, 1, "passes EXPLAIN, as published"},
		{"cheapest", cheapest, []string{everyone, everyone, byID, everyone}, byID, 0.25, "a look-up is cheaper than three scans"},
		{"cheapest of equal cost", cheapest, []string{everyone, usa, everyone, usa}, everyone, 0.5, "the earliest; half of those of its plan agree"},
		{"cheapest of none", cheapest, []string{broken}, "", 0, ""},
		{"augmented", strategy.AugmentedPlanVote{Samples: 3}, []string{everyone, byID, everyone}, everyone, 2.0 / 3, ""},
		{"by stored literals", strategy.AugmentedPlanVote{Samples: 2, Probe: true}, []string{"SELECT count(*) FROM customers WHERE country = 'Usa'", "SELECT id FROM customers WHERE id IN (1) AND country = 'USA'"}, "SELECT id FROM customers WHERE id IN (1) AND country = 'USA'", 0.5, "a tie of two plans with rows: 'Usa' is no stored country"},
		{"by literals, compat", strategy.AugmentedPlanVote{Samples: 5, Probe: true, Compat: true}, []string{nobody, nobody, nobody, "SELECT name FROM customers WHERE id > 0 AND country = 'USA'", "SELECT name FROM customers WHERE id > 1 AND country = 'USA'"}, "SELECT name FROM customers WHERE id > 0 AND country = 'USA'", 0.4, "three votes less two for an absent value"},
	}
	env := shopEnv(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: strategy.PurposeGenerate, Replies: llmtest.Texts(tt.replies...), Repeat: true}}}
			out, err := tt.voter.Generate(t.Context(), asking(env, script), strategy.Task{Question: "Who lives in the USA?"})
			if tt.sql == "" {
				if !errors.Is(err, strategy.ErrNoCandidate) {
					t.Fatalf("got %+v, %v", out, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.SQL != tt.sql || out.Confidence != tt.sure {
				t.Errorf("got %q with %v, want %q with %v: %s\n%+v", out.SQL, out.Confidence, tt.sql, tt.sure, tt.why, out.Ballot)
			}
		})
	}
}

// TestPlanVoteWithoutExecution: nothing runs, and doubts have nothing to look at.
func TestPlanVoteWithoutExecution(t *testing.T) {
	env := *shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{always("generate", usa)}})
	env.SkipExecution = true
	for _, s := range []strategy.Strategy{strategy.PlanVote{}, strategy.AugmentedPlanVote{Probe: true}, strategy.ExecutionFeedback{}} {
		out, err := s.Generate(t.Context(), &env, strategy.Task{Question: "q"})
		if err != nil {
			t.Fatal(err)
		}
		if c := out.Candidates[0]; c.Fingerprint != "" || c.Rows != 0 || c.Plan == "" {
			t.Errorf("%T: %+v", s, c)
		}
	}
}

// TestPlanVoteCalls: draws, statements and the stop.
func TestPlanVoteCalls(t *testing.T) {
	env := shopEnv(t, nil)
	for _, tt := range []struct {
		s     strategy.Strategy
		task  strategy.Task
		calls int
		why   string
	}{
		{strategy.PlanVote{}, strategy.Task{Question: "q"}, 8, "eight of fifteen decide"},
		{strategy.PlanVote{}, strategy.Task{Question: "q", Samples: 32}, 17, "M8"},
		{strategy.AugmentedPlanVote{Samples: 1}, strategy.Task{Question: "q"}, 1, ""},
		{strategy.PlanVote{Compat: true}, strategy.Task{Question: "q"}, 15, "all at once, as published"},
		{strategy.PlanVote{Cheapest: true, Samples: 5}, strategy.Task{Question: "q"}, 5, "any draw may be the cheapest"},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", usa)}}
		if _, err := tt.s.Generate(t.Context(), asking(env, script), tt.task); err != nil {
			t.Fatal(err)
		}
		if n := len(script.Requests()); n != tt.calls {
			t.Errorf("%+v: %d calls, want %d: %s", tt.s, n, tt.calls, tt.why)
		}
	}
}

func TestPlanVoteValidate(t *testing.T) {
	for _, s := range []strategy.Validator{
		strategy.PlanVote{Samples: -1}, strategy.PlanVote{Temperature: -1}, strategy.PlanVote{MinConfidence: 2},
		strategy.AugmentedPlanVote{Samples: -1}, strategy.AugmentedPlanVote{MinConfidence: -1},
		strategy.ExecutionFeedback{Samples: -1}, strategy.ExecutionFeedback{CorrectionSamples: -1}, strategy.ExecutionFeedback{Temperature: -1},
	} {
		if err := s.Validate(0); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

// TestPlanVoteAbstains: the ranked clusters come with the error.
func TestPlanVoteAbstains(t *testing.T) {
	env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{draws("generate", byID, everyone, usa)}})
	out, err := strategy.PlanVote{Samples: 3, MinConfidence: 0.9}.Generate(t.Context(), env, strategy.Task{Question: "q"})
	if !errors.Is(err, strategy.ErrAbstained) || len(out.Ballot.Clusters) != 2 || out.SQL != everyone {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestPlanVoteDeterminism: a hundred runs of the same replies that come in any
// order are the same bytes, and a draw that fails changes nothing but itself.
func TestPlanVoteDeterminism(t *testing.T) {
	env := makerEnv(t, nil)
	seen := map[string]bool{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	replies := llmtest.Texts(everyone, usa, byID, broken, ordered, byID, usa, "DROP TABLE orders", everyone, usa, byID, nobody, usa, usa, byID)
	replies[5] = llmtest.Reply{Err: &llm.Error{Class: llm.ClassTimeout}}
	for run := range 100 {
		runtime.GOMAXPROCS(1 + 7*(run%2))
		rng := rand.New(rand.NewPCG(uint64(run), 2))
		delays := make([]time.Duration, 16)
		for i := range delays {
			delays[i] = time.Duration(rng.IntN(500)) * time.Microsecond
		}
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: replies}}}
		root := trace.Tracer{Keep: trace.PrivateSQL}.New("question")
		out, err := strategy.AugmentedPlanVote{Probe: true}.Generate(trace.Into(t.Context(), root),
			asking(env, llm.Chain(script, llm.Trace(), llmtest.Latency{ByDraw: delays}.Middleware())), usaTask)
		if err != nil {
			t.Fatal(err)
		}
		root.End()
		a, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		b, err := root.JSON(trace.Format{Comparable: true, Show: trace.PrivateSQL})
		if err != nil {
			t.Fatal(err)
		}
		seen[string(a)+string(b)] = true
	}
	if len(seen) != 1 {
		var texts []string
		for text := range seen {
			texts = append(texts, strings.ReplaceAll(text, `,"`, ",\n\""))
		}
		t.Errorf("%d different runs; two of them:\n%s", len(seen), cmp.Diff(texts[0], texts[1]))
	}
}

// TestCandidateLimits: an endless statement among ten costs its time and no
// other's vote; each distinct statement is examined once.
func TestCandidateLimits(t *testing.T) {
	pool := poolOf(t, shopSQL)
	base := makerEnvOf(t, pool, nil)
	db, err := exec.New(pool, base.DB.Dialect(), exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: 500 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	var examined atomic.Int32
	count := exec.CheckFunc(func(context.Context, *exec.DB, *exec.Checked) error { examined.Add(1); return nil })
	env := asking(base, &llmtest.Script{Rules: []llmtest.Rule{draws("generate", endless, usa, usa, endless, usa, usa, byID, usa, usa, usa)}})
	env.DB = db
	p := strategy.PlanVote{Samples: 10}.Pipeline(env)
	p.Sampler.Until = nil
	p.Checks = append([]exec.Check{count}, p.Checks...)
	out, err := p.Generate(t.Context(), env, strategy.Task{Question: "q"})
	if err != nil {
		t.Fatal(err)
	}
	if out.SQL != usa || out.Ballot.Voted != 8 || examined.Load() != 3 {
		t.Errorf("%q with %d votes, %d statements examined", out.SQL, out.Ballot.Voted, examined.Load())
	}
}

// TestCheapestOrder: the ballot of M4 has every plan, cheapest first.
func TestCheapestOrder(t *testing.T) {
	candidates := []vote.Candidate{
		{SQL: "a", Plan: "x", Cost: 100}, {SQL: "b", Draw: 1, Plan: "y", Cost: 50}, {SQL: "c", Draw: 2, Plan: "x", Cost: 100}, {SQL: "d", Draw: 3, Rejected: "no"},
	}
	b, err := strategy.Cheapest{}.Count(candidates)
	if err != nil || b.Clusters[0].SQL != "b" || b.Clusters[1].SQL != "a" || b.Confidence != b.Clusters[0].Share {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := (strategy.Cheapest{}).Count(nil); !errors.Is(err, vote.ErrNoVote) {
		t.Errorf("no candidate: %v", err)
	}
}

// TestAugmentedPrompt: rows stand behind the table, not in the prompt of a caller
// who keeps values to himself, and are read once.
func TestAugmentedPrompt(t *testing.T) {
	env := makerEnv(t, nil)
	in := strategy.PromptInput{Task: usaTask, Schema: env.Schema}
	last := func(env *strategy.Env) string {
		messages, err := strategy.Augmented{}.Prompt(t.Context(), env, in)
		if err != nil {
			t.Fatal(err)
		}
		return messages[len(messages)-1].Text
	}
	text := last(env)
	if !strings.Contains(text, "Ada") || !strings.Contains(text, usaTask.Evidence) || strings.Contains(text, "data from americans") {
		t.Errorf("the prompt is\n%s", text)
	}
	private := *env
	private.SkipValues = true
	if text := last(&private); strings.Contains(text, "Ada") {
		t.Errorf("a stored value without permission:\n%s", text)
	}
	uncached := *env
	uncached.Rows = nil
	if d := cmp.Diff(text, last(&uncached)); d != "" {
		t.Errorf("with and without a cache (-with +without):\n%s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	uncached.Rows = &strategy.RowCache{}
	if _, err := (strategy.Augmented{}).Prompt(ctx, &uncached, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRowCache: one read a table and state of the schema, whoever asks.
func TestRowCache(t *testing.T) {
	pool := poolOf(t, shopSQL)
	env := makerEnvOf(t, pool, nil)
	rows := func() int {
		samples, failed, err := env.Rows.Samples(t.Context(), env, env.Schema, 3)
		if err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
		return len(samples[0].Rows)
	}
	if got := rows(); got != 3 {
		t.Fatalf("%d rows", got)
	}
	if _, err := pool.Exec("DELETE FROM customers WHERE id = 3"); err != nil {
		t.Fatal(err)
	}
	if got := rows(); got != 3 {
		t.Errorf("%d rows: read again", got)
	}
	if _, err := pool.Exec("CREATE TABLE more (id)"); err != nil {
		t.Fatal(err)
	}
	var err error
	if env.Schema, err = env.DB.Schema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rows(); got != 2 {
		t.Errorf("%d rows: not read again after the schema changed", got)
	}
	if _, err := pool.Exec("DROP TABLE more"); err != nil {
		t.Fatal(err)
	}
	fresh := &strategy.RowCache{}
	_, failed, err := fresh.Samples(t.Context(), env, env.Schema, 3)
	if err != nil || len(failed) != 1 {
		t.Errorf("a table that is gone: %v, %v", failed, err)
	}
}

// superhero opens BIRD's superhero database, read-only.
func superhero(t testing.TB) *strategy.Env {
	t.Helper()
	data := evaldata.Path(t)
	pool, err := sql.Open("sqlite3", "file:"+data+"/db/bird/superhero.sqlite?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return makerEnvOf(t, pool, nil)
}

// TestPrompts holds the prompts of the presets, for one superhero question, to
// their golden files. The schema with its rows is test data and not ours to copy:
// its length and hash stand in its place.
func TestPrompts(t *testing.T) {
	env := superhero(t)
	task := strategy.Task{
		Question: "How many superheroes did Dark Horse Comics publish?",
		Evidence: "published by Dark Horse Comics refers to publisher_name = 'Dark Horse Comics'",
	}
	const (
		scope  = "Tables: superhero, publisher\nJoins: superhero.publisher_id = publisher.id"
		filter = "publisher.publisher_name = 'Dark Horse Comics'"
		sql    = "SELECT count(*) FROM superhero AS s JOIN publisher AS p ON s.publisher_id = p.id WHERE p.publisher_name = 'Dark Horse Comics'"
	)
	for name, s := range map[string]strategy.Strategy{
		"maker": strategy.MAKER{Samples: 1}, "maker-compat": strategy.MAKER{Samples: 1, Compat: true},
		"plan-vote-compat": strategy.PlanVote{Samples: 1, Compat: true}, "augmented-plan-vote": strategy.AugmentedPlanVote{Samples: 1},
		"augmented-plan-vote-compat": strategy.AugmentedPlanVote{Samples: 1, Compat: true},
	} {
		t.Run(name, func(t *testing.T) {
			script := &llmtest.Script{Rules: append(phases(scope, filter, sql), always("generate", sql))}
			out, err := s.Generate(t.Context(), asking(env, script), task)
			if err != nil || out.SQL != sql {
				t.Fatal(out, err)
			}
			var b strings.Builder
			for _, req := range script.Requests() {
				b.WriteString("=== " + req.Purpose + "\n")
				for _, m := range req.Messages {
					b.WriteString("--- " + string(m.Role) + "\n" + m.Text + "\n")
				}
			}
			text := b.String()
			for _, a := range []strategy.Augmented{{}, {Compat: true}, {Compat: true, Rows: -1, MaxChars: -1}} {
				shown, err := a.Schema(t.Context(), env, env.Schema)
				if err != nil {
					t.Fatal(err)
				}
				text = strings.ReplaceAll(text, shown, fmt.Sprintf("<schema: %d characters, SHA-256 %x>", len([]rune(shown)), sha256.Sum256([]byte(shown))))
			}
			golden.Check(t, "prompt-"+name+".txt", text)
		})
	}
}
