package planvote_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

const (
	byID   = "SELECT name FROM customers WHERE id = 1" // another plan than a scan
	nobody = "SELECT name FROM customers WHERE country = 'Chile'"
)

func TestPlain(t *testing.T) {
	compat, cheapest := planvote.Plain{Samples: 4}.Published(), planvote.Plain{Samples: 4, Cheapest: true}
	tests := []struct {
		name    string
		voter   strategy.Strategy
		replies []string
		sql     string  // "" for ErrNoCandidate
		sure    float64 // the confidence
		why     string
	}{
		{"plans, not results", planvote.Plain{Samples: 4}, []string{byID, everyone, usa, usaJoin}, usa, 0.5,
			"one plan, two results: the shortest of the more frequent one represents it, with two of four votes"},
		{"rejected candidates have no vote", planvote.Plain{Samples: 4},
			[]string{"DROP TABLE orders", "SELECT 1; DROP TABLE orders", broken, byID}, byID,
			0.4, "one of four may vote, and wins: two of the others count against it"},
		{"unknown name in quotes", planvote.Plain{Samples: 3}, []string{`SELECT "nosuchcol" FROM customers`,
			`SELECT "nosuchcol" FROM customers`, byID},
			byID, 2.0 / 3, "to the engine it is a string, to us an unknown name"},
		{"string in double quotes", planvote.Plain{Samples: 3}, []string{`SELECT name FROM customers WHERE country = "USA"`},
			`SELECT name FROM customers WHERE country = "USA"`, 0.75, "an operand may be one"},
		{"tie to the result with rows", planvote.Plain{Samples: 2}, []string{"SELECT name FROM customers WHERE id = 99",
			everyone}, everyone, 0.5,
			"empty results go last in a tie"},
		{"tie to the earliest", planvote.Plain{Samples: 2}, []string{byID, everyone}, byID, 0.5, ""},
		{"all invalid", planvote.Plain{Samples: 2}, []string{broken, "SELECT 1; SELECT 2"}, "", 0,
			"no candidate is no answer"},
		{"compat: the first representative of the lowest cost", compat, []string{usaJoin, usa, everyone, byID}, usa, 0.5,
			"SCAN:c is another signature than SCAN:customers"},
		{"compat: nothing runs", compat, []string{"SELECT name FROM customers WHERE id = 99", everyone,
			"SELECT name FROM customers WHERE id = 98",
			everyone}, "SELECT name FROM customers WHERE id = 99", 0.5, "a tie goes to the signature seen first, rows or not"},
		{"compat: unknown name in quotes", compat, []string{`SELECT "nosuchcol" FROM customers`},
			`SELECT "nosuchcol" FROM customers`, 1,
			"passes EXPLAIN, as published"},
		{"cheapest", cheapest, []string{everyone, everyone, byID, everyone}, byID, 0.25,
			"a look-up is cheaper than three scans"},
		{"cheapest of equal cost", cheapest, []string{everyone, usa, everyone, usa}, everyone, 0.5,
			"the earliest; half of those of its plan agree"},
		{"cheapest of none", cheapest, []string{broken}, "", 0, ""},
		{"augmented", planvote.Augmented{Samples: 3}, []string{everyone, byID, everyone}, everyone, 0.6, ""},
		{"by stored literals", planvote.Augmented{Samples: 2, Probe: true},
			[]string{"SELECT count(*) FROM customers WHERE country = 'Usa'",
				"SELECT id FROM customers WHERE id IN (1) AND country = 'USA'"},
			"SELECT id FROM customers WHERE id IN (1) AND country = 'USA'", 2 / (3 + math.Exp(-2)),
			"a tie of two plans with rows: 'Usa' is no stored country"},
		{"by literals, compat", planvote.Augmented{Samples: 5, Probe: true}.Published(),
			[]string{nobody, nobody, nobody, "SELECT name FROM customers WHERE id > 0 AND country = 'USA'",
				"SELECT name FROM customers WHERE id > 1 AND country = 'USA'"},
			"SELECT name FROM customers WHERE id > 0 AND country = 'USA'", 0.4,
			"three votes less two for an absent value"},
	}
	env := shopEnv(t, nil)
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Replies: llmtest.Texts(tt.replies...),
				Repeat: true}}}
			out, err := tt.voter.Generate(t.Context(), asking(env, script), strategy.Task{Question: "Who lives in the USA?"})
			told.WriteString("== " + tt.name + "\n" + strategytest.Told(out, err))
			if tt.sql == "" {
				if !errors.Is(err, strategy.ErrNoCandidate) {
					t.Fatalf("got %+v, %v", out, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.SQL != tt.sql || out.Confidence != tt.sure {
				t.Errorf("got %q with %v, want %q with %v: %s\n%+v", out.SQL, out.Confidence, tt.sql, tt.sure, tt.why, out.Ballot)
			}
		})
	}
	golden.Check(t, "plain.golden", told.String())
}

// TestPlainCalls: samples, statements and the stop.
func TestPlainCalls(t *testing.T) {
	env := shopEnv(t, nil)
	for _, tt := range []struct {
		s     strategy.Strategy
		task  strategy.Task
		calls int
		why   string
	}{
		{planvote.Plain{}, strategy.Task{Question: "q"}, 8, "eight of fifteen decide"},
		{planvote.Plain{}, strategy.Task{Question: "q", Samples: 32}, 17, "M8"},
		{planvote.Augmented{Samples: 1}, strategy.Task{Question: "q"}, 1, ""},
		{planvote.Plain{}.Published(), strategy.Task{Question: "q"}, 15, "all at once, as published"},
		{planvote.Plain{Cheapest: true, Samples: 5}, strategy.Task{Question: "q"}, 5, "any sample may be the cheapest"},
	} {
		script := &llmtest.Script{Rules: []llmtest.Rule{always("generate", usa)}}
		testutil.Value(tt.s.Generate(t.Context(), asking(env, script), tt.task))(t)
		if n := len(script.Requests()); n != tt.calls {
			t.Errorf("%+v: %d calls, want %d: %s", tt.s, n, tt.calls, tt.why)
		}
	}
}

func TestPlainValidate(t *testing.T) {
	for _, s := range []interface{ Validate(samples int) error }{
		planvote.Plain{Samples: -1}, planvote.Plain{Temperature: -1}, planvote.Plain{MinConfidence: 2},
		planvote.Augmented{Samples: -1}, planvote.Augmented{MinConfidence: -1},
		planvote.Feedback{Samples: -1}, planvote.Feedback{CorrectionSamples: -1}, planvote.Feedback{Temperature: -1},
	} {
		if err := s.Validate(0); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

// TestPlainAbstains: the ranked clusters come with the error.
func TestPlainAbstains(t *testing.T) {
	env := shopEnv(t, &llmtest.Script{Rules: []llmtest.Rule{samples("generate", byID, everyone, usa)}})
	out, err := planvote.Plain{Samples: 3, MinConfidence: 0.9}.Generate(t.Context(), env, strategy.Task{Question: "q"})
	if !errors.As(err, new(*strategy.AbstainedError)) || len(out.Ballot.Clusters) != 2 || out.SQL != everyone {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestPlainDeterminism: a hundred runs of the same replies that come in any
// order are the same bytes, and a sample that fails changes nothing but itself.
func TestPlainDeterminism(t *testing.T) {
	replies := llmtest.Texts(everyone, usa, byID, broken, ordered, byID, usa, "DROP TABLE orders", everyone, usa, byID,
		nobody, usa, usa, byID)
	replies[5] = llmtest.Reply{Err: &llm.Error{Class: llm.ClassTimeout}}
	strategytest.SameWhateverTheLatency(t, planvote.Augmented{Probe: true}, makerEnv(t, nil), usaTask, func() []llm.Model {
		return []llm.Model{&llmtest.Script{Rules: []llmtest.Rule{{Replies: replies}}}}
	})
}

// TestCandidateLimits: an endless statement among ten costs its time and no
// other's vote; each distinct statement is examined once.
func TestCandidateLimits(t *testing.T) {
	pool := poolOf(t, shopSQL)
	base := makerEnvOf(t, pool, nil)
	db := testutil.Value(exec.New(pool, base.DB.Dialect(),
		exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: 500 * time.Millisecond}}}))(t)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	var examined atomic.Int32
	count := exec.CheckFunc(func(context.Context, *exec.Runner, *exec.Checked) error { examined.Add(1); return nil })
	env := asking(base,
		&llmtest.Script{Rules: []llmtest.Rule{samples("generate", endless, usa, usa, endless, usa, usa, byID, usa, usa,
			usa)}})
	env.DB = db
	p := planvote.Plain{Samples: 10}.Pipeline(env)
	p.Sampler.Stop = nil
	p.Checks = append([]exec.Check{count}, p.Checks...)
	out := testutil.Value(p.Generate(t.Context(), env, strategy.Task{Question: "q"}))(t)
	if out.SQL != usa || out.Ballot.Voted != 8 || examined.Load() != 3 {
		t.Errorf("%q with %d votes, %d statements examined", out.SQL, out.Ballot.Voted, examined.Load())
	}
}

// TestTies: what decides between plans with as many votes, and inside of one.
func TestTies(t *testing.T) {
	env := makerEnv(t, nil)
	found := func(rules ...string) (findings []vote.Finding) {
		for _, r := range rules {
			findings = append(findings, vote.Finding{Rule: r})
		}
		return findings
	}
	stored, missing := found("literal-stored"), found("literal-missing")
	half := found("literal-stored", "literal-missing")
	of := map[rune]vote.Candidate{ // by statement
		'r': {Plan: "rows", Rows: 1, Cost: 50}, 's': {Plan: "stored", Rows: 1, Findings: stored, Cost: 50},
		'e': {Plan: "empty", Empty: true, Findings: stored},
		'm': {Plan: "missing", Rows: 1, Findings: missing}, 'h': {Plan: "half", Rows: 1, Findings: half},
		'x': {Plan: "many", Rows: 1, Cost: 100}, 'y': {Plan: "many", Rows: 1, Cost: 50},
		'z': {Plan: "many", Rows: 1, Cost: 50},
		'M': {Plan: "missing 2", Rows: 1, Findings: missing}, 'N': {Plan: "missing 3", Rows: 1, Findings: missing},
		'b': {Rejected: "no", Invalid: true},
	}
	cheapest := planvote.Plain{Cheapest: true}.Pipeline(env).Voter
	probing := planvote.Augmented{Probe: true}.Pipeline(env).Voter
	published, m13 := planvote.Plain{}.Published().Pipeline(env).Voter,
		planvote.Augmented{Probe: true}.Published().Pipeline(env).Voter
	for _, tt := range []struct {
		name       string
		voter      strategy.Voter
		candidates string // a letter a sample
		want       string
		why        string
	}{
		{"votes first", probing, "ermm", "m", "two votes, whatever they find"},
		{"then rows", probing, "em", "m", "a value that is not stored beside one row goes before none"},
		{"then stored literals", probing, "ms", "s", ""},
		{"then the share of them", probing, "mh", "h", ""},
		{"then the earliest", probing, "rs", "r", "no literal counts as all stored"},
		{"then the earliest, turned round", probing, "sr", "s", ""},
		{"published: votes first", published, "essr", "s", ""},
		{"published: then the earliest", published, "er", "e", "rows or not"},
		{"published: inside, the lowest cost", published, "xyx", "y", "however many the others are"},
		{"published: inside, then the earliest", published, "xzy", "z", ""},
		{"penalty: two votes", m13, "mmmss", "s", "3 - 2 against 2"},
		{"penalty: and no more", m13, "mmmmss", "m", "4 - 2 against 2: more votes go first"},
		{"penalty: by the share", m13, "hhhss", "h", "3 - 1 against 2"},
		{"penalty: none without a look-up", m13, "rrs", "r", ""},
		{"penalty: the third competes", m13, "mmmMMMss", "s", "1, 1 and 2"},
		{"penalty: the fourth does not", m13, "mmmMMMNNNss", "m", "only the three with most votes"},
		{"cheapest", cheapest, "xxxr", "r", ""},
		{"cheapest: then the earliest", cheapest, "rss", "r", "whatever its votes"},
		{"cheapest: none valid", cheapest, "bb", "", ""},
	} {
		var candidates []vote.Candidate
		for i, letter := range tt.candidates {
			c := of[letter]
			c.SQL, c.Sample, c.Fingerprint = string(letter), i, string(letter)
			candidates = append(candidates, c)
		}
		b, err := tt.voter.Count(candidates)
		if tt.want == "" {
			if !errors.Is(err, vote.ErrNoVote) {
				t.Errorf("%s: %+v, %v", tt.name, b, err)
			}
			continue
		}
		if err != nil || b.Clusters[0].SQL != tt.want || b.Confidence != b.Clusters[0].Confidence {
			t.Errorf("%s: %+v, %v; want %q: %s", tt.name, b.Clusters, err, tt.want, tt.why)
		}
	}
}

// TestPrompts holds the prompts of the presets to their golden files.
func TestPrompts(t *testing.T) {
	for name, s := range map[string]strategy.Strategy{
		"plan-vote-compat":           planvote.Plain{Samples: 1}.Published(),
		"augmented-plan-vote":        planvote.Augmented{Samples: 1},
		"augmented-plan-vote-compat": planvote.Augmented{Samples: 1}.Published(),
	} {
		t.Run(name, func(t *testing.T) { strategytest.CheckPrompts(t, s, "prompt-"+name+".txt") })
	}
}
