package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

func generate(replies ...string) llmtest.Rule {
	return llmtest.Rule{Purpose: "generate", Replies: llmtest.Texts(replies...)}
}

func repairs(replies ...string) llmtest.Rule {
	return llmtest.Rule{Purpose: "repair", Replies: llmtest.Texts(replies...), Repeat: true}
}

func judges(replies ...string) llmtest.Rule {
	for i, letter := range replies {
		replies[i] = fmt.Sprintf(`{"selected_option": %q}`, letter)
	}
	return llmtest.Rule{Purpose: "judge", Replies: llmtest.Texts(replies...)}
}

// plain is a pipeline without doubts or early stop, to see one stage at a time.
func plain(n int) strategy.Pipeline {
	return strategy.Pipeline{Sampler: strategy.Sampler{Samples: n, Temperature: 0.7}, Voter: vote.Majority{MinShare: 0.6}}
}

func TestPipeline(t *testing.T) {
	repairing, judging := plain(4), plain(4)
	repairing.Refine = &strategy.Refine{Decisive: true}
	judging.Judge = strategy.Rubric{}
	tests := []struct {
		name     string
		pipeline strategy.Pipeline
		rules    []llmtest.Rule
		sql      string
		share    float64
		calls    int
		note     string // part of one of the notes
		why      string
	}{
		{
			"majority by result", plain(4), []llmtest.Rule{generate(everyone, usa, usaJoin, usa)}, usa, 0.75, 4, "",
			"two spellings, one result; the shorter represents it",
		},
		{"tie to the first", plain(2), []llmtest.Rule{generate(everyone, usa)}, everyone, 0.5, 2, "",
			"the earliest sample wins a tie"},
		{
			"an unsafe reply has no vote", plain(3),
			[]llmtest.Rule{generate("DELETE FROM orders", usa, "SELECT 1; DROP TABLE orders")}, usa, 1, 3, "",
			"neither reaches the database",
		},
		{
			"one failed sample", plain(3),
			[]llmtest.Rule{{Purpose: "generate", Replies: []llmtest.Reply{{Err: &llm.Error{Class: llm.ClassRateLimit}},
				{Text: usa}, {Text: usa}}}},
			usa, 1, 3, "sample 0 failed", "the others still vote",
		},
		{
			"repair that could change", repairing, []llmtest.Rule{generate(everyone, broken, usa, broken), repairs(usa)}, usa,
			0.75, 5, "",
			"two lost votes could overtake: one repair gives both",
		},
		{"repair that could not", repairing, []llmtest.Rule{generate(usa, usa, usa, broken)}, usa, 1, 4, "",
			"one lost vote against three: no call is made"},
		{
			"repair of the last hope", repairing, []llmtest.Rule{generate(broken, broken, broken, broken), repairs(usa)}, usa, 1,
			5, "",
			"nothing ran, one statement to repair",
		},
		{
			"repair that fails again", repairing, []llmtest.Rule{generate(usa, broken, broken, everyone),
				repairs("SELECT nothing FROM nowhere")}, usa, 0.5, 5,
			"repair of sample 1 was rejected", "the vote stands without it",
		},
		{
			"a model that cannot repair", repairing, []llmtest.Rule{generate(usa, broken, broken, everyone)}, usa, 0.5, 5,
			"repair of sample 1 failed",
			"a permanent error of a repair is a note",
		},
		{
			"judge for the runner-up", judging, []llmtest.Rule{generate(usa, usa, everyone, everyone), judges("A", "B")},
			everyone, 0.5, 6,
			"preferred the runner-up", "the second statement stands first in the first call, and is B in the second",
		},
		{
			"judge that follows position", judging, []llmtest.Rule{generate(usa, usa, everyone, everyone), judges("A", "A")},
			usa, 0.5, 6, "could not tell",
			"a verdict that does not survive the swap is none",
		},
		{"judge not needed", judging, []llmtest.Rule{generate(usa, usa, usa, everyone)}, usa, 0.75, 4, "",
			"above MinShare nobody is asked"},
		{
			"judge that cannot be asked", judging, []llmtest.Rule{generate(usa, usa, everyone, everyone)}, usa, 0.5, 5,
			"the vote stands",
			"a recorded model has no verdict",
		},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: tt.rules}
			out := testutil.Value(tt.pipeline.Generate(t.Context(), shopEnv(t, script),
				strategy.Task{Question: "Which customers live in the USA?"}))(t)
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, nil))
			if out.SQL != tt.sql || out.Ballot.Clusters[0].Share != tt.share {
				t.Errorf("got %q with share %v, want %q with %v: %s", out.SQL, out.Ballot.Clusters[0].Share, tt.sql, tt.share,
					tt.why)
			}
			if calls := len(script.Requests()); calls != tt.calls {
				t.Errorf("%d calls, want %d: %s", calls, tt.calls, tt.why)
			}
			if tt.note != "" && !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, tt.note) }) {
				t.Errorf("no note with %q in %q", tt.note, out.Notes)
			}
		})
	}
	golden.Check(t, "pipeline.golden", told.String())
}

func TestPipelineErrors(t *testing.T) {
	rate := &llm.Error{Class: llm.ClassRateLimit, Message: "slow down"}
	abstaining := plain(2)
	abstaining.MinConfidence = 0.9
	tests := []struct {
		name     string
		pipeline strategy.Pipeline
		task     strategy.Task
		rule     llmtest.Rule
		want     error
		text     string
		why      string
	}{
		{
			"no candidate", plain(3), strategy.Task{Question: "q"}, generate("I cannot help with that.", "DROP TABLE orders",
				broken), strategy.ErrNoCandidate,
			"no such table: custmers", "every reason is told",
		},
		{
			"provider down", plain(2), strategy.Task{Question: "q"}, llmtest.Rule{Replies: llmtest.Errors(rate, rate)}, rate,
			"slow down",
			"the provider's error is in it",
		},
		{
			"provider down is no candidate too", plain(2), strategy.Task{Question: "q"},
			llmtest.Rule{Replies: llmtest.Errors(rate, rate)},
			strategy.ErrNoCandidate, "2 × ", "equal reasons are counted",
		},
		{"abstained", abstaining, strategy.Task{Question: "q"}, generate(usa, everyone), nil, "confidence 0.50 is below 0.90",
			"an, but no sure one"},
		{"empty question", plain(1), strategy.Task{Question: " \n"}, generate(usa), strategy.ErrEmptyQuestion, "",
			"before any call"},
		{"negative samples", plain(1), strategy.Task{Question: "q", Samples: -1}, generate(usa), nil, "Samples is -1",
			"before any call"},
		{"wrong confidence", strategy.Pipeline{MinConfidence: 2}, strategy.Task{Question: "q"}, generate(usa), nil,
			"want 0 to 1", "before any call"},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := tt.pipeline.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{tt.rule}}), tt.task)
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, err))
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q: %s", err, tt.want, tt.text, tt.why)
			}
		})
	}
	golden.Check(t, "errors.golden", told.String())
}

// TestAbstainedKeepsTheRanking: whoever asked can still see the best answer.
func TestAbstainedKeepsTheRanking(t *testing.T) {
	p := plain(3)
	p.MinConfidence = 0.9
	out, err := p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, everyone, usa)}}),
		strategy.Task{Question: "q"})
	var abstained *strategy.AbstainedError
	if !errors.As(err, &abstained) || out == nil || out.SQL != usa || len(out.Ballot.Clusters) != 2 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestEachStatementIsCheckedOnce counts the checks of equal and different replies.
func TestEachStatementIsCheckedOnce(t *testing.T) {
	checked := map[string]int{}
	count := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		checked[c.SQL]++
		return nil
	})
	p := plain(6)
	p.Checks = append(exec.DefaultChecks(), count)
	env := shopEnv(t,
		&llmtest.Script{Rules: []llmtest.Rule{generate(usa, usa, "```sql\n"+usa+";\n```", everyone, usa, everyone)}})
	env.Concurrency = 1
	testutil.Value(p.Generate(t.Context(), env, strategy.Task{Question: "q"}))(t)
	golden.Equal(t, map[string]int{usa: 1, everyone: 1}, checked, "checks by statement")
}

// TestEndlessCandidate gives one candidate its deadline and no more, and lets
// the others vote.
func TestEndlessCandidate(t *testing.T) {
	env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", usa)}})
	db, err := exec.New(poolOf(t, shopSQL), env.DB.Dialect(),
		exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: 500 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	env.DB = db
	out, err := plain(3).Generate(t.Context(), env, strategy.Task{Question: "q"})
	if err != nil || out.SQL != usa {
		t.Fatalf("got %+v, %v", out, err)
	}
	if why := out.Candidates[1].Rejected; !strings.Contains(why, "time") {
		t.Errorf("the endless candidate was rejected for %q", why)
	}
}

func TestSamplesOfPresets(t *testing.T) {
	tests := []struct {
		strategy interface{ Validate(samples int) error }
		samples  int
		ok       bool
	}{
		{strategy.Direct{}, 0, true}, {strategy.Direct{}, 1, true}, {strategy.Direct{}, 2, false},
		{strategy.Direct{Shots: -1}, 0, false},
		{strategy.SelfConsistency{}, 30, true}, {strategy.SelfConsistency{Temperature: -1}, 0, false},
		{strategy.Consensus{}, 5, true}, {strategy.Consensus{MinConfidence: 1.1}, 0, false},
	}
	for _, tt := range tests {
		if err := tt.strategy.Validate(tt.samples); (err == nil) != tt.ok {
			t.Errorf("%#v with %d samples: %v", tt.strategy, tt.samples, err)
		}
	}
}
