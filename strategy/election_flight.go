package strategy

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// flight is the samples of an Election that were launched. All but slots, sent, spans and queue belongs to the
// goroutine of Run.
type flight[T any] struct {
	e      Election[T]
	ctx    context.Context // of the samples
	cancel context.CancelFunc

	slots []slot[T]
	sent  []bool
	spans []*trace.Span
	queue *queue
	began []atomic.Int64 // when a sample was sent, in nanoseconds from the first wave, plus 1; 0: it waits for its turn

	arrivals chan int
	running  sync.WaitGroup
	limit    chan struct{} // holds a token for each sample in flight; nil: no limit

	launched int
	arrived  []bool

	flown    time.Time     // when the first wave was launched
	first    int           // of the newest wave
	begun    time.Time     // when it was launched
	there    int           // how many of it arrived
	patience time.Duration // how long a sample of it takes that is not late; 0 until half of the first wave is there
	timer    *time.Timer   // runs out when those that are missing become late
}

func (e Election[T]) fly(ctx context.Context) *flight[T] {
	f := &flight[T]{
		e: e, slots: make([]slot[T], e.N), sent: make([]bool, e.N), spans: make([]*trace.Span, e.N),
		queue: newQueue(e.N, e.Prompts), began: make([]atomic.Int64, e.N), flown: time.Now(), arrived: make([]bool, e.N),
		arrivals: make(chan int, e.N),
		timer:    time.NewTimer(0),
	}
	f.timer.Stop()
	f.ctx, f.cancel = context.WithCancel(ctx)
	if e.Concurrency > 0 {
		f.limit = make(chan struct{}, e.Concurrency)
	}
	return f
}

// launch starts the next wave, of so many samples, in index order.
func (f *flight[T]) launch(size int) {
	if f.e.Wave != nil {
		f.e.Wave(f.launched)
	}
	f.first, f.begun, f.there = f.launched, time.Now(), 0
	f.launched += size
	if f.patience > 0 {
		f.timer.Reset(f.patience)
	}
	end := f.launched
	f.running.Go(func() {
		for i := end - size; i < end; i++ {
			if f.limit != nil {
				f.limit <- struct{}{}
			}
			f.running.Go(func() {
				f.sample(i)
				if f.limit != nil {
					<-f.limit
				}
			})
		}
	})
}

// markReplied marks the sample of ctx as answered by its model: nothing that the sample still does makes it late. So
// recorded replies give the same slots, however long their statements run. It does nothing outside of an Election.
func markReplied(ctx context.Context) {
	if p := turnOf(ctx); p != nil {
		p.excused.Store(true)
		p.end()
	}
}

func (f *flight[T]) sample(i int) {
	defer func() { f.queue.turns[i].end(); f.arrivals <- i }()
	if f.ctx.Err() != nil {
		return
	}
	f.sent[i] = true
	f.began[i].Store(int64(time.Since(f.flown)) + 1)
	ctx, span := trace.FromContext(f.ctx).StartAt(f.ctx, i, cmp.Or(f.e.Name, "sample"),
		trace.Attr{Key: "sample", Value: i})
	f.spans[i] = span
	returned := false
	defer func() {
		if r := recover(); !returned {
			f.slots[i].Err = &PanicError{Value: r, Stack: debug.Stack()}
		}
		span.Fail(f.slots[i].Err)
		span.End()
	}()
	f.slots[i].Value, f.slots[i].Err = f.e.Sample(context.WithValue(ctx, turnKey{}, &f.queue.turns[i]), i)
	returned = true
}

// wait returns when a sample arrives, when those that are missing become late, or when ctx ends.
func (f *flight[T]) wait(ctx context.Context) {
	select {
	case i := <-f.arrivals:
		f.arrived[i] = true
		if i < f.first {
			return
		}
		f.there++
		if took := time.Since(f.begun); f.patience == 0 && 2*f.there > f.launched-f.first {
			f.patience = took + max(took, time.Second)
			f.timer.Reset(f.patience - took)
		}
	case <-f.timer.C:
		if d := f.untilLate(); d > 0 {
			f.timer.Reset(d)
		}
	case <-ctx.Done():
	}
}

// untilLate is how long it takes until the next of the missing samples is late; 0 if none will be, because all are, or
// those that are not wait for their turn.
func (f *flight[T]) untilLate() (d time.Duration) {
	for i := range f.launched {
		took, sent := f.took(i)
		if left := f.patience - took; sent && !f.arrived[i] && left > 0 && (d == 0 || left < d) {
			d = left
		}
	}
	return d
}

// overdue reports whether the samples that are missing are all late.
func (f *flight[T]) overdue() bool {
	if f.there < f.launched-f.first && (f.patience == 0 || time.Since(f.begun) < f.patience) {
		return false
	}
	for i := range f.launched {
		if took, sent := f.took(i); !f.arrived[i] && (!sent || took < f.patience || f.queue.turns[i].excused.Load()) {
			return false
		}
	}
	return true
}

// took is how long ago sample i was sent.
func (f *flight[T]) took(i int) (d time.Duration, sent bool) {
	began := f.began[i].Load()
	return time.Since(f.flown) - time.Duration(began-1), began > 0
}

// land cancels what is in flight and returns when all of it has ended.
func (f *flight[T]) land() {
	f.timer.Stop()
	f.cancel()
	f.running.Wait()
}

// discard marks the spans of the samples that do not count. It returns how many samples of N no wave held, and how many
// of the waves do not count: whether the last of these were sent is a matter of time.
func (f *flight[T]) discard(counted []slot[T], cancelled bool) (saved, wasted int) {
	for i := range f.launched {
		counts := i < len(counted) && !counted[i].Late
		if !counts {
			wasted++
		}
		if f.sent[i] && (!counts || cancelled && counted[i].Err != nil) {
			f.spans[i].Cancelled()
		}
	}
	return f.e.N - f.launched, wasted
}

var errLate = errors.New("strategy: the sample was late, and its vote could not change the winner")

// without decides how to go on when all samples that are missing are late: over, when what is there decides, else with
// size more samples. 0 and false: it is better to wait.
func (e Election[T]) without(f *flight[T]) (size int, over bool) {
	if !f.overdue() {
		return 0, false
	}
	p, votes, replies := e.poll(), 0, 0
	for i, there := range f.arrived[:f.launched] {
		if !there {
			continue
		}
		s := f.slots[i]
		if p.settle(&s); s.Voted {
			votes++
		}
		if s.Err == nil {
			replies++
		}
	}
	t := p.state()
	switch {
	case replies == 0 || !e.exact(t):
		return 0, false
	case votes >= e.MinVotes && vote.Decided(t) && (e.Sure == nil || e.Sure(t)):
		return 0, true
	case e.Stop == nil || f.launched == e.N:
		return 0, false
	}
	return e.wave(t, vote.Decided, e.N-f.launched), false
}

// exact reports whether the votes decide as vote.Decided says: a bolder stop may stop at a leader that further votes
// would overtake, and must see every sample in its turn. It is asked about a vote that is unanimous so far. t holds the
// rules of the vote.
func (e Election[T]) exact(t vote.State) bool {
	if e.Stop == nil {
		return e.State != nil
	}
	for n := 1; n < e.N; n++ {
		t.Sampled, t.Remaining = n, e.N-n
		t.Clusters = []vote.ClusterState{{Weight: float64(n) * cmp.Or(t.MaxWeight, 1)}}
		if vote.Decided(t) {
			break
		}
		if e.Stop(t) {
			return false
		}
	}
	return true
}
