package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// opinions is a second model that gives its replies by sample.
type opinions struct {
	replies []string
	err     error
	samples []int
}

func (o *opinions) Name() string { return "second" }

func (o *opinions) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	o.samples = append(o.samples, req.Sample)
	if o.err != nil {
		return llm.Response{}, o.err
	}
	return llm.Response{Text: o.replies[req.Sample], StopReason: llm.StopEnd}, nil
}

// TestSecondOpinion: one call confirms an answer, two that agree on another one are a doubt, and nothing else changes
// anything.
func TestSecondOpinion(t *testing.T) {
	const (
		all   = "SELECT name FROM customers"
		count = "SELECT count(*) FROM customers WHERE country = 'USA'"
		same  = "SELECT c.name FROM customers AS c WHERE c.country IN ('USA')"
	)
	broken := &llm.Error{Class: llm.ClassPermanent, Message: "no such model"}
	for _, tt := range []struct {
		why, question, first string
		second               *opinions
		opts                 []texttosql.Option
		samples              []int
		level, closing       string
		more                 int // sign of the change of the confidence
	}{
		{"an equal result", "Which customers live in the USA?", usa, &opinions{replies: []string{same}}, nil, []int{0},
			"agreed", "Two models agree. All 7 samples agree.", 1},
		{"another one, twice", "Which customers live in the USA?", usa, &opinions{replies: []string{all, all}}, nil,
			[]int{0, 1},
			"check", "Check this: another model finds 3 rows of 1 column.", -1},
		{"another figure", "How many orders are there?", "SELECT count(*) FROM orders",
			&opinions{replies: []string{count, count}}, nil,
			[]int{0, 1}, "check", "Check this: another model finds 2.", -1},
		{"the second model disagrees with itself", "Which customers live in the USA?", usa,
			&opinions{replies: []string{all, count}}, nil, []int{0, 1},
			"agreed", "All 7 samples agree.", 0},
		{"its second call has the answer", "Which customers live in the USA?", usa, &opinions{replies: []string{all, same}},
			nil, []int{0, 1},
			"agreed", "All 7 samples agree.", 0},
		{"it fails", "Which customers live in the USA?", usa, &opinions{err: broken}, nil, []int{0}, "agreed",
			"All 7 samples agree.", 0},
		{"its statement does not run", "Which customers live in the USA?", usa,
			&opinions{replies: []string{"SELECT x FROM nothing"}}, nil, []int{0},
			"agreed", "All 7 samples agree.", 0},
		{"too few samples for an answer on which all agree", "Which customers live in the USA?", usa,
			&opinions{replies: []string{same}},
			[]texttosql.Option{texttosql.WithSamples(3)}, nil, "check",
			"Check this: only 2 samples were compared, and all agree.", 0},
		{"a contradicted answer is doubted already", "Which customers live in Norway?", usa,
			&opinions{replies: []string{usa}}, nil, nil,
			"check", "Check this: the question says Norway, the statement USA.", 0},
		{"as many samples as somebody wants are the first model's", "Which customers live in the USA?", usa,
			&opinions{replies: []string{all, all}},
			[]texttosql.Option{texttosql.WithSamples(9)}, []int{0, 1}, "check",
			"Check this: another model finds 3 rows of 1 column.", -1},
		{"nothing runs", "Which customers live in the USA?", usa, &opinions{replies: []string{same}},
			[]texttosql.Option{texttosql.WithoutExecution()}, nil, "agreed", "All 9 samples agree.", 0},
	} {
		plain := testutil.Value(engine(t, always(tt.first), tt.opts...).Ask(t.Context(), tt.question))(t)
		res, err := engine(t, llm.Named("first", always(tt.first)),
			append(tt.opts, texttosql.WithSecondOpinion(tt.second))...).Ask(t.Context(), tt.question)
		if err != nil || string(res.Level) != tt.level || res.Closing() != tt.closing {
			t.Errorf("%s: %s %q, want %s %q: %v", tt.why, res.Level, res.Closing(), tt.level, tt.closing, err)
		}
		if diff := cmp.Diff(tt.samples, tt.second.samples); diff != "" {
			t.Errorf("%s: samples of the second model: %s", tt.why, diff)
		}
		if calls := res.Usage.Calls - plain.Usage.Calls; calls != len(tt.samples) {
			t.Errorf("%s: the usage has %d calls more", tt.why, calls)
		}
		if more := res.Confidence - plain.Confidence; more > 0 != (tt.more > 0) || more < 0 != (tt.more < 0) {
			t.Errorf("%s: confidence %.3f, %.3f without it", tt.why, res.Confidence, plain.Confidence)
		}
	}
}

// TestSecondOpinionOfTheSame: a second model needs a name of its own, since replies are recorded by name.
func TestSecondOpinionOfTheSame(t *testing.T) {
	named := func(name string) llm.Model { return llm.Named(name, always(usa)) }
	for _, tt := range []struct {
		why           string
		first, second llm.Model
		want          string
	}{
		{"another name", named("a"), named("b"), ""},
		{"the first model has none", always(usa), named("b"), "model 0 has no name"},
		{"the same name", named("a"), named("a"), `two models are called "a"`},
		{"no name", named("a"), llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, nil
		}), "model 1 has no name"},
		{"no model", named("a"), nil, "the model is nil"},
	} {
		_, err := texttosql.New(open(t, shop), tt.first, texttosql.WithSecondOpinion(tt.second))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}

// TestSecondOpinionLearns: what a second model needs is found out once, within the limit on its reasoning.
func TestSecondOpinionLearns(t *testing.T) {
	thinks := func(tokens int) func(int) (llm.Response, error) {
		return func(limit int) (llm.Response, error) {
			if limit < tokens {
				return llm.Response{}, &llm.Error{Class: llm.ClassOutOfTokens}
			}
			return llm.Response{Text: usa, StopReason: llm.StopEnd}, nil
		}
	}
	for _, tt := range []struct {
		why    string
		reply  func(limit int) (llm.Response, error)
		budget llm.Budget
		want   [2][]int // its limits, by question
	}{
		{"no reasoning", thinks(0), llm.Budget{}, [2][]int{{512}, {512}}},
		{"reasoning", thinks(3000), llm.Budget{}, [2][]int{{512, 1024, 2048, 32_768}, {32_768}}},
		{"reasoning within its limit", thinks(2000), llm.Budget{ReasoningTokens: 2048},
			[2][]int{{512, 1024, 2048}, {2048}}},
		{"half a statement is not said", func(limit int) (llm.Response, error) {
			if limit < 1024 {
				return llm.Response{Text: "```sql\nSELECT name FROM", StopReason: llm.StopLength}, nil
			}
			return llm.Response{Text: usa, StopReason: llm.StopEnd}, nil
		}, llm.Budget{}, [2][]int{{512, 1024}, {32_768}}},
	} {
		var limits []int
		second := llm.Named("second", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			limits = append(limits, *req.MaxTokens)
			return tt.reply(*req.MaxTokens)
		}))
		e := engine(t, llm.Named("first", always(usa)), texttosql.WithBudget(tt.budget), texttosql.WithSecondOpinion(second))
		for i, want := range tt.want {
			limits = nil
			res, err := e.Ask(t.Context(), "Which customers live in the USA?")
			if diff := cmp.Diff(want, limits); diff != "" || err != nil || res.Ballot.Second != "second" {
				t.Errorf("%s: question %d: %v, second %q, limits (-want +got):\n%s", tt.why, i, err, res.Ballot.Second, diff)
			}
		}
	}
}

// TestSecondOpinionOfForeignBallot: a strategy of the program may name a candidate that is not there.
func TestSecondOpinionOfForeignBallot(t *testing.T) {
	second := &opinions{replies: []string{usa}}
	foreign := foreignBallot{Best: 7}
	e := engine(t, llm.Named("first", always(usa)), texttosql.WithStrategy(foreign), texttosql.WithSecondOpinion(second))
	res, err := e.Ask(t.Context(), "Which customers live in the USA?")
	if err != nil || res.SQL != usa || len(second.samples) > 0 {
		t.Errorf("%v, %q after %d calls", err, res.SQL, len(second.samples))
	}
}

// foreignBallot is a strategy whose winner is the candidate of a number, of none.
type foreignBallot struct{ Best int }

func (f foreignBallot) Generate(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
	winner := vote.Cluster{SQL: usa, Members: []int{0, 1, 2, 3, 4}, Best: f.Best, Share: 1}
	return &strategy.Outcome{SQL: usa, Confidence: .9, Ballot: vote.Ballot{
		Sampled: 5, Voted: 5, Clusters: []vote.Cluster{winner}, Confidence: .9,
	}}, nil
}

// TestSecondOpinionAsks: in a conversation the user chooses between the two models' statements.
func TestSecondOpinionAsks(t *testing.T) {
	const all = "SELECT name FROM customers"
	e := engine(t, llm.Named("first", always(usa)), texttosql.WithStrategy(strategy.SelfConsistency{}),
		texttosql.WithSecondOpinion(&opinions{replies: []string{all, all}}))
	talk := e.NewConversation(&session.MemoryStore{})
	_, err := talk.Ask(t.Context(), "Which customers live in the USA?")
	var asked *session.QuestionError
	if !errors.As(err, &asked) || len(asked.Options) != 2 || asked.Options[1].SQL != all {
		t.Fatalf("%+v, %v", asked, err)
	}
	if res := testutil.Value(talk.Choose(t.Context(), "r2"))(t); res.SQL != all || res.Level != "chosen" {
		t.Errorf("%s %q", res.Level, res.SQL)
	}
}
