package qasql_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/trace"
)

const (
	usa      = strategytest.USA
	usaJoin  = strategytest.USAJoin
	everyone = strategytest.Everyone
	broken   = strategytest.Broken
	chile    = strategytest.Chile
	norway   = "SELECT name FROM customers WHERE country = 'Norway'"
)

// agent is a model of QA-SQL: it answers each purpose by what it was given for it; what is left out fails.
type agent struct {
	decompose string
	score     func(table string) string
	generate  []string // by sample
	repair    []string // one after the other for each sample
	last      string   // to the last resort
	judge     []string // by call
}

func (a agent) model() (llm.Model, *int) {
	var mu sync.Mutex
	calls, repairs := 0, map[int]int{}
	text := func(req llm.Request) (string, bool) {
		at := func(list []string, i int) (string, bool) {
			if i >= len(list) || list[i] == "" {
				return "", false
			}
			return list[i], true
		}
		switch req.Purpose {
		case "decompose":
			return a.decompose, a.decompose != ""
		case "score":
			if a.score == nil {
				return "", false
			}
			return a.score(req.Messages[1].Text), true
		case "generate":
			return at(a.generate, req.Sample)
		case "repair":
			if req.Sample == len(a.generate) {
				return a.last, a.last != ""
			}
			repairs[req.Sample]++
			return at(a.repair, repairs[req.Sample]-1)
		case "judge":
			return at(a.judge, req.Sample)
		}
		return "", false
	}
	return llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		reply, ok := text(req)
		if !ok {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no reply to " + req.Purpose}
		}
		return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
	}), &calls
}

// relevant scores the table customers 0.9 and any other 0.1.
func relevant(prompt string) string {
	if strings.Contains(prompt, "CREATE TABLE customers (") {
		return `{"score": 0.9}`
	}
	return `{"score": 0.1}`
}

// described is a shop with descriptions of experts and of a model.
func described(t *testing.T, model llm.Model) *strategy.Env {
	env := strategytest.ShopEnv(t, model)
	env.Schema, _ = env.Schema.Describe(schema.Descriptions{
		"customers.country": {Text: "where the customer lives"}, "orders.total": {Described: "amount paid in crowns"},
	})
	env.Profiles = true
	return env
}

// option is the letter under which the answer stands in a judge's call, so that a scripted judge can be of one mind.
func verdicts(letters ...string) []string {
	for i, l := range letters {
		letters[i] = fmt.Sprintf(`{"selected_option": %q, "confidence": 0.9, "reasoning": "it fits"}`, l)
	}
	return letters
}

// What five contexts answer.
var (
	split   = []string{usa, usa, everyone, everyone, usa}
	failing = []string{broken, broken, broken, broken, broken}
	silent  = []string{"", "", "", "", ""} // the model is down
)

// typo is a statement that does not run, one for each n.
func typo(n int) string { return fmt.Sprintf("SELECT nme%d FROM customers", n) }

func TestQASQL(t *testing.T) {
	tests := []struct {
		agent    agent
		preset   qasql.Strategy
		samples  int
		want     string
		share    string // confidence, as a fraction
		doubt    float64
		calls    int
		warnings string // codes
		is       error
		report   string // parts, as contexts, verdict and flags
		steps    int
		why      string
	}{
		{agent: agent{generate: []string{usa, usaJoin, usa, usa, usa}}, want: usa, share: "5/5", calls: 1 + 2 + 5, steps: 5,
			report: "clusters 1", why: "one answer: no judge"},
		{agent: agent{generate: split, judge: verdicts("A", "A")}, want: usa, share: "4/7", calls: 1 + 2 + 5 + 2, steps: 5,
			report: "clusters 2, choice -1 of 2", why: "a judge that always takes the first option changes nothing, " +
				"and its one vote counts"},
		{agent: agent{generate: split, judge: verdicts("A", "B")}, want: everyone, share: "4/7", calls: 1 + 2 + 5 + 2,
			steps:  5,
			report: "clusters 2, choice 1 of 2", why: "two calls of one mind overrule the vote"},
		{agent: agent{generate: split, judge: verdicts("B", "A")}, want: usa, share: "5/7", calls: 1 + 2 + 5 + 2, steps: 5,
			report: "clusters 2, choice 0 of 2", why: "or confirm it"},
		{agent: agent{generate: split, judge: verdicts("A")}, preset: qasql.Strategy{Judge: strategy.Rubric{Votes: 1}},
			want: everyone, share: "3/6", calls: 1 + 2 + 5 + 1, steps: 5, report: "clusters 2, choice 1 of 1",
			why: "the published form: one call decides"},
		{agent: agent{generate: split}, preset: qasql.Strategy{MinShare: 0.6}, want: usa, share: "3/5", calls: 1 + 2 + 5,
			steps:  5,
			report: "clusters 2", why: "three of five are enough"},
		{agent: agent{generate: split}, preset: qasql.Strategy{WithoutJudge: true}, want: usa, share: "3/5", calls: 1 + 2 + 5,
			steps:  5,
			report: "clusters 2", why: "the vote alone"},
		{agent: agent{generate: []string{norway, usa, usa, norway, everyone}},
			preset: qasql.Strategy{WithoutJudge: true}, want: norway, share: "2/5", calls: 1 + 2 + 5, steps: 5,
			report: "clusters 3", why: "the earliest of the largest"},
		{agent: agent{generate: []string{chile, chile, usa, usa, norway}}, preset: qasql.Strategy{WithoutJudge: true},
			want: chile, share: "2/5", calls: 1 + 2 + 5 + 2, steps: 7,
			warnings: "empty-result", report: "clusters 3", doubt: 2, why: "also where it is empty, which is doubted"},
		{agent: agent{generate: []string{broken, usa, usa, usa, usa}, repair: []string{usaJoin}},
			want: usa, share: "5/5", calls: 1 + 2 + 5 + 1, steps: 6,
			report: "clusters 1", why: "a failed statement is refined"},
		{agent: agent{generate: []string{usa, "", "", "", ""}}, want: usa, share: "1/5", calls: 1 + 2 + 5, steps: 1,
			warnings: "provider-failed one-voter", report: "clusters 1", why: "models that fail take nothing but their vote"},
		{agent: agent{generate: failing, repair: []string{broken + " ", "No."}}, is: strategy.ErrNoCandidate, calls: 1 + 2 +
			5 + 5 + 1, steps: 11,
			report: "clusters 0", why: "the same statement again ends each, and the last resort does not run either"},
		{agent: agent{generate: failing}, is: strategy.ErrNoCandidate, calls: 1 + 2 + 5 + 5 + 1, steps: 11,
			report: "clusters 0", why: "the model of the repairs is down"},
		{agent: agent{generate: failing, last: everyone}, want: everyone, share: "1/6", calls: 1 + 2 + 5 + 5 + 1, steps: 11,
			warnings: "last-resort", report: "clusters 1, last resort", why: "a simple statement in view of the failures"},
		{agent: agent{generate: failing, last: everyone}, preset: qasql.Strategy{WithoutLastResort: true},
			is:    strategy.ErrNoCandidate,
			calls: 1 + 2 + 5 + 5, steps: 10, report: "clusters 0", why: "which may be turned off"},
		{agent: agent{generate: []string{usa, everyone, everyone, usaJoin, usa}, judge: verdicts("B", "A", "B")},
			preset: qasql.Strategy{JudgeFirst: true}, want: everyone, share: "4/7",
			calls: 1 + 2 + 5 + 2, steps: 1, report: "clusters 3, choice 1 of 2",
			why: "judge first: texts, three of them, and one is executed"},
		{agent: agent{generate: []string{broken, broken, everyone, everyone, broken}, judge: verdicts("B", "A")},
			preset: qasql.Strategy{JudgeFirst: true}, want: everyone, share: "2/7",
			calls: 1 + 2 + 5 + 2 + 1, steps: 3, report: "clusters 1, choice 0 of 2",
			why: "judge first: what it picked does not run, the rest is picked from"},
		{agent: agent{generate: []string{broken, broken, everyone, everyone, broken}, repair: []string{usa},
			judge: verdicts("B", "A")},
			preset: qasql.Strategy{JudgeFirst: true},
			want:   usa, share: "5/7", calls: 1 + 2 + 5 + 2 + 1, steps: 2, report: "clusters 2, choice 0 of 2",
			why: "judge first: what it picked is refined"},
		{agent: agent{generate: []string{broken, typo(1), typo(2), typo(3), usa}},
			preset: qasql.Strategy{JudgeFirst: true, WithoutJudge: true, WithoutLastResort: true},
			is:     strategy.ErrNoCandidate, calls: 1 + 2 + 5 + 3, steps: 6, report: "clusters 2",
			why: "judge first: three picks are all"},
		{agent: agent{generate: []string{chile, chile, chile, chile, chile}, repair: []string{chile}},
			preset: qasql.Strategy{JudgeFirst: true},
			want:   chile, share: "5/5", calls: 1 + 2 + 5 + 1, steps: 2, warnings: "empty-result", report: "clusters 1",
			why: "judge first: an empty answer is told"},
		{agent: agent{generate: failing}, preset: qasql.Strategy{JudgeFirst: true}, is: strategy.ErrNoCandidate,
			calls: 1 + 2 + 5 + 1 + 1, steps: 3, report: "clusters 0", why: "judge first: nothing runs"},
		{agent: agent{generate: silent}, is: strategy.ErrNoCandidate, calls: 1 + 2 + 5, why: "no reply, no last resort",
			report: "clusters 0"},
		{agent: agent{generate: []string{chile, chile, chile, chile, chile}, repair: []string{chile}},
			want: chile, share: "5/5", calls: 1 + 2 + 5 + 5, steps: 10,
			warnings: "empty-result", report: "clusters 1", doubt: 2, why: "an empty answer stands, and is told"},
		{agent: agent{generate: []string{usa, usa, usa, usa, usa, usa, usa, usa, usa, norway}, judge: verdicts("A", "A")},
			samples: 2,
			want:    usa, share: "10/12", calls: 1 + 2 + 10 + 2, steps: 10,
			report: "clusters 2, choice -1 of 2", why: "two samples a context"},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			tt.agent.decompose = `{"entity": "customers", "filter": ["live in the USA"]}`
			tt.agent.score = relevant
			model, calls := tt.agent.model()
			env, root := described(t, model), trace.Tracer{}.New("question")
			env.Concurrency = 1
			task := strategytest.USATask
			task.Samples = tt.samples
			out, err := tt.preset.Generate(trace.NewContext(t.Context(), root), env, task)
			told.WriteString("== " + tt.why + "\n" + strategytest.Told(out, err))
			if !errors.Is(err, tt.is) {
				t.Fatalf("error %v, want %v", err, tt.is)
			}
			report := testutil.Value(strategy.ReadReport[qasql.Report](out.Report))(t)
			var votes, all float64
			if tt.share != "" {
				fmt.Sscanf(tt.share, "%g/%g", &votes, &all)
				votes = votes / all * math.Exp(-tt.doubt/2)
			}
			if out.SQL != tt.want || math.Abs(out.Confidence-votes) > 1e-9 {
				t.Errorf("%q with %v, want %q with %s", out.SQL, out.Confidence, tt.want, tt.share)
			}
			if *calls != tt.calls || len(out.Steps) != tt.steps {
				t.Errorf("%d calls and %d steps, want %d and %d: %v", *calls, len(out.Steps), tt.calls, tt.steps, out.Steps)
			}
			if got := codes(root); got != tt.warnings {
				t.Errorf("warnings %s, want %s", got, tt.warnings)
			}
			if got := summary(report); got != tt.report {
				t.Errorf("report: %s, want %s", got, tt.report)
			}
		})
	}
	golden.Check(t, "outcomes.golden", told.String())
}

// codes are the codes of the warnings.
func codes(root *trace.Span) string {
	var codes []string
	for _, w := range root.Warnings() {
		codes = append(codes, w.Code)
	}
	return strings.Join(codes, " ")
}

// summary is what a report says of the choice.
func summary(r qasql.Report) string {
	s := fmt.Sprintf("clusters %d", r.Clusters)
	if r.Verdict != nil {
		s += fmt.Sprintf(", choice %d of %d", r.Verdict.Choice, r.JudgeCalls)
	}
	if r.LastResort {
		s += ", last resort"
	}
	return s
}
