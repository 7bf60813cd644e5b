package maker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestMAKERFlags: a flagged reply does not vote, whatever is wrong with it.
func TestMAKERFlags(t *testing.T) {
	env := makerEnv(t, nil)
	long := strings.Repeat("The tables are needed. ", 200)
	tests := []struct {
		phase string
		reply llmtest.Reply
		want  string // prefix of the reason
	}{
		{"maker.scope", llmtest.Reply{Text: scopeOne, Stop: llm.StopLength}, "truncated"},
		{"maker.scope", llmtest.Reply{Text: scopeOne + "\n\n" + long}, "too-long"},
		{"maker.scope", llmtest.Reply{Text: scopeOne, Usage: llm.Usage{Calls: 1, CompletionTokens: 800, Known: true}},
			"too-long"},
		{"maker.scope", llmtest.Reply{Text: "I'm sorry, I can't help with that."}, "refusal"},
		{"maker.scope", llmtest.Reply{Text: "Tables: clients"}, "unknown-name"},
		{"maker.scope", llmtest.Reply{Text: "SELECT 1"}, "format"},
		{"maker.scope", llmtest.Reply{Text: "Tables: \xff"}, "not-utf8"},
		{"maker.scope", llmtest.Reply{Err: &llm.Error{Class: llm.ClassRateLimit}}, "failed"},
		{"maker.filter", llmtest.Reply{Err: &llm.Error{Class: llm.ClassTimeout}}, "failed"},
		{"maker.filter", llmtest.Reply{Text: "nation = 'USA'"}, "unknown-name"},
		{"maker.filter", llmtest.Reply{Text: "orders.total > 1"}, "unknown-name"},
		{"maker.filter", llmtest.Reply{Text: "a = 1; b = 2"}, "format"},
		{"maker.projection", llmtest.Reply{Err: &llm.Error{Class: llm.ClassRateLimit}}, "failed"},
		{"maker.projection", llmtest.Reply{Text: usa, Stop: llm.StopLength}, "maker: flagged: truncated"},
		{"maker.projection", llmtest.Reply{Text: usa + strings.Repeat(" -- x", 1000)}, "maker: flagged: too-long"},
		{"maker.projection", llmtest.Reply{Text: "I'm sorry, I can't help with that."}, "refusal"},
		{"maker.projection", llmtest.Reply{Text: usa + "; " + everyone}, "several-statements"},
		{"maker.projection", llmtest.Reply{Text: "SELECT nation FROM customers"}, "exec: invalid statement (schema)"},
		{"maker.projection", llmtest.Reply{Text: "DELETE FROM customers"}, "not-read-only"},
	}
	for _, tt := range tests {
		t.Run(tt.phase+" "+tt.want, func(t *testing.T) {
			script := &llmtest.Script{Rules: append([]llmtest.Rule{{
				Purpose: tt.phase, Match: func(r llm.Request) bool { return r.Sample == 1 }, Replies: []llmtest.Reply{tt.reply},
				Repeat: true,
			}}, phases(scopeOne, inUSA, usa)...)}
			out := testutil.Value(Strategy{}.Generate(t.Context(), asking(env, script), usaTask))(t)
			i := slices.IndexFunc(reportOf(out).Phases, func(r Phase) bool { return "maker."+r.Phase == tt.phase })
			if flags := reportOf(out).Phases[i].Flags; len(flags) != 1 || flags[0].Sample != 1 ||
				!strings.HasPrefix(flags[0].Reason, tt.want) {
				t.Errorf("flags %+v, want sample 1 for %q", flags, tt.want)
			}
			if out.SQL != usa {
				t.Errorf("got %q", out.SQL)
			}
			if n := len(script.RequestsFor("repair")); n > 0 {
				t.Errorf("%d repairs", n)
			}
		})
	}
}

// TestMAKERRedFlagRate: seven of twelve flagged replies are a warning.
func TestMAKERRedFlagRate(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		samples("maker.scope", append(times(7, "no idea"), times(5, scopeOne)...)...),
		always("maker.filter", inUSA), always("maker.projection", usa),
	}}
	root := trace.Tracer{}.New("question")
	testutil.Value((Strategy{}).Generate(trace.NewContext(t.Context(), root), makerEnv(t, script), usaTask))(t)
	if w := root.Warnings(); len(w) != 1 || w[0].Code != "red-flag-rate" {
		t.Errorf("warnings %+v", w)
	}
}

func TestMAKERFailures(t *testing.T) {
	env := makerEnv(t, nil)
	rate := &llm.Error{Class: llm.ClassRateLimit, Message: "slow down"}
	down := func(purpose string, from int) llmtest.Rule {
		return llmtest.Rule{Purpose: purpose, Match: func(r llm.Request) bool {
			return r.Sample >= from
		}, Replies: []llmtest.Reply{{Err: rate}}, Repeat: true}
	}
	tests := []struct {
		name   string
		rules  []llmtest.Rule
		want   error // nil: it is answered
		text   []string
		phases int
		why    string
	}{
		{
			"all but one fail in phase 1",
			append([]llmtest.Rule{down("maker.scope", 1)}, append(phases(scopeOne, inUSA, usa), always("generate", usa))...),
			nil, nil, 1,
			"no quorum: the fallback answers",
		},
		{
			"all fail in phase 1", append([]llmtest.Rule{down("maker.scope", 0)}, always("generate", usa)), rate,
			[]string{"maker: scope", "slow down"},
			1, "the provider is down: nobody else is asked",
		},
		{"all fail in phase 2", append([]llmtest.Rule{down("maker.filter", 0)}, phases(scopeOne, inUSA, usa)...), rate,
			[]string{"maker: filter"}, 2, ""},
		{
			"all fail in phase 3", append([]llmtest.Rule{down("maker.projection", 0)}, phases(scopeOne, inUSA, usa)...), rate,
			[]string{"maker: projection"}, 3, "",
		},
		{"prose for ever", []llmtest.Rule{{Replies: llmtest.Texts("The customers in the USA are many."), Repeat: true}},
			strategy.ErrNoCandidate,
			[]string{"scope: 12 samples, 12 flagged", "scope_invalid", "no-sql"}, 1, "every reason is told"},
		{"prose from phase 3 on", append(phases(scopeOne, inUSA, "Many."), always("generate", "Many.")),
			strategy.ErrNoCandidate,
			[]string{"scope: 7 samples", "filter: 7 samples", "projection: 12 samples, 12 flagged", "fallback (quorum)"}, 3,
			"every phase is named"},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Strategy{}.Generate(t.Context(), asking(env, &llmtest.Script{Rules: tt.rules}), usaTask)
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, err))
			if (err == nil) != (tt.want == nil) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v: %s", err, tt.want, tt.why)
			}
			if errors.Is(tt.want, rate) && (!errors.Is(err, strategy.ErrNoCandidate) || errors.Is(err, strategy.ErrQuorum)) {
				t.Errorf("not the error of a Pipeline: %v", err)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q is not in %v", text, err)
				}
			}
			if out == nil || len(reportOf(out).Phases) != tt.phases {
				t.Errorf("got %d phases, want %d", len(reportOf(out).Phases), tt.phases)
			}
			if last := reportOf(out).Phases[len(reportOf(out).Phases)-1]; errors.Is(tt.want, rate) && last.Stop != "all failed" {
				t.Errorf("the last phase stopped: %s", last.Stop)
			}
			if tt.want == nil && (out.SQL != usa || reportOf(out).Fallback != "quorum") {
				t.Errorf("got %q by %q", out.SQL, reportOf(out).Fallback)
			}
		})
	}
	golden.Check(t, "failures.golden", told.String())
}

// TestMAKERBudget: whatever budget of calls a question has, it is answered and not overrun: by the phases where it
// covers them, else by the fallback.
func TestMAKERBudget(t *testing.T) {
	base := makerEnv(t, nil)
	agree, leave := phases(scopeOne, inUSA, usa), phases(scopeOne, inUSA, broken)
	for _, tt := range []struct {
		why      string
		maker    Strategy
		rules    []llmtest.Rule
		phasesAt int // the least budget with which the phases run
		answerAt int // the least budget with which they answer; 0: never
	}{
		{"waves of seven", Strategy{}, agree, 24, 24},
		{"waves of three", Strategy{Stop: vote.AheadBy(3)}, agree, 12, 12},
		{"as published: nothing is kept back", Strategy{}.Published(), agree, 36, 36},
		{"statements that are rejected", Strategy{}, leave, 24, 0},
		{"the same, with waves of three", Strategy{Stop: vote.AheadBy(3)}, leave, 12, 0},
	} {
		for calls := 1; calls <= 40; calls++ {
			script := &llmtest.Script{Rules: append(slices.Clone(tt.rules), always("generate", usa))}
			account := llm.Budget{Calls: calls}.Start()
			env := asking(base, llm.Chain(script, account.Middleware()))
			env.Host.CallsLeft = account.CallsLeft
			out, err := tt.maker.Generate(t.Context(), env, usaTask)
			if err != nil || out.SQL != usa {
				t.Fatalf("%s, budget %d: %+v, %v", tt.why, calls, out, err)
			}
			if sent := len(script.Requests()); sent > calls {
				t.Errorf("%s, budget %d: %d calls", tt.why, calls, sent)
			}
			report := reportOf(out)
			if ran := len(report.Phases) > 0; ran != (calls >= tt.phasesAt) {
				t.Errorf("%s, budget %d: phases ran %v", tt.why, calls, ran)
			}
			if answered := report.Fallback == ""; answered != (tt.answerAt > 0 && calls >= tt.answerAt) {
				t.Errorf("%s, budget %d: fallback %q", tt.why, calls, report.Fallback)
			}
			if calls < tt.phasesAt &&
				(report.Fallback != "budget" ||
					!slices.Contains(out.Notes, "the budget of calls does not cover three phases and a fallback")) {
				t.Errorf("%s, budget %d: fallback %q, notes %q", tt.why, calls, report.Fallback, out.Notes)
			}
		}
	}
}

// TestMAKERBudgetOfTokens: a budget that nobody can count in calls and that ends in phase 2 is an ErrBudget, with the
// report of phase 1.
func TestMAKERBudgetOfTokens(t *testing.T) {
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
	account := llm.Budget{Calls: 7}.Start() // the strategy is not told
	out, err := Strategy{}.Generate(t.Context(), makerEnv(t, llm.Chain(script, account.Middleware())), usaTask)
	if !errors.Is(err, llm.ErrBudget) || len(reportOf(out).Phases) != 2 || !reportOf(out).Phases[0].Valid {
		t.Errorf("got %+v, %v", reportOf(out), err)
	}
}

// TestMAKERCancelled: the caller's end ends every phase at once and leaves no
// goroutine.
func TestMAKERCancelled(t *testing.T) {
	env := makerEnv(t, nil)
	before := runtime.NumGoroutine()
	for _, purpose := range []string{"maker.scope", "maker.filter", "maker.projection", "generate"} {
		ctx, cancel := context.WithCancel(t.Context())
		script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
		if purpose == "generate" {
			script.Rules[0] = always("maker.scope", "none of them")
		}
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == purpose {
				cancel()
				<-ctx.Done()
				return llm.Response{}, ctx.Err()
			}
			return script.Complete(ctx, req)
		})
		_, err := Strategy{}.Generate(ctx, asking(env, model), usaTask)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", purpose, err)
		}
	}
	for range 10_000 { // a busy machine may take long to end them
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestMAKERSchemas: schemas of no, one and many tables.
func TestMAKERSchemas(t *testing.T) {
	one := makerEnvOf(t,
		poolOf(t, `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT); INSERT INTO customers VALUES (1,'Ada','USA')`), nil)
	script := &llmtest.Script{Rules: phases("unused", inUSA, usa)}
	one.Models = []llm.Model{script}
	out, err := Strategy{}.Generate(t.Context(), one, usaTask)
	if err != nil || out.SQL != usa || len(script.RequestsFor("maker.scope")) != 0 ||
		!slices.Contains(out.Notes, "the schema has one table: nothing to vote on") {
		t.Errorf("one table: %+v, %v, %d calls of phase 1", out, err, len(script.RequestsFor("maker.scope")))
	}
	if p := reportOf(out).Phases[0]; p.Winner != "customers" || !p.Valid || p.Share != 1 || p.Stop != "skipped" ||
		len(out.Links.Tables) != 1 {
		t.Errorf("one table: phase 1 is %+v, links %+v", p, out.Links)
	}

	var many strings.Builder
	many.WriteString(shopSQL)
	for i := range 200 {
		fmt.Fprintf(&many, "CREATE TABLE measure_%d (id INTEGER PRIMARY KEY, first_value REAL, second_value REAL, "+
			"remark TEXT, taken_on TEXT);\n", i)
	}
	script = &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
	env := makerEnvOf(t, poolOf(t, many.String()), script)
	if out, err = (Strategy{}).Generate(t.Context(), env, usaTask); err != nil || out.SQL != usa || len(out.Notes) != 1 ||
		!strings.Contains(out.Notes[0], "over the budget") {
		t.Errorf("200 tables: %+v, %v", out, err)
	}

	empty := *env.Schema
	empty.Tables = nil
	env.Schema = &empty
	if _, err = (Strategy{}).Generate(t.Context(), env, usaTask); err == nil ||
		!strings.Contains(err.Error(), "no table") {
		t.Errorf("no table: %v", err)
	}
}

func TestMAKERValidate(t *testing.T) {
	err := Strategy{Samples: -1, MinVotes: -1, MaxCalls: -1, FallbackCalls: -1, Temperature: -1}.Validate(0)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"Samples", "MinVotes", "MaxCalls", "FallbackCalls", "Temperature"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if err := (Strategy{Samples: 9, MinVotes: 900, MaxCalls: 9000, FallbackCalls: 9,
		Temperature: 1.9}).Validate(9); err != nil {
		t.Errorf("numbers without an upper bound: %v", err)
	}
	_, err = Strategy{}.Generate(t.Context(), makerEnv(t, &llmtest.Script{}), strategy.Task{Question: " "})
	if !errors.Is(err, strategy.ErrEmptyQuestion) {
		t.Errorf("empty question: %v", err)
	}
}

// TestMAKERConfidence: what phase 3 asked for and what gave no vote counts against the confidence, and one vote is a
// warning.
func TestMAKERConfidence(t *testing.T) {
	fails := llmtest.Reply{Err: &llm.Error{Class: llm.ClassRateLimit}}
	replies := func(n int, then llmtest.Reply, first ...string) llmtest.Rule {
		all := llmtest.Texts(first...)
		for range n {
			all = append(all, then)
		}
		return llmtest.Rule{Purpose: "maker.projection", Replies: all}
	}
	for _, tt := range []struct {
		why            string
		rule           llmtest.Rule
		sure           float64
		votes, missing int
		warned         bool
	}{
		{"all agree", replies(0, fails, times(7, usa)...), 8.0 / 9, 7, 0, false},
		{"nine calls fail", replies(10, fails, usa, usa), 3.0 / 7, 2, 9, false},
		{"one runs, and may be alone; one does not, ten fail", replies(10, fails, usa, broken), 2.0 / 11, 1, 10, true},
	} {
		root := trace.Tracer{}.New("question")
		script := &llmtest.Script{Rules: append([]llmtest.Rule{tt.rule}, phases(scopeOne, inUSA, "")...)}
		out, err := Strategy{MinVotes: 1}.Generate(trace.NewContext(t.Context(), root), makerEnv(t, script), usaTask)
		if err != nil || out.SQL != usa || math.Abs(out.Confidence-tt.sure) > 1e-9 ||
			len(out.Ballot.Clusters[0].Members) != tt.votes ||
			out.Ballot.Missing != tt.missing {
			t.Errorf("%s: %v, %v, want %v\n%s", tt.why, out.Confidence, err, tt.sure, out.Ballot.Explain())
		}
		warned := slices.ContainsFunc(out.Notes, func(n string) bool {
			return strings.Contains(n, "nothing confirms the answer")
		})
		if warned != tt.warned {
			t.Errorf("%s: notes %q", tt.why, out.Notes)
		}
	}
}

// TestMAKERDeadline: the statements that arrived before a deadline are voted on, and its error is beside the answer.
func TestMAKERDeadline(t *testing.T) {
	for _, tt := range []struct {
		hangs string // purpose, every second sample
		sql   string
		why   string
	}{
		{"maker.projection", usa, "half of the statements are there"},
		{"maker.scope", "", "no statement yet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			replies := map[string]string{"maker.scope": scopeOne, "maker.filter": inUSA, "maker.projection": usa}
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == tt.hangs && req.Sample%2 == 1 {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return llm.Response{Text: replies[req.Purpose]}, nil
			})
			out, err := Strategy{}.Generate(ctx, makerEnv(t, model), usaTask)
			if !errors.Is(err, context.DeadlineExceeded) || out.SQL != tt.sql || (out.Confidence > 0) != (tt.sql != "") {
				t.Fatalf("%s: %q, %v, %v", tt.why, out.SQL, out.Confidence, err)
			}
			if cut := strings.Contains(strings.Join(out.Notes, "\n"), "the time was up"); cut != (tt.sql != "") {
				t.Errorf("%s: notes %q", tt.why, out.Notes)
			}
		})
	}
}
