package strategy_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/vote"
)

// first has another plan than usa.
const first = "SELECT name FROM customers WHERE id = 1"

// TestAskUser: whether the user is asked, and the options as the statements of the ballot in its order.
func TestAskUser(t *testing.T) {
	const totals, other = "SELECT total FROM orders", "SELECT id FROM orders"
	tests := []struct {
		name    string
		below   float64
		replies []string
		options []string // statements; nil: an answer
		why     string
	}{
		{"never", 0, []string{usa, everyone, totals, nobody}, nil, "the zero value asks nobody"},
		{"disputed", 0.6, []string{everyone, usa, usa, nobody}, []string{usa, everyone, nobody},
			"half of the samples, below 0.6"},
		{"as much", 0.5, []string{everyone, usa, usa, nobody}, nil, "half is not below a half"},
		{"at most three", 1, []string{usa, everyone, totals, nobody, other}, []string{usa, everyone, totals},
			"the first three of five; an empty result loses a tie"},
		{"one answer", 1, []string{usa, usaJoin, broken, "DELETE FROM orders"}, nil, "there is nothing to choose from"},
		{"failed statements count", 0.6, []string{usa, usa, everyone, broken}, []string{usa, everyone},
			"two of four, though two of three votes"},
		{"failed calls do not", 0.6, []string{usa, usa, everyone}, nil,
			"two of the three replies; the fourth sample has none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := plain(max(len(tt.replies), 4))
			p.MinConfidence = 0.99
			p.Judge = judgeFunc(func(strategy.JudgeInput) (int, error) {
				if tt.options != nil {
					t.Error("a judge is asked, too")
				}
				return 0, nil
			})
			env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(tt.replies...)}})
			env.AskBelow = tt.below
			out, err := p.Generate(t.Context(), env, usaTask)
			var q *session.QuestionError
			if errors.As(err, &q) != (tt.options != nil) || q == nil && !errors.As(err, new(*strategy.AbstainedError)) {
				t.Fatalf("%s: %v", tt.why, err)
			}
			if q == nil {
				return
			}
			var got []string
			for i, o := range q.Options {
				got = append(got, o.SQL)
				if o.ID != "r"+string(rune('1'+i)) || o.Confidence != out.Ballot.Clusters[i].Confidence {
					t.Errorf("option %d is %q with confidence %v", i, o.ID, o.Confidence)
				}
			}
			golden.Equal(t, tt.options, got, tt.why)
			if out.SQL != got[0] || q.Kind != dialogue.KindResult || q.Context["user_query"] != usaTask.Question {
				t.Errorf("the best so far is %q, the question %+v", out.SQL, q)
			}
		})
	}
}

// TestAskUserShows: an option has the first rows and what there is of it; without execution neither rows nor counts.
func TestAskUserShows(t *testing.T) {
	const many = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 7) SELECT x, 'a' AS "a ` + "\n" +
		`b" FROM n`
	env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, many)}})
	env.AskBelow = 0.6
	_, err := plain(2).Generate(t.Context(), env, usaTask)
	var q *session.QuestionError
	if !errors.As(err, &q) {
		t.Fatal(err)
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	want := []string{"1 of 2 samples; rows: 2; columns: name", "1 of 2 samples; rows: 7; columns: x, a b"}
	golden.Equal(t, want, labels, "labels")
	golden.Equal(t, &result.Table{
		Columns: []string{"name"}, Types: []result.Type{{Name: "TEXT", Kind: result.KindText}},
		Rows: [][]any{{"Ada"}, {"Cyd"}},
	}, q.Options[0].Rows, "rows")

	// Checks that run nothing do not know how many rows there are: 0 would be a lie.
	planned := plain(2)
	planned.Checks, planned.Voter = exec.PlanChecks(), vote.Majority{Key: vote.ByText}
	_, err = planned.Generate(t.Context(), env, usaTask)
	var byText *session.QuestionError
	if !errors.As(err, &byText) {
		t.Fatal(err)
	}
	want = []string{"1 of 2 samples; columns: name", "1 of 2 samples; columns: x, a b"}
	labels = []string{byText.Options[0].Label, byText.Options[1].Label}
	golden.Equal(t, want, labels, "labels of planned statements")

	if rows := q.Options[1].Rows; len(rows.Rows) != 5 || !rows.Truncated {
		t.Errorf("got %d rows of 7", len(rows.Rows))
	}

	env = asking(env, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, first)}})
	env.WithoutExecution, env.DB = true, env.DB.WithoutExecution()
	p := plain(2)
	p.Voter = vote.Majority{Key: vote.ByPlan}
	_, err = p.Generate(t.Context(), env, usaTask)
	if !errors.As(err, &q) || q.Options[0].Rows != nil || q.Options[0].Label != "1 of 2 samples" {
		t.Errorf("without execution: %v", err)
	}
}

// TestEarlyStopsDoNotChangeWhetherItIsAsked: with any stop the user is asked, or not, as without one. Where the user is
// asked, all samples are there, so that the options are the same.
func TestEarlyStopsDoNotChangeWhetherItIsAsked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	stops := []vote.Stop{vote.Decided, vote.AheadBy(2), vote.Posterior(0.9), vote.AheadBy(3).Every(4).Or(vote.Decided)}
	env := shopEnv(t, nil)
	asked, saved := 0, 0
	for range 60 {
		replies := make([]string, 3+rng.IntN(10))
		for i := range replies {
			replies[i] = []string{usa, usa, usa, usaJoin, everyone, nobody, broken}[rng.IntN(7)]
		}
		env := asking(env, llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			return llm.Response{Text: replies[req.Sample], StopReason: llm.StopEnd}, nil
		}))
		env.AskBelow = []float64{0.3, 0.6, 0.75}[rng.IntN(3)]
		options := func(stop vote.Stop) (sql []string) {
			out, err := strategy.Pipeline{Sampler: strategy.Sampler{Samples: len(replies), Stop: stop}}.Generate(t.Context(),
				env, usaTask)
			var q *session.QuestionError
			if errors.As(err, &q) {
				for _, o := range q.Options {
					sql = append(sql, o.ID+" "+o.SQL+" "+o.Label)
				}
			} else if err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
				t.Fatal(err)
			}
			saved += out.Saved
			return sql
		}
		full := options(nil)
		if full != nil {
			asked++
		}
		if diff := cmp.Diff(full, options(stops[rng.IntN(len(stops))])); diff != "" {
			t.Errorf("%v of %q: (-without a stop +with it)\n%s", env.AskBelow, replies, diff)
		}
	}
	if asked < 10 || saved < 20 {
		t.Errorf("asked %d times, saved %d samples: nothing is tested", asked, saved)
	}
}

// lateTwelfth is a model whose twelfth sample comes late and says something else.
func lateTwelfth(_ context.Context, req llm.Request) (llm.Response, error) {
	text := usa
	if req.Sample == 11 {
		time.Sleep(time.Hour)
		text = everyone
	}
	return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
}

// TestLateSamplesOfAQuestion: a sample whose vote could decide whether the user is asked is waited for.
func TestLateSamplesOfAQuestion(t *testing.T) {
	for _, tt := range []struct {
		below float64
		late  bool
		why   string
	}{
		{0, true, "nobody is ever asked"},
		{0.6, true, "eleven of twelve are enough, whatever the twelfth says"},
		{1, false, "the twelfth may disagree"},
	} {
		env := shopEnv(t, nil)
		synctest.Test(t, func(t *testing.T) {
			env := asking(env, llm.Func(lateTwelfth))
			env.AskBelow = tt.below
			out, err := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12}}.Generate(t.Context(), env, usaTask)
			if (len(out.Candidates) == 11) != tt.late || (err == nil) != tt.late {
				t.Errorf("%s: %d candidates, %v", tt.why, len(out.Candidates), err)
			}
		})
	}
}

// TestEveryPresetAsks: those that vote through a Pipeline, and Staged, which counts its steps itself.
func TestEveryPresetAsks(t *testing.T) {
	model := func(even, odd string) llm.Model {
		return llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			text := []string{even, odd}[req.Sample%2]
			switch {
			case strings.HasPrefix(req.Purpose, "maker."):
				text = "nothing to say"
			case req.Purpose == "agent.step":
				text = "Thought: done.\nAction: query[" + text + "]"
			}
			return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
		})
	}
	task := usaTask
	task.Samples = 4
	for _, tt := range []struct {
		name     string
		strategy strategy.Strategy
		asks     bool
	}{
		{"Direct", strategy.Direct{}, false},
		{"SelfConsistency", strategy.SelfConsistency{}, true},
		{"Consensus", strategy.Consensus{}, true},
		{"planvote.Plain", planvote.Plain{}, true},
		{"planvote.Augmented", planvote.Augmented{}, true},
		{"planvote.Feedback", planvote.Feedback{}, true},
		{"petsql", petsql.Strategy{}, true},
		{"qasql", qasql.Strategy{}, true},
		{"agent.ReAct", agent.ReAct{}, true},
		{"agent.Staged", agent.Staged{Stage: 3}, true},
		{"the fallback of maker", maker.Strategy{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := task
			if !tt.asks {
				task.Samples = 0
			}
			env := shopEnv(t, model(usa, first))
			env.Profiles = true
			env.AskBelow = 0.9
			out, err := tt.strategy.Generate(t.Context(), env, task)
			var q *session.QuestionError
			if errors.As(err, &q) != tt.asks || !tt.asks && err != nil {
				t.Fatalf("asks: %v, want %v: %v", q != nil, tt.asks, err)
			}
			if tt.asks && (len(q.Options) != 2 || out == nil || out.SQL != q.Options[0].SQL ||
				out.Ballot.Clusters[0].SQL != out.SQL) {
				t.Errorf("options %+v, the outcome %+v", q.Options, out)
			}
			env.AskBelow = 0
			if out, err := tt.strategy.Generate(t.Context(), env, task); err != nil ||
				!slices.Contains([]string{usa, first}, out.SQL) {
				t.Errorf("without asking: %v", err)
				// whose judges see statements
			} else if q != nil && out.SQL != q.Options[0].SQL && tt.name != "Consensus" && tt.name != "qasql" {
				t.Errorf("the first option is %q, the answer %q", q.Options[0].SQL, out.SQL)
			}
		})
	}
}
