package maker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// reports is a line for each phase: its name, whether it is valid, samples,
// flagged, winner, why it led nowhere.
func reports(out *strategy.Outcome) []string {
	var lines []string
	for _, r := range reportOf(out).Phases {
		line := fmt.Sprintf("%s valid=%v samples=%d flagged=%d unique=%d", r.Phase, r.Valid, r.Samples, r.Flagged,
			r.UniqueSignatures)
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
		{"an extra table is a vote", Strategy{}, []llmtest.Rule{
			always("maker.scope", scopeOne), always("maker.filter", inUSA),
			samples("maker.projection", usa, usa, usa, ordered),
		}, ordered, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=10 flagged=0 unique=2 " + ordered,
		}, "", 24, "the agreed tables are advice: most statements read orders, and they win"},
		{"unjoined majority", Strategy{}, []llmtest.Rule{
			always("maker.scope", "Tables: customers, notes"), always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=0 unique=1 !scope_invalid"}, "scope_invalid", 20,
			"a cross product is no plan; the fallback samples 8 of 15"},
		{"unjoined majority, and a path", Strategy{}, []llmtest.Rule{
			samples("maker.scope", append(times(7, "Tables: customers, notes"), times(5, scopeOne)...)...),
			always("maker.filter", inUSA), always("maker.projection", usa),
		}, usa, []string{
			"scope valid=true samples=12 flagged=0 unique=2 customers",
			"filter valid=true samples=7 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=7 flagged=0 unique=1 " + usa,
		}, "", 26, "seven samples decide nothing if nothing joins their tables"},
		{"the same, as published", Strategy{}.Published(), []llmtest.Rule{
			samples("maker.scope", append(times(7, "Tables: customers, notes"), times(5, scopeOne)...)...),
			always("maker.filter", inUSA), always("maker.projection", usa),
		}, usa, []string{
			"scope valid=true samples=12 flagged=0 unique=2 customers",
			"filter valid=true samples=12 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=12 flagged=0 unique=1 " + usa,
		}, "", 36, "all are drawn"},
		{"unjoined, no majority", Strategy{}, []llmtest.Rule{
			samples("maker.scope", append(append(times(5, "Tables: customers, notes"), times(4, scopeOne)...),
				times(3, scopeBoth)...)...),
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
		}, usa, []string{"scope valid=false samples=12 flagged=0 unique=3 !scope_invalid"}, "scope_invalid", 20,
			"nothing joins any of them"},
		{"phase 1 unparsable", Strategy{}, []llmtest.Rule{
			always("maker.scope", "You need customers and their orders."), always("generate", usa),
		}, usa, []string{"scope valid=false samples=12 flagged=12 unique=0 !scope_invalid"}, "scope_invalid", 20,
			"the fallback really runs"},
		{"a scope of one vote", Strategy{Samples: 3}, append([]llmtest.Rule{
			samples("maker.scope", "Tables: customers, notes", scopeOne, "Tables: nothing"),
		}, phases("", inUSA, usa)...), usa, []string{
			"scope valid=true samples=3 flagged=1 unique=2 customers",
			"filter valid=true samples=2 flagged=0 unique=1 customers.country = 'USA'",
			"projection valid=true samples=2 flagged=0 unique=1 " + usa,
		}, "", 7, "it is the one with the most votes that has a path"},
		{"filters outside of the tables", Strategy{}, []llmtest.Rule{
			always("maker.scope", scopeOne), always("maker.filter", "orders.total > 1"), always("generate", ordered),
		}, ordered, []string{
			"scope valid=true samples=7 flagged=0 unique=1 customers",
			"filter valid=false samples=12 flagged=12 unique=0 !quorum",
		}, "quorum", 27, "no condition fits the agreed tables, so the fallback answers"},
		{"a filter that does not compile", Strategy{Samples: 3}, []llmtest.Rule{
			always("maker.scope", scopeOne), samples("maker.filter", "customers.country = nosuchfunction(1)", inUSA),
			always("maker.projection", usa),
		}, usa, []string{
			"scope valid=true samples=2 flagged=0 unique=1 customers",
			"filter valid=true samples=3 flagged=1 unique=1 customers.country = 'USA'",
			"projection valid=true samples=2 flagged=0 unique=1 " + usa,
		}, "", 7, "it has no vote"},
		{"no table", Strategy{}, phases("Tables: none", "unused", "SELECT 1 + 1"), "SELECT 1 + 1", []string{
			"scope valid=true samples=7 flagged=0 unique=1 no tables",
			"filter valid=true samples=0 flagged=0 unique=0 no filter",
			"projection valid=true samples=7 flagged=0 unique=1 SELECT 1 + 1",
		}, "", 14, "a question of arithmetic: nothing to filter"},
		{"blank and keyword", Strategy{Samples: 3},
			phases("Tables: order details, order\nJoins: \"order details\".\"order id\" = \"order\".id",
				"\"order details\".qty > 1", `SELECT count(*) FROM "order details" JOIN "order" ON "order id" = id WHERE qty > 1`),
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
		{"calls for one phase only", Strategy{MaxCalls: 5}, append(phases(scopeOne, inUSA, usa), always("generate", usa)),
			usa, []string{
				"scope valid=true samples=5 flagged=0 unique=1 customers",
				"filter valid=false samples=0 flagged=0 unique=0 !budget",
			}, "budget", 13, "best effort: five calls, then the fallback with its own"},
	}
	env := makerEnv(t, nil)
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out := testutil.Value(tt.maker.Generate(t.Context(), asking(env, script), usaTask))(t)
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, nil))
			if out.SQL != tt.sql || reportOf(out).Fallback != tt.fallback {
				t.Errorf("got %q by fallback %q, want %q by %q: %s", out.SQL, reportOf(out).Fallback, tt.sql, tt.fallback, tt.why)
			}
			golden.Equal(t, tt.phases, reports(out), "phases")
			if calls := len(script.Requests()); calls != tt.calls {
				t.Errorf("%d calls, want %d: %s", calls, tt.calls, tt.why)
			}
			if w := out.Ballot.Clusters[0]; !tt.maker.published && !(out.Confidence > 0 && out.Confidence < w.Share) ||
				out.Confidence != w.Confidence {
				t.Errorf("confidence %v, not that of the ballot %+v", out.Confidence, w)
			}
		})
	}
	golden.Check(t, "outcomes.golden", told.String())
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
			env := strategytest.Fresh(asking(db, model)) // channels belong to one test
			out := testutil.Value(tt.maker.Generate(t.Context(), env, usaTask))(t)
			if n := int(calls.Load()); n != tt.calls || out.SQL != ordered {
				t.Errorf("%+v: %d calls for %q, want %d", tt.maker, n, out.SQL, tt.calls)
			}
		})
	}
}

// TestMAKERTrace: the spans of the phases have what the document measures.
func TestMAKERTrace(t *testing.T) {
	script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
	root := trace.Tracer{}.New("question")
	testutil.Value(Strategy{}.Generate(trace.NewContext(t.Context(), root), makerEnv(t, script), usaTask))(t)
	var steps []string
	for _, s := range root.Children() {
		steps = append(steps, s.Name())
		for _, key := range []string{"valid", "share", "unique_signatures", "samples", "flagged"} {
			if _, ok := s.Attr(key); !ok {
				t.Errorf("the span of %s has no %s", s.Name(), key)
			}
		}
	}
	if d := cmp.Diff([]string{"scope", "filter", "projection"}, steps); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
}

// TestMAKERPrompts: question and evidence stand in every phase, what was agreed on
// in the later ones.
func TestMAKERPrompts(t *testing.T) {
	env := makerEnv(t, nil)
	for compat, s := range map[bool]Strategy{false: {}, true: Strategy{}.Published()} {
		script := &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)}
		testutil.Value(s.Generate(t.Context(), asking(env, script), usaTask))(t)
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
		{"the most frequent, not the first", []string{tables + byTotal, tables + byKey, tables + byKey},
			"customers.id = orders.customer_id"},
		{"the most frequent, not the last", []string{tables + byKey, tables + byKey, tables + byTotal},
			"customers.id = orders.customer_id"},
		{"of two the earliest", []string{tables + byTotal, tables + byKey, tables + byTotal, tables + byKey},
			"customers.id = orders.total"},
		{"two without joins", []string{tables, tables + byTotal, tables}, "customers.id = orders.total"},
		{"nobody names them: the foreign key", []string{tables}, "customers.id = orders.customer_id"},
	} {
		script := &llmtest.Script{Rules: append([]llmtest.Rule{samples("maker.scope", tt.scopes...)},
			phases("", inUSA, ordered)...)}
		out, err := Strategy{Samples: 2*len(tt.scopes) - 1}.Generate(t.Context(), makerEnv(t, script), usaTask)
		if err != nil || reportOf(out).Phases[0].Winner != "customers, orders on "+tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.why, reports(out), err, tt.want)
		}
	}
}

// TestMAKERLinker: the prompts of all phases show what the linker chose, and where it fails the whole schema. The
// values that it found stand where conditions are written.
func TestMAKERLinker(t *testing.T) {
	one := linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		return schema.Links{Tables: []schema.TableLink{{Table: "customers",
			Values: []schema.ValueMatch{{Column: "country", Value: "USA"}}}}}, nil
	})
	fails := linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
		return schema.Links{}, errors.New("no words")
	})
	for _, tt := range []struct {
		linker linker.Linker
		shown  bool // orders
		note   string
	}{{nil, true, ""}, {one, false, ""}, {fails, true, "linking failed, the whole schema is used: no words"}} {
		script := &llmtest.Script{Rules: phases(scopeOne, inUSA, usa)}
		out := testutil.Value(Strategy{Linker: tt.linker}.Generate(t.Context(), makerEnv(t, script), usaTask))(t)
		if note := strings.Join(out.Notes, "\n"); out.SQL != usa || note != tt.note {
			t.Errorf("got %q, notes %q, want %q", out.SQL, note, tt.note)
		}
		for _, req := range script.Requests() {
			if text := req.Messages[1].Text; strings.Contains(text, "CREATE TABLE orders") != tt.shown ||
				!strings.Contains(text, "CREATE TABLE customers") {
				t.Errorf("%s: orders must be shown: %v\n%s", req.Purpose, tt.shown, text)
			} else if found := strings.Contains(text, "customers.country has \"USA\"\n"); found != (!tt.shown &&
				req.Purpose != purposeScope) {
				t.Errorf("%s: the value that the linker found is shown: %v\n%s", req.Purpose, found, text)
			}
		}
	}
}
