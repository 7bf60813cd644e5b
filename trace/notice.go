package trace

// NoticeKind is the kind of a [Notice].
type NoticeKind uint8

// The kinds of notices.
const (
	Started  NoticeKind = iota + 1 // a span started; it has only its first attributes
	Ended                          // a span ended
	Happened                       // an event; see Notice.Event
	Warned                         // a warning; see Notice.Warning
)

// String returns "started", "ended", "happened" or "warned".
func (k NoticeKind) String() string {
	names := [...]string{Started: "started", Ended: "ended", Happened: "happened", Warned: "warned"}
	if k < Started || k > Warned {
		return "unknown"
	}
	return names[k]
}

// MarshalText returns the kind as its String, also for JSON.
func (k NoticeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Notice is a report to an observer: see [Tracer.Observe].
type Notice struct {
	Kind    NoticeKind // the kind of the report
	Span    *Span      // the span that it is about; read-only
	Event   Event      // set if Kind is Happened
	Warning Warning    // set if Kind is Warned
}

// tell calls the observer, without holding the lock of the tree, because the observer may read spans.
func (t *tree) tell(n Notice) {
	if t.observe == nil {
		return
	}
	t.observing.Lock()
	defer t.observing.Unlock()
	t.observe(n)
}
