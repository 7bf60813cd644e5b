package maker

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
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
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
		maker    Strategy
		rules    []llmtest.Rule
		sql      string
		phases   []string // reports
		fallback string
		calls    int
		why      string
	}{
		{"all agree", Strategy{}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + ordered,
		}, "", 21, "seven of twelve decide, three times"},
		{"economy", Strategy{Stop: vote.AheadBy(3)}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true samples=3 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=3 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=3 flagged=0 unique=1 " + ordered,
		}, "", 9, "three ahead decide"},
		{"no filter is a vote", Strategy{}, []llmtest.Rule{
			always("maker.scope", scopeOne),
			samples("maker.filter", append([]string{inUSA}, times(11, "No filters needed")...)...),
			always("maker.projection", everyone),
		}, everyone, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=true samples=8 flagged=0 unique=2 no filter",
			"projection valid=true samples=7 flagged=0 unique=1 " + everyone,
		}, "", 22, "eleven without a filter outvote one with"},
		{"fewer tables than agreed", Strategy{}, phases(scopeBoth, inUSA, usa), usa, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + usa,
		}, "", 21, "a scope with a table too many is undone"},
		{"an extra table has no vote", Strategy{}, []llmtest.Rule{
			always("maker.scope", scopeOne), always("maker.filter", inUSA),
			samples("maker.projection", ordered, ordered, ordered, usa),
		}, usa, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=9 flagged=3 unique=1 " + usa,
		}, "", 23, "three read orders, which nobody agreed on; after nine samples they cannot become the majority"},
		{"unjoined majority", Strategy{}, []llmtest.Rule{
			always("maker.scope", "Tables: customers, notes"), always("generate", usa),
		}, usa, []string{"scope valid=false samples=7 flagged=0 unique=1 !scope_unjoined"}, "scope_unjoined", 15,
			"a cross product is no plan; the fallback samples 8 of 15"},
		{"unjoined, no majority", Strategy{}, []llmtest.Rule{
			samples("maker.scope", append(append(times(5, "Tables: customers, notes"), times(4, scopeOne)...), times(3, scopeBoth)...)...),
			always("maker.filter", inUSA), always("maker.projection", usa),
		}, usa, []string{
			"scope valid=true samples=12 flagged=0 unique=3 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + usa,
		}, "", 26, "the next set is taken"},
		{"all scopes invalid", Strategy{}, []llmtest.Rule{
			samples("maker.scope", append(append(times(5, "Tables: customers, notes"), times(4, "Tables: orders, notes")...),
				times(3, "Tables: order, notes")...)...),
			always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=0 unique=3 !scope_invalid"}, "scope_invalid", 20, "nothing joins any of them"},
		{"phase 1 unparsable", Strategy{}, []llmtest.Rule{
			always("maker.scope", "You need customers and their orders."), always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=12 unique=0 !scope_invalid"}, "scope_invalid", 20, "the fallback really runs"},
		{"no scope of two votes", Strategy{Samples: 3}, []llmtest.Rule{
			samples("maker.scope", "Tables: customers, notes", scopeOne, "Tables: nothing"), always("generate", usa),
		}, usa, []string{"scope valid=false samples=3 flagged=1 unique=2 !scope_invalid"}, "scope_invalid", 11,
			"half the votes are for no plan, the other set has one vote"},
		{"filters outside of the tables", Strategy{}, []llmtest.Rule{
			samples("maker.scope", append(append(times(6, scopeOne), times(3, scopeBoth)...), times(3, scopeOne)...)...),
			always("maker.filter", "orders.total > 1"), always("maker.projection", ordered),
		}, ordered, []string{
			"scope valid=true samples=10 flagged=0 unique=2 customers",
			"filter valid=false samples=12 flagged=12 unique=0 !quorum",
			"filter valid=true samples=7 flagged=0 unique=1 orders.total > 1",
			"projection valid=true samples=7 flagged=0 unique=1 " + ordered,
		}, "", 36, "no condition fits the first tables, so the next ones are tried"},
		{"no filter compiles", Strategy{Samples: 3}, []llmtest.Rule{
			always("maker.scope", scopeOne), always("maker.filter", "customers.country = nosuchfunction(1)"), always("maker.projection", usa),
		}, usa, []string{
			"scope valid=true samples=2 flagged=0 unique=1 customers",
			"filter valid=true samples=2 flagged=0 unique=1 no filter",
			"projection valid=true samples=2 flagged=0 unique=1 " + usa,
		}, "", 6, "then none is agreed on"},
		{"no table", Strategy{}, phases("Tables: none", "unused", "SELECT 1 + 1"), "SELECT 1 + 1", []string{
			"scope valid=true samples=7 flagged=0 unique=1 no tables",
			"filter valid=true samples=0 flagged=0 unique=0 no filter",
			"projection valid=true samples=7 flagged=0 unique=1 SELECT 1 + 1",
		}, "", 14, "a question of arithmetic: nothing to filter"},
		{"blank and keyword", Strategy{Samples: 3},
			phases("Tables: order details, order\nJoins: \"order details\".\"order id\" = \"order\".id", "\"order details\".qty > 1",
				`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`),
			`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`, []string{
				"scope valid=true samples=2 flagged=0 unique=1 order, order details on order.id = order details.order id",
				`filter valid=true samples=2 flagged=0 unique=1 "order details".qty > 1`,
				`projection valid=true samples=2 flagged=0 unique=1 SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`,
			}, "", 6, "names are quoted where they must be"},
		{"one sample", Strategy{Samples: 1}, phases(scopeOne, inUSA, usa), usa, []string{
			"scope valid=true samples=1 flagged=0 unique=1 customers",
			"filter valid=true samples=1 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=1 flagged=0 unique=1 " + usa,
		}, "", 3, "the quorum is one then"},
		{"calls for one phase only", Strategy{MaxCalls: 5}, append(phases(scopeOne, inUSA, usa), always("generate", usa)), usa, []string{
			"scope valid=true samples=5 flagged=0 unique=1 customers",
			"filter valid=false samples=0 flagged=0 unique=0 !budget",
		}, "budget", 13, "best effort: five calls, then the fallback with its own"},
	}
	env := makerEnv(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out := need.Value(tt.maker.Generate(t.Context(), asking(env, script), usaTask))(t)
			if out.SQL != tt.sql || reportOf(out).Fallback != tt.fallback {
				t.Errorf("got %q by fallback %q, want %q by %q: %s", out.SQL, reportOf(out).Fallback, tt.sql, tt.fallback, tt.why)
			}
			golden.Equal(t, tt.phases, reports(out), "phases")
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
		maker Strategy
		calls int
	}{{Strategy{}, 21}, {Strategy{Stop: vote.AheadBy(3)}, 9}, {Strategy{}.Published(), 36}} {
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
			env.Host.Rows = &exec.SampleCache{} // its channels belong to one test
			out := need.Value(tt.maker.Generate(t.Context(), env, usaTask))(t)
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
		samples("maker.scope", scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
		always("maker.filter", inUSA), always("maker.projection", ordered),
	}}
	root := trace.New("question")
	out := need.Value(Strategy{}.Generate(trace.Into(t.Context(), root), makerEnv(t, script), usaTask))(t)
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

// A scope of a left join, a statement that needs it, and one that needs an inner one.
const (
	scopeLeft = scopeBoth + "\nLeft join: orders"
	without   = "SELECT c.name FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id WHERE o.id IS NULL"
	buyers    = "SELECT c.id FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
)

// TestMAKERLeftJoin: "customers without orders" survives phase 3, though the greatest party of its statements loses them; and a left
// join that the statements do not want leads to the next scope.
func TestMAKERLeftJoin(t *testing.T) {
	const nulls = "orders.id IS NULL"
	scopes := samples("maker.scope", scopeLeft, scopeBoth, scopeLeft, scopeLeft, scopeLeft, scopeBoth, scopeLeft, scopeLeft, scopeLeft)
	inner := "SELECT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.id WHERE o.id IS NULL"
	for _, tt := range []struct {
		name        string
		projections []string
		sql, winner string // of the statement, of the scope
		attempts    int
	}{
		{"most agree without it", []string{inner, without, inner, usa, inner, without, usa, inner, without, everyone, inner, without}, without,
			"customers, orders; left join orders on customers.id = orders.customer_id", 0},
		{"a majority against it", []string{ordered}, ordered, "customers, orders; left join orders on customers.id = orders.customer_id", 1},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{scopes, always("maker.filter", nulls), samples("maker.projection", tt.projections...)}}
		out, err := Strategy{}.Generate(t.Context(), makerEnv(t, script), strategy.Task{Question: "Which customers have no orders?"})
		if err != nil || out.SQL != tt.sql || reportOf(out).Phases[0].Winner != tt.winner || reportOf(out).Phases[1].Winner != nulls {
			t.Fatalf("%s: %v, %v\n%s", tt.name, out, err, strings.Join(reports(out), "\n"))
		}
		if last := reportOf(out).Phases[len(reportOf(out).Phases)-1]; last.Attempt != tt.attempts || reportOf(out).Fallback != "" {
			t.Errorf("%s: attempt %d, want %d\n%s", tt.name, last.Attempt, tt.attempts, strings.Join(reports(out), "\n"))
		}
		for _, purpose := range []string{"maker.filter", "maker.projection"} {
			if text := script.RequestsFor(purpose)[0].Messages[1].Text; !strings.Contains(text, "\nLeft join: orders\n") {
				t.Errorf("%s: the prompt of %s has no left join:\n%s", tt.name, purpose, text)
			}
		}
	}
	script := &llmtest.Script{Rules: append([]llmtest.Rule{scopes}, phases("", nulls, without)...)}
	out, err := Strategy{}.Published().Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || len(reportOf(out).Phases[0].Clusters) != 1 || strings.Contains(script.RequestsFor("maker.filter")[0].Messages[0].Text, "Left join") {
		t.Errorf("as published, a scope is tables and joins: %v, %v", out, err)
	}
}

// TestMAKERLock: what a lock lets through.
func TestMAKERLock(t *testing.T) {
	env := makerEnv(t, nil)
	tests := []struct {
		name  string
		scope string
		reply string
		votes bool
		why   string
	}{
		{"within, fewer", scopeBoth, usa, true, "a subset is fine"},
		{"within, other", scopeOne, ordered, false, "orders is not agreed on"},
		{"view", "Tables: americans", "SELECT name FROM americans", true, "what lies under a view is read with it"},
		{"left join, kept", scopeLeft, without, true, "what was agreed on"},
		{"left join, lost", scopeLeft, ordered, false, "an inner join has no customers without orders"},
		{"left join, by NOT IN", scopeLeft, "SELECT name FROM customers WHERE id NOT IN (" + buyers + ")", true, "the same in other words"},
		{"left join, by EXCEPT", scopeLeft, "SELECT id FROM customers EXCEPT " + buyers, true, "the same in other words"},
		{"left join, one table", scopeLeft, usa, true, "a subset is fine"},
		{"left join, nothing joined", scopeLeft, "SELECT name, (SELECT max(o.id) FROM orders AS o) FROM customers WHERE id > 0", true, "no row is lost"},
		{"view by its table", scopeOne, "SELECT name FROM americans", false, "the view itself was not agreed on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: append(phases(tt.scope, "No filters needed", tt.reply), always("generate", everyone))}
			out := need.Value(Strategy{}.Generate(t.Context(), asking(env, script), usaTask))(t)
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
	for compat, s := range map[bool]Strategy{false: {}, true: Strategy{}.Published()} {
		script := &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)}
		need.Value(s.Generate(t.Context(), asking(env, script), usaTask))(t)
		for purpose, want := range map[string][]string{
			"maker.scope":      nil,
			"maker.filter":     {"Tables: customers, orders", "Joins: customers.id = orders.customer_id"},
			"maker.projection": {"Tables: customers, orders", "customers.country = 'USA'"},
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
	t.Run("ours", func(t *testing.T) { strategytest.CheckPrompts(t, Strategy{Samples: 1}, "prompt-maker.txt") })
	t.Run("published", func(t *testing.T) {
		strategytest.CheckPrompts(t, Strategy{Samples: 1}.Published(), "prompt-maker-compat.txt")
	})
}

// TestMAKERJoins: a set of tables is joined by its most frequent joins, of several the earliest; replies without joins
// have no say, and what is then still open is completed by foreign keys.
func TestMAKERJoins(t *testing.T) {
	const byTotal, byKey = "\nJoins: orders.total = customers.id", "\nJoins: orders.customer_id = customers.id"
	const tables = "Tables: customers, orders"
	for _, tt := range []struct {
		why    string
		scopes []string
		want   string
	}{
		{"the most frequent, not the first", []string{tables + byTotal, tables + byKey, tables + byKey}, "customers.id = orders.customer_id"},
		{"the most frequent, not the last", []string{tables + byKey, tables + byKey, tables + byTotal}, "customers.id = orders.customer_id"},
		{"of two the earliest", []string{tables + byTotal, tables + byKey, tables + byTotal, tables + byKey}, "customers.id = orders.total"},
		{"two without joins", []string{tables, tables + byTotal, tables}, "customers.id = orders.total"},
		{"nobody names them: the foreign key", []string{tables}, "customers.id = orders.customer_id"},
	} {
		script := &llmtest.Script{Rules: append([]llmtest.Rule{samples("maker.scope", tt.scopes...)}, phases("", inUSA, ordered)...)}
		out, err := Strategy{Samples: 2*len(tt.scopes) - 1}.Generate(t.Context(), makerEnv(t, script), usaTask)
		if err != nil || reportOf(out).Phases[0].Winner != "customers, orders on "+tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.why, reports(out), err, tt.want)
		}
	}
}

// TestMAKERGoesBackTwice: two sets of tables may be given up, the third is tried, and a fourth only where that is asked
// for. The fallback behind them has a number of samples of its own.
func TestMAKERGoesBackTwice(t *testing.T) {
	const notes, details = "Tables: notes", "Tables: order details"
	scopes := append(append(append(times(4, notes), times(3, details)...), times(3, scopeOne)...), times(2, scopeBoth)...)
	for _, tt := range []struct {
		why      string
		maker    Strategy
		samples  int    // of the task
		reply    string // of phase 3
		fallback string
		attempts []int // of the phases
		calls    int   // of the fallback
	}{
		{"the third fits", Strategy{}, 0, usa, "", []int{0, 0, 0, 1, 1, 2, 2}, 0},
		{"the fourth would fit", Strategy{}, 0, ordered, "conflict", []int{0, 0, 0, 1, 1, 2, 2}, 8},
		{"the fourth is asked for", Strategy{MaxBacktracks: 3}, 0, ordered, "", []int{0, 0, 0, 1, 1, 2, 2, 3, 3}, 0},
		{"no way back", Strategy{MaxBacktracks: -1}, 0, usa, "conflict", []int{0, 0, 0}, 8},
		{"the fallback has its own number", Strategy{FallbackCalls: 5}, 12, ordered, "conflict", []int{0, 0, 0, 1, 1, 2, 2}, 3},
		{"the task's number is that of a phase", Strategy{}, 12, ordered, "conflict", []int{0, 0, 0, 1, 1, 2, 2}, 8},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{
			samples("maker.scope", scopes...), always("maker.filter", "No filters needed"),
			always("maker.projection", tt.reply), always("generate", usa),
		}}
		task := usaTask
		task.Samples = tt.samples
		out := need.Value(tt.maker.Generate(t.Context(), makerEnv(t, script), task))(t, tt.why)
		var attempts []int
		for _, p := range reportOf(out).Phases {
			attempts = append(attempts, p.Attempt)
		}
		if d := cmp.Diff(tt.attempts, attempts); d != "" || reportOf(out).Fallback != tt.fallback {
			t.Errorf("%s: fallback %q, attempts (-want +got):\n%s", tt.why, reportOf(out).Fallback, d)
		}
		if n := len(script.RequestsFor("generate")); n != tt.calls {
			t.Errorf("%s: %d calls of the fallback, want %d", tt.why, n, tt.calls)
		}
	}
}

// TestMAKERPhaseSamples: phases may have numbers of samples of their own, also beside that of the task.
func TestMAKERPhaseSamples(t *testing.T) {
	for _, tt := range []struct {
		maker   Strategy
		samples int
		want    [3]int // calls of the phases
	}{
		{Strategy{PhaseSamples: [3]int{16}}, 0, [3]int{9, 7, 7}},
		{Strategy{PhaseSamples: [3]int{16}}, 5, [3]int{9, 3, 3}},
		{Strategy{PhaseSamples: [3]int{16, 0, 20}}, 5, [3]int{9, 3, 11}},
		{Strategy{Samples: 2, PhaseSamples: [3]int{0, 1, 3}}, 0, [3]int{2, 1, 2}},
		{Strategy{PhaseSamples: [3]int{16}}.Published(), 0, [3]int{16, 12, 12}},
	} {
		script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
		task := usaTask
		task.Samples = tt.samples
		out, err := tt.maker.Generate(t.Context(), makerEnv(t, script), task)
		if err != nil || reportOf(out).Fallback != "" {
			t.Fatalf("%+v: %v, %v", tt.maker, reports(out), err)
		}
		var got [3]int
		for i, purpose := range []string{"maker.scope", "maker.filter", "maker.projection"} {
			got[i] = len(script.RequestsFor(purpose))
		}
		if got != tt.want {
			t.Errorf("%v, task %d: %v calls, want %v", tt.maker.PhaseSamples, tt.samples, got, tt.want)
		}
	}
	for _, bad := range [][3]int{{-1}, {0, 0, strategy.MaxSamples + 1}} {
		if err := (Strategy{PhaseSamples: bad}).Validate(0); err == nil || !strings.Contains(err.Error(), "PhaseSamples") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
