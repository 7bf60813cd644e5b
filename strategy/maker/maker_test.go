package maker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// reports is a line for each phase: its name, whether it is valid, samples,
// flagged, winner, why it led nowhere.
func reports(out *strategy.Outcome) []string {
	var lines []string
	for _, r := range reportOf(out).Phases {
		line := fmt.Sprintf("%s valid=%v samples=%d flagged=%d unique=%d", r.Phase, r.Valid, r.Samples, r.Flagged, r.UniqueSignatures)
		if r.Winner != "" {
			line += " " + r.Winner
		}
		if r.Fallback != "" {
			line += " !" + r.Fallback
		}
		lines = append(lines, line)
	}
	return lines
}

func TestMAKER(t *testing.T) {
	tests := []struct {
		name     string
		maker    maker.Strategy
		rules    []llmtest.Rule
		sql      string
		phases   []string // reports
		fallback string
		calls    int
		why      string
	}{
		{"all agree", maker.Strategy{}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + ordered,
		}, "", 21, "seven of twelve decide, three times"},
		{"economy", maker.Strategy{Stop: vote.AheadBy(3)}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true samples=3 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=3 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=3 flagged=0 unique=1 " + ordered,
		}, "", 9, "three ahead decide"},
		{"no filter is a vote", maker.Strategy{}, []llmtest.Rule{
			always(maker.PurposeScope, scopeOne),
			samples(maker.PurposeFilter, append([]string{inUSA}, times(11, "No filters needed")...)...),
			always(maker.PurposeProjection, everyone),
		}, everyone, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=true samples=8 flagged=0 unique=2 no filter",
			"projection valid=true samples=7 flagged=0 unique=1 " + everyone,
		}, "", 22, "eleven without a filter outvote one with"},
		{"fewer tables than agreed", maker.Strategy{}, phases(scopeBoth, inUSA, usa), usa, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + usa,
		}, "", 21, "a scope with a table too many is undone"},
		{"an extra table has no vote", maker.Strategy{}, []llmtest.Rule{
			always(maker.PurposeScope, scopeOne), always(maker.PurposeFilter, inUSA),
			samples(maker.PurposeProjection, ordered, ordered, ordered, usa),
		}, usa, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=9 flagged=3 unique=1 " + usa,
		}, "", 23, "three read orders, which nobody agreed on; after nine samples they cannot become the majority"},
		{"unjoined majority", maker.Strategy{}, []llmtest.Rule{
			always(maker.PurposeScope, "Tables: customers, notes"), always("generate", usa),
		}, usa, []string{"scope valid=false samples=7 flagged=0 unique=1 !scope_unjoined"}, "scope_unjoined", 15,
			"a cross product is no plan; the fallback samples 8 of 15"},
		{"unjoined, no majority", maker.Strategy{}, []llmtest.Rule{
			samples(maker.PurposeScope, append(append(times(5, "Tables: customers, notes"), times(4, scopeOne)...), times(3, scopeBoth)...)...),
			always(maker.PurposeFilter, inUSA), always(maker.PurposeProjection, usa),
		}, usa, []string{
			"scope valid=true samples=12 flagged=0 unique=3 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + usa,
		}, "", 26, "the next set is taken"},
		{"all scopes invalid", maker.Strategy{}, []llmtest.Rule{
			samples(maker.PurposeScope, append(append(times(5, "Tables: customers, notes"), times(4, "Tables: orders, notes")...),
				times(3, "Tables: order, notes")...)...),
			always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=0 unique=3 !scope_invalid"}, "scope_invalid", 20, "nothing joins any of them"},
		{"phase 1 unparsable", maker.Strategy{}, []llmtest.Rule{
			always(maker.PurposeScope, "You need customers and their orders."), always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=12 unique=0 !scope_invalid"}, "scope_invalid", 20, "the fallback really runs"},
		{"no scope of two votes", maker.Strategy{Samples: 3}, []llmtest.Rule{
			samples(maker.PurposeScope, "Tables: customers, notes", scopeOne, "Tables: nothing"), always("generate", usa),
		}, usa, []string{"scope valid=false samples=3 flagged=1 unique=2 !scope_invalid"}, "scope_invalid", 11,
			"half the votes are for no plan, the other set has one vote"},
		{"filters outside of the tables", maker.Strategy{}, []llmtest.Rule{
			samples(maker.PurposeScope, append(append(times(6, scopeOne), times(3, scopeBoth)...), times(3, scopeOne)...)...),
			always(maker.PurposeFilter, "orders.total > 1"), always(maker.PurposeProjection, ordered),
		}, ordered, []string{
			"scope valid=true samples=10 flagged=0 unique=2 customers",
			"filter valid=false samples=12 flagged=12 unique=0 !quorum",
			"filter valid=true samples=7 flagged=0 unique=1 orders.total > 1",
			"projection valid=true samples=7 flagged=0 unique=1 " + ordered,
		}, "", 36, "no condition fits the first tables, so the next ones are tried"},
		{"no filter compiles", maker.Strategy{Samples: 3}, []llmtest.Rule{
			always(maker.PurposeScope, scopeOne), always(maker.PurposeFilter, "customers.country = nosuchfunction(1)"), always(maker.PurposeProjection, usa),
		}, usa, []string{
			"scope valid=true samples=2 flagged=0 unique=1 customers",
			"filter valid=true samples=2 flagged=0 unique=1 no filter",
			"projection valid=true samples=2 flagged=0 unique=1 " + usa,
		}, "", 6, "then none is agreed on"},
		{"no table", maker.Strategy{}, phases("Tables: none", "unused", "SELECT 1 + 1"), "SELECT 1 + 1", []string{
			"scope valid=true samples=7 flagged=0 unique=1 no tables",
			"filter valid=true samples=0 flagged=0 unique=0 no filter",
			"projection valid=true samples=7 flagged=0 unique=1 SELECT 1 + 1",
		}, "", 14, "a question of arithmetic: nothing to filter"},
		{"blank and keyword", maker.Strategy{Samples: 3},
			phases("Tables: order details, order\nJoins: \"order details\".\"order id\" = \"order\".id", "\"order details\".qty > 1",
				`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`),
			`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`, []string{
				"scope valid=true samples=2 flagged=0 unique=1 order, order details on order.id = order details.order id",
				`filter valid=true samples=2 flagged=0 unique=1 "order details".qty > 1`,
				`projection valid=true samples=2 flagged=0 unique=1 SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`,
			}, "", 6, "names are quoted where they must be"},
		{"one sample", maker.Strategy{Samples: 1}, phases(scopeOne, inUSA, usa), usa, []string{
			"scope valid=true samples=1 flagged=0 unique=1 customers",
			"filter valid=true samples=1 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=1 flagged=0 unique=1 " + usa,
		}, "", 3, "the quorum is one then"},
		{"calls for one phase only", maker.Strategy{MaxCalls: 5}, append(phases(scopeOne, inUSA, usa), always("generate", usa)), usa, []string{
			"scope valid=true samples=5 flagged=0 unique=1 customers",
			"filter valid=false samples=0 flagged=0 unique=0 !budget",
		}, "budget", 13, "best effort: five calls, then the fallback with its own"},
	}
	env := makerEnv(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out, err := tt.maker.Generate(t.Context(), asking(env, script), usaTask)
			if err != nil {
				t.Fatal(err)
			}
			if out.SQL != tt.sql || reportOf(out).Fallback != tt.fallback {
				t.Errorf("got %q by fallback %q, want %q by %q: %s", out.SQL, reportOf(out).Fallback, tt.sql, tt.fallback, tt.why)
			}
			if d := cmp.Diff(tt.phases, reports(out)); d != "" {
				t.Errorf("phases (-want +got):\n%s", d)
			}
			if calls := len(script.Requests()); calls != tt.calls {
				t.Errorf("%d calls, want %d: %s", calls, tt.calls, tt.why)
			}
			if w := out.Ballot.Clusters[0]; !(out.Confidence > 0 && out.Confidence < w.Share) || out.Confidence != w.Confidence {
				t.Errorf("confidence %v, not that of the ballot %+v", out.Confidence, w)
			}
		})
	}
}

// TestMAKERCalls: the first wave is the smallest that can decide, and all at once
// where that is asked for.
func TestMAKERCalls(t *testing.T) {
	db := makerEnv(t, nil)
	for _, tt := range []struct {
		maker maker.Strategy
		calls int
	}{{maker.Strategy{}, 21}, {maker.Strategy{Stop: vote.AheadBy(3)}, 9}, {maker.Strategy{MinWave: 12}, 36}, {maker.Strategy{}.Published(), 36}} {
		synctest.Test(t, func(t *testing.T) {
			script := &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)}
			// A model that takes its time has been asked everything by the first answer.
			slow := llm.Chain(script, llmtest.Latency{Fixed: time.Second}.Middleware())
			var calls atomic.Int64
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				calls.Add(1)
				return slow.Complete(ctx, req)
			})
			env := asking(db, model)
			env.Rows = &exec.SampleCache{} // its channels belong to one test
			out, err := tt.maker.Generate(t.Context(), env, usaTask)
			if err != nil {
				t.Fatal(err)
			}
			if n := int(calls.Load()); n != tt.calls || out.SQL != ordered {
				t.Errorf("%+v: %d calls for %q, want %d", tt.maker, n, out.SQL, tt.calls)
			}
		})
	}
}

// TestMAKERConflict: statements that need another table send it back to the next
// set of tables, and the outcome shows both attempts.
func TestMAKERConflict(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		samples(maker.PurposeScope, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
		always(maker.PurposeFilter, inUSA), always(maker.PurposeProjection, ordered),
	}}
	root := trace.New("question")
	out, err := maker.Strategy{}.Generate(trace.Into(t.Context(), root), makerEnv(t, script), usaTask)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"scope valid=true samples=10 flagged=0 unique=2 customers",
		"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
		"projection valid=false samples=7 flagged=7 unique=0 !conflict",
		"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
		"projection valid=true samples=7 flagged=0 unique=1 " + ordered,
	}
	if d := cmp.Diff(want, reports(out)); d != "" || out.SQL != ordered || reportOf(out).Fallback != "" {
		t.Errorf("got %q, fallback %q, phases (-want +got):\n%s", out.SQL, reportOf(out).Fallback, d)
	}
	if got := []int{reportOf(out).Phases[2].Attempt, reportOf(out).Phases[4].Attempt}; !slices.Equal(got, []int{0, 1}) {
		t.Errorf("attempts %v", got)
	}
	if !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, "given up for customers, orders") }) {
		t.Errorf("no note on the way back in %q", out.Notes)
	}
	var steps []string
	for _, e := range root.Events() {
		steps = append(steps, e.Name)
	}
	for _, s := range root.Children() {
		steps = append(steps, s.Name())
		if why, ok := s.Attr("fallback"); ok {
			steps = append(steps, fmt.Sprint(why))
		}
		// What the document measures of a phase.
		for _, key := range []string{"valid", "share", "unique_signatures", "samples", "flagged"} {
			if _, ok := s.Attr(key); !ok {
				t.Errorf("the span of %s has no %s", s.Name(), key)
			}
		}
	}
	if d := cmp.Diff([]string{"backtrack", "scope", "filter", "projection", "conflict", "filter", "projection"}, steps); d != "" {
		t.Errorf("the trace does not show both attempts (-want +got):\n%s", d)
	}
}

// TestMAKERLock: what a lock lets through.
func TestMAKERLock(t *testing.T) {
	env := makerEnv(t, nil)
	tests := []struct {
		name  string
		free  bool // without a lock
		scope string
		reply string
		votes bool
		why   string
	}{
		{"within, fewer", false, scopeBoth, usa, true, "a subset is fine"},
		{"within, other", false, scopeOne, ordered, false, "orders is not agreed on"},
		{"none", true, scopeOne, ordered, true, "advice only"},
		{"view", false, "Tables: americans", "SELECT name FROM americans", true, "what lies under a view is read with it"},
		{"view by its table", false, scopeOne, "SELECT name FROM americans", false, "the view itself was not agreed on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: append(phases(tt.scope, "No filters needed", tt.reply), always("generate", everyone))}
			out, err := maker.Strategy{WithoutLock: tt.free}.Generate(t.Context(), asking(env, script), usaTask)
			if err != nil {
				t.Fatal(err)
			}
			if voted := reportOf(out).Fallback == ""; voted != tt.votes {
				t.Errorf("voted %v (fallback %q, %v), want %v: %s", voted, reportOf(out).Fallback, reports(out), tt.votes, tt.why)
			}
		})
	}
}

// TestMAKERPrompts: question and evidence stand in every phase, what was agreed on
// in the later ones.
func TestMAKERPrompts(t *testing.T) {
	env := makerEnv(t, nil)
	for compat, s := range map[bool]maker.Strategy{false: {}, true: maker.Strategy{}.Published()} {
		script := &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)}
		if _, err := s.Generate(t.Context(), asking(env, script), usaTask); err != nil {
			t.Fatal(err)
		}
		for purpose, want := range map[string][]string{
			maker.PurposeScope:      nil,
			maker.PurposeFilter:     {"Tables: customers, orders", "Joins: customers.id = orders.customer_id"},
			maker.PurposeProjection: {"Tables: customers, orders", "customers.country = 'USA'"},
		} {
			for _, req := range script.RequestsFor(purpose) {
				text := req.Messages[len(req.Messages)-1].Text
				for _, w := range append(want, usaTask.Question, usaTask.Evidence, "CREATE TABLE customers", "Ada") {
					if !strings.Contains(text, w) {
						t.Errorf("compat %v: %q is not in the prompt of %s:\n%s", compat, w, purpose, text)
					}
				}
			}
		}
	}
}

// TestPrompts holds the prompts of the three phases to their golden files.
func TestPrompts(t *testing.T) {
	t.Run("ours", func(t *testing.T) { strategytest.CheckPrompts(t, maker.Strategy{Samples: 1}, "prompt-maker.txt") })
	t.Run("published", func(t *testing.T) {
		strategytest.CheckPrompts(t, maker.Strategy{Samples: 1}.Published(), "prompt-maker-compat.txt")
	})
}
