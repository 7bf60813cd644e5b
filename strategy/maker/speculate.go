package maker

import (
	"context"
	"slices"
	"sync"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// speculation is the first wave of the next phase, sampled on the leader of the one that is still in flight. Its
// replies are used if the next phase asks the same messages, and thrown away otherwise. So the answer is the same with
// and without it.
type speculation struct {
	ready    chan struct{} // closed when messages is known
	messages []llm.Message // nil: the leader is nothing to build on
	slots    []aheadSlot
	cancel   context.CancelFunc
	wait     sync.WaitGroup
	span     *trace.Span
}

type aheadSlot struct {
	done  chan struct{}
	reply llm.Response
	err   error
	span  *trace.Span
}

// speculate starts a wave for the messages that prepare comes to; for nil it starts none. It returns at once. sampled
// are the samples of the phase that runs so far, rest is how many calls the phases behind it may need. The wave starts
// only if the calls left cover this phase, the later phases and the wave, so that it cannot change the answer, and if
// concurrency leaves room for it beside this phase, so that it cannot cost time.
func (r *run) speculate(ctx context.Context, purpose string, sampled, rest int, prepare func(context.Context) []llm.Message) {
	own := r.Samples - sampled
	if !r.Speculate || r.ahead != nil || r.left() < own+rest+r.firstWave() || r.env.Parallel() < own+r.firstWave() {
		return
	}
	ctx, span := trace.StartAt(ctx, r.Samples, "speculate")
	ctx, cancel := context.WithCancel(ctx)
	a := &speculation{ready: make(chan struct{}), cancel: cancel, span: span, slots: make([]aheadSlot, r.firstWave())}
	r.ahead = a
	for i := range a.slots {
		a.slots[i].done = make(chan struct{})
	}
	a.wait.Go(func() {
		a.messages = prepare(ctx)
		close(a.ready)
		if a.messages == nil {
			return
		}
		for i := range a.slots {
			slot := &a.slots[i]
			var slotCtx context.Context
			slotCtx, slot.span = trace.StartAt(ctx, i, "sample")
			a.wait.Go(func() {
				defer close(slot.done)
				slot.reply, slot.err = r.call(slotCtx, purpose, a.messages, i)
				slot.span.Fail(slot.err)
				slot.span.End()
			})
		}
	})
}

// lookAhead speculates on the scope that leads.
func (r *run) lookAhead(ctx context.Context, sampled int, voted [][]reading[Scope]) {
	if len(voted) == 0 || len(voted[0][0].value.Tables) == 0 {
		return
	}
	r.speculate(ctx, PurposeFilter, sampled, 2*r.Samples, func(ctx context.Context) []llm.Message {
		s, _, valid, err := r.check(ctx, voted[0])
		if !valid || err != nil {
			return nil
		}
		return r.prompts.filter(s)
	})
}

// lookFurtherAhead speculates on the filter that leads.
func (r *run) lookFurtherAhead(ctx context.Context, sampled int, s Scope, voted [][]reading[Filter]) {
	if len(voted) == 0 {
		return
	}
	r.speculate(ctx, PurposeProjection, sampled, r.Samples, func(ctx context.Context) []llm.Message {
		f := voted[0][0].value
		sql, _ := s.Statement(r.env.DB.Dialect(), f)
		if ok, err := r.compiles(ctx, "filter", sql); !ok || err != nil {
			return nil
		}
		return r.prompts.projection(s, f)
	})
}

// begin takes over what was made ahead for a phase that asks messages, and drops anything else.
func (r *run) begin(messages []llm.Message) {
	a := r.ahead
	r.ahead = nil
	if a == nil {
		return
	}
	if <-a.ready; a.messages != nil && slices.Equal(a.messages, messages) {
		r.made = a
		return
	}
	a.end(0)
}

// settle ends what was made ahead for a phase of which so many samples count.
func (r *run) settle(counted int) {
	if r.made != nil {
		r.made.end(counted)
		r.made = nil
	}
}

// stop ends what is still in flight.
func (r *run) stop() {
	r.settle(0)
	if r.ahead != nil {
		r.ahead.end(0)
		r.ahead = nil
	}
}

// reply waits for a sample.
func (a *speculation) reply(ctx context.Context, i int) (llm.Response, error) {
	select {
	case <-a.slots[i].done:
		return a.slots[i].reply, a.slots[i].err
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
}

// end cancels and waits for the calls. Samples from index counted on are marked as cancelled, and the whole where none
// counts.
func (a *speculation) end(counted int) {
	a.cancel()
	a.wait.Wait()
	for i := range a.slots {
		if i >= counted {
			a.slots[i].span.Cancelled()
		}
	}
	if counted == 0 {
		a.span.Cancelled()
	}
	a.span.End()
}
