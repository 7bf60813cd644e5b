package eval_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// pets is the dataset of the tests of Run: five questions, of which one cannot be scored.
func pets(t *testing.T) (*eval.Dataset, *eval.Scorer) {
	t.Helper()
	dir := t.TempDir()
	makePets(dir)
	d := testutil.Value(eval.NewDataset("pets", []eval.Question{
		{ID: "lost", DB: "pets", Text: "Which year is it?", Gold: "SELECT YEAR(now())"},
		{ID: "cats", DB: "pets", Text: "How many cats are there?", Gold: "SELECT count(*) FROM pet WHERE kind = 'cat'"},
		{ID: "oldest", DB: "pets", Text: "Who is the oldest?", Gold: "SELECT name FROM pet ORDER BY age DESC LIMIT 1"},
		{ID: "kinds", DB: "pets", Text: "Which kinds are there?", Gold: "SELECT DISTINCT kind FROM pet"},
		{ID: "all", DB: "pets", Text: "Who is there?", Gold: "SELECT name FROM pet"},
	}))(t)
	store := newStore(t, in(dir))
	return d, &eval.Scorer{Store: store, Metrics: []eval.Metric{eval.EX{}, eval.VA{}}}
}

func TestRun(t *testing.T) {
	d, s := pets(t)
	down := &llm.Error{Class: llm.ClassPermanent, Message: "no such model"}
	var mu sync.Mutex
	asked := map[string]bool{}
	r := testutil.Value(eval.Run(t.Context(), func(_ context.Context, q eval.Question) (eval.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[q.ID] = true
		if q.Gold != "" {
			t.Errorf("the gold of %s is shown", q.ID)
		}
		a := eval.Answer{Usage: trace.Usage{Calls: 1, Known: true}}
		switch q.ID {
		case "cats":
			a.SQL = "SELECT 2"
		case "oldest":
			a.SQL = "SELECT name FROM pet" // wrong
		case "kinds":
			a.SQL = "SELECT kind FROM pet"
			return a, down // whatever it has
		case "all":
			a.SQL = "SELECT name FROM pat" // invalid
		}
		return a, nil
	}, d, s))(t)
	golden.Equal(t, map[string]bool{"cats": true, "oldest": true, "kinds": true, "all": true}, asked,
		"asked, without what cannot be scored")
	got := map[string][]float64{}
	for _, v := range r.Verdicts {
		got[v.Question.ID] = v.Scores
		if (v.Err != nil) != (v.Question.ID == "kinds") || v.Err != nil && (!errors.Is(v.Err, down) || v.Answered) {
			t.Errorf("%s: answered %v, error %v", v.Question.ID, v.Answered, v.Err)
		}
	}
	want := map[string][]float64{"lost": {0, 0}, "cats": {1, 1}, "oldest": {0, 1}, "kinds": {0, 0}, "all": {0, 0}}
	golden.Equal(t, want, got, "scores")
	e, ok := r.Estimate("ex_set")
	if !ok || e.N != 5 || e.Value != 0.2 || e.Low != 0 || e.High < 0.4 || e.High > 0.8 {
		t.Errorf("estimate %+v, %v", e, ok)
	}
	if _, ok := r.Estimate("none"); ok {
		t.Error("an estimate of a metric that was not asked for")
	}
	if r.Cost.Usage.Calls != 4 {
		t.Errorf("cost %v: a failed question costs too", r.Cost)
	}
	if text := r.String(); !strings.Contains(text, "without an answer: 2 (first error: question kinds: ") {
		t.Errorf("the report says\n%s", text)
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name  string
		ask   func(context.Context, eval.Question) (eval.Answer, error)
		want  error
		calls int
		why   string
	}{
		{
			"wrong key", func(context.Context, eval.Question) (eval.Answer, error) {
				return eval.Answer{}, &llm.Error{Class: llm.ClassPermanent, Status: 401}
			},
			&llm.Error{}, 1, "the other questions would fail too",
		},
		{
			"overloaded", func(context.Context, eval.Question) (eval.Answer, error) {
				return eval.Answer{}, &llm.Error{Class: llm.ClassOverloaded}
			},
			nil, 4, "the next question may have an answer",
		},
		{
			"cancelled", func(context.Context, eval.Question) (eval.Answer, error) {
				cancel()
				return eval.Answer{SQL: "SELECT 1"}, nil
			},
			context.Canceled, 1, "nobody waits any more",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, s := pets(t)
			var mu sync.Mutex
			calls := 0
			r, err := eval.Run(ctx, func(ctx context.Context, q eval.Question) (eval.Answer, error) {
				mu.Lock()
				defer mu.Unlock()
				calls++
				return tt.ask(ctx, q)
			}, d, s)
			var fault *llm.Error
			switch {
			case tt.want == nil && (err != nil || r.Unanswered() != 5),
				errors.Is(tt.want, context.Canceled) && !errors.Is(err, context.Canceled),
				tt.want != nil && !errors.Is(tt.want, context.Canceled) && !errors.As(err, &fault):
				t.Errorf("%v: %s", err, tt.why)
			}
			if calls != tt.calls {
				t.Errorf("%d calls, want %d: %s", calls, tt.calls, tt.why)
			}
		})
	}
	d, s := pets(t)
	if r, err := eval.Run(t.Context(), nil, d.Select(func(eval.Question) bool { return false }), s); err != nil ||
		r.N() != 0 {
		t.Errorf("no questions: %v, %v", r, err)
	}
}
