package strategy

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/llm"
)

// queue orders the calls of the samples of an Election: which of them wait for the reply to another one.
type queue struct {
	planned, prompts int
	turns            []turn

	mu    sync.Mutex
	first map[string]int // the lowest sample that asks the same
}

// turn is that of one sample.
type turn struct {
	queue *queue
	i     int
	// it is not late: the model has answered, and the rest is up to us, or its provider turned it away
	excused atomic.Bool
	known   chan struct{} // closed once it is known what the sample asks for
	over    chan struct{} // closed once the model has answered, or the sample has ended
	asked   sync.Once
	ended   sync.Once
}

func newQueue(planned, prompts int) *queue {
	q := &queue{planned: planned, prompts: prompts, turns: make([]turn, planned), first: make(map[string]int)}
	for i := range q.turns {
		p := &q.turns[i]
		p.queue, p.i, p.known, p.over = q, i, make(chan struct{}), make(chan struct{})
	}
	return q
}

type turnKey struct{}

func turnOf(ctx context.Context) *turn {
	p, _ := ctx.Value(turnKey{}).(*turn)
	return p
}

// end frees those that wait for the sample.
func (p *turn) end() {
	p.asked.Do(func() { close(p.known) })
	p.ended.Do(func() { close(p.over) })
}

const (
	leastPrefix = 1024             // tokens from which on providers keep a prefix
	ahead       = 10 * time.Second // by then a prefix was read, though its reply may take longer
)

// Send sends the request of a sample to the model of Env.Models at an index. Call it in Election.Sample. It reports
// the reply to the Election, so later work of the sample does not make it late.
//
// By Election.Prompts samples may share a prompt that is long enough for a provider's cache (1,024 tokens). If more
// than two samples follow the first one with that prompt, they wait up to 10 s for its reply. So they read the
// provider's cache; their requests have the cache mark. Before the first reply of a model (Host.Learners), only the
// sample with the lowest index is sent. Outside of an Election, Send only makes the call.
func (e *Env) Send(ctx context.Context, model int, req llm.Request) (llm.Response, error) {
	within := ctx
	if p := turnOf(ctx); p != nil {
		var err error
		p.asked.Do(func() { err = p.await(ctx, e, model, &req) })
		if err != nil {
			return llm.Response{}, err
		}
		within = background.OnRetry(ctx, func() { p.excused.Store(true) })
	}
	resp, err := e.Models[model].Complete(within, req)
	if err == nil {
		markReplied(ctx)
	}
	return resp, err
}

// await returns when the sample may be sent.
func (p *turn) await(ctx context.Context, e *Env, model int, req *llm.Request) error {
	q := p.queue
	var keys []string
	if model < len(e.Host.Learners) && !e.Host.Learners[model].Answered() {
		keys = append(keys, fmt.Sprint(model))
	}
	messages := llm.Request{Messages: req.Messages}
	if q.prompts > 0 && q.planned/q.prompts > 3 && llm.Estimate(messages, "").PromptTokens >= leastPrefix {
		req.CachePrefix = len(req.Messages)
		keys = append(keys, fmt.Sprint(model, messages.Hash()))
	}
	if p.i > 0 { // in order, so that the lowest sample is the first of its key
		select {
		case <-q.turns[p.i-1].known:
		case <-ctx.Done():
			close(p.known)
			return ctx.Err()
		}
	}
	var leaders []int
	q.mu.Lock()
	for _, key := range keys {
		if leader, ok := q.first[key]; ok {
			leaders = append(leaders, leader)
		} else {
			q.first[key] = p.i
		}
	}
	q.mu.Unlock()
	close(p.known)
	timer := time.NewTimer(ahead)
	defer timer.Stop()
	for _, leader := range leaders {
		select {
		case <-q.turns[leader].over:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
