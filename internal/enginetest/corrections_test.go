package enginetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/vote"
)

const (
	byTutor = "SELECT p.name FROM pupils AS p JOIN marks AS m ON m.tutor_id = p.pupil_id WHERE m.mark = 4"
	ofOld   = "SELECT p.name FROM pupils_old AS p JOIN marks AS m ON m.pupil_id = p.pupil_id WHERE m.mark = 4"
	using   = "SELECT pupils.name FROM pupils JOIN marks USING (pupil_id) WHERE marks.mark = 4"
	natural = "SELECT pupils.name FROM pupils NATURAL JOIN marks WHERE marks.mark = 4"
)

// corrected is a question that the user corrected, and that follows on another one.
func corrected() strategy.Task {
	table := func(name string) schema.TableName { return schema.TableName{Name: name} }
	return strategy.Task{
		Question: "And who has a 4?",
		Corrections: []session.Correction{
			{Kind: dialogue.CorrectTable, Tables: []schema.TableName{table("pupils")},
				Rejected: []schema.TableName{table("pupils_old")}},
			{Kind: dialogue.CorrectJoin, Join: &schema.Join{
				Left:  schema.ColumnName{Table: table("marks"), Column: "pupil_id"},
				Right: schema.ColumnName{Table: table("pupils"), Column: "pupil_id"},
			}},
		},
		Earlier: []session.PreviousTurn{{Question: "Who has a 1, of all?",
			SQL: "SELECT name FROM pupils JOIN marks USING (pupil_id) WHERE mark = 1"}},
	}
}

// presets are all of them, each in every form that has prompts of its own.
func presets() map[string]strategy.Strategy {
	return map[string]strategy.Strategy{
		"Direct": strategy.Direct{}, "SelfConsistency": strategy.SelfConsistency{Samples: 4},
		"Consensus": strategy.Consensus{Samples: 4},
		"planvote":  planvote.Plain{Samples: 4}, "planvote published": planvote.Plain{Samples: 4}.Published(),
		"augmented":           planvote.Augmented{Samples: 4, Probe: true},
		"augmented published": planvote.Augmented{Samples: 4}.Published(),
		"feedback":            planvote.Feedback{Samples: 2}, "feedback published": planvote.Feedback{Samples: 2}.Published(),
		"cheapest": planvote.Plain{Samples: 4, Cheapest: true},
		"MAKER":    maker.Strategy{Samples: 4, FallbackCalls: 3}, "MAKER published": maker.Strategy{Samples: 4,
			FallbackCalls: 3}.Published(),
		"PETSQL": petsql.Strategy{}, "PETSQL published": petsql.Strategy{}.Published(),
		"QASQL": qasql.Strategy{}, "QASQL judge first": qasql.Strategy{JudgeFirst: true},
		"Staged": agent.Staged{}, "Staged 3": agent.Staged{Stage: 3},
		"ReAct": agent.ReAct{}, "ReAct published": agent.ReAct{}.Published(),
	}
}

const bothTables = "Tables: marks, pupils\nJoins: marks.pupil_id = pupils.pupil_id"

// What the user said reaches every prompt of every preset, and so does the question before.
func TestCorrectionsInEveryPrompt(t *testing.T) {
	for name, s := range presets() {
		t.Run(name, func(t *testing.T) {
			// The replies lead everywhere: to a repair, to a vote that a judge has to look at, and to an answer.
			model := &strategytest.Pupil{Statements: []string{
				ofOld, using, "SELECT name FROM pupils JOIN marks USING (pupil_id)", "SELECT nothing"},
				Scopes: []string{bothTables}}
			env := strategytest.EnvOf(t, strategytest.SchoolSQL, model)
			env.Exemplars = &memory.Pool{Pairs: []memory.Exemplar{{Question: "How many pupils are there?",
				SQL: "SELECT count(*) FROM pupils"}}}
			if _, err := s.Generate(t.Context(), env, corrected()); err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
				t.Fatal(err)
			}
			if len(model.Requests) == 0 {
				t.Fatal("no request")
			}
			for _, req := range model.Requests {
				var text strings.Builder
				for _, m := range req.Messages {
					text.WriteString(m.Text + "\n")
				}
				for _, part := range append(corrected().Constraints(), corrected().Earlier[0].Question) {
					said := strings.ReplaceAll(text.String(), part+"; the statement", "") // an error repeats the constraint
					if n := strings.Count(said, part); n != 1 {
						t.Fatalf("%s: %q stands there %d times:\n%s", req.Purpose, part, n, text.String())
					}
				}
			}
		})
	}
}

// No preset answers against a correction, however many statements vote for it, and one that joins as the user said by
// USING or NATURAL JOIN passes.
func TestCorrectionsHold(t *testing.T) {
	for name, s := range presets() {
		for how, right := range map[string]string{"using": using, "natural": natural} {
			t.Run(name+"/"+how, func(t *testing.T) {
				model := &strategytest.Pupil{Statements: []string{ofOld, byTutor, right}, Scopes: []string{bothTables}}
				if single := name == "Direct" || name == "PETSQL" || name == "PETSQL published"; single {
					model.Statements = []string{right} // nothing is asked again
				}
				out, err := s.Generate(t.Context(), strategytest.EnvOf(t, strategytest.SchoolSQL, model), corrected())
				if err != nil || out.SQL != right {
					t.Fatalf("%v, %v", out, err)
				}
			})
		}
		t.Run(name+"/never", func(t *testing.T) {
			for _, wrong := range []string{ofOld, byTutor} {
				model := &strategytest.Pupil{Statements: []string{wrong}, Scopes: []string{bothTables}}
				out, err := s.Generate(t.Context(), strategytest.EnvOf(t, strategytest.SchoolSQL, model), corrected())
				if !errors.Is(err, strategy.ErrNoCandidate) || out.SQL != "" {
					t.Fatalf("%s: %v, %v", wrong, out, err)
				}
				if !slices.ContainsFunc(out.Candidates, func(c vote.Candidate) bool {
					return strings.Contains(c.Rejected, "; the statement ")
				}) {
					t.Errorf("no candidate has the reason: %+v", out.Candidates)
				}
			}
		})
	}
}
