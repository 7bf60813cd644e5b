package strategy_test

import (
	"context"
	"database/sql"
	"fmt"
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
