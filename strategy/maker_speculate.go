package strategy

import (
	"context"
	"slices"
	"sync"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// speculation is the first wave of the next phase, drawn on the leader of the one
// that is still in flight. Its replies are used if the next phase comes to ask the
// very same messages, and thrown away otherwise, so the answer is the same with
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

// speculate starts a wave for the messages that prepare comes to; for nil it
// starts none. It returns at once. drawn are the draws of the phase that runs, and
// rest is how many calls the phases behind it may need. Only where more calls are
// left than all of them need can it not change the answer, and only where as many
// may be in flight beside those of this phase can it not cost time.
func (run *makerRun) speculate(ctx context.Context, purpose string, drawn, rest int, prepare func(context.Context) []llm.Message) {
	own := run.Samples - drawn
	if !run.Speculate || run.ahead != nil || run.left() < own+rest+run.firstWave() || run.env.concurrency() < own+run.firstWave() {
		return
	}
	ctx, span := trace.StartAt(ctx, run.Samples, "speculate")
	ctx, cancel := context.WithCancel(ctx)
	a := &speculation{ready: make(chan struct{}), cancel: cancel, span: span, slots: make([]aheadSlot, run.firstWave())}
	run.ahead = a
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
			slotCtx, slot.span = trace.StartAt(ctx, i, "draw")
			a.wait.Go(func() {
				defer close(slot.done)
				slot.reply, slot.err = run.call(slotCtx, purpose, a.messages, i)
				slot.span.Fail(slot.err)
				slot.span.End()
			})
		}
	})
}

// lookAhead speculates on the scope that leads.
func (run *makerRun) lookAhead(ctx context.Context, drawn int, voted []party[Scope]) {
	if len(voted) == 0 || len(voted[0].members[0].value.Tables) == 0 {
		return
	}
	run.speculate(ctx, PurposeFilter, drawn, 2*run.Samples, func(ctx context.Context) []llm.Message {
		s, _, valid, err := run.check(ctx, voted[0])
		if !valid || err != nil {
			return nil
		}
		return run.prompts.filter(s)
	})
}

// lookFurtherAhead speculates on the filter that leads.
func (run *makerRun) lookFurtherAhead(ctx context.Context, drawn int, s Scope, voted []party[Filter]) {
	if len(voted) == 0 {
		return
	}
	run.speculate(ctx, PurposeProjection, drawn, run.Samples, func(ctx context.Context) []llm.Message {
		f := voted[0].members[0].value
		sql, _ := s.Statement(run.env.DB.Dialect(), f)
		if ok, err := run.compiles(ctx, "filter", sql); !ok || err != nil {
			return nil
		}
		return run.prompts.projection(s, f)
	})
}

// begin takes over what was made ahead for a phase that asks messages, and drops
// anything else.
func (run *makerRun) begin(messages []llm.Message) {
	a := run.ahead
	run.ahead = nil
	if a == nil {
		return
	}
	if <-a.ready; a.messages != nil && slices.Equal(a.messages, messages) {
		run.made = a
		return
	}
	a.end(0)
}

// settle ends a phase of which so many draws count.
func (run *makerRun) settle(counted int) {
	if run.made != nil {
		run.made.end(counted)
		run.made = nil
	}
}

// stop ends what is still in flight.
func (run *makerRun) stop() {
	run.settle(0)
	if run.ahead != nil {
		run.ahead.end(0)
		run.ahead = nil
	}
}

// reply waits for a draw.
func (a *speculation) reply(ctx context.Context, i int) (llm.Response, error) {
	select {
	case <-a.slots[i].done:
		return a.slots[i].reply, a.slots[i].err
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
}

// end waits for the calls. Draws from index counted on are marked as cancelled,
// and the whole where none counts.
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
