package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// ErrQuorum reports that fewer than MinVotes samples voted. The error that matches it also matches the errors of the
// samples that failed.
var ErrQuorum = errors.New("strategy: too few votes")

// Election takes samples until their votes decide. Every strategy votes through it. An Election is a plain value, safe
// for concurrent use if its functions are.
//
// Samples go out in waves, in parallel, and each fills the slot of its own index. Stop looks at the longest prefix of
// finished samples, never at the order of arrival. Samples with a higher index than the last one are cancelled. They
// do not count, even if they had arrived. So equal replies give equal slots whatever the timing. A failed sample
// casts no vote and never cancels the others. If all samples up to the end of a wave fail, the election ends. A wave
// has the least samples that could decide the election (vote.State.Wave).
//
// A sample is late if it takes more than twice the median time of the first wave, and at least a second longer. A
// sample whose call is repeated after a provider's rejection is not late. The election stops waiting for a late
// sample as soon as the other votes decide it by the rule of vote.Decided. Until then the next wave is sent without
// it. The winner is the same as with it. No sample is late if Stop ends earlier than vote.Decided, if neither Stop
// nor State is set, or if its vote could involve a Pipeline's judge. An errgroup.Group is not used: it would wait for
// late samples and not cancel needless ones.
type Election[T any] struct {
	// Sample makes sample i, 0 ≤ i < N. Required. It must return soon after ctx ends. ctx carries the sample's span.
	Sample func(ctx context.Context, i int) (T, error)
	// Key returns the group that a sample votes for; false abstains. Required.
	Key func(T) (key string, ok bool)
	// State counts the votes so far, out of the planned samples. values has the results of the samples that
	// succeeded, in index order. nil: one vote each, by Key.
	State func(values []T, planned int) vote.State

	// Room returns how many samples may still be sent; false: any number. A spent budget then ends the election at
	// the same index whatever the timing. nil: any number.
	Room func() (samples int, bounded bool)

	N           int       // samples at most, 1 to 10,000
	MinWave     int       // least samples of a wave; 0: the fewest that waste none, ignoring doubts
	Stop        vote.Stop // nil: never before N, and all samples go out at once
	MinVotes    int       // quorum; 0 means 1
	Concurrency int       // samples in flight; 0: a whole wave
	Prompts     int       // different prompts in turn, for Env.Send; 0: no waiting for a provider's cache
	Name        string    // name of the samples' spans; "" means "sample"

	// Wave is called with the index of the first sample of each wave before it is sent. All samples of earlier waves
	// have then settled, except late ones. nil: no call.
	Wave func(first int)
	// Hopeless reports, after a whole wave without a vote, whether further samples would not vote either. Then
	// sampling ends. nil: false.
	Hopeless func(values []T) bool
	// Sure reports whether the missing votes have no effect if they do not change the leader. Only then does the
	// election stop waiting for late samples. A Pipeline uses it for its judge. nil: true.
	Sure func(vote.State) bool
}

// slot is what became of one sample.
type slot[T any] struct {
	Value T      // the value that Sample returned, also with an error
	Err   error  // the sample failed
	Key   string // "" where Voted is false
	Voted bool   // Key counts
	Late  bool   // nobody waited for it, because its vote could not change the winner
}

// Sampled is the outcome of an Election.
type Sampled[T any] struct {
	// Slots has the samples that count, in index order, and the late ones between them. Each has its Value (also with
	// an error), Err, the Key that it Voted for, and whether it was Late.
	Slots   []slot[T]
	State   vote.State // the state of their votes
	Stopped bool       // the votes ended it before N, or Hopeless did
	Saved   int        // samples of N that no wave held
	Wasted  int        // samples of a wave that do not count, including unsent ones
}

// Values returns the values of the samples that succeeded, in index order.
func (d Sampled[T]) Values() (values []T) {
	for _, s := range d.Slots {
		if s.Err == nil {
			values = append(values, s.Value)
		}
	}
	return values
}

// Failed returns the errors of the samples that failed, in index order. A late sample did not fail.
func (d Sampled[T]) Failed() (failed []error) {
	for _, s := range d.Slots {
		if s.Err != nil && !s.Late {
			failed = append(failed, s.Err)
		}
	}
	return failed
}

// warn warns of the samples that a provider did not reply to, where it replied to others.
func (d Sampled[T]) warn(ctx context.Context) {
	var lost []error
	failed := d.Failed()
	for _, err := range failed {
		if errors.As(err, new(*llm.Error)) {
			lost = append(lost, err)
		}
	}
	if len(lost) == 0 || len(failed) == len(d.Slots) {
		return
	}
	var e *llm.Error
	errors.As(lost[0], &e)
	why := whyLost(e.Class)
	if errors.Is(lost[0], llm.ErrBudget) {
		why += ", and the budget allowed no further call"
	}
	trace.FromContext(ctx).Warn("provider-failed", fmt.Sprintf("%d of %d samples did not reply: %s", len(lost),
		len(d.Slots), why))
}

// forbidden reports whether a budget kept a sample from being sent. The error of one that was sent also has the reason
// of the provider.
func forbidden(err error) bool {
	return errors.Is(err, llm.ErrBudget) && !errors.As(err, new(*llm.Error))
}

// whyLost says why a call of a class has no reply.
func whyLost(c llm.Class) string {
	switch c {
	case llm.ClassRateLimit, llm.ClassOverloaded:
		return "the provider was busy"
	case llm.ClassTimeout:
		return "the provider did not answer in time"
	case llm.ClassRefused:
		return "the provider declined the content"
	case llm.ClassContextTooLong:
		return "the prompt does not fit the model"
	}
	return "the calls failed"
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

// Short reports whether a spent budget prevented some of the planned samples, and how many it allowed. It is false if
// the budget allowed no sample: then the errors of the samples report the budget.
func (d Sampled[T]) Short(planned int) (allowed int, short bool) {
	failed := d.Failed()
	allowed = len(d.Slots)
	for _, err := range failed {
		if forbidden(err) {
			allowed--
		}
	}
	// Without a stop, and with some replies, only Room ends it before its last sample.
	room := !d.Stopped && len(d.Slots) < planned && len(failed) < len(d.Slots)
	return allowed, allowed > 0 && (room || allowed < len(d.Slots))
}

// Run takes the samples. It returns when every started sample has ended. The error is ctx.Err() if ctx ended, and
// matches ErrQuorum if too few samples voted. In both cases Sampled has the samples so far; if ctx ended, every
// sample that had arrived. A sample that panics fails with a *PanicError. The warning "provider-failed" in the trace
// of ctx has the number of samples without a reply from the provider.
func (e Election[T]) Run(ctx context.Context) (Sampled[T], error) {
	if e.Sample == nil || e.Key == nil || e.N < 1 || e.N > fields.MaxSamples {
		return Sampled[T]{}, fmt.Errorf("strategy: Election needs Sample, Key and an N of 1 to %d, got N %d",
			fields.MaxSamples, e.N)
	}
	var (
		p    = e.poll()
		out  Sampled[T]
		f    = e.fly(ctx)
		over bool // the samples that arrived decide
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
				*s = slot[T]{Err: errLate, Late: true}
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
	out.warn(ctx)
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
func (p *poll[T]) settle(s *slot[T]) {
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
