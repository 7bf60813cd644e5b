package petsql_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// TestPETSQLReplies: end marks go, what stands in literals stays, and nothing is
// put in front of a reply.
func TestPETSQLReplies(t *testing.T) {
	for _, tt := range []struct{ reply, want, why string }{
		{"SELECT name FROM customers</s>", "SELECT name FROM customers", "the mark goes, not the letter before it"},
		{"WITH x AS (SELECT name FROM customers) SELECT name FROM x",
			"WITH x AS (SELECT name FROM customers) SELECT name FROM x", "WITH begins a statement"},
		{"SELECT name FROM customers WHERE name <> '#;~~'", "SELECT name FROM customers WHERE name <> '#;~~'",
			"a literal is not cut"},
		{"name FROM customers", "", "a list of columns is no statement"},
	} {
		a, _ := petModel("a", tt.reply, tt.reply)
		out, err := petsql.Strategy{}.Generate(t.Context(), petEnv(t, a), strategy.Task{Question: petQuestion})
		if tt.want == "" {
			if !errors.Is(err, strategy.ErrNoCandidate) {
				t.Errorf("%q: got %v: %s", tt.reply, err, tt.why)
			}
		} else if err != nil || out.SQL != tt.want {
			t.Errorf("%q: got %v, %v: %s", tt.reply, out, err, tt.why)
		}
	}
}

// TestPETSQLHangs: a model that hangs ends at its own time, not at that of the
// question, and its siblings' votes count.
func TestPETSQLHangs(t *testing.T) {
	db := strategytest.ShopEnv(t, nil)
	synctest.Test(t, func(t *testing.T) {
		env := *db
		a, _ := petModel("a", petUSA, petUSA)
		b, _ := petModel("b", petUSA, petUSA)
		b = llm.Chain(b, llmtest.Latency{Fixed: time.Hour}.Middleware())
		env.Models = []llm.Model{a, b}
		start := time.Now()
		out, err := petsql.Strategy{PerModelTimeout: 5 * time.Second,
			Prompter: petsql.REp{Without: petsql.Parts{Values: true}}}.Generate(t.Context(), &env,
			strategy.Task{Question: petQuestion})
		if err != nil || out.SQL != petUSA {
			t.Fatalf("got %v, %v", out, err)
		}
		if took := time.Since(start); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("took %v", took)
		}
		if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "model b") {
			t.Errorf("notes do not name the model: %s", notes)
		}
		// And when it is the first model: round 1 goes on without links.
		env.Models = []llm.Model{b, a}
		out, err = petsql.Strategy{PerModelTimeout: 5 * time.Second,
			Prompter: petsql.REp{Without: petsql.Parts{Values: true}}}.Generate(t.Context(), &env,
			strategy.Task{Question: petQuestion})
		if err != nil || out.SQL != petUSA || reportOf(out).Shown != 2 {
			t.Errorf("first model: got %v, %v", out, err)
		}
	})
}

// TestPETSQLCancelled returns at once.
func TestPETSQLCancelled(t *testing.T) {
	db := strategytest.ShopEnv(t, nil)
	synctest.Test(t, func(t *testing.T) {
		env := *db
		a, _ := petModel("a", petUSA, petUSA)
		b, _ := petModel("b", petUSA, petUSA)
		env.Models = []llm.Model{a, llm.Chain(b, llmtest.Latency{Fixed: time.Hour}.Middleware())}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := petsql.Strategy{Prompter: petsql.REp{Without: petsql.Parts{Values: true}}}.Generate(ctx, &env,
			strategy.Task{Question: petQuestion})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 1100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestPETSQLValidate: each wrong setting is one error.
func TestPETSQLValidate(t *testing.T) {
	a, _ := petModel("a", petUSA, petUSA)
	twin, _ := petModel("a", petUSA, petUSA)
	weights := func(x float64) *petsql.Weights { return &petsql.Weights{Of: map[string]float64{"a": x}} }
	panel := func(grade string, w *petsql.Weights) *petsql.Panel {
		return &petsql.Panel{Grades: map[string]petsql.Weights{grade: *w}}
	}
	for _, tt := range []struct {
		name   string
		preset petsql.Strategy
		models []llm.Model
		want   string
	}{
		{"no models", petsql.Strategy{}, nil, "no model"},
		{"two models of one name", petsql.Strategy{}, []llm.Model{a, twin}, `2 models are called "a"`},
		{"unknown grade", petsql.Strategy{Panel: panel("simple", weights(1))}, []llm.Model{a}, `grade "simple"`},
		{"missing model", petsql.Strategy{Panel: panel("easy", &petsql.Weights{Of: map[string]float64{"z": 1}})},
			[]llm.Model{a}, `model "z"`},
		{"weight 0", petsql.Strategy{Weights: weights(0)}, []llm.Model{a}, `model "a"`},
		{"weight below 0", petsql.Strategy{Weights: weights(-1)}, []llm.Model{a}, `model "a"`},
		{"weight NaN", petsql.Strategy{Weights: weights(math.NaN())}, []llm.Model{a}, `model "a"`},
		{"weight of a panel", petsql.Strategy{Panel: panel("easy", weights(0))}, []llm.Model{a}, `model "a"`},
		{"empty panel", petsql.Strategy{Panel: panel("easy", &petsql.Weights{})}, []llm.Model{a}, "no model"},
		{"timeout", petsql.Strategy{PerModelTimeout: -1}, []llm.Model{a}, "Strategy.PerModelTimeout is -1ns"},
		{"tokens", petsql.Strategy{MaxTokens: -1}, []llm.Model{a}, "Strategy.MaxTokens is -1"},
		{"top_p below 0", petsql.Strategy{TopP: -0.1}, []llm.Model{a}, "Strategy.TopP is -0.1"},
		{"top_p above 1", petsql.Strategy{TopP: 1.1}, []llm.Model{a}, "Strategy.TopP is 1.1"},
		{"values", petsql.Strategy{Prompter: petsql.REp{Values: -1}}, []llm.Model{a}, "Prompter.Values is -1"},
		{"tokens of the prompt", petsql.Strategy{Prompter: petsql.REp{MaxTokens: -1}}, []llm.Model{a},
			"Prompter.MaxTokens is -1"},
	} {
		env := strategytest.ShopEnv(t, nil)
		env.Models = tt.models
		_, err := tt.preset.Generate(t.Context(), env, strategy.Task{Question: petQuestion})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one error with %q", tt.name, err, tt.want)
		}
	}
}

// TestPETSQLValidateBounds: numbers without an upper bound may be large, and one with a bound may be at it.
func TestPETSQLValidateBounds(t *testing.T) {
	large := petsql.Strategy{PerModelTimeout: time.Hour, MaxTokens: 99_999, TopP: 1,
		Prompter: petsql.REp{Values: 999, MaxTokens: 999_999}}
	if err := large.Validate(9); err != nil {
		t.Error(err)
	}
}

// TestPETSQLValidateOrder: several faults stand in one order.
func TestPETSQLValidateOrder(t *testing.T) {
	wrong := map[string]petsql.Weights{}
	for _, grade := range []string{"d", "b", "a", "c"} {
		wrong[grade] = petsql.Weights{Of: map[string]float64{"m": 1}}
	}
	for range 50 {
		err := petsql.Strategy{Panel: &petsql.Panel{Grades: wrong}}.Validate(1)
		if order := regexp.MustCompile(`grade "(.)"`).FindAllString(fmt.Sprint(err), -1); !slices.IsSorted(order) ||
			len(order) != 4 {
			t.Fatalf("got %q of %v", order, err)
		}
	}
}

// TestPETSQLMends: a name in other words is written as in the schema, without a call. In the published form the first
// statement is the answer.
func TestPETSQLMends(t *testing.T) {
	for _, tt := range []struct {
		strategy petsql.Strategy
		want     string
	}{{petsql.Strategy{}, "SELECT name FROM customers"}, {petsql.Strategy{}.Published(), petUSA}} {
		a, _ := petModel("a", petUSA, "SELECT name FROM customer")
		out, err := tt.strategy.Generate(t.Context(), petEnv(t, a), strategy.Task{Question: petQuestion})
		if err != nil || out.SQL != tt.want {
			t.Errorf("got %v, %v; want %q", out, err, tt.want)
		}
	}
}
