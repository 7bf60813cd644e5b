package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// letters makes one candidate for every letter: its fingerprint is the letter.
func letters(votes string) []vote.Candidate {
	candidates := make([]vote.Candidate, len(votes))
	for i, v := range votes {
		candidates[i] = vote.Candidate{SQL: "SELECT " + string(v), Sample: i, Fingerprint: string(v)}
	}
	return candidates
}

func TestCountUntil(t *testing.T) {
	doubted := letters("abaaabbaabaa")
	doubted[9].Findings = []vote.Finding{{Rule: "r", Doubt: 4}}
	plain := vote.Majority{}
	tests := []struct {
		m          vote.Majority
		candidates []vote.Candidate
		stop       vote.Stop
		want       spent
		why        string
	}{
		{plain, letters("aaaaaaaaaaaa"), vote.Decided, spent{Planned: 12, Sampled: 7, Waves: 1, Stopped: true},
			"one wave decides"},
		{plain, letters("abcdef"), nil, spent{Planned: 6, Sampled: 6, Waves: 1}, "without a stop all are one wave"},
		{plain, letters("aa"), vote.AheadBy(2), spent{Planned: 2, Sampled: 2, Waves: 1},
			"the last sample ended it, not the stop"},
		{vote.Majority{Penalty: 1, MaxDoubt: 6}, doubted, vote.Decided, spent{Planned: 12, Sampled: 10, Wasted: 1, Waves: 2,
			Stopped: true},
			"a doubted vote for the rival decides in the second wave, as it does where stop is asked after each sample"},
	}
	for _, tt := range tests {
		b, spent, err := countUntil(tt.m, tt.candidates, tt.stop)
		if err != nil || spent != tt.want || b.Sampled != tt.want.Sampled {
			t.Errorf("%s: spent %+v, ballot of %d, %v; want %+v", tt.why, spent, b.Sampled, err, tt.want)
		}
	}
	if _, _, err := countUntil(plain, nil, vote.Decided); err == nil {
		t.Error("no candidate: no error")
	}
	heavy := vote.Majority{Weight: func(vote.Candidate) float64 { return 3 }, MaxWeight: 2}
	if _, _, err := countUntil(heavy, letters("ab"), vote.Decided); err == nil {
		t.Error("a weight above the announced one: no error")
	}
}

// TestElectionIsWhatReplayCounts: figures of stop rules come from
// countUntil, so it has to count, send and wait as an election does.
func TestElectionIsWhatReplayCounts(t *testing.T) {
	stops := []vote.Stop{
		vote.Decided, vote.AheadBy(3), vote.Posterior(0.95), vote.AheadBy(2).Every(4).Or(vote.Decided), nil,
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 2000 {
		m := vote.Majority{Penalty: []float64{0, 1, 2.5}[rng.IntN(3)], MaxWeight: 2, MaxDoubt: 2}
		if rng.IntN(2) == 0 {
			m.MaxExtraDoubt = func(c vote.Candidate) float64 { return float64(len(c.Fingerprint + c.Rejected)) }
		}
		m.Weight = func(c vote.Candidate) float64 { return float64(1 + c.Rows) }
		candidates := make([]vote.Candidate, 1+rng.IntN(16))
		for i := range candidates {
			c := &candidates[i]
			c.SQL, c.Sample, c.Rows = "SELECT 1", i, rng.IntN(2)
			switch n := rng.IntN(8); {
			case n == 0:
				c.Rejected = "no"
			default:
				c.Fingerprint = string(rune('a' + n/4))
			}
			if rng.IntN(4) == 0 {
				c.Findings = []vote.Finding{{Rule: "r", Doubt: float64(1 + rng.IntN(2))}}
			}
		}
		stop := stops[rng.IntN(len(stops))]
		ballot, want, err := countUntil(m, candidates, stop)
		if err != nil && !errors.Is(err, vote.ErrNoVote) {
			t.Fatal(err)
		}
		got := spent{Planned: len(candidates)}
		e := strategy.Election[vote.Candidate]{
			N: len(candidates), Stop: stop,
			Sample: func(_ context.Context, i int) (vote.Candidate, error) { return candidates[i], nil },
			Key:    func(c vote.Candidate) (string, bool) { return c.Fingerprint, c.Rejected == "" },
			State: func(values []vote.Candidate, planned int) vote.State {
				state, err := m.State(values, planned)
				if err != nil {
					t.Error(err)
				}
				return state
			},
			Room: func() (int, bool) { got.Waves++; return 0, false }, // asked once a wave
		}
		sampled, _ := e.Run(t.Context())
		got.Sampled, got.Wasted, got.Stopped = len(sampled.Slots), sampled.Wasted, sampled.Stopped
		elected, err := m.Count(sampled.Values())
		if diff := cmp.Diff(want, got); diff != "" || err == nil && elected.Clusters[0].Key != ballot.Clusters[0].Key {
			t.Fatalf("round %d, %d candidates (-replay +election):\n%s", round, len(candidates), diff)
		}
	}
}
