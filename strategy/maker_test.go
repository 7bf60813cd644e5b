package strategy_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

const (
	scopeOne  = "Tables: customers"
	scopeBoth = "Tables: customers, orders\nJoins: orders.customer_id = customers.id"
	inUSA     = "customers.country = 'USA'"
	ordered   = "SELECT DISTINCT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.id WHERE c.country = 'USA'"
)

// always gives every draw of a phase the same reply.
func always(purpose, reply string) llmtest.Rule {
	return llmtest.Rule{Purpose: purpose, Replies: llmtest.Texts(reply), Repeat: true}
}

// draws gives the draws of a phase their replies, the last one to all beyond.
func draws(purpose string, replies ...string) llmtest.Rule {
	return llmtest.Rule{Purpose: purpose, Replies: llmtest.Texts(replies...), Repeat: true}
}

func times(n int, reply string) []string { return slices.Repeat([]string{reply}, n) }

// phases is a script for MAKER in which all draws agree.
func phases(scope, filter, projection string) []llmtest.Rule {
	return []llmtest.Rule{
		always(strategy.PurposeScope, scope), always(strategy.PurposeFilter, filter), always(strategy.PurposeProjection, projection),
	}
}

var usaTask = strategy.Task{Question: "Which customers live in the USA?", Evidence: "USA is written in capitals"}

// reports is a line for each phase: its name, whether it is valid, draws,
// flagged, winner, why it led nowhere.
func reports(out *strategy.Outcome) []string {
	var lines []string
	for _, r := range out.Phases {
		line := fmt.Sprintf("%s valid=%v draws=%d flagged=%d unique=%d", r.Phase, r.Valid, r.Draws, r.Flagged, r.UniqueSignatures)
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
		maker    strategy.MAKER
		rules    []llmtest.Rule
		sql      string
		phases   []string // reports
		fallback string
		calls    int
		why      string
	}{
		{"all agree", strategy.MAKER{}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true draws=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=7 flagged=0 unique=1 " + ordered,
		}, "", 21, "seven of twelve decide, three times"},
		{"economy", strategy.MAKER{K: 3}, phases(scopeBoth, inUSA, ordered), ordered, []string{
			"scope valid=true draws=3 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true draws=3 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=3 flagged=0 unique=1 " + ordered,
		}, "", 9, "three ahead decide"},
		{"no filter is a vote", strategy.MAKER{}, []llmtest.Rule{
			always(strategy.PurposeScope, scopeOne),
			draws(strategy.PurposeFilter, append([]string{inUSA}, times(11, "No filters needed")...)...),
			always(strategy.PurposeProjection, everyone),
		}, everyone, []string{
			"scope valid=true draws=7 flagged=0 unique=1 customers",
			"filter valid=true draws=8 flagged=0 unique=2 no filter",
			"projection valid=true draws=7 flagged=0 unique=1 " + everyone,
		}, "", 22, "eleven without a filter outvote one with"},
		{"fewer tables than agreed", strategy.MAKER{}, phases(scopeBoth, inUSA, usa), usa, []string{
			"scope valid=true draws=7 flagged=0 unique=1 customers, orders on customers.id = orders.customer_id",
			"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=7 flagged=0 unique=1 " + usa,
		}, "", 21, "a scope with a table too many is undone"},
		{"an extra table has no vote", strategy.MAKER{}, []llmtest.Rule{
			always(strategy.PurposeScope, scopeOne), always(strategy.PurposeFilter, inUSA),
			draws(strategy.PurposeProjection, ordered, ordered, ordered, usa),
		}, usa, []string{
			"scope valid=true draws=7 flagged=0 unique=1 customers",
			"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=9 flagged=3 unique=1 " + usa,
		}, "", 23, "three read orders, which nobody agreed on; after nine draws they cannot become the majority"},
		{"unjoined majority", strategy.MAKER{}, []llmtest.Rule{
			always(strategy.PurposeScope, "Tables: customers, notes"), always("generate", usa),
		}, usa, []string{"scope valid=false draws=7 flagged=0 unique=1 !scope_unjoined"}, strategy.FallbackScopeUnjoined, 15, "a cross product is no plan; the fallback draws 8 of 15"},
		{"unjoined, no majority", strategy.MAKER{}, []llmtest.Rule{
			draws(strategy.PurposeScope, append(append(times(5, "Tables: customers, notes"), times(4, scopeOne)...), times(3, scopeBoth)...)...),
			always(strategy.PurposeFilter, inUSA), always(strategy.PurposeProjection, usa),
		}, usa, []string{
			"scope valid=true draws=12 flagged=0 unique=3 customers",
			"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=7 flagged=0 unique=1 " + usa,
		}, "", 26, "the next set is taken"},
		{"all scopes invalid", strategy.MAKER{}, []llmtest.Rule{
			draws(strategy.PurposeScope, append(append(times(5, "Tables: customers, notes"), times(4, "Tables: orders, notes")...), times(3, "Tables: order, notes")...)...),
			always("generate", usa),
		}, usa, []string{"scope valid=false draws=12 flagged=0 unique=3 !scope_invalid"}, strategy.FallbackScopeInvalid, 20, "nothing joins any of them"},
		{"phase 1 unparsable", strategy.MAKER{}, []llmtest.Rule{
			always(strategy.PurposeScope, "You need customers and their orders."), always("generate", usa),
		}, usa, []string{"scope valid=false draws=12 flagged=12 unique=0 !scope_invalid"}, strategy.FallbackScopeInvalid, 20, "the fallback really runs"},
		{"no scope of two votes", strategy.MAKER{Samples: 3}, []llmtest.Rule{
			draws(strategy.PurposeScope, "Tables: customers, notes", scopeOne, "Tables: nothing"), always("generate", usa),
		}, usa, []string{"scope valid=false draws=3 flagged=1 unique=2 !scope_invalid"}, strategy.FallbackScopeInvalid, 11, "half the votes are for no plan, the other set has one vote"},
		{"filters outside of the tables", strategy.MAKER{}, []llmtest.Rule{
			draws(strategy.PurposeScope, append(append(times(6, scopeOne), times(3, scopeBoth)...), times(3, scopeOne)...)...),
			always(strategy.PurposeFilter, "orders.total > 1"), always(strategy.PurposeProjection, ordered),
		}, ordered, []string{
			"scope valid=true draws=10 flagged=0 unique=2 customers",
			"filter valid=false draws=12 flagged=12 unique=0 !quorum",
			"filter valid=true draws=7 flagged=0 unique=1 orders.total > 1",
			"projection valid=true draws=7 flagged=0 unique=1 " + ordered,
		}, "", 36, "no condition fits the first tables, so the next ones are tried"},
		{"no filter compiles", strategy.MAKER{Samples: 3}, []llmtest.Rule{
			always(strategy.PurposeScope, scopeOne), always(strategy.PurposeFilter, "customers.country = nosuchfunction(1)"), always(strategy.PurposeProjection, usa),
		}, usa, []string{
			"scope valid=true draws=2 flagged=0 unique=1 customers",
			"filter valid=true draws=2 flagged=0 unique=1 no filter",
			"projection valid=true draws=2 flagged=0 unique=1 " + usa,
		}, "", 6, "then none is agreed on"},
		{"filter carried decides a tie", strategy.MAKER{Samples: 4, PreferFiltered: true}, []llmtest.Rule{
			always(strategy.PurposeScope, scopeOne), always(strategy.PurposeFilter, inUSA),
			draws(strategy.PurposeProjection, everyone, everyone, usa, usaJoin),
		}, usa, []string{
			"scope valid=true draws=3 flagged=0 unique=1 customers",
			"filter valid=true draws=3 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=4 flagged=0 unique=2 " + usa,
		}, "", 10, "two votes each: the one with the agreed filter goes first"},
		{"no table", strategy.MAKER{}, phases("Tables: none", "unused", "SELECT 1 + 1"), "SELECT 1 + 1", []string{
			"scope valid=true draws=7 flagged=0 unique=1 no tables",
			"filter valid=true draws=0 flagged=0 unique=0 no filter",
			"projection valid=true draws=7 flagged=0 unique=1 SELECT 1 + 1",
		}, "", 14, "a question of arithmetic: nothing to filter"},
		{"blank and keyword", strategy.MAKER{Samples: 3}, phases("Tables: order details, order\nJoins: \"order details\".\"order id\" = \"order\".id", "\"order details\".qty > 1",
			`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`),
			`SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`, []string{
				"scope valid=true draws=2 flagged=0 unique=1 order, order details on order.id = order details.order id",
				`filter valid=true draws=2 flagged=0 unique=1 "order details".qty > 1`,
				`projection valid=true draws=2 flagged=0 unique=1 SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`,
			}, "", 6, "names are quoted where they must be"},
		{"one sample", strategy.MAKER{Samples: 1}, phases(scopeOne, inUSA, usa), usa, []string{
			"scope valid=true draws=1 flagged=0 unique=1 customers",
			"filter valid=true draws=1 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true draws=1 flagged=0 unique=1 " + usa,
		}, "", 3, "the quorum is one then"},
		{"calls for one phase only", strategy.MAKER{MaxCalls: 5}, append(phases(scopeOne, inUSA, usa), always("generate", usa)), usa, []string{
			"scope valid=true draws=5 flagged=0 unique=1 customers",
			"filter valid=false draws=0 flagged=0 unique=0 !budget",
		}, strategy.FallbackBudget, 13, "best effort: five calls, then the fallback with its own"},
	}
	env := makerEnv(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out, err := tt.maker.Generate(t.Context(), asking(env, script), usaTask)
			if err != nil {
				t.Fatal(err)
			}
			if out.SQL != tt.sql || out.Fallback != tt.fallback {
				t.Errorf("got %q by fallback %q, want %q by %q: %s", out.SQL, out.Fallback, tt.sql, tt.fallback, tt.why)
			}
			if d := cmp.Diff(tt.phases, reports(out)); d != "" {
				t.Errorf("phases (-want +got):\n%s", d)
			}
			if calls := len(script.Requests()); calls != tt.calls {
				t.Errorf("%d calls, want %d: %s", calls, tt.calls, tt.why)
			}
			if out.Confidence != out.Ballot.Clusters[0].Share {
				t.Errorf("confidence %v is not the share %v", out.Confidence, out.Ballot.Clusters[0].Share)
			}
		})
	}
}

const makerSQL = shopSQL + `
CREATE TABLE notes (text TEXT);
CREATE TABLE "order details" ("order id" INTEGER, qty INTEGER);
CREATE TABLE "order" (id INTEGER PRIMARY KEY);
CREATE VIEW americans AS SELECT * FROM customers WHERE country = 'USA';`

func makerEnv(tb testing.TB, model llm.Model) *strategy.Env {
	tb.Helper()
	return makerEnvOf(tb, poolOf(tb, makerSQL), model)
}

func makerEnvOf(tb testing.TB, pool *sql.DB, model llm.Model) *strategy.Env {
	tb.Helper()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := db.Schema(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s, Rows: &strategy.RowCache{}}
}

// asking is env with another model.
func asking(env *strategy.Env, model llm.Model) *strategy.Env {
	other := *env
	other.Models = []llm.Model{model}
	return &other
}

// TestMAKERCalls: the first wave is the smallest that can decide, and all at once
// where that is asked for.
func TestMAKERCalls(t *testing.T) {
	db := makerEnv(t, nil)
	for _, tt := range []struct {
		maker strategy.MAKER
		calls int
	}{{strategy.MAKER{}, 21}, {strategy.MAKER{K: 3}, 9}, {strategy.MAKER{WaveMin: 12}, 36}, {strategy.MAKER{Compat: true}, 36}} {
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
			env.Rows = &strategy.RowCache{} // its channels belong to one test
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
		draws(strategy.PurposeScope, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
		always(strategy.PurposeFilter, inUSA), always(strategy.PurposeProjection, ordered),
	}}
	root := trace.New("question")
	out, err := strategy.MAKER{}.Generate(trace.Into(t.Context(), root), makerEnv(t, script), usaTask)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"scope valid=true draws=10 flagged=0 unique=2 customers",
		"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
		"projection valid=false draws=7 flagged=7 unique=0 !conflict",
		"filter valid=true draws=7 flagged=0 unique=1 customers.country = 'USA'",
		"projection valid=true draws=7 flagged=0 unique=1 " + ordered,
	}
	if d := cmp.Diff(want, reports(out)); d != "" || out.SQL != ordered || out.Fallback != "" {
		t.Errorf("got %q, fallback %q, phases (-want +got):\n%s", out.SQL, out.Fallback, d)
	}
	if got := []int{out.Phases[2].Attempt, out.Phases[4].Attempt}; !slices.Equal(got, []int{0, 1}) {
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
		for _, key := range []string{"valid", "share", "unique_signatures", "draws", "flagged"} {
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
		lock  strategy.LockMode
		scope string
		reply string
		votes bool
		why   string
	}{
		{"within, fewer", strategy.LockWithin, scopeBoth, usa, true, "a subset is fine"},
		{"within, other", strategy.LockWithin, scopeOne, ordered, false, "orders is not agreed on"},
		{"exact, fewer", strategy.LockExact, scopeBoth, usa, false, "orders is not read"},
		{"exact, same", strategy.LockExact, scopeBoth, ordered, true, ""},
		{"none", strategy.LockNone, scopeOne, ordered, true, "advice only"},
		{"view", strategy.LockWithin, "Tables: americans", "SELECT name FROM americans", true, "what lies under a view is read with it"},
		{"view by its table", strategy.LockWithin, scopeOne, "SELECT name FROM americans", false, "the view itself was not agreed on"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: append(phases(tt.scope, "No filters needed", tt.reply), always("generate", everyone))}
			out, err := strategy.MAKER{Lock: tt.lock}.Generate(t.Context(), asking(env, script), usaTask)
			if err != nil {
				t.Fatal(err)
			}
			if voted := out.Fallback == ""; voted != tt.votes {
				t.Errorf("voted %v (fallback %q, %v), want %v: %s", voted, out.Fallback, reports(out), tt.votes, tt.why)
			}
		})
	}
}

// TestMAKERFlags: a flagged reply does not vote, whatever is wrong with it.
func TestMAKERFlags(t *testing.T) {
	env := makerEnv(t, nil)
	long := strings.Repeat("The tables are needed. ", 200)
	tests := []struct {
		phase string
		reply llmtest.Reply
		want  string // prefix of the reason
	}{
		{strategy.PurposeScope, llmtest.Reply{Text: scopeOne, Stop: llm.StopLength}, strategy.FlagTruncated},
		{strategy.PurposeScope, llmtest.Reply{Text: scopeOne + "\n\n" + long}, strategy.FlagTooLong},
		{strategy.PurposeScope, llmtest.Reply{Text: scopeOne, Usage: llm.Usage{Calls: 1, CompletionTokens: 800, Known: true}}, strategy.FlagTooLong},
		{strategy.PurposeScope, llmtest.Reply{Text: "I'm sorry, I can't help with that."}, strategy.FlagRefusal},
		{strategy.PurposeScope, llmtest.Reply{Text: "Tables: clients"}, strategy.FlagUnknown},
		{strategy.PurposeScope, llmtest.Reply{Text: "SELECT 1"}, strategy.FlagFormat},
		{strategy.PurposeScope, llmtest.Reply{Text: "Tables: \xff"}, strategy.FlagNotUTF8},
		{strategy.PurposeScope, llmtest.Reply{Err: &llm.Error{Class: llm.ClassRateLimit}}, strategy.FlagFailed},
		{strategy.PurposeFilter, llmtest.Reply{Err: &llm.Error{Class: llm.ClassTimeout}}, strategy.FlagFailed},
		{strategy.PurposeFilter, llmtest.Reply{Text: "nation = 'USA'"}, strategy.FlagUnknown},
		{strategy.PurposeFilter, llmtest.Reply{Text: "orders.total > 1"}, strategy.FlagOutside},
		{strategy.PurposeFilter, llmtest.Reply{Text: "a = 1; b = 2"}, strategy.FlagFormat},
		{strategy.PurposeProjection, llmtest.Reply{Err: &llm.Error{Class: llm.ClassRateLimit}}, strategy.FlagFailed},
		{strategy.PurposeProjection, llmtest.Reply{Text: usa, Stop: llm.StopLength}, "strategy: flagged: truncated"},
		{strategy.PurposeProjection, llmtest.Reply{Text: usa + strings.Repeat(" -- x", 1000)}, "strategy: flagged: too-long"},
		{strategy.PurposeProjection, llmtest.Reply{Text: "I'm sorry, I can't help with that."}, "refusal"},
		{strategy.PurposeProjection, llmtest.Reply{Text: usa + "; " + everyone}, "several-statements"},
		{strategy.PurposeProjection, llmtest.Reply{Text: "SELECT nation FROM customers"}, "exec: invalid statement (schema)"},
		{strategy.PurposeProjection, llmtest.Reply{Text: "DELETE FROM customers"}, "not-read-only"},
		{strategy.PurposeProjection, llmtest.Reply{Text: ordered}, strategy.FindingOutside},
	}
	for _, tt := range tests {
		t.Run(tt.phase+" "+tt.want, func(t *testing.T) {
			script := &llmtest.Script{Rules: append([]llmtest.Rule{{
				Purpose: tt.phase, Match: func(r llm.Request) bool { return r.Draw == 1 }, Replies: []llmtest.Reply{tt.reply}, Repeat: true,
			}}, phases(scopeOne, inUSA, usa)...)}
			out, err := strategy.MAKER{}.Generate(t.Context(), asking(env, script), usaTask)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(out.Phases, func(r strategy.PhaseReport) bool { return "maker."+r.Phase == tt.phase })
			if flags := out.Phases[i].Flags; len(flags) != 1 || flags[0].Draw != 1 || !strings.HasPrefix(flags[0].Reason, tt.want) {
				t.Errorf("flags %+v, want draw 1 for %q", flags, tt.want)
			}
			if out.SQL != usa {
				t.Errorf("got %q", out.SQL)
			}
			if n := len(script.RequestsFor(strategy.PurposeRepair)); n > 0 {
				t.Errorf("%d repairs", n)
			}
		})
	}
}

// TestMAKERRedFlagRate: seven of twelve flagged replies are a warning.
func TestMAKERRedFlagRate(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		draws(strategy.PurposeScope, append(times(7, "no idea"), times(5, scopeOne)...)...),
		always(strategy.PurposeFilter, inUSA), always(strategy.PurposeProjection, usa),
	}}
	root := trace.New("question")
	if _, err := (strategy.MAKER{}).Generate(trace.Into(t.Context(), root), makerEnv(t, script), usaTask); err != nil {
		t.Fatal(err)
	}
	if w := root.Warnings(); len(w) != 1 || w[0].Code != "red-flag-rate" {
		t.Errorf("warnings %+v", w)
	}
}

func TestMAKERFailures(t *testing.T) {
	env := makerEnv(t, nil)
	rate := &llm.Error{Class: llm.ClassRateLimit, Message: "slow down"}
	down := func(purpose string, from int) llmtest.Rule {
		return llmtest.Rule{Purpose: purpose, Match: func(r llm.Request) bool { return r.Draw >= from }, Replies: []llmtest.Reply{{Err: rate}}, Repeat: true}
	}
	tests := []struct {
		name   string
		rules  []llmtest.Rule
		want   error // nil: it is answered
		text   []string
		phases int
		why    string
	}{
		{"all but one fail in phase 1", append([]llmtest.Rule{down(strategy.PurposeScope, 1)}, append(phases(scopeOne, inUSA, usa), always("generate", usa))...), nil, nil, 1, "no quorum: the fallback answers"},
		{"all fail in phase 1", append([]llmtest.Rule{down(strategy.PurposeScope, 0)}, always("generate", usa)), rate, []string{"MAKER: scope", "slow down"}, 1, "the provider is down: nobody else is asked"},
		{"all fail in phase 2", append([]llmtest.Rule{down(strategy.PurposeFilter, 0)}, phases(scopeOne, inUSA, usa)...), rate, []string{"MAKER: filter"}, 2, ""},
		{"all fail in phase 3", append([]llmtest.Rule{down(strategy.PurposeProjection, 0)}, phases(scopeOne, inUSA, usa)...), rate, []string{"MAKER: projection"}, 3, ""},
		{"prose for ever", []llmtest.Rule{{Replies: llmtest.Texts("The customers in the USA are many."), Repeat: true}}, strategy.ErrNoCandidate,
			[]string{"scope: 12 draws, 12 flagged", "scope_invalid", "no-sql"}, 1, "every reason is told"},
		{"prose from phase 3 on", append(phases(scopeOne, inUSA, "Many."), always("generate", "Many.")), strategy.ErrNoCandidate,
			[]string{"scope: 7 draws", "filter: 7 draws", "projection: 12 draws, 12 flagged", "fallback (quorum)"}, 3, "every phase is named"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := strategy.MAKER{}.Generate(t.Context(), asking(env, &llmtest.Script{Rules: tt.rules}), usaTask)
			if (err == nil) != (tt.want == nil) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v: %s", err, tt.want, tt.why)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q is not in %v", text, err)
				}
			}
			if out == nil || len(out.Phases) != tt.phases {
				t.Errorf("got %d phases, want %d", len(out.Phases), tt.phases)
			}
			if last := out.Phases[len(out.Phases)-1]; errors.Is(tt.want, rate) && last.Stop != "all failed" {
				t.Errorf("the last phase stopped: %s", last.Stop)
			}
			if tt.want == nil && (out.SQL != usa || out.Fallback != strategy.FallbackQuorum) {
				t.Errorf("got %q by %q", out.SQL, out.Fallback)
			}
		})
	}
}

// TestMAKERBudget: a budget that ends in phase 2 is an ErrBudget, with the report
// of phase 1.
func TestMAKERBudget(t *testing.T) {
	base := makerEnv(t, nil)
	for calls := range 40 {
		script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
		env := asking(base, nil)
		account := llm.Budget{Calls: calls + 1}.Start()
		env.Models = []llm.Model{llm.Chain(script, account.Middleware())}
		env.CallsLeft = account.CallsLeft
		out, err := strategy.MAKER{WaveMin: 12}.Generate(t.Context(), env, usaTask)
		if sent := len(script.Requests()); sent > calls+1 || sent > 36+15 {
			t.Errorf("budget %d: %d calls", calls+1, sent)
		}
		switch {
		case err != nil && !errors.Is(err, llm.ErrBudget):
			t.Errorf("budget %d: %v", calls+1, err)
		case err == nil && out.SQL != usa:
			t.Errorf("budget %d: got %q", calls+1, out.SQL)
		case err != nil && calls+1 >= 12 && (len(out.Phases) == 0 || !out.Phases[0].Valid):
			t.Errorf("no report of phase 1: %+v", out.Phases)
		}
		if calls+1 == 12 && err == nil {
			t.Error("spent in phase 2, and no error")
		}
	}
}

// TestMAKERCancelled: the caller's end ends every phase at once and leaves no
// goroutine.
func TestMAKERCancelled(t *testing.T) {
	env := makerEnv(t, nil)
	before := runtime.NumGoroutine()
	for _, purpose := range []string{strategy.PurposeScope, strategy.PurposeFilter, strategy.PurposeProjection, "generate"} {
		for _, speculate := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
			if purpose == "generate" {
				script.Rules[0] = always(strategy.PurposeScope, "none of them")
			}
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == purpose {
					cancel()
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return script.Complete(ctx, req)
			})
			_, err := strategy.MAKER{Speculate: speculate}.Generate(ctx, asking(env, model), usaTask)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v", purpose, err)
			}
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
	one := makerEnvOf(t, poolOf(t, `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT); INSERT INTO customers VALUES (1,'Ada','USA')`), nil)
	script := &llmtest.Script{Rules: phases("unused", inUSA, usa)}
	one.Models = []llm.Model{script}
	out, err := strategy.MAKER{}.Generate(t.Context(), one, usaTask)
	if err != nil || out.SQL != usa || len(script.RequestsFor(strategy.PurposeScope)) != 0 || !slices.Contains(out.Notes, "the schema has one table: nothing to vote on") {
		t.Errorf("one table: %+v, %v, %d calls of phase 1", out, err, len(script.RequestsFor(strategy.PurposeScope)))
	}

	var many strings.Builder
	many.WriteString(shopSQL)
	for i := range 200 {
		fmt.Fprintf(&many, "CREATE TABLE measure_%d (id INTEGER PRIMARY KEY, first_value REAL, second_value REAL, remark TEXT, taken_on TEXT);\n", i)
	}
	script = &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
	env := makerEnvOf(t, poolOf(t, many.String()), script)
	if out, err = (strategy.MAKER{}).Generate(t.Context(), env, usaTask); err != nil || out.SQL != usa || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "over its budget") {
		t.Errorf("200 tables: %+v, %v", out, err)
	}

	empty := *env.Schema
	empty.Tables = nil
	env.Schema = &empty
	if _, err = (strategy.MAKER{}).Generate(t.Context(), env, usaTask); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("no table: %v", err)
	}
}

func TestMAKERValidate(t *testing.T) {
	err := strategy.MAKER{Samples: -1, K: -1, MinVotes: -1, MaxCalls: -1, FallbackCalls: -1, WaveMin: -1, Temperature: -1, Lock: 9}.Validate(0)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"Samples", "MinVotes", "MaxCalls", "FallbackCalls", "WaveMin", "Temperature", "Lock", "MAKER.K "} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if _, err := (strategy.MAKER{}).Generate(t.Context(), makerEnv(t, &llmtest.Script{}), strategy.Task{Question: " "}); !errors.Is(err, strategy.ErrEmptyQuestion) {
		t.Errorf("empty question: %v", err)
	}
	out, err := strategy.MAKER{K: 30}.Generate(t.Context(), makerEnv(t, &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}), usaTask)
	if err != nil || len(out.Notes) == 0 || !strings.Contains(out.Notes[0], "K 30") {
		t.Errorf("K over the samples: %v, %v", out, err)
	}
}

// TestMAKERPrompts: question and evidence stand in every phase, what was agreed on
// in the later ones.
func TestMAKERPrompts(t *testing.T) {
	env := makerEnv(t, nil)
	for _, compat := range []bool{false, true} {
		script := &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)}
		if _, err := (strategy.MAKER{Compat: compat}).Generate(t.Context(), asking(env, script), usaTask); err != nil {
			t.Fatal(err)
		}
		for purpose, want := range map[string][]string{
			strategy.PurposeScope:      nil,
			strategy.PurposeFilter:     {"Tables: customers, orders", "Joins: customers.id = orders.customer_id"},
			strategy.PurposeProjection: {"Tables: customers, orders", "customers.country = 'USA'"},
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

// TestMAKERDeterminism: replies that come in any order make the same outcome and
// the same trace, with and without speculation.
func TestMAKERDeterminism(t *testing.T) {
	rules := []llmtest.Rule{
		draws(strategy.PurposeScope, scopeBoth, scopeOne, "no", scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne),
		draws(strategy.PurposeFilter, inUSA, "No filters needed", inUSA, "country = 'usa'", inUSA, inUSA, "No filters needed", inUSA),
		draws(strategy.PurposeProjection, usa, everyone, ordered, usaJoin, usa, broken, everyone, usa, usa),
	}
	env := makerEnv(t, nil)
	answers := map[string]bool{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, speculate := range []bool{false, true} {
		seen := map[string]int{}
		for run := range 100 {
			script := &llmtest.Script{Rules: rules}
			runtime.GOMAXPROCS(1 + 7*(run%2))
			rng := rand.New(rand.NewPCG(uint64(run), 1))
			delays := make([]time.Duration, 16)
			for i := range delays {
				delays[i] = time.Duration(rng.IntN(400)) * time.Microsecond
			}
			model := llm.Chain(script, llm.Trace(), llmtest.Latency{ByDraw: delays}.Middleware())
			env.Models = []llm.Model{model}
			root := trace.Tracer{Keep: trace.PrivateSQL}.New("question")
			out, err := strategy.MAKER{Speculate: speculate}.Generate(trace.Into(t.Context(), root), env, usaTask)
			if err != nil {
				t.Fatal(err)
			}
			root.End()
			outcome, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			spans, err := root.JSON(trace.Format{Comparable: true, Show: trace.PrivateSQL})
			if err != nil {
				t.Fatal(err)
			}
			seen[string(outcome)+"\n"+string(spans)]++
			answers[string(outcome)] = true
		}
		if len(seen) != 1 {
			var texts []string
			for text := range seen {
				texts = append(texts, strings.ReplaceAll(text, `,"`, ",\n\""))
			}
			t.Errorf("speculate %v: %d different runs; the first two (-one +two):\n%s", speculate, len(seen), cmp.Diff(texts[0], texts[1]))
		}
	}
	if len(answers) != 1 {
		t.Errorf("%d different outcomes with and without speculation", len(answers))
	}
}

// TestMAKERLateDraws: what is drawn beyond the draw that decided a phase changes
// nothing, though it was sent and came back.
func TestMAKERLateDraws(t *testing.T) {
	env := makerEnv(t, nil)
	late := func(first, then string) []string { return append(times(7, first), times(5, then)...) }
	var outcomes []*strategy.Outcome
	for _, rules := range [][]llmtest.Rule{
		phases(scopeBoth, inUSA, ordered),
		{
			draws(strategy.PurposeScope, late(scopeBoth, scopeOne)...),
			draws(strategy.PurposeFilter, late(inUSA, "No filters needed")...),
			draws(strategy.PurposeProjection, late(ordered, everyone)...),
		},
	} {
		script := &llmtest.Script{Rules: rules}
		out, err := strategy.MAKER{WaveMin: 12}.Generate(t.Context(), asking(env, script), usaTask)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Candidates) != 7 {
			t.Errorf("%d candidates, want the seven that decided", len(out.Candidates))
		}
		out.Saved = 0 // how many late draws were still to be sent is a matter of time
		outcomes = append(outcomes, out)
	}
	if d := cmp.Diff(outcomes[0], outcomes[1]); d != "" {
		t.Errorf("(-all agree +late ones do not)\n%s", d)
	}
}

// TestMAKERSpeculation: the next phase starts while the last draws of the one
// before are in flight, which saves their time, and what the leader's loss makes
// useless is bounded. Draws take a second each.
func TestMAKERSpeculation(t *testing.T) {
	base := makerEnv(t, nil)
	tests := []struct {
		name   string
		scopes []string
		reply  string
		took   [2]time.Duration // without and with speculation
		wasted int              // calls that speculation makes for nothing
		why    string
	}{
		{"decided by the first wave", []string{scopeOne}, usa, [2]time.Duration{3 * time.Second, 3 * time.Second}, 0, "nothing is in flight to be ahead of"},
		{"the leader holds", []string{scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne}, usa,
			[2]time.Duration{4 * time.Second, 3 * time.Second}, 0, "phase 2 is drawn during the last two draws of phase 1"},
		{"the leader loses", []string{scopeOne, scopeBoth, scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeBoth}, ordered,
			[2]time.Duration{5 * time.Second, 5 * time.Second}, 7, "the wave for the other set of tables is thrown away"},
	}
	for _, tt := range tests {
		var calls [2]int
		for i, speculate := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				script := &llmtest.Script{Rules: []llmtest.Rule{
					draws(strategy.PurposeScope, tt.scopes...), always(strategy.PurposeFilter, inUSA), always(strategy.PurposeProjection, tt.reply),
				}}
				env := asking(base, llm.Chain(script, llmtest.Latency{Fixed: time.Second}.Middleware()))
				env.Rows = &strategy.RowCache{} // its channels belong to one test
				start := time.Now()
				out, err := strategy.MAKER{Speculate: speculate}.Generate(t.Context(), env, usaTask)
				if err != nil || out.SQL != tt.reply {
					t.Fatalf("%s: %v, %v", tt.name, out, err)
				}
				if took := time.Since(start); took != tt.took[i] {
					t.Errorf("%s: speculate %v took %v, want %v: %s", tt.name, speculate, took, tt.took[i], tt.why)
				}
				calls[i] = len(script.Requests())
			})
		}
		if more := calls[1] - calls[0]; more != tt.wasted {
			t.Errorf("%s: %d calls more, want %d: %s", tt.name, more, tt.wasted, tt.why)
		}
	}
}
