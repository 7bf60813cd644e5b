package vote

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestStops(t *testing.T) {
	tests := []struct {
		name          string
		stop          Stop
		leader, rival int
		remaining     int
		want          bool
	}{
		{"ahead by 1: first vote", AheadBy(1), 1, 0, 9, true},
		{"ahead by 1: tie", AheadBy(1), 2, 2, 9, false},
		{"ahead by 1: no vote", AheadBy(1), 0, 0, 9, false},
		{"ahead by 0 is by 1", AheadBy(0), 1, 1, 9, false},
		{"ahead by 3: 3 to 0", AheadBy(3), 3, 0, 9, true},
		{"ahead by 3: 4 to 1", AheadBy(3), 4, 1, 9, true},
		{"ahead by 3: 4 to 2", AheadBy(3), 4, 2, 9, false},
		{"ahead by 3: 2 to 0, one distinct answer needs k votes", AheadBy(3), 2, 0, 9, false},
		{"posterior .95: 4 to 0 is 31/32", Posterior(0.95), 4, 0, 8, true},
		{"posterior .95: 3 to 0 is 15/16", Posterior(0.95), 3, 0, 8, false},
		{"posterior .95: 4 to 1 is 57/64", Posterior(0.95), 4, 1, 8, false},
		{"posterior .95: 6 to 1 is 247/256", Posterior(0.95), 6, 1, 8, true},
		{"posterior .95: 5 to 1 is 120/128", Posterior(0.95), 5, 1, 8, false},
		{"posterior: no vote", Posterior(0), 0, 0, 8, false},
		{"posterior: above 1 never", Posterior(1.5), 99, 0, 8, false},
		{"posterior: NaN never", Posterior(math.NaN()), 99, 0, 8, false},
		{"decided: 7 to 0 of 12", Decided, 7, 0, 5, true},
		{"decided: 6 to 0 of 12 may still tie", Decided, 6, 0, 6, false},
		{"decided: 7 to 2 of 12", Decided, 7, 2, 3, true},
		{"decided: 6 to 2 of 12", Decided, 6, 2, 4, false},
		{"decided: no vote", Decided, 0, 0, 0, false},
		{"decided: all drawn", Decided, 5, 4, 0, true},
		{"decided: tie at the end", Decided, 5, 5, 0, false},
		{"any of: none", AnyOf(), 9, 0, 0, false},
		{"any of: one is enough", AnyOf(Decided, AheadBy(3)), 3, 0, 9, true},
		{"any of: nil is none", AnyOf(nil, AheadBy(3)), 3, 0, 9, true},
		{"any of: nothing but nil", AnyOf(nil), 9, 0, 0, false},
		{"every: nil never", Every(1, nil), 9, 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plain := Tally{Leader: tt.leader, RunnerUp: tt.rival, Drawn: tt.leader + tt.rival, Remaining: tt.remaining}
			if got := tt.stop(plain); got != tt.want {
				t.Errorf("%d to %d, %d to come: %v, want %v", tt.leader, tt.rival, tt.remaining, got, tt.want)
			}
			// The same votes, counted.
			count := Counter{MaxWeight: 2}
			for range tt.leader {
				count.Vote("a", 2, 0)
			}
			for range tt.rival {
				count.Vote("b", 2, 0)
			}
			if got := tt.stop(count.Tally(tt.leader + tt.rival + tt.remaining)); got != tt.want {
				t.Errorf("counted: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAheadProbability(t *testing.T) {
	for _, tt := range []struct {
		v1, v2 int
		want   float64
	}{{0, 0, 0.5}, {4, 0, 31.0 / 32}, {6, 1, 247.0 / 256}, {3, 3, 0.5}, {4, 1, 57.0 / 64}, {0, 4, 1.0 / 32}} {
		if got := aheadProbability(tt.v1, tt.v2); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%d to %d: %v, want %v", tt.v1, tt.v2, got, tt.want)
		}
	}
	if got := aheadProbability(1200, 1000); !(got > 0.9999 && got <= 1) {
		t.Errorf("1200 to 1000: %v", got)
	}
}

func TestDoubtDelaysStops(t *testing.T) {
	count := Counter{Penalty: 1, MaxDoubt: 2}
	for range 7 {
		count.Vote("a", 1, 2)
	}
	clear := Counter{Penalty: 1, MaxDoubt: 0}
	for range 7 {
		clear.Vote("a", 1, 0)
	}
	for name, stop := range map[string]Stop{"Decided": Decided, "AheadBy(3)": AheadBy(3), "Posterior(.95)": Posterior(0.95)} {
		if stop(count.Tally(12)) {
			t.Errorf("%s: seven votes of a cluster with two doubts are overtaken by one without", name)
		}
		if !stop(clear.Tally(12)) {
			t.Errorf("%s: seven votes without a doubt are enough", name)
		}
	}
	if !Decided(count.Tally(7)) {
		t.Error("Decided: nothing is to come and there is no rival")
	}
}

// TestDecidedNeverChangesTheWinner holds Decided to its promise, with random and
// with hostile draws after the stop, with and without weights and doubts.
func TestDecidedNeverChangesTheWinner(t *testing.T) {
	const spread = 6 // as many findings of the SQL as there are default rules
	r := rand.New(rand.NewPCG(7, 8))
	weights := func(c Candidate) float64 { return []float64{0.3, 1, 0.7}[len(c.Model)] }
	stopped := map[string]int{}
	for range 40_000 {
		n := 3 + r.IntN(14)
		m, name := Majority{MaxDoubt: spread}, "plain"
		if r.IntN(2) == 0 {
			m.Weight, m.MaxWeight, name = weights, 1, "weighted"
		}
		if r.IntN(2) == 0 {
			m.Penalty = []float64{0.5, 1, 2}[r.IntN(3)]
			name += ", penalty"
		}
		candidates := randomCandidates(r, n)
		drawn := 1 + r.IntN(n)
		tally, err := m.Tally(candidates[:drawn], n)
		if err != nil {
			t.Fatal(err)
		}
		if !Decided(tally) {
			continue
		}
		stopped[name]++
		before, err := m.Count(candidates[:drawn])
		if err != nil {
			t.Fatal(err)
		}
		want := before.Clusters[0]
		check := func(how string) {
			t.Helper()
			after, err := m.Count(candidates)
			if err != nil {
				t.Fatal(err)
			}
			if got := after.Clusters[0]; got.Key != want.Key {
				t.Fatalf("%s, %s: decided after %d of %d for %+v, but %+v won\ntally %+v", name, how, drawn, n, want, got, tally)
			}
		}
		check("random draws")

		// Hostile: the first few go to the leader with all doubts of the SQL
		// that there are, the others to a rival, free of them.
		rival := "new"
		if len(before.Clusters) > 1 && r.IntN(2) == 0 {
			rival = before.Clusters[1+r.IntN(len(before.Clusters)-1)].Key
		}
		toLeader := r.IntN(n - drawn + 1)
		for i := drawn; i < n; i++ {
			c := &candidates[i]
			*c = Candidate{SQL: "S", Draw: i, Fingerprint: rival, Model: "m"}
			if i < drawn+toLeader {
				c.Fingerprint = want.Key
				c.Findings = []Finding{{Rule: "sql", Doubt: spread}}
				if want.Key == "c" {
					c.Findings = append(c.Findings, Finding{Rule: "result", Doubt: 1})
				}
			}
		}
		check("hostile draws")
	}
	for _, name := range []string{"plain", "weighted", "plain, penalty", "weighted, penalty"} {
		if stopped[name] < 500 {
			t.Errorf("%s: stopped only %d times, the test says little", name, stopped[name])
		}
	}
}

func TestDecidedIsNotTooCautious(t *testing.T) {
	// Without doubts in sight and none possible, the penalty changes nothing.
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		n := 2 + r.IntN(14)
		plain, doubting := Counter{}, Counter{Penalty: 1}
		for range 1 + r.IntN(n) {
			key := string(rune('a' + r.IntN(3)))
			plain.Vote(key, 1, 0)
			doubting.Vote(key, 1, 0)
		}
		if a, b := Decided(plain.Tally(n)), Decided(doubting.Tally(n)); a != b {
			t.Fatalf("plain %v, with penalty %v: %+v", a, b, plain.Tally(n))
		}
	}
}

func TestWave(t *testing.T) {
	tests := []struct {
		name string
		w    Wave
		stop Stop
		t    Tally
		want int
	}{
		{"first of 12", Wave{}, Decided, Tally{Remaining: 12}, 7},
		{"first of 12, ahead by 3", Wave{}, AheadBy(3), Tally{Remaining: 12}, 3},
		{"first of 12, either", Wave{}, AnyOf(Decided, AheadBy(3)), Tally{Remaining: 12}, 3},
		{"first of 4, either", Wave{}, AnyOf(Decided, AheadBy(5)), Tally{Remaining: 4}, 3},
		{"first of 12, posterior", Wave{}, Posterior(0.95), Tally{Remaining: 12}, 4},
		{"no stop", Wave{}, nil, Tally{Remaining: 12}, 12},
		{"a stop that never holds", Wave{}, AheadBy(99), Tally{Remaining: 12}, 12},
		{"all at once", Wave{Min: 12}, Decided, Tally{Remaining: 12}, 12},
		{"never more than remain", Wave{Min: 12}, Decided, Tally{Remaining: 5}, 5},
		{"one", Wave{}, Decided, Tally{Remaining: 1}, 1},
		{"none", Wave{Min: 4}, Decided, Tally{}, 0},
		{"lead of 3 of 7", Wave{}, Decided, Tally{Leader: 5, RunnerUp: 2, Drawn: 7, Remaining: 5}, 2},
		{"lead of 2, ahead by 3", Wave{}, AheadBy(3), Tally{Leader: 2, Drawn: 2, Remaining: 10}, 1},
		{"decided", Wave{}, Decided, Tally{Leader: 7, Drawn: 7, Remaining: 5}, 1},
		{"weights", Wave{}, Decided, Tally{Leader: 1, LeaderWeight: 3, MaxWeight: 2, Drawn: 1, Remaining: 5}, 2},
		{"first, weights", Wave{}, AheadBy(3), Tally{MaxWeight: 2, Remaining: 12}, 3},
		{"first, doubts", Wave{}, Decided, Tally{Penalty: 1, MaxDoubt: 0, Remaining: 12}, 7},
		{"a new cluster is sooner sure than a doubted leader", Wave{}, AheadBy(3),
			Tally{Leader: 3, LeaderWeight: 3, Drawn: 3, Remaining: 9, Penalty: 1, Standings: []Standing{{Votes: 3, Weight: 3, Doubt: 3}}}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.w.Next(tt.t, tt.stop); got != tt.want {
				t.Errorf("next wave %d, want %d", got, tt.want)
			}
		})
	}
}

// TestWaveOfDecided holds the rule to its formula.
func TestWaveOfDecided(t *testing.T) {
	for n := 1; n < 20; n++ {
		for leader := range n + 1 {
			for rival := range min(leader, n-leader) + 1 {
				drawn := leader + rival
				if drawn >= n || leader-rival > n-drawn {
					continue
				}
				want := min((n-drawn-(leader-rival))/2+1, n-drawn)
				if got := (Wave{}).Next(Tally{Leader: leader, RunnerUp: rival, Drawn: drawn, Remaining: n - drawn}, Decided); got != want {
					t.Errorf("%d to %d of %d: %d, want %d", leader, rival, n, got, want)
				}
			}
		}
	}
}

// TestWavesWasteNothing: as many draws count in waves as one by one, with weights,
// doubts and abstentions as well, and without a penalty no more are sent.
func TestWavesWasteNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 10_000 {
		n := 1 + r.IntN(14)
		candidates := randomCandidates(r, n)
		m := Majority{MaxDoubt: 1}
		if r.IntN(3) == 0 {
			m.Weight, m.MaxWeight = func(c Candidate) float64 { return []float64{0.3, 1, 0.7}[len(c.Model)] }, 1
		}
		if r.IntN(2) == 0 {
			m.Penalty = 1
		}
		stop := []Stop{Decided, AheadBy(2), AnyOf(Decided, AheadBy(3)), Posterior(0.9), Every(4, AheadBy(2)), AnyOf(Decided, Every(3, Posterior(0.9)))}[r.IntN(6)]
		_, waves, err := m.CountUntil(candidates, stop)
		if err != nil && !errors.Is(err, ErrNoVote) {
			t.Fatal(err)
		}
		drawn := 0
		for ; drawn < n; drawn++ {
			tally, err := m.Tally(candidates[:drawn], n)
			if err != nil {
				t.Fatal(err)
			}
			if stop(tally) {
				break
			}
		}
		if waves.Drawn != drawn || waves.Stopped != (drawn < n) {
			t.Fatalf("%+v in waves, %d draws one by one: %+v", waves, drawn, candidates)
		}
		if m.Penalty == 0 && waves.Wasted > 0 {
			t.Fatalf("%+v: draws were wasted: %+v", waves, candidates)
		}
	}
}

func TestEvery(t *testing.T) {
	for _, tt := range []struct {
		n, drawn int
		want     bool
		why      string
	}{
		{4, 3, false, "between two looks"},
		{4, 4, true, "the first look"},
		{4, 6, false, "between the second and the third"},
		{4, 8, true, "the second look"},
		{1, 3, true, "after each draw"},
		{0, 3, true, "0 is each draw too"},
		{-4, 3, true, "and so is what is below"},
	} {
		if got := Every(tt.n, AheadBy(3))(Tally{Drawn: tt.drawn, Leader: tt.drawn, Remaining: 20}); got != tt.want {
			t.Errorf("every %d, after %d: %v: %s", tt.n, tt.drawn, got, tt.why)
		}
	}
	if Every(2, AheadBy(3))(Tally{Drawn: 4, Leader: 2, RunnerUp: 2}) {
		t.Error("a look that sees a tie stops")
	}
	// The first wave goes up to the first look that can stop.
	if got := (Wave{}).Next(Tally{Remaining: 12}, AnyOf(Decided, Every(4, AheadBy(3)))); got != 4 {
		t.Errorf("first wave of %d, want 4", got)
	}
	if got := (Wave{}).Next(Tally{Remaining: 3}, Every(4, AheadBy(1))); got != 3 {
		t.Errorf("a wave of %d where no look is left, want all 3", got)
	}
}

func TestCountUntil(t *testing.T) {
	doubted := pool("abaaabbaabaa")
	doubted[9].Findings = []Finding{{Rule: "r", Doubt: 4}}
	tests := []struct {
		m          Majority
		candidates []Candidate
		stop       Stop
		want       Spent
		why        string
	}{
		{Majority{}, pool("aaaaaaaaaaaa"), Decided, Spent{Planned: 12, Drawn: 7, Waves: 1, Stopped: true}, "one wave decides"},
		{Majority{}, pool("abcdef"), nil, Spent{Planned: 6, Drawn: 6, Waves: 1}, "without a stop all are one wave"},
		{Majority{}, pool("aa"), AheadBy(2), Spent{Planned: 2, Drawn: 2, Waves: 1}, "the last draw ended it, not the stop"},
		{Majority{Penalty: 1, MaxDoubt: 6}, doubted, Decided, Spent{Planned: 12, Drawn: 10, Wasted: 1, Waves: 2, Stopped: true},
			"a doubted vote for the rival decides in the second wave, as it does where stop is asked after each draw"},
	}
	for _, tt := range tests {
		b, spent, err := tt.m.CountUntil(tt.candidates, tt.stop)
		if err != nil || spent != tt.want || b.Drawn != tt.want.Drawn {
			t.Errorf("%s: spent %+v, ballot of %d, %v; want %+v", tt.why, spent, b.Drawn, err, tt.want)
		}
	}
	if _, _, err := (Majority{}).CountUntil(nil, Decided); err == nil {
		t.Error("no candidate: no error")
	}
	heavy := Majority{Weight: func(Candidate) float64 { return 3 }, MaxWeight: 2}
	if _, _, err := heavy.CountUntil(pool("ab"), Decided); err == nil || !strings.Contains(err.Error(), "set Majority.MaxWeight") {
		t.Errorf("a weight above the announced one: %v", err)
	}
}

func TestCounter(t *testing.T) {
	var c Counter
	if _, ok := c.Leader(); ok || c.Tally(3).Remaining != 3 || Decided(c.Tally(0)) {
		t.Error("an empty counter has a leader")
	}
	c.Vote("a", 1, 0)
	c.Vote("b", 1, 0)
	c.Abstain()
	c.Vote("b", 1, 0)
	c.Vote("c", 0, 0) // no vote
	if key, _ := c.Leader(); key != "b" {
		t.Errorf("leader %q, want b", key)
	}
	got := c.Tally(8)
	if got.Leader != 2 || got.RunnerUp != 1 || got.Drawn != 5 || got.Remaining != 3 || len(got.Standings) != 2 {
		t.Errorf("tally %+v", got)
	}
	if got := c.Tally(2); got.Remaining != 0 {
		t.Errorf("more drawn than planned: %+v", got)
	}
}
