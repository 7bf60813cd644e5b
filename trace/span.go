package trace

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// Span is one piece of work of an answer: a stage, a model call, a statement,
// a vote. Spans form a tree; [Start] adds a child to the span in ctx.
//
// Children have one order whatever the timing, provided that parallel ones are
// started by [StartAt]: a child of Start comes after all that its parent started
// before it, and the children of StartAt between two calls of Start are ordered
// by slot, then by start.
//
// All methods may be called on a nil or zero Span and then do nothing, or give
// the zero value. Safe for concurrent use.
type Span struct {
	tree   *tree // nil: a zero Span
	parent *Span // nil: the root
	name   string

	// All below is guarded by tree.mu. Times are offsets from tree.start.
	order      order
	start, end time.Duration
	ended      bool
	cancelled  bool
	failure    failure
	attrs      []Attr
	events     []Event
	warnings   []Warning
	usage      Usage
	children   []*Span // as started; read by sorted
	starts     int     // calls of Start so far
}

// failure is why a span failed; zero: it did not.
type failure struct {
	whole  string
	public string // without parts of statements
}

func (f failure) shown(show Private) string {
	if show&PrivateSQL != 0 {
		return f.whole
	}
	return f.public
}

// tree is what the spans of one answer share. One lock for all of them makes
// what a reader sees one moment of the whole answer. BenchmarkSpan shows what
// it costs when 100 goroutines want it.
type tree struct {
	mu    sync.Mutex
	start time.Time
	now   func() time.Time
	keep  Private

	observing sync.Mutex // never taken while mu is held
	observe   func(Notice)
}

// order is the place of a span among its siblings.
type order struct {
	group int // calls of Start on the parent up to this one
	first bool
	slot  int
	seq   int
}

func (a order) compare(b order) int {
	if c := cmp.Compare(a.group, b.group); c != 0 {
		return c
	}
	if a.first != b.first {
		if a.first {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.seq, b.seq))
}

// Tracer starts traces. The zero Tracer uses the real clock, keeps no private
// value but SQL, and tells nobody.
type Tracer struct {
	// Now is the clock; nil means time.Now. It must be safe for concurrent use.
	Now func() time.Time
	// Keep is which private values the tree holds, and writes to JSON, pages and
	// notices. SQL is always held; with PrivateSQL it is also written.
	Keep Private
	// Observe, if not nil, is told of every start, end, event and warning as it
	// happens, in the goroutine that does the work. Calls never overlap, and a
	// span's start comes after its parent's. It may read spans. It must not start,
	// end or add to a span of the same trace: that call would wait for itself. A
	// slow function slows the answer.
	Observe func(Notice)
}

// New starts a trace and returns its root span.
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

// Into returns a context that carries s, for [Start] and [From]. A nil s ends
// tracing: what is started below it is not recorded.
func Into(ctx context.Context, s *Span) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// From returns the span in ctx, or nil.
func From(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// Start adds a child to the span in ctx and returns it with a context that
// carries it. The child comes after all that its parent started before. Without
// a span in ctx it returns ctx and nil. The caller calls [Span.End].
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	parent := From(ctx)
	if parent == nil || parent.tree == nil {
		return ctx, nil
	}
	s := parent.child(true, 0, name, attrs)
	return Into(ctx, s), s
}

// StartAt is [Start] for work that runs beside its siblings: the child's place
// among those started since the last Start is given by slot, lowest first.
func StartAt(ctx context.Context, slot int, name string, attrs ...Attr) (context.Context, *Span) {
	parent := From(ctx)
	if parent == nil || parent.tree == nil {
		return ctx, nil
	}
	s := parent.child(false, slot, name, attrs)
	return Into(ctx, s), s
}

func (s *Span) child(first bool, slot int, name string, attrs []Attr) *Span {
	t := s.tree
	c := &Span{tree: t, parent: s, name: valid(name), attrs: t.frozen(attrs), start: t.since()}
	t.mu.Lock()
	if first {
		s.starts++
	}
	c.order = order{group: s.starts, first: first, slot: slot, seq: len(s.children)}
	s.children = append(s.children, c)
	t.mu.Unlock()
	t.tell(Notice{Kind: Started, Span: c})
	return c
}

func (t *tree) since() time.Duration { return t.now().Sub(t.start) }

// lock takes the lock of the tree; false for a nil or zero span.
func (s *Span) lock() bool {
	if s == nil || s.tree == nil {
		return false
	}
	s.tree.mu.Lock()
	return true
}

// Set gives s an attribute, in place of one of the same key. A value that is
// none of the types of [Attr] is encoded to JSON at once, so that later changes
// to it do not reach the trace.
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

// Warn adds a warning for the person who asked. See [Span.Warnings]. Warnings are
// logged, and may be about an error: the message is scrubbed and cut as in
// [Span.Fail].
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

// AddUsage adds u to what s itself cost.
func (s *Span) AddUsage(u Usage) {
	if !s.lock() {
		return
	}
	defer s.tree.mu.Unlock()
	s.usage = s.usage.Add(u)
}

// Cancelled says that s was given up while in flight, because its outcome no
// longer mattered or the caller went away. How far such work came depends on
// timing, so s with all below it moves to the section that [Span.Comparable]
// and [Span.Warnings] leave out. Its usage counts. It still needs End.
func (s *Span) Cancelled() {
	if !s.lock() {
		return
	}
	defer s.tree.mu.Unlock()
	s.cancelled = true
}

// Fail records why s failed. A nil err does nothing, and so does a second one:
// what follows a failure is mostly its echo. The text is scrubbed ([Scrub]) and
// cut at 1,000 bytes.
//
// JSON, pages and logs show the text of an error with a method Public() string, and
// of one that wraps it, with what that method returns in its place, unless they
// show SQL: engines repeat parts of statements.
func (s *Span) Fail(err error) {
	if s == nil || s.tree == nil || err == nil {
		return
	}
	f := failure{whole: failureText(err.Error()), public: failureText(publicText(err))}
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	if s.failure.whole == "" {
		s.failure = f
	}
}

// End ends s. Only the first call counts. Ending a span does not end its
// children, and does not stop it from taking attributes.
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
	if !again {
		s.tree.tell(Notice{Kind: Ended, Span: s})
	}
}

// Usage returns what s and all below it cost, cancelled spans included.
func (s *Span) Usage() Usage {
	if !s.lock() {
		return Usage{}
	}
	defer s.tree.mu.Unlock()
	return s.sum(true)
}

// sum adds in tree order, so that a sum of money is the same to the last bit;
// cancelled children come last, as they do in JSON.
func (s *Span) sum(cancelled bool) Usage {
	u, children := s.usage, s.sorted()
	for _, c := range children {
		if !c.cancelled {
			u = u.Add(c.sum(cancelled))
		}
	}
	for _, c := range children {
		if c.cancelled && cancelled {
			u = u.Add(c.sum(cancelled))
		}
	}
	return u
}

// Warnings returns the warnings of s and all below it in tree order, each once.
// Those of cancelled spans are left out: whether they came depends on timing.
func (s *Span) Warnings() []Warning {
	if !s.lock() {
		return nil
	}
	defer s.tree.mu.Unlock()
	var out []Warning
	seen := make(map[Warning]bool)
	s.walk(func(s *Span) bool {
		for _, w := range s.warnings {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
		return true
	})
	return out
}

// Duration returns how long s took, or, before End, how long it has been going.
func (s *Span) Duration() time.Duration {
	if s == nil || s.tree == nil {
		return 0
	}
	now := s.tree.since()
	s.tree.mu.Lock()
	defer s.tree.mu.Unlock()
	return s.until(now) - s.start
}

// until is the end of s, or now if it goes on. The lock is held by the caller.
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

// Parent returns the span that s was started under; nil for a root.
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

// Failure returns the text of what [Span.Fail] was given; "" if nothing failed.
func (s *Span) Failure() string { return s.failed().whole }

func (s *Span) failed() failure {
	if !s.lock() {
		return failure{}
	}
	defer s.tree.mu.Unlock()
	return s.failure
}

// IsCancelled reports whether [Span.Cancelled] was called on s or on a span
// above it.
func (s *Span) IsCancelled() bool {
	if !s.lock() {
		return false
	}
	defer s.tree.mu.Unlock()
	for ; s != nil; s = s.parent {
		if s.cancelled {
			return true
		}
	}
	return false
}

// Attr returns the value of an attribute as the tree holds it: a private one
// that was not kept is a [Withheld].
func (s *Span) Attr(key string) (value any, ok bool) {
	if !s.lock() {
		return nil, false
	}
	defer s.tree.mu.Unlock()
	for _, a := range s.attrs {
		if a.Key == key {
			return a.Value, true
		}
	}
	return nil, false
}

// Attrs returns the attributes of s in the order in which they were first set.
func (s *Span) Attrs() []Attr {
	if !s.lock() {
		return nil
	}
	defer s.tree.mu.Unlock()
	return slices.Clone(s.attrs)
}

// Events returns the events of s in the order in which they happened.
func (s *Span) Events() []Event {
	if !s.lock() {
		return nil
	}
	defer s.tree.mu.Unlock()
	return slices.Clone(s.events)
}

// Children returns the children of s in order, without cancelled ones.
func (s *Span) Children() []*Span { return s.childrenWhere(false) }

// CancelledChildren returns the children of s that were cancelled, in order.
func (s *Span) CancelledChildren() []*Span { return s.childrenWhere(true) }

func (s *Span) childrenWhere(cancelled bool) []*Span {
	if !s.lock() {
		return nil
	}
	defer s.tree.mu.Unlock()
	return slices.DeleteFunc(s.sorted(), func(c *Span) bool { return c.cancelled != cancelled })
}

// All returns s and all below it, parents before children, children in order,
// without the cancelled ones below s. It sees the tree as it is when the loop
// begins.
func (s *Span) All() iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		if !s.lock() {
			return
		}
		// The lock is not held while the loop's body runs: it may use the spans.
		var all []*Span
		s.walk(func(s *Span) bool { all = append(all, s); return true })
		s.tree.mu.Unlock()
		for _, s := range all {
			if !yield(s) {
				return
			}
		}
	}
}

// walk visits s and all below it in tree order, without cancelled ones. The
// lock is held by the caller.
func (s *Span) walk(visit func(*Span) bool) bool {
	if !visit(s) {
		return false
	}
	for _, c := range s.sorted() {
		if !c.cancelled && !c.walk(visit) {
			return false
		}
	}
	return true
}

// sorted returns a copy of the children in order. The lock is held by the
// caller.
func (s *Span) sorted() []*Span {
	c := slices.Clone(s.children)
	slices.SortFunc(c, func(a, b *Span) int { return a.order.compare(b.order) })
	return c
}
