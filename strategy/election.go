package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
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
// vote and never cancels its siblings. If all samples of the first wave fail the election ends: whatever is down will
// not be asked again.
//
// A wave is as small as could decide (vote.Tally.Wave), so that no sample of it is wasted.
//
// An Election is a plain value, safe for concurrent use if its functions are.
type Election[T any] struct {
	// Sample makes sample i, 0 ≤ i < N. Required. It must return soon after ctx ends. ctx carries the sample's span.
	Sample func(ctx context.Context, i int) (T, error)
	// Key names the group that a sample votes for; false abstains. Required.
	Key func(T) (key string, ok bool)
	// Tally counts the votes so far, out of the planned samples; values are those of the samples that succeeded, in
	// index order. nil: one vote each, by Key.
	Tally func(values []T, planned int) vote.Tally

	// Room says how many samples may still be sent; false: any number. A spent budget then ends the election at the
	// same index whatever the timing. nil: any number.
	Room func() (samples int, bounded bool)

	N           int       // samples at most, 1 to MaxSamples
	MinWave     int       // least samples of a wave; 0: as few as waste none, doubts aside
	Stop        vote.Stop // nil: never before N, and all samples go out at once
	MinVotes    int       // quorum; 0 means 1
	Concurrency int       // samples in flight; 0: a whole wave
	Name        string    // of the samples' spans; "" means "sample"
}

// Slot is what became of one sample.
type Slot[T any] struct {
	Value T      // what Sample gave, also beside an error
	Err   error  // the sample failed
	Key   string // "" where Voted is false
	Voted bool   // Key counts
}

// Sampled is the outcome of an Election.
type Sampled[T any] struct {
	Slots   []Slot[T]  // the samples that count, in index order
	Tally   vote.Tally // how their votes stand
	Stopped bool       // Stop ended it before N
	Saved   int        // samples of N that were never sent
	Wasted  int        // samples that were sent and do not count
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

// Failed are the errors of the samples that failed, in index order.
func (d Sampled[T]) Failed() (failed []error) {
	for _, s := range d.Slots {
		if s.Err != nil {
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

// Run samples. It returns when every sample it started has ended. The error is ctx.Err() when ctx ended, one that
// matches ErrQuorum when too few samples voted; Sampled holds what there is in both cases.
func (e Election[T]) Run(ctx context.Context) (Sampled[T], error) {
	if e.Sample == nil || e.Key == nil || e.N < 1 || e.N > MaxSamples {
		return Sampled[T]{}, fmt.Errorf("strategy: Election needs Sample, Key and an N of 1 to %d, got N %d", MaxSamples, e.N)
	}
	var (
		slots = make([]Slot[T], e.N)
		p     = poll[T]{e: e, count: vote.Tally{Remaining: e.N}}
		out   Sampled[T]
		sent  int
	)
	out.Tally = p.tally() // its rules size the first wave, too
	for counted := 0; counted < e.N && !out.Stopped && ctx.Err() == nil; counted = len(out.Slots) {
		end := counted + e.wave(out.Tally, e.N-counted)
		if end == counted {
			break
		}
		w := e.launch(ctx, slots, counted, end)
		arrived := make([]bool, end-counted)
		for i := range w.arrived {
			arrived[i-counted] = true
			sent++
			for next := len(out.Slots); !out.Stopped && next < end && arrived[next-counted] && ctx.Err() == nil; next++ {
				p.settle(&slots[next])
				out.Slots = slots[:next+1]
				if next+1 < e.N && e.Stop != nil && e.Stop(p.tally()) {
					out.Stopped = true
					w.cancel()
				}
			}
		}
		out.Tally = p.tally()
		w.cancel()
		for _, span := range w.spans[len(out.Slots)-counted:] {
			span.Cancelled()
		}
		if len(out.Failed()) == len(out.Slots) {
			break
		}
	}
	out.Saved, out.Wasted = e.N-max(sent, len(out.Slots)), sent-len(out.Slots)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if votes, quorum := out.Votes(), max(e.MinVotes, 1); votes < quorum {
		return out, &quorumError{votes: votes, quorum: quorum, failed: out.Failed()}
	}
	return out, nil
}

// wave is the size of the next wave; 0 when no sample may be sent any more. The first sample is always sent, so that an
// empty budget has its say as an error.
func (e Election[T]) wave(t vote.Tally, remaining int) int {
	size := remaining
	if e.Stop != nil {
		t.Remaining = remaining
		size = min(max(t.Wave(e.Stop, e.MinWave), 1), remaining)
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
	count   vote.Tally // where the Election has no Tally
}

// settle looks up what a finished sample votes for.
func (p *poll[T]) settle(s *Slot[T]) {
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

func (p *poll[T]) tally() vote.Tally {
	if p.e.Tally == nil {
		t := p.count
		t.Standings = slices.Clone(t.Standings)
		return t
	}
	t := p.e.Tally(p.values, p.e.N)
	t.Sampled, t.Remaining = p.settled, p.e.N-p.settled
	return t
}

// wave is one wave in flight.
type wave struct {
	arrived <-chan int // index of each finished sample; closed when all have ended
	cancel  context.CancelFunc
	spans   []*trace.Span
}

// launch starts samples first ≤ i < end. Every goroutine it starts has ended when arrived is closed.
func (e Election[T]) launch(ctx context.Context, slots []Slot[T], first, end int) *wave {
	ctx, cancel := context.WithCancel(ctx)
	arrived := make(chan int, end-first)
	w := &wave{arrived: arrived, cancel: cancel, spans: make([]*trace.Span, end-first)}
	var g errgroup.Group // a zero group: a failed sample must not cancel its siblings
	if e.Concurrency > 0 {
		g.SetLimit(e.Concurrency)
	}
	go func() {
		defer close(arrived)
		for i := first; i < end; i++ {
			g.Go(func() error {
				if ctx.Err() != nil {
					return nil // never sent
				}
				sampleCtx, span := trace.StartAt(ctx, i, cmp.Or(e.Name, "sample"), trace.Attr{Key: "sample", Value: i})
				w.spans[i-first] = span
				slots[i].Value, slots[i].Err = e.Sample(sampleCtx, i)
				span.Fail(slots[i].Err)
				span.End()
				arrived <- i
				return nil
			})
		}
		g.Wait()
	}()
	return w
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
