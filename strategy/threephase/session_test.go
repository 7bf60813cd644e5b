package threephase_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// engineOf is an engine for the strategy.
func engineOf(t *testing.T, m llm.Model, s threephase.Strategy, opts ...texttosql.Option) *texttosql.Engine {
	t.Helper()
	e := testutil.Value(texttosql.New(strategytest.PoolOf(t, strategytest.HeroesSQL), m,
		append(opts, texttosql.WithStrategy(s))...))(t)
	return e
}

// TestConverse: a session asks which table is meant, then how the chosen ones are joined, and answers; no table is
// judged twice, and the record has the states of each stage.
func TestConverse(t *testing.T) {
	const tie = `{"found_joins": true, "joins": [{"left_column": "superhero.eye_colour_id", "right_column": "colour.id", "confidence": 0.5}, ` +
		`{"left_column": "superhero.hair_colour_id", "right_column": "colour.id", "confidence": 0.5}]}`
	m := &scripted{tables: []string{"superhero", "colour"}, synthesis: map[string]any{"joins_needed": false}, joins: tie,
		sql: []string{"SELECT c.colour FROM superhero AS s JOIN colour AS c ON s.hair_colour_id = c.id"}}
	s := engineOf(t, m, threephase.Strategy{}).NewConversation(&session.MemoryStore{})
	var question *session.QuestionError
	if _, err := s.Ask(t.Context(), "What is the colour of Night Owl?"); !errors.As(err, &question) ||
		question.Kind != dialogue.KindTable {
		t.Fatal(err)
	}
	m.synthesis = nil // seen with the correction, they are joined
	_, err := s.Apply(t.Context(), session.Correction{Kind: dialogue.CorrectTable, Tables: named("superhero", "colour")})
	if !errors.As(err, &question) || question.Kind != dialogue.KindJoin || s.Record().State != session.AwaitingCorrection {
		t.Fatal(err)
	}
	hair := slices.IndexFunc(question.Options, func(o session.Option) bool {
		return o.Join.Equal(joinOf(column("superhero", "hair_colour_id"), column("colour", "id")))
	})
	calls := len(m.requests)
	res, err := s.Choose(t.Context(), question.Options[hair].ID)
	if err != nil || res.SQL != m.sql[0] || len(m.requests) != calls+1 {
		t.Errorf("%v after %d calls: %v", res, len(m.requests)-calls, err)
	}
	if n := len(m.of("table")); n != 10 {
		t.Errorf("%d tables were judged, want each of 10 once", n)
	}
	var told []session.State
	for _, move := range s.Record().Transitions {
		told = append(told, move.To)
	}
	for _, state := range []session.State{dialogue.QueryUnderstanding, session.AwaitingCorrection, dialogue.InferringJoins,
		dialogue.GeneratingSQL, dialogue.ExecutingQuery} {
		if !slices.Contains(told, state) {
			t.Errorf("no %s in %v", state, told)
		}
	}
}

// TestConverseBudget: a question whose budget was too small goes on under a larger one, and pays for no reply twice.
func TestConverseBudget(t *testing.T) {
	var store session.MemoryStore
	m := &scripted{tables: []string{"superhero"}, sql: []string{"SELECT superhero_name FROM superhero"}}
	strategy := threephase.Strategy{Tables: linker.PerTable{Workers: 1}}
	s := engineOf(t, m, strategy, texttosql.WithBudget(llm.Budget{Calls: 7})).NewConversation(&store)
	var stopped *session.InterruptedError
	if _, err := s.Ask(t.Context(), "Which heroes are there?"); !errors.Is(err, texttosql.ErrBudget) ||
		!errors.As(err, &stopped) || len(m.requests) != 7 {
		t.Fatalf("%v after %d calls", err, len(m.requests))
	}
	again := testutil.Value(engineOf(t, m, strategy,
		texttosql.WithBudget(llm.Budget{Calls: 30})).OpenConversation(t.Context(), &store, stopped.ID))(t)
	if res, err := again.Resume(t.Context()); err != nil || res.SQL != m.sql[0] || len(m.requests) != 10+1+1 {
		t.Errorf("%v after %d calls: %v", res, len(m.requests), err)
	}
}

// TestConverseUnreadable: a model whose replies are no JSON interrupts the question, with what to do about it, and a
// better one answers it.
func TestConverseUnreadable(t *testing.T) {
	var store session.MemoryStore
	prose := llm.Named("prose", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "I would use superhero."}, nil
	}))
	strategy := threephase.Strategy{CallTokens: 300} // which the schema does not fit
	_, err := engineOf(t, prose, strategy).NewConversation(&store).Ask(t.Context(), "Which heroes are there?")
	var stopped *session.InterruptedError
	told := failure.Of(err)
	if !errors.As(err, &stopped) || told.Advice != "Begin again with a larger model, or another strategy." ||
		strings.Contains(told.Message, "checks") {
		t.Fatalf("%v: %+v", err, told)
	}
	m := &scripted{tables: []string{"superhero"}, sql: []string{"SELECT superhero_name FROM superhero"}}
	again := testutil.Value(engineOf(t, m, strategy).OpenConversation(t.Context(), &store, stopped.ID))(t)
	if res, err := again.Restart(t.Context()); err != nil || res.SQL != m.sql[0] {
		t.Errorf("%v: %v", res, err)
	}
}

// TestConverseFailure: the record of a failed session has what was tried and what to do.
func TestConverseFailure(t *testing.T) {
	m := &scripted{tables: []string{"superhero"}, sql: []string{"SELECT a FROM b", "SELECT c FROM d", "SELECT e FROM f"}}
	s := engineOf(t, m, threephase.Strategy{}).NewConversation(&session.MemoryStore{})
	if _, err := s.Ask(t.Context(), "Which heroes are there?"); !errors.Is(err, strategy.ErrNoCandidate) {
		t.Fatal(err)
	}
	r := s.Record()
	if f := r.Failure; r.State != session.Failed || f == nil || len(f.Attempts) != 3 || f.Iterations != 3 ||
		len(f.Recommendations) == 0 || len(f.Tables) != 1 {
		t.Errorf("%s %+v", r.State, f)
	}
}
