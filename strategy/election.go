package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/vote"
)

// ErrQuorum says that fewer samples voted than MinVotes asks for. The error that matches it also matches the errors of
// the samples that failed.
var ErrQuorum = errors.New("strategy: too few votes")

// Election takes samples until their votes decide. Every strategy votes through it.
//
// Samples go out in waves, in parallel, and each fills the slot of its own index. Stop looks at the longest prefix of
// finished samples, never at the order of arrival. The samples behind the index where it stops are cancelled and do not
// count, even those that had arrived. So equal replies give equal slots whatever the timing. A failed sample casts no
// vote and never cancels its siblings. If all samples of a wave and before it fail, the election ends. A wave is as
// small as could decide (vote.State.Wave), so that no sample of it is wasted.
//
// A late sample takes twice as long as half of the first wave took, and at least a second more, from when it was sent.
// It is not waited for once the other votes decide as vote.Decided does, and until then the next wave goes out without
// it. The winner is the same as with it. No sample is late if Stop is bolder than vote.Decided, or if neither Stop nor
// State is given, and none whose vote could bring a Pipeline's judge into play.
//
// Its goroutines are no errgroup.Group: of that a stop cancels no needless sample, and a late one is waited for. An Election is a plain value, safe for concurrent use if its functions are.
type Election[T any] struct {
	// Sample makes sample i, 0 ≤ i < N. Required. It must return soon after ctx ends. ctx carries the sample's span.
	Sample func(ctx context.Context, i int) (T, error)
	// Key names the group that a sample votes for; false abstains. Required.
	Key func(T) (key string, ok bool)
	// State counts the votes so far, out of the planned samples; values are those of the samples that succeeded, in
	// index order. nil: one vote each, by Key.
	State func(values []T, planned int) vote.State

	// Room says how many samples may still be sent; false: any number. A spent budget then ends the election at the
	// same index whatever the timing. nil: any number.
	Room func() (samples int, bounded bool)

	N           int       // samples at most, 1 to MaxSamples
	MinWave     int       // least samples of a wave; 0: as few as waste none, doubts aside
	Stop        vote.Stop // nil: never before N, and all samples go out at once
	MinVotes    int       // quorum; 0 means 1
	Concurrency int       // samples in flight; 0: a whole wave
	Prompts     int       // how many different prompts the samples go round, for Env.Send; 0: nobody waits for a provider's cache
	Name        string    // name of the samples' spans; "" means "sample"

	// Wave hears the index of the first sample of each wave before it is sent, once the waves before it have settled, late
	// samples aside. nil: nobody listens.
	Wave func(first int)
	// Hopeless reports, after a whole wave without a vote, whether further samples would end like it. Then none is sent.
	// nil: they may not.
	Hopeless func(values []T) bool
	// Sure reports whether the votes that are missing change nothing, given that they do not change the leader: only then
	// are late samples not waited for. A Pipeline says so of its judge. nil: they change nothing.
	Sure func(vote.State) bool
}

// Slot is what became of one sample.
type Slot[T any] struct {
	Value T      // what Sample gave, also beside an error
	Err   error  // the sample failed
	Key   string // "" where Voted is false
	Voted bool   // Key counts
	Late  bool   // nobody waited for it, because its vote could not change the winner
}

// Sampled is the outcome of an Election.
type Sampled[T any] struct {
	Slots   []Slot[T]  // the samples that count, in index order, with late ones between them
	State   vote.State // how their votes stand
	Stopped bool       // the votes ended it before N, or that there will be none (Hopeless)
	Saved   int        // samples of N that no wave held
	Wasted  int        // samples of a wave that do not count, those included that were not sent yet
}

// Values are those of the samples that succeeded, in index order.
func (d Sampled[T]) Values() (values []T) {
	for _, s := range d.Slots {
		if s.Err == nil {
			values = append(values, s.Value)
		}
	}
	return values
}

// Failed are the errors of the samples that failed, in index order. A late sample did not fail.
func (d Sampled[T]) Failed() (failed []error) {
	for _, s := range d.Slots {
		if s.Err != nil && !s.Late {
			failed = append(failed, s.Err)
		}
	}
	return failed
}

// Votes is the number of samples that voted.
func (d Sampled[T]) Votes() int {
	votes := 0
	for _, s := range d.Slots {
		if s.Voted {
			votes++
		}
	}
	return votes
}

// Short reports whether a spent budget kept some of the planned samples from being made, and how many it allowed. It is
// false where the budget allowed none: the errors of the samples tell that.
func (d Sampled[T]) Short(planned int) (allowed int, short bool) {
	failed := d.Failed()
	allowed = len(d.Slots)
	for _, err := range failed {
		if errors.Is(err, llm.ErrBudget) {
			allowed--
		}
	}
	// Without a stop, and with some replies, only Room ends it before its last sample.
	room := !d.Stopped && len(d.Slots) < planned && len(failed) < len(d.Slots)
	return allowed, allowed > 0 && (room || allowed < len(d.Slots))
}

// Run samples. It returns when every sample it started has ended. The error is ctx.Err() when ctx ended, and one that
// matches ErrQuorum when too few samples voted. Sampled holds what there is in both cases: when ctx ended, every sample
// that had arrived. A sample that panics fails with a *PanicError.
func (e Election[T]) Run(ctx context.Context) (Sampled[T], error) {
	if e.Sample == nil || e.Key == nil || e.N < 1 || e.N > MaxSamples {
		return Sampled[T]{}, fmt.Errorf("strategy: Election needs Sample, Key and an N of 1 to %d, got N %d", MaxSamples, e.N)
	}
	var (
		p    = e.poll()
		out  Sampled[T]
		f    = e.fly(ctx)
		over bool // what arrived decides
	)
	defer f.land() // also when a function of e panics
	for ctx.Err() == nil && !out.Stopped && !over {
		if next := len(out.Slots); next < f.launched && f.arrived[next] {
			p.settle(&f.slots[next])
			out.Slots = f.slots[:next+1]
			out.Stopped = next+1 < e.N && e.Stop != nil && e.Stop(p.state())
			continue
		}
		var size int
		if len(out.Slots) == f.launched {
			out.State = p.state() // its rules size the first wave, too
			if size = e.wave(out.State, e.Stop, e.N-f.launched); size == 0 || f.launched > 0 && len(out.Failed()) == f.launched {
				break
			}
			if f.launched > 0 && e.Hopeless != nil && out.Votes() == 0 && e.Hopeless(p.values) {
				out.Stopped = true
				break
			}
		} else if size, over = e.without(f); size == 0 && !over {
			f.wait(ctx)
		}
		if size > 0 {
			f.launch(size)
		}
	}
	f.land()
	if ended := ctx.Err() != nil && !out.Stopped; ended || over {
		out.Slots, out.Stopped = f.slots[:f.launched], over
		p = e.poll()
		for i := range out.Slots {
			switch s := &out.Slots[i]; {
			case over && !f.arrived[i]:
				*s = Slot[T]{Err: errLate, Late: true}
			case !f.sent[i]:
				s.Err = ctx.Err()
			}
			p.settle(&out.Slots[i])
		}
	}
	out.State = p.state()
	out.Saved, out.Wasted = f.discard(out.Slots, ctx.Err() != nil)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if votes, quorum := out.Votes(), max(e.MinVotes, 1); votes < quorum {
		return out, &quorumError{votes: votes, quorum: quorum, failed: out.Failed()}
	}
	return out, nil
}

// wave is the size of the next wave, of most samples; 0 when no sample may be sent any more. The first sample is always
// sent, so that an empty budget has its say as an error.
func (e Election[T]) wave(t vote.State, stop vote.Stop, most int) int {
	if most == 0 {
		return 0
	}
	size := most
	if stop != nil {
		size = min(max(t.Wave(stop, e.MinWave), 1), most)
	}
	if e.Room != nil {
		if room, bounded := e.Room(); bounded {
			size = min(size, max(room, 0))
		}
	}
	if size == 0 && t.Sampled == 0 {
		return 1
	}
	return size
}

// poll counts the samples as they settle, in index order.
type poll[T any] struct {
	e       Election[T]
	settled int
	values  []T        // of the samples that succeeded
	count   vote.State // where the Election has no State
}

func (e Election[T]) poll() poll[T] { return poll[T]{e: e, count: vote.State{Remaining: e.N}} }

// settle looks up what a finished sample votes for. A late one is still to come.
func (p *poll[T]) settle(s *Slot[T]) {
	if s.Late {
		return
	}
	if s.Err == nil {
		s.Key, s.Voted = p.e.Key(s.Value)
		p.values = append(p.values, s.Value)
	}
	if s.Voted {
		p.count.Vote(s.Key, 1, 0)
	} else {
		p.count.Abstain()
	}
	p.settled++
}

func (p *poll[T]) state() vote.State {
	if p.e.State == nil {
		t := p.count
		t.Clusters = slices.Clone(t.Clusters)
		return t
	}
	t := p.e.State(p.values, p.e.N)
	t.Sampled, t.Remaining = p.settled, p.e.N-p.settled
	return t
}

// quorumError matches ErrQuorum and the errors of the samples that failed.
type quorumError struct {
	votes, quorum int
	failed        []error
}

func (e *quorumError) Error() string {
	msg := fmt.Sprintf("%v: %d of the %d needed", ErrQuorum, e.votes, e.quorum)
	if len(e.failed) > 0 {
		msg += fmt.Sprintf(" (%d samples failed, the first with: %s)", len(e.failed), brief(e.failed[0].Error()))
	}
	return msg
}

func (e *quorumError) Unwrap() []error { return append([]error{ErrQuorum}, e.failed...) }
