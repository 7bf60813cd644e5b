package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

var errSample = errors.New("sample failed")

// letters elects letters: sample i says votes[i]; '-' abstains, '!' fails.
func letters(votes string, delay func(i int) time.Duration) strategy.Election[string] {
	return strategy.Election[string]{
		N: len(votes),
		Sample: func(ctx context.Context, i int) (string, error) {
			select {
			case <-time.After(delay(i)):
			case <-ctx.Done():
				return "", ctx.Err()
			}
			if votes[i] == '!' {
				return "", errSample
			}
			return votes[i : i+1], nil
		},
		Key: func(s string) (string, bool) { return s, s != "-" },
	}
}

// second is the delay of samples that all take a second.
func second(int) time.Duration { return time.Second }

func TestElectionStops(t *testing.T) {
	tests := []struct {
		name    string
		votes   string
		stop    vote.Stop
		wave    int
		counted int // samples that count
		saved   int
		wasted  int
		took    time.Duration // each sample takes a second
		why     string
	}{
		{name: "no stop", votes: "aaaa", counted: 4, took: time.Second, why: "without a stop all go out at once"},
		{name: "unanimous", votes: "aaaaaaaaaaaa", stop: vote.Decided, counted: 7, saved: 5, took: time.Second,
			why: "seven of twelve cannot be overtaken, and no smaller wave could decide"},
		{name: "one against", votes: "aaabaaaaaaaa", stop: vote.Decided, counted: 8, saved: 4, took: 2 * time.Second,
			why: "the second wave is the one vote that is missing"},
		{name: "failed sample", votes: "aaa!aaaaaaaa", stop: vote.Decided, counted: 7, saved: 5, took: time.Second,
			why: "a failed sample uses its index and casts no vote: six against the five that remain"},
		{name: "ahead by three", votes: "aaaaaaaaaaaa", stop: vote.AheadBy(3), counted: 3, saved: 9, took: time.Second,
			why: "three alike"},
		{name: "all at once", votes: "aaaaaaaaaaaa", stop: vote.Decided, wave: 12, counted: 7, wasted: 5, took: time.Second,
			why: "the prefix decides, what lies behind it does not count"},
		{name: "even", votes: "abababababab", stop: vote.Decided, counted: 12, took: 4 * time.Second,
			why: "never decided: waves of 7, 3, 1 and 1, for the lead of one after the first two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := letters(tt.votes, second)
				e.Stop, e.MinWave = tt.stop, tt.wave
				start := time.Now()
				got := testutil.Value(e.Run(t.Context()))(t)
				type outcome struct{ Counted, Saved, Wasted int }
				golden.Equal(t, outcome{tt.counted, tt.saved, tt.wasted}, outcome{len(got.Slots), got.Saved, got.Wasted}, tt.why)
				if took := time.Since(start); took > tt.took {
					t.Errorf("took %v, want at most %v", took, tt.took)
				}
			})
		})
	}
}

// TestElectionIgnoresTiming runs the same samples with random delays: slots, state
// and trace are those of the samples alone.
func TestElectionIgnoresTiming(t *testing.T) {
	votes := "aba!-caabaacbaaa"
	for _, wave := range []int{0, 5, len(votes)} {
		var want string
		for seed := range uint64(40) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				delays := make([]time.Duration, len(votes))
				for i := range delays {
					delays[i] = time.Duration(rng.IntN(1000)) * time.Millisecond
				}
				e := letters(votes, func(i int) time.Duration { return delays[i] })
				e.Stop, e.MinWave, e.Concurrency = vote.AheadBy(3), wave, int(seed%4)
				root := trace.Tracer{}.New("test")
				sampled := testutil.Value(e.Run(trace.NewContext(t.Context(), root)))(t)
				root.End()
				page := testutil.Value(root.Comparable())(t)
				got := fmt.Sprintf("%+v %+v %s", sampled.Slots, sampled.State, page)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("wave %+v, seed %d: the outcome depends on timing:\n%s\n%s", wave, seed, want, got)
				}
			})
		}
	}
}

func TestElectionQuorum(t *testing.T) {
	tests := []struct {
		name  string
		votes string
		min   int
		want  error
		why   string
	}{
		{"all failed", "!!!", 0, errSample, "the cause of the failures is in the error"},
		{"all abstained", "---", 0, strategy.ErrQuorum, "an abstention is no vote"},
		{"too few", "a!!!", 2, strategy.ErrQuorum, "one of the two votes needed"},
		{"enough", "a!!a", 2, nil, "failed samples do not spoil the others"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := letters(tt.votes, func(int) time.Duration { return 0 })
			e.MinVotes = tt.min
			if _, err := e.Run(t.Context()); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("got %v, want %v: %s", err, tt.want, tt.why)
			}
		})
	}
}

// TestElectionGivesUp sends no second wave to a model that is down.
func TestElectionGivesUp(t *testing.T) {
	e := letters("!!!!!!!!!!!!", func(int) time.Duration { return 0 })
	e.Stop = vote.Decided
	got, err := e.Run(t.Context())
	if !errors.Is(err, errSample) || len(got.Slots) != 7 || got.Saved != 5 {
		t.Errorf("%d slots, %d saved, %v; want 7, 5 and the cause", len(got.Slots), got.Saved, err)
	}
}

// TestElectionHopeless sends no second wave where every further sample would end like the first ones: that is a stop,
// and no budget kept anything from being made.
func TestElectionHopeless(t *testing.T) {
	for _, tt := range []struct {
		why, votes      string
		hopeless        bool
		counted, saved  int
		stopped, quorum bool
	}{
		{"the first wave has no vote", "------------", true, 7, 5, true, true},
		{"further samples may do better", "------------", false, 12, 0, false, true},
		{"one sample of the wave has a vote", "---a--------", true, 12, 0, false, false},
		{"the last wave saves nothing", "-", true, 1, 0, false, true},
	} {
		t.Run(tt.why, func(t *testing.T) {
			e := letters(tt.votes, func(int) time.Duration { return 0 })
			e.Stop = vote.Decided
			e.Hopeless = func([]string) bool { return tt.hopeless }
			got, err := e.Run(t.Context())
			if len(got.Slots) != tt.counted || got.Saved != tt.saved || got.Stopped != tt.stopped ||
				errors.Is(err, strategy.ErrQuorum) != tt.quorum {
				t.Errorf("%d slots, %d saved, stopped %v, %v; want %+v", len(got.Slots), got.Saved, got.Stopped, err, tt)
			}
			if allowed, short := got.Short(e.N); short {
				t.Errorf("a budget that there is not allowed %d", allowed)
			}
		})
	}
	e := letters("------------", func(int) time.Duration { return 0 })
	e.Stop, e.Hopeless = vote.Decided, func([]string) bool { return true }
	sent := 0
	e.Room = func() (int, bool) { return 3 - sent, true }
	e.Wave = func(int) { sent = 3 }
	got, _ := e.Run(t.Context())
	if allowed, short := got.Short(e.N); allowed != 3 || !short || got.Stopped {
		t.Errorf("a budget of three samples: %d allowed, short %v, stopped %v", allowed, short, got.Stopped)
	}
}

func TestElectionRoom(t *testing.T) {
	e := letters("aaaaaaaa", func(int) time.Duration { return 0 })
	left := 3
	e.Room = func() (int, bool) { return left, true }
	sample := e.Sample
	e.Concurrency = 1
	e.Sample = func(ctx context.Context, i int) (string, error) { left--; return sample(ctx, i) }
	got, err := e.Run(t.Context())
	if err != nil || len(got.Slots) != 3 || got.Saved != 5 {
		t.Errorf("got %d slots, %d saved, %v; want 3, 5 and no error", len(got.Slots), got.Saved, err)
	}
}

func TestElectionRefusesNonsense(t *testing.T) {
	for _, e := range []strategy.Election[string]{{}, {N: 1}, {N: -1, Sample: letters("a", second).Sample,
		Key: letters("a", second).Key}} {
		if _, err := e.Run(t.Context()); err == nil {
			t.Errorf("%+v: no error", e.N)
		}
	}
}

// TestElectionCancel ends an election while samples are in flight: it returns
// promptly, keeps the identity of the error and what had arrived, and leaves no
// goroutine behind.
func TestElectionCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	var started atomic.Int32
	e := strategy.Election[string]{
		N: 8, Concurrency: 4,
		Sample: func(ctx context.Context, i int) (string, error) {
			if i == 0 {
				return "a", nil
			}
			if started.Add(1) == 3 {
				cancel()
			}
			<-ctx.Done()
			return "", ctx.Err()
		},
		Key: func(s string) (string, bool) { return s, true },
	}
	sampled, err := e.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if len(sampled.Slots) > 8 {
		t.Errorf("%d slots", len(sampled.Slots))
	}
	for range 10_000 { // a busy machine may take long to end them
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func ExampleElection() {
	answers := []string{"7", "7", "12", "7", "7", "8", "7"}
	sampled, err := strategy.Election[string]{
		N:      len(answers),
		Sample: func(_ context.Context, i int) (string, error) { return answers[i], nil },
		Key:    func(answer string) (string, bool) { return answer, answer != "" },
		Stop:   vote.Decided,
	}.Run(context.Background())
	fmt.Println(sampled.State.Leader().Weight, "of", len(sampled.Slots), "samples, saved", sampled.Saved, err)
	// Output: 4 of 5 samples, saved 2 <nil>
}
