package trace

// NoticeKind says what a [Notice] is about.
type NoticeKind uint8

// The kinds of notices.
const (
	Started  NoticeKind = iota + 1 // a span started; its attributes so far are those it was started with
	Ended                          // a span ended
	Happened                       // an event: see Notice.Event
	Warned                         // a warning: see Notice.Warning
)

// String returns "started", "ended", "happened" or "warned".
func (k NoticeKind) String() string {
	switch k {
	case Started:
		return "started"
	case Ended:
		return "ended"
	case Happened:
		return "happened"
	case Warned:
		return "warned"
	default:
		return "unknown"
	}
}

// Notice is what an observer is told. See [Tracer.Observe].
type Notice struct {
	Kind    NoticeKind // what happened
	Span    *Span      // what it is about; to be read only
	Event   Event      // with Happened
	Warning Warning    // with Warned
}

// tell calls the observer. The lock of the tree is not held: the observer may
// read spans.
func (t *tree) tell(n Notice) {
	if t.observe == nil {
		return
	}
	t.observing.Lock()
	defer t.observing.Unlock()
	t.observe(n)
}
