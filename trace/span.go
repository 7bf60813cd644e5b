package trace

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// Span is one piece of work for an answer: a stage, a model call, a statement, a vote. Spans form a tree.
//
// The order of children does not depend on timing if parallel ones are started by [StartAt]. A child of [Start] comes
// after everything that its parent started before. The children of StartAt between two calls of Start are ordered by
// slot, then by start.
//
// The methods of a nil or zero Span do nothing and return zero values. Safe for concurrent use.
type Span struct {
	tree   *tree // nil: a zero Span
	parent *Span // nil: the root
	name   string

	// The fields below are guarded by tree.mu. Times are offsets from tree.start.
	order      order
	start, end time.Duration
	ended      bool
	followed   func() // what Tracer.Follow returned; nil: none
	cancelled  bool
	failure    failure
	attrs      []Attr
	events     []Event
	warnings   []Warning
	usage      Usage
	children   []*Span // in the order of starting; sorted puts them into the order of the tree
	starts     int     // calls of Start so far
}

// failure says why a span failed. The zero failure is that of a span that did not.
type failure struct {
	text   string
	public string // without parts of statements
}

func (f failure) shown(show Private) string {
	if show&PrivateSQL != 0 {
		return f.text
	}
	return f.public
}

// tree is the state that the spans of one answer share. They share one lock, so that a reader sees the whole answer at
// one moment. BenchmarkSpan measures it with 100 goroutines.
type tree struct {
	mu    sync.Mutex
	start time.Time
	now   func() time.Time
	keep  Private

	observing sync.Mutex // must not be locked while mu is held
	observe   func(Notice)
	follow    func(context.Context, *Span) (context.Context, func()) // nil: none
}

// order is the place of a span among its siblings.
type order struct {
	group    int // calls of Start on the parent up to this one
	parallel int // 1 for a span of StartAt, which comes after the span of Start
	slot     int
	seq      int // the order of starting
}

func (a order) compare(b order) int {
	return cmp.Or(a.group-b.group, a.parallel-b.parallel, cmp.Compare(a.slot, b.slot), a.seq-b.seq)
}

// Tracer starts traces. The zero Tracer uses the real clock, keeps no secrets but SQL, and has no observer.
type Tracer struct {
	// Now is the clock; nil means time.Now. It must be safe for concurrent use.
	Now func() time.Time
	// Keep has the kinds of secrets that the tree holds, and shows in JSON, pages and notices. SQL is always held; it
	// is shown if Keep has PrivateSQL.
	Keep Private
	// Observe is called with every start, end, event and warning as it happens, in the goroutine that does the work;
	// nil: no observer. Calls never overlap. A span's start comes after its parent's. Observe may read spans. It must
	// not start, end or change a span of the same trace, because that call would wait for itself. A slow function slows
	// the answer.
	Observe func(Notice)
	// Follow is called when a span starts, before its work, so that another system of traces has a span of its own around
	// that work. It returns the context of the work, made of ctx, and a function that is called once, when the span has
	// ended; nil: none. Calls of parallel spans overlap. Follow may read spans; it must not start, end or change one.
	Follow func(ctx context.Context, s *Span) (work context.Context, ended func())
}

// Start starts a trace and returns its root span, with a context that carries it.
func (t Tracer) Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	s := t.New(name, attrs...)
	s.tree.follow = t.Follow
	return s.followedBy(ctx), s
}

// followedBy returns the context of the work of s.
func (s *Span) followedBy(ctx context.Context) context.Context {
	ctx = Into(ctx, s)
	if s.tree.follow != nil {
		ctx, s.followed = s.tree.follow(ctx, s)
	}
	return ctx
}

// New is Start without a context: no Follow is called in its trace.
func (t Tracer) New(name string, attrs ...Attr) *Span {
	now := t.Now
	if now == nil {
		now = time.Now
	}
	tr := &tree{now: now, start: now(), keep: t.Keep, observe: t.Observe}
	s := &Span{tree: tr, name: valid(name), attrs: tr.frozen(attrs)}
	tr.tell(Notice{Kind: Started, Span: s})
	return s
}

// New starts a trace with the zero [Tracer] and returns its root span.
func New(name string, attrs ...Attr) *Span { return Tracer{}.New(name, attrs...) }

type contextKey struct{}

// Into returns a context that carries s, for [Start] and [From]. A nil s ends tracing below the context.
func Into(ctx context.Context, s *Span) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// From returns the span in ctx, or nil.
func From(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// Start adds a child to the span in ctx and returns it with a context that carries it. The child comes after everything
// that its parent started before. Without a span in ctx it returns ctx and nil. The caller calls [Span.End].
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	return start(ctx, order{}, name, attrs)
}

// StartAt is [Start] for parallel work: slot gives the child's place among the siblings since the last Start, the
// lowest first.
func StartAt(ctx context.Context, slot int, name string, attrs ...Attr) (context.Context, *Span) {
	return start(ctx, order{parallel: 1, slot: slot}, name, attrs)
}

func start(ctx context.Context, o order, name string, attrs []Attr) (context.Context, *Span) {
	s := From(ctx)
	if s == nil || s.tree == nil {
		return ctx, nil
	}
	t := s.tree
	c := &Span{tree: t, parent: s, name: valid(name), order: o, attrs: t.frozen(attrs), start: t.since()}
	t.mu.Lock()
	s.starts += 1 - o.parallel
	c.order.group, c.order.seq = s.starts, len(s.children)
	s.children = append(s.children, c)
	t.mu.Unlock()
	t.tell(Notice{Kind: Started, Span: c})
	return c.followedBy(ctx), c
}

// SetSlot moves a span that was started by [StartAt] to another slot. Work that several samples share belongs to the
// lowest of them, which may show only after the work has begun. It does nothing to a root and to a span of [Start].
func (s *Span) SetSlot(slot int) {
	s.locked(func() {
		if s.order.parallel == 1 {
			s.order.slot = slot
		}
	})
}

func (t *tree) since() time.Duration { return t.now().Sub(t.start) }

// lock takes the lock of the tree. It returns false for a nil or zero span.
func (s *Span) lock() bool {
	if s == nil || s.tree == nil {
		return false
	}
	s.tree.mu.Lock()
	return true
}

// locked runs f under the lock of the tree, and not at all for a nil or zero span.
func (s *Span) locked(f func()) {
	if s.lock() {
		defer s.tree.mu.Unlock()
		f()
	}
}

// Set gives s an attribute, in place of one of the same key. Later changes to the value do not reach the trace.
func (s *Span) Set(key string, value any) {
	if s == nil || s.tree == nil {
		return
	}
	a := s.tree.freeze(Attr{key, value})
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	s.attrs = put(s.attrs, a)
}

// Event records that something happened now.
func (s *Span) Event(name string, attrs ...Attr) {
	if s == nil || s.tree == nil {
		return
	}
	e := Event{Name: valid(name), At: s.tree.since(), Attrs: s.tree.frozen(attrs)}
	s.tree.mu.Lock()
	s.events = append(s.events, e)
	s.tree.mu.Unlock()
	s.tree.tell(Notice{Kind: Happened, Span: s, Event: e})
}

// Warn adds a warning for the person who asked. See [Span.Warnings]. The message is scrubbed and cut as in [Span.Fail],
// because it may repeat an error and warnings are logged.
func (s *Span) Warn(code, message string) {
	if s == nil || s.tree == nil {
		return
	}
	w := Warning{Code: valid(code), Message: outsideText(message)}
	s.tree.mu.Lock()
	s.warnings = append(s.warnings, w)
	s.tree.mu.Unlock()
	s.tree.tell(Notice{Kind: Warned, Span: s, Warning: w})
}

// Root returns the first span of the trace of s. A warning there is reported even if s is cancelled.
func (s *Span) Root() *Span {
	for s != nil && s.parent != nil {
		s = s.parent
	}
	return s
}

// AddUsage adds u to the cost of s itself.
func (s *Span) AddUsage(u Usage) {
	s.locked(func() { s.usage = s.usage.Add(u) })
}

// Cancelled says that s was given up in flight, because its outcome no longer mattered or the caller went away. How far
// such work came depends on timing, so [Span.Comparable] and [Span.Warnings] leave out s and everything below it. Its
// usage counts. It still needs End.
func (s *Span) Cancelled() {
	s.locked(func() { s.cancelled = true })
}

// Fail records why s failed. Only the first error counts, because later ones mostly repeat it. A nil err does nothing.
// The text is scrubbed ([Scrub]) and cut at 1,000 bytes.
//
// The text of an engine's error may repeat parts of a statement. If an error has a method Public() string, JSON, pages
// and logs show what it returns in place of the error's text, also inside an error that wraps it, unless they show SQL.
func (s *Span) Fail(err error) {
	if s == nil || s.tree == nil || err == nil {
		return
	}
	f := failure{text: failureText(err.Error()), public: Public(err)}
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	if s.failure.text == "" {
		s.failure = f
	}
}

// End ends s. Only the first call counts. It does not end the children, and s still takes attributes.
func (s *Span) End() {
	if s == nil || s.tree == nil {
		return
	}
	at := s.tree.since()
	s.tree.mu.Lock()
	again := s.ended
	if !again {
		s.end, s.ended = at, true
	}
	s.tree.mu.Unlock()
	if again {
		return
	}
	s.tree.tell(Notice{Kind: Ended, Span: s})
	if s.followed != nil {
		s.followed()
	}
}

// Usage returns the cost of s and everything below it, cancelled spans included.
func (s *Span) Usage() (u Usage) {
	s.locked(func() { u = s.sum(true) })
	return u
}

// sum adds in the order of JSON, cancelled children last, so that a sum of money is the same to the last bit.
func (s *Span) sum(cancelled bool) Usage {
	u := s.usage
	for _, c := range s.sorted(false) {
		u = u.Add(c.sum(cancelled))
	}
	if cancelled {
		for _, c := range s.sorted(true) {
			u = u.Add(c.sum(cancelled))
		}
	}
	return u
}

// Warnings returns the warnings of s and everything below it in tree order, each once. Warnings of cancelled spans are
// left out, because they depend on timing.
func (s *Span) Warnings() (out []Warning) {
	seen := make(map[Warning]bool)
	s.locked(func() {
		for _, s := range s.appendAll(nil) {
			for _, w := range s.warnings {
				if !seen[w] {
					seen[w] = true
					out = append(out, w)
				}
			}
		}
	})
	return out
}

// Duration returns how long s took, or has been going if it has not ended.
func (s *Span) Duration() (d time.Duration) {
	s.locked(func() { d = s.until(s.tree.since()) - s.start })
	return d
}

// until returns the end of s, or now if it has not ended. The caller holds the lock.
func (s *Span) until(now time.Duration) time.Duration {
	if s.ended {
		return s.end
	}
	return max(s.start, now) // a trace read from JSON has no clock
}

// Name returns the name that s was started with.
func (s *Span) Name() string {
	if s == nil {
		return ""
	}
	return s.name
}

// Parent returns the span under which s was started; nil for a root.
func (s *Span) Parent() *Span {
	if s == nil {
		return nil
	}
	return s.parent
}

// Started returns when s started.
func (s *Span) Started() time.Time {
	if s == nil || s.tree == nil {
		return time.Time{}
	}
	return s.tree.start.Add(s.start)
}

// Failure returns the text of the first error that [Span.Fail] was given; "" without one.
func (s *Span) Failure() string { return s.failed().text }

// FailureShown is Failure without parts of statements, unless show has PrivateSQL.
func (s *Span) FailureShown(show Private) string { return s.failed().shown(show) }

func (s *Span) failed() (f failure) {
	s.locked(func() { f = s.failure })
	return f
}

// IsCancelled reports whether [Span.Cancelled] was called on s or on a span above it.
func (s *Span) IsCancelled() (is bool) {
	s.locked(func() {
		for at := s; at != nil; at = at.parent {
			is = is || at.cancelled
		}
	})
	return is
}

// Attr returns the value of an attribute as the tree holds it. A [Secret] that was not kept is withheld.
func (s *Span) Attr(key string) (value any, ok bool) {
	s.locked(func() {
		if i := slices.IndexFunc(s.attrs, func(a Attr) bool { return a.Key == key }); i >= 0 {
			value, ok = s.attrs[i].Value, true
		}
	})
	return value, ok
}

// Attrs returns the attributes of s in the order in which they were first set.
func (s *Span) Attrs() (attrs []Attr) {
	s.locked(func() { attrs = slices.Clone(s.attrs) })
	return attrs
}

// Events returns the events of s in the order in which they happened.
func (s *Span) Events() (events []Event) {
	s.locked(func() { events = slices.Clone(s.events) })
	return events
}

// Children returns the children of s in order, without cancelled ones.
func (s *Span) Children() []*Span { return s.childrenWhere(false) }

// CancelledChildren returns the children of s that were cancelled, in order.
func (s *Span) CancelledChildren() []*Span { return s.childrenWhere(true) }

func (s *Span) childrenWhere(cancelled bool) (children []*Span) {
	s.locked(func() { children = s.sorted(cancelled) })
	return children
}

// All returns s and everything below it, without cancelled spans below s. Parents come before children, children in
// order. It sees the tree as it is when the loop begins.
func (s *Span) All() iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		var all []*Span
		s.locked(func() { all = s.appendAll(nil) })
		for _, s := range all { // without the lock, because the body may use the spans
			if !yield(s) {
				return
			}
		}
	}
}

// appendAll appends s and everything below it to all, as All returns them. The caller holds the lock.
func (s *Span) appendAll(all []*Span) []*Span {
	all = append(all, s)
	for _, c := range s.sorted(false) {
		all = c.appendAll(all)
	}
	return all
}

// sorted returns the children that are cancelled, or those that are not, in order. The caller holds the lock.
func (s *Span) sorted(cancelled bool) []*Span {
	var some []*Span
	for _, c := range s.children {
		if c.cancelled == cancelled {
			some = append(some, c)
		}
	}
	slices.SortFunc(some, func(a, b *Span) int { return a.order.compare(b.order) })
	return some
}
