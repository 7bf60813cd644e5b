package planvote_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// TestOddInput: whatever a caller passes to the strategies by plan is one clear
// result or error.
func TestOddInput(t *testing.T) {
	rules := append(phases(scopeOne, inUSA, usa), always("generate", usa))
	tests := []struct {
		name string
		task strategy.Task
		edit func(*strategy.Env)
		sql  string
		text string // of the error; "" for none
		is   error
	}{
		{name: "empty", task: strategy.Task{Question: " \n"}, is: strategy.ErrEmptyQuestion},
		{name: "a megabyte", task: strategy.Task{Question: strings.Repeat("Who lives in the USA? ", 50_000)}, sql: usa},
		{name: "one sample", task: strategy.Task{Question: "q", Samples: 1}, sql: usa},
		{name: "negative samples", task: strategy.Task{Question: "q", Samples: -1}, text: "-1"},
		{name: "no model", task: strategy.Task{Question: "q"}, edit: func(e *strategy.Env) { e.Models = nil }, text: "model"},
	}
	for name, s := range map[string]strategy.Strategy{
		"plan": planvote.Plain{}, "plan, published": planvote.Plain{}.Published(),
		"augmented": planvote.Augmented{Probe: true},
		"feedback":  planvote.Feedback{}, "maker": maker.Strategy{}, "maker, published": maker.Strategy{}.Published(),
	} {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				env := makerEnv(t, &llmtest.Script{Rules: rules})
				if tt.edit != nil {
					tt.edit(env)
				}
				out, err := s.Generate(t.Context(), env, tt.task)
				switch {
				case tt.sql != "":
					if err != nil || out.SQL != tt.sql {
						t.Errorf("got %+v, %v", out, err)
					}
				case err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text):
					t.Errorf("got %+v, %v", out, err)
				}
			})
		}
	}
}

// TestPlansWithoutDatabase: a database without a table answers what needs none,
// and one that goes away before the first sample is there is the error of the question,
// never the fault of a candidate.
func TestPlansWithoutDatabase(t *testing.T) {
	for name, s := range map[string]strategy.Strategy{
		"plan": planvote.Plain{}, "plan, published": planvote.Plain{}.Published(), "cheapest": planvote.Plain{Cheapest: true},
		"augmented": planvote.Augmented{Probe: true}, "augmented, published": planvote.Augmented{Probe: true}.Published(),
		"feedback": planvote.Feedback{}, "feedback, published": planvote.Feedback{}.Published(),
	} {
		t.Run(name, func(t *testing.T) {
			const sum = "SELECT 1 + 1"
			script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", sum)}}
			if out, err := s.Generate(t.Context(), envOf(t, "", script), usaTask); err != nil || out.SQL != sum {
				t.Errorf("no table: got %+v, %v", out, err)
			}

			pool := poolOf(t, makerSQL)
			remove := remover(t, pool)
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				remove()
				return script.Complete(ctx, req)
			})
			_, err := s.Generate(t.Context(), makerEnvOf(t, pool, model), usaTask)
			var none *strategy.NoCandidateError
			if err == nil || !strings.Contains(err.Error(), "the file of the database is gone") || errors.As(err, &none) &&
				len(none.Rejected) > 0 {
				t.Errorf("gone: got %v", err)
			}
			if n := len(script.RequestsFor("correct")); n > 0 {
				t.Errorf("%d corrections of a database that is gone", n)
			}
		})
	}
}

// remover returns a function that removes the file of a database. The samples of a question may call it together.
func remover(t *testing.T, pool *sql.DB) func() {
	t.Helper()
	var file string
	testutil.OK(t, pool.QueryRow("SELECT file FROM pragma_database_list").Scan(&file))
	return func() { os.Remove(file) }
}

// TestFailedSampleStaysAlone: a sample that fails, or whose call was cancelled by the
// provider, is missing, and the others are what they were.
func TestFailedSampleStaysAlone(t *testing.T) {
	env := makerEnv(t, nil)
	candidates := func(failing error) []vote.Candidate {
		replies := llmtest.Texts(everyone, usa, byID, broken, ordered, byID)
		if failing != nil {
			replies[2] = llmtest.Reply{Err: failing}
		}
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: replies}}}
		out := testutil.Value(planvote.Plain{Samples: 6}.Published().Generate(t.Context(), asking(env, script), usaTask))(t)
		return out.Candidates
	}
	want := slices.DeleteFunc(candidates(nil), func(c vote.Candidate) bool { return c.Sample == 2 })
	for _, err := range []error{&llm.Error{Class: llm.ClassRateLimit}, &llm.Error{Class: llm.ClassTimeout},
		context.Canceled} {
		golden.Equal(t, want, candidates(err), err)
	}
}
