package vote

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// votes is a state of two clusters of plain votes.
func votes(leader, rival, remaining int) State {
	t := State{Remaining: leader + rival + remaining}
	for range leader {
		t.Vote("leader", 1, 0)
	}
	for range rival {
		t.Vote("rival", 1, 0)
	}
	return t
}

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
		{"decided: all sampled", Decided, 5, 4, 0, true},
		{"decided: tie at the end", Decided, 5, 5, 0, false},
		{"or: the first is enough", AheadBy(3).Or(Decided), 3, 0, 9, true},
		{"or: the second is enough", Stop(Decided).Or(AheadBy(3)), 3, 0, 9, true},
		{"or: nil is none", Stop(nil).Or(AheadBy(3)), 3, 0, 9, true},
		{"or: nothing but nil", Stop(nil).Or(nil), 9, 0, 0, false},
		{"every: nil never", Stop(nil).Every(1), 9, 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.stop(votes(tt.leader, tt.rival, tt.remaining)); got != tt.want {
				t.Errorf("%d to %d, %d to come: %v, want %v", tt.leader, tt.rival, tt.remaining, got, tt.want)
			}
			// The same with votes that weigh twice as much.
			heavy := State{MaxWeight: 2, Remaining: tt.leader + tt.rival + tt.remaining}
			for range tt.leader {
				heavy.Vote("a", 2, 0)
			}
			for range tt.rival {
				heavy.Vote("b", 2, 0)
			}
			if got := tt.stop(heavy); got != tt.want {
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
	doubted, clear := State{Remaining: 12, Penalty: 1, MaxDoubt: 2}, State{Remaining: 12, Penalty: 1}
	for range 7 {
		doubted.Vote("a", 1, 2)
		clear.Vote("a", 1, 0)
	}
	for name, stop := range map[string]Stop{"Decided": Decided, "AheadBy(3)": AheadBy(3),
		"Posterior(.95)": Posterior(0.95)} {
		if stop(doubted) {
			t.Errorf("%s: seven votes of a cluster with two doubts are overtaken by one without", name)
		}
		if !stop(clear) {
			t.Errorf("%s: seven votes without a doubt are enough", name)
		}
	}
	doubted.Remaining = 0
	if !Decided(doubted) {
		t.Error("Decided: nothing is to come and there is no rival")
	}
}

// TestPosteriorRounds: parts of a vote count against the leader.
func TestPosteriorRounds(t *testing.T) {
	for _, tt := range []struct {
		leader, rival float64
		want          bool
		why           string
	}{
		{4, 0, true, "31/32"},
		{3.5, 0, false, "3 votes are 15/16"},
		{4, .5, false, "4 to 1 is 57/64"},
		{4 - 1e-9, 1e-9, true, "what arithmetic loses is no part of a vote"},
	} {
		state := State{Sampled: 5, Remaining: 3, Clusters: []ClusterState{{Key: "leader", Weight: tt.leader},
			{Key: "rival", Weight: tt.rival}}}
		if got := Posterior(0.95)(state); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestSparedDoubt: a leader whose further votes can be doubted less is decided earlier.
func TestSparedDoubt(t *testing.T) {
	for _, tt := range []struct {
		spared float64
		want   bool
		why    string
	}{
		{0, false, "one more vote of nine doubts puts the leader behind"},
		{9, true, "no further vote of the leader can be doubted"},
		{11, true, "nor can it where less than nothing is possible"},
		{4, false, "five doubts are enough"},
	} {
		state := State{Sampled: 7, Remaining: 2, Penalty: 1, MaxDoubt: 9, Clusters: []ClusterState{
			{Key: "leader", Weight: 5, Spared: tt.spared}, {Key: "rival", Weight: 2},
		}}
		if got := Decided(state); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestDecidedNeverChangesTheWinner holds Decided to its promise, with random and
// with hostile samples after the stop, with and without weights and doubts.
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
		bound := func(Candidate) float64 { return spread }
		if r.IntN(2) == 0 {
			// Some results can be doubted less than others.
			bound = func(c Candidate) float64 { return map[string]float64{"a": 1, "b": 2}[c.Fingerprint] + 1 }
			m.MaxExtraDoubt = bound
			name += ", doubtable"
		}
		candidates := randomCandidates(r, n)
		sampled := 1 + r.IntN(n)
		state := testutil.Value(m.State(candidates[:sampled], n))(t)
		if !Decided(state) {
			continue
		}
		stopped[name]++
		before := testutil.Value(m.Count(candidates[:sampled]))(t)
		want := before.Clusters[0]
		check := func(how string) {
			t.Helper()
			after := testutil.Value(m.Count(candidates))(t)
			if got := after.Clusters[0]; got.Key != want.Key {
				t.Fatalf("%s, %s: decided after %d of %d for %+v, but %+v won\ntally %+v", name, how, sampled, n, want, got, state)
			}
		}
		check("random samples")

		// Hostile: the first few go to the leader with all doubts of the SQL
		// that there are, the others to a rival, free of them.
		rival := "new"
		if len(before.Clusters) > 1 && r.IntN(2) == 0 {
			rival = before.Clusters[1+r.IntN(len(before.Clusters)-1)].Key
		}
		toLeader := r.IntN(n - sampled + 1)
		for i := sampled; i < n; i++ {
			c := &candidates[i]
			*c = Candidate{SQL: "S", Sample: i, Fingerprint: rival, Model: "m"}
			if i < sampled+toLeader {
				c.Fingerprint = want.Key
				c.Findings = []Finding{{Rule: "sql", Doubt: bound(Candidate{Fingerprint: want.Key})}}
				if want.Key == "c" {
					c.Findings = append(c.Findings, Finding{Rule: "result", Doubt: 1})
				}
			}
		}
		check("hostile samples")
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
		plain, doubting := State{Remaining: n}, State{Remaining: n, Penalty: 1}
		for range 1 + r.IntN(n) {
			key := string(rune('a' + r.IntN(3)))
			plain.Vote(key, 1, 0)
			doubting.Vote(key, 1, 0)
		}
		if a, b := Decided(plain), Decided(doubting); a != b {
			t.Fatalf("plain %v, with penalty %v: %+v", a, b, plain)
		}
	}
}

func TestWave(t *testing.T) {
	doubted := State{Remaining: 12, Penalty: 1}
	for range 3 {
		doubted.Vote("a", 1, 3)
	}
	heavy := State{Remaining: 6, MaxWeight: 2}
	heavy.Vote("a", 2, 0)
	heavy.Clusters[0].Weight = 3 // a lead of one and a half votes
	tests := []struct {
		name  string
		least int
		stop  Stop
		t     State
		want  int
	}{
		{"first of 12", 0, Decided, State{Remaining: 12}, 7},
		{"first of 12, ahead by 3", 0, AheadBy(3), State{Remaining: 12}, 3},
		{"first of 12, either", 0, AheadBy(3).Or(Decided), State{Remaining: 12}, 3},
		{"first of 4, either", 0, AheadBy(5).Or(Decided), State{Remaining: 4}, 3},
		{"first of 12, posterior", 0, Posterior(0.95), State{Remaining: 12}, 4},
		{"no stop", 0, nil, State{Remaining: 12}, 12},
		{"a stop that never holds", 0, AheadBy(99), State{Remaining: 12}, 12},
		{"all at once", 12, Decided, State{Remaining: 12}, 12},
		{"never more than remain", 12, Decided, State{Remaining: 5}, 5},
		{"one", 0, Decided, State{Remaining: 1}, 1},
		{"none", 4, Decided, State{}, 0},
		{"lead of 3 of 7", 0, Decided, votes(5, 2, 5), 2},
		{"lead of 2, ahead by 3", 0, AheadBy(3), votes(2, 0, 10), 1},
		{"decided", 0, Decided, votes(7, 0, 5), 1},
		{"weights", 0, Decided, heavy, 2},
		{"first, weights", 0, AheadBy(3), State{MaxWeight: 2, Remaining: 12}, 3},
		{"first, doubts", 0, Decided, State{Penalty: 1, MaxDoubt: 0, Remaining: 12}, 7},
		{"a new cluster is sooner sure than a doubted leader", 0, AheadBy(3), doubted, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.t.Wave(tt.stop, tt.least); got != tt.want {
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
				sampled := leader + rival
				if sampled >= n || leader-rival > n-sampled {
					continue
				}
				want := min((n-sampled-(leader-rival))/2+1, n-sampled)
				if got := votes(leader, rival, n-sampled).Wave(Decided, 0); got != want {
					t.Errorf("%d to %d of %d: %d, want %d", leader, rival, n, got, want)
				}
			}
		}
	}
}

// TestWavesWasteNothing: as many samples count in waves as one by one, with weights,
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
		stop := []Stop{Decided, AheadBy(2), AheadBy(3).Or(Decided), Posterior(0.9), AheadBy(2).Every(4),
			Posterior(0.9).Every(3).Or(Decided)}[r.IntN(6)]
		after := func(sampled int) State {
			state := testutil.Value(m.State(candidates[:sampled], n))(t)
			return state
		}
		oneByOne := 0
		for oneByOne < n && !stop(after(oneByOne)) {
			oneByOne++
		}
		sampled, sent := 0, 0
		for sampled < n && (sampled < sent || !stop(after(sampled))) {
			if sent == sampled {
				sent += after(sampled).Wave(stop, 0)
			}
			if sampled++; stop(after(sampled)) {
				break
			}
		}
		if sampled != oneByOne {
			t.Fatalf("%d samples in waves, %d one by one: %+v", sampled, oneByOne, candidates)
		}
		if m.Penalty == 0 && sent > sampled {
			t.Fatalf("%d samples sent, %d counted: %+v", sent, sampled, candidates)
		}
	}
}

func TestEvery(t *testing.T) {
	for _, tt := range []struct {
		n, sampled int
		want       bool
		why        string
	}{
		{4, 3, false, "between two looks"},
		{4, 4, true, "the first look"},
		{4, 6, false, "between the second and the third"},
		{4, 8, true, "the second look"},
		{1, 3, true, "after each sample"},
		{0, 3, true, "0 is each sample too"},
		{-4, 3, true, "and so is what is below"},
	} {
		if got := AheadBy(3).Every(tt.n)(votes(tt.sampled, 0, 20)); got != tt.want {
			t.Errorf("every %d, after %d: %v: %s", tt.n, tt.sampled, got, tt.why)
		}
	}
	if AheadBy(3).Every(2)(votes(2, 2, 0)) {
		t.Error("a look that sees a tie stops")
	}
	// The first wave goes up to the first look that can stop.
	if got := (State{Remaining: 12}).Wave(AheadBy(3).Every(4).Or(Decided), 0); got != 4 {
		t.Errorf("first wave of %d, want 4", got)
	}
	if got := (State{Remaining: 3}).Wave(AheadBy(1).Every(4), 0); got != 3 {
		t.Errorf("a wave of %d where no look is left, want all 3", got)
	}
}

func TestTally(t *testing.T) {
	c := State{Remaining: 8}
	if c.Leader() != (ClusterState{}) || c.RunnerUp() != (ClusterState{}) || Decided(State{}) {
		t.Error("an empty state has a leader")
	}
	c.Vote("a", 1, 0)
	c.Vote("b", 1, 0)
	if c.Leader().Key != "a" || c.RunnerUp().Key != "b" {
		t.Errorf("a tie goes to the first that was voted for: %+v", c)
	}
	c.Abstain()
	c.Vote("b", 1, 0)
	c.Vote("c", 0, 0) // no vote
	if c.Leader() != (ClusterState{Key: "b", Weight: 2}) || c.RunnerUp() != (ClusterState{Key: "a", Weight: 1}) {
		t.Errorf("leader %+v, want b", c.Leader())
	}
	if c.Sampled != 5 || c.Remaining != 3 || len(c.Clusters) != 2 {
		t.Errorf("state %+v", c)
	}
	got, err := Majority{}.State(pool("ab.b"), 2)
	if err != nil || got.Remaining != 0 || got.Sampled != 4 || got.Leader().Key != "b" {
		t.Errorf("more sampled than planned: %+v, %v", got, err)
	}
	heavy := Majority{Weight: func(Candidate) float64 { return 3 }, MaxWeight: 2}
	if _, err := heavy.State(pool("ab"), 2); err == nil || !strings.Contains(err.Error(), "set Majority.MaxWeight") {
		t.Errorf("a weight above the announced one: %v", err)
	}
}
