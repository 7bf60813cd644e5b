package trace

// Notice is a report to an observer: see [Tracer.Observe].
type Notice struct {
	// Kind is "started" (a span; it has only its first attributes), "ended" (a span), "happened" (an event) or "warned".
	Kind    string
	Span    *Span   // the span that it is about; read-only
	Event   Event   // set for "happened"
	Warning Warning // set for "warned"
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
