package strategy_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// counted is an Election of letters that knows how its votes count, as that of a Pipeline does.
func counted(votes string, stop vote.Stop, delay func(i int) time.Duration) strategy.Election[string] {
	e := letters(votes, delay)
	e.Stop = stop
	e.State = func(values []string, planned int) vote.State {
		t := vote.State{Remaining: planned}
		for _, v := range values {
			t.Vote(v, 1, 0)
		}
		return t
	}
	return e
}

// TestElectionLate: each sample takes a second, but the one that hangs for an hour.
func TestElectionLate(t *testing.T) {
	tests := []struct {
		name    string
		votes   string
		hangs   int
		stop    vote.Stop
		quorum  int
		slots   string // what each slot voted; ? is late
		took    time.Duration
		saved   int
		unknown bool // neither Stop nor State
		why     string
	}{
		{name: "no stop", votes: "aaaaaaaaaaaa", hangs: 3, slots: "aaa?aaaaaaaa", took: 2 * time.Second,
			why: "eleven votes decide"},
		{name: "the first", votes: "aaaaaaaaaaaa", hangs: 0, slots: "?aaaaaaaaaaa", took: 2 * time.Second,
			why: "no prefix ever arrives"},
		{name: "it matters", votes: "aaaaaabbbbbb", hangs: 4, slots: "aaaaaabbbbbb", took: time.Hour,
			why: "it could make a tie"},
		{name: "it cannot win", votes: "aaaaabbbbbbb", hangs: 4, slots: "aaaa?bbbbbbb", took: 2 * time.Second,
			why: "four and one against seven"},
		{name: "decided", votes: "aaaaaaaaaaaa", hangs: 3, stop: vote.Decided, slots: "aaa?aaaa", took: 3 * time.Second,
			saved: 4,
			why:   "six of the first wave do not decide: an eighth sample is quicker"},
		{name: "decided, divided", votes: "aabaaaaaaaab", hangs: 1, stop: vote.Decided, slots: "a?baaaaaa",
			took: 3 * time.Second, saved: 3,
			why: "five against one do not decide: two more do"},
		{name: "never decided", votes: "abababababab", hangs: 1, stop: vote.Decided, slots: "abababababab", took: time.Hour,
			why: "all that could be sent is there"},
		{name: "a bolder stop", votes: "aaaaaaaaaaaa", hangs: 1, stop: vote.AheadBy(3), slots: "aaa", took: time.Hour,
			saved: 9,
			why:   "it counts samples in their order, so each must be seen"},
		{name: "a quorum", votes: "aaaaaaaaaaaa", hangs: 1, quorum: 12, slots: "aaaaaaaaaaaa", took: time.Hour,
			why: "its vote is needed"},
		{name: "no rules", votes: "aaaaaaaaaaaa", hangs: 1, unknown: true, slots: "aaaaaaaaaaaa", took: time.Hour,
			why: "nobody said how votes count"},
		{name: "all others failed", votes: "a!!!!!!!!!!!", hangs: 0, stop: vote.Decided, slots: "a!!!!!!!!!!!",
			took: time.Hour + 3*time.Second,
			why:  "whatever is down is not asked again on suspicion"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := counted(tt.votes, tt.stop, func(i int) time.Duration {
					if i == tt.hangs {
						return time.Hour
					}
					return time.Second
				})
				if e.MinVotes = tt.quorum; tt.unknown {
					e.State = nil
				}
				start := time.Now()
				got := testutil.Value(e.Run(t.Context()))(t)
				slots := ""
				for _, s := range got.Slots {
					switch {
					case s.Late:
						slots += "?"
					case s.Err != nil:
						slots += "!"
					default:
						slots += s.Value
					}
				}
				type outcome struct {
					Slots string
					Took  time.Duration
					Saved int
				}
				golden.Equal(t, outcome{tt.slots, tt.took, tt.saved}, outcome{slots, time.Since(start), got.Saved}, tt.why)
				if late := strings.Count(slots, "?"); got.Wasted != late || got.State.Remaining != e.N-len(slots)+late {
					t.Errorf("%d wasted, %d remaining", got.Wasted, got.State.Remaining)
				}
			})
		})
	}
}

// TestLateSamplesChangeNoWinner: whoever is late, the winner is that of the election without delays.
func TestLateSamplesChangeNoWinner(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	stops := map[string]vote.Stop{
		"none": nil, "decided": vote.Decided, "rarely": vote.Stop(vote.Decided).Every(3), "ahead": vote.AheadBy(3),
		"posterior": vote.Posterior(0.9),
	}
	rounds, late := 400, 0
	if race.Enabled {
		rounds = 20 // thousands of bubbles can crash the detector itself: golang.org/issue/78156
	}
	for range rounds {
		votes := make([]byte, 4+rng.IntN(12))
		for i := range votes {
			votes[i] = "aaaabbc-!"[rng.IntN(9)]
		}
		delays := make([]time.Duration, len(votes))
		for i := range delays {
			delays[i] = time.Duration(rng.ExpFloat64() * float64(3*time.Second))
		}
		for name, stop := range stops {
			run := func(delay func(int) time.Duration) (got strategy.Sampled[string]) {
				synctest.Test(t, func(t *testing.T) { got, _ = counted(string(votes), stop, delay).Run(t.Context()) })
				return got
			}
			quick, slow := run(func(int) time.Duration { return 0 }), run(func(i int) time.Duration { return delays[i] })
			if quick.State.Leader().Key != slow.State.Leader().Key {
				t.Errorf("%s of %s with %v: %q won, and without delays %q", name, votes, delays, slow.State.Leader().Key,
					quick.State.Leader().Key)
			}
			for _, s := range slow.Slots {
				if s.Late {
					late++
				}
			}
		}
	}
	if late < rounds/4 {
		t.Errorf("only %d samples were late", late)
	}
}

// TestDeadlineKeepsTheBest: what had voted when the time was up is the answer beside the error, and says so.
func TestDeadlineKeepsTheBest(t *testing.T) {
	of := func(purpose string) func(llm.Request) bool {
		return func(r llm.Request) bool { return r.Purpose == purpose }
	}
	for _, tt := range []struct {
		name       string
		strategy   strategy.Strategy
		replies    [3]string
		hangs      func(llm.Request) bool
		confidence float64
		votes      [3]int // of the winner, of all and those that gave no reply; none: there is no answer
		why        string
	}{
		{"half", strategy.SelfConsistency{}, [3]string{usa, usa, usa}, func(r llm.Request) bool { return r.Sample%2 == 1 },
			7.0 / 8,
			[3]int{6, 6, 6}, "all were sent; twelve of twelve would have 13/14"},
		{"all but one", strategy.SelfConsistency{}, [3]string{usa, usa, usa}, func(r llm.Request) bool {
			return r.Sample != 2
		}, 2.0 / 11,
			[3]int{1, 1, 11}, "up to three failed calls for each vote say nothing"},
		{"all", strategy.SelfConsistency{}, [3]string{}, of("generate"), 0, [3]int{}, "there is nothing"},
		{"the judge", judged(2), [3]string{usa, everyone}, of("judge"), 0.5, [3]int{1, 2, 0},
			"the vote stands"},
		{"a repair", strategy.Consensus{Samples: 3}, [3]string{usa, broken, everyone}, of("repair"), 0.5, [3]int{1, 3, 0},
			"it stays failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if tt.hangs(req) {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return llm.Response{Text: tt.replies[req.Sample%3]}, nil
			})
			out, err := tt.strategy.Generate(ctx, shopEnv(t, model), usaTask)
			if !errors.Is(err, context.DeadlineExceeded) || (out.SQL == usa) != (tt.votes[0] > 0) {
				t.Fatalf("%s: %q, %v", tt.name, out.SQL, err)
			}
			got := [3]int{0, out.Ballot.Sampled, out.Ballot.Missing}
			if out.SQL == "" {
				got = [3]int{}
			} else {
				got[0] = len(out.Ballot.Clusters[0].Members)
			}
			said := strings.Contains(strings.Join(out.Notes, "\n"), "the time was up") == (out.SQL != "")
			if got != tt.votes || !said || math.Abs(out.Confidence-tt.confidence) > 0.01 {
				t.Errorf("%s: %.3f, %v, %q; want %.3f, %v (%s)", tt.name, out.Confidence, got, out.Notes, tt.confidence, tt.votes,
					tt.why)
			}
		})
	}
}

// TestElectionQueued: a sample that waited for its turn is not late for that, and one that hangs in its turn is.
func TestElectionQueued(t *testing.T) {
	for _, tt := range []struct {
		last  time.Duration // the last sample takes so long
		slots int           // that are not late
		took  time.Duration
		why   string
	}{
		{3 * time.Second, 12, 22 * time.Second, "seven of one second, five of three, one after the other"},
		{time.Hour, 11, 7*time.Second + 4*3*time.Second + 14*time.Second,
			"patience is seven seconds and as much again, from when it was sent"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := counted("aaaaaaaaaaaa", nil, func(i int) time.Duration {
				switch {
				case i == 11:
					return tt.last
				case i < 7:
					return time.Second
				}
				return 3 * time.Second
			})
			e.Concurrency = 1
			start := time.Now()
			got, err := e.Run(t.Context())
			if err != nil || len(got.Values()) != tt.slots || time.Since(start) != tt.took {
				t.Errorf("%s: %d slots in %v, %v; want %d in %v", tt.why, len(got.Values()), time.Since(start), err, tt.slots,
					tt.took)
			}
		})
	}
}

// TestLateSamplesOfAJudge: a sample whose vote could bring the judge into play is waited for.
func TestLateSamplesOfAJudge(t *testing.T) {
	for _, tt := range []struct {
		share float64
		late  bool
		why   string
	}{
		{0.6, true, "eleven of twelve are enough, whatever the twelfth says"},
		{1, false, "the twelfth may disagree"},
	} {
		env := shopEnv(t, nil)
		synctest.Test(t, func(t *testing.T) {
			judged := 0
			env := asking(env, llm.Func(lateTwelfth))
			out, err := strategy.Pipeline{
				Sampler: strategy.Sampler{Samples: 12}, Voter: vote.Majority{Prior: 1, MinShare: tt.share},
				Judge: judgeFunc(func(strategy.JudgeInput) (int, error) { judged++; return 0, nil }),
			}.Generate(t.Context(), env, usaTask)
			if err != nil || (len(out.Candidates) == 11) != tt.late || (judged == 1) == tt.late {
				t.Errorf("%s: %v, %d candidates, judge asked %d times", tt.why, err, len(out.Candidates), judged)
			}
		})
	}
}
