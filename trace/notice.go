package trace

// NoticeKind says what a [Notice] is about.
type NoticeKind uint8

// The kinds of notices.
const (
	Started  NoticeKind = iota + 1 // a span started; its attributes so far are those of its start
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

// MarshalText writes the kind as its String, as in JSON.
func (k NoticeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Notice tells an observer what happened. See [Tracer.Observe].
type Notice struct {
	Kind    NoticeKind // what happened
	Span    *Span      // where it happened; only to be read
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
