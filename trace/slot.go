package trace

// SetSlot moves a span that was started by [StartAt] to another slot: work that
// several draws share belongs to the lowest of them, and which that is may show
// only after the work has begun. It does nothing to a root, and to a span that
// was started by [Start].
func (s *Span) SetSlot(slot int) {
	if !s.lock() {
		return
	}
	defer s.tree.mu.Unlock()
	if s.parent != nil && !s.order.first {
		s.order.slot = slot
	}
}
