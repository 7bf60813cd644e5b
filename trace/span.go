package trace

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/redact"
)

// Span is one piece of work for an answer: a stage, a model call, a statement, a vote. Spans form a tree.
//
// The order of children does not depend on timing if parallel ones are started by [Span.StartAt]. A child of [Start]
// comes after everything that its parent started before. The children of StartAt between two calls of Start are ordered
// by slot, then by start.
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

func (f failure) shown(show Sensitivity) string {
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
	keep  Sensitivity

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
	Keep Sensitivity
	// Observe is called with every start, end, event and warning as it happens, in the goroutine that does the work;
	// nil: no observer. Calls never overlap. A span's start comes after its parent's. Observe may read spans. It must
	// not start, end or change a span of the same trace, because that call would wait for itself. A slow Observe
	// delays the answer.
	Observe func(Notice)
	// Follow is called when a span starts, before its work, so that another tracing system can create its own span
	// for the work. It returns a context for the work, derived from ctx, and a function that is called once when the
	// span has ended; nil: no function. Calls of parallel spans overlap. Follow may read spans; it must not start,
	// end or change one.
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
	ctx = NewContext(ctx, s)
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
	tr.tell(Notice{Kind: "started", Span: s})
	return s
}

type contextKey struct{}

// NewContext returns a context that carries s, for [Start] and [FromContext]. A nil s ends tracing for this context.
func NewContext(ctx context.Context, s *Span) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// FromContext returns the span in ctx, or nil.
func FromContext(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// Start adds a child to the span in ctx and returns it with a context that carries it. The child comes after everything
// that its parent started before. Without a span in ctx it returns ctx and nil. The caller calls [Span.End].
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	return FromContext(ctx).startChild(ctx, order{}, name, attrs)
}

// StartAt adds a child to s for parallel work: slot is the child's place among the siblings since the last [Start],
// the lowest first. It returns the child with a context that carries it. A nil s returns ctx and nil.
func (s *Span) StartAt(ctx context.Context, slot int, name string, attrs ...Attr) (context.Context, *Span) {
	return s.startChild(ctx, order{parallel: 1, slot: slot}, name, attrs)
}

func (s *Span) startChild(ctx context.Context, o order, name string, attrs []Attr) (context.Context, *Span) {
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
	t.tell(Notice{Kind: "started", Span: c})
	return c.followedBy(ctx), c
}

// SetSlot moves a span that was started by [Span.StartAt] to another slot. Work that several samples share belongs to
// the sample with the lowest index, which may be known only after the work has begun. It does nothing to a root and
// to a span of [Start].
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

// Set sets an attribute of s, and replaces one with the same key. Later changes to the value do not reach the trace.
func (s *Span) Set(key string, value any) {
	if s == nil || s.tree == nil {
		return
	}
	a := s.tree.freeze(Attr{key, value})
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	s.attrs = put(s.attrs, a)
}

// Event records an event at the present time.
func (s *Span) Event(name string, attrs ...Attr) {
	if s == nil || s.tree == nil {
		return
	}
	e := Event{Name: valid(name), At: s.tree.since(), Attrs: s.tree.frozen(attrs)}
	s.tree.mu.Lock()
	s.events = append(s.events, e)
	s.tree.mu.Unlock()
	s.tree.tell(Notice{Kind: "happened", Span: s, Event: e})
}

// Warn adds a warning for the person who asked. See [Span.Warnings]. The message is scrubbed and cut as in [Span.Fail],
// because it may repeat an error and warnings are logged.
func (s *Span) Warn(code, message string) {
	if s == nil || s.tree == nil {
		return
	}
	w := Warning{Code: valid(code), Message: redact.Text(message)}
	s.tree.mu.Lock()
	s.warnings = append(s.warnings, w)
	s.tree.mu.Unlock()
	s.tree.tell(Notice{Kind: "warned", Span: s, Warning: w})
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

// Cancelled marks s as stopped before its end, because its outcome no longer matters or the caller cancelled. The
// progress of such work depends on timing, so [Span.Comparable] and [Span.Warnings] leave out s and all spans under
// it. Its usage counts. It still needs End.
func (s *Span) Cancelled() {
	s.locked(func() { s.cancelled = true })
}

// Fail records why s failed. Only the first error counts, because later ones mostly repeat it. A nil err does nothing.
// The text is scrubbed ([RedactCredentials]) and cut at 1,000 bytes.
//
// The text of an engine's error may repeat parts of a statement. If an error has a method Public() string, JSON, pages
// and logs show its result in place of the error's text. This also applies to an error that wraps it. It does not
// apply if they show SQL.
func (s *Span) Fail(err error) {
	if s == nil || s.tree == nil || err == nil {
		return
	}
	f := failure{text: redact.Failure(err.Error()), public: redact.Error(err)}
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	if s.failure.text == "" {
		s.failure = f
	}
}

// End ends s. Only the first call counts. It does not end the children, and attributes may still be set on s.
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
	s.tree.tell(Notice{Kind: "ended", Span: s})
	if s.followed != nil {
		s.followed()
	}
}

// Usage returns the cost of s and all spans under it, including cancelled spans.
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

// Warnings returns the warnings of s and all spans under it in tree order, each once. Warnings of cancelled spans are
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

// Duration returns how long s took, or its duration so far if it has not ended.
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

// Name returns the name of s.
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

// Failure returns the text of the first error passed to [Span.Fail]; "" without one.
func (s *Span) Failure() string { return s.failed().text }

// FailureShown returns Failure without parts of statements, unless show has PrivateSQL.
func (s *Span) FailureShown(show Sensitivity) string { return s.failed().shown(show) }

func (s *Span) failed() (f failure) {
	s.locked(func() { f = s.failure })
	return f
}

// IsCancelled reports whether [Span.Cancelled] was called on s or on one of its ancestors.
func (s *Span) IsCancelled() (is bool) {
	s.locked(func() {
		for at := s; at != nil; at = at.parent {
			is = is || at.cancelled
		}
	})
	return is
}

// Attr returns the value of an attribute as the tree stores it. A [Secret] that the tree does not store is withheld.
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

// All returns s and all spans under it, without cancelled ones. Parents come before children, and children are in
// order. It returns the state of the tree at the start of the loop.
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
