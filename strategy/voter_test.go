package strategy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// voterFunc is a voter that says nothing but its count.
type voterFunc func([]vote.Candidate) (vote.Ballot, error)

func (f voterFunc) Count(candidates []vote.Candidate) (vote.Ballot, error) { return f(candidates) }

// tallier is one that also says how it stands.
type counter struct {
	voterFunc
	vote.Majority
}

func (v counter) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	return v.voterFunc(candidates)
}

// byLength elects the longest statement.
func byLength(candidates []vote.Candidate) (vote.Ballot, error) {
	return vote.Majority{Key: func(c vote.Candidate) (string, bool) {
		return fmt.Sprint(len(c.SQL)), true
	}}.Count(candidates)
}

// TestWrongBallots: a voter may be anybody's, and what it gets wrong is one error.
func TestWrongBallots(t *testing.T) {
	elects := func(change func(*vote.Ballot)) strategy.Voter {
		return voterFunc(func(candidates []vote.Candidate) (vote.Ballot, error) {
			b := vote.Ballot{Sampled: len(candidates), Voted: 2, Confidence: 0.5, Weak: true, Clusters: []vote.Cluster{
				{Members: []int{0}, Best: 0, SQL: candidates[0].SQL}, {Members: []int{2}, Best: 2, SQL: candidates[2].SQL},
			}}
			change(&b)
			return b, nil
		})
	}
	for _, tt := range []struct {
		name string
		as   strategy.Voter
		text string // of the error; "": none
	}{
		{"as it should be", elects(func(*vote.Ballot) {}), ""},
		{
			"no cluster and no error", elects(func(b *vote.Ballot) { *b = vote.Ballot{} }),
			"no candidate passed the checks: 2 × the voter did not count it and gave no reason; exec: " +
				"invalid statement (schema): no such table: custmers",
		},
		{"no cluster, with a reason", elects(func(b *vote.Ballot) {
			b.Clusters, b.Abstained = nil, []vote.Abstention{{Candidate: 0, Why: "too\nplain"}, {Candidate: 99, Why: "is none"}}
		}), "no candidate passed the checks: too plain; exec: invalid"},
		{"representative out of range", elects(func(b *vote.Ballot) { b.Clusters[1].Best = 99 }),
			"cluster 1 of the voter's ballot names candidate 99 of 3"},
		{"negative representative", elects(func(b *vote.Ballot) { b.Clusters[0].Best = -1 }), "names candidate -1 of 3"},
		{"member out of range", elects(func(b *vote.Ballot) { b.Clusters[0].Members = []int{0, 3} }),
			"names candidate 3 of 3"},
		{
			"rejected", elects(func(b *vote.Ballot) { b.Clusters[0] = vote.Cluster{Best: 1, SQL: broken} }),
			"elected candidate 1, which was rejected: exec: invalid statement",
		},
		{"other SQL", elects(func(b *vote.Ballot) { b.Clusters[0].SQL = "DELETE FROM customers" }),
			"another statement than its candidate 0"},
		{"NaN", elects(func(b *vote.Ballot) { b.Confidence = math.NaN() }), "confidence is NaN"},
		{"too sure", elects(func(b *vote.Ballot) { b.Confidence = 7 }), "confidence is 7"},
	} {
		p := plain(3)
		p.Voter, p.Judge, p.MinConfidence = tt.as, strategy.Rubric{}, 0.1
		script := &llmtest.Script{Rules: []llmtest.Rule{generate(usa, broken, everyone), judges("A", "B")}}
		out, err := p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
		if tt.text == "" {
			if err != nil || out.SQL != usa {
				t.Errorf("%s: got %+v, %v", tt.name, out, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.text)
		}
		if out == nil || out.SQL != "" || len(out.Ballot.Clusters) > 0 || len(out.Candidates) != 3 {
			t.Errorf("%s: got %+v", tt.name, out)
		}
	}
}

// TestEarlyStopByTheVotersOwnCount: twelve equal statements are decided after
// seven by result; who counts otherwise is not stopped by that.
func TestEarlyStopByTheVotersOwnCount(t *testing.T) {
	ownKey := func(c vote.Candidate) (string, bool) { return fmt.Sprint(c.Sample), true }
	for _, tt := range []struct {
		name    string
		voter   strategy.Voter
		key     func(vote.Candidate) (key string, ok bool)
		samples int
		why     string
	}{
		{"nil", nil, nil, 7, "a plain majority"},
		{"majority", vote.Majority{}, nil, 7, ""},
		{"pointer", &vote.Majority{}, nil, 7, "a majority, too, with the default key"},
		{"nil pointer", (*vote.Majority)(nil), nil, 7, "no settings are the default ones"},
		{"own key", &vote.Majority{Key: ownKey}, nil, 12, "by its key no two are equal"},
		{"own voter", voterFunc(byLength), nil, 12, "nobody knows how it counts"},
		{"own voter, key", voterFunc(byLength), vote.ByText, 7, "the key says which are equal"},
		{"own voter that says how it stands", counter{byLength, vote.Majority{}}, nil, 7, ""},
		{"own voter with other standings", counter{byLength, vote.Majority{Key: ownKey}}, nil, 12,
			"it knows better than Env.Key"},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
		p := strategy.Pipeline{Voter: tt.voter, Key: tt.key, Sampler: strategy.Sampler{Samples: 12, Stop: vote.Decided}}
		out := testutil.Value(p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"}))(t, tt.name)
		if n := len(script.Requests()); n != tt.samples || out.Saved != 12-tt.samples || out.SQL != usa {
			t.Errorf("%s: %d samples, %d saved, want %d: %s", tt.name, n, out.Saved, tt.samples, tt.why)
		}
	}
}

// embedding is a voter whose Majority nobody can fill in.
type embedding struct{ vote.Majority }

// TestVotersWithoutExecution: a vote by result is refused before any call; one
// without a key goes by plan.
func TestVotersWithoutExecution(t *testing.T) {
	for _, tt := range []struct {
		name    string
		voter   strategy.Voter
		refused bool
	}{
		{"value", vote.Majority{}, false},
		{"pointer", &vote.Majority{}, false},
		{"by plan", vote.Majority{Key: vote.ByPlan}, false},
		{"by text", &vote.Majority{Key: vote.ByText}, false},
		{"own voter", voterFunc(byLength), false},
		{"never votes", vote.Majority{Key: func(vote.Candidate) (string, bool) { return "", false }}, false},
		{"by result", vote.Majority{Key: vote.ByResult}, true},
		{"pointer by result", &vote.Majority{Key: vote.ByResult}, true},
		{"around a majority by result", embedding{vote.Majority{}}, false},
		{"around a majority by plan", embedding{vote.Majority{Key: vote.ByPlan}}, false},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
		env := shopEnv(t, script)
		env.WithoutExecution = true
		out, err := strategy.Pipeline{Voter: tt.voter}.Generate(t.Context(), env, strategy.Task{Question: "q"})
		switch {
		case tt.refused:
			var config *strategy.ConfigError
			if !errors.As(err, &config) || !strings.Contains(err.Error(), "vote.ByPlan") || len(script.Requests()) > 0 {
				t.Errorf("%s: got %v after %d calls", tt.name, err, len(script.Requests()))
			}
		case tt.name == "never votes", tt.name == "around a majority by result":
			if !errors.Is(err, strategy.ErrNoCandidate) || !strings.Contains(err.Error(), "nothing to vote with: not executed") {
				t.Errorf("%s: got %v", tt.name, err)
			}
		case err != nil || out.SQL != usa:
			t.Errorf("%s: got %+v, %v", tt.name, out, err)
		}
	}
}

// TestNoVoteIsCounted: where nobody has a vote, the ballot and the error still say
// why, in every strategy.
func TestNoVoteIsCounted(t *testing.T) {
	for _, s := range []strategy.Strategy{
		plain(3), strategy.Direct{}, strategy.Consensus{Samples: 3}, strategy.SelfConsistency{Samples: 3},
		planvote.Plain{Samples: 3},
		planvote.Augmented{Samples: 3}, planvote.Feedback{Samples: 3}, maker.Strategy{Samples: 3},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("DROP TABLE customers"), Repeat: true}}}
		out, err := s.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
		if !errors.Is(err, strategy.ErrNoCandidate) || out == nil {
			t.Fatalf("%T: got %+v, %v", s, out, err)
		}
		n := len(out.Candidates)
		if n == 0 || out.Ballot.Sampled != n || len(out.Ballot.Abstained) != n || out.Ballot.Voted != 0 ||
			strings.Contains(out.Ballot.Explain(), "no candidate") {
			t.Errorf("%T: %d candidates, ballot %+v: %s", s, n, out.Ballot, out.Ballot.Explain())
		}
		text, _ := json.Marshal(out.Ballot)
		if !strings.Contains(string(text), `"clusters":[]`) || !strings.Contains(err.Error(), "not-read-only") {
			t.Errorf("%T: %v, %s", s, err, text)
		}
	}
}

// TestChecksThatRunNothing: candidates that pass every check and still have
// nothing to vote with are told as such.
func TestChecksThatRunNothing(t *testing.T) {
	p := plain(2)
	p.Checks = []exec.Check{exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error { return nil })}
	out, err := p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, usa)}}),
		strategy.Task{Question: "q"})
	var none *strategy.NoCandidateError
	if !errors.As(err, &none) || len(none.Rejected) != 2 ||
		!strings.Contains(err.Error(), "2 × nothing to vote with: neither executed nor explained") {
		t.Fatalf("got %v", err)
	}
	if out.Candidates[0].Rejected != "" || len(out.Ballot.Abstained) != 2 {
		t.Errorf("got %+v", out)
	}
	p.Voter = voterFunc(byLength)
	out, err = p.Generate(t.Context(), shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{generate(usa, usa)}}),
		strategy.Task{Question: "q"})
	if err != nil || out.SQL != usa {
		t.Errorf("a voter that needs no result: %+v, %v", out, err)
	}
}

// TestTooFewVotes: the error names the quorum, and the best answer so far is there
// to be looked at.
func TestTooFewVotes(t *testing.T) {
	p := plain(5)
	p.Sampler.MinVotes, p.Judge = 4, strategy.Rubric{}
	script := &llmtest.Script{Rules: []llmtest.Rule{generate(usa, broken, everyone, usa, broken)}}
	out, err := p.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"})
	const want = "strategy: too few votes: 3 of the 4 needed: 2 × exec: invalid statement (schema): no such table: " +
		"custmers"
	if err == nil || err.Error() != want || !errors.Is(err, strategy.ErrQuorum) ||
		!errors.Is(err, strategy.ErrNoCandidate) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if out.SQL != usa || math.Abs(out.Confidence-2./3) > 1e-9 || len(out.Ballot.Clusters) != 2 {
		t.Errorf("got %+v", out)
	}
	if n := len(script.RequestsFor("judge")); n > 0 {
		t.Errorf("the judge was asked %d times for an answer that is none", n)
	}

	p.Sampler.MinVotes = 6
	for _, err := range []error{p.Validate(0), p.Validate(5)} {
		if err == nil || !strings.Contains(err.Error(), "MinVotes is 6, more than the 5 samples") {
			t.Errorf("got %v", err)
		}
	}
	if err := p.Validate(6); err != nil {
		t.Error(err)
	}
}

// TestErrorsAreOneLine: what a database says of a model's statement may hold
// anything, and as much of it.
func TestErrorsAreOneLine(t *testing.T) {
	reason := "no such column: a\u202eb\x1b[2J\r\nx" + strings.Repeat("y", 5000)
	e := &strategy.NoCandidateError{}
	for i := range 9 {
		e.Rejected = append(e.Rejected, vote.Candidate{Rejected: fmt.Sprint(i, ": ", reason)})
		e.Failed = append(e.Failed, errors.New(reason))
	}
	for _, votes := range []int{0, 1} {
		e.Votes, e.Needed = votes, 2*votes
		text := e.Error()
		if strings.ContainsAny(text, "\u202e\x1b\r\n") || len(text) > 2500 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
		if !strings.Contains(text, "9 × no such column: a") || !strings.HasSuffix(text, "; 5 more reasons") {
			t.Errorf("got %s", text)
		}
	}
	_, err := vote.Majority{}.Count([]vote.Candidate{{Rejected: reason}})
	if text := err.Error(); strings.ContainsAny(text, "\u202e\x1b\r\n") || len(text) > 500 {
		t.Errorf("%d bytes: %.300q", len(text), text)
	}
}

// TestSamplesAreBounded: a number of samples that can only be a mistake is an error
// before any of them, and before any memory.
func TestSamplesAreBounded(t *testing.T) {
	const huge = 1 << 50
	for _, s := range []strategy.Strategy{
		plain(1), strategy.Consensus{}, strategy.SelfConsistency{}, planvote.Plain{}, planvote.Augmented{},
		planvote.Feedback{}, maker.Strategy{}, petsql.Strategy{},
	} {
		script := &llmtest.Script{}
		_, err := s.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q", Samples: huge})
		if err == nil || !strings.Contains(err.Error(), "at most 10000") || len(script.Requests()) > 0 {
			t.Errorf("%T: got %v", s, err)
		}
	}
	for _, s := range []interface{ Validate(samples int) error }{
		plain(1), strategy.Consensus{}, strategy.SelfConsistency{}, planvote.Plain{}, planvote.Augmented{},
		planvote.Feedback{}, maker.Strategy{}, petsql.Strategy{},
	} {
		if err := s.Validate(fields.MaxSamples); err != nil {
			t.Errorf("%T: %v", s, err)
		}
		if err := s.Validate(fields.MaxSamples + 1); err == nil {
			t.Errorf("%T: %d samples are valid", s, fields.MaxSamples+1)
		}
	}
	for _, n := range []int{0, -1, fields.MaxSamples + 1, huge} {
		e := letters("a", second)
		e.N = n
		if _, err := e.Run(t.Context()); err == nil || errors.Is(err, strategy.ErrQuorum) {
			t.Errorf("N %d: got %v", n, err)
		}
	}
}

// TestUntilNeedsATally: a vote that cannot be followed saves no sample, which is told,
// and is counted all the same.
func TestUntilNeedsATally(t *testing.T) {
	two := func(vote.Candidate) float64 { return 2 }
	for _, tt := range []struct {
		name  string
		voter vote.Majority
		until vote.Stop
		calls int
		want  string // in the notes
	}{
		{"above the greatest weight", vote.Majority{Weight: two}, vote.Decided, 12, "above the MaxWeight of 1"},
		{"the greatest weight is told", vote.Majority{Weight: two, MaxWeight: 2}, vote.Decided, 7, ""},
		{"nothing to stop", vote.Majority{Weight: two}, nil, 12, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", usa)}}
			p := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, Stop: tt.until}, Voter: tt.voter}
			env := shopEnv(t, script)
			env.Concurrency = 1
			out, err := p.Generate(t.Context(), env, strategy.Task{Question: "q"})
			if err != nil || out.SQL != usa || (len(out.Notes) == 0) != (tt.want == "") ||
				!strings.Contains(strings.Join(out.Notes, "\n"), tt.want) {
				t.Errorf("got %+v, %v", out, err)
			}
			if n := len(script.Requests()); n != tt.calls {
				t.Errorf("%d calls, want %d", n, tt.calls)
			}
		})
	}
}
