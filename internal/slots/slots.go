// Package slots lets a test see who takes a slot of a bounded pool. A call that waits for a second slot while it holds
// one can wait for ever, so a test counts them.
package slots

import "context"

// Watch is called before a call waits for a slot. The call has no slot any more when free is called.
type Watch func() (free func())

// Into returns a context whose slots w sees.
func (w Watch) Into(ctx context.Context) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

type watchKey struct{}

// Take calls the Watch of ctx, if there is one.
func Take(ctx context.Context) (free func()) {
	if w, ok := ctx.Value(watchKey{}).(Watch); ok {
		return w()
	}
	return func() {}
}
