package strategy

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// ErrQuorum says that fewer draws voted than MinVotes asks for. The error that
// matches it also matches the errors of the draws that failed.
var ErrQuorum = errors.New("strategy: too few votes")

// Election draws votes until they are decided. Every preset votes through it.
//
// Draws go out in waves, in parallel, and each fills the slot of its own index.
// Stop looks at the longest prefix of finished draws, index by index, never at
// the order of arrival; the draws behind the index where it stops are cancelled
// and do not count, even those that had arrived. So equal replies give equal
// slots whatever the timing. A failed draw uses its index, casts no vote and
// never cancels its siblings. When every draw of the first wave fails the election
// ends: whatever is down will not be asked again.
//
// The wave rules of vote size a wave so that no draw of it is wasted: a smaller
// one could not have decided. The method is that of methods/maker.md 3.2.
//
// Every draw keeps its slot from the beginning, so N is bounded by MaxSamples.
//
// An Election is a plain value, safe for concurrent use if its functions are.
type Election[T any] struct {
	// Draw makes draw i, 0 ≤ i < N. Required. It must return soon after ctx
	// ends. ctx carries the draw's span.
	Draw func(ctx context.Context, i int) (T, error)
	// Key names the group that a draw votes for; false abstains. Required.
	Key func(T) (key string, ok bool)
	// Tally counts the votes so far, of planned draws in all; values are the
	// draws that succeeded, in index order. nil: one vote each, by Key.
	Tally func(values []T, planned int) vote.Tally

	// Room says how many draws may still be sent; false: any number. A spent
	// budget then ends the election at the same index whatever the timing. nil:
	// any number.
	Room func() (draws int, bounded bool)

	// Before is called with what has been drawn before each wave but the first,
	// to start work that will likely be needed while the wave is in flight. It
	// must return quickly. nil: nothing is.
	Before func(Drawn[T])

	N           int       // draws at most, 1 to MaxSamples
	Wave        vote.Wave // the zero Wave wastes no draw, doubts aside
	Stop        vote.Stop // nil: never before N, and all draws go out at once
	MinVotes    int       // quorum; 0 means 1
	Concurrency int       // draws in flight; 0: a whole wave
	Name        string    // of the draws' spans; "" means "draw"
}

// Slot is what became of one draw.
type Slot[T any] struct {
	Value T      // what the draw gave
	Err   error  // the draw failed; Value is whatever came with the error
	Key   string // "" where Voted is false
	Voted bool   // Key counts
}

// Drawn is the outcome of an Election.
type Drawn[T any] struct {
	Slots   []Slot[T]  // the draws that count, in index order
	Tally   vote.Tally // of them
	Stopped bool       // Stop ended it before N
	Saved   int        // draws of N that were never sent
	Wasted  int        // draws that were sent and do not count
}

// Values are the draws that succeeded, in index order.
func (d Drawn[T]) Values() []T {
	var values []T
	for _, s := range d.Slots {
		if s.Err == nil {
			values = append(values, s.Value)
		}
	}
	return values
}

// Failed are the errors of the draws that failed, in index order.
func (d Drawn[T]) Failed() []error {
	var failed []error
	for _, s := range d.Slots {
		if s.Err != nil {
			failed = append(failed, s.Err)
		}
	}
	return failed
}

// Votes is the number of draws that voted.
func (d Drawn[T]) Votes() int {
	votes := 0
	for _, s := range d.Slots {
		if s.Voted {
			votes++
		}
	}
	return votes
}

// short says that a spent budget kept some of the planned draws from being made,
// and how many it allowed. Where it allowed none the errors say it.
func (d Drawn[T]) short(planned int) (allowed int, short bool) {
	failed := d.Failed()
	allowed = len(d.Slots)
	for _, err := range failed {
		if errors.Is(err, llm.ErrBudget) {
			allowed--
		}
	}
	// Without a stop, and with some replies, only Election.Room ends it before its last draw.
	room := !d.Stopped && len(d.Slots) < planned && len(failed) < len(d.Slots)
	return allowed, allowed > 0 && (room || allowed < len(d.Slots))
}

// Run draws. It returns when every draw it started has ended. The error is
// ctx.Err() when ctx ended, one that matches ErrQuorum when too few draws voted;
// Drawn holds what there is in both cases.
func (e Election[T]) Run(ctx context.Context) (Drawn[T], error) {
	if e.Draw == nil || e.Key == nil || e.N < 1 || e.N > MaxSamples {
		return Drawn[T]{}, fmt.Errorf("strategy: Election needs Draw, Key and an N of 1 to %d, got N %d", MaxSamples, e.N)
	}
	var (
		slots = make([]Slot[T], e.N)
		p     = poll[T]{e: e}
		out   Drawn[T]
		sent  int
	)
	out.Tally = p.tally() // its rules size the first wave, too
	for counted := 0; counted < e.N && !out.Stopped && ctx.Err() == nil; counted = len(out.Slots) {
		end := counted + e.wave(out.Tally, e.N-counted)
		if end == counted {
			break
		}
		if e.Before != nil && counted > 0 {
			e.Before(out)
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
		w.discard(len(out.Slots))
		if allFailed(out.Slots) {
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

// wave is the size of the next wave; 0 when no draw may be sent any more. The
// first draw is always sent, so that an empty budget has its say as an error.
func (e Election[T]) wave(t vote.Tally, remaining int) int {
	size := remaining
	if e.Stop != nil {
		t.Remaining = remaining
		size = min(max(e.Wave.Next(t, e.Stop), 1), remaining)
	}
	if e.Room != nil {
		if room, bounded := e.Room(); bounded {
			size = min(size, max(room, 0))
		}
	}
	if size == 0 && t.Drawn == 0 {
		return 1
	}
	return size
}

func allFailed[T any](slots []Slot[T]) bool {
	for _, s := range slots {
		if s.Err == nil {
			return false
		}
	}
	return true
}

// poll counts the draws as they settle, in index order.
type poll[T any] struct {
	e       Election[T]
	settled int
	values  []T          // of the draws that succeeded
	count   vote.Counter // where the Election has no Tally
}

// settle looks up what a finished draw votes for.
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
		return p.count.Tally(p.e.N)
	}
	t := p.e.Tally(p.values, p.e.N)
	t.Drawn, t.Remaining = p.settled, p.e.N-p.settled
	return t
}

// wave is one wave in flight.
type wave struct {
	arrived <-chan int // index of each finished draw; closed when all have ended
	cancel  context.CancelFunc
	first   int
	spans   []*trace.Span
}

// launch starts draws first ≤ i < end. Every goroutine it starts has ended when
// arrived is closed.
func (e Election[T]) launch(ctx context.Context, slots []Slot[T], first, end int) *wave {
	ctx, cancel := context.WithCancel(ctx)
	arrived := make(chan int, end-first)
	w := &wave{arrived: arrived, cancel: cancel, first: first, spans: make([]*trace.Span, end-first)}
	name := e.Name
	if name == "" {
		name = "draw"
	}
	// A zero group: a failed draw must not cancel its siblings.
	var g errgroup.Group
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
				drawCtx, span := trace.StartAt(ctx, i, name, trace.Attr{Key: "draw", Value: i})
				w.spans[i-first] = span
				slots[i].Value, slots[i].Err = e.Draw(drawCtx, i)
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

// discard marks the spans of the draws from index counted on as cancelled.
func (w *wave) discard(counted int) {
	for i, span := range w.spans {
		if w.first+i >= counted {
			span.Cancelled()
		}
	}
}

type quorumError struct {
	votes, quorum int
	failed        []error
}

func (e *quorumError) Error() string {
	msg := fmt.Sprintf("%v: %d of the %d needed", ErrQuorum, e.votes, e.quorum)
	if len(e.failed) > 0 {
		msg += fmt.Sprintf(" (%d draws failed, the first with: %s)", len(e.failed), brief(e.failed[0].Error()))
	}
	return msg
}

func (e *quorumError) Unwrap() []error { return append([]error{ErrQuorum}, e.failed...) }
